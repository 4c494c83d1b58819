/* Shading without compaction: path `i` keeps slot `i` of every queue, and NONE in a queue marks a
 * terminated path, or a path without a shadow ray. */

#define QUEUE_LENGTH(pass, counted) ((pass).pixels * (pass).samples)
#define IS_WAITING(path) ((path) != NONE)

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
    u32 continued = 0u;
    u32 connected = 0u;
    LS_FOR_ITEMS(i, count, &counters[LS_HEADS(pass, bounce)].hits) {
        Shaded shaded = path_ended();
        if (IS_WAITING(queue[i])) {
            shaded = shade_path(scene, pass, bounce, i, load_hit(hits, hit_primitives, i), path_origin,
                                path_direction, path_throughput, path_radiance);
        }
        next_queue[i] = shaded.continues ? i : NONE;
        continued += shaded.continues ? 1u : 0u;
        if (shaded.connection.wanted) {
            store_ray(shadow_origin, shadow_direction, i, shaded.connection.ray);
            connected += 1u;
        }
        store_packed(shadow_radiance, i, shaded.connection.radiance, shaded.connection.wanted ? i : NONE);
    }
    counter_add(&counters[bounce + 1u].extension_rays, continued, scratch);
    counter_add(&counters[bounce].shadow_rays, connected, scratch);
}
