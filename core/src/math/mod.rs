//! Scalar functions with the same bits on every target.
//!
//! Vendors' sines differ in the last bit, so every transcendental here is a fixed polynomial in `+ - * /` and
//! `sqrt`. The counterpart is `kernels/math/scalar.h`. Polynomials: Moshier, *Methods and Programs for
//! Mathematical Functions* (1989).

pub mod canary;
pub mod rng;
pub mod sampling;
pub mod simd;
pub mod sobol;
pub mod transform;
pub mod vec3;
pub mod xorwow;

/// Pi.
pub const PI: f32 = std::f32::consts::PI;
/// 1 / pi.
pub const INV_PI: f32 = std::f32::consts::FRAC_1_PI;
/// 2 pi.
pub const TWO_PI: f32 = std::f32::consts::TAU;
/// 1 / (4 pi).
pub const INV_FOUR_PI: f32 = 0.079_577_47;

/// The smaller value; `b` when unordered.
#[inline(always)]
pub fn min(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// The larger value; `b` when unordered.
#[inline(always)]
pub fn max(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// `x` limited to `[lo, hi]`.
#[inline(always)]
pub fn clamp(x: f32, lo: f32, hi: f32) -> f32 {
    min(max(x, lo), hi)
}

/// `x` limited to `[0, 1]`.
#[inline(always)]
pub fn saturate(x: f32) -> f32 {
    clamp(x, 0.0, 1.0)
}

/// `x * x`.
#[inline(always)]
pub fn sqr(x: f32) -> f32 {
    x * x
}

/// Square root of `max(x, 0)`.
#[inline(always)]
pub fn safe_sqrt(x: f32) -> f32 {
    max(x, 0.0).sqrt()
}

/// `x` with the sign of `s`.
#[inline(always)]
pub fn with_sign_of(x: f32, s: f32) -> f32 {
    f32::from_bits((x.to_bits() & 0x7fff_ffff) | (s.to_bits() & 0x8000_0000))
}

/// The largest integer not above `x`, for `|x|` below 2^30; larger values and NaN are limited first.
#[inline(always)]
pub fn floor_to_i32(x: f32) -> i32 {
    let limited = clamp(x, -1_073_741_824.0, 1_073_741_824.0);
    let truncated = limited as i32;
    if truncated as f32 > limited { truncated - 1 } else { truncated }
}

/// `x - floor(x)`, in `[0, 1]`; zero where `|x|` is 2^23 or more, since such floats are integers.
#[inline(always)]
pub fn fract(x: f32) -> f32 {
    if x.abs() < 8_388_608.0 { x - floor_to_i32(x) as f32 } else { 0.0 }
}

/// Sine and cosine of `turns` full turns, for `turns` in `[-1024, 1024]`. Error below 2 ulp of 1.
#[inline(always)]
pub fn sin_cos_turns(turns: f32) -> (f32, f32) {
    // Reduce to the nearest quarter turn; both steps are exact.
    let quarters = turns * 4.0;
    let quadrant = floor_to_i32(quarters + 0.5);
    let a = (quarters - quadrant as f32) * std::f32::consts::FRAC_PI_2;
    // Evaluate on [-pi/4, pi/4].
    let z = a * a;
    let s = ((-1.951_529_6e-4 * z + 8.332_161e-3) * z - 1.666_665_5e-1) * z * a + a;
    let c = ((2.443_315_7e-5 * z - 1.388_731_6e-3) * z + 4.166_664_6e-2) * z * z - 0.5 * z + 1.0;
    // Selects, not branches: the quadrant is unpredictable.
    let (along, across) = if quadrant & 1 == 0 { (s, c) } else { (c, s) };
    (if quadrant & 2 == 0 { along } else { -along }, if (quadrant + 1) & 2 == 0 { across } else { -across })
}

/// Tangent of an angle in radians below a quarter turn.
#[inline]
pub fn tan(radians: f32) -> f32 {
    let (s, c) = sin_cos_turns(radians / TWO_PI);
    s / c
}

/// Arc tangent for `x` in `[0, 1]`, in radians.
#[inline(always)]
fn atan_unit(x: f32) -> f32 {
    // Beyond tan(pi/8), use atan(x) = pi/4 + atan((x - 1) / (x + 1)).
    let high = x > 0.414_213_57;
    let r = if high { (x - 1.0) / (x + 1.0) } else { x };
    let z = r * r;
    let p = (((8.053_745e-2 * z - 1.387_768_6e-1) * z + 1.997_771_1e-1) * z - 3.333_295e-1) * z * r + r;
    if high { p + std::f32::consts::FRAC_PI_4 } else { p }
}

/// The angle of `(x, y)` from the x axis in turns, in `[0, 1)`; zero for the zero vector.
#[inline(always)]
pub fn atan2_turns(y: f32, x: f32) -> f32 {
    let ax = x.abs();
    let ay = y.abs();
    let largest = max(ax, ay);
    if largest == 0.0 {
        return 0.0;
    }
    // Fold into the first octant, then unfold.
    let mut a = atan_unit(min(ax, ay) / largest);
    if ay > ax {
        a = std::f32::consts::FRAC_PI_2 - a;
    }
    if x < 0.0 {
        a = PI - a;
    }
    let turns = a * (0.5 * INV_PI);
    let turns = if y < 0.0 { 1.0 - turns } else { turns };
    if turns < 1.0 { turns } else { 0.0 }
}

/// Arc cosine in radians for `x` limited to `[-1, 1]`.
#[inline(always)]
pub fn acos(x: f32) -> f32 {
    let c = clamp(x, -1.0, 1.0);
    let s = safe_sqrt((1.0 - c) * (1.0 + c));
    atan2_turns(s, c) * TWO_PI
}

/// Binary logarithm of a positive normal number. Error below 2e-7 of `max(1, |log2 x|)`.
#[inline(always)]
pub fn log2(x: f32) -> f32 {
    // Split into exponent and a mantissa between 1 / sqrt(2) and sqrt(2)
    let bits = x.to_bits();
    let shifted = bits.wrapping_sub(0x3f35_04f3);
    let exponent = (shifted as i32) >> 23;
    let m = f32::from_bits((shifted & 0x007f_ffff).wrapping_add(0x3f35_04f3));
    // log2(m) = 2 / ln(2) * artanh((m - 1) / (m + 1)), by its series
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let p = ((0.320_598_9 * z + 0.412_198_57) * z + 0.577_078_04) * z + 0.961_796_7;
    exponent as f32 + (p * z * s + 2.885_39 * s)
}

/// `2^x`; zero below -126, where results would be subnormal, and `2^127` above 127. Relative error below 3e-7.
#[inline(always)]
pub fn exp2(x: f32) -> f32 {
    if x < -126.0 {
        return 0.0;
    }
    let limited = min(x, 127.0);
    // Split into an integer and a remainder of at most a half
    let whole = floor_to_i32(limited + 0.5);
    let f = limited - whole as f32;
    let high = ((1.525_273_4e-5 * f + 1.540_353e-4) * f + 1.333_355_8e-3) * f + 9.618_129e-3;
    let p = ((high * f + 5.550_411e-2) * f + 2.402_265e-1) * f + 6.931_472e-1;
    (p * f + 1.0) * f32::from_bits(((whole + 127) as u32) << 23)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sine_and_cosine_match_double_precision() {
        for i in 0..200_000 {
            let turns = i as f32 / 100_000.0 - 1.0;
            let (s, c) = sin_cos_turns(turns);
            let angle = f64::from(turns) * std::f64::consts::TAU;
            assert!((f64::from(s) - angle.sin()).abs() < 2.4e-7, "sin {turns}");
            assert!((f64::from(c) - angle.cos()).abs() < 2.4e-7, "cos {turns}");
        }
    }

    #[test]
    fn arc_functions_match_double_precision() {
        for i in 0..100_000 {
            let angle = (f64::from(i) + 0.5) / 100_000.0 * std::f64::consts::TAU;
            let (y, x) = (angle.sin() as f32 * 3.0, angle.cos() as f32 * 3.0);
            let turns = f64::from(atan2_turns(y, x));
            assert!((turns - angle / std::f64::consts::TAU).abs() < 2e-7, "atan2 {angle}");
        }
        for i in 0..=20_000 {
            let x = i as f32 / 10_000.0 - 1.0;
            assert!((f64::from(acos(x)) - f64::from(x).acos()).abs() < 1e-6, "acos {x}");
        }
        assert_eq!(atan2_turns(0.0, 0.0), 0.0);
        assert!(atan2_turns(-1e-30, 1.0) < 1.0);
    }

    #[test]
    fn logarithms_and_powers_match_double_precision() {
        for i in 0..200_000u32 {
            let x = f32::from_bits(0x0080_0000 + i * 10_611);
            let expected = f64::from(x).log2();
            let error = (f64::from(log2(x)) - expected).abs();
            assert!(error < 2e-7 * expected.abs().max(1.0), "log2 {x}: {error}");
        }
        for i in 0..=253_000 {
            let x = i as f32 / 1000.0 - 126.0;
            let expected = f64::from(x).exp2();
            assert!((f64::from(exp2(x)) / expected - 1.0).abs() < 3e-7, "exp2 {x}");
        }
        assert_eq!((log2(1.0), log2(8.0), log2(0.25)), (0.0, 3.0, -2.0));
        assert_eq!((exp2(0.0), exp2(-3.0), exp2(10.0)), (1.0, 0.125, 1024.0));
        assert_eq!((exp2(-126.5), exp2(-1e30), exp2(1e30)), (0.0, 0.0, exp2(127.0)));
    }

    #[test]
    fn floor_agrees_with_the_standard_library() {
        for x in [-2.5f32, -2.0, -0.1, -0.0, 0.0, 0.1, 0.999_999_94, 1.0, 7.5, 8_388_607.5, -8_388_607.5] {
            assert_eq!(floor_to_i32(x), x.floor() as i32, "{x}");
            assert_eq!(fract(x), x - x.floor(), "{x}");
        }
        assert_eq!(fract(1e30), 0.0);
        assert_eq!(floor_to_i32(f32::NAN), -1_073_741_824);
    }
}
