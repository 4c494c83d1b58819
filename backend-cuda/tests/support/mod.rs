//! Shared by the tests of CUDA devices.

use lockstep_core::{Backend, OpenOptions, Renderer};
use lockstep_cuda::Cuda;

/// The names of the targets that are present; the test is skipped where there is none.
pub(crate) fn present() -> Vec<String> {
    lockstep_conformance::present_targets(&Cuda)
}

/// A renderer of a target that is present.
pub(crate) fn open(target: &str) -> lockstep_core::Result<Box<dyn Renderer>> {
    Cuda.open(target, &OpenOptions::default())
}
