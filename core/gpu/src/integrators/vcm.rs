//! Vertex connection and merging on a device.

use super::{LIGHT_VERTICES, PHOTON_LAUNCHES, Plan, merging};
use crate::assemble::BIDIRECTIONAL;
use lockstep_core::Integrator;

pub(super) const PLAN: Plan = Plan {
    integrator: Integrator::Vcm,
    headers: &BIDIRECTIONAL,
    shade: None,
    defines: "#define LS_CONNECT_PAIRS 1\n#define LS_MERGE 1\n",
    buffers: &merging(LIGHT_VERTICES),
    stages: &PHOTON_LAUNCHES,
    megakernel: &PHOTON_LAUNCHES,
};
