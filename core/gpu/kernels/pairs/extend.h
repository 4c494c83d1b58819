/* Closest hits of the extension rays of sub-paths. core/gpu/src/signatures.rs declares the kernels' parameters. */

/* Loads a sub-path's extension ray. */
LS_FN bool extend_pair_begin(Pass pass, u32 bounce, u32 sub_paths, u32 path, LS_GLOBAL const Packed *path_origin,
                             LS_GLOBAL const Packed *path_direction, Ray *ray, RayKey *key) {
    SampleKey sample = path_key(pass, path);
    *ray = load_ray(path_origin, path_direction, path);
    *key = sub_paths == LIGHT_SUB_PATHS ? rng_ray_key_light_extension(sample, bounce)
                                        : rng_ray_key_extension(sample, bounce);
    return true;
}

/* Traces the extension rays of a bounce of the light or the camera sub-paths. */
#define EXTEND_PAIRS(sub_paths, for_rays)                                                                        \
    LS_SCRATCH(scratch);                                                                                         \
    LS_SCENE_REF(scene);                                                                                         \
    u32 count = queue_lengths[PAIR_LENGTH(bounce, sub_paths)];                                                   \
    u32 found = 0u;                                                                                              \
    for_rays(i, count, &queue_lengths[PAIR_HEAD(bounce, sub_paths)],                                             \
             extend_pair_begin(pass, bounce, sub_paths, queue[i], path_origin, path_direction, &ray, &key), hit, \
             found += extend_end(i, hit, hits, hit_primitives))                                                  \
    counter_add(&counters[bounce].hits, found, scratch);

LS_KERNEL void LS_TRAVERSAL ls_extend_light(LS_SCENE_PARAMETERS, Pass pass, u32 bounce,
                                            LS_GLOBAL const Packed *LS_RESTRICT path_origin,
                                            LS_GLOBAL const Packed *LS_RESTRICT path_direction,
                                            LS_GLOBAL const u32 *LS_RESTRICT queue, LS_GLOBAL Packed *LS_RESTRICT hits,
                                            LS_GLOBAL u32 *LS_RESTRICT hit_primitives,
                                            LS_GLOBAL u32 *LS_RESTRICT queue_lengths,
                                            LS_GLOBAL BounceCounters *LS_RESTRICT counters) {
    EXTEND_PAIRS(LIGHT_SUB_PATHS, LS_FOR_CLOSEST_HITS)
}

/* The first bounce of camera sub-paths, whose rays are coherent. */
LS_KERNEL void LS_TRAVERSAL ls_extend_lens(LS_SCENE_PARAMETERS, Pass pass, u32 bounce,
                                           LS_GLOBAL const Packed *LS_RESTRICT path_origin,
                                           LS_GLOBAL const Packed *LS_RESTRICT path_direction,
                                           LS_GLOBAL const u32 *LS_RESTRICT queue, LS_GLOBAL Packed *LS_RESTRICT hits,
                                           LS_GLOBAL u32 *LS_RESTRICT hit_primitives,
                                           LS_GLOBAL u32 *LS_RESTRICT queue_lengths,
                                           LS_GLOBAL BounceCounters *LS_RESTRICT counters) {
    EXTEND_PAIRS(CAMERA_SUB_PATHS, LS_FOR_COHERENT_RAYS)
}
