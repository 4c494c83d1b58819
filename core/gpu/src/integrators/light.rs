//! Light tracing on a device.

use super::{LIGHT_LAUNCHES, Plan, SUB_PATH_LAUNCHES, buffers_of_pairs};
use crate::assemble::{BIDIRECTIONAL, pairs};
use lockstep_core::Integrator;

pub(super) const PLAN: Plan = Plan {
    integrator: Integrator::Light,
    headers: &BIDIRECTIONAL,
    shade: None,
    defines: "",
    kernels_of_its_own: &[pairs::CONNECT_LENS],
    buffers: &buffers_of_pairs(false, false),
    stages: &LIGHT_LAUNCHES,
    megakernel: &SUB_PATH_LAUNCHES,
};
