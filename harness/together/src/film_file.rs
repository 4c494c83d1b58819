//! The file of a partial film.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `\x89LSFILM\n` |
//! | 4 | version of the form, little-endian like all numbers |
//! | 4 | length of the header |
//! | | header, JSON: identity, samples, invalid samples, a note of the program that wrote it |
//! | | blocks of sums: length in bytes (4), then LZ4 of the byte planes of up to 2^17 pixels |
//! | 32 | BLAKE3 of all that stands before |
//!
//! Byte planes put the lowest bytes of all sums of a block first, then the next. The higher planes are nearly
//! constant, so they take no room.

use crate::identity::Identity;
use crate::partial_film::{MergeError, PartialFilm};
use crate::samples::SampleSet;
use lockstep_core::film::InvalidSamples;
use lockstep_core::{Error, Film};
use lockstep_images::{WriteError, atomic_write};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"\x89LSFILM\n";
const VERSION: u32 = 1;
/// The longest header that is read: thousands of ranges of samples fit.
const MOST_HEADER: usize = 1 << 24;
/// Pixels of a block of sums.
const BLOCK: usize = 1 << 17;
/// Sums that are split into planes at a time, plane by plane: as many as the fastest cache holds.
const TILE: usize = 1 << 11;
/// Bytes of the checksum at the end.
const CHECKSUM: usize = blake3::OUT_LEN;

#[derive(Serialize, Deserialize)]
struct Header {
    identity: Identity,
    samples: SampleSet,
    invalid: InvalidSamples,
    #[serde(default)]
    note: serde_json::Value,
}

/// Why a film file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FilmFileError {
    /// The file system refused.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file is no film file.
    #[error("{} is not a film file: it does not begin as one", .0.display())]
    Foreign(PathBuf),
    /// The file was written by another version of the program.
    #[error("{} has form {found} of film files, and this program reads form {VERSION}; use the version that wrote it", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Format version of the file.
        found: u32,
    },
    /// The file is not whole.
    #[error("{} is damaged: {fault}; render its samples again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The first fault.
        fault: String,
    },
    /// Parts of the file contradict each other, or the film is too large for this machine.
    #[error("{}: {source}", path.display())]
    Film {
        /// The file.
        path: PathBuf,
        /// The contradiction.
        source: MergeError,
    },
}

/// Writes a partial film in one step, with a note of the caller's for whoever reads it.
///
/// # Errors
/// [`WriteError`], naming `path`.
pub fn write_film_file(path: &Path, part: &PartialFilm, note: &serde_json::Value) -> Result<(), WriteError> {
    let bytes = encode(part, note).map_err(|source| WriteError::Io {
        action: "encode",
        path: path.to_owned(),
        source: source.into(),
    })?;
    atomic_write(path, |file| file.write_all(&bytes))
}

/// Reads a partial film and its note.
///
/// # Errors
/// [`FilmFileError`].
pub fn read_film_file(path: &Path) -> Result<(PartialFilm, serde_json::Value), FilmFileError> {
    let bytes = std::fs::read(path).map_err(|source| FilmFileError::Io { path: path.to_owned(), source })?;
    decode(&bytes, path)
}

fn encode(part: &PartialFilm, note: &serde_json::Value) -> serde_json::Result<Vec<u8>> {
    let header = serde_json::to_vec(&Header {
        identity: part.identity().clone(),
        samples: part.samples().clone(),
        invalid: part.film().invalid,
        note: note.clone(),
    })?;
    let mut bytes = Vec::with_capacity(64 + header.len() + part.film().sums.len() * 16);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&(header.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&header);
    let blocks = part.film().sums.par_chunks(BLOCK);
    for packed in blocks.map(|block| lz4_flex::compress(&planes(block))).collect::<Vec<_>>() {
        bytes.extend_from_slice(&(packed.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&packed);
    }
    let checksum = blake3::hash(&bytes);
    bytes.extend_from_slice(checksum.as_bytes());
    Ok(bytes)
}

fn decode(bytes: &[u8], path: &Path) -> Result<(PartialFilm, serde_json::Value), FilmFileError> {
    let damaged = |fault: &str| FilmFileError::Damaged { path: path.to_owned(), fault: fault.to_owned() };
    let wrong = |source: MergeError| FilmFileError::Film { path: path.to_owned(), source };
    // Kind, version and checksum, before anything is believed
    let after = bytes.strip_prefix(MAGIC).ok_or_else(|| FilmFileError::Foreign(path.to_owned()))?;
    let (version, _) = take_u32(after).ok_or_else(|| damaged("it ends early"))?;
    if version != VERSION {
        return Err(FilmFileError::Version { path: path.to_owned(), found: version });
    }
    let (content, checksum) = bytes.split_last_chunk::<CHECKSUM>().ok_or_else(|| damaged("it ends early"))?;
    if blake3::hash(content).as_bytes() != checksum {
        return Err(damaged("its checksum does not hold"));
    }
    // Header
    let rest = content.get(MAGIC.len() + 4..).ok_or_else(|| damaged("it ends early"))?;
    let (length, rest) = take_u32(rest).ok_or_else(|| damaged("it ends early"))?;
    if length as usize > MOST_HEADER {
        return Err(damaged("its header is too long"));
    }
    let header = rest.get(..length as usize).ok_or_else(|| damaged("its header ends early"))?;
    let mut rest = &rest[length as usize..];
    let header: Header =
        serde_json::from_slice(header).map_err(|e| damaged(&format!("its header cannot be read: {e}")))?;
    // Sums
    let settings = &header.identity.settings;
    let mut film = Film::new(settings.width, settings.height).map_err(|e| wrong(e.into()))?;
    film.spp = u32::try_from(header.samples.len()).map_err(|_| damaged("it names too many samples"))?;
    film.invalid = header.invalid;
    let mut blocks = Vec::new();
    for block in film.sums.chunks_mut(BLOCK) {
        let (length, after) = take_u32(rest).ok_or_else(|| damaged("its sums end early"))?;
        let packed = after.get(..length as usize).ok_or_else(|| damaged("its sums end early"))?;
        rest = &after[length as usize..];
        blocks.push((block, packed));
    }
    blocks.into_par_iter().try_for_each_init(Vec::new, |planes, (block, packed)| {
        planes.resize(size_of_val(block), 0);
        let length = lz4_flex::block::decompress_into(packed, planes)
            .map_err(|e| damaged(&format!("its sums cannot be unpacked: {e}")))?;
        if length != planes.len() {
            return Err(damaged("a block of sums has another size"));
        }
        fill(block, planes);
        Ok(())
    })?;
    if !rest.is_empty() {
        return Err(damaged("something follows its sums"));
    }
    if film.spp > lockstep_core::film::MAX_SPP {
        let message = format!("a film holds at most {} samples per pixel", lockstep_core::film::MAX_SPP);
        return Err(wrong(Error::Contract { actor: "film".into(), message }.into()));
    }
    let part = PartialFilm::new(header.identity, header.samples, film).map_err(wrong)?;
    Ok((part, header.note))
}

fn take_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*number), rest))
}

/// The byte planes of a block: all lowest bytes, then all second bytes, and so on.
fn planes(block: &[[i64; 3]]) -> Vec<u8> {
    let count = block.len() * 3;
    let mut planes = vec![0; count * 8];
    for (tile, sums) in block.as_flattened().chunks(TILE).enumerate() {
        for (plane, bytes) in planes.chunks_exact_mut(count).enumerate() {
            for (byte, sum) in bytes[tile * TILE..].iter_mut().zip(sums) {
                *byte = (*sum >> (8 * plane)) as u8;
            }
        }
    }
    planes
}

/// Fills a block from its byte planes, of which there are as many as it has bytes.
fn fill(block: &mut [[i64; 3]], planes: &[u8]) {
    let count = block.len() * 3;
    for (tile, sums) in block.as_flattened_mut().chunks_mut(TILE).enumerate() {
        sums.fill(0);
        for (plane, bytes) in planes.chunks_exact(count).enumerate() {
            let bytes = &bytes[tile * TILE..][..sums.len()];
            // The highest planes of most films are empty.
            if bytes.iter().any(|byte| *byte != 0) {
                for (sum, byte) in sums.iter_mut().zip(bytes) {
                    *sum |= i64::from(*byte) << (8 * plane);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
