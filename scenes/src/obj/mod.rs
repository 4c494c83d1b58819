//! Wavefront OBJ and MTL.
//!
//! The format has no normative reference; this follows Wavefront's *Advanced Visualizer Manual*, appendix B1,
//! and the habits of exporters: negative indices, polygons, colours behind positions, `norm` and physically
//! based additions.

mod geometry;
mod mesh;
mod mtl;
mod surfaces;

use crate::access::FileAccess;
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
    let brightest = surfaces.iter().map(|s| s.emission).fold(0.0, f32::max);
    let mesh = mesh::assemble(parsed, &surfaces, warnings);
    if !mesh.triangles.is_empty() {
        let mesh = builder.mesh(mesh);
        builder.instance(mesh, IDENTITY);
    }
    Ok(Contents { cameras: Vec::new(), brightest })
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

#[cfg(test)]
mod tests;
