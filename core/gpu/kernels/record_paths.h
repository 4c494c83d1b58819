/* Records every vertex of chosen samples' paths: the stages of the wavefront, path by path. The
 * counterpart of core/transport/src/record_path.rs; parameters are declared in core/gpu/src/signatures.rs. */

/* Texture coordinates at a hit: those of the base colour texture, or the first set untransformed without
 * one. */
LS_FN Vec2 record_coordinates(SceneRef scene, Hit hit) {
    Vec2 uv;
    uv.x = 0.0f;
    uv.y = 0.0f;
    if ((hit.primitive & SPHERE_BIT) != 0u) {
        return uv;
    }
    Mesh mesh = scene_mesh_of(scene, hit.instance);
    Triangle triangle = load_triangle(scene, mesh.first_triangle + hit.primitive);
    Vertex a = load_vertex(scene, triangle.vertices[0]);
    Vertex b = load_vertex(scene, triangle.vertices[1]);
    Vertex c = load_vertex(scene, triangle.vertices[2]);
    Vec3 weights = vec3_new(1.0f - hit.u - hit.v, hit.u, hit.v);
    u32 index = load_material(scene, triangle.material).base_color_texture;
    if (index != NONE) {
        return texture_coordinates(load_texture(scene, index), a, b, c, weights);
    }
    uv.x = a.uv0[0] * weights.x + b.uv0[0] * weights.y + c.uv0[0] * weights.z;
    uv.y = a.uv0[1] * weights.x + b.uv0[1] * weights.y + c.uv0[1] * weights.z;
    return uv;
}

/* Records one sample. `vertices` has room for every bounce and is all zero. Returns the number of vertices
 * of the path. */
LS_FN u32 record_path(SceneRef scene, Pass pass, SampleKey key, LS_GLOBAL VertexRecord *vertices) {
    PathState path = path_generate(pass.camera, key);
    u32 length = 0u;
    bool continues = true;
    while (continues && length <= pass.bounces) {
        VertexRecord record = vertices[length];
        record.origin = path.ray.origin;
        record.direction = path.ray.direction;
        record.throughput = path.throughput;
        Hit hit = bvh_closest_hit(scene, path.ray, rng_ray_key_extension(key, length));
        record.instance = hit.instance;
        record.primitive = hit.primitive;
        record.t = hit.t;
        record.u = hit.u;
        record.v = hit.v;
        Shaded shaded = LS_SHADE(scene, pass, length, &path, hit, &record);
        if (intersect_hit_is_some(hit)) {
            Material material = load_material(scene, record.material);
            Vec2 uv = record_coordinates(scene, hit);
            record.alpha = 1.0f;
            if (material.alpha_mode != ALPHA_OPAQUE) {
                record.alpha = intersect_alpha(scene, material, hit.instance, hit.primitive, hit.u, hit.v);
            }
            record.coordinates[0] = uv.x;
            record.coordinates[1] = uv.y;
        }
        if (shaded.connection.wanted
            && !bvh_any_hit(scene, shaded.connection.ray, rng_ray_key_shadow(key, length))) {
            record.flags |= VERTEX_REACHED;
            path.radiance = vec3_add(path.radiance, shaded.connection.radiance);
        }
        record.radiance = path.radiance;
        vertices[length] = record;
        continues = shaded.continues;
        length = length + 1u;
    }
    return length;
}

LS_KERNEL void ls_record_paths(LS_SCENE_PARAMETERS, Pass pass, u32 count, LS_GLOBAL const u32 *LS_RESTRICT requests,
                        LS_GLOBAL VertexRecord *LS_RESTRICT path_vertices, LS_GLOBAL u32 *LS_RESTRICT path_lengths) {
    LS_SCENE_REF(scene);
    for (u32 i = LS_GLOBAL_ID(); i < count; i += LS_GLOBAL_SIZE()) {
        SampleKey key;
        key.pixel = requests[2u * i];
        key.sample = requests[2u * i + 1u];
        key.seed = pass.seed;
        path_lengths[i] = record_path(scene, pass, key, path_vertices + i * (pass.bounces + 1u));
    }
}
