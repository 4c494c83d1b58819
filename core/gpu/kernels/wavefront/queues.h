/* Shared by the entry kernels: work distribution, queues with their counters, rays in buffers.
 *
 * Queue lengths are the ray counters of the bounce and never leave the device within a pass. Every kernel
 * loops over its items, so any launch size is right. Kernel configurations (core/src/config.rs) define
 * LS_PERSISTENT, LS_SCANLINE or LS_OCTANTS, or leave out the LS_DYNAMIC_FETCH that GPUs have by default. */

/* Lengths of two queues before a work-item's own entries. */
typedef struct {
    u32 a;
    u32 b;
} Slots;

/* Queue entries are reserved in bins, one behind the other: with LS_OCTANTS one bin per octant of
 * directions. */
#ifdef LS_OCTANTS
#define LS_BINS 8u
#else
#define LS_BINS 1u
#endif

/* Counter updates. With LS_GROUP_COMPACTION a work-group sums in local memory first and adds to each
 * counter once; all its work-items must then reach the call together. Without it, each work-item adds on
 * its own. */
#ifdef LS_GROUP_COMPACTION
#define LS_SCRATCH(name) LS_LOCAL u32 name[LS_BINS + 3u]

/* Reserves entries of two queues; those of `a` lie in bin `bin` of the group's reservation. */
LS_FN Slots counter_reserve(LS_GLOBAL u32 *a, u32 amount_a, u32 bin, LS_GLOBAL u32 *b, u32 amount_b,
                            LS_LOCAL_POINTER u32 *scratch) {
    u32 lane = LS_LOCAL_ID();
    Slots slots;
    if (lane == 0u) {
        for (u32 i = 0u; i <= LS_BINS; i++) {
            scratch[i] = 0u;
        }
    }
    LS_BARRIER();
    slots.a = amount_a > 0u ? LS_ATOMIC_ADD(&scratch[bin], amount_a) : 0u;
    slots.b = amount_b > 0u ? LS_ATOMIC_ADD(&scratch[LS_BINS], amount_b) : 0u;
    LS_BARRIER();
    u32 amount_of_group = 0u;
    for (u32 i = 0u; i < LS_BINS; i++) {
        slots.a += i < bin ? scratch[i] : 0u;
        amount_of_group += scratch[i];
    }
    if (lane == 0u) {
        scratch[LS_BINS + 1u] = amount_of_group > 0u ? LS_ATOMIC_ADD(a, amount_of_group) : 0u;
        scratch[LS_BINS + 2u] = scratch[LS_BINS] > 0u ? LS_ATOMIC_ADD(b, scratch[LS_BINS]) : 0u;
    }
    LS_BARRIER();
    slots.a += scratch[LS_BINS + 1u];
    slots.b += scratch[LS_BINS + 2u];
    return slots;
}

/* Separates two calls: PoCL 3.1 has given wrong sums where they followed each other with only a branch in between. */
LS_FN void counter_settle(void) {
    LS_BARRIER();
}

LS_FN void counter_add(LS_GLOBAL u32 *counter, u32 amount, LS_LOCAL_POINTER u32 *scratch) {
    counter_reserve(counter, amount, 0u, counter, 0u, scratch);
    counter_settle();
}
#else
#define LS_SCRATCH(name) LS_LOCAL_POINTER u32 *name = 0

LS_FN Slots counter_reserve(LS_GLOBAL u32 *a, u32 amount_a, u32 bin, LS_GLOBAL u32 *b, u32 amount_b,
                            LS_LOCAL_POINTER u32 *scratch) {
    (void)bin;
    (void)scratch;
    Slots slots;
    slots.a = amount_a > 0u ? LS_ATOMIC_ADD(a, amount_a) : 0u;
    slots.b = amount_b > 0u ? LS_ATOMIC_ADD(b, amount_b) : 0u;
    return slots;
}

LS_FN void counter_settle(void) {
}

LS_FN void counter_add(LS_GLOBAL u32 *counter, u32 amount, LS_LOCAL_POINTER u32 *scratch) {
    (void)scratch;
    if (amount > 0u) {
        LS_ATOMIC_ADD(counter, amount);
    }
}
#endif

/* LS_FOR_SHARE(i, count) is a grid-stride loop over the items below `count`. LS_FOR_ITEMS(i, count, head)
 * is the same unless LS_PERSISTENT is defined; then items are fetched from the counter at `head`, zero before
 * the launch (persistent threads, Aila and Laine 2009). LS_FOR_ROUNDS(first, count, head) is LS_FOR_ITEMS
 * with all work-items of a group in step: each handles the LS_ROUND items from LS_ITEM_OF(first) on, some
 * of which are `count` or more in the last round.
 *
 * On a GPU neighbouring work-items take neighbouring items. On a CPU, whose groups run their work-items
 * one after the other, a work-item takes LS_ROUND neighbouring items: it then seldom adds to counters that
 * other threads add to, and appends to queues by whole cache lines. */
#ifdef LS_GROUP_COMPACTION
#define LS_ROUND 1u
#define LS_ITEM_OF(first) ((first) + LS_LOCAL_ID())
#define LS_FOR_SHARE(i, count) for (u32 i = LS_GLOBAL_ID(); i < (count); i += LS_GLOBAL_SIZE())
#ifdef LS_PERSISTENT
#define LS_FOR_ROUNDS(first, count, head)                                     \
    LS_LOCAL u32 fetched[1];                                                  \
    for (u32 first = group_fetch(head, fetched); first < (count); first = group_fetch(head, fetched))
#define LS_FOR_ITEMS(i, count, head)       \
    LS_FOR_ROUNDS(first, count, head)      \
    for (u32 i = LS_ITEM_OF(first); i < (count); i = (count))

/* Fetches the first of the group's next items. */
LS_FN u32 group_fetch(LS_GLOBAL u32 *head, LS_LOCAL_POINTER u32 *fetched) {
    LS_BARRIER();
    if (LS_LOCAL_ID() == 0u) {
        fetched[0] = LS_ATOMIC_ADD(head, LS_LOCAL_SIZE());
    }
    LS_BARRIER();
    return fetched[0];
}
#else
#define LS_FOR_ROUNDS(first, count, head) \
    for (u32 first = LS_GLOBAL_ID() - LS_LOCAL_ID(); first < (count); first += LS_GLOBAL_SIZE())
#define LS_FOR_ITEMS(i, count, head) LS_FOR_SHARE(i, count)
#endif
#else
#define LS_ITEM_OF(first) (first)
#define LS_FOR_ROUND(i, first, count) for (u32 i = first; i < first + LS_ROUND && i < (count); i++)
#define LS_FOR_OWN_ROUNDS(first, count) \
    for (u32 first = LS_OWN_ROUND() * LS_ROUND; first < (count); first += LS_GLOBAL_SIZE() * LS_ROUND)
#define LS_FOR_SHARE(i, count)        \
    LS_FOR_OWN_ROUNDS(own, count)     \
    LS_FOR_ROUND(i, own, count)
#ifdef LS_PERSISTENT
#define LS_FOR_ROUNDS(first, count, head) \
    for (u32 first = LS_ATOMIC_ADD(head, LS_ROUND); first < (count); first = LS_ATOMIC_ADD(head, LS_ROUND))
#else
#define LS_FOR_ROUNDS(first, count, head) LS_FOR_OWN_ROUNDS(first, count)
#endif
#define LS_FOR_ITEMS(i, count, head)      \
    LS_FOR_ROUNDS(taken, count, head)     \
    LS_FOR_ROUND(i, taken, count)

/* A work-item's first round. Rounds alternate between groups, so that threads, which run groups in blocks,
 * all have work however short a queue is. */
#define LS_OWN_ROUND() (LS_LOCAL_ID() * (LS_GLOBAL_SIZE() / LS_LOCAL_SIZE()) + LS_GLOBAL_ID() / LS_LOCAL_SIZE())
#endif

/* LS_FOR_RAYS(i, count, head, any, begin, hit, end) traces the rays of the items below `count`. The
 * expression `begin` sets `ray` and `key` for item `i` and is false for an item without a ray; `end`
 * consumes the result `hit`. `scene` must be in scope, and the counter at `head` be zero before.
 * LS_FOR_CLOSEST_HITS has no `any`; LS_FOR_COHERENT_RAYS is for rays whose neighbours mostly visit the
 * same nodes, such as camera rays.
 *
 * With LS_DYNAMIC_FETCH, lanes whose ray has terminated fetch the next item from `head` once two thirds of the
 * warp wait (dynamic ray fetch, Aila and Laine 2009), so that many rays start together. Without it, and
 * for coherent rays, lanes wait for all. Both variants in one kernel would cost either a twentieth of its
 * speed. */
#ifdef LS_DYNAMIC_FETCH
#define LS_FOR_RAYS(i, count, head, any, begin, hit, end)              \
    u64 stack[WALK_STACK_SIZE];                                        \
    Walk walk = bvh_walk_none();                                       \
    u32 i = NONE;                                                      \
    for (;;) {                                                         \
        u32 lanes = LS_LANES();                                        \
        if (bvh_walk_has_ended(walk)) {                                \
            if (3u * LS_LANES() >= 2u * lanes) {                       \
                if (i != NONE) {                                       \
                    Hit hit = walk.best;                               \
                    end;                                               \
                }                                                      \
                i = LS_TAKE(head);                                     \
                if (i >= (count)) {                                    \
                    break;                                             \
                }                                                      \
                Ray ray;                                               \
                RayKey key;                                            \
                if (begin) {                                           \
                    walk = bvh_walk_begin(scene, ray, key, stack);     \
                } else {                                               \
                    i = NONE;                                          \
                }                                                      \
            }                                                          \
        }                                                              \
        if (!bvh_walk_has_ended(walk)) {                               \
            bvh_walk_on(scene, &walk, stack, any);                     \
        }                                                              \
    }
#else
#define LS_FOR_RAYS(i, count, head, any, begin, hit, end) \
    LS_FOR_RAYS_TOGETHER(i, count, head, any, begin, hit, end)
#endif
#define LS_FOR_CLOSEST_HITS(i, count, head, begin, hit, end) LS_FOR_RAYS(i, count, head, false, begin, hit, end)
#define LS_FOR_COHERENT_RAYS(i, count, head, begin, hit, end) \
    LS_FOR_RAYS_TOGETHER(i, count, head, false, begin, hit, end)
#define LS_FOR_RAYS_TOGETHER(i, count, head, any, begin, hit, end)     \
    LS_FOR_ITEMS(i, count, head) {                                     \
        Ray ray;                                                       \
        RayKey key;                                                    \
        if (begin) {                                                   \
            Hit hit = bvh_walk(scene, ray, key, any);                  \
            end;                                                       \
        }                                                              \
    }

/* Counters from which items are fetched with LS_PERSISTENT or LS_DYNAMIC_FETCH: `extension_rays` for extend, `hits`
 * for shade, `shadow_rays` for connect. They lie behind the ray counters of all bounces. */
#define LS_HEADS(pass, bounce) ((pass).bounces + 2u + (bounce))

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

/* Stores a path's extension ray, which begins at 0 and has no end. Where dielectrics have priorities, the words of its
 * bounds hold the path's interior list. */
LS_FN void store_path_ray(LS_GLOBAL Packed *path_origin, LS_GLOBAL Packed *path_direction, u32 i, PathState path) {
#ifdef LS_PRIORITIES
    store_packed(path_origin, i, path.ray.origin, (u32)path.interiors);
    store_packed(path_direction, i, path.ray.direction, (u32)(path.interiors >> 32u));
#else
    store_ray(path_origin, path_direction, i, path.ray);
#endif
}

/* The pixel at a position of the film's traversal order. */
LS_FN u32 pixel_at(Pass pass, u32 position) {
#ifdef LS_SCANLINE
    /* Row by row, which is tiles one pixel wide: as if all rows stood below each other. */
    return film_tiled(position, 1u, pass.camera.width * pass.camera.height);
#else
    return film_tiled(position, pass.camera.width, pass.camera.height);
#endif
}

/* The random number key of a path: path `sample_in_flight * pixels + i` belongs to the pixel at position
 * `first_pixel + i`. */
LS_FN SampleKey path_key(Pass pass, u32 path) {
    u32 sample = path / pass.pixels;
    SampleKey key;
    key.pixel = pixel_at(pass, pass.first_pixel + (path - sample * pass.pixels));
    key.sample = pass.first_sample + sample;
    key.seed = pass.seed;
    return key;
}
