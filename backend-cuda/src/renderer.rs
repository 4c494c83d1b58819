//! A CUDA device under the shared wavefront.

use crate::device::{self, Found};
use crate::error::{device_error, is_lasting};
use crate::nvrtc::{Architecture, Compiler};
use crate::program::{self, Program, ProgramKey, Shape};
use cust::context::{Context, CurrentContext};
use cust::error::{CudaError, CudaResult};
use cust::event::{Event, EventFlags, EventStatus};
use cust::function::Function;
use cust::memory::{CopyDestination, DeviceBuffer, DeviceSlice};
use cust::stream::{Stream, StreamFlags};
use lockstep_core::KernelConfig;
use lockstep_core::error::{Error, Result};
use lockstep_core::{DeviceInfo, Integrator, Mode};
use lockstep_gpu::driver::{Device, DeviceType, KernelArg, Limits, Timestamps, Wavefront};
use lockstep_gpu::signatures::Kernel;
use lockstep_gpu::{KernelFeatures, KernelResources, ProgramKind};
use std::collections::HashMap;
use std::ffi::c_void;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The renderer of every CUDA target.
pub(crate) type CudaRenderer = Wavefront<CudaDevice>;

/// A device with its stream and the programs built so far.
pub(crate) struct CudaDevice {
    found: Found,
    compiler: Arc<Compiler>,
    architecture: Architecture,
    info: DeviceInfo,
    programs: HashMap<ProgramKey, Program>,
    /// How launches run.
    variant: KernelConfig,
    /// What the loaded scene has.
    features: KernelFeatures,
    /// How the kernels of the variant's program are launched.
    shapes: HashMap<&'static str, Shape>,
    /// The end of the launch that was waited for last, and its time on our clock.
    latest: Option<(Rc<Event>, u64)>,
    stream: Stream,
    context: &'static Context,
}

/// Device memory of one context.
pub(crate) struct Buffer {
    memory: DeviceBuffer<u8>,
    context: &'static Context,
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // Memory is freed right after; of a lost context nothing is left to free.
        let _ = CurrentContext::set_current(self.context);
    }
}

/// A launch, between two points in time.
pub(crate) struct Launch {
    start: Event,
    end: Rc<Event>,
}

impl CudaDevice {
    /// Opens a device, to be described in a mode; compiles nothing yet.
    pub(crate) fn open(found: Found, mode: Mode) -> Result<Self> {
        if let Some(error) = device::lost(found.ordinal) {
            return Err(device_error(&found.target, "opening the device, which failed earlier,", error));
        }
        let (compiler, architecture) = found.compiler().map_err(Error::from)?;
        let open = || {
            let context = found.context()?;
            CurrentContext::set_current(context)?;
            Ok((context, Stream::new(StreamFlags::DEFAULT, None)?))
        };
        let (context, stream) = open().map_err(|e| refused(&found, "opening the device", e))?;
        let info = info(&found, &compiler, architecture, mode);
        Ok(Self {
            found,
            compiler,
            architecture,
            info,
            programs: HashMap::new(),
            variant: KernelConfig::in_mode(mode),
            features: KernelFeatures::all(Integrator::Path),
            shapes: HashMap::new(),
            latest: None,
            stream,
            context,
        })
    }

    fn error(&self, action: impl Into<String>, error: CudaError) -> Error {
        refused(&self.found, action, error)
    }

    /// The program that passes launch.
    fn key(&self) -> ProgramKey {
        ProgramKey::of(&self.variant, self.features)
    }

    /// Builds a program unless it is there; true when it was built.
    fn build(&mut self, key: ProgramKey) -> Result<bool> {
        let fresh = !self.programs.contains_key(&key);
        if fresh {
            let program = Program::build(&self.found, &self.compiler, self.architecture, key)?;
            self.programs.insert(key, program);
        }
        Ok(fresh)
    }

    /// Makes the driver's calls of this thread mean this device.
    pub(crate) fn enter(&self) -> Result<()> {
        CurrentContext::set_current(self.context).map_err(|e| self.error("turning to the device", e))
    }

    /// Compiles another source for this device and loads it.
    pub(crate) fn load(&self, text: &str, flags: &[&str]) -> Result<cust::module::Module> {
        self.enter()?;
        let image = program::compile(&self.found.target, &self.compiler, self.architecture, text, flags)?;
        program::load(&self.found, &image.bytes)
    }

    /// Enqueues a compiled kernel whose declaration the arguments fit.
    pub(crate) fn enqueue(
        &self,
        function: &Function<'_>,
        shape: Shape,
        name: &str,
        items: u32,
        arguments: &[KernelArg<'_, Buffer>],
    ) -> Result<Launch> {
        let address = |argument: &KernelArg<'_, Buffer>| match argument {
            KernelArg::Plain(_) => 0,
            KernelArg::Buffer(buffer) => buffer.memory.as_device_ptr().as_raw(),
        };
        let addresses: Vec<u64> = arguments.iter().map(address).collect();
        let places = arguments.iter().zip(&addresses).map(|(argument, address)| match argument {
            KernelArg::Plain(bytes) => bytes.as_ptr() as *mut c_void,
            KernelArg::Buffer(_) => std::ptr::from_ref(address) as *mut c_void,
        });
        let places: Vec<*mut c_void> = places.collect();
        let blocks = items.max(1).div_ceil(shape.block).min(shape.most_blocks);
        let launch = || -> CudaResult<Launch> {
            let start = Event::new(EventFlags::DEFAULT)?;
            let end = Event::new(EventFlags::DEFAULT)?;
            start.record(&self.stream)?;
            // SAFETY: the arguments fit the declaration, which a test compares with the source; the driver copies them
            // before it returns; kernels stay within the buffers' lengths.
            unsafe { self.stream.launch(function, blocks, shape.block, 0, &places) }?;
            end.record(&self.stream)?;
            Ok(Launch { start, end: Rc::new(end) })
        };
        launch().map_err(|e| self.error(format!("launching {name}"), e))
    }

    /// The launch's time on a clock that begins with the first launch that was waited for. Only neighbouring launches
    /// are compared, since the driver tells differences as floats.
    fn span(&self, launch: &Launch) -> CudaResult<Timestamps> {
        let start = match &self.latest {
            Some((event, time)) => time.saturating_add_signed(between(event, &launch.start)?),
            None => 0,
        };
        Ok(Timestamps { start, end: start.saturating_add_signed(between(&launch.start, &launch.end)?) })
    }
}

impl Drop for CudaDevice {
    fn drop(&mut self) {
        // Stream and modules are freed right after; of a lost context nothing is left to free.
        let _ = CurrentContext::set_current(self.context);
    }
}

/// Nanoseconds from one event to another; negative when the second came first.
fn between(from: &Event, to: &Event) -> CudaResult<i64> {
    to.elapsed_time_f32(from).map(|ms| (f64::from(ms) * 1e6) as i64)
}

/// Maps an error, and notes when it has cost the device.
fn refused(found: &Found, action: impl Into<String>, error: CudaError) -> Error {
    if is_lasting(error) {
        device::lose(found.ordinal, error);
    }
    device_error(&found.target, action, error)
}

/// A device in a mode, as every number names it.
pub(crate) fn info(found: &Found, compiler: &Compiler, architecture: Architecture, mode: Mode) -> DeviceInfo {
    let source = program::source(mode, ProgramKind::Render);
    let compiler = format!("NVRTC {} for {architecture}", compiler.version);
    let flags = program::flags(mode).join(" ");
    found.facts.info(&found.target, compiler, &flags, &source.hash, mode == Mode::Exact)
}

impl Device for CudaDevice {
    type Buffer = Buffer;
    type Event = Launch;

    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn limits(&self) -> Limits {
        let facts = &self.found.facts;
        Limits {
            kind: DeviceType::Gpu,
            largest_allocation: facts.memory,
            memory: facts.memory,
            compute_units: facts.compute_units,
            group: program::LARGEST_BLOCK,
        }
    }

    fn prepare(&mut self, variant: &KernelConfig, features: KernelFeatures) -> Result<Duration> {
        self.enter()?;
        let start = Instant::now();
        let key = ProgramKey::of(variant, features);
        let fresh = self.build(key)?;
        if let Some(program) = self.programs.get(&key) {
            self.shapes = program.shapes_of(&self.found, variant)?;
            self.info = info(&self.found, &self.compiler, self.architecture, variant.mode);
            self.info.note = format!("{}; {}", self.info.note, program.resources());
        }
        (self.variant, self.features) = (*variant, features);
        Ok(if fresh { start.elapsed() } else { Duration::ZERO })
    }

    fn prepare_trace(&mut self) -> Result<()> {
        self.enter()?;
        self.build(ProgramKey::trace(self.variant.mode, self.features.integrator)).map(drop)
    }

    fn resources(&self) -> Vec<KernelResources> {
        self.programs.get(&self.key()).map(Program::kernel_resources).unwrap_or_default()
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
        let mut slice = self.part(buffer, bytes.len(), what)?;
        slice.copy_from(bytes).map_err(|e| self.error(format!("uploading {what}"), e))
    }

    fn download(&mut self, buffer: &Buffer, into: &mut [u8], what: &str) -> Result<()> {
        self.enter()?;
        let slice = self.part(buffer, into.len(), what)?;
        slice.copy_to(into).map_err(|e| self.error(format!("downloading {what}"), e))
    }

    fn launch(&mut self, kernel: &Kernel, items: u32, arguments: &[KernelArg<'_, Buffer>]) -> Result<Launch> {
        self.enter()?;
        let own = self.programs.get(&self.key()).and_then(|program| program.kernel(kernel.name));
        let own = own.map(|(function, shape)| (function, *self.shapes.get(kernel.name).unwrap_or(&shape)));
        // Kernels that are no part of a variant's program run as by default.
        let usual = || {
            let mode = self.variant.mode;
            let programs = [
                ProgramKey::of(&KernelConfig::in_mode(mode), self.features),
                ProgramKey::trace(mode, self.features.integrator),
            ];
            let mut programs = programs.iter().filter_map(|key| self.programs.get(key));
            programs.find_map(|program| program.kernel(kernel.name))
        };
        let (function, shape) = own.or_else(usual).ok_or_else(|| Error::Contract {
            actor: self.found.target.clone(),
            message: format!("kernel {} was launched before it was built", kernel.name),
        })?;
        let function = function.map_err(|e| self.error(format!("finding kernel {}", kernel.name), e))?;
        self.enqueue(&function, shape, kernel.name, items, arguments)
    }

    fn flush(&mut self) -> Result<()> {
        // The driver begins with a launch at once.
        Ok(())
    }

    fn wait(&mut self, event: &Launch) -> Result<Timestamps> {
        self.enter()?;
        // Asking whether a launch is done does not wait; the host waits only for one that is not.
        let done = || match event.end.query()? {
            EventStatus::Ready => Ok(()),
            EventStatus::NotReady => event.end.synchronize(),
        };
        let span = done().and_then(|()| self.span(event));
        let span = span.map_err(|e| self.error("waiting for the device", e))?;
        self.latest = Some((event.end.clone(), span.end));
        Ok(span)
    }
}

impl CudaDevice {
    /// The start of a buffer.
    fn part(&self, buffer: &Buffer, len: usize, what: &str) -> Result<DeviceSlice<u8>> {
        if len > buffer.memory.len() {
            return Err(Error::Contract {
                actor: self.found.target.clone(),
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
