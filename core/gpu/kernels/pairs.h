/* Pairs of a light and a camera sub-path, one pair per work-item: first all light sub-paths of a batch, then
 * its camera sub-paths. With LS_CONNECT_PAIRS or LS_MERGE camera sub-paths go on beyond the camera ray's hit; they
 * are connected to the stored vertices of the light sub-paths, or merge with the photons of all of them, which
 * photons.h has sorted in between. core/gpu/src/signatures.rs declares the kernels' parameters. */

/* Records of a stored vertex. */
#define VERTEX_RECORDS 7u
/* Set beside the side of a stored surface that has layers. */
#define STORED_LAYERS 2u

/* Adds film units to a pixel that other work-items may add to at the same time. */
LS_FN void film_splat(LS_GLOBAL i64 *film, u32 pixel, Units units) {
    for (u32 channel = 0u; channel < 3u; channel++) {
        if (units.channel[channel] != 0) {
            LS_ATOMIC_ADD_I64(&film[3u * pixel + channel], units.channel[channel]);
        }
    }
}

LS_FN void count_invalid(LS_GLOBAL u32 *invalid, InvalidSamples found) {
    for (u32 i = 0u; i < 3u; i++) {
        if (found.count[i] > 0u) {
            LS_ATOMIC_ADD(&invalid[i], found.count[i]);
        }
    }
}

/* Adds a contribution to the film; invalid ones, which are rare, to their counters. */
LS_FN void pair_contribute(LS_GLOBAL i64 *film, LS_GLOBAL u32 *invalid, u32 pixel, Vec3 radiance, SampleKey key,
                           u32 technique) {
    InvalidSamples found;
    found.count[INVALID_NON_FINITE] = 0u;
    found.count[INVALID_NEGATIVE] = 0u;
    found.count[INVALID_CLAMPED] = 0u;
    film_splat(film, pixel, splat_quantize(radiance, key, technique, &found));
    count_invalid(invalid, found);
}

/* Stores vertex `index` of the light sub-path of a pair, of so many in flight. */
LS_FN void store_path_vertex(LS_GLOBAL Packed *vertices, u32 pairs, u32 pair, u32 index, PathVertex v) {
    u32 first = index * VERTEX_RECORDS * pairs + pair;
    store_packed(vertices, first, v.position, LS_AS_U32(v.scale));
    store_packed(vertices, first + pairs, v.geometric, LS_AS_U32(v.partial.vcm));
    store_packed(vertices, first + 2u * pairs, v.shading, LS_AS_U32(v.partial.vc));
    store_packed(vertices, first + 3u * pairs, v.from, LS_AS_U32(v.surface.roughness));
    store_packed(vertices, first + 4u * pairs, v.throughput, LS_AS_U32(v.surface.metallic));
    store_packed(vertices, first + 5u * pairs, v.surface.base_color, v.surface.kind);
    store_packed(vertices, first + 6u * pairs, vec3_new(v.surface.ior, v.surface.transmission, v.partial.vm),
                 v.surface.outside ? 1u : 0u);
#ifdef LS_LAYERS
    /* A surface with layers is looked up again: its hit takes the place of what it is made of. */
    if (v.layers.present) {
        store_packed(vertices, first + 3u * pairs, v.from, v.hit.instance);
        store_packed(vertices, first + 4u * pairs, v.throughput, v.hit.primitive);
        store_packed(vertices, first + 6u * pairs, vec3_new(v.hit.u, v.hit.v, v.partial.vm),
                     v.surface.outside ? STORED_LAYERS | 1u : STORED_LAYERS);
    }
#endif
}

LS_FN PathVertex load_path_vertex(LS_GLOBAL const Packed *vertices, u32 pairs, u32 pair, u32 index) {
    u32 first = index * VERTEX_RECORDS * pairs + pair;
    PathVertex v;
    Packed record = vertices[first];
    v.wanted = true;
    v.position = record.v;
    v.scale = LS_AS_F32(record.w);
    record = vertices[first + pairs];
    v.geometric = record.v;
    v.partial.vcm = LS_AS_F32(record.w);
    record = vertices[first + 2u * pairs];
    v.shading = record.v;
    v.partial.vc = LS_AS_F32(record.w);
    record = vertices[first + 3u * pairs];
    v.from = record.v;
    v.surface.roughness = LS_AS_F32(record.w);
    record = vertices[first + 4u * pairs];
    v.throughput = record.v;
    v.surface.metallic = LS_AS_F32(record.w);
    record = vertices[first + 5u * pairs];
    v.surface.base_color = record.v;
    v.surface.kind = record.w;
    record = vertices[first + 6u * pairs];
    v.surface.ior = record.v.x;
    v.surface.transmission = record.v.y;
    v.partial.vm = record.v.z;
    v.surface.outside = (record.w & 1u) != 0u;
#ifdef LS_LAYERS
    v.layers = bsdf_no_layers();
    v.layers.present = (record.w & STORED_LAYERS) != 0u;
    v.hit = intersect_hit_none(0.0f);
    v.hit.u = record.v.x;
    v.hit.v = record.v.y;
    v.hit.instance = vertices[first + 3u * pairs].w;
    v.hit.primitive = vertices[first + 4u * pairs].w;
#endif
    return v;
}

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
    if (vertex_vertex_is_specular(vertex)) {
        return;
    }
    InvalidSamples found;
    found.count[INVALID_NON_FINITE] = 0u;
    found.count[INVALID_NEGATIVE] = 0u;
    found.count[INVALID_CLAMPED] = 0u;
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
#endif

LS_KERNEL void LS_STAGE ls_light_paths(LS_SCENE_PARAMETERS, Pass pass, LS_GLOBAL Packed *LS_RESTRICT light_vertices,
                                       LS_GLOBAL u32 *LS_RESTRICT light_lengths, LS_GLOBAL Photon *LS_RESTRICT photons,
                                       LS_GLOBAL u32 *LS_RESTRICT bucket_counts, LS_GLOBAL i64 *LS_RESTRICT film,
                                       LS_GLOBAL u32 *LS_RESTRICT invalid,
                                       LS_GLOBAL BounceCounters *LS_RESTRICT counters) {
    LS_GROUP_TALLY(tally);
    LS_SCENE_REF(scene);
    tally_begin(tally);
    u32 count = pass.pixels * pass.samples;
    LS_FOR_ITEMS(i, count, &counters[LS_HEADS(pass, 0u)].extension_rays) {
        SampleKey key = path_key(pass, i);
        LightPath path = light_path_light_path_start(scene, key);
        bool continues = path.wanted && pass.bounces > 0u;
        u32 length = 0u;
        for (u32 bounce = 0u; continues; bounce++) {
            continues = false;
            /* Extend: closest hit */
            tally_count(counters, bounce, EXTENSION_RAYS, tally);
            Hit hit = bvh_closest_hit(scene, path.ray, rng_ray_key_light_extension(key, bounce));
            if (intersect_hit_is_some(hit)) {
                tally_count(counters, bounce, HITS, tally);
            }
            PathVertex vertex = light_path_light_path_arrive(scene, path, bounce, hit, pass.merging.ratios);
            if (vertex.wanted) {
#ifndef LS_MERGE_ALONE
                /* Connect to the camera */
                PairConnection lens = connections_to_camera(pass.camera, key, bounce, vertex, pass.merging.ratios);
                if (lens.wanted) {
                    tally_count(counters, bounce, SHADOW_RAYS, tally);
                    if (!bvh_any_hit(scene, lens.ray, rng_ray_key_connection(key, lens.technique))) {
                        tally_count(counters, bounce, UNOCCLUDED, tally);
                        Vec3 radiance = vec3_scale(lens.value, PAIR_WEIGHT(lens.weight));
                        pair_contribute(film, invalid, lens.pixel, radiance, key, lens.technique);
                    }
                }
#endif
#ifdef LS_CONNECT_PAIRS
                if (bounce + 2u <= pass.bounces) {
                    store_path_vertex(light_vertices, count, i, bounce, vertex);
                }
#endif
#ifdef LS_MERGE
                store_photon(photons, bucket_counts, bounce * count + i, pass.merging, vertex, bounce);
#endif
                length = bounce + 1u;
                if (bounce + 1u < pass.bounces) {
                    continues = light_path_light_path_extend(pass, bounce, &path, vertex);
                }
            }
        }
        light_lengths[i] = length;
    }
    tally_end(counters, tally);
}

LS_KERNEL void LS_STAGE ls_camera_paths(LS_SCENE_PARAMETERS, Pass pass,
                                        LS_GLOBAL const Packed *LS_RESTRICT light_vertices,
                                        LS_GLOBAL const u32 *LS_RESTRICT light_lengths,
                                        LS_GLOBAL const Photon *LS_RESTRICT sorted_photons,
                                        LS_GLOBAL const u32 *LS_RESTRICT bucket_counts,
                                        LS_GLOBAL const u32 *LS_RESTRICT bucket_ends,
                                        LS_GLOBAL i64 *LS_RESTRICT film, LS_GLOBAL u32 *LS_RESTRICT invalid,
                                        LS_GLOBAL BounceCounters *LS_RESTRICT counters) {
    LS_GROUP_TALLY(tally);
    LS_SCENE_REF(scene);
    tally_begin(tally);
    u32 count = pass.pixels * pass.samples;
    LS_FOR_ITEMS(i, count, &counters[LS_HEADS(pass, 0u)].hits) {
        SampleKey key = path_key(pass, i);
        CameraPath path = camera_path_camera_path_start(pass.camera, key);
        bool continues = true;
        for (u32 bounce = 0u; continues; bounce++) {
            continues = false;
            /* Extend: closest hit */
            tally_count(counters, bounce, EXTENSION_RAYS, tally);
            Hit hit = bvh_closest_hit(scene, path.ray, rng_ray_key_extension(key, bounce));
            if (intersect_hit_is_some(hit)) {
                tally_count(counters, bounce, HITS, tally);
            }
            bool last = bounce == CAMERA_BOUNCES(pass);
            Arrival arrival = camera_path_camera_path_arrive(scene, path, bounce, last, hit);
            if (vec3_max_component(arrival.emitted.value) > 0.0f) {
                Vec3 radiance = vec3_scale(arrival.emitted.value,
                                           EMISSION_WEIGHT(arrival.emitted.weight, path.specular));
                pair_contribute(film, invalid, key.pixel, radiance, key, splat_technique_index(0u, bounce + 2u));
            }
#if defined(LS_CONNECT_PAIRS) || defined(LS_MERGE)
            if (arrival.vertex.wanted) {
#ifdef LS_CONNECT_PAIRS
                /* Connect to a light, then to the vertices of the light sub-path */
                u32 most = light_lengths[i] + 1u;
                for (u32 light = 1u; light <= most && light + bounce <= pass.bounces; light++) {
                    PairConnection join;
                    RayKey ray_key;
                    if (light == 1u) {
                        join = connections_to_light(scene, key, bounce, arrival.vertex, pass.merging.ratios);
                        ray_key = rng_ray_key_shadow(key, bounce);
                    } else {
                        PathVertex other = load_path_vertex(light_vertices, count, i, light - 2u);
#ifdef LS_LAYERS
                        other = vertex_restored(scene, other);
#endif
                        u32 technique = splat_technique_index(light, bounce + 2u);
                        join = connections_join(key, technique, other, arrival.vertex, pass.merging.ratios);
                        ray_key = rng_ray_key_connection(key, technique);
                    }
                    if (join.wanted) {
                        tally_count(counters, bounce, SHADOW_RAYS, tally);
                        if (!bvh_any_hit(scene, join.ray, ray_key)) {
                            tally_count(counters, bounce, UNOCCLUDED, tally);
                            Vec3 radiance = vec3_scale(join.value, PAIR_WEIGHT(join.weight));
                            pair_contribute(film, invalid, join.pixel, radiance, key, join.technique);
                        }
                    }
                }
#endif
#ifdef LS_MERGE
                pair_merge(film, invalid, pass, sorted_photons, bucket_counts, bucket_ends, key, arrival.vertex, bounce);
#endif
                bool specular = path.specular && vertex_vertex_is_specular(arrival.vertex);
                if (CAMERA_CONTINUES(pass, bounce, specular)) {
                    continues = camera_path_camera_path_extend(pass, bounce, &path, arrival.vertex);
                }
            }
#endif
        }
    }
    tally_end(counters, tally);
}
