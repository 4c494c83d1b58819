//! The tests of tiles' means: bias of the mean, wherever and on whatever scale.

use super::DecisionRule;
use super::correction::sidak;
use super::correlation::Correlation;
use super::family::{self, Family};
use super::fields::Differences;
use super::map::tile_threshold;
use super::margins::Margins;
use super::skewness::{self, Skewness};
use super::student::two_sided_p;
use super::test_result::{Doubt, PMap, Region};
use super::tiles::{LEAST_VALUES, Scale, Sums, scales};

/// Independent values that a tile has at least.
const LEAST_INDEPENDENT: f64 = 8.0;
/// How many standard errors a transformed statistic must be able to reach for a tile to decide.
const DECISIVE: f64 = 5.5;

/// The findings of all tile tests.
#[derive(Debug, Clone)]
pub(super) struct TileTests {
    /// Tests in all.
    pub(super) tests: usize,
    /// The p-value below which one test rejects.
    pub(super) threshold: f64,
    /// The least p-value, corrected for the number of tests and for those of other families.
    pub(super) p: f64,
    /// Tests that reject.
    pub(super) rejected: usize,
    /// Finest tiles tested.
    pub(super) tiles: usize,
    /// Number of finest tiles that reject in any channel.
    pub(super) tiles_rejected: usize,
    /// The rejecting tile with the greatest difference; without any, the most significant tile.
    pub(super) worst: Region,
    /// Tiles that reject, each with no finer one inside it that does.
    pub(super) deciding: Vec<Region>,
    /// Why tests that would reject do not.
    pub(super) doubt: Option<Doubt>,
    /// Whether any test would reject were the noise independent between pixels.
    pub(super) rejects_if_independent: bool,
    /// p-values by finest tile.
    pub(super) map: PMap,
}

/// Everything that the tests of a comparison share.
pub(super) struct Setting<'a> {
    pub(super) differences: &'a Differences,
    pub(super) correlation: &'a Correlation,
    pub(super) margins: &'a Margins,
    /// Mean of `|A|` and `|B|` of a pixel and channel.
    pub(super) level: &'a (dyn Fn(usize, usize) -> f64 + Sync),
    pub(super) skewness: Skewness,
    /// Whether pixels are known to be independent.
    pub(super) independent_pixels: bool,
    /// Whether the correlation comes from several seeds, so that bias has no part in it.
    pub(super) from_seeds: bool,
}

/// A region with the p-values that it would have without the corrections.
#[derive(Debug, Clone, Copy)]
struct Tested {
    region: Region,
    /// Were the noise symmetric.
    p_symmetric: f64,
    /// Were nothing hidden by clipping.
    p_shown: f64,
    /// Were it symmetric and independent between pixels.
    p_independent: f64,
    /// Independent values.
    independent: f64,
}

/// Tests all tiles.
pub(super) fn run(setting: &Setting<'_>, rule: &DecisionRule) -> TileTests {
    let size = (setting.differences.width, setting.differences.height);
    let scales = scales(size, |pixel, channel| sums_of(setting, pixel, channel));
    let tested: Vec<Vec<Tested>> = scales.iter().map(|scale| test(scale, &scales, setting)).collect();
    let tests: usize = tested.iter().map(Vec::len).sum();
    let threshold = tile_threshold(rule.alpha, tests);
    let all = || tested.iter().flatten();
    let least = all().map(|t| t.region.p).fold(1.0, f64::min);
    let deciding = deciding(&tested, threshold);
    let worst = worst(all().map(|t| t.region), threshold);
    let finest = || tested[0].chunks(3).filter(|tile| tile[0].region.side == scales[0].side);
    TileTests {
        tests,
        threshold,
        p: family::adjusted(sidak(least, tests.max(1)), Family::Tiles),
        rejected: all().filter(|t| t.region.p < threshold).count(),
        tiles: finest().count(),
        tiles_rejected: finest().filter(|tile| tile.iter().any(|t| t.region.p < threshold)).count(),
        worst,
        rejects_if_independent: all().any(|t| t.p_independent < threshold),
        doubt: doubt(&tested, threshold, setting),
        map: map(&tested, &scales[0], size, threshold),
        deciding,
    }
}

fn sums_of(setting: &Setting<'_>, pixel: usize, channel: usize) -> Sums {
    let width = setting.differences.width;
    let (x, y) = (pixel % width, pixel / width);
    let level = (setting.level)(pixel, channel);
    let (margin, hidden) = (setting.margins.at(x, y, channel), setting.margins.hidden(x, y, channel));
    let mut sums = Sums::default();
    for field in &setting.differences.fields {
        let difference = field[pixel][channel];
        let square = difference * difference;
        sums.add(&Sums { count: 1.0, difference, square, level, margin, hidden });
    }
    sums
}

/// Tests the tiles of one scale that have values enough, three channels each; the only tile of an image that
/// is smaller than that is tested all the same.
fn test(scale: &Scale, scales: &[Scale], setting: &Setting<'_>) -> Vec<Tested> {
    let Some(whole) = scales.last().and_then(|coarsest| coarsest.tiles.first()) else { return Vec::new() };
    let least = LEAST_VALUES.min(whole[0].count);
    let fields = setting.differences.fields.len() as f64;
    let mut tested = Vec::new();
    for (index, tile) in scale.tiles.iter().enumerate().filter(|(_, tile)| tile[0].count >= least) {
        let side = (tile[0].count / fields).sqrt().min(f64::from(scale.side));
        let factors = (setting.correlation.variance_factor(side), setting.correlation.square_factor(side));
        if tile[0].count / factors.0 < LEAST_INDEPENDENT && factors.0 > 1.0 {
            continue;
        }
        for (channel, sums) in tile.iter().enumerate() {
            let (x, y) = scale.corner(index);
            let place = Region { x, y, side: scale.side, channel, ..Region::NONE };
            tested.push(tested_region(place, sums, factors, setting.skewness));
        }
    }
    tested
}

fn tested_region(place: Region, sums: &Sums, (v, squares): (f64, f64), skewness: Skewness) -> Tested {
    let (n, mean, margin) = (sums.count, sums.mean(), sums.margin / sums.count);
    let skew = skewness.of_mean(mean, place.channel);
    let level = sums.level / n;
    // The side that is darker may have lost more.
    let hidden = (-mean.signum() * sums.hidden / n).max(0.0);
    let statistic = |v: f64, squares: f64, hidden: f64| {
        let beyond = (mean.abs() - margin - hidden).max(0.0);
        let freedom = (n - v) * (n - v) / ((n - 1.0) * squares);
        let error = (sums.spread() / (n - v) * v / n).sqrt();
        (if beyond > 0.0 { mean.signum() * beyond / error } else { 0.0 }, freedom)
    };
    // Without two values there is no standard error, and so nothing to reject by.
    let p = |(t, freedom): (f64, f64)| match two_sided_p(t, freedom) {
        p if p.is_nan() || t == 0.0 || n < 2.0 => 1.0,
        p => p,
    };
    let (plain, freedom) = statistic(v, squares, hidden);
    let t = skewness::corrected(plain, n / v, skew);
    let shown = skewness::corrected(statistic(v, squares, 0.0).0, n / v, skew);
    let relative = if level > 0.0 { mean / level } else { 0.0 };
    Tested {
        region: Region { difference: mean, relative, t, p: p((t, freedom)), ..place },
        p_symmetric: p((plain, freedom)),
        p_shown: p((shown, freedom)),
        p_independent: p(statistic(1.0, 1.0, hidden)),
        independent: n / v,
    }
}

/// The region that stands for all: of those that reject the one with the greatest difference, else the one
/// with the least p-value.
fn worst(regions: impl Iterator<Item = Region>, threshold: f64) -> Region {
    let rank = |r: &Region| {
        if r.p < threshold { (0.0, -r.difference.abs()) } else { (1.0, r.p) }
    };
    regions.reduce(|a, b| if rank(&b) < rank(&a) { b } else { a }).unwrap_or(Region::NONE)
}

/// Tiles that reject and hold no finer one that does; the channel with the least p-value of each.
fn deciding(tested: &[Vec<Tested>], threshold: f64) -> Vec<Region> {
    let mut found: Vec<Region> = Vec::new();
    for region in tested.iter().flatten().map(|t| t.region).filter(|r| r.p < threshold) {
        match found.iter_mut().find(|f| region.holds(f)) {
            None => found.push(region),
            Some(same) if same.side == region.side && region.p < same.p => *same = region,
            Some(_) => {}
        }
    }
    found
}

/// Why no test rejects although one would if the noise were independent between pixels and symmetric.
fn doubt(tested: &[Vec<Tested>], threshold: f64, setting: &Setting<'_>) -> Option<Doubt> {
    let all = || tested.iter().flatten();
    if all().next().is_none() {
        return Some(Doubt::TooFewPixels);
    }
    if all().any(|t| t.region.p < threshold) {
        return None;
    }
    let skew =
        all().filter(|t| t.p_symmetric < threshold).min_by(|a, b| a.p_symmetric.total_cmp(&b.p_symmetric));
    if let Some(tile) = skew {
        // The skewness of a mean falls with the square root of the samples in it.
        let reach = tile.independent.sqrt() / setting.skewness.pooled.abs();
        let times = (DECISIVE / reach).powi(2).max(2.0);
        return Some(Doubt::HeavyTail { noisier: setting.skewness.pooled > 0.0, times, region: tile.region });
    }
    let hidden = all().filter(|t| t.p_shown < threshold).min_by(|a, b| a.p_shown.total_cmp(&b.p_shown));
    if let Some(tile) = hidden {
        return Some(Doubt::Clipped { darker: tile.region.difference < 0.0, region: tile.region });
    }
    let unknown_reach = setting.correlation.is_endless && !setting.from_seeds;
    let smooth = all().filter(|t| t.p_independent < threshold);
    let smooth = smooth.min_by(|a, b| a.p_independent.total_cmp(&b.p_independent)).filter(|_| unknown_reach);
    smooth.map(|tile| Doubt::Smooth { region: tile.region })
}

/// The least p-value over the channels of each finest tile. A coarser tile that rejects covers those inside
/// it, unless one of them rejects and so shows better where the images part.
fn map(tested: &[Vec<Tested>], finest: &Scale, (width, height): (usize, usize), threshold: f64) -> PMap {
    let mut cells = vec![(f64::NAN, 0.0); finest.tiles.len()];
    let regions = tested.iter().flatten().map(|t| t.region);
    for region in regions.filter(|r| r.side == finest.side || r.p < threshold) {
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
    PMap { columns: finest.columns, width: width as u32, height: height as u32, threshold, cells }
}
