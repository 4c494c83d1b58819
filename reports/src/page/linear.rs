//! Linear values for exposure and for reading pixels.
//!
//! Values are rounded to 16-bit floats (IEEE 754 binary16: 11 significant bits, up to 65504), whose high and
//! low bytes are stored as images of their own, as [`super::images`] stores any: the high bytes compress
//! well, and what targets have in common is stored once.

use super::images::{Job, LevelCodes, SceneImages, TargetImage, bytes_of, jobs, store};
use crate::image_io::{LinearImage, half_bytes, read_image};
use crate::records::TargetId;
use crate::study::Study;
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
        let targets: Vec<&TargetId> = level.targets.iter().map(|t| &t.target).collect();
        let Some(images) = load(study, &scene.name, &targets, job.spp) else { continue };
        if let Some((linear, bytes)) = fit(&images, share, most)? {
            level.linear = Some(linear);
            left -= bytes;
        }
    }
    Ok(budget - left)
}

fn load(study: &Study, scene: &str, targets: &[&TargetId], spp: u32) -> Option<Vec<(TargetId, LinearImage)>> {
    let read = |target: &&TargetId| {
        let image = study.images.iter().find(|i| i.scene == scene && i.target == **target && i.spp == spp)?;
        Some(((*target).clone(), read_image(image.exr.as_ref()?).ok()?))
    };
    let images: Vec<(TargetId, LinearImage)> = targets.iter().map(read).collect::<Option<_>>()?;
    let size = |image: &LinearImage| (image.width(), image.height());
    let same = images.windows(2).all(|pair| size(&pair[0].1) == size(&pair[1].1));
    (same && !images.is_empty()).then_some(images)
}

/// The values at the least reduction that fits.
fn fit(
    images: &[(TargetId, LinearImage)],
    share: usize,
    most: u32,
) -> std::io::Result<Option<(LinearImages, usize)>> {
    for factor in 1..=most {
        let [high, low] = bytes(images, factor);
        let linear = LinearImages { factor, high: store(&high, 1)?, low: store(&low, 1)? };
        let bytes = bytes_of(&linear.high) + bytes_of(&linear.low);
        if bytes <= share {
            return Ok(Some((linear, bytes)));
        }
    }
    Ok(None)
}

/// The high bytes and the low bytes of all values, of images averaged over boxes of `factor × factor` pixels.
fn bytes(images: &[(TargetId, LinearImage)], factor: u32) -> [LevelCodes; 2] {
    let size =
        |of: fn(&LinearImage) -> u32| images.first().map_or(0, |(_, image)| of(image).div_ceil(factor));
    let (width, height) = (size(LinearImage::width), size(LinearImage::height));
    let mut levels = [(); 2].map(|()| LevelCodes { width, height, targets: Vec::new() });
    for (target, image) in images {
        let bytes = half_bytes(image, factor);
        levels.iter_mut().zip(bytes).for_each(|(level, bytes)| level.targets.push((target.clone(), bytes)));
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_reduced_and_then_left_out() {
        let image = LinearImage::from_fn(64, 64, |x, y| [(x * 37 + y * 91 % 53) as f32 * 0.013; 3]);
        let images = [("a".into(), image.clone()), ("b".into(), image)];
        let (full, bytes) = fit(&images, usize::MAX, 4).unwrap().unwrap();
        assert_eq!(full.factor, 1);
        assert!(full.high[1].uri.is_none(), "equal values are stored once");
        assert!(fit(&images, bytes - 1, 4).unwrap().unwrap().0.factor > 1);
        assert!(fit(&images, bytes - 1, 1).unwrap().is_none() && fit(&images, 10, 4).unwrap().is_none());
    }
}
