//! What is allowed to differ from a golden: the one table.

/// What a target's image may differ in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tolerance {
    /// The target, or what stands before the `@` of its name.
    target: &'static str,
    /// The greatest share of pixels, 0 to 1.
    pub(super) share: f64,
    /// The greatest mean squared error over 8-bit sRGB values.
    pub(super) mse: f64,
    /// Why.
    pub(super) reason: &'static str,
}

/// Targets that do not promise identity. One that is not listed must be identical.
const TABLE: &[Tolerance] = &[Tolerance {
    target: "cpu-embree",
    share: 1e-3,
    mse: 1.0,
    reason: "Embree's rounding proposes another primitive for about 1 ray in 400,000",
}];

/// The tolerance of a target; `None` when every bit must be equal.
pub(super) fn of(target: &str, exact: bool) -> Option<Tolerance> {
    let api = target.split_once('@').map_or(target, |(api, _)| api);
    TABLE.iter().find(|row| !exact && (row.target == target || row.target == api)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_targets_have_no_tolerance_whatever_their_name() {
        assert_eq!(of("cpu-bvh", true), None);
        assert_eq!(of("cpu-embree", true), None);
        assert!(of("cpu-embree", false).is_some());
    }

    #[test]
    fn every_row_is_small_and_has_a_reason() {
        assert!(TABLE.iter().all(|row| row.share < 0.01 && row.mse <= 1.0 && !row.reason.is_empty()));
    }
}
