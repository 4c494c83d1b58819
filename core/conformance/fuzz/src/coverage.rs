//! Feedback by the counters of `-C instrument-coverage`: which parts of the program an input has run, and how often.

use std::sync::atomic::{AtomicU64, Ordering};

// Functions of LLVM's profiling runtime, which that option links (compiler-rt, `InstrProfiling.h`).
unsafe extern "C" {
    safe fn __llvm_profile_begin_counters() -> *const AtomicU64;
    safe fn __llvm_profile_end_counters() -> *const AtomicU64;
}

fn counters() -> &'static [AtomicU64] {
    let (begin, end) = (__llvm_profile_begin_counters(), __llvm_profile_end_counters());
    let count = (end as usize - begin as usize) / size_of::<AtomicU64>();
    // SAFETY: the runtime's counters are one array of aligned 64-bit words that lasts as long as the program. The
    // program adds to them without atomics; a sum lost between threads makes an input look less new, nothing else.
    unsafe { std::slice::from_raw_parts(begin, count) }
}

/// Sets all counters to zero.
pub(crate) fn reset() {
    counters().iter().for_each(|counter| counter.store(0, Ordering::Relaxed));
}

/// For every counter, the orders of magnitude that it has reached after any input: bit `n` for 2^n to 2^(n+1) - 1,
/// and bit 15 for more.
#[derive(Default)]
pub(crate) struct Reached(Vec<u16>);

impl Reached {
    /// Whether the counters since the last [`reset`] have something new, which is added.
    pub(crate) fn is_new(&mut self) -> bool {
        let counters = counters();
        self.0.resize(counters.len(), 0);
        let mut new = false;
        for (reached, counter) in self.0.iter_mut().zip(counters) {
            let count = counter.load(Ordering::Relaxed);
            if count > 0 {
                let bit = 1 << count.ilog2().min(15);
                new |= *reached & bit == 0;
                *reached |= bit;
            }
        }
        new
    }
}
