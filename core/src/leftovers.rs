//! Entries of cache folders: written whole, and the temporary files that a kill left.
//!
//! Caches write an entry under a temporary name and rename it. A process that is killed in between leaves that file,
//! which nobody reads.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The end of every temporary name.
const SUFFIX: &str = ".tmp";

/// Untouched for so long, a file is a leftover whoever wrote it.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// Untouched for so long, a file is one if its process is gone. Before, the process may run on another machine that
/// shares the folder.
const GONE: Duration = Duration::from_secs(10 * 60);

/// Writes a file under a temporary name, `NAME.PID-RANDOM.tmp`, and renames it, so that readers see complete files only. The
/// folder must exist. Nothing is synced to the disk, since a cache may lose its last entries in a power cut.
///
/// # Errors
/// Those of `fill` and of the file system. The temporary file is removed then, and an existing file stays as it was.
pub fn write_whole(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file name"));
    };
    let prefix = format!("{}.{}-", name.to_string_lossy(), std::process::id());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    // A temporary file is private by default; this one is to have the permissions of any other new file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut temporary = builder.tempfile_in(folder)?;
    fill(temporary.as_file_mut())?;
    temporary.persist(path)?;
    Ok(())
}

/// Removes the leftovers in a folder: files whose names end with `.tmp`, where they were not touched for a day, or for
/// ten minutes and the process of the name (`NAME.PID.tmp` or `NAME.PID-RANDOM.tmp`) is gone. What cannot be removed
/// stays, which costs space and nothing else.
pub fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let now = SystemTime::now();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(stem) = name.to_str().and_then(|name| name.strip_suffix(SUFFIX)) else { continue };
        let age = entry.metadata().ok().filter(fs::Metadata::is_file).and_then(|file| file.modified().ok());
        let Some(age) = age.and_then(|time| now.duration_since(time).ok()) else { continue };
        if age > ABANDONED || (age > GONE && process(stem).is_some_and(is_gone)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The process in a temporary name without its suffix.
fn process(stem: &str) -> Option<u32> {
    let (_, last) = stem.rsplit_once('.')?;
    last.split_once('-').map_or(last, |(process, _)| process).parse().ok()
}

/// Whether there is no such process; false where the system does not tell.
fn is_gone(process: u32) -> bool {
    Path::new("/proc/self").exists() && !Path::new(&format!("/proc/{process}")).exists()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_file_is_whole_or_as_it_was_and_no_temporary_file_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.bin");
        write_whole(&path, |file| file.write_all(b"old")).unwrap();
        let broken = |file: &mut File| file.write_all(b"ne").and(Err(io::Error::other("broken")));
        assert_eq!(write_whole(&path, broken).unwrap_err().to_string(), "broken");
        assert_eq!(
            (fs::read(&path).unwrap().as_slice(), fs::read_dir(dir.path()).unwrap().count()),
            (&b"old"[..], 1)
        );
        write_whole(&path, |file| file.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(process("a.bin.7-Xy9").zip(process("a.bin.7")), Some((7, 7)));
        assert!(write_whole(Path::new("/"), |_| Ok(())).is_err());
    }

    /// No system gives this number to a process.
    const NOBODY: u32 = u32::MAX;

    #[test]
    fn files_of_processes_that_are_gone_and_files_of_another_day_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let make = |name: &str, minutes: u64| {
            let file = fs::File::create(dir.path().join(name)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(60 * minutes)).unwrap();
        };
        let (own, day) = (std::process::id(), 25 * 60);
        make(&format!("a.{NOBODY}-0.tmp"), 11);
        make(&format!("b.{NOBODY}.tmp"), 11);
        make(&format!("c.{own}-0.tmp"), day);
        make(".d.Xy9.tmp", day);
        let kept =
            [format!("e.{NOBODY}-0.tmp"), format!("f.{own}-0.tmp"), ".g.Xy9.tmp".into(), "h.bvh".into()];
        for (name, minutes) in kept.iter().zip([1, 11, 11, day]) {
            make(name, minutes);
        }
        fs::create_dir(dir.path().join("folder.tmp")).unwrap();
        sweep(dir.path());
        let names = fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().file_name());
        let mut left: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        left.sort();
        assert_eq!(left, [kept[2].as_str(), &kept[0], &kept[1], "folder.tmp", "h.bvh"]);
        sweep(&dir.path().join("absent"));
    }
}
