//! Lockstep's CUDA backend: the path tracer of `core/kernels` on NVIDIA's GPUs.
//!
//! Targets are `cuda@0`, `cuda@1` and so on in the driver's order, the fastest first; `cuda` is the first. The driver is
//! opened at run time by [`loader`] and the compiler by [`nvrtc`], so a program with this backend starts anywhere.

mod device;
mod error;
#[cfg(feature = "conformance")]
pub mod faults;
pub mod loader;
pub mod nvrtc;
pub mod probes;
mod program;
#[cfg(test)]
mod ptx;
mod renderer;
#[cfg(test)]
mod tests;
mod version;

pub use version::Version;

use device::Found;
use lockstep_core::Listing;
use lockstep_core::Mode;
use lockstep_core::{Backend, Error, Integrator, OpenOptions, Renderer, Result, TargetStatus, Unavailable};
use lockstep_gpu::driver::Wavefront;
use renderer::{CudaDevice, CudaRenderer};
use std::sync::Arc;

/// The backend's name, and the target that stands for the first device.
const NAME: &str = "cuda";

/// CUDA as a backend.
#[derive(Debug)]
pub struct Cuda;

impl Backend for Cuda {
    fn name(&self) -> &'static str {
        NAME
    }

    fn integrators(&self) -> &'static [Integrator] {
        &Integrator::ALL
    }

    fn targets(&self) -> Vec<TargetStatus> {
        match device::find() {
            Ok(found) => found.iter().map(status).collect(),
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
        let renderer: CudaRenderer = Wavefront::new(CudaDevice::open(wanted(target)?, options.mode)?);
        Ok(Box::new(renderer.keeping(lockstep_bvh::BvhCache::new(options.bvh_cache.clone()))))
    }
}

/// The compiler that serves the first device; where there is no device, any that opens.
///
/// # Errors
/// An [`Unavailable`] that says what was tried and what to do.
pub fn compiler() -> std::result::Result<Arc<nvrtc::Compiler>, Unavailable> {
    match device::find().ok().and_then(|found| found.into_iter().next()) {
        Some(first) => first.compiler().map(|(compiler, _)| compiler),
        None => nvrtc::any(),
    }
}

fn status(found: &Found) -> TargetStatus {
    let described = found.compiler();
    let state = described.map(|(compiler, made_for)| renderer::info(found, &compiler, made_for, Mode::Exact));
    TargetStatus { name: found.target.clone(), state }
}

/// The device of a target; the first one answers to the plain name too.
fn wanted(target: &str) -> Result<Found> {
    let found = device::find().map_err(Error::from)?;
    found.into_iter().find(|f| target == NAME || f.target == target).ok_or_else(|| Error::Unavailable {
        what: format!("CUDA has no target `{target}` here"),
        remedy: "`lockstep devices` lists all targets.".into(),
    })
}
