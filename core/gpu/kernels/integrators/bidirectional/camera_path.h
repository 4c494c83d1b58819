/* Camera sub-paths. The counterpart of core/transport/src/integrators/bidirectional/camera_path.rs. */

/* A camera sub-path between two vertices. */
typedef struct {
    Ray ray;
    Vec3 throughput;
    PartialWeights partial;
    /* True while all its surfaces are specular, and from the lens. */
    bool specular;
    SampleKey key;
} CameraPath;

/* Radiance that a sub-path finds by hitting a light, and its weight among all techniques. */
typedef struct {
    Vec3 value;
    float weight;
} Emitted;

/* Emission at a hit, and the vertex there. */
typedef struct {
    Emitted emitted;
    PathVertex vertex;
} Arrival;

LS_FN Emitted camera_path_emission(Vec3 value, float weight) {
    Emitted e;
    e.value = value;
    e.weight = weight;
    return e;
}

/* Starts the camera sub-path of a sample: the same ray as the path tracer's. */
LS_FN CameraPath camera_path_camera_path_start(CameraFrame camera, SampleKey key) {
    Uniforms u = rng_uniforms(rng_draw(key, BLOCK_CAMERA, 0u));
    CameraRay ray = camera_frame_ray(camera, key.pixel, u);
    float importance = camera_importance_direction_pdf(camera, ray.direction);
    CameraPath path;
    path.ray = path_ray(ray.origin, ray.direction, FAR);
    path.throughput = vec3_splat(1.0f);
    path.partial = weights_partial_weights_of_camera(camera_importance_pixels(camera), importance);
    path.specular = true;
    path.key = key;
    return path;
}

/* The environment's radiance along an escaped extension ray. */
LS_FN Emitted camera_path_camera_path_escaped(SceneRef scene, CameraPath path, u32 bounce) {
    Vec3 direction = path.ray.direction;
    Vec3 value = vec3_mul(path.throughput, environment_radiance(scene, direction));
    if (vec3_max_component(value) <= 0.0f) {
        return camera_path_emission(vec3_splat(0.0f), 0.0f);
    }
    if (bounce == 0u) {
        return camera_path_emission(value, 1.0f);
    }
    float direct_pdf = lights_environment_pdf(scene, direction);
    float emission_pdf = direct_pdf * emission_disk_pdf(scene.constants.bounds);
    return camera_path_emission(value, weights_hit_light(path.partial, direct_pdf, emission_pdf, 1.0f));
}

/* The radiance that the surface at a hit emits. */
LS_FN Emitted camera_path_camera_path_emitted(SceneRef scene, CameraPath path, u32 bounce, Interaction at, float t) {
    Emitted dark = camera_path_emission(vec3_splat(0.0f), 0.0f);
    Material material = load_material(scene, at.material);
    if (vec3_max_component(material.emission) <= 0.0f) {
        return dark;
    }
    float facing = -vec3_dot(at.geometric, path.ray.direction);
    float cosine = lights_emission_cosine(material, facing);
    if (cosine <= 0.0f) {
        return dark;
    }
    Vec3 value = vec3_mul(path.throughput, surface_interaction_emission(scene, at, material, bounce));
    if (bounce == 0u) {
        return camera_path_emission(value, 1.0f);
    }
    float distance2 = t * t;
    float direct_pdf = at.triangle != NONE ? lights_area_to_solid_angle(material, distance2, cosine)
                                           : lights_sphere_pdf(material, at.sphere_center, at.sphere_radius,
                                                               path.ray.origin, distance2, cosine);
    float emission_pdf = material.light_pdf_area * emission_direction_pdf(material, facing);
    return camera_path_emission(value, weights_hit_light(path.partial, direct_pdf, emission_pdf, cosine));
}

/* Emission at the hit of the extension ray of a bounce, and the vertex there; no vertex where the sub-path
 * ends, as at its `last` bounce. */
LS_FN Arrival camera_path_camera_path_arrive(SceneRef scene, CameraPath path, u32 bounce, bool last, Hit hit) {
    Arrival arrival;
    arrival.vertex = vertex_none();
    if (!intersect_hit_is_some(hit)) {
        arrival.emitted = camera_path_camera_path_escaped(scene, path, bounce);
        return arrival;
    }
    Interaction at = surface_interaction_new(scene, path.ray, hit);
    arrival.emitted = camera_path_camera_path_emitted(scene, path, bounce, at, hit.t);
    Vec3 from = vec3_neg(path.ray.direction);
    float cosine = LS_ABS(vec3_dot(at.geometric, from));
    if (last || cosine <= 0.0f) {
        return arrival;
    }
    PartialWeights partial = weights_partial_weights_arrive(path.partial, hit.t * hit.t, cosine);
    arrival.vertex = vertex_vertex_new(scene, at, hit, from, path.throughput, partial);
    return arrival;
}

/* Continues the sub-path from a vertex; false where it ends. */
LS_FN bool camera_path_camera_path_extend(Pass pass, u32 bounce, CameraPath *path, PathVertex vertex,
                                          MergeRatios ratios) {
    Words words = rng_draw(path->key, BLOCK_BSDF, bounce);
    Scattered next = vertex_vertex_extend(pass, bounce, vertex, words, false, ratios);
    if (!next.wanted) {
        return false;
    }
    path->ray = next.ray;
    path->throughput = next.throughput;
    path->partial = next.partial;
    path->specular = path->specular && vertex_vertex_is_specular(vertex);
    return true;
}
