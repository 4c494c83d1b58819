/* Closest-hit and any-hit traversal of the two-level BVH2. The twin of src/bvh/{bvh2,traverse}.rs.
 *
 * Unlike the twin, which walks a mesh within its walk over instances, both levels share one loop and one stack, and the
 * inner loop takes subtrees from the stack itself: neighbours on a GPU then step together whatever they are at. Where the
 * world is one mesh (no LS_INSTANCES), the walk starts in it. Hits do not depend on the order of visits. */

/* Whether a ray meets a box within its range, and where it enters. */
typedef struct {
    bool met;
    float entry;
} Entered;

/* Lowest and highest corner of a child's box. */
LS_FN Box bvh_node_child_box(Node node, u32 child) {
    Box box;
    box.lo = child == 0u ? vec3_new(node.xy0[0], node.xy0[2], node.z[0]) : vec3_new(node.xy1[0], node.xy1[2], node.z[2]);
    box.hi = child == 0u ? vec3_new(node.xy0[1], node.xy0[3], node.z[1]) : vec3_new(node.xy1[1], node.xy1[3], node.z[3]);
    return box;
}

/* The entry of a ray into a child's box between `t_min` and `t_last`. The operations of intersect_slabs_interval, where
 * the sign of a zero does not matter. */
LS_FN Entered bvh_enter(Slabs slabs, Box box, float t_min, float t_last) {
    float x0 = (box.lo.x - slabs.origin.x) * slabs.inverse.x;
    float x1 = (box.hi.x - slabs.origin.x) * slabs.inverse.x;
    float y0 = (box.lo.y - slabs.origin.y) * slabs.inverse.y;
    float y1 = (box.hi.y - slabs.origin.y) * slabs.inverse.y;
    float z0 = (box.lo.z - slabs.origin.z) * slabs.inverse.z;
    float z1 = (box.hi.z - slabs.origin.z) * slabs.inverse.z;
    float exit = LS_MIN(LS_MIN(LS_MAX(x0, x1), LS_MAX(y0, y1)), LS_MAX(z0, z1)) * FAR_WIDENING;
    Entered entered;
    entered.entry = LS_MAX(LS_MAX(LS_MIN(x0, x1), LS_MIN(y0, y1)), LS_MAX(LS_MIN(z0, z1), t_min));
    entered.met = entered.entry <= LS_MIN(exit, t_last);
    return entered;
}

/* A subtree still to be visited, its entry in the upper half, so that both are stored and loaded at once. The entries of
 * a walk that ends at the first hit are not looked at. */
LS_FN u64 bvh_waiting(u32 child, float entry) {
    return ((u64)LS_AS_U32(entry) << 32) | (u64)child;
}

/* Takes the last subtree that is not beyond `t_last`, or the EMPTY at the bottom of a level, whose entry is below all.
 * The length is apart from the stack since compilers keep in memory what lies beside an indexed array. */
LS_FN u32 bvh_stack_pop(const u64 *stack, u32 *length, float t_last, bool any) {
    u64 last;
    do {
        *length -= 1u;
        last = stack[*length];
    } while (!any && LS_AS_F32((u32)(last >> 32)) > t_last);
    return (u32)last;
}

LS_FN void bvh_stack_push(u64 *stack, u32 *length, u64 waiting) {
    stack[*length] = waiting;
    *length += 1u;
}

/* Goes from `current` to a leaf, or to the EMPTY at the bottom of the level: nearest child first, or with `any` in the
 * order of the node, since a near occluder is as good as a far one. */
LS_FN u32 bvh_next_leaf(SceneRef scene, Slabs slabs, float t_min, float t_last, u64 *stack, u32 *length, u32 current,
                        bool any) {
    while ((current & LEAF_BIT) == 0u) {
        Node node = load_node(scene, current);
        Entered a = bvh_enter(slabs, bvh_node_child_box(node, 0u), t_min, t_last);
        Entered b = bvh_enter(slabs, bvh_node_child_box(node, 1u), t_min, t_last);
        current = a.met ? node.children[0] : node.children[1];
        if (a.met && b.met) {
            bool b_first = !any && b.entry < a.entry;
            u32 second = b_first ? node.children[0] : node.children[1];
            current = b_first ? node.children[1] : node.children[0];
            bvh_stack_push(stack, length, bvh_waiting(second, b_first ? a.entry : b.entry));
        } else if (!a.met && !b.met) {
            current = bvh_stack_pop(stack, length, t_last, any);
        }
    }
    return current;
}

/* The hit rule for the primitives of a leaf: `best` becomes the nearest of them and itself. */
LS_FN void bvh_visit(SceneRef scene, Probe probe, u32 leaf, Hit *best) {
    u32 first = leaf & ((1u << LEAF_COUNT_SHIFT) - 1u);
    u32 end = first + (leaf >> LEAF_COUNT_SHIFT) + 1u;
    for (u32 i = first; i < end; i++) {
        bvh_probe_test(scene, probe, load_primitive(scene, i), best);
    }
}

/* The nearest surface along a ray, or with `any` some surface along it. `key` identifies the ray for stochastic
 * coverage. */
#ifdef LS_INSTANCES
LS_FN Hit bvh_walk(SceneRef scene, Ray ray, RayKey key, bool any) {
    u64 stack[2u * STACK_SIZE + 2u];
    u32 length = 0u;
    bvh_stack_push(stack, &length, bvh_waiting(EMPTY, -MISSED));
    Hit best = intersect_hit_none(ray.t_max);
    Slabs slabs = intersect_slabs_new(ray.origin, ray.direction);
    Probe probe = bvh_probe_new(ray.origin, ray.direction, ray, NONE, ray.t_min, key);
    bool in_mesh = false;
    u32 current = scene.constants.root;
    for (;;) {
        current = bvh_next_leaf(scene, slabs, ray.t_min, best.t, stack, &length, current, any);
        if (current == EMPTY) {
            if (!in_mesh) {
                return best;
            }
            in_mesh = false;
            slabs = intersect_slabs_new(ray.origin, ray.direction);
        } else if (in_mesh) {
            bvh_visit(scene, probe, current & ~LEAF_BIT, &best);
            if (any && intersect_hit_is_some(best)) {
                return best;
            }
        } else if (bvh_probe_enter(scene, ray, slabs, current & ~LEAF_BIT, key, best.t, &probe)) {
            in_mesh = true;
            slabs = probe.slabs;
            bvh_stack_push(stack, &length, bvh_waiting(EMPTY, -MISSED));
            current = load_mesh_root(scene, load_instance(scene, probe.instance).mesh);
            continue;
        }
        current = bvh_stack_pop(stack, &length, best.t, any);
    }
}
#else
LS_FN Hit bvh_walk(SceneRef scene, Ray ray, RayKey key, bool any) {
    u64 stack[STACK_SIZE + 1u];
    u32 length = 0u;
    bvh_stack_push(stack, &length, bvh_waiting(EMPTY, -MISSED));
    Hit best = intersect_hit_none(ray.t_max);
    Probe probe = bvh_probe_new(ray.origin, ray.direction, ray, 0u, ray.t_min, key);
    u32 current = load_mesh_root(scene, 0u);
    for (;;) {
        current = bvh_next_leaf(scene, probe.slabs, ray.t_min, best.t, stack, &length, current, any);
        if (current == EMPTY) {
            return best;
        }
        bvh_visit(scene, probe, current & ~LEAF_BIT, &best);
        if (any && intersect_hit_is_some(best)) {
            return best;
        }
        current = bvh_stack_pop(stack, &length, best.t, any);
    }
}
#endif

/* The nearest surface along a ray. */
LS_FN Hit bvh_closest_hit(SceneRef scene, Ray ray, RayKey key) {
    return bvh_walk(scene, ray, key, false);
}

/* Whether any surface lies along a ray. */
LS_FN bool bvh_any_hit(SceneRef scene, Ray ray, RayKey key) {
    return intersect_hit_is_some(bvh_walk(scene, ray, key, true));
}
