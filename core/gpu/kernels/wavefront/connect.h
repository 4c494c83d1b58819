/* Occlusion of shadow rays; adds unoccluded light. core/gpu/src/signatures.rs declares its parameters. */

/* Adds the light of an unoccluded shadow ray to its path; returns 1 if unoccluded. */
LS_FN u32 connect_end(Packed light, Hit hit, LS_GLOBAL Packed *path_radiance) {
    if (intersect_hit_is_some(hit)) {
        return 0u;
    }
    Packed path = path_radiance[light.w];
    store_packed(path_radiance, light.w, vec3_add(path.v, light.v), path.w);
    return 1u;
}

/* Traces the shadow ray in a slot and adds its light to `path`. */
LS_FN bool connect_begin(Pass pass, u32 bounce, u32 slot, u32 path, LS_GLOBAL const Packed *shadow_origin,
                         LS_GLOBAL const Packed *shadow_direction, Ray *ray, RayKey *key) {
    if (!IS_WAITING(path)) {
        return false;
    }
    *ray = load_ray(shadow_origin, shadow_direction, slot);
    *key = rng_ray_key_shadow(path_key(pass, path), bounce);
    return true;
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
    LS_FOR_RAYS(i, count, &counters[LS_HEADS(pass, bounce)].shadow_rays, true,
                connect_begin(pass, bounce, i, shadow_radiance[i].w, shadow_origin, shadow_direction, &ray, &key), hit,
                unoccluded += connect_end(shadow_radiance[i], hit, path_radiance))
    counter_add(&counters[bounce].unoccluded, unoccluded, scratch);
}
