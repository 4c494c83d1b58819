//! Status and opening of the Embree targets.

use super::intersector::Embree;
use super::library::{self, Loaded};
use super::plain::PlainEmbree;
use super::{PLAIN_TARGET, TARGET};
use crate::device::describe;
use crate::renderer::CpuRenderer;
use lockstep_bvh::BvhCache;
use lockstep_core::{DeviceInfo, Renderer, Result, TargetStatus, Unavailable};

/// Status of the target `cpu-embree`. The first call loads Embree, which takes some tens of milliseconds.
pub(crate) fn status(threads: usize) -> TargetStatus {
    TargetStatus { name: TARGET.into(), state: device(TARGET, threads) }
}

/// Status of the baseline target `embree-plain`.
pub(crate) fn plain_status(threads: usize) -> TargetStatus {
    TargetStatus { name: PLAIN_TARGET.into(), state: device(PLAIN_TARGET, threads) }
}

/// Opens the target `cpu-embree`.
///
/// # Errors
/// [`lockstep_core::Error::Unavailable`] where Embree is not installed.
pub(crate) fn open(threads: usize) -> Result<Box<dyn Renderer>> {
    Ok(Box::new(CpuRenderer::<Embree>::new(device(TARGET, threads)?, BvhCache::default())?))
}

/// Opens the baseline target `embree-plain`.
///
/// # Errors
/// As for [`open`].
pub(crate) fn open_plain(threads: usize) -> Result<Box<dyn Renderer>> {
    Ok(Box::new(CpuRenderer::<PlainEmbree>::new(device(PLAIN_TARGET, threads)?, BvhCache::default())?))
}

/// Loads Embree and describes it. The target is not exact, since Embree's rounding decides which primitive a
/// ray meets.
fn device(target: &str, threads: usize) -> Result<DeviceInfo, Unavailable> {
    match library::load() {
        Ok(loaded) => Ok(describe(target, threads, driver(loaded), false)),
        Err(error) => Err(Unavailable { reason: error.reason(), remedy: capitalized(&error.remedy()) }),
    }
}

fn driver(loaded: &Loaded) -> String {
    format!("Embree {} ({})", loaded.version, library::kind_of(&loaded.path))
}

fn capitalized(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
