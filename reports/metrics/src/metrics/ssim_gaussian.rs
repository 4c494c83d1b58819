//! Structural similarity with a sliding Gaussian window.

use super::plane::{Plane, mean};
use super::{MetricError, check_comparable};
use crate::image_io::{LinearImage, srgb};
use rayon::prelude::*;

/// Definition of SSIM with a Gaussian window in a sentence, to show beside every value.
pub const SSIM_GAUSSIAN_DEFINITION: &str = "SSIM by Wang et al. 2004: BT.601 luma of sRGB values from 0 to 1, not quantised, Gaussian window of 11×11 with \
     σ 1.5, K₁ 0.01, K₂ 0.03, mean over the windows that lie inside the image.";

/// Pixels from the middle of the window to its border.
const RADIUS: usize = 5;
const SIGMA: f64 = 1.5;
const C1: f32 = 0.01 * 0.01;
const C2: f32 = 0.03 * 0.03;

/// Structural similarity by Z. Wang, A. C. Bovik, H. R. Sheikh and E. P. Simoncelli, "Image Quality
/// Assessment: From Error Visibility to Structural Similarity", IEEE Trans. Image Process. 13(4), 2004. −1 to
/// 1, 1 when equal.
///
/// Of the luma `Y = 0.299 R + 0.587 G + 0.114 B` of sRGB values, clamped to 0 to 1 and not quantised, means
/// `μ`, variances `σ²` and the covariance `σ_xy` are taken under a Gaussian window of 11×11 pixels, σ 1.5,
/// sum 1, with `C₁ = 0.01²`, `C₂ = 0.03²`:
///
/// `(2 μ_x μ_y + C₁)(2 σ_xy + C₂) / ((μ_x² + μ_y² + C₁)(σ_x² + σ_y² + C₂))`
///
/// The result is the mean over all windows that lie inside the image; NaN for unequal images that none fits
/// into.
///
/// # Errors
/// [`MetricError`] as for [`super::compare`].
pub fn ssim_gaussian(a: &LinearImage, b: &LinearImage) -> Result<f64, MetricError> {
    check_comparable(a, b)?;
    let (x, y) = (luma(a), luma(b));
    if x.width <= 2 * RADIUS || x.height <= 2 * RADIUS {
        return Ok(if a == b { 1.0 } else { f64::NAN });
    }
    // Variances are differences of means of squares, which f32 tells apart near 0 only.
    let middle = mean(&y.data) as f32;
    let centred = |plane: &Plane| Plane::from_index(plane.width, plane.height, |i| plane.data[i] - middle);
    let (x, y) = (centred(&x), centred(&y));
    let window = window();
    let smooth = |plane: &Plane| plane.filtered(&window, &window);
    let product = |p: &Plane, q: &Plane| Plane::from_index(p.width, p.height, |i| p.data[i] * q.data[i]);
    let ((mean_x, mean_y), (xx, (yy, xy))) = rayon::join(
        || (smooth(&x), smooth(&y)),
        || (smooth(&product(&x, &x)), (smooth(&product(&y, &y)), smooth(&product(&x, &y)))),
    );
    let similarity = |i: usize| {
        let (mx, my) = (mean_x.data[i], mean_y.data[i]);
        let (var_x, var_y, covariance) = (xx.data[i] - mx * mx, yy.data[i] - my * my, xy.data[i] - mx * my);
        let (mx, my) = (mx + middle, my + middle);
        (2.0 * mx * my + C1) * (2.0 * covariance + C2) / ((mx * mx + my * my + C1) * (var_x + var_y + C2))
    };
    let inside: Vec<f32> = (RADIUS..x.height - RADIUS)
        .into_par_iter()
        .flat_map_iter(|row| (RADIUS..x.width - RADIUS).map(move |column| row * x.width + column))
        .map(similarity)
        .collect();
    Ok(mean(&inside))
}

fn window() -> Vec<f32> {
    let at = |i: usize| (-0.5 * ((i as f64 - RADIUS as f64) / SIGMA).powi(2)).exp();
    let sum: f64 = (0..=2 * RADIUS).map(at).sum();
    (0..=2 * RADIUS).map(|i| (at(i) / sum) as f32).collect()
}

fn luma(image: &LinearImage) -> Plane {
    let pixels = image.pixels();
    Plane::from_index(image.width() as usize, image.height() as usize, |i| {
        let [r, g, b] = pixels[i].map(|v| srgb::encode(f64::from(v.clamp(0.0, 1.0))));
        (0.299 * r + 0.587 * g + 0.114 * b) as f32
    })
}
