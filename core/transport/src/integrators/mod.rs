//! Integrators: estimators of the radiance that arrives at a pixel.
//!
//! A sample starts at the camera ([`generate`]). Then, in rounds, its ray is *extended* to the closest hit,
//! *shaded* there ([`shade`]: emission, a shadow ray, perhaps a new extension ray) and *connected* (its
//! shadow ray, if unoccluded, adds light). Stages exchange only the records of [`state`], so a backend may
//! run them path by path or as queues of paths. [`lockstep_core::Integrator::rounds`] bounds the rounds.

pub mod ao;
pub mod bidirectional;
pub mod path;
pub mod state;

pub use state::{Connection, ENDED, PathState, Shaded, generate};

use lockstep_core::geometry::Hit;
use lockstep_core::path_record::Recorder;
use lockstep_core::scene::SceneData;
use lockstep_core::{Integrator, Settings};

/// Shades the hit of an extension ray by the integrator of the settings. `record` receives the quantities
/// computed.
#[inline(always)]
pub fn shade(
    scene: &SceneData,
    settings: &Settings,
    bounce: u32,
    path: &mut PathState,
    hit: &Hit,
    record: &mut impl Recorder,
) -> Shaded {
    match settings.integrator {
        Integrator::Path => path::shade::<false>(scene, settings, bounce, path, hit, record),
        Integrator::Ao => ao::shade(scene, path, hit, record),
        // These have sub-paths of their own: see [`bidirectional`]
        Integrator::Light | Integrator::Bpt | Integrator::Bpm | Integrator::Ppm | Integrator::Vcm => ENDED,
    }
}

/// [`shade`] without a record, compiled once, for AVX2 where the processor has it. Both builds round alike.
pub fn shade_unrecorded(
    scene: &SceneData,
    settings: &Settings,
    bounce: u32,
    path: &mut PathState,
    hit: &Hit,
) -> Shaded {
    #[cfg(target_arch = "x86_64")]
    if lockstep_core::has_avx2() {
        // SAFETY: the processor has the features.
        return unsafe { shade_avx2(scene, settings, bounce, path, hit) };
    }
    shade(scene, settings, bounce, path, hit, &mut ())
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
fn shade_avx2(
    scene: &SceneData,
    settings: &Settings,
    bounce: u32,
    path: &mut PathState,
    hit: &Hit,
) -> Shaded {
    shade(scene, settings, bounce, path, hit, &mut ())
}
