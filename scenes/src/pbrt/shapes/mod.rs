//! Shapes as triangles.

mod curves;
mod grid;
mod quadrics;
mod subdivision;

pub(super) use quadrics::whole_sphere;

use super::Context;
use super::description::{Shape, Version};
use super::params::{Params, shorten};
use crate::ply::PlyMesh;
use lockstep_core::Result;
use lockstep_core::math::vec3::{Vec3, cross, dot};

/// A mesh in its own space.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Geometry {
    pub(super) positions: Vec<[f32; 3]>,
    /// Empty, or as many as positions.
    pub(super) normals: Vec<[f32; 3]>,
    /// Texture coordinates, v upwards; empty, or as many as positions.
    pub(super) uv: Vec<[f32; 2]>,
    /// Counter-clockwise seen from the front.
    pub(super) triangles: Vec<[u32; 3]>,
}

/// The primitives of a shape.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Solid {
    Triangles(Geometry),
    /// A whole sphere about the origin, whose front is outside.
    Sphere {
        radius: f64,
    },
}

/// Makes a shape. `mesh` is the file of a `plymesh`. A shape that is not known is left out with a warning.
pub(super) fn make(
    shape: &Shape,
    mesh: Option<PlyMesh>,
    context: &mut Context<'_, '_>,
) -> Result<Option<Solid>> {
    let params = &shape.params;
    let geometry = match shape.class.as_str() {
        "sphere" => match quadrics::sphere(params, context)? {
            Solid::Triangles(geometry) => geometry,
            // The front of a core's sphere is always outside.
            Solid::Sphere { radius } if !shape.reverse => return Ok(Some(Solid::Sphere { radius })),
            Solid::Sphere { radius } => whole_sphere(radius),
        },
        "trianglemesh" => triangle_mesh(params, context)?,
        "plymesh" => {
            params.get("filename");
            let PlyMesh { positions, normals, uv, triangles, notes } = mesh.unwrap_or_default();
            notes.iter().for_each(|note| context.warnings.add(&params.place, note.as_str()));
            Geometry { positions, normals, uv, triangles }
        }
        "bilinearmesh" => bilinear_mesh(params, context)?,
        "loopsubdiv" => subdivision::loop_subdivision(params, context)?,
        "curve" => curves::curve(params, context)?,
        "cylinder" | "disk" | "cone" | "paraboloid" | "hyperboloid" => {
            quadrics::quadric(&shape.class, params, context)?
        }
        "heightfield" => grid::height_field(params, context)?,
        other => {
            let message = format!("the shape `{}` is not known and left out", shorten(other));
            context.warnings.add(&params.place, message);
            return Ok(None);
        }
    };
    context.take_triangles(geometry.triangles.len(), &params.place)?;
    // In version 3, a mesh's own normals keep their side where the orientation is reversed.
    let keeps = context.version == Version::Three && OWN_NORMALS.contains(&shape.class.as_str());
    Ok(Some(Solid::Triangles(turned(geometry, shape.reverse, keeps))))
}

/// Shapes whose normals the file gives, or which become meshes with normals.
const OWN_NORMALS: &[&str] = &["trianglemesh", "plymesh", "loopsubdiv"];

/// The geometry with its triangles turned so that their front is the shape's.
///
/// Normals decide where there are any, turned with a reversed shape unless it keeps them.
fn turned(mut geometry: Geometry, reverse: bool, keeps_normals: bool) -> Geometry {
    if geometry.normals.is_empty() {
        if reverse {
            geometry.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        return geometry;
    }
    if reverse && !keeps_normals {
        geometry.normals.iter_mut().flatten().for_each(|v| *v = -*v);
    }
    let Geometry { positions, normals, triangles, .. } = &mut geometry;
    for triangle in triangles {
        let at = |v: u32| Vec3::from(positions[v as usize]);
        let [a, b, c] = triangle.map(at);
        let front = cross(b - a, c - a);
        let sum =
            triangle.map(|v| Vec3::from(normals[v as usize])).into_iter().fold(Vec3::ZERO, |s, n| s + n);
        if dot(front, sum) < 0.0 {
            triangle.swap(1, 2);
        }
    }
    geometry
}

fn wrong(params: &Params, message: impl Into<String>, context: &Context<'_, '_>) -> lockstep_core::Error {
    context.warnings.error(&params.place, message)
}

/// Points, normals and texture coordinates of a mesh by its parameters.
fn vertices(params: &Params, context: &Context<'_, '_>) -> Result<Geometry> {
    let Some(positions) = params.tuples::<3>("P", context)? else {
        return Err(wrong(params, "a mesh needs its points `P`", context));
    };
    let normals = params.tuples::<3>("N", context)?.unwrap_or_default();
    let mut uv = Vec::new();
    for name in ["uv", "st"] {
        if uv.is_empty() {
            uv = params.tuples::<2>(name, context)?.unwrap_or_default();
        }
    }
    params.get("S");
    for (name, count) in [("N", normals.len()), ("uv", uv.len())] {
        if count != 0 && count != positions.len() {
            let message = format!("{count} items of `{name}` do not match {} points", positions.len());
            return Err(wrong(params, message, context));
        }
    }
    let normals =
        normals.into_iter().map(|n| lockstep_core::math::vec3::normalize(n.into()).to_array()).collect();
    Ok(Geometry { positions, normals, uv, triangles: Vec::new() })
}

fn check_indices(
    indices: &[u32],
    geometry: &Geometry,
    params: &Params,
    context: &Context<'_, '_>,
) -> Result<()> {
    let count = geometry.positions.len();
    match indices.iter().find(|&&index| index as usize >= count) {
        None => Ok(()),
        Some(index) => Err(wrong(params, format!("index {index} is beyond the {count} points"), context)),
    }
}

fn triangle_mesh(params: &Params, context: &Context<'_, '_>) -> Result<Geometry> {
    let mut out = vertices(params, context)?;
    let indices = match params.indices("indices", context)? {
        Some(indices) => indices,
        None if out.positions.len() == 3 => vec![0, 1, 2],
        None => return Err(wrong(params, "a mesh of more than three points needs `indices`", context)),
    };
    if !indices.len().is_multiple_of(3) {
        return Err(wrong(params, "`indices` must be three for each triangle", context));
    }
    check_indices(&indices, &out, params, context)?;
    params.get("faceIndices");
    out.triangles = indices.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect();
    Ok(out)
}

/// Patches of four corners, as two triangles each.
fn bilinear_mesh(params: &Params, context: &mut Context<'_, '_>) -> Result<Geometry> {
    let mut out = vertices(params, context)?;
    let indices = match params.indices("indices", context)? {
        Some(indices) => indices,
        None if out.positions.len() == 4 => vec![0, 1, 2, 3],
        None => return Err(wrong(params, "a mesh of more than four points needs `indices`", context)),
    };
    if !indices.len().is_multiple_of(4) {
        return Err(wrong(params, "`indices` must be four for each patch", context));
    }
    check_indices(&indices, &out, params, context)?;
    params.get("faceIndices");
    if out.uv.is_empty() {
        // Each patch has the unit square.
        let old = std::mem::take(&mut out);
        for (i, &index) in indices.iter().enumerate() {
            out.positions.push(old.positions[index as usize]);
            out.normals.extend(old.normals.get(index as usize));
            out.uv.push([(i % 2) as f32, ((i / 2) % 2) as f32]);
        }
    }
    let expanded: Vec<u32> = (0..indices.len() as u32).collect();
    let corners =
        if out.positions.len() == indices.len() && out.uv.len() == indices.len() && !params.has("uv") {
            &expanded
        } else {
            &indices
        };
    let mut bent = 0;
    for patch in corners.chunks_exact(4) {
        let [a, b, c, d] = [patch[0], patch[1], patch[2], patch[3]];
        let at = |v: u32| Vec3::from(out.positions[v as usize]);
        let (normal, off) = (cross(at(b) - at(a), at(c) - at(a)), at(d) - at(a));
        let size = dot(normal, normal).sqrt() * dot(off, off).sqrt();
        bent += usize::from(dot(normal, off).abs() > 1e-3 * size);
        out.triangles.extend([[a, b, d], [a, d, c]]);
    }
    if bent > 0 {
        let message = "bilinear patches that are not flat are rendered as two triangles each";
        context.warnings.add(&params.place, message);
    }
    Ok(out)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Whether each triangle's front is where its normals point.
    pub(in super::super) fn fronts_agree(geometry: &Geometry) -> bool {
        geometry.triangles.iter().all(|triangle| {
            let [a, b, c] = triangle.map(|v| Vec3::from(geometry.positions[v as usize]));
            let sum = triangle.map(|v| Vec3::from(geometry.normals[v as usize]));
            dot(cross(b - a, c - a), sum[0] + sum[1] + sum[2]) >= -1e-6
        })
    }

    #[test]
    fn a_front_is_where_normals_point_or_corners_turn() {
        let square = Geometry {
            positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]],
            triangles: vec![[0, 1, 2]],
            ..Geometry::default()
        };
        let of = |normal: f32, reverse, keeps| {
            let normals = if normal == 0.0 { Vec::new() } else { vec![[0.0, 0.0, normal]; 3] };
            turned(Geometry { normals, ..square.clone() }, reverse, keeps).triangles[0]
        };
        let (up, down) = ([0, 1, 2], [0, 2, 1]);
        assert_eq!([of(0.0, false, true), of(0.0, true, false)], [up, down]);
        assert_eq!([of(-1.0, false, true), of(-1.0, false, false)], [down, down]);
        assert_eq!([of(1.0, true, true), of(1.0, true, false)], [up, down]);
    }
}
