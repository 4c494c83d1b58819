//! Image files of a study, checked before it relies on them.
//!
//! Each holds the hash of the film that it is of, which must be the recorded one, and the hash of its own pixels. Images
//! of studies from before the latter was written are held to the former alone.

use std::collections::BTreeMap;
use std::path::Path;

use lockstep_reports::image_io::{
    ImageKind, ImageName, LinearImage, ReadError, is_map_name, read_exr_metadata, read_image,
    read_png_metadata, read_srgb8,
};
use lockstep_reports::records::{FilmHash, Record};
use lockstep_reports::study::{Study, files};

/// The entry of an image file that names its film's hash.
pub(super) const FILM: &str = "film";
/// The entry of an image file that names the hash of its pixels.
pub(super) const PIXELS: &str = "pixels";

/// BLAKE3 of an image's bits, in hexadecimal.
pub(super) fn pixel_hash(image: &LinearImage) -> String {
    blake3::hash(bytemuck::cast_slice(image.pixels())).to_hex().to_string()
}

/// BLAKE3 of an image's 8-bit codes, in hexadecimal.
pub(super) fn code_hash(codes: &[u8]) -> String {
    blake3::hash(codes).to_hex().to_string()
}

/// The fault of an image, with its file: it cannot be read, its pixels are not those that were written, or it is not of the
/// film with this hash. `None` where there is none.
pub(super) fn fault(path: &Path, film: Option<&str>) -> Option<String> {
    let (pixels, entries) = match contents(path) {
        Ok(found) => found,
        Err(error) => return Some(error.to_string()),
    };
    let entry = |key: &str| entries.get(&format!("lockstep.{key}"));
    if entry(PIXELS).is_some_and(|written| *written != pixels) {
        return Some(format!("{} was altered: its pixels are not those that were written", path.display()));
    }
    let is_of_film = film.is_none_or(|film| entry(FILM).is_some_and(|shown| shown == film));
    (!is_of_film).then(|| format!("{} is of another film than the one in {}", path.display(), files::RECORDS))
}

/// The hash of a file's pixels, and its texts.
fn contents(path: &Path) -> Result<(String, BTreeMap<String, String>), ReadError> {
    if path.extension().is_some_and(|extension| extension == "png") {
        return Ok((code_hash(&read_srgb8(path)?.codes), read_png_metadata(path)?));
    }
    Ok((pixel_hash(&read_image(path)?), read_exr_metadata(path)?))
}

/// The faults of a study's images. Those that are not there are none: recorded studies keep few. PNG files that cannot be
/// read are named by the page.
pub(crate) fn faults(root: &Path, study: &Study) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(root.join(files::IMAGES)) else { return Vec::new() };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let of_study = |path: &Path| {
        let file = path.file_name()?.to_str()?;
        if is_map_name(file) {
            return fault(path, None);
        }
        let name = ImageName::parse(file)?;
        if name.kind == ImageKind::Png && read_srgb8(path).is_err() {
            return None;
        }
        fault(path, recorded_film(&name, study))
    };
    paths.iter().filter_map(|path| of_study(path)).collect()
}

/// The hash of the film that an image is of, as the records have it.
fn recorded_film<'a>(name: &ImageName, study: &'a Study) -> Option<&'a str> {
    let seed = name.seed.unwrap_or(study.environment.settings.seed);
    let key = Record::from(FilmHash::new(&name.scene, &name.target, name.spp, seed, "")).key();
    let found = study.films.iter().rev().find(|film| Record::from((*film).clone()).key() == key);
    found.map(|film| film.hash.as_str())
}
