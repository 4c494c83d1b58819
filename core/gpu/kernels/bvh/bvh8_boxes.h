/* Box tests of the BVH8 eight at a time, and its traversal stack. The counterpart of the node part of
 * core/bvh/src/traverse/bvh8.rs, which gives the reasons. */

/* Stack size: each level leaves up to seven children. */
#define WIDE_STACK_SIZE (7 * STACK_SIZE + 1)

/* The traversal stack: the bits of the entry distance above the child. */
typedef struct {
    u64 items[WIDE_STACK_SIZE];
    u32 length;
} WideStack;

/* A ray prepared for box tests, with the positions of each axis's near and far planes in a node. */
typedef struct {
    LS_F32X8 origin[3];
    LS_F32X8 inverse[3];
    LS_F32X8 t_min;
    u32 nearer[3];
    u32 farther[3];
} WideSlabs;

/* Entry distances of eight boxes, and a bit for each that the ray meets. */
typedef struct {
    LS_F32X8 entry;
    u32 lanes;
} WideMet;

LS_INLINE u64 wide_item(float entry, u32 child) {
    return ((u64)LS_AS_U32(entry) << 32) | (u64)child;
}

LS_INLINE float wide_entry_of(u64 item) {
    return LS_AS_F32((u32)(item >> 32));
}

LS_INLINE WideSlabs wide_slabs_new(Slabs slabs, float t_min) {
    WideSlabs wide;
    wide.origin[0] = LS_F32X8_SPLAT(slabs.origin.x);
    wide.origin[1] = LS_F32X8_SPLAT(slabs.origin.y);
    wide.origin[2] = LS_F32X8_SPLAT(slabs.origin.z);
    wide.inverse[0] = LS_F32X8_SPLAT(slabs.inverse.x);
    wide.inverse[1] = LS_F32X8_SPLAT(slabs.inverse.y);
    wide.inverse[2] = LS_F32X8_SPLAT(slabs.inverse.z);
    wide.t_min = LS_F32X8_SPLAT(t_min);
    wide.nearer[0] = slabs.inverse.x < 0.0f ? 3u : 0u;
    wide.nearer[1] = slabs.inverse.y < 0.0f ? 4u : 1u;
    wide.nearer[2] = slabs.inverse.z < 0.0f ? 5u : 2u;
    wide.farther[0] = 3u - wide.nearer[0];
    wide.farther[1] = 5u - wide.nearer[1];
    wide.farther[2] = 7u - wide.nearer[2];
    return wide;
}

/* Distances to planes along an axis. */
LS_INLINE LS_F32X8 wide_slabs_at(WideSlabs slabs, LS_F32X8 planes, u32 axis) {
    return LS_F32X8_MUL(LS_F32X8_SUB(planes, slabs.origin[axis]), slabs.inverse[axis]);
}

/* Distances to a node's near planes along an axis. */
LS_INLINE LS_F32X8 wide_slabs_nearer(SceneRef scene, WideSlabs slabs, u32 node, u32 axis) {
    return wide_slabs_at(slabs, load_planes(scene, node, slabs.nearer[axis]), axis);
}

/* Distances to a node's far planes along an axis. */
LS_INLINE LS_F32X8 wide_slabs_farther(SceneRef scene, WideSlabs slabs, u32 node, u32 axis) {
    return wide_slabs_at(slabs, load_planes(scene, node, slabs.farther[axis]), axis);
}

/* Entry distances of a node's children, at least t_min, and a bit for each that the ray meets up to
 * `t_last`. */
LS_INLINE WideMet wide_slabs_intersect(SceneRef scene, WideSlabs slabs, u32 node, float t_last) {
    LS_F32X8 entry = LS_F32X8_MAX(LS_F32X8_MAX(wide_slabs_nearer(scene, slabs, node, 0u),
                                               wide_slabs_nearer(scene, slabs, node, 1u)),
                                  wide_slabs_nearer(scene, slabs, node, 2u));
    LS_F32X8 exit = LS_F32X8_MIN(LS_F32X8_MIN(wide_slabs_farther(scene, slabs, node, 0u),
                                              wide_slabs_farther(scene, slabs, node, 1u)),
                                 wide_slabs_farther(scene, slabs, node, 2u));
    exit = LS_F32X8_MUL(exit, LS_F32X8_SPLAT(FAR_WIDENING));
    WideMet met;
    met.entry = LS_F32X8_MAX(entry, slabs.t_min);
    met.lanes = LS_F32X8_AT_MOST(met.entry, LS_F32X8_MIN(exit, LS_F32X8_SPLAT(t_last)));
    return met;
}

/* Pushes the children `lanes` except the last, which is returned. */
LS_INLINE u32 wide_stack_push_unsorted(SceneRef scene, WideStack *stack, u32 node, u32 lanes) {
    u32 next = load_child(scene, node, LS_LOWEST_BIT(lanes));
    lanes &= lanes - 1u;
    while (lanes != 0u) {
        stack->items[stack->length] = (u64)next;
        stack->length += 1u;
        next = load_child(scene, node, LS_LOWEST_BIT(lanes));
        lanes &= lanes - 1u;
    }
    return next;
}

/* Pushes the children `lanes` farthest first, except the nearest, which is returned. */
LS_INLINE u32 wide_stack_push_sorted(SceneRef scene, WideStack *stack, u32 node, WideMet met) {
    u32 lanes = met.lanes;
    u32 lane = LS_LOWEST_BIT(lanes);
    lanes &= lanes - 1u;
    if (lanes == 0u) {
        return load_child(scene, node, lane);
    }
    float entries[8];
    LS_F32X8_STORE(met.entry, entries);
    /* Insertion sort: the stack stays farthest first */
    u32 base = stack->length;
    u64 nearest = wide_item(entries[lane], load_child(scene, node, lane));
    while (lanes != 0u) {
        lane = LS_LOWEST_BIT(lanes);
        lanes &= lanes - 1u;
        u64 next = wide_item(entries[lane], load_child(scene, node, lane));
        u64 farther = next < nearest ? nearest : next;
        nearest = next < nearest ? next : nearest;
        u32 at = stack->length;
        while (at > base && stack->items[at - 1u] < farther) {
            stack->items[at] = stack->items[at - 1u];
            at -= 1u;
        }
        stack->items[at] = farther;
        stack->length += 1u;
    }
    return (u32)nearest;
}

LS_INLINE void wide_stack_start(WideStack *stack, u32 root) {
    stack->items[0] = wide_item(0.0f, root);
    stack->length = root != EMPTY ? 1u : 0u;
}

/* The next leaf along the ray up to `t_last`, roughly nearest first; with `any`, fewest primitives first.
 * EMPTY if there is none. */
LS_INLINE u32 wide_stack_next_leaf(SceneRef scene, WideStack *stack, WideSlabs slabs, float t_last, bool any) {
    while (stack->length > 0u) {
        /* Pop a subtree, unless a closer hit was found */
        stack->length -= 1u;
        u64 top = stack->items[stack->length];
        u32 current = wide_entry_of(top) > t_last ? EMPTY : (u32)top;
        /* Descend to a leaf */
        while ((current & LEAF_BIT) == 0u) {
            WideMet met = wide_slabs_intersect(scene, slabs, current, t_last);
            if (met.lanes == 0u) {
                current = EMPTY;
            } else if (any) {
                current = wide_stack_push_unsorted(scene, stack, current, met.lanes);
            } else {
                current = wide_stack_push_sorted(scene, stack, current, met);
            }
        }
        if (current != EMPTY) {
            return current & ~LEAF_BIT;
        }
    }
    return EMPTY;
}
