//! From parsed faces to a mesh.

use super::geometry::Parsed;
use super::surfaces::Surface;
use crate::tangents::{self, VertexArrays};
use crate::warning::Warnings;
use lockstep_core::math::vec3::{Vec3, cross, normalize};
use lockstep_core::scene::{MeshData, Vertex};

/// The mesh, with normals and tangents where materials need them.
pub(super) fn assemble(parsed: Parsed, surfaces: &[Surface], warnings: &mut Warnings) -> MeshData {
    let of = |triangle: usize| surfaces[parsed.triangle_materials[triangle] as usize];
    let mut mesh = MeshData { triangles: parsed.triangles, ..MeshData::default() };
    for &[position, coordinates, normal] in &parsed.corners {
        mesh.positions.push(parsed.positions[position as usize]);
        let vertex = Vertex {
            normal: parsed.normals.get(normal as usize).map_or(Vec3::ZERO, |&n| normalize(n.into())),
            uv0: parsed.coordinates.get(coordinates as usize).copied().unwrap_or([0.0; 2]),
            ..Vertex::default()
        };
        let [red, green, blue] = parsed.colors[position as usize];
        mesh.vertices.push(vertex.with_color([red, green, blue, 1.0]));
    }
    mesh.materials = (0..mesh.triangles.len()).map(|i| of(i).material).collect();
    let mapped: Vec<usize> = (0..mesh.triangles.len()).filter(|&i| of(i).normal_map).collect();
    if !mapped.is_empty() {
        for &i in &mapped {
            flatten_if_needed(&mut mesh, i);
        }
        let mut triangles: Vec<[u32; 3]> = mapped.iter().map(|&i| mesh.triangles[i]).collect();
        let vertices = VertexArrays { positions: &mut mesh.positions, vertices: &mut mesh.vertices };
        tangents::generate(vertices, &mut triangles, 0, "file", warnings);
        for (i, triangle) in mapped.into_iter().zip(triangles) {
            mesh.triangles[i] = triangle;
        }
    }
    mesh
}

/// Gives a triangle without normals its own vertices with the geometric normal, since a normal map needs one.
fn flatten_if_needed(mesh: &mut MeshData, triangle: usize) {
    let corners = mesh.triangles[triangle].map(|v| v as usize);
    if corners.iter().all(|&v| mesh.vertices[v].normal != Vec3::ZERO) {
        return;
    }
    let p = corners.map(|v| Vec3::from(mesh.positions[v]));
    let normal = normalize(cross(p[1] - p[0], p[2] - p[0]));
    let base = mesh.positions.len() as u32;
    for v in corners {
        mesh.positions.push(mesh.positions[v]);
        mesh.vertices.push(Vertex { normal, ..mesh.vertices[v] });
    }
    mesh.triangles[triangle] = [base, base + 1, base + 2];
}
