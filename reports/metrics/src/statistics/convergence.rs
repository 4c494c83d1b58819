//! How fast an error falls with the number of samples.

use super::student;

/// A straight line through `log(error)` over `log(spp)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlopeFit {
    /// Slope; −1 for the mean squared error of independent samples.
    pub slope: f64,
    /// Half the width of the slope's 95 % confidence interval. NaN with two points, which have no scatter.
    pub half_width_95: f64,
    /// Error at 1 sample per pixel by the line.
    pub at_one: f64,
    /// Points that were used.
    pub points: usize,
    /// Points that were skipped because their error was 0, NaN or infinite.
    pub skipped: usize,
}

impl SlopeFit {
    /// The slope's 95 % confidence interval.
    pub fn interval(&self) -> (f64, f64) {
        (self.slope - self.half_width_95, self.slope + self.half_width_95)
    }
}

/// Why no line could be fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FitError {
    /// Fewer than two points with a positive, finite error at different spp levels.
    #[error("a slope needs errors above 0 at two spp levels or more, there are {usable}")]
    TooFewPoints {
        /// Usable points.
        usable: usize,
    },
}

/// Fits `log(error) = log(at_one) + slope · log(spp)` by ordinary least squares; `points` are pairs of
/// samples per pixel and error. The confidence interval is Student's, `t(0.975, n − 2)` standard errors to
/// each side. Levels of one schedule share samples, so the scatter is somewhat correlated and the interval a
/// guide only.
///
/// # Errors
/// [`FitError::TooFewPoints`].
pub fn fit_log_log_slope(points: &[(u32, f64)]) -> Result<SlopeFit, FitError> {
    let logs: Vec<(f64, f64)> = points
        .iter()
        .filter(|(spp, error)| *spp > 0 && *error > 0.0 && error.is_finite())
        .map(|&(spp, error)| (f64::from(spp).ln(), error.ln()))
        .collect();
    let n = logs.len() as f64;
    let mean_x = logs.iter().map(|p| p.0).sum::<f64>() / n;
    let mean_y = logs.iter().map(|p| p.1).sum::<f64>() / n;
    let sum_xx: f64 = logs.iter().map(|p| (p.0 - mean_x).powi(2)).sum();
    let sum_xy: f64 = logs.iter().map(|p| (p.0 - mean_x) * (p.1 - mean_y)).sum();
    if logs.len() < 2 || sum_xx <= 0.0 {
        return Err(FitError::TooFewPoints { usable: logs.len() });
    }
    let slope = sum_xy / sum_xx;
    let intercept = mean_y - slope * mean_x;
    let residuals: f64 = logs.iter().map(|p| (p.1 - intercept - slope * p.0).powi(2)).sum();
    let freedom = logs.len() - 2;
    let half_width_95 = if freedom == 0 {
        f64::NAN
    } else {
        student::quantile(0.975, freedom as f64) * (residuals / freedom as f64 / sum_xx).sqrt()
    };
    Ok(SlopeFit {
        slope,
        half_width_95,
        at_one: intercept.exp(),
        points: logs.len(),
        skipped: points.len() - logs.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_law_is_found_exactly() {
        let points: Vec<_> = (0..9).map(|k| (1u32 << k, 3.0 * f64::from(1u32 << k).powf(-0.75))).collect();
        let fit = fit_log_log_slope(&points).unwrap();
        assert!((fit.slope + 0.75).abs() < 1e-12 && (fit.at_one - 3.0).abs() < 1e-12);
        assert!(fit.half_width_95 < 1e-12);
    }

    #[test]
    fn the_interval_follows_from_known_residuals() {
        // Logs 0, 1, 2 with residuals +d, -2d, +d about a slope of -1: residual sum 6 d², spread of x 2.
        let d = 0.1f64;
        let point = |k: u32, r: f64| (2u32.pow(k), (2f64.ln() * -f64::from(k) + r).exp());
        let fit = fit_log_log_slope(&[point(0, d), point(1, -2.0 * d), point(2, d)]).unwrap();
        let standard_error = (6.0 * d * d / 1.0 / (2.0 * 2f64.ln().powi(2))).sqrt();
        assert!((fit.slope + 1.0).abs() < 1e-12);
        assert!((fit.half_width_95 - 12.706_204_736 * standard_error).abs() < 1e-7);
    }

    #[test]
    fn errors_without_a_logarithm_are_skipped_and_counted() {
        let fit =
            fit_log_log_slope(&[(1, 1.0), (2, 0.5), (4, 0.0), (8, f64::NAN), (16, 1.0 / 16.0)]).unwrap();
        assert_eq!((fit.points, fit.skipped), (3, 2));
        assert!((fit.slope + 1.0).abs() < 1e-12);
    }

    #[test]
    fn too_few_levels_have_no_slope_and_two_have_no_interval() {
        assert_eq!(fit_log_log_slope(&[(1, 1.0)]), Err(FitError::TooFewPoints { usable: 1 }));
        assert_eq!(fit_log_log_slope(&[(4, 1.0), (4, 2.0)]), Err(FitError::TooFewPoints { usable: 2 }));
        assert!(fit_log_log_slope(&[(1, 1.0), (2, 0.5)]).unwrap().half_width_95.is_nan());
    }
}
