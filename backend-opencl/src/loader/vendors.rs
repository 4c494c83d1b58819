//! Lets one OpenCL loader see the system's drivers and those that `lockstep setup` fetched.
//!
//! A loader reads one folder of `.icd` files, each with the name of a driver's library: `/etc/OpenCL/vendors`, or what
//! `OCL_ICD_VENDORS` names. So a folder with all of them is made in the cache folder.

use lockstep_core::folders;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Intel's runtime under the data folder, as `lockstep setup opencl-intel` leaves it.
const INTEL: &str = "intel-opencl-2026.2.0";

/// Intel's driver within it.
const INTEL_DRIVER: &str = "lib/libintelocl.so";

/// Where the system lists its drivers.
const SYSTEM: &str = "/etc/OpenCL/vendors";

/// The `.icd` file that we add. The system's `intel.icd` is another driver, for Intel's GPUs.
const ADDED: &str = "lockstep-intel-cpu.icd";

/// An `.icd` file's name and features.
type Entry = (String, String);

/// The folder into which Intel's runtime was fetched, if it was.
pub(super) fn intel_folder() -> Option<PathBuf> {
    let folder = folders::data_folder()?.join(INTEL);
    folder.join(INTEL_DRIVER).exists().then_some(folder)
}

/// A folder that lists the system's drivers and Intel's; `None` when there is nothing to add to the system's.
///
/// # Errors
/// When the cache folder cannot be written.
pub(super) fn merged() -> io::Result<Option<PathBuf>> {
    let Some(intel) = intel_folder() else { return Ok(None) };
    let system = entries(Path::new(SYSTEM));
    if system.iter().any(|(_, features)| features.contains("libintelocl.so")) {
        return Ok(None);
    }
    let Some(cache) = folders::cache_folder() else { return Ok(None) };
    let added = (ADDED.to_owned(), format!("{}\n", intel.join(INTEL_DRIVER).display()));
    let all: Vec<Entry> = system.into_iter().chain([added]).collect();
    place(&cache, &all).map(Some)
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

/// The folder under `cache` that holds exactly these entries. Its name is a hash of them, so that programs which see
/// other drivers do not disturb each other.
fn place(cache: &Path, entries_wanted: &[Entry]) -> io::Result<PathBuf> {
    let mut hasher = blake3::Hasher::new();
    for (name, features) in entries_wanted {
        hasher.update(name.as_bytes()).update(&[0]).update(features.as_bytes()).update(&[0]);
    }
    let folder = cache.join(format!("opencl-vendors-{}", &hasher.finalize().to_hex()[..16]));
    let mut sorted = entries_wanted.to_vec();
    sorted.sort();
    if entries(&folder) == sorted {
        return Ok(folder);
    }
    fs::create_dir_all(&folder)?;
    for (name, features) in entries_wanted {
        let temporary = folder.join(format!("{name}.{}", std::process::id()));
        fs::write(&temporary, features)?;
        fs::rename(&temporary, folder.join(name))?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placed_folder_lists_what_was_asked_and_is_found_again() {
        let cache = tempfile::tempdir().unwrap();
        let wanted =
            vec![("b.icd".to_owned(), "libb.so\n".to_owned()), ("a.icd".to_owned(), "liba.so".to_owned())];
        let folder = place(cache.path(), &wanted).unwrap();
        assert_eq!(
            entries(&folder),
            [("a.icd".into(), "liba.so".into()), ("b.icd".into(), "libb.so\n".into())]
        );
        assert_eq!(place(cache.path(), &wanted).unwrap(), folder);
        fs::write(folder.join("a.icd"), "broken").unwrap();
        assert_eq!(place(cache.path(), &wanted).unwrap(), folder);
        assert_eq!(entries(&folder)[0].1, "liba.so");
    }

    #[test]
    fn other_drivers_make_another_folder() {
        let cache = tempfile::tempdir().unwrap();
        let one = place(cache.path(), &[("a.icd".into(), "x".into())]).unwrap();
        let other = place(cache.path(), &[("a.icd".into(), "y".into())]).unwrap();
        assert_ne!(one, other);
    }
}
