/* Occlusion of shadow rays from vertices of camera sub-paths. core/gpu/src/signatures.rs declares the kernel's
 * parameters. */

LS_KERNEL void LS_TRAVERSAL ls_connect_camera(LS_SCENE_PARAMETERS, Pass pass, u32 bounce,
                                             LS_GLOBAL const Packed *LS_RESTRICT shadow_origin,
                                             LS_GLOBAL const Packed *LS_RESTRICT shadow_direction,
                                             LS_GLOBAL const Packed *LS_RESTRICT shadow_units,
                                             LS_GLOBAL const u32 *LS_RESTRICT shadow_techniques,
                                             LS_GLOBAL i64 *LS_RESTRICT film, LS_GLOBAL u32 *LS_RESTRICT invalid,
                                             LS_GLOBAL u32 *LS_RESTRICT queue_lengths,
                                             LS_GLOBAL BounceCounters *LS_RESTRICT counters) {
    CONNECT_PAIRS(CAMERA_SHADOW_RAYS)
}
