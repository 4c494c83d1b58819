/* Dielectrics: specular or GGX reflection and transmission (Walter et al. 2007). The counterpart is
 * bsdf/dielectric.rs. */

LS_FN Evaluation bsdf_dielectric_reflection(Surface s, Vec3 wo, Vec3 wi) {
    ReflectionTerms r = bsdf_reflection_terms(wo, wi, bsdf_surface_alpha(s));
    float f = bsdf_fresnel_dielectric(r.cosine, bsdf_surface_relative_ior(s));
    return bsdf_evaluation(vec3_scale(s.base_color, f * r.d_over_4 * r.g2), f * r.d_over_4 * r.g1);
}

/* Walter et al. 2007, equation 21, for radiance. */
LS_FN Evaluation bsdf_dielectric_transmission(Surface s, Vec3 wo, Vec3 wi) {
    /* Generalised half vector, on the side of wo */
    float eta = bsdf_surface_relative_ior(s);
    Vec3 generalized = vec3_normalize(vec3_add(wo, vec3_scale(wi, eta)));
    Vec3 h = generalized.z < 0.0f ? vec3_neg(generalized) : generalized;
    float cos_o = vec3_dot(wo, h);
    float cos_i = vec3_dot(wi, h);
    /* Microfacets must face wo from the front and wi from behind. */
    if (cos_o <= 0.0f || cos_i >= 0.0f) {
        return bsdf_black();
    }
    /* Distribution, Fresnel term and Jacobian of the half vector */
    float alpha = bsdf_surface_alpha(s);
    Masking m = bsdf_ggx_masking(wo, wi, alpha);
    float f = bsdf_fresnel_dielectric(cos_o, eta);
    float root = cos_i + LS_DIV(cos_o, eta);
    float common = LS_DIV((1.0f - f) * bsdf_ggx_d(h, alpha) * cos_o * -cos_i, wo.z * root * root);
    return bsdf_evaluation(vec3_scale(s.base_color, LS_DIV(common * m.g2, eta * eta)), common * m.g1);
}

/* BSDF times cosine of a rough dielectric, and its density. For radiance: transmission carries the factor
 * 1 / eta^2. */
LS_FN Evaluation bsdf_dielectric_evaluate(Surface s, Vec3 wo, Vec3 wi) {
    return wi.z > 0.0f ? bsdf_dielectric_reflection(s, wo, wi) : bsdf_dielectric_transmission(s, wo, wi);
}

/* Samples reflection with the Fresnel reflectance as its probability, else transmission. */
LS_FN Scatter bsdf_dielectric_sample(Surface s, Vec3 wo, float u0, float u1, float u2) {
    /* Sample a microfacet normal */
    float eta = bsdf_surface_relative_ior(s);
    bool specular = bsdf_surface_is_specular(s);
    float alpha = bsdf_surface_alpha(s);
    Vec3 h = specular ? vec3_new(0.0f, 0.0f, 1.0f) : bsdf_ggx_sample(wo, alpha, u1, u2);
    /* Choose reflection or transmission */
    float cosine = vec3_dot(wo, h);
    float f = bsdf_fresnel_dielectric(cosine, eta);
    bool reflected = u0 < f;
    Vec3 wi = reflected ? bsdf_reflect(wo, h) : bsdf_refract(wo, h, eta);
    if ((reflected && wi.z <= 0.0f) || (!reflected && wi.z >= 0.0f)) {
        return bsdf_absorbed();
    }
    /* Radiance is compressed into a smaller cone on its way into the denser side. */
    float compression = reflected ? 1.0f : LS_DIV(1.0f, eta * eta);
    if (specular) {
        return bsdf_scatter(wi, vec3_scale(s.base_color, compression), 0.0f);
    }
    /* Density of wi: the visible normals' times the Jacobian of reflection or refraction */
    Masking m = bsdf_ggx_masking(wo, wi, alpha);
    float visible = LS_DIV(m.g1 * bsdf_ggx_d(h, alpha), wo.z);
    float pdf;
    if (reflected) {
        pdf = f * visible * 0.25f;
    } else {
        float cos_i = vec3_dot(wi, h);
        float root = cos_i + LS_DIV(cosine, eta);
        pdf = LS_DIV((1.0f - f) * visible * cosine * -cos_i, root * root);
    }
    return bsdf_scatter(wi, vec3_scale(s.base_color, LS_DIV(compression * m.g2, m.g1)), pdf);
}
