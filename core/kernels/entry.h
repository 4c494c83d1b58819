/* The stages of the wavefront (Laine, Karras and Aila 2013) that trace rays; the one that shades is in compacted.h or in
 * in_place.h, which say what waits in a queue. src/kernels/launch.rs declares their parameters. */

/* A path's extension ray. */
LS_FN bool extend_begin(Pass pass, u32 bounce, u32 path, LS_GLOBAL const Packed *path_origin,
                        LS_GLOBAL const Packed *path_direction, Ray *ray, RayKey *key) {
    if (!IS_WAITING(path)) {
        return false;
    }
    *ray = load_ray(path_origin, path_direction, path);
    *key = rng_ray_key_extension(path_key(pass, path), bounce);
    return true;
}

/* Traces the extension rays of a bounce by a loop over rays for nearest hits. */
#define EXTEND(for_rays)                                                                                      \
    LS_SCRATCH(scratch);                                                                                      \
    LS_SCENE_REF(scene);                                                                                      \
    u32 count = QUEUE_LENGTH(pass, counters[bounce].extension_rays);                                          \
    u32 found = 0u;                                                                                           \
    for_rays(i, count, &counters[LS_HEADS(pass, bounce)].extension_rays,                                      \
             extend_begin(pass, bounce, queue[i], path_origin, path_direction, &ray, &key), hit,              \
             found += extend_end(i, hit, hits, hit_primitives))                                               \
    counter_add(&counters[bounce].hits, found, scratch);

LS_KERNEL void LS_TRAVERSAL ls_extend(LS_SCENE_PARAMETERS, Pass pass, u32 bounce, LS_GLOBAL const Packed *LS_RESTRICT path_origin,
                         LS_GLOBAL const Packed *LS_RESTRICT path_direction, LS_GLOBAL const u32 *LS_RESTRICT queue,
                         LS_GLOBAL Packed *LS_RESTRICT hits, LS_GLOBAL u32 *LS_RESTRICT hit_primitives,
                         LS_GLOBAL BounceCounters *LS_RESTRICT counters) {
    EXTEND(LS_FOR_CLOSEST_HITS)
}

/* ls_extend for coherent rays: the first bounce's. */
LS_KERNEL void LS_TRAVERSAL ls_extend_coherent(LS_SCENE_PARAMETERS, Pass pass, u32 bounce, LS_GLOBAL const Packed *LS_RESTRICT path_origin,
                         LS_GLOBAL const Packed *LS_RESTRICT path_direction, LS_GLOBAL const u32 *LS_RESTRICT queue,
                         LS_GLOBAL Packed *LS_RESTRICT hits, LS_GLOBAL u32 *LS_RESTRICT hit_primitives,
                         LS_GLOBAL BounceCounters *LS_RESTRICT counters) {
    EXTEND(LS_FOR_COHERENT_RAYS)
}

/* The shadow ray in a slot, for the light that is added to `path`. */
LS_FN bool connect_begin(Pass pass, u32 bounce, u32 slot, u32 path, LS_GLOBAL const Packed *shadow_origin,
                         LS_GLOBAL const Packed *shadow_direction, Ray *ray, RayKey *key) {
    if (!IS_WAITING(path)) {
        return false;
    }
    *ray = load_ray(shadow_origin, shadow_direction, slot);
    *key = rng_ray_key_shadow(path_key(pass, path), bounce);
    return true;
}

LS_KERNEL void LS_TRAVERSAL ls_connect(LS_SCENE_PARAMETERS, Pass pass, u32 bounce,
                          LS_GLOBAL const Packed *LS_RESTRICT shadow_origin,
                          LS_GLOBAL const Packed *LS_RESTRICT shadow_direction,
                          LS_GLOBAL const Packed *LS_RESTRICT shadow_radiance,
                          LS_GLOBAL Packed *LS_RESTRICT path_radiance,
                          LS_GLOBAL BounceCounters *LS_RESTRICT counters) {
    LS_SCRATCH(scratch);
    LS_SCENE_REF(scene);
    u32 count = QUEUE_LENGTH(pass, counters[bounce].shadow_rays);
    u32 unoccluded = 0u;
    LS_FOR_RAYS(i, count, &counters[LS_HEADS(pass, bounce)].shadow_rays, true,
                connect_begin(pass, bounce, i, shadow_radiance[i].w, shadow_origin, shadow_direction, &ray, &key), hit,
                unoccluded += connect_end(shadow_radiance[i], hit, path_radiance))
    counter_add(&counters[bounce].unoccluded, unoccluded, scratch);
}
