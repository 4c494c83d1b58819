/* The hit rule applied to one primitive, and closest-hit and any-hit traversal of the two-level BVH2. The twin of
 * src/bvh/{bvh2,probe,traverse}.rs.
 *
 * Unlike the twin, which walks a mesh within its walk over instances, both levels share one loop and one stack, so that
 * neighbours on a GPU that are at different levels still step together. Hits do not depend on the order of visits. */

/* Entries of the stack for both levels together. */
#define TRAVERSE_STACK (2 * STACK_SIZE)

/* A ray prepared for one instance's object space. */
typedef struct {
    Vec3 origin;
    Vec3 direction;
    Slabs slabs;
    Shear shear;
    float t_min;
    /* Hits count at least with this distance: the entry of the instance's world box. */
    float t_floor;
    u32 instance;
    RayKey key;
} Probe;

/* Entry distances of a node's children, infinite where the ray misses. */
typedef struct {
    float a;
    float b;
} Entries;

/* Lowest and highest corner of a child's box. */
LS_FN Box bvh_node_child_box(Node node, u32 child) {
    Box box;
    box.lo = child == 0u ? vec3_new(node.xy0[0], node.xy0[2], node.z[0]) : vec3_new(node.xy1[0], node.xy1[2], node.z[2]);
    box.hi = child == 0u ? vec3_new(node.xy0[1], node.xy0[3], node.z[1]) : vec3_new(node.xy1[1], node.xy1[3], node.z[3]);
    return box;
}

/* The padded box that the hit rule tests. */
LS_FN Box bvh_leaf_primitive_bounds(LeafPrimitive p) {
    if ((p.primitive & SPHERE_BIT) != 0u) {
        return intersect_sphere_box(p.p0, p.p1.x);
    }
    return intersect_triangle_box(p.p0, p.p1, p.p2);
}

LS_FN Probe bvh_probe_new(Vec3 origin, Vec3 direction, Ray ray, u32 instance, float t_floor, RayKey key) {
    Probe probe;
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

/* Prepares the ray for the space of an instance; false when it misses the instance's world box up to `t_last`. `slabs`
 * are the world ray's. */
LS_FN bool bvh_probe_enter(SceneRef scene, Ray ray, Slabs slabs, u32 instance, RayKey key, float t_last, Probe *probe) {
    Instance record = load_instance(scene, instance);
    if ((record.flags & INSTANCE_IDENTITY) != 0u) {
        *probe = bvh_probe_new(ray.origin, ray.direction, ray, instance, ray.t_min, key);
        return true;
    }
    Interval interval = intersect_slabs_interval(slabs, load_instance_box(scene, instance));
    if (math_max(interval.entry, ray.t_min) > math_min(interval.exit, t_last)) {
        return false;
    }
    Vec3 origin = transform_point(record.world_to_object, ray.origin);
    Vec3 direction = transform_vector(record.world_to_object, ray.direction);
    *probe = bvh_probe_new(origin, direction, ray, instance, interval.entry, key);
    return true;
}

/* The hit rule for one primitive, up to and including `t_last`; a miss where it rejects. */
LS_FN Hit bvh_probe_test(SceneRef scene, Probe probe, LeafPrimitive candidate, float t_last) {
    Hit miss = intersect_hit_none(t_last);
    Hit hit;
    hit.instance = probe.instance;
    hit.primitive = candidate.primitive;
    if ((candidate.primitive & SPHERE_BIT) != 0u) {
        SphereHit sphere = intersect_sphere(probe.origin, probe.direction, candidate.p0, candidate.p1.x);
        if (!sphere.found) {
            return miss;
        }
        hit.t = sphere.enters > probe.t_min ? sphere.enters : sphere.leaves;
        hit.u = 0.0f;
        hit.v = 0.0f;
    } else {
        TriangleHit triangle =
            intersect_triangle(probe.origin, probe.shear, candidate.p0, candidate.p1, candidate.p2);
        if (!triangle.found) {
            return miss;
        }
        hit.t = triangle.t;
        hit.u = triangle.u;
        hit.v = triangle.v;
    }
    if (!(hit.t > probe.t_min && hit.t <= t_last)) {
        return miss;
    }
    Accepted accepted = intersect_accept(probe.slabs, bvh_leaf_primitive_bounds(candidate), hit.t, probe.t_min);
    if (!accepted.found) {
        return miss;
    }
    hit.t = math_max(accepted.t, probe.t_floor);
    if (hit.t > t_last) {
        return miss;
    }
    if ((candidate.flags & LEAF_ALPHA) != 0u
        && !intersect_covers(scene, probe.instance, candidate.primitive, hit.u, hit.v, probe.key)) {
        return miss;
    }
    return hit;
}

LS_FN float bvh_entry(Interval interval, float t_min, float t_last) {
    return math_max(interval.entry, t_min) <= math_min(interval.exit, t_last) ? interval.entry : MATH_INFINITY;
}

LS_FN Entries bvh_child_entries(Node node, Slabs slabs, float t_min, float t_last) {
    Entries entries;
    entries.a = bvh_entry(intersect_slabs_interval(slabs, bvh_node_child_box(node, 0u)), t_min, t_last);
    entries.b = bvh_entry(intersect_slabs_interval(slabs, bvh_node_child_box(node, 1u)), t_min, t_last);
    return entries;
}

/* The nearest surface along a ray, or with `any` some surface along it. `key` identifies the ray for stochastic
 * coverage. */
LS_FN Hit bvh_walk(SceneRef scene, Ray ray, RayKey key, bool any) {
    u32 children[TRAVERSE_STACK];
    float distances[TRAVERSE_STACK];
    Hit best = intersect_hit_none(ray.t_max);
    Slabs world = intersect_slabs_new(ray.origin, ray.direction);
    Slabs slabs = world;
    Probe probe = bvh_probe_new(ray.origin, ray.direction, ray, NONE, ray.t_min, key);
    bool in_mesh = false;
    u32 length = 0u;
    /* Where the mesh's part of the stack begins. */
    u32 bottom = 0u;
    u32 current = scene.constants.root;
    for (;;) {
        /* Descend to a leaf, nearest child first. */
        while ((current & LEAF_BIT) == 0u) {
            Node node = load_node(scene, current);
            Entries entries = bvh_child_entries(node, slabs, ray.t_min, best.t);
            bool hits_a = entries.a < MATH_INFINITY;
            bool hits_b = entries.b < MATH_INFINITY;
            bool a_first = entries.a <= entries.b;
            if (hits_a && hits_b) {
                children[length] = a_first ? node.children[1] : node.children[0];
                distances[length] = a_first ? entries.b : entries.a;
                length = length + 1u;
            }
            current = hits_a || hits_b ? (a_first ? node.children[0] : node.children[1]) : EMPTY;
        }
        if (current != EMPTY) {
            u32 leaf = current & ~LEAF_BIT;
            current = EMPTY;
            if (!in_mesh) {
                if (bvh_probe_enter(scene, ray, world, leaf, key, best.t, &probe)) {
                    in_mesh = true;
                    bottom = length;
                    slabs = probe.slabs;
                    current = load_mesh_root(scene, load_instance(scene, leaf).mesh);
                }
            } else {
                u32 first = leaf & ((1u << LEAF_COUNT_SHIFT) - 1u);
                u32 end = first + (leaf >> LEAF_COUNT_SHIFT) + 1u;
                for (u32 i = first; i < end; i++) {
                    Hit hit = bvh_probe_test(scene, probe, load_primitive(scene, i), best.t);
                    if (intersect_hit_is_some(hit) && intersect_hit_yields_to(best, hit)) {
                        best = hit;
                    }
                }
                if (any && intersect_hit_is_some(best)) {
                    return best;
                }
            }
        }
        /* Take the last subtree pushed that is not beyond the nearest hit; leave the mesh when none is left. */
        while (current == EMPTY && (length > 0u || in_mesh)) {
            if (in_mesh && length == bottom) {
                in_mesh = false;
                slabs = world;
                bottom = 0u;
            } else {
                length = length - 1u;
                if (distances[length] <= best.t) {
                    current = children[length];
                }
            }
        }
        if (current == EMPTY) {
            return best;
        }
    }
}

/* The nearest surface along a ray. */
LS_FN Hit bvh_closest_hit(SceneRef scene, Ray ray, RayKey key) {
    return bvh_walk(scene, ray, key, false);
}

/* Whether any surface lies along a ray. */
LS_FN bool bvh_any_hit(SceneRef scene, Ray ray, RayKey key) {
    return intersect_hit_is_some(bvh_walk(scene, ray, key, true));
}
