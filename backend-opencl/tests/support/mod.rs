//! What the tests of OpenCL devices share.

use lockstep_core::{Backend, OpenOptions, Renderer, TargetStatus};
use lockstep_opencl::Opencl;

/// The names of the targets that are present. Prints the reason when there is none.
pub(crate) fn present() -> Vec<String> {
    let name = |target: TargetStatus| match target.state {
        Ok(_) => Some(target.name),
        Err(absence) => {
            eprintln!("skipped: {}. {}", absence.reason, absence.remedy);
            None
        }
    };
    Opencl.targets().into_iter().filter_map(name).collect()
}

/// A renderer of a target that is present.
pub(crate) fn open(target: &str) -> lockstep_core::Result<Box<dyn Renderer>> {
    Opencl.open(target, &OpenOptions::default())
}
