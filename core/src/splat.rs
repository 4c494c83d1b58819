//! Contributions of integrators that combine light and camera sub-paths, and what they add to the film.
//!
//! Such a sample adds many contributions, to any pixel. Each is turned into integers on its own before it is
//! added, so neither order nor grouping matters: films of single techniques add up to the film of all, to the
//! bit. Rounding is dithered, since truncation would lose half a unit a contribution.
//!
//! # Overflow
//!
//! A contribution is at most [`MAX_SPLAT_RADIANCE`], 2^43 units, so a pixel holds [`MAX_CONTRIBUTIONS`] of
//! them without overflow, whatever they are. In units of radiance: a sum overflows where the mean radiance of
//! a pixel times the samples per pixel reaches 2^40, at [`crate::film::MAX_SPP`] a mean of 2^24. That is the
//! limit of a single sample of [`crate::film::quantize`], too. Beyond it a sum wraps and turns negative, and the film is
//! refused when it is read ([`crate::film::Film::check_sums`]).
//!
//! # Merges
//!
//! All photons that merge with one vertex make one contribution. Each of them is turned into an integer of
//! [`MERGE_FRACTION_BITS`] fraction bits and added to a [`MergeSum`], which never exceeds the largest
//! contribution: however many photons there are, nothing overflows, and their order does not matter. A photon
//! loses less than 2^-40 of radiance to truncation.

use crate::film::{FRACTION_BITS, InvalidSamples, quantize_up_to};
use crate::math::clamp;
use crate::math::rng::{SampleKey, dither};
use crate::math::vec3::Vec3;

/// Upper limit of a contribution's radiance, 2^20; higher ones are limited and counted as clamped.
pub const MAX_SPLAT_RADIANCE: f32 = 1_048_576.0;
/// Contributions of any size that a pixel holds without overflow.
pub const MAX_CONTRIBUTIONS: u64 = (1 << 20) - 1;

/// Fraction bits of a [`MergeSum`].
pub const MERGE_FRACTION_BITS: u32 = 40;
/// Fraction bits of a [`MergeSum`] beyond those of the film.
pub const MERGE_EXTRA_BITS: u32 = MERGE_FRACTION_BITS - FRACTION_BITS;
/// `2^MERGE_FRACTION_BITS` as the factor from radiance to the units of a [`MergeSum`]; a power of two, so the
/// product is exact.
pub const MERGE_UNITS_PER_RADIANCE: f32 = 1_099_511_627_776.0;
/// Binary logarithm of [`MAX_SPLAT_RADIANCE`] in the units of a [`MergeSum`]. Twice as much is far below the largest
/// integer.
pub const MAX_MERGE_SUM_BITS: u32 = 20 + MERGE_FRACTION_BITS;
const MAX_MERGE_SUM: i64 = 1 << MAX_MERGE_SUM_BITS;
/// The mark of merges in a [`Technique`], in place of its number of light vertices: all merges with a vertex of a camera
/// sub-path, whatever the lengths of the photons' sub-paths.
pub const MERGED: u32 = STRIDE - 1;

/// Factor of the number of light vertices in [`Technique::index`]: above the largest number of camera vertices.
pub const STRIDE: u32 = 512;

/// How a full path was sampled (Veach 1997): by a light sub-path and a camera sub-path and one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Technique {
    /// Vertices of the light sub-path, the one on the light included: 0 where the camera sub-path hits the
    /// light, 1 for light sampling. Veach's s.
    pub light: u32,
    /// Vertices of the camera sub-path, the one on the lens included: 1 for light tracing. Veach's t.
    pub camera: u32,
}

impl Technique {
    /// An index of the technique, unique among all: `light * STRIDE + camera`.
    #[inline(always)]
    pub const fn index(self) -> u32 {
        self.light * STRIDE + self.camera
    }
}

/// Quantises one contribution to film units and counts invalid samples. Rounds up with the probability of the
/// fraction, by a hash of sample and technique.
#[inline(always)]
pub fn quantize(
    radiance: Vec3,
    key: SampleKey,
    technique: Technique,
    invalid: &mut InvalidSamples,
) -> [i64; 3] {
    quantize_up_to(MAX_SPLAT_RADIANCE, radiance, dither(key, technique.index()), invalid)
}

/// The sum over the photons that merge with one vertex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeSum {
    channels: [i64; 3],
}

impl MergeSum {
    /// Adds what one photon contributes and counts it where it is invalid. A sum stays at the largest
    /// contribution once it has reached it, in any order, since nothing is subtracted.
    #[inline(always)]
    pub fn add(&mut self, radiance: Vec3, invalid: &mut InvalidSamples) {
        if !radiance.is_finite() {
            invalid.non_finite += 1;
            return;
        }
        let [x, y, z] = radiance.to_array();
        if x < 0.0 || y < 0.0 || z < 0.0 {
            invalid.negative += 1;
        }
        let [a, b, c] = self.channels;
        self.channels = [raised(a, x), raised(b, y), raised(c, z)];
    }

    /// The sum in film units, rounded by a hash of sample and technique. A sum at the limit counts as clamped.
    #[inline(always)]
    pub fn film_units(&self, key: SampleKey, technique: Technique, invalid: &mut InvalidSamples) -> [i64; 3] {
        let dither = dither(key, technique.index());
        let [a, b, c] = self.channels;
        if a == MAX_MERGE_SUM || b == MAX_MERGE_SUM || c == MAX_MERGE_SUM {
            invalid.clamped += 1;
        }
        [rounded(a, dither[0]), rounded(b, dither[1]), rounded(c, dither[2])]
    }
}

/// A channel of a [`MergeSum`] with one more photon.
#[inline(always)]
fn raised(sum: i64, radiance: f32) -> i64 {
    let units = (clamp(radiance, 0.0, MAX_SPLAT_RADIANCE) * MERGE_UNITS_PER_RADIANCE) as i64;
    if sum + units < MAX_MERGE_SUM { sum + units } else { MAX_MERGE_SUM }
}

/// A channel of a [`MergeSum`] in film units: up with the probability of the fraction, exactly.
#[inline(always)]
fn rounded(sum: i64, word: u32) -> i64 {
    (sum + i64::from(word >> (32 - MERGE_EXTRA_BITS))) >> MERGE_EXTRA_BITS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::film::{MAX_SPP, UNITS_PER_RADIANCE};
    use crate::math::rng::{Block, draw};

    const TECHNIQUE: Technique = Technique { light: 3, camera: 1 };

    fn key(sample: u32) -> SampleKey {
        SampleKey { pixel: 7, sample, seed: 3, ..SampleKey::default() }
    }

    #[test]
    fn the_most_contributions_of_the_largest_size_fit_and_one_more_does_not() {
        let mut invalid = InvalidSamples::default();
        let [largest, ..] = quantize(Vec3::splat(f32::MAX), key(0), TECHNIQUE, &mut invalid);
        assert_eq!((largest, invalid.clamped), (1 << 43, 1));
        let most = i64::try_from(MAX_CONTRIBUTIONS).unwrap();
        assert!(largest.checked_mul(most).is_some());
        assert!(largest.checked_mul(most + 1).is_none());
    }

    #[test]
    fn a_sum_overflows_only_beyond_a_mean_of_the_largest_sample_of_other_films() {
        let units_of_mean = |mean: f64| mean * f64::from(MAX_SPP) * f64::from(UNITS_PER_RADIANCE);
        assert!(units_of_mean(f64::from(crate::film::MAX_SAMPLE_RADIANCE)) < 2f64.powi(63));
        assert_eq!(units_of_mean(2f64.powi(24)), 2f64.powi(63));
    }

    #[test]
    fn a_sum_that_overflows_is_refused() {
        let mut film = crate::Film::new(3, 2).unwrap();
        let mut invalid = InvalidSamples::default();
        let [largest, ..] = quantize(Vec3::splat(f32::MAX), key(0), TECHNIQUE, &mut invalid);
        let most = i64::try_from(MAX_CONTRIBUTIONS).unwrap();
        film.sums[4][1] = largest.wrapping_mul(most);
        film.check_sums().unwrap();
        film.sums[4][1] = film.sums[4][1].wrapping_add(largest);
        let refused = film.check_sums().unwrap_err().to_string();
        assert!(refused.contains("pixel 1,1"), "{refused}");
    }

    #[test]
    fn contributions_below_a_unit_are_right_in_the_mean() {
        // Of n fair roundings the mean deviates by at most sqrt(1 / 4 n) units in one standard deviation.
        let samples = 1 << 18;
        let bound = 5.0 * (0.25 / f64::from(samples)).sqrt();
        for radiance in [1e-9f32, 3e-8, 1e-7, 0.000_123_4, 0.3] {
            let mut invalid = InvalidSamples::default();
            let mut sums = [0i64; 3];
            for sample in 0..samples {
                let found = quantize(Vec3::splat(radiance), key(sample), TECHNIQUE, &mut invalid);
                sums.iter_mut().zip(found).for_each(|(sum, v)| *sum += v);
            }
            let exact = f64::from(radiance) * f64::from(UNITS_PER_RADIANCE);
            for sum in sums {
                let mean = sum as f64 / f64::from(samples);
                assert!((mean - exact).abs() < bound, "{radiance}: {mean} units instead of {exact}");
            }
            assert!(invalid.is_zero());
        }
    }

    #[test]
    fn invalid_contributions_are_counted_and_cannot_poison_a_sum() {
        let mut invalid = InvalidSamples::default();
        let mut quantized = |v: f32| quantize(Vec3::splat(v), key(1), TECHNIQUE, &mut invalid);
        assert_eq!([f32::NAN, f32::INFINITY, -1.0, 0.0].map(&mut quantized), [[0; 3]; 4]);
        assert_eq!(quantized(2.0 * MAX_SPLAT_RADIANCE), [1 << 43; 3]);
        assert_eq!(invalid, InvalidSamples { non_finite: 2, negative: 1, clamped: 1 });
    }

    #[test]
    fn techniques_round_by_hashes_of_their_own() {
        let mut invalid = InvalidSamples::default();
        let half = Vec3::splat(0.5 / UNITS_PER_RADIANCE);
        let rounded = |technique: Technique, invalid: &mut InvalidSamples| -> Vec<[i64; 3]> {
            (0..64).map(|sample| quantize(half, key(sample), technique, invalid)).collect()
        };
        let a = rounded(TECHNIQUE, &mut invalid);
        assert_ne!(a, rounded(Technique { light: 1, camera: 3 }, &mut invalid));
        assert!(a.iter().flatten().any(|&v| v == 1) && a.iter().flatten().any(|&v| v == 0));
    }

    const OF_MERGES: Technique = Technique { light: MERGED, camera: 2 };

    #[test]
    fn sums_of_photons_do_not_depend_on_their_order_even_where_they_are_limited() {
        let mut invalid = InvalidSamples::default();
        let radiance = |i: u32| f32::from_bits(draw(key(i), Block::Bsdf, 0)[0] & 0x7fff_ffff);
        let all: Vec<f32> = (0..4096).map(radiance).filter(|v| v.is_finite()).collect();
        let mut sum_of = |values: &mut dyn Iterator<Item = f32>| {
            let mut sum = MergeSum::default();
            values.for_each(|v| sum.add(Vec3::splat(v), &mut invalid));
            sum
        };
        let small = |v: &&f32| **v < 10.0;
        let forward = sum_of(&mut all.iter().copied());
        assert_eq!(forward, sum_of(&mut all.iter().rev().copied()));
        assert_eq!(forward.channels, [MAX_MERGE_SUM; 3]);
        let few = sum_of(&mut all.iter().filter(small).copied());
        assert_eq!(few, sum_of(&mut all.iter().rev().filter(small).copied()));
        let exact: f64 = all.iter().filter(small).map(|&v| f64::from(v)).sum();
        let found = few.channels[0] as f64 * 2f64.powi(-40);
        assert!(found <= exact && exact - found < all.len() as f64 * 2f64.powi(-40), "{found}, not {exact}");
        assert!(invalid.is_zero(), "the limit counts once a vertex");
    }

    #[test]
    fn a_sum_at_the_limit_is_the_largest_contribution_and_counts_as_clamped() {
        let mut invalid = InvalidSamples::default();
        let mut sum = MergeSum::default();
        for _ in 0..3 {
            sum.add(Vec3::splat(f32::MAX), &mut invalid);
        }
        assert_eq!(sum.film_units(key(0), OF_MERGES, &mut invalid), [1 << 43; 3]);
        assert_eq!(invalid, InvalidSamples { clamped: 1, ..InvalidSamples::default() });
        let mut invalid = InvalidSamples::default();
        let mut sum = MergeSum::default();
        for v in [f32::NAN, f32::INFINITY, -1.0, -0.0] {
            sum.add(Vec3::splat(v), &mut invalid);
        }
        assert_eq!(sum, MergeSum::default());
        assert_eq!(invalid, InvalidSamples { non_finite: 2, negative: 1, clamped: 0 });
    }

    #[test]
    fn sums_below_a_unit_are_right_in_the_mean() {
        let samples = 1 << 18;
        let bound = 5.0 * (0.25 / f64::from(samples)).sqrt();
        for radiance in [3e-10f32, 1e-8, 1e-7, 0.000_123_4] {
            let mut invalid = InvalidSamples::default();
            let mut sum = MergeSum::default();
            (0..3).for_each(|_| sum.add(Vec3::splat(radiance), &mut invalid));
            let units = |sample| sum.film_units(key(sample), OF_MERGES, &mut InvalidSamples::default())[1];
            let mean = (0..samples).map(units).sum::<i64>() as f64 / f64::from(samples);
            let exact = 3.0 * f64::from(radiance) * f64::from(UNITS_PER_RADIANCE);
            assert!((mean - exact).abs() < bound, "{radiance}: {mean} units instead of {exact}");
        }
    }
}
