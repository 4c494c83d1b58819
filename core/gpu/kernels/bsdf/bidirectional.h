/* The BSDF seen from both ends of a path (Veach 1997, chapter 5). The counterpart is
 * bsdf/bidirectional.rs. */

/* BSDF or its adjoint times the cosine of `wi`, and the densities per solid angle of both directions of
 * travel. */
typedef struct {
    Vec3 value;
    float pdf;
    float reverse_pdf;
} BidirectionalEvaluation;

/* The adjoint BSDF over the BSDF for a path that leaves by `wi`: only transmission of dielectrics is not
 * symmetric. */
LS_FN float bsdf_adjoint_factor(Surface s, Vec3 wi) {
    if (s.kind != MATERIAL_DIELECTRIC || wi.z >= 0.0f) {
        return 1.0f;
    }
    float eta = bsdf_surface_relative_ior(s);
    return eta * eta;
}

/* The factor of a path that carries importance where shading and geometric normal differ (Veach 1997,
 * equation 5.19). Each direction is given by its cosines to the shading and to the geometric normal. */
LS_FN float bsdf_shading_normal_correction(Vec2 wo, Vec2 wi) {
    float below = LS_ABS(wo.y * wi.x);
    return below > 0.0f ? LS_DIV(LS_ABS(wo.x * wi.y), below) : 0.0f;
}

/* The density per solid angle with which a path that arrives along `wi` chooses `wo`. Zero for specular
 * surfaces. */
LS_FN float bsdf_reverse_pdf(Surface s, Vec3 wo, Vec3 wi) {
    if (wi.z > 0.0f) {
        return bsdf_evaluate(s, wi, wo).pdf;
    }
    /* Mirror both about the surface, so that the direction of arrival has a positive z */
    Surface beyond = s;
    beyond.outside = !s.outside;
    return bsdf_evaluate(beyond, vec3_new(wi.x, wi.y, -wi.z), vec3_new(wo.x, wo.y, -wo.z)).pdf;
}

/* Evaluates the BSDF, or its adjoint for a path that carries importance, with the densities of both
 * directions. */
LS_FN BidirectionalEvaluation bsdf_evaluate_bidirectional(Surface s, Vec3 wo, Vec3 wi, bool adjoint) {
    Evaluation forward = bsdf_evaluate(s, wo, wi);
    float factor = adjoint ? bsdf_adjoint_factor(s, wi) : 1.0f;
    BidirectionalEvaluation both;
    both.value = vec3_scale(forward.value, factor);
    both.pdf = forward.pdf;
    both.reverse_pdf = bsdf_reverse_pdf(s, wo, wi);
    return both;
}
