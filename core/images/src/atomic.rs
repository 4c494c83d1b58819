//! Files that are either whole or absent.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The buffered file that [`atomic_write`] lets its caller fill.
pub type AtomicFile<'a> = BufWriter<&'a File>;

/// Why a file could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The folder for the file does not exist.
    #[error("cannot write {}: its folder does not exist; make it first", path.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
    },
    /// The path has no file name, or is a folder.
    #[error("cannot write {}: it is a folder or names none of its files", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("cannot {action} {}: {source}{}", path.display(), remedy(source))]
    Io {
        /// The attempt, as a verb.
        action: &'static str,
        /// The file that was to be written.
        path: PathBuf,
        /// The error of the operating system or the encoder.
        source: std::io::Error,
    },
}

fn remedy(error: &std::io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "; free some space, or choose another folder",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => "; choose a folder you may write to",
        _ => "",
    }
}

/// Writes a file in one step: `fill` writes to a temporary name in the same folder, which is synced to the
/// disk and then renamed. Whoever reads `path` sees the old content or the new, never a part. A link
/// stays, and the file that it leads to is replaced. When anything fails the temporary file is removed and an existing file is left as it was.
///
/// # Errors
/// [`WriteError`], naming `path`.
pub fn atomic_write(
    path: &Path,
    fill: impl FnOnce(&mut AtomicFile<'_>) -> std::io::Result<()>,
) -> Result<(), WriteError> {
    let path = &behind_links(path);
    let Some(name) = path.file_name() else {
        return Err(WriteError::NotAFile { path: path.to_owned() });
    };
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let io = |action| move |source| WriteError::Io { action, path: path.to_owned(), source };
    let temporary = temporary(&name.to_string_lossy(), folder).map_err(|source| {
        if source.kind() == ErrorKind::NotFound {
            WriteError::NoFolder { path: path.to_owned() }
        } else {
            io("create a file beside")(source)
        }
    })?;
    write_and_sync(temporary.as_file(), fill).map_err(io("write"))?;
    temporary.persist(path).map_err(|e| {
        if path.is_dir() { WriteError::NotAFile { path: path.to_owned() } } else { io("replace")(e.error) }
    })?;
    sync_folder(folder).map_err(io("sync the folder of"))
}

/// The file that a link leads to, so that the link stays and its file is replaced; any other path as it is.
fn behind_links(path: &Path) -> PathBuf {
    let target = std::fs::read_link(path).map(|to| path.parent().unwrap_or(Path::new("")).join(to));
    match (path.canonicalize(), target) {
        (Ok(full), Ok(_)) => full,
        (Err(_), Ok(dangling)) => dangling,
        (_, Err(_)) => path.to_owned(),
    }
}

/// [`atomic_write`] of a text.
///
/// # Errors
/// [`WriteError`], naming `path`.
pub fn atomic_write_text(path: &Path, text: &str) -> Result<(), WriteError> {
    atomic_write(path, |writer| writer.write_all(text.as_bytes()))
}

fn write_and_sync(
    file: &File,
    fill: impl FnOnce(&mut AtomicFile<'_>) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let mut writer = BufWriter::with_capacity(1 << 16, file);
    fill(&mut writer)?;
    writer.flush()?;
    file.sync_all()
}

/// A rename lasts through a power cut only when the folder is synced; only Unix can open a folder for that.
fn sync_folder(folder: &Path) -> std::io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// A hidden file that is removed unless it is renamed. A kill can leave it behind, as `.NAME.RANDOM.tmp`.
fn temporary(name: &str, folder: &Path) -> std::io::Result<NamedTempFile> {
    let short: String = name.chars().take(40).collect();
    let prefix = format!(".{short}.");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".tmp");
    // A temporary file is private by default; this one is to have the permissions of any other new file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_in(dir: &Path) -> Vec<String> {
        std::fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn a_file_is_written_and_replaced_and_nothing_else_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        atomic_write(&path, |w| w.write_all(b"one")).unwrap();
        atomic_write(&path, |w| w.write_all(b"two")).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(names_in(dir.path()), ["a.txt"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_and_the_file_behind_it_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link, dangling) = (dir.path().join("f"), dir.path().join("l"), dir.path().join("d"));
        std::fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink("f", &link).unwrap();
        std::os::unix::fs::symlink("new", &dangling).unwrap();
        atomic_write_text(&link, "one").unwrap();
        atomic_write_text(&dangling, "two").unwrap();
        assert!(link.is_symlink() && dangling.is_symlink());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "one");
        assert_eq!(std::fs::read_to_string(dir.path().join("new")).unwrap(), "two");
    }

    #[test]
    fn a_failure_half_way_leaves_the_old_file_and_no_temporary() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        atomic_write(&path, |w| w.write_all(b"old")).unwrap();
        let error = atomic_write(&path, |w| {
            w.write_all(b"new, but")?;
            Err(std::io::Error::from(ErrorKind::StorageFull))
        })
        .unwrap_err();
        assert!(error.to_string().contains("a.txt"), "{error}");
        assert!(error.to_string().contains("free some space"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(names_in(dir.path()), ["a.txt"]);
    }

    #[test]
    fn a_full_disk_is_an_error_that_names_the_path() {
        // /dev/full refuses every write with "no space left"; a link to it stands for a file on a full disk.
        let full = Path::new("/dev/full");
        let found = full.exists().then_some(());
        if lockstep_require::present("full-disk", found.ok_or("There is no /dev/full.")).is_none() {
            return;
        }
        let file = std::fs::OpenOptions::new().write(true).open(full).unwrap();
        let error = write_and_sync(&file, |w| w.write_all(b"anything")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageFull);
    }

    #[test]
    fn missing_folders_and_folders_in_place_of_files_are_errors_that_name_the_path() {
        let dir = tempfile::tempdir().unwrap();
        let missing = dir.path().join("absent/a.txt");
        let error = atomic_write(&missing, |w| w.write_all(b"x")).unwrap_err();
        assert!(matches!(&error, WriteError::NoFolder { path } if *path == missing));
        std::fs::create_dir(dir.path().join("folder")).unwrap();
        let error = atomic_write(&dir.path().join("folder"), |w| w.write_all(b"x")).unwrap_err();
        assert!(matches!(error, WriteError::NotAFile { .. }));
        assert_eq!(names_in(dir.path()), ["folder"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_has_the_permissions_of_any_new_file() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let (ours, plain) = (dir.path().join("a.txt"), dir.path().join("b.txt"));
        atomic_write(&ours, |w| w.write_all(b"x")).unwrap();
        std::fs::write(&plain, "x").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&plain));
    }
}
