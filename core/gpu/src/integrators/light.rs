//! Light tracing on a device.

use super::{INVALID_SAMPLES, Len, PAIR_LAUNCHES, Plan, RAY_COUNTERS, indices, records};
use crate::assemble::BIDIRECTIONAL;
use crate::integrators::Buffer;
use lockstep_core::Integrator;

pub(super) const PLAN: Plan = Plan {
    integrator: Integrator::Light,
    headers: &BIDIRECTIONAL,
    shade: None,
    defines: "",
    buffers: &[
        // No camera sub-path reads them
        Buffer { len: Len::Bounces(|_| 1), ..records("light_vertices", "vertices of light sub-paths") },
        indices("light_lengths", "light_lengths", "lengths of light sub-paths"),
        RAY_COUNTERS,
        INVALID_SAMPLES,
    ],
    stages: &PAIR_LAUNCHES,
    megakernel: &PAIR_LAUNCHES,
};
