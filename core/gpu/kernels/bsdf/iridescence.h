/* Thin-film iridescence (Belcour and Barla 2017), glTF's KHR_materials_iridescence. The counterpart is
 * bsdf/iridescence.rs, which gives the reasons. */

#ifdef LS_IRIDESCENCE

/* A film between air and a surface: index of refraction, and thickness in nanometres. */
typedef struct {
    float ior;
    float thickness;
} ThinFilm;

/* One channel of the film's boundary with the surface: reflectance at normal incidence, and the phase shift in
 * turns. */
typedef struct {
    float f0;
    float shift;
} LowerBoundary;

/* The response of one peak of the colour matching functions to an optical path difference in nanometres and a phase
 * shift in turns. */
LS_FN float bsdf_response(float amplitude, float position, float variance, float difference, float shift) {
    float cosine = math_sin_cos_turns(position * difference + shift).c;
    float spread = difference * 1e-3f;
    return amplitude * cosine * math_exp2(-(variance * (spread * spread)));
}

/* Linear sRGB of the interference at an optical path difference, where each channel has its phase shift. */
LS_FN Vec3 bsdf_sensitivity(float difference, Vec3 shift) {
    float x = bsdf_response(0.84659f, 1.681e-3f, 0.24649122f, difference, shift.x)
              + bsdf_response(0.1538683f, 2.2399e-3f, 0.25790507f, difference, shift.x);
    float y = bsdf_response(1.0002218f, 1.7953e-3f, 0.52994645f, difference, shift.y);
    float z = bsdf_response(1.0011225f, 2.2084e-3f, 0.37659425f, difference, shift.z);
    return vec3_new(3.2404542f * x - 1.5371385f * y - 0.4985314f * z, -0.969266f * x + 1.8760108f * y + 0.041556f * z,
                    0.0556434f * x - 0.2040259f * y + 1.0572252f * z);
}

/* Reflectance at normal incidence between two indices of refraction. */
LS_FN float bsdf_between(float a, float b) {
    return math_sqr(LS_DIV(a - b, a + b));
}

LS_FN LowerBoundary bsdf_lower_boundary(float f0, float ior) {
    float root = math_safe_sqrt(math_clamp(f0, 0.0f, 0.9999f));
    float base = LS_DIV(1.0f + root, 1.0f - root);
    LowerBoundary lower;
    lower.f0 = bsdf_between(base, ior);
    lower.shift = base < ior ? 0.5f : 0.0f;
    return lower;
}

/* Reflectance of a surface of reflectance `f0` under a film, by channel, 0 to 1. */
LS_CALL Vec3 bsdf_thin_film(ThinFilm film, Vec3 f0, float of_cosine) {
    /* A film of no thickness has the index of what lies around it */
    float t = math_saturate(film.thickness * (1.0f / 0.03f));
    float ior = 1.0f + (film.ior - 1.0f) * (t * t * (3.0f - 2.0f * t));
    float cosine = math_saturate(of_cosine);
    float cos2 = 1.0f - LS_DIV(1.0f - cosine * cosine, ior * ior);
    if (cos2 < 0.0f) {
        return vec3_splat(1.0f);
    }
    float inside = LS_SQRT(cos2);
    /* Upper boundary */
    float upper = bsdf_schlick(vec3_splat(bsdf_between(ior, 1.0f)), cosine).x;
    float passed = 1.0f - upper;
    float reversal = ior < 1.0f ? 0.0f : 0.5f;
    /* Lower boundary */
    LowerBoundary r = bsdf_lower_boundary(f0.x, ior);
    LowerBoundary g = bsdf_lower_boundary(f0.y, ior);
    LowerBoundary b = bsdf_lower_boundary(f0.z, ior);
    Vec3 lower = bsdf_schlick(vec3_new(r.f0, g.f0, b.f0), inside);
    Vec3 shift = vec3_new(reversal + r.shift, reversal + g.shift, reversal + b.shift);
    /* Reflections without interference, then two orders of it */
    float difference = 2.0f * ior * film.thickness * inside;
    Vec3 product = vec3_new(math_clamp(upper * lower.x, 1e-5f, 0.9999f), math_clamp(upper * lower.y, 1e-5f, 0.9999f),
                            math_clamp(upper * lower.z, 1e-5f, 0.9999f));
    Vec3 root = vec3_new(LS_SQRT(product.x), LS_SQRT(product.y), LS_SQRT(product.z));
    float twice = passed * passed;
    Vec3 between_both =
        vec3_new(LS_DIV(twice * lower.x, 1.0f - product.x), LS_DIV(twice * lower.y, 1.0f - product.y),
                 LS_DIV(twice * lower.z, 1.0f - product.z));
    Vec3 first = vec3_mul(vec3_sub(between_both, vec3_splat(passed)), root);
    Vec3 second = vec3_mul(first, root);
    Vec3 sum = vec3_add(vec3_splat(upper), between_both);
    sum = vec3_add(sum, vec3_mul(first, vec3_scale(bsdf_sensitivity(difference, shift), 2.0f)));
    sum = vec3_add(sum, vec3_mul(second, vec3_scale(bsdf_sensitivity(2.0f * difference, vec3_scale(shift, 2.0f)), 2.0f)));
    return vec3_new(math_saturate(sum.x), math_saturate(sum.y), math_saturate(sum.z));
}

/* The smallest reflectance at normal incidence whose Schlick term is nowhere below the film's reflectance at a few
 * directions. */
LS_CALL Vec3 bsdf_film_envelope(ThinFilm film, Vec3 f0) {
    Vec3 most = vec3_splat(0.0f);
    for (u32 i = 0u; i < 5u; i++) {
        float cosine = i == 0u ? 0.25f : (i == 1u ? 0.5f : (i == 2u ? 0.7f : (i == 3u ? 0.85f : 1.0f)));
        Vec3 found = bsdf_thin_film(film, f0, cosine);
        float m = 1.0f - cosine;
        float m2 = m * m;
        float m5 = m2 * m2 * m;
        float scale = LS_DIV(1.0f, 1.0f - m5);
        most = vec3_new(math_max(most.x, (found.x - m5) * scale), math_max(most.y, (found.y - m5) * scale),
                        math_max(most.z, (found.z - m5) * scale));
    }
    return most;
}

/* The film's reflectance, nowhere above the Schlick term of its envelope. */
LS_FN Vec3 bsdf_film_fresnel(ThinFilm film, Vec3 f0, Vec3 envelope, float cosine) {
    Vec3 found = bsdf_thin_film(film, f0, cosine);
    Vec3 limit = bsdf_schlick(envelope, cosine);
    return vec3_new(math_min(found.x, limit.x), math_min(found.y, limit.y), math_min(found.z, limit.z));
}

#endif
