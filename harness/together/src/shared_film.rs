//! Films in memory that a worker and the coordinator map: a stream carries a film through one thread on each side, and
//! films of several GPUs arrive at the same time, after the last sample.
//!
//! The memory has no name, so nothing is left of it when both processes are gone. Its size is sealed: a worker that is
//! broken or killed cannot take away what the coordinator reads.

use memmap2::{Advice, MmapRaw};
use rayon::prelude::*;
use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// The most pixels of a film that is shared or warmed. What larger ones take of memory is dear, and their transfer
/// short beside their samples.
pub(crate) const MOST_PIXELS: usize = 10_000_000;
/// Pixels that one thread takes at a time.
pub(crate) const BLOCK: usize = 1 << 14;
/// Sums of a pixel.
const CHANNELS: usize = 3;
/// The sums that have a place. The system gives memory for those alone that are written.
const MOST_SUMS: usize = MOST_PIXELS * CHANNELS;

/// A name by which another process of the same user opens shared memory while its maker has it open.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Place {
    process: u32,
    descriptor: i32,
    /// Numbers of processes differ between containers; those of memory do not.
    inode: u64,
}

/// A film's place in shared memory.
#[derive(Debug)]
pub(crate) struct SharedFilm {
    memory: File,
    mapping: MmapRaw,
    /// Pixels for which the system has given memory.
    reserved: usize,
}

impl SharedFilm {
    /// Makes a place.
    ///
    /// # Errors
    /// The system's reason, where it has no such memory.
    pub(crate) fn create() -> Result<Self> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let memory = File::from(rustix::fs::memfd_create("lockstep-film", flags)?);
        memory.set_len((MOST_SUMS * size_of::<i64>()) as u64)?;
        rustix::fs::fcntl_add_seals(&memory, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Self::map(memory)
    }

    /// The name of this memory.
    ///
    /// # Errors
    /// The system's reason.
    pub(crate) fn place(&self) -> Result<Place> {
        let inode = self.memory.metadata()?.ino();
        Ok(Place { process: std::process::id(), descriptor: self.memory.as_raw_fd(), inode })
    }

    /// Opens a place that another process made.
    ///
    /// # Errors
    /// Other memory of that name, or the system's reason.
    pub(crate) fn open(place: &Place) -> Result<Self> {
        let path = format!("/proc/{}/fd/{}", place.process, place.descriptor);
        let memory = OpenOptions::new().read(true).write(true).open(path)?;
        if memory.metadata()?.ino() != place.inode {
            return Err(Error::new(ErrorKind::InvalidData, "it is other memory"));
        }
        Self::map(memory)
    }

    /// Maps memory that cannot shrink.
    fn map(memory: File) -> Result<Self> {
        // The seal comes first: a length that is read after it stays
        let is_sealed = rustix::fs::fcntl_get_seals(&memory)?.contains(SealFlags::SHRINK);
        let mapping = MmapRaw::map_raw(&memory)?;
        if !is_sealed || mapping.len() != MOST_SUMS * size_of::<i64>() {
            return Err(Error::new(ErrorKind::InvalidData, "its size is another or may change"));
        }
        // Fewer faults, where the system allows it
        let _ = mapping.advise(Advice::HugePage);
        Ok(Self { memory, mapping, reserved: 0 })
    }

    fn sums(&self) -> &[AtomicI64] {
        // SAFETY: The mapping lives as long as `self`, begins at a page and has this length, as the file had when it was
        // mapped; the system lets nobody shrink the file. This program accesses the sums as atomics alone. Another
        // process, however broken, can change numbers in between, and every bit pattern is a number.
        unsafe { std::slice::from_raw_parts(self.mapping.as_ptr().cast(), MOST_SUMS) }
    }

    /// Takes memory for a film, so that a lack of it is an error here and no signal later.
    ///
    /// # Errors
    /// A film of more than [`MOST_PIXELS`], or the system's reason, such as too little memory.
    pub(crate) fn reserve(&mut self, pixels: usize) -> Result<()> {
        if pixels > MOST_PIXELS {
            return Err(ErrorKind::FileTooLarge.into());
        }
        if pixels > self.reserved {
            let bytes = pixels * CHANNELS * size_of::<i64>();
            // Systems before Linux 5.14 cannot touch memory for others, but reserve it
            self.mapping
                .advise_range(Advice::PopulateWrite, 0, bytes)
                .or_else(|_| rustix::fs::fallocate(&self.memory, FallocateFlags::empty(), 0, bytes as u64))?;
            self.reserved = pixels;
        }
        Ok(())
    }

    /// Finds the pages of a film that another process has reserved, so that the first film does not wait for them.
    pub(crate) fn touch(&self, pixels: usize) {
        // Systems before Linux 5.14 find them later
        let bytes = pixels.min(MOST_PIXELS) * CHANNELS * size_of::<i64>();
        let _ = self.mapping.advise_range(Advice::PopulateRead, 0, bytes);
    }

    /// Writes what the sums of a film have more than those of a film `before`, of as many pixels.
    ///
    /// # Errors
    /// As [`Self::reserve`].
    pub(crate) fn write(&mut self, now: &[[i64; 3]], before: Option<&[[i64; 3]]>) -> Result<()> {
        self.reserve(now.len())?;
        let places = self.sums().par_chunks(BLOCK * CHANNELS).zip(now.par_chunks(BLOCK));
        match before {
            None => places.for_each(|(places, now)| {
                for (place, now) in places.iter().zip(now.as_flattened()) {
                    place.store(*now, Relaxed);
                }
            }),
            Some(before) => places.zip(before.par_chunks(BLOCK)).for_each(|((places, now), before)| {
                let pairs = now.as_flattened().iter().zip(before.as_flattened());
                for (place, (now, before)) in places.iter().zip(pairs) {
                    place.store(now.wrapping_sub(*before), Relaxed);
                }
            }),
        }
        Ok(())
    }
}

/// A film in shared memory, until the worker may write its next one there, which it learns when this is dropped.
pub(crate) struct LentFilm {
    shared: Arc<SharedFilm>,
    pixels: usize,
    give_back: Box<dyn Fn() + Send + Sync>,
}

impl LentFilm {
    /// The film of `pixels` pixels in the shared memory; `None` for more than [`MOST_PIXELS`].
    pub(crate) fn new(
        shared: &Arc<SharedFilm>,
        pixels: usize,
        give_back: impl Fn() + Send + Sync + 'static,
    ) -> Option<Self> {
        let shared = Arc::clone(shared);
        (pixels <= MOST_PIXELS).then(|| Self { shared, pixels, give_back: Box::new(give_back) })
    }

    /// Pixels of the film.
    pub(crate) fn pixels(&self) -> usize {
        self.pixels
    }

    fn sums(&self) -> &[AtomicI64] {
        &self.shared.sums()[..self.pixels * CHANNELS]
    }

    /// Whether there is a negative sum.
    pub(crate) fn has_negative(&self) -> bool {
        let is_negative = |block: &[AtomicI64]| block.iter().fold(0, |all, sum| all | sum.load(Relaxed)) < 0;
        self.sums().par_chunks(BLOCK * CHANNELS).any(is_negative)
    }

    /// Adds the pixels from `first` on to others, as far as both go.
    pub(crate) fn add_to(&self, first: usize, pixels: &mut [[i64; 3]]) {
        let from = self.sums().get(first * CHANNELS..).unwrap_or_default();
        for (sum, add) in pixels.as_flattened_mut().iter_mut().zip(from) {
            *sum = sum.wrapping_add(add.load(Relaxed));
        }
    }
}

impl Drop for LentFilm {
    fn drop(&mut self) {
        (self.give_back)();
    }
}

#[cfg(test)]
impl SharedFilm {
    /// Memory without room for a film.
    pub(crate) fn full() -> Self {
        let memory = rustix::fs::memfd_create("lockstep-full", MemfdFlags::ALLOW_SEALING).unwrap();
        let memory = File::from(memory);
        memory.set_len((MOST_SUMS * size_of::<i64>()) as u64).unwrap();
        let mapping = MmapRaw::map_raw(&memory).unwrap();
        memory.set_len(0).unwrap();
        rustix::fs::fcntl_add_seals(&memory, SealFlags::GROW).unwrap();
        Self { memory, mapping, reserved: 0 }
    }

    /// The film that lies there.
    pub(crate) fn read(self: &Arc<Self>, pixels: usize) -> Vec<[i64; 3]> {
        let mut sums = vec![[0; 3]; pixels];
        LentFilm::new(self, pixels, || ()).unwrap().add_to(0, &mut sums);
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn films_of_any_size_arrive_as_they_were_written() {
        let mut theirs = SharedFilm::create().unwrap();
        let ours = Arc::new(SharedFilm::open(&theirs.place().unwrap()).unwrap());
        for pixels in [1000, 7, 1, 8, BLOCK as i64 * 2 + 1] {
            let now: Vec<[i64; 3]> = (0..pixels).map(|i| [i, -i, i64::MAX - i]).collect();
            theirs.write(&now, None).unwrap();
            assert_eq!(ours.read(now.len()), now);
            let before: Vec<[i64; 3]> = (0..pixels).map(|i| [i, i64::MAX, 1]).collect();
            theirs.write(&now, Some(&before)).unwrap();
            let more = |i: i64| [0, (-i).wrapping_sub(i64::MAX), i64::MAX - i - 1];
            assert_eq!(ours.read(now.len()), (0..pixels).map(more).collect::<Vec<_>>());
        }
    }

    #[test]
    fn one_negative_sum_is_found_and_none_beyond_the_film() {
        let mut theirs = SharedFilm::create().unwrap();
        let ours = Arc::new(SharedFilm::open(&theirs.place().unwrap()).unwrap());
        let mut sums = vec![[0, i64::MAX, 1]; BLOCK * 2];
        sums[BLOCK + 5][2] = -1;
        theirs.write(&sums, None).unwrap();
        let has_negative = |pixels| LentFilm::new(&ours, pixels, || ()).unwrap().has_negative();
        assert_eq!([BLOCK + 5, BLOCK + 6, BLOCK * 2].map(has_negative), [false, true, true]);
        assert!(LentFilm::new(&ours, MOST_PIXELS + 1, || ()).is_none());
        assert!(theirs.reserve(MOST_PIXELS + 1).is_err());
    }

    #[test]
    fn shared_memory_cannot_shrink_and_other_memory_is_refused() {
        let theirs = SharedFilm::create().unwrap();
        assert!(theirs.memory.set_len(0).is_err());
        let place = theirs.place().unwrap();
        assert!(SharedFilm::open(&place).is_ok());
        assert!(SharedFilm::open(&Place { inode: place.inode + 1, ..place }).is_err());
        let unsealed = SharedFilm::full();
        unsealed.memory.set_len(0).unwrap();
        assert!(SharedFilm::open(&unsealed.place().unwrap()).is_err());
    }
}
