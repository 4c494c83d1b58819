/* The stages of the wavefront (Laine, Karras and Aila 2013) that trace rays; the one that shades is in compacted.h or in
 * in_place.h, which say what waits in a queue. src/kernels/launch.rs declares their parameters. */

LS_KERNEL void LS_TRAVERSAL ls_extend(LS_SCENE_PARAMETERS, Pass pass, u32 bounce, LS_GLOBAL const Packed *LS_RESTRICT path_origin,
                         LS_GLOBAL const Packed *LS_RESTRICT path_direction, LS_GLOBAL const u32 *LS_RESTRICT queue,
                         LS_GLOBAL Packed *LS_RESTRICT hits, LS_GLOBAL u32 *LS_RESTRICT hit_primitives,
                         LS_GLOBAL BounceCounters *LS_RESTRICT counters) {
    LS_SCRATCH(scratch);
    LS_SCENE_REF(scene);
    u32 count = QUEUE_LENGTH(pass, counters[bounce].extension_rays);
    u32 found = 0u;
    LS_FOR_ITEMS(i, count, &counters[LS_HEADS(pass, bounce)].extension_rays) {
        u32 path = queue[i];
        if (IS_WAITING(path)) {
            found += extend_path(scene, pass, bounce, path, i, path_origin, path_direction, hits, hit_primitives);
        }
    }
    counter_add(&counters[bounce].hits, found, scratch);
}

LS_KERNEL void LS_TRAVERSAL ls_connect(LS_SCENE_PARAMETERS, Pass pass, u32 bounce,
                          LS_GLOBAL const Packed *LS_RESTRICT shadow_origin,
                          LS_GLOBAL const Packed *LS_RESTRICT shadow_direction,
                          LS_GLOBAL const Packed *LS_RESTRICT shadow_radiance,
                          LS_GLOBAL Packed *LS_RESTRICT path_radiance,
                          LS_GLOBAL BounceCounters *LS_RESTRICT counters) {
    LS_SCRATCH(scratch);
    LS_SCENE_REF(scene);
    u32 count = QUEUE_LENGTH(pass, counters[bounce].shadow_rays);
    u32 unoccluded = 0u;
    LS_FOR_ITEMS(i, count, &counters[LS_HEADS(pass, bounce)].shadow_rays) {
        Packed light = shadow_radiance[i];
        if (IS_WAITING(light.w)) {
            unoccluded += connect_path(scene, pass, bounce, i, light, shadow_origin, shadow_direction, path_radiance);
        }
    }
    counter_add(&counters[bounce].unoccluded, unoccluded, scratch);
}
