//! A folder of `.icd` files that lists the system's drivers and those that `lockstep setup` fetched.
//!
//! An OpenCL loader reads one folder of `.icd` files, each with the name of a driver's library:
//! `/etc/OpenCL/vendors`, or the folder that `OCL_ICD_VENDORS` names. A folder with all of them is therefore
//! made in the cache folder.

use lockstep_core::folders;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folder of Intel's runtime under the data folder, where `lockstep setup opencl-intel` puts it.
const INTEL: &str = "intel-opencl-2026.2.0";

/// Intel's driver within that folder.
const INTEL_DRIVER: &str = "lib/libintelocl.so";

/// The system's folder of `.icd` files.
const SYSTEM: &str = "/etc/OpenCL/vendors";

/// The added `.icd` file. The system's `intel.icd` is another driver, for Intel's GPUs.
const ADDED: &str = "lockstep-intel-cpu.icd";

/// Name and contents of an `.icd` file.
type Entry = (String, String);

/// The folder of Intel's runtime, if it was fetched.
pub(super) fn intel_folder() -> Option<PathBuf> {
    let folder = folders::data_folder()?.join(INTEL);
    folder.join(INTEL_DRIVER).exists().then_some(folder)
}

/// A folder that lists the system's drivers and Intel's; `None` if Intel's is not fetched or listed already.
///
/// # Errors
/// When the cache folder cannot be written.
pub(super) fn merged() -> io::Result<Option<PathBuf>> {
    let Some(intel) = intel_folder() else { return Ok(None) };
    let system = entries(Path::new(SYSTEM));
    if system.iter().any(|(_, contents)| contents.contains("libintelocl.so")) {
        return Ok(None);
    }
    let Some(cache) = folders::cache_folder() else { return Ok(None) };
    let added = (ADDED.to_owned(), format!("{}\n", intel.join(INTEL_DRIVER).display()));
    let all: Vec<Entry> = system.into_iter().chain([added]).collect();
    write_entries(&cache, &all).map(Some)
}

/// The `.icd` files of a folder, in order of their names.
fn entries(folder: &Path) -> Vec<Entry> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let listed = files.filter(|path| path.extension().is_some_and(|e| e == "icd"));
    let read = |path: PathBuf| {
        Some((path.file_name()?.to_string_lossy().into_owned(), fs::read_to_string(&path).ok()?))
    };
    let mut found: Vec<Entry> = listed.filter_map(read).collect();
    found.sort();
    found
}

/// Makes the folder under `cache` that holds exactly these entries. Its name is their hash, so that programs
/// with other drivers use other folders.
fn write_entries(cache: &Path, wanted: &[Entry]) -> io::Result<PathBuf> {
    let mut hasher = blake3::Hasher::new();
    for (name, contents) in wanted {
        hasher.update(name.as_bytes()).update(&[0]).update(contents.as_bytes()).update(&[0]);
    }
    let folder = cache.join(format!("opencl-vendors-{}", &hasher.finalize().to_hex()[..16]));
    let mut sorted = wanted.to_vec();
    sorted.sort();
    if entries(&folder) == sorted {
        return Ok(folder);
    }
    fs::create_dir_all(&folder)?;
    for (name, contents) in wanted {
        let temporary = folder.join(format!("{name}.{}", std::process::id()));
        fs::write(&temporary, contents)?;
        fs::rename(&temporary, folder.join(name))?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_folder_lists_its_entries_and_is_reused() {
        let cache = tempfile::tempdir().unwrap();
        let wanted =
            vec![("b.icd".to_owned(), "libb.so\n".to_owned()), ("a.icd".to_owned(), "liba.so".to_owned())];
        let folder = write_entries(cache.path(), &wanted).unwrap();
        assert_eq!(
            entries(&folder),
            [("a.icd".into(), "liba.so".into()), ("b.icd".into(), "libb.so\n".into())]
        );
        assert_eq!(write_entries(cache.path(), &wanted).unwrap(), folder);
        fs::write(folder.join("a.icd"), "broken").unwrap();
        assert_eq!(write_entries(cache.path(), &wanted).unwrap(), folder);
        assert_eq!(entries(&folder)[0].1, "liba.so");
    }

    #[test]
    fn other_drivers_make_another_folder() {
        let cache = tempfile::tempdir().unwrap();
        let one = write_entries(cache.path(), &[("a.icd".into(), "x".into())]).unwrap();
        let other = write_entries(cache.path(), &[("a.icd".into(), "y".into())]).unwrap();
        assert_ne!(one, other);
    }
}
