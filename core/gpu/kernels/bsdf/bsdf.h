/* Bidirectional scattering distribution functions, one file per lobe. The counterpart is bsdf/mod.rs.
 *
 * Directions are in the local frame whose z axis is the shading normal on the side of `wo`, and point away
 * from the surface. `wo` points back along the path, `wi` towards the next vertex; both have unit length
 * and `wo.z > 0`. */

/* bsdf_evaluate of light that scatters once, on a surface that is not specular. Conductors and principled surfaces take
 * the terms of their microfacets at one place: work-items on either go through it together. */
LS_FN Evaluation bsdf_evaluate_single(Surface s, Vec3 wo, Vec3 wi) {
    if (s.kind == MATERIAL_DIFFUSE) {
        return bsdf_diffuse_evaluate(s, wi);
    }
    if (s.kind == MATERIAL_DIELECTRIC) {
        return bsdf_dielectric_evaluate(s, wo, wi);
    }
    bool is_conductor = s.kind == MATERIAL_CONDUCTOR;
    if (is_conductor && wi.z < 0.0f) {
        return bsdf_black();
    }
    ReflectionTerms r = bsdf_principled_terms(s, wo, wi);
    if (is_conductor) {
        return bsdf_conductor_evaluate(s, r);
    }
    return bsdf_principled_evaluate(bsdf_principled_lobes_new(s, wo), wi, r);
}

/* bsdf_sample of light that scatters once. */
LS_FN Scatter bsdf_sample_single(Surface s, Vec3 wo, float u0, float u1, float u2) {
    if (s.kind == MATERIAL_DIFFUSE) {
        return bsdf_diffuse_sample(s, u1, u2);
    }
    if (s.kind == MATERIAL_CONDUCTOR) {
        return bsdf_conductor_sample(s, wo, u1, u2);
    }
    if (s.kind == MATERIAL_DIELECTRIC) {
        return bsdf_dielectric_sample(s, wo, u0, u1, u2);
    }
    return bsdf_principled_sample(s, wo, u0, u1, u2);
}

#ifdef LS_MULTISCATTER
/* bsdf_evaluate_single of a surface that keeps the light which scatters more than once. */
LS_FN Evaluation bsdf_evaluate_once(Surface s, Vec3 wo, Vec3 wi) {
    if (s.kind == MATERIAL_PRINCIPLED) {
        return bsdf_principled_evaluate_keeping(s, wo, wi);
    }
    return bsdf_evaluate_single(s, wo, wi);
}

/* bsdf_evaluate with light that scatters more than once, on a surface that is not specular. */
LS_CALL Evaluation bsdf_evaluate_multiple(Surface s, Vec3 wo, Vec3 wi) {
    if (s.kind == MATERIAL_DIFFUSE) {
        return bsdf_evaluate_single(s, wo, wi);
    }
    return bsdf_recovered_add(bsdf_recovered_new(s, wo), wi, 1.0f, bsdf_evaluate_once(s, wo, wi));
}

/* bsdf_sample with light that scatters more than once, on a surface that is not specular: one lobe, weighted by all. */
LS_CALL Scatter bsdf_sample_multiple(Surface s, Vec3 wo, float u0, float u1, float u2) {
    if (s.kind == MATERIAL_DIFFUSE) {
        return bsdf_sample_single(s, wo, u0, u1, u2);
    }
    Recovered lobe = bsdf_recovered_new(s, wo);
    Vec3 wi;
    Evaluation single;
    if (bsdf_recovered_is_chosen(lobe, u0)) {
        wi = bsdf_recovered_direction(lobe, u0, u1, u2);
        single = bsdf_evaluate_once(s, wo, wi);
    } else {
        /* The weight of the sample has more digits than its direction gives */
        Scatter scattered = bsdf_sample_single(s, wo, bsdf_recovered_rest_of(lobe, u0), u1, u2);
        if (scattered.pdf <= 0.0f) {
            return bsdf_absorbed();
        }
        wi = scattered.wi;
        if (s.kind == MATERIAL_PRINCIPLED) {
            single = bsdf_principled_evaluate_keeping(s, wo, wi);
        } else {
            single = bsdf_evaluation(vec3_scale(scattered.weight, scattered.pdf), scattered.pdf);
        }
    }
    Evaluation e = bsdf_recovered_add(lobe, wi, 1.0f, single);
    if (e.pdf > 0.0f) {
        return bsdf_scatter(wi, vec3_scale(e.value, LS_DIV(1.0f, e.pdf)), e.pdf);
    }
    return bsdf_absorbed();
}
#endif

/* BSDF times cosine, and the density with which bsdf_sample chooses `wi`. Zero for specular surfaces. */
LS_INLINE Evaluation bsdf_evaluate(Surface s, Vec3 wo, Vec3 wi) {
    if (bsdf_surface_is_specular(s) || wi.z == 0.0f) {
        return bsdf_black();
    }
#ifdef LS_MULTISCATTER
    if (s.multiscatter) {
        return bsdf_evaluate_multiple(s, wo, wi);
    }
#endif
    return bsdf_evaluate_single(s, wo, wi);
}

/* Samples a direction for the draws `u0` (lobe), `u1` and `u2` (direction). A zero weight ends the path. */
LS_FN Scatter bsdf_sample(Surface s, Vec3 wo, float u0, float u1, float u2) {
#ifdef LS_MULTISCATTER
    if (s.multiscatter && !bsdf_surface_is_specular(s)) {
        return bsdf_sample_multiple(s, wo, u0, u1, u2);
    }
#endif
    return bsdf_sample_single(s, wo, u0, u1, u2);
}
