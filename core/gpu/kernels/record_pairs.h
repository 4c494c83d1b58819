/* Records every step of chosen samples' pairs of sub-paths: the kernels of pairs/, pair by pair. The counterpart
 * of core/transport/src/record_pair.rs; parameters are declared in core/gpu/src/signatures.rs. */

/* Upper bound of the steps of a pair of sub-paths of up to `bounces` bounces: PairRecord::most. */
#define PAIR_STEPS(bounces) (3u * (bounces) + 3u * ((bounces) + 1u) + ((((bounces) + 1u) * ((bounces) + 2u)) >> 1))

/* The steps of one pair so far. */
typedef struct {
    LS_GLOBAL PairRecord *steps;
    u32 length;
} PairSteps;

LS_FN void record_pair_ray(PairSteps *pair, u32 side, u32 bounce, Ray ray, Hit hit) {
    PairRecord record = pair->steps[pair->length];
    record.flags = PAIR_RAY | side;
    if (intersect_hit_is_some(hit)) {
        record.flags |= PAIR_HIT;
    }
    record.origin = ray.origin;
    record.direction = ray.direction;
    record.light = bounce;
    record.instance = hit.instance;
    record.primitive = hit.primitive;
    record.t = hit.t;
    record.u = hit.u;
    record.v = hit.v;
    pair->steps[pair->length] = record;
    pair->length = pair->length + 1u;
}

LS_FN void record_pair_vertex(PairSteps *pair, u32 side, u32 bounce, PathVertex v) {
    PairRecord record = pair->steps[pair->length];
    record.flags = PAIR_VERTEX | side;
    record.origin = v.position;
    record.direction = v.from;
    record.value = v.throughput;
    record.light = bounce;
    record.geometric = v.geometric;
    record.shading = v.shading;
    record.base_color = v.surface.base_color;
    record.vcm = v.partial.vcm;
    record.vc = v.partial.vc;
    record.scale = v.scale;
    record.roughness = v.surface.roughness;
    record.metallic = v.surface.metallic;
    record.ior = v.surface.ior;
    record.transmission = v.surface.transmission;
    record.kind = v.surface.kind;
    record.outside = v.surface.outside ? 1u : 0u;
    pair->steps[pair->length] = record;
    pair->length = pair->length + 1u;
}

LS_FN void record_pair_contribution(PairSteps *pair, u32 light, u32 camera, PairConnection c, bool reached) {
    PairRecord record = pair->steps[pair->length];
    record.flags = PAIR_CONTRIBUTION;
    if (reached) {
        record.flags |= PAIR_REACHED;
    }
    record.origin = c.ray.origin;
    record.direction = c.ray.direction;
    record.value = c.value;
    record.light = light;
    record.camera = camera;
    record.pixel = c.pixel;
    record.t = c.ray.t_max;
    record.weight = PAIR_WEIGHT(c.weight);
    pair->steps[pair->length] = record;
    pair->length = pair->length + 1u;
}

/* Traces and records a light sub-path. */
LS_FN void record_pair_light_path(SceneRef scene, Pass pass, SampleKey key, PairSteps *pair) {
    LightPath path = light_path_light_path_start(scene, key);
    bool continues = path.wanted && pass.bounces > 0u;
    for (u32 bounce = 0u; continues; bounce++) {
        continues = false;
        Hit hit = bvh_closest_hit(scene, path.ray, rng_ray_key_light_extension(key, bounce));
        record_pair_ray(pair, PAIR_OF_LIGHT, bounce, path.ray, hit);
        PathVertex vertex = light_path_light_path_arrive(scene, path, bounce, hit, pass.merging[0].ratios);
        if (vertex.wanted) {
            record_pair_vertex(pair, PAIR_OF_LIGHT, bounce, vertex);
            PairConnection lens = connections_to_camera(pass.camera, key, bounce, vertex, pass.merging[0].ratios);
            if (lens.wanted) {
                bool reached = !bvh_any_hit(scene, lens.ray, rng_ray_key_connection(key, lens.technique));
                record_pair_contribution(pair, bounce + 2u, 1u, lens, reached);
            }
            if (bounce + 1u < pass.bounces) {
                continues = light_path_light_path_extend(pass, bounce, &path, vertex, pass.merging[0].ratios);
            }
        }
    }
}

#ifdef LS_CONNECT_PAIRS
/* The recorded vertex of a bounce of the light sub-path; not wanted where there is none. */
LS_FN PathVertex record_pair_light_vertex(PairSteps *pair, u32 bounce) {
    PathVertex v = vertex_none();
    for (u32 i = 0u; i < pair->length; i++) {
        PairRecord record = pair->steps[i];
        if (record.flags == (PAIR_VERTEX | PAIR_OF_LIGHT) && record.light == bounce) {
            v.wanted = true;
            v.position = record.origin;
            v.from = record.direction;
            v.throughput = record.value;
            v.geometric = record.geometric;
            v.shading = record.shading;
            v.surface.base_color = record.base_color;
            v.partial.vcm = record.vcm;
            v.partial.vc = record.vc;
            v.scale = record.scale;
            v.surface.roughness = record.roughness;
            v.surface.metallic = record.metallic;
            v.surface.ior = record.ior;
            v.surface.transmission = record.transmission;
            v.surface.kind = record.kind;
            v.surface.outside = record.outside != 0u;
#ifdef LS_LAYERS
            /* A vertex follows its ray */
            PairRecord ray = pair->steps[i - 1u];
            v.hit.instance = ray.instance;
            v.hit.primitive = ray.primitive;
            v.hit.t = ray.t;
            v.hit.u = ray.u;
            v.hit.v = ray.v;
            v.layers.present = true;
#endif
        }
    }
    return v;
}

/* Connects a vertex of the camera sub-path to a light and to the vertices of the light sub-path. */
LS_FN void record_pair_connections(SceneRef scene, Pass pass, SampleKey key, u32 bounce, PathVertex vertex,
                                   PairSteps *pair) {
    bool continues = true;
    for (u32 light = 1u; continues && light + bounce <= pass.bounces; light++) {
        PairConnection join = vertex_no_connection();
        RayKey ray_key = rng_ray_key_shadow(key, bounce);
        if (light == 1u) {
            join = connections_to_light(scene, key, bounce, vertex, pass.merging[0].ratios);
        } else {
            PathVertex other = record_pair_light_vertex(pair, light - 2u);
#ifdef LS_LAYERS
            other = other.wanted ? vertex_restored(scene, other) : other;
#endif
            u32 technique = splat_technique_index(light, bounce + 2u);
            continues = other.wanted;
            if (continues) {
                join = connections_join(key, technique, other, vertex, pass.merging[0].ratios);
                ray_key = rng_ray_key_connection(key, technique);
            }
        }
        if (join.wanted) {
            record_pair_contribution(pair, light, bounce + 2u, join, !bvh_any_hit(scene, join.ray, ray_key));
        }
    }
}
#endif

/* Traces and records a camera sub-path with its connections. */
LS_FN void record_pair_camera_path(SceneRef scene, Pass pass, SampleKey key, PairSteps *pair) {
    CameraPath path = camera_path_camera_path_start(pass.camera, key);
    bool continues = true;
    for (u32 bounce = 0u; continues; bounce++) {
        continues = false;
        Hit hit = bvh_closest_hit(scene, path.ray, rng_ray_key_extension(key, bounce));
        record_pair_ray(pair, 0u, bounce, path.ray, hit);
        bool last = bounce == CAMERA_BOUNCES(pass);
        Arrival arrival = camera_path_camera_path_arrive(scene, path, bounce, last, hit);
        if (vec3_max_component(arrival.emitted.value) > 0.0f) {
            PairConnection found = vertex_no_connection();
            found.ray = path_ray(path.ray.origin, path.ray.direction, hit.t);
            found.pixel = key.pixel;
            found.value = arrival.emitted.value;
            found.weight = arrival.emitted.weight;
            record_pair_contribution(pair, 0u, bounce + 2u, found, true);
        }
#ifdef LS_CONNECT_PAIRS
        if (arrival.vertex.wanted) {
            record_pair_vertex(pair, 0u, bounce, arrival.vertex);
            record_pair_connections(scene, pass, key, bounce, arrival.vertex, pair);
            continues = camera_path_camera_path_extend(pass, bounce, &path, arrival.vertex, pass.merging[0].ratios);
        }
#endif
    }
}

LS_KERNEL void ls_record_pairs(LS_SCENE_PARAMETERS, Pass pass, u32 count, LS_GLOBAL const u32 *LS_RESTRICT requests,
                               LS_GLOBAL PairRecord *LS_RESTRICT pair_steps,
                               LS_GLOBAL u32 *LS_RESTRICT path_lengths) {
    LS_SCENE_REF(scene);
    u32 most = PAIR_STEPS(pass.bounces);
    for (u32 i = LS_GLOBAL_ID(); i < count; i += LS_GLOBAL_SIZE()) {
        SampleKey key;
        key.pixel = requests[2u * i];
        key.sample = requests[2u * i + 1u];
        key.seed = pass.seed;
        PairSteps pair;
        pair.steps = pair_steps + i * most;
        pair.length = 0u;
        record_pair_light_path(scene, pass, key, &pair);
        record_pair_camera_path(scene, pass, key, &pair);
        path_lengths[i] = pair.length;
    }
}
