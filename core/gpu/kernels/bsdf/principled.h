/* glTF metallic-roughness: a diffuse base, a GGX reflection lobe and thin-wall transmission. The
 * counterpart is bsdf/principled.rs.
 *
 * The diffuse base is dimmed by what the layer reflects on the way in and out, and scaled so that a white base
 * gives back what the layer lets through (Kelemen and Szirmay-Kalos 2001). */

/* The lobes of a principled surface and the probabilities of choosing them. */
typedef struct {
    Vec3 f0;
    float f0_dielectric;
    Layer layer;
    /* The diffuse colour, dimmed by the layer on the way out. */
    Vec3 diffuse;
    Vec3 transmitted;
    float p_specular;
    float p_diffuse;
    float p_transmitted;
} Lobes;

LS_INLINE Lobes bsdf_principled_lobes_new(Surface s, Vec3 wo) {
    Lobes l;
    /* Colours of the lobes */
    l.f0_dielectric = math_sqr(LS_DIV(s.ior - 1.0f, s.ior + 1.0f));
    l.f0 = vec3_lerp(vec3_splat(l.f0_dielectric), s.base_color, s.metallic);
    Vec3 body = vec3_scale(s.base_color, 1.0f - s.metallic);
    l.transmitted = vec3_scale(body, s.transmission);
    l.layer = bsdf_layer_new(s.roughness);
    float below = 1.0f - bsdf_layer_albedo(l.layer, l.f0_dielectric, wo.z);
    float white = LS_DIV(below, 1.0f - bsdf_layer_mean_albedo(l.layer, l.f0_dielectric));
    l.diffuse = vec3_scale(body, (1.0f - s.transmission) * white);
    /* Albedo of each lobe for wo */
    float w_specular = bsdf_layer_albedo(l.layer, vec3_luminance(l.f0), wo.z);
    float w_diffuse = vec3_luminance(body) * (1.0f - s.transmission) * below;
    float w_transmitted = vec3_luminance(l.transmitted) * below;
    float w_body = w_diffuse + w_transmitted;
    /* Probabilities, with a tenth kept for the lobe that the estimate undervalues */
    l.p_specular = w_body > 0.0f ? 0.1f + 0.8f * LS_DIV(w_specular, w_specular + w_body) : 1.0f;
    l.p_diffuse = w_body > 0.0f ? (1.0f - l.p_specular) * LS_DIV(w_diffuse, w_body) : 0.0f;
    l.p_transmitted = w_body > 0.0f ? (1.0f - l.p_specular) * LS_DIV(w_transmitted, w_body) : 0.0f;
    return l;
}

/* The terms of reflection to `wi`; of transmission they are those of the mirrored direction, since a thin wall
 * transmits as if it reflected to the other side. */
LS_FN ReflectionTerms bsdf_principled_terms(Surface s, Vec3 wo, Vec3 wi) {
    return bsdf_reflection_terms(wo, vec3_new(wi.x, wi.y, LS_ABS(wi.z)), bsdf_surface_alpha(s));
}

/* Specular and diffuse lobe, where the layer lets the share `below` of the light from `wi` through. */
LS_FN Evaluation bsdf_principled_reflection(Lobes l, float below, Vec3 wi, ReflectionTerms r) {
    Vec3 specular = vec3_scale(bsdf_schlick(l.f0, r.cosine), r.d_over_4 * r.g2);
    float cosine_pdf = wi.z * MATH_INV_PI;
    return bsdf_evaluation(vec3_add(specular, vec3_scale(l.diffuse, below * cosine_pdf)),
                           l.p_specular * (r.d_over_4 * r.g1) + l.p_diffuse * cosine_pdf);
}

/* Transmission by a thin wall. */
LS_FN Evaluation bsdf_principled_transmission(Lobes l, ReflectionTerms r) {
    float through = 1.0f - bsdf_schlick_scalar(l.f0_dielectric, r.cosine);
    return bsdf_evaluation(vec3_scale(l.transmitted, through * r.d_over_4 * r.g2),
                           l.p_transmitted * (r.d_over_4 * r.g1));
}

/* BSDF times cosine of all lobes, and the density of choosing a lobe and then `wi`, for its bsdf_principled_terms. */
LS_FN Evaluation bsdf_principled_evaluate(Lobes l, Vec3 wi, ReflectionTerms r) {
    if (wi.z > 0.0f) {
        float below = 1.0f - bsdf_layer_albedo(l.layer, l.f0_dielectric, wi.z);
        return bsdf_principled_reflection(l, below, wi, r);
    }
    return bsdf_principled_transmission(l, r);
}

#ifdef LS_MULTISCATTER
/* bsdf_principled_evaluate of a surface that keeps the light which scatters more than once: its layer's albedos are those
 * of tables. */
LS_FN Evaluation bsdf_principled_evaluate_keeping(Surface s, Vec3 wo, Vec3 wi) {
    Lobes l = bsdf_principled_lobes_new(s, wo);
    ReflectionTerms r = bsdf_principled_terms(s, wo, wi);
    if (wi.z <= 0.0f) {
        return bsdf_principled_transmission(l, r);
    }
    float below_out = 1.0f - bsdf_schlick_albedo(s.albedos, l.f0_dielectric, s.roughness, wo.z);
    float mean = 1.0f - bsdf_mean_schlick_albedo(s.albedos, l.f0_dielectric, s.roughness);
    float white = LS_DIV(below_out, mean);
    l.diffuse = vec3_scale(s.base_color, (1.0f - s.metallic) * (1.0f - s.transmission) * white);
    float below = 1.0f - bsdf_schlick_albedo(s.albedos, l.f0_dielectric, s.roughness, wi.z);
    return bsdf_principled_reflection(l, below, wi, r);
}
#endif

/* Samples one lobe, weighted by all of them. */
LS_FN Scatter bsdf_principled_sample(Surface s, Vec3 wo, float u0, float u1, float u2) {
    /* Choose a lobe and sample it */
    Lobes l = bsdf_principled_lobes_new(s, wo);
    Vec3 wi;
    if (u0 < l.p_diffuse) {
        wi = sampling_cosine_hemisphere(u1, u2);
    } else {
        Vec3 r = bsdf_reflect(wo, bsdf_ggx_sample(wo, bsdf_surface_alpha(s), u1, u2));
        if (r.z <= 0.0f) {
            return bsdf_absorbed();
        }
        wi = u0 < l.p_diffuse + l.p_transmitted ? vec3_new(r.x, r.y, -r.z) : r;
    }
    /* Weight by the mixture's density */
    Evaluation e = bsdf_principled_evaluate(l, wi, bsdf_principled_terms(s, wo, wi));
    if (e.pdf > 0.0f) {
        return bsdf_scatter(wi, vec3_scale(e.value, LS_DIV(1.0f, e.pdf)), e.pdf);
    }
    return bsdf_absorbed();
}
