//! Eight numbers at a time: by AVX2 where the processor has it, else by plain arrays that give the same bits.
//!
//! Only operations that round as scalar code does are here, so what is computed lane by lane equals what
//! [`crate::intersect`] computes.

use super::layout::Eight;

/// A way to compute with eight numbers. `max` and `min` take the second operand where unordered, as
/// [`crate::math::max`] and [`crate::math::min`] do. Comparisons give bit `i` for lane `i`.
pub(super) trait Lanes: Copy {
    fn splat(value: f32) -> Self;
    fn load(values: &Eight) -> Self;
    fn store(self) -> Eight;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    fn min(self, other: Self) -> Self;
    fn abs(self) -> Self;
    fn with_sign_of(self, other: Self) -> Self;
    fn less(self, other: Self) -> u32;
    fn at_most(self, other: Self) -> u32;
    fn equal(self, other: Self) -> u32;
}

/// Plain arrays, for any processor.
#[derive(Clone, Copy)]
pub(super) struct Plain(Eight);

impl Plain {
    #[inline(always)]
    fn map(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        let mut values = self.0;
        for (value, other) in values.iter_mut().zip(other.0) {
            *value = f(*value, other);
        }
        Self(values)
    }

    #[inline(always)]
    fn compare(self, other: Self, f: impl Fn(f32, f32) -> bool) -> u32 {
        let mut mask = 0;
        for i in 0..8 {
            mask |= u32::from(f(self.0[i], other.0[i])) << i;
        }
        mask
    }
}

impl Lanes for Plain {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self([value; 8])
    }
    #[inline(always)]
    fn load(values: &Eight) -> Self {
        Self(*values)
    }
    #[inline(always)]
    fn store(self) -> Eight {
        self.0
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.map(other, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.map(other, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.map(other, |a, b| a * b)
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.map(other, |a, b| a / b)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.map(other, crate::math::max)
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.map(other, crate::math::min)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        self.map(self, |a, _| a.abs())
    }
    #[inline(always)]
    fn with_sign_of(self, other: Self) -> Self {
        self.map(other, crate::math::with_sign_of)
    }
    #[inline(always)]
    fn less(self, other: Self) -> u32 {
        self.compare(other, |a, b| a < b)
    }
    #[inline(always)]
    fn at_most(self, other: Self) -> u32 {
        self.compare(other, |a, b| a <= b)
    }
    #[inline(always)]
    fn equal(self, other: Self) -> u32 {
        self.compare(other, |a, b| a == b)
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use avx2::Avx2;

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Eight, Lanes};
    use std::arch::x86_64::*;

    /// One 256-bit register. To be used only within functions that enable AVX2, where its methods become single
    /// instructions.
    #[derive(Clone, Copy)]
    pub(in crate::bvh::wide) struct Avx2(__m256);

    macro_rules! by {
        ($($name:ident => $instruction:ident),*) => {
            $(
                #[inline(always)]
                fn $name(self, other: Self) -> Self {
                    // SAFETY: only functions that enable AVX2 use this type.
                    Self(unsafe { $instruction(self.0, other.0) })
                }
            )*
        };
    }

    macro_rules! compare_by {
        ($($name:ident => $predicate:ident),*) => {
            $(
                #[inline(always)]
                fn $name(self, other: Self) -> u32 {
                    // SAFETY: only functions that enable AVX2 use this type.
                    unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<$predicate>(self.0, other.0)) as u32 }
                }
            )*
        };
    }

    impl Lanes for Avx2 {
        #[inline(always)]
        fn splat(value: f32) -> Self {
            // SAFETY: only functions that enable AVX2 use this type.
            Self(unsafe { _mm256_set1_ps(value) })
        }
        #[inline(always)]
        fn load(values: &Eight) -> Self {
            // SAFETY: as above; the reference is to eight floats.
            Self(unsafe { _mm256_loadu_ps(values.as_ptr()) })
        }
        #[inline(always)]
        fn store(self) -> Eight {
            let mut values = [0.0; 8];
            // SAFETY: as above; the array holds eight floats.
            unsafe { _mm256_storeu_ps(values.as_mut_ptr(), self.0) };
            values
        }
        #[inline(always)]
        fn abs(self) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm256_andnot_ps(_mm256_set1_ps(-0.0), self.0) })
        }
        #[inline(always)]
        fn with_sign_of(self, other: Self) -> Self {
            // SAFETY: as above.
            unsafe {
                let sign = _mm256_set1_ps(-0.0);
                Self(_mm256_or_ps(_mm256_andnot_ps(sign, self.0), _mm256_and_ps(sign, other.0)))
            }
        }
        by!(add => _mm256_add_ps, sub => _mm256_sub_ps, mul => _mm256_mul_ps, div => _mm256_div_ps,
            max => _mm256_max_ps, min => _mm256_min_ps);
        compare_by!(less => _CMP_LT_OQ, at_most => _CMP_LE_OQ, equal => _CMP_EQ_OQ);
    }
}
