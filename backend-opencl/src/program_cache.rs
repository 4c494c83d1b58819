//! Compiled programs on disk: loads a program from the cache, or compiles and stores it.

use crate::compile::{binary_of, from_binary, from_source};
use crate::device::{DiscoveredDevice, vendor_word};
use lockstep_core::Result;
use lockstep_core::cache::{self, Key};
use lockstep_core::folders;
use lockstep_gpu::KernelSource;
use ocl::Context;
use ocl::core;

/// Loads a program from the cache, or compiles its source with these flags and stores it; `create` turns it
/// into the result. A cached program that `create` fails on is compiled again.
///
/// # Errors
/// [`lockstep_core::Error::Compile`] with the log; [`lockstep_core::Error::Device`] when the driver refuses.
pub(crate) fn load_or_compile<T>(
    device: &DiscoveredDevice,
    context: &Context,
    source: &KernelSource,
    flags: &str,
    create: impl Fn(&core::Program) -> Result<T>,
) -> Result<T> {
    let p = &device.properties;
    let identity = [&p.name, &p.platform_name, &p.platform_version, &p.version, &p.driver];
    let identity = identity.map(String::as_str);
    let key = Key { backend: crate::name::NAME, source: &source.hash, device: &identity, flags };
    let folder = folders::cache_folder().filter(|_| !has_own_cache(device));

    if let Some(folder) = &folder
        && let Some(binary) = cache::read(folder, &key)
    {
        match from_binary(device, context, &binary, flags).and_then(|program| create(&program)) {
            Ok(created) => return Ok(created),
            // The driver refuses its own binary: compile again.
            Err(_) => cache::remove(folder, &key),
        }
    }
    let program = from_source(device, context, &source.text, flags)?;
    if let Some(folder) = &folder
        && let Some(binary) = binary_of(&program)
    {
        // A cache that cannot be written costs time, nothing else.
        let _ = cache::write(folder, &key, &binary);
    }
    create(&program)
}

/// Whether the driver has a cache of its own. PoCL has one; to return a binary it compiles every kernel once
/// more, for groups of any size, which takes as long as everything else.
fn has_own_cache(device: &DiscoveredDevice) -> bool {
    vendor_word(&device.properties.platform_name) == "pocl"
}
