/* Closest hits of extension rays (Laine, Karras and Aila 2013). shade_compact.h or shade_in_place.h says
 * which entries of a queue are live. core/gpu/src/signatures.rs declares the kernel's parameters. */

/* Loads a path's extension ray. */
LS_FN bool extend_begin(Pass pass, u32 bounce, u32 path, LS_GLOBAL const Packed *path_origin,
                        LS_GLOBAL const Packed *path_direction, Ray *ray, RayKey *key) {
    if (!IS_WAITING(path)) {
        return false;
    }
    *ray = load_path_ray(path_origin, path_direction, path);
    *key = rng_ray_key_extension(path_key(pass, path), bounce);
    return true;
}

/* Traces the extension rays of a bounce for closest hits. */
#define EXTEND(for_rays)                                                                                      \
    LS_SCRATCH(scratch);                                                                                      \
    LS_SCENE_REF(scene);                                                                                      \
    u32 count = QUEUE_LENGTH(pass, counters[bounce].extension_rays);                                          \
    u32 found = 0u;                                                                                           \
    for_rays(i, count, &counters[LS_HEADS(pass, bounce)].extension_rays,                                      \
             extend_begin(pass, bounce, queue[i], path_origin, path_direction, &ray, &key), hit,              \
             found += extend_end(i, hit, hits, hit_primitives))                                               \
    counter_add(&counters[bounce].hits, found, scratch);

LS_KERNEL void LS_TRAVERSAL ls_extend(LS_SCENE_PARAMETERS, Pass pass, u32 bounce,
                                      LS_GLOBAL const Packed *LS_RESTRICT path_origin,
                                      LS_GLOBAL const Packed *LS_RESTRICT path_direction,
                                      LS_GLOBAL const u32 *LS_RESTRICT queue, LS_GLOBAL Packed *LS_RESTRICT hits,
                                      LS_GLOBAL u32 *LS_RESTRICT hit_primitives,
                                      LS_GLOBAL BounceCounters *LS_RESTRICT counters) {
    EXTEND(LS_FOR_CLOSEST_HITS)
}
