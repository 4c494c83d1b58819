/* Merges of the vertices of camera sub-paths with photons. core/gpu/src/signatures.rs declares the kernel's
 * parameters. */

LS_FN bool pair_same_cell(Cell a, Cell b) {
    return a.at[0] == b.at[0] && a.at[1] == b.at[1] && a.at[2] == b.at[2];
}

/* Adds the merges of one cell's photons with a vertex. A bucket may hold photons of several cells, and several
 * visited cells may share it, so a photon counts in the visit of its own cell. */
LS_FN void pair_merge_cell(MergeSum *sum, Pass pass, LS_GLOBAL const Photon *photons, u32 begin, u32 end, Cell cell,
                           PathVertex vertex, u32 bounce, InvalidSamples *found) {
    for (u32 i = begin; i < end; i++) {
        Vec3 position = photons[i].position;
        if (merging_merging_contains(pass.merging, position, vertex.position)
            && pair_same_cell(merging_merging_cell(pass.merging, position), cell)) {
            Photon photon = photons[i];
            if (photon_photon_is_within(photon, bounce, pass.bounces)) {
                Merge merge = photon_photon_merge(photon, vertex, pass.merging);
                if (merge.wanted) {
                    splat_merge_sum_add(sum, vec3_scale(merge.value, MERGE_WEIGHT(merge.weight)), found);
                }
            }
        }
    }
}

/* Adds the merges of all photons with a vertex of a camera sub-path to the film. */
LS_FN void pair_merge(LS_GLOBAL i64 *film, LS_GLOBAL u32 *invalid, Pass pass, LS_GLOBAL const Photon *photons,
                      LS_GLOBAL const u32 *bucket_counts, LS_GLOBAL const u32 *bucket_ends, SampleKey key,
                      PathVertex vertex, u32 bounce) {
    InvalidSamples found = no_invalid();
    MergeSum sum = splat_no_merges();
    CellRange range = merging_merging_cells_around(pass.merging, vertex.position);
    Cell cell;
    for (cell.at[2] = range.first.at[2]; cell.at[2] <= range.last.at[2]; cell.at[2]++) {
        for (cell.at[1] = range.first.at[1]; cell.at[1] <= range.last.at[1]; cell.at[1]++) {
            for (cell.at[0] = range.first.at[0]; cell.at[0] <= range.last.at[0]; cell.at[0]++) {
                u32 bucket = merging_merging_bucket(pass.merging, cell);
                u32 end = bucket_ends[bucket];
                u32 begin = end - bucket_counts[bucket];
                pair_merge_cell(&sum, pass, photons, begin, end, cell, vertex, bounce, &found);
            }
        }
    }
    u32 technique = splat_technique_index(SPLAT_MERGED, bounce + 2u);
    film_splat(film, key.pixel, splat_merge_sum_film_units(sum, key, technique, &found));
    count_invalid(invalid, found);
}

LS_KERNEL void LS_STAGE ls_merge(LS_SCENE_PARAMETERS, Pass pass, u32 bounce,
                                 LS_GLOBAL const Packed *LS_RESTRICT camera_vertices,
                                 LS_GLOBAL const u32 *LS_RESTRICT merge_queue,
                                 LS_GLOBAL const Photon *LS_RESTRICT sorted_photons,
                                 LS_GLOBAL const u32 *LS_RESTRICT bucket_counts,
                                 LS_GLOBAL const u32 *LS_RESTRICT bucket_ends, LS_GLOBAL i64 *LS_RESTRICT film,
                                 LS_GLOBAL u32 *LS_RESTRICT invalid, LS_GLOBAL u32 *LS_RESTRICT lengths) {
    LS_SCENE_REF(scene);
    u32 count = lengths[PAIR_LENGTH(bounce, MERGES)];
    LS_FOR_ITEMS(i, count, &lengths[PAIR_HEAD(bounce, MERGES)]) {
        u32 path = merge_queue[i];
        PathVertex vertex = load_path_vertex(scene, camera_vertices, path);
        pair_merge(film, invalid, pass, sorted_photons, bucket_counts, bucket_ends, path_key(pass, path), vertex,
                   bounce);
    }
}
