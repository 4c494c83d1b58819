/* The canonical intersection tests: a hit is a function of the ray and the primitives alone. The
 * counterpart of core/src/geometry, which gives the reasons. */

#define FAR_WIDENING (1.0f + 1.0f / 1048576.0f)
#define BOX_PADDING (1.0f / 2097152.0f)
#define SMALLEST_DIRECTION 5.421011e-20f
#define ORIGIN_OFFSET (1.0f / 262144.0f)
#define SHADOW_CLEARANCE (1.0f / 65536.0f)
#define FAR 3.0e38f
#define MISSED 3.402823466e38f

/* A ray prepared for slab tests: its origin and its finite reciprocal direction. */
typedef struct {
    Vec3 origin;
    Vec3 inverse;
} Slabs;

/* Entry and widened exit distance of a box. */
typedef struct {
    float entry;
    float exit;
} Interval;

/* The shear that aligns a ray with the z axis. */
typedef struct {
    u32 axis;
    float sx;
    float sy;
    float sz;
} Shear;

typedef struct {
    bool found;
    float t;
    float u;
    float v;
} TriangleHit;

typedef struct {
    bool found;
    float enters;
    float leaves;
} SphereHit;

typedef struct {
    bool found;
    float t;
} Accepted;

/* Fractions that a clip box cuts off its triangle's box below and above along each axis: 10 bits an axis,
 * in 1024ths. */
typedef struct {
    u32 below;
    u32 above;
} ClipBox;

/* A miss up to the distance `t`. */
LS_INLINE Hit intersect_hit_none(float t) {
    Hit hit;
    hit.t = t;
    hit.u = 0.0f;
    hit.v = 0.0f;
    hit.instance = NONE;
    hit.primitive = NONE;
    return hit;
}

/* True for a hit. */
LS_INLINE bool intersect_hit_is_some(Hit hit) {
    return hit.instance != NONE;
}

/* True if `other` is closer, or at the same distance with lower (instance, primitive). */
LS_INLINE bool intersect_hit_yields_to(Hit hit, Hit other) {
    return other.t < hit.t
           || (other.t == hit.t
               && (other.instance < hit.instance
                   || (other.instance == hit.instance && other.primitive < hit.primitive)));
}

/* The finite reciprocal of a direction component. */
LS_INLINE float intersect_inverse(float d) {
    return LS_DIV(1.0f, LS_ABS(d) < SMALLEST_DIRECTION ? math_with_sign_of(SMALLEST_DIRECTION, d) : d);
}

LS_INLINE Slabs intersect_slabs_new(Vec3 origin, Vec3 direction) {
    Slabs slabs;
    slabs.origin = origin;
    slabs.inverse = vec3_new(intersect_inverse(direction.x), intersect_inverse(direction.y),
                             intersect_inverse(direction.z));
    return slabs;
}

/* The ray intersects the box within `[a, b]` when `max(entry, a) <= min(exit, b)`. It does not matter,
 * here and for boxes of primitives, which of two zeros LS_MIN and LS_MAX return: distances that count are
 * positive. */
LS_INLINE Interval intersect_slabs_interval(Slabs slabs, Box box) {
    float x0 = (box.lo.x - slabs.origin.x) * slabs.inverse.x;
    float x1 = (box.hi.x - slabs.origin.x) * slabs.inverse.x;
    float y0 = (box.lo.y - slabs.origin.y) * slabs.inverse.y;
    float y1 = (box.hi.y - slabs.origin.y) * slabs.inverse.y;
    float z0 = (box.lo.z - slabs.origin.z) * slabs.inverse.z;
    float z1 = (box.hi.z - slabs.origin.z) * slabs.inverse.z;
    Interval r;
    r.entry = LS_MAX(LS_MAX(LS_MIN(x0, x1), LS_MIN(y0, y1)), LS_MIN(z0, z1));
    r.exit = LS_MIN(LS_MIN(LS_MAX(x0, x1), LS_MAX(y0, y1)), LS_MAX(z0, z1)) * FAR_WIDENING;
    return r;
}

/* Permutes the components of `v` cyclically, so that component `axis` comes last. */
LS_INLINE Vec3 intersect_rotate_to(Vec3 v, u32 axis) {
    return vec3_new(axis == 0u ? v.y : (axis == 1u ? v.z : v.x), axis == 0u ? v.z : (axis == 1u ? v.x : v.y),
                    axis == 0u ? v.x : (axis == 1u ? v.y : v.z));
}

LS_INLINE Shear intersect_shear_new(Vec3 direction) {
    float ax = LS_ABS(direction.x);
    float ay = LS_ABS(direction.y);
    float az = LS_ABS(direction.z);
    Shear shear;
    shear.axis = ax > ay ? (ax > az ? 0u : 2u) : (ay > az ? 1u : 2u);
    Vec3 d = intersect_rotate_to(direction, shear.axis);
    shear.sx = LS_DIV(d.x, d.z);
    shear.sy = LS_DIV(d.y, d.z);
    shear.sz = LS_DIV(1.0f, d.z);
    return shear;
}

LS_INLINE float intersect_exact_difference(float a, float b, float c, float d, float p, float q) {
    return LS_FMA(a, b, -p) - LS_FMA(c, d, -q);
}

/* `a * b - c * d` with its exact sign: where the rounded products are equal, the rounding errors decide. */
LS_INLINE float intersect_edge_function(float a, float b, float c, float d) {
    float p = a * b;
    float q = c * d;
    float difference = p - q;
    return difference == 0.0f ? intersect_exact_difference(a, b, c, d, p, q) : difference;
}

/* Distance and barycentrics at which the ray's line intersects the triangle, before any box or range test.
 * A miss for an edge-on triangle. */
LS_INLINE TriangleHit intersect_triangle(Vec3 origin, Shear shear, Vec3 p0, Vec3 p1, Vec3 p2) {
    TriangleHit hit;
    hit.found = false;
    hit.t = 0.0f;
    hit.u = 0.0f;
    hit.v = 0.0f;

    /* Vertices relative to the origin, axes permuted, sheared and projected */
    Vec3 a = intersect_rotate_to(vec3_sub(p0, origin), shear.axis);
    Vec3 b = intersect_rotate_to(vec3_sub(p1, origin), shear.axis);
    Vec3 c = intersect_rotate_to(vec3_sub(p2, origin), shear.axis);
    float ax = a.x - shear.sx * a.z;
    float ay = a.y - shear.sy * a.z;
    float bx = b.x - shear.sx * b.z;
    float by = b.y - shear.sy * b.z;
    float cx = c.x - shear.sx * c.z;
    float cy = c.y - shear.sy * c.z;

    /* Edge functions: a hit has no two of opposite sign */
    float u = intersect_edge_function(cx, by, cy, bx);
    float v = intersect_edge_function(ax, cy, ay, cx);
    float w = intersect_edge_function(bx, ay, by, ax);
    if ((u < 0.0f || v < 0.0f || w < 0.0f) && (u > 0.0f || v > 0.0f || w > 0.0f)) {
        return hit;
    }
    float determinant = u + v + w;
    if (determinant == 0.0f) {
        return hit;
    }
    float inverse = LS_DIV(1.0f, determinant);
    float depth = u * a.z + v * b.z + w * c.z;
    hit.found = true;
    hit.t = depth * shear.sz * inverse;
    hit.u = v * inverse;
    hit.v = w * inverse;
    return hit;
}

/* Distances at which the ray's line enters and leaves a sphere. */
LS_INLINE SphereHit intersect_sphere(Vec3 origin, Vec3 direction, Vec3 center, float radius) {
    SphereHit hit;
    hit.found = false;
    hit.enters = 0.0f;
    hit.leaves = 0.0f;
    Vec3 to_center = vec3_sub(center, origin);
    float a = vec3_dot(direction, direction);
    float half_b = vec3_dot(to_center, direction);
    Vec3 closest = vec3_sub(to_center, vec3_scale(direction, LS_DIV(half_b, a)));
    float discriminant = radius * radius - vec3_dot(closest, closest);
    if (discriminant < 0.0f) {
        return hit;
    }
    float c = vec3_dot(to_center, to_center) - radius * radius;
    float q = half_b + math_with_sign_of(LS_SQRT(a * discriminant), half_b);
    if (q == 0.0f) {
        return hit;
    }
    float t0 = LS_DIV(c, q);
    float t1 = LS_DIV(q, a);
    hit.found = true;
    hit.enters = math_min(t0, t1);
    hit.leaves = math_max(t0, t1);
    return hit;
}

/* The amount by which the box between two corners grows. */
LS_INLINE Vec3 intersect_padding(Vec3 lo, Vec3 hi) {
    float x = LS_MAX(LS_ABS(lo.x), LS_ABS(hi.x));
    float y = LS_MAX(LS_ABS(lo.y), LS_ABS(hi.y));
    float z = LS_MAX(LS_ABS(lo.z), LS_ABS(hi.z));
    return vec3_splat(LS_MAX(LS_MAX(x, y), z) * BOX_PADDING);
}

/* The bounding box of a triangle. */
LS_INLINE Box intersect_box_of(Vec3 p0, Vec3 p1, Vec3 p2) {
    Box box;
    box.lo = vec3_new(LS_MIN(LS_MIN(p0.x, p1.x), p2.x), LS_MIN(LS_MIN(p0.y, p1.y), p2.y),
                      LS_MIN(LS_MIN(p0.z, p1.z), p2.z));
    box.hi = vec3_new(LS_MAX(LS_MAX(p0.x, p1.x), p2.x), LS_MAX(LS_MAX(p0.y, p1.y), p2.y),
                      LS_MAX(LS_MAX(p0.z, p1.z), p2.z));
    return box;
}

/* A fraction from 10 bits, as the mantissa of a number from one to two. */
LS_INLINE float intersect_fraction(u32 steps) {
    return LS_AS_F32(0x3f800000u | ((steps & 1023u) << 13)) - 1.0f;
}

/* The fractions of all axes from one field of a clip box. */
LS_INLINE Vec3 intersect_fractions(u32 bits) {
    return vec3_new(intersect_fraction(bits), intersect_fraction(bits >> 10), intersect_fraction(bits >> 20));
}

/* Clips a triangle's bounding box, without padding. */
LS_INLINE Box intersect_clip_box(Box whole, ClipBox cut) {
    Vec3 extent = vec3_sub(whole.hi, whole.lo);
    Box box;
    box.lo = vec3_add(whole.lo, vec3_mul(extent, intersect_fractions(cut.below)));
    box.hi = vec3_sub(whole.hi, vec3_mul(extent, intersect_fractions(cut.above)));
    return box;
}

/* The padded bounding box of a triangle, or of a split reference to it, with the whole triangle's padding. */
LS_INLINE Box intersect_clipped_box(Vec3 p0, Vec3 p1, Vec3 p2, ClipBox cut) {
    Box box = intersect_box_of(p0, p1, p2);
    Vec3 pad = intersect_padding(box.lo, box.hi);
    if ((cut.below | cut.above) != 0u) {
        box = intersect_clip_box(box, cut);
    }
    box.lo = vec3_sub(box.lo, pad);
    box.hi = vec3_add(box.hi, pad);
    return box;
}

/* The distance at which a candidate at `t` counts: raised to the entry of its own box. A miss when the
 * distance is not above `t_min` or the ray misses that box. */
LS_INLINE Accepted intersect_accept(Slabs slabs, Box box, float t, float t_min) {
    Interval interval = intersect_slabs_interval(slabs, box);
    Accepted accepted;
    accepted.found = t > t_min && LS_MAX(interval.entry, t_min) <= interval.exit;
    accepted.t = LS_MAX(t, interval.entry);
    return accepted;
}

/* The alpha at barycentrics `(u, v)` of a triangle of the scene. */
LS_INLINE float intersect_triangle_alpha(SceneRef scene, Material material, u32 index, float u, float v) {
    Triangle triangle = load_triangle(scene, index);
    Vertex a = load_vertex(scene, triangle.vertices[0]);
    Vertex b = load_vertex(scene, triangle.vertices[1]);
    Vertex c = load_vertex(scene, triangle.vertices[2]);
    Vec3 weights = vec3_new(1.0f - u - v, u, v);
    float of_vertices = vertex_alpha(a) * weights.x + vertex_alpha(b) * weights.y + vertex_alpha(c) * weights.z;
    float alpha = material.alpha * of_vertices;
    if (material.base_color_texture != NONE) {
        Texture texture = load_texture(scene, material.base_color_texture);
        alpha = alpha * texture_sample(scene, texture, texture_coordinates(texture, a, b, c, weights)).a;
    }
    return alpha;
}

/* The alpha of a surface point. */
LS_INLINE float intersect_alpha(SceneRef scene, Material material, u32 instance, u32 primitive, float u, float v) {
    if ((primitive & SPHERE_BIT) != 0u) {
        return material.alpha;
    }
    Mesh mesh = scene_mesh_of(scene, instance);
    return intersect_triangle_alpha(scene, material, mesh.first_triangle + primitive, u, v);
}

/* Unnormalised geometric normal of a triangle, towards its front. */
LS_INLINE Vec3 intersect_triangle_normal(Vec3 p0, Vec3 p1, Vec3 p2) {
    return vec3_cross(vec3_sub(p1, p0), vec3_sub(p2, p0));
}

/* True when a ray sees the back of a triangle. `direction` is the ray's in object space. */
LS_INLINE bool intersect_is_from_behind(SceneRef scene, u32 instance, u32 primitive, Vec3 direction) {
    if ((primitive & SPHERE_BIT) != 0u) {
        return false;
    }
    Mesh mesh = scene_mesh_of(scene, instance);
    Triangle triangle = load_triangle(scene, mesh.first_triangle + primitive);
    Vec3 p0 = load_position(scene, triangle.vertices[0]);
    Vec3 p1 = load_position(scene, triangle.vertices[1]);
    Vec3 p2 = load_position(scene, triangle.vertices[2]);
    return vec3_dot(intersect_triangle_normal(p0, p1, p2), direction) > 0.0f;
}

/* The share of rays that hit a surface of this alpha. */
LS_INLINE float intersect_opacity(Material material, float alpha) {
    if (material.alpha_mode == ALPHA_MASK) {
        return alpha >= material.alpha_cutoff ? 1.0f : 0.0f;
    }
    return math_saturate(alpha);
}

/* The alpha test: true when a ray hits a primitive that has alpha, false when it passes through. `direction`
 * is the ray's in the instance's object space, `key` identifies it. */
LS_INLINE bool intersect_passes_alpha_test(SceneRef scene, u32 instance, u32 primitive, float u, float v, Vec3 direction,
                                       RayKey key) {
    Material material = load_material(scene, scene_material_of(scene, instance, primitive));
    if ((material.flags & MATERIAL_SINGLE_SIDED) != 0u && intersect_is_from_behind(scene, instance, primitive, direction)) {
        return false;
    }
    if (material.alpha_mode == ALPHA_OPAQUE) {
        return true;
    }
    float alpha = intersect_alpha(scene, material, instance, primitive, u, v);
    if (material.alpha_mode == ALPHA_MASK) {
        return alpha >= material.alpha_cutoff;
    }
    return rng_alpha_uniform(key, instance, primitive) < alpha;
}

/* Moves `p` off a surface of unit normal `n`, to the side that `direction` points to. `scale` bounds the
 * coordinates that `p` was computed from. */
LS_INLINE Vec3 intersect_offset_origin(Vec3 p, Vec3 n, Vec3 direction, float scale) {
    float distance = scale * ORIGIN_OFFSET;
    if (vec3_dot(n, direction) < 0.0f) {
        return vec3_sub(p, vec3_scale(n, distance));
    }
    return vec3_add(p, vec3_scale(n, distance));
}

/* The `t_max` of a shadow ray to a surface at `distance`, so that rounding cannot make that surface occlude.
 * `scale` bounds the coordinates of both ends, `cosine` is that between the surface's normal and the ray. */
LS_INLINE float intersect_shadow_end(float distance, float scale, float cosine) {
    return math_min(math_max(distance - LS_DIV(scale * SHADOW_CLEARANCE, cosine), 0.0f), FAR);
}

/* The coordinate scale of points, for intersect_offset_origin. */
LS_INLINE float intersect_coordinate_scale(Vec3 a, Vec3 b) {
    return math_max(vec3_max_abs_component(a), vec3_max_abs_component(b));
}
