//! Ambient occlusion on a device: camera rays, one occlusion ray from each hit.

use super::{PATH_BUFFERS, Plan, Stage, Step};
use crate::header::header;
use crate::signatures::{CONNECT, EXTEND, EXTEND_COHERENT, GENERATE, MEGAKERNEL, RESOLVE, SHADE, TALLY};
use lockstep_core::{Integrator, stage};

pub(super) const PLAN: Plan = Plan {
    integrator: Integrator::Ao,
    headers: &[header!("integrators/ao.h")],
    shade: Some("ao_shade"),
    defines: "",
    kernels_of_its_own: &[],
    buffers: &PATH_BUFFERS,
    stages: &[
        Step::Launch(Stage::new(stage::GENERATE, &GENERATE)),
        Step::Rounds(
            &[
                Stage::new(stage::EXTEND, &EXTEND).first(&EXTEND_COHERENT),
                Stage::new(stage::SHADE, &SHADE),
                Stage::new(stage::CONNECT, &CONNECT),
            ],
            |_| 1,
        ),
        Step::Launch(Stage::unnamed(&RESOLVE)),
        Step::Launch(Stage::unnamed(&TALLY).single()),
    ],
    megakernel: &[
        Step::Launch(Stage::unnamed(&MEGAKERNEL)),
        Step::Launch(Stage::unnamed(&RESOLVE)),
        Step::Launch(Stage::unnamed(&TALLY).single()),
    ],
};
