/* Bidirectional scattering distribution functions, one file per lobe. The counterpart is bsdf/mod.rs.
 *
 * Directions are in the local frame whose z axis is the shading normal on the side of `wo`, and point away
 * from the surface. `wo` points back along the path, `wi` towards the next vertex; both have unit length
 * and `wo.z > 0`. */

/* BSDF times cosine, and the density with which bsdf_sample chooses `wi`. Zero for specular surfaces. */
LS_FN Evaluation bsdf_evaluate(Surface s, Vec3 wo, Vec3 wi) {
    if (bsdf_surface_is_specular(s) || wi.z == 0.0f) {
        return bsdf_black();
    }
    if (s.kind == MATERIAL_DIFFUSE) {
        return bsdf_diffuse_evaluate(s, wi);
    }
    if (s.kind == MATERIAL_CONDUCTOR) {
        return bsdf_conductor_evaluate(s, wo, wi);
    }
    if (s.kind == MATERIAL_DIELECTRIC) {
        return bsdf_dielectric_evaluate(s, wo, wi);
    }
    return bsdf_principled_evaluate(s, wo, wi);
}

/* Samples a direction for the draws `u0` (lobe), `u1` and `u2` (direction). A zero weight ends the path. */
LS_FN Scatter bsdf_sample(Surface s, Vec3 wo, float u0, float u1, float u2) {
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
