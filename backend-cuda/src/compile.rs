//! Compiles kernels and hands them to the driver.

use crate::device::DiscoveredDevice;
use crate::error::device_error;
use crate::flags::VERBOSE_FLAG;
use crate::nvrtc::{Architecture, Compiler, Image, Refusal};
use cust::module::Module;
use lockstep_core::error::{Error, Result};

/// Compiles a source.
///
/// # Errors
/// [`Error::Compile`] with the log, which names the kernels' files and lines.
pub(crate) fn compile(
    target: &str,
    compiler: &Compiler,
    architecture: Architecture,
    text: &str,
    flags: &[&str],
) -> Result<Image> {
    compiler.compile(text, architecture, flags).map_err(|refusal| match refusal {
        Refusal::Log(log) => Error::Compile { actor: target.into(), kernel: "core/gpu/kernels".into(), log },
        Refusal::Compiler(message) => Error::Device {
            actor: target.into(),
            action: "compiling the kernels".into(),
            reason: format!("NVRTC {} at {}: {message}", compiler.version, compiler.library.display()),
        },
    })
}

/// Compiles a source with a log of each kernel's resources, or without it where the compiler has none.
///
/// # Errors
/// As [`compile`].
pub(crate) fn compile_with_resource_log(
    target: &str,
    compiler: &Compiler,
    architecture: Architecture,
    text: &str,
    flags: &[&str],
) -> Result<Image> {
    if let Architecture::Native(_) = architecture {
        let verbose: Vec<&str> = flags.iter().copied().chain([VERBOSE_FLAG]).collect();
        if let Ok(image) = compiler.compile(text, architecture, &verbose) {
            return Ok(image);
        }
    }
    compile(target, compiler, architecture, text, flags)
}

/// Loads a compiled program. The device's context must be current.
///
/// # Errors
/// [`Error::Device`] when the driver refuses it.
pub(crate) fn load_module(device: &DiscoveredDevice, image: &[u8]) -> Result<Module> {
    Module::from_cubin(image, &[]).map_err(|e| device_error(&device.target, "loading the kernels", e))
}
