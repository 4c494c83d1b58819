//! Maps of where two images differ, as files of a study.
//!
//! A map is a PNG in a study's `images/` with a [`Map`] record. Its name,
//! `<scene>.<a>.<b>.<spp>spp.s<seed>.<quantity>.png`, is none that [`lockstep_metrics::image_io::ImageName`]
//! takes for a render.

use crate::study::files;
use crate::{Map, pair_mode};
use lockstep_core::TargetId;
use lockstep_metrics::image_io::{ImageMetadata, LinearImage, WriteError, encode_name, write_hashed_png};
use lockstep_metrics::maps::{difference_picture, flip_picture};
use lockstep_metrics::metrics::{MetricError, flip_hdr, flip_ldr};
use std::path::Path;

/// Why maps could not be made.
#[derive(Debug, thiserror::Error)]
pub enum MapError {
    /// The images cannot be compared.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// The comparison that a map shows: scene, targets, samples per pixel and seed.
#[derive(Debug, Clone, Copy)]
pub struct MapOf<'a> {
    /// Scene name.
    pub scene: &'a str,
    /// First target.
    pub a: &'a TargetId,
    /// Second target, the reference.
    pub b: &'a TargetId,
    /// Samples per pixel.
    pub spp: u32,
    /// Random seed.
    pub seed: u64,
}

impl MapOf<'_> {
    /// Path of the map of some quantity, relative to the study's folder.
    pub fn file(&self, quantity: &str) -> String {
        let [a, b] = [self.a, self.b].map(|target| encode_name(&target.to_string()));
        let [scene, what] = [self.scene, quantity].map(encode_name);
        format!("{}/{scene}.{a}.{b}.{}spp.s{}.{what}.png", files::IMAGES, self.spp, self.seed)
    }

    /// Writes a picture of some quantity into the study in `folder` and returns its record. The folder of
    /// images must exist.
    ///
    /// # Errors
    /// [`WriteError`], naming the file.
    pub fn write(
        &self,
        folder: &Path,
        quantity: &str,
        scale: f64,
        picture: &LinearImage,
    ) -> Result<Map, WriteError> {
        let metadata = ImageMetadata::of_render(self.scene, &self.b.to_string(), self.spp, self.seed)
            .with("against", &self.a.to_string())
            .with("map", quantity);
        let file = self.file(quantity);
        write_hashed_png(&folder.join(&file), picture, &metadata)?;
        Ok(Map {
            scene: self.scene.to_owned(),
            a: self.a.clone(),
            b: self.b.clone(),
            spp: self.spp,
            seed: self.seed,
            quantity: quantity.to_owned(),
            file,
            scale,
            mode: pair_mode(self.a, self.b),
        })
    }
}

/// Writes the maps of LDR-FLIP, HDR-FLIP and the absolute difference of two images.
///
/// # Errors
/// [`MapError`] for images that cannot be compared and files that cannot be written.
pub fn write_maps(
    folder: &Path,
    of: &MapOf<'_>,
    a: &LinearImage,
    b: &LinearImage,
) -> Result<Vec<Map>, MapError> {
    let (difference, gain) = difference_picture(a, b);
    Ok(vec![
        of.write(folder, "flip", 1.0, &flip_picture(&flip_ldr(a, b)?))?,
        of.write(folder, "flip-hdr", 1.0, &flip_picture(&flip_hdr(a, b)?))?,
        of.write(folder, "difference", gain, &difference)?,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_metrics::image_io::{CheckedImage, ImageName, is_map_name, read_image, write_png};

    fn flat(value: f32) -> LinearImage {
        LinearImage::from_fn(16, 12, |_, _| [value; 3])
    }

    #[test]
    fn maps_are_written_beside_the_images_and_taken_for_none() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join(files::IMAGES)).unwrap();
        let (a, b) = (&"cpu".into(), &"opencl@0".into());
        let of = MapOf { scene: "a/b", a, b, spp: 4, seed: 7 };
        let maps = write_maps(dir.path(), &of, &flat(0.5), &flat(0.6)).unwrap();
        let names: Vec<&str> = maps.iter().map(|m| m.quantity.as_str()).collect();
        assert_eq!(names, ["flip", "flip-hdr", "difference"]);
        for map in &maps {
            assert!(dir.path().join(&map.file).is_file(), "{}", map.file);
            let name = map.file.strip_prefix("images/").unwrap();
            assert!(is_map_name(name) && ImageName::parse(name).is_none(), "{name}");
        }
        assert!(is_map_name("a.b.c.4spp.p.png") && !is_map_name("a.b.4spp.s1.png"));
        assert!(!is_map_name("a.b.4spp.png") && !is_map_name(".a.b.c.4spp.s0.flip.png"));
        assert_eq!(maps[0].file, "images/a%2Fb.cpu.opencl@0.4spp.s7.flip.png");
    }

    #[test]
    fn every_map_holds_the_hash_of_its_pixels() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join(files::IMAGES)).unwrap();
        let (a, b) = (&"cpu".into(), &"opencl@0".into());
        let of = MapOf { scene: "s", a, b, spp: 4, seed: 7 };
        for map in write_maps(dir.path(), &of, &flat(0.5), &flat(0.6)).unwrap() {
            let path = dir.path().join(&map.file);
            let written = CheckedImage::read(&path).unwrap();
            let hash = written.entries.get("pixels").unwrap();
            assert!(!written.is_altered && read_image(&path).unwrap() != flat(0.25), "{}", map.file);
            write_png(&path, &flat(0.25), &ImageMetadata::default().with("pixels", hash)).unwrap();
            assert!(CheckedImage::read(&path).unwrap().is_altered, "{}", map.file);
        }
    }
}
