//! Shapes that are given by formulas, as triangles. Texture coordinates are those of Mitsuba 3.

use super::mesh::Raw;
use lockstep_core::math::sin_cos_turns;
use std::sync::{Arc, LazyLock};

/// Segments around disks and cylinders.
const AROUND: u32 = 256;

/// Segments around spheres, which are triangles only where a sphere of the core has no place, and from pole to pole.
const SPHERE_AROUND: u32 = 128;
const SPHERE_ROWS: u32 = 64;

/// A shape that is given by a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Primitive {
    Rectangle,
    Cube,
    Disk,
    Cylinder,
    Sphere,
}

impl Primitive {
    /// Triangles of the shape, which all of a kind share.
    pub(super) fn mesh(self) -> Arc<Raw> {
        static MESHES: LazyLock<[Arc<Raw>; 5]> =
            LazyLock::new(|| [rectangle(), cube(), disk(), cylinder(), sphere()].map(Arc::new));
        MESHES[self as usize].clone()
    }
}

/// The square from -1 to 1 in x and y, facing +z.
fn rectangle() -> Raw {
    Raw {
        positions: vec![[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]],
        normals: vec![[0.0, 0.0, 1.0]; 4],
        uv: vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]],
        triangles: vec![[0, 1, 2], [2, 3, 0]],
        flat: false,
    }
}

/// The cube from -1 to 1.
fn cube() -> Raw {
    // Each face with its normal; its corners begin where u is 0 and v is 1.
    const FACES: [([i8; 3], [[i8; 3]; 4]); 6] = [
        ([0, -1, 0], [[1, -1, -1], [1, -1, 1], [-1, -1, 1], [-1, -1, -1]]),
        ([0, 1, 0], [[1, 1, -1], [-1, 1, -1], [-1, 1, 1], [1, 1, 1]]),
        ([1, 0, 0], [[1, -1, -1], [1, 1, -1], [1, 1, 1], [1, -1, 1]]),
        ([0, 0, 1], [[1, -1, 1], [1, 1, 1], [-1, 1, 1], [-1, -1, 1]]),
        ([-1, 0, 0], [[-1, -1, 1], [-1, 1, 1], [-1, 1, -1], [-1, -1, -1]]),
        ([0, 0, -1], [[1, 1, -1], [1, -1, -1], [-1, -1, -1], [-1, 1, -1]]),
    ];
    let mut out = Raw::default();
    for (normal, corners) in FACES {
        let base = out.positions.len() as u32;
        out.positions.extend(corners.map(|corner| corner.map(f32::from)));
        out.normals.extend([normal.map(f32::from); 4]);
        out.uv.extend([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]]);
        out.triangles.extend([[base, base + 1, base + 2], [base + 3, base, base + 2]]);
    }
    out
}

/// The disk of radius 1 about z, facing +z.
fn disk() -> Raw {
    let mut out = Raw::default();
    // A regular polygon of the disk's area
    let share = 1.0 / AROUND as f32;
    let (sin, cos) = sin_cos_turns(0.5 * share);
    let radius = (std::f32::consts::PI * share / (sin * cos)).sqrt();
    for i in 0..=AROUND {
        let turn = i as f32 * share;
        let (sin, cos) = sin_cos_turns(if i == AROUND { 0.0 } else { turn });
        out.positions.extend([[radius * cos, radius * sin, 0.0], [0.0; 3]]);
        out.uv.extend([[1.0, turn], [0.0, turn + 0.5 * share]]);
    }
    out.normals = vec![[0.0, 0.0, 1.0]; out.positions.len()];
    out.triangles = (0..AROUND).map(|i| [2 * i, 2 * i + 2, 2 * i + 1]).collect();
    out
}

/// The cylinder of radius 1 about z from 0 to 1, open at both ends, facing outwards.
fn cylinder() -> Raw {
    let mut out = Raw::default();
    for i in 0..=AROUND {
        let turn = i as f32 / AROUND as f32;
        let (sin, cos) = sin_cos_turns(if i == AROUND { 0.0 } else { turn });
        out.positions.extend([[cos, sin, 0.0], [cos, sin, 1.0]]);
        out.normals.extend([[cos, sin, 0.0]; 2]);
        out.uv.extend([[turn, 0.0], [turn, 1.0]]);
    }
    out.triangles =
        (0..AROUND).flat_map(|i| [[2 * i, 2 * i + 2, 2 * i + 3], [2 * i, 2 * i + 3, 2 * i + 1]]).collect();
    out
}

/// The sphere of radius 1, facing outwards.
fn sphere() -> Raw {
    let mut out = Raw::default();
    for row in 0..=SPHERE_ROWS {
        let v = row as f32 / SPHERE_ROWS as f32;
        let (around, z) = sin_cos_turns(0.5 * v);
        let around = if row == SPHERE_ROWS { 0.0 } else { around };
        for column in 0..=SPHERE_AROUND {
            let u = column as f32 / SPHERE_AROUND as f32;
            let (sin, cos) = sin_cos_turns(if column == SPHERE_AROUND { 0.0 } else { u });
            out.positions.push([around * cos, around * sin, z]);
            out.uv.push([u, v]);
        }
    }
    out.normals = out.positions.clone();
    let width = SPHERE_AROUND + 1;
    for row in 0..SPHERE_ROWS {
        for column in 0..SPHERE_AROUND {
            let a = row * width + column;
            let b = a + width;
            // The rows at the poles are triangles.
            if row > 0 {
                out.triangles.push([a, b, a + 1]);
            }
            if row + 1 < SPHERE_ROWS {
                out.triangles.push([a + 1, b, b + 1]);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::math::vec3::{Vec3, cross, dot, length};

    fn area_and_fronts(raw: &Raw) -> f32 {
        let mut area = 0.0;
        for triangle in &raw.triangles {
            let p = triangle.map(|corner| Vec3::from(raw.positions[corner as usize]));
            let normal = cross(p[1] - p[0], p[2] - p[0]);
            area += 0.5 * length(normal);
            for corner in triangle {
                assert!(dot(normal, raw.normals[*corner as usize].into()) > 0.0, "{triangle:?}");
            }
        }
        area
    }

    #[test]
    fn shapes_have_their_area_and_face_outwards() {
        let pi = std::f32::consts::PI;
        for (raw, area, tolerance) in [
            (rectangle(), 4.0, 1e-6),
            (cube(), 24.0, 1e-6),
            (disk(), pi, 1e-5),
            (cylinder(), 2.0 * pi, 1e-3),
            (sphere(), 4.0 * pi, 1e-2),
        ] {
            let found = area_and_fronts(&raw);
            assert!((found / area - 1.0).abs() < tolerance, "{found} is not {area}");
            assert_eq!((raw.normals.len(), raw.uv.len()), (raw.positions.len(), raw.positions.len()));
        }
    }
}
