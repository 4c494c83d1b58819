//! Faults on purpose, to prove what they leave behind.

use crate::program::Shape;
use crate::renderer::CudaDevice;
use crate::wanted;
use lockstep_core::Mode;
use lockstep_core::{Error, Result};
use lockstep_gpu::driver::{Device, KernelArg};

/// A kernel that writes where there is no memory.
const WILD_WRITE: &str =
    "extern \"C\" __global__ void wild_write(unsigned int *nowhere) { nowhere[0] = 1u; }\n";

/// An address that no allocation has.
const NOWHERE: u64 = 0x10;

/// Asks a target's device for 64 times its memory and returns what that led to.
///
/// # Errors
/// The error that is asked for; also any from opening the target.
pub fn exhaust_memory(target: &str) -> Result<()> {
    let mut device = CudaDevice::open(wanted(target)?, Mode::Exact)?;
    let too_much = device.limits().memory.saturating_mul(64);
    device.allocate(too_much, "a test").map(drop)
}

/// Runs a kernel that writes to an illegal address and waits for it, which costs this process the device.
///
/// # Errors
/// The error that is asked for; also any from opening the target or building the kernel.
pub fn lose_device(target: &str) -> Result<()> {
    let mut device = CudaDevice::open(wanted(target)?, Mode::Exact)?;
    let module = device.load(WILD_WRITE, &[])?;
    let refused = |e| crate::error::device_error(target, "finding kernel wild_write", e);
    let function = module.get_function("wild_write").map_err(refused)?;
    let shape = Shape::of(&function).map_err(refused)?;
    let arguments: [KernelArg<'_, _>; 1] = [KernelArg::Plain(bytemuck::bytes_of(&NOWHERE))];
    let launch = device.enqueue(&function, shape, "wild_write", 1, &arguments)?;
    device.wait(&launch).map(drop)
}

/// Whether an error is one of the device's, with this name in its reason.
pub fn is_device_error(result: &Result<()>, name: &str) -> bool {
    matches!(result, Err(Error::Device { reason, .. }) if reason.starts_with(name))
}
