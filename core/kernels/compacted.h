/* Queues that are compacted: shading appends the paths that go on and the shadow rays, so that all entries wait. */

#define QUEUE_LENGTH(pass, counted) (counted)
#define IS_WAITING(path) true

LS_KERNEL void LS_STAGE ls_shade(LS_SCENE_PARAMETERS, Pass pass, u32 bounce, LS_GLOBAL Packed *LS_RESTRICT path_origin,
                        LS_GLOBAL Packed *LS_RESTRICT path_direction, LS_GLOBAL Packed *LS_RESTRICT path_throughput,
                        LS_GLOBAL Packed *LS_RESTRICT path_radiance, LS_GLOBAL const Packed *LS_RESTRICT hits,
                        LS_GLOBAL const u32 *LS_RESTRICT hit_primitives, LS_GLOBAL const u32 *LS_RESTRICT queue,
                        LS_GLOBAL u32 *LS_RESTRICT next_queue, LS_GLOBAL Packed *LS_RESTRICT shadow_origin,
                        LS_GLOBAL Packed *LS_RESTRICT shadow_direction,
                        LS_GLOBAL Packed *LS_RESTRICT shadow_radiance,
                        LS_GLOBAL BounceCounters *LS_RESTRICT counters) {
    LS_SCRATCH(scratch);
    LS_SCENE_REF(scene);
    u32 count = QUEUE_LENGTH(pass, counters[bounce].extension_rays);
    /* All items of a group reserve together. */
    LS_FOR_ROUNDS(first, count, &counters[LS_HEADS(pass, bounce)].hits) {
        u32 i = LS_ITEM_OF(first);
        u32 index = 0u;
        Shaded shaded = path_ended();
        if (i < count) {
            index = queue[i];
            shaded = shade_path(scene, pass, bounce, index, load_hit(hits, hit_primitives, i), path_origin,
                                path_direction, path_throughput, path_radiance);
        }
        bool connects = shaded.connection.wanted;
        Slots slots = counter_reserve(&counters[bounce + 1u].extension_rays, shaded.continues ? 1u : 0u,
                                      &counters[bounce].shadow_rays, connects ? 1u : 0u, scratch);
        if (shaded.continues) {
            next_queue[slots.a] = index;
        }
        if (connects) {
            store_ray(shadow_origin, shadow_direction, slots.b, shaded.connection.ray);
            store_packed(shadow_radiance, slots.b, shaded.connection.radiance, index);
        }
    }
}
