//! Differences between two images, as numbers.
//!
//! `a`, `b` are the linear images; `A`, `B` the same as sRGB values by [`crate::image_io::srgb`]: no
//! exposure, no tone mapping, values outside 0 to 1 clamped. Where a metric needs a reference, it is the
//! second image.
//!
//! | metric | over | formula | range |
//! |---|---|---|---|
//! | `mse` | 8-bit sRGB | mean of `(A − B)²` over pixels and channels | 0 to 65025 |
//! | `rmse` | 8-bit sRGB | `√mse` | 0 to 255 |
//! | `psnr` | 8-bit sRGB | `10 log₁₀(255² / mse)` dB | 0 to ∞, infinite when `mse` is 0 |
//! | `ssim` | 8-bit luma | disjoint boxes of 8×8, see [`ssim()`] | −1 to 1, 1 when equal |
//! | `mse_linear` | linear f32 | mean of `(a − b)²` over pixels and channels | 0 and up |
//! | `rmse_linear` | linear f32 | `√mse_linear` | 0 and up |
//! | `rel_mse` | linear f32 | mean of `(a − b)² / (b² + 0.01)` (Rousselle, Knaus and Zwicker 2011) | 0 and up |
//! | `mae_linear` | linear f32 | mean of `\|a − b\|` over pixels and channels | 0 and up |
//! | `psnr_linear` | linear f32 | `10 log₁₀(1 / mse_linear)` dB, for a white of 1 | any, infinite when equal |
//! | `max_abs` | linear f32 | greatest `\|a − b\|` of any channel | 0 and up |
//! | `pixels_differing` | linear f32 | pixels in which any channel is unequal | 0 to all |
//! | `ssim_gaussian` | luma in f32 | Gaussian window of 11×11, σ 1.5, see [`ssim_gaussian()`] | −1 to 1, 1 when equal |
//! | `flip` | sRGB in f32 | mean of LDR-FLIP, see [`flip_ldr`] | 0 to 1, 0 when equal |
//! | `flip_hdr` | linear f32 | mean of HDR-FLIP, see [`flip_hdr`] | 0 to 1, 0 when equal |
//!
//! Means are taken in f64. `reports/metrics/checks` holds image pairs, the values of public implementations,
//! and the script that computes it; `tests/reference_metrics.rs` compares.

mod error;
mod flip;
mod layer;
mod plane;
mod pointwise;
mod ssim;
mod ssim_gaussian;

pub use error::{MetricError, Side};
pub use flip::{ExposureRange, FLIP_DEFINITION, FlipMap, PIXELS_PER_DEGREE, flip_hdr, flip_ldr};
pub use layer::{mean_angle, mean_relative_error};
pub use pointwise::{Means, REL_MSE_EPSILON, mse_of_last, psnr};
pub use ssim::{SSIM_DEFINITION, ssim};
pub use ssim_gaussian::{SSIM_GAUSSIAN_DEFINITION, ssim_gaussian};

use crate::float;
use crate::image_io::LinearImage;
use error::check_comparable;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// All metrics of one pair of images. In JSON they are one flat object, in which a number that is not finite
/// is a text such as `"inf"`, as in records.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Mean squared error over 8-bit sRGB values.
    pub mse: f64,
    /// Mean squared error over linear radiance.
    pub mse_linear: f64,
    /// Square root of `mse`.
    pub rmse: f64,
    /// Peak signal-to-noise ratio of `mse` in dB.
    #[serde(with = "float")]
    pub psnr: f64,
    /// Structural similarity over 8×8 boxes.
    pub ssim: f64,
    /// Greatest absolute difference of a linear channel.
    pub max_abs: f64,
    /// Pixels in which any linear channel differs.
    pub pixels_differing: u64,
    /// Metrics that see more than 8 bits.
    #[serde(flatten)]
    pub float: FloatMetrics,
}

/// Metrics of two images that are computed in floating point throughout, without rounding to 8 bits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FloatMetrics {
    /// Square root of the mean squared error over linear radiance.
    #[serde(with = "float")]
    pub rmse_linear: f64,
    /// Mean squared error over linear radiance, relative to the second image.
    #[serde(with = "float")]
    pub rel_mse: f64,
    /// Mean absolute error over linear radiance.
    #[serde(with = "float")]
    pub mae_linear: f64,
    /// Peak signal-to-noise ratio over linear radiance in dB, for a peak of 1.
    #[serde(with = "float")]
    pub psnr_linear: f64,
    /// Structural similarity under a Gaussian window; NaN for unequal images smaller than the window.
    #[serde(with = "float")]
    pub ssim_gaussian: f64,
    /// Mean of LDR-FLIP.
    #[serde(with = "float")]
    pub flip: f64,
    /// Mean of HDR-FLIP.
    #[serde(with = "float")]
    pub flip_hdr: f64,
}

impl Metrics {
    /// The metrics of two equal images, by definition.
    pub const EQUAL: Self = Self {
        mse: 0.0,
        mse_linear: 0.0,
        rmse: 0.0,
        psnr: f64::INFINITY,
        ssim: 1.0,
        max_abs: 0.0,
        pixels_differing: 0,
        float: FloatMetrics {
            rmse_linear: 0.0,
            rel_mse: 0.0,
            mae_linear: 0.0,
            psnr_linear: f64::INFINITY,
            ssim_gaussian: 1.0,
            flip: 0.0,
            flip_hdr: 0.0,
        },
    };
}

/// Compares two images; `b` is the reference of metrics that have one.
///
/// # Errors
/// [`MetricError`] when the sizes differ, there are no pixels, or a value is not finite.
pub fn compare(a: &LinearImage, b: &LinearImage) -> Result<Metrics, MetricError> {
    check_comparable(a, b)?;
    compare_all(&[a], b).map(|found| found[0])
}

/// Compares every image with one reference, in their order: what [`compare`] finds for each, in less time,
/// since what HDR-FLIP sees of the reference is found once for all.
///
/// # Errors
/// [`MetricError`] as for [`compare`].
pub fn compare_all(images: &[&LinearImage], reference: &LinearImage) -> Result<Vec<Metrics>, MetricError> {
    images.iter().try_for_each(|image| check_comparable(image, reference))?;
    let mean_all = |maps: Vec<Vec<f32>>| -> Vec<f64> { maps.iter().map(|map| plane::mean(map)).collect() };
    let (perceived, others) = rayon::join(
        || (mean_all(flip::ldr_maps(images, reference)), mean_all(flip::hdr_maps(images, reference))),
        || images.par_iter().map(|image| compare_values(image, reference)).collect::<Result<Vec<_>, _>>(),
    );
    let (ldr, hdr) = perceived;
    let flip = ldr.into_iter().zip(hdr);
    let with_flip = |(m, (flip, flip_hdr)): (Metrics, _)| Metrics {
        float: FloatMetrics { flip, flip_hdr, ..m.float },
        ..m
    };
    Ok(others?.into_iter().zip(flip).map(with_flip).collect())
}

/// All metrics but FLIP, which is left at 0.
fn compare_values(a: &LinearImage, b: &LinearImage) -> Result<Metrics, MetricError> {
    let ((linear, mse), (ssim, gaussian)) = rayon::join(
        || rayon::join(|| pointwise::linear_errors(a, b), || code_mse(a, b)),
        || rayon::join(|| ssim(a, b), || ssim_gaussian(a, b)),
    );
    Ok(Metrics {
        mse,
        mse_linear: linear.mse,
        rmse: mse.sqrt(),
        psnr: psnr(mse, 255.0),
        ssim: ssim?,
        max_abs: linear.max_abs,
        pixels_differing: a.pixels().iter().zip(b.pixels()).filter(|(p, q)| p != q).count() as u64,
        float: FloatMetrics {
            rmse_linear: linear.mse.sqrt(),
            rel_mse: linear.rel_mse,
            mae_linear: linear.mae,
            psnr_linear: psnr(linear.mse, 1.0),
            ssim_gaussian: gaussian?,
            flip: 0.0,
            flip_hdr: 0.0,
        },
    })
}

/// Mean squared errors of two images: over 8-bit sRGB values and over linear radiance, as [`Metrics`] has
/// them.
///
/// # Errors
/// [`MetricError`] as for [`compare`].
pub fn squared_errors(a: &LinearImage, b: &LinearImage) -> Result<(f64, f64), MetricError> {
    check_comparable(a, b)?;
    Ok(rayon::join(|| code_mse(a, b), || pointwise::linear_errors(a, b).mse))
}

fn code_mse(a: &LinearImage, b: &LinearImage) -> f64 {
    pointwise::code_mse(&a.to_srgb8(), &b.to_srgb8())
}
