/* Generates the camera rays of a batch. Parameters are declared in core/gpu/src/signatures.rs. */

LS_KERNEL void LS_STAGE ls_generate(Pass pass, LS_GLOBAL Packed *LS_RESTRICT path_origin,
                           LS_GLOBAL Packed *LS_RESTRICT path_direction,
                           LS_GLOBAL Packed *LS_RESTRICT path_throughput,
                           LS_GLOBAL Packed *LS_RESTRICT path_radiance, LS_GLOBAL u32 *LS_RESTRICT queue,
                           LS_GLOBAL BounceCounters *LS_RESTRICT counters) {
    u32 count = pass.pixels * pass.samples;
    LS_FOR_SHARE(i, count) {
        PathState path = path_generate(pass.camera, path_key(pass, i));
        store_path_ray(path_origin, path_direction, i, path);
        store_packed(path_throughput, i, path.throughput, LS_AS_U32(path.bsdf_pdf));
        store_packed(path_radiance, i, path.radiance, 0u);
        queue[i] = i;
    }
    if (LS_GLOBAL_ID() == 0u) {
        counters[0].extension_rays = count;
    }
}
