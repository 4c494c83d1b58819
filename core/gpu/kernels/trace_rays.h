/* The kernels that trace given rays, for measuring traversal and comparing hits. */

/* What stochastic coverage is hashed from along ray `index` of a cast. */
LS_FN SampleKey ray_query_key(u32 index) {
    SampleKey key;
    key.pixel = index;
    key.sample = 0u;
    key.seed = 0u;
    return key;
}

/* A ray that is given, for its nearest surface or with `any` for some surface; every item has one. */
LS_FN bool cast_begin(u32 i, bool any, LS_GLOBAL const Packed *ray_origin, LS_GLOBAL const Packed *ray_direction, Ray *ray,
                      RayKey *key) {
    *ray = load_ray(ray_origin, ray_direction, i);
    *key = any ? rng_ray_key_shadow(ray_query_key(i), 0u) : rng_ray_key_extension(ray_query_key(i), 0u);
    return true;
}

LS_KERNEL void LS_TRAVERSAL ls_cast_closest(LS_SCENE_PARAMETERS, u32 count, LS_GLOBAL const Packed *LS_RESTRICT ray_origin,
                               LS_GLOBAL const Packed *LS_RESTRICT ray_direction, LS_GLOBAL Packed *LS_RESTRICT hits,
                               LS_GLOBAL u32 *LS_RESTRICT hit_primitives, u32 launch,
                               LS_GLOBAL u32 *LS_RESTRICT heads) {
    LS_SCENE_REF(scene);
    LS_FOR_CLOSEST_HITS(i, count, &heads[launch], cast_begin(i, false, ray_origin, ray_direction, &ray, &key), hit,
                        store_hit(hits, hit_primitives, i, hit))
}

/* ls_cast_closest for coherent rays. */
LS_KERNEL void LS_TRAVERSAL ls_cast_coherent(LS_SCENE_PARAMETERS, u32 count, LS_GLOBAL const Packed *LS_RESTRICT ray_origin,
                               LS_GLOBAL const Packed *LS_RESTRICT ray_direction, LS_GLOBAL Packed *LS_RESTRICT hits,
                               LS_GLOBAL u32 *LS_RESTRICT hit_primitives, u32 launch,
                               LS_GLOBAL u32 *LS_RESTRICT heads) {
    LS_SCENE_REF(scene);
    LS_FOR_COHERENT_RAYS(i, count, &heads[launch], cast_begin(i, false, ray_origin, ray_direction, &ray, &key), hit,
                         store_hit(hits, hit_primitives, i, hit))
}

LS_KERNEL void LS_TRAVERSAL ls_cast_any(LS_SCENE_PARAMETERS, u32 count, LS_GLOBAL const Packed *LS_RESTRICT ray_origin,
                           LS_GLOBAL const Packed *LS_RESTRICT ray_direction, LS_GLOBAL u32 *LS_RESTRICT occluded,
                           u32 launch, LS_GLOBAL u32 *LS_RESTRICT heads) {
    LS_SCENE_REF(scene);
    LS_FOR_RAYS(i, count, &heads[launch], true,
                cast_begin(i, true, ray_origin, ray_direction, &ray, &key), hit,
                occluded[i] = intersect_hit_is_some(hit) ? 1u : 0u)
}
