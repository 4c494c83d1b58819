/* Intersection of one primitive of one instance. The counterpart of core/bvh/src/object_ray.rs. */

/* A ray prepared for one instance's object space. */
typedef struct {
    Vec3 origin;
    Vec3 direction;
    Slabs slabs;
    Shear shear;
    float t_min;
    /* Smallest distance at which hits count: the entry of the instance's world box. */
    float t_floor;
    u32 instance;
    RayKey key;
} ObjectRay;

/* The padded box of the intersection test; a sphere's is that of a triangle through opposite corners of
 * its box. */
LS_INLINE Box bvh_leaf_primitive_bounds(LeafPrimitive p) {
#ifdef LS_SPHERES
    if ((p.primitive & SPHERE_BIT) != 0u) {
        Vec3 radius = vec3_splat(p.p1.x);
        p.p2 = vec3_add(p.p0, radius);
        p.p1 = p.p2;
        p.p0 = vec3_sub(p.p0, radius);
    }
#endif
    ClipBox cut;
    cut.below = p.flags >> LEAF_CLIP_SHIFT;
    cut.above = p.clip_above;
    return intersect_clipped_box(p.p0, p.p1, p.p2, cut);
}

LS_INLINE ObjectRay bvh_object_ray_new(Vec3 origin, Vec3 direction, Ray ray, u32 instance, float t_floor, RayKey key) {
    ObjectRay probe;
    probe.origin = origin;
    probe.direction = direction;
    probe.slabs = intersect_slabs_new(origin, direction);
    probe.shear = intersect_shear_new(direction);
    probe.t_min = ray.t_min;
    probe.t_floor = t_floor;
    probe.instance = instance;
    probe.key = key;
    return probe;
}

/* Transforms the ray to the space of an instance; false if it misses the instance's world box up to
 * `t_last`. `slabs` is the prepared world ray. */
LS_INLINE bool bvh_object_ray_enter(SceneRef scene, Ray ray, Slabs slabs, u32 instance, RayKey key, float t_last,
    ObjectRay *probe) {
    Instance record = load_instance(scene, instance);
    if ((record.flags & INSTANCE_IDENTITY) != 0u) {
        *probe = bvh_object_ray_new(ray.origin, ray.direction, ray, instance, ray.t_min, key);
        return true;
    }
    Interval interval = intersect_slabs_interval(slabs, load_instance_box(scene, instance));
    if (LS_MAX(interval.entry, ray.t_min) > LS_MIN(interval.exit, t_last)) {
        return false;
    }
    Vec3 origin = transform_point(record.world_to_object, ray.origin);
    Vec3 direction = transform_vector(record.world_to_object, ray.direction);
    *probe = bvh_object_ray_new(origin, direction, ray, instance, interval.entry, key);
    return true;
}

/* The alpha test of a primitive with alpha. */
LS_INLINE bool bvh_object_ray_passes_alpha_test(SceneRef scene, ObjectRay probe, Hit hit) {
    return intersect_passes_alpha_test(scene, probe.instance, hit.primitive, hit.u, hit.v, probe.direction, probe.key);
}

/* Intersects the ray's line with a primitive, before any box or range test. */
LS_INLINE TriangleHit bvh_object_ray_intersect(ObjectRay probe, LeafPrimitive candidate) {
#ifdef LS_SPHERES
    if ((candidate.primitive & SPHERE_BIT) != 0u) {
        SphereHit sphere = intersect_sphere(probe.origin, probe.direction, candidate.p0, candidate.p1.x);
        TriangleHit hit;
        hit.found = sphere.found;
        hit.t = sphere.enters > probe.t_min ? sphere.enters : sphere.leaves;
        hit.u = 0.0f;
        hit.v = 0.0f;
        return hit;
    }
#endif
    return intersect_triangle(probe.origin, probe.shear, candidate.p0, candidate.p1, candidate.p2);
}

/* The distance at which a candidate at `t` counts: raised to the entry of its own box. */
LS_INLINE Accepted bvh_object_ray_accept(ObjectRay probe, LeafPrimitive candidate, float t) {
    Accepted accepted = intersect_accept(probe.slabs, bvh_leaf_primitive_bounds(candidate), t, probe.t_min);
    accepted.t = LS_MAX(accepted.t, probe.t_floor);
    return accepted;
}

/* Intersects one primitive: `best` becomes its hit if that is closer or has precedence. */
LS_INLINE void bvh_object_ray_test(SceneRef scene, ObjectRay probe, LeafPrimitive candidate, Hit *best) {
    TriangleHit met = bvh_object_ray_intersect(probe, candidate);
    if (!(met.found && met.t > probe.t_min && met.t <= best->t)) {
        return;
    }
    Accepted accepted = bvh_object_ray_accept(probe, candidate, met.t);
    Hit hit;
    hit.t = accepted.t;
    hit.u = met.u;
    hit.v = met.v;
    hit.instance = probe.instance;
    hit.primitive = candidate.primitive;
    if (!accepted.found || !intersect_hit_yields_to(*best, hit)) {
        return;
    }
#ifdef LS_ALPHA
    if ((candidate.flags & LEAF_ALPHA) != 0u && !bvh_object_ray_passes_alpha_test(scene, probe, hit)) {
        return;
    }
#endif
    *best = hit;
}
