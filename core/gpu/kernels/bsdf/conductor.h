/* Conductors: a specular or GGX reflection lobe with Schlick's Fresnel term. The counterpart is
 * bsdf/conductor.rs. */

/* BSDF times cosine of a rough conductor, and its density, for these terms of a reflection. */
LS_FN Evaluation bsdf_conductor_evaluate(Surface s, ReflectionTerms r) {
    return bsdf_evaluation(vec3_scale(bsdf_schlick(s.base_color, r.cosine), r.d_over_4 * r.g2), r.d_over_4 * r.g1);
}

/* Samples the mirror direction, or a reflection off a visible microfacet. */
LS_FN Scatter bsdf_conductor_sample(Surface s, Vec3 wo, float u, float v) {
    /* Specular: mirror direction */
    if (bsdf_surface_is_specular(s)) {
        return bsdf_scatter(vec3_new(-wo.x, -wo.y, wo.z), bsdf_schlick(s.base_color, wo.z), 0.0f);
    }
    /* Rough: reflect off a visible microfacet */
    float alpha = bsdf_surface_alpha(s);
    Vec3 h = bsdf_ggx_sample(wo, alpha, u, v);
    Vec3 wi = bsdf_reflect(wo, h);
    if (wi.z <= 0.0f) {
        return bsdf_absorbed();
    }
    Masking m = bsdf_ggx_masking(wo, wi, alpha);
    float pdf = LS_DIV(m.g1 * bsdf_ggx_d(h, alpha), 4.0f * wo.z);
    return bsdf_scatter(wi, vec3_scale(bsdf_schlick(s.base_color, vec3_dot(wo, h)), LS_DIV(m.g2, m.g1)), pdf);
}
