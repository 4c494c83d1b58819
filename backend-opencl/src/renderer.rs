//! An OpenCL device under the shared wavefront.

use crate::device::{Class, Found};
use crate::error::device_error;
use crate::program::{self, Part, Program};
use lockstep_core::error::{Error, Result};
#[cfg(feature = "conformance")]
use lockstep_core::kernels::Edit;
use lockstep_core::kernels::launch::Kernel;
use lockstep_core::kernels::{KernelResources, Source};
use lockstep_core::renderer::{DeviceInfo, Mode};
use lockstep_core::wavefront::{self, Kind, Limits, Span, Value, Wavefront};
use ocl::core::{self, ArgVal, Event, Mem, ProfilingInfo, ProfilingInfoResult};
use ocl::{Context, Queue, flags};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// The renderer of every OpenCL target.
pub(crate) type OpenclRenderer = Wavefront<OpenclDevice>;

/// Work-items of a work-group on GPUs.
const GPU_GROUP: usize = 128;
/// Work-items of a work-group on CPUs: small, so that cores share uneven rays evenly.
const CPU_GROUP: usize = 64;
/// Work-items in flight for each compute unit of a GPU; kernels loop over the rest of their queue.
const GPU_ITEMS_PER_UNIT: usize = 16_384;

/// A device with its queue and the programs built so far.
pub(crate) struct OpenclDevice {
    found: Found,
    context: Context,
    queue: Queue,
    info: DeviceInfo,
    programs: HashMap<(Mode, Part), Program>,
    mode: Mode,
    /// Changes of the kernels' source, for proofs that a mistake would be found.
    #[cfg(feature = "conformance")]
    pub(crate) edits: Vec<Edit>,
}

impl OpenclDevice {
    /// Opens a device, to be described in a mode; compiles nothing yet.
    pub(crate) fn open(found: Found, mode: Mode) -> Result<Self> {
        let failed = |e: ocl::Error| Error::Device {
            actor: found.target.clone(),
            action: "opening the device".into(),
            reason: e.to_string(),
        };
        let context =
            Context::builder().platform(found.platform).devices(found.device).build().map_err(failed)?;
        let queue =
            Queue::new(&context, found.device, Some(flags::QUEUE_PROFILING_ENABLE)).map_err(failed)?;
        let info = info(&found, mode);
        Ok(Self {
            found,
            context,
            queue,
            info,
            programs: HashMap::new(),
            mode,
            #[cfg(feature = "conformance")]
            edits: Vec::new(),
        })
    }

    /// What programs for this device are built in.
    #[cfg(test)]
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Builds a program unless it is there; true when it was built.
    fn build(&mut self, mode: Mode, part: Part) -> Result<bool> {
        let fresh = !self.programs.contains_key(&(mode, part));
        if fresh {
            let source = self.source(mode, part)?;
            let program = Program::build(&self.found, &self.context, &source, mode, part)?;
            self.programs.insert((mode, part), program);
        }
        Ok(fresh)
    }

    #[cfg(not(feature = "conformance"))]
    fn source(&self, mode: Mode, part: Part) -> Result<Source> {
        Ok(program::source(&self.found, mode, part))
    }

    #[cfg(feature = "conformance")]
    fn source(&self, mode: Mode, part: Part) -> Result<Source> {
        let source = program::source(&self.found, mode, part);
        self.edits.iter().try_fold(source, Source::edited)
    }

    fn error(&self, action: impl Into<String>, error: &ocl::OclCoreError) -> Error {
        device_error(&self.found.target, action, error)
    }

    /// Global and local size for about `items` work-items. The local size is always the same, since PoCL compiles
    /// kernels anew for each.
    fn sizes(&self, items: u32) -> (usize, usize) {
        let facts = &self.found.facts;
        let (group, most) = match facts.class {
            Class::Cpu => (CPU_GROUP, usize::MAX),
            _ => (GPU_GROUP, GPU_ITEMS_PER_UNIT * facts.compute_units.max(1) as usize),
        };
        let group = group.min(facts.max_group);
        ((items as usize).clamp(1, most).next_multiple_of(group), group)
    }

    /// Enqueues a compiled kernel whose declaration the arguments fit.
    pub(crate) fn enqueue(
        &self,
        compiled: &core::Kernel,
        name: &str,
        items: u32,
        arguments: &[Value<'_, Mem>],
    ) -> Result<Event> {
        for (index, argument) in arguments.iter().enumerate() {
            let value = match argument {
                // SAFETY: the bytes outlive the call, which copies them.
                Value::Plain(bytes) => unsafe { ArgVal::from_raw(bytes.len(), bytes.as_ptr().cast(), false) },
                Value::Buffer(buffer) => ArgVal::mem(buffer),
            };
            core::set_kernel_arg(compiled, index as u32, value)
                .map_err(|e| self.error(format!("setting argument {index} of {name}"), &e))?;
        }
        let (global, local) = self.sizes(items);
        let (global, local) = ([global, 1, 1], [local, 1, 1]);
        let mut event = Event::null();
        // SAFETY: the arguments fit the declaration, which a test compares with the source; kernels stay within the
        // buffers' lengths.
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

/// A device in a mode, as every number names it.
pub(crate) fn info(found: &Found, mode: Mode) -> DeviceInfo {
    let source = program::source(found, mode, Part::Render);
    found.facts.info(&found.target, &program::all_flags(found, mode), &source.hash, mode == Mode::Exact)
}

impl wavefront::Device for OpenclDevice {
    type Buffer = Mem;
    type Event = Event;

    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn limits(&self) -> Limits {
        let facts = &self.found.facts;
        Limits {
            kind: if facts.class == Class::Cpu { Kind::Cpu } else { Kind::Gpu },
            largest_allocation: facts.largest_allocation,
            memory: facts.memory,
            compute_units: facts.compute_units,
        }
    }

    fn prepare(&mut self, mode: Mode) -> Result<Duration> {
        let start = Instant::now();
        let fresh = self.build(mode, Part::Render)?;
        self.mode = mode;
        self.info = info(&self.found, mode);
        Ok(if fresh { start.elapsed() } else { Duration::ZERO })
    }

    fn prepare_trace(&mut self) -> Result<()> {
        self.build(self.mode, Part::Trace).map(drop)
    }

    fn resources(&self) -> Vec<KernelResources> {
        self.programs.get(&(self.mode, Part::Render)).map(|program| program.resources()).unwrap_or_default()
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

    fn launch(&mut self, kernel: &Kernel, items: u32, arguments: &[Value<'_, Mem>]) -> Result<Event> {
        let programs = [Part::Render, Part::Trace].map(|part| self.programs.get(&(self.mode, part)));
        let found = programs.into_iter().flatten().find_map(|program| program.kernel(kernel.name));
        let compiled = found.ok_or_else(|| Error::Contract {
            actor: self.found.target.clone(),
            message: format!("kernel {} was launched before it was built", kernel.name),
        })?;
        self.enqueue(compiled, kernel.name, items, arguments)
    }

    fn flush(&mut self) -> Result<()> {
        core::flush(&self.queue).map_err(|e| self.error("starting the queue", &e))
    }

    fn wait(&mut self, event: &Event) -> Result<Span> {
        core::wait_for_event(event).map_err(|e| self.error("waiting for the device", &e))?;
        let time = |kind| match core::get_event_profiling_info(event, kind) {
            Ok(ProfilingInfoResult::Start(time) | ProfilingInfoResult::End(time)) => Ok(time),
            Ok(_) => Ok(0),
            Err(e) => Err(self.error("reading the device's clock", &e)),
        };
        Ok(Span { start: time(ProfilingInfo::Start)?, end: time(ProfilingInfo::End)? })
    }
}
