//! A folder of `.icd` files that lists the system's drivers and those that `lockstep setup` fetched.
//!
//! An OpenCL loader reads one folder of `.icd` files, each with the name of a driver's library:
//! `/etc/OpenCL/vendors`, or the folder that `OCL_ICD_VENDORS` names. A folder with all of them is therefore
//! made in the cache folder.

use lockstep_core::{folders, leftovers};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A runtime that `lockstep setup` fetches.
pub(super) struct Fetched {
    /// The runtime's folder under the data folder.
    folder: &'static str,
    /// The driver within that folder.
    driver: &'static str,
    /// The added `.icd` file.
    icd: &'static str,
    /// A part of the name of the driver's library: a system that lists such a driver keeps its own.
    library: &'static str,
}

/// Intel's runtime, where `lockstep setup opencl-intel` puts it. The system's `intel.icd` is another driver,
/// for Intel's GPUs.
pub(super) const INTEL: Fetched = Fetched {
    folder: "intel-opencl-2026.2.0",
    driver: "lib/libintelocl.so",
    icd: "lockstep-intel-cpu.icd",
    library: "libintelocl.so",
};

/// PoCL, where `lockstep setup opencl-pocl` puts it.
pub(super) const POCL: Fetched = Fetched {
    folder: "pocl-3.0",
    driver: "pyopencl/.libs/libpocl-21062cec.so",
    icd: "lockstep-pocl.icd",
    library: "libpocl",
};

impl Fetched {
    /// The runtime's folder, if it was fetched.
    pub(super) fn place(&self) -> Option<PathBuf> {
        let folder = folders::data_folder()?.join(self.folder);
        folder.join(self.driver).exists().then_some(folder)
    }

    /// The `.icd` file that a system with these drivers lacks, if the runtime was fetched.
    fn added_to(&self, system: &[Entry]) -> Option<Entry> {
        let folder = self.place()?;
        let is_listed = system.iter().any(|(_, contents)| contents.contains(self.library));
        (!is_listed).then(|| (self.icd.to_owned(), format!("{}\n", folder.join(self.driver).display())))
    }
}

/// The system's folder of `.icd` files.
const SYSTEM: &str = "/etc/OpenCL/vendors";

/// Name and contents of an `.icd` file.
type Entry = (String, String);

/// A folder that lists the system's drivers and the fetched ones; `None` if none is fetched that the system lacks.
///
/// # Errors
/// When the cache folder cannot be written.
pub(super) fn merged() -> io::Result<Option<PathBuf>> {
    let system = entries(Path::new(SYSTEM));
    let added: Vec<Entry> = [POCL, INTEL].iter().filter_map(|fetched| fetched.added_to(&system)).collect();
    if added.is_empty() {
        return Ok(None);
    }
    let Some(cache) = folders::cache_folder() else { return Ok(None) };
    let all: Vec<Entry> = system.into_iter().chain(added).collect();
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
        leftovers::write_whole(&folder.join(name), |file| file.write_all(contents.as_bytes()))?;
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
