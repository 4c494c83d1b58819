//! Vertex connection and merging on a device.

use super::Plan;
use super::pairs::{SUB_PATH_MERGE_LAUNCHES, VCM_LAUNCHES, buffers};
use crate::assemble::{BIDIRECTIONAL, pairs};
use lockstep_core::Integrator;

pub(super) const PLAN: Plan = Plan {
    integrator: Integrator::Vcm,
    headers: &BIDIRECTIONAL,
    shade: None,
    defines: "#define LS_CONNECT_PAIRS 1\n#define LS_MERGE 1\n",
    kernels_of_its_own: &[
        pairs::CONNECT_LENS,
        pairs::EXTEND_CAMERA,
        pairs::JOIN,
        pairs::CONNECT_CAMERA,
        pairs::CLEAR_BUCKETS,
        pairs::PLACE_BUCKETS,
        pairs::SORT_PHOTONS,
        pairs::MERGE,
    ],
    buffers: &buffers(true, true),
    stages: &VCM_LAUNCHES,
    megakernel: &SUB_PATH_MERGE_LAUNCHES,
};
