//! Noise and bias over spp levels: `MSE = a/N + b`.
//!
//! The mean squared difference of two unbiased images of N samples per pixel falls as `a/N`; what they differ
//! by in the limit adds a constant `b`, the squared bias averaged over pixels and channels.

use super::student::quantile;

/// A fit of `a/N + b`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BiasFit {
    /// Noise: the mean squared difference of one sample per pixel.
    pub a: f64,
    /// Squared bias. It is not kept from being negative: an unbiased pair's scatters about 0.
    pub b: f64,
    /// Lower end of the 95 % confidence interval of `b`.
    pub b_low: f64,
    /// Upper end of the 95 % confidence interval of `b`.
    pub b_high: f64,
    /// Points that were used.
    pub points: usize,
}

impl BiasFit {
    /// Whether the 95 % confidence interval of `b` lies above 0.
    pub fn shows_bias(&self) -> bool {
        self.b_low > 0.0
    }
}

/// Why nothing could be fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BiasFitError {
    /// An interval on two unknowns needs three points, at two numbers of samples or more.
    #[error(
        "noise and bias need finite errors of 3 renders at 2 different spp levels or more, there are {usable} at {levels}"
    )]
    TooFewPoints {
        /// Usable points.
        usable: usize,
        /// Number of different spp levels among the usable points.
        levels: usize,
    },
}

/// Reweighting converges to far below the interval's width in this many rounds.
const ROUNDS: usize = 30;

/// Fits `MSE = a/N + b` by least squares, each point weighted by the inverse square of the value fitted to
/// it, since the scatter of a mean squared error is proportional to its size. `points` are numbers of samples
/// per pixel and mean squared differences of *disjoint* samples: the steps of a schedule (samples 0..1, 1..2,
/// 2..4, …), not its cumulative images, which share samples. The interval is Student's with two degrees of
/// freedom fewer than points.
///
/// # Errors
/// [`BiasFitError::TooFewPoints`].
pub fn fit_bias(points: &[(u32, f64)]) -> Result<BiasFit, BiasFitError> {
    let usable: Vec<(f64, f64)> = points
        .iter()
        .filter(|(spp, mse)| *spp > 0 && *mse > 0.0 && mse.is_finite())
        .map(|&(spp, mse)| (1.0 / f64::from(spp), mse))
        .collect();
    let mut levels: Vec<u64> = usable.iter().map(|(x, _)| x.to_bits()).collect();
    levels.sort_unstable();
    levels.dedup();
    if usable.len() < 3 || levels.len() < 2 {
        return Err(BiasFitError::TooFewPoints { usable: usable.len(), levels: levels.len() });
    }
    let mut line = Line::through(&usable, |_, mse| mse);
    for _ in 0..ROUNDS {
        let Line { a, b, .. } = line;
        // A value fitted near or below 0 would take all the weight.
        line = Line::through(&usable, |x, mse| (a * x + b).max(0.1 * mse));
    }
    let freedom = (usable.len() - 2) as f64;
    let half = quantile(0.975, freedom) * (line.residual / freedom * line.variance_b).sqrt();
    let Line { a, b, .. } = line;
    Ok(BiasFit { a, b, b_low: b - half, b_high: b + half, points: usable.len() })
}

/// A weighted straight line `a·x + b`.
struct Line {
    a: f64,
    b: f64,
    /// Variance of `b` for residuals of unit variance.
    variance_b: f64,
    /// Weighted sum of squared residuals.
    residual: f64,
}

impl Line {
    /// The line of least squares, each point divided by its `scale(x, y)`.
    fn through(points: &[(f64, f64)], scale: impl Fn(f64, f64) -> f64) -> Self {
        let weighted = || points.iter().map(|&(x, y)| (scale(x, y).powi(-2), x, y));
        let total: f64 = weighted().map(|(w, _, _)| w).sum();
        let mean_x = weighted().map(|(w, x, _)| w * x).sum::<f64>() / total;
        let mean_y = weighted().map(|(w, _, y)| w * y).sum::<f64>() / total;
        let sum_xx: f64 = weighted().map(|(w, x, _)| w * (x - mean_x).powi(2)).sum();
        let sum_xy: f64 = weighted().map(|(w, x, y)| w * (x - mean_x) * (y - mean_y)).sum();
        let a = sum_xy / sum_xx;
        let b = mean_y - a * mean_x;
        let residual = weighted().map(|(w, x, y)| w * (y - a * x - b).powi(2)).sum();
        Self { a, b, variance_b: 1.0 / total + mean_x * mean_x / sum_xx, residual }
    }
}

#[cfg(test)]
mod tests {
    use super::super::random_numbers::Noise;
    use super::*;

    #[test]
    fn exact_noise_and_bias_are_found_exactly() {
        let points: Vec<_> = (0..8).map(|k| (1u32 << k, 3.0 / f64::from(1u32 << k) + 0.002)).collect();
        let fit = fit_bias(&points).unwrap();
        assert!((fit.a - 3.0).abs() < 1e-9 && (fit.b - 0.002).abs() < 1e-12, "{fit:?}");
        assert!(fit.shows_bias() && fit.b_high - fit.b_low < 1e-9);
    }

    #[test]
    fn the_interval_covers_the_truth_as_often_as_it_says() {
        let mut noise = Noise(7);
        for bias in [0.0, 0.01] {
            let mut covered = 0;
            for _ in 0..2_000 {
                let mut point = |n: u32| (n, (2.0 / f64::from(n) + bias) * (1.0 + 0.03 * noise.normal()));
                let points: Vec<_> = [1, 1, 2, 4, 8, 16, 32, 64, 128].map(&mut point).to_vec();
                let fit = fit_bias(&points).unwrap();
                covered += u32::from((fit.b_low..=fit.b_high).contains(&bias));
            }
            // 95 % of 2,000 with a standard deviation of 10.
            assert!((1_850..=1_950).contains(&covered), "bias {bias}: {covered} of 2000");
        }
    }

    #[test]
    fn two_points_or_one_level_tell_nothing() {
        assert_eq!(fit_bias(&[(1, 1.0), (2, 0.5)]), Err(BiasFitError::TooFewPoints { usable: 2, levels: 2 }));
        let same = [(4, 1.0), (4, 1.1), (4, 0.9), (8, f64::NAN)];
        assert_eq!(fit_bias(&same), Err(BiasFitError::TooFewPoints { usable: 3, levels: 1 }));
    }
}
