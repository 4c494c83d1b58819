//! Gathers paths, vertices and materials into lanes.

use crate::integrators::PathState;
use crate::simd::lane_keys::LaneKeys;
use crate::simd::surfaces::DiffuseSurfaces;
use crate::simd::{EIGHT, F32xN, LANES, Vec3xN};
use lockstep_core::geometry::Hit;
use lockstep_core::math::simd::F32x8;
use lockstep_core::scene::SceneData;

/// Indices from which the lanes are gathered.
#[derive(Clone, Debug)]
pub(crate) struct PendingPaths {
    /// Indices of the paths.
    pub(crate) paths: [u32; LANES],
    /// Vertex indices of the triangles they hit.
    corners: [[u32; 3]; LANES],
    /// Material indices of the triangles.
    materials: [u32; LANES],
}

impl Default for PendingPaths {
    fn default() -> Self {
        Self { paths: [0; LANES], corners: [[0; 3]; LANES], materials: [0; LANES] }
    }
}

/// Paths and the triangles they hit, one per lane.
#[derive(Clone, Debug, Default)]
pub(crate) struct GatheredHits {
    pub(crate) pending: PendingPaths,
    pub(crate) direction: Vec3xN,
    pub(crate) keys: LaneKeys,
    pub(crate) corners: [Vec3xN; 3],
    pub(crate) normals: [Vec3xN; 3],
    pub(crate) u: F32xN,
    pub(crate) v: F32xN,
}

impl GatheredHits {
    /// Assigns a path to a lane, at a triangle with these vertices and this material.
    #[inline(always)]
    pub(crate) fn put(
        &mut self,
        lane: usize,
        index: u32,
        path: &PathState,
        hit: &Hit,
        (corners, material): ([u32; 3], u32),
    ) {
        let (lane, pending) = (lane % LANES, &mut self.pending);
        (pending.paths[lane], pending.corners[lane], pending.materials[lane]) = (index, corners, material);
        self.keys.put(lane, path.key);
        (self.u.0[lane], self.v.0[lane]) = (hit.u, hit.v);
    }

    /// Gathers the data of the first `count` lanes, throughputs and base colours into `surfaces`.
    #[inline(always)]
    pub(crate) fn look_up<L: F32x8>(
        &mut self,
        scene: &SceneData,
        paths: &[PathState],
        count: usize,
        surfaces: &mut DiffuseSurfaces,
    ) {
        let Self { pending, direction, corners, normals, .. } = self;
        let DiffuseSurfaces { throughput, base_color, .. } = surfaces;
        // Pad to a multiple of eight with the first lane
        let end = count.next_multiple_of(EIGHT).min(LANES);
        for lane in count..end {
            pending.paths[lane] = pending.paths[0];
            pending.corners[lane] = pending.corners[0];
            pending.materials[lane] = pending.materials[0];
        }
        // Transpose eight lanes at a time
        for first in (0..end).step_by(EIGHT) {
            let path = |lane: usize| &paths[pending.paths[lane] as usize];
            direction.put_eight::<L>(first, |lane| &path(lane).ray.direction);
            throughput.put_eight::<L>(first, |lane| &path(lane).throughput);
            base_color
                .put_eight::<L>(first, |lane| &scene.materials[pending.materials[lane] as usize].base_color);
            for (corner, (position, normal)) in corners.iter_mut().zip(normals.iter_mut()).enumerate() {
                let vertex = |lane: usize| pending.corners[lane][corner] as usize;
                position.put_eight::<L>(first, |lane| bytemuck::cast_ref(&scene.positions[vertex(lane)]));
                normal.put_eight::<L>(first, |lane| &scene.vertices[vertex(lane)].normal);
            }
        }
    }
}
