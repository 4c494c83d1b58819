//! Surfaces over a grid of two parameters.

use super::{Geometry, wrong};
use crate::pbrt::Context;
use crate::pbrt::params::Params;
use lockstep_core::Result;
use lockstep_core::math::vec3::{Vec3, cross, normalize};

/// A surface of `columns` by `rows` cells, from a function of u and v in 0 to 1 that gives a position and a
/// normal. Its front is the side of `dp/du x dp/dv`. Triangles without extent, as at poles, are left out.
pub(super) fn grid(
    columns: usize,
    rows: usize,
    surface: impl Fn(f64, f64) -> ([f64; 3], [f64; 3]),
) -> Geometry {
    let mut out = Geometry::default();
    for row in 0..=rows {
        for column in 0..=columns {
            let (u, v) = (column as f64 / columns as f64, row as f64 / rows as f64);
            let (position, normal) = surface(u, v);
            out.positions.push(position.map(|c| c as f32));
            out.normals.push(normal.map(|c| c as f32));
            out.uv.push([u as f32, v as f32]);
        }
    }
    let stride = columns as u32 + 1;
    for row in 0..rows as u32 {
        for column in 0..columns as u32 {
            let first = row * stride + column;
            let [a, b, c, d] = [first, first + 1, first + stride + 1, first + stride];
            for triangle in [[a, b, c], [a, c, d]] {
                let [p, q, r] = triangle.map(|v| out.positions[v as usize]);
                if p != q && q != r && r != p {
                    out.triangles.push(triangle);
                }
            }
        }
    }
    out
}

/// Heights over the unit square.
pub(super) fn height_field(params: &Params, context: &mut Context<'_, '_>) -> Result<Geometry> {
    let side = |name: &str| -> Result<usize> {
        let count = params.float(name, 0.0, context)?;
        if count.fract() == 0.0 && (2.0..=65_536.0).contains(&count) {
            return Ok(count as usize);
        }
        Err(wrong(params, format!("`{name}` must be a whole number from 2"), context))
    };
    let (columns, rows) = (side("nu")?, side("nv")?);
    let heights = params.numbers("Pz", context)?.unwrap_or_default();
    if heights.len() != columns * rows {
        let message = format!("{columns} by {rows} heights are expected in `Pz`, not {}", heights.len());
        return Err(wrong(params, message, context));
    }
    let mut out = grid(columns - 1, rows - 1, |u, v| {
        let at = |t: f64, count: usize| (t * (count - 1) as f64).round() as usize;
        ([u, v, heights[at(v, rows) * columns + at(u, columns)]], [0.0; 3])
    });
    out.normals = mean_normals(&out);
    Ok(out)
}

/// Normals of vertices: the mean of their triangles', weighted by area.
pub(super) fn mean_normals(geometry: &Geometry) -> Vec<[f32; 3]> {
    let mut sums = vec![Vec3::ZERO; geometry.positions.len()];
    for triangle in &geometry.triangles {
        let [a, b, c] = triangle.map(|v| Vec3::from(geometry.positions[v as usize]));
        let normal = cross(b - a, c - a);
        triangle.iter().for_each(|&v| sums[v as usize] = sums[v as usize] + normal);
    }
    sums.into_iter().map(|sum| normalize(sum).to_array()).collect()
}
