//! Probe kernels of the parity list on a CUDA device.
//!
//! `lockstep_conformance::parity::run(&mut Probes::build("cuda@0")?, count)` compares them with the
//! reference.

use crate::device::DiscoveredDevice;
use crate::flags::flags;
use crate::launch_shape::LaunchShape;
use crate::renderer::CudaDevice;
use crate::source::{COMPAT, COMPAT_NAME, options};
use crate::{error, find_device};
use cust::module::Module;
use lockstep_core::Mode;
use lockstep_core::Result;
use lockstep_gpu::driver::{Device, KernelArg};
use lockstep_gpu::probe::{Call, ProbeDevice};
use lockstep_gpu::{assemble_canary, assemble_probes, canary};

/// A device with compiled probe kernels.
pub struct Probes {
    module: Module,
    device: CudaDevice,
    target: String,
}

impl Probes {
    /// Compiles the probe kernels for a target, with the flags of exact mode.
    ///
    /// # Errors
    /// [`lockstep_core::Error::Unavailable`] for an absent target; [`lockstep_core::Error::Compile`] or
    /// [`lockstep_core::Error::Device`] when the driver refuses the kernels.
    pub fn build(target: &str) -> Result<Self> {
        let device = CudaDevice::open(find_device(target)?, Mode::Exact)?;
        let source = assemble_probes(COMPAT_NAME, COMPAT, &options(Mode::Exact));
        let module = device.load(&source.text, flags(Mode::Exact))?;
        Ok(Self { module, device, target: target.into() })
    }
}

impl ProbeDevice for Probes {
    fn probe(&mut self, call: &Call<'_>) -> Result<Vec<u32>> {
        let name = call.kernel.name;
        let device = &mut self.device;
        let mut buffers = Vec::new();
        let mut output = vec![0u32; call.output_words];
        let arrays = call.scene.iter().flat_map(|(_, arrays)| arrays.iter().map(|array| array.bytes));
        let ours = [bytemuck::cast_slice(call.inputs), bytemuck::cast_slice(&output)];
        let our_count = ours.len();
        for bytes in arrays.chain(ours) {
            // Buffers must not be empty; a record has sixteen bytes.
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

        device.enter()?;
        let refused = |e| error::device_error(&self.target, format!("finding kernel {name}"), e);
        let function = self.module.get_function(name).map_err(refused)?;
        let shape = LaunchShape::of(&function).map_err(refused)?;
        device.enqueue(&function, shape, name, call.count, &arguments)?;
        if let Some(buffer) = our_buffers.last() {
            device.download(buffer, bytemuck::cast_slice_mut(&mut output), name)?;
        }
        Ok(output)
    }
}

/// Runs the canary on a device.
///
/// # Errors
/// As [`canary::check`], and any error of the compiler.
pub(crate) fn check_arithmetic(found: DiscoveredDevice) -> Result<()> {
    let target = found.target.clone();
    let device = CudaDevice::open(found, Mode::Exact)?;
    let source = assemble_canary(COMPAT_NAME, COMPAT, &options(Mode::Exact));
    let module = device.load_cached(&source, flags(Mode::Exact))?;
    canary::check(&mut Probes { module, device, target: target.clone() }, &target)
}
