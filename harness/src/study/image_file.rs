//! Image files of a study, checked before it relies on them.
//!
//! Each holds the hash of its own pixels, and a render that of its film, which must be the recorded one. Images of studies
//! from before the former was written are held to the latter alone.

use std::path::Path;

use lockstep_reports::image_io::{CheckedImage, ImageKind, ImageName, is_map_name, read_srgb8};
use lockstep_reports::records::{FilmHash, Record};
use lockstep_reports::study::{Study, files};

/// The entry of an image file that names its film's hash.
pub(super) const FILM: &str = "film";

/// The fault of an image, with its file: it cannot be read, its pixels are not those that were written, or it is not of the
/// film with this hash. `None` where there is none.
pub(super) fn fault(path: &Path, film: Option<&str>) -> Option<String> {
    let image = match CheckedImage::read(path) {
        Ok(image) => image,
        Err(error) => return Some(error.to_string()),
    };
    if image.is_altered {
        return Some(format!("{} was altered: its pixels are not those that were written", path.display()));
    }
    let is_of_film = film.is_none_or(|film| image.entries.get(FILM) == Some(film));
    (!is_of_film).then(|| format!("{} is of another film than the one in {}", path.display(), files::RECORDS))
}

/// The faults of a study's images, each with what mends it. Those that are not there are none: recorded studies keep few.
/// PNG files that cannot be read are named by the page.
pub(crate) fn faults(root: &Path, study: &Study) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(root.join(files::IMAGES)) else { return Vec::new() };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let of_study = |path: &Path| {
        let file = path.file_name()?.to_str()?;
        if is_map_name(file) || is_picture(file, study) {
            return Some(format!("{}; {}", fault(path, None)?, made_again(study)));
        }
        let name = ImageName::parse(file)?;
        if name.kind == ImageKind::Png && read_srgb8(path).is_err() {
            return None;
        }
        Some(format!("{}; {}", fault(path, recorded_film(&name, study))?, made_again(study)))
    };
    paths.iter().filter_map(|path| of_study(path)).collect()
}

/// How an image is made again. A report about images that no study rendered has no films, and cannot be resumed.
fn made_again(study: &Study) -> &'static str {
    match study.films.is_empty() {
        true => "the command that made this report makes it again, by --fresh",
        false => "the study makes it again when it is resumed",
    }
}

/// Whether a file of the folder of images is a picture of techniques, or of crops.
fn is_picture(file: &str, study: &Study) -> bool {
    let is_named = |recorded: &String| {
        recorded.strip_prefix(files::IMAGES).and_then(|rest| rest.strip_prefix('/')) == Some(file)
    };
    study.pyramids.iter().flat_map(|one| [&one.weighted, &one.unweighted]).any(is_named)
        || study.crops.iter().any(|crops| is_named(&crops.picture))
}

/// The hash of the film that an image is of, as the records have it.
fn recorded_film<'a>(name: &ImageName, study: &'a Study) -> Option<&'a str> {
    let seed = name.seed.unwrap_or(study.environment.settings.seed);
    let key =
        Record::from(FilmHash::new(&name.scene, &name.target.as_str().into(), name.spp, seed, "")).key();
    let found = study.films.iter().rev().find(|film| Record::from((*film).clone()).key() == key);
    found.map(|film| film.hash.as_str())
}
