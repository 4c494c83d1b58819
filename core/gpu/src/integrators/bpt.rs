//! Bidirectional path tracing on a device.

use super::Plan;
use super::pairs::{BPT_LAUNCHES, SUB_PATH_LAUNCHES, buffers};
use crate::assemble::{BIDIRECTIONAL, pairs};
use lockstep_core::Integrator;

pub(super) const PLAN: Plan = Plan {
    integrator: Integrator::Bpt,
    headers: &BIDIRECTIONAL,
    shade: None,
    defines: "#define LS_CONNECT_PAIRS 1\n",
    kernels_of_its_own: &[pairs::CONNECT_LENS, pairs::EXTEND_CAMERA, pairs::JOIN, pairs::CONNECT_CAMERA],
    buffers: &buffers(true, false),
    stages: &BPT_LAUNCHES,
    megakernel: &SUB_PATH_LAUNCHES,
};
