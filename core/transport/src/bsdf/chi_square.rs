//! Pearson's test of samples against the density that they are said to have.

use lockstep_core::math::sampling::frame;
use lockstep_core::math::vec3::{Vec3, vec3};

/// Bins: distance from the axis, azimuth about it.
const BANDS: usize = 24;
const SECTORS: usize = 12;
/// Points of a bin's quadrature along one side.
const FINE: usize = 24;

/// A deviate that is exceeded by chance once in 180,000 tests.
pub(super) const LIMIT: f64 = 4.4;

/// Bins of a cone about an axis; directions outside it count together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bins {
    axis: Vec3,
    /// One minus the cosine at the edge of the cone; 2 for the sphere.
    depth: f64,
    /// With 1, bins have equal solid angles; with 2, bands are about equally wide in angle, so that a peak on the axis
    /// falls into several.
    power: i32,
}

impl Bins {
    /// The sphere.
    pub(super) const SPHERE: Self = Self { axis: vec3(0.0, 0.0, 1.0), depth: 2.0, power: 1 };

    /// A cone of this half angle in radians about a peak.
    pub(super) fn about(axis: Vec3, angle: f64) -> Self {
        Self { axis, depth: 1.0 - angle.cos(), power: 2 }
    }

    /// The bin of a direction; `None` outside the cone.
    fn of(&self, w: Vec3) -> Option<usize> {
        let (s, t) = frame(self.axis);
        let [w, n, s, t] = [w, self.axis, s, t].map(|v| v.to_array().map(f64::from));
        let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        // Half of the squared distance, since one minus a cosine near one has no digits left
        let away = [w[0] - n[0], w[1] - n[1], w[2] - n[2]];
        let share = 0.5 * dot(away, away) / self.depth;
        let band = share.powf(1.0 / f64::from(self.power)) * BANDS as f64;
        let turns = dot(w, t).atan2(dot(w, s)) / std::f64::consts::TAU;
        let sector = (((turns + 1.0).fract() * SECTORS as f64) as usize).min(SECTORS - 1);
        // Rounding may put the far pole of the sphere behind its last band
        let is_sphere = self.depth == 2.0;
        let band = if is_sphere { (band as usize).min(BANDS - 1) } else { band as usize };
        (band < BANDS).then_some(band * SECTORS + sector)
    }

    /// The integral of a density over a bin.
    fn integral(&self, bin: usize, pdf: &impl Fn(Vec3) -> f32) -> f64 {
        let (s, t) = frame(self.axis);
        let (band, sector) = (bin / SECTORS, bin % SECTORS);
        let mut sum = 0.0;
        for i in 0..FINE * FINE {
            let along = (band as f64 + ((i / FINE) as f64 + 0.5) / FINE as f64) / BANDS as f64;
            let turns = (sector as f64 + ((i % FINE) as f64 + 0.5) / FINE as f64) / SECTORS as f64;
            let (sin, cos) = (turns * std::f64::consts::TAU).sin_cos();
            let away = self.depth * along.powi(self.power);
            let ring = (away * (2.0 - away)).max(0.0).sqrt();
            let w = s * (ring * cos) as f32 + t * (ring * sin) as f32 + self.axis * (1.0 - away) as f32;
            sum += f64::from(self.power) * along.powi(self.power - 1) * f64::from(pdf(w));
        }
        sum * self.depth * std::f64::consts::TAU / (BANDS * SECTORS * FINE * FINE) as f64
    }
}

/// Holds `samples` directions, `None` where a path ends, against the density, integrated over bins.
pub(super) fn assert_follows(
    of: &str,
    bins: &Bins,
    samples: u32,
    sample: impl Fn(u32) -> Option<Vec3>,
    pdf: impl Fn(Vec3) -> f32,
) {
    let z = deviate(of, bins, samples, sample, pdf);
    assert!(z < LIMIT, "chi-square is {z} standard deviations above its mean: {of}");
}

/// Chi-square as a normal deviate (Wilson and Hilferty 1931).
pub(super) fn deviate(
    of: &str,
    bins: &Bins,
    samples: u32,
    sample: impl Fn(u32) -> Option<Vec3>,
    pdf: impl Fn(Vec3) -> f32,
) -> f64 {
    let mut counts = vec![0.0f64; BANDS * SECTORS];
    let mut outside = 0.0f64;
    for i in 0..samples {
        match sample(i).and_then(|w| bins.of(w)) {
            Some(bin) => counts[bin] += 1.0,
            None => outside += 1.0,
        }
    }
    let expected: Vec<f64> =
        (0..BANDS * SECTORS).map(|bin| bins.integral(bin, &pdf) * f64::from(samples)).collect();
    // Bins of few samples count together, with what lies outside and what left through the horizon.
    let total: f64 = expected.iter().sum();
    let (mut chi2, mut freedom) = (0.0, -1.0);
    let (mut rest, mut rest_expected) = (outside, f64::from(samples) - total);
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
    assert!(freedom > 10.0, "the samples fall into {freedom} bins: {of}");
    ((chi2 / freedom).cbrt() - (1.0 - 2.0 / (9.0 * freedom))) / (2.0 / (9.0 * freedom)).sqrt()
}
