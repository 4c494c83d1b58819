/* Light sub-paths. The counterpart of core/transport/src/integrators/bidirectional/light_path.rs. */

/* A light sub-path between two vertices; `wanted` is false where no light leaves. */
typedef struct {
    bool wanted;
    Ray ray;
    Vec3 throughput;
    PartialWeights partial;
    u32 light;
    /* Cosine at the light; one for lights without a surface. */
    float cosine;
    /* Density of the first direction at the light. */
    float pdf_direction;
    /* Density of the first ray. */
    float pdf;
    SampleKey key;
} LightPath;

/* A density, and whether no ray can hit the light. */
typedef struct {
    float pdf;
    bool delta;
} DirectPdf;

LS_FN DirectPdf light_path_direct(float pdf, bool delta) {
    DirectPdf d;
    d.pdf = pdf;
    d.delta = delta;
    return d;
}

/* Starts the light sub-path of a sample. */
LS_FN LightPath light_path_light_path_start(SceneRef scene, SampleKey key) {
    LightPath path;
    path.wanted = false;
    path.key = key;
    path.partial = weights_new(0.0f, 0.0f, 0.0f);
    path.ray = path_ray(vec3_splat(0.0f), vec3_splat(0.0f), 0.0f);
    path.throughput = vec3_splat(0.0f);
    path.light = 0u;
    path.cosine = 0.0f;
    path.pdf_direction = 0.0f;
    path.pdf = 0.0f;
    if (scene.constants.light_count == 0u) {
        return path;
    }
    Words position = rng_draw(key, BLOCK_EMISSION_POSITION, 0u);
    Words direction = rng_draw(key, BLOCK_EMISSION_DIRECTION, 0u);
    EmissionSample sample = emission_sample(scene, position, direction);
    path.pdf = sample.pdf_position * sample.pdf_direction;
    if (path.pdf <= 0.0f) {
        return path;
    }
    path.throughput = vec3_scale(sample.radiance, LS_DIV(sample.cosine, path.pdf));
    if (vec3_max_component(path.throughput) <= 0.0f) {
        return path;
    }
    Vec3 origin = sample.origin;
    Light light = load_light(scene, sample.light);
    if (light.kind == LIGHT_TRIANGLE || light.kind == LIGHT_SPHERE) {
        origin = intersect_offset_origin(origin, sample.normal, sample.direction, light.intensity.y);
    }
    path.wanted = true;
    path.ray = path_ray(origin, sample.direction, FAR);
    path.light = sample.light;
    path.cosine = sample.cosine;
    path.pdf_direction = sample.pdf_direction;
    return path;
}

/* The density with which light sampling from the first vertex `p` chooses the point on the light: per solid
 * angle, for lights without area times the squared distance. */
LS_FN DirectPdf light_path_light_path_direct_pdf(SceneRef scene, LightPath path, Vec3 p, float distance2) {
    Light light = load_light(scene, path.light);
    if (light.kind == LIGHT_TRIANGLE) {
        Material material = load_material(scene, light.material);
        return light_path_direct(lights_area_to_solid_angle(material, distance2, path.cosine), false);
    }
    if (light.kind == LIGHT_SPHERE) {
        Material material = load_material(scene, light.material);
        float radius = light.edge2.x;
        return light_path_direct(lights_sphere_pdf(material, light.position, radius, p, distance2, path.cosine), false);
    }
    if (light.kind == LIGHT_ENVIRONMENT) {
        return light_path_direct(path.pdf_direction, false);
    }
    if (light.kind == LIGHT_DIRECTIONAL) {
        return light_path_direct(light.pmf, true);
    }
    return light_path_direct(light.pmf * distance2, true);
}

/* The vertex at the hit of the extension ray of a bounce, where bounce 0 leaves the light. */
LS_FN PathVertex light_path_light_path_arrive(SceneRef scene, LightPath path, u32 bounce, Hit hit,
                                               MergeRatios ratios) {
    if (!intersect_hit_is_some(hit)) {
        return vertex_none();
    }
    Interaction at = surface_interaction_new(scene, path.ray, hit);
    Vec3 from = vec3_neg(path.ray.direction);
    float cosine = LS_ABS(vec3_dot(at.geometric, from));
    if (cosine <= 0.0f) {
        return vertex_none();
    }
    float distance2 = hit.t * hit.t;
    PartialWeights partial;
    if (bounce == 0u) {
        DirectPdf direct = light_path_light_path_direct_pdf(scene, path, at.position, distance2);
        partial = weights_partial_weights_of_light(direct.pdf, path.pdf, path.cosine, cosine, direct.delta, ratios);
    } else {
        partial = weights_partial_weights_arrive(path.partial, distance2, cosine);
    }
    return vertex_vertex_new(scene, at, hit, from, path.throughput, partial);
}

/* Continues the sub-path from a vertex; false where it ends. */
LS_FN bool light_path_light_path_extend(Pass pass, u32 bounce, LightPath *path, PathVertex vertex,
                                        MergeRatios ratios) {
    Words words = rng_draw(path->key, BLOCK_LIGHT_BSDF, bounce);
    Scattered next = vertex_vertex_extend(pass, bounce, vertex, words, true, ratios);
    if (!next.wanted) {
        return false;
    }
    path->ray = next.ray;
    path->throughput = next.throughput;
    path->partial = next.partial;
    return true;
}
