//! Built hierarchies, kept from run to run where the rest of the cache is.

use lockstep_core::BvhOrigin;
use lockstep_core::{LoadReport, OpenOptions, folders};

use crate::output::say;

/// How commands open targets that render: on so many threads, with a place for built hierarchies.
pub(crate) fn keeping(threads: Option<usize>) -> OpenOptions {
    let folder = folders::cache_folder().map(|cache| cache.join("hierarchies"));
    OpenOptions { threads, bvh_cache: folder, ..OpenOptions::default() }
}

/// Says so where a kept hierarchy turned out to be damaged.
pub(crate) fn tell_of_damage(scene: &str, report: &LoadReport) {
    if report.bvh.is_some_and(|bvh| bvh.origin == BvhOrigin::Rebuilt) {
        say(&format!("lockstep: the hierarchy of {scene} in the cache was damaged; it was built again"));
    }
}
