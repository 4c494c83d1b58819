//! Prefetches.

/// Asks the processor for an item that will be read soon; there need be none.
#[inline(always)]
pub(crate) fn fetch<T>(items: &[T], index: u32) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch of any address is no access.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(items.as_ptr().wrapping_add(index as usize).cast()) };
    }
}
