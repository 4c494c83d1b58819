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
use lockstep_core::{Integrator, Sampler, Settings};

/// True where draws are hashed, and no material has layers, a medium or a priority. [`shade`] is compiled without the rest
/// for such scenes.
pub fn is_plain(scene: &SceneData, settings: &Settings) -> bool {
    settings.sampler == Sampler::Pcg && scene.layers.is_empty() && !scene.has_priorities()
}

/// Shades the hit of an extension ray by the integrator of the settings. `record` receives the quantities
/// computed. `PLAIN` may be true where [`is_plain`] is.
#[inline(always)]
pub fn shade<const PLAIN: bool>(
    scene: &SceneData,
    settings: &Settings,
    bounce: u32,
    path: &mut PathState,
    hit: &Hit,
    record: &mut impl Recorder,
) -> Shaded {
    match settings.integrator {
        Integrator::Path => path::shade::<PLAIN>(scene, settings, bounce, path, hit, record),
        Integrator::Ao => ao::shade(scene, path, hit, record),
        // These have sub-paths of their own: see [`bidirectional`]
        Integrator::Light | Integrator::Bpt | Integrator::Bpm | Integrator::Ppm | Integrator::Vcm => ENDED,
    }
}

/// [`shade`] without a record, compiled for plain scenes and for others, and for AVX2 where the processor has it.
/// All builds round alike.
pub fn shade_unrecorded(
    plain: bool,
    scene: &SceneData,
    settings: &Settings,
    bounce: u32,
    path: &mut PathState,
    hit: &Hit,
) -> Shaded {
    if plain {
        shade_by_features::<true>(scene, settings, bounce, path, hit)
    } else {
        shade_by_features::<false>(scene, settings, bounce, path, hit)
    }
}

#[inline(always)]
fn shade_by_features<const PLAIN: bool>(
    scene: &SceneData,
    settings: &Settings,
    bounce: u32,
    path: &mut PathState,
    hit: &Hit,
) -> Shaded {
    #[cfg(target_arch = "x86_64")]
    if lockstep_core::has_avx2() {
        // SAFETY: the processor has the features.
        return unsafe { shade_avx2::<PLAIN>(scene, settings, bounce, path, hit) };
    }
    shade::<PLAIN>(scene, settings, bounce, path, hit, &mut ())
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
fn shade_avx2<const PLAIN: bool>(
    scene: &SceneData,
    settings: &Settings,
    bounce: u32,
    path: &mut PathState,
    hit: &Hit,
) -> Shaded {
    shade::<PLAIN>(scene, settings, bounce, path, hit, &mut ())
}
