//! Compiler flags of the kernels, by device and mode.

use crate::device::{DiscoveredDevice, vendor_word};
use lockstep_core::Mode;
use lockstep_gpu::KernelFeatures;

/// Flags that every build has.
pub(crate) const COMMON_FLAGS: &str = "-cl-std=CL1.2";

/// The flag for IEEE division and square root, which some devices lack.
pub(crate) const ROUNDED_FLAG: &str = "-cl-fp32-correctly-rounded-divide-sqrt";

/// Flags of fast mode.
pub(crate) const FAST_FLAGS: &str = "-cl-fast-relaxed-math -cl-mad-enable";

/// Makes NVIDIA's compiler log each kernel's resources. It changes no code, so it is no part of a cache key.
const NVIDIA_VERBOSE_FLAG: &str = "-cl-nv-verbose";

/// The compiler's flags for a device and a mode.
pub(crate) fn flags(device: &DiscoveredDevice, mode: Mode) -> String {
    match mode {
        Mode::Fast => format!("{COMMON_FLAGS} {FAST_FLAGS}"),
        Mode::Exact if device.properties.rounds_division() => format!("{COMMON_FLAGS} {ROUNDED_FLAG}"),
        Mode::Exact => COMMON_FLAGS.into(),
    }
}

/// The additional flag of kernels that traverse the BVH; `None` where all kernels share one build.
///
/// NVIDIA's compiler uses as many registers as it likes, but traversal hides memory latency better with more
/// work-items in flight. `LS_TRAVERSAL` has the same effect in CUDA.
pub(crate) fn traversal_flag(device: &DiscoveredDevice) -> Option<&'static str> {
    (vendor_word(&device.properties.platform_name) == "nvidia").then_some("-cl-nv-maxrregcount=64")
}

/// The additional flag of all other kernels where [`traversal_flag`] is some: with more registers a
/// multiprocessor holds three groups of shading in place of four. `LS_STAGE` has the same effect in CUDA.
const STAGE_FLAG: &str = "-cl-nv-maxrregcount=128";

/// In place of [`STAGE_FLAG`] where programs shade in few registers, as `LS_SHADING` does in CUDA.
const SHADING_FLAG: &str = "-cl-nv-maxrregcount=72";

/// The additional flag of kernels that do not traverse, for a program's features, where [`traversal_flag`] is some.
pub(crate) fn stage_flag(features: KernelFeatures) -> &'static str {
    if features.shade_in_few_registers() { SHADING_FLAG } else { STAGE_FLAG }
}

/// All flags for a device and a mode, as a study's environment lists them.
pub(crate) fn all_flags(device: &DiscoveredDevice, mode: Mode) -> String {
    let flags = flags(device, mode);
    match traversal_flag(device) {
        Some(flag) => format!("{flags} {STAGE_FLAG} ({SHADING_FLAG} without layers); traversal {flag}"),
        None => flags,
    }
}

/// Appends the flag that makes a device's compiler log resources, if it has one.
pub(crate) fn with_resource_log(device: &DiscoveredDevice, flags: &str) -> String {
    let is_nvidia = device.properties.platform_name.to_lowercase().contains("nvidia");
    if is_nvidia { format!("{flags} {NVIDIA_VERBOSE_FLAG}") } else { flags.into() }
}
