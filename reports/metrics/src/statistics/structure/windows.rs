//! Spots: 4×4 pixels that differ among calm surroundings.
//!
//! The mean of every 4×4 pixels, at every place, is tested by Student's t. Sixteen values are too few for
//! heavy tails, so a spot counts only where the noise around it looks normal: between 6 and 12 pixels away,
//! with little skewness and kurtosis, of a mean far below the spot's, and independent between pixels.

use super::super::correction::sidak;
use super::super::family::{Family, adjusted};
use super::super::skewness::corrected;
use super::super::student::two_sided_p;
use super::super::test_result::{Region, StructureTest};
use super::super::tile_tests::Setting;

/// Side of a spot in pixels.
const SIDE: usize = 4;
/// Values of a spot.
const VALUES: f64 = (SIDE * SIDE) as f64;
/// The most that noise may be correlated.
const MOST_CORRELATION: f64 = 1.3;
/// The surroundings: within the outer, not within the inner distance of the spot's middle.
const INNER: usize = 6;
const OUTER: usize = 12;
/// The most skewness and kurtosis of calm surroundings, with about 400 values: four standard errors.
const MOST_SKEWNESS: f64 = 0.5;
const MOST_KURTOSIS: f64 = 4.0;
/// The least kurtosis: two values in turn have 1, and sixteen alike are then not rare enough.
const LEAST_KURTOSIS: f64 = 2.2;
/// The most that the mean of the surroundings may be, of the spot's.
const MOST_MEAN: f64 = 0.25;
/// Spots whose surroundings are looked at, those with the greatest t first.
const CANDIDATES: usize = 256;
/// The least t that is looked at: no fewer values than a thousand reject below it.
const LEAST_T: f64 = 7.0;

/// The test; nothing where the image is smaller than the surroundings of a spot, or noise is correlated.
pub(super) fn test(setting: &Setting<'_>) -> Option<StructureTest> {
    let (width, height) = (setting.differences.width, setting.differences.height);
    if width < 2 * OUTER
        || height < 2 * OUTER
        || setting.correlation.variance_factor(SIDE as f64) > MOST_CORRELATION
    {
        return None;
    }
    let mean = setting.differences.mean();
    let tests = 3 * (width - SIDE + 1) * (height - SIDE + 1);
    let mut found: Vec<Region> = (0..3).flat_map(|channel| spots(&mean, setting, channel)).collect();
    found.sort_by(|a, b| b.t.abs().total_cmp(&a.t.abs()));
    let values = |x: usize, y: usize, c: usize| mean[y * width + x][c];
    let calm = |r: &&Region| {
        let middle = (r.x as usize + SIDE / 2, r.y as usize + SIDE / 2);
        is_calm(middle, r.difference, (width, height), |x, y| values(x, y, r.channel))
    };
    let spot = found.iter().take(CANDIDATES).find(calm);
    let region = *spot?;
    let p = adjusted(sidak(region.p, tests), Family::Windows);
    Some(StructureTest { family: Family::Windows, p, region, amount: (0, 0) })
}

/// The spots of a channel that lie far from 0.
fn spots(mean: &[[f64; 3]], setting: &Setting<'_>, channel: usize) -> Vec<Region> {
    let (width, height) = (setting.differences.width, setting.differences.height);
    // Sums over four pixels of a row, then over four rows.
    let of_row = |y: usize, x: usize| {
        mean[y * width + x..y * width + x + SIDE]
            .iter()
            .fold((0.0, 0.0), |(sum, squares), v| (sum + v[channel], squares + v[channel] * v[channel]))
    };
    let mut found = Vec::new();
    for x in 0..=width - SIDE {
        let rows: Vec<(f64, f64)> = (0..height).map(|y| of_row(y, x)).collect();
        for (y, four) in rows.windows(SIDE).enumerate() {
            let (sum, squares) = four.iter().fold((0.0, 0.0), |(s, q), row| (s + row.0, q + row.1));
            let difference = sum / VALUES;
            let margin = setting.margins.of_pixel(x, y, channel);
            let beyond =
                difference.abs() - margin.max(setting.margins.of_pixel(x + SIDE - 1, y + SIDE - 1, channel));
            let error = ((squares - sum * difference).max(0.0) / (VALUES - 1.0) / VALUES).sqrt();
            if beyond <= LEAST_T * error {
                continue;
            }
            let t = corrected(difference.signum() * beyond / error, VALUES, setting.skewness.pooled);
            if t.abs() <= LEAST_T {
                continue;
            }
            let level = (setting.level)((y + SIDE / 2) * width + x + SIDE / 2, channel);
            let relative = if level > 0.0 { difference / level } else { 0.0 };
            let p = two_sided_p(t, VALUES - 1.0);
            found.push(Region {
                x: x as u32,
                y: y as u32,
                side: SIDE as u32,
                channel,
                difference,
                relative,
                t,
                p,
            });
        }
    }
    found
}

/// Whether the noise around a pixel looks normal, and its mean is far below a difference there.
pub(super) fn is_calm(
    middle: (usize, usize),
    difference: f64,
    (width, height): (usize, usize),
    value: impl Fn(usize, usize) -> f64,
) -> bool {
    let range = |middle: usize, end: usize| middle.saturating_sub(OUTER)..(middle + OUTER).min(end);
    let mut values = Vec::new();
    for y in range(middle.1, height) {
        for x in range(middle.0, width) {
            if x.abs_diff(middle.0) > INNER || y.abs_diff(middle.1) > INNER {
                values.push(value(x, y));
            }
        }
    }
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    let moment = |k: i32| values.iter().map(|v| (v - mean).powi(k)).sum::<f64>() / n;
    let variance = moment(2);
    let kurtosis = moment(4) / (variance * variance);
    variance > 0.0
        && mean.abs() < MOST_MEAN * difference.abs()
        && (moment(3) / variance.powf(1.5)).abs() < MOST_SKEWNESS
        && (LEAST_KURTOSIS..MOST_KURTOSIS).contains(&kurtosis)
}
