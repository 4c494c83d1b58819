/* Shading over compacted queues: appends surviving paths and shadow rays, so queues hold live entries
 * only. */

#define QUEUE_LENGTH(pass, counted) (counted)
#define IS_WAITING(path) true

/* The bin of a ray in the queue: its octant of directions with LS_OCTANTS, else 0. */
LS_FN u32 bin_of(Vec3 direction) {
#ifdef LS_OCTANTS
    return (direction.x < 0.0f ? 1u : 0u) + (direction.y < 0.0f ? 2u : 0u) + (direction.z < 0.0f ? 4u : 0u);
#else
    (void)direction;
    return 0u;
#endif
}

LS_KERNEL void LS_SHADING ls_shade(LS_SCENE_PARAMETERS, Pass pass, u32 bounce, LS_GLOBAL Packed *LS_RESTRICT path_origin,
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
    /* All work-items of a round reserve together. */
    LS_FOR_ROUNDS(first, count, &counters[LS_HEADS(pass, bounce)].hits) {
        u32 own = LS_ITEM_OF(first);
        Shaded shaded[LS_ROUND];
        u32 bins[LS_ROUND];
        u32 continued = 0u;
        u32 connected = 0u;

        /* Shade this work-item's paths */
        for (u32 k = 0u; k < LS_ROUND; k++) {
            shaded[k] = path_ended();
            bins[k] = 0u;
            if (own + k < count) {
                u32 path = queue[own + k];
                shaded[k] = shade_path(scene, pass, bounce, path, load_hit(hits, hit_primitives, own + k), path_origin,
                                       path_direction, path_throughput, path_radiance);
                bins[k] = bin_of(path_direction[path].v);
            }
            continued += shaded[k].continues ? 1u : 0u;
            connected += shaded[k].connection.wanted ? 1u : 0u;
        }

        /* Reserve entries of both queues */
        Slots slots = counter_reserve(&counters[bounce + 1u].extension_rays, continued, bins[0],
                                      &counters[bounce].shadow_rays, connected, scratch);

        /* Append surviving paths */
        for (u32 bin = 0u; bin < LS_BINS; bin++) {
            for (u32 k = 0u; k < LS_ROUND; k++) {
                if (shaded[k].continues && bins[k] == bin) {
                    next_queue[slots.a++] = queue[own + k];
                }
            }
        }

        /* Append shadow rays */
        for (u32 k = 0u; k < LS_ROUND; k++) {
            if (shaded[k].connection.wanted) {
                store_ray(shadow_origin, shadow_direction, slots.b, shaded[k].connection.ray);
                store_packed(shadow_radiance, slots.b++, shaded[k].connection.radiance, queue[own + k]);
            }
        }
    }
}
