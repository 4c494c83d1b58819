/* Whole light sub-paths, one to a work-item, whose vertices or photons are stored for camera_paths.h. Faster than stages
 * on processors. core/gpu/src/signatures.rs declares the kernel's parameters. */

LS_KERNEL void LS_STAGE ls_light_paths(LS_SCENE_PARAMETERS, Pass pass, LS_GLOBAL Packed *LS_RESTRICT light_vertices,
                                       LS_GLOBAL u32 *LS_RESTRICT light_lengths,
                                       LS_GLOBAL Photon *LS_RESTRICT photons,
                                       LS_GLOBAL u32 *LS_RESTRICT bucket_counts, LS_GLOBAL i64 *LS_RESTRICT film,
                                       LS_GLOBAL u32 *LS_RESTRICT invalid,
                                       LS_GLOBAL BounceCounters *LS_RESTRICT counters) {
    LS_GROUP_TALLY(tally);
    LS_SCENE_REF(scene);
    tally_begin(tally);
    u32 count = pass.pixels * pass.samples;
    LS_FOR_ITEMS(i, count, &counters[LS_HEADS(pass, 0u)].extension_rays) {
        SampleKey key = path_key(pass, i);
        Merging merging = MERGING(pass, i);
        LightPath path = light_path_light_path_start(scene, key);
        bool continues = path.wanted && pass.bounces > 0u;
        u32 length = 0u;
        for (u32 bounce = 0u; continues; bounce++) {
            continues = false;
            /* Extend: closest hit */
            tally_count(counters, bounce, EXTENSION_RAYS, tally);
            Hit hit = bvh_closest_hit(scene, path.ray, rng_ray_key_light_extension(key, bounce));
            if (intersect_hit_is_some(hit)) {
                tally_count(counters, bounce, HITS, tally);
            }
            PathVertex vertex = light_path_light_path_arrive(scene, path, bounce, hit, merging.ratios);
            if (vertex.wanted) {
#ifndef LS_MERGE_ALONE
                /* Connect to the camera */
                PairConnection lens = connections_to_camera(pass.camera, key, bounce, vertex, merging.ratios);
                if (lens.wanted) {
                    tally_count(counters, bounce, SHADOW_RAYS, tally);
                    if (!bvh_any_hit(scene, lens.ray, rng_ray_key_connection(key, lens.technique))) {
                        tally_count(counters, bounce, UNOCCLUDED, tally);
                        Vec3 radiance = vec3_scale(lens.value, PAIR_WEIGHT(lens.weight));
                        pair_contribute(film, invalid, lens.pixel, radiance, key, lens.technique);
                    }
                }
#endif
                keep_light_vertex(pass, merging, bounce, i, vertex, light_vertices, photons,
                                  BUCKETS(pass, i, bucket_counts));
                length = bounce + 1u;
                if (bounce + 1u < pass.bounces) {
                    continues = light_path_light_path_extend(pass, bounce, &path, vertex, merging.ratios);
                }
            }
        }
        light_lengths[i] = length;
    }
    tally_end(counters, tally);
}
