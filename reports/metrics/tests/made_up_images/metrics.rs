//! Metrics of images whose errors are known.

use lockstep_metrics::image_io::{LinearImage, srgb};
use lockstep_metrics::metrics::{Metrics, compare, compare_all, squared_errors};

fn flat(width: u32, height: u32, value: f32) -> LinearImage {
    LinearImage::from_fn(width, height, |_, _| [value; 3])
}

#[test]
fn equal_images_have_no_difference() {
    let image = LinearImage::from_fn(19, 13, |x, y| [x as f32 / 19.0, y as f32 / 13.0, 3.5]);
    let m = compare(&image, &image).unwrap();
    assert_eq!(m, Metrics::EQUAL);
}

#[test]
fn comparing_many_images_finds_what_comparing_each_does() {
    let image = |k: u32| LinearImage::from_fn(40, 70, |x, y| [(x * k + y) as f32 / 60.0, 0.4, k as f32]);
    let (a, b, reference) = (image(1), image(3), image(2));
    let found = compare_all(&[&a, &b, &reference], &reference).unwrap();
    let each = [&a, &b, &reference].map(|image| compare(image, &reference).unwrap());
    assert_eq!(found, each);
    assert_eq!(squared_errors(&a, &reference).unwrap(), (found[0].mse, found[0].mse_linear));
    let small = flat(3, 3, 0.0);
    assert!(compare_all(&[&a, &small], &reference).is_err());
    assert_eq!(compare_all(&[], &reference).unwrap(), []);
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
    let b = LinearImage::from_fn(4, 4, |x, y| if (x, y) == (2, 1) { [0.25, 0.75, 0.25] } else { [0.25; 3] });
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
fn errors_over_linear_values_are_those_of_their_formulas() {
    let m = compare(&flat(12, 12, 0.5), &flat(12, 12, 0.25)).unwrap().float;
    assert_eq!((m.rmse_linear, m.mae_linear), (0.25, 0.25));
    assert!((m.rel_mse - 0.0625 / (0.0625 + 0.01)).abs() < 1e-12);
    assert!((m.psnr_linear - 12.041_199_826_559_25).abs() < 1e-12, "20 log10(4)");
}

#[test]
fn metrics_are_one_flat_object_in_json() {
    let json = serde_json::to_value(Metrics::EQUAL).unwrap();
    assert_eq!((&json["psnr_linear"], &json["flip"]), (&"inf".into(), &0.0.into()));
    assert_eq!(serde_json::from_value::<Metrics>(json).unwrap(), Metrics::EQUAL);
}
