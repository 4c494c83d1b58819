//! The shared kernels as a program of one device, ready to launch.

use crate::compile::log_of;
use crate::device::DiscoveredDevice;
use crate::error::device_error;
use crate::flags::{flags, stage_flag, traversal_flag};
use crate::program_cache::load_or_compile;
use lockstep_core::error::Result;
use lockstep_core::{KernelConfig, Mode};
use lockstep_gpu::signatures::Kernel;
use lockstep_gpu::{KernelFeatures, KernelResources, KernelSource, ProgramKind, from_ptxas};
use ocl::Context;
use ocl::core::{self, KernelWorkGroupInfo, KernelWorkGroupInfoResult};
use std::collections::HashMap;

/// Identifies a program of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ProgramKey {
    pub(crate) mode: Mode,
    pub(crate) kind: ProgramKind,
    pub(crate) features: KernelFeatures,
}

impl ProgramKey {
    /// The program that passes launch under a kernel configuration, with these features.
    pub(crate) fn of(config: &KernelConfig, features: KernelFeatures) -> Self {
        Self { mode: config.mode, kind: ProgramKind::of(config, features.integrator), features }
    }

    /// The program that records paths, with these features.
    pub(crate) fn recording(mode: Mode, features: KernelFeatures) -> Self {
        Self { mode, kind: ProgramKind::recording(features.integrator), features }
    }
}

/// The kernels of one program, ready to launch.
pub(crate) struct Program {
    kind: ProgramKind,
    kernels: Kernels,
    /// Kernels other than traversal, compiled with traversal's limit on registers, for groups that are too
    /// large otherwise. Empty where no flag limits registers.
    register_limited: Kernels,
}

/// Kernels by name.
type Kernels = HashMap<&'static str, CompiledKernel>;

/// A kernel ready to launch, with its resources.
struct CompiledKernel {
    kernel: core::Kernel,
    resources: KernelResources,
    /// Most work-items of a group that its registers allow.
    max_group: usize,
}

impl Program {
    /// Loads the program from the cache, or compiles it and stores it there.
    ///
    /// # Errors
    /// [`lockstep_core::Error::Compile`] with the log; [`lockstep_core::Error::Device`] when the driver
    /// refuses.
    pub(crate) fn build(
        device: &DiscoveredDevice,
        context: &Context,
        source: &KernelSource,
        ProgramKey { mode, kind, features }: ProgramKey,
    ) -> Result<Self> {
        let flags = flags(device, mode);
        let build = |flags: &str, filter: fn(&Kernel) -> bool| {
            load_or_compile(device, context, source, flags, |program| {
                create_kernels(device, program, kind, filter)
            })
        };
        let Some(flag) = traversal_flag(device).filter(|_| !kind.records()) else {
            return Ok(Self { kind, kernels: build(&flags, |_| true)?, register_limited: Kernels::new() });
        };
        let mut kernels = build(&format!("{flags} {}", stage_flag(features)), |kernel| !kernel.traverses)?;
        let (traversing, register_limited) = build(&format!("{flags} {flag}"), |_| true)?
            .into_iter()
            .partition(|(name, _)| !kernels.contains_key(name));
        kernels.extend::<Kernels>(traversing);
        Ok(Self { kind, kernels, register_limited })
    }

    /// Resources of every kernel.
    pub(crate) fn resources(&self) -> Vec<KernelResources> {
        let of = |name| self.kernels.get(name).map(|compiled| compiled.resources.clone());
        self.kind.kernels().iter().filter_map(|kernel| of(kernel.name)).collect()
    }

    /// A kernel by its name; the register-limited one where only that runs in groups of this size.
    pub(crate) fn kernel(&self, name: &str, group: usize) -> Option<&core::Kernel> {
        let usual = self.kernels.get(name)?;
        let limited = self
            .register_limited
            .get(name)
            .filter(|limited| usual.max_group < group && limited.max_group >= group);
        Some(&limited.unwrap_or(usual).kernel)
    }

    /// The kernel of a pass with the smallest limit on groups, and that limit.
    pub(crate) fn tightest_group_limit(&self) -> Option<(&'static str, usize)> {
        let limit = |name| {
            let limited = self.register_limited.get(name).map_or(0, |limited| limited.max_group);
            Some((name, self.kernels.get(name)?.max_group.max(limited)))
        };
        let of_passes = self.kind.of_passes().into_iter().filter_map(|kernel| limit(kernel.name));
        of_passes.min_by_key(|(name, limit)| (*limit, *name))
    }
}

/// Creates the kernels of a compiled program that `filter` selects.
fn create_kernels(
    device: &DiscoveredDevice,
    program: &core::Program,
    kind: ProgramKind,
    filter: fn(&Kernel) -> bool,
) -> Result<Kernels> {
    let logged = from_ptxas(&log_of(device, program));
    let create = |name: &'static str| {
        let kernel = core::create_kernel(program, name)
            .map_err(|e| device_error(&device.target, format!("creating kernel {name}"), &e))?;
        let logged = logged.iter().find(|logged| logged.kernel == name).cloned().unwrap_or_default();
        let resources = resources(device, name, &kernel, logged);
        let info =
            core::get_kernel_work_group_info(&kernel, device.device, KernelWorkGroupInfo::WorkGroupSize);
        let max_group = match info {
            Ok(KernelWorkGroupInfoResult::WorkGroupSize(size)) => size,
            _ => device.properties.max_group,
        };
        Ok((name, CompiledKernel { kernel, resources, max_group }))
    };
    kind.kernels().iter().filter(|kernel| filter(kernel)).map(|kernel| create(kernel.name)).collect()
}

/// A kernel's resources: the driver's answers, and those of the compiler's log where the driver has none.
fn resources(
    device: &DiscoveredDevice,
    name: &str,
    compiled: &core::Kernel,
    logged: KernelResources,
) -> KernelResources {
    let query = |info| match core::get_kernel_work_group_info(compiled, device.device, info) {
        Ok(KernelWorkGroupInfoResult::PrivateMemSize(n) | KernelWorkGroupInfoResult::LocalMemSize(n)) => {
            Some(n)
        }
        Ok(KernelWorkGroupInfoResult::PreferredWorkGroupSizeMultiple(n)) => Some(n as u64),
        _ => None,
    };
    KernelResources {
        kernel: name.into(),
        stack_bytes: logged.stack_bytes.or_else(|| query(KernelWorkGroupInfo::PrivateMemSize)),
        shared_bytes: query(KernelWorkGroupInfo::LocalMemSize),
        width: query(KernelWorkGroupInfo::PreferredWorkGroupSizeMultiple),
        ..logged
    }
}
