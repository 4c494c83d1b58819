/* Occlusion of given rays: any hit. core/gpu/src/signatures.rs declares the kernel's parameters. */

LS_KERNEL void LS_TRAVERSAL ls_trace_any(LS_SCENE_PARAMETERS, u32 count,
                                         LS_GLOBAL const Packed *LS_RESTRICT ray_origin,
                                         LS_GLOBAL const Packed *LS_RESTRICT ray_direction,
                                         LS_GLOBAL u32 *LS_RESTRICT occluded, u32 launch,
                                         LS_GLOBAL u32 *LS_RESTRICT heads) {
    LS_SCENE_REF(scene);
    LS_FOR_RAYS(i, count, &heads[launch], true,
                ray_query_begin(i, true, ray_origin, ray_direction, &ray, &key), hit,
                occluded[i] = intersect_hit_is_some(hit) ? 1u : 0u)
}
