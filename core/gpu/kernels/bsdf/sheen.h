/* Sheen: the cloth lobe of Estevez and Kulla (2017), glTF's KHR_materials_sheen. The counterpart is bsdf/sheen.rs,
 * which gives the reasons. */

#ifdef LS_LAYERS

#define SHEEN_COSINES 32u
#define SHEEN_ROUGHNESSES 32u
#define SMOOTHEST_SHEEN 0.07f
#define SHEEN_ALBEDO_SCALE (1.0f / 16384.0f)

/* `x^y` for `x` in `[0, 1]` and a positive `y`. */
LS_FN float bsdf_power(float x, float y) {
    return x < 1e-30f ? 0.0f : math_exp2(y * math_log2(x));
}

/* GGX alpha of a sheen's perceptual roughness. */
LS_FN float bsdf_sheen_alpha(float roughness) {
    float r = math_max(roughness, SMOOTHEST_SHEEN);
    return r * r;
}

/* The Charlie density of microfacet normals with the sine `sine` to the shading normal. */
LS_FN float bsdf_charlie_d(float sine, float alpha) {
    float inverse = LS_DIV(1.0f, alpha);
    return (2.0f + inverse) * bsdf_power(sine, inverse) * (0.5f * MATH_INV_PI);
}

/* The fit to the logarithm of Lambda at a cosine of at most a half; `smooth` is the square of one minus alpha. */
LS_FN float bsdf_charlie_curve(float x, float smooth) {
    float rough = 1.0f - smooth;
    float a = rough * 21.5473f + smooth * 25.3245f;
    float b = rough * 3.82987f + smooth * 3.32435f;
    float c = rough * 0.19823f + smooth * 0.16801f;
    float d = rough * -1.9776f + smooth * -1.27393f;
    float e = rough * -4.32054f + smooth * -4.85967f;
    return LS_DIV(a, 1.0f + b * bsdf_power(x, c)) + d * x + e;
}

/* Smith's Lambda for the Charlie distribution, fitted. */
LS_FN float bsdf_charlie_lambda(float cosine, float alpha) {
    float smooth = (1.0f - alpha) * (1.0f - alpha);
    float exponent;
    if (cosine < 0.5f) {
        exponent = bsdf_charlie_curve(cosine, smooth);
    } else {
        exponent = 2.0f * bsdf_charlie_curve(0.5f, smooth) - bsdf_charlie_curve(math_saturate(1.0f - cosine), smooth);
    }
    return math_exp2(exponent * MATH_LOG2_E);
}

/* The directional albedo of the lobe before it is scaled down: bilinear between the entries of the table. */
LS_FN float bsdf_sheen_albedo(LS_GLOBAL const u32 *table, float roughness, float cosine) {
    /* Columns are even in the square root of the cosine, rows in roughness */
    float x = math_safe_sqrt(math_saturate(cosine)) * (float)(SHEEN_COSINES - 1u);
    float y = math_saturate((roughness - SMOOTHEST_SHEEN) * 1.0752688f)
              * (float)(SHEEN_ROUGHNESSES - 1u);
    float column = math_min((float)math_floor_to_i32(x), (float)(SHEEN_COSINES - 2u));
    float row = math_min((float)math_floor_to_i32(y), (float)(SHEEN_ROUGHNESSES - 2u));
    float fx = math_clamp(x - column, 0.0f, 1.0f);
    float fy = math_clamp(y - row, 0.0f, 1.0f);
    u32 first = (u32)row * SHEEN_COSINES + (u32)column;
    u32 second = first + SHEEN_COSINES;
    float near_row = (float)load_albedo(table, first) * (1.0f - fx)
                     + (float)load_albedo(table, first + 1u) * fx;
    float far_row = (float)load_albedo(table, second) * (1.0f - fx)
                    + (float)load_albedo(table, second + 1u) * fx;
    return (near_row * (1.0f - fy) + far_row * fy) * SHEEN_ALBEDO_SCALE;
}

/* The factor that scales an albedo down to at most one. */
LS_FN float bsdf_sheen_limit(float albedo) {
    return LS_DIV(1.0f, math_max(albedo, 1.0f));
}

/* BRDF times cosine of a white sheen before it is scaled down. */
LS_CALL float bsdf_sheen_value(float roughness, Vec3 wo, Vec3 wi) {
    float alpha = bsdf_sheen_alpha(roughness);
    Vec3 h = vec3_normalize(vec3_add(wo, wi));
    float d = bsdf_charlie_d(math_safe_sqrt(h.x * h.x + h.y * h.y), alpha);
    float masking = 1.0f + bsdf_charlie_lambda(wo.z, alpha) + bsdf_charlie_lambda(wi.z, alpha);
    return LS_DIV(d, 4.0f * wo.z * masking);
}

#endif
