//! Eviction of least recently used entries.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Removes the least recently used entries until the rest take at most `most` bytes.
pub(super) fn evict(folder: &Path, most: u64) -> io::Result<()> {
    let mut entries: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder)?.flatten() {
        let Ok(metadata) = entry.metadata() else { continue };
        entries.push((metadata.modified()?, metadata.len(), entry.path()));
    }
    entries.sort_by(|a, b| b.cmp(a));
    let mut taken = 0;
    for (_, bytes, path) in entries {
        taken += bytes;
        if taken > most {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}
