//! One error rate for tests of different kinds: each family of tests gets a share of α.

/// A family of tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Means of tiles.
    Tiles,
    /// Means of 4×4 pixels among calm surroundings.
    Windows,
    /// One side resembles the other more where it is moved.
    Shift,
    /// The sides' own contrast: products of neighbours.
    Contrast,
    /// Differences of halves of the seeds, multiplied.
    Product,
    /// Single pixels that stand out under every seed.
    Pixels,
}

/// The share of α of each family. Tiles find most of what there is, so they have most of it; a tenth of α
/// raises the threshold of a test among a thousand by a tenth.
const SHARES: [(Family, f64); 6] = [
    (Family::Tiles, 0.8),
    (Family::Windows, 0.05),
    (Family::Shift, 0.05),
    (Family::Contrast, 0.04),
    (Family::Product, 0.05),
    (Family::Pixels, 0.01),
];

/// The share of α of a family.
pub(super) fn share(family: Family) -> f64 {
    SHARES.iter().find(|(f, _)| *f == family).map_or(0.0, |(_, share)| *share)
}

/// A family's p-value on the scale of all: below α where the family rejects.
pub(super) fn adjusted(p: f64, family: Family) -> f64 {
    (p / share(family)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_are_all_of_alpha() {
        let sum: f64 = SHARES.iter().map(|(_, share)| share).sum();
        assert!((sum - 1.0).abs() < 1e-12);
        assert!((adjusted(0.0005, Family::Product) - 0.01).abs() < 1e-12);
    }
}
