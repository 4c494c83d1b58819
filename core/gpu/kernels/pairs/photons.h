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
LS_FN void keep_light_vertex(Pass pass, Merging merging, u32 bounce, u32 i, PathVertex vertex,
                             LS_GLOBAL Packed *light_vertices, LS_GLOBAL Photon *photons,
                             LS_GLOBAL u32 *bucket_counts) {
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
    store_photon(photons, bucket_counts, slot, merging, vertex, bounce);
#else
    (void)merging;
    (void)photons;
    (void)bucket_counts;
#endif
}

#ifdef LS_MERGE
/* Buckets that are listed at once: those of a cell on each side of a position along all axes. */
#define BUCKETS_LISTED 8u

/* A place among the photons around a position: one of a bucket, of one of the cells. Buckets are listed before they are
 * searched, so that their loads overlap, and those without photons cost no step of the search. */
typedef struct {
    CellRange range;
    /* The next cell to list, its number, and whether there is one. */
    Cell cell;
    u32 number;
    bool more;
    /* Buckets with photons: the first photon, the one behind the last, and the number of the cell. */
    u32 begins[BUCKETS_LISTED];
    u32 ends[BUCKETS_LISTED];
    u32 numbers[BUCKETS_LISTED];
    u32 listed;
    /* The next bucket of the list, and the place in the one before. */
    u32 bucket;
    u32 next;
    u32 end;
    u32 of_cell;
} PhotonCursor;

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

/* The number of a cell among those of a range, in the order of photon_cursor_next_cell. */
LS_FN u32 photon_cell_number(CellRange range, Cell cell) {
    u32 columns = range.last.at[0] - range.first.at[0] + 1u;
    u32 rows = range.last.at[1] - range.first.at[1] + 1u;
    u32 row = (cell.at[2] - range.first.at[2]) * rows + cell.at[1] - range.first.at[1];
    return row * columns + cell.at[0] - range.first.at[0];
}

/* Lists the buckets of the next cells. */
LS_FN void photon_cursor_list(PhotonCursor *cursor, Merging merging, LS_GLOBAL const u32 *bucket_counts,
                              LS_GLOBAL const u32 *bucket_ends) {
    u32 buckets[BUCKETS_LISTED];
    u32 visited = 0u;
    u32 first = cursor->number;
    for (u32 k = 0u; k < BUCKETS_LISTED; k++) {
        buckets[k] = merging_merging_bucket(merging, cursor->cell);
        if (cursor->more) {
            visited++;
            cursor->more = photon_cursor_next_cell(cursor);
        }
    }
    u32 counts[BUCKETS_LISTED];
    u32 ends[BUCKETS_LISTED];
    for (u32 k = 0u; k < BUCKETS_LISTED; k++) {
        counts[k] = bucket_counts[buckets[k]];
        ends[k] = bucket_ends[buckets[k]];
    }
    cursor->number = first + visited;
    cursor->bucket = 0u;
    cursor->listed = 0u;
    for (u32 k = 0u; k < BUCKETS_LISTED; k++) {
        if (k < visited && counts[k] > 0u) {
            cursor->begins[cursor->listed] = ends[k] - counts[k];
            cursor->ends[cursor->listed] = ends[k];
            cursor->numbers[cursor->listed++] = first + k;
        }
    }
}

LS_FN PhotonCursor photon_cursor_around(Merging merging, Vec3 position) {
    PhotonCursor cursor;
    cursor.range = merging_merging_cells_around(merging, position);
    cursor.cell = cursor.range.first;
    cursor.number = 0u;
    cursor.more = true;
    cursor.listed = 0u;
    cursor.bucket = 0u;
    cursor.next = 0u;
    cursor.end = 0u;
    cursor.of_cell = 0u;
    return cursor;
}

/* Turns to the next bucket of the list; false behind the last. */
LS_FN bool photon_cursor_next_bucket(PhotonCursor *cursor) {
    if (cursor->bucket == cursor->listed) {
        return false;
    }
    cursor->next = cursor->begins[cursor->bucket];
    cursor->end = cursor->ends[cursor->bucket];
    cursor->of_cell = cursor->numbers[cursor->bucket++];
    return true;
}

/* The sum of a vertex's merges. With LS_FLOAT_MERGES it is one of floats, in whatever order they are found: that tells
 * what the sum of integers costs. */
#ifdef LS_FLOAT_MERGES
typedef Vec3 VertexMerges;
#else
typedef MergeSum VertexMerges;
#endif

LS_FN VertexMerges vertex_merges_none(void) {
#ifdef LS_FLOAT_MERGES
    return vec3_splat(0.0f);
#else
    return splat_no_merges();
#endif
}

LS_FN void vertex_merges_add(VertexMerges *sum, Vec3 radiance, InvalidSamples *invalid) {
#ifdef LS_FLOAT_MERGES
    (void)invalid;
    *sum = vec3_add(*sum, radiance);
#else
    splat_merge_sum_add(sum, radiance, invalid);
#endif
}

/* Adds the sum of the merges with vertex `bounce` of a camera sub-path to the film. */
LS_FN void vertex_merges_splat(VertexMerges sum, LS_GLOBAL i64 *film, LS_GLOBAL u32 *invalid, SampleKey key, u32 bounce,
                               InvalidSamples found) {
    u32 technique = splat_technique_index(SPLAT_MERGED, bounce + 2u);
#ifdef LS_FLOAT_MERGES
    Units units = splat_quantize(sum, key, technique, &found);
#else
    Units units = splat_merge_sum_film_units(sum, key, technique, &found);
#endif
    film_splat(film, key.pixel, units);
    count_invalid(invalid, found);
}

/* The radiance of a merge, zero where no light is scattered. */
LS_FN Vec3 pair_merged_radiance(Photon photon, PathVertex vertex, Merging merging) {
    Merge merge = photon_photon_merge(photon, vertex, merging);
    return merge.wanted ? vec3_scale(merge.value, MERGE_WEIGHT(merging, merge.weight)) : vec3_splat(0.0f);
}

/* Merges that a work-item collects before it evaluates them, so that neighbours search together and evaluate
 * together. */
#define MERGES_AT_ONCE 48u

/* Collects the next photons within the radius; fewer than MERGES_AT_ONCE are the last. A bucket may hold photons of
 * several cells, and several visited cells may share it, so a photon counts in the visit of its own cell. */
LS_FN u32 photon_cursor_collect(PhotonCursor *cursor, Merging merging, LS_GLOBAL const Packed *photon_positions,
                                LS_GLOBAL const u32 *bucket_counts, LS_GLOBAL const u32 *bucket_ends, Vec3 around,
                                u32 bounce, u32 bounces, u32 *found) {
    u32 count = 0u;
    while (count < MERGES_AT_ONCE) {
        if (cursor->next == cursor->end && !photon_cursor_next_bucket(cursor)) {
            if (!cursor->more) {
                break;
            }
            photon_cursor_list(cursor, merging, bucket_counts, bucket_ends);
            continue;
        }
        u32 i = cursor->next++;
        Packed photon = photon_positions[i];
        if (merging_merging_contains(merging, photon.v, around)
            && photon_photon_is_within(photon.w, bounce, bounces)
            && photon_cell_number(cursor->range, merging_merging_cell(merging, photon.v)) == cursor->of_cell) {
            found[count++] = i;
        }
    }
    return count;
}

/* Adds the merges of all photons with a vertex of a camera sub-path to the film. */
LS_OUTLINED void pair_merge(LS_GLOBAL i64 *film, LS_GLOBAL u32 *invalid, u32 bounces, Merging merging,
                      LS_GLOBAL const Packed *photon_positions, LS_GLOBAL const Photon *photons,
                      LS_GLOBAL const u32 *bucket_counts, LS_GLOBAL const u32 *bucket_ends, SampleKey key,
                      PathVertex vertex, u32 bounce) {
    InvalidSamples found = film_no_invalid();
    VertexMerges sum = vertex_merges_none();
    PhotonCursor cursor = photon_cursor_around(merging, vertex.position);
    u32 collected[MERGES_AT_ONCE];
    u32 count = MERGES_AT_ONCE;
    while (count == MERGES_AT_ONCE) {
        count = photon_cursor_collect(&cursor, merging, photon_positions, bucket_counts, bucket_ends, vertex.position,
                                      bounce, bounces, collected);
        /* Each photon is loaded while the one before it is evaluated. */
        Photon next = photons[count > 0u ? collected[0] : 0u];
        for (u32 i = 0u; i < count; i++) {
            Photon photon = next;
            if (i + 1u < count) {
                next = photons[collected[i + 1u]];
            }
            vertex_merges_add(&sum, pair_merged_radiance(photon, vertex, merging), &found);
        }
    }
    vertex_merges_splat(sum, film, invalid, key, bounce, found);
}
#endif
