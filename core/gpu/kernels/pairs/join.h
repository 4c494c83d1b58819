/* Connections of the vertices of camera sub-paths to those of light sub-paths.
 * core/gpu/src/signatures.rs declares the kernel's parameters. */

LS_KERNEL void LS_STAGE ls_join(LS_SCENE_PARAMETERS, Pass pass, u32 bounce,
                                LS_GLOBAL const Packed *LS_RESTRICT light_vertices,
                                LS_GLOBAL const Packed *LS_RESTRICT camera_vertices,
                                LS_GLOBAL const u32 *LS_RESTRICT join_paths,
                                LS_GLOBAL const u32 *LS_RESTRICT join_lights,
                                LS_GLOBAL Packed *LS_RESTRICT shadow_origin,
                                LS_GLOBAL Packed *LS_RESTRICT shadow_direction,
                                LS_GLOBAL Packed *LS_RESTRICT shadow_units,
                                LS_GLOBAL u32 *LS_RESTRICT shadow_techniques,
                                LS_GLOBAL u32 *LS_RESTRICT queue_lengths) {
    LS_SCRATCH(scratch);
    LS_SCENE_REF(scene);
    u32 pairs = pass.pixels * pass.samples;
    u32 count = queue_lengths[PAIR_LENGTH(bounce, JOINS)];
    LS_FOR_ROUNDS(first, count, &queue_lengths[PAIR_HEAD(bounce, JOINS)]) {
        u32 own = LS_ITEM_OF(first);
        PairConnection join[LS_ROUND];
        u32 connected = 0u;
        for (u32 k = 0u; k < LS_ROUND; k++) {
            join[k].wanted = false;
            if (own + k < count) {
                u32 i = join_paths[own + k];
                u32 index = join_lights[own + k];
                PathVertex light =
                    load_path_vertex(scene, light_vertices, LIGHT_VERTEX(pass, pairs, i, index), VERTEX_STRIDE(pairs));
                PathVertex camera =
                    load_path_vertex(scene, camera_vertices, CAMERA_VERTEX(i), VERTEX_STRIDE(pairs));
                u32 technique = splat_technique_index(index + 2u, bounce + 2u);
                join[k] = connections_join(path_key(pass, i), technique, light, camera, MERGING(pass, i).ratios);
            }
            connected += join[k].wanted ? 1u : 0u;
        }
        Slots slots = counter_reserve(&queue_lengths[PAIR_LENGTH(bounce, CAMERA_SHADOW_RAYS)], connected, 0u,
                                      &queue_lengths[PAIR_LENGTH(bounce, CAMERA_SHADOW_RAYS)], 0u, scratch);
        for (u32 k = 0u; k < LS_ROUND; k++) {
            if (join[k].wanted) {
                u32 i = join_paths[own + k];
                store_shadow_ray(shadow_origin, shadow_direction, shadow_units, shadow_techniques, slots.a++, join[k],
                                 path_key(pass, i), i);
            }
        }
    }
}
