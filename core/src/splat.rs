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
//! limit of a single sample of [`crate::film::quantize`], too.

use crate::film::{InvalidSamples, quantize_up_to};
use crate::math::rng::{Block, SampleKey, draw};
use crate::math::vec3::Vec3;

/// Upper limit of a contribution's radiance, 2^20; higher ones are limited and counted as clamped.
pub const MAX_SPLAT_RADIANCE: f32 = 1_048_576.0;
/// Contributions of any size that a pixel holds without overflow.
pub const MAX_CONTRIBUTIONS: u64 = (1 << 20) - 1;

/// Techniques of one number of light vertices in [`Technique::index`]: more than camera vertices at the most
/// bounces.
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
    /// A number of its own among all techniques.
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
    let dither = draw(key, Block::Film, technique.index());
    quantize_up_to(MAX_SPLAT_RADIANCE, radiance, dither, invalid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::film::{MAX_SPP, UNITS_PER_RADIANCE};

    const TECHNIQUE: Technique = Technique { light: 3, camera: 1 };

    fn key(sample: u32) -> SampleKey {
        SampleKey { pixel: 7, sample, seed: 3 }
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
}
