/* Closest hits of the extension rays of light sub-paths. core/gpu/src/signatures.rs declares the kernel's
 * parameters. */

LS_KERNEL void LS_TRAVERSAL ls_extend_light(LS_SCENE_PARAMETERS, Pass pass, u32 bounce,
                                            LS_GLOBAL const Packed *LS_RESTRICT path_origin,
                                            LS_GLOBAL const Packed *LS_RESTRICT path_direction,
                                            LS_GLOBAL const u32 *LS_RESTRICT queue,
                                            LS_GLOBAL Packed *LS_RESTRICT hits,
                                            LS_GLOBAL u32 *LS_RESTRICT hit_primitives,
                                            LS_GLOBAL u32 *LS_RESTRICT queue_lengths,
                                            LS_GLOBAL BounceCounters *LS_RESTRICT counters) {
    EXTEND_PAIRS(LIGHT_SUB_PATHS, LS_FOR_CLOSEST_HITS)
}
