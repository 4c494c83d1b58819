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

/// A probable reason for the difference of two images.
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
