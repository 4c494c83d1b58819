//! What the tests of CUDA devices share.

use lockstep_core::{Backend, OpenOptions, Renderer, TargetStatus};
use lockstep_cuda::Cuda;

/// The names of the targets that are present. Prints the reason when one is absent.
pub(crate) fn present() -> Vec<String> {
    let name = |target: TargetStatus| match target.state {
        Ok(_) => Some(target.name),
        Err(absence) => {
            eprintln!("skipped: {}. {}", absence.reason, absence.remedy);
            None
        }
    };
    Cuda.targets().into_iter().filter_map(name).collect()
}

/// A renderer of a target that is present.
pub(crate) fn open(target: &str) -> lockstep_core::Result<Box<dyn Renderer>> {
    Cuda.open(target, &OpenOptions::default())
}
