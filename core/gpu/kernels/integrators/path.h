/* Path tracing with next-event estimation and multiple importance sampling (Kajiya 1986; Veach 1997). The
 * counterpart of core/transport/src/integrators/path.rs. */

/* MIS weight of a BSDF sample that hits a light of light-sampling density `light_pdf`. */
LS_FN float path_hit_weight(Pass pass, float bsdf_pdf, float light_pdf) {
    if (bsdf_pdf == 0.0f || pass.strategy == STRATEGY_BSDF_ONLY) {
        return 1.0f;
    }
    if (pass.strategy == STRATEGY_LIGHT_ONLY) {
        /* Light that light sampling cannot find must still be counted. */
        return light_pdf > 0.0f ? 0.0f : 1.0f;
    }
    return sampling_power_heuristic(bsdf_pdf, light_pdf);
}

LS_FN Vec3 path_add_environment(SceneRef scene, Pass pass, PathState path) {
    Vec3 direction = path.ray.direction;
    Vec3 radiance = environment_radiance(scene, direction);
    float weight = 1.0f;
    if (path.bsdf_pdf > 0.0f) {
        weight = path_hit_weight(pass, path.bsdf_pdf, lights_environment_pdf(scene, direction));
    }
    return vec3_add(path.radiance, vec3_scale(vec3_mul(path.throughput, radiance), weight));
}

LS_FN Vec3 path_add_emission(SceneRef scene, Pass pass, u32 bounce, PathState path, Interaction at, Material material,
                             float t) {
    if (vec3_max_component(material.emission) <= 0.0f) {
        return path.radiance;
    }
    float cosine = lights_emission_cosine(material, -vec3_dot(at.geometric, path.ray.direction));
    if (cosine <= 0.0f) {
        return path.radiance;
    }
    Vec3 emission = surface_interaction_emission(scene, at, material, bounce);
    float weight = 1.0f;
    if (path.bsdf_pdf > 0.0f) {
        float distance2 = t * t;
        float light_pdf = at.triangle != NONE ? lights_area_to_solid_angle(material, distance2, cosine)
                                              : lights_sphere_pdf(material, at.sphere_center, at.sphere_radius,
                                                                  path.ray.origin, distance2, cosine);
        weight = path_hit_weight(pass, path.bsdf_pdf, light_pdf);
    }
    return vec3_add(path.radiance, vec3_scale(vec3_mul(path.throughput, emission), weight));
}

#ifdef LS_LAYER_TREE
/* Picks one lobe of the layers, where there are any. */
LS_FN ShadingFrame path_pick_lobe(PathState path, u32 bounce, ShadingFrame here) {
#ifdef LS_GLASS_LAYERS
    if (surface_shading_frame_is_glass(here)) {
        return here;
    }
#endif
    if (here.layers.present) {
        Uniforms u = rng_uniforms(rng_draw(path.key, BLOCK_LAYER, bounce));
        here.picked = surface_shading_frame_pick_lobe(here, u.u[0], u.u[1]);
    }
    return here;
}
#endif

#ifdef LS_MEDIA
/* The colour channel that a path follows, chosen once. */
LS_FN u32 path_follow_channel(PathState *path) {
    u32 channel = media_dispersed_channel(path->key);
    if ((path->medium & CHANNEL_CHOSEN) == 0u) {
        path->throughput = media_one_channel(path->throughput, channel);
        path->medium = path->medium | CHANNEL_CHOSEN;
    }
    return channel;
}

/* Follows one colour channel through a dispersive dielectric, with its index of refraction. */
LS_FN Surface path_disperse(SceneRef scene, PathState *path, Material material, Surface surface) {
    if (material.kind != MATERIAL_DIELECTRIC || material.layers == 0u) {
        return surface;
    }
    float dispersion = load_layers(scene, material.layers - 1u).dispersion;
    if (dispersion <= 0.0f) {
        return surface;
    }
    u32 channel = path_follow_channel(path);
    surface.ior = media_dispersed_ior(surface.ior, dispersion, channel);
    return surface;
}

/* Attenuates light that arrives through the medium on its side of the surface. */
LS_FN Connection path_attenuate_connection(SceneRef scene, PathState path, Material material, ShadingFrame here,
                                           Connection connection) {
    if (connection.ray.t_max < FAR) {
        float z = vec3_dot(connection.ray.direction, here.geometric);
        u32 medium = media_leaving(material, path.medium, here.surface.outside, z);
        Vec3 share = media_transmittance(scene, medium, connection.ray.t_max);
        connection.radiance = vec3_mul(connection.radiance, share);
    }
    return connection;
}
#endif

#ifdef LS_PRIORITIES
/* Interior lists on both sides of a surface. */
typedef struct {
    u64 arriving;
    u64 beyond;
} InteriorLists;

/* The interior lists of the ray that arrives at a surface of this medium, and beyond it. */
LS_FN InteriorLists path_both_sides(SceneRef scene, PathState path, u32 medium, bool outside) {
    InteriorLists lists;
    lists.arriving = interior_list_arrive(scene, path.interiors, medium, outside);
    lists.beyond = interior_list_cross(scene, lists.arriving, medium, outside);
    return lists;
}

#ifdef LS_MEDIA
/* The real medium of a list, as PathState names it. */
LS_FN u32 path_real_medium(SceneRef scene, PathState path, u64 list) {
    return interior_list_real_layers(scene, list) | (path.medium & CHANNEL_CHOSEN);
}

/* path_attenuate_connection at a dielectric with a priority. */
LS_FN Connection path_attenuate_nested(SceneRef scene, PathState path, u64 beyond, ShadingFrame here,
                                       Connection connection) {
    if (connection.ray.t_max < FAR) {
        float z = vec3_dot(connection.ray.direction, here.geometric);
        u32 medium = path_real_medium(scene, path, z < 0.0f ? beyond : path.interiors);
        Vec3 share = media_transmittance(scene, medium, connection.ray.t_max);
        connection.radiance = vec3_mul(connection.radiance, share);
    }
    return connection;
}
#endif

/* Lets a path go straight on beyond a false hit. Shadow rays are blocked there, so light sampling finds nothing beyond,
 * and what the ray finds counts in full. */
LS_FN void path_pass_through(PathState *path, Interaction at, Vec3 geometric, u64 beyond, VertexRecord *record) {
    record->flags |= VERTEX_FALSE_HIT | VERTEX_CONTINUES;
    path->interiors = beyond;
    path->bsdf_pdf = 0.0f;
    Vec3 direction = path->ray.direction;
    Vec3 origin = intersect_offset_origin(at.position, geometric, direction, at.scale);
    path->ray = path_ray(origin, direction, FAR);
}

/* Gives a surface the index of refraction between the media on its sides: of the denser one against the thinner one,
 * which is outside. Where one is dispersive, both have their index of the path's channel. */
LS_FN Surface path_refract_between(SceneRef scene, PathState *path, u64 beyond, Surface surface) {
    u32 medium_here = interior_list_real_medium(path->interiors);
    u32 medium_there = interior_list_real_medium(beyond);
    float here = interior_list_index_of_refraction(scene, medium_here);
    float there = interior_list_index_of_refraction(scene, medium_there);
#ifdef LS_MEDIA
    float dispersion_here = interior_list_dispersion(scene, medium_here);
    float dispersion_there = interior_list_dispersion(scene, medium_there);
    if (math_max(dispersion_here, dispersion_there) > 0.0f) {
        u32 channel = path_follow_channel(path);
        here = media_dispersed_ior(here, dispersion_here, channel);
        there = media_dispersed_ior(there, dispersion_there, channel);
    }
#endif
    surface.outside = there >= here;
    surface.ior = surface.outside ? LS_DIV(there, here) : LS_DIV(here, there);
    return surface;
}
#endif

/* Samples the next extension ray; false if the path terminates. */
LS_FN bool path_scatter(Pass pass, u32 bounce, PathState *path, Interaction at, ShadingFrame here, VertexRecord *record) {
    /* Sample the BSDF */
    Words words = rng_draw(path->key, BLOCK_BSDF, bounce);
    Uniforms u = rng_uniforms(words);
    Scatter scattered = surface_shading_frame_sample(here, u.u[0], u.u[1], u.u[2]);
    Vec3 direction = surface_shading_frame_to_world(here, scattered.wi);
    Vec3 throughput = vec3_mul(path->throughput, scattered.weight);
    record->flags |= VERTEX_SCATTER;
    rng_record(words, record->scatter_words);
    record->scatter_direction = direction;
    record->scatter_pdf = scattered.pdf;
    record->scatter_throughput = throughput;
    if (vec3_max_component(throughput) <= 0.0f || !surface_shading_frame_same_side(here, direction, scattered.wi.z)) {
        return false;
    }

    /* Russian roulette */
    if (pass.roulette_from != NONE && bounce >= pass.roulette_from) {
        float survival = math_min(vec3_max_component(throughput), 0.95f);
        if (u.u[3] >= survival) {
            return false;
        }
        throughput = vec3_scale(throughput, LS_DIV(1.0f, survival));
    }

    /* Spawn the next ray */
    record->flags |= VERTEX_CONTINUES;
    record->scatter_throughput = throughput;
    path->throughput = throughput;
    path->bsdf_pdf = scattered.pdf;
    Vec3 origin = intersect_offset_origin(at.position, here.geometric, direction, at.scale);
    path->ray = path_ray(origin, direction, FAR);
    return true;
}

/* Shades the hit of an extension ray: updates the path's radiance, throughput and ray. `record` receives
 * the quantities computed. */
LS_FN Shaded path_shade(SceneRef scene, Pass pass, u32 bounce, PathState *path, Hit hit, VertexRecord *record) {
    /* Add the environment to an escaped ray */
    if (!intersect_hit_is_some(hit)) {
        path->radiance = path_add_environment(scene, pass, *path);
        record->gathered = path->radiance;
        return path_ended();
    }

    /* Compute the surface interaction */
    Interaction at = surface_interaction_new(scene, path->ray, hit);
    record->flags |= VERTEX_HIT;
    record->geometric = at.geometric;
    record->material = at.material;
    Instance instance = load_instance(scene, hit.instance);
    Material material = load_material(scene, at.material);
    Vec3 back = vec3_neg(path->ray.direction);
    bool outside = vec3_dot(at.geometric, back) > 0.0f;

#ifdef LS_PRIORITIES
    /* Find the media on both sides of a dielectric with a priority */
    bool nested = material.priority != 0u;
    u64 beyond = path->interiors;
    if (nested) {
        InteriorLists lists = path_both_sides(scene, *path, at.material + 1u, outside);
        path->interiors = lists.arriving;
        beyond = lists.beyond;
    }
#endif
#ifdef LS_MEDIA
    /* Attenuate in the medium that the ray has passed */
    path->medium = media_arriving(material, path->medium, outside);
#ifdef LS_PRIORITIES
    if (nested) {
        path->medium = path_real_medium(scene, *path, path->interiors);
    }
#endif
    path->throughput = vec3_mul(path->throughput, media_transmittance(scene, path->medium, hit.t));
#endif

    /* Add emission */
    path->radiance = path_add_emission(scene, pass, bounce, *path, at, material, hit.t);
    record->gathered = path->radiance;
    if (bounce == pass.bounces) {
        return path_ended();
    }

#ifdef LS_PRIORITIES
    /* Pass through a false hit */
    if (nested && interior_list_real_medium(path->interiors) == interior_list_real_medium(beyond)) {
        Vec3 geometric = vec3_scale(at.geometric, outside ? 1.0f : -1.0f);
        path_pass_through(path, at, geometric, beyond, record);
        Shaded passed = path_ended();
        passed.continues = true;
        return passed;
    }
#endif

    /* Build the shading frame on the side of the incoming ray */
    float side = outside ? 1.0f : -1.0f;
    ShadingFrame here;
    here.geometric = vec3_scale(at.geometric, side);
    Vec3 perturbed = vec3_scale(surface_interaction_perturbed_normal(scene, at, instance, material), side);
    here.normal = vec3_dot(perturbed, back) > MIN_COSINE ? perturbed : here.geometric;
    Frame frame = sampling_frame(here.normal);
    here.s = frame.s;
    here.t = frame.t;
    here.wo = vec3_new(vec3_dot(back, here.s), vec3_dot(back, here.t),
                        math_max(vec3_dot(back, here.normal), MIN_COSINE));

    /* Evaluate the material's textures */
    here.surface = surface_interaction_surface(scene, at, material, outside);
#ifdef LS_MEDIA
    here.surface = path_disperse(scene, path, material, here.surface);
#endif
#ifdef LS_PRIORITIES
    if (nested) {
        here.surface = path_refract_between(scene, path, beyond, here.surface);
    }
#endif
#ifdef LS_LAYERS
    here.layers = surface_interaction_layers(scene, at, instance, material);
#endif
#ifdef LS_LAYER_TREE
    here = path_pick_lobe(*path, bounce, here);
#endif
    record->flags |= VERTEX_SHADED;
    record->base_color = here.surface.base_color;
    record->roughness = here.surface.roughness;
    record->metallic = here.surface.metallic;
    record->normal = here.normal;

    /* Sample direct lighting */
    Shaded shaded;
    shaded.connection = direct_light_connect_to_light(scene, pass, bounce, *path, at, here, record);
#ifdef LS_MEDIA
    if (shaded.connection.wanted) {
#ifdef LS_PRIORITIES
        shaded.connection = nested ? path_attenuate_nested(scene, *path, beyond, here, shaded.connection)
                                   : path_attenuate_connection(scene, *path, material, here, shaded.connection);
#else
        shaded.connection = path_attenuate_connection(scene, *path, material, here, shaded.connection);
#endif
    }
#endif

    /* Sample the next extension ray */
    shaded.continues = path_scatter(pass, bounce, path, at, here, record);
#ifdef LS_PRIORITIES
    if (shaded.continues && nested && vec3_dot(path->ray.direction, here.geometric) < 0.0f) {
        path->interiors = beyond;
    }
#endif
#ifdef LS_MEDIA
    if (shaded.continues) {
        path->medium =
            media_leaving(material, path->medium, outside, vec3_dot(path->ray.direction, here.geometric));
#ifdef LS_PRIORITIES
        if (nested) {
            path->medium = path_real_medium(scene, *path, path->interiors);
        }
#endif
    }
#endif
    return shaded;
}
