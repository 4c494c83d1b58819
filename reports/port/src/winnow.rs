//! Document fingerprints by winnowing (Schleimer, Wilkerson and Aiken, Winnowing: Local Algorithms for
//! Document Fingerprinting, SIGMOD 2003).

use super::level::Symbol;

/// Parameters of winnowing, which selects the fingerprints of a file. Two files that share a run of `gram + window - 1`
/// symbols share a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Winnowing {
    /// Symbols that one hash covers; shorter runs are noise.
    pub gram: usize,
    /// Number of hashes in a window, of which the smallest is kept.
    pub window: usize,
}

impl Winnowing {
    /// Parameters that find every shared run of at least `shortest` symbols.
    pub fn for_runs(shortest: usize) -> Self {
        let gram = (shortest / 2 + 1).min(shortest.max(1));
        Self { gram, window: shortest.max(1) - gram + 1 }
    }

    /// The fingerprints, sorted, each once: of every window of hashes the smallest.
    pub fn fingerprints(&self, symbols: &[Symbol]) -> Vec<u64> {
        let hashes = gram_hashes(symbols, self.gram);
        if hashes.len() < self.window {
            return hashes.into_iter().min().into_iter().collect();
        }
        let mut kept: Vec<u64> =
            hashes.windows(self.window).filter_map(|w| w.iter().min().copied()).collect();
        kept.sort_unstable();
        kept.dedup();
        kept
    }
}

/// Multiplier of the rolling hash: odd, so that no symbol's bits are lost.
const BASE: u64 = 0x9E37_79B9_7F4A_7C15;

/// Multiplier that spreads a finished hash's bits.
const FINISH: u64 = 0xD6E8_FEB8_6659_FD93;

/// The hash of every run of `gram` symbols, rolled as by Karp and Rabin, modulo 2⁶⁴.
pub(crate) fn gram_hashes(symbols: &[Symbol], gram: usize) -> Vec<u64> {
    if gram == 0 || symbols.len() < gram {
        return Vec::new();
    }
    let leading = BASE.wrapping_pow(gram as u32);
    let mut hash = 0_u64;
    let mut hashes = Vec::with_capacity(symbols.len() - gram + 1);
    for (i, symbol) in symbols.iter().enumerate() {
        hash = hash.wrapping_mul(BASE).wrapping_add(symbol.code);
        if i >= gram {
            hash = hash.wrapping_sub(symbols[i - gram].code.wrapping_mul(leading));
        }
        if i + 1 >= gram {
            // The upper bits are the good ones, and the smallest of a window is chosen by them all.
            hashes.push((hash ^ (hash >> 32)).wrapping_mul(FINISH));
        }
    }
    hashes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols(codes: impl IntoIterator<Item = u64>) -> Vec<Symbol> {
        codes
            .into_iter()
            .map(|code| Symbol { code: code.wrapping_mul(0xD6E8_FEB8_6659_FD93), line: 1 })
            .collect()
    }

    #[test]
    fn the_rolled_hash_is_a_function_of_its_run_alone() {
        let (a, b) = (symbols([1, 2, 3, 4, 5, 6]), symbols([9, 8, 3, 4, 5, 7]));
        let (a, b) = (gram_hashes(&a, 3), gram_hashes(&b, 3));
        assert_eq!(a[2], b[2]);
        assert_eq!(a.iter().filter(|hash| b.contains(hash)).count(), 1);
    }

    #[test]
    fn files_that_share_a_run_of_the_promised_length_share_a_fingerprint() {
        for shortest in [4, 12, 20, 33] {
            let winnowing = Winnowing::for_runs(shortest);
            for offset in 0..50_u64 {
                let shared = 1_000..1_000 + shortest as u64;
                let a = symbols((0..offset).chain(shared.clone()).chain(5_000..5_040));
                let b = symbols((7_000..7_031).chain(shared).chain(8_000..8_000 + offset));
                let (a, b) = (winnowing.fingerprints(&a), winnowing.fingerprints(&b));
                assert!(a.iter().any(|print| b.contains(print)), "{shortest} {offset}");
            }
        }
    }

    #[test]
    fn fingerprints_are_a_part_of_all_hashes() {
        let file = symbols(0..10_000);
        let prints = Winnowing { gram: 10, window: 9 }.fingerprints(&file).len() as f64;
        // The density of winnowing is 2 / (window + 1), by the paper's section 3.
        assert!((prints / 10_000.0 - 0.2).abs() < 0.02, "{prints}");
    }
}
