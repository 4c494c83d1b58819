//! An OpenCL device under the shared GPU driver.

use crate::device::{DeviceClass, DiscoveredDevice};
use crate::error::device_error;
use crate::flags::all_flags;
use crate::launch_shape::{LaunchShape, check_group, default_group};
use crate::program::{Program, ProgramKey};
use crate::source;
#[cfg(feature = "conformance")]
use lockstep_core::Structure;
use lockstep_core::error::{Error, Result};
use lockstep_core::{DeviceInfo, Integrator, KernelConfig, Mode};
#[cfg(feature = "conformance")]
use lockstep_gpu::SourcePatch;
use lockstep_gpu::driver::{self, DeviceType, KernelArg, Limits, Timestamps, Wavefront};
use lockstep_gpu::signatures::Kernel;
use lockstep_gpu::{KernelFeatures, KernelResources, KernelSource};
use ocl::core::{self, ArgVal, Event, Mem, ProfilingInfo, ProfilingInfoResult};
use ocl::{Context, Queue, flags};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// The renderer of every OpenCL target.
pub(crate) type OpenclRenderer = Wavefront<OpenclDevice>;

/// A device with its queue and the programs built so far.
pub(crate) struct OpenclDevice {
    device: DiscoveredDevice,
    context: Context,
    queue: Queue,
    info: DeviceInfo,
    programs: HashMap<ProgramKey, Program>,
    /// The kernel configuration of launches.
    config: KernelConfig,
    /// The features that programs of passes are built with.
    features: KernelFeatures,
    /// Patches of the kernels' source, for mutation tests.
    #[cfg(feature = "conformance")]
    pub(crate) patches: Vec<SourcePatch>,
    /// The kernel structure of the default configuration, where it is not that of devices of this type.
    #[cfg(feature = "conformance")]
    pub(crate) structure: Option<Structure>,
}

impl OpenclDevice {
    /// Opens a device; `mode` is that of its description until kernels are prepared. Compiles nothing yet.
    pub(crate) fn open(device: DiscoveredDevice, mode: Mode) -> Result<Self> {
        let failed = |e: ocl::Error| Error::Device {
            actor: device.target.clone(),
            action: "opening the device".into(),
            reason: e.to_string(),
        };
        let context = device.context().map_err(failed)?;
        let queue =
            Queue::new(&context, device.device, Some(flags::QUEUE_PROFILING_ENABLE)).map_err(failed)?;
        let info = info(&device, mode);
        Ok(Self {
            device,
            context,
            queue,
            info,
            programs: HashMap::new(),
            config: KernelConfig::in_mode(mode),
            features: KernelFeatures::all(Integrator::Path),
            #[cfg(feature = "conformance")]
            patches: Vec::new(),
            #[cfg(feature = "conformance")]
            structure: None,
        })
    }

    /// The device's properties.
    pub(crate) fn discovered(&self) -> &DiscoveredDevice {
        &self.device
    }

    /// The context in which programs are built.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// The program that passes launch under a kernel configuration.
    fn key(&self, config: &KernelConfig) -> ProgramKey {
        ProgramKey::of(config, self.features)
    }

    /// The program that records paths.
    fn recording_key(&self, mode: Mode) -> ProgramKey {
        let features = if self.is_patched() { self.features } else { self.features.for_all_scenes() };
        ProgramKey::recording(mode, features)
    }

    /// Whether the kernels' source is changed.
    #[cfg_attr(not(feature = "conformance"), expect(clippy::unused_self, reason = "nothing changes it"))]
    fn is_patched(&self) -> bool {
        #[cfg(feature = "conformance")]
        return !self.patches.is_empty();
        #[cfg(not(feature = "conformance"))]
        false
    }

    /// Builds a program unless it is built already; returns whether it did.
    fn build(&mut self, key: ProgramKey) -> Result<bool> {
        let is_new = !self.programs.contains_key(&key);
        if is_new {
            let source = self.source(key)?;
            let program = Program::build(&self.device, &self.context, &source, key)?;
            self.programs.insert(key, program);
        }
        Ok(is_new)
    }

    #[cfg(not(feature = "conformance"))]
    fn source(&self, key: ProgramKey) -> Result<KernelSource> {
        Ok(source::source(&self.device, key))
    }

    #[cfg(feature = "conformance")]
    fn source(&self, key: ProgramKey) -> Result<KernelSource> {
        let source = source::source(&self.device, key);
        self.patches.iter().try_fold(source, lockstep_gpu::patched)
    }

    fn error(&self, action: impl Into<String>, error: &ocl::OclCoreError) -> Error {
        device_error(&self.device.target, action, error)
    }

    /// Enqueues a compiled kernel. The arguments must match its declaration.
    pub(crate) fn enqueue(
        &self,
        compiled: &core::Kernel,
        name: &str,
        shape: LaunchShape,
        arguments: &[KernelArg<'_, Mem>],
    ) -> Result<Event> {
        // Set arguments
        for (index, argument) in arguments.iter().enumerate() {
            let value = match argument {
                // SAFETY: the bytes outlive the call, which copies them.
                KernelArg::Plain(bytes) => unsafe {
                    ArgVal::from_raw(bytes.len(), bytes.as_ptr().cast(), false)
                },
                KernelArg::Buffer(buffer) => ArgVal::mem(buffer),
            };
            core::set_kernel_arg(compiled, index as u32, value)
                .map_err(|e| self.error(format!("setting argument {index} of {name}"), &e))?;
        }

        // Launch
        let (global, local) = ([shape.global, 1, 1], [shape.local, 1, 1]);
        let mut event = Event::null();
        // SAFETY: the arguments match the declaration, which a test compares with the source; kernels stay
        // within the buffers' lengths.
        let launched = unsafe {
            core::enqueue_kernel(
                &self.queue,
                compiled,
                1,
                None,
                &global,
                Some(local),
                None::<Event>,
                Some(&mut event),
            )
        };
        launched.map_err(|e| self.error(format!("launching {name}"), &e))?;
        Ok(event)
    }
}

/// Pixels of an image from which programs on CPUs have the features of its scene alone.
const LARGE_IMAGE: u32 = 1 << 17;

/// The features that programs of passes are built with, for a scene with these features and an image of this size. Compilers
/// of CPUs take seconds for a program, more than it saves in a small image: these share three, by what scenes need.
pub(crate) fn features_of_passes(
    device: DeviceType,
    features: KernelFeatures,
    pixels: u32,
) -> KernelFeatures {
    let shares_program = device != DeviceType::Gpu && pixels < LARGE_IMAGE;
    if shares_program { features.shared() } else { features }
}

/// The description of a device in a mode, recorded with every result.
pub(crate) fn info(device: &DiscoveredDevice, mode: Mode) -> DeviceInfo {
    let features = KernelFeatures::all(Integrator::Path);
    let source = source::source(device, ProgramKey::of(&KernelConfig::in_mode(mode), features));
    device.properties.info(&device.target, &all_flags(device, mode), &source.hash, mode == Mode::Exact)
}

impl driver::Device for OpenclDevice {
    type Buffer = Mem;
    type Event = Event;

    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn limits(&self) -> Limits {
        let properties = &self.device.properties;
        Limits {
            kind: self.device.device_type(),
            largest_allocation: properties.largest_allocation,
            memory: properties.memory,
            compute_units: properties.compute_units,
            group: default_group(&self.device) as u32,
        }
    }

    #[cfg(feature = "conformance")]
    fn default_config(&self, mode: Mode, integrator: Integrator) -> KernelConfig {
        let config = self.device.device_type().default_config(mode, integrator);
        KernelConfig { structure: self.structure.unwrap_or(config.structure), ..config }
    }

    fn prepare(&mut self, config: &KernelConfig, features: KernelFeatures, pixels: u32) -> Result<Duration> {
        let start = Instant::now();
        // A patched program renders few scenes, and is compiled in a part of the time without what they lack
        let features = match self.is_patched() {
            true => features,
            false => features_of_passes(self.device.device_type(), features, pixels),
        };
        let key = ProgramKey::of(config, features);
        let is_new = self.build(key)?;
        if let (Some(group), Some(program)) = (config.group, self.programs.get(&key)) {
            check_group(&self.device, program, config, group)?;
        }
        (self.config, self.features) = (*config, features);
        self.info = info(&self.device, config.mode);
        Ok(if is_new { start.elapsed() } else { Duration::ZERO })
    }

    fn prepare_recording(&mut self) -> Result<()> {
        self.build(self.recording_key(self.config.mode)).map(drop)
    }

    fn resources(&self) -> Vec<KernelResources> {
        let program = self.programs.get(&self.key(&self.config));
        program.map(Program::resources).unwrap_or_default()
    }

    fn allocate(&mut self, bytes: u64, what: &str) -> Result<Mem> {
        // SAFETY: no host memory is involved.
        unsafe { core::create_buffer::<_, u8>(&self.context, flags::MEM_READ_WRITE, bytes as usize, None) }
            .map_err(|e| self.error(format!("allocating {bytes} bytes for {what}"), &e))
    }

    fn upload(&mut self, buffer: &Mem, bytes: &[u8], what: &str) -> Result<()> {
        // SAFETY: the call returns when `bytes` has been read.
        unsafe {
            core::enqueue_write_buffer(&self.queue, buffer, true, 0, bytes, None::<Event>, None::<&mut Event>)
        }
        .map_err(|e| self.error(format!("uploading {what}"), &e))
    }

    fn download(&mut self, buffer: &Mem, into: &mut [u8], what: &str) -> Result<()> {
        // SAFETY: the call returns when `into` has been written.
        unsafe {
            core::enqueue_read_buffer(&self.queue, buffer, true, 0, into, None::<Event>, None::<&mut Event>)
        }
        .map_err(|e| self.error(format!("downloading {what}"), &e))
    }

    fn launch(&mut self, kernel: &Kernel, items: u32, arguments: &[KernelArg<'_, Mem>]) -> Result<Event> {
        // Find the kernel. Those that no pass launches run under the default configuration.
        let key = self.key(&self.config);
        let configured = key.kind.of_passes().contains(&kernel).then_some((key, self.config));
        let default = self.default_config(self.config.mode, self.features.integrator);
        let defaults = [(self.key(&default), default), (self.recording_key(default.mode), default)];
        let found = configured.into_iter().chain(defaults).find_map(|(key, config)| {
            let shape = LaunchShape::of(&self.device, items, &config);
            let program = self.programs.get(&key)?;
            Some((program.kernel(kernel.name, shape.local)?, shape))
        });
        let (compiled, shape) = found.ok_or_else(|| Error::Contract {
            actor: self.device.target.clone(),
            message: format!("kernel {} was launched before it was built", kernel.name),
        })?;

        // Launch it
        self.enqueue(compiled, kernel.name, shape, arguments)
    }

    fn flush(&mut self) -> Result<()> {
        core::flush(&self.queue).map_err(|e| self.error("starting the queue", &e))
    }

    fn processor_time(&self) -> Option<Duration> {
        // OpenCL runtimes for CPUs run kernels in threads of this process.
        (self.device.properties.class == DeviceClass::Cpu).then(|| {
            let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
            Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
        })
    }

    fn wait(&mut self, event: &Event) -> Result<Timestamps> {
        core::wait_for_event(event).map_err(|e| self.error("waiting for the device", &e))?;
        let time = |info| match core::get_event_profiling_info(event, info) {
            Ok(ProfilingInfoResult::Start(time) | ProfilingInfoResult::End(time)) => Ok(time),
            Ok(_) => Ok(0),
            Err(e) => Err(self.error("reading the device's clock", &e)),
        };
        Ok(Timestamps { start: time(ProfilingInfo::Start)?, end: time(ProfilingInfo::End)? })
    }
}
