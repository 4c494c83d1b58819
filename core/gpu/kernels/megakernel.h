/* Whole paths in one kernel, one path per work-item: the stages of the wavefront in a loop. Parameters are
 * declared in core/gpu/src/signatures.rs. */

LS_KERNEL void LS_STAGE ls_megakernel(LS_SCENE_PARAMETERS, Pass pass, LS_GLOBAL Packed *LS_RESTRICT path_radiance,
                                      LS_GLOBAL BounceCounters *LS_RESTRICT counters) {
    LS_GROUP_TALLY(tally);
    LS_SCENE_REF(scene);
    tally_begin(tally);
    u32 count = pass.pixels * pass.samples;
    LS_FOR_ITEMS(i, count, &counters[LS_HEADS(pass, 0u)].extension_rays) {
        /* Generate the camera ray */
        SampleKey key = path_key(pass, i);
        PathState path = path_generate(pass.camera, key);
        VertexRecord unread;
        unread.flags = 0u;
        bool continues = true;
        for (u32 bounce = 0u; continues; bounce++) {
            /* Extend: closest hit */
            tally_count(counters, bounce, EXTENSION_RAYS, tally);
            Hit hit = bvh_closest_hit(scene, path.ray, rng_ray_key_extension(key, bounce));
            if (intersect_hit_is_some(hit)) {
                tally_count(counters, bounce, HITS, tally);
            }

            /* Shade */
            Shaded shaded = LS_SHADE(scene, pass, bounce, &path, hit, &unread);

            /* Connect: trace the shadow ray */
            if (shaded.connection.wanted) {
                tally_count(counters, bounce, SHADOW_RAYS, tally);
                if (!bvh_any_hit(scene, shaded.connection.ray, rng_ray_key_shadow(key, bounce))) {
                    tally_count(counters, bounce, UNOCCLUDED, tally);
                    path.radiance = vec3_add(path.radiance, shaded.connection.radiance);
                }
            }
            continues = shaded.continues;
        }
        store_packed(path_radiance, i, path.radiance, 0u);
    }
    tally_end(counters, tally);
}
