//! A mesh's primitives as Embree's geometries.
//!
//! A mesh has up to three parts: its opaque triangles, which Embree decides about alone; triangles with partial
//! coverage, where Embree asks us through a filter; and spheres, which are user geometry with our own test, because
//! Embree's spheres would take the wrong one of two near hits for rays that start on a surface.

use super::callbacks;
use super::coincident::{Corners, cell, coincident};
use super::device::{Device, failure};
use super::handles::GeometryHandle;
use super::world::Making;
use embree4_rs::geometry::{Geometry, TriangleMeshGeometry};
use embree4_sys::{
    RTCGeometry, RTCGeometryType, rtcCommitGeometry, rtcSetGeometryBoundsFunction,
    rtcSetGeometryEnableFilterFunctionFromArguments, rtcSetGeometryIntersectFilterFunction,
    rtcSetGeometryIntersectFunction, rtcSetGeometryOccludedFilterFunction, rtcSetGeometryOccludedFunction,
    rtcSetGeometryUserData, rtcSetGeometryUserPrimitiveCount,
};
use lockstep_bvh::{LeafPrimitive, PreSplit};
use lockstep_core::Result;
use lockstep_core::geometry::{ClipBox, Hit, Slabs};
use lockstep_core::math::max;
use lockstep_core::math::vec3::{Vec3, cross, length, normalize};
use lockstep_core::scene::{Mesh, SPHERE_BIT, Scene, SceneData};
use rayon::prelude::*;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr;

/// One geometry and what its primitives are in the scene.
pub(super) struct Part {
    geometry: Shape,
    /// What Embree asks us about.
    pub(super) asks: Asks,
    /// What callbacks need.
    pub(super) scene: Scene,
    /// The mesh it is part of.
    pub(super) mesh: u32,
    /// The instance, for a mesh that is placed once and untransformed and so belongs to the world itself; else
    /// [`lockstep_core::scene::NONE`].
    pub(super) instance: u32,
    /// Every triangle. Empty for spheres.
    triangles: Vec<Triangle>,
    /// The padded boxes of the pieces that triangles are in, lowest and highest corner; by triangle, the largest first, since
    /// most hits are there.
    boxes: Vec<[Vec3; 2]>,
    /// What makes those pieces.
    cuts: Vec<ClipBox>,
}

/// A triangle as the hit rule takes it: one line of cache instead of the five that its indices, vertices and material lie
/// in.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Triangle {
    /// The whole of it.
    pub(super) record: LeafPrimitive,
    /// The cells on which other triangles lie, see [`coincident`].
    cells: u32,
    /// Its pieces among those of the part.
    first_piece: u32,
    pieces: u32,
}

/// Asks for a line of cache.
#[inline(always)]
fn prefetch<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this architecture has the instruction, and prefetching cannot fault.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// What Embree asks us about while it traces a ray.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asks {
    /// Nothing: opaque triangles.
    Nothing,
    /// Whether a triangle with partial coverage counts, by the geometry's own filter.
    Always,
    /// The same, by the query's filter where it has one.
    WithFilter,
    /// Where a sphere is met.
    Spheres,
}

enum Shape {
    Triangles(TriangleMeshGeometry),
    Spheres(GeometryHandle),
}

// SAFETY: Embree's geometries may be used and released by any thread, and the rest is plain data.
unsafe impl Send for Part {}
// SAFETY: shared references only read the data and hand out the geometry's handle.
unsafe impl Sync for Part {}

impl Triangle {
    /// Whether another triangle of the mesh may lie where this one is hit.
    #[inline(always)]
    pub(super) fn is_coincident(&self, hit: &Hit) -> bool {
        self.cells & cell(hit.u, hit.v) != 0
    }

    /// Whether it has partial coverage.
    #[inline(always)]
    pub(super) fn has_alpha(&self) -> bool {
        self.record.flags & LeafPrimitive::ALPHA != 0
    }

    /// Whether it is in pieces.
    #[inline(always)]
    pub(super) fn is_in_pieces(&self) -> bool {
        self.pieces != 0
    }

    /// Where its pieces are among those of the part.
    #[inline(always)]
    fn pieces(&self) -> Range<usize> {
        let first = self.first_piece as usize;
        first..first + self.pieces as usize
    }

    /// Whether there is nothing to know of it but where a ray meets it.
    #[inline(always)]
    pub(super) fn is_plain(&self) -> bool {
        self.cells | self.pieces == 0 && !self.has_alpha()
    }
}

impl Part {
    /// The mesh's index of a primitive of the geometry.
    #[inline(always)]
    pub(super) fn primitive(&self, number: u32) -> u32 {
        match self.geometry {
            Shape::Triangles(_) => self.triangles[number as usize].record.primitive,
            Shape::Spheres(_) => SPHERE_BIT | number,
        }
    }

    /// A triangle of the geometry; `None` of spheres.
    #[inline(always)]
    pub(super) fn triangle(&self, number: u32) -> Option<&Triangle> {
        self.triangles.get(number as usize)
    }

    /// A primitive of the geometry as the hit rule takes it, or each of its pieces.
    #[inline(always)]
    pub(super) fn candidates(&self, number: u32) -> impl Iterator<Item = LeafPrimitive> {
        let (whole, pieces) = match self.triangle(number) {
            Some(triangle) => (triangle.record, &self.cuts[triangle.pieces()]),
            None => (LeafPrimitive::of(&self.scene, self.mesh(), SPHERE_BIT | number), [].as_slice()),
        };
        let itself = pieces.is_empty().then_some(&ClipBox::NONE);
        itself.into_iter().chain(pieces).map(move |cut| whole.clipped(*cut))
    }

    /// Whether a hit by the whole of a triangle is what its pieces make of it: whether the ray is in the box of one by
    /// then. Their boxes lie in the box of the whole, so that none raises the distance less.
    #[inline(always)]
    pub(super) fn is_in_piece(&self, triangle: &Triangle, slabs: &Slabs, t_min: f32, hit: &Hit) -> bool {
        self.boxes[triangle.pieces()].iter().any(|[lo, hi]| {
            let (entry, exit) = slabs.interval(*lo, *hi);
            max(entry, t_min) <= exit && entry <= hit.t
        })
    }

    /// Asks for the line of cache in which [`Self::is_in_piece`] will begin to look.
    #[inline(always)]
    pub(super) fn prefetch_pieces(&self, triangle: &Triangle) {
        prefetch(self.boxes.as_ptr().wrapping_add(triangle.first_piece as usize));
    }

    /// Asks for the line of cache in which [`Self::triangle`] will look.
    #[inline(always)]
    pub(super) fn prefetch(&self, number: u32) {
        prefetch(self.triangles.as_ptr().wrapping_add(number as usize));
    }

    /// The mesh's record.
    #[inline(always)]
    pub(super) fn mesh(&self) -> &Mesh {
        &self.scene.meshes[self.mesh as usize]
    }

    /// For Embree's functions, while `self` lives.
    pub(super) fn raw(&self) -> RTCGeometry {
        match &self.geometry {
            Shape::Triangles(triangles) => *triangles.handle(),
            Shape::Spheres(spheres) => spheres.raw(),
        }
    }

    /// Points the geometry back at `self`, which must not move from now on and outlive all scenes with the geometry.
    pub(super) fn register(&self) {
        let data = ptr::from_ref(self).cast_mut().cast::<c_void>();
        let geometry = self.raw();
        // SAFETY: the geometry is live; callbacks only read the part.
        unsafe { rtcSetGeometryUserData(geometry, data) };
        match &self.geometry {
            // SAFETY: as above; the filters are made for parts.
            Shape::Triangles(_) if self.asks == Asks::Always => unsafe {
                rtcSetGeometryIntersectFilterFunction(geometry, Some(callbacks::filter));
                rtcSetGeometryOccludedFilterFunction(geometry, Some(callbacks::filter));
            },
            // SAFETY: the geometry is live.
            Shape::Triangles(_) if self.asks == Asks::WithFilter => unsafe {
                rtcSetGeometryEnableFilterFunctionFromArguments(geometry, true);
            },
            Shape::Triangles(_) => {}
            // SAFETY: as above; the callbacks are made for parts.
            Shape::Spheres(_) => unsafe {
                rtcSetGeometryUserPrimitiveCount(geometry, self.mesh().sphere_count);
                rtcSetGeometryBoundsFunction(geometry, Some(callbacks::bounds), data);
                rtcSetGeometryIntersectFunction(geometry, Some(callbacks::intersect));
                rtcSetGeometryOccludedFunction(geometry, Some(callbacks::occluded));
            },
        }
        // SAFETY: the geometry is live.
        unsafe { rtcCommitGeometry(geometry) };
    }
}

/// Adds the parts of a mesh. Each must be registered before scenes are made of them. `instance` is
/// [`lockstep_core::scene::NONE`] unless the mesh belongs to the world itself. Triangles grow by
/// `overlap`, a distance, on all sides.
///
/// # Errors
/// [`lockstep_core::Error::Device`] when Embree runs out of memory.
pub(super) fn add_parts(
    parts: &mut Vec<Part>,
    device: &Device,
    scene: &Scene,
    [mesh, instance]: [u32; 2],
    making: Making,
    overlap: f32,
) -> Result<()> {
    let record = scene.meshes[mesh as usize];
    let triangles = record.triangle_count;
    let of = |i: u32| &scene.triangles[(record.first_triangle + i) as usize];
    let has_alpha = |i: u32| scene.materials[of(i).material as usize].has_alpha();
    let (partial, opaque): (Vec<u32>, Vec<u32>) = if scene.materials.iter().any(|m| m.has_alpha()) {
        (0..triangles).partition(|&i| has_alpha(i))
    } else {
        (Vec::new(), (0..triangles).collect())
    };
    let corners: Vec<Corners> = if making.marks_coincident {
        (0..triangles).into_par_iter().map(|i| corners(scene, &record, i)).collect()
    } else {
        Vec::new()
    };
    let cells = coincident(&corners);
    let presplit = PreSplit::of(scene, &record);
    for (numbers, asks) in [(opaque, Asks::Nothing), (partial, making.partial_asks)] {
        if numbers.is_empty() {
            continue;
        }
        let geometry = Shape::Triangles(triangle_geometry(device, scene, &record, &numbers, overlap)?);
        let (mut boxes, mut cuts) = (Vec::new(), Vec::new());
        let triangle = |&i: &u32| {
            let whole = LeafPrimitive::of(scene, &record, i);
            let first_piece = boxes.len();
            for (piece_box, cut) in presplit.boxes(&whole) {
                boxes.push(piece_box);
                cuts.push(cut);
            }
            let cells = cells.get(i as usize).copied().unwrap_or(0);
            let pieces = (boxes.len() - first_piece) as u32;
            Triangle { record: whole, cells, first_piece: first_piece as u32, pieces }
        };
        let triangles = numbers.iter().map(triangle).collect();
        parts.push(Part { geometry, asks, scene: scene.clone(), mesh, instance, triangles, boxes, cuts });
    }
    if record.sphere_count > 0 {
        let geometry = Shape::Spheres(GeometryHandle::new(device, RTCGeometryType::USER)?);
        let (asks, scene, triangles) = (Asks::Spheres, scene.clone(), Vec::new());
        let (boxes, cuts) = (Vec::new(), Vec::new());
        parts.push(Part { geometry, asks, scene, mesh, instance, triangles, boxes, cuts });
    }
    device.check(&format!("copying mesh {mesh}"))
}

/// The farthest that a corner moves, over twice the distance that its edges do.
const SHARPEST: f32 = 16.0;

/// Triangles of a mesh by their numbers, each grown on all sides.
fn triangle_geometry(
    device: &Device,
    scene: &SceneData,
    mesh: &Mesh,
    numbers: &[u32],
    overlap: f32,
) -> Result<TriangleMeshGeometry> {
    let grown = |&i: &u32| grow(corners(scene, mesh, i), overlap).map(|p| (p.x, p.y, p.z));
    let vertices: Vec<(f32, f32, f32)> = numbers.par_iter().flat_map_iter(grown).collect();
    let indices: Vec<(u32, u32, u32)> =
        (0..numbers.len() as u32).map(|i| (3 * i, 3 * i + 1, 3 * i + 2)).collect();
    TriangleMeshGeometry::try_new(device.wrapper(), &vertices, &indices)
        .map_err(|e| failure(&format!("copying {} triangles", indices.len()), &e.to_string()))
}

fn corners(scene: &SceneData, mesh: &Mesh, triangle: u32) -> Corners {
    let LeafPrimitive { p0, p1, p2, .. } = LeafPrimitive::of(scene, mesh, triangle);
    [p0, p1, p2]
}

/// A triangle with its edges farther out by a distance, in its plane; unchanged where it has no area.
fn grow(corners: Corners, by: f32) -> Corners {
    std::array::from_fn(|i| {
        let [a, b, c] = [0, 1, 2].map(|k| corners[(i + k) % 3]);
        let (ab, ac) = (normalize(b - a), normalize(c - a));
        let sine = length(cross(ab, ac));
        if sine > 0.0 { a - (ab + ac) * (by * (1.0 / sine).min(SHARPEST)) } else { a }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::math::vec3::{Vec3, dot, vec3};

    /// How far a point lies from the line through two others.
    fn from_line(p: Vec3, [a, b]: [Vec3; 2]) -> f32 {
        length(cross(p - a, normalize(b - a)))
    }

    #[test]
    fn the_edges_of_a_grown_triangle_lie_farther_out_by_what_it_grows() {
        let corners = [vec3(0.0, 0.0, 1.0), vec3(4.0, 0.0, 1.0), vec3(1.0, 2.0, 0.0)];
        let grown = grow(corners, 0.125);
        let normal = cross(corners[1] - corners[0], corners[2] - corners[0]);
        for i in 0..3 {
            let edge = [corners[i], corners[(i + 1) % 3]];
            for end in [grown[i], grown[(i + 1) % 3]] {
                assert!((from_line(end, edge) - 0.125).abs() < 1e-5, "{grown:?}");
                let outward = cross(edge[1] - edge[0], normal);
                assert!(dot(end - edge[0], outward) > 0.0, "{grown:?}");
            }
            assert!(dot(grown[i] - corners[0], normal).abs() < 1e-5, "{grown:?}");
        }
    }

    #[test]
    fn no_corner_of_a_needle_moves_far_and_a_triangle_without_area_stays() {
        let needle = [vec3(0.0, 0.0, 0.0), vec3(1.0, 1e-6, 0.0), vec3(1.0, 0.0, 0.0)];
        for (before, after) in needle.iter().zip(grow(needle, 1e-3)) {
            assert!(length(after - *before) <= 2.0 * SHARPEST * 1e-3, "{after:?}");
        }
        let line = [Vec3::ZERO, vec3(1.0, 1.0, 1.0), vec3(2.0, 2.0, 2.0)];
        assert_eq!(grow(line, 1.0), line);
        assert_eq!(grow([line[1]; 3], 1.0), [line[1]; 3]);
    }
}
