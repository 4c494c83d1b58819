//! The two statistics: Welch's, and that of paired differences.

use super::student::two_sided_p;

/// Number, mean and unbiased variance of independent values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// How many values; at least 2 for a variance.
    pub count: f64,
    /// The mean of the samples.
    pub mean: f64,
    /// The unbiased variance of the samples.
    pub variance: f64,
}

impl Moments {
    /// The moments of these values. The variance of fewer than two is NaN.
    pub fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        Self { count, mean, variance: squares / (count - 1.0) }
    }
}

/// An estimated difference with what its distribution is judged by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The estimated difference, A − B.
    pub difference: f64,
    /// The estimated standard error.
    pub standard_error: f64,
    /// Degrees of freedom of that estimate.
    pub freedom: f64,
}

impl Estimate {
    /// Welch's comparison of two means (Welch 1947), with the degrees of freedom of Satterthwaite (1946).
    pub fn welch(a: Moments, b: Moments) -> Self {
        let (va, vb) = (a.variance / a.count, b.variance / b.count);
        let weights = va * va / (a.count - 1.0) + vb * vb / (b.count - 1.0);
        Self {
            difference: a.mean - b.mean,
            standard_error: (va + vb).sqrt(),
            freedom: (va + vb) * (va + vb) / weights,
        }
    }

    /// Student's comparison of paired values, from the moments of their differences.
    pub fn paired(differences: Moments) -> Self {
        Self {
            difference: differences.mean,
            standard_error: (differences.variance / differences.count).sqrt(),
            freedom: differences.count - 1.0,
        }
    }

    /// How many standard errors the difference lies beyond a margin to either side of 0, with the sign of the
    /// difference; 0 within the margin. Infinite where a difference beyond the margin has no standard error
    /// at all.
    pub fn t(&self, margin: f64) -> f64 {
        let beyond = self.difference.abs() - margin;
        if beyond <= 0.0 { 0.0 } else { self.difference.signum() * beyond / self.standard_error }
    }

    /// Two-sided probability of a `t` as far from 0 where the true difference is within the margin.
    pub fn p(&self, margin: f64) -> f64 {
        let t = self.t(margin);
        if t == 0.0 { 1.0 } else { two_sided_p(t, self.freedom) }
    }
}
