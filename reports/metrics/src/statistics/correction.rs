//! Corrections of p-values for many tests at once (Šidák 1967).

/// Probability that the least p-value of `tests` independent tests is at most `p`: `1 − (1 − p)ⁿ`. Tests that
/// depend on each other positively, as those of nested tiles do, make it an upper bound.
pub fn sidak(p: f64, tests: usize) -> f64 {
    -(tests as f64 * (-p).ln_1p()).exp_m1()
}

/// The p-value below which one of `tests` tests is significant at the level `alpha` of all together:
/// `1 − (1 − α)^(1/n)`; the inverse of [`sidak`].
pub fn sidak_threshold(alpha: f64, tests: usize) -> f64 {
    -((-alpha).ln_1p() / tests as f64).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corrected_values_are_those_of_the_formula() {
        assert!((sidak(0.05, 2) - 0.0975).abs() < 1e-15);
        assert!((sidak_threshold(0.05, 10) - 0.005_116_196_891_823_743).abs() < 1e-15);
        assert_eq!((sidak(0.0, 9), sidak(1.0, 9)), (0.0, 1.0));
    }

    #[test]
    fn small_values_keep_their_digits() {
        let p = sidak_threshold(0.001, 5_000);
        assert!((sidak(p, 5_000) - 0.001).abs() < 1e-15);
        assert!((sidak(1e-200, 1_000) / 1e-197 - 1.0).abs() < 1e-12);
    }
}
