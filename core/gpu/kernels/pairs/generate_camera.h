/* Starts the camera sub-paths of a batch of pairs. core/gpu/src/signatures.rs declares the kernel's parameters. */

LS_KERNEL void LS_STAGE ls_generate_camera(Pass pass, LS_GLOBAL Packed *LS_RESTRICT path_origin,
                                           LS_GLOBAL Packed *LS_RESTRICT path_direction,
                                           LS_GLOBAL Packed *LS_RESTRICT path_throughput,
                                           LS_GLOBAL Packed *LS_RESTRICT path_weights,
                                           LS_GLOBAL u32 *LS_RESTRICT queue,
                                           LS_GLOBAL u32 *LS_RESTRICT queue_lengths) {
    u32 count = pass.pixels * pass.samples;
    LS_FOR_SHARE(i, count) {
        CameraPath path = camera_path_camera_path_start(pass.camera, path_key(pass, i));
        store_sub_path(path_origin, path_direction, path_throughput, path_weights, i, path.ray, path.throughput,
                       path.partial, 1u);
        queue[i] = i;
    }
    if (LS_GLOBAL_ID() == 0u) {
        queue_lengths[PAIR_LENGTH(0u, CAMERA_SUB_PATHS)] = count;
    }
}
