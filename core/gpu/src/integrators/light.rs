//! Light tracing on a device.

use super::Plan;
use super::pairs::{LIGHT_LAUNCHES, SUB_PATH_LAUNCHES, buffers};
use crate::assemble::{BIDIRECTIONAL, pairs};
use lockstep_core::Integrator;

pub(super) const PLAN: Plan = Plan {
    integrator: Integrator::Light,
    headers: &BIDIRECTIONAL,
    shade: None,
    defines: "",
    kernels_of_its_own: &[pairs::CONNECT_LENS],
    buffers: &buffers(false, false),
    stages: &LIGHT_LAUNCHES,
    megakernel: &SUB_PATH_LAUNCHES,
};
