/* Glass under a thin film and a clearcoat: glTF's KHR_materials_iridescence and _clearcoat on the surface around a
 * volume. The counterpart is bsdf/glass.rs, which gives the reasons. */

#ifdef LS_GLASS_LAYERS

/* Fresnel's term of glass under a film, at a cosine to a microfacet on the side of `wo`. */
LS_FN Vec3 bsdf_reflectance(Surface s, SurfaceLayers layers, float cosine) {
    float eta = bsdf_surface_relative_ior(s);
    float bare = bsdf_fresnel_dielectric(cosine, eta);
#ifdef LS_IRIDESCENCE
    if (layers.iridescence > 0.0f && bare < 1.0f) {
        /* The film's model asks for the cosine in air */
        float c = math_clamp(cosine, 0.0f, 1.0f);
        float beyond = math_safe_sqrt(1.0f - LS_DIV(1.0f - c * c, eta * eta));
        float in_air = s.outside ? c : beyond;
        float f0 = math_sqr(LS_DIV(s.ior - 1.0f, s.ior + 1.0f));
        Vec3 of_film = bsdf_thin_film(layers.film, vec3_splat(f0), in_air);
        return vec3_lerp(vec3_splat(bare), of_film, layers.iridescence);
    }
#else
    (void)layers;
#endif
    return vec3_splat(bare);
}

/* Glass with its layers, for light that leaves by one direction. */
typedef struct {
    float eta;
    float alpha;
    Layer coat;
#ifdef LS_MULTISCATTER
    /* True where the surface keeps all light: layers are scaled by the albedos of `wo`. */
    bool is_scaled;
    LS_GLOBAL const u32 *albedos;
#endif
    /* The share that the clearcoat lets through on the way out; all from inside. */
    float coat_out;
    /* The probability of choosing the clearcoat's lobe. */
    float p_coat;
} Glass;

/* The boundary at a microfacet. */
typedef struct {
    /* Fresnel's term. */
    Vec3 reflected;
    /* The share that the clearcoat lets out of what is transmitted from inside. */
    float let_out;
    /* The probability of reflection. */
    float p_reflected;
} Boundary;

/* The share that the clearcoat lets through of a direction outside. */
LS_FN float bsdf_glass_passed(Glass glass, SurfaceLayers layers, float cosine) {
#ifdef LS_MULTISCATTER
    if (glass.is_scaled) {
        return bsdf_coat_scaling(glass.albedos, layers.clearcoat, layers.clearcoat_f0, layers.clearcoat_roughness,
                                 cosine);
    }
#endif
    return bsdf_coat_share(glass.coat, layers.clearcoat, layers.clearcoat_f0, cosine);
}

LS_FN Glass bsdf_glass_new(Surface s, SurfaceLayers layers, Vec3 wo) {
    Glass glass;
    glass.eta = bsdf_surface_relative_ior(s);
    glass.alpha = bsdf_surface_alpha(s);
    glass.coat = bsdf_layer_new(layers.clearcoat_roughness);
#ifdef LS_MULTISCATTER
    glass.is_scaled = s.multiscatter;
    glass.albedos = s.albedos;
#endif
    glass.coat_out = 1.0f;
    glass.p_coat = 0.0f;
    if (s.outside && layers.clearcoat > 0.0f) {
        glass.coat_out = bsdf_glass_passed(glass, layers, wo.z);
        float sum = 1.0f - glass.coat_out + glass.coat_out * vec3_luminance(s.base_color);
        float least = LEAST_SHARE * sum;
        glass.p_coat = LS_DIV(1.0f - glass.coat_out + least, sum + 2.0f * least);
    }
    return glass;
}

/* The share that the clearcoat lets out of what a microfacet transmits of a direction inside. */
LS_FN float bsdf_glass_let_out(Glass glass, SurfaceLayers layers, Vec3 from, Vec3 h) {
    return bsdf_glass_passed(glass, layers, math_max(-bsdf_refract(from, h, glass.eta).z, 0.0f));
}

#ifdef LS_MULTISCATTER
/* True for a microfacet that reflects to the side of `wo` and transmits to the other. */
LS_FN bool bsdf_glass_has_both_sides(Glass glass, Vec3 wo, Vec3 h) {
    return bsdf_reflect(wo, h).z > 0.0f && bsdf_refract(wo, h, glass.eta).z < 0.0f;
}
#endif

/* The boundary at the microfacet with the normal `h`. */
LS_FN Boundary bsdf_glass_boundary(Glass glass, Surface s, SurfaceLayers layers, Vec3 wo, Vec3 h) {
    Boundary at;
#ifdef LS_MULTISCATTER
    if (glass.is_scaled && !bsdf_glass_has_both_sides(glass, wo, h)) {
        float bare = bsdf_fresnel_dielectric(vec3_dot(wo, h), glass.eta);
        at.reflected = vec3_splat(bare);
        at.let_out = 1.0f;
        at.p_reflected = bare;
        return at;
    }
#endif
    at.reflected = bsdf_reflectance(s, layers, vec3_dot(wo, h));
    float mean = math_min((at.reflected.x + at.reflected.y + at.reflected.z) * 0.33333334f, 1.0f);
    at.let_out = s.outside || mean >= 1.0f ? 1.0f : bsdf_glass_let_out(glass, layers, wo, h);
    at.p_reflected = 1.0f - (1.0f - mean) * at.let_out;
    return at;
}

/* Reflectance with what the clearcoat gives back of light from inside. */
LS_FN Vec3 bsdf_glass_given_back(Glass glass, Surface s, SurfaceLayers layers, Boundary at, Vec3 wi, Vec3 h) {
    if (s.outside || at.let_out >= 1.0f) {
        return at.reflected;
    }
    float let_out = math_max(at.let_out, bsdf_glass_let_out(glass, layers, wi, h));
#ifdef LS_MULTISCATTER
    let_out = glass.is_scaled ? at.let_out : let_out;
#endif
    float back = 1.0f - let_out;
    return vec3_add(at.reflected, vec3_scale(vec3_sub(vec3_splat(1.0f), at.reflected), back));
}

/* The share that the clearcoat lets through of light between `wo` and `wi` that the glass reflects or transmits. */
LS_FN float bsdf_glass_below(Glass glass, Surface s, SurfaceLayers layers, Vec3 wi) {
#ifdef LS_MULTISCATTER
    if (glass.is_scaled) {
        return glass.coat_out;
    }
#endif
    if (s.outside) {
        return wi.z > 0.0f ? math_min(glass.coat_out, bsdf_glass_passed(glass, layers, wi.z)) : glass.coat_out;
    }
    return wi.z > 0.0f ? 1.0f : bsdf_glass_passed(glass, layers, -wi.z);
}

#ifdef LS_MULTISCATTER
/* Reflection by a microfacet, with its masking `g2`. The part by which film and clearcoat reflect more than the bare
 * boundary has the masking of the transmission that it is taken from. */
LS_FN Vec3 bsdf_glass_masked(Glass glass, Vec3 reflected, float bare, Vec3 wo, Vec3 h, float g2) {
    if (bare >= 1.0f) {
        return vec3_scale(reflected, g2);
    }
    float of_transmission = bsdf_ggx_masking(wo, bsdf_refract(wo, h, glass.eta), glass.alpha).g2;
    Vec3 more = vec3_add(vec3_scale(vec3_sub(reflected, vec3_splat(bare)), of_transmission), vec3_splat(bare * g2));
    return vec3_new(math_max(more.x, 0.0f), math_max(more.y, 0.0f), math_max(more.z, 0.0f));
}
#endif

/* Reflection by rough glass, below the clearcoat. */
LS_FN Evaluation bsdf_glass_reflection(Glass glass, Surface s, SurfaceLayers layers, Vec3 wo, Vec3 wi) {
    Vec3 h = vec3_normalize(vec3_add(wo, wi));
    Boundary at = bsdf_glass_boundary(glass, s, layers, wo, h);
    ReflectionTerms r = bsdf_reflection_terms(wo, wi, glass.alpha);
    Vec3 f = bsdf_glass_given_back(glass, s, layers, at, wi, h);
#ifdef LS_MULTISCATTER
    if (glass.is_scaled) {
        float bare = bsdf_fresnel_dielectric(r.cosine, glass.eta);
        Vec3 masked = bsdf_glass_masked(glass, f, bare, wo, h, r.g2);
        return bsdf_evaluation(vec3_scale(vec3_mul(s.base_color, masked), r.d_over_4),
                               at.p_reflected * r.d_over_4 * r.g1);
    }
#endif
    return bsdf_evaluation(vec3_scale(vec3_mul(s.base_color, f), r.d_over_4 * r.g2),
                           at.p_reflected * r.d_over_4 * r.g1);
}

/* Transmission by rough glass, below the clearcoat (Walter et al. 2007, equation 21, for radiance). */
LS_FN Evaluation bsdf_glass_transmission(Glass glass, Surface s, SurfaceLayers layers, Vec3 wo, Vec3 wi) {
    Vec3 generalized = vec3_normalize(vec3_add(wo, vec3_scale(wi, glass.eta)));
    Vec3 h = generalized.z < 0.0f ? vec3_neg(generalized) : generalized;
    float cos_o = vec3_dot(wo, h);
    float cos_i = vec3_dot(wi, h);
    if (cos_o <= 0.0f || cos_i >= 0.0f) {
        return bsdf_black();
    }
    Boundary at = bsdf_glass_boundary(glass, s, layers, wo, h);
    Masking m = bsdf_ggx_masking(wo, wi, glass.alpha);
    float root = cos_i + LS_DIV(cos_o, glass.eta);
    float common = LS_DIV(bsdf_ggx_d(h, glass.alpha) * cos_o * -cos_i, wo.z * root * root);
    Vec3 passed = vec3_mul(s.base_color, vec3_sub(vec3_splat(1.0f), at.reflected));
    Vec3 value = vec3_scale(passed, LS_DIV(common * m.g2, glass.eta * glass.eta));
#ifdef LS_MULTISCATTER
    if (glass.is_scaled) {
        value = vec3_scale(value, at.let_out);
    }
#endif
    return bsdf_evaluation(value, (1.0f - at.p_reflected) * common * m.g1);
}

/* The direction in which smooth glass reflects or transmits, and its weight below the clearcoat. */
LS_FN Scatter bsdf_glass_specular(Glass glass, Surface s, SurfaceLayers layers, Vec3 wo, float u) {
    Vec3 h = vec3_new(0.0f, 0.0f, 1.0f);
    Boundary at = bsdf_glass_boundary(glass, s, layers, wo, h);
    bool reflects = u < at.p_reflected;
    Vec3 wi = reflects ? bsdf_reflect(wo, h) : bsdf_refract(wo, h, glass.eta);
    if (reflects != (wi.z > 0.0f)) {
        return bsdf_absorbed();
    }
    Vec3 f;
    if (reflects) {
        f = vec3_scale(bsdf_glass_given_back(glass, s, layers, at, wi, h), LS_DIV(1.0f, at.p_reflected));
    } else {
        float scale = LS_DIV(1.0f, (1.0f - at.p_reflected) * (glass.eta * glass.eta));
#ifdef LS_MULTISCATTER
        scale = glass.is_scaled ? scale * at.let_out : scale;
#endif
        f = vec3_scale(vec3_sub(vec3_splat(1.0f), at.reflected), scale);
    }
    Vec3 weight = vec3_scale(vec3_mul(s.base_color, f), bsdf_glass_below(glass, s, layers, wi));
    return bsdf_scatter(wi, weight, 0.0f);
}

/* BSDF times cosine of all lobes that are not specular, and the density with which bsdf_sample_glass chooses `wi`. */
LS_CALL Evaluation bsdf_evaluate_glass(Surface s, SurfaceLayers layers, Vec3 wo, Vec3 wi) {
    Glass glass = bsdf_glass_new(s, layers, wo);
    Evaluation e = bsdf_black();
    if (!bsdf_surface_is_specular(s)) {
        Evaluation lobe = wi.z > 0.0f ? bsdf_glass_reflection(glass, s, layers, wo, wi)
                                      : bsdf_glass_transmission(glass, s, layers, wo, wi);
        float below = bsdf_glass_below(glass, s, layers, wi);
        e = bsdf_evaluation(vec3_scale(lobe.value, below), lobe.pdf);
#ifdef LS_MULTISCATTER
        if (s.multiscatter) {
            e = bsdf_recovered_add(bsdf_recovered_new(s, wo), wi, glass.coat_out, e);
        }
#endif
        e.pdf = e.pdf * (1.0f - glass.p_coat);
    }
    /* Clearcoat */
    if (s.outside && wi.z > 0.0f && layers.clearcoat > 0.0f) {
        ReflectionTerms r = bsdf_reflection_terms(wo, wi, bsdf_coat_alpha(layers));
        float reflected = layers.clearcoat * bsdf_schlick_scalar(layers.clearcoat_f0, r.cosine) * r.d_over_4 * r.g2;
        e.value = vec3_add(e.value, vec3_splat(reflected));
        e.pdf = e.pdf + glass.p_coat * (r.d_over_4 * r.g1);
    }
    return e;
}

/* Samples the clearcoat, the light that scatters more than once, or reflection and transmission. A direction of rough
 * lobes is weighted by all of them. */
LS_CALL Scatter bsdf_sample_glass(Surface s, SurfaceLayers layers, Vec3 wo, float u0, float u1, float u2) {
    Glass glass = bsdf_glass_new(s, layers, wo);
    Vec3 wi;
    if (u0 < glass.p_coat) {
        wi = bsdf_reflect(wo, bsdf_ggx_sample(wo, bsdf_coat_alpha(layers), u1, u2));
        if (wi.z <= 0.0f) {
            return bsdf_absorbed();
        }
    } else {
        float rest = math_clamp(LS_DIV(u0 - glass.p_coat, 1.0f - glass.p_coat), 0.0f, 0.99999994f);
        if (bsdf_surface_is_specular(s)) {
            Scatter scattered = bsdf_glass_specular(glass, s, layers, wo, rest);
            scattered.weight = vec3_scale(scattered.weight, LS_DIV(1.0f, 1.0f - glass.p_coat));
            return scattered;
        }
        bool is_recovered = false;
#ifdef LS_MULTISCATTER
        if (s.multiscatter) {
            Recovered lobe = bsdf_recovered_new(s, wo);
            is_recovered = bsdf_recovered_is_chosen(lobe, rest);
            if (is_recovered) {
                wi = bsdf_recovered_direction(lobe, rest, u1, u2);
            } else {
                rest = bsdf_recovered_rest_of(lobe, rest);
            }
        }
#endif
        if (!is_recovered) {
            Vec3 h = bsdf_ggx_sample(wo, glass.alpha, u1, u2);
            bool reflects = rest < bsdf_glass_boundary(glass, s, layers, wo, h).p_reflected;
            wi = reflects ? bsdf_reflect(wo, h) : bsdf_refract(wo, h, glass.eta);
            if (reflects != (wi.z > 0.0f) || wi.z == 0.0f) {
                return bsdf_absorbed();
            }
        }
    }
    Evaluation e = bsdf_evaluate_glass(s, layers, wo, wi);
    if (e.pdf > 0.0f) {
        return bsdf_scatter(wi, vec3_scale(e.value, LS_DIV(1.0f, e.pdf)), e.pdf);
    }
    return bsdf_absorbed();
}

#endif
