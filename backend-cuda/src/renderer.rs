//! A CUDA device under the shared GPU driver.

use crate::compile::{compile, load_module};
use crate::device::{self, DiscoveredDevice};
use crate::error::{device_error, is_sticky};
use crate::flags::{LARGEST_BLOCK, flags};
use crate::launch_shape::LaunchShape;
use crate::nvrtc::{Architecture, Compiler};
use crate::program::{Program, ProgramKey};
use crate::program_cache::load_or_compile;
use crate::source::source;
use crate::staging::{self, Staging};
use cust::context::{Context, CurrentContext};
use cust::error::{CudaError, CudaResult};
use cust::event::{Event, EventFlags, EventStatus};
use cust::function::Function;
use cust::memory::{CopyDestination, DeviceBuffer, DeviceSlice};
use cust::stream::{Stream, StreamFlags};
use lockstep_core::error::{Error, Result};
use lockstep_core::{DeviceInfo, Integrator, KernelConfig, Mode};
use lockstep_gpu::driver::{Device, DeviceType, KernelArg, Limits, Timestamps, Wavefront};
use lockstep_gpu::signatures::Kernel;
use lockstep_gpu::{KernelFeatures, KernelResources, KernelSource, ProgramKind};
use std::collections::HashMap;
use std::ffi::c_void;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The renderer of every CUDA target.
pub(crate) type CudaRenderer = Wavefront<CudaDevice>;

/// A device with its stream and the programs built so far.
pub(crate) struct CudaDevice {
    device: DiscoveredDevice,
    compiler: Arc<Compiler>,
    architecture: Architecture,
    info: DeviceInfo,
    programs: HashMap<ProgramKey, Program>,
    /// The kernel configuration of launches.
    config: KernelConfig,
    /// Features of the loaded scene.
    features: KernelFeatures,
    /// Launch shapes of a pass's kernels under the kernel configuration.
    shapes: HashMap<&'static str, LaunchShape>,
    /// End of the launch that was waited for last: its event, and its time in nanoseconds on this device's
    /// clock.
    last_end: Option<(Rc<Event>, u64)>,
    stream: Stream,
    /// Memory for the download of films, once a film is large.
    staging: Option<Staging>,
    context: &'static Context,
}

/// Device memory of one context.
pub(crate) struct Buffer {
    memory: DeviceBuffer<u8>,
    context: &'static Context,
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // The memory is freed right after. A lost context has nothing left to free.
        let _ = CurrentContext::set_current(self.context);
    }
}

/// A launch, with events at its start and end.
pub(crate) struct Launch {
    start: Event,
    end: Rc<Event>,
}

impl CudaDevice {
    /// Opens a device; `mode` is that of its description until kernels are prepared. Compiles nothing yet.
    pub(crate) fn open(device: DiscoveredDevice, mode: Mode) -> Result<Self> {
        if let Some(error) = device::lost_by(device.ordinal) {
            return Err(device_error(&device.target, "opening the device, which failed earlier,", error));
        }
        let (compiler, architecture) = device.compiler().map_err(Error::from)?;
        let open = || {
            let context = device.context()?;
            CurrentContext::set_current(context)?;
            Ok((context, Stream::new(StreamFlags::DEFAULT, None)?))
        };
        let (context, stream) = open().map_err(|e| refused(&device, "opening the device", e))?;
        let info = info(&device, &compiler, architecture, mode);
        Ok(Self {
            device,
            compiler,
            architecture,
            info,
            programs: HashMap::new(),
            config: KernelConfig::in_mode(mode),
            features: KernelFeatures::all(Integrator::Path),
            shapes: HashMap::new(),
            last_end: None,
            stream,
            staging: None,
            context,
        })
    }

    fn error(&self, action: impl Into<String>, error: CudaError) -> Error {
        refused(&self.device, action, error)
    }

    /// The program that passes launch under the kernel configuration.
    fn key(&self) -> ProgramKey {
        ProgramKey::of(&self.config, self.features)
    }

    /// Builds a program unless it is built already; returns whether it did.
    fn build(&mut self, key: ProgramKey) -> Result<bool> {
        let is_new = !self.programs.contains_key(&key);
        if is_new {
            let program = Program::build(&self.device, &self.compiler, self.architecture, key)?;
            self.programs.insert(key, program);
        }
        Ok(is_new)
    }

    /// Makes the device's context current on this thread.
    pub(crate) fn enter(&self) -> Result<()> {
        CurrentContext::set_current(self.context).map_err(|e| self.error("making the device current", e))
    }

    /// Compiles any source for this device and loads it.
    pub(crate) fn load(&self, text: &str, flags: &[&str]) -> Result<cust::module::Module> {
        self.enter()?;
        let image = compile(&self.device.target, &self.compiler, self.architecture, text, flags)?;
        load_module(&self.device, &image.bytes)
    }

    /// Loads a source by way of the cache of compiled programs, compiling it where the cache lacks it.
    pub(crate) fn load_cached(&self, source: &KernelSource, flags: &[&str]) -> Result<cust::module::Module> {
        self.enter()?;
        load_or_compile(&self.device, &self.compiler, self.architecture, source, flags, |image| {
            load_module(&self.device, &image.bytes)
        })
    }

    /// Enqueues a compiled kernel. The arguments must match its declaration.
    pub(crate) fn enqueue(
        &self,
        function: &Function<'_>,
        shape: LaunchShape,
        name: &str,
        items: u32,
        arguments: &[KernelArg<'_, Buffer>],
    ) -> Result<Launch> {
        // Collect pointers to the arguments
        let address = |argument: &KernelArg<'_, Buffer>| match argument {
            KernelArg::Plain(_) => 0,
            KernelArg::Buffer(buffer) => buffer.memory.as_device_ptr().as_raw(),
        };
        let addresses: Vec<u64> = arguments.iter().map(address).collect();
        let pointers = arguments.iter().zip(&addresses).map(|(argument, address)| match argument {
            KernelArg::Plain(bytes) => bytes.as_ptr() as *mut c_void,
            KernelArg::Buffer(_) => std::ptr::from_ref(address) as *mut c_void,
        });
        let pointers: Vec<*mut c_void> = pointers.collect();

        // Launch between two events
        let launch = || -> CudaResult<Launch> {
            let start = Event::new(EventFlags::DEFAULT)?;
            let end = Event::new(EventFlags::DEFAULT)?;
            start.record(&self.stream)?;
            // SAFETY: the arguments match the declaration, which a test compares with the source; the driver
            // copies them before it returns; kernels stay within the buffers' lengths.
            unsafe { self.stream.launch(function, shape.blocks(items), shape.block, 0, &pointers) }?;
            end.record(&self.stream)?;
            Ok(Launch { start, end: Rc::new(end) })
        };
        launch().map_err(|e| self.error(format!("launching {name}"), e))
    }

    /// The launch's timestamps on a clock that begins with the first launch that was waited for. Each is
    /// taken relative to the launch before, since the driver returns differences as floats.
    fn timestamps(&self, launch: &Launch) -> CudaResult<Timestamps> {
        let start = match &self.last_end {
            Some((event, time)) => time.saturating_add_signed(between(event, &launch.start)?),
            None => 0,
        };
        Ok(Timestamps { start, end: start.saturating_add_signed(between(&launch.start, &launch.end)?) })
    }
}

impl Drop for CudaDevice {
    fn drop(&mut self) {
        // Stream and modules are freed right after. A lost context has nothing left to free.
        let _ = CurrentContext::set_current(self.context);
    }
}

/// Nanoseconds from one event to another; negative when the second came first.
fn between(from: &Event, to: &Event) -> CudaResult<i64> {
    to.elapsed_time_f32(from).map(|ms| (f64::from(ms) * 1e6) as i64)
}

/// An error of the driver. A sticky one marks the device as lost.
fn refused(device: &DiscoveredDevice, action: impl Into<String>, error: CudaError) -> Error {
    if is_sticky(error) {
        device::mark_lost(device.ordinal, error);
    }
    device_error(&device.target, action, error)
}

/// The description of a device in a mode, recorded with every result.
pub(crate) fn info(
    device: &DiscoveredDevice,
    compiler: &Compiler,
    architecture: Architecture,
    mode: Mode,
) -> DeviceInfo {
    let source = source(mode, ProgramKind::Render);
    let compiler = format!("NVRTC {} for {architecture}", compiler.version);
    let flags = flags(mode).join(" ");
    device.properties.info(&device.target, compiler, &flags, &source.hash, mode == Mode::Exact)
}

impl Device for CudaDevice {
    type Buffer = Buffer;
    type Event = Launch;

    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn limits(&self) -> Limits {
        let properties = &self.device.properties;
        Limits {
            kind: DeviceType::Gpu,
            largest_allocation: properties.memory,
            memory: properties.memory,
            compute_units: properties.compute_units,
            group: LARGEST_BLOCK,
        }
    }

    fn prepare(&mut self, config: &KernelConfig, features: KernelFeatures, pixels: u32) -> Result<Duration> {
        self.enter()?;
        let film = pixels as usize * size_of::<[i64; 3]>();
        if self.staging.is_none() && film >= staging::LEAST {
            // Without such memory, downloads take longer
            self.staging = Staging::new(self.context).ok();
        }
        let start = Instant::now();
        let key = ProgramKey::of(config, features);
        let is_new = self.build(key)?;
        if let Some(program) = self.programs.get(&key) {
            self.shapes = program.configured_shapes(&self.device, config)?;
            self.info = info(&self.device, &self.compiler, self.architecture, config.mode);
            self.info.note = format!("{}; {}", self.info.note, program.resource_note());
        }
        (self.config, self.features) = (*config, features);
        Ok(if is_new { start.elapsed() } else { Duration::ZERO })
    }

    fn prepare_recording(&mut self) -> Result<()> {
        self.enter()?;
        self.build(ProgramKey::recording(self.config.mode, self.features)).map(drop)
    }

    fn resources(&self) -> Vec<KernelResources> {
        self.programs.get(&self.key()).map(Program::resources).unwrap_or_default()
    }

    fn allocate(&mut self, bytes: u64, what: &str) -> Result<Buffer> {
        self.enter()?;
        // SAFETY: kernels and uploads write the memory before it is read.
        let memory = unsafe { DeviceBuffer::uninitialized(bytes as usize) };
        let memory = memory.map_err(|e| self.error(format!("allocating {bytes} bytes for {what}"), e))?;
        Ok(Buffer { memory, context: self.context })
    }

    fn upload(&mut self, buffer: &Buffer, bytes: &[u8], what: &str) -> Result<()> {
        self.enter()?;
        let mut slice = self.prefix(buffer, bytes.len(), what)?;
        slice.copy_from(bytes).map_err(|e| self.error(format!("uploading {what}"), e))
    }

    fn download(&mut self, buffer: &Buffer, into: &mut [u8], what: &str) -> Result<()> {
        self.enter()?;
        let slice = self.prefix(buffer, into.len(), what)?;
        let copied = match &mut self.staging {
            Some(staging) if into.len() >= staging::LEAST => staging.download(&slice, into, &self.stream),
            _ => slice.copy_to(into),
        };
        copied.map_err(|e| self.error(format!("downloading {what}"), e))
    }

    fn launch(&mut self, kernel: &Kernel, items: u32, arguments: &[KernelArg<'_, Buffer>]) -> Result<Launch> {
        self.enter()?;
        // Find the kernel. Those that no pass launches run under the default configuration.
        let configured = self.programs.get(&self.key()).and_then(|program| program.kernel(kernel.name));
        let configured =
            configured.map(|(function, shape)| (function, *self.shapes.get(kernel.name).unwrap_or(&shape)));
        let default = || {
            let mode = self.config.mode;
            let programs = [
                ProgramKey::of(&KernelConfig::in_mode(mode), self.features),
                ProgramKey::recording(mode, self.features),
            ];
            let mut programs = programs.iter().filter_map(|key| self.programs.get(key));
            programs.find_map(|program| program.kernel(kernel.name))
        };
        let (function, shape) = configured.or_else(default).ok_or_else(|| Error::Contract {
            actor: self.device.target.clone(),
            message: format!("kernel {} was launched before it was built", kernel.name),
        })?;
        let function = function.map_err(|e| self.error(format!("finding kernel {}", kernel.name), e))?;

        // Launch it
        self.enqueue(&function, shape, kernel.name, items, arguments)
    }

    fn flush(&mut self) -> Result<()> {
        // The driver starts launches at once.
        Ok(())
    }

    fn wait(&mut self, event: &Launch) -> Result<Timestamps> {
        self.enter()?;
        // Querying an event is cheaper than waiting, so the host waits only for launches that are not done.
        let done = || match event.end.query()? {
            EventStatus::Ready => Ok(()),
            EventStatus::NotReady => event.end.synchronize(),
        };
        let timestamps = done().and_then(|()| self.timestamps(event));
        let timestamps = timestamps.map_err(|e| self.error("waiting for the device", e))?;
        self.last_end = Some((event.end.clone(), timestamps.end));
        Ok(timestamps)
    }
}

impl CudaDevice {
    /// The first `len` bytes of a buffer.
    fn prefix(&self, buffer: &Buffer, len: usize, what: &str) -> Result<DeviceSlice<u8>> {
        if len > buffer.memory.len() {
            return Err(Error::Contract {
                actor: self.device.target.clone(),
                message: format!(
                    "{len} bytes of {what} are more than the {} of its buffer",
                    buffer.memory.len()
                ),
            });
        }
        // SAFETY: the memory is the buffer's, which outlives the slice's use, and the length is within it.
        Ok(unsafe { DeviceSlice::from_raw_parts(buffer.memory.as_device_ptr(), len) })
    }
}
