//! Wavefront OBJ and MTL.
//!
//! The format has no normative reference; this follows Wavefront's *Advanced Visualizer Manual*, appendix B1,
//! and the habits of exporters: negative indices, polygons, colours behind positions, `norm` and physically
//! based additions.

mod geometry;
mod images;
mod mesh;
mod mtl;
mod surfaces;

use crate::access::FileAccess;
use crate::limits::Limits;
use crate::loaded::Contents;
use crate::overrides::MaterialOverrides;
use crate::warning::Warnings;
use lockstep_core::Result;
use lockstep_core::scene::{IDENTITY, SceneBuilder};

/// Reads a file's bytes into a builder; material libraries and textures are relative to the folder of `access`.
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
    let parsed = geometry::parse(bytes, access.limits, warnings)?;
    let mut library = Vec::new();
    for (line, name) in &parsed.libraries {
        match access.read(&access.folder.join(name)) {
            Ok(text) => library.extend(mtl::parse(&text, name, warnings)?),
            Err(error) => {
                warnings.add(format!("line {line}"), format!("the material library is not used: {error}"))
            }
        }
    }
    let surfaces = surfaces::build(&parsed, &library, access, builder, overrides, warnings)?;
    let mesh = mesh::assemble(parsed, &surfaces, warnings);
    if !mesh.triangles.is_empty() {
        let mesh = builder.mesh(mesh);
        builder.instance(mesh, IDENTITY);
    }
    Ok(Contents::default())
}

/// A file's geometry without its materials, for scenes that name their own.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ObjMesh {
    pub(crate) positions: Vec<[f32; 3]>,
    /// As many as positions, zero where the file has none; empty where it has none at all.
    pub(crate) normals: Vec<[f32; 3]>,
    /// As many as positions; v grows downwards. Empty where the file has none.
    pub(crate) uv: Vec<[f32; 2]>,
    pub(crate) triangles: Vec<[u32; 3]>,
}

/// Reads the geometry of a file.
///
/// # Errors
/// [`lockstep_core::Error::Scene`] with the line.
pub(crate) fn geometry(bytes: &[u8], limits: &Limits, warnings: &mut Warnings) -> Result<ObjMesh> {
    let parsed = geometry::parse(bytes, limits, warnings)?;
    let mut out = ObjMesh::default();
    let (has_normals, has_uv) = (!parsed.normals.is_empty(), !parsed.coordinates.is_empty());
    for &[position, coordinates, normal] in &parsed.corners {
        out.positions.push(parsed.positions[position as usize]);
        if has_normals {
            out.normals.push(parsed.normals.get(normal as usize).copied().unwrap_or_default());
        }
        if has_uv {
            out.uv.push(parsed.coordinates.get(coordinates as usize).copied().unwrap_or_default());
        }
    }
    out.triangles = parsed.triangles;
    Ok(out)
}

/// Lines of a text with their numbers, comments and line continuations resolved, as words.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, String)> + '_ {
    let mut raw = bytes.split(|&b| b == b'\n').enumerate();
    std::iter::from_fn(move || {
        let (number, first) = raw.next()?;
        let mut text = String::from_utf8_lossy(first).trim_end().to_string();
        while text.ends_with('\\') {
            text.pop();
            let Some((_, next)) = raw.next() else { break };
            text.push(' ');
            text.push_str(String::from_utf8_lossy(next).trim_end());
        }
        if let Some(comment) = text.find('#') {
            text.truncate(comment);
        }
        Some((number + 1, text))
    })
}

/// A finite number, or an error at this line.
fn number(word: &str, line: usize, warnings: &Warnings) -> Result<f32> {
    match word.parse::<f32>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => {
            Err(warnings.error(format!("line {line}"), format!("`{}` is not a finite number", shorten(word))))
        }
    }
}

fn shorten(word: &str) -> String {
    word.chars().take(40).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
