/* Albedo scaling: what a layer reflects of the light that leaves towards the camera is missing below it, on surfaces that
 * keep all light. The counterpart is bsdf/albedo_scaling.rs, which gives the reasons. */

#ifdef LS_MULTISCATTER

#define LAYER_SCALE (1.0f / 65536.0f)
#define RISING_ROUGHNESSES 24u
#define RISING_COSINES 32u
#define RISING_ROW 33u
#define RISING_FIRST 57112u
#define CHARLIE_ROUGHNESSES 32u
#define CHARLIE_COSINES 48u
#define CHARLIE_FIRST 57904u
#define STRETCHED_ROUGHNESSES 16u
#define STRETCHED_STRENGTHS 10u
#define STRETCHED_AZIMUTHS 7u
#define STRETCHED_COSINES 16u
#define STRETCHED_BLOCK 112u
#define STRETCHED_FIRST 59440u

/* A table's value between its entries at `row` and `column`; rows have `width` entries from `first` on. */
LS_FN float bsdf_bilinear(LS_GLOBAL const u32 *albedos, u32 first, u32 width, MissingStep row, MissingStep column) {
    float fx = column.share;
    float fy = row.share;
    u32 near_first = first + row.first * width + column.first;
    u32 far_first = near_first + width;
    float near_row = (float)load_albedo(albedos, near_first) * (1.0f - fx)
                     + (float)load_albedo(albedos, near_first + 1u) * fx;
    float far_row = (float)load_albedo(albedos, far_first) * (1.0f - fx)
                    + (float)load_albedo(albedos, far_first + 1u) * fx;
    return (near_row * (1.0f - fy) + far_row * fy) * LAYER_SCALE;
}

/* The place among columns that are even in the square root of the cosine. */
LS_FN MissingStep bsdf_root_column(float cosine, u32 count) {
    return bsdf_missing_step(math_safe_sqrt(math_saturate(cosine)) * (float)(count - 1u), count);
}

/* The place of a roughness among the rows of rising albedos. */
LS_FN MissingStep bsdf_rising_row(float roughness) {
    float place = math_safe_sqrt(math_saturate((roughness - SMOOTHEST_ROUGH) * 1.0309278f));
    return bsdf_missing_step(place * (float)(RISING_ROUGHNESSES - 1u), RISING_ROUGHNESSES);
}

/* The albedo of GGX microfacets whose reflectance is the fifth power of one minus the cosine. */
LS_FN float bsdf_rising_albedo(LS_GLOBAL const u32 *albedos, float roughness, float cosine) {
    return bsdf_bilinear(albedos, RISING_FIRST, RISING_ROW, bsdf_rising_row(roughness),
                        bsdf_root_column(cosine, RISING_COSINES));
}

/* The cosine-weighted mean of bsdf_rising_albedo over the hemisphere. */
LS_FN float bsdf_mean_rising_albedo(LS_GLOBAL const u32 *albedos, float roughness) {
    MissingStep row = bsdf_rising_row(roughness);
    u32 first = RISING_FIRST + row.first * RISING_ROW + RISING_COSINES;
    float near_row = (float)load_albedo(albedos, first);
    float far_row = (float)load_albedo(albedos, first + RISING_ROW);
    return (near_row * (1.0f - row.share) + far_row * row.share) * LAYER_SCALE;
}

/* The albedo of GGX microfacets with Schlick's Fresnel term from `f0` to one, of which single scattering loses a share. */
LS_FN float bsdf_schlick_albedo(LS_GLOBAL const u32 *albedos, float f0, float roughness, float cosine) {
    float kept = 1.0f - bsdf_missing_in_plane(albedos, MISSING_METAL, roughness, cosine);
    return f0 * kept + (1.0f - f0) * bsdf_rising_albedo(albedos, roughness, cosine);
}

/* The cosine-weighted mean of bsdf_schlick_albedo over the hemisphere. */
LS_FN float bsdf_mean_schlick_albedo(LS_GLOBAL const u32 *albedos, float f0, float roughness) {
    float kept = 1.0f - bsdf_mean_missing_in_plane(albedos, MISSING_METAL, roughness);
    return f0 * kept + (1.0f - f0) * bsdf_mean_rising_albedo(albedos, roughness);
}

#ifdef LS_LAYERS

/* The share that a clearcoat of this weight, reflectance and roughness lets through. */
LS_FN float bsdf_coat_scaling(LS_GLOBAL const u32 *albedos, float clearcoat, float f0, float roughness, float cosine) {
    if (clearcoat > 0.0f) {
        return math_max(1.0f - clearcoat * bsdf_schlick_albedo(albedos, f0, roughness, cosine), 0.0f);
    }
    return 1.0f;
}

/* The directional albedo of the sheen lobe before it is scaled down. */
LS_FN float bsdf_charlie_albedo(LS_GLOBAL const u32 *albedos, float roughness, float cosine) {
    float place = math_safe_sqrt(math_saturate((roughness - SMOOTHEST_SHEEN) * 1.0752688f));
    MissingStep row = bsdf_missing_step(place * (float)(CHARLIE_ROUGHNESSES - 1u), CHARLIE_ROUGHNESSES);
    return bsdf_bilinear(albedos, CHARLIE_FIRST, CHARLIE_COSINES, row, bsdf_root_column(cosine, CHARLIE_COSINES));
}

/* The share that sheen of this weight lets through. */
LS_FN float bsdf_sheen_scaling(LS_GLOBAL const u32 *albedos, float sheen, float roughness, float cosine) {
    if (sheen > 0.0f) {
        return 1.0f - sheen * math_min(bsdf_charlie_albedo(albedos, roughness, cosine), 1.0f);
    }
    return 1.0f;
}

/* The share of light that anisotropic microfacets lose in a direction of the frame whose x axis is that of anisotropy. */
LS_CALL float bsdf_stretched_missing(LS_GLOBAL const u32 *albedos, float roughness, float anisotropy, Vec2 alpha, Vec3 w) {
    /* Block by roughness and strength */
    MissingStep row = bsdf_missing_step(bsdf_missing_row(roughness, STRETCHED_ROUGHNESSES), STRETCHED_ROUGHNESSES);
    MissingStep column =
        bsdf_missing_step(math_saturate(anisotropy) * (float)(STRETCHED_STRENGTHS - 1u), STRETCHED_STRENGTHS);
    u32 first = STRETCHED_FIRST + (row.first * STRETCHED_STRENGTHS + column.first) * STRETCHED_BLOCK;
    /* Place in a block by azimuth and cosine */
    float ring2 = w.x * w.x + w.y * w.y;
    float azimuth = 0.0f;
    if (ring2 > 0.0f) {
        azimuth = math_saturate(math_safe_sqrt(LS_DIV(w.x * w.x, ring2)));
    }
    float width = 0.7f * math_safe_sqrt(0.5f * (alpha.x * alpha.x + alpha.y * alpha.y));
    float x = LS_DIV((1.0f + width) * w.z, w.z + width);
    MissingStep at = bsdf_missing_step(azimuth * (float)(STRETCHED_AZIMUTHS - 1u), STRETCHED_AZIMUTHS);
    float place = math_saturate(math_safe_sqrt(x * math_safe_sqrt(x))) * (float)(STRETCHED_COSINES - 1u);
    MissingStep by_cosine = bsdf_missing_step(place, STRETCHED_COSINES);
    float sum = 0.0f;
    float near_blocks = 0.0f;
    for (u32 i = 0u; i < 2u; i++) {
        u32 block = first + i * STRETCHED_STRENGTHS * STRETCHED_BLOCK;
        sum = bsdf_bilinear(albedos, block, STRETCHED_COSINES, at, by_cosine) * (1.0f - column.share)
              + bsdf_bilinear(albedos, block + STRETCHED_BLOCK, STRETCHED_COSINES, at, by_cosine) * column.share;
        near_blocks = i == 0u ? sum : near_blocks;
    }
    return near_blocks * (1.0f - row.share) + sum * row.share;
}

/* Nodes of Gauss and Legendre's quadrature over the unit interval. */
LS_FN float bsdf_gauss_node(u32 i) {
    return i < 2u ? (i == 0u ? 0.06943184f : 0.3300095f) : (i == 2u ? 0.6699905f : 0.93056816f);
}

/* The weight of such a node. */
LS_FN float bsdf_gauss_weight(u32 i) {
    return i == 0u || i == 3u ? 0.17392742f : 0.32607258f;
}

#endif
#endif
