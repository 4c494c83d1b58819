//! FLIP of images whose difference is known.

use lockstep_metrics::image_io::LinearImage;
use lockstep_metrics::metrics::{FLIP_DEFINITION, PIXELS_PER_DEGREE, flip_hdr, flip_ldr};

fn flat(value: [f32; 3]) -> LinearImage {
    LinearImage::from_fn(24, 16, |_, _| value)
}

#[test]
fn equal_images_show_no_difference() {
    let image = LinearImage::from_fn(31, 17, |x, y| [x as f32 / 9.0, y as f32 / 17.0, 0.3]);
    assert_eq!(flip_ldr(&image, &image).unwrap().mean(), 0.0);
    assert_eq!(flip_hdr(&image, &image).unwrap().mean(), 0.0);
}

#[test]
fn green_against_blue_is_the_greatest_colour_difference() {
    let map = flip_ldr(&flat([0.0, 1.0, 0.0]), &flat([0.0, 0.0, 1.0])).unwrap();
    assert!(map.values.iter().all(|v| (v - 1.0).abs() < 1e-4), "{}", map.mean());
}

#[test]
fn radiance_above_white_differs_in_high_dynamic_range_alone() {
    let (a, b) = (flat([2.0; 3]), flat([8.0; 3]));
    assert_eq!(flip_ldr(&a, &b).unwrap().mean(), 0.0);
    assert!(flip_hdr(&a, &b).unwrap().mean() > 0.1);
}

/// Made by flip-evaluator 1.7: `flip_evaluator.evaluate(reference, test, "HDR")`.
#[test]
fn negative_values_are_seen_as_flip_evaluator_sees_them() {
    let plain = |x: u32, y: u32| {
        let part = |n: u32, of: u32, over: f32, base: f32| base + (n % of) as f32 / over;
        [
            part(x * 7 + y * 13, 23, 12.0, 0.1),
            part(x * 5 + y * 3, 17, 9.0, 0.2),
            part(x + y * 11, 19, 10.0, 0.1),
        ]
    };
    let image = LinearImage::from_fn(32, 24, plain);
    let negative =
        LinearImage::from_fn(32, 24, |x, y| plain(x, y).map(|v| if x % 3 == 0 { -0.75 * v } else { v }));
    let found = |a: &LinearImage, b: &LinearImage| flip_hdr(a, b).unwrap().mean();
    assert!((found(&negative, &image) - 0.232_085_17).abs() < 1e-4, "{}", found(&negative, &image));
    assert!((found(&image, &negative) - 0.231_086_78).abs() < 1e-4, "{}", found(&image, &negative));
}

#[test]
fn black_images_have_exposures_of_the_other_or_none() {
    let (black, grey) = (flat([0.0; 3]), flat([0.5; 3]));
    assert!(flip_hdr(&grey, &black).unwrap().mean() > 0.5);
    assert_eq!(flip_hdr(&black, &black).unwrap().mean(), 0.0);
}

#[test]
fn the_definition_tells_the_pixels_per_degree_that_are_used() {
    let from_geometry = 0.7 * (3840.0 / 0.7) * std::f64::consts::PI / 180.0;
    assert!((f64::from(PIXELS_PER_DEGREE) - from_geometry).abs() < 1e-5);
    assert!(FLIP_DEFINITION.contains(&format!("{PIXELS_PER_DEGREE:.2} pixels")));
}
