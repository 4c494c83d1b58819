//! The displaced mesh.

use super::patch::Field;
use super::surface::{STILL, Surface};
use super::vector::{V3, add, corner_normal, dot, length, narrow, sub, times, unit, wide};
use crate::warning::Warnings;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::{MeshData, Sphere, Vertex};

/// Positions at which vertices would move apart, and triangles that do not keep their bound.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Joints {
    /// Positions whose vertices differ by more than the bound and are joined at their mean, or stay since their
    /// neighbours do.
    joined: usize,
    /// The largest distance of such a vertex.
    furthest: f64,
    /// Triangles that do not keep their bound.
    pub(super) coarse: usize,
}

impl Joints {
    pub(super) fn warn(&self, place: &str, warnings: &mut Warnings) {
        if self.joined > 0 {
            let message = format!(
                "{} vertices of the displaced surface lie on seams of texture coordinates or borders of materials, where \
                 it would tear; they are moved by up to {:.3e} to close it",
                self.joined, self.furthest
            );
            warnings.add(place, message);
        }
        if self.coarse > 0 {
            let message = format!(
                "{} triangles where normals turn over do not keep the bound of displacement",
                self.coarse
            );
            warnings.add(place, message);
        }
    }
}

/// The displaced mesh of a surface. Vertices at one position stay together: they move by the mean of their
/// displacements, or not at all where one belongs to a triangle that is not displaced.
pub(super) fn finish(
    surface: &Surface,
    fields: &[Field<'_>],
    spheres: Vec<Sphere>,
    joints: &mut [Joints],
) -> MeshData {
    let positions = displaced(surface, fields, joints);
    let normals = normals(surface, &positions);
    let mut out = MeshData { spheres, ..MeshData::default() };
    let mut moved = vec![false; surface.nodes.len()];
    for face in &surface.faces {
        out.triangles.push(face.nodes);
        out.materials.push(face.material);
        if face.field != STILL {
            face.nodes.iter().for_each(|&node| moved[node as usize] = true);
        }
    }
    for (node, moved) in surface.nodes.iter().zip(moved) {
        out.positions.push(narrow(positions[node.weld as usize]));
        let vertex = Vertex { uv0: node.uv.map(|v| v as f32), ..node.attributes };
        out.vertices.push(if moved {
            with_normal(vertex, normals[node.group as usize])
        } else {
            Vertex { normal: unit32(vertex.normal), tangent: unit32(vertex.tangent), ..vertex }
        });
    }
    out
}

/// The displaced position of every position of the surface.
fn displaced(surface: &Surface, fields: &[Field<'_>], joints: &mut [Joints]) -> Vec<V3> {
    let mut sums = vec![([0.0; 3], 0u32); surface.welds.len()];
    let mut stays = vec![false; surface.welds.len()];
    // The field that displaces each node, so that its displacement counts once.
    let mut last = vec![STILL; surface.nodes.len()];
    let mut offsets: Vec<(u32, u32, V3)> = Vec::with_capacity(surface.nodes.len());
    for face in &surface.faces {
        for node in face.nodes {
            let weld = surface.nodes[node as usize].weld;
            if face.field == STILL {
                stays[weld as usize] = true;
            } else if last[node as usize] != face.field {
                last[node as usize] = face.field;
                let offset = fields[face.field as usize].offset(&surface.point(node));
                let (sum, count) = sums[weld as usize];
                sums[weld as usize] = (add(sum, offset), count + 1);
                offsets.push((weld, face.field, offset));
            }
        }
    }
    let of = |weld: usize| match sums[weld] {
        (_, 0) => [0.0; 3],
        _ if stays[weld] => [0.0; 3],
        (sum, 1) => sum,
        (sum, count) => times(sum, 1.0 / f64::from(count)),
    };
    let means: Vec<V3> = (0..surface.welds.len()).map(of).collect();
    let mut told = vec![false; surface.welds.len()];
    for (weld, field, offset) in offsets {
        let weld = weld as usize;
        let apart = length(sub(offset, means[weld]));
        if apart > 0.0 {
            let at = add(surface.welds[weld].position, offset);
            let joints = &mut joints[field as usize];
            if apart > fields[field as usize].tolerance.of(&[at; 3]) {
                joints.joined += usize::from(!told[weld]);
                joints.furthest = joints.furthest.max(apart);
                told[weld] = true;
            }
        }
    }
    surface.welds.iter().zip(means).map(|(weld, mean)| add(weld.position, mean)).collect()
}

/// The normal of every smoothing group, from the displaced triangles.
fn normals(surface: &Surface, positions: &[V3]) -> Vec<V3> {
    let mut sums = vec![[0.0; 3]; surface.groups()];
    for face in surface.faces.iter().filter(|face| face.field != STILL) {
        let corners = face.nodes.map(|node| positions[surface.nodes[node as usize].weld as usize]);
        for k in 0..3 {
            let group = surface.nodes[face.nodes[k] as usize].group as usize;
            let normal = corner_normal(corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3]);
            sums[group] = add(sums[group], normal);
        }
    }
    sums.into_iter().map(unit).collect()
}

/// A vertex with its normal, and its tangent across it.
fn with_normal(vertex: Vertex, normal: V3) -> Vertex {
    let tangent = wide(vertex.tangent.to_array());
    let across = unit(sub(tangent, times(normal, dot(tangent, normal))));
    let vertex = Vertex { normal: Vec3::from(narrow(normal)), ..vertex };
    if tangent == [0.0; 3] {
        vertex
    } else {
        vertex.with_tangent(Vec3::from(narrow(across)), vertex.tangent_sign())
    }
}

/// The unit vector; one that is to within rounding stays.
fn unit32(v: Vec3) -> Vec3 {
    let v64 = wide(v.to_array());
    if (dot(v64, v64) - 1.0).abs() < 1e-6 { v } else { Vec3::from(narrow(unit(v64))) }
}
