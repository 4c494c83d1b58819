//! Discovery of the devices of every platform: their properties, target names and ranking.

use crate::loader;
use lockstep_core::{DeviceInfo, Unavailable};
use lockstep_gpu::driver::DeviceType;
use ocl::{Context, Device, Platform, ffi};
use std::sync::{Mutex, PoisonError};

/// A device with its properties.
#[derive(Clone, Debug)]
pub(crate) struct DiscoveredDevice {
    /// Target name: `opencl@pocl`.
    pub(crate) target: String,
    pub(crate) platform: Platform,
    pub(crate) device: Device,
    pub(crate) properties: DeviceProperties,
}

impl DiscoveredDevice {
    /// CPU or GPU, which decides how kernels are built.
    pub(crate) fn device_type(&self) -> DeviceType {
        if self.properties.class == DeviceClass::Cpu { DeviceType::Cpu } else { DeviceType::Gpu }
    }

    /// A context of this device. CPUs have one for the whole process: PoCL's compiler reads its library of built-in
    /// functions, which takes more than half a second, whenever the first of its contexts is made. GPUs get a new one each
    /// time, since a context keeps memory of the device.
    ///
    /// # Errors
    /// The driver's, when it makes no context.
    pub(crate) fn context(&self) -> ocl::Result<Context> {
        static OF_CPUS: Mutex<Vec<(Device, Context)>> = Mutex::new(Vec::new());
        let create = || Context::builder().platform(self.platform).devices(self.device).build();
        if self.device_type() == DeviceType::Gpu {
            return create();
        }
        // A panic elsewhere cannot have left the list half written.
        let mut known = OF_CPUS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, context)) = known.iter().find(|(device, _)| *device == self.device) {
            return Ok(context.clone());
        }
        let context = create()?;
        known.push((self.device, context.clone()));
        Ok(context)
    }
}

/// Class of a device, in ascending order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DeviceClass {
    Cpu,
    IntegratedGpu,
    DiscreteGpu,
}

/// Properties of a device, as its driver reports them.
#[derive(Clone, Debug)]
pub(crate) struct DeviceProperties {
    pub(crate) class: DeviceClass,
    pub(crate) name: String,
    pub(crate) platform_name: String,
    pub(crate) platform_version: String,
    pub(crate) version: String,
    pub(crate) c_version: String,
    pub(crate) driver: String,
    pub(crate) compute_units: u32,
    pub(crate) clock_mhz: u32,
    /// SIMD lanes of one compute unit: the vector width of a CPU core; for a GPU an estimate by vendor.
    pub(crate) lanes: u32,
    /// Size of the largest allocation, in bytes.
    pub(crate) largest_allocation: u64,
    /// Global memory in bytes.
    pub(crate) memory: u64,
    /// Most work-items of a group.
    pub(crate) max_group: usize,
    /// Bits of `CL_DEVICE_SINGLE_FP_CONFIG`.
    float_config: u64,
}

impl DeviceProperties {
    fn of(platform: &Platform, device: &Device) -> Self {
        let number = |info| number(device, info);
        let device_type = number(ffi::CL_DEVICE_TYPE);
        let class = if device_type & ffi::CL_DEVICE_TYPE_CPU != 0 {
            DeviceClass::Cpu
        } else if number(ffi::CL_DEVICE_HOST_UNIFIED_MEMORY) != 0 {
            DeviceClass::IntegratedGpu
        } else {
            DeviceClass::DiscreteGpu
        };
        let platform_name = platform.name().unwrap_or_default();
        let vector = number(ffi::CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT) as u32;
        Self {
            class,
            name: text(device, ffi::CL_DEVICE_NAME),
            platform_version: platform.version().unwrap_or_default().trim().to_owned(),
            version: text(device, ffi::CL_DEVICE_VERSION),
            c_version: text(device, ffi::CL_DEVICE_OPENCL_C_VERSION),
            driver: text(device, ffi::CL_DRIVER_VERSION),
            compute_units: number(ffi::CL_DEVICE_MAX_COMPUTE_UNITS) as u32,
            clock_mhz: number(ffi::CL_DEVICE_MAX_CLOCK_FREQUENCY) as u32,
            lanes: if class == DeviceClass::Cpu {
                vector.max(1)
            } else {
                gpu_lanes(&vendor_word(&platform_name))
            },
            largest_allocation: number(ffi::CL_DEVICE_MAX_MEM_ALLOC_SIZE),
            memory: number(ffi::CL_DEVICE_GLOBAL_MEM_SIZE),
            max_group: (number(ffi::CL_DEVICE_MAX_WORK_GROUP_SIZE) as usize).max(1),
            float_config: number(ffi::CL_DEVICE_SINGLE_FP_CONFIG),
            platform_name,
        }
    }

    /// Whether the compiler supports the flag for correctly rounded division and square root.
    pub(crate) fn rounds_division(&self) -> bool {
        self.float_config & ffi::CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT != 0
    }

    /// Whether the device's arithmetic supports exact mode. Division and square root of CPUs are correctly
    /// rounded without the flag too, which Intel's runtime does not support.
    pub(crate) fn supports_exact(&self) -> bool {
        let needed = ffi::CL_FP_DENORM | ffi::CL_FP_INF_NAN | ffi::CL_FP_ROUND_TO_NEAREST;
        (self.rounds_division() || self.class == DeviceClass::Cpu) && self.float_config & needed == needed
    }

    /// Estimated throughput, only comparable within a class: units times clock times lanes, without the clock
    /// where the driver does not report it.
    fn throughput(&self) -> u64 {
        u64::from(self.compute_units) * u64::from(self.clock_mhz.max(1)) * u64::from(self.lanes)
    }

    /// A note that explains the device's place in the ranking.
    fn rank(&self) -> String {
        let class = match self.class {
            DeviceClass::Cpu => "CPU",
            DeviceClass::IntegratedGpu => "integrated GPU",
            DeviceClass::DiscreteGpu => "discrete GPU",
        };
        let clock =
            if self.clock_mhz == 0 { "unknown clock".into() } else { format!("{} MHz", self.clock_mhz) };
        format!(
            "listed by class (discrete GPU, integrated GPU, CPU), then estimated speed: {class}, {} units x \
             {clock} x {} lanes",
            self.compute_units, self.lanes
        )
    }

    /// The description recorded with every result. `flags` and `kernel_hash` are those of a mode.
    pub(crate) fn info(&self, target: &str, flags: &str, kernel_hash: &str, exact: bool) -> DeviceInfo {
        DeviceInfo {
            target: target.into(),
            backend: crate::name::NAME.into(),
            device: self.name.clone(),
            driver: format!("{}, {}, driver {}", self.platform_name, self.platform_version, self.driver),
            compiler: format!("{}, {}", self.c_version, self.version),
            flags: flags.into(),
            compute_units: self.compute_units,
            clocks: if self.clock_mhz == 0 {
                String::new()
            } else {
                format!("{} MHz at most", self.clock_mhz)
            },
            kernel_hash: kernel_hash.into(),
            on_host: self.class == DeviceClass::Cpu,
            exact: exact && self.supports_exact(),
            note: self.rank(),
        }
    }
}

/// SIMD lanes of a GPU's compute unit, by vendor; OpenCL does not report them.
fn gpu_lanes(vendor: &str) -> u32 {
    match vendor {
        "nvidia" => 128,
        "amd" => 64,
        "intel-gpu" => 8,
        _ => 32,
    }
}

fn raw(device: &Device, info: u32) -> Vec<u8> {
    device.info_raw(info).unwrap_or_default()
}

/// An integer property of any width; zero where the driver does not know it.
fn number(device: &Device, info: u32) -> u64 {
    let bytes = raw(device, info);
    let mut wide = [0; 8];
    let len = bytes.len().min(8);
    wide[..len].copy_from_slice(&bytes[..len]);
    u64::from_le_bytes(wide)
}

fn text(device: &Device, info: u32) -> String {
    String::from_utf8_lossy(&raw(device, info)).trim_matches(['\0', ' ']).to_owned()
}

/// Every device of every platform, the best first. Drivers are queried once per process: that takes up to a
/// second, and some crash when two threads query them at once.
///
/// # Errors
/// An [`Unavailable`] without a library, a platform or a device; the next call searches again.
pub(crate) fn discover() -> Result<Vec<DiscoveredDevice>, Unavailable> {
    static DISCOVERED: Mutex<Vec<DiscoveredDevice>> = Mutex::new(Vec::new());
    // A panic elsewhere cannot have left the list half written.
    let mut discovered = DISCOVERED.lock().unwrap_or_else(PoisonError::into_inner);
    if discovered.is_empty() {
        *discovered = query_platforms()?;
    }
    Ok(discovered.clone())
}

fn query_platforms() -> Result<Vec<DiscoveredDevice>, Unavailable> {
    let library = loader::load()?;
    let platforms = if loader::platform_count() == 0 { Vec::new() } else { Platform::list() };
    let mut devices = Vec::new();
    for platform in platforms {
        for device in Device::list_all(platform).unwrap_or_default() {
            if number(&device, ffi::CL_DEVICE_AVAILABLE) != 0
                && number(&device, ffi::CL_DEVICE_COMPILER_AVAILABLE) != 0
            {
                devices.push((platform, device, DeviceProperties::of(&platform, &device)));
            }
        }
    }
    if devices.is_empty() {
        return Err(Unavailable {
            reason: format!("{} offers no device", library.display()),
            remedy:
                "Install your GPU's OpenCL driver, or run `lockstep setup opencl-intel` or `lockstep setup \
                     opencl-pocl` for OpenCL on the CPU."
                    .into(),
        });
    }
    devices.sort_by_key(|(_, _, properties)| std::cmp::Reverse((properties.class, properties.throughput())));
    let words: Vec<String> = devices.iter().map(|(_, _, properties)| device_word(properties)).collect();
    let names = distinct(&words);
    let make = |((platform, device, properties), name)| DiscoveredDevice {
        target: format!("{}@{name}", crate::name::NAME),
        platform,
        device,
        properties,
    };
    Ok(devices.into_iter().zip(names).map(make).collect())
}

/// A device's short name, for its target name.
fn device_word(properties: &DeviceProperties) -> String {
    let vendor = vendor_word(&properties.platform_name);
    if vendor == "intel" && properties.class != DeviceClass::Cpu { "intel-gpu".into() } else { vendor }
}

/// A platform's short name: the vendor's if known, else the platform's in lower-case letters and digits.
pub(crate) fn vendor_word(platform: &str) -> String {
    let known = [
        ("portable computing language", "pocl"),
        ("nvidia", "nvidia"),
        ("amd", "amd"),
        ("rusticl", "rusticl"),
        ("clover", "clover"),
        ("intel(r) opencl graphics", "intel-gpu"),
        ("intel", "intel"),
        ("apple", "apple"),
        ("oclgrind", "oclgrind"),
    ];
    let lower = platform.to_lowercase();
    if let Some((_, word)) = known.iter().find(|(part, _)| lower.contains(part)) {
        return (*word).into();
    }
    let letters: Vec<&str> =
        lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).collect();
    if letters.is_empty() { "device".into() } else { letters.join("-") }
}

/// Makes words distinct: appends an index to each that occurs several times.
fn distinct(words: &[String]) -> Vec<String> {
    let name = |(i, word): (usize, &String)| {
        let same = words.iter().filter(|w| *w == word).count();
        let before = words[..i].iter().filter(|w| *w == word).count();
        if same > 1 { format!("{word}-{before}") } else { word.clone() }
    };
    words.iter().enumerate().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platforms_have_short_names() {
        assert_eq!(vendor_word("Portable Computing Language"), "pocl");
        assert_eq!(vendor_word("NVIDIA CUDA"), "nvidia");
        assert_eq!(vendor_word("Intel(R) OpenCL"), "intel");
        assert_eq!(vendor_word("Intel(R) OpenCL Graphics"), "intel-gpu");
        assert_eq!(vendor_word("AMD Accelerated Parallel Processing"), "amd");
        assert_eq!(vendor_word("Some (New) Thing 3"), "some-new-thing-3");
        assert_eq!(vendor_word("!"), "device");
    }

    #[test]
    fn only_words_that_occur_twice_get_an_index() {
        let words = ["nvidia", "pocl", "nvidia"].map(str::to_owned);
        assert_eq!(distinct(&words), ["nvidia-0", "pocl", "nvidia-1"]);
    }

    #[test]
    fn a_discrete_gpu_is_better_than_any_other() {
        assert!(
            DeviceClass::DiscreteGpu > DeviceClass::IntegratedGpu
                && DeviceClass::IntegratedGpu > DeviceClass::Cpu
        );
    }
}
