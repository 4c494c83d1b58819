/* Merges of the vertices of camera sub-paths with photons. core/gpu/src/signatures.rs declares the kernel's
 * parameters. */

LS_KERNEL void LS_STAGE ls_merge(LS_SCENE_PARAMETERS, Pass pass, u32 bounce,
                                 LS_GLOBAL const Packed *LS_RESTRICT camera_vertices,
                                 LS_GLOBAL const u32 *LS_RESTRICT merge_queue,
                                 LS_GLOBAL const Packed *LS_RESTRICT photon_positions,
                                 LS_GLOBAL const Photon *LS_RESTRICT sorted_photons,
                                 LS_GLOBAL const u32 *LS_RESTRICT bucket_counts,
                                 LS_GLOBAL const u32 *LS_RESTRICT bucket_ends, LS_GLOBAL i64 *LS_RESTRICT film,
                                 LS_GLOBAL u32 *LS_RESTRICT invalid, LS_GLOBAL u32 *LS_RESTRICT queue_lengths) {
    LS_SCENE_REF(scene);
    u32 count = queue_lengths[PAIR_LENGTH(bounce, MERGES)];
    LS_FOR_ITEMS(i, count, &queue_lengths[PAIR_HEAD(bounce, MERGES)]) {
        u32 path = merge_queue[i];
        PathVertex vertex =
            load_path_vertex(scene, camera_vertices, CAMERA_VERTEX(path), VERTEX_STRIDE(pass.pixels * pass.samples));
        pair_merge(film, invalid, pass.bounces, MERGING(pass, path), photon_positions, sorted_photons,
                   BUCKETS(pass, path, bucket_counts), BUCKETS(pass, path, bucket_ends), path_key(pass, path), vertex,
                   bounce);
    }
}
