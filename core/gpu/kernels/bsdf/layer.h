/* The directional albedo of a dielectric layer: the share of light that a GGX lobe with Schlick Fresnel
 * reflects, in closed form. The counterpart is bsdf/layer.rs, which gives the reasons. */

/* Terms of the albedo besides direction and reflectance: the share of the reflectance that is lost at
 * normal incidence; the limit of the rising part at the horizon, and its value at normal incidence. */
typedef struct {
    float lost;
    float grazing;
    float least;
} Layer;

/* The layer of this perceptual roughness. */
LS_FN Layer bsdf_layer_new(float roughness) {
    float r = math_max(roughness, SPECULAR_ROUGHNESS);
    float r2 = r * r;
    Layer layer;
    layer.lost = 0.65f * (r2 * r2);
    layer.grazing = LS_DIV(1.0f, 1.0f + r2 * (12.6f + 3.6f * r));
    layer.least = 0.011f * (r - r2);
    return layer;
}

/* Albedo for the reflectance `f0` at normal incidence and the cosine of a direction. */
LS_FN float bsdf_layer_albedo(Layer layer, float f0, float cosine) {
    float m = math_saturate(1.0f - cosine);
    float m2 = m * m;
    float rising = m2 * m * math_min(m2, layer.grazing) + layer.least;
    return f0 * (1.0f - layer.lost * (1.0f - m2)) + (1.0f - f0) * rising;
}

#ifdef LS_LAYERS
/* bsdf_layer_albedo of a lobe whose reflectance rises to `f90` at the horizon. */
LS_FN float bsdf_layer_albedo_to(Layer layer, float f0, float f90, float cosine) {
    float m = math_saturate(1.0f - cosine);
    float m2 = m * m;
    float rising = m2 * m * math_min(m2, layer.grazing) + layer.least;
    return f0 * (1.0f - layer.lost * (1.0f - m2)) + math_max(f90 - f0, 0.0f) * rising;
}
#endif

/* The cosine-weighted mean of the albedo over the hemisphere. */
LS_FN float bsdf_layer_mean_albedo(Layer layer, float f0) {
    float beyond = (4.0f / 35.0f) * LS_SQRT(layer.grazing) - 1.0f / 6.0f;
    float rising = layer.grazing * (0.1f + math_sqr(layer.grazing) * beyond) + layer.least;
    return f0 * (1.0f - layer.lost * (5.0f / 6.0f)) + (1.0f - f0) * rising;
}
