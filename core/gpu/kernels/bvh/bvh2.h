/* Closest-hit and any-hit traversal of the two-level BVH2. The counterpart of
 * core/bvh/src/traverse/bvh2.rs.
 *
 * Unlike the counterpart, both levels share one loop and one stack, and the inner loop pops subtrees
 * itself, so that neighbouring lanes on a GPU step together at either level. Without LS_INSTANCES the
 * traversal starts in the only mesh. Node boxes are tested by centre and half extent with a margin, where
 * the counterpart tests planes. Hits depend neither on the order of visits nor on the set of visited
 * nodes.
 *
 * A warp of LS_LANES lanes takes as many instructions as its longest lane. So the inner loop does not wait
 * until the last lane has reached a leaf, and a kernel that traces many rays gives a lane whose ray has
 * terminated a new one while its neighbours continue: it alternates bvh_walk_on with the fetch of
 * queues.h. */

/* Tests a ray against a box within the ray's range, and gives the entry distance. */
typedef struct {
    bool met;
    float entry;
} Entered;

/* The larger of two distances; where both are negative, either. Compares bits: those of non-negative
 * floats are ordered as integers, and all lie above those of negative floats. GPUs have a three-input
 * maximum for integers but not for floats. */
LS_INLINE float bvh_later(float a, float b) {
    return (i32)LS_AS_U32(a) > (i32)LS_AS_U32(b) ? a : b;
}

/* The smaller of two distances; where both are negative, either. */
LS_INLINE float bvh_earlier(float a, float b) {
    return (i32)LS_AS_U32(a) < (i32)LS_AS_U32(b) ? a : b;
}

/* The bits of a distance, moved up by more than two roundings of one distance are apart (see bvh_enter). */
LS_INLINE i32 bvh_widened(float t) {
    return (i32)(LS_AS_U32(t) + NODE_WIDENING);
}

/* The ray's entry into a child's box of centre `c` and half extent `h`, up to the widened distance `last`.
 * `origin` is the ray's origin times `inverse`.
 *
 * Claim: if a ray meets the box of a primitive or an instance by intersect_slabs_interval, from zero on,
 * and enters it no later than the last distance, then it meets the box of every node around it. Let u be
 * 2^-24, f the farthest coordinate of the tree, o and i the ray's origin and inverse direction on an axis,
 * P the exact distance of a plane of that box and T that of the node's. Node::new puts T at least 3 u f
 * |i| before P where the ray enters, and behind it where the ray leaves.
 *
 * Rounding o * i moves all boxes along the axis by e, at most u |o i|. The multiply-adds then give T + e
 * with an error of at most 2 u |T + e| + u h |i|. For |o| up to 3/2 f, e and u h |i| together are less
 * than the margin. For larger |o|, |T| is at least |o i| / 3, so e is at most 3 u |T|, and u h |i| at most
 * 2 u |T|. To first order, a positive entry is then at most P (1 + 7 u), an exit at least P (1 - 7 u). The
 * other test gives P with an error of 2 u P, and widens exits by 17 u. So an entry here is at most 1 + 35
 * u times the exit, and 1 + 9 u times the last distance. An ULP is at least u of a number: NODE_WIDENING
 * of them make up for it.
 *
 * Bits as integers order non-negative floats as they are, and negative ones the other way round. Negative
 * entries, whichever is taken for the latest, come before all positive exits. A box behind the ray has a
 * negative exit, and each entry is above that or more negative: by its bits after it.
 *
 * Entries stand before exits because compilers then load a node front to back, which is faster on GPUs. A
 * minimum of a sum is one instruction on some. */
LS_INLINE Entered bvh_enter(Vec3 origin, Vec3 inverse, Vec3 c, Vec3 h, i32 last) {
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

/* The ray's entry into the box of one of a node's children. */
LS_INLINE Entered bvh_enter_child(Slabs slabs, Vec3 origin, Node node, u32 child, i32 last) {
    if (child == 0u) {
        return bvh_enter(origin, slabs.inverse, vec3_new(node.xy0[0], node.xy0[2], node.z[0]),
                         vec3_new(node.xy0[1], node.xy0[3], node.z[1]), last);
    }
    return bvh_enter(origin, slabs.inverse, vec3_new(node.xy1[0], node.xy1[2], node.z[2]),
                     vec3_new(node.xy1[1], node.xy1[3], node.z[3]), last);
}

/* A subtree on the stack, its entry distance in the upper half, so that one access moves both. Any-hit
 * traversal ignores the entries. */
LS_INLINE u64 bvh_waiting(u32 child, float entry) {
    return ((u64)LS_AS_U32(entry) << 32) | (u64)child;
}

/* Pops the topmost subtree that is not beyond the widened distance `last`, or the EMPTY at the bottom of a
 * level, whose entry is below all. The stack's length is a separate variable because compilers keep the
 * neighbours of an indexed array in memory. */
LS_INLINE u32 bvh_stack_pop(const u64 *stack, u32 *length, i32 last, bool any) {
    u64 upmost;
    do {
        *length -= 1u;
        upmost = stack[*length];
    } while (!any && (i32)(u32)(upmost >> 32) > last);
    return (u32)upmost;
}

LS_INLINE void bvh_stack_push(u64 *stack, u32 *length, u64 waiting) {
    stack[*length] = waiting;
    *length += 1u;
}

/* Descends from `current` to a leaf, or to the EMPTY at the bottom of the level; stops earlier when two
 * thirds of the lanes that began together wait there. Nearest child first; of two boxes around the ray's
 * origin the first in memory, so that neighbours take the same way. With `any` in the node's order, which
 * is SATO: the child with the higher expected hit rate per unit cost first. */
LS_INLINE u32 bvh_next_leaf(SceneRef scene, Slabs slabs, float t_last, u64 *stack, u32 *length, u32 current, bool any) {
    Vec3 origin = vec3_mul(slabs.origin, slabs.inverse);
    i32 last = bvh_widened(t_last);
    u32 few = (LS_LANES() + 2u) / 3u;
    while ((current & LEAF_BIT) == 0u) {
        /* Test the boxes of both children */
        Node node = load_node(scene, current);
        Entered a = bvh_enter_child(slabs, origin, node, 0u, last);
        Entered b = bvh_enter_child(slabs, origin, node, 1u, last);
        current = a.met ? node.children[0] : node.children[1];
        if (a.met && b.met) {
            /* Descend into one, push the other */
            float to_a = LS_MAX(a.entry, 0.0f);
            float to_b = LS_MAX(b.entry, 0.0f);
            bool b_first = !any & ((to_b < to_a) | ((to_b == to_a) & (node.children[1] < node.children[0])));
            current = b_first ? node.children[1] : node.children[0];
            u32 second = b_first ? node.children[0] : node.children[1];
            bvh_stack_push(stack, length, bvh_waiting(second, b_first ? to_a : to_b));
        } else if (!a.met && !b.met) {
            current = bvh_stack_pop(stack, length, last, any);
        }
        /* Stop where most lanes wait at a leaf */
        if (LS_LANES() < few) {
            break;
        }
    }
    return current;
}

/* Intersects the primitives of a leaf: `best` becomes the closest of them and itself. */
LS_INLINE void bvh_visit(SceneRef scene, ObjectRay probe, u32 leaf, Hit *best) {
    u32 first = leaf & ((1u << LEAF_COUNT_SHIFT) - 1u);
    u32 end = first + (leaf >> LEAF_COUNT_SHIFT) + 1u;
    for (u32 i = first; i < end; i++) {
        bvh_object_ray_test(scene, probe, load_primitive(scene, i), best);
    }
}

/* A ray during traversal. */
typedef struct {
    ObjectRay probe;
    Hit best;
    /* The subtree or leaf to visit next. */
    u32 current;
    /* Length of the stack. */
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

/* The state without a ray. */
LS_INLINE Walk bvh_walk_none(void) {
    Walk walk;
    walk.current = EMPTY;
#ifdef LS_INSTANCES
    walk.in_mesh = false;
#endif
    return walk;
}

/* True when traversal has ended; `best` is then its result. */
LS_INLINE bool bvh_walk_has_ended(Walk walk) {
#ifdef LS_INSTANCES
    return walk.current == EMPTY && !walk.in_mesh;
#else
    return walk.current == EMPTY;
#endif
}

/* Starts a ray. `key` identifies it for stochastic alpha. */
LS_INLINE Walk bvh_walk_begin(SceneRef scene, Ray ray, RayKey key, u64 *stack) {
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

/* Continues an unfinished ray to a leaf and through it, or less far; with `any` up to the first hit. */
#ifdef LS_INSTANCES
LS_INLINE void bvh_walk_on(SceneRef scene, Walk *walk, u64 *stack, bool any) {
    u32 current = bvh_next_leaf(scene, walk->slabs, walk->best.t, stack, &walk->length, walk->current, any);
    if ((current & LEAF_BIT) != 0u) {
        if (current == EMPTY) {
            if (!walk->in_mesh) {
                walk->current = EMPTY;
                return;
            }
            /* Leave the instance */
            walk->in_mesh = false;
            walk->slabs = intersect_slabs_new(walk->ray.origin, walk->ray.direction);
        } else if (walk->in_mesh) {
            /* Intersect the primitives of a leaf */
            bvh_visit(scene, walk->probe, current & ~LEAF_BIT, &walk->best);
            if (any && intersect_hit_is_some(walk->best)) {
                walk->in_mesh = false;
                walk->current = EMPTY;
                return;
            }
        } else if (bvh_object_ray_enter(scene, walk->ray, walk->slabs, current & ~LEAF_BIT, walk->key, walk->best.t,
                                   &walk->probe)) {
            /* Enter an instance */
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
LS_INLINE void bvh_walk_on(SceneRef scene, Walk *walk, u64 *stack, bool any) {
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

/* The closest hit of a ray, or with `any` any hit. */
LS_INLINE Hit bvh_walk(SceneRef scene, Ray ray, RayKey key, bool any) {
    u64 stack[WALK_STACK_SIZE];
    Walk walk = bvh_walk_begin(scene, ray, key, stack);
    while (!bvh_walk_has_ended(walk)) {
        bvh_walk_on(scene, &walk, stack, any);
    }
    return walk.best;
}

/* The closest hit of a ray. */
LS_INLINE Hit bvh_closest_hit(SceneRef scene, Ray ray, RayKey key) {
    return bvh_walk(scene, ray, key, false);
}

/* True if any surface occludes the ray. */
LS_INLINE bool bvh_any_hit(SceneRef scene, Ray ray, RayKey key) {
    return intersect_hit_is_some(bvh_walk(scene, ray, key, true));
}
