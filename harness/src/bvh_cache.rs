//! Built BVHs, kept from run to run in the cache folder.

use lockstep_core::BvhOrigin;
use lockstep_core::{LoadReport, OpenOptions, folders};

use crate::output::say;

/// The options with which commands open targets that render: worker threads, and a folder for built BVHs.
pub(crate) fn options(threads: Option<usize>) -> OpenOptions {
    let folder = folders::cache_folder().map(|cache| cache.join("bvh"));
    OpenOptions { threads, bvh_cache: folder, ..OpenOptions::default() }
}

/// Warns where a kept BVH turned out to be damaged.
pub(crate) fn warn_if_rebuilt(scene: &str, report: &LoadReport) {
    if report.bvh.is_some_and(|bvh| bvh.origin == BvhOrigin::Rebuilt) {
        say(&format!("lockstep: the BVH of {scene} in the cache was damaged; it was built again"));
    }
}
