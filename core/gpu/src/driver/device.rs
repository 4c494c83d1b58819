//! What a backend provides.

use crate::signatures::Kernel;
use crate::{KernelFeatures, KernelResources};
use lockstep_bvh::Layout;
use lockstep_core::DeviceInfo;
use lockstep_core::KernelConfig;
use lockstep_core::error::Result;
use std::time::Duration;

/// One device behind one API: memory, launches and their times. All work goes through one in-order queue.
///
/// Every `what` names the data in words for messages, such as "path state".
pub trait Device {
    /// A block of device memory, freed when dropped.
    type Buffer;
    /// A launch that can be waited for.
    type Event;

    /// Who this is, with the flags and the kernel hash of the mode prepared last.
    fn info(&self) -> &DeviceInfo;

    /// What the device can hold.
    fn limits(&self) -> Limits;

    /// Builds all kernels for a variant and scenes with no more than this features, or takes them from a cache, and makes later launches use them, in groups of the
    /// variant's size and as many as it asks for. Returns the time that took; zero when they were ready. After an error
    /// later launches are as before.
    ///
    /// # Errors
    /// [`lockstep_core::Error::Compile`] with the compiler's log; [`lockstep_core::Error::Unsupported`] for a variant it lacks;
    /// [`lockstep_core::Error::Device`] for a group larger than the device takes.
    fn prepare(&mut self, variant: &KernelConfig, features: KernelFeatures) -> Result<Duration>;

    /// Builds the kernel that records paths for the mode prepared last, or takes it from a cache. Asked for when the
    /// first path is traced, so that renders need not wait for it.
    ///
    /// # Errors
    /// As [`Device::prepare`].
    fn prepare_trace(&mut self) -> Result<()>;

    /// What the kernels of the mode prepared last take; empty before that, and where the driver does not tell.
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

    /// Enqueues a kernel of the variant prepared last with at least one and at most about `items` work-items; kernels loop,
    /// so any number is right.
    /// `arguments` have been checked against the declaration.
    ///
    /// # Errors
    /// [`lockstep_core::Error::Device`] when the driver refuses.
    fn launch(
        &mut self,
        kernel: &Kernel,
        items: u32,
        arguments: &[KernelArg<'_, Self::Buffer>],
    ) -> Result<Self::Event>;

    /// Makes the device begin what has been enqueued, without waiting.
    ///
    /// # Errors
    /// [`lockstep_core::Error::Device`] when the driver refuses.
    fn flush(&mut self) -> Result<()>;

    /// Processor time of this process so far, where what the device does is a part of it.
    fn processor_time(&self) -> Option<Duration> {
        None
    }

    /// Waits for a launch and tells when it ran.
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

/// When a launch ran, on the device's own clock, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// It began.
    pub start: u64,
    /// It ended.
    pub end: u64,
}

impl Timestamps {
    /// Its length in milliseconds.
    pub fn ms(&self) -> f64 {
        self.end.saturating_sub(self.start) as f64 * 1e-6
    }
}

/// What sort of processor a device is; decides how many paths are in flight and how hits are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceType {
    /// SmallSceneIntersector fast cores: path state should stay in cache.
    Cpu,
    /// Many slow threads: path state should cover them many times over.
    Gpu,
}

impl DeviceType {
    /// The layout of the BVH that its kernels traverse.
    pub fn layout(self) -> Layout {
        match self {
            Self::Cpu => Layout::Bvh8,
            Self::Gpu => Layout::Bvh2,
        }
    }
}

/// What a device can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The sort of processor.
    pub kind: DeviceType,
    /// Bytes of the largest single allocation.
    pub largest_allocation: u64,
    /// Bytes of all memory.
    pub memory: u64,
    /// Compute units.
    pub compute_units: u32,
    /// Work-items of a work-group where a variant does not say.
    pub group: u32,
}
