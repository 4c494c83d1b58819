/* Next-event estimation: sampling a light from a surface. The counterpart of
 * core/transport/src/direct_light.rs. */

/* Samples a light and builds the shadow ray to it. */
LS_FN Connection direct_light_connect_to_light(SceneRef scene, Pass pass, u32 bounce, PathState path, Interaction at,
                                       ShadingFrame here, VertexRecord *record) {
    if (scene.constants.light_count == 0u || surface_shading_frame_is_specular(here)) {
        return path_no_connection();
    }

    /* Sample a light */
    LightSample light = lights_sample(scene, at.position, at.scale, path.key, bounce, record);
    record->light_direction = light.direction;
    record->light_distance = light.distance;
    record->light_radiance = light.radiance;
    record->light_pdf = light.pdf;
    if (light.pdf <= 0.0f || (pass.strategy == STRATEGY_BSDF_ONLY && !light.delta)) {
        return path_no_connection();
    }
    Vec3 wi = surface_shading_frame_to_local(here, light.direction);
    if (!surface_shading_frame_same_side(here, light.direction, wi.z)) {
        return path_no_connection();
    }

    /* Evaluate the BSDF and the MIS weight */
    Evaluation scattered = surface_shading_frame_evaluate(here, wi);
    record->light_bsdf = scattered.value;
    record->light_bsdf_pdf = scattered.pdf;
    float weight = 1.0f;
    if (!light.delta && pass.strategy == STRATEGY_MIS) {
        weight = sampling_power_heuristic(light.pdf, scattered.pdf);
    }
    Vec3 radiance = vec3_scale(vec3_mul(vec3_mul(path.throughput, scattered.value), light.radiance),
                               LS_DIV(weight, light.pdf));
    if (vec3_max_component(radiance) <= 0.0f) {
        return path_no_connection();
    }

    /* Build the shadow ray */
    Vec3 origin = intersect_offset_origin(at.position, here.geometric, light.direction, at.scale);
    float t_max = light.shadow_end;
    record->flags |= VERTEX_SHADOW;
    record->shadow_origin = origin;
    record->shadow_t_max = t_max;
    record->shadow_radiance = radiance;
    return path_connection(true, path_ray(origin, light.direction, t_max), radiance);
}
