//! Loop's subdivision surfaces (Loop 1987).

use super::grid::mean_normals;
use super::{Geometry, check_indices, wrong};
use crate::pbrt::Context;
use crate::pbrt::params::Params;
use lockstep_core::Result;
use std::collections::HashMap;

/// Most times that a mesh is subdivided.
const MAX_LEVELS: f64 = 10.0;

/// A control mesh, subdivided and moved to the limit surface.
pub(super) fn loop_subdivision(params: &Params, context: &mut Context<'_, '_>) -> Result<Geometry> {
    let Some(positions) = params.tuples::<3>("P", context)? else {
        return Err(wrong(params, "a subdivision surface needs its points `P`", context));
    };
    let indices = params.indices("indices", context)?.unwrap_or_default();
    if indices.is_empty() || !indices.len().is_multiple_of(3) {
        return Err(wrong(params, "`indices` must be three for each triangle", context));
    }
    params.get("scheme");
    let levels = params.number("levels", context)?.or(params.number("nlevels", context)?).unwrap_or(3.0);
    if !(levels.fract() == 0.0 && (0.0..=MAX_LEVELS).contains(&levels)) {
        return Err(wrong(params, format!("`levels` must be a whole number up to {MAX_LEVELS}"), context));
    }
    let mut out = Geometry { positions, ..Geometry::default() };
    check_indices(&indices, &out, params, context)?;
    out.triangles = indices.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect();
    // Each level has four triangles for each, which are refused before they are made.
    let most = out.triangles.len().saturating_mul(1 << (2 * levels as u32));
    context.check_triangles(most, &params.place)?;
    for _ in 0..levels as u32 {
        subdivide(&mut out);
    }
    out.positions = smoothed(&out, &neighbors(&out), limit_weight);
    out.normals = mean_normals(&out);
    Ok(out)
}

/// Neighbours of a vertex.
#[derive(Clone, Debug, Default)]
struct Ring {
    all: Vec<u32>,
    /// Neighbours along edges with one triangle, or more than two.
    border: Vec<u32>,
}

/// Triangles at each edge, whose ends ascend.
fn edges(geometry: &Geometry) -> HashMap<[u32; 2], Vec<u32>> {
    let mut out: HashMap<[u32; 2], Vec<u32>> = HashMap::new();
    for &[a, b, c] in &geometry.triangles {
        for (p, q, opposite) in [(a, b, c), (b, c, a), (c, a, b)] {
            out.entry([p.min(q), p.max(q)]).or_default().push(opposite);
        }
    }
    out
}

fn neighbors(geometry: &Geometry) -> Vec<Ring> {
    let mut out = vec![Ring::default(); geometry.positions.len()];
    // In the order of vertices, so that sums have one order.
    let mut edges: Vec<([u32; 2], usize)> = edges(geometry).into_iter().map(|(e, t)| (e, t.len())).collect();
    edges.sort_unstable();
    for ([p, q], count) in edges {
        for (from, to) in [(p, q), (q, p)] {
            let ring = &mut out[from as usize];
            ring.all.push(to);
            if count != 2 {
                ring.border.push(to);
            }
        }
    }
    out
}

/// The weight of each of `n` neighbours of an inner vertex.
fn beta(n: usize) -> f32 {
    if n == 3 { 3.0 / 16.0 } else { 3.0 / (8.0 * n as f32) }
}

/// Weights of each neighbour inside and on a border in the limit.
fn limit_weight(n: usize) -> (f32, f32) {
    (1.0 / (n as f32 + 3.0 / (8.0 * beta(n))), 0.2)
}

/// Every vertex moved towards its neighbours.
fn smoothed(geometry: &Geometry, rings: &[Ring], weight: impl Fn(usize) -> (f32, f32)) -> Vec<[f32; 3]> {
    let moved = |(position, ring): (&[f32; 3], &Ring)| {
        let (inner, border) = weight(ring.all.len().max(1));
        let (near, weight) = match ring.border.len() {
            0 => (&ring.all, inner),
            2 => (&ring.border, border),
            // Corners of several borders stay.
            _ => return *position,
        };
        let own = 1.0 - near.len() as f32 * weight;
        std::array::from_fn(|i| {
            let sum: f32 = near.iter().map(|&v| geometry.positions[v as usize][i]).sum();
            position[i] * own + sum * weight
        })
    };
    geometry.positions.iter().zip(rings).map(moved).collect()
}

/// Splits every triangle into four.
fn subdivide(geometry: &mut Geometry) {
    let edges = edges(geometry);
    let rings = neighbors(geometry);
    let mut positions = smoothed(geometry, &rings, |n| (beta(n), 0.125));
    let mut middles: HashMap<[u32; 2], u32> = HashMap::new();
    let mut triangles = Vec::with_capacity(4 * geometry.triangles.len());
    let old = |v: u32, i: usize| geometry.positions[v as usize][i];
    for &[a, b, c] in &geometry.triangles {
        let [ab, bc, ca] = [(a, b), (b, c), (c, a)].map(|(p, q)| {
            let edge = [p.min(q), p.max(q)];
            *middles.entry(edge).or_insert_with(|| {
                let [p, q] = edge;
                positions.push(std::array::from_fn(|i| match edges.get(&edge).map(Vec::as_slice) {
                    Some(&[r, s]) => 0.375 * (old(p, i) + old(q, i)) + 0.125 * (old(r, i) + old(s, i)),
                    _ => 0.5 * (old(p, i) + old(q, i)),
                }));
                (positions.len() - 1) as u32
            })
        });
        triangles.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
    }
    geometry.positions = positions;
    geometry.triangles = triangles;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An octahedron of radius 1.
    fn octahedron() -> Geometry {
        let positions = vec![
            [1.0, 0.0, 0.0],
            [-1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, -1.0, 0.0],
            [0.0, 0.0, 1.0],
            [0.0, 0.0, -1.0],
        ];
        let triangles = (0..8u32)
            .map(|i| {
                let (x, y, z) = (i & 1, 2 + (i >> 1 & 1), 4 + (i >> 2 & 1));
                if (i.count_ones() & 1) == 0 { [x, y, z] } else { [x, z, y] }
            })
            .collect();
        Geometry { positions, triangles, ..Geometry::default() }
    }

    #[test]
    fn vertices_of_valence_four_go_to_their_limit() {
        // A vertex of valence n tends to (1 - n g) p + g sum of its neighbours, g = 1 / (n + 3 / (8 beta)).
        // Here the neighbours' sum is zero, and n = 4 gives beta = 3 / 32 and g = 1 / 8.
        let mut mesh = octahedron();
        assert_eq!(smoothed(&mesh, &neighbors(&mesh), limit_weight)[0], [0.5, 0.0, 0.0]);
        for _ in 0..4 {
            subdivide(&mut mesh);
        }
        assert_eq!(mesh.triangles.len(), 8 * 256);
        let limit = smoothed(&mesh, &neighbors(&mesh), limit_weight);
        assert!((limit[0][0] - 0.5).abs() < 1e-6, "{:?}", limit[0]);
        assert!(super::super::tests::fronts_agree(&Geometry { normals: mean_normals(&mesh), ..mesh }));
    }

    #[test]
    fn a_border_is_a_cubic_spline() {
        let square = Geometry {
            positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]],
            triangles: vec![[0, 1, 2], [0, 2, 3]],
            ..Geometry::default()
        };
        let mut mesh = square;
        subdivide(&mut mesh);
        assert_eq!(mesh.positions[0], [0.125, 0.125, 0.0]);
        assert!(mesh.positions.contains(&[0.5, 0.0, 0.0]) && mesh.positions.contains(&[0.5, 0.5, 0.0]));
    }
}
