//! Linear values for exposure and for reading pixels.
//!
//! Values are rounded to 16-bit floats (IEEE 754 binary16: 11 significant bits, up to 65504), whose high and
//! low bytes are stored as images of their own, as [`super::images`] stores any: the high bytes compress
//! well, and what targets have in common is stored once.

use super::images::{Job, LevelCodes, SceneImages, TargetImage, bytes_of, jobs, store};
use crate::image_io::{LinearImage, read_image};
use crate::study::Study;
use half::f16;
use serde::Serialize;

/// No image is reduced further than this: means of larger boxes say little about a pixel.
const MAX_FACTOR: u32 = 4;

/// Linear values of one scene at one level.
#[derive(Debug, Serialize)]
pub(super) struct LinearImages {
    /// How many pixels of the original make one of these, on a side.
    factor: u32,
    high: Vec<TargetImage>,
    low: Vec<TargetImage>,
}

/// Adds linear values to the top level of every scene, reduced to fit its part of `budget` bytes, then to
/// lower levels at full size while there is room. Only levels whose images are all linear files get any.
/// Returns the bytes used.
///
/// # Errors
/// The PNG encoder's error.
pub(super) fn add(study: &Study, scenes: &mut [SceneImages], budget: usize) -> std::io::Result<usize> {
    let names = study.scenes();
    let (tops, lower): (Vec<Job>, Vec<Job>) = jobs(study).into_iter().partition(|job| job.is_top);
    let mut left = budget;
    let mut tops_left = tops.len();
    for job in tops.iter().chain(lower.iter().rev()) {
        let (share, most) = if job.is_top { (left / tops_left.max(1), MAX_FACTOR) } else { (left, 1) };
        tops_left -= usize::from(job.is_top);
        let Some(scene) = scenes.iter_mut().find(|s| s.name == names[job.scene]) else { continue };
        let Some(level) = scene.levels.iter_mut().find(|r| r.spp == job.spp) else { continue };
        let targets: Vec<&str> = level.targets.iter().map(|t| t.target.as_str()).collect();
        let Some(images) = load(study, &scene.name, &targets, job.spp) else { continue };
        if let Some((linear, bytes)) = fit(&images, share, most)? {
            level.linear = Some(linear);
            left -= bytes;
        }
    }
    Ok(budget - left)
}

fn load(study: &Study, scene: &str, targets: &[&str], spp: u32) -> Option<Vec<(String, LinearImage)>> {
    let read = |target: &&str| {
        let image = study.images.iter().find(|i| i.scene == scene && i.target == **target && i.spp == spp)?;
        Some(((*target).to_owned(), read_image(image.exr.as_ref()?).ok()?))
    };
    let images: Vec<(String, LinearImage)> = targets.iter().map(read).collect::<Option<_>>()?;
    let size = |image: &LinearImage| (image.width(), image.height());
    let same = images.windows(2).all(|pair| size(&pair[0].1) == size(&pair[1].1));
    (same && !images.is_empty()).then_some(images)
}

/// The values at the least reduction that fits.
fn fit(
    images: &[(String, LinearImage)],
    share: usize,
    most: u32,
) -> std::io::Result<Option<(LinearImages, usize)>> {
    for factor in 1..=most {
        let [high, low] = [0, 1].map(|byte| store(&bytes(images, factor, byte), 1));
        let linear = LinearImages { factor, high: high?, low: low? };
        let bytes = bytes_of(&linear.high) + bytes_of(&linear.low);
        if bytes <= share {
            return Ok(Some((linear, bytes)));
        }
    }
    Ok(None)
}

/// One byte of every value, the high one first, of images averaged over boxes of `factor × factor` pixels.
fn bytes(images: &[(String, LinearImage)], factor: u32, byte: usize) -> LevelCodes {
    let size =
        |of: fn(&LinearImage) -> u32| images.first().map_or(0, |(_, image)| of(image).div_ceil(factor));
    let (width, height) = (size(LinearImage::width), size(LinearImage::height));
    let target = |(name, image): &(String, LinearImage)| {
        let place = |y: u32| (0..width).map(move |x| (x, y));
        let values = (0..height).flat_map(place).flat_map(|(x, y)| mean(image, factor, x, y));
        (name.clone(), values.map(|v| f16::from_f32(v).to_be_bytes()[byte]).collect())
    };
    LevelCodes { width, height, targets: images.iter().map(target).collect() }
}

/// The mean of a box, smaller at the right and lower border.
fn mean(image: &LinearImage, factor: u32, x: u32, y: u32) -> [f32; 3] {
    let width = image.width();
    let columns = x * factor..((x + 1) * factor).min(width);
    let rows = y * factor..((y + 1) * factor).min(image.height());
    let count = (columns.len() * rows.len()) as f32;
    let mut sum = [0.0; 3];
    for (row, column) in rows.flat_map(|row| columns.clone().map(move |column| (row, column))) {
        let pixel = image.pixels()[(row * width + column) as usize];
        sum.iter_mut().zip(pixel).for_each(|(sum, value)| *sum += value);
    }
    sum.map(|sum| sum / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_value_make_its_half_and_boxes_are_averaged() {
        let image =
            LinearImage::from_fn(3, 1, |x, _| [[1.0, 0.1, 70_000.0], [3.0, 0.1, 0.0], [5.0; 3]][x as usize]);
        let images = [("a".to_owned(), image)];
        let value = |factor, at: usize| {
            let byte = |byte| bytes(&images, factor, byte).targets[0].1[at];
            f16::from_be_bytes([byte(0), byte(1)]).to_f32()
        };
        assert_eq!((value(1, 0), value(1, 3), value(1, 2)), (1.0, 3.0, f32::INFINITY));
        assert!((value(1, 1) - 0.1).abs() < 1e-4);
        assert_eq!((value(2, 0), value(2, 3)), (2.0, 5.0), "the last box is one pixel wide");
    }

    #[test]
    fn what_does_not_fit_is_reduced_and_then_left_out() {
        let image = LinearImage::from_fn(64, 64, |x, y| [(x * 37 + y * 91 % 53) as f32 * 0.013; 3]);
        let images = [("a".to_owned(), image.clone()), ("b".to_owned(), image)];
        let (full, bytes) = fit(&images, usize::MAX, 4).unwrap().unwrap();
        assert_eq!(full.factor, 1);
        assert!(full.high[1].uri.is_none(), "equal values are stored once");
        assert!(fit(&images, bytes - 1, 4).unwrap().unwrap().0.factor > 1);
        assert!(fit(&images, bytes - 1, 1).unwrap().is_none() && fit(&images, 10, 4).unwrap().is_none());
    }
}
