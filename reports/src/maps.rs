//! Maps of where two images differ, as pictures.
//!
//! A map is a PNG in a study's `images/`, told of by a `map` record. Its name,
//! `<scene>.<a>.<b>.<spp>spp.s<seed>.<quantity>.png`, is none that [`crate::image_io::ImageName`] takes for a render.

use crate::image_io::{ImageMetadata, LinearImage, WriteError, encode_name, srgb, write_png};
use crate::metrics::{FlipMap, MetricError, flip_hdr, flip_ldr};
use crate::records::{Map, Mode};
use crate::study::files;
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

/// Which comparison a map is of.
#[derive(Debug, Clone, Copy)]
pub struct MapOf<'a> {
    /// Scene name.
    pub scene: &'a str,
    /// First target.
    pub a: &'a str,
    /// Second target, the reference.
    pub b: &'a str,
    /// Samples per pixel.
    pub spp: u32,
    /// Random seed.
    pub seed: u64,
}

impl MapOf<'_> {
    /// Writes a picture of some quantity into the study in `folder` and returns its record. The folder of images must
    /// exist.
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
        let [scene, a, b, what] = [self.scene, self.a, self.b, quantity].map(encode_name);
        let name = format!("{scene}.{a}.{b}.{}spp.s{}.{what}.png", self.spp, self.seed);
        let metadata = ImageMetadata::of_render(self.scene, self.b, self.spp, self.seed)
            .with("against", self.a)
            .with("map", quantity);
        write_png(&folder.join(files::IMAGES).join(&name), picture, &metadata)?;
        Ok(Map {
            scene: self.scene.to_owned(),
            a: self.a.to_owned(),
            b: self.b.to_owned(),
            spp: self.spp,
            seed: self.seed,
            quantity: quantity.to_owned(),
            file: format!("{}/{name}", files::IMAGES),
            scale,
            mode: Mode::of_pair(self.a, self.b),
        })
    }
}

/// Whether a file is named as maps are: by scene, two targets, samples per pixel and what it shows.
pub fn is_map_name(file_name: &str) -> bool {
    let is_spp = |part: &str| part.strip_suffix("spp").is_some_and(|digits| digits.parse::<u32>().is_ok());
    match file_name.split('.').collect::<Vec<_>>()[..] {
        [scene, _, _, spp, _, "png"] | [scene, _, _, spp, _, _, "png"] => !scene.is_empty() && is_spp(spp),
        _ => false,
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

/// Colours of FLIP from 0 to 1 as 8-bit sRGB, straight lines between: nine points of the colour map "magma" (Smith and
/// van der Walt 2015, CC0), in which lightness rises evenly.
const MAGMA: [[u8; 3]; 9] = [
    [0, 0, 4],
    [28, 16, 68],
    [79, 18, 123],
    [129, 37, 129],
    [181, 54, 122],
    [229, 80, 100],
    [251, 135, 97],
    [254, 194, 135],
    [252, 253, 191],
];

/// A FLIP map in colour: black where no difference is seen, bright where it is greatest.
pub fn flip_picture(map: &FlipMap) -> LinearImage {
    LinearImage::from_fn(map.width, map.height, |x, y| {
        let value = map.values[y as usize * map.width as usize + x as usize];
        magma(value).map(srgb::decode8)
    })
}

fn magma(value: f32) -> [u8; 3] {
    let place = value.clamp(0.0, 1.0) * (MAGMA.len() - 1) as f32;
    let low = (place as usize).min(MAGMA.len() - 2);
    let share = place - low as f32;
    std::array::from_fn(|c| {
        let (from, to) = (f32::from(MAGMA[low][c]), f32::from(MAGMA[low + 1][c]));
        (from + share * (to - from)).round() as u8
    })
}

/// What the mean of a difference is shown as, in linear light: middle grey.
const MIDDLE_GREY: f64 = 0.18;

/// The absolute difference of linear values, multiplied by the power of two that brings its mean nearest below middle
/// grey, and that factor; black, and 1, for equal images. The images have one size.
pub fn difference_picture(a: &LinearImage, b: &LinearImage) -> (LinearImage, f64) {
    let difference =
        |i: usize| -> [f32; 3] { std::array::from_fn(|c| (a.pixels()[i][c] - b.pixels()[i][c]).abs()) };
    let count = a.pixels().len().min(b.pixels().len());
    let sum: f64 = (0..count).flat_map(difference).map(f64::from).filter(|v| v.is_finite()).sum();
    let mean = sum / (3 * count.max(1)) as f64;
    let gain = if mean > 0.0 { (MIDDLE_GREY / mean).log2().floor().exp2() } else { 1.0 };
    let picture = LinearImage::from_fn(a.width(), a.height(), |x, y| {
        difference(y as usize * a.width() as usize + x as usize).map(|v| v * gain as f32)
    });
    (picture, gain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(value: f32) -> LinearImage {
        LinearImage::from_fn(16, 12, |_, _| [value; 3])
    }

    #[test]
    fn the_colours_of_flip_run_from_black_to_pale_yellow_through_every_point() {
        assert_eq!((magma(0.0), magma(1.0), magma(2.0)), (MAGMA[0], MAGMA[8], MAGMA[8]));
        assert_eq!(magma(0.5), MAGMA[4]);
        let lightness = |i: i32| magma(i as f32 / 100.0).iter().map(|&c| u32::from(c)).sum::<u32>();
        assert!((1..=100).all(|i| lightness(i) >= lightness(i - 1)));
    }

    #[test]
    fn a_difference_is_exposed_by_a_power_of_two_and_none_is_black() {
        let (picture, gain) = difference_picture(&flat(0.5), &flat(0.501));
        assert_eq!(gain, 128.0);
        assert!((f64::from(picture.pixels()[0][0]) - 0.128).abs() < 1e-4);
        assert_eq!(difference_picture(&flat(0.5), &flat(0.5)), (flat(0.0), 1.0));
    }

    #[test]
    fn maps_are_written_beside_the_images_and_taken_for_none() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join(files::IMAGES)).unwrap();
        let of = MapOf { scene: "a/b", a: "cpu", b: "opencl@0", spp: 4, seed: 7 };
        let maps = write_maps(dir.path(), &of, &flat(0.5), &flat(0.6)).unwrap();
        let names: Vec<&str> = maps.iter().map(|m| m.quantity.as_str()).collect();
        assert_eq!(names, ["flip", "flip-hdr", "difference"]);
        for map in &maps {
            assert!(dir.path().join(&map.file).is_file(), "{}", map.file);
            let name = map.file.strip_prefix("images/").unwrap();
            assert!(is_map_name(name) && crate::image_io::ImageName::parse(name).is_none(), "{name}");
        }
        assert!(is_map_name("a.b.c.4spp.p.png") && !is_map_name("a.b.4spp.s1.png"));
        assert!(!is_map_name("a.b.4spp.png") && !is_map_name(".a.b.c.4spp.s0.flip.png"));
        assert_eq!(maps[0].file, "images/a%2Fb.cpu.opencl@0.4spp.s7.flip.png");
    }
}
