/* Closest hits of the extension rays of sub-paths: steps that extend_light.h, extend_lens.h and extend_camera.h share. */

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
