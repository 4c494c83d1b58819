/* The anisotropic GGX microfacet distribution (Heitz 2014), with an alpha along the tangent and one across it.
 * Directions are in the frame whose x axis is the tangent. The counterpart is bsdf/anisotropic.rs. */

#ifdef LS_LAYERS

/* GGX density of microfacet normals for an alpha along x and one along y. */
LS_FN float bsdf_ggx_d_anisotropic(Vec3 h, Vec2 alpha) {
    float x = LS_DIV(h.x, alpha.x);
    float y = LS_DIV(h.y, alpha.y);
    float t = x * x + y * y + h.z * h.z;
    return LS_DIV(1.0f, MATH_PI * (alpha.x * alpha.y) * t * t);
}

/* Smith's Lambda for anisotropic GGX (Heitz 2014, equation 86). */
LS_FN float bsdf_ggx_lambda_anisotropic(Vec3 v, Vec2 alpha) {
    float x = alpha.x * v.x;
    float y = alpha.y * v.y;
    float slope2 = LS_DIV(x * x + y * y, v.z * v.z);
    return 0.5f * (LS_SQRT(1.0f + slope2) - 1.0f);
}

/* Samples a visible microfacet normal for `wo`. */
LS_FN Vec3 bsdf_ggx_sample_anisotropic(Vec3 wo, Vec2 alpha, float u, float v) {
    Vec3 h = bsdf_ggx_sample_stretched(vec3_new(alpha.x * wo.x, alpha.y * wo.y, wo.z), u, v);
    return vec3_normalize(vec3_new(alpha.x * h.x, alpha.y * h.y, h.z));
}

/* The factors of a reflection lobe, as bsdf_reflection_terms gives them. */
LS_FN ReflectionTerms bsdf_reflection_terms_anisotropic(Vec3 wo, Vec3 wi, Vec2 alpha) {
    Vec3 h = vec3_normalize(vec3_add(wo, wi));
    float lambda_o = bsdf_ggx_lambda_anisotropic(wo, alpha);
    float lambda_i = bsdf_ggx_lambda_anisotropic(wi, alpha);
    ReflectionTerms r;
    r.g1 = LS_DIV(1.0f, 1.0f + lambda_o);
    r.g2 = LS_DIV(1.0f, 1.0f + lambda_o + lambda_i);
    r.d_over_4 = LS_DIV(bsdf_ggx_d_anisotropic(h, alpha), 4.0f * wo.z);
    r.cosine = vec3_dot(wo, h);
    return r;
}

/* The perceptual roughness at which isotropic microfacets lose as much light by scattering once as these do, in the
 * cosine-weighted mean over all directions. */
LS_FN float bsdf_roughness_of_equal_loss(Vec2 alpha) {
    float difference = LS_DIV(alpha.x - alpha.y, alpha.x + alpha.y);
    float mean = LS_SQRT(0.5f * (alpha.x * alpha.x + alpha.y * alpha.y));
    return LS_SQRT(mean * (1.0f - 0.06f * (difference * difference)));
}

/* A direction of the shading frame in the frame whose x axis is the unit vector `along`. */
LS_FN Vec3 bsdf_turned(Vec3 v, Vec2 along) {
    return vec3_new(v.x * along.x + v.y * along.y, v.y * along.x - v.x * along.y, v.z);
}

/* The inverse of bsdf_turned. */
LS_FN Vec3 bsdf_turned_back(Vec3 v, Vec2 along) {
    return vec3_new(v.x * along.x - v.y * along.y, v.x * along.y + v.y * along.x, v.z);
}

#endif
