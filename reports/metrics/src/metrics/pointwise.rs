//! Errors that are means over single values: MSE, relative MSE, MAE, PSNR.

use crate::image_io::LinearImage;

/// Added to the square of the reference in `LinearErrors::rel_mse`, so that black pixels do not dominate it.
pub const REL_MSE_EPSILON: f64 = 0.01;

/// Errors over linear values, in f64.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LinearErrors {
    /// Mean of `(a − b)²`.
    pub(super) mse: f64,
    /// Mean of `(a − b)² / (b² + 0.01)`.
    pub(super) rel_mse: f64,
    /// Mean of `|a − b|`.
    pub(super) mae: f64,
    /// Greatest `|a − b|`.
    pub(super) max_abs: f64,
}

/// Errors over all channels of two images of one size.
pub(super) fn linear_errors(a: &LinearImage, b: &LinearImage) -> LinearErrors {
    let (mut mse, mut rel_mse, mut mae, mut max_abs) = (0.0, 0.0, 0.0, 0.0f64);
    for (a, b) in channels(a).zip(channels(b)) {
        let error = (a - b).abs();
        mse += error * error;
        rel_mse += error * error / (b * b + REL_MSE_EPSILON);
        mae += error;
        max_abs = max_abs.max(error);
    }
    let count = (b.pixels().len() * 3) as f64;
    LinearErrors { mse: mse / count, rel_mse: rel_mse / count, mae: mae / count, max_abs }
}

fn channels(image: &LinearImage) -> impl Iterator<Item = f64> {
    image.pixels().iter().flatten().map(|&v| f64::from(v))
}

/// The mean image of some samples, and the mean image of the first of them.
#[derive(Debug, Clone)]
pub struct Means<'a> {
    /// The mean of all samples.
    pub image: &'a LinearImage,
    /// Samples of every pixel.
    pub spp: u32,
    /// The mean image of the first samples and their number in every pixel; `None` where all samples are meant.
    pub before: Option<(LinearImage, u32)>,
}

impl Means<'_> {
    fn last_spp(&self) -> f64 {
        f64::from(self.spp) - self.before.as_ref().map_or(0.0, |(_, spp)| f64::from(*spp))
    }

    /// The sum of the last samples of a pixel.
    fn last(&self, pixel: usize, channel: usize) -> f64 {
        let all = f64::from(self.image.pixels()[pixel][channel]) * f64::from(self.spp);
        let before = |(image, spp): &(LinearImage, u32)| {
            image.pixels().get(pixel).map_or(0.0, |mean| f64::from(mean[channel]) * f64::from(*spp))
        };
        all - self.before.as_ref().map_or(0.0, before)
    }
}

/// Mean squared difference of the radiance of the last samples of two means, over all channels. Images of different
/// sizes are compared as far as both go.
pub fn mse_of_last(a: &Means<'_>, b: &Means<'_>) -> f64 {
    let pixels = a.image.pixels().len().min(b.image.pixels().len());
    let (scale_a, scale_b) = (1.0 / a.last_spp(), 1.0 / b.last_spp());
    let mut sum = 0.0;
    for pixel in 0..pixels {
        for channel in 0..3 {
            sum += (a.last(pixel, channel) * scale_a - b.last(pixel, channel) * scale_b).powi(2);
        }
    }
    sum / (3 * pixels) as f64
}

/// Mean squared error over 8-bit codes.
pub(super) fn code_mse(a: &[u8], b: &[u8]) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| u64::from(a.abs_diff(*b)).pow(2));
    squares.sum::<u64>() as f64 / a.len() as f64
}

/// Peak signal-to-noise ratio in dB of a mean squared error, for values from 0 to `peak`. Infinite for an
/// error of 0.
pub fn psnr(mse: f64, peak: f64) -> f64 {
    if mse == 0.0 { f64::INFINITY } else { 10.0 * (peak * peak / mse).log10() }
}
