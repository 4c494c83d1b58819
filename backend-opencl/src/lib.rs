//! Lockstep's OpenCL backend: the path tracer of `core/kernels` on every device of every OpenCL platform.
//!
//! Targets are `opencl@pocl`, `opencl@intel`, `opencl@nvidia` and so on, the best first: a discrete GPU before an
//! integrated one before a CPU, then by compute units, clock and lanes. The library is opened at run time by [`loader`],
//! so a program with this backend starts anywhere.

mod device;
mod error;
pub mod loader;
pub mod probes;
mod program;
mod renderer;
mod stack;
#[cfg(test)]
mod tests;

use lockstep_core::Listing;
use lockstep_core::Mode;
use lockstep_core::{Backend, Error, Integrator, OpenOptions, Renderer, Result, TargetStatus};
use lockstep_gpu::driver::Wavefront;
use renderer::{OpenclDevice, OpenclRenderer};

/// The backend's name, and the target that stands for it where there is no device.
const NAME: &str = "opencl";

/// Opens a target whose kernels have been changed, for proofs that a mistake would be found.
///
/// # Errors
/// As [`Backend::open`]; an edit that does not fit is [`Error::Contract`] when a scene is loaded.
#[cfg(feature = "conformance")]
pub fn open_edited(target: &str, edits: &[lockstep_gpu::SourcePatch]) -> Result<Box<dyn Renderer>> {
    let mut device = OpenclDevice::open(found(target)?, Mode::Exact)?;
    device.edits = edits.to_vec();
    let renderer: OpenclRenderer = Wavefront::new(device);
    Ok(Box::new(renderer))
}

/// The device of a target. The best device comes first and answers to the plain name.
fn found(target: &str) -> Result<device::Found> {
    let found = device::find().map_err(Error::from)?;
    found.into_iter().find(|f| target == NAME || f.target == target).ok_or_else(|| Error::Unavailable {
        what: format!("OpenCL has no target `{target}` here"),
        remedy: "`lockstep devices` lists all targets.".into(),
    })
}

/// OpenCL as a backend.
#[derive(Debug)]
pub struct Opencl;

impl Backend for Opencl {
    fn name(&self) -> &'static str {
        NAME
    }

    fn integrators(&self) -> &'static [Integrator] {
        &Integrator::ALL
    }

    fn targets(&self) -> Vec<TargetStatus> {
        match device::find() {
            Ok(found) => found
                .iter()
                .map(|f| TargetStatus { name: f.target.clone(), state: Ok(renderer::info(f, Mode::Exact)) })
                .collect(),
            Err(absence) => vec![TargetStatus { name: NAME.into(), state: Err(absence) }],
        }
    }

    fn modes(&self) -> &'static [Mode] {
        &[Mode::Exact, Mode::Fast]
    }

    fn kernels(&self) -> Vec<Listing> {
        program::listings()
    }

    fn open(&self, target: &str, options: &OpenOptions) -> Result<Box<dyn Renderer>> {
        let renderer: OpenclRenderer = Wavefront::new(OpenclDevice::open(found(target)?, options.mode)?);
        Ok(Box::new(renderer.keeping(lockstep_bvh::BvhCache::new(options.bvh_cache.clone()))))
    }
}
