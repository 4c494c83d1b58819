//! Differences that files make: rounding and clipping.
//!
//! The margin of a pixel is the difference of means that does not count there. It is the sum of
//!
//! - the rule's: [`super::DecisionRule::margin`] of the level of the tile plus a hundredth of that of the image;
//! - rounding, [`crate::image_io::Precision::rounding`] of each side. Codes that are rounded to the nearest
//!   lose nothing on average where neighbours differ; so theirs counts by the share of pixels equal to their
//!   right neighbour, from none at one half to all at 1;
//! - clipping: values beyond 0 and 1 are lost, the more the noisier a side is. For normal noise of which the
//!   share c is clipped at one end and the rest has the standard deviation σ, the mean moves by at most
//!   `cσ (0.4 + 1.2 c/(1 − c))`. The sides' difference of that counts, and a tenth of the greater for its own
//!   noise.
//!
//! Noise with heavier tails loses more, and how much no file tells. So where one side is noisier, or more of it is
//! clipped at 1, and it is darker, its clipped values may have been up to [`EXCESS`] above 1; within that there is
//! no decision. Where both sides' noise is alike they lose alike.
//!
//! Shares and σ (from the differences of neighbours) are over 24×24 pixels.

use super::DecisionRule;
use super::fields::TileMap;
use super::tiles::TILE;
use crate::image_io::{LinearImage, Precision};

/// The loss of the mean by clipping a share of normal noise, over that share times the standard deviation that
/// is left: at least 0.41 for 5 %, 1.04 for 37 %, 1.37 for half.
fn loss(share: f64) -> f64 {
    0.4 + 1.2 * share / (1.0 - share).max(1e-3)
}

/// The share of the greater loss that counts even where both are equal.
const LOSS_NOISE: f64 = 0.1;
/// The most that a value which is clipped at 1 lies above it on average. For log-normal noise of mean 0.8 and
/// standard deviation 0.8 it is 0.8, for one of 3.2 it is 2.7.
const EXCESS: f64 = 4.0;
/// The ratio of variances from which on one side is noisier.
const NOISIER: f64 = 1.1;
/// Pixels of the 24×24 that a share of clipped values is taken over.
const SMOOTHED: f64 = (9 * TILE * TILE) as f64;
/// Values of exactly 1 from which on an image of linear values counts as clipped there.
const CLIPPED_PIXELS: usize = 16;

/// The margins of a comparison.
#[derive(Debug, Clone)]
pub(super) struct Margins {
    /// For means, by tile of 8×8 pixels and channel.
    map: TileMap,
    /// For single pixels, whose rounding nothing cancels.
    pixels: TileMap,
    /// The most that A may have lost at 1 beyond the margin and B not; negative where B may have.
    hidden: Option<TileMap>,
    /// The greater share of clipped values of the sides, over the whole image.
    pub(super) clipped: f64,
    /// The coarser precision of the sides.
    pub(super) precision: Precision,
}

/// The effect of one side's file.
struct Stored {
    /// Rounding of a single pixel.
    step: TileMap,
    /// Rounding of a mean.
    rounding: TileMap,
    /// The loss of the mean at either end.
    lost: [TileMap; 2],
    /// The share of values at 1, and the variance of all that are left; nothing in a file that is not clipped there.
    bright: Option<(TileMap, TileMap)>,
    clipped: f64,
}

impl Margins {
    /// The margins between two stacks of images of one size.
    pub(super) fn of(a: &[LinearImage], b: &[LinearImage], rule: &DecisionRule) -> Self {
        let size = (a[0].width() as usize, a[0].height() as usize);
        let level = TileMap::mean(size, |pixel, c| {
            let value = |image: &LinearImage| f64::from(image.pixels()[pixel][c].abs());
            0.5 * (value(&a[0]) + value(&b[0]))
        });
        let whole: [f64; 3] = std::array::from_fn(|c| level.mean_over_all(c));
        let of_image = whole.iter().sum::<f64>() / 3.0;
        let (stored_a, stored_b) = (Stored::of(&a[0]), Stored::of(&b[0]));
        let lost = |end: usize| {
            TileMap::combined([&stored_a.lost[end], &stored_b.lost[end]], |[a, b]| {
                (a - b).abs() + LOSS_NOISE * a.max(b)
            })
        };
        let (dark, bright) = (lost(0), lost(1));
        let total = |of_a: &TileMap, of_b: &TileMap| {
            TileMap::combined([&level, of_a, of_b, &dark, &bright], |[level, a, b, dark, bright]| {
                rule.margin * (level + 0.01 * of_image) + a + b + dark + bright
            })
        };
        let hidden = hidden(&stored_a, &stored_b);
        let map = total(&stored_a.rounding, &stored_b.rounding);
        let mut pixels = total(&stored_a.step, &stored_b.step);
        if let Some(hidden) = &hidden {
            pixels = TileMap::combined([&pixels, hidden], |[margin, hidden]| margin + hidden.abs());
        }
        let precision = [a[0].precision(), b[0].precision()];
        let coarser = precision.into_iter().max_by_key(|p| match p {
            Precision::Float => 0,
            Precision::Code16 => 1,
            Precision::Half => 2,
            Precision::Linear8 => 3,
            Precision::Rgbe => 4,
            Precision::Code8 => 5,
        });
        Self {
            map,
            pixels,
            hidden,
            clipped: stored_a.clipped.max(stored_b.clipped),
            precision: coarser.unwrap_or_default(),
        }
    }

    /// The margin of a pixel that stands for itself.
    pub(super) fn of_pixel(&self, x: usize, y: usize, channel: usize) -> f64 {
        self.pixels.at(x, y, channel)
    }

    /// Radiance that A may have lost there by clipping and B not, negative where B may have.
    pub(super) fn hidden(&self, x: usize, y: usize, channel: usize) -> f64 {
        self.hidden.as_ref().map_or(0.0, |hidden| hidden.at(x, y, channel))
    }

    /// The margin that a pixel adds to that of a mean.
    pub(super) fn at(&self, x: usize, y: usize, channel: usize) -> f64 {
        self.map.at(x, y, channel)
    }
}

impl Stored {
    fn of(image: &LinearImage) -> Self {
        let (width, height) = (image.width() as usize, image.height() as usize);
        let (size, precision, pixels) = ((width, height), image.precision(), image.pixels());
        let value = |pixel: usize, c: usize| f64::from(pixels[pixel][c]);
        // The right neighbour, of the last pixel of a row the left one.
        let beside = |pixel: usize| match pixel % width {
            x if x + 1 < width => pixel + 1,
            x => pixel - x.min(1),
        };
        let step = TileMap::mean(size, |pixel, c| precision.rounding(pixels[pixel], c));
        let mut rounding = step.clone();
        if precision.is_dithered_by_noise() {
            let equal = TileMap::mean(size, |pixel, c| {
                f64::from(u8::from(value(pixel, c) == value(beside(pixel), c)))
            });
            rounding = TileMap::combined([&rounding, &equal], |[step, equal]| {
                step * (2.0 * equal - 1.0).clamp(0.0, 1.0)
            });
        }
        let [dark, bright] = clip_levels(image);
        let none = TileMap::mean(size, |_, _| 0.0);
        if dark.is_none() && bright.is_none() {
            return Self { step, rounding, lost: [none.clone(), none], bright: None, clipped: 0.0 };
        }
        let noise = TileMap::mean(size, |pixel, c| {
            let step = value(pixel, c) - value(beside(pixel), c);
            0.5 * step * step
        })
        .smoothed();
        let share = |level: Option<f32>, beyond: fn(f32, f32) -> bool| {
            let is_clipped = |v: f32| level.is_some_and(|level| beyond(v, level));
            TileMap::mean(size, |pixel, c| f64::from(u8::from(is_clipped(pixels[pixel][c])))).smoothed()
        };
        let shares = [share(dark, |v, level| v <= level), share(bright, |v, level| v >= level)];
        let clipped = shares.iter().map(|s| (0..3).map(|c| s.mean_over_all(c)).sum::<f64>() / 3.0).sum();
        let lost = [0, 1].map(|end: usize| {
            TileMap::combined([&shares[end], &noise], |[share, noise]| loss(share) * share * noise.sqrt())
        });
        let [_, share] = shares;
        let bright = bright.map(|_| (share, noise));
        Self { step, rounding, lost, bright, clipped }
    }
}

/// Radiance that A may have lost at 1 and B not; nothing where no value is clipped there.
fn hidden(a: &Stored, b: &Stored) -> Option<TileMap> {
    let (bright_a, noise_a) = a.bright.as_ref()?;
    let (bright_b, noise_b) = b.bright.as_ref()?;
    let both = [bright_a, bright_b, noise_a, noise_b];
    // The variance of each side where values are clipped.
    let of_a = TileMap::combined(both, |[a, b, noise, _]| (a + b) * noise);
    let of_b = TileMap::combined(both, |[a, b, _, noise]| (a + b) * noise);
    let over_all = |map: &TileMap| (0..3).map(|c| map.mean_over_all(c)).sum::<f64>();
    let (of_a, of_b) = (over_all(&of_a), over_all(&of_b));
    Some(TileMap::combined([bright_a, bright_b], |[a, b]| {
        EXCESS
            * if of_a > NOISIER * of_b {
                a
            } else if of_b > NOISIER * of_a {
                -b
            } else {
                surely_more(a, b)
            }
    }))
}

/// By how much a share of values is greater than another, less the standard error of that; negative where it is
/// smaller.
fn surely_more(a: f64, b: f64) -> f64 {
    let error = ((a * (1.0 - a) + b * (1.0 - b)) / SMOOTHED).sqrt();
    (a - b).signum() * ((a - b).abs() - error).max(0.0)
}

/// The values below and above which an image may be cut off: 0 and 1 of codes; of other files 1 where many
/// pixels have it and none has more.
fn clip_levels(image: &LinearImage) -> [Option<f32>; 2] {
    if image.precision().clips() {
        return [Some(0.0), Some(1.0)];
    }
    let values = || image.pixels().iter().flatten();
    let greatest = values().copied().fold(f32::NEG_INFINITY, f32::max);
    let there = values().filter(|v| **v == greatest).count();
    [None, Some(greatest).filter(|v| *v == 1.0 && there >= CLIPPED_PIXELS)]
}

#[cfg(test)]
mod tests {
    use super::super::random_numbers::Noise;
    use super::*;
    use crate::image_io::srgb;

    fn flat(value: f32, precision: Precision) -> LinearImage {
        LinearImage::from_fn(48, 48, |_, _| [value; 3]).with_precision(precision)
    }

    fn margin(a: &LinearImage, b: &LinearImage) -> f64 {
        let one = std::slice::from_ref;
        Margins::of(one(a), one(b), &DecisionRule::default()).at(9, 9, 0)
    }

    #[test]
    fn a_flat_image_is_known_up_to_its_files_rounding() {
        let exact = margin(&flat(0.5, Precision::Float), &flat(0.5, Precision::Float));
        assert!((exact - 0.5 * 1.01e-4).abs() < 1e-9);
        let half = margin(&flat(0.5, Precision::Half), &flat(0.5, Precision::Float));
        assert!((half - exact - 0.5 / 2048.0).abs() < 1e-6);
        let value = srgb::decode8(128);
        let coded = margin(&flat(value, Precision::Code8), &flat(value, Precision::Float));
        assert!(coded > 0.4 * f64::from(srgb::decode8(129) - value), "{coded}");
    }

    #[test]
    fn noise_cancels_the_rounding_of_codes_and_unequal_noise_clips_unequally() {
        let mut noise = Noise(4);
        let mut noisy = |sigma: f64| {
            let code = |v: f64| srgb::decode8(srgb::encode8(v as f32));
            LinearImage::from_fn(48, 48, |_, _| [0; 3].map(|_: i32| code(0.9 + sigma * noise.normal())))
                .with_precision(Precision::Code8)
        };
        let (calm, wild, wilder) = (noisy(0.02), noisy(0.3), noisy(0.3));
        let equal = margin(&wild, &wilder);
        assert!(margin(&calm, &calm) < 2e-4, "noise of several codes");
        // 37 % of the wild values are clipped, which lowers their mean by 0.3 (φ(⅓) − ⅓ Φ(−⅓)) = 0.0763.
        assert!(margin(&calm, &wild) > 0.0763, "{}", margin(&calm, &wild));
        assert!(equal < 0.5 * margin(&calm, &wild), "{equal}");
    }
}
