/* Contributions of pairs of sub-paths to the film, which many work-items add to at once. */

/* Adds film units to a pixel that other work-items may add to at the same time. */
LS_FN void film_splat(LS_GLOBAL i64 *film, u32 pixel, Units units) {
    for (u32 channel = 0u; channel < 3u; channel++) {
        if (units.channel[channel] != 0) {
            LS_ATOMIC_ADD_I64(&film[3u * pixel + channel], units.channel[channel]);
        }
    }
}

LS_FN void count_invalid(LS_GLOBAL u32 *invalid, InvalidSamples found) {
    for (u32 i = 0u; i < 3u; i++) {
        if (found.count[i] > 0u) {
            LS_ATOMIC_ADD(&invalid[i], found.count[i]);
        }
    }
}

/* Adds a contribution to the film; invalid ones, which are rare, to their counters. */
LS_INLINE void pair_contribute(LS_GLOBAL i64 *film, LS_GLOBAL u32 *invalid, u32 pixel, Vec3 radiance, SampleKey key,
                           u32 technique) {
    InvalidSamples found = film_no_invalid();
    film_splat(film, pixel, splat_quantize(radiance, key, technique, &found));
    count_invalid(invalid, found);
}

/* Adds the light that a camera sub-path hits. */
LS_FN void pair_contribute_emission(LS_GLOBAL i64 *film, LS_GLOBAL u32 *invalid, CameraPath path, u32 bounce,
                                    Emitted emitted) {
    if (vec3_max_component(emitted.value) > 0.0f) {
        Vec3 radiance = vec3_scale(emitted.value, EMISSION_WEIGHT(emitted.weight, path.specular));
        u32 technique = splat_technique_index(0u, bounce + 2u);
        pair_contribute(film, invalid, path.key.pixel, radiance, path.key, technique);
    }
}
