//! The image that errors are measured against, and its origin.

use std::path::Path;

use lockstep_core::Settings;
use lockstep_reports::image_io::LinearImage;

use crate::exit::Failure;

/// An image to measure errors against, and its origin.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    /// The image.
    pub(crate) image: LinearImage,
    /// A file, or target, samples per pixel and seed.
    pub(crate) against: String,
    /// The samples per pixel; nothing for a file.
    pub(crate) spp: Option<u32>,
}

impl Reference {
    /// The user's image.
    ///
    /// # Errors
    /// [`Failure::Missing`] when its size is not the study's.
    pub(crate) fn from_file(image: LinearImage, file: &Path, settings: &Settings) -> Result<Self, Failure> {
        let (width, height) = (image.width(), image.height());
        if (width, height) != (settings.width, settings.height) {
            return Err(Failure::Missing(format!(
                "the reference {} has {width}x{height} pixels and the study {}x{}; use --size {width}x{height} or \
                 another reference",
                file.display(),
                settings.width,
                settings.height
            )));
        }
        Ok(Self { image, against: format!("file {}", file.display()), spp: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_another_size_is_refused_with_exit_code_three() {
        let image = LinearImage::from_fn(4, 4, |_, _| [0.0; 3]);
        let settings = Settings { width: 8, height: 4, ..Settings::default() };
        let failure = Reference::from_file(image, Path::new("r.exr"), &settings).unwrap_err();
        assert_eq!(failure.exit() as u8, 3);
        assert!(failure.to_string().contains("--size 4x4"), "{failure}");
    }
}
