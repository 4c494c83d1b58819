//! The film of integrators that add to any pixel: sums that all threads add to.

use lockstep_core::prefetch;
use std::sync::atomic::{AtomicI64, Ordering};

/// Film sums per pixel, added to by several threads at once. Integers, so their order does not matter.
#[derive(Debug, Default)]
pub(crate) struct SplatFilm {
    sums: Vec<[AtomicI64; 3]>,
}

impl SplatFilm {
    /// A black film of `pixels` pixels.
    pub(crate) fn new(pixels: usize) -> Self {
        let mut sums = Vec::new();
        sums.resize_with(pixels, Default::default);
        Self { sums }
    }

    /// Adds film units to a pixel.
    #[inline(always)]
    pub(crate) fn add(&self, pixel: u32, units: [i64; 3]) {
        for (sum, value) in self.sums[pixel as usize].iter().zip(units) {
            if value != 0 {
                sum.fetch_add(value, Ordering::Relaxed);
            }
        }
    }

    /// Asks the processor for a pixel that will be added to soon.
    #[inline(always)]
    pub(crate) fn fetch(&self, pixel: u32) {
        prefetch(&self.sums, pixel as usize);
    }

    /// The sums.
    pub(crate) fn sums(&self) -> Vec<[i64; 3]> {
        self.sums.iter().map(|sum| sum.each_ref().map(|channel| channel.load(Ordering::Relaxed))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    #[test]
    fn sums_of_many_threads_are_exact() {
        let film = SplatFilm::new(3);
        (0..100_000i64).into_par_iter().for_each(|i| film.add((i % 3) as u32, [i, 1 << 40, -i]));
        let expected = |pixel: i64| {
            let sum: i64 = (0..100_000).filter(|i| i % 3 == pixel).sum();
            let count = (0..100_000).filter(|i| i % 3 == pixel).count() as i64;
            [sum, count << 40, -sum]
        };
        assert_eq!(film.sums(), [expected(0), expected(1), expected(2)]);
    }
}
