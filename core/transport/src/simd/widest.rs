//! Steps of a batch, run with the widest instructions of the processor.

use lockstep_core::math::simd::{self, F32x8, PortableF32x8};

/// A step of a batch. `run` must be `#[inline(always)]`, so that it is compiled once for each set of instructions.
pub(crate) trait Step {
    /// Runs the step by lanes of the type `L`.
    fn run<L: F32x8>(self);
}

/// Runs a step by AVX-512, AVX2 or neither. The bits are the same.
#[inline]
pub(crate) fn run_widest(step: impl Step) {
    #[cfg(target_arch = "x86_64")]
    if simd::has_avx512() {
        // SAFETY: the processor has the features.
        return unsafe { run_by_avx512(step) };
    } else if simd::has_avx2() {
        // SAFETY: as above.
        return unsafe { run_by_avx2(step) };
    }
    step.run::<PortableF32x8>();
}

/// Runs a step by AVX2 or neither: for steps that take long to compile, one copy less. The bits are the same.
pub(crate) fn run_by_avx2_at_most(step: impl Step) {
    #[cfg(target_arch = "x86_64")]
    if simd::has_avx2() {
        // SAFETY: the processor has the features.
        return unsafe { run_by_avx2(step) };
    }
    step.run::<PortableF32x8>();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,avx512f,avx512vl,avx512dq,avx512bw")]
fn run_by_avx512(step: impl Step) {
    step.run::<simd::Avx2F32x8>();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
fn run_by_avx2(step: impl Step) {
    step.run::<simd::Avx2F32x8>();
}
