//! Bidirectional path tracing on a device.

use super::{INVALID_SAMPLES, Len, PAIR_LAUNCHES, Plan, RAY_COUNTERS, indices, records};
use crate::assemble::BIDIRECTIONAL;
use crate::integrators::Buffer;
use crate::signatures::VERTEX_RECORDS;
use lockstep_core::Integrator;

pub(super) const PLAN: Plan = Plan {
    integrator: Integrator::Bpt,
    headers: &BIDIRECTIONAL,
    shade: None,
    defines: "#define LS_CONNECT_PAIRS 1\n",
    buffers: &[
        // The last vertex of a light sub-path of most bounces is connected to the camera only
        Buffer {
            len: Len::OfPaths(|bounces| VERTEX_RECORDS * bounces.saturating_sub(1) as usize),
            ..records("light_vertices", "vertices of light sub-paths")
        },
        indices("light_lengths", "light_lengths", "lengths of light sub-paths"),
        RAY_COUNTERS,
        INVALID_SAMPLES,
    ],
    stages: &PAIR_LAUNCHES,
    megakernel: &PAIR_LAUNCHES,
};
