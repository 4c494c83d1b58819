/* Vertices of light sub-paths: stores them, connects them to the lens, and continues the sub-paths.
 * core/gpu/src/signatures.rs declares the kernel's parameters. */

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
                                       LS_GLOBAL Packed *LS_RESTRICT shadow_units,
                                       LS_GLOBAL u32 *LS_RESTRICT shadow_techniques,
                                       LS_GLOBAL u32 *LS_RESTRICT queue_lengths) {
    LS_SCRATCH(scratch);
    LS_SCENE_REF(scene);
    u32 count = queue_lengths[PAIR_LENGTH(bounce, LIGHT_SUB_PATHS)];
    LS_FOR_ROUNDS(first, count, &queue_lengths[PAIR_HEAD(bounce, SHADED_LIGHT)]) {
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
                MergeRatios ratios = MERGING(pass, i).ratios;
                Hit hit = load_hit(hits, hit_primitives, own + k);
                PathVertex vertex = light_path_light_path_arrive(scene, path, bounce, hit, ratios);
                if (vertex.wanted) {
#ifndef LS_MERGE_ALONE
                    /* Connect to the lens */
                    lens[k] = connections_to_camera(pass.camera, path.key, bounce, vertex, ratios);
#endif
                    /* Store the vertex and its photon */
                    keep_light_vertex(pass, MERGING(pass, i), bounce, i, vertex, light_vertices, photons,
                                      BUCKETS(pass, i, bucket_counts));
                    light_lengths[i] = bounce + 1u;

                    /* Continue the sub-path */
                    if (bounce + 1u < pass.bounces) {
                        continues[k] = light_path_light_path_extend(pass, bounce, &path, vertex, ratios);
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
        Slots slots = counter_reserve(&queue_lengths[PAIR_LENGTH(bounce + 1u, LIGHT_SUB_PATHS)], continued, 0u,
                                      &queue_lengths[PAIR_LENGTH(bounce, LENS_SHADOW_RAYS)], connected, scratch);
        for (u32 k = 0u; k < LS_ROUND; k++) {
            if (continues[k]) {
                next_queue[slots.a++] = queue[own + k];
            }
            if (lens[k].wanted) {
                u32 i = queue[own + k];
                store_shadow_ray(shadow_origin, shadow_direction, shadow_units, shadow_techniques, slots.b++, lens[k],
                                 path_key(pass, i), i);
            }
        }
    }
}
