/* Given rays, traced to measure traversal and to compare hits: load and key of a ray. */

/* Key of stochastic alpha along ray `index`. */
LS_FN SampleKey ray_query_key(u32 index) {
    SampleKey key;
    key.pixel = index;
    key.sample = 0u;
    key.seed = 0u;
    return key;
}

/* Loads one given ray and its key: for any hit with `any`, else for the closest. */
LS_FN bool ray_query_begin(u32 i, bool any, LS_GLOBAL const Packed *ray_origin,
                            LS_GLOBAL const Packed *ray_direction, Ray *ray, RayKey *key) {
    *ray = load_ray(ray_origin, ray_direction, i);
    *key = any ? rng_ray_key_shadow(ray_query_key(i), 0u) : rng_ray_key_extension(ray_query_key(i), 0u);
    return true;
}
