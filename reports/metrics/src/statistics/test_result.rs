//! The result of all tests of one comparison.

use super::diagnosis::Reason;
use super::family::Family;
use super::noise::NoiseFloor;
use super::outliers::Outlier;
use crate::format::{number, percent};
use crate::image_io::Precision;

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

impl Region {
    /// Stands for a tile where none could be tested.
    pub(super) const NONE: Region =
        Region { x: 0, y: 0, side: 0, channel: 0, difference: 0.0, relative: 0.0, t: 0.0, p: 1.0 };

    /// Whether another region lies inside it or is the same.
    pub(super) fn holds(&self, other: &Self) -> bool {
        let inside = |from: u32, other: u32| other >= from && other < from + self.side;
        other.side <= self.side && inside(self.x, other.x) && inside(self.y, other.y)
    }

    /// The size and place, cut off where the image of this size ends.
    pub(super) fn in_words(&self, (width, height): (u32, u32)) -> String {
        let cut = |from: u32, end: u32| self.side.min(end.saturating_sub(from));
        format!("{}×{} pixels at ({}, {})", cut(self.x, width), cut(self.y, height), self.x, self.y)
    }
}

/// Why a comparison cannot be decided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Doubt {
    /// A tile differs, but one side's noise is so much heavier-tailed that the tile may have missed the rare
    /// samples that would make up for it.
    HeavyTail {
        /// Whether A is the noisier side.
        noisier: bool,
        /// About how many times as many samples or seeds of the noisier side would decide.
        times: f64,
        /// The tile.
        region: Region,
    },
    /// A tile differs if noise is independent, but with one seed noise correlated over many pixels looks the
    /// same as a smooth bias.
    Smooth {
        /// The tile.
        region: Region,
    },
    /// A tile is darker on the side that has more values clipped at 1 there, and how much they lost is unknown.
    Clipped {
        /// Whether A is the darker side.
        darker: bool,
        /// The tile.
        region: Region,
    },
    /// Pixels stand out among calm ones, on one side only, which a firefly does under one seed as well as a wrong
    /// pixel.
    Outlier {
        /// The pixel that stands out most.
        outlier: Outlier,
        /// Number of pixels that stand out.
        count: usize,
    },
    /// Pixels differ, mostly in one direction, where nearly all others agree to the rounding of files: wrong pixels,
    /// or rare samples of sides that share all others.
    Silent {
        /// The pixel that differs most.
        outlier: Outlier,
        /// Number of pixels that differ.
        count: usize,
    },
    /// So few independent pixels that no test has any power.
    TooFewPixels,
}

/// A test that rejects though means of tiles may agree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StructureTest {
    /// The family.
    pub family: Family,
    /// The p-value, corrected for its family and for all others.
    pub p: f64,
    /// The region that the test found.
    pub region: Region,
    /// Shift in pixels for [`Family::Shift`]; number of pixels that stand out, then 0, for [`Family::Pixels`].
    pub amount: (i32, i32),
}

/// The result of all tests of one comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct TestResult {
    /// Tests of means: tiles of all scales times three channels.
    pub tests: usize,
    /// The p-value below which a test of means rejects.
    pub threshold: f64,
    /// The least p-value of all tests, corrected for their number: the probability of one as small in the
    /// whole image without bias, at most.
    pub p: f64,
    /// Tests of means that reject, over all scales.
    pub tests_rejected: usize,
    /// Tiles of the finest scale that were tested.
    pub tiles: usize,
    /// Number of finest tiles that reject in any channel.
    pub tiles_rejected: usize,
    /// The rejecting tile with the greatest difference; without any, the most significant tile.
    pub worst: Region,
    /// The tiles that decided: rejecting tiles that hold no finer rejecting tile.
    pub deciding: Vec<Region>,
    /// Tests of structure, those with the least p-value first.
    pub structure: Vec<StructureTest>,
    /// Why there is no decision, if there is none.
    pub doubt: Option<Doubt>,
    /// Whether any test of means would reject were the noise independent between pixels and symmetric.
    pub rejects_if_independent: bool,
    /// The probable reason of a bias, where one is recognised.
    pub probable: Option<Reason>,
    /// Number of pixels that are worth one independent pixel under the noise's correlation; 1 for uncorrelated noise.
    pub correlation: f64,
    /// Skewness of the differences, 0 where both sides' noise is alike.
    pub skewness: f64,
    /// Share of clipped values on the side that has more of them, 0 to 1.
    pub clipped: f64,
    /// The coarser precision of the sides' files.
    pub precision: Precision,
    /// Pixels that stand out from their surroundings, the farthest first: at most sixteen.
    pub outliers: Vec<Outlier>,
    /// Number of pixels that stand out, of which [`Self::outliers`] holds the farthest.
    pub outlier_count: usize,
    /// Errors between the sides and within them.
    pub noise: NoiseFloor,
    /// Size of the images.
    pub size: (u32, u32),
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

const CHANNELS: [&str; 3] = ["red", "green", "blue"];

impl TestResult {
    /// Tiles of the finest scale that reject over those tested; 0 where none was.
    pub fn share_rejected(&self) -> f64 {
        if self.tiles == 0 { 0.0 } else { self.tiles_rejected as f64 / self.tiles as f64 }
    }

    /// The finding in one sentence, with these names for the sides.
    pub(super) fn sentence(&self, alpha: f64, [a, b]: [&str; 2]) -> String {
        let found = self.finding(alpha, [a, b]);
        match &self.probable {
            // Tests that cannot tell a smooth bias from noise have nothing to add.
            Some(reason) if self.p >= alpha => {
                format!("{}, which leaves less than half of the error", reason.in_words(a, b))
            }
            Some(reason) => format!("{found}; probably {}", reason.in_words(a, b)),
            None => found,
        }
    }

    fn finding(&self, alpha: f64, [a, b]: [&str; 2]) -> String {
        if self.tests_rejected > 0 {
            return self.means(a, b);
        }
        if let Some(found) = self.structure.first().filter(|found| found.p < alpha) {
            return self.structure_sentence(found, a, b);
        }
        match self.doubt {
            Some(doubt) => self.doubt_sentence(doubt, a, b),
            None => format!("no tile differs by more than noise (least p, corrected: {})", number(self.p)),
        }
    }

    fn means(&self, a: &str, b: &str) -> String {
        let w = &self.worst;
        let errors = if w.t.is_finite() {
            format!("{} standard errors beyond the margin", number(w.t.abs()))
        } else {
            "without any noise".to_owned()
        };
        format!(
            "{a} is {} than {b} by {} in {} over the {}, {errors} (p, corrected: {}); {} of the finest tiles reject",
            if w.difference > 0.0 { "brighter" } else { "darker" },
            percent(w.relative.abs()),
            CHANNELS[w.channel],
            w.in_words(self.size),
            number(self.p),
            percent(self.share_rejected()),
        )
    }

    fn structure_sentence(&self, found: &StructureTest, a: &str, b: &str) -> String {
        let p = number(found.p);
        let place = found.region.in_words(self.size);
        match found.family {
            Family::Shift => {
                let (dx, dy) = found.amount;
                format!("{b} resembles {a} more when it is moved by ({dx}, {dy}) pixels (p, corrected: {p})")
            }
            Family::Contrast => {
                format!("neighbouring pixels of {a} and {b} differ in contrast (p, corrected: {p})")
            }
            Family::Pixels => {
                let count = found.amount.0;
                let plural = if count == 1 { " stands" } else { "s stand" };
                format!(
                    "{count} pixel{plural} out alike under every seed, one of them in the {place} (p, corrected: {p})"
                )
            }
            Family::Windows => format!(
                "{a} is {} than {b} by {} in {} over the {place}, among pixels that agree (p, corrected: {p})",
                if found.region.difference > 0.0 { "brighter" } else { "darker" },
                percent(found.region.relative.abs()),
                CHANNELS[found.region.channel],
            ),
            Family::Product | Family::Tiles => format!(
                "pixels of the {place} differ alike in both halves of the seeds, though means may agree (p, corrected: {p})"
            ),
        }
    }

    fn doubt_sentence(&self, doubt: Doubt, a: &str, b: &str) -> String {
        match doubt {
            Doubt::HeavyTail { noisier, times, region } => {
                let side = if noisier { a } else { b };
                format!(
                    "{a} is {} than {b} by {} in {} over the {}, but {side} has noise of so heavy tails (skewness {}) that \
                     rare samples may make up for it; about {} times the samples or seeds of {side} would decide",
                    if region.difference > 0.0 { "brighter" } else { "darker" },
                    percent(region.relative.abs()),
                    CHANNELS[region.channel],
                    region.in_words(self.size),
                    number(self.skewness.abs()),
                    number(times.ceil()),
                )
            }
            Doubt::Smooth { region } => format!(
                "{a} is {} than {b} by {} in {} over the {}, but with one seed this may be noise that is correlated over \
                 many pixels; two seeds of each side would tell",
                if region.difference > 0.0 { "brighter" } else { "darker" },
                percent(region.relative.abs()),
                CHANNELS[region.channel],
                region.in_words(self.size),
            ),
            Doubt::Clipped { darker, region } => format!(
                "{a} is {} than {b} by {} in {} over the {}, but more values of {} are clipped at 1 there, and what they lost \
                 may make up for it; files without clipping, such as EXR, would tell",
                if darker { "darker" } else { "brighter" },
                percent(region.relative.abs()),
                CHANNELS[region.channel],
                region.in_words(self.size),
                if darker { a } else { b },
            ),
            Doubt::Outlier { outlier, count } => format!(
                "{count} pixel{} out, the one at ({}, {}) {} than in {b} by {} times the noise around it, as a firefly does as \
                 well as a wrong pixel; three seeds of each side would tell",
                if count == 1 { " stands" } else { "s stand" },
                outlier.x,
                outlier.y,
                if outlier.difference > 0.0 { format!("brighter in {a}") } else { format!("darker in {a}") },
                number(outlier.times),
            ),
            Doubt::Silent { outlier, count } => format!(
                "{count} pixel{} where all others agree to the rounding of the files, the one at ({}, {}) {} than in {b} by {} \
                 in {}; no noise tells how often that happens, three seeds of each side would",
                if count == 1 { " differs" } else { "s differ" },
                outlier.x,
                outlier.y,
                if outlier.difference > 0.0 { format!("brighter in {a}") } else { format!("darker in {a}") },
                number(outlier.difference.abs()),
                CHANNELS[outlier.channel],
            ),
            Doubt::TooFewPixels => {
                "the images have too few independent pixels for any test; give larger ones, or more seeds"
                    .to_owned()
            }
        }
    }
}
