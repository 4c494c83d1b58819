/* Vertices of light sub-paths: stores them, connects them to the lens, and continues the sub-paths.
 * core/gpu/src/signatures.rs declares the kernel's parameters. */

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

LS_KERNEL void LS_STAGE ls_shade_light(LS_SCENE_PARAMETERS, Pass pass, u32 bounce,
                                       LS_GLOBAL Packed *LS_RESTRICT path_origin,
                                       LS_GLOBAL Packed *LS_RESTRICT path_direction,
                                       LS_GLOBAL Packed *LS_RESTRICT path_throughput,
                                       LS_GLOBAL Packed *LS_RESTRICT path_weights,
                                       LS_GLOBAL const Packed *LS_RESTRICT hits,
                                       LS_GLOBAL const u32 *LS_RESTRICT hit_primitives,
                                       LS_GLOBAL const u32 *LS_RESTRICT queue, LS_GLOBAL u32 *LS_RESTRICT next_queue,
                                       LS_GLOBAL Packed *LS_RESTRICT light_vertices,
                                       LS_GLOBAL u32 *LS_RESTRICT light_lengths,
                                       LS_GLOBAL Photon *LS_RESTRICT photons, LS_GLOBAL u32 *LS_RESTRICT bucket_counts,
                                       LS_GLOBAL Packed *LS_RESTRICT shadow_origin,
                                       LS_GLOBAL Packed *LS_RESTRICT shadow_direction,
                                       LS_GLOBAL Packed *LS_RESTRICT shadow_radiance,
                                       LS_GLOBAL u32 *LS_RESTRICT lengths) {
    LS_SCRATCH(scratch);
    LS_SCENE_REF(scene);
    u32 count = lengths[PAIR_LENGTH(bounce, LIGHT_SUB_PATHS)];
    LS_FOR_ROUNDS(first, count, &lengths[PAIR_HEAD(bounce, SHADED_LIGHT)]) {
        u32 own = LS_ITEM_OF(first);
        PairConnection lens[LS_ROUND];
        bool continues[LS_ROUND];
        u32 continued = 0u;
        u32 connected = 0u;
        for (u32 k = 0u; k < LS_ROUND; k++) {
            lens[k].wanted = false;
            continues[k] = false;
            if (own + k < count) {
                u32 i = queue[own + k];
                LightPath path =
                    load_light_path(pass, bounce, path_origin, path_direction, path_throughput, path_weights, i);
                Hit hit = load_hit(hits, hit_primitives, own + k);
                PathVertex vertex = light_path_light_path_arrive(scene, path, bounce, hit, pass.merging.ratios);
                if (vertex.wanted) {
#ifndef LS_MERGE_ALONE
                    /* Connect to the lens */
                    lens[k] = connections_to_camera(pass.camera, path.key, bounce, vertex, pass.merging.ratios);
#endif
                    /* Store the vertex and its photon */
#ifdef LS_CONNECT_PAIRS
                    if (bounce + 2u <= pass.bounces) {
                        store_path_vertex(light_vertices, i * (pass.bounces - 1u) + bounce, vertex);
                    }
#endif
#ifdef LS_MERGE
                    store_photon(photons, bucket_counts, bounce * pass.pixels * pass.samples + i, pass.merging, vertex,
                                 bounce);
#endif
                    light_lengths[i] = bounce + 1u;

                    /* Continue the sub-path */
                    if (bounce + 1u < pass.bounces) {
                        continues[k] = light_path_light_path_extend(pass, bounce, &path, vertex);
                    }
                    if (continues[k]) {
                        store_sub_path(path_origin, path_direction, path_throughput, path_weights, i, path.ray,
                                       path.throughput, path.partial, 0u);
                    }
                }
            }
            continued += continues[k] ? 1u : 0u;
            connected += lens[k].wanted ? 1u : 0u;
        }

        /* Append what goes on to both queues */
        Slots slots = counter_reserve(&lengths[PAIR_LENGTH(bounce + 1u, LIGHT_SUB_PATHS)], continued, 0u,
                                      &lengths[PAIR_LENGTH(bounce, LENS_SHADOW_RAYS)], connected, scratch);
        for (u32 k = 0u; k < LS_ROUND; k++) {
            if (continues[k]) {
                next_queue[slots.a++] = queue[own + k];
            }
            if (lens[k].wanted) {
                store_shadow_ray(shadow_origin, shadow_direction, shadow_radiance, slots.b++, lens[k], lens[k].pixel,
                                 queue[own + k]);
            }
        }
    }
}
