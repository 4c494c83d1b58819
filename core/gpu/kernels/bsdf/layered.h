/* A principled surface under layers: glTF's KHR_materials_specular, _clearcoat, _sheen, _anisotropy and
 * _iridescence, all lobes evaluated together. The counterpart is bsdf/layered.rs, which gives the reasons. */

#ifdef LS_LAYERS

#define ALBEDO_MARGIN 2e-3f
#define MEAN_MARGIN 1e-3f
#define LEAST_SHARE 0.05f

/* The layers of a material at one point, their textures looked up. */
typedef struct {
    bool present;
    Vec3 specular_color;
    float specular;
    Vec3 sheen_color;
    float sheen_roughness;
    float clearcoat;
    float clearcoat_roughness;
    float clearcoat_f0;
#ifdef LS_IRIDESCENCE
    float iridescence;
    ThinFilm film;
#endif
    float anisotropy;
    /* Direction of anisotropy in world space, close to the surface; zero where there is none. */
    Vec3 along;
#ifdef LS_COAT_NORMALS
    /* The clearcoat's unit shading normal in world space, on the front side; zero where it is the surface's. */
    Vec3 coat_normal;
#endif
    /* The tables of albedos. */
    LS_GLOBAL const u32 *albedos;
} SurfaceLayers;

/* How layers lie in the local frame. */
typedef struct {
    /* Direction of anisotropy, of unit length. */
    Vec2 along;
#ifdef LS_COAT_NORMALS
    /* Normal of the clearcoat on the side of `wo`; the z axis where it is the surface's. */
    Vec3 coat;
    /* Geometric normal on the side of `wo`; the z axis where the clearcoat has no normal of its own. */
    Vec3 geometric;
#endif
} LayerAxes;

/* No layers. */
LS_FN SurfaceLayers bsdf_no_layers(void) {
    SurfaceLayers none;
    none.present = false;
    none.specular_color = vec3_splat(0.0f);
    none.specular = 0.0f;
    none.sheen_color = vec3_splat(0.0f);
    none.sheen_roughness = 0.0f;
    none.clearcoat = 0.0f;
    none.clearcoat_roughness = 0.0f;
    none.clearcoat_f0 = 0.0f;
#ifdef LS_IRIDESCENCE
    none.iridescence = 0.0f;
    none.film.ior = 1.0f;
    none.film.thickness = 0.0f;
#endif
    none.anisotropy = 0.0f;
    none.along = vec3_splat(0.0f);
#ifdef LS_COAT_NORMALS
    none.coat_normal = vec3_splat(0.0f);
#endif
    none.albedos = 0;
    return none;
}

#ifdef LS_COAT_NORMALS

/* True where the clearcoat's normal is not the surface's. */
LS_FN bool bsdf_layer_axes_is_tilted(LayerAxes axes) {
    return axes.coat.z < 1.0f;
}

/* A direction in the clearcoat's frame. */
LS_FN Vec3 bsdf_layer_axes_in_coat(LayerAxes axes, Vec3 v) {
    if (!bsdf_layer_axes_is_tilted(axes)) {
        return v;
    }
    Frame frame = sampling_frame(axes.coat);
    return vec3_new(vec3_dot(v, frame.s), vec3_dot(v, frame.t), vec3_dot(v, axes.coat));
}

/* `wo` in the clearcoat's frame, never below its horizon. */
LS_FN Vec3 bsdf_layer_axes_wo_in_coat(LayerAxes axes, Vec3 wo) {
    if (!bsdf_layer_axes_is_tilted(axes)) {
        return wo;
    }
    Vec3 v = bsdf_layer_axes_in_coat(axes, wo);
    return vec3_new(v.x, v.y, math_max(v.z, MIN_COSINE));
}

/* A direction of the clearcoat's frame, to unit length. */
LS_FN Vec3 bsdf_layer_axes_out_of_coat(LayerAxes axes, Vec3 v) {
    if (!bsdf_layer_axes_is_tilted(axes)) {
        return v;
    }
    Frame frame = sampling_frame(axes.coat);
    return vec3_normalize(vec3_weigh(frame.s, frame.t, axes.coat, v));
}

/* True for a direction below the surface's horizon that only the clearcoat reflects into. */
LS_FN bool bsdf_layer_axes_is_of_coat_alone(LayerAxes axes, Vec3 wi) {
    return vec3_dot(axes.geometric, wi) > 0.0f;
}

#else

/* All clearcoats lie along their surfaces. */
LS_FN Vec3 bsdf_layer_axes_in_coat(LayerAxes axes, Vec3 v) {
    (void)axes;
    return v;
}

LS_FN Vec3 bsdf_layer_axes_wo_in_coat(LayerAxes axes, Vec3 wo) {
    (void)axes;
    return wo;
}

LS_FN Vec3 bsdf_layer_axes_out_of_coat(LayerAxes axes, Vec3 v) {
    (void)axes;
    return v;
}

LS_FN bool bsdf_layer_axes_is_of_coat_alone(LayerAxes axes, Vec3 wi) {
    (void)axes;
    (void)wi;
    return false;
}

#endif

/* The shares of light that the layers above the body let through. */
typedef struct {
    Layer base;
    float f0;
    float f90;
    float sheen;
    float sheen_roughness;
    Layer coat;
    float clearcoat;
    float clearcoat_f0;
    LS_GLOBAL const u32 *albedos;
} Above;

/* The lobes of a layered surface and the probabilities of choosing them. */
typedef struct {
    Above above;
    Vec3 f0;
    float f90;
#ifdef LS_IRIDESCENCE
    /* Bounds the thin film's reflectance; black without one. */
    Vec3 envelope;
#endif
    /* GGX alpha along and across the direction of anisotropy. */
    Vec2 alpha;
    /* The diffuse colour, dimmed by the layers on the way out. */
    Vec3 diffuse;
    Vec3 transmitted;
    /* Shares that the clearcoat and sheen let through on the way out. */
    float coat_out;
    float sheen_out;
    float p_cosine;
    float p_transmitted;
    float p_coat;
    float p_specular;
} LayeredLobes;

/* Estimates of the albedo of each lobe for light that leaves by one direction. */
typedef struct {
    float coat;
    float sheen;
    float specular;
    float diffuse;
    float transmitted;
} LobeAlbedos;

/* The share that the specular lobe lets through. */
LS_FN float bsdf_above_base(Above a, float cosine) {
    return math_max(1.0f - (bsdf_layer_albedo_to(a.base, a.f0, a.f90, cosine) + ALBEDO_MARGIN), 0.0f);
}

/* The share that sheen lets through. */
LS_FN float bsdf_above_sheen(Above a, float cosine) {
    if (a.sheen > 0.0f) {
        return 1.0f - a.sheen * math_min(bsdf_sheen_albedo(a.albedos, a.sheen_roughness, cosine), 1.0f);
    }
    return 1.0f;
}

/* The share that a clearcoat of this weight and reflectance lets through. */
LS_FN float bsdf_coat_share(Layer coat, float clearcoat, float f0, float cosine) {
    if (clearcoat > 0.0f) {
        float albedo = bsdf_layer_albedo_to(coat, f0, 1.0f, cosine) + ALBEDO_MARGIN;
        return math_max(1.0f - clearcoat * albedo, 0.0f);
    }
    return 1.0f;
}

/* The share that the clearcoat lets through. */
LS_FN float bsdf_above_coat(Above a, float cosine) {
    return bsdf_coat_share(a.coat, a.clearcoat, a.clearcoat_f0, cosine);
}

/* The share that all let through, for the cosines to the surface's and to the clearcoat's normal. */
LS_FN float bsdf_above_all(Above a, float cosine, float of_coat) {
    return bsdf_above_coat(a, of_coat) * bsdf_above_sheen(a, cosine) * bsdf_above_base(a, cosine);
}

/* bsdf_above_all of a clearcoat along the surface. */
LS_FN float bsdf_above_along_surface(Above a, float cosine) {
    return bsdf_above_all(a, cosine, cosine);
}

/* The cosine-weighted mean of bsdf_above_along_surface over the hemisphere, by Gauss-Jacobi quadrature; not below
 * it. */
LS_FN float bsdf_above_mean(Above a) {
    float grazing = 0.06236194f * bsdf_above_along_surface(a, 0.13975986f)
                    + 0.2596951f * bsdf_above_along_surface(a, 0.41640957f);
    float steep = 0.40692914f * bsdf_above_along_surface(a, 0.723157f)
                  + 0.27101383f * bsdf_above_along_surface(a, 0.9428958f);
    return grazing + steep + MEAN_MARGIN;
}

/* The diffuse colour, dimmed by the layers on the way out, of which all let this share through. */
LS_FN Vec3 bsdf_lobe_shapes_diffuse(LayeredLobes l, Surface s, float all_out) {
    Vec3 body = vec3_scale(s.base_color, 1.0f - s.metallic);
    return vec3_scale(body, (1.0f - s.transmission) * LS_DIV(all_out, bsdf_above_mean(l.above)));
}

/* GGX alpha of the specular lobe along and across the direction of anisotropy. */
LS_FN Vec2 bsdf_specular_alphas(Surface s, SurfaceLayers layers) {
    float across = bsdf_surface_alpha(s);
    Vec2 alpha;
    alpha.x = across + (1.0f - across) * math_sqr(layers.anisotropy);
    alpha.y = across;
    return alpha;
}

/* The isotropic surface whose light that scatters more than once stands for that of the specular lobe. */
LS_FN Surface bsdf_recovering_surface(Surface s, SurfaceLayers layers) {
#ifdef LS_MULTISCATTER
    if (layers.anisotropy > 0.0f) {
        s.roughness = bsdf_roughness_of_equal_loss(bsdf_specular_alphas(s, layers));
    }
#else
    (void)layers;
#endif
    return s;
}

/* Reflectance at normal incidence of the dielectric part of the specular lobe. */
LS_FN Vec3 bsdf_dielectric_f0(Surface s, SurfaceLayers layers) {
    Vec3 tinted = vec3_scale(layers.specular_color, math_sqr(LS_DIV(s.ior - 1.0f, s.ior + 1.0f)));
    Vec3 limited = vec3_new(math_min(tinted.x, 1.0f), math_min(tinted.y, 1.0f), math_min(tinted.z, 1.0f));
    return vec3_scale(limited, layers.specular);
}

/* The lobes without their probabilities, and without the diffuse colour unless it is wanted, with the albedo of each for
 * `wo`. One function, and no struct of its own for these members: in another order ptxas spills 40 % more. */
LS_FN LayeredLobes bsdf_lobe_shapes_new(Surface s, SurfaceLayers layers, LayerAxes axes, Vec3 wo, bool is_diffuse,
                                        LobeAlbedos *w) {
    LayeredLobes l;
    /* Colours of the lobes */
    Vec3 dielectric = bsdf_dielectric_f0(s, layers);
    l.f0 = vec3_lerp(dielectric, s.base_color, s.metallic);
    l.f90 = layers.specular + (1.0f - layers.specular) * s.metallic;
    Vec3 body = vec3_scale(s.base_color, 1.0f - s.metallic);
    l.transmitted = vec3_scale(body, s.transmission);
    l.above.base = bsdf_layer_new(s.roughness);
    l.above.f0 = vec3_max_component(dielectric);
    l.above.f90 = layers.specular;
    Vec3 reflected = l.f0;
#ifdef LS_IRIDESCENCE
    float film = layers.iridescence;
    l.envelope = vec3_splat(0.0f);
    if (film > 0.0f) {
        l.envelope = bsdf_film_envelope(layers.film, l.f0);
    }
    l.above.f0 = l.above.f0 + (vec3_max_component(l.envelope) - l.above.f0) * film;
    l.above.f90 = layers.specular + (1.0f - layers.specular) * film;
    reflected = vec3_lerp(l.f0, l.envelope, film);
#endif
    l.above.sheen = vec3_max_component(layers.sheen_color);
    l.above.sheen_roughness = layers.sheen_roughness;
    l.above.coat = bsdf_layer_new(layers.clearcoat_roughness);
    l.above.clearcoat = layers.clearcoat;
    l.above.clearcoat_f0 = layers.clearcoat_f0;
    l.above.albedos = layers.albedos;
    /* Shares that layers let through on the way out */
    l.coat_out = bsdf_above_coat(l.above, bsdf_layer_axes_wo_in_coat(axes, wo).z);
    l.sheen_out = bsdf_above_sheen(l.above, wo.z);
    float base_out = bsdf_above_base(l.above, wo.z);
    float all_out = l.coat_out * l.sheen_out * base_out;
    l.diffuse = vec3_splat(0.0f);
    if (is_diffuse) {
        l.diffuse = bsdf_lobe_shapes_diffuse(l, s, all_out);
    }
    /* Alphas of the specular lobe */
    l.alpha = bsdf_specular_alphas(s, layers);
    /* Albedo of each lobe for wo */
    float below = l.coat_out * l.sheen_out;
    w->coat = 1.0f - l.coat_out;
    w->sheen = l.above.sheen > 0.0f ? l.coat_out * (1.0f - l.sheen_out) : 0.0f;
    w->specular = below * bsdf_layer_albedo_to(l.above.base, vec3_luminance(reflected), l.f90, wo.z);
    w->diffuse = vec3_luminance(body) * ((1.0f - s.transmission) * all_out);
    w->transmitted = vec3_luminance(l.transmitted) * all_out;
    return l;
}

/* The specular lobe's Fresnel term at this cosine to a microfacet. */
LS_FN Vec3 bsdf_lobe_shapes_fresnel(LayeredLobes l, SurfaceLayers layers, float cosine) {
    Vec3 fresnel = bsdf_schlick_to(l.f0, l.f90, cosine);
#ifdef LS_IRIDESCENCE
    if (layers.iridescence > 0.0f) {
        Vec3 of_film = bsdf_film_fresnel(layers.film, l.f0, l.envelope, cosine);
        return vec3_lerp(fresnel, of_film, layers.iridescence);
    }
#endif
    return fresnel;
}

#ifdef LS_MULTISCATTER

/* The specular lobe: reflectances, film and microfacets. */
typedef struct {
    Vec3 f0;
    float f90;
    Vec2 alpha;
#ifdef LS_IRIDESCENCE
    float iridescence;
    ThinFilm film;
    Vec3 envelope;
#endif
} SpecularLobe;

/* The mean of the specular lobe's Fresnel term over the microfacets that are seen from `wo` and reflect to an unmasked
 * direction. Isotropic microfacets, whose `wo` must have no y, take half a turn. */
LS_CALL Vec3 bsdf_mean_fresnel(SpecularLobe l, Vec3 wo) {
    u32 steps = l.alpha.x == l.alpha.y ? 24u : 48u;
    float masked = 1.0f + bsdf_ggx_lambda_anisotropic(wo, l.alpha);
    Vec3 sum = vec3_splat(0.0f);
    float all = 0.0f;
    for (u32 i = 0u; i < steps; i++) {
        u32 node = i & 3u;
        float turns = ((float)(i >> 2u) + 0.5f) * 0.083333336f;
        Vec3 h = bsdf_ggx_sample_anisotropic(wo, l.alpha, bsdf_gauss_node(node), turns);
        Vec3 wi = bsdf_reflect(wo, h);
        if (wi.z > 0.0f) {
            float unmasked = LS_DIV(masked, masked + bsdf_ggx_lambda_anisotropic(wi, l.alpha));
            float share = bsdf_gauss_weight(node) * unmasked;
            float cosine = vec3_dot(wo, h);
            Vec3 fresnel = bsdf_schlick_to(l.f0, l.f90, cosine);
#ifdef LS_IRIDESCENCE
            if (l.iridescence > 0.0f) {
                Vec3 of_film = bsdf_film_fresnel(l.film, l.f0, l.envelope, cosine);
                fresnel = vec3_lerp(fresnel, of_film, l.iridescence);
            }
#endif
            sum = vec3_add(sum, vec3_scale(fresnel, share));
            all = all + share;
        }
    }
    return all > 0.0f ? vec3_scale(sum, LS_DIV(1.0f, all)) : vec3_splat(0.0f);
}

/* One channel of bsdf_body_share. */
LS_FN float bsdf_body_channel(float metallic, float dielectric, float f0) {
    return f0 < 1.0f ? LS_DIV((1.0f - metallic) * (1.0f - dielectric), 1.0f - f0) : 0.0f;
}

/* The base colour's share of what microfacets transmit: the dielectric's part of what metal and dielectric do not
 * reflect. */
LS_FN Vec3 bsdf_body_share(Surface s, Vec3 dielectric, Vec3 f0) {
    return vec3_new(bsdf_body_channel(s.metallic, dielectric.x, f0.x), bsdf_body_channel(s.metallic, dielectric.y, f0.y),
                    bsdf_body_channel(s.metallic, dielectric.z, f0.z));
}

/* Shares of light that reach the lobes of a surface that keeps all of it, seen from one direction. */
typedef struct {
    /* The share that the clearcoat lets through. */
    float coat;
    /* The share that clearcoat and sheen let through. */
    float below;
    /* The share that the specular lobe's microfacets lose. */
    float missing;
    /* The diffuse colour, as seen through all that lies above. */
    Vec3 diffuse;
} Scaling;

LS_FN Scaling bsdf_scaling_new(Surface s, SurfaceLayers layers, LayerAxes axes, Vec3 wo) {
    Scaling k;
    SpecularLobe l;
    Vec3 dielectric = bsdf_dielectric_f0(s, layers);
    l.f0 = vec3_lerp(dielectric, s.base_color, s.metallic);
    l.f90 = layers.specular + (1.0f - layers.specular) * s.metallic;
    l.alpha = bsdf_specular_alphas(s, layers);
    /* Shares that layers let through */
    float of_coat = bsdf_layer_axes_wo_in_coat(axes, wo).z;
    k.coat =
        bsdf_coat_scaling(s.albedos, layers.clearcoat, layers.clearcoat_f0, layers.clearcoat_roughness, of_coat);
    k.below = k.coat * bsdf_sheen_scaling(s.albedos, vec3_max_component(layers.sheen_color), layers.sheen_roughness, wo.z);
    /* Shares that microfacets lose and transmit */
    Vec3 towards = bsdf_turned(wo, axes.along);
    bool is_stretched = layers.anisotropy > 0.0f;
    bool is_integrated = is_stretched;
#ifdef LS_IRIDESCENCE
    l.iridescence = layers.iridescence;
    l.film = layers.film;
    l.envelope = vec3_splat(0.0f);
    if (layers.iridescence > 0.0f) {
        is_integrated = true;
        l.envelope = bsdf_film_envelope(layers.film, l.f0);
    }
#endif
    if (is_stretched) {
        k.missing = bsdf_stretched_missing(s.albedos, s.roughness, layers.anisotropy, l.alpha, towards);
    } else {
        k.missing = bsdf_missing_in_plane(s.albedos, MISSING_METAL, s.roughness, wo.z);
    }
    float kept = 1.0f - k.missing;
    Vec3 transmitted;
    if (is_integrated) {
        Vec3 level = vec3_new(math_safe_sqrt(1.0f - wo.z * wo.z), 0.0f, wo.z);
        Vec3 mean = bsdf_mean_fresnel(l, l.alpha.x == l.alpha.y ? level : towards);
        transmitted = vec3_scale(vec3_sub(vec3_splat(1.0f), mean), kept);
    } else {
        float rising = bsdf_rising_albedo(s.albedos, s.roughness, wo.z);
        transmitted = vec3_sub(vec3_splat(kept - l.f90 * rising), vec3_scale(l.f0, kept - rising));
    }
    /* The diffuse colour: a white base has the albedo of what microfacets lose and transmit */
    Vec3 white =
        vec3_add(vec3_splat((1.0f - s.metallic) * k.missing), vec3_mul(bsdf_body_share(s, dielectric, l.f0), transmitted));
    k.diffuse = vec3_scale(vec3_mul(s.base_color, white), (1.0f - s.transmission) * k.below);
    return k;
}

/* The colour of what the thin wall of a surface that keeps all light transmits at a microfacet with this cosine. */
LS_FN Vec3 bsdf_lobe_shapes_scaled_wall(LayeredLobes l, Surface s, SurfaceLayers layers, float cosine) {
    Vec3 fresnel = bsdf_lobe_shapes_fresnel(l, layers, cosine);
    Vec3 body = vec3_mul(s.base_color, bsdf_body_share(s, bsdf_dielectric_f0(s, layers), l.f0));
    return vec3_scale(vec3_mul(body, vec3_sub(vec3_splat(1.0f), fresnel)), s.transmission);
}

/* Adds light that scatters more than once to lobes that scatter once. */
LS_CALL Evaluation bsdf_scaling_add(Scaling k, Surface s, SurfaceLayers layers, Vec3 wo, Vec3 wi, Evaluation single) {
    Surface recovering = bsdf_recovering_surface(s, layers);
    Evaluation own = bsdf_scaled_recovered(recovering, wi, k.missing, k.below);
    return bsdf_recovered_add_own(bsdf_recovered_new(recovering, wo), wi, own, single);
}

#endif

LS_CALL LayeredLobes bsdf_lobes_new(Surface s, SurfaceLayers layers, LayerAxes axes, Vec3 wo) {
    LobeAlbedos w;
    LayeredLobes l = bsdf_lobe_shapes_new(s, layers, axes, wo, true, &w);
    float w_cosine = w.sheen + w.diffuse;
    float sum = w.coat + w.specular + w_cosine + w.transmitted;
    /* Probabilities, with a share kept for every lobe that the estimate undervalues */
    float least = LEAST_SHARE * sum;
    float q_coat = w.coat > 0.0f ? w.coat + least : 0.0f;
    float q_cosine = w_cosine > 0.0f ? w_cosine + least : 0.0f;
    float q_transmitted = w.transmitted > 0.0f ? w.transmitted + least : 0.0f;
    float q_specular = w.specular + least;
    float scale = sum > 0.0f ? LS_DIV(1.0f, q_coat + q_cosine + q_transmitted + q_specular) : 0.0f;
    l.p_cosine = q_cosine * scale;
    l.p_transmitted = q_transmitted * scale;
    l.p_coat = q_coat * scale;
    l.p_specular = q_specular * scale;
    return l;
}

/* GGX alpha of the clearcoat. */
LS_FN float bsdf_coat_alpha(SurfaceLayers layers) {
    return math_max(layers.clearcoat_roughness * layers.clearcoat_roughness, MIN_ALPHA);
}

/* The clearcoat's lobe times its cosine, and the density with which it reflects into `wi`. */
typedef struct {
    float reflected;
    float pdf;
} CoatLobe;

LS_FN CoatLobe bsdf_coat_lobe(Above above, SurfaceLayers layers, LayerAxes axes, Vec3 wo, Vec3 wi) {
    CoatLobe found;
    found.reflected = 0.0f;
    found.pdf = 0.0f;
    Vec3 to = bsdf_layer_axes_in_coat(axes, wi);
    if (above.clearcoat <= 0.0f || to.z <= 0.0f) {
        return found;
    }
    ReflectionTerms r = bsdf_reflection_terms(bsdf_layer_axes_wo_in_coat(axes, wo), to, bsdf_coat_alpha(layers));
    found.reflected = above.clearcoat * bsdf_schlick_scalar(above.clearcoat_f0, r.cosine) * r.d_over_4 * r.g2;
    found.pdf = r.d_over_4 * r.g1;
    return found;
}

/* `wo` mirrored about a microfacet of the clearcoat, in the clearcoat's frame. */
LS_FN Vec3 bsdf_coat_reflection(SurfaceLayers layers, LayerAxes axes, Vec3 wo, float u, float v) {
    Vec3 from = bsdf_layer_axes_wo_in_coat(axes, wo);
    return bsdf_reflect(from, bsdf_ggx_sample(from, bsdf_coat_alpha(layers), u, v));
}

/* `wo` mirrored about a microfacet of the specular lobe. */
LS_FN Vec3 bsdf_specular_reflection(LayeredLobes l, LayerAxes axes, Vec3 wo, float u, float v) {
    Vec3 h = bsdf_ggx_sample_anisotropic(bsdf_turned(wo, axes.along), l.alpha, u, v);
    return bsdf_reflect(wo, bsdf_turned_back(h, axes.along));
}

#ifdef LS_MULTISCATTER
/* bsdf_evaluate_layered of a surface that keeps all light. */
LS_CALL Evaluation bsdf_evaluate_scaled(Surface s, SurfaceLayers layers, LayerAxes axes, Vec3 wo, Vec3 wi) {
    Scaling k = bsdf_scaling_new(s, layers, axes, wo);
    LayeredLobes l = bsdf_lobes_new(s, layers, axes, wo);
    /* A thin wall transmits as if it reflected to the other side */
    Vec3 up = wi.z > 0.0f ? wi : vec3_new(wi.x, wi.y, -wi.z);
    ReflectionTerms r =
        bsdf_reflection_terms_anisotropic(bsdf_turned(wo, axes.along), bsdf_turned(up, axes.along), l.alpha);
    /* A tilted clearcoat reflects below the surface's horizon too */
    CoatLobe coat = bsdf_coat_lobe(l.above, layers, axes, wo, wi);
    float pdf = l.p_coat * coat.pdf;
    Vec3 value;
    if (wi.z <= 0.0f) {
        value = vec3_scale(bsdf_lobe_shapes_scaled_wall(l, s, layers, r.cosine), r.d_over_4 * r.g2 * k.below);
        pdf = l.p_transmitted * (r.d_over_4 * r.g1) + pdf;
    } else {
        /* Specular and diffuse lobe */
        float cosine_pdf = wi.z * MATH_INV_PI;
        Vec3 specular = vec3_scale(bsdf_lobe_shapes_fresnel(l, layers, r.cosine), r.d_over_4 * r.g2 * k.below);
        value = vec3_add(specular, vec3_scale(k.diffuse, cosine_pdf));
        pdf = l.p_specular * (r.d_over_4 * r.g1) + l.p_cosine * cosine_pdf + pdf;
        /* Sheen */
        if (l.above.sheen > 0.0f) {
            float limit = bsdf_sheen_limit(bsdf_charlie_albedo(layers.albedos, layers.sheen_roughness, wo.z));
            float sheen = bsdf_sheen_value(layers.sheen_roughness, wo, wi) * limit * k.coat;
            value = vec3_add(value, vec3_scale(layers.sheen_color, sheen));
        }
        value = vec3_add(value, vec3_splat(coat.reflected));
    }
    Evaluation all = bsdf_scaling_add(k, s, layers, wo, wi, bsdf_evaluation(value, pdf));
    if (wi.z <= 0.0f && bsdf_layer_axes_is_of_coat_alone(axes, wi)) {
        all.value = vec3_splat(coat.reflected);
    }
    return all;
}
#endif

/* BSDF times cosine of all lobes, and the density of choosing a lobe and then `wi`. The clearcoat's cosine is that to
 * its own normal. */
LS_CALL Evaluation bsdf_evaluate_layered(Surface s, SurfaceLayers layers, LayerAxes axes, Vec3 wo, Vec3 wi) {
#ifdef LS_MULTISCATTER
    if (s.multiscatter) {
        return bsdf_evaluate_scaled(s, layers, axes, wo, wi);
    }
#endif
    LayeredLobes l = bsdf_lobes_new(s, layers, axes, wo);
    /* A thin wall transmits as if it reflected to the other side */
    Vec3 up = wi.z > 0.0f ? wi : vec3_new(wi.x, wi.y, -wi.z);
    float coat_in = bsdf_above_coat(l.above, bsdf_layer_axes_in_coat(axes, up).z);
    float coat = math_min(l.coat_out, coat_in);
    float below = coat * math_min(l.sheen_out, bsdf_above_sheen(l.above, up.z));
    ReflectionTerms r =
        bsdf_reflection_terms_anisotropic(bsdf_turned(wo, axes.along), bsdf_turned(up, axes.along), l.alpha);
    if (wi.z <= 0.0f) {
        float through = 1.0f - vec3_max_component(bsdf_schlick_to(vec3_splat(l.above.f0), l.above.f90, r.cosine));
        Evaluation transmitted = bsdf_evaluation(vec3_scale(l.transmitted, through * r.d_over_4 * r.g2 * below),
                                                 l.p_transmitted * (r.d_over_4 * r.g1));
        /* A tilted clearcoat reflects below the surface's horizon too */
        CoatLobe beneath = bsdf_coat_lobe(l.above, layers, axes, wo, wi);
        transmitted.pdf = transmitted.pdf + l.p_coat * beneath.pdf;
        Evaluation all = transmitted;
        if (bsdf_layer_axes_is_of_coat_alone(axes, wi)) {
            all.value = vec3_splat(beneath.reflected);
        }
        return all;
    }
    /* Specular and diffuse lobe */
    float cosine_pdf = wi.z * MATH_INV_PI;
    Vec3 fresnel = bsdf_schlick_to(l.f0, l.f90, r.cosine);
#ifdef LS_IRIDESCENCE
    if (layers.iridescence > 0.0f) {
        Vec3 of_film = bsdf_film_fresnel(layers.film, l.f0, l.envelope, r.cosine);
        fresnel = vec3_lerp(fresnel, of_film, layers.iridescence);
    }
#endif
    Vec3 specular = vec3_scale(fresnel, r.d_over_4 * r.g2 * below);
    float through = coat_in * bsdf_above_sheen(l.above, wi.z) * bsdf_above_base(l.above, wi.z);
    Vec3 value = vec3_add(specular, vec3_scale(l.diffuse, through * cosine_pdf));
    float pdf = l.p_specular * (r.d_over_4 * r.g1) + l.p_cosine * cosine_pdf;
    /* Sheen */
    if (l.above.sheen > 0.0f) {
        float limit = math_min(
            bsdf_sheen_limit(bsdf_sheen_albedo(layers.albedos, layers.sheen_roughness, wo.z)),
            bsdf_sheen_limit(bsdf_sheen_albedo(layers.albedos, layers.sheen_roughness, wi.z)));
        float sheen = bsdf_sheen_value(layers.sheen_roughness, wo, wi) * limit * coat;
        value = vec3_add(value, vec3_scale(layers.sheen_color, sheen));
    }
    /* Clearcoat */
    if (l.above.clearcoat > 0.0f) {
        CoatLobe c = bsdf_coat_lobe(l.above, layers, axes, wo, wi);
        value = vec3_add(value, vec3_splat(c.reflected));
        pdf = pdf + l.p_coat * c.pdf;
    }
    return bsdf_evaluation(value, pdf);
}

/* A sampled direction, weighted by the density of all lobes. */
LS_FN Scatter bsdf_weighted(Surface s, SurfaceLayers layers, LayerAxes axes, Vec3 wo, Vec3 wi) {
    Evaluation e = bsdf_evaluate_layered(s, layers, axes, wo, wi);
    if (e.pdf > 0.0f) {
        return bsdf_scatter(wi, vec3_scale(e.value, LS_DIV(1.0f, e.pdf)), e.pdf);
    }
    return bsdf_absorbed();
}

/* Samples one lobe, weighted by all of them. */
LS_CALL Scatter bsdf_sample_layered(Surface s, SurfaceLayers layers, LayerAxes axes, Vec3 wo, float u0, float u1,
                                    float u2) {
#ifdef LS_MULTISCATTER
    /* Light that scatters more than once */
    if (s.multiscatter) {
        Recovered lobe = bsdf_recovered_new(bsdf_recovering_surface(s, layers), wo);
        if (bsdf_recovered_is_chosen(lobe, u0)) {
            return bsdf_weighted(s, layers, axes, wo, bsdf_recovered_direction(lobe, u0, u1, u2));
        }
        u0 = bsdf_recovered_rest_of(lobe, u0);
    }
#endif
    /* Choose a lobe and sample it */
    LayeredLobes l = bsdf_lobes_new(s, layers, axes, wo);
    float above_transmitted = l.p_cosine + l.p_transmitted;
    Vec3 wi;
    if (u0 < l.p_cosine) {
        wi = sampling_cosine_hemisphere(u1, u2);
    } else {
        bool coated = u0 >= above_transmitted && u0 < above_transmitted + l.p_coat;
        Vec3 r = coated ? bsdf_coat_reflection(layers, axes, wo, u1, u2)
                        : bsdf_specular_reflection(l, axes, wo, u1, u2);
        if (r.z <= 0.0f) {
            return bsdf_absorbed();
        }
        if (coated) {
            r = bsdf_layer_axes_out_of_coat(axes, r);
        }
        wi = u0 < above_transmitted ? vec3_new(r.x, r.y, -r.z) : r;
    }
    return bsdf_weighted(s, layers, axes, wo, wi);
}

#endif
