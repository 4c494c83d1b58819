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

/// An EXR or PNG file, held against the hash that it holds.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn image(last: f32) -> LinearImage {
        LinearImage::from_fn(9, 7, |x, y| if (x, y) == (8, 6) { [last; 3] } else { [x as f32 / 9.0; 3] })
    }

    fn write(path: &Path, image: &LinearImage) {
        let is_png = path.extension().is_some_and(|extension| extension == "png");
        let write = if is_png { write_hashed_png } else { write_hashed_exr };
        write(path, image, &ImageMetadata::default()).unwrap();
    }

    #[test]
    fn a_pixel_altered_by_one_step_is_found_and_whole_files_are_not_told() {
        let dir = tempfile::tempdir().unwrap();
        for (file, step) in [("a.exr", 6e-8), ("a.png", 0.006)] {
            let path = dir.path().join(file);
            write(&path, &image(0.5));
            let whole = CheckedImage::read(&path).unwrap();
            assert!(!whole.is_altered, "{file}");
            let entries = ImageMetadata::default().with(PIXELS, whole.entries.get(PIXELS).unwrap());
            crate::write_image(&path, &image(0.5 + step), &entries).unwrap();
            assert!(CheckedImage::read(&path).unwrap().is_altered, "{file}");
        }
    }

    #[test]
    fn a_hashed_file_keeps_its_other_entries_and_one_without_a_hash_is_not_called_altered() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.exr");
        let metadata = ImageMetadata::default().with("film", "ab");
        write_hashed_exr(&path, &image(0.5), &metadata).unwrap();
        let (found, entries) = read_hashed_exr(&path).unwrap().unwrap();
        assert_eq!((found, entries.get("film"), entries.get("spp")), (image(0.5), Some("ab"), None));
        write_exr(&path, &image(0.5), &metadata).unwrap();
        assert!(!CheckedImage::read(&path).unwrap().is_altered);
        assert_eq!(read_hashed_exr(&path).unwrap(), None, "it holds no hash to be held against");
    }

    #[test]
    fn a_file_cut_short_is_an_error_that_names_it() {
        let dir = tempfile::tempdir().unwrap();
        for file in ["a.exr", "a.png"] {
            let path = dir.path().join(file);
            write(&path, &image(0.5));
            let whole = std::fs::read(&path).unwrap();
            std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
            assert!(CheckedImage::read(&path).unwrap_err().to_string().contains(file), "{file}");
        }
    }
}
