//! Bidirectional photon mapping on a device.

use super::Plan;
use super::pairs::{MERGE_LAUNCHES, SUB_PATH_MERGE_LAUNCHES, buffers};
use crate::assemble::{BIDIRECTIONAL, pairs};
use lockstep_core::Integrator;

pub(super) const PLAN: Plan = Plan {
    integrator: Integrator::Bpm,
    headers: &BIDIRECTIONAL,
    shade: None,
    defines: "#define LS_MERGE 1\n",
    kernels_of_its_own: &[
        pairs::EXTEND_CAMERA,
        pairs::CLEAR_BUCKETS,
        pairs::PLACE_BUCKETS,
        pairs::SORT_PHOTONS,
        pairs::MERGE,
    ],
    buffers: &buffers(false, true),
    stages: &MERGE_LAUNCHES,
    megakernel: &SUB_PATH_MERGE_LAUNCHES,
};
