/* Fresnel reflectance. The counterpart is bsdf/fresnel.rs. */

/* Schlick's approximation to Fresnel reflectance (1994). */
LS_FN Vec3 bsdf_schlick(Vec3 f0, float cosine) {
    float m = math_saturate(1.0f - cosine);
    float m2 = m * m;
    float m5 = m2 * m2 * m;
    return vec3_add(f0, vec3_scale(vec3_sub(vec3_splat(1.0f), f0), m5));
}

#ifdef LS_LAYERS
/* bsdf_schlick that rises to `f90` at the horizon. */
LS_FN Vec3 bsdf_schlick_to(Vec3 f0, float f90, float cosine) {
    float m = math_saturate(1.0f - cosine);
    float m2 = m * m;
    float m5 = m2 * m2 * m;
    return vec3_add(f0, vec3_scale(vec3_sub(vec3_splat(f90), f0), m5));
}
#endif

/* bsdf_schlick for one channel. */
LS_FN float bsdf_schlick_scalar(float f0, float cosine) {
    float m = math_saturate(1.0f - cosine);
    float m2 = m * m;
    return f0 + (1.0f - f0) * (m2 * m2 * m);
}

/* Fresnel reflectance of a dielectric boundary for unpolarised light; `eta` is the index of refraction
 * beyond the boundary over the index before it. */
LS_FN float bsdf_fresnel_dielectric(float cosine, float eta) {
    /* Snell's law; no real angle beyond is total internal reflection. */
    float c = math_clamp(cosine, 0.0f, 1.0f);
    float sin2_beyond = LS_DIV(1.0f - c * c, eta * eta);
    if (sin2_beyond >= 1.0f) {
        return 1.0f;
    }
    /* Mean of both polarisations. */
    float beyond = math_safe_sqrt(1.0f - sin2_beyond);
    float parallel = LS_DIV(eta * c - beyond, eta * c + beyond);
    float perpendicular = LS_DIV(c - eta * beyond, c + eta * beyond);
    return 0.5f * (parallel * parallel + perpendicular * perpendicular);
}
