/* A material at one point, and the values that scattering functions return. The counterpart is
 * bsdf/surface.rs. */

#define SPECULAR_ROUGHNESS 0.03f
#define MIN_ALPHA 0.0009f
#define MATCHED_INDEX 1e-4f
/* Smallest cosine between `wo` and the shading normal. */
#define MIN_COSINE 1e-4f

/* A material at one point, its textures looked up. */
typedef struct {
    u32 kind;
    Vec3 base_color;
    float roughness;
    float metallic;
    float ior;
    float transmission;
    bool outside;
#ifdef LS_MULTISCATTER
    /* True for a surface that keeps the light that scatters more than once. */
    bool multiscatter;
    /* The tables of albedos. */
    LS_GLOBAL const u32 *albedos;
#endif
} Surface;

/* BSDF times the cosine of `wi`, and the density per solid angle with which bsdf_sample chooses `wi`. */
typedef struct {
    Vec3 value;
    float pdf;
} Evaluation;

/* A sampled direction, `z < 0` when transmitted; BSDF times cosine over density; density per solid angle,
 * zero for a delta distribution. */
typedef struct {
    Vec3 wi;
    Vec3 weight;
    float pdf;
} Scatter;

LS_FN Evaluation bsdf_evaluation(Vec3 value, float pdf) {
    Evaluation e;
    e.value = value;
    e.pdf = pdf;
    return e;
}

/* Nothing is scattered. */
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

/* The path ends here. */
LS_FN Scatter bsdf_absorbed(void) {
    return bsdf_scatter(vec3_new(0.0f, 0.0f, 1.0f), vec3_splat(0.0f), 0.0f);
}

/* True for a delta distribution, which light sampling can never hit. */
LS_FN bool bsdf_surface_is_specular(Surface s) {
    if (s.kind == MATERIAL_DIELECTRIC) {
        return s.roughness < SPECULAR_ROUGHNESS || LS_ABS(s.ior - 1.0f) < MATCHED_INDEX;
    }
    return s.kind == MATERIAL_CONDUCTOR && s.roughness < SPECULAR_ROUGHNESS;
}

/* GGX alpha: the square of the perceptual roughness (Burley 2012). */
LS_FN float bsdf_surface_alpha(Surface s) {
    return math_max(s.roughness * s.roughness, MIN_ALPHA);
}

/* Index of refraction beyond the surface over the index on `wo`'s side. */
LS_FN float bsdf_surface_relative_ior(Surface s) {
    return s.outside ? s.ior : LS_DIV(1.0f, s.ior);
}
