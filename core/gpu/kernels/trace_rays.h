/* Traces given rays, for measuring traversal and comparing hits. */

/* Key of stochastic alpha along ray `index`. */
LS_FN SampleKey ray_query_key(u32 index) {
    SampleKey key;
    key.pixel = index;
    key.sample = 0u;
    key.seed = 0u;
    return key;
}

/* Traces one given ray to its closest hit, or with `any` to any hit. */
LS_FN bool trace_rays_begin(u32 i, bool any, LS_GLOBAL const Packed *ray_origin, LS_GLOBAL const Packed *ray_direction, Ray *ray,
                      RayKey *key) {
    *ray = load_ray(ray_origin, ray_direction, i);
    *key = any ? rng_ray_key_shadow(ray_query_key(i), 0u) : rng_ray_key_extension(ray_query_key(i), 0u);
    return true;
}

LS_KERNEL void LS_TRAVERSAL ls_trace_closest(LS_SCENE_PARAMETERS, u32 count, LS_GLOBAL const Packed *LS_RESTRICT ray_origin,
                               LS_GLOBAL const Packed *LS_RESTRICT ray_direction, LS_GLOBAL Packed *LS_RESTRICT hits,
                               LS_GLOBAL u32 *LS_RESTRICT hit_primitives, u32 launch,
                               LS_GLOBAL u32 *LS_RESTRICT heads) {
    LS_SCENE_REF(scene);
    LS_FOR_CLOSEST_HITS(i, count, &heads[launch], trace_rays_begin(i, false, ray_origin, ray_direction, &ray, &key), hit,
                        store_hit(hits, hit_primitives, i, hit))
}

/* ls_trace_closest for coherent rays. */
LS_KERNEL void LS_TRAVERSAL ls_trace_coherent(LS_SCENE_PARAMETERS, u32 count, LS_GLOBAL const Packed *LS_RESTRICT ray_origin,
                               LS_GLOBAL const Packed *LS_RESTRICT ray_direction, LS_GLOBAL Packed *LS_RESTRICT hits,
                               LS_GLOBAL u32 *LS_RESTRICT hit_primitives, u32 launch,
                               LS_GLOBAL u32 *LS_RESTRICT heads) {
    LS_SCENE_REF(scene);
    LS_FOR_COHERENT_RAYS(i, count, &heads[launch], trace_rays_begin(i, false, ray_origin, ray_direction, &ray, &key), hit,
                         store_hit(hits, hit_primitives, i, hit))
}

LS_KERNEL void LS_TRAVERSAL ls_trace_any(LS_SCENE_PARAMETERS, u32 count, LS_GLOBAL const Packed *LS_RESTRICT ray_origin,
                           LS_GLOBAL const Packed *LS_RESTRICT ray_direction, LS_GLOBAL u32 *LS_RESTRICT occluded,
                           u32 launch, LS_GLOBAL u32 *LS_RESTRICT heads) {
    LS_SCENE_REF(scene);
    LS_FOR_RAYS(i, count, &heads[launch], true,
                trace_rays_begin(i, true, ray_origin, ray_direction, &ray, &key), hit,
                occluded[i] = intersect_hit_is_some(hit) ? 1u : 0u)
}
