//! Meshes made from formulas.

use lockstep_core::math::sin_cos_turns;
use lockstep_core::math::vec3::{Vec3, cross, dot, normalize, vec3};
use lockstep_core::scene::{Affine, MeshData, Vertex};
use std::collections::HashMap;

/// Scales along the axes, a cube by half its sides, and moves.
pub(super) fn placed([w, h, d]: [f32; 3], [x, y, z]: [f32; 3]) -> Affine {
    [[w, 0.0, 0.0, x], [0.0, h, 0.0, y], [0.0, 0.0, d, z]]
}

/// The unit sphere as an icosahedron whose faces are divided `levels` times into four, with flat shading.
pub(super) fn icosphere(levels: u32, material: u32) -> MeshData {
    // Corners (0, ±1, ±phi) and their cyclic permutations.
    const PHI: f32 = 1.618_034;
    let mut positions = Vec::new();
    for (a, b) in [(1.0, PHI), (-1.0, PHI), (1.0, -PHI), (-1.0, -PHI)] {
        positions.extend([vec3(0.0, a, b), vec3(a, b, 0.0), vec3(b, 0.0, a)].map(normalize));
    }
    let mut triangles = hull_of_icosahedron(&positions);
    for _ in 0..levels {
        let mut middles: HashMap<(u32, u32), u32> = HashMap::new();
        let mut middle = |a: u32, b: u32| {
            *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                positions.push(normalize(positions[a as usize] + positions[b as usize]));
                (positions.len() - 1) as u32
            })
        };
        let divided = triangles.iter().flat_map(|&[a, b, c]| {
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
        });
        triangles = divided.collect();
    }
    MeshData {
        positions: positions.iter().map(|p| p.to_array()).collect(),
        triangles,
        materials: vec![material],
        ..MeshData::default()
    }
}

/// The 20 triples of corners that are mutually nearest, turned outwards.
fn hull_of_icosahedron(corners: &[Vec3]) -> Vec<[u32; 3]> {
    let near = |i: usize, j: usize| dot(corners[i], corners[j]) > 0.4;
    let mut out = Vec::new();
    for a in 0..12 {
        for b in a + 1..12 {
            for c in b + 1..12 {
                if near(a, b) && near(b, c) && near(a, c) {
                    let normal = cross(corners[b] - corners[a], corners[c] - corners[a]);
                    let outwards = dot(normal, corners[a]) > 0.0;
                    out.push(if outwards { [a, b, c] } else { [a, c, b] }.map(|v| v as u32));
                }
            }
        }
    }
    out
}

/// A torus around the y axis with smooth normals: ring radius 1, tube radius `tube`.
pub(super) fn torus(tube: f32, around: u32, across: u32, material: u32) -> MeshData {
    let mut mesh = MeshData { materials: vec![material], ..MeshData::default() };
    for i in 0..around {
        let (sin, cos) = sin_cos_turns(i as f32 / around as f32);
        for j in 0..across {
            let (s, c) = sin_cos_turns(j as f32 / across as f32);
            let normal = vec3(cos * c, s, sin * c);
            mesh.positions.push((vec3(cos, 0.0, sin) + normal * tube).to_array());
            mesh.vertices.push(Vertex { normal, ..Vertex::default() });
            let at = |i: u32, j: u32| (i % around) * across + j % across;
            let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
            mesh.triangles.extend([[a, d, c], [a, c, b]]);
        }
    }
    mesh
}

/// The cube from -1 to 1 with flat shading.
pub(super) fn cube(material: u32) -> MeshData {
    let corner = |i: u32, bit: u32| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
    MeshData {
        positions: (0..8).map(|i| [corner(i, 0), corner(i, 1), corner(i, 2)]).collect(),
        triangles: vec![
            [0, 4, 6],
            [0, 6, 2],
            [1, 3, 7],
            [1, 7, 5],
            [0, 1, 5],
            [0, 5, 4],
            [2, 6, 7],
            [2, 7, 3],
            [0, 2, 3],
            [0, 3, 1],
            [4, 5, 7],
            [4, 7, 6],
        ],
        materials: vec![material],
        ..MeshData::default()
    }
}

/// A sphere of radius about 1 with `waves` bumps around and along, smooth.
pub(super) fn bumpy_sphere(waves: u32, rings: u32, sectors: u32, material: u32) -> MeshData {
    let point = |u: f32, v: f32| {
        let (sin, cos) = sin_cos_turns(u);
        let (ring, height) = sin_cos_turns(0.5 * v);
        let bump = sin_cos_turns(u * waves as f32).0 * sin_cos_turns(v * waves as f32).0 * ring;
        vec3(cos * ring, height, sin * ring) * (1.0 + 0.2 * bump)
    };
    let mut mesh = MeshData { materials: vec![material], ..MeshData::default() };
    const STEP: f32 = 1.0 / 1024.0;
    for j in 0..=rings {
        for i in 0..sectors {
            let (u, v) = (i as f32 / sectors as f32, j as f32 / rings as f32);
            let p = point(u, v);
            let inside = v.clamp(STEP, 1.0 - STEP);
            let along = point(u + STEP, inside) - point(u - STEP, inside);
            let down = point(u, inside + STEP) - point(u, inside - STEP);
            mesh.positions.push(p.to_array());
            mesh.vertices.push(Vertex { normal: normalize(cross(along, down)), ..Vertex::default() });
        }
    }
    let at = |i: u32, j: u32| j * sectors + i % sectors;
    for j in 0..rings {
        for i in 0..sectors {
            let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
            if j > 0 {
                mesh.triangles.push([a, b, c]);
            }
            if j + 1 < rings {
                mesh.triangles.push([a, c, d]);
            }
        }
    }
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six times the volume; positive when triangles face outwards and the mesh is closed.
    fn volume(mesh: &MeshData) -> f32 {
        let p = |v: u32| Vec3::from(mesh.positions[v as usize]);
        mesh.triangles.iter().map(|&[a, b, c]| dot(p(a), cross(p(b), p(c)))).sum::<f32>() / 6.0
    }

    fn is_closed(mesh: &MeshData) -> bool {
        let mut edges = HashMap::new();
        for t in &mesh.triangles {
            for k in 0..3 {
                *edges.entry((t[k], t[(k + 1) % 3])).or_insert(0) += 1;
            }
        }
        edges.iter().all(|(&(a, b), &n)| n == 1 && edges.get(&(b, a)) == Some(&1))
    }

    #[test]
    fn shapes_are_closed_and_face_outwards() {
        let sphere = icosphere(3, 0);
        assert_eq!(sphere.triangles.len(), 20 * 64);
        assert!(is_closed(&sphere) && volume(&sphere) > 4.1);
        assert!(is_closed(&cube(0)) && (volume(&cube(0)) - 8.0).abs() < 1e-5);
        let ring = torus(0.25, 48, 24, 0);
        assert!(is_closed(&ring) && (volume(&ring) - 2.0 * 9.8696 * 0.0625).abs() < 0.03);
        assert!(volume(&bumpy_sphere(5, 32, 64, 0)) > 3.5);
    }

    #[test]
    fn normals_agree_with_winding() {
        for mesh in [torus(0.3, 32, 16, 0), bumpy_sphere(4, 24, 48, 0)] {
            for t in &mesh.triangles {
                let [a, b, c] = t.map(|v| Vec3::from(mesh.positions[v as usize]));
                let face = cross(b - a, c - a);
                for v in t {
                    assert!(dot(face, mesh.vertices[*v as usize].normal) > 0.0);
                }
            }
        }
    }
}
