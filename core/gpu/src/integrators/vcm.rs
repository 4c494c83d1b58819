//! Vertex connection and merging on a device.

use super::{
    BUCKET_COUNTS, BUCKET_ENDS, INVALID_SAMPLES, LIGHT_LENGTHS, LIGHT_VERTICES, PHOTON_LAUNCHES, PHOTONS,
    PLACED, Plan, RAY_COUNTERS, SORTED_PHOTONS,
};
use crate::assemble::BIDIRECTIONAL;
use lockstep_core::Integrator;

pub(super) const PLAN: Plan = Plan {
    integrator: Integrator::Vcm,
    headers: &BIDIRECTIONAL,
    shade: None,
    defines: "#define LS_CONNECT_PAIRS 1\n#define LS_MERGE 1\n",
    buffers: &[
        LIGHT_VERTICES,
        LIGHT_LENGTHS,
        PHOTONS,
        SORTED_PHOTONS,
        BUCKET_COUNTS,
        BUCKET_ENDS,
        PLACED,
        RAY_COUNTERS,
        INVALID_SAMPLES,
    ],
    stages: &PHOTON_LAUNCHES,
    megakernel: &PHOTON_LAUNCHES,
};
