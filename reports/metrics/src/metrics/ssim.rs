//! Structural similarity as `image-compare` computes it.

use super::{MetricError, check_comparable};
use crate::image_io::LinearImage;
use image::GrayImage;
use image_compare::Algorithm;

/// Definition of SSIM over 8-bit luma in a sentence, to show beside every value.
pub const SSIM_DEFINITION: &str = "SSIM of 8-bit BT.601 luma of sRGB values, over disjoint 8×8 boxes with sums of squares in place of \
     variances (image-compare's MSSIM); not the sliding Gaussian window of Wang et al. 2004.";

/// Structural similarity of two images, −1 to 1, 1 when equal.
///
/// The luma `Y = 0.299 R + 0.587 G + 0.114 B` of 8-bit sRGB values, rounded, is cut into disjoint boxes of
/// 8×8 pixels, smaller at the right and lower border. With means `μ`, and sums `S` over the `n` pixels of a
/// box, `S_xy = Σ (x − μ_x)(y − μ_y)`, a box scores
///
/// `(2 μ_x μ_y + C₁)(2 S_xy + C₂) / ((μ_x² + μ_y² + C₁)(S_xx + S_yy + C₂))`, `C₁ = 2.55²`, `C₂ = 7.65²`,
///
/// and the result is the mean over boxes, weighted by their pixels. Wang, Bovik, Sheikh and Simoncelli (2004)
/// have variances where `image-compare` has sums, which are 64 times as large in a full box, so `C₂` counts
/// 64 times less here and flat, noisy boxes score lower; and they slide a Gaussian window, 11×11, σ 1.5, over
/// the image. Numbers of the two definitions cannot be compared.
///
/// # Errors
/// [`MetricError`] as for [`super::compare`].
pub fn ssim(a: &LinearImage, b: &LinearImage) -> Result<f64, MetricError> {
    check_comparable(a, b)?;
    let sizes = MetricError::SizesDiffer { a: (a.width(), a.height()), b: (b.width(), b.height()) };
    let (luma_a, luma_b) = (luma(a).ok_or(sizes)?, luma(b).ok_or(sizes)?);
    image_compare::gray_similarity_structure(&Algorithm::MSSIMSimple, &luma_a, &luma_b)
        .map(|similarity| similarity.score)
        .map_err(|_| sizes)
}

/// 8-bit luma by ITU-R BT.601 in whole numbers; nothing when the image is larger than memory can be.
fn luma(image: &LinearImage) -> Option<GrayImage> {
    let codes = image.to_srgb8();
    let luma = codes.chunks_exact(3).map(|p| {
        let sum = 299 * u32::from(p[0]) + 587 * u32::from(p[1]) + 114 * u32::from(p[2]);
        ((sum + 500) / 1000) as u8
    });
    GrayImage::from_raw(image.width(), image.height(), luma.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image_io::srgb;

    fn grey(width: u32, height: u32, code: impl Fn(u32, u32) -> u8) -> LinearImage {
        LinearImage::from_fn(width, height, |x, y| [srgb::decode8(code(x, y)); 3])
    }

    const C1: f64 = 2.55 * 2.55;
    const C2: f64 = 7.65 * 7.65;

    #[test]
    fn ssim_of_an_image_with_itself_is_one() {
        let image = grey(37, 21, |x, y| (x * 7 + y * 13) as u8);
        assert_eq!(ssim(&image, &image).unwrap(), 1.0);
    }

    #[test]
    fn flat_images_score_by_their_means_alone() {
        let expected = (2.0 * 50.0 * 100.0 + C1) / (50.0 * 50.0 + 100.0 * 100.0 + C1);
        let got = ssim(&grey(20, 12, |_, _| 50), &grey(20, 12, |_, _| 100)).unwrap();
        assert!((got - expected).abs() < 1e-12, "{got} {expected}");
    }

    #[test]
    fn an_inverted_checkerboard_scores_by_the_formula_with_sums() {
        let board = |x: u32, y: u32| if (x + y).is_multiple_of(2) { 100 } else { 140 };
        let sum = 64.0 * 20.0 * 20.0;
        let expected = (-2.0 * sum + C2) / (2.0 * sum + C2);
        let got = ssim(&grey(16, 8, board), &grey(16, 8, |x, y| board(x + 1, y))).unwrap();
        assert!((got - expected).abs() < 1e-12, "{got} {expected}");
    }

    #[test]
    fn boxes_at_the_border_weigh_by_their_pixels() {
        // One full box that is equal and a 4-wide rest with means 0 and 200.
        let a = grey(12, 8, |_, _| 0);
        let b = grey(12, 8, |x, _| if x < 8 { 0 } else { 200 });
        let rest = C1 / (200.0 * 200.0 + C1);
        let got = ssim(&a, &b).unwrap();
        assert!((got - (64.0 + 32.0 * rest) / 96.0).abs() < 1e-12, "{got}");
    }
}
