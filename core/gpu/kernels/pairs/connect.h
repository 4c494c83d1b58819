/* Occlusion of the shadow rays of pairs; adds unoccluded light to the film. */

LS_FN bool connect_pair_begin(Pass pass, u32 bounce, u32 slot, LS_GLOBAL const Packed *shadow_origin,
                              LS_GLOBAL const Packed *shadow_direction, LS_GLOBAL const Packed *shadow_units,
                              LS_GLOBAL const u32 *shadow_techniques, Ray *ray, RayKey *key) {
    *ray = load_shadow_ray(shadow_origin, shadow_direction, slot);
    SampleKey sample = path_key(pass, shadow_units[slot].w & ~INVALID_RADIANCE);
    u32 technique = shadow_techniques[slot];
    *key = technique == splat_technique_index(1u, bounce + 2u) ? rng_ray_key_shadow(sample, bounce)
                                                               : rng_ray_key_connection(sample, technique);
    return true;
}

/* Adds the light of an unoccluded shadow ray to the film; returns 1 if unoccluded. */
LS_FN u32 connect_pair_end(Pass pass, u32 slot, Hit hit, LS_GLOBAL const Packed *shadow_origin,
                           LS_GLOBAL const Packed *shadow_units, LS_GLOBAL const u32 *shadow_techniques,
                           LS_GLOBAL i64 *film, LS_GLOBAL u32 *invalid) {
    if (intersect_hit_is_some(hit)) {
        return 0u;
    }
    Packed light = shadow_units[slot];
    u32 pixel = shadow_origin[slot].w;
    if ((light.w & INVALID_RADIANCE) != 0u) {
        SampleKey sample = path_key(pass, light.w & ~INVALID_RADIANCE);
        pair_contribute(film, invalid, pixel, light.v, sample, shadow_techniques[slot]);
        return 1u;
    }
    Units units;
    units.channel[0] = (i64)light.v.x;
    units.channel[1] = (i64)light.v.y;
    units.channel[2] = (i64)light.v.z;
    film_splat(film, pixel, units);
    return 1u;
}

/* Traces one of the two queues of shadow rays of a bounce. */
#define CONNECT_PAIRS(rays)                                                                                           \
    LS_SCRATCH(scratch);                                                                                              \
    LS_SCENE_REF(scene);                                                                                              \
    u32 count = queue_lengths[PAIR_LENGTH(bounce, rays)];                                                             \
    u32 unoccluded = 0u;                                                                                              \
    LS_FOR_RAYS(i, count, &queue_lengths[PAIR_HEAD(bounce, rays)], true,                                              \
                connect_pair_begin(pass, bounce, i, shadow_origin, shadow_direction, shadow_units, shadow_techniques, \
                                   &ray, &key),                                                                       \
                hit, unoccluded += connect_pair_end(pass, i, hit, shadow_origin, shadow_units, shadow_techniques,     \
                                                    film, invalid))                                                   \
    counter_add(&counters[bounce].unoccluded, unoccluded, scratch);
