//! Films in memory that a worker and the coordinator share: a stream carries a film through one thread on each side,
//! and films of several GPUs arrive at the same time, after the last sample.
//!
//! A film lies in files of a file system in memory, one for each part of its pixels: the system lets one thread at a
//! time write to a file.

use rayon::prelude::*;
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::FileExt;
use std::path::Path;
use tempfile::TempDir;

/// The file system in memory that Linux has.
const MEMORY: &str = "/dev/shm";
/// Files of a film.
const PARTS: usize = 8;
/// The most pixels of a film that is shared or warmed. What larger ones take of memory is dear, and their transfer
/// short beside their samples.
pub(crate) const MOST_PIXELS: usize = 10_000_000;

/// A film's place in shared memory. The memory is given back when both sides have closed it and the folder is gone.
#[derive(Debug)]
pub(crate) struct SharedFilm {
    parts: Vec<File>,
}

impl SharedFilm {
    /// Makes a place, and the folder by which another process opens it; the folder is removed when it is dropped.
    ///
    /// # Errors
    /// The system's reason, where there is no such file system or it may not be used.
    pub(crate) fn create() -> Result<(Self, TempDir)> {
        let folder = tempfile::Builder::new().prefix("lockstep-film-").tempdir_in(MEMORY)?;
        let film =
            Self::open_parts(folder.path(), OpenOptions::new().read(true).write(true).create_new(true))?;
        Ok((film, folder))
    }

    /// Opens a place that another process made, and removes the folder, so that nothing is left of it if either is killed.
    ///
    /// # Errors
    /// The system's reason.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let film = Self::open_parts(folder, OpenOptions::new().read(true).write(true))?;
        // A worker says which folder, so nothing else that lies there is touched
        (0..PARTS).try_for_each(|part| std::fs::remove_file(folder.join(part.to_string())))?;
        std::fs::remove_dir(folder)?;
        Ok(film)
    }

    fn open_parts(folder: &Path, options: &OpenOptions) -> Result<Self> {
        let parts: Result<_> = (0..PARTS).map(|part| options.open(folder.join(part.to_string()))).collect();
        Ok(Self { parts: parts? })
    }

    /// Writes sums of a film.
    ///
    /// # Errors
    /// A film of more than [`MOST_PIXELS`], or the system's reason, such as too little memory.
    pub(crate) fn write(&self, sums: &[[i64; 3]]) -> Result<()> {
        if sums.len() > MOST_PIXELS {
            return Err(ErrorKind::FileTooLarge.into());
        }
        self.parts.par_iter().zip(sums.par_chunks(pixels_of_part(sums.len()))).try_for_each(|(part, sums)| {
            let bytes: &[u8] = bytemuck::cast_slice(sums);
            part.write_all_at(bytes, 0)?;
            // A larger film may have lain here before
            part.set_len(bytes.len() as u64)
        })
    }

    /// Reads the sums of a film of exactly as many pixels.
    ///
    /// # Errors
    /// A film of another size, or the system's reason.
    pub(crate) fn read(&self, sums: &mut [[i64; 3]]) -> Result<()> {
        let pixels = pixels_of_part(sums.len());
        self.parts.par_iter().zip(sums.par_chunks_mut(pixels)).try_for_each(|(part, sums)| {
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(sums);
            let length = part.metadata()?.len();
            if length != bytes.len() as u64 {
                let text = format!("a part of a film has {length} bytes; {} were expected", bytes.len());
                return Err(Error::new(ErrorKind::InvalidData, text));
            }
            part.read_exact_at(bytes, 0)
        })
    }
}

/// Pixels in each of a film's parts but the last.
fn pixels_of_part(pixels: usize) -> usize {
    pixels.div_ceil(PARTS).max(1)
}

#[cfg(test)]
impl SharedFilm {
    /// Memory without room for a film.
    pub(crate) fn full() -> Self {
        Self { parts: vec![OpenOptions::new().read(true).write(true).open("/dev/full").unwrap()] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn films_of_any_size_arrive_as_they_were_written() {
        let (ours, folder) = SharedFilm::create().unwrap();
        let theirs = SharedFilm::open(folder.path()).unwrap();
        assert!(!folder.path().exists());
        for pixels in [1000, 7, 1, 8, 1001] {
            let sums: Vec<[i64; 3]> = (0..pixels).map(|i| [i, -i, i64::MAX - i]).collect();
            theirs.write(&sums).unwrap();
            let mut read = vec![[0; 3]; sums.len()];
            ours.read(&mut read).unwrap();
            assert_eq!(read, sums);
        }
        let error = ours.read(&mut [[0; 3]; 500]).unwrap_err();
        assert!(error.to_string().contains("expected"), "{error}");
    }
}
