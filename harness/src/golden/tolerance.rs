//! Tolerances of targets that do not promise identity: the one table.

use lockstep_core::TargetId;

/// The limits of a target's difference from a golden.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tolerance {
    /// The target, or its backend for all devices.
    target: &'static str,
    /// The greatest share of differing pixels, 0 to 1.
    pub(super) share: f64,
    /// The greatest mean squared error over 8-bit sRGB values.
    pub(super) mse: f64,
    /// The reason why the target may differ.
    pub(super) reason: &'static str,
}

/// Limits beyond that of agreement within noise, which holds for every target that does not promise identity.
const TABLE: &[Tolerance] = &[Tolerance {
    target: "cpu-embree",
    share: 1e-3,
    mse: 1.0,
    reason: "Embree's rounding proposes another primitive for about 1 ray in 400,000",
}];

/// The tolerance of a target; `None` where it is exact, so that every bit must be equal, and where it has no
/// limits beyond noise.
pub(super) fn of(target: &TargetId, exact: bool) -> Option<Tolerance> {
    let label = target.to_string();
    TABLE.iter().find(|row| !exact && (row.target == label || row.target == target.backend)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_targets_have_no_tolerance_whatever_their_name() {
        assert_eq!(of(&"cpu-bvh".into(), true), None);
        assert_eq!(of(&"cpu-embree".into(), true), None);
        assert!(of(&"cpu-embree".into(), false).is_some());
    }

    #[test]
    fn every_row_is_small_and_has_a_reason() {
        assert!(TABLE.iter().all(|row| row.share < 0.01 && row.mse <= 1.0 && !row.reason.is_empty()));
    }
}
