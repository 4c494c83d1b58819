//! Pearson's test of samples against the density that they are said to have.

use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::math::{safe_sqrt, sin_cos_turns};

/// Bins: cosine from -1 to 1, azimuth.
const BANDS: usize = 24;
const SECTORS: usize = 12;
/// Points of a bin's quadrature along one side.
const FINE: usize = 24;

/// Holds `samples` directions, `None` where a path ends, against the density, integrated over bins of equal solid angle.
pub(super) fn assert_follows(
    of: &str,
    samples: u32,
    sample: impl Fn(u32) -> Option<Vec3>,
    pdf: impl Fn(Vec3) -> f32,
) {
    let mut counts = vec![0.0f64; BANDS * SECTORS];
    let mut lost = 0.0f64;
    for i in 0..samples {
        let Some(w) = sample(i) else {
            lost += 1.0;
            continue;
        };
        let band = (((f64::from(w.z) + 1.0) * 0.5 * BANDS as f64) as usize).min(BANDS - 1);
        let turns = f64::from(w.y).atan2(f64::from(w.x)) / std::f64::consts::TAU;
        let sector = (((turns + 1.0).fract() * SECTORS as f64) as usize).min(SECTORS - 1);
        counts[band * SECTORS + sector] += 1.0;
    }
    let mut expected = vec![0.0f64; BANDS * SECTORS];
    for (bin, value) in expected.iter_mut().enumerate() {
        let (band, sector) = (bin / SECTORS, bin % SECTORS);
        for i in 0..FINE * FINE {
            let z = (band as f64 + ((i / FINE) as f64 + 0.5) / FINE as f64) / BANDS as f64 * 2.0 - 1.0;
            let turns = (sector as f64 + ((i % FINE) as f64 + 0.5) / FINE as f64) / SECTORS as f64;
            let (sin, cos) = sin_cos_turns(turns as f32);
            let ring = safe_sqrt(1.0 - (z as f32) * (z as f32));
            *value += f64::from(pdf(vec3(ring * cos, ring * sin, z as f32)));
        }
        *value *= 4.0 * std::f64::consts::PI / (BANDS * SECTORS * FINE * FINE) as f64 * f64::from(samples);
    }
    // Bins of few samples count together, with what left through the horizon.
    let total: f64 = expected.iter().sum();
    let (mut chi2, mut freedom) = (0.0, -1.0);
    let (mut rest, mut rest_expected) = (lost, f64::from(samples) - total);
    for (&count, &mean) in counts.iter().zip(&expected) {
        if mean < 8.0 {
            rest += count;
            rest_expected += mean;
        } else {
            chi2 += (count - mean).powi(2) / mean;
            freedom += 1.0;
        }
    }
    if rest_expected > 8.0 {
        chi2 += (rest - rest_expected).powi(2) / rest_expected;
        freedom += 1.0;
    } else {
        assert!(rest < 40.0, "{rest} samples where {rest_expected} are expected: {of}");
    }
    // Wilson and Hilferty's normal deviate; 4.4 is passed by chance once in 180,000 tests
    let z = ((chi2 / freedom).cbrt() - (1.0 - 2.0 / (9.0 * freedom))) / (2.0 / (9.0 * freedom)).sqrt();
    assert!(z < 4.4, "chi-square {chi2} of {freedom} degrees of freedom: {of}");
}
