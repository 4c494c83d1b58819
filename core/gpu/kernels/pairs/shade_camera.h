/* Vertices of camera sub-paths: adds the light that is hit, samples lights, stores vertices for connections and
 * merges, and continues the sub-paths. core/gpu/src/signatures.rs declares the kernel's parameters. */

/* Work that the shading of a hit of a camera sub-path leaves to other stages. */
typedef struct {
    bool continues;
    bool merges;
    /* Vertices of the light sub-path to connect to. */
    u32 joins;
    PairConnection light;
} CameraShaded;

LS_FN CameraShaded shade_camera_path(SceneRef scene, Pass pass, MergeRatios ratios, u32 bounce, u32 i, Hit hit,
                                     LS_GLOBAL Packed *path_origin, LS_GLOBAL Packed *path_direction,
                                     LS_GLOBAL Packed *path_throughput, LS_GLOBAL Packed *path_weights,
                                     LS_GLOBAL const u32 *light_lengths, LS_GLOBAL Packed *camera_vertices,
                                     LS_GLOBAL i64 *film, LS_GLOBAL u32 *invalid) {
    CameraShaded shaded;
    shaded.continues = false;
    shaded.merges = false;
    shaded.joins = 0u;
    shaded.light.wanted = false;
    CameraPath path = load_camera_path(pass, path_origin, path_direction, path_throughput, path_weights, i);

    /* Add the light that is hit */
    bool last = bounce == CAMERA_BOUNCES(pass);
    Arrival arrival = camera_path_camera_path_arrive(scene, path, bounce, last, hit);
    pair_contribute_emission(film, invalid, path, bounce, arrival.emitted);
#if defined(LS_CONNECT_PAIRS) || defined(LS_MERGE)
    if (!arrival.vertex.wanted) {
        return shaded;
    }
    bool is_specular = vertex_vertex_is_specular(arrival.vertex);
    if (!is_specular) {
#ifdef LS_CONNECT_PAIRS
        /* Sample a light, and count the connections to the light sub-path */
        shaded.light = connections_to_light(scene, path.key, bounce, arrival.vertex, ratios);
        u32 most = pass.bounces - bounce - 1u;
        shaded.joins = light_lengths[i] < most ? light_lengths[i] : most;
#endif
#ifdef LS_MERGE
        shaded.merges = true;
#endif
        if (shaded.joins > 0u || shaded.merges) {
            u32 pairs = pass.pixels * pass.samples;
            store_path_vertex(camera_vertices, CAMERA_VERTEX(i), VERTEX_STRIDE(pairs), arrival.vertex);
        }
    }

    /* Continue the sub-path */
    if (CAMERA_CONTINUES(pass, bounce, path.specular && is_specular)) {
        shaded.continues = camera_path_camera_path_extend(pass, bounce, &path, arrival.vertex, ratios);
    }
    if (shaded.continues) {
        store_sub_path(path_origin, path_direction, path_throughput, path_weights, i, path.ray, path.throughput,
                       path.partial, path.specular ? 1u : 0u);
    }
#endif
    return shaded;
}

LS_KERNEL void LS_STAGE ls_shade_camera(LS_SCENE_PARAMETERS, Pass pass, u32 bounce,
                                        LS_GLOBAL Packed *LS_RESTRICT path_origin,
                                        LS_GLOBAL Packed *LS_RESTRICT path_direction,
                                        LS_GLOBAL Packed *LS_RESTRICT path_throughput,
                                        LS_GLOBAL Packed *LS_RESTRICT path_weights,
                                        LS_GLOBAL const Packed *LS_RESTRICT hits,
                                        LS_GLOBAL const u32 *LS_RESTRICT hit_primitives,
                                        LS_GLOBAL const u32 *LS_RESTRICT queue, LS_GLOBAL u32 *LS_RESTRICT next_queue,
                                        LS_GLOBAL const u32 *LS_RESTRICT light_lengths,
                                        LS_GLOBAL Packed *LS_RESTRICT camera_vertices,
                                        LS_GLOBAL u32 *LS_RESTRICT join_paths, LS_GLOBAL u32 *LS_RESTRICT join_lights,
                                        LS_GLOBAL u32 *LS_RESTRICT merge_queue,
                                        LS_GLOBAL Packed *LS_RESTRICT shadow_origin,
                                        LS_GLOBAL Packed *LS_RESTRICT shadow_direction,
                                        LS_GLOBAL Packed *LS_RESTRICT shadow_units,
                                        LS_GLOBAL u32 *LS_RESTRICT shadow_techniques,
                                        LS_GLOBAL i64 *LS_RESTRICT film, LS_GLOBAL u32 *LS_RESTRICT invalid,
                                        LS_GLOBAL u32 *LS_RESTRICT queue_lengths) {
    LS_SCRATCH(scratch);
    LS_SCENE_REF(scene);
    u32 count = queue_lengths[PAIR_LENGTH(bounce, CAMERA_SUB_PATHS)];
    LS_FOR_ROUNDS(first, count, &queue_lengths[PAIR_HEAD(bounce, SHADED_CAMERA)]) {
        u32 own = LS_ITEM_OF(first);
        CameraShaded shaded[LS_ROUND];
        u32 continued = 0u;
        u32 connected = 0u;
        u32 joins = 0u;
        u32 merges = 0u;
        for (u32 k = 0u; k < LS_ROUND; k++) {
            shaded[k].continues = false;
            shaded[k].merges = false;
            shaded[k].joins = 0u;
            shaded[k].light.wanted = false;
            if (own + k < count) {
                shaded[k] = shade_camera_path(scene, pass, MERGING(pass, queue[own + k]).ratios, bounce, queue[own + k],
                                              load_hit(hits, hit_primitives, own + k), path_origin, path_direction,
                                              path_throughput, path_weights, light_lengths, camera_vertices, film,
                                              invalid);
            }
            continued += shaded[k].continues ? 1u : 0u;
            connected += shaded[k].light.wanted ? 1u : 0u;
            joins += shaded[k].joins;
            merges += shaded[k].merges ? 1u : 0u;
        }

        /* Append what goes on to all queues */
        Slots slots = counter_reserve(&queue_lengths[PAIR_LENGTH(bounce + 1u, CAMERA_SUB_PATHS)], continued, 0u,
                                      &queue_lengths[PAIR_LENGTH(bounce, CAMERA_SHADOW_RAYS)], connected, scratch);
        for (u32 k = 0u; k < LS_ROUND; k++) {
            if (shaded[k].continues) {
                next_queue[slots.a++] = queue[own + k];
            }
            if (shaded[k].light.wanted) {
                u32 i = queue[own + k];
                store_shadow_ray(shadow_origin, shadow_direction, shadow_units, shadow_techniques, slots.b++,
                                 shaded[k].light, path_key(pass, i), i);
            }
        }
        counter_settle();
#if defined(LS_CONNECT_PAIRS) || defined(LS_MERGE)
        slots = counter_reserve(&queue_lengths[PAIR_LENGTH(bounce, JOINS)], joins, 0u,
                                &queue_lengths[PAIR_LENGTH(bounce, MERGES)], merges, scratch);
        for (u32 k = 0u; k < LS_ROUND; k++) {
            for (u32 vertex = 0u; vertex < shaded[k].joins; vertex++) {
                join_paths[slots.a] = queue[own + k];
                join_lights[slots.a++] = vertex;
            }
            if (shaded[k].merges) {
                merge_queue[slots.b++] = queue[own + k];
            }
        }
#endif
    }
}
