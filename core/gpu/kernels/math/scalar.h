/* Scalar functions with the same bits on every target. The counterpart of core/src/math/mod.rs. */

#define MATH_PI 3.14159265358979323846f
#define MATH_FRAC_PI_2 1.57079632679489661923f
#define MATH_FRAC_PI_4 0.785398163397448309616f
#define MATH_INV_PI 0.318309886183790671538f
#define MATH_LOG2_E 1.44269504088896340736f
#define MATH_TWO_PI 6.28318530717958647693f
#define MATH_INV_FOUR_PI 0.07957747f

/* The smaller value; `b` when unordered. */
LS_INLINE float math_min(float a, float b) {
    return a < b ? a : b;
}

/* The larger value; `b` when unordered. */
LS_INLINE float math_max(float a, float b) {
    return a > b ? a : b;
}

/* `x` limited to `[lo, hi]`. */
LS_INLINE float math_clamp(float x, float lo, float hi) {
    return math_min(math_max(x, lo), hi);
}

/* `x` limited to `[0, 1]`. */
LS_INLINE float math_saturate(float x) {
    return math_clamp(x, 0.0f, 1.0f);
}

/* `i` limited to `[lo, hi]`. */
LS_INLINE i32 math_clamp_i32(i32 i, i32 lo, i32 hi) {
    return i < lo ? lo : (i > hi ? hi : i);
}

/* False for infinities and NaN. */
LS_INLINE bool math_is_finite(float x) {
    return (LS_AS_U32(x) & 0x7f800000u) != 0x7f800000u;
}

/* `x * x`. */
LS_INLINE float math_sqr(float x) {
    return x * x;
}

/* Square root of `max(x, 0)`. */
LS_INLINE float math_safe_sqrt(float x) {
    return LS_SQRT(math_max(x, 0.0f));
}

/* `x` with the sign of `s`. */
LS_INLINE float math_with_sign_of(float x, float s) {
    return LS_AS_F32((LS_AS_U32(x) & 0x7fffffffu) | (LS_AS_U32(s) & 0x80000000u));
}

/* The largest integer not above `x`, for `|x|` below 2^30; larger values and NaN are limited first. */
LS_INLINE i32 math_floor_to_i32(float x) {
    float limited = math_clamp(x, -1073741824.0f, 1073741824.0f);
    i32 truncated = (i32)limited;
    return (float)truncated > limited ? truncated - 1 : truncated;
}

/* `x - floor(x)`, in `[0, 1]`; zero where `|x|` is 2^23 or more, since such floats are integers. */
LS_INLINE float math_fract(float x) {
    if (LS_ABS(x) < 8388608.0f) {
        return x - (float)math_floor_to_i32(x);
    }
    return 0.0f;
}

typedef struct {
    float s;
    float c;
} SinCos;

/* Sine and cosine of `turns` full turns, for `turns` in `[-1024, 1024]`. */
LS_INLINE SinCos math_sin_cos_turns(float turns) {
    /* Reduce to the nearest quarter turn; both steps are exact. */
    float quarters = turns * 4.0f;
    i32 quadrant = math_floor_to_i32(quarters + 0.5f);
    float a = (quarters - (float)quadrant) * MATH_FRAC_PI_2;
    /* Evaluate on [-pi/4, pi/4]. */
    float z = a * a;
    float s = ((-1.9515296e-4f * z + 8.332161e-3f) * z - 1.6666655e-1f) * z * a + a;
    float c = ((2.4433157e-5f * z - 1.3887316e-3f) * z + 4.1666646e-2f) * z * z - 0.5f * z + 1.0f;
    i32 quarter = quadrant & 3;
    SinCos r;
    r.s = quarter == 0 ? s : (quarter == 1 ? c : (quarter == 2 ? -s : -c));
    r.c = quarter == 0 ? c : (quarter == 1 ? -s : (quarter == 2 ? -c : s));
    return r;
}

/* Arc tangent for `x` in `[0, 1]`, in radians. */
LS_INLINE float math_atan_unit(float x) {
    /* Beyond tan(pi/8), use atan(x) = pi/4 + atan((x - 1) / (x + 1)). */
    bool high = x > 0.41421357f;
    float r = high ? LS_DIV(x - 1.0f, x + 1.0f) : x;
    float z = r * r;
    float p = (((8.053745e-2f * z - 1.3877686e-1f) * z + 1.9977711e-1f) * z - 3.333295e-1f) * z * r + r;
    return high ? p + MATH_FRAC_PI_4 : p;
}

/* The angle of `(x, y)` from the x axis in turns, in `[0, 1)`; zero for the zero vector. */
LS_INLINE float math_atan2_turns(float y, float x) {
    float ax = LS_ABS(x);
    float ay = LS_ABS(y);
    float largest = math_max(ax, ay);
    if (largest == 0.0f) {
        return 0.0f;
    }
    /* Fold into the first octant, then unfold. */
    float a = math_atan_unit(LS_DIV(math_min(ax, ay), largest));
    if (ay > ax) {
        a = MATH_FRAC_PI_2 - a;
    }
    if (x < 0.0f) {
        a = MATH_PI - a;
    }
    float turns = a * (0.5f * MATH_INV_PI);
    if (y < 0.0f) {
        turns = 1.0f - turns;
    }
    return turns < 1.0f ? turns : 0.0f;
}

/* Arc cosine in radians for `x` limited to `[-1, 1]`. */
LS_INLINE float math_acos(float x) {
    float c = math_clamp(x, -1.0f, 1.0f);
    float s = math_safe_sqrt((1.0f - c) * (1.0f + c));
    return math_atan2_turns(s, c) * MATH_TWO_PI;
}

/* Binary logarithm of a positive normal number. */
LS_INLINE float math_log2(float x) {
    /* Split into exponent and a mantissa between 1 / sqrt(2) and sqrt(2) */
    u32 shifted = LS_AS_U32(x) - 0x3f3504f3u;
    i32 exponent = (i32)(shifted >> 23);
    exponent = exponent > 255 ? exponent - 512 : exponent;
    float m = LS_AS_F32((shifted & 0x007fffffu) + 0x3f3504f3u);
    /* log2(m) = 2 / ln(2) * artanh((m - 1) / (m + 1)), by its series */
    float s = LS_DIV(m - 1.0f, m + 1.0f);
    float z = s * s;
    float p = ((0.3205989f * z + 0.41219857f) * z + 0.57707804f) * z + 0.9617967f;
    return (float)exponent + (p * z * s + 2.88539f * s);
}

/* `2^x`; zero below -126, where results would be subnormal, and `2^127` above 127. */
LS_INLINE float math_exp2(float x) {
    if (x < -126.0f) {
        return 0.0f;
    }
    float limited = math_min(x, 127.0f);
    /* Split into an integer and a remainder of at most a half */
    i32 whole = math_floor_to_i32(limited + 0.5f);
    float f = limited - (float)whole;
    float high = ((1.5252734e-5f * f + 1.540353e-4f) * f + 1.3333558e-3f) * f + 9.618129e-3f;
    float p = ((high * f + 5.550411e-2f) * f + 2.402265e-1f) * f + 6.931472e-1f;
    return (p * f + 1.0f) * LS_AS_F32((u32)(whole + 127) << 23);
}
