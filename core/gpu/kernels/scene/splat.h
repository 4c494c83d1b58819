/* What contributions of light and camera sub-paths add to the film. The counterpart of core/src/splat.rs. */

#define MAX_SPLAT_RADIANCE 1048576.0f
#define SPLAT_STRIDE 512u

/* A number of its own for the technique with these many vertices of the light and of the camera sub-path. */
LS_FN u32 splat_technique_index(u32 light, u32 camera) {
    return light * SPLAT_STRIDE + camera;
}

/* One contribution in film units, rounded by a hash of sample and technique, counting invalid samples. */
LS_FN Units splat_quantize(Vec3 radiance, SampleKey key, u32 technique, InvalidSamples *invalid) {
    Units units;
    if (!vec3_is_finite(radiance)) {
        invalid->count[INVALID_NON_FINITE] += 1u;
        units.channel[0] = 0;
        units.channel[1] = 0;
        units.channel[2] = 0;
        return units;
    }
    if (radiance.x < 0.0f || radiance.y < 0.0f || radiance.z < 0.0f) {
        invalid->count[INVALID_NEGATIVE] += 1u;
    }
    if (radiance.x > MAX_SPLAT_RADIANCE || radiance.y > MAX_SPLAT_RADIANCE || radiance.z > MAX_SPLAT_RADIANCE) {
        invalid->count[INVALID_CLAMPED] += 1u;
    }
    Words dither = rng_draw(key, BLOCK_FILM, technique);
    units.channel[0] = film_units(math_min(radiance.x, MAX_SPLAT_RADIANCE), dither.w[0]);
    units.channel[1] = film_units(math_min(radiance.y, MAX_SPLAT_RADIANCE), dither.w[1]);
    units.channel[2] = film_units(math_min(radiance.z, MAX_SPLAT_RADIANCE), dither.w[2]);
    return units;
}
