//! Exposures at which HDR-FLIP looks at two images.

use super::colour::luminance;
use crate::image_io::LinearImage;
use rayon::prelude::*;

/// Numerator and denominator of the ACES curve that Narkowicz (2016) fitted, `(2.51 x² + 0.03 x) / (2.43 x² +
/// 0.59 x + 0.14)`, at the exposure of 0.6 with which FLIP uses it.
const NUMERATOR: [f32; 3] = [0.36 * 2.51, 0.6 * 0.03, 0.0];
const DENOMINATOR: [f32; 3] = [0.36 * 2.43, 0.6 * 0.59, 0.14];

/// Brightness on screen of the brightest pixel at the first exposure, and of the median one at the last.
const SHOWN: f64 = 0.85;

/// A range of exposures in stops (powers of two), cut into equal steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExposureRange {
    /// The exposure at which the brightest pixel is shown as 0.85.
    pub start: f32,
    /// The exposure at which the median pixel is shown as 0.85.
    pub stop: f32,
    /// How many exposures there are from `start` to `stop`, both included; `max(2, ⌈stop − start⌉)`.
    pub count: u32,
}

impl ExposureRange {
    /// The range that suits an image; nothing for one whose every luminance is 0. A median of 0 counts as
    /// 2⁻²³, the precision of f32.
    pub fn of(image: &LinearImage) -> Option<Self> {
        let mut luminances: Vec<f32> = image.pixels().par_iter().map(|&p| luminance(p).max(0.0)).collect();
        luminances.par_sort_unstable_by(f32::total_cmp);
        let brightest = luminances.last().copied().filter(|&y| y > f32::EPSILON)?;
        let middle = luminances.len() / 2;
        let median = if luminances.len() % 2 == 1 {
            luminances[middle]
        } else {
            0.5 * (luminances[middle - 1] + luminances[middle])
        };
        let white = luminance_shown_as(SHOWN) as f32;
        let start = (white / brightest).log2();
        let stop = (white / median.max(f32::EPSILON)).log2();
        Some(Self { start, stop, count: (stop - start).ceil().max(2.0) as u32 })
    }

    /// The factor on radiance at each exposure.
    pub(super) fn scales(&self) -> impl Iterator<Item = f32> + use<> {
        let (start, count) = (self.start, self.count);
        let step = (self.stop - self.start) / (count.max(2) - 1) as f32;
        (0..count).map(move |i| (start + step * i as f32).exp2())
    }
}

/// The tone curve, clamped to 0 to 1.
#[inline(always)]
pub(super) fn aces(x: f32) -> f32 {
    let (n, d) = (NUMERATOR, DENOMINATOR);
    // Radiance whose square overflows is shown as white.
    let shown = ((n[0] * x + n[1]) * x + n[2]) / ((d[0] * x + d[1]) * x + d[2]);
    if shown.is_nan() { 1.0 } else { shown.clamp(0.0, 1.0) }
}

/// The inverse of [`aces`] before clamping: the positive root of a quadratic.
fn luminance_shown_as(shown: f64) -> f64 {
    let k: [f64; 3] = std::array::from_fn(|i| f64::from(NUMERATOR[i]) - shown * f64::from(DENOMINATOR[i]));
    (-k[1] + (k[1] * k[1] - 4.0 * k[0] * k[2]).sqrt()) / (2.0 * k[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_brightest_pixel_is_shown_below_white_at_the_first_exposure_and_the_median_at_the_last() {
        let image = LinearImage::from_fn(9, 7, |x, y| [0.01 * 1.3f32.powi((x * y) as i32); 3]);
        let range = ExposureRange::of(&image).unwrap();
        let scales: Vec<f32> = range.scales().collect();
        let shown = |value: f32, scale: f32| aces(value * scale);
        let brightest = image.pixels().iter().map(|p| p[0]).fold(0.0, f32::max);
        let mut sorted: Vec<f32> = image.pixels().iter().map(|p| p[0]).collect();
        sorted.sort_by(f32::total_cmp);
        assert!((shown(brightest, scales[0]) - 0.85).abs() < 1e-5);
        assert!((shown(sorted[31], *scales.last().unwrap()) - 0.85).abs() < 1e-5);
        assert_eq!(scales.len() as u32, range.count);
    }

    #[test]
    fn a_flat_image_has_two_equal_exposures_and_a_black_one_none() {
        let flat = |v| LinearImage::from_fn(4, 4, |_, _| [v; 3]);
        let range = ExposureRange::of(&flat(0.5)).unwrap();
        assert_eq!((range.start, range.count), (range.stop, 2));
        assert_eq!(ExposureRange::of(&flat(0.0)), None);
    }

    #[test]
    fn radiance_beyond_every_screen_is_white() {
        assert_eq!((aces(f32::MAX), aces(0.0)), (1.0, 0.0));
    }
}
