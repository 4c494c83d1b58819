//! Eight-wide SIMD: AVX2 where the processor has it, else arrays that give the same bits.
//!
//! All operations round as scalar code does, so each lane computes the values of [`crate::geometry`].

/// Eight floats in memory.
pub type Array8 = [f32; 8];

/// True if the processor has AVX2, FMA, BMI1, BMI2 and LZCNT.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
}

/// True if the processor has AVX2 and AVX-512 F, VL, DQ and BW.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn has_avx512() -> bool {
    has_avx2()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512bw")
}

/// Eight floats side by side, named after `std::simd`. `max` and `min` return the second operand where
/// unordered, as [`crate::math::max`] and [`crate::math::min`] do. Comparisons `simd_*` give a bitmask, bit
/// `i` for lane `i`; a *mask* has all bits of a lane set or none.
pub trait F32x8: Copy {
    /// Sets all lanes to a value.
    fn splat(value: f32) -> Self;
    /// Lanes from an array.
    fn load(values: &Array8) -> Self;
    /// Lanes to an array.
    fn store(self) -> Array8;
    /// Sum of each pair of lanes.
    fn add(self, other: Self) -> Self;
    /// Difference of each pair of lanes, `self - other`.
    fn sub(self, other: Self) -> Self;
    /// Product of each pair of lanes.
    fn mul(self, other: Self) -> Self;
    /// Quotient of each pair of lanes, `self / other`.
    fn div(self, other: Self) -> Self;
    /// Square root of each lane.
    fn sqrt(self) -> Self;
    /// Larger value of each pair of lanes; `other` where unordered.
    fn max(self, other: Self) -> Self;
    /// Smaller value of each pair of lanes; `other` where unordered.
    fn min(self, other: Self) -> Self;
    /// Absolute value of each lane.
    fn abs(self) -> Self;
    /// Magnitude of each lane with the sign of that of `other`.
    fn with_sign_of(self, other: Self) -> Self;
    /// Bitmask of `self < other`.
    fn simd_lt(self, other: Self) -> u32;
    /// Bitmask of `self <= other`.
    fn simd_le(self, other: Self) -> u32;
    /// Bitmask of `self == other`.
    fn simd_eq(self, other: Self) -> u32;
    /// Transposes eight rows of eight: result `i` holds element `i` of every row.
    fn transpose(rows: [&Array8; 8]) -> [Self; 8];
    /// Transposes eight rows of four.
    fn transpose4(rows: [&[f32; 4]; 8]) -> [Self; 4];
    /// Transposes eight rows of three.
    fn transpose3(rows: [&[f32; 3]; 8]) -> [Self; 3];
    /// Mask from a bitmask.
    fn mask(bits: u32) -> Self;
    /// Mask of `self < other`.
    fn mask_lt(self, other: Self) -> Self;
    /// Mask of `self == 0`.
    fn mask_zero(self) -> Self;
    /// Bitwise or.
    fn or(self, other: Self) -> Self;
    /// Bitwise and.
    fn and(self, other: Self) -> Self;
    /// Bitwise exclusive or.
    fn xor(self, other: Self) -> Self;
    /// Bitmask of the sign bits.
    fn sign_bitmask(self) -> u32;
    /// Bits of `self` that `other` lacks.
    fn and_not(self, other: Self) -> Self;
    /// `set` where this mask is set, `unset` elsewhere.
    fn select(self, set: Self, unset: Self) -> Self;
    /// The next float above each, for positive and finite lanes.
    fn next_up(self) -> Self;
}

/// Portable lanes: arrays, for any processor.
#[derive(Clone, Copy)]
pub struct PortableF32x8(Array8);

impl PortableF32x8 {
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

impl F32x8 for PortableF32x8 {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self([value; 8])
    }
    #[inline(always)]
    fn load(values: &Array8) -> Self {
        Self(*values)
    }
    #[inline(always)]
    fn store(self) -> Array8 {
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
    fn sqrt(self) -> Self {
        self.map(self, |a, _| a.sqrt())
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
    fn simd_lt(self, other: Self) -> u32 {
        self.compare(other, |a, b| a < b)
    }
    #[inline(always)]
    fn simd_le(self, other: Self) -> u32 {
        self.compare(other, |a, b| a <= b)
    }
    #[inline(always)]
    fn simd_eq(self, other: Self) -> u32 {
        self.compare(other, |a, b| a == b)
    }
    #[inline(always)]
    fn transpose(rows: [&Array8; 8]) -> [Self; 8] {
        columns(rows)
    }
    #[inline(always)]
    fn transpose4(rows: [&[f32; 4]; 8]) -> [Self; 4] {
        columns(rows)
    }
    #[inline(always)]
    fn transpose3(rows: [&[f32; 3]; 8]) -> [Self; 3] {
        columns(rows)
    }
    #[inline(always)]
    fn mask(bits: u32) -> Self {
        let mut lanes = [0.0; 8];
        for (i, lane) in lanes.iter_mut().enumerate() {
            *lane = whole(bits >> i & 1 != 0);
        }
        Self(lanes)
    }
    #[inline(always)]
    fn mask_lt(self, other: Self) -> Self {
        self.map(other, |a, b| whole(a < b))
    }
    #[inline(always)]
    fn mask_zero(self) -> Self {
        self.map(self, |a, _| whole(a == 0.0))
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self.map(other, |a, b| f32::from_bits(a.to_bits() | b.to_bits()))
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self.map(other, |a, b| f32::from_bits(a.to_bits() & b.to_bits()))
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self.map(other, |a, b| f32::from_bits(a.to_bits() ^ b.to_bits()))
    }
    #[inline(always)]
    fn sign_bitmask(self) -> u32 {
        self.compare(self, |a, _| a.is_sign_negative())
    }
    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        self.map(other, |a, b| f32::from_bits(a.to_bits() & !b.to_bits()))
    }
    #[inline(always)]
    fn select(self, set: Self, unset: Self) -> Self {
        let mut values = unset.0;
        for (i, value) in values.iter_mut().enumerate() {
            if self.0[i].to_bits() != 0 {
                *value = set.0[i];
            }
        }
        Self(values)
    }
    #[inline(always)]
    fn next_up(self) -> Self {
        self.map(self, |a, _| f32::from_bits(a.to_bits() + 1))
    }
}

/// Number `i` of every row.
#[inline(always)]
fn columns<const N: usize>(rows: [&[f32; N]; 8]) -> [PortableF32x8; N] {
    let mut columns = [PortableF32x8([0.0; 8]); N];
    for (i, row) in rows.into_iter().enumerate() {
        for (column, value) in columns.iter_mut().zip(row) {
            column.0[i] = *value;
        }
    }
    columns
}

/// All bits or none.
#[inline(always)]
fn whole(set: bool) -> f32 {
    f32::from_bits(if set { u32::MAX } else { 0 })
}

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2F32x8;

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Array8, F32x8};
    use std::arch::x86_64::*;

    /// One 256-bit register. Use it only within functions that enable AVX2, where its methods become single
    /// instructions.
    #[derive(Clone, Copy)]
    pub struct Avx2F32x8(__m256);

    /// Two rows of four side by side.
    #[inline(always)]
    fn pair(low: &[f32; 4], high: &[f32; 4]) -> __m256 {
        // SAFETY: only functions that enable AVX2 call this; each row is of four floats.
        unsafe { _mm256_set_m128(_mm_loadu_ps(high.as_ptr()), _mm_loadu_ps(low.as_ptr())) }
    }

    /// Two rows of three, with zeros behind them.
    #[inline(always)]
    fn short_pair(low: &[f32; 3], high: &[f32; 3]) -> __m256 {
        // SAFETY: only functions that enable AVX2 call this; of each row the mask has three floats read.
        unsafe {
            let three = _mm_setr_epi32(-1, -1, -1, 0);
            _mm256_set_m128(_mm_maskload_ps(high.as_ptr(), three), _mm_maskload_ps(low.as_ptr(), three))
        }
    }

    /// The columns of rows that come in pairs, each with the row four further on.
    #[inline(always)]
    fn columns([a, b, c, d]: [__m256; 4]) -> [Avx2F32x8; 4] {
        // SAFETY: only functions that enable AVX2 call this.
        unsafe {
            let (ab, cd) = (_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d));
            let (ef, gh) = (_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d));
            [
                Avx2F32x8(_mm256_shuffle_ps::<0x44>(ab, cd)),
                Avx2F32x8(_mm256_shuffle_ps::<0xee>(ab, cd)),
                Avx2F32x8(_mm256_shuffle_ps::<0x44>(ef, gh)),
                Avx2F32x8(_mm256_shuffle_ps::<0xee>(ef, gh)),
            ]
        }
    }

    /// The first half of a row.
    #[inline(always)]
    fn low_half([low @ .., _, _, _, _]: &Array8) -> &[f32; 4] {
        low
    }

    /// The second half of an array.
    #[inline(always)]
    fn high_half([_, _, _, _, high @ ..]: &Array8) -> &[f32; 4] {
        high
    }

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

    impl F32x8 for Avx2F32x8 {
        #[inline(always)]
        fn splat(value: f32) -> Self {
            // SAFETY: only functions that enable AVX2 use this type.
            Self(unsafe { _mm256_set1_ps(value) })
        }
        #[inline(always)]
        fn load(values: &Array8) -> Self {
            // SAFETY: as above; the reference is to eight floats.
            Self(unsafe { _mm256_loadu_ps(values.as_ptr()) })
        }
        #[inline(always)]
        fn store(self) -> Array8 {
            let mut values = [0.0; 8];
            // SAFETY: as above; the array holds eight floats.
            unsafe { _mm256_storeu_ps(values.as_mut_ptr(), self.0) };
            values
        }
        #[inline(always)]
        fn sqrt(self) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm256_sqrt_ps(self.0) })
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
        #[inline(always)]
        fn transpose(rows: [&Array8; 8]) -> [Self; 8] {
            let [a, b, c, d] = Self::transpose4(rows.map(low_half));
            let [e, f, g, h] = Self::transpose4(rows.map(high_half));
            [a, b, c, d, e, f, g, h]
        }
        #[inline(always)]
        fn transpose4([a, b, c, d, e, f, g, h]: [&[f32; 4]; 8]) -> [Self; 4] {
            columns([pair(a, e), pair(b, f), pair(c, g), pair(d, h)])
        }
        #[inline(always)]
        fn transpose3([a, b, c, d, e, f, g, h]: [&[f32; 3]; 8]) -> [Self; 3] {
            let [x, y, z, _] =
                columns([short_pair(a, e), short_pair(b, f), short_pair(c, g), short_pair(d, h)]);
            [x, y, z]
        }
        #[inline(always)]
        fn mask(bits: u32) -> Self {
            // SAFETY: as above.
            unsafe {
                let lanes = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
                let set = _mm256_and_si256(_mm256_set1_epi32(bits as i32), lanes);
                Self(_mm256_castsi256_ps(_mm256_cmpeq_epi32(set, lanes)))
            }
        }
        #[inline(always)]
        fn mask_lt(self, other: Self) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm256_cmp_ps::<_CMP_LT_OQ>(self.0, other.0) })
        }
        #[inline(always)]
        fn sign_bitmask(self) -> u32 {
            // SAFETY: as above.
            unsafe { _mm256_movemask_ps(self.0) as u32 }
        }
        #[inline(always)]
        fn mask_zero(self) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm256_cmp_ps::<_CMP_EQ_OQ>(self.0, _mm256_setzero_ps()) })
        }
        #[inline(always)]
        fn and_not(self, other: Self) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm256_andnot_ps(other.0, self.0) })
        }
        #[inline(always)]
        fn select(self, set: Self, unset: Self) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm256_blendv_ps(unset.0, set.0, self.0) })
        }
        #[inline(always)]
        fn next_up(self) -> Self {
            // SAFETY: as above.
            unsafe {
                let next = _mm256_add_epi32(_mm256_castps_si256(self.0), _mm256_set1_epi32(1));
                Self(_mm256_castsi256_ps(next))
            }
        }
        by!(and => _mm256_and_ps, or => _mm256_or_ps, xor => _mm256_xor_ps, add => _mm256_add_ps, sub => _mm256_sub_ps, mul => _mm256_mul_ps, div => _mm256_div_ps,
            max => _mm256_max_ps, min => _mm256_min_ps);
        compare_by!(simd_lt => _CMP_LT_OQ, simd_le => _CMP_LE_OQ, simd_eq => _CMP_EQ_OQ);
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// Rows of `N` numbers, no two alike.
    fn rows<const N: usize>() -> [[f32; N]; 8] {
        std::array::from_fn(|row| std::array::from_fn(|column| (10 * row + column) as f32 - 7.5))
    }

    fn columns_by<L: F32x8>() -> Vec<Array8> {
        let (eight, four, three) = (rows::<8>(), rows::<4>(), rows::<3>());
        let columns = L::transpose(eight.each_ref()).into_iter();
        let columns = columns.chain(L::transpose4(four.each_ref())).chain(L::transpose3(three.each_ref()));
        columns.map(L::store).collect()
    }

    #[target_feature(enable = "avx2")]
    fn columns_by_avx2() -> Vec<Array8> {
        columns_by::<Avx2F32x8>()
    }

    #[test]
    fn columns_are_the_numbers_of_rows() {
        let plain = columns_by::<PortableF32x8>();
        let number = |column: usize| (0..8).map(|row| (10 * row + column) as f32 - 7.5).collect::<Vec<_>>();
        for (found, column) in plain.iter().zip((0..8).chain(0..4).chain(0..3)) {
            assert_eq!(found.to_vec(), number(column));
        }
        let avx2 = has_avx2().then_some(()).ok_or("The processor has no AVX2. Run on one that has.");
        if lockstep_require::present("avx2", avx2).is_some() {
            // SAFETY: the processor has the features.
            assert_eq!(unsafe { columns_by_avx2() }, plain);
        }
    }
}
