/* Lambertian reflection. The counterpart is bsdf/diffuse.rs. */

/* BSDF times cosine, and its density. */
LS_FN Evaluation bsdf_diffuse_evaluate(Surface s, Vec3 wi) {
    if (wi.z < 0.0f) {
        return bsdf_black();
    }
    float pdf = wi.z * MATH_INV_PI;
    return bsdf_evaluation(vec3_scale(s.base_color, pdf), pdf);
}

/* Samples the cosine-weighted hemisphere. */
LS_FN Scatter bsdf_diffuse_sample(Surface s, float u, float v) {
    Vec3 wi = sampling_cosine_hemisphere(u, v);
    return bsdf_scatter(wi, s.base_color, wi.z * MATH_INV_PI);
}
