//! Progressive photon mapping on a device.

use super::{Plan, bpm};
use lockstep_core::Integrator;

/// The program of bidirectional photon mapping, whose passes say that only first vertices merge: compilers take seconds for
/// each kernel of it.
pub(super) const PLAN: Plan = Plan { integrator: Integrator::Ppm, ..bpm::PLAN };
