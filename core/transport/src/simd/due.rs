//! Vertices that are due to be computed together.

use crate::simd::lane_keys::LaneKeys;
use crate::simd::{LANES, U32xN};
use lockstep_core::math::rng::SampleKey;

/// Vertices with the samples of their sub-paths, one per lane.
#[derive(Clone, Debug, Default)]
pub(crate) struct Due {
    /// Indices of the vertices.
    pub(crate) indices: U32xN,
    pub(crate) keys: LaneKeys,
    count: usize,
}

impl Due {
    /// Adds a vertex; true when all lanes are full.
    #[inline(always)]
    pub(crate) fn push(&mut self, index: u32, key: SampleKey) -> bool {
        let lane = self.count % LANES;
        self.indices.0[lane] = index;
        self.keys.put(lane, key);
        self.count = lane + 1;
        self.count == LANES
    }

    /// Lanes in use, from the first on.
    #[inline(always)]
    pub(crate) fn count(&self) -> usize {
        self.count.min(LANES)
    }

    /// Empties all lanes.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }
}
