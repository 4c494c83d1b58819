//! Scenes of Mitsuba, versions 0.5 to 3 (<https://mitsuba.readthedocs.io>).
//!
//! Names of old versions are brought to those of version 3, as Mitsuba 3 does. What the core cannot express is
//! replaced by the nearest thing with a warning that names it and its line.

mod bsdfs;
mod document;
mod emitters;
mod matrix;
mod mesh;
mod object;
mod plastic;
mod primitives;
mod sensors;
mod serialized;
mod shapes;
mod surface;
mod textures;
mod values;
mod xml;

use crate::access::FileAccess;
use crate::loaded::Contents;
use crate::overrides::MaterialOverrides;
use crate::warning::Warnings;
use document::Document;
use lockstep_core::Result;
use lockstep_core::scene::SceneBuilder;
use textures::{Source, Textures};

/// Reads a scene's bytes into a builder; files are relative to the folder of `access`.
///
/// # Errors
/// [`lockstep_core::Error::Scene`] with the line; [`lockstep_core::Error::Io`] for a file that cannot be read.
pub(crate) fn load(
    bytes: &[u8],
    access: &FileAccess<'_>,
    builder: &mut SceneBuilder,
    overrides: &mut MaterialOverrides,
    warnings: &mut Warnings,
) -> Result<Contents> {
    let document = Document::read(bytes, access, warnings)?;
    let mut textures = Textures::read(&document, access, warnings)?;
    let source = Source { document: &document, access };
    let has_lamps = shapes::add(&source, &mut textures, builder, overrides, warnings)?;
    let cameras = sensors::cameras(&document, builder.bounds(), warnings)?;
    emitters::add(&source, &mut textures, builder, warnings)?;
    document.objects[document.root].warn_of_unread(warnings);
    // An emitter of the file is a lamp, however dim.
    Ok(Contents { cameras, has_lamps })
}
