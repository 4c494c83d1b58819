//! The interface that a GPU backend implements.

use crate::signatures::Kernel;
use crate::{KernelFeatures, KernelResources};
use lockstep_bvh::Layout;
use lockstep_core::error::Result;
use lockstep_core::{DeviceInfo, Integrator, KernelConfig, Mode, Structure};
use std::time::Duration;

/// One device behind one API: memory, launches and their times. All work goes through one in-order queue.
///
/// Every `what` names the data in words for messages, such as "path state".
pub trait Device {
    /// A block of device memory, freed when dropped.
    type Buffer;
    /// A launch to wait for.
    type Event;

    /// The device, with the flags and the kernel hash of the mode prepared last.
    fn info(&self) -> &DeviceInfo;

    /// The device's capacities.
    fn limits(&self) -> Limits;

    /// Builds all kernels of a configuration for scenes with these features, or takes them from a cache. For an image of
    /// few `pixels` a device with a slow compiler may build kernels for other scenes as well. Later launches use them, with
    /// the configuration's work-group size and number. Returns the build time, zero if they were ready. After an error the
    /// previous kernels stay active.
    ///
    /// # Errors
    /// [`lockstep_core::Error::Compile`] with the compiler's log; [`lockstep_core::Error::Unsupported`] for a
    /// configuration it lacks; [`lockstep_core::Error::Device`] for a work-group larger than the device
    /// takes.
    fn prepare(&mut self, config: &KernelConfig, features: KernelFeatures, pixels: u32) -> Result<Duration>;

    /// The configuration in which the device renders by an integrator unless told otherwise.
    fn default_config(&self, mode: Mode, integrator: Integrator) -> KernelConfig {
        self.limits().kind.default_config(mode, integrator)
    }

    /// Builds the kernel that records paths for the mode prepared last, or takes it from a cache. Called when
    /// the first path is recorded, so that renders need not wait for it.
    ///
    /// # Errors
    /// As [`Device::prepare`].
    fn prepare_recording(&mut self) -> Result<()>;

    /// Resources of the kernels prepared last; empty before that, and where the driver does not report them.
    fn resources(&self) -> Vec<KernelResources> {
        Vec::new()
    }

    /// Uninitialised memory of `bytes` bytes; at least one.
    ///
    /// # Errors
    /// [`lockstep_core::Error::Device`] when the driver refuses.
    fn allocate(&mut self, bytes: u64, what: &str) -> Result<Self::Buffer>;

    /// Copies to the start of a buffer; `bytes` may be reused on return.
    ///
    /// # Errors
    /// [`lockstep_core::Error::Device`] when the driver refuses.
    fn upload(&mut self, buffer: &Self::Buffer, bytes: &[u8], what: &str) -> Result<()>;

    /// Waits for all work before it and copies from the start of a buffer.
    ///
    /// # Errors
    /// [`lockstep_core::Error::Device`] when that work or the copy failed.
    fn download(&mut self, buffer: &Self::Buffer, into: &mut [u8], what: &str) -> Result<()>;

    /// Enqueues a kernel of the configuration prepared last with at least one and at most about `items`
    /// work-items; kernels loop, so any number is right. `arguments` have been checked against the
    /// declaration.
    ///
    /// # Errors
    /// [`lockstep_core::Error::Device`] when the driver refuses.
    fn launch(
        &mut self,
        kernel: &Kernel,
        items: u32,
        arguments: &[KernelArg<'_, Self::Buffer>],
    ) -> Result<Self::Event>;

    /// Flushes the queue without waiting.
    ///
    /// # Errors
    /// [`lockstep_core::Error::Device`] when the driver refuses.
    fn flush(&mut self) -> Result<()>;

    /// Processor time of this process so far, where the device runs within it.
    fn processor_time(&self) -> Option<Duration> {
        None
    }

    /// Waits for a launch and returns its timestamps.
    ///
    /// # Errors
    /// [`lockstep_core::Error::Device`] when the launch failed.
    fn wait(&mut self, event: &Self::Event) -> Result<Timestamps>;
}

/// An argument of a launch.
#[derive(Debug)]
pub enum KernelArg<'a, B> {
    /// A value of these bytes.
    Plain(&'a [u8]),
    /// A buffer.
    Buffer(&'a B),
}

/// Start and end of a launch by the device's own clock, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// Start.
    pub start: u64,
    /// End.
    pub end: u64,
}

impl Timestamps {
    /// Duration in milliseconds.
    pub fn ms(&self) -> f64 {
        self.end.saturating_sub(self.start) as f64 * 1e-6
    }
}

/// Processor type of a device; decides the number of paths in flight and the BVH layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceType {
    /// Few fast cores: path state should stay in cache.
    Cpu,
    /// Many slow threads: path state should cover them many times over.
    Gpu,
}

impl DeviceType {
    /// The BVH layout that its kernels traverse.
    pub fn layout(self) -> Layout {
        match self {
            Self::Cpu => Layout::Bvh8,
            Self::Gpu => Layout::Bvh2,
        }
    }

    /// The configuration in which such devices render by an integrator unless told otherwise. Whole sub-paths in one
    /// kernel keep a processor's caches: there stages make 0.6 to 0.9 of their rate, on a GPU up to seven times it.
    pub fn default_config(self, mode: Mode, integrator: Integrator) -> KernelConfig {
        let structure = match self {
            Self::Cpu if integrator.splats() => Structure::Megakernel,
            _ => Structure::Wavefront,
        };
        KernelConfig { structure, ..KernelConfig::in_mode(mode) }
    }
}

/// A device's capacities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Processor type.
    pub kind: DeviceType,
    /// Bytes of the largest single allocation.
    pub largest_allocation: u64,
    /// Bytes of all memory.
    pub memory: u64,
    /// Compute units.
    pub compute_units: u32,
    /// Default work-group size.
    pub group: u32,
}
