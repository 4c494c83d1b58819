//! Student's t distribution.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Degrees of freedom above which the distribution is taken as that of this many: the incomplete beta
/// function of `statrs` stops after 140 terms, and from here on the distribution is normal to seven digits.
const MOST_FREEDOM: f64 = 1e6;

/// Probability that a t variate with `freedom` degrees of freedom lies at least as far from 0 as `t`, 0 to 1.
/// 0 when `t` is infinite, whatever `freedom` is; else NaN when `t` is NaN or `freedom` is not above 0.
pub fn two_sided_p(t: f64, freedom: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    standard(freedom).filter(|_| !t.is_nan()).map_or(f64::NAN, |d| (2.0 * d.sf(t.abs())).clamp(0.0, 1.0))
}

/// The value that a t variate stays below with this probability, which is above 0 and below 1. NaN when
/// `freedom` is not above 0.
pub fn quantile(probability: f64, freedom: f64) -> f64 {
    standard(freedom).map_or(f64::NAN, |d| d.inverse_cdf(probability))
}

/// The distribution; nothing where the degrees of freedom are not above 0.
fn standard(freedom: f64) -> Option<StudentsT> {
    if freedom > 0.0 { StudentsT::new(0.0, 1.0, freedom.min(MOST_FREEDOM)).ok() } else { None }
}
