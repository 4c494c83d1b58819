/* Closest hits of coherent extension rays: the first bounce's, from the camera. core/gpu/src/signatures.rs declares the
 * kernel's parameters. */

LS_KERNEL void LS_TRAVERSAL ls_extend_coherent(LS_SCENE_PARAMETERS, Pass pass, u32 bounce,
                                               LS_GLOBAL const Packed *LS_RESTRICT path_origin,
                                               LS_GLOBAL const Packed *LS_RESTRICT path_direction,
                                               LS_GLOBAL const u32 *LS_RESTRICT queue,
                                               LS_GLOBAL Packed *LS_RESTRICT hits,
                                               LS_GLOBAL u32 *LS_RESTRICT hit_primitives,
                                               LS_GLOBAL BounceCounters *LS_RESTRICT counters) {
    EXTEND(LS_FOR_COHERENT_RAYS)
}
