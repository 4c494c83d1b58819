//! Path tracing on a device (Laine, Karras and Aila 2013).

use super::{PATH_BUFFERS, Plan, Stage, Step};
use crate::header::header;
use crate::signatures::{CONNECT, EXTEND, EXTEND_COHERENT, GENERATE, MEGAKERNEL, RESOLVE, SHADE, TALLY};
use lockstep_core::{Integrator, stage};

pub(super) const PLAN: Plan = Plan {
    integrator: Integrator::Path,
    headers: &[header!("integrators/direct_light.h"), header!("integrators/path.h")],
    shade: Some("path_shade"),
    defines: "",
    kernels_of_its_own: &[],
    buffers: &PATH_BUFFERS,
    stages: &[
        Step::Launch(Stage::new(stage::GENERATE, &GENERATE)),
        Step::Rounds(
            &[
                Stage::new(stage::EXTEND, &EXTEND).first(&EXTEND_COHERENT),
                Stage::new(stage::SHADE, &SHADE),
                // The last round only adds emission, so it has no shadow rays.
                Stage::new(stage::CONNECT, &CONNECT).not_in_last_round(),
            ],
            |bounces| bounces + 1,
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
