/* Sub-paths and their vertices in buffers. */

/* Records of a stored vertex. */
#define VERTEX_RECORDS 7u
/* Set beside the side of a stored surface that has layers. */
#define STORED_LAYERS 2u
/* Marks a stored surface that keeps the light which scatters more than once. */
#define STORED_MULTISCATTER 4u

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

/* The merges of the pass that a sub-path is of, and the pass's share of a table of buckets. */
#ifdef LS_MERGE
#define MERGING(pass, path) ((pass).merging[(path) / (pass).pixels])
#define BUCKETS(pass, path, table) ((table) + (path) / (pass).pixels * (MERGING(pass, path).bucket_mask + 1u))
#else
#define MERGING(pass, path) ((pass).merging[0])
#define BUCKETS(pass, path, table) (table)
#endif

/* The first record of vertex `index` of a light sub-path, of the vertex of a camera sub-path, and the distance to the
 * next record. On a GPU neighbouring work-items store neighbouring records; on a CPU a vertex lies together. */
#ifdef LS_GROUP_COMPACTION
#define LIGHT_VERTEX(pass, pairs, path, index) ((index) * VERTEX_RECORDS * (pairs) + (path))
#define CAMERA_VERTEX(path) (path)
#define VERTEX_STRIDE(pairs) (pairs)
#else
#define LIGHT_VERTEX(pass, pairs, path, index) (((path) * ((pass).bounces - 1u) + (index)) * VERTEX_RECORDS)
#define CAMERA_VERTEX(path) ((path) * VERTEX_RECORDS)
#define VERTEX_STRIDE(pairs) 1u
#endif

LS_FN void store_path_vertex(LS_GLOBAL Packed *vertices, u32 first, u32 stride, PathVertex v) {
    store_packed(vertices, first, v.position, LS_AS_U32(v.scale));
    store_packed(vertices, first + stride, v.geometric, LS_AS_U32(v.partial.vcm));
    store_packed(vertices, first + 2u * stride, v.shading, LS_AS_U32(v.partial.vc));
    store_packed(vertices, first + 3u * stride, v.from, LS_AS_U32(v.surface.roughness));
    store_packed(vertices, first + 4u * stride, v.throughput, LS_AS_U32(v.surface.metallic));
    store_packed(vertices, first + 5u * stride, v.surface.base_color, v.surface.kind);
    store_packed(vertices, first + 6u * stride, vec3_new(v.surface.ior, v.surface.transmission, v.partial.vm),
                 v.surface.outside ? 1u : 0u);
#ifdef LS_MULTISCATTER
    if (v.surface.multiscatter) {
        store_packed(vertices, first + 6u * stride, vec3_new(v.surface.ior, v.surface.transmission, v.partial.vm),
                     v.surface.outside ? STORED_MULTISCATTER | 1u : STORED_MULTISCATTER);
    }
#endif
#ifdef LS_LAYERS
    /* A surface with layers is looked up again: its hit takes the place of what it is made of. */
    if (v.layers.present) {
        store_packed(vertices, first + 3u * stride, v.from, v.hit.instance);
        store_packed(vertices, first + 4u * stride, v.throughput, v.hit.primitive);
        store_packed(vertices, first + 6u * stride, vec3_new(v.hit.u, v.hit.v, v.partial.vm),
                     v.surface.outside ? STORED_LAYERS | 1u : STORED_LAYERS);
    }
#endif
}

LS_FN PathVertex load_path_vertex(SceneRef scene, LS_GLOBAL const Packed *vertices, u32 first, u32 stride) {
    PathVertex v;
    Packed record = vertices[first];
    v.wanted = true;
    v.position = record.v;
    v.scale = LS_AS_F32(record.w);
    record = vertices[first + stride];
    v.geometric = record.v;
    v.partial.vcm = LS_AS_F32(record.w);
    record = vertices[first + 2u * stride];
    v.shading = record.v;
    v.partial.vc = LS_AS_F32(record.w);
    record = vertices[first + 3u * stride];
    v.from = record.v;
    v.surface.roughness = LS_AS_F32(record.w);
    record = vertices[first + 4u * stride];
    v.throughput = record.v;
    v.surface.metallic = contents_metallic(LS_AS_F32(record.w));
    record = vertices[first + 5u * stride];
    v.surface.base_color = record.v;
    v.surface.kind = contents_material_kind(record.w);
    record = vertices[first + 6u * stride];
    v.surface.ior = record.v.x;
    v.surface.transmission = contents_transmission(record.v.y);
    v.partial.vm = record.v.z;
    v.surface.outside = (record.w & 1u) != 0u;
#ifdef LS_MULTISCATTER
    v.surface.multiscatter = (record.w & STORED_MULTISCATTER) != 0u;
    v.surface.albedos = scene.albedos;
#endif
#ifdef LS_LAYERS
    v.layers = bsdf_no_layers();
    v.layers.present = (record.w & STORED_LAYERS) != 0u;
    v.hit = intersect_hit_none(0.0f);
    v.hit.u = record.v.x;
    v.hit.v = record.v.y;
    v.hit.instance = vertices[first + 3u * stride].w;
    v.hit.primitive = vertices[first + 4u * stride].w;
    v = vertex_restored(scene, v);
#else
    (void)scene;
#endif
    return v;
}

/* Set beside the path of a shadow ray whose radiance is stored, in place of its film units. */
#define INVALID_RADIANCE 0x80000000u

/* Stores a shadow ray, and in film units, which floats hold exactly, what it adds where it is unoccluded. */
LS_FN void store_shadow_ray(LS_GLOBAL Packed *shadow_origin, LS_GLOBAL Packed *shadow_direction,
                            LS_GLOBAL Packed *shadow_units, LS_GLOBAL u32 *shadow_techniques, u32 slot,
                            PairConnection c, SampleKey key, u32 path) {
    InvalidSamples found = film_no_invalid();
    Vec3 light = vec3_scale(c.value, PAIR_WEIGHT(c.weight));
    Units units = splat_quantize(light, key, c.technique, &found);
    if (found.count[INVALID_NON_FINITE] + found.count[INVALID_NEGATIVE] + found.count[INVALID_CLAMPED] > 0u) {
        path |= INVALID_RADIANCE;
    } else {
        light = vec3_new((float)units.channel[0], (float)units.channel[1], (float)units.channel[2]);
    }
    store_packed(shadow_origin, slot, c.ray.origin, c.pixel);
    store_packed(shadow_direction, slot, c.ray.direction, LS_AS_U32(c.ray.t_max));
    store_packed(shadow_units, slot, light, path);
    shadow_techniques[slot] = c.technique;
}

/* A shadow ray; those of pairs begin at their origin. */
LS_FN Ray load_shadow_ray(LS_GLOBAL const Packed *shadow_origin, LS_GLOBAL const Packed *shadow_direction, u32 slot) {
    Packed direction = shadow_direction[slot];
    return path_ray(shadow_origin[slot].v, direction.v, LS_AS_F32(direction.w));
}
