//! Scalar functions with the same bits on every target.
//!
//! Vendors' sines differ in the last bit, so every transcendental here is a fixed polynomial in `+ - * /` and
//! `sqrt`. The counterpart is `kernels/math/scalar.h`. Polynomials: Moshier, *Methods and Programs for
//! Mathematical Functions* (1989).

pub mod canary;
pub mod rng;
pub mod sampling;
pub mod simd;
pub mod transform;
pub mod vec3;

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
    fn floor_agrees_with_the_standard_library() {
        for x in [-2.5f32, -2.0, -0.1, -0.0, 0.0, 0.1, 0.999_999_94, 1.0, 7.5, 8_388_607.5, -8_388_607.5] {
            assert_eq!(floor_to_i32(x), x.floor() as i32, "{x}");
            assert_eq!(fract(x), x - x.floor(), "{x}");
        }
        assert_eq!(fract(1e30), 0.0);
        assert_eq!(floor_to_i32(f32::NAN), -1_073_741_824);
    }
}
