/* Scattering at surfaces. The twin of src/bsdf.rs.
 *
 * Directions are in the local frame whose z axis is the shading normal on the side of `wo`, and point away from the
 * surface. `wo` goes back along the path, `wi` on towards the light; both have unit length and `wo.z > 0`. */

#define SMOOTH_ROUGHNESS 0.03f
#define MIN_ALPHA 0.0009f
#define MATCHED_INDEX 1e-4f

/* A material at one point, its textures looked up. */
typedef struct {
    u32 kind;
    Vec3 base_color;
    float roughness;
    float metallic;
    float ior;
    float transmission;
    bool outside;
} Surface;

/* BSDF times the cosine of `wi`, and the density of bsdf_sample per solid angle. */
typedef struct {
    Vec3 value;
    float pdf;
} Evaluation;

/* A sampled direction: `z < 0` when transmitted; BSDF times cosine over density; density per solid angle, zero for a
 * perfectly smooth surface. */
typedef struct {
    Vec3 wi;
    Vec3 weight;
    float pdf;
} Scatter;

/* Masking of `wo` alone and of both directions. */
typedef struct {
    float g1;
    float g2;
} Masking;

/* D / (4 cos wo), masking of one and of both directions, cosine at the facet. */
typedef struct {
    float d_over_4;
    float g1;
    float g2;
    float cosine;
} ReflectionTerms;

/* The three lobes of a principled surface and the probabilities of choosing them. */
typedef struct {
    Vec3 f0;
    float f0_dielectric;
    Vec3 diffuse;
    Vec3 transmitted;
    float p_specular;
    float p_diffuse;
    float p_transmitted;
} Lobes;

LS_FN Evaluation bsdf_evaluation(Vec3 value, float pdf) {
    Evaluation e;
    e.value = value;
    e.pdf = pdf;
    return e;
}

LS_FN Evaluation bsdf_black(void) {
    return bsdf_evaluation(vec3_splat(0.0f), 0.0f);
}

LS_FN Scatter bsdf_scatter(Vec3 wi, Vec3 weight, float pdf) {
    Scatter s;
    s.wi = wi;
    s.weight = weight;
    s.pdf = pdf;
    return s;
}

LS_FN Scatter bsdf_absorbed(void) {
    return bsdf_scatter(vec3_new(0.0f, 0.0f, 1.0f), vec3_splat(0.0f), 0.0f);
}

/* True when directions have no density, so that light sampling is pointless. */
LS_FN bool bsdf_surface_is_specular(Surface s) {
    if (s.kind == MATERIAL_DIELECTRIC) {
        return s.roughness < SMOOTH_ROUGHNESS || LS_ABS(s.ior - 1.0f) < MATCHED_INDEX;
    }
    return s.kind == MATERIAL_CONDUCTOR && s.roughness < SMOOTH_ROUGHNESS;
}

LS_FN float bsdf_surface_alpha(Surface s) {
    return math_max(s.roughness * s.roughness, MIN_ALPHA);
}

/* Index beyond the surface over the index on `wo`'s side. */
LS_FN float bsdf_surface_relative_ior(Surface s) {
    return s.outside ? s.ior : 1.0f / s.ior;
}

/* Schlick's approximation to Fresnel reflectance (1994). */
LS_FN Vec3 bsdf_schlick(Vec3 f0, float cosine) {
    float m = math_saturate(1.0f - cosine);
    float m2 = m * m;
    float m5 = m2 * m2 * m;
    return vec3_add(f0, vec3_scale(vec3_sub(vec3_splat(1.0f), f0), m5));
}

/* Fresnel reflectance of a dielectric boundary for unpolarised light; `eta` is the index beyond over the index before. */
LS_FN float bsdf_fresnel_dielectric(float cosine, float eta) {
    float c = math_clamp(cosine, 0.0f, 1.0f);
    float sin2_beyond = (1.0f - c * c) / (eta * eta);
    if (sin2_beyond >= 1.0f) {
        return 1.0f;
    }
    float beyond = math_safe_sqrt(1.0f - sin2_beyond);
    float parallel = (eta * c - beyond) / (eta * c + beyond);
    float perpendicular = (c - eta * beyond) / (c + eta * beyond);
    return 0.5f * (parallel * parallel + perpendicular * perpendicular);
}

/* GGX density of microfacet normals. */
LS_FN float bsdf_ggx_d(Vec3 h, float alpha) {
    float a2 = alpha * alpha;
    float t = (h.x * h.x + h.y * h.y) / a2 + h.z * h.z;
    return 1.0f / (MATH_PI * a2 * t * t);
}

/* Smith's Lambda. */
LS_FN float bsdf_ggx_lambda(Vec3 v, float alpha) {
    float slope2 = alpha * alpha * (v.x * v.x + v.y * v.y) / (v.z * v.z);
    return 0.5f * (LS_SQRT(1.0f + slope2) - 1.0f);
}

/* A visible microfacet normal for `wo`. */
LS_FN Vec3 bsdf_ggx_sample(Vec3 wo, float alpha, float u, float v) {
    Vec3 stretched = vec3_normalize(vec3_new(alpha * wo.x, alpha * wo.y, wo.z));
    float z = (1.0f - u) * (1.0f + stretched.z) - stretched.z;
    float ring = math_safe_sqrt((1.0f - z) * (1.0f + z));
    SinCos angle = math_sin_cos_turns(v);
    Vec3 h = vec3_add(vec3_new(ring * angle.c, ring * angle.s, z), stretched);
    return vec3_normalize(vec3_new(alpha * h.x, alpha * h.y, math_max(h.z, 0.0f)));
}

LS_FN Masking bsdf_ggx_masking(Vec3 wo, Vec3 wi, float alpha) {
    float lambda_o = bsdf_ggx_lambda(wo, alpha);
    float lambda_i = bsdf_ggx_lambda(wi, alpha);
    Masking m;
    m.g1 = 1.0f / (1.0f + lambda_o);
    m.g2 = 1.0f / (1.0f + lambda_o + lambda_i);
    return m;
}

/* `wo` mirrored about `h`. */
LS_FN Vec3 bsdf_reflect(Vec3 wo, Vec3 h) {
    return vec3_sub(vec3_scale(h, 2.0f * vec3_dot(wo, h)), wo);
}

/* `wo` refracted at a facet `h`; the zero vector on total internal reflection. */
LS_FN Vec3 bsdf_refract(Vec3 wo, Vec3 h, float eta) {
    float c = vec3_dot(wo, h);
    float sin2_beyond = (1.0f - c * c) / (eta * eta);
    if (sin2_beyond >= 1.0f) {
        return vec3_splat(0.0f);
    }
    return vec3_sub(vec3_scale(h, c / eta - math_safe_sqrt(1.0f - sin2_beyond)), vec3_scale(wo, 1.0f / eta));
}

LS_FN ReflectionTerms bsdf_reflection_terms(Vec3 wo, Vec3 wi, float alpha) {
    Vec3 h = vec3_normalize(vec3_add(wo, wi));
    Masking m = bsdf_ggx_masking(wo, wi, alpha);
    ReflectionTerms r;
    r.d_over_4 = bsdf_ggx_d(h, alpha) / (4.0f * wo.z);
    r.g1 = m.g1;
    r.g2 = m.g2;
    r.cosine = vec3_dot(wo, h);
    return r;
}

LS_FN Evaluation bsdf_dielectric_reflection(Surface s, Vec3 wo, Vec3 wi) {
    ReflectionTerms r = bsdf_reflection_terms(wo, wi, bsdf_surface_alpha(s));
    float f = bsdf_fresnel_dielectric(r.cosine, bsdf_surface_relative_ior(s));
    return bsdf_evaluation(vec3_scale(s.base_color, f * r.d_over_4 * r.g2), f * r.d_over_4 * r.g1);
}

/* Walter et al. 2007, equation 21, for radiance. */
LS_FN Evaluation bsdf_dielectric_transmission(Surface s, Vec3 wo, Vec3 wi) {
    float eta = bsdf_surface_relative_ior(s);
    Vec3 generalized = vec3_normalize(vec3_add(wo, vec3_scale(wi, eta)));
    Vec3 h = generalized.z < 0.0f ? vec3_neg(generalized) : generalized;
    float cos_o = vec3_dot(wo, h);
    float cos_i = vec3_dot(wi, h);
    /* Facets must face wo from the front and wi from behind. */
    if (cos_o <= 0.0f || cos_i >= 0.0f) {
        return bsdf_black();
    }
    float alpha = bsdf_surface_alpha(s);
    Masking m = bsdf_ggx_masking(wo, wi, alpha);
    float f = bsdf_fresnel_dielectric(cos_o, eta);
    float root = cos_i + cos_o / eta;
    float common = (1.0f - f) * bsdf_ggx_d(h, alpha) * cos_o * -cos_i / (wo.z * root * root);
    return bsdf_evaluation(vec3_scale(s.base_color, common * m.g2 / (eta * eta)), common * m.g1);
}

LS_FN float bsdf_schlick_scalar(float f0, float cosine) {
    float m = math_saturate(1.0f - cosine);
    float m2 = m * m;
    return f0 + (1.0f - f0) * (m2 * m2 * m);
}

LS_FN Lobes bsdf_lobes_new(Surface s, Vec3 wo) {
    Lobes l;
    l.f0_dielectric = math_sqr((s.ior - 1.0f) / (s.ior + 1.0f));
    l.f0 = vec3_lerp(vec3_splat(l.f0_dielectric), s.base_color, s.metallic);
    Vec3 body = vec3_scale(s.base_color, 1.0f - s.metallic);
    l.transmitted = vec3_scale(body, s.transmission);
    l.diffuse = vec3_scale(body, 1.0f - s.transmission);
    float below = 1.0f - bsdf_schlick_scalar(l.f0_dielectric, wo.z);
    float w_specular = vec3_luminance(bsdf_schlick(l.f0, wo.z));
    float w_diffuse = vec3_luminance(l.diffuse) * below;
    float w_transmitted = vec3_luminance(l.transmitted) * below;
    float w_body = w_diffuse + w_transmitted;
    /* Keep a tenth for the lobe that the estimate undervalues. */
    l.p_specular = w_body > 0.0f ? 0.1f + 0.8f * (w_specular / (w_specular + w_body)) : 1.0f;
    l.p_diffuse = w_body > 0.0f ? (1.0f - l.p_specular) * (w_diffuse / w_body) : 0.0f;
    l.p_transmitted = w_body > 0.0f ? (1.0f - l.p_specular) * (w_transmitted / w_body) : 0.0f;
    return l;
}

/* glTF metallic-roughness. The diffuse base is dimmed by the Fresnel loss on the way in and out, a reciprocal coupling
 * that never reflects more than arrives (Ashikhmin and Shirley 2000). */
LS_FN Evaluation bsdf_evaluate_principled(Surface s, Vec3 wo, Vec3 wi) {
    Lobes l = bsdf_lobes_new(s, wo);
    if (wi.z > 0.0f) {
        ReflectionTerms r = bsdf_reflection_terms(wo, wi, bsdf_surface_alpha(s));
        float losses = (1.0f - bsdf_schlick_scalar(l.f0_dielectric, wo.z))
                       * (1.0f - bsdf_schlick_scalar(l.f0_dielectric, wi.z));
        Vec3 specular = vec3_scale(bsdf_schlick(l.f0, r.cosine), r.d_over_4 * r.g2);
        float cosine_pdf = wi.z * MATH_INV_PI;
        return bsdf_evaluation(vec3_add(specular, vec3_scale(l.diffuse, losses * cosine_pdf)),
                               l.p_specular * (r.d_over_4 * r.g1) + l.p_diffuse * cosine_pdf);
    }
    /* A thin wall transmits as if it reflected to the other side. */
    Vec3 mirrored = vec3_new(wi.x, wi.y, -wi.z);
    ReflectionTerms r = bsdf_reflection_terms(wo, mirrored, bsdf_surface_alpha(s));
    float through = 1.0f - bsdf_schlick_scalar(l.f0_dielectric, r.cosine);
    return bsdf_evaluation(vec3_scale(l.transmitted, through * r.d_over_4 * r.g2),
                           l.p_transmitted * (r.d_over_4 * r.g1));
}

/* BSDF times cosine, and the density with which bsdf_sample would choose `wi`. Zero for smooth surfaces. */
LS_FN Evaluation bsdf_evaluate(Surface s, Vec3 wo, Vec3 wi) {
    if (bsdf_surface_is_specular(s) || wi.z == 0.0f) {
        return bsdf_black();
    }
    if (s.kind == MATERIAL_DIFFUSE) {
        if (wi.z < 0.0f) {
            return bsdf_black();
        }
        float pdf = wi.z * MATH_INV_PI;
        return bsdf_evaluation(vec3_scale(s.base_color, pdf), pdf);
    }
    if (s.kind == MATERIAL_CONDUCTOR) {
        if (wi.z < 0.0f) {
            return bsdf_black();
        }
        ReflectionTerms r = bsdf_reflection_terms(wo, wi, bsdf_surface_alpha(s));
        return bsdf_evaluation(vec3_scale(bsdf_schlick(s.base_color, r.cosine), r.d_over_4 * r.g2),
                               r.d_over_4 * r.g1);
    }
    if (s.kind == MATERIAL_DIELECTRIC) {
        return wi.z > 0.0f ? bsdf_dielectric_reflection(s, wo, wi) : bsdf_dielectric_transmission(s, wo, wi);
    }
    return bsdf_evaluate_principled(s, wo, wi);
}

LS_FN Scatter bsdf_sample_conductor(Surface s, Vec3 wo, float u1, float u2) {
    if (bsdf_surface_is_specular(s)) {
        return bsdf_scatter(vec3_new(-wo.x, -wo.y, wo.z), bsdf_schlick(s.base_color, wo.z), 0.0f);
    }
    float alpha = bsdf_surface_alpha(s);
    Vec3 h = bsdf_ggx_sample(wo, alpha, u1, u2);
    Vec3 wi = bsdf_reflect(wo, h);
    if (wi.z <= 0.0f) {
        return bsdf_absorbed();
    }
    Masking m = bsdf_ggx_masking(wo, wi, alpha);
    float pdf = m.g1 * bsdf_ggx_d(h, alpha) / (4.0f * wo.z);
    return bsdf_scatter(wi, vec3_scale(bsdf_schlick(s.base_color, vec3_dot(wo, h)), m.g2 / m.g1), pdf);
}

LS_FN Scatter bsdf_sample_dielectric(Surface s, Vec3 wo, float u0, float u1, float u2) {
    float eta = bsdf_surface_relative_ior(s);
    bool smooth = bsdf_surface_is_specular(s);
    float alpha = bsdf_surface_alpha(s);
    Vec3 h = smooth ? vec3_new(0.0f, 0.0f, 1.0f) : bsdf_ggx_sample(wo, alpha, u1, u2);
    float cosine = vec3_dot(wo, h);
    float f = bsdf_fresnel_dielectric(cosine, eta);
    bool reflected = u0 < f;
    Vec3 wi = reflected ? bsdf_reflect(wo, h) : bsdf_refract(wo, h, eta);
    if ((reflected && wi.z <= 0.0f) || (!reflected && wi.z >= 0.0f)) {
        return bsdf_absorbed();
    }
    /* Radiance is compressed into a smaller cone on its way into the denser side. */
    float compression = reflected ? 1.0f : 1.0f / (eta * eta);
    if (smooth) {
        return bsdf_scatter(wi, vec3_scale(s.base_color, compression), 0.0f);
    }
    Masking m = bsdf_ggx_masking(wo, wi, alpha);
    float visible = m.g1 * bsdf_ggx_d(h, alpha) / wo.z;
    float pdf;
    if (reflected) {
        pdf = f * visible * 0.25f;
    } else {
        float cos_i = vec3_dot(wi, h);
        float root = cos_i + cosine / eta;
        pdf = (1.0f - f) * visible * cosine * -cos_i / (root * root);
    }
    return bsdf_scatter(wi, vec3_scale(s.base_color, compression * m.g2 / m.g1), pdf);
}

LS_FN Scatter bsdf_sample_principled(Surface s, Vec3 wo, float u0, float u1, float u2) {
    Lobes l = bsdf_lobes_new(s, wo);
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
    Evaluation e = bsdf_evaluate_principled(s, wo, wi);
    if (e.pdf > 0.0f) {
        return bsdf_scatter(wi, vec3_scale(e.value, 1.0f / e.pdf), e.pdf);
    }
    return bsdf_absorbed();
}

/* Chooses a direction for the draws `u0` (lobe), `u1` and `u2` (direction). A zero weight means the path ends. */
LS_FN Scatter bsdf_sample(Surface s, Vec3 wo, float u0, float u1, float u2) {
    if (s.kind == MATERIAL_DIFFUSE) {
        Vec3 wi = sampling_cosine_hemisphere(u1, u2);
        return bsdf_scatter(wi, s.base_color, wi.z * MATH_INV_PI);
    }
    if (s.kind == MATERIAL_CONDUCTOR) {
        return bsdf_sample_conductor(s, wo, u1, u2);
    }
    if (s.kind == MATERIAL_DIELECTRIC) {
        return bsdf_sample_dielectric(s, wo, u0, u1, u2);
    }
    return bsdf_sample_principled(s, wo, u0, u1, u2);
}
