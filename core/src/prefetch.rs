//! Prefetches of memory that a loop will read some iterations later. They change speed alone.

/// Prefetches the cache line where an element of a slice begins. An index outside is allowed.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], index: usize) {
    let at = slice.as_ptr().wrapping_add(index);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this architecture has the instruction, and prefetching cannot fault.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

#[cfg(test)]
mod tests {
    use super::prefetch;

    #[test]
    fn elements_and_indices_outside_are_survived() {
        let values = [1, 2, 3];
        for index in [0, 2, 3, usize::MAX] {
            prefetch(&values, index);
        }
        prefetch::<u64>(&[], 0);
        assert_eq!(values, [1, 2, 3]);
    }
}
