/* Closest-hit and any-hit traversal of the two-level BVH2. The twin of src/bvh/{bvh2,traverse}.rs.
 *
 * Unlike the twin, which walks a mesh within its walk over instances, both levels share one loop and one stack, and the
 * inner loop takes subtrees from the stack itself: neighbours on a GPU then step together whatever they are at. Where the
 * world is one mesh (no LS_INSTANCES), the walk starts in it. Boxes of nodes are tested by centre and half extent with a
 * margin, where the twin asks their planes. Hits depend neither on the order of visits nor on which nodes are visited.
 *
 * Neighbours that a GPU runs together (LS_LANES of them) all take as many instructions as the one that takes most. So the
 * inner loop does not wait until the last has come to a leaf, and a kernel that traces many rays gives a lane whose ray has
 * ended another, while its neighbours go on: it calls bvh_walk_on by turns with what queues.h says. */

/* Whether a ray meets a box within its range, and where it enters. */
typedef struct {
    bool met;
    float entry;
} Entered;

/* The later of two distances; where both are below zero, either. By their bits: numbers from zero on are ordered as their
 * bits are as integers, and lie above all below zero. GPUs choose among three integers at once, but between two numbers. */
LS_FN float bvh_later(float a, float b) {
    return (i32)LS_AS_U32(a) > (i32)LS_AS_U32(b) ? a : b;
}

/* The earlier of two distances; where both are below zero, either. */
LS_FN float bvh_earlier(float a, float b) {
    return (i32)LS_AS_U32(a) < (i32)LS_AS_U32(b) ? a : b;
}

/* The bits of a distance, moved up by more than two roundings of one distance are apart (see bvh_enter). */
LS_FN i32 bvh_widened(float t) {
    return (i32)(LS_AS_U32(t) + NODE_WIDENING);
}

/* The entry of a ray into the box of a node's child, of centre `c` and half extent `h`, up to the widened distance `last`.
 * `origin` is the ray's times `inverse`.
 *
 * A ray that meets the box of a primitive or an instance by intersect_slabs_interval, from zero on, and enters it at the
 * last distance or before, meets the box of every node around it. Let u be 2^-24, f the farthest coordinate of the tree, o
 * and i the ray's origin and inverse direction on an axis, P the exact distance of a plane of that box and T that of the
 * node's. Node::new puts T at least 3 u f |i| before P where the ray enters, and behind it where it leaves.
 *
 * Rounding o * i moves all boxes along the axis by e, at most u |o i|. The multiply-adds then give T + e with an error of at
 * most 2 u |T + e| + u h |i|. Where |o| is up to 3/2 f, e and u h |i| together are less than the margin. Where |o| is more,
 * |T| is at least |o i| / 3, so that e is at most 3 u |T|, and u h |i| at most 2 u |T|. To first order, an entry that is
 * above zero is then at most P (1 + 7 u), an exit at least P (1 - 7 u). The other test gives P with an error of 2 u P, and
 * widens exits by 17 u. So an entry here is at most 1 + 35 u times the exit, and 1 + 9 u times the last distance. A unit in
 * the last place is at least u of a number: NODE_WIDENING of them make up for it.
 *
 * By their bits, as integers, numbers from zero on are ordered as they are, and those below zero the other way round. Entries
 * below zero, whichever is taken for the latest, come before all exits above it. A box behind the ray has an exit below
 * zero, and each entry is above that or farther below zero: by its bits after it.
 *
 * Entries stand before exits since compilers then load a node from its front to its back, which GPUs do faster. A minimum
 * of a sum is one instruction on some. */
LS_FN Entered bvh_enter(Vec3 origin, Vec3 inverse, Vec3 c, Vec3 h, i32 last) {
    float x = LS_FMA(c.x, inverse.x, -origin.x);
    float y = LS_FMA(c.y, inverse.y, -origin.y);
    float z = LS_FMA(c.z, inverse.z, -origin.z);
    Vec3 i = vec3_new(LS_ABS(inverse.x), LS_ABS(inverse.y), LS_ABS(inverse.z));
    Entered entered;
    entered.entry = bvh_later(bvh_later(LS_FMA(-h.x, i.x, x), LS_FMA(-h.y, i.y, y)), LS_FMA(-h.z, i.z, z));
    float exit = bvh_earlier(bvh_earlier(LS_FMA(h.x, i.x, x), LS_FMA(h.y, i.y, y)), LS_FMA(h.z, i.z, z));
    i32 end = bvh_widened(exit) < last ? bvh_widened(exit) : last;
    entered.met = (i32)LS_AS_U32(entered.entry) <= end;
    return entered;
}

/* The entry of a ray into the box of one of a node's children. */
LS_FN Entered bvh_enter_child(Slabs slabs, Vec3 origin, Node node, u32 child, i32 last) {
    if (child == 0u) {
        return bvh_enter(origin, slabs.inverse, vec3_new(node.xy0[0], node.xy0[2], node.z[0]),
                         vec3_new(node.xy0[1], node.xy0[3], node.z[1]), last);
    }
    return bvh_enter(origin, slabs.inverse, vec3_new(node.xy1[0], node.xy1[2], node.z[2]),
                     vec3_new(node.xy1[1], node.xy1[3], node.z[3]), last);
}

/* A subtree still to be visited, its entry in the upper half, so that both are stored and loaded at once. The entries of
 * a walk that ends at the first hit are not looked at. */
LS_FN u64 bvh_waiting(u32 child, float entry) {
    return ((u64)LS_AS_U32(entry) << 32) | (u64)child;
}

/* Takes the upmost subtree that is not beyond the widened distance `last`, or the EMPTY at the bottom of a level, whose
 * entry is below all. The length is apart from the stack since compilers keep in memory what lies beside an indexed array. */
LS_FN u32 bvh_stack_pop(const u64 *stack, u32 *length, i32 last, bool any) {
    u64 upmost;
    do {
        *length -= 1u;
        upmost = stack[*length];
    } while (!any && (i32)(u32)(upmost >> 32) > last);
    return (u32)upmost;
}

LS_FN void bvh_stack_push(u64 *stack, u32 *length, u64 waiting) {
    stack[*length] = waiting;
    *length += 1u;
}

/* Goes from `current` to a leaf, or to the EMPTY at the bottom of the level; less far when two thirds of the lanes that began
 * together wait there. Nearest child first, and of two that the ray begins in the first in memory, so that neighbours go the
 * same way; with `any` in the order of the node, which has the likelier and cheaper occluder first. */
LS_FN u32 bvh_next_leaf(SceneRef scene, Slabs slabs, float t_last, u64 *stack, u32 *length, u32 current, bool any) {
    Vec3 origin = vec3_mul(slabs.origin, slabs.inverse);
    i32 last = bvh_widened(t_last);
    u32 few = (LS_LANES() + 2u) / 3u;
    while ((current & LEAF_BIT) == 0u) {
        Node node = load_node(scene, current);
        Entered a = bvh_enter_child(slabs, origin, node, 0u, last);
        Entered b = bvh_enter_child(slabs, origin, node, 1u, last);
        current = a.met ? node.children[0] : node.children[1];
        if (a.met && b.met) {
            float to_a = LS_MAX(a.entry, 0.0f);
            float to_b = LS_MAX(b.entry, 0.0f);
            bool b_first = !any & ((to_b < to_a) | ((to_b == to_a) & (node.children[1] < node.children[0])));
            current = b_first ? node.children[1] : node.children[0];
            u32 second = b_first ? node.children[0] : node.children[1];
            bvh_stack_push(stack, length, bvh_waiting(second, b_first ? to_a : to_b));
        } else if (!a.met && !b.met) {
            current = bvh_stack_pop(stack, length, last, any);
        }
        if (LS_LANES() < few) {
            break;
        }
    }
    return current;
}

/* The hit rule for the primitives of a leaf: `best` becomes the nearest of them and itself. */
LS_FN void bvh_visit(SceneRef scene, ObjectRay probe, u32 leaf, Hit *best) {
    u32 first = leaf & ((1u << LEAF_COUNT_SHIFT) - 1u);
    u32 end = first + (leaf >> LEAF_COUNT_SHIFT) + 1u;
    for (u32 i = first; i < end; i++) {
        bvh_object_ray_test(scene, probe, load_primitive(scene, i), best);
    }
}

/* A ray on its way through the tree. */
typedef struct {
    ObjectRay probe;
    Hit best;
    /* The subtree or leaf that comes next. */
    u32 current;
    /* What waits on the stack. */
    u32 length;
#ifdef LS_INSTANCES
    Ray ray;
    RayKey key;
    Slabs slabs;
    bool in_mesh;
#endif
} Walk;

#ifdef LS_INSTANCES
#define WALK_STACK_SIZE (2u * STACK_SIZE + 2u)
#else
#define WALK_STACK_SIZE (STACK_SIZE + 1u)
#endif

/* No ray. */
LS_FN Walk bvh_walk_none(void) {
    Walk walk;
    walk.current = EMPTY;
#ifdef LS_INSTANCES
    walk.in_mesh = false;
#endif
    return walk;
}

/* Whether `best` is what the ray meets. */
LS_FN bool bvh_walk_has_ended(Walk walk) {
#ifdef LS_INSTANCES
    return walk.current == EMPTY && !walk.in_mesh;
#else
    return walk.current == EMPTY;
#endif
}

/* Starts a ray. `key` identifies it for stochastic coverage. */
LS_FN Walk bvh_walk_begin(SceneRef scene, Ray ray, RayKey key, u64 *stack) {
    Walk walk = bvh_walk_none();
    walk.length = 0u;
    bvh_stack_push(stack, &walk.length, bvh_waiting(EMPTY, -MISSED));
    walk.best = intersect_hit_none(ray.t_max);
    walk.probe = bvh_object_ray_new(ray.origin, ray.direction, ray, 0u, ray.t_min, key);
#ifdef LS_INSTANCES
    walk.ray = ray;
    walk.key = key;
    walk.slabs = walk.probe.slabs;
    walk.current = scene.constants.root;
#else
    walk.current = load_mesh_root(scene, 0u);
#endif
    return walk;
}

/* Goes on with a ray that has not ended, to a leaf and through it, or less far; with `any` up to the first surface. */
#ifdef LS_INSTANCES
LS_FN void bvh_walk_on(SceneRef scene, Walk *walk, u64 *stack, bool any) {
    u32 current = bvh_next_leaf(scene, walk->slabs, walk->best.t, stack, &walk->length, walk->current, any);
    if ((current & LEAF_BIT) != 0u) {
        if (current == EMPTY) {
            if (!walk->in_mesh) {
                walk->current = EMPTY;
                return;
            }
            walk->in_mesh = false;
            walk->slabs = intersect_slabs_new(walk->ray.origin, walk->ray.direction);
        } else if (walk->in_mesh) {
            bvh_visit(scene, walk->probe, current & ~LEAF_BIT, &walk->best);
            if (any && intersect_hit_is_some(walk->best)) {
                walk->in_mesh = false;
                walk->current = EMPTY;
                return;
            }
        } else if (bvh_object_ray_enter(scene, walk->ray, walk->slabs, current & ~LEAF_BIT, walk->key, walk->best.t,
                                   &walk->probe)) {
            walk->in_mesh = true;
            walk->slabs = walk->probe.slabs;
            bvh_stack_push(stack, &walk->length, bvh_waiting(EMPTY, -MISSED));
            walk->current = load_mesh_root(scene, load_instance(scene, walk->probe.instance).mesh);
            return;
        }
        current = bvh_stack_pop(stack, &walk->length, bvh_widened(walk->best.t), any);
    }
    walk->current = current;
}
#else
LS_FN void bvh_walk_on(SceneRef scene, Walk *walk, u64 *stack, bool any) {
    u32 current = bvh_next_leaf(scene, walk->probe.slabs, walk->best.t, stack, &walk->length, walk->current, any);
    if ((current & LEAF_BIT) != 0u && current != EMPTY) {
        bvh_visit(scene, walk->probe, current & ~LEAF_BIT, &walk->best);
        if (any && intersect_hit_is_some(walk->best)) {
            current = EMPTY;
        } else {
            current = bvh_stack_pop(stack, &walk->length, bvh_widened(walk->best.t), any);
        }
    }
    walk->current = current;
}
#endif

/* The nearest surface along a ray, or with `any` some surface along it. */
LS_FN Hit bvh_walk(SceneRef scene, Ray ray, RayKey key, bool any) {
    u64 stack[WALK_STACK_SIZE];
    Walk walk = bvh_walk_begin(scene, ray, key, stack);
    while (!bvh_walk_has_ended(walk)) {
        bvh_walk_on(scene, &walk, stack, any);
    }
    return walk.best;
}

/* The nearest surface along a ray. */
LS_FN Hit bvh_closest_hit(SceneRef scene, Ray ray, RayKey key) {
    return bvh_walk(scene, ray, key, false);
}

/* Whether any surface lies along a ray. */
LS_FN bool bvh_any_hit(SceneRef scene, Ray ray, RayKey key) {
    return intersect_hit_is_some(bvh_walk(scene, ray, key, true));
}
