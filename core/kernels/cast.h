/* The kernels that trace given rays, for measuring traversal and comparing hits. */

/* What stochastic coverage is hashed from along ray `index` of a cast. */
LS_FN SampleKey cast_key(u32 index) {
    SampleKey key;
    key.pixel = index;
    key.sample = 0u;
    key.seed = 0u;
    return key;
}

LS_KERNEL void LS_TRAVERSAL ls_cast_closest(LS_SCENE_PARAMETERS, u32 count, LS_GLOBAL const Packed *LS_RESTRICT ray_origin,
                               LS_GLOBAL const Packed *LS_RESTRICT ray_direction, LS_GLOBAL Packed *LS_RESTRICT hits,
                               LS_GLOBAL u32 *LS_RESTRICT hit_primitives) {
    LS_SCENE_REF(scene);
    LS_FOR_SHARE(i, count) {
        RayKey key = rng_ray_key_extension(cast_key(i), 0u);
        store_hit(hits, hit_primitives, i, bvh_closest_hit(scene, load_ray(ray_origin, ray_direction, i), key));
    }
}

LS_KERNEL void LS_TRAVERSAL ls_cast_any(LS_SCENE_PARAMETERS, u32 count, LS_GLOBAL const Packed *LS_RESTRICT ray_origin,
                           LS_GLOBAL const Packed *LS_RESTRICT ray_direction, LS_GLOBAL u32 *LS_RESTRICT occluded) {
    LS_SCENE_REF(scene);
    LS_FOR_SHARE(i, count) {
        RayKey key = rng_ray_key_shadow(cast_key(i), 0u);
        occluded[i] = bvh_any_hit(scene, load_ray(ray_origin, ray_direction, i), key) ? 1u : 0u;
    }
}
