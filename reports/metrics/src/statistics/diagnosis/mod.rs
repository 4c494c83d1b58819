//! The probable reason of a difference: mistakes of registration and colour that are common when images of two
//! programs are compared.
//!
//! Every candidate turns A into an image that should be B: moved (by the peak of the phase correlation, Kuglin
//! and Hines 1975, or by up to two pixels), mirrored, turned, transposed, with other channels, scaled, at
//! another gamma, encoded or decoded as sRGB, multiplied or divided by its alpha. The one that leaves the least
//! relative error is named if it leaves less than half of the error, or if what it leaves is within noise. Where the
//! contrast of neighbours differs, a filter of one side is named if it leaves less than a curve would; a curve that
//! leaves less than half of it lowers the contrast as a filter does.

mod filter;
mod phase;
mod transform;

pub use transform::Transform;

use super::test_result::TestResult;
use super::{Agreement, DecisionRule, Family, comparison};
use crate::image_io::LinearImage;
use crate::metrics::Side;
use filter::Filter;
use transform::candidates;

/// The share of the error that a reason may leave without being tested further.
const LEFT: f64 = 0.5;
/// The share of the error that a reason may leave that changes values and stands alone.
const CLEARLY: f64 = 0.05;
/// How much of the error that a curve leaves a filter may leave to be as good.
const AS_WELL: f64 = 1.25;
/// How much less error a candidate must leave than a simpler one.
const BETTER: f64 = 0.95;

/// A probable reason.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    /// B is A, transformed.
    Transformed(Transform),
    /// One side went through a filter that the other did not.
    Filtered {
        /// The side.
        side: Side,
        /// Standard deviation of the Gaussian like the filter, in pixels.
        deviation: f64,
    },
}

impl Reason {
    /// The reason in words, with names for the sides.
    pub fn in_words(&self, a: &str, b: &str) -> String {
        match self {
            Reason::Transformed(transform) => format!("{b} is {}", transform.of_in_words(a)),
            Reason::Filtered { side, deviation } => {
                let (soft, sharp) = if *side == Side::A { (a, b) } else { (b, a) };
                format!(
                    "{soft} went through a wider reconstruction filter than {sharp} (about a Gaussian of {deviation} pixels)"
                )
            }
        }
    }
}

/// The probable reason why two stacks of images are biased.
pub(super) fn reason(
    a: &[LinearImage],
    b: &[LinearImage],
    test: &TestResult,
    rule: &DecisionRule,
) -> Option<Reason> {
    let (mean_a, mean_b) = (mean(a), mean(b));
    let best = best(&mean_a, &mean_b);
    let clear = best.filter(|(share, _)| *share < LEFT);
    if let Some((_, transform)) = clear.filter(|(_, transform)| !transform.is_curve()) {
        return Some(Reason::Transformed(transform));
    }
    let structural = |family: Family| test.structure.iter().any(|s| s.family == family && s.p < rule.alpha);
    if structural(Family::Contrast) || structural(Family::Product) {
        let means_agree = test.tests_rejected == 0 && !structural(Family::Shift);
        // A filter takes away noise as well, and so a part of any error. A curve may do as well by chance.
        let most = clear.map_or(if means_agree { 1.0 } else { LEFT }, |(share, _)| AS_WELL * share);
        if let Some(Filter { side, deviation, .. }) =
            filter::best(&mean_a, &mean_b).filter(|filter| filter.left < most)
        {
            return Some(Reason::Filtered { side, deviation });
        }
    }
    if let Some((_, transform)) = clear {
        return Some(Reason::Transformed(transform));
    }
    // A curve that leaves most of the error mends the contrast and no more.
    let (_, transform) = best.filter(|(_, transform)| !transform.is_curve())?;
    is_explained(a, b, &transform, rule).then_some(Reason::Transformed(transform))
}

/// The reason that is clear without any test: it leaves less than half of the error and keeps every value, or
/// leaves next to nothing where both sides' noise is alike. Others change the noise, and so the error, without
/// any reason.
pub(super) fn clear_reason(a: &[LinearImage], b: &[LinearImage], alike: bool) -> Option<Reason> {
    let (share, transform) = best(&mean(a), &mean(b))?;
    let most = if transform.keeps_values() { LEFT } else { CLEARLY };
    (share < most && (alike || transform.keeps_values())).then_some(Reason::Transformed(transform))
}

/// The transform that leaves the least error, with the share that it leaves, below 1.
fn best(a: &LinearImage, b: &LinearImage) -> Option<(f64, Transform)> {
    let same = transform::error(a, b);
    let mut best: Option<(f64, Transform)> = None;
    // Simpler candidates come first.
    for transform in candidates(a, b) {
        let left = transform.apply(a, b).map_or(f64::INFINITY, |(a, b)| transform::error(&a, &b));
        let is_better = |(known, other): &(f64, Transform)| {
            let alike = transform.is_curve() && other.is_curve();
            left < if alike { *known } else { BETTER * known }
        };
        if best.as_ref().is_none_or(is_better) {
            best = Some((left, transform));
        }
    }
    best.filter(|(left, _)| *left < same).map(|(left, transform)| (left / same, transform))
}

/// The transform that makes images of A's size those of B's, where width and height are exchanged.
pub(super) fn exchanged(a: &LinearImage, b: &LinearImage) -> Option<Transform> {
    let error = |t: &Transform| t.apply(a, b).map_or(f64::INFINITY, |(a, b)| transform::error(&a, &b));
    let turns = transform::TURNS.into_iter().filter(|t| t.exchanges_sides());
    turns.min_by(|s, t| error(s).total_cmp(&error(t)))
}

/// Whether nothing but noise is left after the transform.
fn is_explained(a: &[LinearImage], b: &[LinearImage], transform: &Transform, rule: &DecisionRule) -> bool {
    let applied: Option<Vec<_>> = a.iter().map(|a| transform.apply(a, &b[0])).collect();
    let Some(applied) = applied else { return false };
    let b: Option<Vec<_>> = b.iter().map(|b| transform.apply(&a[0], b).map(|(_, b)| b)).collect();
    let a: Vec<_> = applied.into_iter().map(|(a, _)| a).collect();
    b.is_some_and(|b| comparison::agreement_of_tests(&a, &b, rule) != Agreement::Biased)
}

fn mean(images: &[LinearImage]) -> LinearImage {
    let values = super::fields::mean_of(images);
    let width = images[0].width();
    let image = LinearImage::from_fn(width, images[0].height(), |x, y| {
        values[y as usize * width as usize + x as usize].map(|v| v as f32)
    });
    match images[0].alpha() {
        Some(alpha) => image.with_alpha(alpha.to_vec()),
        None => image,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Noise;
    use super::super::{Pairing, compare_images};
    use super::transform::Transform;
    use super::*;

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
        assert_eq!(Transform::Scaled(3e38).of_in_words("A"), "A times 3.00e38 (+127.82 stops)");
        let swapped = |x, y| {
            let [r, g, b] = picture(x, y);
            [b, g, r]
        };
        assert_eq!(named(8, swapped), "B is A with its channels as blue, green, red");
        let encode = |v: f64| crate::image_io::srgb::encode(v.clamp(0.0, 1.0));
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
            let found =
                compare_images(&[one], &[other], Pairing::Independent, &DecisionRule::default()).unwrap();
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
        let local = |x: i64, y: i64| {
            picture(x, y).map(|v| v * if (20..50).contains(&x) && y < 30 { 1.3 } else { 1.0 })
        };
        assert_eq!(named(11, local), "nothing");
    }
}
