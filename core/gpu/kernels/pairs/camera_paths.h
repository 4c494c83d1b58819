/* Whole camera sub-paths, one to a work-item, connected to the stored vertices of light sub-paths, merged with their
 * photons, or both (light_paths.h). core/gpu/src/signatures.rs declares the kernel's parameters. */

LS_KERNEL void LS_STAGE ls_camera_paths(LS_SCENE_PARAMETERS, Pass pass,
                                        LS_GLOBAL const Packed *LS_RESTRICT light_vertices,
                                        LS_GLOBAL const u32 *LS_RESTRICT light_lengths,
                                        LS_GLOBAL const Packed *LS_RESTRICT photon_positions,
                                        LS_GLOBAL const Photon *LS_RESTRICT sorted_photons,
                                        LS_GLOBAL const u32 *LS_RESTRICT bucket_counts,
                                        LS_GLOBAL const u32 *LS_RESTRICT bucket_ends,
                                        LS_GLOBAL i64 *LS_RESTRICT film, LS_GLOBAL u32 *LS_RESTRICT invalid,
                                        LS_GLOBAL BounceCounters *LS_RESTRICT counters) {
    LS_GROUP_TALLY(tally);
    LS_SCENE_REF(scene);
    tally_begin(tally);
    u32 count = pass.pixels * pass.samples;
    LS_FOR_ITEMS(i, count, &counters[LS_HEADS(pass, 0u)].hits) {
        SampleKey key = path_key(pass, i);
        CameraPath path = camera_path_camera_path_start(pass.camera, key);
        bool continues = true;
        for (u32 bounce = 0u; continues; bounce++) {
            continues = false;
            /* Extend: closest hit */
            tally_count(counters, bounce, EXTENSION_RAYS, tally);
            Hit hit = bvh_closest_hit(scene, path.ray, rng_ray_key_extension(key, bounce));
            if (intersect_hit_is_some(hit)) {
                tally_count(counters, bounce, HITS, tally);
            }
            bool last = bounce == CAMERA_BOUNCES(pass);
            Arrival arrival = camera_path_camera_path_arrive(scene, path, bounce, last, hit);
            pair_contribute_emission(film, invalid, path, bounce, arrival.emitted);
#if defined(LS_CONNECT_PAIRS) || defined(LS_MERGE)
            if (arrival.vertex.wanted) {
                Merging merging = MERGING(pass, i);
#ifdef LS_CONNECT_PAIRS
                /* Connect to a light, then to the vertices of the light sub-path */
                u32 most = light_lengths[i] + 1u;
                for (u32 light = 1u; light <= most && light + bounce <= pass.bounces; light++) {
                    PairConnection join;
                    RayKey ray_key;
                    if (light == 1u) {
                        join = connections_to_light(scene, key, bounce, arrival.vertex, merging.ratios);
                        ray_key = rng_ray_key_shadow(key, bounce);
                    } else {
                        u32 first = LIGHT_VERTEX(pass, count, i, light - 2u);
                        PathVertex other = load_path_vertex(scene, light_vertices, first, VERTEX_STRIDE(count));
                        u32 technique = splat_technique_index(light, bounce + 2u);
                        join = connections_join(key, technique, other, arrival.vertex, merging.ratios);
                        ray_key = rng_ray_key_connection(key, technique);
                    }
                    if (join.wanted) {
                        tally_count(counters, bounce, SHADOW_RAYS, tally);
                        if (!bvh_any_hit(scene, join.ray, ray_key)) {
                            tally_count(counters, bounce, UNOCCLUDED, tally);
                            Vec3 radiance = vec3_scale(join.value, PAIR_WEIGHT(join.weight));
                            pair_contribute(film, invalid, join.pixel, radiance, key, join.technique);
                        }
                    }
                }
#endif
#ifdef LS_MERGE
                if (!vertex_vertex_is_specular(arrival.vertex)) {
                    pair_merge(film, invalid, pass.bounces, merging, photon_positions, sorted_photons,
                               BUCKETS(pass, i, bucket_counts), BUCKETS(pass, i, bucket_ends), key, arrival.vertex,
                               bounce);
                }
#endif
                bool specular = path.specular && vertex_vertex_is_specular(arrival.vertex);
                if (CAMERA_CONTINUES(pass, bounce, specular)) {
                    continues = camera_path_camera_path_extend(pass, bounce, &path, arrival.vertex, merging.ratios);
                }
            }
#endif
        }
    }
    tally_end(counters, tally);
}
