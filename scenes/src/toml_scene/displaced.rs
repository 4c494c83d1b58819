//! Displacement of a document's materials.

use super::document::Document;
use super::{Files, Text};
use crate::displacement::{Axes, Bound, Displacement, Map};
use crate::overrides::{DisplacementTable, MaterialOverrides, VectorSpace, WrapKind};
use crate::pixels::decode_numbers;
use crate::warning::Warnings;
use lockstep_core::scene::Wrap;
use lockstep_core::{Error, Result};
use toml::Spanned;

/// Pixels of error where a document names none.
const PIXELS: f32 = 0.5;

/// Lines of the image whose pixels are meant, where a document names none.
const LINES: u32 = 1080;

/// Most triangles of a material where a document names none.
const MAX_TRIANGLES: u64 = 8_000_000;

/// Reads the displacement of materials that the document gives a map.
pub(super) fn displacements(
    document: &Document,
    overrides: &MaterialOverrides,
    source: &Text<'_>,
    files: &Files<'_>,
    warnings: &mut Warnings,
) -> Result<Vec<Displacement>> {
    let mut list: Vec<Displacement> = Vec::new();
    for (change, materials) in document.materials.iter().zip(overrides.materials()) {
        let change = change.get_ref();
        if let Some(table) = &change.displacement {
            if list.iter().any(|other| other.name == change.name) {
                let message = format!("the material `{}` is displaced twice", change.name);
                return Err(source.error(table.span().start, message));
            }
            let bound = bound(table, source)?;
            let (map, axes) = map(table.get_ref(), &change.name, source, files, warnings)?;
            list.push(Displacement {
                name: change.name.clone(),
                materials: materials.to_vec(),
                map,
                axes,
                bound,
                max_triangles: table.get_ref().max_triangles.unwrap_or(MAX_TRIANGLES),
            });
        }
    }
    Ok(list)
}

/// The bound that a table asks for; all its numbers are checked.
fn bound(table: &Spanned<DisplacementTable>, source: &Text<'_>) -> Result<Bound> {
    let wrong = |message: &str| Err(source.error(table.span().start, message));
    let t = table.get_ref();
    let is_positive = |v: f32| v > 0.0 && v.is_finite();
    if !(t.scale.is_finite() && t.midlevel.unwrap_or(0.0).is_finite()) {
        return wrong("`scale` and `midlevel` must be finite");
    }
    if !t.tiles.unwrap_or([1.0; 2]).into_iter().all(is_positive) {
        return wrong("`tiles` must be two positive numbers");
    }
    if ![t.error, t.error_pixels].into_iter().flatten().all(is_positive) || t.image_height == Some(0) {
        return wrong("`error`, `error_pixels` and `image_height` must be positive");
    }
    match (t.error, t.error_pixels, t.image_height) {
        (Some(_), Some(_), _) => wrong("give either `error`, in units of the mesh, or `error_pixels`"),
        (Some(_), None, Some(_)) => wrong("`image_height` goes with `error_pixels`, not with `error`"),
        (Some(error), None, None) => Ok(Bound::Distance(error)),
        (None, pixels, lines) => {
            Ok(Bound::Pixels { pixels: pixels.unwrap_or(PIXELS), lines: lines.unwrap_or(LINES) })
        }
    }
}

/// Reads the map of a table, and warns of one whose steps are coarse.
fn map(
    table: &DisplacementTable,
    material: &str,
    source: &Text<'_>,
    files: &Files<'_>,
    warnings: &mut Warnings,
) -> Result<(Map, Axes)> {
    let path = files.find(source, &table.texture)?;
    let bytes = files.access.read(&path)?;
    let (axes, channels) = match table.vector {
        None => (Axes::Normal, 1),
        Some(VectorSpace::Tangent) => (Axes::Tangent, 3),
        Some(VectorSpace::Object) => (Axes::Object, 3),
    };
    let refused = |message: String| Error::scene(path.to_string_lossy(), "image", message);
    let image = decode_numbers(&bytes, &path, channels, files.access.limits).map_err(refused)?;
    let midlevel = table.midlevel.unwrap_or(0.5);
    let values: Vec<f32> = image.values.iter().map(|value| (value - midlevel) * table.scale).collect();
    if let Some(texel) = values.iter().position(|value| !value.is_finite()) {
        let texel = texel / channels;
        let (column, row) = (texel % image.width as usize, texel / image.width as usize);
        return Err(refused(format!("the displacement at column {column}, row {row} is not finite")));
    }
    if image.is_coarse {
        let message = format!(
            "the map has 8 bits a channel: displacements are in steps of {:.3e}; 16 bits or floats have none that show",
            (table.scale / 255.0).abs()
        );
        warnings.add(format!("material `{material}`"), message);
    }
    let wrap = match table.wrap.unwrap_or(WrapKind::Repeat) {
        WrapKind::Repeat => Wrap::Repeat,
        WrapKind::Clamp => Wrap::Clamp,
        WrapKind::Mirror => Wrap::Mirror,
    };
    let size = [image.width, image.height];
    Ok((Map::new(size, channels, values, wrap, table.tiles.unwrap_or([1.0; 2])), axes))
}
