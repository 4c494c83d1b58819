//! Image files of a study, checked before it relies on them.

use std::path::Path;

use lockstep_reports::image_io::{ImageKind, ImageName, read_exr_metadata, read_image, read_srgb8};
use lockstep_reports::records::{FilmHash, Record};
use lockstep_reports::study::{Study, files};

/// Whether an image can be read and, for an EXR file, is of the film with this hash.
pub(crate) fn is_sound(path: &Path, film: Option<&str>) -> bool {
    if path.extension().is_some_and(|extension| extension == "png") {
        return read_srgb8(path).is_ok();
    }
    let shows = read_exr_metadata(path).ok().and_then(|metadata| metadata.get("lockstep.film").cloned());
    let is_of_film = film.is_none_or(|film| shows.as_deref() == Some(film));
    is_of_film && read_image(path).is_ok()
}

/// The faults of a study's EXR files, each with its file: it cannot be read, or is of another film than the records have.
/// Images that are not there are none: recorded studies keep few. PNG files are read by the page, which names them.
pub(crate) fn faults(root: &Path, study: &Study) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(root.join(files::IMAGES)) else { return Vec::new() };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let fault = |path: &Path| {
        let name = ImageName::parse(path.file_name()?.to_str()?)?;
        if name.kind != ImageKind::Exr {
            return None;
        }
        if let Err(error) = read_image(path) {
            return Some(error.to_string());
        }
        let shown = read_exr_metadata(path).ok()?.get("lockstep.film").cloned()?;
        let recorded = recorded_film(&name, study)?;
        (shown != recorded)
            .then(|| format!("{} is of another film than the one in {}", path.display(), files::RECORDS))
    };
    paths.iter().filter_map(|path| fault(path)).collect()
}

/// The hash of the film that an image is of, as the records have it.
fn recorded_film<'a>(name: &ImageName, study: &'a Study) -> Option<&'a str> {
    let seed = name.seed.unwrap_or(study.environment.settings.seed);
    let key = Record::from(FilmHash::new(&name.scene, &name.target, name.spp, seed, "")).key();
    let found = study.films.iter().rev().find(|film| Record::from((*film).clone()).key() == key);
    found.map(|film| film.hash.as_str())
}
