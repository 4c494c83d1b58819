/* What contributions of light and camera sub-paths add to the film. The counterpart of core/src/splat.rs. */

#define MAX_SPLAT_RADIANCE 1048576.0f
#define SPLAT_STRIDE 512u

/* A number of its own for the technique with these many vertices of the light and of the camera sub-path. */
LS_FN u32 splat_technique_index(u32 light, u32 camera) {
    return light * SPLAT_STRIDE + camera;
}

/* One contribution in film units, rounded by a hash of sample and technique, counting invalid samples. */
LS_FN Units splat_quantize(Vec3 radiance, SampleKey key, u32 technique, InvalidSamples *invalid) {
    return film_quantize_up_to(MAX_SPLAT_RADIANCE, radiance, rng_draw(key, BLOCK_FILM, technique), invalid);
}
