//! An OpenCL device under the shared wavefront.

use crate::device::{Class, Found};
use crate::error::device_error;
use crate::program::{self, Program, ProgramKey};
use crate::stack;
use lockstep_core::error::{Error, Result};
use lockstep_core::{DeviceInfo, Integrator, Mode};
use lockstep_core::{KernelConfig, Scheduling, Structure};
#[cfg(feature = "conformance")]
use lockstep_gpu::SourcePatch;
use lockstep_gpu::driver::{self, KernelArg, Limits, Timestamps, Wavefront};
use lockstep_gpu::signatures::Kernel;
use lockstep_gpu::{ITEMS_IN_TURN, KernelFeatures, KernelResources, KernelSource};
use ocl::core::{self, ArgVal, Event, Mem, ProfilingInfo, ProfilingInfoResult};
use ocl::{Context, Queue, flags};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// The renderer of every OpenCL target.
pub(crate) type OpenclRenderer = Wavefront<OpenclDevice>;

/// Work-items of a work-group on GPUs.
const GPU_GROUP: usize = 128;
/// Work-items of a work-group on CPUs, each with [`ITEMS_IN_TURN`] rays: few, so that cores share uneven rays evenly.
const CPU_GROUP: usize = 16;
/// Work-items in flight for each compute unit of a GPU; kernels loop over the rest of their queue.
const GPU_ITEMS_PER_UNIT: usize = 16_384;
/// Work-items that each compute unit of a GPU runs at once, which OpenCL does not tell: as many as NVIDIA's do at the 64
/// registers that traversal has there.
const GPU_RESIDENT_ITEMS_PER_UNIT: usize = 1_024;

/// A device with its queue and the programs built so far.
pub(crate) struct OpenclDevice {
    found: Found,
    context: Context,
    queue: Queue,
    info: DeviceInfo,
    programs: HashMap<ProgramKey, Program>,
    /// How launches run.
    variant: KernelConfig,
    /// What the loaded scene has.
    features: KernelFeatures,
    /// Changes of the kernels' source, for proofs that a mistake would be found.
    #[cfg(feature = "conformance")]
    pub(crate) edits: Vec<SourcePatch>,
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
            variant: KernelConfig::in_mode(mode),
            features: KernelFeatures::all(Integrator::Path),
            #[cfg(feature = "conformance")]
            edits: Vec::new(),
        })
    }

    /// What programs for this device are built in.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// The program that a variant's passes launch.
    fn key(&self, variant: &KernelConfig) -> ProgramKey {
        ProgramKey::of(variant, self.found.kind(), self.features)
    }

    /// Builds a program unless it is there; true when it was built.
    fn build(&mut self, key: ProgramKey) -> Result<bool> {
        let fresh = !self.programs.contains_key(&key);
        if fresh {
            let source = self.source(key)?;
            let program = Program::build(&self.found, &self.context, &source, key)?;
            self.programs.insert(key, program);
        }
        Ok(fresh)
    }

    #[cfg(not(feature = "conformance"))]
    fn source(&self, key: ProgramKey) -> Result<KernelSource> {
        Ok(program::source(&self.found, key))
    }

    #[cfg(feature = "conformance")]
    fn source(&self, key: ProgramKey) -> Result<KernelSource> {
        let source = program::source(&self.found, key);
        self.edits.iter().try_fold(source, lockstep_gpu::patched)
    }

    fn error(&self, action: impl Into<String>, error: &ocl::OclCoreError) -> Error {
        device_error(&self.found.target, action, error)
    }

    /// Work-items of a group where a variant does not say. It is always the same, since PoCL compiles kernels anew for
    /// each.
    fn own_group(&self) -> usize {
        let facts = &self.found.facts;
        let group = if facts.class == Class::Cpu { CPU_GROUP } else { GPU_GROUP };
        // Megakernels and kernels that trace single paths hold two traversals.
        let fits = self.most_on_stack(2).map_or(group, |most| 1 << most.ilog2());
        group.min(fits).min(facts.max_group)
    }

    /// The most work-items of a group, where the driver keeps what they own on the stack of a thread.
    fn most_on_stack(&self, traversals: usize) -> Option<usize> {
        let is_pocl = self.found.target.contains("pocl");
        is_pocl.then(|| stack::most_work_items(stack::of_a_thread(), traversals))
    }

    /// Global and local size for about `items` work-items.
    pub(crate) fn sizes(&self, items: u32, variant: &KernelConfig) -> [usize; 2] {
        let facts = &self.found.facts;
        let (units, gpu) = (facts.compute_units.max(1) as usize, facts.class != Class::Cpu);
        let group = variant.group.map_or(self.own_group(), |group| group.max(1) as usize);
        let most = match variant.threads {
            Scheduling::Default if gpu => GPU_ITEMS_PER_UNIT * units,
            Scheduling::Default | Scheduling::OneThreadPerRay => usize::MAX,
            Scheduling::PersistentThreads if gpu => units * GPU_RESIDENT_ITEMS_PER_UNIT.max(group),
            Scheduling::PersistentThreads => units * group,
        };
        let items = if gpu { items } else { items.div_ceil(ITEMS_IN_TURN) };
        [(items as usize).clamp(1, most).next_multiple_of(group), group]
    }

    /// Refuses groups that are larger than a program's kernels, the device or its driver take.
    fn check_group(&self, program: &Program, variant: &KernelConfig, group: u32) -> Result<()> {
        let refuse = |reason: String| {
            let action = format!("running work-groups of {group} work-items");
            Err(Error::Device { actor: self.found.target.clone(), action, reason })
        };
        let (group, most) = (group as usize, self.found.facts.max_group);
        if group == 0 || group > most {
            return refuse(format!("the device takes 1 to {most}"));
        }
        if let Some((kernel, most)) = program.tightest().filter(|(_, most)| group > *most) {
            return refuse(format!(
                "with the registers that {kernel} needs, the device takes at most {most}"
            ));
        }
        let traversals = if variant.structure == Structure::Megakernel { 2 } else { 1 };
        match self.most_on_stack(traversals) {
            Some(most) if group > most => {
                refuse(format!("the stack of a thread, where PoCL keeps what they own, has room for {most}"))
            }
            _ => Ok(()),
        }
    }

    /// Enqueues a compiled kernel whose declaration the arguments fit, with so many work-items in groups of so many.
    pub(crate) fn enqueue(
        &self,
        compiled: &core::Kernel,
        name: &str,
        [global, local]: [usize; 2],
        arguments: &[KernelArg<'_, Mem>],
    ) -> Result<Event> {
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
    let key =
        ProgramKey::of(&KernelConfig::in_mode(mode), found.kind(), KernelFeatures::all(Integrator::Path));
    let source = program::source(found, key);
    found.facts.info(&found.target, &program::all_flags(found, mode), &source.hash, mode == Mode::Exact)
}

impl driver::Device for OpenclDevice {
    type Buffer = Mem;
    type Event = Event;

    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn limits(&self) -> Limits {
        let facts = &self.found.facts;
        Limits {
            kind: self.found.kind(),
            largest_allocation: facts.largest_allocation,
            memory: facts.memory,
            compute_units: facts.compute_units,
            group: self.own_group() as u32,
        }
    }

    fn prepare(&mut self, variant: &KernelConfig, features: KernelFeatures) -> Result<Duration> {
        let start = Instant::now();
        let key = ProgramKey::of(variant, self.found.kind(), features);
        let fresh = self.build(key)?;
        if let (Some(group), Some(program)) = (variant.group, self.programs.get(&key)) {
            self.check_group(program, variant, group)?;
        }
        (self.variant, self.features) = (*variant, features);
        self.info = info(&self.found, variant.mode);
        Ok(if fresh { start.elapsed() } else { Duration::ZERO })
    }

    fn prepare_trace(&mut self) -> Result<()> {
        self.build(ProgramKey::trace(self.variant.mode, self.features.integrator)).map(drop)
    }

    fn resources(&self) -> Vec<KernelResources> {
        let program = self.programs.get(&self.key(&self.variant));
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
        // Kernels that passes do not launch run as by default.
        let key = self.key(&self.variant);
        let own = key.part.of_passes().contains(&kernel).then_some((key, self.variant));
        let usual = KernelConfig::in_mode(self.variant.mode);
        let others =
            [(self.key(&usual), usual), (ProgramKey::trace(usual.mode, self.features.integrator), usual)];
        let found = own.into_iter().chain(others).find_map(|(key, variant)| {
            let [global, local] = self.sizes(items, &variant);
            let program = self.programs.get(&key)?;
            Some((program.kernel(kernel.name, local)?, [global, local]))
        });
        let (compiled, sizes) = found.ok_or_else(|| Error::Contract {
            actor: self.found.target.clone(),
            message: format!("kernel {} was launched before it was built", kernel.name),
        })?;
        self.enqueue(compiled, kernel.name, sizes, arguments)
    }

    fn flush(&mut self) -> Result<()> {
        core::flush(&self.queue).map_err(|e| self.error("starting the queue", &e))
    }

    fn processor_time(&self) -> Option<Duration> {
        // Runtimes for processors work in threads of this process.
        (self.found.facts.class == Class::Cpu).then(|| {
            let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
            Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
        })
    }

    fn wait(&mut self, event: &Event) -> Result<Timestamps> {
        core::wait_for_event(event).map_err(|e| self.error("waiting for the device", &e))?;
        let time = |kind| match core::get_event_profiling_info(event, kind) {
            Ok(ProfilingInfoResult::Start(time) | ProfilingInfoResult::End(time)) => Ok(time),
            Ok(_) => Ok(0),
            Err(e) => Err(self.error("reading the device's clock", &e)),
        };
        Ok(Timestamps { start: time(ProfilingInfo::Start)?, end: time(ProfilingInfo::End)? })
    }
}
