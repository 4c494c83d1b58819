//! Launch shapes: how many blocks a kernel is launched with, of how many threads (occupancy).

use crate::device::DiscoveredDevice;
use crate::error::device_error;
use crate::flags::LARGEST_BLOCK;
use cust::error::CudaResult;
use cust::function::{BlockSize, Function, FunctionAttribute};
use lockstep_core::error::{Error, Result};
use lockstep_core::{KernelConfig, Scheduling};

/// Most blocks of a launch for each resident one: enough to even out rays of different lengths. Kernels loop
/// over the rest of their queue (grid-stride loop).
const BLOCKS_PER_RESIDENT_BLOCK: u32 = 16;

/// The launch shape of a kernel, and its resources.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaunchShape {
    /// Threads of a block.
    pub(crate) block: u32,
    /// Blocks resident on the device at once.
    pub(crate) resident_blocks: u32,
    /// Most blocks of a launch.
    pub(crate) max_blocks: u32,
    /// Registers of a thread.
    pub(crate) registers: u32,
    /// Local memory of a thread in bytes: its stack and spilled registers.
    pub(crate) local_bytes: u32,
    /// Shared memory of a block in bytes.
    pub(crate) shared_bytes: u32,
}

impl LaunchShape {
    /// The default shape of a kernel, by the driver's occupancy calculator.
    pub(crate) fn of(function: &Function<'_>) -> CudaResult<Self> {
        let (resident_blocks, block) =
            function.suggested_launch_configuration(0, BlockSize::x(LARGEST_BLOCK))?;
        let number = |attribute| function.get_attribute(attribute).map(|value| value.max(0) as u32);
        let resident_blocks = resident_blocks.max(1);
        Ok(Self {
            block: block.max(1),
            resident_blocks,
            max_blocks: resident_blocks.saturating_mul(BLOCKS_PER_RESIDENT_BLOCK),
            registers: number(FunctionAttribute::NumRegisters)?,
            local_bytes: number(FunctionAttribute::LocalSizeBytes)?,
            shared_bytes: number(FunctionAttribute::SharedMemorySizeBytes)?,
        })
    }

    /// The shape under a kernel configuration.
    ///
    /// # Errors
    /// [`Error::Device`] for a block size that the device refuses.
    pub(crate) fn configured(
        self,
        device: &DiscoveredDevice,
        name: &str,
        function: &Function<'_>,
        config: &KernelConfig,
    ) -> Result<Self> {
        let mut shape = self;
        if let Some(block) = config.group {
            shape.block = block;
            shape.resident_blocks = resident_blocks(device, name, function, block)?;
        }
        shape.max_blocks = match config.scheduling {
            Scheduling::Default => shape.resident_blocks.saturating_mul(BLOCKS_PER_RESIDENT_BLOCK),
            Scheduling::OneThreadPerRay => u32::MAX,
            Scheduling::PersistentThreads => shape.resident_blocks,
        };
        Ok(shape)
    }

    /// Blocks of a launch over `items` entries of a queue.
    pub(crate) fn blocks(&self, items: u32) -> u32 {
        items.max(1).div_ceil(self.block).min(self.max_blocks)
    }
}

/// Number of blocks of this size that are resident on a device at once.
///
/// # Errors
/// [`Error::Device`] when there is none.
fn resident_blocks(
    device: &DiscoveredDevice,
    name: &str,
    function: &Function<'_>,
    block: u32,
) -> Result<u32> {
    let action = || format!("running blocks of {block} threads");
    let query = || -> CudaResult<(u32, u32)> {
        let max_block = function.get_attribute(FunctionAttribute::MaxThreadsPerBlock)?.max(0) as u32;
        if block == 0 || block > max_block {
            return Ok((max_block, 0));
        }
        Ok((max_block, function.max_active_blocks_per_multiprocessor(BlockSize::x(block), 0)?))
    };
    let (max_block, per_multiprocessor) = query().map_err(|e| device_error(&device.target, action(), e))?;
    if per_multiprocessor == 0 {
        let reason =
            format!("the device takes 1 to {max_block} of {name}, as its registers and memory allow");
        return Err(Error::Device { actor: device.target.clone(), action: action(), reason });
    }
    Ok(per_multiprocessor.saturating_mul(device.properties.compute_units.max(1)))
}
