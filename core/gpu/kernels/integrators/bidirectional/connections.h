/* Connections of sub-paths to each other, to the lens and to lights. The counterpart of
 * core/transport/src/integrators/bidirectional/connections.rs. */

/* Connects a vertex of a light sub-path to the lens; `bounce` is that of the ray that led to it. */
LS_FN PairConnection connections_to_camera(CameraFrame camera, SampleKey key, u32 bounce, PathVertex vertex,
                                           MergeRatios ratios) {
    if (vertex_vertex_is_specular(vertex)) {
        return vertex_no_connection();
    }
    Words words = rng_draw(key, BLOCK_LENS, bounce);
    CameraSample lens =
        camera_importance_connect(camera, vertex.position, rng_uniform(words.w[0]), rng_uniform(words.w[1]));
    if (lens.pixel == NONE) {
        return vertex_no_connection();
    }
    Evaluation scattered = vertex_vertex_evaluate(vertex, lens.direction, vertex.from);
    float cosine = vertex_vertex_cosine(vertex, lens.direction);
    float distance2 = lens.distance * lens.distance;
    float light_paths = camera_importance_pixels(camera);
    float geometry = LS_DIV(cosine, vertex_vertex_cosine(vertex, vertex.from) * distance2);
    PairConnection c = vertex_no_connection();
    c.value = vec3_scale(vec3_mul(vertex.throughput, scattered.value), geometry * LS_DIV(lens.importance, light_paths));
    if (vec3_max_component(c.value) <= 0.0f) {
        return c;
    }
    c.wanted = true;
    c.weight = weights_connect_to_camera(vertex.partial, scattered.pdf, lens.importance, cosine, distance2, light_paths,
                                         ratios);
    Vec3 origin = intersect_offset_origin(vertex.position, vertex.geometric, lens.direction, vertex.scale);
    c.ray = path_ray(origin, lens.direction, lens.distance);
    c.pixel = lens.pixel;
    c.technique = splat_technique_index(bounce + 2u, 1u);
    return c;
}

/* Samples a light from a vertex of a camera sub-path; `bounce` is that of the ray that led to it. */
LS_FN PairConnection connections_to_light(SceneRef scene, SampleKey key, u32 bounce, PathVertex vertex,
                                          MergeRatios ratios) {
    if (scene.constants.light_count == 0u || vertex_vertex_is_specular(vertex)) {
        return vertex_no_connection();
    }

    /* Sample a light */
    VertexRecord unread;
    unread.flags = 0u;
    LightSample sample = lights_sample(scene, vertex.position, vertex.scale, key, bounce, &unread);
    if (sample.pdf <= 0.0f) {
        return vertex_no_connection();
    }
    Evaluation scattered = vertex_vertex_evaluate(vertex, vertex.from, sample.direction);
    PairConnection c = vertex_no_connection();
    c.value = vec3_scale(vec3_mul(vec3_mul(vertex.throughput, scattered.value), sample.radiance),
                         LS_DIV(1.0f, sample.pdf));
    if (vec3_max_component(c.value) <= 0.0f) {
        return c;
    }

    /* Weigh it */
    Words words = rng_draw(key, BLOCK_LIGHT, bounce);
    Light light = load_light(scene, sampling_pick_light(scene, words.w[0], words.w[1]));
    float ratio = emission_pdf_ratio(scene, light, vertex.position, sample);
    float pdf = sample.delta ? 0.0f : scattered.pdf;
    Evaluation reverse = vertex_vertex_evaluate(vertex, sample.direction, vertex.from);
    float cosine = vertex_vertex_cosine(vertex, sample.direction);
    c.weight = weights_sample_light(vertex.partial, pdf, reverse.pdf, sample.pdf, ratio, cosine, ratios);

    /* Build the shadow ray */
    Vec3 origin = intersect_offset_origin(vertex.position, vertex.geometric, sample.direction, vertex.scale);
    c.wanted = true;
    c.ray = path_ray(origin, sample.direction, sample.shadow_end);
    c.pixel = key.pixel;
    c.technique = splat_technique_index(1u, bounce + 2u);
    return c;
}

/* Connects a vertex of a light sub-path to one of a camera sub-path. */
LS_FN PairConnection connections_join(SampleKey key, u32 technique, PathVertex light, PathVertex camera,
                                      MergeRatios ratios) {
    if (vertex_vertex_is_specular(light) || vertex_vertex_is_specular(camera)) {
        return vertex_no_connection();
    }
    Between between = vertex_direction_between(camera.position, light.position);
    if (!(between.distance2 > 0.0f)) {
        return vertex_no_connection();
    }
    Vec3 direction = between.direction;
    float distance2 = between.distance2;
    Vec3 back = vec3_neg(direction);

    /* Evaluate both BSDFs */
    Evaluation at_camera = vertex_vertex_evaluate(camera, camera.from, direction);
    if (vec3_max_component(at_camera.value) <= 0.0f) {
        return vertex_no_connection();
    }
    Evaluation at_light = vertex_vertex_evaluate(light, back, light.from);
    ConnectionEnd of_light;
    of_light.at = light.partial;
    of_light.reverse_pdf = at_light.pdf;
    of_light.cosine = vertex_vertex_cosine(light, back);
    float geometry = LS_DIV(of_light.cosine, vertex_vertex_cosine(light, light.from) * distance2);
    Vec3 throughput = vec3_mul(camera.throughput, light.throughput);
    PairConnection c = vertex_no_connection();
    c.value = vec3_scale(vec3_mul(vec3_mul(throughput, at_camera.value), at_light.value), geometry);
    if (vec3_max_component(c.value) <= 0.0f) {
        return c;
    }

    /* Weigh the connection */
    of_light.pdf = vertex_vertex_evaluate(light, light.from, back).pdf;
    ConnectionEnd of_camera;
    of_camera.at = camera.partial;
    of_camera.pdf = at_camera.pdf;
    of_camera.reverse_pdf = vertex_vertex_evaluate(camera, direction, camera.from).pdf;
    of_camera.cosine = vertex_vertex_cosine(camera, direction);
    c.weight = weights_connect(of_light, of_camera, distance2, ratios);

    /* Build the shadow ray, between points off both surfaces */
    Vec3 origin = intersect_offset_origin(camera.position, camera.geometric, direction, camera.scale);
    Vec3 end = intersect_offset_origin(light.position, light.geometric, back, light.scale);
    Between towards = vertex_direction_between(origin, end);
    c.wanted = towards.distance2 > 0.0f;
    c.ray = path_ray(origin, towards.direction, towards.distance);
    c.pixel = key.pixel;
    c.technique = technique;
    return c;
}
