/* Rays, hits and path state in buffers. */

LS_FN Ray load_ray(LS_GLOBAL const Packed *origins, LS_GLOBAL const Packed *directions, u32 i) {
    Packed origin = origins[i];
    Packed direction = directions[i];
    Ray ray;
    ray.origin = origin.v;
    ray.t_min = LS_AS_F32(origin.w);
    ray.direction = direction.v;
    ray.t_max = LS_AS_F32(direction.w);
    return ray;
}

/* A path's extension ray, as store_path_ray stores it. */
LS_FN Ray load_path_ray(LS_GLOBAL const Packed *path_origin, LS_GLOBAL const Packed *path_direction, u32 i) {
#ifdef LS_PRIORITIES
    return path_ray(path_origin[i].v, path_direction[i].v, FAR);
#else
    return load_ray(path_origin, path_direction, i);
#endif
}

LS_FN void store_hit(LS_GLOBAL Packed *hits, LS_GLOBAL u32 *hit_primitives, u32 i, Hit hit) {
    store_packed(hits, i, vec3_new(hit.t, hit.u, hit.v), hit.instance);
    hit_primitives[i] = hit.primitive;
}

LS_FN Hit load_hit(LS_GLOBAL const Packed *hits, LS_GLOBAL const u32 *hit_primitives, u32 i) {
    Packed packed = hits[i];
    Hit hit;
    hit.t = packed.v.x;
    hit.u = packed.v.y;
    hit.v = packed.v.z;
    hit.instance = packed.w;
    hit.primitive = hit_primitives[i];
    return hit;
}

/* Stores the hit of an extension ray in a slot; returns 1 for a hit, 0 for a miss. */
LS_FN u32 extend_end(u32 slot, Hit hit, LS_GLOBAL Packed *hits, LS_GLOBAL u32 *hit_primitives) {
    store_hit(hits, hit_primitives, slot, hit);
    return intersect_hit_is_some(hit) ? 1u : 0u;
}

#ifdef LS_SHADE
/* Loads a path, shades its hit, and stores the path. */
LS_FN Shaded shade_path(SceneRef scene, Pass pass, u32 bounce, u32 index, Hit hit, LS_GLOBAL Packed *path_origin,
                        LS_GLOBAL Packed *path_direction, LS_GLOBAL Packed *path_throughput,
                        LS_GLOBAL Packed *path_radiance) {
    Packed throughput = path_throughput[index];
    PathState path;
    path.ray = load_path_ray(path_origin, path_direction, index);
    path.throughput = throughput.v;
    path.bsdf_pdf = LS_AS_F32(throughput.w);
    path.radiance = path_radiance[index].v;
#ifdef LS_MEDIA
    path.medium = path_radiance[index].w;
#endif
#ifdef LS_PRIORITIES
    path.interiors = (u64)path_origin[index].w | ((u64)path_direction[index].w << 32u);
#endif
    path.key = path_key(pass, index);
    VertexRecord unread;
    unread.flags = 0u;
    Shaded shaded = LS_SHADE(scene, pass, bounce, &path, hit, &unread);
#ifdef LS_MEDIA
    store_packed(path_radiance, index, path.radiance, path.medium);
#else
    store_packed(path_radiance, index, path.radiance, 0u);
#endif
    if (shaded.continues) {
        store_path_ray(path_origin, path_direction, index, path);
        store_packed(path_throughput, index, path.throughput, LS_AS_U32(path.bsdf_pdf));
    }
    return shaded;
}
#endif
