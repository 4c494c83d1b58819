//! Student's t distribution, for whole degrees of freedom.

/// The value that a t variate stays below with probability 0.975.
pub(super) fn quantile_975(freedom: usize) -> f64 {
    let (mut low, mut high) = (0.0f64, 16.0f64);
    // The probability within ±t rises with t, so halving finds where it is 0.95; 60 steps exhaust f64.
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if central_probability(middle, freedom) < 0.95 {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// Probability of |T| < t (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4).
fn central_probability(t: f64, freedom: usize) -> f64 {
    let theta = (t / (freedom as f64).sqrt()).atan();
    let (sin, cos) = theta.sin_cos();
    let odd = freedom % 2 == 1;
    let mut sum = 0.0;
    let mut term = if odd { cos } else { 1.0 };
    let mut k = if odd { 3 } else { 2 };
    while k <= freedom {
        sum += term;
        term *= cos * cos * (k - 1) as f64 / k as f64;
        k += 2;
    }
    if odd { std::f64::consts::FRAC_2_PI * (theta + sin * sum) } else { sin * sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_printed_tables() {
        let table = [
            (1, 12.706_204_736),
            (2, 4.302_652_730),
            (3, 3.182_446_305),
            (4, 2.776_445_105),
            (5, 2.570_581_836),
            (8, 2.306_004_135),
            (9, 2.262_157_163),
            (30, 2.042_272_456),
            (100, 1.983_971_519),
        ];
        for (freedom, expected) in table {
            assert!((quantile_975(freedom) - expected).abs() < 1e-8, "{freedom}: {}", quantile_975(freedom));
        }
    }
}
