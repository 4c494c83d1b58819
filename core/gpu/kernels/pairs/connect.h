/* Occlusion of the shadow rays of pairs; adds unoccluded light to the film. */

LS_FN bool connect_pair_begin(Pass pass, u32 bounce, u32 rays, u32 slot, LS_GLOBAL const Packed *shadow_origin,
                              LS_GLOBAL const Packed *shadow_direction, LS_GLOBAL const Packed *shadow_radiance,
                              Ray *ray, RayKey *key) {
    SampleKey sample = path_key(pass, shadow_radiance[slot].w);
    *ray = load_shadow_ray(shadow_origin, shadow_direction, slot);
    u32 technique = rays == LENS_SHADOW_RAYS ? splat_technique_index(bounce + 2u, 1u) : shadow_origin[slot].w;
    *key = technique == splat_technique_index(1u, bounce + 2u) ? rng_ray_key_shadow(sample, bounce)
                                                               : rng_ray_key_connection(sample, technique);
    return true;
}

/* Adds the light of an unoccluded shadow ray to the film; returns 1 if unoccluded. */
LS_FN u32 connect_pair_end(Pass pass, u32 bounce, u32 rays, u32 slot, Hit hit, LS_GLOBAL const Packed *shadow_origin,
                           LS_GLOBAL const Packed *shadow_radiance, LS_GLOBAL i64 *film, LS_GLOBAL u32 *invalid) {
    if (intersect_hit_is_some(hit)) {
        return 0u;
    }
    Packed light = shadow_radiance[slot];
    SampleKey sample = path_key(pass, light.w);
    u32 target = shadow_origin[slot].w;
    u32 pixel = rays == LENS_SHADOW_RAYS ? target : sample.pixel;
    u32 technique = rays == LENS_SHADOW_RAYS ? splat_technique_index(bounce + 2u, 1u) : target;
    pair_contribute(film, invalid, pixel, light.v, sample, technique);
    return 1u;
}

/* Traces one of the two queues of shadow rays of a bounce. */
#define CONNECT_PAIRS(rays)                                                                                         \
    LS_SCRATCH(scratch);                                                                                            \
    LS_SCENE_REF(scene);                                                                                            \
    u32 count = lengths[PAIR_LENGTH(bounce, rays)];                                                                 \
    u32 unoccluded = 0u;                                                                                            \
    LS_FOR_RAYS(i, count, &lengths[PAIR_HEAD(bounce, rays)], true,                                                  \
                connect_pair_begin(pass, bounce, rays, i, shadow_origin, shadow_direction, shadow_radiance, &ray,   \
                                   &key),                                                                           \
                hit, unoccluded += connect_pair_end(pass, bounce, rays, i, hit, shadow_origin, shadow_radiance,     \
                                                    film, invalid))                                                 \
    counter_add(&counters[bounce].unoccluded, unoccluded, scratch);
