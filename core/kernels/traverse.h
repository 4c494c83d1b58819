/* Closest-hit and any-hit traversal of the two-level BVH2. The twin of src/bvh/{bvh2,traverse}.rs.
 *
 * Unlike the twin, which walks a mesh within its walk over instances, both levels share one loop and one stack, and the
 * inner loop takes subtrees from the stack itself: neighbours on a GPU then step together whatever they are at. Hits do
 * not depend on the order of visits. */

/* Entries of the stack for both levels together, each with EMPTY at its bottom. */
#define TRAVERSE_STACK (2 * STACK_SIZE + 2)

/* Entry distances of a node's children, MISSED where the ray misses. */
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

/* The entry of a ray into a child's box, MISSED where it misses the box between `t_min` and `t_last`. The operations
 * of intersect_slabs_interval, where the sign of a zero does not matter. */
LS_FN float bvh_entry(Slabs slabs, Box box, float t_min, float t_last) {
    float x0 = (box.lo.x - slabs.origin.x) * slabs.inverse.x;
    float x1 = (box.hi.x - slabs.origin.x) * slabs.inverse.x;
    float y0 = (box.lo.y - slabs.origin.y) * slabs.inverse.y;
    float y1 = (box.hi.y - slabs.origin.y) * slabs.inverse.y;
    float z0 = (box.lo.z - slabs.origin.z) * slabs.inverse.z;
    float z1 = (box.hi.z - slabs.origin.z) * slabs.inverse.z;
    float entry = LS_MAX(LS_MAX(LS_MIN(x0, x1), LS_MIN(y0, y1)), LS_MIN(z0, z1));
    float exit = LS_MIN(LS_MIN(LS_MAX(x0, x1), LS_MAX(y0, y1)), LS_MAX(z0, z1)) * FAR_WIDENING;
    return LS_MAX(entry, t_min) <= LS_MIN(exit, t_last) ? entry : MISSED;
}

LS_FN Entries bvh_child_entries(Node node, Slabs slabs, float t_min, float t_last) {
    Entries entries;
    entries.a = bvh_entry(slabs, bvh_node_child_box(node, 0u), t_min, t_last);
    entries.b = bvh_entry(slabs, bvh_node_child_box(node, 1u), t_min, t_last);
    return entries;
}

/* Subtrees still to be visited. */
typedef struct {
    u32 children[TRAVERSE_STACK];
    /* Their entries, if the walk is for the closest hit. */
    float entries[TRAVERSE_STACK];
    u32 length;
} Stack;

LS_FN void bvh_stack_push(Stack *stack, u32 child, float entry, bool any) {
    stack->children[stack->length] = child;
    if (!any) {
        stack->entries[stack->length] = entry;
    }
    stack->length += 1u;
}

/* The last subtree pushed that is not beyond `t_last`, or the EMPTY at the bottom of a level, whose entry is below all.
 * A walk that ends at the first hit has nothing to compare with. */
LS_FN u32 bvh_stack_pop(Stack *stack, float t_last, bool any) {
    stack->length -= 1u;
    while (!any && stack->entries[stack->length] > t_last) {
        stack->length -= 1u;
    }
    return stack->children[stack->length];
}

/* The nearest surface along a ray, or with `any` some surface along it. `key` identifies the ray for stochastic
 * coverage. */
LS_FN Hit bvh_walk(SceneRef scene, Ray ray, RayKey key, bool any) {
    Stack stack;
    stack.length = 0u;
    bvh_stack_push(&stack, EMPTY, -MISSED, any);
    Hit best = intersect_hit_none(ray.t_max);
    Slabs slabs = intersect_slabs_new(ray.origin, ray.direction);
    Probe probe = bvh_probe_new(ray.origin, ray.direction, ray, NONE, ray.t_min, key);
    bool in_mesh = false;
    u32 current = scene.constants.root;
    for (;;) {
        /* Go to a leaf, nearest child first; with `any`, in the order of the node, since a near occluder is as good as a
         * far one. */
        while ((current & LEAF_BIT) == 0u) {
            Node node = load_node(scene, current);
            Entries entries = bvh_child_entries(node, slabs, ray.t_min, best.t);
            bool hits_a = entries.a < MISSED;
            bool hits_b = entries.b < MISSED;
            bool a_first = any ? hits_a : entries.a <= entries.b;
            if (hits_a || hits_b) {
                current = a_first ? node.children[0] : node.children[1];
                if (hits_a && hits_b) {
                    bvh_stack_push(&stack, a_first ? node.children[1] : node.children[0],
                                   a_first ? entries.b : entries.a, any);
                }
            } else {
                current = bvh_stack_pop(&stack, best.t, any);
            }
        }
        if (current == EMPTY) {
            if (!in_mesh) {
                return best;
            }
            in_mesh = false;
            slabs = intersect_slabs_new(ray.origin, ray.direction);
            current = bvh_stack_pop(&stack, best.t, any);
            continue;
        }
        u32 leaf = current & ~LEAF_BIT;
        if (in_mesh) {
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
            current = bvh_stack_pop(&stack, best.t, any);
        } else if (bvh_probe_enter(scene, ray, slabs, leaf, key, best.t, &probe)) {
            in_mesh = true;
            slabs = probe.slabs;
            bvh_stack_push(&stack, EMPTY, -MISSED, any);
            current = load_mesh_root(scene, load_instance(scene, leaf).mesh);
        } else {
            current = bvh_stack_pop(&stack, best.t, any);
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
