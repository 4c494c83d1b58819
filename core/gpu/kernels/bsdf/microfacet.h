/* The GGX microfacet distribution with height-correlated Smith masking-shadowing (Walter et al. 2007;
 * Heitz 2014). The counterpart is bsdf/microfacet.rs. */

/* Smith masking of `wo` alone, and masking-shadowing of both directions. */
typedef struct {
    float g1;
    float g2;
} Masking;

/* The factors of a microfacet reflection lobe: D / (4 cos wo), masking of one and of both directions, and
 * the cosine at the microfacet. */
typedef struct {
    float d_over_4;
    float g1;
    float g2;
    float cosine;
} ReflectionTerms;

/* GGX density of microfacet normals (Walter et al. 2007, equation 33). */
LS_FN float bsdf_ggx_d(Vec3 h, float alpha) {
    float a2 = alpha * alpha;
    float t = LS_DIV(h.x * h.x + h.y * h.y, a2) + h.z * h.z;
    return LS_DIV(1.0f, MATH_PI * a2 * t * t);
}

/* Smith's Lambda for GGX (Heitz 2014, equation 72). */
LS_FN float bsdf_ggx_lambda(Vec3 v, float alpha) {
    float slope2 = LS_DIV(alpha * alpha * (v.x * v.x + v.y * v.y), v.z * v.z);
    return 0.5f * (LS_SQRT(1.0f + slope2) - 1.0f);
}

/* Samples a half vector, not of unit length, for `wo` stretched to the hemisphere configuration. */
LS_FN Vec3 bsdf_ggx_sample_stretched(Vec3 wo, float u, float v) {
    Vec3 stretched = vec3_normalize(wo);
    /* Sample the spherical cap of reflected directions */
    float z = (1.0f - u) * (1.0f + stretched.z) - stretched.z;
    float ring = math_safe_sqrt((1.0f - z) * (1.0f + z));
    SinCos angle = math_sin_cos_turns(v);
    Vec3 h = vec3_add(vec3_new(ring * angle.c, ring * angle.s, z), stretched);
    return vec3_new(h.x, h.y, math_max(h.z, 0.0f));
}

/* Samples a visible microfacet normal for `wo` by spherical caps (Heitz 2018; Dupuy and Benyoub 2023). */
LS_INLINE Vec3 bsdf_ggx_sample(Vec3 wo, float alpha, float u, float v) {
    Vec3 h = bsdf_ggx_sample_stretched(vec3_new(alpha * wo.x, alpha * wo.y, wo.z), u, v);
    /* Stretched back to the ellipsoid */
    return vec3_normalize(vec3_new(alpha * h.x, alpha * h.y, h.z));
}

LS_FN Masking bsdf_ggx_masking(Vec3 wo, Vec3 wi, float alpha) {
    float lambda_o = bsdf_ggx_lambda(wo, alpha);
    float lambda_i = bsdf_ggx_lambda(wi, alpha);
    Masking m;
    m.g1 = LS_DIV(1.0f, 1.0f + lambda_o);
    m.g2 = LS_DIV(1.0f, 1.0f + lambda_o + lambda_i);
    return m;
}

/* `wo` mirrored about the microfacet normal `h`. */
LS_FN Vec3 bsdf_reflect(Vec3 wo, Vec3 h) {
    return vec3_sub(vec3_scale(h, 2.0f * vec3_dot(wo, h)), wo);
}

/* `wo` refracted at the microfacet normal `h`; the zero vector on total internal reflection. */
LS_FN Vec3 bsdf_refract(Vec3 wo, Vec3 h, float eta) {
    float c = vec3_dot(wo, h);
    float sin2_beyond = LS_DIV(1.0f - c * c, eta * eta);
    if (sin2_beyond >= 1.0f) {
        return vec3_splat(0.0f);
    }
    return vec3_sub(vec3_scale(h, LS_DIV(c, eta) - math_safe_sqrt(1.0f - sin2_beyond)),
                    vec3_scale(wo, LS_DIV(1.0f, eta)));
}

LS_FN ReflectionTerms bsdf_reflection_terms(Vec3 wo, Vec3 wi, float alpha) {
    Vec3 h = vec3_normalize(vec3_add(wo, wi));
    Masking m = bsdf_ggx_masking(wo, wi, alpha);
    ReflectionTerms r;
    r.d_over_4 = LS_DIV(bsdf_ggx_d(h, alpha), 4.0f * wo.z);
    r.g1 = m.g1;
    r.g2 = m.g2;
    r.cosine = vec3_dot(wo, h);
    return r;
}
