//! The film: exact sums of radiance, independent of order.
//!
//! Each sample's radiance is turned into a fixed-point integer before it is added. Integer addition is
//! associative, so any order, any split of the samples over calls, threads or devices, gives the same bits.

use crate::error::{Error, Result};
use crate::math::vec3::Vec3;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Fractional bits of a film sum. One unit is 1.2e-7 in radiance, the precision of f32 at 1.
pub const FRACTION_BITS: u32 = 23;
/// `2^FRACTION_BITS` as the factor from radiance to film units; a power of two, so the product is exact.
pub const UNITS_PER_RADIANCE: f32 = 8_388_608.0;
/// Upper limit of a sample's radiance, 2^24 - 1: a sample takes at most 47 bits, and [`MAX_SPP`] of them at
/// most 63, so a sum cannot overflow. The sun, reflected in nearly smooth metal, exceeds 2^20.
pub const MAX_SAMPLE_RADIANCE: f32 = 16_777_215.0;
/// The most samples per pixel a film can hold, 2^16.
pub const MAX_SPP: u32 = 65_536;

/// Pixels whose sums one thread checks at a time.
const CHECKED_BLOCK: usize = 1 << 14;

/// Whether a sum of these pixels is negative, which no samples add up to.
pub fn has_negative(sums: &[[i64; 3]]) -> bool {
    let is_negative = |block: &[[i64; 3]]| block.as_flattened().iter().fold(0, |all, sum| all | sum) < 0;
    sums.par_chunks(CHECKED_BLOCK).any(is_negative)
}

/// Counts of invalid samples. All zero for a correct renderer and an ordinary scene.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvalidSamples {
    /// Samples with an infinite or NaN channel; they count as black.
    pub non_finite: u64,
    /// Samples with a negative channel, which counts as zero.
    pub negative: u64,
    /// Samples with a channel above [`MAX_SAMPLE_RADIANCE`], which was limited.
    pub clamped: u64,
}

impl fmt::Display for InvalidSamples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} not finite, {} negative, {} clamped", self.non_finite, self.negative, self.clamped)
    }
}

impl InvalidSamples {
    /// True when there is no invalid sample.
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    /// Adds another count; sums stay at the largest number, since reports of workers and files may hold any.
    pub fn merge(&mut self, other: &Self) {
        self.non_finite = self.non_finite.saturating_add(other.non_finite);
        self.negative = self.negative.saturating_add(other.negative);
        self.clamped = self.clamped.saturating_add(other.clamped);
    }
}

/// Columns and rows of the tiles in which a device traverses a film, so that neighbours in a warp have
/// neighbouring pixels.
pub const TILE: [u32; 2] = [8, 4];

/// The pixel at position `i` of tiled order: tile by tile, rows of tiles from top to bottom. Tiles at the
/// right and lower edges are as small as need be. `i` is below `width * height`.
pub fn tiled(i: u32, width: u32, height: u32) -> u32 {
    let [tile_width, tile_height] = TILE;
    let band = i / (tile_height * width);
    let rows = (height - tile_height * band).min(tile_height);
    let in_band = i - tile_height * width * band;
    let tile = in_band / (tile_width * rows);
    let columns = (width - tile_width * tile).min(tile_width);
    let in_tile = in_band - tile_width * rows * tile;
    let row = in_tile / columns;
    (tile_height * band + row) * width + tile_width * tile + (in_tile - row * columns)
}

/// Rounds one channel, limited, to film units: up with the probability of the fraction, which is zero from
/// radiance 1 on. The mean over random words is `v` to within 2^-24 units. Zero stays zero.
#[inline(always)]
fn units(v: f32, limit: f32, word: u32) -> i64 {
    let exact = crate::math::clamp(v, 0.0, limit) * UNITS_PER_RADIANCE;
    let whole = exact as i64;
    whole + i64::from(exact - whole as f32 > threshold(word))
}

/// Radiance from which on a sample takes more than 31 bits.
const NARROW_LIMIT: f32 = 256.0;

/// True for a channel that [`narrow_units`] rounds: neither negative, nor too large, nor NaN.
#[inline(always)]
pub fn is_narrow(v: f32) -> bool {
    (0.0..NARROW_LIMIT).contains(&v)
}

/// [`quantize`] of one channel of a sample for which [`is_narrow`] holds, in a form that compilers vectorise.
#[inline(always)]
pub fn narrow_units(v: f32, word: u32) -> i32 {
    let exact = v * UNITS_PER_RADIANCE;
    let whole = exact as i32;
    whole + i32::from(exact - whole as f32 > threshold(word))
}

/// The fraction above which a channel is rounded up, from 2^-24 to 1 - 2^-24: odd multiples of 2^-24, so that a subnormal
/// fraction never matters; exact, from a float of 1 to 2.
#[inline(always)]
fn threshold(word: u32) -> f32 {
    f32::from_bits(0x3f80_0000 | word >> 9) - (1.0 - 1.0 / 16_777_216.0)
}

/// Quantises one sample's radiance to film units and counts invalid samples.
///
/// Rounding is dithered: a film of dim radiance is right in the mean, where truncation would lose up to a
/// unit a sample. `dither` is a block of random words of its own, [`crate::math::rng::Block::Film`], so that
/// what a sample adds stays a function of its key.
#[inline(always)]
pub fn quantize(radiance: Vec3, dither: [u32; 4], invalid: &mut InvalidSamples) -> [i64; 3] {
    quantize_up_to(MAX_SAMPLE_RADIANCE, radiance, dither, invalid)
}

/// [`quantize`] of a contribution whose channels have another limit.
#[inline(always)]
pub(crate) fn quantize_up_to(
    limit: f32,
    radiance: Vec3,
    dither: [u32; 4],
    invalid: &mut InvalidSamples,
) -> [i64; 3] {
    let c = radiance.to_array();
    if !radiance.is_finite() {
        invalid.non_finite += 1;
        return [0; 3];
    }
    let within = c.iter().all(|&v| (0.0..=limit).contains(&v));
    if !within {
        if c.iter().any(|&v| v < 0.0) {
            invalid.negative += 1;
        }
        if c.iter().any(|&v| v > limit) {
            invalid.clamped += 1;
        }
    }
    [units(c[0], limit, dither[0]), units(c[1], limit, dither[1]), units(c[2], limit, dither[2])]
}

/// A film: sums of radiance per pixel, row by row from the top left, and the number of samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Film {
    width: u32,
    height: u32,
    /// Samples per pixel accumulated so far.
    pub spp: u32,
    /// `width * height` pixels of red, green and blue sums in units of 2^-23 radiance, [`FRACTION_BITS`].
    pub sums: Vec<[i64; 3]>,
    /// Invalid samples.
    pub invalid: InvalidSamples,
}

impl Film {
    /// Bytes of a pixel: three sums.
    pub const PIXEL_BYTES: u64 = size_of::<[i64; 3]>() as u64;

    /// Checks that no sum has overflowed, as sums of integrators that splat can ([`crate::splat`]). Nothing negative is added,
    /// so a sum that has left the range of its integer is negative, until it has done so twice.
    ///
    /// # Errors
    /// [`Error::Contract`] with the pixel.
    pub fn check_sums(&self) -> Result<()> {
        if !has_negative(&self.sums) {
            return Ok(());
        }
        let Some(pixel) = self.sums.iter().position(|sum| sum.iter().any(|&channel| channel < 0)) else {
            return Ok(());
        };
        let (x, y) = (pixel % self.width as usize, pixel / self.width as usize);
        Err(Error::Contract {
            actor: "film".into(),
            message: format!(
                "the sum of pixel {x},{y} over {} samples per pixel has overflowed: render fewer, or a darker scene",
                self.spp
            ),
        })
    }

    /// Checks a size without taking memory for it.
    ///
    /// # Errors
    /// [`Error::Contract`] unless both sides are 1 to 65,535 pixels; [`Error::Memory`] where a film of this size
    /// does not fit into memory.
    pub fn check_size(width: u32, height: u32) -> Result<()> {
        if !(1..=65_535).contains(&width) || !(1..=65_535).contains(&height) {
            return Err(Error::Contract {
                actor: "film".into(),
                message: format!(
                    "a size of {width}x{height} was asked for; each side must be 1 to 65535 pixels"
                ),
            });
        }
        let bytes = u64::from(width) * u64::from(height) * Self::PIXEL_BYTES;
        crate::memory::check(|| format!("a film of {width}x{height} pixels"), bytes)
    }

    /// An empty film.
    ///
    /// # Errors
    /// As [`Film::check_size`].
    pub fn new(width: u32, height: u32) -> Result<Self> {
        Self::check_size(width, height)?;
        let pixels = width as usize * height as usize;
        Ok(Self { width, height, spp: 0, sums: vec![[0; 3]; pixels], invalid: InvalidSamples::default() })
    }

    /// Pixels a row.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Height in pixels.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Adds another film of the same size, such as another device's share of the samples.
    ///
    /// # Errors
    /// [`Error::Contract`] when the sizes differ or the sum would exceed [`MAX_SPP`].
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        if (self.width, self.height) != (other.width, other.height) {
            return Err(Error::Contract {
                actor: "film".into(),
                message: format!(
                    "films of {}x{} and {}x{} cannot be added",
                    self.width, self.height, other.width, other.height
                ),
            });
        }
        if self.spp.saturating_add(other.spp) > MAX_SPP {
            return Err(Error::Contract {
                actor: "film".into(),
                message: format!("a film holds at most {MAX_SPP} samples per pixel"),
            });
        }
        for (a, b) in self.sums.iter_mut().zip(&other.sums) {
            for (x, y) in a.iter_mut().zip(b) {
                *x += *y;
            }
        }
        self.spp += other.spp;
        self.invalid.merge(&other.invalid);
        Ok(())
    }

    /// Mean radiance of every pixel as linear RGB; black while the film is empty.
    pub fn mean(&self) -> Vec<[f32; 3]> {
        let scale =
            if self.spp == 0 { 0.0 } else { 1.0 / (f64::from(self.spp) * f64::from(UNITS_PER_RADIANCE)) };
        self.sums.iter().map(|sum| sum.map(|s| (s as f64 * scale) as f32)).collect()
    }

    /// Pixels whose sums differ from `other`'s; all of them when sizes or sample counts differ.
    pub fn pixels_differing(&self, other: &Self) -> usize {
        if (self.width, self.height, self.spp) != (other.width, other.height, other.spp) {
            return self.sums.len().max(other.sums.len());
        }
        self.sums.iter().zip(&other.sums).filter(|(a, b)| a != b).count()
    }

    /// Mean squared difference of the radiance of the last `spp` samples of two films, over all channels. `befores` are
    /// the films without these samples, where they are not all. Films of different sizes are compared as far as both go.
    pub fn mse_of_last(&self, other: &Self, befores: (Option<&Self>, Option<&Self>), spp: u32) -> f64 {
        let scale = 1.0 / (f64::from(spp) * f64::from(UNITS_PER_RADIANCE));
        let pixels = self.sums.len().min(other.sums.len());
        let gained = |film: &Self, before: Option<&Self>, p: usize, c: usize| {
            film.sums[p][c] - before.and_then(|before| before.sums.get(p)).map_or(0, |sum| sum[c])
        };
        let mut sum = 0.0;
        for p in 0..pixels {
            for c in 0..3 {
                let difference = gained(self, befores.0, p, c) - gained(other, befores.1, p, c);
                sum += (difference as f64 * scale).powi(2);
            }
        }
        sum / (3 * pixels) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::{SampleKey, dither};
    use crate::math::vec3::vec3;
    use proptest::prelude::*;

    /// Units of the largest sample.
    const LARGEST: i64 = ((1 << 24) - 1) << FRACTION_BITS;
    /// Words that round up whatever has a fraction above 2^-24.
    const UP: [u32; 4] = [0; 4];

    #[test]
    fn one_negative_sum_is_found_in_any_block() {
        let mut sums = vec![[0, i64::MAX, 1]; 2 * CHECKED_BLOCK + 1];
        assert!(!has_negative(&sums));
        for pixel in [0, CHECKED_BLOCK, 2 * CHECKED_BLOCK] {
            sums[pixel][2] = -1;
            assert!(has_negative(&sums), "{pixel}");
            sums[pixel][2] = 1;
        }
    }

    #[test]
    fn the_largest_sum_fits() {
        let mut invalid = InvalidSamples::default();
        let q = quantize(Vec3::splat(f32::MAX), UP, &mut invalid)[0];
        assert_eq!(invalid, InvalidSamples { clamped: 1, ..InvalidSamples::default() });
        assert_eq!(q, LARGEST);
        assert_eq!(q.checked_mul(i64::from(MAX_SPP)), Some(i64::MAX - ((1 << 39) - 1)));
    }

    #[test]
    fn the_limit_itself_is_within_the_range_and_the_next_float_is_not() {
        let mut invalid = InvalidSamples::default();
        assert_eq!(quantize(Vec3::splat(MAX_SAMPLE_RADIANCE), UP, &mut invalid), [LARGEST; 3]);
        assert!(invalid.is_zero());
        assert_eq!(quantize(Vec3::splat(MAX_SAMPLE_RADIANCE.next_up()), UP, &mut invalid), [LARGEST; 3]);
        assert_eq!(invalid.clamped, 1);
    }

    #[test]
    fn extraordinary_channels_are_not_narrow() {
        assert!(is_narrow(-0.0) && is_narrow(NARROW_LIMIT.next_down()));
        assert_eq!(narrow_units(-0.0, 0), 0);
        assert_eq!(narrow_units(NARROW_LIMIT.next_down(), UP[0]), i32::MAX - 127);
        for v in [-1e-30, NARROW_LIMIT, f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            assert!(!is_narrow(v), "{v}");
        }
    }

    #[test]
    fn invalid_samples_are_counted_and_cannot_poison_a_sum() {
        let mut invalid = InvalidSamples::default();
        assert_eq!(quantize(vec3(f32::NAN, 1.0, 1.0), UP, &mut invalid), [0; 3]);
        assert_eq!(quantize(vec3(f32::INFINITY, 1.0, 1.0), UP, &mut invalid), [0; 3]);
        assert_eq!(quantize(vec3(-1.0, 1.0, 0.0), UP, &mut invalid), [0, 1 << FRACTION_BITS, 0]);
        assert_eq!(invalid, InvalidSamples { non_finite: 2, negative: 1, clamped: 0 });
        assert!(!invalid.is_zero());
    }

    proptest! {
        /// The reference is exact: a double holds any float times a power of two.
        #[test]
        fn every_radiance_in_range_is_rounded_by_its_fraction(
            bits in 0..=MAX_SAMPLE_RADIANCE.to_bits(),
            word: u32,
        ) {
            let v = f32::from_bits(bits);
            let mut invalid = InvalidSamples::default();
            let units = quantize(Vec3::splat(v), [word; 4], &mut invalid)[0];
            let exact = f64::from(v) * 2f64.powi(FRACTION_BITS as i32);
            let threshold = (f64::from(word >> 9) + 0.5) * 2f64.powi(-23);
            let up = exact.fract() > threshold;
            prop_assert_eq!(units, exact.floor() as i64 + i64::from(up));
            prop_assert!(invalid.is_zero());
            prop_assert_eq!(is_narrow(v), v < NARROW_LIMIT);
            if is_narrow(v) {
                prop_assert_eq!(i64::from(narrow_units(v, word)), units);
            }
        }

        #[test]
        fn sums_do_not_depend_on_order(values in prop::collection::vec(0.0f32..20_000_000.0, 1..64), cut in 0usize..64) {
            let mut invalid = InvalidSamples::default();
            let q: Vec<i64> = values.iter().map(|&v| quantize(Vec3::splat(v), UP, &mut invalid)[0]).collect();
            let forward: i64 = q.iter().sum();
            let cut = cut.min(q.len());
            let split: i64 = q[cut..].iter().rev().sum::<i64>() + q[..cut].iter().sum::<i64>();
            prop_assert_eq!(forward, split);
        }
    }

    /// Five standard deviations of the mean of as many fair roundings.
    #[test]
    fn dim_radiance_is_right_in_the_mean() {
        let samples = 1 << 20;
        for radiance in [3e-10f32, 1e-8, 1e-7, 1e-6, 1e-3, 0.7] {
            let mut invalid = InvalidSamples::default();
            let mut sums = [0i64; 3];
            for sample in 0..samples {
                let key = SampleKey { pixel: 5, sample, seed: 1, ..SampleKey::default() };
                let units = quantize(Vec3::splat(radiance), dither(key, 0), &mut invalid);
                sums.iter_mut().zip(units).for_each(|(sum, v)| *sum += v);
            }
            let exact = f64::from(radiance) * f64::from(UNITS_PER_RADIANCE);
            let fraction = exact.fract();
            let deviation = (fraction * (1.0 - fraction) / f64::from(samples)).sqrt();
            for sum in sums {
                let mean = sum as f64 / f64::from(samples);
                assert!((mean - exact).abs() <= 5.0 * deviation, "{radiance}: {mean} units, not {exact}");
            }
        }
    }

    #[test]
    fn films_of_other_sizes_are_refused() {
        let mut a = Film::new(2, 2).unwrap();
        assert!(a.merge(&Film::new(2, 3).unwrap()).is_err());
        assert!(Film::new(0, 1).is_err());
    }
}
