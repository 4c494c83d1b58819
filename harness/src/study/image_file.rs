//! Image files of a study, checked before it relies on them.

use std::path::Path;

use lockstep_reports::image_io::{read_exr_metadata, read_image, read_srgb8};

/// Whether an image can be read and, for an EXR file, is of the film with this hash.
pub(crate) fn is_sound(path: &Path, film: Option<&str>) -> bool {
    if path.extension().is_some_and(|extension| extension == "png") {
        return read_srgb8(path).is_ok();
    }
    let shows = read_exr_metadata(path).ok().and_then(|metadata| metadata.get("lockstep.film").cloned());
    let is_of_film = film.is_none_or(|film| shows.as_deref() == Some(film));
    is_of_film && read_image(path).is_ok()
}
