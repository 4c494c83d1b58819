/* Closest hits of given rays. core/gpu/src/signatures.rs declares the kernel's parameters. */

LS_KERNEL void LS_TRAVERSAL ls_trace_closest(LS_SCENE_PARAMETERS, u32 count,
                                             LS_GLOBAL const Packed *LS_RESTRICT ray_origin,
                                             LS_GLOBAL const Packed *LS_RESTRICT ray_direction,
                                             LS_GLOBAL Packed *LS_RESTRICT hits,
                                             LS_GLOBAL u32 *LS_RESTRICT hit_primitives, u32 launch,
                                             LS_GLOBAL u32 *LS_RESTRICT heads) {
    LS_SCENE_REF(scene);
    LS_FOR_CLOSEST_HITS(i, count, &heads[launch],
                        ray_query_begin(i, false, ray_origin, ray_direction, &ray, &key), hit,
                        store_hit(hits, hit_primitives, i, hit))
}
