//! The file format of a cache entry: a header with a checksum, then the arrays of the BVH.

use crate::cache::MOST_BYTES;
use crate::cache::eviction::evict;
use crate::cache::key::digest;
use crate::validate::{Stored, is_valid};
use blake3::Hash;
use bytemuck::{Pod, Zeroable, bytes_of, bytes_of_mut, cast_slice_mut};
use lockstep_core::leftovers;
use lockstep_core::scene::SceneData;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::SystemTime;

/// Magic number with the format's version. It is a number, so that files of the other byte order do not
/// match.
const MAGIC: u64 = u64::from_be_bytes(*b"lockBVH1");

/// The header of an entry.
#[derive(Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Header {
    magic: u64,
    /// The entry's key.
    key: [u8; 32],
    /// Bytes of each array.
    lengths: [u64; 4],
    root: u64,
    /// Checksum of the fields above and the arrays.
    sum: [u8; 32],
}

impl Header {
    fn new(key: &Hash, arrays: &[&[u8]; 4], root: u32) -> Self {
        let mut header = Self {
            magic: MAGIC,
            key: *key.as_bytes(),
            lengths: arrays.map(|bytes| bytes.len() as u64),
            root: u64::from(root),
            sum: [0; 32],
        };
        header.sum = *digest([bytes_of(&header)].into_iter().chain(*arrays)).as_bytes();
        header
    }
}

/// Reads the BVH of a file; `None` unless the file is complete and of this key, and the BVH valid.
pub(super) fn read<T: Stored>(mut file: File, key: &Hash, scene: &SceneData) -> Option<T> {
    let mut header = Header::zeroed();
    file.read_exact(bytes_of_mut(&mut header)).ok()?;
    let [nodes, leaves, roots, boxes] = header.lengths;
    let bytes = header.lengths.iter().try_fold(size_of::<Header>() as u64, |sum, n| sum.checked_add(*n))?;
    // Check the lengths against the file's before allocating anything
    if header.magic != MAGIC || header.key != *key.as_bytes() || file.metadata().ok()?.len() != bytes {
        return None;
    }
    // Read the arrays, then check them
    let bvh = T::from_arrays(
        array(&mut file, nodes)?,
        array(&mut file, leaves)?,
        u32::try_from(header.root).ok()?,
        array(&mut file, roots)?,
        array(&mut file, boxes)?,
    );
    let is_whole = || Header::new(key, &bvh.arrays(), bvh.root()) == header;
    let (is_whole, is_valid) = rayon::join(is_whole, || is_valid(&bvh, scene));
    // Eviction goes by this time. If it cannot be set, the entry is evicted too early, no more.
    let _ = file.set_modified(SystemTime::now());
    (is_whole && is_valid).then_some(bvh)
}

/// Reads the next `bytes` bytes of a file as an array.
fn array<T: Pod>(file: &mut File, bytes: u64) -> Option<Vec<T>> {
    let bytes = usize::try_from(bytes).ok().filter(|bytes| bytes.is_multiple_of(size_of::<T>()))?;
    let mut values = vec![T::zeroed(); bytes / size_of::<T>()];
    file.read_exact(cast_slice_mut(&mut values)).ok()?;
    Some(values)
}

/// Writes an entry under a temporary name and renames it, so that readers see complete files only.
pub(super) fn store<T: Stored>(folder: &Path, path: &Path, key: &Hash, bvh: &T) -> io::Result<()> {
    let arrays = bvh.arrays();
    if arrays.iter().map(|bytes| bytes.len() as u64).sum::<u64>() > MOST_BYTES / 2 {
        return Ok(());
    }
    fs::create_dir_all(folder)?;
    let header = Header::new(key, &arrays, bvh.root());
    leftovers::write_whole(path, |file| {
        file.write_all(bytes_of(&header))?;
        arrays.iter().try_for_each(|bytes| file.write_all(bytes))
    })?;
    evict(folder, MOST_BYTES)
}
