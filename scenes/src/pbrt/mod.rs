//! Scene files of pbrt, versions 3 and 4 (Pharr, Jakob and Humphreys, *Physically Based Rendering*).
//!
//! A file is first read with all that it includes ([`parser`]), as a [`description`]. Then its textures become
//! constants and images ([`textures`], [`values`]), its materials the nearest of the scattering models
//! ([`looks`], [`surfaces`]), and its shapes meshes and instances ([`shapes`], [`assembly`]). What cannot be
//! expressed is a warning with its line.

mod assembly;
mod camera;
mod description;
mod environment;
mod lights;
mod looks;
mod matrix;
mod named_spectra;
mod params;
mod parser;
mod raster;
mod shapes;
mod surfaces;
mod textures;
mod tokens;
mod unpack;
mod values;

use crate::access::FileAccess;
use crate::limits::Budget;
use crate::loaded::Contents;
use crate::overrides::MaterialOverrides;
use crate::warning::Warnings;
use assembly::Assembly;
use description::Version;
use lockstep_core::Result;
use lockstep_core::scene::SceneBuilder;
use textures::Textures;

/// State that all parts of loading share.
struct Context<'a, 'b> {
    warnings: &'a mut Warnings,
    access: &'a FileAccess<'b>,
    version: Version,
    /// Bytes of geometry, which bound the triangles that shapes unfold to.
    bytes: u64,
    triangles: u64,
    texels: Budget,
}

impl Context<'_, '_> {
    /// Counts more bytes of geometry.
    fn grow_triangles(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Refuses `count` more triangles where all together would exceed the budget.
    fn check_triangles(&self, count: usize, place: &str) -> Result<()> {
        let mut budget = Budget::of_triangles(self.access.limits, self.bytes);
        budget.take((self.triangles as usize).saturating_add(count), place, self.warnings)
    }

    /// Takes triangles out of the budget.
    fn take_triangles(&mut self, count: usize, place: &str) -> Result<()> {
        self.check_triangles(count, place)?;
        self.triangles += count as u64;
        Ok(())
    }

    /// Takes texels out of the budget for all images.
    fn take_texels(&mut self, count: u64, place: &str) -> Result<()> {
        self.texels.take(count as usize, place, self.warnings)
    }
}

/// Reads a file's bytes into a builder; all files that it names are relative to the folder of `access`.
///
/// # Errors
/// [`lockstep_core::Error::Scene`] with the line.
pub(crate) fn load(
    bytes: &[u8],
    access: &FileAccess<'_>,
    builder: &mut SceneBuilder,
    overrides: &mut MaterialOverrides,
    warnings: &mut Warnings,
) -> Result<Contents> {
    let description = parser::parse(bytes, access, warnings)?;
    let (version, bytes) = (description.version(), description.bytes);
    let texels = Budget::of_texels(access.limits);
    let mut context = Context { warnings, access, version, bytes, triangles: 0, texels };
    let textures = Textures::load(&description, &mut context)?;
    let world = camera::world(&description);
    let mut contents = Contents::default();
    if let Some(definition) = &description.camera {
        let camera = camera::camera(definition, description.film, &world, &mut context)?;
        contents.cameras.push((String::new(), camera));
    }
    lights::add(&description, &world, builder, &mut context)?;
    let mut assembly = Assembly::new(&description, builder, overrides, &mut context, textures);
    assembly.place(&world)?;
    // An area light is a lamp, however dim.
    contents.has_lamps = assembly.emits;
    Ok(contents)
}
