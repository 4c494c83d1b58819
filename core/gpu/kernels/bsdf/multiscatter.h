/* Light that scatters more than once between microfacets, which the lobes of rough surfaces lose, given back by a lobe of
 * its own (Kulla and Conty 2017). The counterpart is bsdf/multiscatter.rs, which gives the reasons. */

#ifdef LS_MULTISCATTER

#define MISSING_COSINES 40u
#define MISSING_ROUGHNESSES 24u
#define MISSING_INDICES 28u
#define MISSING_METAL 56u
#define MISSING_ROW 41u
#define MISSING_FIRST 1024u
#define SMOOTHEST_ROUGH 0.03f
#define MISSING_SCALE (1.0f / 4194304.0f)

/* An entry of the table, and the distance of a place from it. */
typedef struct {
    u32 first;
    float share;
} MissingStep;

/* Two planes of the table between which a surface lies, seen from one side. */
typedef MissingStep Planes;

/* The lobe that gives back the light which scatters more than once. */
typedef struct {
    LS_GLOBAL const u32 *albedos;
    float roughness;
    Planes here;
    Planes beyond;
    /* Factors on the share that is missing at `wi`, for reflection and for transmission. */
    Vec3 reflected;
    Vec3 transmitted;
    /* Probabilities of choosing this lobe, by the side that it leaves to. */
    float p_reflected;
    float p_transmitted;
} Recovered;

/* The place of a roughness among the `count` rows of a table. */
LS_FN float bsdf_missing_row(float roughness, u32 count) {
    return math_saturate((roughness - SMOOTHEST_ROUGH) * 1.0309278f) * (float)(count - 1u);
}

/* The place of a cosine among the columns. */
LS_FN float bsdf_missing_column(float roughness, float cosine) {
    float r = math_max(roughness, SMOOTHEST_ROUGH);
    float squared = math_sqr(2.5f * (r * r));
    float x = LS_DIV((1.0f + squared) * (cosine * cosine), cosine * cosine + squared);
    return math_saturate(math_safe_sqrt(math_safe_sqrt(x))) * (float)(MISSING_COSINES - 1u);
}

/* The place of an index of refraction among the planes of a side. */
LS_FN float bsdf_missing_plane(float roughness, float ior) {
    float r = math_max(roughness, SMOOTHEST_ROUGH);
    float width = r * r;
    float root = math_safe_sqrt(LS_DIV(math_max(ior - 1.0f, 0.0f), ior + 1.0f));
    return math_saturate(LS_DIV((1.0f + 1.2909944f * width) * root, root + width)) * (float)(MISSING_INDICES - 1u);
}

/* The entry before a place of `count`, and the place's distance from it. */
LS_FN MissingStep bsdf_missing_step(float place, u32 count) {
    float first = math_min((float)math_floor_to_i32(place), (float)(count - 2u));
    MissingStep step;
    step.first = (u32)first;
    step.share = math_clamp(place - first, 0.0f, 1.0f);
    return step;
}

/* An entry of the table of missing albedos. */
LS_FN float bsdf_missing_entry(LS_GLOBAL const u32 *albedos, u32 i) {
    return (float)load_albedo(albedos, MISSING_FIRST + i);
}

/* The share of light that one plane of the table loses: bilinear between its entries. */
LS_CALL float bsdf_missing_in_plane(LS_GLOBAL const u32 *albedos, u32 plane, float roughness, float cosine) {
    MissingStep row = bsdf_missing_step(bsdf_missing_row(roughness, MISSING_ROUGHNESSES), MISSING_ROUGHNESSES);
    MissingStep column = bsdf_missing_step(bsdf_missing_column(roughness, cosine), MISSING_COSINES);
    float fx = column.share;
    float fy = row.share;
    u32 first = (plane * MISSING_ROUGHNESSES + row.first) * MISSING_ROW + column.first;
    u32 second = first + MISSING_ROW;
    float near_row =
        bsdf_missing_entry(albedos, first) * (1.0f - fx) + bsdf_missing_entry(albedos, first + 1u) * fx;
    float far_row =
        bsdf_missing_entry(albedos, second) * (1.0f - fx) + bsdf_missing_entry(albedos, second + 1u) * fx;
    return (near_row * (1.0f - fy) + far_row * fy) * MISSING_SCALE;
}

/* The cosine-weighted mean of bsdf_missing_in_plane over the hemisphere. */
LS_FN float bsdf_mean_missing_in_plane(LS_GLOBAL const u32 *albedos, u32 plane, float roughness) {
    MissingStep row = bsdf_missing_step(bsdf_missing_row(roughness, MISSING_ROUGHNESSES), MISSING_ROUGHNESSES);
    u32 first = (plane * MISSING_ROUGHNESSES + row.first) * MISSING_ROW + MISSING_COSINES;
    float near_row = bsdf_missing_entry(albedos, first);
    float far_row = bsdf_missing_entry(albedos, first + MISSING_ROW);
    float r = math_max(roughness, SMOOTHEST_ROUGH);
    return (near_row * (1.0f - row.share) + far_row * row.share) * (MISSING_SCALE * (r * r * r));
}

/* The planes of a surface that is seen from outside or from inside. */
LS_FN Planes bsdf_planes_new(Surface s, bool outside) {
    Planes planes;
    planes.first = MISSING_METAL;
    planes.share = 0.0f;
    if (s.kind != MATERIAL_DIELECTRIC) {
        return planes;
    }
    planes = bsdf_missing_step(bsdf_missing_plane(s.roughness, s.ior), MISSING_INDICES);
    planes.first = (outside ? 0u : MISSING_INDICES) + planes.first;
    return planes;
}

/* The share of light that is lost. */
LS_FN float bsdf_planes_missing(LS_GLOBAL const u32 *albedos, Planes planes, float roughness, float cosine) {
    float near_plane = bsdf_missing_in_plane(albedos, planes.first, roughness, cosine);
    if (planes.share > 0.0f) {
        float far_plane = bsdf_missing_in_plane(albedos, planes.first + 1u, roughness, cosine);
        return near_plane * (1.0f - planes.share) + far_plane * planes.share;
    }
    return near_plane;
}

/* Cosine-weighted mean of bsdf_planes_missing. */
LS_CALL float bsdf_planes_mean(LS_GLOBAL const u32 *albedos, Planes planes, float roughness) {
    float near_plane = bsdf_mean_missing_in_plane(albedos, planes.first, roughness);
    if (planes.share > 0.0f) {
        float far_plane = bsdf_mean_missing_in_plane(albedos, planes.first + 1u, roughness);
        return near_plane * (1.0f - planes.share) + far_plane * planes.share;
    }
    return near_plane;
}

/* The share that crosses a dielectric's surface of what it loses from outside. */
LS_FN float bsdf_crossing(float ior, float roughness) {
    float reflected = LS_DIV(math_max(ior - 1.0f, 0.0f), 4.08567f + 1.00071f * ior);
    return 1.0f - LS_DIV(reflected, 1.0f + 3.0f * math_sqr(roughness * roughness));
}

/* The cosine-weighted mean of Schlick's Fresnel term. */
LS_FN Vec3 bsdf_mean_schlick(Vec3 f0) {
    return vec3_scale(vec3_add(vec3_scale(f0, 20.0f), vec3_splat(1.0f)), 0.04761905f);
}

/* One channel of bsdf_metal_color. */
LS_FN float bsdf_metal_channel(float f, float missing) {
    return LS_DIV(f * f * (1.0f - missing), 1.0f - f * missing);
}

/* The colour of a metal's light that scatters more than once, where `missing` is the mean of what is lost. */
LS_FN Vec3 bsdf_metal_color(Vec3 f0, float missing) {
    Vec3 f = bsdf_mean_schlick(f0);
    return vec3_new(bsdf_metal_channel(f.x, missing), bsdf_metal_channel(f.y, missing),
                    bsdf_metal_channel(f.z, missing));
}

/* Colours of a principled surface's light that scatters more than once: of reflection, and the share of the base colour
 * that a thin wall transmits. */
typedef struct {
    Vec3 reflected;
    float through_wall;
} PrincipledColors;

LS_FN PrincipledColors bsdf_principled_colors(Surface s, float mean) {
    float wall = (1.0f - s.metallic) * s.transmission;
    float from_wall = (20.0f * math_sqr(LS_DIV(s.ior - 1.0f, s.ior + 1.0f)) + 1.0f) * 0.04761905f;
    Vec3 of_metal = vec3_scale(bsdf_metal_color(s.base_color, mean), s.metallic);
    PrincipledColors colors;
    colors.reflected = vec3_add(of_metal, vec3_splat(wall * from_wall));
    colors.through_wall = wall * (1.0f - from_wall);
    return colors;
}

/* The lobe of a surface that is not specular, for light that leaves by `wo`. */
LS_FN Recovered bsdf_recovered_new(Surface s, Vec3 wo) {
    Recovered l;
    l.albedos = s.albedos;
    l.roughness = s.roughness;
    l.here = bsdf_planes_new(s, s.outside);
    l.beyond = bsdf_planes_new(s, !s.outside);
    float missing = bsdf_planes_missing(s.albedos, l.here, s.roughness, wo.z);
    float mean = bsdf_planes_mean(s.albedos, l.here, s.roughness);
    float share = LS_DIV(missing, mean);
    float w_transmitted;
    float w_single;
    if (s.kind == MATERIAL_DIELECTRIC) {
        float mean_beyond = bsdf_planes_mean(s.albedos, l.beyond, s.roughness);
        float crosses = bsdf_crossing(s.ior, s.roughness);
        float squared = s.ior * s.ior;
        float mean_inside = s.outside ? mean_beyond : mean;
        float back = LS_DIV(crosses * mean_beyond, squared * mean_inside);
        float t = s.outside ? crosses : math_min(back, 1.0f);
        float compressed = s.outside ? squared : 1.0f;
        l.reflected = vec3_scale(s.base_color, (1.0f - t) * share);
        l.transmitted = vec3_scale(s.base_color, LS_DIV(missing * crosses, mean_inside * compressed));
        w_transmitted = vec3_luminance(s.base_color) * missing * t;
        w_single = vec3_luminance(s.base_color) * (1.0f - missing);
    } else if (s.kind == MATERIAL_CONDUCTOR) {
        l.reflected = vec3_scale(bsdf_metal_color(s.base_color, mean), share);
        l.transmitted = vec3_splat(0.0f);
        w_transmitted = 0.0f;
        w_single = vec3_luminance(bsdf_mean_schlick(s.base_color)) * (1.0f - missing);
    } else {
        float wall = (1.0f - s.metallic) * s.transmission;
        PrincipledColors colors = bsdf_principled_colors(s, mean);
        l.reflected = vec3_scale(colors.reflected, share);
        l.transmitted = vec3_scale(s.base_color, colors.through_wall * share);
        w_transmitted = vec3_luminance(l.transmitted) * mean;
        w_single = 1.0f - (s.metallic + wall) * missing;
    }
    /* Probabilities by the light that each lobe scatters */
    float w_reflected = vec3_luminance(l.reflected) * mean;
    float sum = w_reflected + w_transmitted + w_single;
    float scale = sum > 0.0f ? LS_DIV(1.0f, sum) : 0.0f;
    l.p_reflected = w_reflected * scale;
    l.p_transmitted = w_transmitted * scale;
    return l;
}

/* This lobe alone on the side of `wi`, of which the layers above let the share `below` through. */
LS_FN Evaluation bsdf_recovered_evaluate(Recovered l, Vec3 wi, float below) {
    bool up = wi.z > 0.0f;
    float cosine = up ? wi.z : -wi.z;
    Planes planes = up ? l.here : l.beyond;
    Vec3 color = up ? l.reflected : l.transmitted;
    float cosine_pdf = cosine * MATH_INV_PI;
    float missing = bsdf_planes_missing(l.albedos, planes, l.roughness, cosine);
    return bsdf_evaluation(vec3_scale(color, missing * cosine_pdf * below), cosine_pdf);
}

/* The probability of choosing this lobe on one of its sides. */
LS_FN float bsdf_recovered_probability(Recovered l, bool reflects) {
    return reflects ? l.p_reflected : l.p_transmitted;
}

/* The probability of choosing the lobes that scatter once. */
LS_FN float bsdf_recovered_once(Recovered l) {
    return 1.0f - (l.p_reflected + l.p_transmitted);
}

/* Adds the lobe's `own` value and density to those of the lobes that scatter once. */
LS_FN Evaluation bsdf_recovered_add_own(Recovered l, Vec3 wi, Evaluation own, Evaluation single) {
    float p = bsdf_recovered_probability(l, wi.z > 0.0f);
    return bsdf_evaluation(vec3_add(single.value, own.value), single.pdf * bsdf_recovered_once(l) + p * own.pdf);
}

/* Adds the lobe, of which the layers above let the share `below` through, to those that scatter once. */
LS_FN Evaluation bsdf_recovered_add(Recovered l, Vec3 wi, float below, Evaluation single) {
    return bsdf_recovered_add_own(l, wi, bsdf_recovered_evaluate(l, wi, below), single);
}

/* True where a draw chooses this lobe. */
LS_FN bool bsdf_recovered_is_chosen(Recovered l, float u) {
    return u < l.p_reflected + l.p_transmitted;
}

/* True where a draw that chooses this lobe reflects. */
LS_FN bool bsdf_recovered_reflects(Recovered l, float u) {
    return u < l.p_reflected;
}

/* The direction of this lobe for draws that choose it. */
LS_FN Vec3 bsdf_recovered_direction(Recovered l, float u0, float u1, float u2) {
    Vec3 wi = sampling_cosine_hemisphere(u1, u2);
    return bsdf_recovered_reflects(l, u0) ? wi : vec3_new(wi.x, wi.y, -wi.z);
}

/* The draw that chooses among the other lobes, stretched to all of the unit interval. */
LS_FN float bsdf_recovered_rest_of(Recovered l, float u) {
    float p = l.p_reflected + l.p_transmitted;
    return math_clamp(LS_DIV(u - p, 1.0f - p), 0.0f, 0.99999994f);
}

/* The lobe of a principled surface below layers, whose microfacets lose the share `missing` of the light from `wo` and to
 * whose `wo` layers let the share `below` through: it depends on `wi` by the cosine alone. */
LS_FN Evaluation bsdf_scaled_recovered(Surface s, Vec3 wi, float missing, float below) {
    bool up = wi.z > 0.0f;
    PrincipledColors colors =
        bsdf_principled_colors(s, bsdf_mean_missing_in_plane(s.albedos, MISSING_METAL, s.roughness));
    Vec3 color = up ? colors.reflected : vec3_scale(s.base_color, colors.through_wall);
    float cosine_pdf = (up ? wi.z : -wi.z) * MATH_INV_PI;
    return bsdf_evaluation(vec3_scale(color, missing * cosine_pdf * below), cosine_pdf);
}

#endif
