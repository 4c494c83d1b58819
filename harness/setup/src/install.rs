//! Puts folders in place whole, one process at a time.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::SetupError;

/// Begins the names of folders that are being filled.
const STAGING: &str = ".staging-";

/// Held while this process fetches; other set-ups with the same data folder wait.
pub(super) struct Lock {
    /// Unlocked when closed, also by the system if the process dies; `None` where the file system
    /// knows no locks, and renaming alone keeps set-ups apart.
    _file: Option<File>,
}

impl Lock {
    /// Takes the lock of a data folder, which is made if need be; calls `wait` first if another
    /// process holds it.
    pub(super) fn take(data: &Path, wait: impl FnOnce()) -> Result<Self, SetupError> {
        fs::create_dir_all(data).map_err(SetupError::io("create the data folder", data))?;
        let path = data.join("setup.lock");
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(SetupError::io("open", &path))?;
        let taken = match file.try_lock() {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => {
                wait();
                file.lock()
            }
            Err(TryLockError::Error(error)) => Err(error),
        };
        match taken {
            Ok(()) => {
                remove_leftovers(data);
                Ok(Self { _file: Some(file) })
            }
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(Self { _file: None }),
            Err(error) => Err(SetupError::io("lock", &path)(error)),
        }
    }
}

/// Removes the folders of killed set-ups. The lock is held, so no other set-up is filling one. A folder that
/// cannot be removed does no harm.
fn remove_leftovers(data: &Path) {
    for entry in fs::read_dir(data).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(STAGING) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// A folder in the data folder for things that are not complete yet; removed at the end.
pub(super) struct Staging {
    root: TempDir,
}

impl Staging {
    /// Makes an empty one.
    pub(super) fn new(data: &Path) -> Result<Self, SetupError> {
        fs::create_dir_all(data).map_err(SetupError::io("create the data folder", data))?;
        let root = tempfile::Builder::new()
            .prefix(STAGING)
            .tempdir_in(data)
            .map_err(SetupError::io("create a folder in", data))?;
        Ok(Self { root })
    }

    /// Makes a folder in it.
    pub(super) fn folder(&self, name: &str) -> Result<PathBuf, SetupError> {
        let path = self.root.path().join(name);
        fs::create_dir(&path).map_err(SetupError::io("create the folder", &path))?;
        Ok(path)
    }

    /// Renames a complete folder to its final name. It replaces an unusable folder of that name.
    pub(super) fn put_in_place(&self, folder: &Path, target: &Path) -> Result<(), SetupError> {
        if fs::rename(folder, target).is_ok() {
            return Ok(());
        }
        if target.exists() {
            let aside = self.root.path().join("replaced");
            fs::rename(target, &aside).map_err(SetupError::io("move aside", target))?;
        }
        fs::rename(folder, target).map_err(SetupError::io("rename a folder to", target))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_in_the_way_is_replaced_whole() {
        let data = tempfile::tempdir().expect("a temporary folder");
        let target = data.path().join("thing-1");
        fs::create_dir(&target).expect("a folder");
        fs::write(target.join("broken"), "").expect("a file");
        let staging = Staging::new(data.path()).expect("a staging folder");
        let folder = staging.folder("unpacked").expect("a folder");
        fs::write(folder.join("whole"), "").expect("a file");
        staging.put_in_place(&folder, &target).expect("in place");
        drop(staging);
        assert!(target.join("whole").exists() && !target.join("broken").exists());
        assert_eq!(fs::read_dir(data.path()).expect("the folder").count(), 1);
    }

    #[test]
    fn what_a_killed_set_up_left_is_removed() {
        let data = tempfile::tempdir().expect("a temporary folder");
        let left = data.path().join(format!("{STAGING}1a2b"));
        fs::create_dir(&left).expect("a folder");
        let _lock = Lock::take(data.path(), || ()).expect("the lock");
        assert!(!left.exists());
    }

    #[test]
    fn a_data_folder_that_cannot_be_made_is_named() {
        let data = tempfile::tempdir().expect("a temporary folder");
        let file = data.path().join("file");
        fs::write(&file, "").expect("a file");
        let error = Lock::take(&file.join("data"), || ()).err().expect("a file is no folder");
        assert!(error.to_string().contains(&*file.to_string_lossy()), "{error}");
    }
}
