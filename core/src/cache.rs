//! On-disk cache of compiled programs.
//!
//! An entry is a file named by a hash of its key. It begins with a checksum; an entry that does not match is
//! treated as missing and written anew.

use crate::leftovers;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// First bytes of every entry, with the format's version.
const MAGIC: &[u8] = b"lockstep program 1\n";

/// Key of a compiled program: everything that determines the binary.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    /// The backend; also the name of the folder in the cache folder.
    pub backend: &'a str,
    /// BLAKE3 of the source.
    pub source: &'a str,
    /// Device, driver and compiler, with their versions.
    pub device: &'a [&'a str],
    /// The compiler's flags.
    pub flags: &'a str,
}

impl Key<'_> {
    fn file(&self, folder: &Path) -> PathBuf {
        let mut hasher = blake3::Hasher::new();
        for part in self.device.iter().chain([&self.source, &self.flags]) {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        folder.join(self.backend).join(format!("{}.bin", &hasher.finalize().to_hex()[..32]))
    }
}

/// Loads a binary from the cache folder ([`crate::folders::cache_folder`]); `None` if it is missing or
/// damaged.
pub fn read(folder: &Path, key: &Key<'_>) -> Option<Vec<u8>> {
    let entry = fs::read(key.file(folder)).ok()?;
    let (sum, binary) = entry.strip_prefix(MAGIC)?.split_at_checked(blake3::OUT_LEN)?;
    (blake3::hash(binary).as_bytes() == sum).then(|| binary.to_vec())
}

/// Stores a binary.
///
/// # Errors
/// When the folder cannot be written; the cache is then unchanged.
pub fn write(folder: &Path, key: &Key<'_>, binary: &[u8]) -> io::Result<()> {
    let file = key.file(folder);
    if let Some(parent) = file.parent() {
        fs::create_dir_all(parent)?;
        leftovers::sweep(parent);
    }
    let entry = [MAGIC, blake3::hash(binary).as_bytes(), binary].concat();
    leftovers::write_whole(&file, |out| out.write_all(&entry))
}

/// Removes an entry whose binary turned out to be unusable.
pub fn remove(folder: &Path, key: &Key<'_>) {
    // An entry that cannot be removed will be overwritten.
    let _ = fs::remove_file(key.file(folder));
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key<'static> = Key { backend: "x", source: "abc", device: &["a device", "1.0"], flags: "-x" };

    #[test]
    fn what_was_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path(), &KEY), None);
        write(folder.path(), &KEY, b"binary").unwrap();
        assert_eq!(read(folder.path(), &KEY).as_deref(), Some(&b"binary"[..]));
        remove(folder.path(), &KEY);
        assert_eq!(read(folder.path(), &KEY), None);
    }

    #[test]
    fn a_damaged_entry_is_as_good_as_missing() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &KEY, b"binary").unwrap();
        let file = KEY.file(folder.path());
        let whole = fs::read(&file).unwrap();
        for damaged in [&whole[..whole.len() - 1], &whole[..10], b"", b"something else"] {
            fs::write(&file, damaged).unwrap();
            assert_eq!(read(folder.path(), &KEY), None);
        }
        let mut flipped = whole.clone();
        *flipped.last_mut().unwrap() ^= 1;
        fs::write(&file, flipped).unwrap();
        assert_eq!(read(folder.path(), &KEY), None);
    }

    #[test]
    fn other_flags_devices_sources_and_backends_are_other_entries() {
        let folder = Path::new("/x");
        let others = [
            Key { source: "abd", ..KEY },
            Key { device: &["a device", "1.1"], ..KEY },
            Key { device: &["a device1.0"], ..KEY },
            Key { flags: "-y", ..KEY },
            Key { backend: "y", ..KEY },
        ];
        assert!(others.iter().all(|other| other.file(folder) != KEY.file(folder)));
    }
}
