//! Tests of tiles and their result.

use super::DecisionRule;
use super::comparison::Pairing;
use super::correction::{sidak, sidak_threshold};
use super::methods::{Method, difference_sums, welch_sums};
use super::noise::NoiseFloor;
use super::tiles::{LEAST_VALUES, Scale, scales};
use super::welch::Estimate;
use crate::format::{number, percent};
use crate::image_io::LinearImage;

/// One tested tile, in one channel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Region {
    /// Left edge in pixels.
    pub x: u32,
    /// Upper edge in pixels.
    pub y: u32,
    /// Side in pixels; the tile may reach beyond the image.
    pub side: u32,
    /// 0 red, 1 green, 2 blue.
    pub channel: usize,
    /// Mean of A minus mean of B.
    pub difference: f64,
    /// `difference` over the mean of both sides, 0 where that is 0.
    pub relative: f64,
    /// Standard errors beyond the margin, with the sign of `difference`.
    pub t: f64,
    /// p-value of this tile alone.
    pub p: f64,
}

/// The result of all tests of one comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct TestResult {
    /// The test.
    pub method: Method,
    /// Tests in all: tiles of all scales times three channels.
    pub tests: usize,
    /// The p-value below which one test rejects.
    pub threshold: f64,
    /// The least p-value, corrected for the number of tests: the probability of one as small in the whole
    /// image without bias, at most.
    pub p: f64,
    /// Tests that reject, over all scales.
    pub tests_rejected: usize,
    /// Tiles of the finest scale that were tested.
    pub tiles: usize,
    /// How many of them reject in any channel.
    pub tiles_rejected: usize,
    /// The most significant tile; of equals the one with the greatest relative difference.
    pub worst: Region,
    /// Errors between the sides and within them.
    pub noise: NoiseFloor,
    /// The p-values of the map.
    pub(super) map: PMap,
}

/// A signed p-value for each of the finest tiles.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PMap {
    pub(super) columns: u32,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) threshold: f64,
    /// A p-value, and the sign of the difference there; NaN where a tile is in no test.
    pub(super) cells: Vec<(f64, f64)>,
}

impl TestResult {
    /// Tiles of the finest scale that reject over those tested; 0 where none was.
    pub fn share_rejected(&self) -> f64 {
        if self.tiles == 0 { 0.0 } else { self.tiles_rejected as f64 / self.tiles as f64 }
    }

    /// The finding in one sentence.
    pub(super) fn sentence(&self) -> String {
        let w = &self.worst;
        let channel = ["red", "green", "blue"][w.channel];
        if self.tests_rejected == 0 {
            return format!("no tile differs by more than noise (least p, corrected: {})", number(self.p));
        }
        format!(
            "A is {} than B by {} in {channel} over the {side}×{side} pixels at ({}, {}), {} standard errors beyond the \
             margin (p, corrected: {}); {} of the finest tiles reject",
            if w.difference > 0.0 { "brighter" } else { "darker" },
            percent(w.relative.abs()),
            w.x,
            w.y,
            number(w.t.abs()),
            number(self.p),
            percent(self.share_rejected()),
            side = w.side,
        )
    }
}

/// Tests all tiles of two stacks of finite images of one size.
pub(super) fn run_tests(
    a: &[LinearImage],
    b: &[LinearImage],
    pairing: Pairing,
    rule: &DecisionRule,
) -> TestResult {
    let several = a.len() > 1 && b.len() > 1;
    let method = if pairing == Pairing::Independent && several { Method::Welch } else { Method::Differences };
    let scales = match method {
        Method::Welch => scales(a, b, |pixel, channel| welch_sums(a, b, pixel, channel)),
        Method::Differences => scales(a, b, |pixel, channel| difference_sums(a, b, pixel, channel)),
    };
    let (width, height) = (a[0].width(), a[0].height());
    let regions: Vec<Vec<Region>> = scales.iter().map(|scale| test(scale, &scales, method, rule)).collect();
    let tests: usize = regions.iter().map(Vec::len).sum();
    let threshold = sidak_threshold(rule.alpha, tests);
    let rejects = |region: &&Region| region.p < threshold;
    let finest = &regions[0];
    let worst = regions.iter().flatten().copied().reduce(worse).unwrap_or(NO_REGION);
    TestResult {
        method,
        tests,
        threshold,
        p: sidak(worst.p, tests),
        tests_rejected: regions.iter().flatten().filter(rejects).count(),
        tiles: finest.len() / 3,
        tiles_rejected: finest.chunks(3).filter(|tile| tile.iter().any(|r| r.p < threshold)).count(),
        worst,
        noise: NoiseFloor::of(a, b),
        map: map(&regions, &scales[0], (width, height), threshold),
    }
}

/// Stands for the worst tile where none could be tested.
const NO_REGION: Region =
    Region { x: 0, y: 0, side: 0, channel: 0, difference: 0.0, relative: 0.0, t: 0.0, p: 1.0 };

fn worse(a: Region, b: Region) -> Region {
    if (b.p, -b.t.abs(), -b.relative.abs()) < (a.p, -a.t.abs(), -a.relative.abs()) { b } else { a }
}

/// Tests the tiles of one scale that have pixels enough, three channels each; the only tile of an image that
/// is smaller than that is tested all the same.
fn test(scale: &Scale, scales: &[Scale], method: Method, rule: &DecisionRule) -> Vec<Region> {
    let Some(whole) = scales.last().and_then(|coarsest| coarsest.tiles.first()) else {
        return Vec::new();
    };
    let most = whole[0].count;
    let least = LEAST_VALUES.min(most);
    let mut regions = Vec::new();
    for (index, tile) in scale.tiles.iter().enumerate().filter(|(_, tile)| tile[0].count >= least) {
        let (x, y) = (index as u32 % scale.columns * scale.side, index as u32 / scale.columns * scale.side);
        for (channel, sums) in tile.iter().enumerate() {
            let level = sums.level / sums.count;
            let margin = rule.margin * (level + 0.01 * whole[channel].level / most);
            let (estimate, p) = strictest(method.estimates(sums), margin);
            regions.push(Region {
                x,
                y,
                side: scale.side,
                channel,
                difference: estimate.difference,
                relative: if level > 0.0 { estimate.difference / level } else { 0.0 },
                t: estimate.t(margin),
                p,
            });
        }
    }
    regions
}

/// The estimate with the greatest p-value, and that. Without two values there is no standard error, and so
/// nothing to reject by: then the p-value is 1.
fn strictest((first, second): (Estimate, Option<Estimate>), margin: f64) -> (Estimate, f64) {
    let p = |estimate: &Estimate| Some(estimate.p(margin)).filter(|p| !p.is_nan()).unwrap_or(1.0);
    match second {
        Some(second) if p(&second) > p(&first) => (second, p(&second)),
        _ => (first, p(&first)),
    }
}

/// The least p-value over the channels of each finest tile. A coarser tile that rejects covers those inside
/// it, unless one of them rejects and so shows better where the images part.
fn map(regions: &[Vec<Region>], finest: &Scale, (width, height): (u32, u32), threshold: f64) -> PMap {
    let mut cells = vec![(f64::NAN, 0.0); finest.tiles.len()];
    for region in regions.iter().flatten().filter(|r| r.side == finest.side || r.p < threshold) {
        let across = region.side / finest.side;
        let (left, top) = (region.x / finest.side, region.y / finest.side);
        let columns = left..(left + across).min(finest.columns);
        let rows = top..(top + across).min(finest.rows);
        let covered =
            rows.flat_map(|row| columns.clone().map(move |column| (row * finest.columns + column) as usize));
        if across > 1 && covered.clone().any(|cell| cells[cell].0 < threshold) {
            continue;
        }
        for cell in covered {
            if cells[cell].0.is_nan() || region.p < cells[cell].0 {
                cells[cell] = (region.p, region.difference.signum());
            }
        }
    }
    PMap { columns: finest.columns, width, height, threshold, cells }
}
