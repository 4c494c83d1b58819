//! Differences that two halves of the seeds share.
//!
//! The product of the differences of two independent halves has the expectation δ² at a pixel of bias δ and 0
//! without bias, for any noise. Its mean over tiles from 16×16 pixels on is tested for being above the square of
//! the margin, the differences being over their local scale. Rare samples of one side that most tiles miss leave
//! products that are skew, which is corrected as for means. Samples that are stratified over the whole image
//! leave patterns that the correlation of neighbours does not show, of another size and sign under every seed; so
//! the seeds must agree on what they share, unless pixels are known to be independent.

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

/// The p-value below which seeds agree on what the halves share. A pattern of one form whose size is normal agrees
/// with twice this probability, whichever sign it has.
const AGREE: f64 = 0.000_1;

/// The test; nothing where a side has one image, or one side's noise is so skew that rare samples decide.
pub(super) fn test(a: &[LinearImage], b: &[LinearImage], setting: &Setting<'_>) -> Option<StructureTest> {
    let size = (setting.differences.width, setting.differences.height);
    if setting.skewness.pooled.powi(2) > ((3 * size.0 * size.1) as f64).sqrt() / NORMAL {
        return None;
    }
    let halves = [half(a, b, 0)?, half(a, b, 1)?];
    let (tests, region) = most_significant(&halves, setting);
    let region = region.filter(|region| setting.independent_pixels || seeds_agree(a, b, region))?;
    let p = adjusted(sidak(region.p, tests), Family::Product);
    Some(StructureTest { family: Family::Product, p, region, amount: (0, 0) })
}

/// The number of tiles tested and the one with the least p-value.
fn most_significant([one, two]: &[Values; 2], setting: &Setting<'_>) -> (usize, Option<Region>) {
    let size = (setting.differences.width, setting.differences.height);
    let size_of =
        |(one, two): (&[f64; 3], &[f64; 3])| std::array::from_fn(|c| 0.5 * (one[c].abs() + two[c].abs()));
    let scale = local_scale(&one.iter().zip(two).map(size_of).collect(), size);
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
    let mut least: Option<Region> = None;
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
                if least.as_ref().is_none_or(|known| p < known.p) {
                    let (x, y) = scale.corner(index);
                    least = Some(Region { x, y, side: scale.side, channel, t, p, ..Region::NONE });
                }
            }
        }
    }
    (tests, least)
}

/// Whether the difference of every seed is about as much like their mean as that of the others, by Student's t
/// over the seeds: noise of the same pattern in every pixel of a tile has another size and sign under each.
fn seeds_agree(a: &[LinearImage], b: &[LinearImage], region: &Region) -> bool {
    let (width, seeds) = (a[0].width(), a.len().min(b.len()));
    let range = |from: u32, end: u32| from..(from + region.side).min(end);
    let pixels: Vec<usize> = range(region.y, a[0].height())
        .flat_map(|y| range(region.x, width).map(move |x| (y * width + x) as usize))
        .collect();
    let difference = |seed: usize, pixel: usize| {
        f64::from(a[seed].pixels()[pixel][region.channel])
            - f64::from(b[seed].pixels()[pixel][region.channel])
    };
    let n = seeds as f64;
    let mean: Vec<f64> =
        pixels.iter().map(|&pixel| (0..seeds).map(|seed| difference(seed, pixel)).sum::<f64>() / n).collect();
    let likeness: Vec<f64> = (0..seeds)
        .map(|seed| pixels.iter().zip(&mean).map(|(&pixel, mean)| difference(seed, pixel) * mean).sum())
        .collect();
    let average = likeness.iter().sum::<f64>() / n;
    let variance = likeness.iter().map(|v| (v - average).powi(2)).sum::<f64>() / (n - 1.0);
    0.5 * two_sided_p(average / (variance / n).sqrt(), n - 1.0) < AGREE
}

/// The difference of the sides over every second image from `first`.
fn half(a: &[LinearImage], b: &[LinearImage], first: usize) -> Option<Values> {
    let every_second = |images: &[LinearImage]| -> Vec<LinearImage> {
        images.iter().skip(first).step_by(2).cloned().collect()
    };
    let (a, b) = (every_second(a), every_second(b));
    (!a.is_empty() && !b.is_empty()).then(|| minus(&mean_of(&a), &mean_of(&b)))
}
