/* Three floats and the handful of operations a path tracer needs. The counterpart of
 * core/src/math/vec3.rs. */

LS_INLINE Vec3 vec3_new(float x, float y, float z) {
    Vec3 v;
    v.x = x;
    v.y = y;
    v.z = z;
    return v;
}

/* The same value in every component. */
LS_INLINE Vec3 vec3_splat(float s) {
    return vec3_new(s, s, s);
}

/* True when no component is infinite or NaN. */
LS_INLINE bool vec3_is_finite(Vec3 a) {
    return math_is_finite(a.x) && math_is_finite(a.y) && math_is_finite(a.z);
}

LS_INLINE Vec3 vec3_add(Vec3 a, Vec3 b) {
    return vec3_new(a.x + b.x, a.y + b.y, a.z + b.z);
}

LS_INLINE Vec3 vec3_sub(Vec3 a, Vec3 b) {
    return vec3_new(a.x - b.x, a.y - b.y, a.z - b.z);
}

LS_INLINE Vec3 vec3_mul(Vec3 a, Vec3 b) {
    return vec3_new(a.x * b.x, a.y * b.y, a.z * b.z);
}

LS_INLINE Vec3 vec3_scale(Vec3 a, float s) {
    return vec3_new(a.x * s, a.y * s, a.z * s);
}

LS_INLINE Vec3 vec3_neg(Vec3 a) {
    return vec3_new(-a.x, -a.y, -a.z);
}

/* `(a.x b.x + a.y b.y) + a.z b.z`. */
LS_INLINE float vec3_dot(Vec3 a, Vec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

/* The right-handed cross product. */
LS_INLINE Vec3 vec3_cross(Vec3 a, Vec3 b) {
    return vec3_new(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

/* `a` scaled to unit length; the zero vector stays zero. */
LS_INLINE Vec3 vec3_normalize(Vec3 a) {
    float squared = vec3_dot(a, a);
    if (squared > 0.0f) {
        return vec3_scale(a, LS_DIV(1.0f, LS_SQRT(squared)));
    }
    return vec3_splat(0.0f);
}

/* The largest component. */
LS_INLINE float vec3_max_component(Vec3 a) {
    return math_max(a.x, math_max(a.y, a.z));
}

/* The largest absolute component. */
LS_INLINE float vec3_max_abs_component(Vec3 a) {
    return math_max(LS_ABS(a.x), math_max(LS_ABS(a.y), LS_ABS(a.z)));
}

/* Relative luminance of linear Rec. 709 RGB (ITU-R BT.709). */
LS_INLINE float vec3_luminance(Vec3 c) {
    return 0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z;
}

/* `a (1 - t) + b t`. */
LS_INLINE Vec3 vec3_lerp(Vec3 a, Vec3 b, float t) {
    return vec3_add(vec3_scale(a, 1.0f - t), vec3_scale(b, t));
}

/* Sum of three vectors weighted by barycentrics, from the first. */
LS_INLINE Vec3 vec3_weigh(Vec3 a, Vec3 b, Vec3 c, Vec3 weights) {
    return vec3_add(vec3_add(vec3_scale(a, weights.x), vec3_scale(b, weights.y)), vec3_scale(c, weights.z));
}
