//! The probes of the conformance suite on an OpenCL device.

use crate::compile::from_source;
use crate::error::device_error;
use crate::flags::flags;
use crate::launch_shape::LaunchShape;
use crate::program_cache::load_or_compile;
use crate::renderer::OpenclDevice;
use crate::source::{COMPAT, COMPAT_NAME, options};
use lockstep_bvh::Layout;
use lockstep_core::{KernelConfig, Mode, Result};
use lockstep_gpu::driver::{Device, KernelArg};
use lockstep_gpu::probe::{Call, ProbeDevice};
use lockstep_gpu::{KernelSource, assemble_canary, assemble_probes, canary};
use ocl::core;
use std::collections::HashMap;

/// A device with the compiled probes.
pub struct Probes {
    device: OpenclDevice,
    program: core::Program,
    kernels: HashMap<&'static str, core::Kernel>,
    target: String,
}

impl Probes {
    /// Compiles the probes for a target, with the flags of the exact mode.
    ///
    /// # Errors
    /// [`lockstep_core::Error::Unavailable`] for an absent target; [`lockstep_core::Error::Compile`] or
    /// [`lockstep_core::Error::Device`] when the probes are refused.
    pub fn build(target: &str) -> Result<Self> {
        let found = crate::find_device(target)?;
        let options = options(found.device_type(), Mode::Exact);
        let source = assemble_probes(COMPAT_NAME, COMPAT, &options);
        let flags = flags(&found, Mode::Exact);
        let device = OpenclDevice::open(found.clone(), Mode::Exact)?;
        let program = from_source(&found, device.context(), &source.text, &flags)?;
        Ok(Self::of(device, program))
    }

    fn of(device: OpenclDevice, program: core::Program) -> Self {
        let target = device.discovered().target.clone();
        Self { device, program, kernels: HashMap::new(), target }
    }

    /// A probe's kernel, made at its first call.
    fn kernel(&mut self, name: &'static str) -> Result<core::Kernel> {
        if let Some(kernel) = self.kernels.get(name) {
            return Ok(kernel.clone());
        }
        let kernel = core::create_kernel(&self.program, name)
            .map_err(|e| device_error(&self.target, format!("finding kernel {name}"), &e))?;
        self.kernels.insert(name, kernel.clone());
        Ok(kernel)
    }
}

impl ProbeDevice for Probes {
    fn layout(&self) -> Layout {
        self.device.limits().kind.layout()
    }

    fn probe(&mut self, call: &Call<'_>) -> Result<Vec<u32>> {
        let name = call.kernel.name;
        let kernel = self.kernel(name)?;
        let device = &mut self.device;
        let mut buffers = Vec::new();
        let mut output = vec![0u32; call.output_words];
        let arrays = call.scene.iter().flat_map(|(_, arrays)| arrays.iter().map(|array| array.bytes));
        let ours = [bytemuck::cast_slice(call.inputs), bytemuck::cast_slice(&output)];
        let our_count = ours.len();
        for bytes in arrays.chain(ours) {
            // There are no empty buffers; a record takes sixteen bytes.
            let buffer = device.allocate(bytes.len().max(16) as u64, name)?;
            if !bytes.is_empty() {
                device.upload(&buffer, bytes, name)?;
            }
            buffers.push(buffer);
        }
        let (scene_buffers, our_buffers) = buffers.split_at(buffers.len() - our_count);
        let mut arguments = Vec::new();
        if let Some((constants, _)) = &call.scene {
            arguments.push(KernelArg::Plain(bytemuck::bytes_of(constants)));
        }
        arguments.extend(scene_buffers.iter().map(KernelArg::Buffer));
        arguments.push(KernelArg::Plain(bytemuck::bytes_of(&call.count)));
        arguments.extend(our_buffers.iter().map(KernelArg::Buffer));
        let shape = LaunchShape::of(device.discovered(), call.count, &KernelConfig::default());
        device.enqueue(&kernel, name, shape, &arguments)?;
        if let Some(buffer) = our_buffers.last() {
            device.download(buffer, bytemuck::cast_slice_mut(&mut output), name)?;
        }
        Ok(output)
    }
}

/// The canary's source for a device.
pub(crate) fn canary_source(device: &OpenclDevice) -> KernelSource {
    assemble_canary(COMPAT_NAME, COMPAT, &options(device.discovered().device_type(), Mode::Exact))
}

/// Runs the canary on a device.
///
/// # Errors
/// As [`canary::check`], and any error of the compiler.
pub(crate) fn check_arithmetic(device: OpenclDevice, source: &KernelSource) -> Result<()> {
    let found = device.discovered();
    let flags = flags(found, Mode::Exact);
    let program = load_or_compile(found, device.context(), source, &flags, |program| Ok(program.clone()))?;
    let mut probes = Probes::of(device, program);
    let target = probes.target.clone();
    canary::check(&mut probes, &target)
}
