//! Deliberate faults, for tests of error handling.

use crate::find_device;
use crate::launch_shape::LaunchShape;
use crate::renderer::CudaDevice;
use lockstep_core::Mode;
use lockstep_core::{Error, Result};
use lockstep_gpu::driver::{Device, KernelArg};

/// A kernel that writes to an illegal address.
const WILD_WRITE: &str =
    "extern \"C\" __global__ void wild_write(unsigned int *nowhere) { nowhere[0] = 1u; }\n";

/// An address outside all allocations.
const ILLEGAL_ADDRESS: u64 = 0x10;

/// Allocates 64 times the memory of a target's device, and returns the error.
///
/// # Errors
/// The expected [`Error::Device`], or any error of opening the target.
pub fn exhaust_memory(target: &str) -> Result<()> {
    let mut device = CudaDevice::open(find_device(target)?, Mode::Exact)?;
    let too_much = device.limits().memory.saturating_mul(64);
    device.allocate(too_much, "a test").map(drop)
}

/// Runs a kernel that writes to an illegal address, by which this process loses the device, and returns the
/// error.
///
/// # Errors
/// The expected [`Error::Device`], or any error of opening the target or building the kernel.
pub fn lose_device(target: &str) -> Result<()> {
    let mut device = CudaDevice::open(find_device(target)?, Mode::Exact)?;
    let module = device.load(WILD_WRITE, &[])?;
    let refused = |e| crate::error::device_error(target, "finding kernel wild_write", e);
    let function = module.get_function("wild_write").map_err(refused)?;
    let shape = LaunchShape::of(&function).map_err(refused)?;
    let arguments: [KernelArg<'_, _>; 1] = [KernelArg::Plain(bytemuck::bytes_of(&ILLEGAL_ADDRESS))];
    let launch = device.enqueue(&function, shape, "wild_write", 1, &arguments)?;
    device.wait(&launch).map(drop)
}

/// Whether a result is an [`Error::Device`] whose reason begins with this CUDA error name.
pub fn is_device_error(result: &Result<()>, name: &str) -> bool {
    matches!(result, Err(Error::Device { reason, .. }) if reason.starts_with(name))
}
