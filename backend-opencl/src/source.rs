//! Source text of the kernels: the shared headers in this backend's dialect.

use crate::device::DiscoveredDevice;
use crate::flags::{COMMON_FLAGS, FAST_FLAGS, ROUNDED_FLAG};
use crate::program::ProgramKey;
use lockstep_core::{Integrator, Mode, TranslationUnit};
use lockstep_gpu::driver::DeviceType;
use lockstep_gpu::{KernelFeatures, KernelSource, Options, ProgramKind, assemble};

/// The kernel dialect's words in OpenCL C.
pub(crate) const COMPAT: &str = include_str!("../kernels/compat.h");

/// The file name of [`COMPAT`] in compile errors.
pub(crate) const COMPAT_NAME: &str = "backend-opencl/kernels/compat.h";

/// The source of a device's program.
pub(crate) fn source(device: &DiscoveredDevice, key: ProgramKey) -> KernelSource {
    let options = Options { features: key.features, ..options(device.device_type(), key.mode) };
    assemble(COMPAT_NAME, COMPAT, &options, key.kind)
}

/// Options of the shared source for a type of device and a mode, with all scene features.
pub(crate) fn options(device_type: DeviceType, mode: Mode) -> Options {
    Options {
        fast: mode == Mode::Fast,
        group_compaction: device_type == DeviceType::Gpu,
        layout: device_type.layout(),
        features: KernelFeatures::all(Integrator::Path),
    }
}

/// The source of every build, for CPUs and for GPUs.
pub(crate) fn translation_units() -> Vec<TranslationUnit> {
    let builds = [
        ("opencl-exact-cpu", DeviceType::Cpu, Mode::Exact),
        ("opencl-exact-gpu", DeviceType::Gpu, Mode::Exact),
        ("opencl-fast-cpu", DeviceType::Cpu, Mode::Fast),
        ("opencl-fast-gpu", DeviceType::Gpu, Mode::Fast),
    ];
    let flags = |mode| match mode {
        Mode::Fast => format!("{COMMON_FLAGS} {FAST_FLAGS}"),
        Mode::Exact => format!("{COMMON_FLAGS}, and {ROUNDED_FLAG} where the device knows it"),
    };
    let unit = |(name, device_type, mode): (&str, DeviceType, Mode)| TranslationUnit {
        name: name.into(),
        extension: "cl",
        flags: flags(mode),
        source: assemble(COMPAT_NAME, COMPAT, &options(device_type, mode), ProgramKind::Render),
    };
    builds.map(unit).into()
}
