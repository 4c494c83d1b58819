//! Differences that two halves of the seeds share.
//!
//! The product of the differences of two independent halves has the expectation δ² at a pixel of bias δ and 0
//! without bias, for any noise. Its mean over tiles from 16×16 pixels on is tested for being above the square of
//! the margin, the differences being over their local scale. Rare samples of one side that most tiles miss leave
//! products that are skew, which is corrected as for means.

use super::super::correction::sidak;
use super::super::family::{Family, adjusted};
use super::super::fields::{Values, local_scale, mean_of, minus};
use super::super::skewness::{corrected, skewness};
use super::super::student::two_sided_p;
use super::super::test_result::{Region, StructureTest};
use super::super::tile_tests::Setting;
use super::super::tiles::{Sums, TILE, scales};
use crate::image_io::LinearImage;

/// Independent values that a tile has at least.
const LEAST_INDEPENDENT: f64 = 32.0;

/// How many times less than the square root of its values the skewness of a mean of products must be; that of
/// products is about the square of the differences'.
const NORMAL: f64 = 10.0;

/// The test; nothing where a side has one image, or one side's noise is so skew that rare samples decide.
pub(super) fn test(a: &[LinearImage], b: &[LinearImage], setting: &Setting<'_>) -> Option<StructureTest> {
    let size = (setting.differences.width, setting.differences.height);
    if setting.skewness.powi(2) > ((3 * size.0 * size.1) as f64).sqrt() / NORMAL {
        return None;
    }
    let (one, two) = (half(a, b, 0)?, half(a, b, 1)?);
    let size_of =
        |(one, two): (&[f64; 3], &[f64; 3])| std::array::from_fn(|c| 0.5 * (one[c].abs() + two[c].abs()));
    let scale = local_scale(&one.iter().zip(&two).map(size_of).collect(), size);
    let product = |pixel: usize, c: usize| {
        let (x, y) = (pixel % size.0, pixel / size.0);
        let (scale, margin) = (scale.at(x, y, c), setting.margins.of_pixel(x, y, c));
        if scale > 0.0 { (one[pixel][c] * two[pixel][c] - margin * margin) / (scale * scale) } else { 0.0 }
    };
    let skew = skewness(&(0..3 * size.0 * size.1).map(|i| product(i / 3, i % 3)).collect::<Vec<_>>());
    let sums_of = |pixel: usize, c: usize| {
        let value = product(pixel, c);
        Sums { count: 1.0, difference: value, square: value * value, ..Sums::default() }
    };
    let mut tests = 0;
    let mut least: Option<(f64, Region)> = None;
    let scales = scales(size, sums_of);
    for scale in scales.iter().filter(|scale| scale.side > TILE || scales.len() == 1) {
        for (index, tile) in scale.tiles.iter().enumerate() {
            for (channel, sums) in tile.iter().enumerate() {
                let factor = setting.correlation.square_factor(sums.count.sqrt());
                let independent = sums.count / factor;
                if independent < LEAST_INDEPENDENT {
                    continue;
                }
                tests += 1;
                let error = (sums.spread() / (sums.count - 1.0) * factor / sums.count).sqrt();
                let t = if sums.mean() > 0.0 { sums.mean() / error } else { 0.0 };
                let t = corrected(t, independent, skew.min(0.0));
                let p = if t > 0.0 { 0.5 * two_sided_p(t, independent - 1.0) } else { 1.0 };
                if least.as_ref().is_none_or(|(known, _)| p < *known) {
                    let (x, y) = scale.corner(index);
                    least = Some((p, Region { x, y, side: scale.side, channel, t, p, ..Region::NONE }));
                }
            }
        }
    }
    let (p, region) = least?;
    let p = adjusted(sidak(p, tests), Family::Product);
    Some(StructureTest { family: Family::Product, p, region, amount: (0, 0) })
}

/// The difference of the sides over every second image from `first`.
fn half(a: &[LinearImage], b: &[LinearImage], first: usize) -> Option<Values> {
    let every_second = |images: &[LinearImage]| -> Vec<LinearImage> {
        images.iter().skip(first).step_by(2).cloned().collect()
    };
    let (a, b) = (every_second(a), every_second(b));
    (!a.is_empty() && !b.is_empty()).then(|| minus(&mean_of(&a), &mean_of(&b)))
}
