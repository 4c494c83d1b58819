//! Tests of what keeps the means of tiles: shifts, other filters, small spots.
//!
//! | test | seeds | rejects where |
//! |---|---|---|
//! | [`shift`] | one | B resembles A more when it is moved |
//! | [`contrast`] | one | products of neighbours differ between the sides |
//! | [`windows`] | one | 4×4 pixels differ among calm surroundings |
//! | [`product`] | three of each side, two of independent pixels | the differences of two halves of the seeds are alike |
//! | [`pixels`] | three pairs | single pixels stand out alike under every seed |
//!
//! None takes correlated, unequal or heavy-tailed noise for structure: what is averaged has the mean 0 (or
//! less) for any noise that is independent between the images compared.

mod contrast;
mod pixels;
mod product;
mod shift;
mod windows;

use super::fields::{TileMap, Values};
use super::outliers::{Outlier, Outliers};
use super::skewness::{corrected, skewness};
use super::student::two_sided_p;
use super::test_result::StructureTest;
use super::tile_tests::Setting;
use super::tiles::TILE;
use crate::image_io::LinearImage;

/// Tiles of 8×8 pixels that a test over tiles needs.
const LEAST_TILES: usize = 16;

/// All tests of structure that these images allow, those with the least p-value first.
pub(super) fn run(a: &[LinearImage], b: &[LinearImage], setting: &Setting<'_>) -> Vec<StructureTest> {
    let sides = Sides::of(a, b);
    let mut found: Vec<StructureTest> = [
        shift::test(&sides),
        contrast::test(&sides, setting),
        windows::test(setting),
        product::test(a, b, setting),
        pixels::test(setting),
    ]
    .into_iter()
    .flatten()
    .collect();
    found.sort_by(|a, b| a.p.total_cmp(&b.p));
    found
}

/// The outlier that stands out farthest among noise that looks normal, where there are too few seeds to tell
/// whether it does so under every one.
///
/// No test of one seed can tell a wrong pixel from a firefly: where three pixels are v or 3v with even odds on
/// both sides, which is no bias, A has 3v in all and B in none once in 64 times.
pub(super) fn lone_outlier(outliers: &Outliers, setting: &Setting<'_>) -> Option<Outlier> {
    let (size, fields) =
        ((setting.differences.width, setting.differences.height), &setting.differences.fields);
    if fields.len() >= pixels::LEAST_SEEDS || !outliers.are_one_sided() {
        return None;
    }
    let mean = setting.differences.mean();
    let is_alone = |outlier: &&Outlier| {
        let (at, c) = ((outlier.x as usize, outlier.y as usize), outlier.channel);
        // Rounding around it is no noise to compare it with.
        let noise = outlier.difference.abs() / outlier.times;
        let level = |x: usize, y: usize| (setting.level)(y * size.0 + x, c);
        let absolute = |x: usize, y: usize| mean[y * size.0 + x][c];
        // Noise in proportion to the level is normal over it only.
        let relative = |x: usize, y: usize| absolute(x, y) / level(x, y).max(f64::MIN_POSITIVE);
        let is_calm = windows::is_calm(at, outlier.difference, size, absolute)
            || windows::is_calm(at, relative(at.0, at.1), size, relative);
        noise > setting.margins.of_pixel(at.0, at.1, c) && is_calm
    };
    outliers.listed.iter().find(is_alone).copied()
}

/// The means of both sides, and their local level.
struct Sides {
    width: usize,
    height: usize,
    a: Values,
    b: Values,
    level: TileMap,
}

impl Sides {
    fn of(a: &[LinearImage], b: &[LinearImage]) -> Self {
        let (width, height) = (a[0].width() as usize, a[0].height() as usize);
        let (a, b) = (super::fields::mean_of(a), super::fields::mean_of(b));
        let raw = TileMap::mean((width, height), |p, c| 0.5 * (a[p][c].abs() + b[p][c].abs())).smoothed();
        let whole = (0..3).map(|c| raw.mean_over_all(c)).sum::<f64>() / 3.0;
        // A hundredth of the image's level keeps black surroundings from weighing infinitely.
        let level = TileMap::combined([&raw], |[level]| level + 0.01 * whole);
        Self { width, height, a, b, level }
    }

    /// The sum of `value(pixel, other)` over the channels and pixels of each tile whose pixel at `lag` is in
    /// the image as well.
    fn by_tile(&self, (dx, dy): (i32, i32), value: impl Fn(usize, usize, (usize, usize)) -> f64) -> Vec<f64> {
        let side = TILE as usize;
        let columns = self.width.div_ceil(side);
        let mut sums = vec![0.0; columns * self.height.div_ceil(side)];
        let range = |lag: i32, end: usize| (-lag).max(0) as usize..end.saturating_sub(lag.max(0) as usize);
        for y in range(dy, self.height) {
            for x in range(dx, self.width) {
                let other = (y as i64 + i64::from(dy)) * self.width as i64 + x as i64 + i64::from(dx);
                let at = (x, y);
                sums[y / side * columns + x / side] += value(y * self.width + x, other as usize, at);
            }
        }
        sums
    }
}

/// The p-value of a mean of tiles as far from 0 as this beyond a margin, and the t statistic; two-sided.
fn mean_of_tiles(sums: &[f64], margin: f64) -> (f64, f64) {
    let n = sums.len() as f64;
    let mean = sums.iter().sum::<f64>() / n;
    let variance = sums.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    let beyond = mean.abs() - margin;
    if sums.len() < LEAST_TILES || beyond <= 0.0 || variance.is_nan() || variance <= 0.0 {
        return (1.0, 0.0);
    }
    let t = mean.signum() * beyond / (variance / n).sqrt();
    let t = corrected(t, n, skewness(sums));
    (two_sided_p(t, n - 1.0), t)
}
