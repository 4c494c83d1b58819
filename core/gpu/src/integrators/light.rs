//! Light tracing on a device.

use super::{
    BUCKET_COUNTS, BUCKET_ENDS, INVALID_SAMPLES, LIGHT_LENGTHS, LIGHT_VERTICES, PAIR_LAUNCHES, PHOTONS, Plan,
    RAY_COUNTERS, SORTED_PHOTONS, unused,
};
use crate::assemble::BIDIRECTIONAL;
use lockstep_core::Integrator;

pub(super) const PLAN: Plan = Plan {
    integrator: Integrator::Light,
    headers: &BIDIRECTIONAL,
    shade: None,
    defines: "",
    buffers: &[
        unused(LIGHT_VERTICES),
        LIGHT_LENGTHS,
        unused(PHOTONS),
        unused(SORTED_PHOTONS),
        unused(BUCKET_COUNTS),
        unused(BUCKET_ENDS),
        RAY_COUNTERS,
        INVALID_SAMPLES,
    ],
    stages: &PAIR_LAUNCHES,
    megakernel: &PAIR_LAUNCHES,
};
