//! Lockstep's OpenCL backend: the kernels of `core/gpu/kernels` on every device of every OpenCL platform.
//!
//! Targets are `opencl@pocl`, `opencl@intel`, `opencl@nvidia` and so on, the best first: discrete GPUs, then
//! integrated GPUs, then CPUs; within a class by compute units, clock and lanes. [`loader`] opens the OpenCL
//! library at run time, so a program with this backend starts on machines without it.

mod compile;
mod device;
mod error;
mod flags;
mod launch_shape;
pub mod loader;
mod name;
pub mod probes;
mod program;
mod program_cache;
mod renderer;
mod source;
mod stack;
#[cfg(test)]
mod tests;

use lockstep_core::Mode;
#[cfg(feature = "conformance")]
use lockstep_core::Structure;
use lockstep_core::TranslationUnit;
use lockstep_core::{Backend, Error, Integrator, OpenOptions, Renderer, Result, TargetStatus};
use lockstep_gpu::canary::CheckedTargets;
use lockstep_gpu::driver::Wavefront;
use name::NAME;
use renderer::{OpenclDevice, OpenclRenderer};

/// Opens a target with patched kernels, for mutation tests. Whole paths are one kernel, which compilers take less time for
/// than for several.
///
/// # Errors
/// As [`Backend::open`]; a patch that does not apply is [`Error::Contract`] when a scene is loaded.
#[cfg(feature = "conformance")]
pub fn open_patched(target: &str, patches: &[lockstep_gpu::SourcePatch]) -> Result<Box<dyn Renderer>> {
    let mut device = OpenclDevice::open(find_device(target)?, Mode::Exact)?;
    device.patches = patches.to_vec();
    device.structure = Some(Structure::Megakernel);
    let renderer: OpenclRenderer = Wavefront::new(device);
    Ok(Box::new(renderer))
}

/// The device of a target; the plain backend name means the best device.
fn find_device(target: &str) -> Result<device::DiscoveredDevice> {
    let devices = device::discover().map_err(Error::from)?;
    devices.into_iter().find(|device| target == NAME || device.target == target).ok_or_else(|| {
        Error::Unavailable {
            what: format!("OpenCL has no target `{target}` here"),
            remedy: "`lockstep devices` lists all targets.".into(),
        }
    })
}

/// The OpenCL backend, with a target for every device.
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
        let status = |device: &device::DiscoveredDevice| TargetStatus {
            name: device.target.clone(),
            state: Ok(renderer::info(device, Mode::Exact)),
        };
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
            CHECKED.once(&found.target, || {
                let device = OpenclDevice::open(found.clone(), Mode::Exact)?;
                let source = probes::canary_source(&device);
                probes::check_arithmetic(device, &source)
            })?;
        }
        let renderer: OpenclRenderer = Wavefront::new(OpenclDevice::open(found, options.mode)?);
        Ok(Box::new(renderer.keeping(lockstep_bvh::BvhCache::new(options.bvh_cache.clone()))))
    }
}
