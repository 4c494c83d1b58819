//! Statistics for the suite.

/// Sample mean and unbiased sample variance.
pub fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, variance)
}

/// Welch's t statistic of two samples; zero when both are constant and equal.
pub fn welch_t(a: &[f64], b: &[f64]) -> f64 {
    let (mean_a, var_a) = mean_and_variance(a);
    let (mean_b, var_b) = mean_and_variance(b);
    let error = (var_a / a.len() as f64 + var_b / b.len() as f64).sqrt();
    if mean_a == mean_b { 0.0 } else { (mean_a - mean_b) / error }
}

/// Slope of the least-squares line through `(ln x, ln y)`.
pub fn log_log_slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let logs: Vec<(f64, f64)> = points.iter().map(|&(x, y)| (x.ln(), y.ln())).collect();
    let mean_x = logs.iter().map(|p| p.0).sum::<f64>() / n;
    let mean_y = logs.iter().map(|p| p.1).sum::<f64>() / n;
    let covariance: f64 = logs.iter().map(|p| (p.0 - mean_x) * (p.1 - mean_y)).sum();
    covariance / logs.iter().map(|p| (p.0 - mean_x).powi(2)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_law_has_its_exponent_as_slope() {
        let points: Vec<(f64, f64)> = (0..9).map(|k| (f64::from(1 << k), 3.0 / f64::from(1 << k))).collect();
        assert!((log_log_slope(&points) + 1.0).abs() < 1e-12);
    }

    #[test]
    fn welch_matches_a_worked_example() {
        // Means 2 and 4, variances 1 and 4 over three values each: -2 / sqrt(1/3 + 4/3).
        let t = welch_t(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]);
        assert!((t + 2.0 / (5.0f64 / 3.0).sqrt()).abs() < 1e-12);
    }
}
