/* Keeping vertices of light sub-paths and photons, and merges of photons with vertices of camera sub-paths. */

#ifdef LS_MERGE
/* A bounce that no merge is within: a vertex without a photon. */
#define NO_PHOTON NONE

/* Stores the photon of a vertex and counts it in its bucket. */
LS_FN void store_photon(LS_GLOBAL Photon *photons, LS_GLOBAL u32 *bucket_counts, u32 slot, Merging merging,
                        PathVertex vertex, u32 bounce) {
    bool is_specular = vertex_vertex_is_specular(vertex);
    photons[slot] = photon_photon_new(vertex, is_specular ? NO_PHOTON : bounce);
    if (!is_specular) {
        u32 bucket = merging_merging_bucket(merging, merging_merging_cell(merging, vertex.position));
        LS_ATOMIC_ADD(&bucket_counts[bucket], 1u);
    }
}
#endif

/* Stores vertex `bounce` of light sub-path `i` for connections, and its photon, as the integrator needs them. */
LS_FN void keep_light_vertex(Pass pass, u32 bounce, u32 i, PathVertex vertex, LS_GLOBAL Packed *light_vertices,
                             LS_GLOBAL Photon *photons, LS_GLOBAL u32 *bucket_counts) {
#ifdef LS_CONNECT_PAIRS
    /* The last of most bounces is connected to the lens only */
    if (bounce + 2u <= pass.bounces) {
        u32 pairs = pass.pixels * pass.samples;
        store_path_vertex(light_vertices, LIGHT_VERTEX(pass, pairs, i, bounce), VERTEX_STRIDE(pairs), vertex);
    }
#else
    (void)light_vertices;
#endif
#ifdef LS_MERGE
    u32 slot = bounce * pass.pixels * pass.samples + i;
    store_photon(photons, bucket_counts, slot, pass.merging, vertex, bounce);
#else
    (void)photons;
    (void)bucket_counts;
#endif
}

#ifdef LS_MERGE
LS_FN bool pair_same_cell(Cell a, Cell b) {
    return a.at[0] == b.at[0] && a.at[1] == b.at[1] && a.at[2] == b.at[2];
}

/* A place among the photons around a position: one of a bucket, of one of the cells. */
typedef struct {
    CellRange range;
    Cell cell;
    u32 next;
    u32 end;
} PhotonCursor;

/* Turns to the photons of a cell's bucket. */
LS_FN void photon_cursor_visit(PhotonCursor *cursor, Merging merging, LS_GLOBAL const u32 *bucket_counts,
                               LS_GLOBAL const u32 *bucket_ends) {
    u32 bucket = merging_merging_bucket(merging, cursor->cell);
    cursor->end = bucket_ends[bucket];
    cursor->next = cursor->end - bucket_counts[bucket];
}

LS_FN PhotonCursor photon_cursor_around(Merging merging, LS_GLOBAL const u32 *bucket_counts,
                                        LS_GLOBAL const u32 *bucket_ends, Vec3 position) {
    PhotonCursor cursor;
    cursor.range = merging_merging_cells_around(merging, position);
    cursor.cell = cursor.range.first;
    photon_cursor_visit(&cursor, merging, bucket_counts, bucket_ends);
    return cursor;
}

/* Moves on to the next cell, those along x first; false behind the last. */
LS_FN bool photon_cursor_next_cell(PhotonCursor *cursor) {
    for (u32 axis = 0u; axis < 3u; axis++) {
        if (cursor->cell.at[axis] < cursor->range.last.at[axis]) {
            cursor->cell.at[axis]++;
            return true;
        }
        cursor->cell.at[axis] = cursor->range.first.at[axis];
    }
    return false;
}

/* Merges that a work-item collects before it evaluates them, so that neighbours search together and evaluate
 * together. */
#define MERGES_AT_ONCE 8u

/* Collects the next photons within the radius; fewer than MERGES_AT_ONCE are the last. A bucket may hold photons of
 * several cells, and several visited cells may share it, so a photon counts in the visit of its own cell. */
LS_FN u32 photon_cursor_collect(PhotonCursor *cursor, Pass pass, LS_GLOBAL const Photon *photons,
                                LS_GLOBAL const u32 *bucket_counts, LS_GLOBAL const u32 *bucket_ends, Vec3 around,
                                u32 bounce, u32 *found) {
    u32 count = 0u;
    while (count < MERGES_AT_ONCE) {
        if (cursor->next < cursor->end) {
            u32 i = cursor->next++;
            Vec3 position = photons[i].position;
            if (merging_merging_contains(pass.merging, position, around)
                && pair_same_cell(merging_merging_cell(pass.merging, position), cursor->cell)
                && photon_photon_is_within(photons[i], bounce, pass.bounces)) {
                found[count++] = i;
            }
        } else if (photon_cursor_next_cell(cursor)) {
            photon_cursor_visit(cursor, pass.merging, bucket_counts, bucket_ends);
        } else {
            break;
        }
    }
    return count;
}

/* Adds the merges of all photons with a vertex of a camera sub-path to the film. With LS_FLOAT_MERGES their sum is one of
   floats, in whatever order they are found: that tells what the sum of integers costs. */
LS_FN void pair_merge(LS_GLOBAL i64 *film, LS_GLOBAL u32 *invalid, Pass pass, LS_GLOBAL const Photon *photons,
                      LS_GLOBAL const u32 *bucket_counts, LS_GLOBAL const u32 *bucket_ends, SampleKey key,
                      PathVertex vertex, u32 bounce) {
    InvalidSamples found = film_no_invalid();
#ifdef LS_FLOAT_MERGES
    Vec3 sum = vec3_splat(0.0f);
#else
    MergeSum sum = splat_no_merges();
#endif
    PhotonCursor cursor = photon_cursor_around(pass.merging, bucket_counts, bucket_ends, vertex.position);
    u32 collected[MERGES_AT_ONCE];
    u32 count = MERGES_AT_ONCE;
    while (count == MERGES_AT_ONCE) {
        count = photon_cursor_collect(&cursor, pass, photons, bucket_counts, bucket_ends, vertex.position, bounce,
                                      collected);
        for (u32 i = 0u; i < count; i++) {
            Merge merge = photon_photon_merge(photons[collected[i]], vertex, pass.merging);
            if (merge.wanted) {
                Vec3 radiance = vec3_scale(merge.value, MERGE_WEIGHT(merge.weight));
#ifdef LS_FLOAT_MERGES
                sum = vec3_add(sum, radiance);
#else
                splat_merge_sum_add(&sum, radiance, &found);
#endif
            }
        }
    }
    u32 technique = splat_technique_index(SPLAT_MERGED, bounce + 2u);
#ifdef LS_FLOAT_MERGES
    Units units = splat_quantize(sum, key, technique, &found);
#else
    Units units = splat_merge_sum_film_units(sum, key, technique, &found);
#endif
    film_splat(film, key.pixel, units);
    count_invalid(invalid, found);
}
#endif
