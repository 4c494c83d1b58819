//! Discovery of the driver's devices: their properties, target names, compilers and contexts.

use crate::error::reason;
use crate::loader::{self, Driver};
use crate::nvrtc::{self, Architecture, Compiler};
use crate::version::Version;
use cust::context::Context;
use cust::device::{Device, DeviceAttribute};
use cust::error::{CudaError, CudaResult};
use lockstep_core::{DeviceInfo, Unavailable};
use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex};

/// A device with its properties.
#[derive(Clone, Debug)]
pub(crate) struct DiscoveredDevice {
    /// Target name: `cuda@0`.
    pub(crate) target: String,
    /// The number among the driver's devices, the fastest first unless `CUDA_DEVICE_ORDER` says otherwise.
    pub(crate) ordinal: u32,
    pub(crate) device: Device,
    pub(crate) properties: DeviceProperties,
}

/// Properties of a device, as its driver reports them.
#[derive(Clone, Debug)]
pub(crate) struct DeviceProperties {
    pub(crate) name: String,
    /// The CUDA version that the driver supports.
    pub(crate) cuda: Version,
    /// The driver's release, empty when unknown.
    pub(crate) release: String,
    /// Compute capability: 90 is 9.0.
    pub(crate) capability: u32,
    pub(crate) compute_units: u32,
    pub(crate) clock_khz: u32,
    pub(crate) memory_clock_khz: u32,
    /// Global memory in bytes.
    pub(crate) memory: u64,
}

impl DeviceProperties {
    fn of(driver: &Driver, device: Device) -> CudaResult<Self> {
        let number = |attribute| device.get_attribute(attribute).map(|value| value.max(0) as u32);
        let major = number(DeviceAttribute::ComputeCapabilityMajor)?;
        Ok(Self {
            name: device.name()?,
            cuda: driver.version,
            release: release(),
            capability: 10 * major + number(DeviceAttribute::ComputeCapabilityMinor)?,
            compute_units: number(DeviceAttribute::MultiprocessorCount)?,
            // Newer drivers may stop reporting clocks, which nothing depends on.
            clock_khz: number(DeviceAttribute::ClockRate).unwrap_or(0),
            memory_clock_khz: number(DeviceAttribute::MemoryClockRate).unwrap_or(0),
            memory: device.total_memory()? as u64,
        })
    }

    fn clocks(&self) -> String {
        let known = [(self.clock_khz, "MHz at most"), (self.memory_clock_khz, "MHz memory")];
        let words =
            known.iter().filter(|(khz, _)| *khz > 0).map(|(khz, label)| format!("{} {label}", khz / 1000));
        words.collect::<Vec<_>>().join(", ")
    }

    fn note(&self) -> String {
        let Self { capability, memory, .. } = self;
        format!("compute capability {}.{}, {:.1} GB", capability / 10, capability % 10, *memory as f64 * 1e-9)
    }

    /// The description recorded with every result. The arguments after `target` are those of a mode.
    pub(crate) fn info(
        &self,
        target: &str,
        compiler: String,
        flags: &str,
        kernel_hash: &str,
        exact: bool,
    ) -> DeviceInfo {
        let release =
            if self.release.is_empty() { String::new() } else { format!(", driver {}", self.release) };
        DeviceInfo {
            target: target.into(),
            backend: crate::name::NAME.into(),
            device: self.name.clone(),
            driver: format!("CUDA {}{release}", self.cuda),
            compiler,
            flags: flags.into(),
            compute_units: self.compute_units,
            clocks: self.clocks(),
            kernel_hash: kernel_hash.into(),
            on_host: false,
            exact,
            note: self.note(),
        }
    }
}

/// The driver's release, as its kernel module reports it; empty when unknown.
fn release() -> String {
    let text = ["/sys/module/nvidia/version", "/proc/driver/nvidia/version"].map(fs::read_to_string);
    text.into_iter().flatten().find_map(|text| release_in(&text)).unwrap_or_default()
}

/// The first word that looks like a release: `580.159.04`.
fn release_in(text: &str) -> Option<String> {
    let is_release = |word: &&str| {
        word.contains('.')
            && word.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
    };
    text.split_whitespace().find(is_release).map(str::to_owned)
}

/// Every device of the driver, in its order.
///
/// # Errors
/// [`Unavailable`] without a driver or a device.
pub(crate) fn discover() -> Result<Vec<DiscoveredDevice>, Unavailable> {
    let driver = loader::load()?;
    let refused = |action: &str, error| Unavailable {
        reason: format!("{} fails at {action}: {}", driver.library.display(), reason(error)),
        remedy: "Check with `nvidia-smi` that the driver works.".into(),
    };
    let count = Device::num_devices().map_err(|error| refused("counting devices", error))?;
    if count == 0 {
        return Err(Unavailable {
            reason: format!("{} offers no device", driver.library.display()),
            remedy:
                "Check with `nvidia-smi` that a GPU is there, and that CUDA_VISIBLE_DEVICES does not hide it."
                    .into(),
        });
    }
    let describe = |ordinal| {
        let device = Device::get_device(ordinal)?;
        let properties = DeviceProperties::of(&driver, device)?;
        let target = format!("{}@{ordinal}", crate::name::NAME);
        Ok(DiscoveredDevice { target, ordinal, device, properties })
    };
    let all: CudaResult<Vec<DiscoveredDevice>> = (0..count).map(describe).collect();
    all.map_err(|error| refused("describing devices", error))
}

impl DiscoveredDevice {
    /// The compiler for this device, and the architecture to compile for.
    ///
    /// # Errors
    /// [`Unavailable`] without a suitable compiler, or if the device failed earlier in this process.
    pub(crate) fn compiler(&self) -> Result<(Arc<Compiler>, Architecture), Unavailable> {
        if let Some(error) = lost_by(self.ordinal) {
            return Err(Unavailable {
                reason: format!(
                    "{} failed earlier in this process ({error:?}) and its state is lost",
                    self.properties.name
                ),
                remedy: "Start again; if it comes back, run the program under compute-sanitizer.".into(),
            });
        }
        nvrtc::choose(self.properties.cuda, self.properties.capability)
    }

    /// The device's primary context. It lives as long as the process, since making one takes a good part of a
    /// second.
    pub(crate) fn context(&self) -> CudaResult<&'static Context> {
        // A panic elsewhere cannot have left the map half written.
        let mut contexts = CONTEXTS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(context) = contexts.get(&self.ordinal) {
            return Ok(context);
        }
        let context: &'static Context = Box::leak(Box::new(Context::new(self.device)?));
        contexts.insert(self.ordinal, context);
        Ok(context)
    }
}

static CONTEXTS: Mutex<BTreeMap<u32, &'static Context>> = Mutex::new(BTreeMap::new());

/// Devices whose context is lost, with the error.
static LOST: Mutex<BTreeMap<u32, CudaError>> = Mutex::new(BTreeMap::new());

/// The error by which a device's context was lost in this process, if it was.
pub(crate) fn lost_by(ordinal: u32) -> Option<CudaError> {
    LOST.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get(&ordinal).copied()
}

/// Records that a device's context is lost. The first error is kept, since later ones are its consequences.
pub(crate) fn mark_lost(ordinal: u32, error: CudaError) {
    LOST.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).entry(ordinal).or_insert(error);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_is_found_in_the_kernel_modules_text() {
        let open = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  \
                    (a@b)\n\
                    GCC version:  gcc version 13.3.0";
        assert_eq!(release_in(open).as_deref(), Some("580.159.04"));
        assert_eq!(release_in("535.54\n").as_deref(), Some("535.54"));
        assert_eq!(release_in("no version"), None);
    }

    #[test]
    fn the_first_error_of_a_lost_device_is_kept() {
        const UNUSED_ORDINAL: u32 = u32::MAX;
        assert_eq!(lost_by(UNUSED_ORDINAL), None);
        mark_lost(UNUSED_ORDINAL, CudaError::IllegalAddress);
        mark_lost(UNUSED_ORDINAL, CudaError::ContextIsDestroyed);
        assert_eq!(lost_by(UNUSED_ORDINAL), Some(CudaError::IllegalAddress));
    }
}
