//! When a packet may be marked as coherent.
//!
//! Embree tests boxes against the frustum of a coherent packet: along each axis from `b * r_min - o * r_min`
//! to `b * r_max - o * r_max`, with the packet's least and greatest reciprocals of direction components `r`,
//! origin `o` and a box's face `b`. Both products with the origin are rounded. Where a box is flat, where the
//! origin's coordinate is large against the distance to it, and where directions hardly differ, rounding can
//! put the end before the start, and the packet misses the box. Such packets are traced as incoherent, ray by
//! ray, where one rounded product serves both ends.

use lockstep_bvh::{LeafPrimitive, Rays8};
use lockstep_core::math::simd::Array8;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::Scene;
use rayon::prelude::*;

/// Twice the rounding error of both ends together, as a share of the product with the origin.
const ROUNDING: f32 = 1.0 / 4_194_304.0;

/// Greatest thickness of a flat box, as a share of the coordinates of the origin and the box.
const FLAT: f32 = 2.0 * ROUNDING;

/// A spread that suffices at any point: flat boxes must be nearer than a 2^18th of the origin's coordinate to
/// be missed, and surfaces as near as that count as coincident.
const SUFFICIENT_SPREAD: [f32; 3] = [1.0 / 16.0; 3];

/// Which packets Embree can trace by their frustum. The spread of a packet along an axis is the difference of
/// the largest and the least magnitude of its direction components over the largest.
pub(super) struct Frustum {
    /// The camera's position.
    eye: [f32; 3],
    /// Along each axis, the least spread of directions from the camera, downwards and upwards.
    spread: [[f32; 2]; 3],
    /// Coordinates of the flat triangles of a small scene, along each axis.
    flat: [Vec<f32>; 3],
}

impl Frustum {
    /// The frustum of a scene whose triangles are all in world space.
    pub(super) fn of(scene: &Scene, is_small: bool) -> Self {
        let eye = scene.camera.eye.to_array();
        let distances = |[low, high]: [f32; 2], axis: usize| {
            let (below, above) = ((eye[axis] - high).max(0.0), (low - eye[axis]).max(0.0));
            let is_flat = high - low <= FLAT * (eye[axis].abs() + below + above);
            [(low <= eye[axis], below), (high >= eye[axis], above)]
                .map(|(is_ahead, distance)| if is_flat && is_ahead { distance } else { f32::INFINITY })
        };
        let nearest =
            extents(scene).map(|extents| std::array::from_fn(|axis| distances(extents[axis], axis)));
        let nearest: [[f32; 2]; 3] = nearest.reduce(
            || [[f32::INFINITY; 2]; 3],
            |a, b| std::array::from_fn(|axis| std::array::from_fn(|side| a[axis][side].min(b[axis][side]))),
        );
        let spread =
            std::array::from_fn(|axis| nearest[axis].map(|distance| least_spread(eye[axis], distance)));
        let flat = if is_small { flat_coordinates(scene) } else { Default::default() };
        Self { eye, spread, flat }
    }

    /// Whether Embree finds all boxes by the frustum of rays of one octant from the camera.
    #[inline(always)]
    pub(super) fn finds_all_from_eye(&self, rays: &[Rays8]) -> bool {
        start_at(self.eye, rays) && are_of_one_octant(rays) && {
            let Some(first) = rays.first() else { return true };
            let sides = first.direction.map(|eight| usize::from(eight[0] > 0.0));
            let spread = [0, 1, 2].map(|axis| self.spread[axis][sides[axis]]);
            (0..3).all(|axis| {
                ends_differ_by(spread[axis], axis, rays) || all_spread_by(spread[axis], axis, rays)
            })
        }
    }

    /// Whether Embree finds all boxes of a small scene by the frustum of rays of one octant.
    #[inline(always)]
    pub(super) fn finds_all(&self, rays: &[Rays8]) -> bool {
        (0..3).all(|axis| {
            ends_differ_by(SUFFICIENT_SPREAD[axis], axis, rays) || self.finds_all_flat(axis, rays)
        })
    }

    /// Whether rays of one octant spread far enough for the flat triangles ahead of them along an axis.
    #[inline(never)]
    fn finds_all_flat(&self, axis: usize, rays: &[Rays8]) -> bool {
        let [low, high] = range(rays.iter().map(|rays| rays.origin[axis]));
        let is_upwards = rays.first().is_some_and(|first| first.direction[axis][0] > 0.0);
        let distance = |&at: &f32| match is_upwards {
            true if at >= low => (at - high).max(0.0),
            false if at <= high => (low - at).max(0.0),
            _ => f32::INFINITY,
        };
        let nearest = self.flat[axis].iter().map(distance).fold(f32::INFINITY, f32::min);
        let largest = low.abs().max(high.abs());
        high - low >= 2.0 * ROUNDING * largest || all_spread_by(least_spread(largest, nearest), axis, rays)
    }
}

/// The extents of all triangles along each axis.
fn extents(scene: &Scene) -> impl ParallelIterator<Item = [[f32; 2]; 3]> {
    scene.instances.par_iter().flat_map(|instance| {
        let mesh = &scene.meshes[instance.mesh as usize];
        (0..mesh.triangle_count).into_par_iter().map(|triangle| {
            let LeafPrimitive { p0, p1, p2, .. } = LeafPrimitive::of(scene, mesh, triangle);
            let corners = [p0, p1, p2].map(Vec3::to_array);
            std::array::from_fn(|axis| {
                let [a, b, c] = corners.map(|corner| corner[axis]);
                [a.min(b).min(c), a.max(b).max(c)]
            })
        })
    })
}

/// The different coordinates of triangles that are flat along an axis.
fn flat_coordinates(scene: &Scene) -> [Vec<f32>; 3] {
    let extents: Vec<_> = extents(scene).collect();
    std::array::from_fn(|axis| {
        let ends = extents.iter().map(|extents| extents[axis]);
        let mut flat: Vec<f32> =
            ends.filter(|[low, high]| high - low <= FLAT * low.abs().max(high.abs())).flatten().collect();
        flat.sort_by(f32::total_cmp);
        flat.dedup();
        flat
    })
}

/// The least spread with which a flat box at this distance is found from a coordinate.
fn least_spread(coordinate: f32, distance: f32) -> f32 {
    ROUNDING * (coordinate.abs() / distance + 4.0)
}

/// Whether all rays have one origin, as a pinhole camera's do.
#[inline(always)]
pub(super) fn have_one_origin(rays: &[Rays8]) -> bool {
    rays.first().is_none_or(|first| start_at(first.origin.map(|eight| eight[0]), rays))
}

#[inline(always)]
fn start_at(origin: [f32; 3], rays: &[Rays8]) -> bool {
    rays.iter().all(|rays| {
        rays.origin.iter().zip(origin).all(|(starts, first)| starts.iter().all(|start| *start == first))
    })
}

/// Whether the directions of all rays have the signs of the first.
#[inline(always)]
fn are_of_one_octant(rays: &[Rays8]) -> bool {
    let Some(first) = rays.first().map(|rays| rays.direction.map(|eight| eight[0].to_bits())) else {
        return true;
    };
    // Without early exits, so that it is vectorised
    let mut differ = [0; 8];
    for Rays8 { direction, .. } in rays {
        for (eight, first) in direction.iter().zip(first) {
            for (differ, d) in differ.iter_mut().zip(eight) {
                *differ |= d.to_bits() ^ first;
            }
        }
    }
    differ.into_iter().fold(0, |all, bits| all | bits) >> 31 == 0
}

/// Whether already the first or the last of rays of one octant differs from another by a share.
#[inline(always)]
fn ends_differ_by(share: f32, axis: usize, rays: &[Rays8]) -> bool {
    let [Some(first), Some(last)] = [rays.first(), rays.last()] else { return true };
    let [a, b] = [&first.direction[axis], &last.direction[axis]];
    differ_by(share, [a[0], b[7]]) | differ_by(share, [a[3], b[4]])
}

/// Whether directions of one octant are all equal along an axis, or spread by a share.
fn all_spread_by(share: f32, axis: usize, rays: &[Rays8]) -> bool {
    let ends = range(rays.iter().map(|rays| rays.direction[axis]));
    ends[0] == ends[1] || differ_by(share, ends)
}

/// Whether the difference of two numbers is at least this share of the larger.
#[inline(always)]
fn differ_by(share: f32, [a, b]: [f32; 2]) -> bool {
    (a - b).abs() >= share * a.abs().max(b.abs())
}

/// The least and the largest value.
fn range(eights: impl Iterator<Item = Array8>) -> [f32; 2] {
    let start = [f32::INFINITY, f32::NEG_INFINITY];
    eights.flatten().fold(start, |[low, high], value| [low.min(value), high.max(value)])
}
