//! Differences between two images, as numbers.
//!
//! | metric | over | formula | range |
//! |---|---|---|---|
//! | `mse` | 8-bit sRGB | mean of `(A − B)²` over pixels and channels | 0 to 65025 |
//! | `rmse` | 8-bit sRGB | `√mse` | 0 to 255 |
//! | `psnr` | 8-bit sRGB | `10 log₁₀(255² / mse)` dB | 0 to ∞, infinite when `mse` is 0 |
//! | `mse_linear` | linear radiance | mean of `(a − b)²` over pixels and channels | 0 and up |
//! | `max_abs` | linear radiance | greatest `|a − b|` of any channel | 0 and up |
//! | `pixels_differing` | linear radiance | pixels in which any channel is unequal | 0 to all |
//! | `ssim` | 8-bit luma | see [`ssim`] | −1 to 1, 1 when equal |
//!
//! `a`, `b` are the linear images and `A`, `B` the same as 8-bit sRGB values by [`crate::image_io::srgb`]: no
//! exposure, no tone mapping, values outside 0 to 1 clamped. Sums are taken in f64, row by row.

mod convergence;
mod ssim;

pub use convergence::{FitError, SlopeFit, fit_log_log_slope};
pub use ssim::{SSIM_DEFINITION, ssim};

use crate::image_io::LinearImage;

/// All metrics of one pair of images. In JSON an infinite `psnr` is `"inf"`, as in records.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Metrics {
    /// Mean squared error over 8-bit sRGB values.
    pub mse: f64,
    /// Mean squared error over linear radiance.
    pub mse_linear: f64,
    /// Square root of `mse`.
    pub rmse: f64,
    /// Peak signal-to-noise ratio of `mse` in dB.
    #[serde(with = "crate::records::float")]
    pub psnr: f64,
    /// Structural similarity over 8×8 boxes.
    pub ssim: f64,
    /// Greatest absolute difference of a linear channel.
    pub max_abs: f64,
    /// Pixels in which any linear channel differs.
    pub pixels_differing: u64,
}

/// Which of the two images of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The first.
    A,
    /// The second.
    B,
}

/// Why two images have no difference in numbers.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum MetricError {
    /// Their sizes differ.
    #[error("cannot compare images of different sizes: {}×{} and {}×{}", a.0, a.1, b.0, b.1)]
    SizesDiffer {
        /// Width and height of the first.
        a: (u32, u32),
        /// Width and height of the second.
        b: (u32, u32),
    },
    /// They have no pixels.
    #[error("cannot compare images without pixels")]
    Empty,
    /// One of them has a NaN or an infinity. Such an image is broken: a mean over it would say nothing.
    #[error(
        "cannot compare: image {side:?} has {value} in channel {channel} of pixel ({x}, {y}), and {count} such pixels in all"
    )]
    NonFinite {
        /// Which image.
        side: Side,
        /// Column of the first such pixel.
        x: u32,
        /// Row of the first such pixel, from the top.
        y: u32,
        /// Channel of it: 0 red, 1 green, 2 blue.
        channel: usize,
        /// The value found.
        value: f32,
        /// How many pixels of that image have one.
        count: u64,
    },
}

/// Compares two images.
///
/// # Errors
/// [`MetricError`] when the sizes differ, there are no pixels, or a value is not finite.
pub fn compare(a: &LinearImage, b: &LinearImage) -> Result<Metrics, MetricError> {
    check_comparable(a, b)?;
    let mse_linear = mean_squared_error(channels(a), channels(b));
    let (a8, b8) = (a.to_srgb8(), b.to_srgb8());
    let mse = mean_squared_error(a8.iter().map(|&v| f64::from(v)), b8.iter().map(|&v| f64::from(v)));
    Ok(Metrics {
        mse,
        mse_linear,
        rmse: mse.sqrt(),
        psnr: psnr(mse, 255.0),
        ssim: ssim(a, b)?,
        max_abs: channels(a).zip(channels(b)).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max),
        pixels_differing: a.pixels().iter().zip(b.pixels()).filter(|(p, q)| p != q).count() as u64,
    })
}

/// Peak signal-to-noise ratio in dB of a mean squared error, for values from 0 to `peak`. Infinite for an
/// error of 0.
pub fn psnr(mse: f64, peak: f64) -> f64 {
    if mse == 0.0 { f64::INFINITY } else { 10.0 * (peak * peak / mse).log10() }
}

fn channels(image: &LinearImage) -> impl Iterator<Item = f64> {
    image.pixels().iter().flatten().map(|&v| f64::from(v))
}

fn mean_squared_error(a: impl Iterator<Item = f64>, b: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) =
        a.zip(b).fold((0.0, 0u64), |(sum, count), (x, y)| (sum + (x - y) * (x - y), count + 1));
    sum / count as f64
}

/// Whether the images have equal sizes, pixels, and finite values only.
fn check_comparable(a: &LinearImage, b: &LinearImage) -> Result<(), MetricError> {
    let (size_a, size_b) = ((a.width(), a.height()), (b.width(), b.height()));
    if size_a != size_b {
        return Err(MetricError::SizesDiffer { a: size_a, b: size_b });
    }
    if a.pixels().is_empty() {
        return Err(MetricError::Empty);
    }
    check_finite(a, Side::A)?;
    check_finite(b, Side::B)
}

fn check_finite(image: &LinearImage, side: Side) -> Result<(), MetricError> {
    let is_broken = |pixel: &[f32; 3]| pixel.iter().any(|v| !v.is_finite());
    let Some(first) = image.pixels().iter().position(is_broken) else {
        return Ok(());
    };
    let pixel = image.pixels()[first];
    let channel = pixel.iter().position(|v| !v.is_finite()).unwrap_or(0);
    Err(MetricError::NonFinite {
        side,
        x: (first % image.width() as usize) as u32,
        y: (first / image.width() as usize) as u32,
        channel,
        value: pixel[channel],
        count: image.pixels().iter().filter(|p| is_broken(p)).count() as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image_io::srgb;

    fn flat(width: u32, height: u32, value: f32) -> LinearImage {
        LinearImage::from_fn(width, height, |_, _| [value; 3])
    }

    #[test]
    fn equal_images_have_no_difference() {
        let image = LinearImage::from_fn(19, 13, |x, y| [x as f32 / 19.0, y as f32 / 13.0, 3.5]);
        let m = compare(&image, &image).unwrap();
        assert_eq!((m.mse, m.mse_linear, m.rmse, m.max_abs, m.pixels_differing), (0.0, 0.0, 0.0, 0.0, 0));
        assert_eq!((m.psnr, m.ssim), (f64::INFINITY, 1.0));
    }

    #[test]
    fn black_against_white_is_the_greatest_error() {
        let m = compare(&flat(8, 8, 0.0), &flat(8, 8, 1.0)).unwrap();
        assert_eq!((m.mse, m.mse_linear, m.rmse, m.psnr, m.max_abs), (65025.0, 1.0, 255.0, 0.0, 1.0));
        assert_eq!(m.pixels_differing, 64);
    }

    #[test]
    fn codes_ten_apart_everywhere_have_an_error_of_one_hundred() {
        let (a, b) = (srgb::decode8(100), srgb::decode8(110));
        let m = compare(&flat(9, 5, a), &flat(9, 5, b)).unwrap();
        assert_eq!((m.mse, m.rmse), (100.0, 10.0));
        assert!((m.psnr - 28.130_803_608_679_1).abs() < 1e-12, "10 log10(65025 / 100)");
        assert!((m.mse_linear - (f64::from(a) - f64::from(b)).powi(2)).abs() < 1e-15);
    }

    #[test]
    fn one_channel_of_one_pixel_counts_as_its_share() {
        let a = flat(4, 4, 0.25);
        let b =
            LinearImage::from_fn(4, 4, |x, y| if (x, y) == (2, 1) { [0.25, 0.75, 0.25] } else { [0.25; 3] });
        let m = compare(&a, &b).unwrap();
        assert_eq!((m.mse_linear, m.max_abs, m.pixels_differing), (0.25 / 48.0, 0.5, 1));
    }

    #[test]
    fn a_difference_below_eight_bits_is_seen_by_linear_metrics_alone() {
        let m = compare(&flat(8, 8, 0.5), &flat(8, 8, 0.5 + f32::EPSILON)).unwrap();
        assert_eq!((m.mse, m.psnr, m.pixels_differing), (0.0, f64::INFINITY, 64));
        assert!(m.mse_linear > 0.0);
    }

    #[test]
    fn radiance_above_one_is_clamped_in_eight_bits_only() {
        let m = compare(&flat(8, 8, 2.0), &flat(8, 8, 5.0)).unwrap();
        assert_eq!((m.mse, m.mse_linear, m.max_abs), (0.0, 9.0, 3.0));
    }

    #[test]
    fn sizes_that_differ_are_an_error() {
        let error = compare(&flat(4, 4, 0.0), &flat(4, 5, 0.0)).unwrap_err();
        assert_eq!(error, MetricError::SizesDiffer { a: (4, 4), b: (4, 5) });
        assert_eq!(compare(&flat(0, 3, 0.0), &flat(0, 3, 0.0)).unwrap_err(), MetricError::Empty);
    }

    #[test]
    fn the_first_value_that_is_not_finite_is_named() {
        let broken = LinearImage::from_fn(4, 3, |x, y| match (x, y) {
            (3, 1) => [0.0, f32::INFINITY, f32::NAN],
            (0, 2) => [f32::NAN; 3],
            _ => [0.0; 3],
        });
        let error = compare(&flat(4, 3, 0.0), &broken).unwrap_err();
        assert_eq!(
            error,
            MetricError::NonFinite { side: Side::B, x: 3, y: 1, channel: 1, value: f32::INFINITY, count: 2 }
        );
        assert!(error.to_string().contains("(3, 1)"));
    }
}
