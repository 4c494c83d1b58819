//! Image files that hold a hash of their own pixels, so that one altered afterwards is found.

use super::read::{read_exr_metadata, read_image, read_png_metadata, read_srgb8};
use super::{ImageMetadata, LinearImage, ReadError, WriteError, write_exr, write_png};
use std::collections::BTreeMap;
use std::path::Path;

/// The entry with the hash.
const PIXELS: &str = "pixels";

/// Writes linear f32 RGB as [`write_exr`] does, with the hash of its bits among its entries.
///
/// # Errors
/// [`WriteError`], naming the file.
pub fn write_hashed_exr(
    path: &Path,
    image: &LinearImage,
    metadata: &ImageMetadata,
) -> Result<(), WriteError> {
    write_exr(path, image, &metadata.clone().with(PIXELS, &hash_of_bits(image)))
}

/// Writes 8-bit sRGB as [`write_png`] does, with the hash of its codes among its entries.
///
/// # Errors
/// [`WriteError`], naming the file.
pub fn write_hashed_png(
    path: &Path,
    image: &LinearImage,
    metadata: &ImageMetadata,
) -> Result<(), WriteError> {
    write_png(path, image, &metadata.clone().with(PIXELS, &hash_of(&image.to_srgb8())))
}

/// The image of an EXR file that was written by [`write_hashed_exr`] and not altered since, with its entries; `None` for any
/// other.
///
/// # Errors
/// [`ReadError`], naming the file.
pub fn read_hashed_exr(path: &Path) -> Result<Option<(LinearImage, ImageEntries)>, ReadError> {
    let entries = ImageEntries(read_exr_metadata(path)?);
    let image = read_image(path)?;
    let is_whole = entries.get(PIXELS) == Some(&hash_of_bits(&image));
    Ok(is_whole.then_some((image, entries)))
}

/// The entries of an image file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageEntries(BTreeMap<String, String>);

impl ImageEntries {
    /// The value of a key, as [`ImageMetadata::with`] was given it.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(&format!("lockstep.{key}")).map(String::as_str)
    }
}

/// An EXR or PNG file, its pixels compared with the hash that it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedImage {
    /// The entries of the file.
    pub entries: ImageEntries,
    /// Whether its pixels are not those that were written. Unknown, and so not, for a file without a hash.
    pub is_altered: bool,
}

impl CheckedImage {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ReadError`], naming the file.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let is_png = path.extension().is_some_and(|extension| extension == "png");
        let (pixels, entries) = match is_png {
            true => (hash_of(&read_srgb8(path)?.codes), read_png_metadata(path)?),
            false => (hash_of_bits(&read_image(path)?), read_exr_metadata(path)?),
        };
        let entries = ImageEntries(entries);
        let is_altered = entries.get(PIXELS).is_some_and(|written| written != pixels);
        Ok(Self { entries, is_altered })
    }
}

fn hash_of_bits(image: &LinearImage) -> String {
    hash_of(bytemuck::cast_slice(image.pixels()))
}

/// BLAKE3 in hexadecimal.
fn hash_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
