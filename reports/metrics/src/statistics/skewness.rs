//! Skewness of differences, where one side's noise has heavier tails than the other's.
//!
//! The difference of two sides with equal noise is symmetric, and then Student's t is safe whatever the tails
//! (Efron 1969). Where one side is noisier the difference is as skew as that side's noise, and the mean of a
//! tile that misses the rare bright samples is low by more than its scatter tells. The skewness γ is pooled
//! over the image from differences over the spread of their tile (median absolute deviation). It is not 0 in two
//! cases: the greatest differences are significantly of one sign; or the outliers are too few for significance, all
//! of one sign, and at the upper bound of their number their share of the mean would let some tile reject. The t
//! statistic of n values, `T = √n W`, is then replaced by `√n g(W)` (Hall 1992, "On the removal of skewness by transformation", JRSS B 54(1)):
//!
//! `g(W) = ((1 + γW/3)³ − 1) / γ + γ / 6n`,
//!
//! where it lies nearer 0, with `1 + γW/3` not below 0: a tile of fewer than about `25 γ²` values rejects on
//! no side where the tail may be missing.
//!
//! A few outliers of one sign explain no more than as much light as they may have: a mean that is farther from 0
//! is tested as if nothing were skew. That bound is each channel's own where channels share their outliers, as those
//! of a renderer do; where outliers come to channels independently, one that has none by chance takes the bound of
//! the channel that has most.

use super::fields::Differences;
use super::tiles::TILE;
use std::collections::BTreeSet;

/// Normalised median absolute deviation: that of normal values is their standard deviation.
const NORMAL: f64 = 1.482_6;
/// How many of the greatest values are looked at for their signs.
const GREATEST: [usize; 3] = [16, 64, 256];
/// Standard deviations by which signs differ from even.
const UNEVEN: f64 = 2.8;
/// How many spreads from the median of its tile a value lies to be an outlier.
const OUTLYING: f64 = 25.0;
/// Outliers of the other sign, as a share of all, up to which they are of one sign.
const OTHER_SIGN: f64 = 0.125;
/// How many standard errors from 0 a mean lies that rejects.
const REJECTS: f64 = 5.5;
/// Fields that are pooled at most.
const MOST_FIELDS: usize = 4;

/// Outliers of all channels from which on their pixels tell whether channels share them.
const TELLING: usize = 4;
/// Pixels of outliers over outliers, from which on channels do not share them.
const APART: f64 = 0.75;

/// How many times the light of outliers, at the upper bound of their number, a tile may lack: they may be brighter
/// where the image is.
const BRIGHTER: f64 = 2.0;

/// Skewness of the differences of an image.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Skewness {
    /// The pooled skewness, 0 where nothing speaks for any.
    pub(super) pooled: f64,
    /// The farthest from 0 that the mean of a tile may be for want of rare values, by channel.
    pub(super) missing: [f64; 3],
}

impl Skewness {
    /// The skewness that a tile's mean of a channel is corrected for.
    pub(super) fn of_mean(&self, mean: f64, channel: usize) -> f64 {
        if mean.abs() > self.missing[channel] { 0.0 } else { self.pooled }
    }
}

/// The skewness of the differences.
pub(super) fn of(differences: &Differences) -> Skewness {
    let fields = || differences.fields.iter().take(MOST_FIELDS);
    let size = (differences.width, differences.height);
    let mut values = Vec::new();
    let mut outliers: [Outliers; 3] = std::array::from_fn(|_| Outliers::default());
    for (index, field) in fields().enumerate() {
        let first = index * size.0 * size.1;
        for (channel, outliers) in outliers.iter_mut().enumerate() {
            standardise(field, size, channel, first, &mut values, outliers);
        }
    }
    if is_uneven(&mut values) {
        return Skewness { pooled: skewness(&values), missing: [f64::INFINITY; 3] };
    }
    match few_outliers_matter(&values) {
        Some(more) => {
            let pixels = (size.0 * size.1 * fields().count()) as f64;
            let most = outliers.iter().map(Outliers::sum_over_spread).fold(0.0, f64::max);
            let shared = are_shared(&outliers);
            let missing = outliers.map(|own| {
                let sum = if shared { own.sum.abs() } else { most * own.spread };
                BRIGHTER * more * sum / pixels
            });
            Skewness { pooled: skewness(&values), missing }
        }
        None => Skewness { pooled: 0.0, missing: [f64::INFINITY; 3] },
    }
}

/// Outliers of a channel.
#[derive(Debug, Default)]
struct Outliers {
    /// Sum of the outliers less their tiles' medians.
    sum: f64,
    /// Sum of the spreads of all tiles.
    spread: f64,
    /// Pixels of the outliers, counted through all fields.
    pixels: Vec<usize>,
}

impl Outliers {
    fn sum_over_spread(&self) -> f64 {
        if self.spread > 0.0 { self.sum.abs() / self.spread } else { 0.0 }
    }
}

/// Whether channels share their outliers, or too few tell. Outliers of one channel alone are the color of light.
fn are_shared(outliers: &[Outliers; 3]) -> bool {
    let all: usize = outliers.iter().map(|own| own.pixels.len()).sum();
    let channels = outliers.iter().filter(|own| !own.pixels.is_empty()).count();
    let pixels: BTreeSet<usize> = outliers.iter().flat_map(|own| own.pixels.iter().copied()).collect();
    all < TELLING || channels < 2 || (pixels.len() as f64) < APART * all as f64
}

/// Appends every value of a channel less its tile's median, over its tile's spread, and adds the outliers. `first` is
/// the index of the field's first pixel.
fn standardise(
    field: &[[f64; 3]],
    (width, height): (usize, usize),
    channel: usize,
    first: usize,
    to: &mut Vec<f64>,
    outliers: &mut Outliers,
) {
    let side = TILE as usize;
    let mut tile = Vec::with_capacity(side * side);
    for y in (0..height).step_by(side) {
        for x in (0..width).step_by(side) {
            let columns = x..(x + side).min(width);
            let rows = y..(y + side).min(height);
            let pixels = rows.flat_map(|row| columns.clone().map(move |column| row * width + column));
            tile.clear();
            tile.extend(pixels.clone().map(|pixel| field[pixel][channel]));
            let middle = median(&mut tile);
            let mut away: Vec<f64> = tile.iter().map(|v| (v - middle).abs()).collect();
            let mut spread = NORMAL * median(&mut away);
            if spread <= 0.0 {
                spread = (away.iter().map(|v| v * v).sum::<f64>() / away.len() as f64).sqrt();
            }
            if spread > 0.0 {
                to.extend(tile.iter().map(|v| (v - middle) / spread));
                outliers.spread += spread;
                for pixel in pixels {
                    let away = field[pixel][channel] - middle;
                    if away.abs() > OUTLYING * spread {
                        outliers.sum += away;
                        outliers.pixels.push(first + pixel);
                    }
                }
            }
        }
    }
}

fn median(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    if values.is_empty() { 0.0 } else { *values.select_nth_unstable_by(middle, f64::total_cmp).1 }
}

/// Whether the greatest values are significantly of one sign.
fn is_uneven(values: &mut [f64]) -> bool {
    GREATEST.iter().any(|&m| {
        if values.len() < 2 * m {
            return false;
        }
        values.select_nth_unstable_by(m, |a, b| b.abs().total_cmp(&a.abs()));
        let nonzero = values[..m].iter().filter(|v| **v != 0.0);
        let (positive, all) =
            nonzero.fold((0.0, 0.0), |(p, n), v| (p + f64::from(u8::from(*v > 0.0)), n + 1.0));
        all >= 10.0 && (positive - 0.5 * all).abs() >= UNEVEN * 0.5 * f64::sqrt(all)
    })
}

/// Upper bound of the expected number of outliers over the number seen, where all have one sign and that number moves the
/// mean over its spread so far from 0 that the mean of the image would reject without them; else `None`.
fn few_outliers_matter(values: &[f64]) -> Option<f64> {
    let outliers = || values.iter().filter(|v| v.abs() > OUTLYING);
    let (count, sum) = outliers().fold((0.0, 0.0), |(n, sum), v| (n + 1.0, sum + v));
    let positive = outliers().filter(|v| **v > 0.0).count() as f64;
    if count == 0.0 || positive.min(count - positive) > OTHER_SIGN * count {
        return None;
    }
    // Upper bound of a Poisson mean given the count of events, at a confidence above 0.999.
    let expected = count + 4.0 * count.sqrt() + 5.0;
    // Pixels, since the three channels may show the same outlier.
    let pixels = values.len() as f64 / 3.0;
    let more = expected / count;
    (more * sum.abs() / values.len() as f64 > REJECTS / pixels.sqrt()).then_some(more)
}

/// Third central moment over the standard deviation cubed; 0 where all values are equal.
pub(super) fn skewness(values: &[f64]) -> f64 {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    let moment = |k: i32| values.iter().map(|v| (v - mean).powi(k)).sum::<f64>() / n;
    let variance = moment(2);
    if variance > 0.0 { moment(3) / variance.powf(1.5) } else { 0.0 }
}

/// A t statistic of `values` independent values, corrected for their skewness; never farther from 0.
pub(super) fn corrected(t: f64, values: f64, skewness: f64) -> f64 {
    if skewness == 0.0 || t.is_nan() {
        return t;
    }
    let w = t / values.sqrt();
    let cube = (1.0 + skewness * w / 3.0).max(0.0).powi(3);
    let transformed = values.sqrt() * ((cube - 1.0) / skewness + skewness / (6.0 * values));
    if transformed.signum() != t.signum() {
        0.0
    } else if transformed.abs() < t.abs() {
        transformed
    } else {
        t
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_low_mean_of_few_skew_values_says_little_and_a_high_one_as_much_as_before() {
        assert_eq!(corrected(-6.0, 64.0, 0.0), -6.0);
        assert!(corrected(-6.0, 64.0, 10.0).abs() < 1.0, "the rare bright values may be missing");
        assert_eq!(corrected(6.0, 64.0, 10.0), 6.0);
        assert!(corrected(-8.0, 1e6, 10.0) < -7.5, "a million values have them");
        assert!(corrected(6.0, 64.0, -10.0) < 1.0, "the other side");
        assert!(
            corrected(f64::NEG_INFINITY, 64.0, 10.0).abs() < 1.0,
            "values that are all alike miss them too"
        );
        assert_eq!(corrected(f64::INFINITY, 64.0, 10.0), f64::INFINITY);
    }

    #[test]
    fn even_tails_are_not_skew_whatever_their_weight() {
        let noise: Vec<f64> = (0..2000).map(|i| f64::from(i % 40) - 19.5).collect();
        let is_skew = |mut values: Vec<f64>| is_uneven(&mut values) || few_outliers_matter(&values).is_some();
        assert!(!is_skew([&noise[..], &[900.0, -800.0, 700.0, -650.0]].concat()));
        assert!(
            is_skew([&noise[..], &[2000.0, 2200.0, 2100.0]].concat()),
            "three fireflies, half of the light"
        );
        assert!(!is_skew([&noise[..], &[40.0]].concat()), "one that no tile's mean depends on");
        let mut uneven: Vec<f64> = (0..2000).map(|i| if i % 50 == 0 { 100.0 } else { -2.0 }).collect();
        assert!(is_uneven(&mut uneven));
        assert!((skewness(&uneven) - 6.857).abs() < 0.01, "0.96/√(0.02·0.98)");
    }

    #[test]
    fn outliers_of_channels_that_never_meet_in_a_pixel_are_independent() {
        let at = |pixels: [&[usize]; 3]| {
            are_shared(&pixels.map(|pixels| Outliers { pixels: pixels.to_vec(), ..Outliers::default() }))
        };
        assert!(!at([&[1, 7, 9], &[], &[4, 6]]));
        assert!(at([&[1, 7, 9], &[], &[1, 7, 9]]), "light that is red and blue");
        assert!(at([&[1, 7, 9, 12, 40], &[], &[]]), "red light");
        assert!(at([&[1], &[], &[4]]), "two may meet nowhere by chance");
    }

    #[test]
    fn a_few_outliers_explain_no_more_light_than_they_may_have() {
        let skewness = Skewness { pooled: 12.0, missing: [0.3, f64::INFINITY, 0.0] };
        assert_eq!([0.2, -0.2, 0.4, -0.4].map(|mean| skewness.of_mean(mean, 0)), [12.0, 12.0, 0.0, 0.0]);
        assert_eq!((skewness.of_mean(1e9, 1), skewness.of_mean(0.1, 2)), (12.0, 0.0));
    }
}
