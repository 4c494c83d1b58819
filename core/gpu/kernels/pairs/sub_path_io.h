/* Sub-paths and their vertices in buffers. */

/* Records of a stored vertex. */
#define VERTEX_RECORDS 7u
/* Set beside the side of a stored surface that has layers. */
#define STORED_LAYERS 2u

LS_FN void store_sub_path(LS_GLOBAL Packed *path_origin, LS_GLOBAL Packed *path_direction,
                          LS_GLOBAL Packed *path_throughput, LS_GLOBAL Packed *path_weights, u32 i, Ray ray,
                          Vec3 throughput, PartialWeights partial, u32 specular) {
    store_ray(path_origin, path_direction, i, ray);
    store_packed(path_throughput, i, throughput, 0u);
    store_packed(path_weights, i, vec3_new(partial.vcm, partial.vc, partial.vm), specular);
}

/* Stores a light sub-path that has not left its light: densities there take the place of weights. */
LS_FN void store_light_path(LS_GLOBAL Packed *path_origin, LS_GLOBAL Packed *path_direction,
                            LS_GLOBAL Packed *path_throughput, LS_GLOBAL Packed *path_weights, u32 i, LightPath path) {
    store_ray(path_origin, path_direction, i, path.ray);
    store_packed(path_throughput, i, path.throughput, 0u);
    store_packed(path_weights, i, vec3_new(path.cosine, path.pdf_direction, path.pdf), path.light);
}

LS_FN LightPath load_light_path(Pass pass, u32 bounce, LS_GLOBAL const Packed *path_origin,
                                LS_GLOBAL const Packed *path_direction, LS_GLOBAL const Packed *path_throughput,
                                LS_GLOBAL const Packed *path_weights, u32 i) {
    Packed weights = path_weights[i];
    LightPath path;
    path.wanted = true;
    path.ray = load_ray(path_origin, path_direction, i);
    path.throughput = path_throughput[i].v;
    path.partial = weights_new(weights.v.x, weights.v.y, weights.v.z);
    path.light = 0u;
    path.cosine = 0.0f;
    path.pdf_direction = 0.0f;
    path.pdf = 0.0f;
    if (bounce == 0u) {
        path.light = weights.w;
        path.cosine = weights.v.x;
        path.pdf_direction = weights.v.y;
        path.pdf = weights.v.z;
    }
    path.key = path_key(pass, i);
    return path;
}

LS_FN CameraPath load_camera_path(Pass pass, LS_GLOBAL const Packed *path_origin,
                                  LS_GLOBAL const Packed *path_direction, LS_GLOBAL const Packed *path_throughput,
                                  LS_GLOBAL const Packed *path_weights, u32 i) {
    Packed weights = path_weights[i];
    CameraPath path;
    path.ray = load_ray(path_origin, path_direction, i);
    path.throughput = path_throughput[i].v;
    path.partial = weights_new(weights.v.x, weights.v.y, weights.v.z);
    path.specular = weights.w != 0u;
    path.key = path_key(pass, i);
    return path;
}

/* Stores a vertex, its records one behind the other. */
LS_FN void store_path_vertex(LS_GLOBAL Packed *vertices, u32 index, PathVertex v) {
    u32 first = index * VERTEX_RECORDS;
    store_packed(vertices, first, v.position, LS_AS_U32(v.scale));
    store_packed(vertices, first + 1u, v.geometric, LS_AS_U32(v.partial.vcm));
    store_packed(vertices, first + 2u, v.shading, LS_AS_U32(v.partial.vc));
    store_packed(vertices, first + 3u, v.from, LS_AS_U32(v.surface.roughness));
    store_packed(vertices, first + 4u, v.throughput, LS_AS_U32(v.surface.metallic));
    store_packed(vertices, first + 5u, v.surface.base_color, v.surface.kind);
    store_packed(vertices, first + 6u, vec3_new(v.surface.ior, v.surface.transmission, v.partial.vm),
                 v.surface.outside ? 1u : 0u);
#ifdef LS_LAYERS
    /* A surface with layers is looked up again: its hit takes the place of what it is made of. */
    if (v.layers.present) {
        store_packed(vertices, first + 3u, v.from, v.hit.instance);
        store_packed(vertices, first + 4u, v.throughput, v.hit.primitive);
        store_packed(vertices, first + 6u, vec3_new(v.hit.u, v.hit.v, v.partial.vm),
                     v.surface.outside ? STORED_LAYERS | 1u : STORED_LAYERS);
    }
#endif
}

LS_FN PathVertex load_path_vertex(SceneRef scene, LS_GLOBAL const Packed *vertices, u32 index) {
    u32 first = index * VERTEX_RECORDS;
    PathVertex v;
    Packed record = vertices[first];
    v.wanted = true;
    v.position = record.v;
    v.scale = LS_AS_F32(record.w);
    record = vertices[first + 1u];
    v.geometric = record.v;
    v.partial.vcm = LS_AS_F32(record.w);
    record = vertices[first + 2u];
    v.shading = record.v;
    v.partial.vc = LS_AS_F32(record.w);
    record = vertices[first + 3u];
    v.from = record.v;
    v.surface.roughness = LS_AS_F32(record.w);
    record = vertices[first + 4u];
    v.throughput = record.v;
    v.surface.metallic = LS_AS_F32(record.w);
    record = vertices[first + 5u];
    v.surface.base_color = record.v;
    v.surface.kind = record.w;
    record = vertices[first + 6u];
    v.surface.ior = record.v.x;
    v.surface.transmission = record.v.y;
    v.partial.vm = record.v.z;
    v.surface.outside = (record.w & 1u) != 0u;
#ifdef LS_LAYERS
    v.layers = bsdf_no_layers();
    v.layers.present = (record.w & STORED_LAYERS) != 0u;
    v.hit = intersect_hit_none(0.0f);
    v.hit.u = record.v.x;
    v.hit.v = record.v.y;
    v.hit.instance = vertices[first + 3u].w;
    v.hit.primitive = vertices[first + 4u].w;
    v = vertex_restored(scene, v);
#else
    (void)scene;
#endif
    return v;
}

/* Stores a shadow ray and what it adds to the film where it is unoccluded; `target` is a pixel or a technique. */
LS_FN void store_shadow_ray(LS_GLOBAL Packed *shadow_origin, LS_GLOBAL Packed *shadow_direction,
                            LS_GLOBAL Packed *shadow_radiance, u32 slot, PairConnection c, u32 target, u32 path) {
    store_packed(shadow_origin, slot, c.ray.origin, target);
    store_packed(shadow_direction, slot, c.ray.direction, LS_AS_U32(c.ray.t_max));
    store_packed(shadow_radiance, slot, vec3_scale(c.value, PAIR_WEIGHT(c.weight)), path);
}

/* A shadow ray; those of pairs begin at their origin. */
LS_FN Ray load_shadow_ray(LS_GLOBAL const Packed *shadow_origin, LS_GLOBAL const Packed *shadow_direction, u32 slot) {
    Packed direction = shadow_direction[slot];
    return path_ray(shadow_origin[slot].v, direction.v, LS_AS_F32(direction.w));
}
