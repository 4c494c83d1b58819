//! Seed and samples of the image that errors are measured against.

use std::ops::Range;

use lockstep_core::film::MAX_SPP;

/// Samples per pixel of a reference over those of the last level.
pub(super) const RATIO: u32 = 16;
/// Least samples per pixel of a reference over those of the last level.
pub(super) const LEAST_RATIO: u32 = 4;
/// The seed of references, unless a study renders with it.
const SEED: u32 = 0x5EED_0F0F;

/// Samples per pixel of a reference without a measured time: `RATIO` times those of the last level, or `LEAST_RATIO` times
/// for a budget of nothing.
pub(super) fn reference_spp(top: u32, budget: Option<f64>) -> u32 {
    let ratio = if budget == Some(0.0) { LEAST_RATIO } else { RATIO };
    top.saturating_mul(ratio).min(MAX_SPP)
}

/// A seed that no image of a study has, which renders with `first` and `further` seeds.
pub(super) fn reference_seed(first: u32, further: Range<u32>) -> u32 {
    let is_studied = |seed: u32| seed == first || further.contains(&seed);
    (SEED..).chain(0..SEED).find(|&seed| !is_studied(seed)).unwrap_or(SEED)
}
