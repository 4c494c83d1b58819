//! The shared kernels as a program of one device, ready to launch.

use crate::compile::load_module;
use crate::device::DiscoveredDevice;
use crate::error::device_error;
use crate::flags::{BlockBound, all_flags};
use crate::launch_shape::LaunchShape;
use crate::nvrtc::{Architecture, Compiler, Image};
use crate::program_cache::load_or_compile;
use crate::source::source_for;
use cust::error::CudaResult;
use cust::function::Function;
use cust::module::Module;
use lockstep_core::error::Result;
use lockstep_core::{KernelConfig, Mode};
use lockstep_gpu::signatures::Kernel;
use lockstep_gpu::{KernelFeatures, KernelResources, ProgramKind, from_ptxas};
use std::collections::HashMap;

/// Threads of a warp on every device so far.
const WARP: u64 = 32;

/// Identifies a program of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ProgramKey {
    pub(crate) mode: Mode,
    pub(crate) kind: ProgramKind,
    pub(crate) bound: Option<BlockBound>,
    pub(crate) features: KernelFeatures,
}

impl ProgramKey {
    /// The program that passes launch under a kernel configuration, for scenes with at most these features.
    pub(crate) fn of(config: &KernelConfig, features: KernelFeatures) -> Self {
        Self {
            mode: config.mode,
            kind: ProgramKind::of(config, features.integrator),
            bound: BlockBound::of(config),
            features,
        }
    }

    /// The program that records paths, for all scenes.
    pub(crate) fn recording(mode: Mode, features: KernelFeatures) -> Self {
        Self {
            mode,
            kind: ProgramKind::recording(features.integrator),
            bound: None,
            features: features.for_all_scenes(),
        }
    }
}

/// The kernels of one program, ready to launch.
pub(crate) struct Program {
    kind: ProgramKind,
    module: Module,
    shapes: HashMap<&'static str, LaunchShape>,
    /// Resources by the compiler's log.
    logged: Vec<KernelResources>,
}

impl Program {
    /// Loads the program from the cache, or compiles it and stores it there. The device's context must be
    /// current.
    ///
    /// # Errors
    /// [`lockstep_core::Error::Compile`] with the log; [`lockstep_core::Error::Device`] when the driver
    /// refuses.
    pub(crate) fn build(
        device: &DiscoveredDevice,
        compiler: &Compiler,
        architecture: Architecture,
        ProgramKey { mode, kind, bound, features }: ProgramKey,
    ) -> Result<Self> {
        let source = source_for(mode, kind, features);
        let flags = all_flags(mode, bound);
        load_or_compile(device, compiler, architecture, &source, &flags, |image| {
            Self::of(device, image, kind)
        })
    }

    /// Loads a compiled program and finds its kernels.
    fn of(device: &DiscoveredDevice, image: &Image, kind: ProgramKind) -> Result<Self> {
        let module = load_module(device, &image.bytes)?;
        let mut shapes = HashMap::new();
        for kernel in kind.kernels() {
            let shape = module.get_function(kernel.name).and_then(|function| LaunchShape::of(&function));
            let shape = shape
                .map_err(|e| device_error(&device.target, format!("finding kernel {}", kernel.name), e))?;
            shapes.insert(kernel.name, shape);
        }
        Ok(Self { kind, module, shapes, logged: from_ptxas(&image.log) })
    }

    /// Launch shapes of a pass's kernels under a kernel configuration.
    ///
    /// # Errors
    /// [`lockstep_core::Error::Device`] for a block size that the device refuses.
    pub(crate) fn configured_shapes(
        &self,
        device: &DiscoveredDevice,
        config: &KernelConfig,
    ) -> Result<HashMap<&'static str, LaunchShape>> {
        let of = |kernel: &&'static Kernel| {
            let name = kernel.name;
            let failed = |e| device_error(&device.target, format!("finding kernel {name}"), e);
            let function = self.module.get_function(name).map_err(failed)?;
            let shape = LaunchShape::of(&function).map_err(failed)?;
            Ok((name, shape.configured(device, name, &function, config)?))
        };
        self.kind.of_passes().iter().map(of).collect()
    }

    /// A kernel by its name, with its default launch shape.
    pub(crate) fn kernel(&self, name: &str) -> Option<(CudaResult<Function<'_>>, LaunchShape)> {
        let shape = self.shapes.get(name)?;
        Some((self.module.get_function(name), *shape))
    }

    /// Resources of every kernel: the driver's numbers, and spilled bytes by the compiler's log.
    pub(crate) fn resources(&self) -> Vec<KernelResources> {
        let spill_bytes = |name: &str| self.logged.iter().find(|logged| logged.kernel == name)?.spill_bytes;
        let of = |name: &str, shape: &LaunchShape| KernelResources {
            kernel: name.into(),
            registers: Some(shape.registers.into()),
            spill_bytes: spill_bytes(name),
            stack_bytes: Some(shape.local_bytes.into()),
            shared_bytes: Some(shape.shared_bytes.into()),
            width: Some(WARP),
        };
        let kernels = self.kind.kernels().into_iter();
        kernels.filter_map(|k| self.shapes.get(k.name).map(|shape| of(k.name, shape))).collect()
    }

    /// Registers and local bytes of every kernel, as text for [`lockstep_core::DeviceInfo::note`].
    pub(crate) fn resource_note(&self) -> String {
        let words = self.kind.kernels().into_iter().filter_map(|kernel| {
            let shape = self.shapes.get(kernel.name)?;
            let name = kernel.name.strip_prefix("ls_").unwrap_or(kernel.name);
            Some(format!("{name} {}/{}", shape.registers, shape.local_bytes))
        });
        format!("registers/local bytes a thread: {}", words.collect::<Vec<_>>().join(", "))
    }
}
