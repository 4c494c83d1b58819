//! Base triangles, and the displaced points over them.

use crate::displacement::patch::Axes;
use crate::displacement::surface::{STILL, Surface};
use crate::displacement::{Displacement, Map};
use crate::warning::Warnings;
use lockstep_core::Result;
use lockstep_core::scene::{MeshData, SceneBuilder};

/// Barycentric coordinates of the second and the third corner, in units of [`UNIT`].
pub(super) type Place = [i32; 2];

/// One over the barycentric coordinate of a whole side: sides are halved up to 30 times.
pub(super) const UNIT: f64 = 1.0 / (1i32 << 30) as f64;

/// The most vertices of a patch: a middle for each cut of 64 triangles, and the corners.
pub(super) const VERTICES: usize = 66;

/// Vertices of a patch by axis.
pub(super) type Points = [[f32; VERTICES]; 3];

/// The corners of a base triangle.
pub(super) const CORNERS: [Place; 3] = [[0, 0], [1 << 30, 0], [0, 1 << 30]];

/// A number that is linear over a triangle: at the first corner, and the differences of the others from it.
type Linear = [f64; 3];

fn linear([a, b, c]: [f64; 3]) -> Linear {
    [a, b - a, c - a]
}

#[inline(always)]
fn at(of: &Linear, s: f64, t: f64) -> f64 {
    of[0] + s * of[1] + t * of[2]
}

/// A base triangle.
#[derive(Clone, Copy, Debug)]
struct Triangle {
    position: [Linear; 3],
    normal: [Linear; 3],
    uv: [Linear; 2],
    /// Index of its map.
    map: u32,
    /// Whether the direction of displacement is the same everywhere.
    is_flat: bool,
}

/// Base triangles with their maps.
#[derive(Clone, Debug)]
pub(super) struct Base {
    triangles: Vec<Triangle>,
    maps: Vec<Map>,
}

/// Refuses scenes that a direct form would show otherwise than tessellation does.
pub(super) fn check(list: &[Displacement], builder: &SceneBuilder, warnings: &Warnings) -> Result<()> {
    let refuse = |message: &str| Err(warnings.error("displacement", message));
    if list.iter().any(|one| one.axes != Axes::Normal) {
        return refuse("a direct form needs heights along normals");
    }
    let identity = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];
    if builder.instances().iter().any(|(_, map)| *map != identity) {
        return refuse("a direct form needs meshes that stay where they are");
    }
    let displaced = |material: &u32| list.iter().any(|one| one.materials.contains(material));
    let whole = |mesh: &MeshData| mesh.spheres.is_empty() && mesh.materials.iter().all(displaced);
    if !builder.meshes().iter().all(whole) {
        return refuse("a direct form needs all surfaces displaced");
    }
    Ok(())
}

impl Base {
    pub(super) fn new(list: &[Displacement]) -> Self {
        Self { triangles: Vec::new(), maps: list.iter().map(|one| one.map.clone()).collect() }
    }

    /// Adds the triangles of a surface that is not cut yet.
    pub(super) fn add(&mut self, surface: &Surface) {
        for (f, face) in (0..).zip(&surface.faces) {
            let corners = surface.corners(f);
            let normals = corners.map(|corner| corner.normal);
            debug_assert_ne!(face.field, STILL);
            self.triangles.push(Triangle {
                position: [0, 1, 2].map(|axis| linear(corners.map(|corner| corner.position[axis]))),
                normal: [0, 1, 2].map(|axis| linear(normals.map(|normal| normal[axis]))),
                uv: [0, 1].map(|axis| linear(corners.map(|corner| corner.uv[axis]))),
                map: face.field,
                is_flat: normals[1] == normals[0] && normals[2] == normals[0],
            });
        }
    }

    pub(super) fn triangles(&self) -> u32 {
        self.triangles.len() as u32
    }

    pub(super) fn bytes(&self) -> u64 {
        let maps: usize = self.maps.iter().map(Map::bytes).sum();
        (size_of_val(&self.triangles[..]) + maps) as u64
    }

    /// Displaced points of a base triangle, in loops without closures, which would not have the target features of
    /// their caller.
    #[inline(always)]
    pub(super) fn displace(
        &self,
        triangle: u32,
        places: &[Place; VERTICES],
        count: usize,
        points: &mut Points,
    ) {
        let of = &self.triangles[triangle as usize];
        let map = &self.maps[of.map as usize];
        let (mut first, mut second) = ([0.0; VERTICES], [0.0; VERTICES]);
        for n in 0..count.min(VERTICES) {
            first[n] = f64::from(places[n][0]) * UNIT;
            second[n] = f64::from(places[n][1]) * UNIT;
        }
        let mut heights = [0.0; VERTICES];
        for n in 0..count.min(VERTICES) {
            let (s, t) = (first[n], second[n]);
            heights[n] = map.height(at(&of.uv[0], s, t), at(&of.uv[1], s, t));
        }
        if of.is_flat {
            let along = direction(of, 0.0, 0.0);
            for n in 0..count.min(VERTICES) {
                for axis in 0..3 {
                    points[axis][n] =
                        (at(&of.position[axis], first[n], second[n]) + along[axis] * heights[n]) as f32;
                }
            }
            return;
        }
        for n in 0..count.min(VERTICES) {
            let (s, t) = (first[n], second[n]);
            let along = direction(of, s, t);
            for axis in 0..3 {
                points[axis][n] = (at(&of.position[axis], s, t) + along[axis] * heights[n]) as f32;
            }
        }
    }
}

/// The direction of displacement, by the operations of [`crate::displacement::vector::unit`].
#[inline(always)]
fn direction(of: &Triangle, s: f64, t: f64) -> [f64; 3] {
    let [x, y, z] = [at(&of.normal[0], s, t), at(&of.normal[1], s, t), at(&of.normal[2], s, t)];
    let length = (x * x + y * y + z * z).sqrt();
    let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
    [x * scale, y * scale, z * scale]
}
