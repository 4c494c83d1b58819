//! Confidence intervals of an image's root mean squared error against a reference.
//!
//! Errors of neighbouring pixels may be of one splat or one photon, so the interval is by blocks of pixels, whose errors
//! are taken as independent. The variance of their sum is estimated by the successive differences of von Neumann (1941):
//! neighbouring blocks show nearly the same, and where they do not, the estimate is too large, never too small.

use crate::image_io::LinearImage;
use crate::tiles::squared_errors;

/// Side of a block in pixels, wider than the disc of a merge at the default radius.
const BLOCK: u32 = 4;

/// The quantile of the normal distribution for 95 % on two sides.
const NORMAL_95: f64 = 1.96;

/// The 95 % interval of the linear root mean squared error of an image against a reference of its size; `None` for images of fewer
/// than two blocks of 4 by 4 pixels, and where an error is not finite.
///
/// ```
/// # use lockstep_metrics::{error_interval::rmse_interval, image_io::LinearImage};
/// let reference = LinearImage::from_fn(32, 32, |_, _| [1.0; 3]);
/// let image = LinearImage::from_fn(32, 32, |_, _| [1.5; 3]);
/// assert_eq!(rmse_interval(&image, &reference), Some([0.5, 0.5]));
/// ```
pub fn rmse_interval(image: &LinearImage, reference: &LinearImage) -> Option<[f64; 2]> {
    let errors = squared_errors(image, reference, BLOCK);
    let (blocks, values) = (errors.len() as f64, 3.0 * reference.pixels().len() as f64);
    let differences: f64 = errors.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    let variance = blocks * differences / (2.0 * (blocks - 1.0));
    let mse = errors.iter().sum::<f64>() / values;
    if errors.len() < 2 || !variance.is_finite() {
        return None;
    }
    let half_width = NORMAL_95 * variance.sqrt() / values;
    Some([mse - half_width, mse + half_width].map(|end| end.max(0.0).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uniform numbers in -1 to 1 (splitmix64, Steele et al. 2014).
    fn uniform(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (z ^ (z >> 31)) as f64 / 2f64.powi(63) - 1.0
        }
    }

    /// Images whose error has the amplitude `amplitude(x)`, and how often the interval holds the true error.
    fn share_that_holds(amplitude: impl Fn(u32) -> f64, is_by_blocks: bool) -> f64 {
        let (width, height, images) = (128, 64, 400);
        let truth = (0..width).map(|x| amplitude(x).powi(2) / 3.0).sum::<f64>() / f64::from(width);
        let reference = LinearImage::from_fn(width, height, |_, _| [0.0; 3]);
        let holds = |seed: &u64| {
            let mut next = uniform(*seed << 32);
            let blocks: Vec<f64> = (0..width * height).map(|_| next()).collect();
            let place = |x: u32, y: u32| match is_by_blocks {
                true => (y / BLOCK) * width + x / BLOCK,
                false => y * width + x,
            };
            let image = LinearImage::from_fn(width, height, |x, y| {
                [(amplitude(x) * blocks[place(x, y) as usize]) as f32; 3]
            });
            let [low, high] = rmse_interval(&image, &reference).unwrap();
            (low..=high).contains(&truth.sqrt())
        };
        (0..images).filter(holds).count() as f64 / images as f64
    }

    #[test]
    fn the_interval_holds_the_error_of_independent_pixels_in_ninety_five_of_a_hundred_images() {
        // 400 images: three standard deviations of the share are 0.033.
        let share = share_that_holds(|_| 0.3, false);
        assert!((share - 0.95).abs() < 0.033, "{share}");
    }

    #[test]
    fn it_holds_it_as_often_where_all_pixels_of_a_block_err_as_one() {
        let share = share_that_holds(|_| 0.3, true);
        assert!((share - 0.95).abs() < 0.045, "{share}: 512 blocks are few");
    }

    #[test]
    fn it_holds_it_where_one_side_of_the_image_is_far_noisier() {
        let share = share_that_holds(|x| if x < 64 { 0.01 } else { 1.0 }, false);
        assert!(share >= 0.92, "{share}");
    }

    #[test]
    fn a_single_bright_pixel_leaves_nearly_everything_open() {
        let reference = LinearImage::from_fn(64, 64, |_, _| [0.0; 3]);
        let image =
            LinearImage::from_fn(64, 64, |x, y| if (x, y) == (30, 30) { [100.0; 3] } else { [0.0; 3] });
        let [low, high] = rmse_interval(&image, &reference).unwrap();
        assert!(low == 0.0 && high > 1.6 * 100.0 / 64.0, "{low} to {high}");
    }

    #[test]
    fn an_image_of_one_block_or_with_errors_that_are_not_finite_has_none() {
        let black = |side| LinearImage::from_fn(side, side, |_, _| [0.0; 3]);
        assert_eq!(rmse_interval(&black(4), &black(4)), None);
        let nan = LinearImage::from_fn(64, 64, |x, _| [if x == 3 { f32::NAN } else { 0.0 }; 3]);
        assert_eq!(rmse_interval(&nan, &black(64)), None);
    }
}
