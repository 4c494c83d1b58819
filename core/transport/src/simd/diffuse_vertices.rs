//! Diffuse vertices of sub-paths, gathered into lanes.

use crate::bsdf::MIN_COSINE;
use crate::integrators::bidirectional::Vertex;
use crate::integrators::bidirectional::weights::PartialWeights;
use crate::simd::{EIGHT, F32xN, LANES, U32xN, Vec3xN};
use lockstep_core::math::INV_PI;
use lockstep_core::math::simd::F32x8;
use lockstep_core::math::vec3::{Vec3, dot};

/// Diffuse vertices, one per lane.
#[derive(Clone, Debug, Default)]
pub(crate) struct DiffuseVertices {
    /// Indices of the vertices.
    pub(crate) indices: U32xN,
    pub(crate) position: Vec3xN,
    pub(crate) scale: F32xN,
    pub(crate) geometric: Vec3xN,
    pub(crate) shading: Vec3xN,
    pub(crate) from: Vec3xN,
    pub(crate) throughput: Vec3xN,
    pub(crate) base_color: Vec3xN,
    pub(crate) partial: Partial,
}

/// [`PartialWeights`] of all lanes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Partial {
    pub(crate) vcm: F32xN,
    pub(crate) vc: F32xN,
    pub(crate) vm: F32xN,
}

impl DiffuseVertices {
    /// Assigns a vertex to a lane.
    #[inline(always)]
    pub(crate) fn put(&mut self, lane: usize, index: u32) {
        self.indices.0[lane % LANES] = index;
    }

    /// Gathers the data of the first `count` lanes.
    #[inline(always)]
    pub(crate) fn look_up<L: F32x8>(&mut self, vertices: &[Vertex], count: usize) {
        // Pad to a multiple of eight with the first lane
        let end = count.next_multiple_of(EIGHT).min(LANES);
        for lane in count..end {
            self.indices.0[lane] = self.indices.0[0];
        }
        // Transpose eight lanes at a time
        for first in (0..end).step_by(EIGHT) {
            let mut eight = [&vertices[0]; EIGHT];
            for (i, vertex) in eight.iter_mut().enumerate() {
                let lane = first + i;
                *vertex = &vertices[self.indices.0[lane] as usize];
                self.scale.0[lane] = vertex.scale;
                let PartialWeights { vcm, vc, vm } = vertex.partial;
                (self.partial.vcm.0[lane], self.partial.vc.0[lane], self.partial.vm.0[lane]) = (vcm, vc, vm);
            }
            self.position.put_eight::<L>(first, |lane| &eight[lane - first].position);
            self.geometric.put_eight::<L>(first, |lane| &eight[lane - first].geometric);
            self.shading.put_eight::<L>(first, |lane| &eight[lane - first].shading);
            self.from.put_eight::<L>(first, |lane| &eight[lane - first].from);
            self.throughput.put_eight::<L>(first, |lane| &eight[lane - first].throughput);
            self.base_color.put_eight::<L>(first, |lane| &eight[lane - first].surface.base_color);
        }
    }

    /// The part of weights of a lane.
    #[inline(always)]
    pub(crate) fn partial(&self, lane: usize) -> PartialWeights {
        let Partial { vcm, vc, vm } = &self.partial;
        PartialWeights { vcm: vcm.0[lane], vc: vc.0[lane], vm: vm.0[lane] }
    }
}

/// A diffuse vertex as [`Vertex::evaluate_both`] needs it: cosines of its geometric and its shading normal, each to the two
/// directions between which light travels.
#[derive(Clone, Copy)]
pub(crate) struct Cosines {
    pub(crate) geometric: [f32; 2],
    pub(crate) shading: [f32; 2],
}

impl Cosines {
    /// The cosines to `from` and `to`.
    #[inline(always)]
    pub(crate) fn new(geometric: Vec3, shading: Vec3, from: Vec3, to: Vec3) -> Self {
        Self {
            geometric: [dot(geometric, from), dot(geometric, to)],
            shading: [dot(shading, from), dot(shading, to)],
        }
    }

    /// Density with which a path that arrives from the first direction chooses the second; the BSDF times cosine over the
    /// base colour.
    #[inline(always)]
    pub(crate) fn pdf(self) -> f32 {
        let Self { geometric, shading } = self;
        let side = if geometric[0] > 0.0 { 1.0 } else { -1.0 };
        let cosine = if shading[0] * side > MIN_COSINE { shading[1] } else { geometric[1] } * side;
        let is_seen = (geometric[1] * side * cosine > 0.0) & (cosine > 0.0);
        INV_PI * if is_seen { cosine } else { 0.0 }
    }

    /// The cosines for light that travels the opposite way.
    #[inline(always)]
    pub(crate) fn opposite(self) -> Self {
        let Self { geometric: [a, b], shading: [c, d] } = self;
        Self { geometric: [b, a], shading: [d, c] }
    }
}
