//! Biases whose reason is told.

use crate::random_numbers::Noise;
use lockstep_metrics::image_io::{LinearImage, srgb};
use lockstep_metrics::statistics::{Agreement, DecisionRule, Pairing, Reason, Transform, compare_images};

const SIDE: u32 = 96;

/// A picture without symmetry, with a texture, edges and colours.
fn picture(x: i64, y: i64) -> [f64; 3] {
    let (u, v) = (x as f64, y as f64);
    let shade = 0.3 + 0.15 * (u / 7.0).sin() * (v / 11.0 + 0.3).cos() + 0.001 * u;
    let spot = if (u - 30.0).powi(2) + (v - 60.0).powi(2) < 200.0 { 0.4 } else { 0.0 };
    [shade + spot, 0.8 * shade + 0.1 * (v / 5.0).sin().abs(), 0.3 * shade + 0.002 * v]
}

fn noisy(noise: &mut Noise, show: impl Fn(i64, i64) -> [f64; 3]) -> LinearImage {
    LinearImage::from_fn(SIDE, SIDE, |x, y| {
        show(i64::from(x), i64::from(y)).map(|v| (v * (1.0 + 0.05 * noise.normal())) as f32)
    })
}

fn named(seed: u64, show_b: impl Fn(i64, i64) -> [f64; 3]) -> String {
    let mut noise = Noise(seed);
    let (a, b) = (noisy(&mut noise, picture), noisy(&mut noise, show_b));
    let found = compare_images(&[a], &[b], Pairing::Independent, &DecisionRule::default()).unwrap();
    assert_eq!(found.agreement, Agreement::Biased, "{}", found.reason);
    found.test.unwrap().probable.map_or_else(|| "nothing".to_owned(), |r| r.in_words("A", "B"))
}

#[test]
fn mistakes_of_registration_are_named_with_their_numbers() {
    let last = i64::from(SIDE) - 1;
    assert_eq!(named(1, |x, y| picture(x - 1, y)), "B is A moved by (1, 0) pixels");
    assert_eq!(named(2, |x, y| picture(x + 9, y - 14)), "B is A moved by (-9, 14) pixels");
    assert_eq!(named(3, |x, y| picture(last - x, y)), "B is A mirrored left to right");
    assert_eq!(named(4, |x, y| picture(x, last - y)), "B is A upside down");
    assert_eq!(named(5, |x, y| picture(y, x)), "B is A transposed");
}

#[test]
fn mistakes_of_colour_are_named_with_their_numbers() {
    assert_eq!(named(6, |x, y| picture(x, y).map(|v| v.powf(1.0 / 2.2))), "B is A at gamma 2.2");
    let scaled = named(7, |x, y| picture(x, y).map(|v| v * 2.0));
    assert!(scaled.starts_with("B is A times 2.00"), "{scaled}");
    let far = Reason::Transformed(Transform::Scaled(3e38)).in_words("A", "B");
    assert_eq!(far, "B is A times 3.00e38 (+127.82 stops)");
    let swapped = |x, y| {
        let [r, g, b] = picture(x, y);
        [b, g, r]
    };
    assert_eq!(named(8, swapped), "B is A with its channels as blue, green, red");
    let encode = |v: f64| srgb::encode(v.clamp(0.0, 1.0));
    assert_eq!(named(9, |x, y| picture(x, y).map(encode)), "B is A encoded as sRGB");
}

#[test]
fn premultiplied_alpha_is_named() {
    let mut noise = Noise(10);
    let alpha: Vec<f32> = (0..SIDE * SIDE).map(|i| if i % SIDE < 40 { 0.5 } else { 1.0 }).collect();
    let a = noisy(&mut noise, picture).with_alpha(alpha);
    let b = noisy(&mut noise, |x, y| picture(x, y).map(|v| v * if x < 40 { 0.5 } else { 1.0 }));
    let found = compare_images(&[a], &[b], Pairing::Independent, &DecisionRule::default()).unwrap();
    let reason = found.test.unwrap().probable.unwrap().in_words("A", "B");
    assert_eq!(reason, "B is A multiplied by its alpha");
}

#[test]
fn a_filter_of_either_side_is_named_and_no_curve() {
    let soft = |x: i64, y: i64| {
        let of = |dx: i64, dy: i64| texture(x + dx, y + dy);
        let sides = of(-1, 0) + of(1, 0) + of(0, -1) + of(0, 1);
        [0.6 * of(0, 0) + 0.1 * sides; 3]
    };
    let sharp = |x: i64, y: i64| [texture(x, y); 3];
    let mut noise = Noise(12);
    let (a, b) = (noisy(&mut noise, sharp), noisy(&mut noise, soft));
    for (one, other, words) in [(&a, &b, "B went through a wider"), (&b, &a, "A went through a wider")] {
        let (one, other) = (one.clone(), other.clone());
        let found = compare_images(&[one], &[other], Pairing::Independent, &DecisionRule::default()).unwrap();
        let reason = found.test.unwrap().probable.map_or_else(String::new, |r| r.in_words("A", "B"));
        assert!(reason.starts_with(words), "{}; {reason}", found.reason);
    }
}

/// A texture of single pixels, without order.
fn texture(x: i64, y: i64) -> f64 {
    let mixed = (x as u64).wrapping_mul(0x9e37_79b1).wrapping_add((y as u64).wrapping_mul(0x85eb_ca6b));
    let mixed = (mixed ^ (mixed >> 13)).wrapping_mul(0xc2b2_ae35);
    0.2 + 0.6 * ((mixed ^ (mixed >> 16)) & 0xffff) as f64 / 65_535.0
}

#[test]
fn a_local_bias_has_no_such_reason() {
    let local =
        |x: i64, y: i64| picture(x, y).map(|v| v * if (20..50).contains(&x) && y < 30 { 1.3 } else { 1.0 });
    assert_eq!(named(11, local), "nothing");
}
