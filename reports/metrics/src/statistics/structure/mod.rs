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

/// The share of pixels with light that agree where no side has noise.
const SILENT: f64 = 0.98;
/// How many times the margin of its tile a pixel differs by that does: steps may be greater than in the mean of the
/// tile, and files may be cut off rather than rounded.
const BEYOND: f64 = 4.0;

/// Pixels that differ where nothing else does: the one that differs most, and how many there are.
///
/// Where nearly all pixels with light agree to the rounding of files no side has noise, or both share it, and the
/// few that differ, mostly in one direction, are wrong or rare samples. Pixels known to be independent are films of
/// targets that share random numbers, some of whose paths part.
pub(super) fn lone_difference(setting: &Setting<'_>) -> Option<(Outlier, usize)> {
    let (width, fields) = (setting.differences.width, &setting.differences.fields);
    if fields.len() >= pixels::LEAST_SEEDS || setting.independent_pixels {
        return None;
    }
    let mean = setting.differences.mean();
    let (mut lit, mut brighter, mut found) = (0, 0, Vec::new());
    for (pixel, difference) in mean.iter().enumerate() {
        let (x, y) = (pixel % width, pixel / width);
        let tells = |c: usize| {
            let level = (setting.level)(pixel, c);
            level > 0.0 && !(setting.margins.precision.clips() && level >= 1.0)
        };
        let times = |c: usize| {
            let rounding = BEYOND * setting.margins.of_pixel(x, y, c);
            if rounding > 0.0 { difference[c].abs() / rounding } else { 0.0 }
        };
        lit += usize::from((0..3).any(tells));
        let most = (0..3).filter(|c| tells(*c)).max_by(|c, d| times(*c).total_cmp(&times(*d)));
        if let Some(channel) = most.filter(|c| times(*c) > 1.0) {
            let (difference, times) = (difference[channel], times(channel));
            brighter += usize::from(difference > 0.0);
            found.push(Outlier { x: x as u32, y: y as u32, channel, difference, times });
        }
    }
    let outliers = Outliers { count: found.len(), brighter, listed: found };
    let is_silent = (outliers.count as f64) < (1.0 - SILENT) * lit as f64;
    let most = outliers.listed.iter().max_by(|a, b| a.difference.abs().total_cmp(&b.difference.abs()))?;
    (is_silent && outliers.are_one_sided()).then_some((*most, outliers.count))
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

    /// The mean of `value(pixel, other)`, summed over the channels, over the pixels of each tile whose pixel at `lag`
    /// is in the image as well; tiles without such pixels are left out. Means rather than sums, since tiles at the
    /// edge have fewer pixels: where tiles are nearly alike their sums would be skew.
    fn by_tile(&self, (dx, dy): (i32, i32), value: impl Fn(usize, usize, (usize, usize)) -> f64) -> Vec<f64> {
        let side = TILE as usize;
        let columns = self.width.div_ceil(side);
        let mut sums = vec![(0.0, 0.0); columns * self.height.div_ceil(side)];
        let range = |lag: i32, end: usize| (-lag).max(0) as usize..end.saturating_sub(lag.max(0) as usize);
        for y in range(dy, self.height) {
            for x in range(dx, self.width) {
                let other = (y as i64 + i64::from(dy)) * self.width as i64 + x as i64 + i64::from(dx);
                let at = (x, y);
                let (sum, count) = &mut sums[y / side * columns + x / side];
                *sum += value(y * self.width + x, other as usize, at);
                *count += 1.0;
            }
        }
        sums.into_iter().filter(|(_, count)| *count > 0.0).map(|(sum, count)| sum / count).collect()
    }
}

/// How many standard deviations of tiles their mean lies from 0 where skewness no longer counts. Of any
/// distribution at most a tenth lies as far from its mean (Cantelli 1928), so nearly all tiles lie on one side, and
/// the rare tiles of a tail that would bring their mean to 0 would be among them.
const ONE_SIDED: f64 = 3.0;

/// The p-value of a mean of tiles as far from 0 as this beyond a margin, and the t statistic; two-sided. Tiles that
/// are all alike have no noise.
fn mean_of_tiles(tiles: &[f64], margin: f64) -> (f64, f64) {
    let n = tiles.len() as f64;
    let mean = tiles.iter().sum::<f64>() / n;
    let variance = tiles.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    let beyond = mean.abs() - margin;
    if tiles.len() < LEAST_TILES || beyond <= 0.0 || variance.is_nan() {
        return (1.0, 0.0);
    }
    let (w, n_root) = (mean.signum() * beyond / variance.sqrt(), n.sqrt());
    let t = if w.abs() > ONE_SIDED { w * n_root } else { corrected(w * n_root, n, skewness(tiles)) };
    (two_sided_p(t, n - 1.0), t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_that_are_nearly_alike_reject_though_those_at_the_edge_differ() {
        let tiles = |of: &dyn Fn(usize) -> f64| (0..256).map(of).collect::<Vec<f64>>();
        let noise = |i: usize| 1e-3 * ((i * 7919 % 101) as f64 / 50.0 - 1.0);
        let edge = tiles(&|i| 0.1 * if i % 16 == 15 { 0.875 } else { 1.0 } + noise(i));
        assert!(mean_of_tiles(&edge, 0.0).0 < 1e-100);
        assert_eq!(mean_of_tiles(&tiles(&|_| 0.125), 0.0), (0.0, f64::INFINITY));
        assert_eq!(mean_of_tiles(&tiles(&|_| 0.125), 0.2), (1.0, 0.0));
        // Fifteen tiles of sixteen are high, and one lacks what they have more.
        let skew = tiles(&|i| if i % 16 == 15 { -1.5 } else { 0.125 } + noise(i));
        let few = tiles(&|i| if i == 15 { -1.5 } else { 0.125 } + noise(i));
        assert!(mean_of_tiles(&skew, 0.0).0 > 0.01 && mean_of_tiles(&few, 0.0).0 > 1e-6);
    }

    #[test]
    fn tiles_at_the_edge_have_the_mean_of_their_own_pixels() {
        let image = LinearImage::from_fn(17, 8, |x, _| [x as f32; 3]);
        let one = std::slice::from_ref(&image);
        let sides = Sides::of(one, one);
        assert_eq!(sides.by_tile((1, 0), |p, q, _| (q - p) as f64), [1.0, 1.0]);
    }
}
