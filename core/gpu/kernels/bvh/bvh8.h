/* Triangle tests eight at a time, and with bvh8_boxes.h closest-hit and any-hit traversal of the two-level
 * BVH8, for devices with wide registers. The counterpart of core/bvh/src/traverse/triangles8.rs and of the
 * leaf part of core/bvh/src/traverse/bvh8.rs, which gives the reasons. */

/* A ray prepared for triangle tests; axes in the cyclic order of the shear. */
typedef struct {
    u32 axes[3];
    LS_F32X8 origin[3];
    LS_F32X8 sx;
    LS_F32X8 sy;
    LS_F32X8 sz;
} WideShear;

/* A corner of eight triangles, sheared. */
typedef struct {
    LS_F32X8 x;
    LS_F32X8 y;
    LS_F32X8 z;
} WideCorner;

/* Result of testing a block of triangles: a bit for each hit in range, and for each that only the scalar
 * test can decide. */
typedef struct {
    LS_F32X8 t;
    LS_F32X8 u;
    LS_F32X8 v;
    u32 hit;
    u32 undecided;
} WideTested;

/* Minimum and maximum of three. */
typedef struct {
    LS_F32X8 least;
    LS_F32X8 greatest;
} WideExtent;

LS_INLINE WideShear wide_shear_new(Vec3 origin, Shear shear) {
    Vec3 turned = intersect_rotate_to(origin, shear.axis);
    WideShear wide;
    wide.axes[0] = shear.axis == 2u ? 0u : shear.axis + 1u;
    wide.axes[1] = shear.axis == 0u ? 2u : shear.axis - 1u;
    wide.axes[2] = shear.axis;
    wide.origin[0] = LS_F32X8_SPLAT(turned.x);
    wide.origin[1] = LS_F32X8_SPLAT(turned.y);
    wide.origin[2] = LS_F32X8_SPLAT(turned.z);
    wide.sx = LS_F32X8_SPLAT(shear.sx);
    wide.sy = LS_F32X8_SPLAT(shear.sy);
    wide.sz = LS_F32X8_SPLAT(shear.sz);
    return wide;
}

/* One component of a vertex of all triangles of a block, relative to the ray's origin. */
LS_INLINE LS_F32X8 wide_shear_component(SceneRef scene, WideShear shear, u32 block, u32 corner, u32 i) {
    return LS_F32X8_SUB(load_points(scene, block, corner, shear.axes[i]), shear.origin[i]);
}

/* A vertex of all triangles of a block, sheared. */
LS_INLINE WideCorner wide_shear_corner(SceneRef scene, WideShear shear, u32 block, u32 i) {
    WideCorner corner;
    corner.z = wide_shear_component(scene, shear, block, i, 2u);
    corner.x = LS_F32X8_SUB(wide_shear_component(scene, shear, block, i, 0u), LS_F32X8_MUL(shear.sx, corner.z));
    corner.y = LS_F32X8_SUB(wide_shear_component(scene, shear, block, i, 1u), LS_F32X8_MUL(shear.sy, corner.z));
    return corner;
}

LS_INLINE LS_F32X8 wide_edge_function(LS_F32X8 a, LS_F32X8 b, LS_F32X8 c, LS_F32X8 d) {
    return LS_F32X8_SUB(LS_F32X8_MUL(a, b), LS_F32X8_MUL(c, d));
}

/* Tests the triangles `lanes` of a block by the operations of intersect_triangle; triangles with an edge
 * function of zero are left to the scalar test. */
LS_INLINE WideTested wide_shear_test(SceneRef scene, WideShear shear, u32 block, u32 lanes, float t_min, float t_last) {
    /* Vertices, sheared */
    WideCorner a = wide_shear_corner(scene, shear, block, 0u);
    WideCorner b = wide_shear_corner(scene, shear, block, 1u);
    WideCorner c = wide_shear_corner(scene, shear, block, 2u);

    /* Edge functions: a hit has no two of opposite sign */
    LS_F32X8 u = wide_edge_function(c.x, b.y, c.y, b.x);
    LS_F32X8 v = wide_edge_function(a.x, c.y, a.y, c.x);
    LS_F32X8 w = wide_edge_function(b.x, a.y, b.y, a.x);
    LS_F32X8 zero = LS_F32X8_SPLAT(0.0f);
    LS_F32X8 least = LS_F32X8_MIN(LS_F32X8_MIN(u, v), w);
    LS_F32X8 most = LS_F32X8_MAX(LS_F32X8_MAX(u, v), w);
    u32 possible = lanes & ~(LS_F32X8_LESS(least, zero) & LS_F32X8_LESS(zero, most));
    WideTested tested;
    tested.hit = 0u;
    tested.undecided = 0u;
    if (possible == 0u) {
        tested.t = zero;
        tested.u = zero;
        tested.v = zero;
        return tested;
    }

    /* Distance and barycentrics */
    LS_F32X8 determinant = LS_F32X8_ADD(LS_F32X8_ADD(u, v), w);
    LS_F32X8 inverse = LS_F32X8_DIV(LS_F32X8_SPLAT(1.0f), determinant);
    LS_F32X8 depth =
        LS_F32X8_ADD(LS_F32X8_ADD(LS_F32X8_MUL(u, a.z), LS_F32X8_MUL(v, b.z)), LS_F32X8_MUL(w, c.z));
    tested.t = LS_F32X8_MUL(LS_F32X8_MUL(depth, shear.sz), inverse);
    tested.u = LS_F32X8_MUL(v, inverse);
    tested.v = LS_F32X8_MUL(w, inverse);

    /* Hits in range; zero edge functions are undecided */
    u32 in_range =
        LS_F32X8_LESS(LS_F32X8_SPLAT(t_min), tested.t) & LS_F32X8_AT_MOST(tested.t, LS_F32X8_SPLAT(t_last));
    tested.undecided =
        possible & (LS_F32X8_EQUAL(u, zero) | LS_F32X8_EQUAL(v, zero) | LS_F32X8_EQUAL(w, zero));
    tested.hit = possible & in_range & ~tested.undecided;
    return tested;
}

/* Extent of a block's triangles along an axis. */
LS_INLINE WideExtent wide_extent(SceneRef scene, u32 block, u32 axis) {
    LS_F32X8 a = load_points(scene, block, 0u, axis);
    LS_F32X8 b = load_points(scene, block, 1u, axis);
    LS_F32X8 c = load_points(scene, block, 2u, axis);
    WideExtent extent;
    extent.least = LS_F32X8_MIN(LS_F32X8_MIN(a, b), c);
    extent.greatest = LS_F32X8_MAX(LS_F32X8_MAX(a, b), c);
    return extent;
}

/* The largest coordinate of three vectors of eight. */
LS_INLINE LS_F32X8 wide_max_abs(LS_F32X8 x, LS_F32X8 y, LS_F32X8 z) {
    return LS_F32X8_MAX(LS_F32X8_ABS(x), LS_F32X8_MAX(LS_F32X8_ABS(y), LS_F32X8_ABS(z)));
}

/* Distances to both planes of boxes along an axis. */
LS_INLINE WideExtent wide_across(WideSlabs slabs, LS_F32X8 lo, LS_F32X8 hi, u32 axis) {
    LS_F32X8 a = wide_slabs_at(slabs, lo, axis);
    LS_F32X8 b = wide_slabs_at(slabs, hi, axis);
    WideExtent distances;
    distances.least = LS_F32X8_MIN(a, b);
    distances.greatest = LS_F32X8_MAX(a, b);
    return distances;
}

/* Combines the distances along all axes to entry distances and a bit for each box that the ray meets. */
LS_INLINE WideMet wide_slabs_intersect_boxes(WideSlabs slabs, WideExtent x, WideExtent y, WideExtent z) {
    LS_F32X8 exit = LS_F32X8_MIN(LS_F32X8_MIN(x.greatest, y.greatest), z.greatest);
    exit = LS_F32X8_MUL(exit, LS_F32X8_SPLAT(FAR_WIDENING));
    WideMet met;
    met.entry = LS_F32X8_MAX(LS_F32X8_MAX(LS_F32X8_MAX(x.least, y.least), z.least), slabs.t_min);
    met.lanes = LS_F32X8_AT_MOST(met.entry, exit);
    return met;
}

/* Distances to both planes of padded boxes along an axis. */
LS_INLINE WideExtent wide_padded(WideSlabs slabs, WideExtent extent, LS_F32X8 pad, u32 axis) {
    return wide_across(slabs, LS_F32X8_SUB(extent.least, pad), LS_F32X8_ADD(extent.greatest, pad), axis);
}

/* Entries into the padded boxes of a block's triangles, as intersect_clipped_box computes them. */
LS_INLINE WideMet wide_slabs_intersect_triangles(SceneRef scene, WideSlabs slabs, u32 block) {
    WideExtent x = wide_extent(scene, block, 0u);
    WideExtent y = wide_extent(scene, block, 1u);
    WideExtent z = wide_extent(scene, block, 2u);
    LS_F32X8 pad = LS_F32X8_MUL(LS_F32X8_MAX(wide_max_abs(x.least, y.least, z.least),
                                             wide_max_abs(x.greatest, y.greatest, z.greatest)),
                                LS_F32X8_SPLAT(BOX_PADDING));
    return wide_slabs_intersect_boxes(slabs, wide_padded(slabs, x, pad, 0u), wide_padded(slabs, y, pad, 1u),
                                 wide_padded(slabs, z, pad, 2u));
}

/* Distances to both planes of the boxes of a block of clip boxes along an axis. */
LS_INLINE WideExtent wide_across_clip_boxes(SceneRef scene, WideSlabs slabs, u32 block, u32 axis) {
    return wide_across(slabs, load_points(scene, block, 0u, axis), load_points(scene, block, 1u, axis), axis);
}

/* The distance of a hit on a triangle with split references, raised to the first entry of a clipped box;
 * beyond all if the ray misses every clipped box. `t` is already raised to the entry of the triangle's own
 * box, which precedes those. */
LS_INLINE float wide_raised_to_clip_boxes(SceneRef scene, WideSlabs slabs, u32 block, u32 lane, float t) {
    float nearest = MISSED;
    u32 last = block + load_block_boxes(scene, block);
    for (u32 i = block + 1u; i <= last; i++) {
        WideMet met = wide_slabs_intersect_boxes(slabs, wide_across_clip_boxes(scene, slabs, i, 0u),
                                            wide_across_clip_boxes(scene, slabs, i, 1u),
                                            wide_across_clip_boxes(scene, slabs, i, 2u));
        u32 of_it = met.lanes & load_block_index(scene, i, lane);
        if ((of_it & LS_F32X8_AT_MOST(met.entry, LS_F32X8_SPLAT(t))) != 0u) {
            return t;
        }
        float entries[8];
        LS_F32X8_STORE(met.entry, entries);
        while (of_it != 0u) {
            nearest = math_min(nearest, entries[LS_LOWEST_BIT(of_it)]);
            of_it &= of_it - 1u;
        }
    }
    return nearest;
}

/* Keeps the closest hit of a block; `raised` holds the distances raised to the entries of the triangles'
 * boxes. */
LS_INLINE void wide_take(SceneRef scene, ObjectRay probe, WideSlabs slabs, u32 block, WideTested tested, LS_F32X8 raised,
                     Hit *best) {
    u32 alpha = load_block_alpha(scene, block);
    u32 presplit = load_block_presplit(scene, block);
    float t[8];
    float u[8];
    float v[8];
    LS_F32X8_STORE(raised, t);
    LS_F32X8_STORE(tested.u, u);
    LS_F32X8_STORE(tested.v, v);
    u32 lanes = tested.hit;
    while (lanes != 0u) {
        u32 lane = LS_LOWEST_BIT(lanes);
        lanes &= lanes - 1u;
        Hit hit;
        hit.t = t[lane];
        hit.u = u[lane];
        hit.v = v[lane];
        hit.instance = probe.instance;
        hit.primitive = load_block_index(scene, block, lane);
        if (((presplit >> lane) & 1u) != 0u) {
            hit.t = wide_raised_to_clip_boxes(scene, slabs, block, lane, hit.t);
        }
        if (intersect_hit_yields_to(*best, hit)
            && (((alpha >> lane) & 1u) == 0u || bvh_object_ray_passes_alpha_test(scene, probe, hit))) {
            *best = hit;
        }
    }
}

/* Intersects the primitives `lanes` of a block one by one. */
LS_INLINE void wide_visit_each(SceneRef scene, ObjectRay probe, WideSlabs slabs, u32 block, u32 lanes, Hit *best) {
    u32 presplit = load_block_presplit(scene, block);
    while (lanes != 0u) {
        u32 lane = LS_LOWEST_BIT(lanes);
        lanes &= lanes - 1u;
        Hit hit = *best;
        bvh_object_ray_test(scene, probe, load_block_primitive(scene, block, lane), &hit);
        if (!intersect_hit_yields_to(*best, hit)) {
            continue;
        }
        if (((presplit >> lane) & 1u) != 0u) {
            hit.t = wide_raised_to_clip_boxes(scene, slabs, block, lane, hit.t);
        }
        if (intersect_hit_yields_to(*best, hit)) {
            *best = hit;
        }
    }
}

/* Intersects all primitives of a block: `best` becomes the closest of them and itself. */
LS_INLINE void wide_visit(SceneRef scene, ObjectRay probe, WideSlabs slabs, WideShear shear, u32 block, Hit *best) {
    /* Test all triangles at once */
    u32 each = load_block_spheres(scene, block);
    u32 triangles = load_block_all(scene, block) & ~each;
    if (triangles != 0u) {
        WideTested tested = wide_shear_test(scene, shear, block, triangles, probe.t_min, best->t);
        each |= tested.undecided;
        if (tested.hit != 0u) {
            /* Test their boxes, raise the distances and keep the closest hit */
            WideMet met = wide_slabs_intersect_triangles(scene, slabs, block);
            LS_F32X8 raised =
                LS_F32X8_MAX(LS_F32X8_MAX(tested.t, met.entry), LS_F32X8_SPLAT(probe.t_floor));
            tested.hit &= met.lanes & LS_F32X8_AT_MOST(raised, LS_F32X8_SPLAT(best->t));
            wide_take(scene, probe, slabs, block, tested, raised, best);
        }
    }
    /* Spheres, and triangles that the SIMD test left undecided */
    if (each != 0u) {
        wide_visit_each(scene, probe, slabs, block, each, best);
    }
}

/* The closest hit of a ray, or with `any` any hit. `key` identifies the ray for stochastic alpha. */
LS_INLINE Hit bvh_walk(SceneRef scene, Ray ray, RayKey key, bool any) {
    WideStack top;
    WideStack bottom;
    Hit best = intersect_hit_none(ray.t_max);
    Slabs slabs = intersect_slabs_new(ray.origin, ray.direction);
    WideSlabs wide = wide_slabs_new(slabs, ray.t_min);

    /* Traverse the BVH over instances */
    wide_stack_start(&top, scene.constants.root);
    u32 instance = wide_stack_next_leaf(scene, &top, wide, best.t, any);
    while (instance != EMPTY) {
        ObjectRay probe;
        if (bvh_object_ray_enter(scene, ray, slabs, instance, key, best.t, &probe)) {
            /* Traverse the instance's mesh */
            WideSlabs in_mesh = wide_slabs_new(probe.slabs, probe.t_min);
            WideShear shear = wide_shear_new(probe.origin, probe.shear);
            wide_stack_start(&bottom, load_mesh_root(scene, load_instance(scene, instance).mesh));
            u32 block = wide_stack_next_leaf(scene, &bottom, in_mesh, best.t, any);
            while (block != EMPTY) {
                wide_visit(scene, probe, in_mesh, shear, block, &best);
                if (any && intersect_hit_is_some(best)) {
                    return best;
                }
                block = wide_stack_next_leaf(scene, &bottom, in_mesh, best.t, any);
            }
        }
        instance = wide_stack_next_leaf(scene, &top, wide, best.t, any);
    }
    return best;
}

/* The closest hit of a ray. */
LS_INLINE Hit bvh_closest_hit(SceneRef scene, Ray ray, RayKey key) {
    return bvh_walk(scene, ray, key, false);
}

/* True if any surface occludes the ray. */
LS_INLINE bool bvh_any_hit(SceneRef scene, Ray ray, RayKey key) {
    return intersect_hit_is_some(bvh_walk(scene, ray, key, true));
}
