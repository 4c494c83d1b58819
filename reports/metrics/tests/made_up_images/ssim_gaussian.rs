//! Structural similarity under a Gaussian window, of images whose similarity is known.

use lockstep_metrics::image_io::{LinearImage, srgb};
use lockstep_metrics::metrics::ssim_gaussian;

fn grey(width: u32, height: u32, encoded: impl Fn(u32, u32) -> f64) -> LinearImage {
    LinearImage::from_fn(width, height, |x, y| [srgb::decode(encoded(x, y)) as f32; 3])
}

#[test]
fn an_image_is_like_itself() {
    let image = grey(31, 19, |x, y| f64::from((x * 7 + y * 13) % 29) / 29.0);
    assert_eq!(ssim_gaussian(&image, &image).unwrap(), 1.0);
}

#[test]
fn flat_images_score_by_their_means_alone() {
    let got = ssim_gaussian(&grey(20, 12, |_, _| 0.2), &grey(20, 12, |_, _| 0.4)).unwrap();
    let expected = (2.0 * 0.2 * 0.4 + 1e-4) / (0.04 + 0.16 + 1e-4);
    assert!((got - expected).abs() < 1e-5, "{got} {expected}");
}

#[test]
fn an_inverted_chequerboard_is_the_opposite() {
    let board = |x: u32, y: u32| if (x + y).is_multiple_of(2) { 0.1 } else { 0.9 };
    let got = ssim_gaussian(&grey(24, 24, board), &grey(24, 24, |x, y| board(x + 1, y))).unwrap();
    assert!(got < -0.99, "{got}");
}

#[test]
fn an_image_smaller_than_the_window_has_no_similarity_except_with_itself() {
    assert!(ssim_gaussian(&grey(10, 20, |_, _| 0.5), &grey(10, 20, |_, _| 0.4)).unwrap().is_nan());
    assert_eq!(ssim_gaussian(&grey(10, 20, |_, _| 0.5), &grey(10, 20, |_, _| 0.5)).unwrap(), 1.0);
    assert_eq!(ssim_gaussian(&grey(11, 11, |_, _| 0.5), &grey(11, 11, |_, _| 0.5)).unwrap(), 1.0);
}
