//! MikkTSpace tangents, which glTF asks for where a normal-mapped primitive has none.
//!
//! MikkTSpace works on triangle corners: it welds equal ones, groups them around each vertex, separates
//! mirrored texture coordinates, and weights each triangle's tangent by its angle at the vertex (Mikkelsen,
//! *Simulation of Wrinkled Surfaces Revisited*, 2008). Corners of one vertex may therefore get different
//! tangents; the vertex is then split.

use crate::warning::Warnings;
use bevy_mikktspace::{Geometry, Ops, TangentSpace, generate_tangents};
use lockstep_core::math;
use lockstep_core::math::vec3::{Vec3, cross, normalize, vec3};
use lockstep_core::scene::Vertex;
use std::collections::HashMap;

/// Triangles at one position up to which all triangles are treated together.
///
/// MikkTSpace needs time quadratic in them, and recurses as deep.
const MAX_TRIANGLES_AT_VERTEX: u32 = 4096;

/// Positions and attributes of the same vertices.
pub(crate) struct VertexArrays<'a> {
    pub(crate) positions: &'a mut Vec<[f32; 3]>,
    pub(crate) vertices: &'a mut Vec<Vertex>,
}

/// A tangent and the sign that makes `sign * cross(normal, tangent)` the bitangent.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tangent {
    direction: Vec3,
    sign: f32,
}

/// Gives the vertices of `triangles` tangents. Split vertices are appended, and the triangles index the
/// copies.
///
/// `uv_set` selects the texture coordinates of the normal map. Where these have no area, any tangent
/// orthogonal to the normal is used. Vertices without a normal stay without a tangent.
pub(crate) fn generate(
    mut arrays: VertexArrays<'_>,
    triangles: &mut [[u32; 3]],
    uv_set: u32,
    place: &str,
    warnings: &mut Warnings,
) {
    let corners = corner_tangents(&arrays, triangles, uv_set, place, warnings);
    store(&mut arrays, triangles, &corners);
}

/// The tangents of each triangle's corners; `None` where texture coordinates or positions determine none.
fn corner_tangents(
    arrays: &VertexArrays<'_>,
    triangles: &[[u32; 3]],
    uv_set: u32,
    place: &str,
    warnings: &mut Warnings,
) -> Vec<[Option<Tangent>; 3]> {
    // Triangles without area influence nothing, and MikkTSpace needs time quadratic in them.
    let is_line = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| arrays.positions[v as usize]);
        a == b || b == c || c == a
    };
    let faces: Vec<usize> = (0..triangles.len()).filter(|&i| !is_line(&triangles[i])).collect();
    let mut chunk_size = faces.len();
    if most_at_one_position(arrays.positions, triangles, &faces) > MAX_TRIANGLES_AT_VERTEX {
        chunk_size = MAX_TRIANGLES_AT_VERTEX as usize;
        let message = format!(
            "more than {MAX_TRIANGLES_AT_VERTEX} triangles meet at one vertex; tangents are smoothed among \
             {MAX_TRIANGLES_AT_VERTEX} consecutive triangles only"
        );
        warnings.add(place, message);
    }
    let mut out = vec![[None; 3]; triangles.len()];
    for chunk in faces.chunks(chunk_size.max(1)) {
        let mut mesh = CornerMesh { arrays, triangles, faces: chunk, uv_set, out: &mut out };
        // The error type has no values.
        let _ = generate_tangents(&mut mesh);
    }
    out
}

/// How many triangles touch the position that most of them touch.
fn most_at_one_position(positions: &[[f32; 3]], triangles: &[[u32; 3]], faces: &[usize]) -> u32 {
    let mut counts: HashMap<[u32; 3], u32> = HashMap::new();
    for v in faces.iter().flat_map(|&face| triangles[face]) {
        // Adding zero makes -0 equal to 0, as MikkTSpace's comparison does.
        *counts.entry(positions[v as usize].map(|x| (x + 0.0).to_bits())).or_default() += 1;
    }
    counts.into_values().max().unwrap_or(0)
}

/// Some triangles of a mesh, as MikkTSpace reads them.
struct CornerMesh<'a> {
    arrays: &'a VertexArrays<'a>,
    triangles: &'a [[u32; 3]],
    faces: &'a [usize],
    uv_set: u32,
    out: &'a mut [[Option<Tangent>; 3]],
}

impl CornerMesh<'_> {
    fn index(&self, face: usize, corner: usize) -> usize {
        self.triangles[self.faces[face]][corner] as usize
    }
}

impl Geometry<HostIndependent> for CornerMesh<'_> {
    fn num_faces(&self) -> usize {
        self.faces.len()
    }

    fn num_vertices_of_face(&self, _face: usize) -> usize {
        3
    }

    fn position(&self, face: usize, corner: usize) -> [f32; 3] {
        self.arrays.positions[self.index(face, corner)]
    }

    fn normal(&self, face: usize, corner: usize) -> [f32; 3] {
        self.arrays.vertices[self.index(face, corner)].normal.to_array()
    }

    fn tex_coord(&self, face: usize, corner: usize) -> [f32; 2] {
        let vertex = &self.arrays.vertices[self.index(face, corner)];
        let [u, v] = if self.uv_set == 1 { vertex.uv1 } else { vertex.uv0 };
        // v grows downwards in an image, but a normal map's green channel points up.
        [u, -v]
    }

    fn set_tangent(&mut self, space: Option<TangentSpace>, face: usize, corner: usize) {
        let tangent = space.map(|space| {
            let [x, y, z, sign] = space.tangent_encoded();
            Tangent { direction: vec3(x, y, z), sign }
        });
        let is_usable = |t: &Tangent| t.direction.is_finite() && t.direction != Vec3::ZERO;
        self.out[self.faces[face]][corner] = tangent.filter(is_usable);
    }
}

/// Functions that give the same bits on all hosts, unlike the standard library's arc cosine.
struct HostIndependent;

impl Ops for HostIndependent {
    fn sqrt(x: f32) -> f32 {
        x.sqrt()
    }

    fn acos(x: f32) -> f32 {
        math::acos(x)
    }
}

/// Writes corner tangents to vertices, splitting those whose corners disagree.
fn store(arrays: &mut VertexArrays<'_>, triangles: &mut [[u32; 3]], corners: &[[Option<Tangent>; 3]]) {
    let mut has_tangent = vec![false; arrays.vertices.len()];
    let mut splits: HashMap<(u32, [u32; 4]), u32> = HashMap::new();
    for (index, tangent) in triangles.iter_mut().flatten().zip(corners.iter().flatten()) {
        let original = *index as usize;
        let (Some(tangent), true) = (tangent, arrays.vertices[original].normal != Vec3::ZERO) else {
            continue;
        };
        let Vec3 { x, y, z } = tangent.direction;
        let bits = [x, y, z, tangent.sign].map(f32::to_bits);
        let next = arrays.vertices.len() as u32;
        let stored =
            *splits.entry((*index, bits)).or_insert(if has_tangent[original] { next } else { *index });
        if stored == next {
            arrays.positions.push(arrays.positions[original]);
            arrays.vertices.push(arrays.vertices[original]);
        }
        has_tangent[original] = true;
        let vertex = &mut arrays.vertices[stored as usize];
        *vertex = vertex.with_tangent(tangent.direction, tangent.sign);
        *index = stored;
    }
    for &index in triangles.iter().flatten() {
        let vertex = &mut arrays.vertices[index as usize];
        let is_done = has_tangent.get(index as usize).copied().unwrap_or(true);
        if !is_done && vertex.normal != Vec3::ZERO {
            *vertex = vertex.with_tangent(any_orthogonal(vertex.normal), 1.0);
        }
    }
}

/// A unit vector orthogonal to `n`.
pub(crate) fn any_orthogonal(n: Vec3) -> Vec3 {
    let axis = if n.x.abs() < 0.5 { vec3(1.0, 0.0, 0.0) } else { vec3(0.0, 1.0, 0.0) };
    normalize(cross(axis, n))
}

#[cfg(test)]
mod tests;
