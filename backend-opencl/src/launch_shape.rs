//! Launch shapes: how many work-items a kernel is launched with, in groups of how many.

use crate::device::{DeviceClass, DiscoveredDevice};
use crate::program::Program;
use crate::stack;
use lockstep_core::error::{Error, Result};
use lockstep_core::{KernelConfig, Scheduling, Structure};
use lockstep_gpu::ITEMS_IN_TURN;

/// Work-items of a group on GPUs.
const GPU_GROUP: usize = 128;

/// Work-items of a group on CPUs, each with [`ITEMS_IN_TURN`] rays: few, so that cores share uneven rays
/// evenly.
const CPU_GROUP: usize = 16;

/// Most work-items of a launch for each compute unit of a GPU; kernels loop over the rest of their queue
/// (grid-stride loop).
const GPU_ITEMS_PER_UNIT: usize = 16_384;

/// Work-items resident on each compute unit of a GPU, which OpenCL does not report: NVIDIA's number at the 64
/// registers of traversal.
const GPU_RESIDENT_ITEMS_PER_UNIT: usize = 1_024;

/// Size of a launch, in work-items.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaunchShape {
    /// Work-items of the launch, a multiple of `local`.
    pub(crate) global: usize,
    /// Work-items of a group.
    pub(crate) local: usize,
}

impl LaunchShape {
    /// The shape of a launch over about `items` entries of a queue, under a kernel configuration.
    pub(crate) fn of(device: &DiscoveredDevice, items: u32, config: &KernelConfig) -> Self {
        let units = device.properties.compute_units.max(1) as usize;
        let is_gpu = device.properties.class != DeviceClass::Cpu;
        let local = config.group.map_or(default_group(device), |group| group.max(1) as usize);
        let max_items = match config.scheduling {
            Scheduling::Default if is_gpu => GPU_ITEMS_PER_UNIT * units,
            Scheduling::Default | Scheduling::OneThreadPerRay => usize::MAX,
            Scheduling::PersistentThreads if is_gpu => units * GPU_RESIDENT_ITEMS_PER_UNIT.max(local),
            Scheduling::PersistentThreads => units * local,
        };
        let items = if is_gpu { items } else { items.div_ceil(ITEMS_IN_TURN) };
        Self { global: (items as usize).clamp(1, max_items).next_multiple_of(local), local }
    }
}

/// Work-items of a group where a kernel configuration sets none. It is the same for all kernels, since PoCL
/// compiles a kernel anew for each size.
pub(crate) fn default_group(device: &DiscoveredDevice) -> usize {
    let properties = &device.properties;
    let group = if properties.class == DeviceClass::Cpu { CPU_GROUP } else { GPU_GROUP };
    // Megakernels and the kernel that records paths hold two traversals.
    let fits = max_group_on_stack(device, 2).map_or(group, |max| 1 << max.ilog2());
    group.min(fits).min(properties.max_group)
}

/// Most work-items of a group whose private memory fits a thread's stack; `None` where the driver does not
/// keep it there.
fn max_group_on_stack(device: &DiscoveredDevice, traversals: usize) -> Option<usize> {
    let is_pocl = device.target.contains("pocl");
    is_pocl.then(|| stack::max_work_items(stack::thread_stack_bytes(), traversals))
}

/// Refuses groups that are larger than a program's kernels, the device or its driver take.
///
/// # Errors
/// [`Error::Device`] with the limit.
pub(crate) fn check_group(
    device: &DiscoveredDevice,
    program: &Program,
    config: &KernelConfig,
    group: u32,
) -> Result<()> {
    let refuse = |reason: String| {
        let action = format!("running work-groups of {group} work-items");
        Err(Error::Device { actor: device.target.clone(), action, reason })
    };
    let (group, max_group) = (group as usize, device.properties.max_group);
    if group == 0 || group > max_group {
        return refuse(format!("the device takes 1 to {max_group}"));
    }
    if let Some((kernel, limit)) = program.tightest_group_limit().filter(|(_, limit)| group > *limit) {
        return refuse(format!("with the registers that {kernel} needs, the device takes at most {limit}"));
    }
    let traversals = if config.structure == Structure::Megakernel { 2 } else { 1 };
    match max_group_on_stack(device, traversals) {
        Some(limit) if group > limit => {
            refuse(format!("a thread's stack, where PoCL keeps private memory, has room for {limit}"))
        }
        _ => Ok(()),
    }
}
