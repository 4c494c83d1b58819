/* Starts the light sub-paths of a batch of pairs. core/gpu/src/signatures.rs declares the kernel's parameters. */

LS_KERNEL void LS_STAGE ls_generate_light(LS_SCENE_PARAMETERS, Pass pass, LS_GLOBAL Packed *LS_RESTRICT path_origin,
                                          LS_GLOBAL Packed *LS_RESTRICT path_direction,
                                          LS_GLOBAL Packed *LS_RESTRICT path_throughput,
                                          LS_GLOBAL Packed *LS_RESTRICT path_weights,
                                          LS_GLOBAL u32 *LS_RESTRICT queue,
                                          LS_GLOBAL u32 *LS_RESTRICT light_lengths,
                                          LS_GLOBAL u32 *LS_RESTRICT queue_lengths) {
    LS_SCRATCH(scratch);
    LS_SCENE_REF(scene);
    u32 count = pass.pixels * pass.samples;
    LS_FOR_ROUNDS(first, count, &queue_lengths[PAIR_HEAD(pass.bounces + 1u, LIGHT_SUB_PATHS)]) {
        u32 own = LS_ITEM_OF(first);
        bool started[LS_ROUND];
        u32 number = 0u;
        for (u32 k = 0u; k < LS_ROUND; k++) {
            started[k] = false;
            if (own + k < count) {
                LightPath path = light_path_light_path_start(scene, path_key(pass, own + k));
                light_lengths[own + k] = 0u;
                started[k] = path.wanted && pass.bounces > 0u;
                if (started[k]) {
                    store_light_path(path_origin, path_direction, path_throughput, path_weights, own + k, path);
                }
            }
            number += started[k] ? 1u : 0u;
        }
        Slots slots = counter_reserve(&queue_lengths[PAIR_LENGTH(0u, LIGHT_SUB_PATHS)], number, 0u,
                                      &queue_lengths[PAIR_LENGTH(0u, LIGHT_SUB_PATHS)], 0u, scratch);
        for (u32 k = 0u; k < LS_ROUND; k++) {
            if (started[k]) {
                queue[slots.a++] = own + k;
            }
        }
    }
}
