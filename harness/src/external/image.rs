//! The image that a program wrote.

use std::path::Path;

use lockstep_reports::image_io::{LinearImage, ReadError, read_image};
use lockstep_reports::records::RunFault;

/// A fault and its words, a sentence without its full stop.
pub(super) type Fault = (RunFault, String);

/// Reads the file of a run.
///
/// # Errors
/// The fault where it is none that can be compared.
pub(super) fn read(path: &Path, (width, height): (u32, u32)) -> Result<LinearImage, Fault> {
    // Programs that add an extension of their own, or write elsewhere, leave nothing here.
    if !path.exists() {
        return Err((RunFault::NoImage, "it ended well and did not write the image {out}".to_owned()));
    }
    let image = read_image(path).map_err(|error| (RunFault::UnreadableImage, in_words(&error)))?;
    if (image.width(), image.height()) != (width, height) {
        let found =
            format!("its image has {}×{} pixels, not {width}×{height}", image.width(), image.height());
        return Err((RunFault::WrongSize, found));
    }
    if let Some((bad, [x, y])) = image.not_finite() {
        let pixels = if bad == 1 { "1 pixel is".to_owned() } else { format!("{bad} pixels are") };
        let place = format!("{pixels} not finite, the first at ({x}, {y})");
        return Err((RunFault::NotFinite, place));
    }
    Ok(image)
}

/// The fault of the file, without its name, which is that of a temporary file.
fn in_words(error: &ReadError) -> String {
    match error {
        ReadError::Io { source, .. } => format!("its image cannot be read: {source}"),
        ReadError::UnknownFormat { .. } => "its file is neither EXR, PNG, Radiance HDR nor PFM".to_owned(),
        ReadError::TooLarge { width, height, why, .. } => {
            format!("its image claims {width}×{height} pixels, {why}")
        }
        ReadError::Decode { format, message, .. } => format!("its {format} image is damaged: {message}"),
    }
}
