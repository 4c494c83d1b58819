/* The entry kernels of the wavefront (Laine, Karras and Aila 2013). src/kernels/launch.rs declares their parameters.
 *
 * Every kernel loops over its queue in strides of the global size, so any launch size is right. Queue lengths are the ray
 * counters of the bounce and never leave the device within a pass. */

/* How far two queues had grown before an item's own entries. */
typedef struct {
    u32 a;
    u32 b;
} Slots;

/* Adding to counters. With LS_GROUP_COMPACTION a work-group adds its items' shares in local memory first, and asks each
 * counter once; all items of a group must then come here together. Without, an item adds its own share. */
#ifdef LS_GROUP_COMPACTION
#define LS_SCRATCH(name) LS_LOCAL u32 name[4]

LS_FN Slots counter_reserve(LS_GLOBAL u32 *a, u32 amount_a, LS_GLOBAL u32 *b, u32 amount_b,
                            LS_LOCAL_POINTER u32 *scratch) {
    u32 lane = LS_LOCAL_ID();
    Slots slots;
    if (lane == 0u) {
        scratch[0] = 0u;
        scratch[1] = 0u;
    }
    LS_BARRIER();
    slots.a = amount_a > 0u ? LS_ATOMIC_ADD(&scratch[0], amount_a) : 0u;
    slots.b = amount_b > 0u ? LS_ATOMIC_ADD(&scratch[1], amount_b) : 0u;
    LS_BARRIER();
    if (lane == 0u) {
        scratch[2] = scratch[0] > 0u ? LS_ATOMIC_ADD(a, scratch[0]) : 0u;
        scratch[3] = scratch[1] > 0u ? LS_ATOMIC_ADD(b, scratch[1]) : 0u;
    }
    LS_BARRIER();
    slots.a += scratch[2];
    slots.b += scratch[3];
    return slots;
}

LS_FN void counter_add(LS_GLOBAL u32 *counter, u32 amount, LS_LOCAL_POINTER u32 *scratch) {
    counter_reserve(counter, amount, counter, 0u, scratch);
    /* PoCL 3.1 has given wrong sums where two calls followed each other with nothing but a branch in between. */
    LS_BARRIER();
}
#else
#define LS_SCRATCH(name) LS_LOCAL_POINTER u32 *name = 0

LS_FN Slots counter_reserve(LS_GLOBAL u32 *a, u32 amount_a, LS_GLOBAL u32 *b, u32 amount_b,
                            LS_LOCAL_POINTER u32 *scratch) {
    (void)scratch;
    Slots slots;
    slots.a = amount_a > 0u ? LS_ATOMIC_ADD(a, amount_a) : 0u;
    slots.b = amount_b > 0u ? LS_ATOMIC_ADD(b, amount_b) : 0u;
    return slots;
}

LS_FN void counter_add(LS_GLOBAL u32 *counter, u32 amount, LS_LOCAL_POINTER u32 *scratch) {
    (void)scratch;
    if (amount > 0u) {
        LS_ATOMIC_ADD(counter, amount);
    }
}
#endif

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

LS_FN void store_packed(LS_GLOBAL Packed *buffer, u32 i, Vec3 v, u32 w) {
    Packed packed;
    packed.v = v;
    packed.w = w;
    buffer[i] = packed;
}

LS_FN void store_ray(LS_GLOBAL Packed *origins, LS_GLOBAL Packed *directions, u32 i, Ray ray) {
    store_packed(origins, i, ray.origin, LS_AS_U32(ray.t_min));
    store_packed(directions, i, ray.direction, LS_AS_U32(ray.t_max));
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

/* What the draws of a path are hashed from: path `sample_in_flight * pixels + i` belongs to the pixel at position
 * `first_pixel + i` of the film's tiles. */
LS_FN SampleKey path_key(Pass pass, u32 path) {
    u32 sample = path / pass.pixels;
    SampleKey key;
    key.pixel = film_tiled(pass.first_pixel + (path - sample * pass.pixels), pass.camera.width, pass.camera.height);
    key.sample = pass.first_sample + sample;
    key.seed = pass.seed;
    return key;
}

LS_KERNEL void ls_generate(Pass pass, LS_GLOBAL Packed *LS_RESTRICT path_origin,
                           LS_GLOBAL Packed *LS_RESTRICT path_direction,
                           LS_GLOBAL Packed *LS_RESTRICT path_throughput,
                           LS_GLOBAL Packed *LS_RESTRICT path_radiance, LS_GLOBAL u32 *LS_RESTRICT queue,
                           LS_GLOBAL BounceCounters *LS_RESTRICT counters) {
    u32 count = pass.pixels * pass.samples;
    for (u32 i = LS_GLOBAL_ID(); i < count; i += LS_GLOBAL_SIZE()) {
        PathState path = path_generate(pass.camera, path_key(pass, i));
        store_ray(path_origin, path_direction, i, path.ray);
        store_packed(path_throughput, i, path.throughput, LS_AS_U32(path.bsdf_pdf));
        store_packed(path_radiance, i, path.radiance, 0u);
        queue[i] = i;
    }
    if (LS_GLOBAL_ID() == 0u) {
        counters[0].extension_rays = count;
    }
}

LS_KERNEL void LS_TRAVERSAL ls_extend(LS_SCENE_PARAMETERS, Pass pass, u32 bounce, LS_GLOBAL const Packed *LS_RESTRICT path_origin,
                         LS_GLOBAL const Packed *LS_RESTRICT path_direction, LS_GLOBAL const u32 *LS_RESTRICT queue,
                         LS_GLOBAL Packed *LS_RESTRICT hits, LS_GLOBAL u32 *LS_RESTRICT hit_primitives,
                         LS_GLOBAL BounceCounters *LS_RESTRICT counters) {
    LS_SCRATCH(scratch);
    LS_SCENE_REF(scene);
    u32 count = counters[bounce].extension_rays;
    u32 found = 0u;
    for (u32 i = LS_GLOBAL_ID(); i < count; i += LS_GLOBAL_SIZE()) {
        u32 path = queue[i];
        RayKey key = rng_ray_key_extension(path_key(pass, path), bounce);
        Hit hit = bvh_closest_hit(scene, load_ray(path_origin, path_direction, path), key);
        store_hit(hits, hit_primitives, i, hit);
        found += intersect_hit_is_some(hit) ? 1u : 0u;
    }
    counter_add(&counters[bounce].hits, found, scratch);
}

LS_KERNEL void ls_shade(LS_SCENE_PARAMETERS, Pass pass, u32 bounce, LS_GLOBAL Packed *LS_RESTRICT path_origin,
                        LS_GLOBAL Packed *LS_RESTRICT path_direction, LS_GLOBAL Packed *LS_RESTRICT path_throughput,
                        LS_GLOBAL Packed *LS_RESTRICT path_radiance, LS_GLOBAL const Packed *LS_RESTRICT hits,
                        LS_GLOBAL const u32 *LS_RESTRICT hit_primitives, LS_GLOBAL const u32 *LS_RESTRICT queue,
                        LS_GLOBAL u32 *LS_RESTRICT next_queue, LS_GLOBAL Packed *LS_RESTRICT shadow_origin,
                        LS_GLOBAL Packed *LS_RESTRICT shadow_direction,
                        LS_GLOBAL Packed *LS_RESTRICT shadow_radiance,
                        LS_GLOBAL BounceCounters *LS_RESTRICT counters) {
    LS_SCRATCH(scratch);
    LS_SCENE_REF(scene);
    u32 count = counters[bounce].extension_rays;
    /* A group goes round as often as its first item, so that all its items reserve together. */
    u32 lane = LS_LOCAL_ID();
    for (u32 first = LS_GLOBAL_ID() - lane; first < count; first += LS_GLOBAL_SIZE()) {
        u32 i = first + lane;
        u32 index = 0u;
        Shaded shaded = path_ended();
        if (i < count) {
            index = queue[i];
            Packed throughput = path_throughput[index];
            PathState path;
            path.ray = load_ray(path_origin, path_direction, index);
            path.throughput = throughput.v;
            path.bsdf_pdf = LS_AS_F32(throughput.w);
            path.radiance = path_radiance[index].v;
            path.key = path_key(pass, index);
            VertexRecord unread;
            unread.flags = 0u;
            shaded = path_shade(scene, pass, bounce, &path, load_hit(hits, hit_primitives, i), &unread);
            store_packed(path_radiance, index, path.radiance, 0u);
            if (shaded.continues) {
                store_ray(path_origin, path_direction, index, path.ray);
                store_packed(path_throughput, index, path.throughput, LS_AS_U32(path.bsdf_pdf));
            }
        }
        bool connects = shaded.connection.wanted;
        Slots slots = counter_reserve(&counters[bounce + 1u].extension_rays, shaded.continues ? 1u : 0u,
                                      &counters[bounce].shadow_rays, connects ? 1u : 0u, scratch);
        if (shaded.continues) {
            next_queue[slots.a] = index;
        }
        if (connects) {
            store_ray(shadow_origin, shadow_direction, slots.b, shaded.connection.ray);
            store_packed(shadow_radiance, slots.b, shaded.connection.radiance, index);
        }
    }
}

LS_KERNEL void LS_TRAVERSAL ls_connect(LS_SCENE_PARAMETERS, Pass pass, u32 bounce,
                          LS_GLOBAL const Packed *LS_RESTRICT shadow_origin,
                          LS_GLOBAL const Packed *LS_RESTRICT shadow_direction,
                          LS_GLOBAL const Packed *LS_RESTRICT shadow_radiance,
                          LS_GLOBAL Packed *LS_RESTRICT path_radiance,
                          LS_GLOBAL BounceCounters *LS_RESTRICT counters) {
    LS_SCRATCH(scratch);
    LS_SCENE_REF(scene);
    u32 count = counters[bounce].shadow_rays;
    u32 unoccluded = 0u;
    for (u32 i = LS_GLOBAL_ID(); i < count; i += LS_GLOBAL_SIZE()) {
        Packed light = shadow_radiance[i];
        RayKey key = rng_ray_key_shadow(path_key(pass, light.w), bounce);
        if (!bvh_any_hit(scene, load_ray(shadow_origin, shadow_direction, i), key)) {
            store_packed(path_radiance, light.w, vec3_add(path_radiance[light.w].v, light.v), 0u);
            unoccluded += 1u;
        }
    }
    counter_add(&counters[bounce].unoccluded, unoccluded, scratch);
}

LS_KERNEL void ls_resolve(Pass pass, LS_GLOBAL const Packed *LS_RESTRICT path_radiance,
                          LS_GLOBAL i64 *LS_RESTRICT film, LS_GLOBAL u32 *LS_RESTRICT flaws) {
    LS_SCRATCH(scratch);
    Flaws found;
    found.count[FLAW_NON_FINITE] = 0u;
    found.count[FLAW_NEGATIVE] = 0u;
    found.count[FLAW_CLAMPED] = 0u;
    for (u32 i = LS_GLOBAL_ID(); i < pass.pixels; i += LS_GLOBAL_SIZE()) {
        u32 first = 3u * film_tiled(pass.first_pixel + i, pass.camera.width, pass.camera.height);
        i64 red = film[first];
        i64 green = film[first + 1u];
        i64 blue = film[first + 2u];
        for (u32 sample = 0u; sample < pass.samples; sample++) {
            Units units = film_quantize(path_radiance[sample * pass.pixels + i].v, &found);
            red += units.channel[0];
            green += units.channel[1];
            blue += units.channel[2];
        }
        film[first] = red;
        film[first + 1u] = green;
        film[first + 2u] = blue;
    }
    counter_add(&flaws[FLAW_NON_FINITE], found.count[FLAW_NON_FINITE], scratch);
    counter_add(&flaws[FLAW_NEGATIVE], found.count[FLAW_NEGATIVE], scratch);
    counter_add(&flaws[FLAW_CLAMPED], found.count[FLAW_CLAMPED], scratch);
}

LS_KERNEL void ls_tally(Pass pass, LS_GLOBAL BounceCounters *LS_RESTRICT counters, LS_GLOBAL u32 *LS_RESTRICT flaws,
                        LS_GLOBAL u64 *LS_RESTRICT totals) {
    if (LS_GLOBAL_ID() != 0u) {
        return;
    }
    for (u32 i = 0u; i < 3u; i++) {
        totals[i] += flaws[i];
        flaws[i] = 0u;
    }
    for (u32 bounce = 0u; bounce <= pass.bounces; bounce++) {
        BounceCounters c = counters[bounce];
        u32 to = 4u + 4u * bounce;
        totals[to] += c.extension_rays;
        totals[to + 1u] += c.hits;
        totals[to + 2u] += c.shadow_rays;
        totals[to + 3u] += c.unoccluded;
        c.extension_rays = 0u;
        c.hits = 0u;
        c.shadow_rays = 0u;
        c.unoccluded = 0u;
        counters[bounce] = c;
    }
}

/* What stochastic coverage is hashed from along ray `index` of a cast. */
LS_FN SampleKey cast_key(u32 index) {
    SampleKey key;
    key.pixel = index;
    key.sample = 0u;
    key.seed = 0u;
    return key;
}

LS_KERNEL void LS_TRAVERSAL ls_cast_closest(LS_SCENE_PARAMETERS, u32 count, LS_GLOBAL const Packed *LS_RESTRICT ray_origin,
                               LS_GLOBAL const Packed *LS_RESTRICT ray_direction, LS_GLOBAL Packed *LS_RESTRICT hits,
                               LS_GLOBAL u32 *LS_RESTRICT hit_primitives) {
    LS_SCENE_REF(scene);
    for (u32 i = LS_GLOBAL_ID(); i < count; i += LS_GLOBAL_SIZE()) {
        RayKey key = rng_ray_key_extension(cast_key(i), 0u);
        store_hit(hits, hit_primitives, i, bvh_closest_hit(scene, load_ray(ray_origin, ray_direction, i), key));
    }
}

LS_KERNEL void LS_TRAVERSAL ls_cast_any(LS_SCENE_PARAMETERS, u32 count, LS_GLOBAL const Packed *LS_RESTRICT ray_origin,
                           LS_GLOBAL const Packed *LS_RESTRICT ray_direction, LS_GLOBAL u32 *LS_RESTRICT occluded) {
    LS_SCENE_REF(scene);
    for (u32 i = LS_GLOBAL_ID(); i < count; i += LS_GLOBAL_SIZE()) {
        RayKey key = rng_ray_key_shadow(cast_key(i), 0u);
        occluded[i] = bvh_any_hit(scene, load_ray(ray_origin, ray_direction, i), key) ? 1u : 0u;
    }
}
