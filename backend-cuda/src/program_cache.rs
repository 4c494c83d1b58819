//! Compiled programs on disk: loads a program from the cache, or compiles and stores it.

use crate::compile::compile_with_resource_log;
use crate::device::DiscoveredDevice;
use crate::nvrtc::{Architecture, Compiler, Image};
use lockstep_core::Result;
use lockstep_core::cache::{self, Key};
use lockstep_core::folders;
use lockstep_gpu::KernelSource;

/// Loads a program from the cache, or compiles its source with these flags and stores it; `create` turns it
/// into the result. A cached program that `create` fails on is compiled again.
///
/// # Errors
/// [`lockstep_core::Error::Compile`] with the log; [`lockstep_core::Error::Device`] when the driver refuses.
pub(crate) fn load_or_compile<T>(
    device: &DiscoveredDevice,
    compiler: &Compiler,
    architecture: Architecture,
    source: &KernelSource,
    flags: &[&str],
    create: impl Fn(&Image) -> Result<T>,
) -> Result<T> {
    let (version, architecture_name) = (format!("NVRTC {}", compiler.version), architecture.to_string());
    let joined = flags.join(" ");
    let identity = [version.as_str(), architecture_name.as_str()];
    let key = Key { backend: crate::name::NAME, source: &source.hash, device: &identity, flags: &joined };
    let folder = folders::cache_folder();

    if let Some(folder) = &folder
        && let Some(entry) = cache::read(folder, &key)
    {
        match unpack(&entry).map(|image| create(&image)) {
            Some(Ok(created)) => return Ok(created),
            // It is damaged, or the driver refuses it: compile again.
            _ => cache::remove(folder, &key),
        }
    }
    let image = compile_with_resource_log(&device.target, compiler, architecture, &source.text, flags)?;
    let created = create(&image)?;
    if let Some(folder) = &folder {
        // A cache that cannot be written costs time, nothing else.
        let _ = cache::write(folder, &key, &pack(&image));
    }
    Ok(created)
}

/// A program as the cache stores it: the log's length in eight bytes, the log, the machine code.
fn pack(image: &Image) -> Vec<u8> {
    [&(image.log.len() as u64).to_le_bytes(), image.log.as_bytes(), &image.bytes].concat()
}

/// The inverse of [`pack`]; `None` for damaged entries.
fn unpack(entry: &[u8]) -> Option<Image> {
    let (len, rest) = entry.split_first_chunk()?;
    let (log, bytes) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
    Some(Image { bytes: bytes.to_vec(), log: String::from_utf8(log.to_vec()).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cached_program_reads_back_with_its_log() {
        let image = Image { bytes: vec![1, 2, 3], log: "ptxas info".into() };
        assert_eq!(unpack(&pack(&image)), Some(image));
        assert_eq!(unpack(b"no program"), None);
        assert_eq!(unpack(b""), None);
    }
}
