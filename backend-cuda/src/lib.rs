//! Lockstep's CUDA backend: the kernels of `core/gpu/kernels` on NVIDIA's GPUs.
//!
//! Targets are `cuda@0`, `cuda@1` and so on in the driver's order, the fastest first; `cuda` is the first.
//! [`loader`] opens the driver at run time and [`nvrtc`] the compiler, so a program with this backend starts
//! on machines without them.
//!
//! # Building in another workspace
//!
//! `cust`, through which this backend calls the driver, stops with "Could not find a cuda installation" where
//! its build script finds no CUDA toolkit, though none is needed. One line in the root manifest of the
//! workspace that builds the program prevents that:
//!
//! ```toml
//! [patch.crates-io]
//! find_cuda_helper = { git = "…" } # the repository that lockstep-cuda comes from
//! ```
//!
//! With a path dependency, it is `find_cuda_helper = { path = "…/backend-cuda/find-cuda-helper" }`. Cargo
//! ignores the `[patch]` of dependencies, so this crate cannot bring the line along. Two alternatives need no
//! line: a CUDA toolkit under `/usr/local/cuda` or `/opt/cuda`, or the variable `CUDA_LIBRARY_PATH` set to any
//! folder that contains a folder `lib64`, such as `/usr`.

mod compile;
mod device;
mod error;
#[cfg(feature = "conformance")]
pub mod faults;
mod flags;
mod launch_shape;
pub mod loader;
mod name;
pub mod nvrtc;
pub mod probes;
mod program;
mod program_cache;
#[cfg(test)]
mod ptx;
mod renderer;
mod source;
mod staging;
#[cfg(test)]
mod tests;
mod version;

pub use version::Version;

use device::DiscoveredDevice;
use lockstep_core::Mode;
use lockstep_core::TranslationUnit;
use lockstep_core::{Backend, Error, Integrator, OpenOptions, Renderer, Result, TargetStatus, Unavailable};
use lockstep_gpu::canary::CheckedTargets;
use lockstep_gpu::driver::Wavefront;
use name::NAME;
use renderer::{CudaDevice, CudaRenderer};
use std::sync::Arc;

/// The CUDA backend, with a target for every device of the driver.
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
        match device::discover() {
            Ok(devices) => devices.iter().map(status).collect(),
            Err(unavailable) => vec![TargetStatus { name: NAME.into(), state: Err(unavailable) }],
        }
    }

    fn modes(&self) -> &'static [Mode] {
        &[Mode::Exact, Mode::Fast]
    }

    fn kernels(&self) -> Vec<TranslationUnit> {
        source::translation_units()
    }

    fn open(&self, target: &str, options: &OpenOptions) -> Result<Box<dyn Renderer>> {
        let found = find_device(target)?;
        if options.mode == Mode::Exact {
            static CHECKED: CheckedTargets = CheckedTargets::new();
            CHECKED.once(&found.target, || probes::check_arithmetic(found.clone()))?;
        }
        let renderer: CudaRenderer = Wavefront::new(CudaDevice::open(found, options.mode)?);
        Ok(Box::new(renderer.keeping(lockstep_bvh::BvhCache::new(options.bvh_cache.clone()))))
    }
}

/// The compiler for the first device; without a device, any NVRTC that can be loaded.
///
/// # Errors
/// [`Unavailable`] with the libraries tried, the reasons and the remedy.
pub fn compiler() -> std::result::Result<Arc<nvrtc::Compiler>, Unavailable> {
    match device::discover().ok().and_then(|devices| devices.into_iter().next()) {
        Some(first) => first.compiler().map(|(compiler, _)| compiler),
        None => nvrtc::any(),
    }
}

fn status(device: &DiscoveredDevice) -> TargetStatus {
    let info = |(compiler, architecture): (Arc<nvrtc::Compiler>, _)| {
        renderer::info(device, &compiler, architecture, Mode::Exact)
    };
    TargetStatus { name: device.target.clone(), state: device.compiler().map(info) }
}

/// The device of a target; the plain backend name means the first device.
fn find_device(target: &str) -> Result<DiscoveredDevice> {
    let devices = device::discover().map_err(Error::from)?;
    devices.into_iter().find(|device| target == NAME || device.target == target).ok_or_else(|| {
        Error::Unavailable {
            what: format!("CUDA has no target `{target}` here"),
            remedy: "`lockstep devices` lists all targets.".into(),
        }
    })
}
