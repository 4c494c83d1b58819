//! Bidirectional photon mapping on a device.

use super::{MERGE_BUFFERS, PHOTON_LAUNCHES, Plan};
use crate::assemble::BIDIRECTIONAL;
use lockstep_core::Integrator;

pub(super) const PLAN: Plan = Plan {
    integrator: Integrator::Bpm,
    headers: &BIDIRECTIONAL,
    shade: None,
    defines: "#define LS_MERGE 1\n",
    buffers: &MERGE_BUFFERS,
    stages: &PHOTON_LAUNCHES,
    megakernel: &PHOTON_LAUNCHES,
};
