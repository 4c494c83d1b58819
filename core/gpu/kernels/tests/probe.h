/* One kernel per entry of the parity list (src/parity/list.rs), built only for tests: item `i` reads its
 * words from `inputs`, calls the function and writes the words of the result to `outputs`. */

#define IN_U(i) (x[i])
#define IN_F(i) LS_AS_F32(x[i])
#define IN_V(i) vec3_new(IN_F(i), IN_F((i) + 1), IN_F((i) + 2))
#define OUT_U(i, value) y[i] = (u32)(value)
#define OUT_F(i, value) y[i] = LS_AS_U32(value)

LS_FN void store_vec3(LS_GLOBAL u32 *y, Vec3 v) {
    y[0] = LS_AS_U32(v.x);
    y[1] = LS_AS_U32(v.y);
    y[2] = LS_AS_U32(v.z);
}

#define OUT_V(i, value) store_vec3(y + (i), value)
/* The four words of a draw, in front. */
#define OUT_WORDS(words)         \
    OUT_U(0, (words).w[0]);      \
    OUT_U(1, (words).w[1]);      \
    OUT_U(2, (words).w[2]);      \
    OUT_U(3, (words).w[3])

/* A probe of a function of values alone, with fixed numbers of words in and out. */
#define LS_PROBE(name, words_in, words_out)                                                                     \
    LS_FN void probe_##name(LS_GLOBAL const u32 *x, LS_GLOBAL u32 *y);                                          \
    LS_KERNEL void ls_probe_##name(u32 count, LS_GLOBAL const u32 *LS_RESTRICT inputs,                          \
                                   LS_GLOBAL u32 *LS_RESTRICT outputs) {                                        \
        for (u32 i = LS_GLOBAL_ID(); i < count; i += LS_GLOBAL_SIZE()) {                                        \
            probe_##name(inputs + i * words_in, outputs + i * words_out);                                       \
        }                                                                                                       \
    }                                                                                                           \
    LS_FN void probe_##name(LS_GLOBAL const u32 *x, LS_GLOBAL u32 *y)

/* A probe of a function that reads the scene. */
#define LS_SCENE_PROBE(name, words_in, words_out)                                                               \
    LS_FN void probe_##name(SceneRef scene, LS_GLOBAL const u32 *x, LS_GLOBAL u32 *y);                          \
    LS_KERNEL void ls_probe_##name(LS_SCENE_PARAMETERS, u32 count, LS_GLOBAL const u32 *LS_RESTRICT inputs,     \
                                   LS_GLOBAL u32 *LS_RESTRICT outputs) {                                        \
        LS_SCENE_REF(scene);                                                                                    \
        for (u32 i = LS_GLOBAL_ID(); i < count; i += LS_GLOBAL_SIZE()) {                                        \
            probe_##name(scene, inputs + i * words_in, outputs + i * words_out);                                \
        }                                                                                                       \
    }                                                                                                           \
    LS_FN void probe_##name(SceneRef scene, LS_GLOBAL const u32 *x, LS_GLOBAL u32 *y)

/* ---- The dialect's words ---- */

LS_CONSTANT u32 probe_table[4] = {2u, 3u, 5u, 7u};

LS_PROBE(word_bits, 1, 1) {
    OUT_F(0, IN_F(0));
}

LS_PROBE(word_fma, 3, 1) {
    OUT_F(0, LS_FMA(IN_F(0), IN_F(1), IN_F(2)));
}

LS_PROBE(word_sqrt, 1, 1) {
    OUT_F(0, LS_SQRT(IN_F(0)));
}

LS_PROBE(word_div, 2, 1) {
    OUT_F(0, LS_DIV(IN_F(0), IN_F(1)));
}

LS_PROBE(word_min, 2, 1) {
    OUT_F(0, LS_MIN(IN_F(0), IN_F(1)) + 0.0f);
}

LS_PROBE(word_max, 2, 1) {
    OUT_F(0, LS_MAX(IN_F(0), IN_F(1)) + 0.0f);
}

LS_PROBE(word_abs, 1, 1) {
    OUT_F(0, LS_ABS(IN_F(0)));
}

LS_PROBE(word_lowest_bit, 1, 1) {
    OUT_U(0, LS_LOWEST_BIT(IN_U(0) | 0x80000000u));
}

LS_FN void store_f32x8(LS_GLOBAL u32 *y, LS_F32X8 v) {
    float lanes[8];
    LS_F32X8_STORE(v, lanes);
    for (u32 i = 0u; i < 8u; i++) {
        OUT_F(i, lanes[i]);
    }
}

LS_PROBE(word_f32x8, 16, 67) {
    LS_F32X8 a = LS_F32X8_LOAD((LS_GLOBAL const float *)x);
    LS_F32X8 b = LS_F32X8_LOAD((LS_GLOBAL const float *)(x + 8));
    store_f32x8(y, LS_F32X8_ADD(a, b));
    store_f32x8(y + 8, LS_F32X8_SUB(a, b));
    store_f32x8(y + 16, LS_F32X8_MUL(a, b));
    store_f32x8(y + 24, LS_F32X8_DIV(a, b));
    store_f32x8(y + 32, LS_F32X8_MIN(a, b));
    store_f32x8(y + 40, LS_F32X8_MAX(a, b));
    store_f32x8(y + 48, LS_F32X8_ABS(a));
    OUT_U(56, LS_F32X8_LESS(a, b));
    OUT_U(57, LS_F32X8_AT_MOST(a, b));
    OUT_U(58, LS_F32X8_EQUAL(a, b));
    store_f32x8(y + 59, LS_F32X8_SPLAT(IN_F(0)));
}

LS_PROBE(word_constant, 1, 1) {
    OUT_U(0, probe_table[IN_U(0) & 3u]);
}

LS_PROBE(word_arithmetic, 2, 3) {
    OUT_F(0, IN_F(0) + IN_F(1));
    OUT_F(1, IN_F(0) - IN_F(1));
    OUT_F(2, IN_F(0) * IN_F(1));
}

/* Products and sums, which a compiler would contract if it were allowed to. */
LS_PROBE(word_multiply_add, 3, 2) {
    OUT_F(0, IN_F(0) * IN_F(1) + IN_F(2));
    OUT_F(1, IN_F(2) - IN_F(0) * IN_F(1));
}

LS_PROBE(word_comparisons, 2, 1) {
    float a = IN_F(0);
    float b = IN_F(1);
    OUT_U(0, (a < b ? 1u : 0u) | (a <= b ? 2u : 0u) | (a > b ? 4u : 0u) | (a >= b ? 8u : 0u) | (a == b ? 16u : 0u)
                 | (a != b ? 32u : 0u));
}

LS_PROBE(word_integers, 2, 8) {
    u32 a = IN_U(0);
    u32 b = IN_U(1) | 1u;
    u64 product = (u64)a * (u64)b;
    OUT_U(0, (u32)(product >> 32));
    OUT_U(1, a / b);
    OUT_U(2, a % b);
    OUT_U(3, (i32)a / (i32)(b >> 1 | 1u));
    OUT_U(4, (i32)a % (i32)(b >> 1 | 1u));
    OUT_F(5, (float)a);
    OUT_F(6, (float)(i32)a);
    OUT_U(7, (u32)(((i64)(i32)a * (i64)(i32)b) >> 16));
}

/* Local memory, barriers and both kinds of atomics: a group's first item tells the others its index, all
 * of them count themselves, and each takes one ticket from `outputs[2 * count]`. */
LS_KERNEL void ls_probe_word_group(u32 count, LS_GLOBAL const u32 *LS_RESTRICT inputs,
                                   LS_GLOBAL u32 *LS_RESTRICT outputs) {
    LS_LOCAL u32 box[2];
    u32 lane = LS_LOCAL_ID();
    for (u32 first = LS_GLOBAL_ID() - lane; first < count; first += LS_GLOBAL_SIZE()) {
        if (lane == 0u) {
            box[0] = first;
            box[1] = 0u;
        }
        LS_BARRIER();
        u32 earlier = LS_ATOMIC_ADD(&box[1], 1u);
        LS_BARRIER();
        u32 i = first + lane;
        if (i < count) {
            bool counted = earlier < box[1] && lane < box[1];
            outputs[2u * i] = counted ? box[0] + lane + inputs[i] : NONE;
            outputs[2u * i + 1u] = LS_ATOMIC_ADD(&outputs[2u * count], 1u);
        }
        LS_BARRIER();
    }
}

/* ---- math ---- */

LS_PROBE(math_min, 2, 1) {
    OUT_F(0, math_min(IN_F(0), IN_F(1)));
}

LS_PROBE(math_max, 2, 1) {
    OUT_F(0, math_max(IN_F(0), IN_F(1)));
}

LS_PROBE(math_clamp, 3, 1) {
    OUT_F(0, math_clamp(IN_F(0), IN_F(1), IN_F(2)));
}

LS_PROBE(math_saturate, 1, 1) {
    OUT_F(0, math_saturate(IN_F(0)));
}

LS_PROBE(math_clamp_i32, 1, 1) {
    OUT_U(0, math_clamp_i32((i32)IN_U(0), -5, 1000));
}

LS_PROBE(math_is_finite, 1, 1) {
    OUT_U(0, math_is_finite(IN_F(0)) ? 1u : 0u);
}

LS_PROBE(math_sqr, 1, 1) {
    OUT_F(0, math_sqr(IN_F(0)));
}

LS_PROBE(math_safe_sqrt, 1, 1) {
    OUT_F(0, math_safe_sqrt(IN_F(0)));
}

LS_PROBE(math_with_sign_of, 2, 1) {
    OUT_F(0, math_with_sign_of(IN_F(0), IN_F(1)));
}

LS_PROBE(math_floor_to_i32, 1, 1) {
    OUT_U(0, math_floor_to_i32(IN_F(0)));
}

LS_PROBE(math_fract, 1, 1) {
    OUT_F(0, math_fract(IN_F(0)));
}

LS_PROBE(math_sin_cos_turns, 1, 2) {
    SinCos r = math_sin_cos_turns(IN_F(0));
    OUT_F(0, r.s);
    OUT_F(1, r.c);
}

LS_PROBE(math_atan2_turns, 2, 1) {
    OUT_F(0, math_atan2_turns(IN_F(0), IN_F(1)));
}

LS_PROBE(math_acos, 1, 1) {
    OUT_F(0, math_acos(IN_F(0)));
}

LS_PROBE(math_log2, 1, 1) {
    OUT_F(0, math_log2(IN_F(0)));
}

LS_PROBE(math_exp2, 2, 2) {
    OUT_F(0, math_exp2(IN_F(0)));
    OUT_F(1, math_exp2(IN_F(1)));
}

/* ---- vec3 and transform ---- */

LS_PROBE(vec3_arithmetic, 7, 15) {
    Vec3 a = IN_V(0);
    Vec3 b = IN_V(3);
    OUT_V(0, vec3_add(a, b));
    OUT_V(3, vec3_sub(a, b));
    OUT_V(6, vec3_mul(a, b));
    OUT_V(9, vec3_scale(a, IN_F(6)));
    OUT_V(12, vec3_neg(a));
}

LS_PROBE(vec3_dot, 6, 1) {
    OUT_F(0, vec3_dot(IN_V(0), IN_V(3)));
}

LS_PROBE(vec3_cross, 6, 3) {
    OUT_V(0, vec3_cross(IN_V(0), IN_V(3)));
}

LS_PROBE(vec3_normalize, 3, 3) {
    OUT_V(0, vec3_normalize(IN_V(0)));
}

LS_PROBE(vec3_components, 3, 4) {
    Vec3 a = IN_V(0);
    OUT_F(0, vec3_max_component(a));
    OUT_F(1, vec3_max_abs_component(a));
    OUT_F(2, vec3_luminance(a));
    OUT_U(3, vec3_is_finite(a) ? 1u : 0u);
}

LS_PROBE(vec3_lerp, 7, 3) {
    OUT_V(0, vec3_lerp(IN_V(0), IN_V(3), IN_F(6)));
}

LS_PROBE(vec3_weigh, 12, 3) {
    OUT_V(0, vec3_weigh(IN_V(0), IN_V(3), IN_V(6), IN_V(9)));
}

LS_PROBE(transform, 15, 9) {
    Affine a;
    for (u32 row = 0u; row < 3u; row++) {
        for (u32 column = 0u; column < 4u; column++) {
            a.m[row][column] = IN_F(4u * row + column);
        }
    }
    Vec3 v = IN_V(12);
    OUT_V(0, transform_point(a, v));
    OUT_V(3, transform_vector(a, v));
    OUT_V(6, transform_normal(a, v));
}

/* ---- rng ---- */

LS_FN SampleKey probe_key(u32 pixel, u32 sample, u32 seed) {
    SampleKey key;
    key.pixel = pixel;
    key.sample = sample;
    key.seed = seed;
    return key;
}

LS_PROBE(rng_pcg4d, 4, 4) {
    Words w = rng_pcg4d(IN_U(0), IN_U(1), IN_U(2), IN_U(3));
    OUT_WORDS(w);
}

LS_PROBE(rng_draw, 4, 4) {
    Words w = rng_draw(probe_key(IN_U(0), IN_U(1), IN_U(2)), BLOCK_ENVIRONMENT, IN_U(3) & 255u);
    OUT_WORDS(w);
}

LS_PROBE(rng_sobol_draw, 4, 4) {
    Words w = rng_sobol_draw(probe_key(IN_U(0), IN_U(1), IN_U(2)), IN_U(3));
    OUT_WORDS(w);
}

LS_PROBE(rng_xorwow_draw, 4, 4) {
    Words w = rng_xorwow_draw(probe_key(IN_U(0), IN_U(1), IN_U(2)), IN_U(3));
    OUT_WORDS(w);
}

LS_PROBE(rng_dither, 4, 4) {
    Words w = rng_dither(probe_key(IN_U(0), IN_U(1), IN_U(2)), IN_U(3) & 0x3ffffu);
    OUT_WORDS(w);
}

LS_PROBE(rng_uniforms, 4, 4) {
    Words w;
    w.w[0] = IN_U(0);
    w.w[1] = IN_U(1);
    w.w[2] = IN_U(2);
    w.w[3] = IN_U(3);
    Uniforms u = rng_uniforms(w);
    OUT_F(0, u.u[0]);
    OUT_F(1, u.u[1]);
    OUT_F(2, u.u[2]);
    OUT_F(3, u.u[3]);
}

LS_PROBE(rng_index_below, 2, 1) {
    OUT_U(0, rng_index_below(IN_U(0), IN_U(1)));
}

LS_PROBE(rng_alpha_uniform, 6, 2) {
    SampleKey key = probe_key(IN_U(0), IN_U(1), IN_U(2));
    u32 bounce = IN_U(3) & 255u;
    OUT_F(0, rng_alpha_uniform(rng_ray_key_extension(key, bounce), IN_U(4), IN_U(5)));
    OUT_F(1, rng_alpha_uniform(rng_ray_key_shadow(key, bounce), IN_U(4), IN_U(5)));
}

/* ---- sampling and camera ---- */

LS_PROBE(sampling_uniform_disk, 2, 2) {
    Vec2 d = sampling_uniform_disk(IN_F(0), IN_F(1));
    OUT_F(0, d.x);
    OUT_F(1, d.y);
}

LS_PROBE(sampling_cosine_hemisphere, 2, 3) {
    OUT_V(0, sampling_cosine_hemisphere(IN_F(0), IN_F(1)));
}

LS_PROBE(sampling_uniform_cone, 3, 3) {
    OUT_V(0, sampling_uniform_cone(IN_F(0), IN_F(1), IN_F(2)));
}

LS_PROBE(sampling_uniform_triangle, 2, 2) {
    Vec2 b = sampling_uniform_triangle(IN_F(0), IN_F(1));
    OUT_F(0, b.x);
    OUT_F(1, b.y);
}

LS_PROBE(sampling_frame, 3, 6) {
    Frame f = sampling_frame(IN_V(0));
    OUT_V(0, f.s);
    OUT_V(3, f.t);
}

LS_SCENE_PROBE(sampling_pick, 2, 1) {
    OUT_U(0, sampling_pick_light(scene, IN_U(0), IN_U(1)));
}

LS_PROBE(sampling_power_heuristic, 2, 1) {
    OUT_F(0, sampling_power_heuristic(IN_F(0), IN_F(1)));
}

LS_FN CameraFrame probe_camera(LS_GLOBAL const u32 *x) {
    CameraFrame frame;
    frame.eye = IN_V(0);
    frame.lens_radius = IN_F(3);
    frame.right = IN_V(4);
    frame.focus_distance = IN_F(7);
    frame.up = IN_V(8);
    frame.width = IN_U(11) + 1u;
    frame.forward = IN_V(12);
    frame.height = IN_U(15) + 1u;
    return frame;
}

LS_PROBE(camera_frame_ray, 21, 6) {
    Uniforms u;
    u.u[0] = IN_F(17);
    u.u[1] = IN_F(18);
    u.u[2] = IN_F(19);
    u.u[3] = IN_F(20);
    CameraRay ray = camera_frame_ray(probe_camera(x), IN_U(16), u);
    OUT_V(0, ray.origin);
    OUT_V(3, ray.direction);
}

LS_PROBE(camera_importance_connect, 21, 6) {
    CameraSample s = camera_importance_connect(probe_camera(x), IN_V(16), IN_F(19), IN_F(20));
    OUT_U(0, s.pixel);
    OUT_V(1, s.direction);
    OUT_F(4, s.distance);
    OUT_F(5, s.importance);
}

/* ---- texture ---- */

LS_SCENE_PROBE(texture_texel_rgb, 2, 3) {
    OUT_V(0, texture_texel_rgb(texture_memory(scene), IN_U(0), IN_U(1)));
}

LS_PROBE(texture_wrap_index, 3, 1) {
    OUT_U(0, texture_wrap_index((i32)IN_U(0) >> 8, IN_U(1) + 1u, IN_U(2)));
}

LS_PROBE(texture_wrap_coordinate, 2, 1) {
    OUT_F(0, texture_wrap_coordinate(IN_F(0), IN_U(1)));
}

LS_FN Vertex probe_uv_vertex(LS_GLOBAL const u32 *x) {
    Vertex v;
    v.normal = vec3_splat(0.0f);
    v.red_green = 0u;
    v.tangent = vec3_splat(0.0f);
    v.blue_alpha = 0u;
    v.uv0[0] = IN_F(0);
    v.uv0[1] = IN_F(1);
    v.uv1[0] = IN_F(2);
    v.uv1[1] = IN_F(3);
    return v;
}

LS_PROBE(vertex, 2, 6) {
    Vertex v;
    v.red_green = IN_U(0);
    v.blue_alpha = IN_U(1);
    OUT_V(0, vertex_rgb(v));
    OUT_F(3, vertex_alpha(v));
    OUT_F(4, vertex_tangent_sign(v));
    OUT_U(5, vertex_is_white(v) ? 1u : 0u);
}

LS_PROBE(texture_coordinates, 22, 2) {
    Texture texture;
    texture.first_texel = 0u;
    texture.width = 1u;
    texture.height = 1u;
    texture.flags = IN_U(0);
    for (u32 i = 0u; i < 3u; i++) {
        texture.transform[0][i] = IN_F(1u + i);
        texture.transform[1][i] = IN_F(4u + i);
    }
    texture.transform[0][3] = 0.0f;
    texture.transform[1][3] = 0.0f;
    Vec2 uv = texture_coordinates(texture, probe_uv_vertex(x + 7), probe_uv_vertex(x + 11), probe_uv_vertex(x + 15),
                                  IN_V(19));
    OUT_F(0, uv.x);
    OUT_F(1, uv.y);
}

LS_SCENE_PROBE(texture_sample, 3, 4) {
    Vec2 uv;
    uv.x = IN_F(1);
    uv.y = IN_F(2);
    Rgba value = texture_sample(scene, load_texture(scene, IN_U(0)), uv);
    OUT_V(0, value.rgb);
    OUT_F(3, value.a);
}

/* ---- intersect ---- */

LS_FN Box probe_box(LS_GLOBAL const u32 *x) {
    Box box;
    box.lo = IN_V(0);
    box.hi = IN_V(3);
    return box;
}

/* Of zeros the sign is open: adding zero makes it positive. */
LS_PROBE(intersect_slabs_interval, 12, 2) {
    Interval interval = intersect_slabs_interval(intersect_slabs_new(IN_V(0), IN_V(3)), probe_box(x + 6));
    OUT_F(0, interval.entry + 0.0f);
    OUT_F(1, interval.exit + 0.0f);
}

LS_PROBE(intersect_triangle, 15, 4) {
    TriangleHit hit = intersect_triangle(IN_V(0), intersect_shear_new(IN_V(3)), IN_V(6), IN_V(9), IN_V(12));
    OUT_U(0, hit.found ? 1u : 0u);
    OUT_F(1, hit.t);
    OUT_F(2, hit.u);
    OUT_F(3, hit.v);
}

LS_PROBE(intersect_sphere, 10, 3) {
    SphereHit hit = intersect_sphere(IN_V(0), IN_V(3), IN_V(6), IN_F(9));
    OUT_U(0, hit.found ? 1u : 0u);
    OUT_F(1, hit.enters);
    OUT_F(2, hit.leaves);
}

LS_PROBE(bvh_leaf_primitive_bounds, 12, 6) {
    LeafPrimitive p;
    p.p0 = IN_V(0);
    p.p1 = IN_V(3);
    p.p2 = IN_V(6);
    p.primitive = IN_U(9);
    bool is_whole = (IN_U(10) & 1u) == 0u;
    p.flags = is_whole ? 0u : (IN_U(10) >> 2) << LEAF_CLIP_SHIFT;
    p.clip_above = is_whole ? 0u : IN_U(11) >> 2;
    Box box = bvh_leaf_primitive_bounds(p);
    OUT_V(0, vec3_add(box.lo, vec3_splat(0.0f)));
    OUT_V(3, vec3_add(box.hi, vec3_splat(0.0f)));
}

LS_PROBE(intersect_accept, 14, 2) {
    Accepted accepted = intersect_accept(intersect_slabs_new(IN_V(0), IN_V(3)), probe_box(x + 6), IN_F(12), IN_F(13));
    OUT_U(0, accepted.found ? 1u : 0u);
    OUT_F(1, accepted.found ? accepted.t : 0.0f);
}

LS_FN Hit probe_hit(float t, u32 instance, u32 primitive) {
    Hit hit = intersect_hit_none(t);
    hit.instance = instance;
    hit.primitive = primitive;
    return hit;
}

LS_PROBE(intersect_hit_yields_to, 6, 1) {
    Hit a = probe_hit(IN_F(0), IN_U(1), IN_U(2));
    Hit b = probe_hit(IN_F(3), IN_U(4), IN_U(5));
    OUT_U(0, intersect_hit_yields_to(a, b) ? 1u : 0u);
}

LS_PROBE(intersect_triangle_normal, 9, 3) {
    OUT_V(0, intersect_triangle_normal(IN_V(0), IN_V(3), IN_V(6)));
}

LS_PROBE(intersect_offset_origin, 10, 3) {
    OUT_V(0, intersect_offset_origin(IN_V(0), IN_V(3), IN_V(6), IN_F(9)));
}

LS_PROBE(intersect_coordinate_scale, 6, 1) {
    OUT_F(0, intersect_coordinate_scale(IN_V(0), IN_V(3)));
}

LS_SCENE_PROBE(intersect_passes_alpha_test, 10, 1) {
    u32 instance = IN_U(0);
    Mesh mesh = scene_mesh_of(scene, instance);
    u32 of_triangle = mesh.triangle_count > 0u ? IN_U(1) % mesh.triangle_count : SPHERE_BIT;
    u32 primitive = (IN_U(1) & 1024u) != 0u && mesh.sphere_count > 0u ? SPHERE_BIT | (IN_U(1) % mesh.sphere_count)
                                                                      : of_triangle;
    RayKey key = rng_ray_key_shadow(probe_key(IN_U(4), IN_U(5), IN_U(6)), 1u);
    OUT_U(0, intersect_passes_alpha_test(scene, instance, primitive, IN_F(2), IN_F(3), IN_V(7), key) ? 1u : 0u);
}

/* ---- bsdf ---- */

LS_FN Surface probe_surface(LS_GLOBAL const u32 *x) {
    Surface s;
    s.kind = IN_U(0);
    s.base_color = IN_V(1);
    s.roughness = IN_F(4);
    s.metallic = IN_F(5);
    s.ior = IN_F(6);
    s.transmission = IN_F(7);
    s.outside = (IN_U(8) & 1u) != 0u;
    s.multiscatter = false;
    s.albedos = 0;
    return s;
}

/* A surface that may keep the light that scatters more than once. */
LS_FN Surface probe_keeping_surface(SceneRef scene, LS_GLOBAL const u32 *x) {
    Surface s = probe_surface(x);
    s.multiscatter = (IN_U(8) & 2u) != 0u;
    s.albedos = scene.albedos;
    return s;
}

LS_PROBE(bsdf_surface_is_specular, 9, 1) {
    OUT_U(0, bsdf_surface_is_specular(probe_surface(x)) ? 1u : 0u);
}

LS_PROBE(bsdf_schlick, 4, 3) {
    OUT_V(0, bsdf_schlick(IN_V(0), IN_F(3)));
}

LS_PROBE(bsdf_fresnel_dielectric, 2, 1) {
    OUT_F(0, bsdf_fresnel_dielectric(IN_F(0), IN_F(1)));
}

LS_PROBE(bsdf_ggx_d, 4, 1) {
    OUT_F(0, bsdf_ggx_d(IN_V(0), IN_F(3)));
}

LS_PROBE(bsdf_ggx_lambda, 4, 1) {
    OUT_F(0, bsdf_ggx_lambda(IN_V(0), IN_F(3)));
}

LS_PROBE(bsdf_ggx_sample, 6, 3) {
    OUT_V(0, bsdf_ggx_sample(IN_V(0), IN_F(3), IN_F(4), IN_F(5)));
}

LS_PROBE(bsdf_evaluate, 15, 4) {
    Evaluation e = bsdf_evaluate(probe_surface(x), IN_V(9), IN_V(12));
    OUT_V(0, e.value);
    OUT_F(3, e.pdf);
}

LS_PROBE(bsdf_sample, 15, 7) {
    Scatter s = bsdf_sample(probe_surface(x), IN_V(9), IN_F(12), IN_F(13), IN_F(14));
    OUT_V(0, s.wi);
    OUT_V(3, s.weight);
    OUT_F(6, s.pdf);
}

LS_PROBE(bsdf_evaluate_bidirectional, 16, 5) {
    BidirectionalEvaluation e =
        bsdf_evaluate_bidirectional(probe_surface(x), IN_V(9), IN_V(12), (IN_U(15) & 1u) != 0u);
    OUT_V(0, e.value);
    OUT_F(3, e.pdf);
    OUT_F(4, e.reverse_pdf);
}

LS_PROBE(bsdf_shading_normal_correction, 4, 1) {
    Vec2 wo;
    wo.x = IN_F(0);
    wo.y = IN_F(1);
    Vec2 wi;
    wi.x = IN_F(2);
    wi.y = IN_F(3);
    OUT_F(0, bsdf_shading_normal_correction(wo, wi));
}

LS_PROBE(bsdf_ggx_anisotropic, 10, 9) {
    Vec2 alpha;
    alpha.x = IN_F(3);
    alpha.y = IN_F(4);
    Vec2 along;
    along.x = IN_F(7);
    along.y = IN_F(8);
    OUT_F(0, bsdf_ggx_d_anisotropic(IN_V(0), alpha));
    OUT_F(1, bsdf_ggx_lambda_anisotropic(IN_V(0), alpha));
    OUT_V(2, bsdf_ggx_sample_anisotropic(IN_V(0), alpha, IN_F(5), IN_F(6)));
    OUT_V(5, bsdf_turned_back(bsdf_turned(IN_V(0), along), along));
    OUT_F(8, bsdf_sheen_alpha(IN_F(9)));
}

LS_SCENE_PROBE(bsdf_sheen_albedo, 2, 1) {
    OUT_F(0, bsdf_sheen_albedo(scene.albedos, IN_F(0), IN_F(1)));
}

LS_SCENE_PROBE(bsdf_missing, 3, 2) {
    OUT_F(0, bsdf_missing_in_plane(scene.albedos, IN_U(0), IN_F(1), IN_F(2)));
    OUT_F(1, bsdf_mean_missing_in_plane(scene.albedos, IN_U(0), IN_F(1)));
}

LS_SCENE_PROBE(bsdf_albedo_scaling, 6, 4) {
    OUT_F(0, bsdf_rising_albedo(scene.albedos, IN_F(0), IN_F(1)));
    OUT_F(1, bsdf_mean_rising_albedo(scene.albedos, IN_F(0)));
    OUT_F(2, bsdf_charlie_albedo(scene.albedos, IN_F(0), IN_F(1)));
    Vec2 alpha;
    alpha.x = IN_F(1);
    alpha.y = IN_F(2);
    OUT_F(3, bsdf_stretched_missing(scene.albedos, IN_F(0), IN_F(2), alpha, IN_V(3)));
}

LS_SCENE_PROBE(bsdf_multiscatter, 18, 12) {
    Surface s = probe_keeping_surface(scene, x);
    s.multiscatter = true;
    BidirectionalEvaluation e = bsdf_evaluate_bidirectional(s, IN_V(9), IN_V(12), (IN_U(8) & 4u) != 0u);
    OUT_V(0, e.value);
    OUT_F(3, e.pdf);
    OUT_F(4, e.reverse_pdf);
    Scatter sampled = bsdf_sample(s, IN_V(9), IN_F(15), IN_F(16), IN_F(17));
    OUT_V(5, sampled.wi);
    OUT_V(8, sampled.weight);
    OUT_F(11, sampled.pdf);
}

LS_PROBE(bsdf_sheen_value, 7, 1) {
    OUT_F(0, bsdf_sheen_value(IN_F(0), IN_V(1), IN_V(4)));
}

LS_PROBE(bsdf_thin_film, 6, 6) {
    ThinFilm film;
    film.ior = IN_F(0);
    film.thickness = IN_F(1);
    OUT_V(0, bsdf_thin_film(film, IN_V(2), IN_F(5)));
    OUT_V(3, bsdf_film_envelope(film, IN_V(2)));
}

/* A dielectric with a medium, in the fixtures. */
#define MEDIA_MATERIAL 11u

/* Layers from word 9 on, then the direction of anisotropy as an angle in turns. */
LS_FN SurfaceLayers probe_layers(SceneRef scene, LS_GLOBAL const u32 *x) {
    SurfaceLayers l = bsdf_no_layers();
    l.present = true;
    l.specular_color = IN_V(9);
    l.specular = IN_F(12);
    l.sheen_color = IN_V(13);
    l.sheen_roughness = IN_F(16);
    l.clearcoat = IN_F(17);
    l.clearcoat_roughness = IN_F(18);
    l.clearcoat_f0 = IN_F(19);
    l.anisotropy = (IN_U(8) & 32u) != 0u ? 0.0f : IN_F(20);
    l.iridescence = (IN_U(8) & 64u) != 0u ? 0.0f : IN_F(21);
    l.film.ior = 1.0f + IN_F(22);
    l.film.thickness = 1000.0f * IN_F(23);
    l.albedos = scene.albedos;
    return l;
}

/* The direction of anisotropy, a normal of the clearcoat where it has one of its own, and the geometric normal. */
LS_FN LayerAxes probe_axes(LS_GLOBAL const u32 *x) {
    SinCos angle = math_sin_cos_turns(IN_F(24));
    LayerAxes axes;
    axes.along.x = angle.c;
    axes.along.y = angle.s;
    axes.coat = (IN_U(8) & 4u) != 0u ? IN_V(31) : vec3_new(0.0f, 0.0f, 1.0f);
    axes.geometric = IN_V(34);
    return axes;
}

LS_SCENE_PROBE(bsdf_evaluate_layered, 37, 4) {
    Evaluation e = bsdf_evaluate_layered(probe_keeping_surface(scene, x), probe_layers(scene, x), probe_axes(x), IN_V(25),
                                         IN_V(28));
    OUT_V(0, e.value);
    OUT_F(3, e.pdf);
}

LS_SCENE_PROBE(bsdf_picked_lobe, 41, 13) {
    Surface surface = probe_keeping_surface(scene, x);
    SurfaceLayers layers = probe_layers(scene, x);
    LayerAxes axes = probe_axes(x);
    PickedLobe picked = bsdf_picked_lobe_new(surface, layers, axes, IN_V(25), IN_F(37), IN_F(38));
    OUT_U(0, picked.lobe);
    OUT_F(1, picked.weight);
    Evaluation e = bsdf_picked_lobe_evaluate(picked, surface, layers, axes, IN_V(25), IN_V(28));
    OUT_V(2, e.value);
    OUT_F(5, e.pdf);
    Scatter s = bsdf_picked_lobe_sample(picked, surface, layers, axes, IN_V(25), IN_F(39), IN_F(40));
    OUT_V(6, s.wi);
    OUT_V(9, s.weight);
    OUT_F(12, s.pdf);
}

LS_SCENE_PROBE(bsdf_sample_layered, 37, 7) {
    Scatter s = bsdf_sample_layered(probe_keeping_surface(scene, x), probe_layers(scene, x), probe_axes(x), IN_V(25), IN_F(28),
                                    IN_F(29), IN_F(30));
    OUT_V(0, s.wi);
    OUT_V(3, s.weight);
    OUT_F(6, s.pdf);
}

LS_SCENE_PROBE(bsdf_glass, 40, 11) {
    Surface surface = probe_keeping_surface(scene, x);
    surface.kind = MATERIAL_DIELECTRIC;
    SurfaceLayers layers = probe_layers(scene, x);
    layers.clearcoat = (IN_U(8) & 8u) != 0u ? 0.0f : layers.clearcoat;
    layers.iridescence = (IN_U(8) & 16u) != 0u ? 0.0f : layers.iridescence;
    Evaluation e = bsdf_evaluate_glass(surface, layers, IN_V(25), IN_V(28));
    OUT_V(0, e.value);
    OUT_F(3, e.pdf);
    Scatter s = bsdf_sample_glass(surface, layers, IN_V(25), IN_F(37), IN_F(38), IN_F(39));
    OUT_V(4, s.wi);
    OUT_V(7, s.weight);
    OUT_F(10, s.pdf);
}

LS_SCENE_PROBE(media, 11, 10) {
    Material material = load_material(scene, IN_U(0) == 0u ? 3u : MEDIA_MATERIAL);
    u32 medium = IN_U(1) & (CHANNEL_CHOSEN | 1u);
    bool outside = (IN_U(2) & 1u) != 0u;
    OUT_V(0, media_transmittance(scene, medium, IN_F(3)));
    OUT_U(3, media_arriving(material, medium, outside));
    OUT_U(4, media_leaving(material, medium, outside, IN_F(4)));
    OUT_F(5, media_dispersed_ior(IN_F(5), IN_F(6), IN_U(7)));
    OUT_U(6, media_dispersed_channel(probe_key(IN_U(1), IN_U(2), 3u)));
    OUT_V(7, media_one_channel(IN_V(8), IN_U(7)));
}

/* No medium and the fixtures' dielectrics, as entries of an interior list. */
LS_FN u32 probe_interior(u32 choice) {
    return choice == 0u ? 0u : (choice == 1u ? 4u : (choice == 2u ? 5u : 12u));
}

/* An interior list of any four of them. */
LS_FN u64 probe_interiors(u32 word) {
    u64 list = (u64)0;
    for (u32 i = 0u; i < 4u; i++) {
        list |= (u64)probe_interior((word >> (2u * i)) & 3u) << (ENTRY_BITS * i);
    }
    return list;
}

LS_FN void probe_store_interiors(LS_GLOBAL u32 *y, u64 list) {
    y[0] = (u32)list;
    y[1] = (u32)(list >> 32u);
}

LS_SCENE_PROBE(interior_list, 3, 12) {
    u64 list = probe_interiors(IN_U(0));
    bool outside = (IN_U(1) & 1u) != 0u;
    u32 medium = probe_interior(1u + IN_U(2));
    probe_store_interiors(y, interior_list_enter(scene, list, medium));
    probe_store_interiors(y + 2, interior_list_leave(list, medium));
    probe_store_interiors(y + 4, interior_list_arrive(scene, list, medium, outside));
    probe_store_interiors(y + 6, interior_list_cross(scene, list, medium, outside));
    OUT_U(8, interior_list_real_medium(list));
    OUT_U(9, interior_list_real_layers(scene, list));
    OUT_F(10, interior_list_index_of_refraction(scene, interior_list_real_medium(list)));
    OUT_F(11, interior_list_dispersion(scene, interior_list_real_medium(list)));
}

/* ---- lights ---- */

LS_SCENE_PROBE(lights_sample, 8, 10) {
    VertexRecord unread;
    unread.flags = 0u;
    LightSample s = lights_sample(scene, IN_V(0), IN_F(7), probe_key(IN_U(3), IN_U(4), IN_U(5)),
                                  IN_U(6) & 255u, &unread);
    OUT_V(0, s.direction);
    OUT_F(3, s.distance);
    OUT_V(4, s.radiance);
    OUT_F(7, s.pdf);
    OUT_U(8, s.delta ? 1u : 0u);
    OUT_F(9, s.shadow_end);
}

LS_SCENE_PROBE(lights_environment, 3, 4) {
    OUT_V(0, environment_radiance(scene, IN_V(0)));
    OUT_F(3, lights_environment_pdf(scene, IN_V(0)));
}

LS_SCENE_PROBE(lights_densities, 11, 3) {
    Material material = load_material(scene, IN_U(0));
    OUT_F(0, lights_emission_cosine(material, IN_F(1)));
    OUT_F(1, lights_area_to_solid_angle(material, IN_F(2), IN_F(1)));
    OUT_F(2, lights_sphere_pdf(material, IN_V(3), IN_F(6), IN_V(7), IN_F(2), IN_F(10)));
}

LS_SCENE_PROBE(emission_sample, 8, 16) {
    Words position;
    Words direction;
    for (u32 i = 0u; i < 4u; i++) {
        position.w[i] = IN_U(i);
        direction.w[i] = IN_U(4u + i);
    }
    EmissionSample s = emission_sample(scene, position, direction);
    OUT_U(0, s.light);
    OUT_V(1, s.origin);
    OUT_V(4, s.direction);
    OUT_V(7, s.normal);
    OUT_V(10, s.radiance);
    OUT_F(13, s.cosine);
    OUT_F(14, s.pdf_position);
    OUT_F(15, s.pdf_direction);
}

LS_SCENE_PROBE(emission_direction_pdf, 2, 1) {
    OUT_F(0, emission_direction_pdf(load_material(scene, IN_U(0)), IN_F(1)));
}

/* ---- traversal ---- */

LS_FN Ray probe_ray(LS_GLOBAL const u32 *x) {
    Ray ray;
    ray.origin = IN_V(0);
    ray.t_min = 0.0f;
    ray.direction = IN_V(3);
    ray.t_max = IN_F(6);
    return ray;
}

LS_SCENE_PROBE(bvh_closest_hit, 10, 5) {
    Hit hit = bvh_closest_hit(scene, probe_ray(x), rng_ray_key_extension(probe_key(IN_U(7), IN_U(8), IN_U(9)), 2u));
    OUT_F(0, hit.t);
    OUT_F(1, hit.u);
    OUT_F(2, hit.v);
    OUT_U(3, hit.instance);
    OUT_U(4, hit.primitive);
}

LS_SCENE_PROBE(bvh_any_hit, 10, 1) {
    RayKey key = rng_ray_key_shadow(probe_key(IN_U(7), IN_U(8), IN_U(9)), 2u);
    OUT_U(0, bvh_any_hit(scene, probe_ray(x), key) ? 1u : 0u);
}

/* ---- path and film ---- */

LS_PROBE(path_generate, 19, 6) {
    PathState path = path_generate(probe_camera(x), probe_key(IN_U(16), IN_U(17), IN_U(18)));
    OUT_V(0, path.ray.origin);
    OUT_V(3, path.ray.direction);
}

/* Traces the ray first, so that what is shaded is a hit that can be. */
LS_SCENE_PROBE(path_shade, 19, 29) {
    Pass pass;
    pass.strategy = IN_U(17);
    pass.bounces = 3u;
    pass.roulette_from = IN_U(18) < 2u ? IN_U(18) : NONE;
    u32 bounce = IN_U(16);
    PathState path;
    path.ray = probe_ray(x);
    path.key = probe_key(IN_U(7), IN_U(8), IN_U(9));
    path.throughput = IN_V(10);
    path.radiance = IN_V(13);
    path.bsdf_pdf = (IN_U(7) & 1u) != 0u ? IN_F(10) : 0.0f;
    path.medium = IN_U(8) & (CHANNEL_CHOSEN | 1u);
    path.interiors = probe_interiors(IN_U(9));
    Hit hit = bvh_closest_hit(scene, path.ray, rng_ray_key_extension(path.key, bounce));
    VertexRecord unread;
    unread.flags = 0u;
    Shaded shaded = path_shade(scene, pass, bounce, &path, hit, &unread);
    OUT_V(0, path.ray.origin);
    OUT_V(3, path.ray.direction);
    OUT_F(6, path.ray.t_max);
    OUT_V(7, path.throughput);
    OUT_F(10, path.bsdf_pdf);
    OUT_V(11, path.radiance);
    OUT_U(14, path.medium);
    OUT_U(15, shaded.continues ? 1u : 0u);
    OUT_U(16, shaded.connection.wanted ? 1u : 0u);
    OUT_V(17, shaded.connection.ray.origin);
    OUT_V(20, shaded.connection.ray.direction);
    OUT_F(23, shaded.connection.ray.t_max);
    OUT_V(24, shaded.connection.radiance);
    probe_store_interiors(y + 27, path.interiors);
}

/* Shading of ambient occlusion. */
LS_SCENE_PROBE(ao_shade, 10, 8) {
    Pass pass;
    PathState path;
    pass.bounces = 0u;
    path.ray = probe_ray(x);
    path.key = probe_key(IN_U(7), IN_U(8), IN_U(9));
    Hit hit = bvh_closest_hit(scene, path.ray, rng_ray_key_extension(path.key, 0u));
    VertexRecord unread;
    unread.flags = 0u;
    Shaded shaded = ao_shade(scene, pass, 0u, &path, hit, &unread);
    OUT_U(0, shaded.connection.wanted ? 1u : 0u);
    OUT_V(1, shaded.connection.ray.origin);
    OUT_V(4, shaded.connection.ray.direction);
    OUT_F(7, shaded.connection.ray.t_max);
}

/* ---- light and camera sub-paths ---- */

LS_PROBE(splat_quantize, 8, 9) {
    InvalidSamples invalid = film_no_invalid();
    u32 technique = splat_technique_index(IN_U(6), IN_U(7));
    Units units = splat_quantize(IN_V(0), probe_key(IN_U(3), IN_U(4), IN_U(5)), technique, &invalid);
    for (u32 i = 0u; i < 3u; i++) {
        OUT_U(2u * i, (u32)units.channel[i]);
        OUT_U(2u * i + 1u, (u32)(units.channel[i] >> 32));
        OUT_U(6u + i, invalid.count[i]);
    }
}

LS_FN void store_sub_path(LS_GLOBAL u32 *y, bool wanted, Ray ray, Vec3 throughput, PartialWeights partial) {
    OUT_U(0, wanted ? 1u : 0u);
    OUT_V(1, ray.origin);
    OUT_V(4, ray.direction);
    OUT_V(7, throughput);
    OUT_F(10, partial.vcm);
    OUT_F(11, partial.vc);
    OUT_F(12, partial.vm);
}

LS_FN MergeRatios probe_ratios(float merge, float connect) {
    MergeRatios ratios;
    ratios.merge = merge;
    ratios.connect = connect;
    return ratios;
}

LS_FN void store_probed_vertex(LS_GLOBAL u32 *y, PathVertex v) {
    OUT_U(0, v.wanted ? 1u : 0u);
    OUT_V(1, v.position);
    OUT_V(4, v.geometric);
    OUT_V(7, v.shading);
    OUT_V(10, v.throughput);
    OUT_V(13, v.surface.base_color);
    OUT_F(16, v.partial.vcm);
    OUT_F(17, v.partial.vc);
    OUT_F(18, v.partial.vm);
}

LS_FN void store_probed_connection(LS_GLOBAL u32 *y, PairConnection c) {
    OUT_U(0, c.wanted ? 1u : 0u);
    OUT_V(1, c.wanted ? c.ray.origin : vec3_splat(0.0f));
    OUT_V(4, c.wanted ? c.ray.direction : vec3_splat(0.0f));
    OUT_F(7, c.wanted ? c.ray.t_max : 0.0f);
    OUT_U(8, c.wanted ? c.pixel : 0u);
    OUT_U(9, c.wanted ? c.technique : 0u);
    OUT_V(10, c.wanted ? c.value : vec3_splat(0.0f));
    OUT_F(13, c.wanted ? c.weight : 0.0f);
}

/* A light sub-path from its light, or with bounce above 0 from its first vertex as if it came from elsewhere. */
LS_SCENE_PROBE(light_path, 25, 46) {
    SampleKey key = probe_key(IN_U(16), IN_U(17), IN_U(18));
    CameraFrame camera = probe_camera(x);
    u32 bounce = IN_U(19);
    LightPath path = light_path_light_path_start(scene, key);
    PathVertex vertex = vertex_none();
    PairConnection lens = vertex_no_connection();
    bool continues = false;
    if (path.wanted) {
        path.partial = weights_new(IN_F(20), IN_F(21), IN_F(22));
        MergeRatios ratios = probe_ratios(IN_F(23), IN_F(24));
        Hit hit = bvh_closest_hit(scene, path.ray, rng_ray_key_light_extension(key, bounce));
        vertex = light_path_light_path_arrive(scene, path, bounce, hit, ratios);
        if (vertex.wanted) {
            Pass pass;
            pass.roulette_from = (IN_U(16) & 1u) != 0u ? 1u : NONE;
            lens = connections_to_camera(camera, key, bounce, vertex, ratios);
            continues = light_path_light_path_extend(pass, bounce, &path, vertex, ratios);
        }
    }
    store_probed_vertex(y, vertex);
    store_probed_connection(y + 19, lens);
    store_sub_path(y + 33, continues, path.ray, path.throughput, path.partial);
}

/* A camera sub-path along a given ray. */
LS_SCENE_PROBE(camera_path, 31, 51) {
    SampleKey key = probe_key(IN_U(16), IN_U(17), IN_U(18));
    u32 bounce = IN_U(25);
    CameraPath path = camera_path_camera_path_start(probe_camera(x), key);
    path.ray = path_ray(IN_V(19), IN_V(22), FAR);
    path.partial = weights_new(IN_F(26), IN_F(27), IN_F(28));
    MergeRatios ratios = probe_ratios(IN_F(29), IN_F(30));
    Hit hit = bvh_closest_hit(scene, path.ray, rng_ray_key_extension(key, bounce));
    Arrival arrival = camera_path_camera_path_arrive(scene, path, bounce, (IN_U(17) & 7u) == 0u, hit);
    PairConnection light = vertex_no_connection();
    bool continues = false;
    if (arrival.vertex.wanted) {
        Pass pass;
        pass.roulette_from = (IN_U(16) & 1u) != 0u ? 1u : NONE;
        light = connections_to_light(scene, key, bounce, arrival.vertex, ratios);
        continues = camera_path_camera_path_extend(pass, bounce, &path, arrival.vertex, ratios);
    }
    store_probed_vertex(y, arrival.vertex);
    store_probed_connection(y + 19, light);
    store_sub_path(y + 33, continues, path.ray, path.throughput, path.partial);
    OUT_V(46, arrival.emitted.value);
    OUT_F(49, arrival.emitted.weight);
    OUT_U(50, path.specular ? 1u : 0u);
}

/* The density of the camera ray. */
LS_PROBE(camera_path_start, 19, 2) {
    CameraPath path = camera_path_camera_path_start(probe_camera(x), probe_key(IN_U(16), IN_U(17), IN_U(18)));
    OUT_F(0, path.partial.vcm);
    OUT_F(1, path.partial.vc);
}

/* The connection of the hits of two rays. */
LS_SCENE_PROBE(connections_join, 21, 14) {
    SampleKey key = probe_key(IN_U(12), IN_U(13), IN_U(14));
    LightPath of_light = light_path_light_path_start(scene, key);
    of_light.ray = path_ray(IN_V(0), IN_V(3), FAR);
    of_light.throughput = vec3_splat(1.0f);
    of_light.partial = weights_new(IN_F(15), IN_F(16), 0.0f);
    CameraPath of_camera;
    of_camera.key = key;
    of_camera.ray = path_ray(IN_V(6), IN_V(9), FAR);
    of_camera.throughput = vec3_splat(1.0f);
    of_camera.partial = weights_new(IN_F(17), IN_F(18), 0.0f);
    of_camera.specular = false;
    MergeRatios ratios = probe_ratios(IN_F(19), IN_F(20));
    Hit light_hit = bvh_closest_hit(scene, of_light.ray, rng_ray_key_light_extension(key, 1u));
    Hit camera_hit = bvh_closest_hit(scene, of_camera.ray, rng_ray_key_extension(key, 1u));
    PathVertex light = light_path_light_path_arrive(scene, of_light, 1u, light_hit, ratios);
    PathVertex camera = camera_path_camera_path_arrive(scene, of_camera, 1u, false, camera_hit).vertex;
    PairConnection join = vertex_no_connection();
    if (light.wanted && camera.wanted) {
        u32 technique = splat_technique_index(3u, 3u);
        join = connections_join(key, technique, vertex_restored(scene, light), camera, ratios);
        RayKey alpha = rng_ray_key_connection(key, technique);
        join.wanted = join.wanted && !bvh_any_hit(scene, join.ray, alpha);
    }
    store_probed_connection(y, join);
}

/* ---- Merging ---- */

LS_FN Merging probe_merging(LS_GLOBAL const u32 *x) {
    Merging merging;
    merging.origin = IN_V(0);
    merging.cells_per_unit = IN_F(3);
    merging.radius2 = IN_F(4);
    merging.reach = IN_F(5);
    merging.normalization = IN_F(6);
    merging.ratios = probe_ratios(IN_F(7), IN_F(8));
    merging.bucket_mask = IN_U(9);
    merging.first_only = 0u;
    merging.reserved = 0u;
    return merging;
}

LS_FN void store_cell(LS_GLOBAL u32 *y, Cell cell) {
    for (u32 i = 0u; i < 3u; i++) {
        OUT_U(i, cell.at[i]);
    }
}

LS_PROBE(merging_grid, 16, 9) {
    Merging merging = probe_merging(x);
    CellRange range = merging_merging_cells_around(merging, IN_V(10));
    store_cell(y, range.first);
    store_cell(y + 3, range.last);
    OUT_U(6, merging_merging_bucket(merging, range.first));
    OUT_U(7, merging_merging_bucket(merging, merging_merging_cell(merging, IN_V(13))));
    OUT_U(8, merging_merging_contains(merging, IN_V(10), IN_V(13)) ? 1u : 0u);
}

/* The photons of two contributions, the first of them three times. */
LS_PROBE(splat_merge_sum, 10, 9) {
    InvalidSamples invalid = film_no_invalid();
    MergeSum sum = splat_no_merges();
    splat_merge_sum_add(&sum, IN_V(0), &invalid);
    splat_merge_sum_add(&sum, IN_V(0), &invalid);
    splat_merge_sum_add(&sum, IN_V(3), &invalid);
    splat_merge_sum_add(&sum, IN_V(0), &invalid);
    u32 technique = splat_technique_index(SPLAT_MERGED, IN_U(9));
    Units units = splat_merge_sum_film_units(sum, probe_key(IN_U(6), IN_U(7), IN_U(8)), technique, &invalid);
    for (u32 i = 0u; i < 3u; i++) {
        OUT_U(2u * i, (u32)units.channel[i]);
        OUT_U(2u * i + 1u, (u32)(units.channel[i] >> 32));
        OUT_U(6u + i, invalid.count[i]);
    }
}

/* The merge of the photon at the hit of one ray with the vertex at the hit of another. */
LS_SCENE_PROBE(photon_merge, 32, 17) {
    Merging merging = probe_merging(x);
    SampleKey key = probe_key(IN_U(22), IN_U(23), IN_U(24));
    LightPath of_light = light_path_light_path_start(scene, key);
    of_light.ray = path_ray(IN_V(10), IN_V(13), FAR);
    of_light.throughput = vec3_splat(1.0f);
    of_light.partial = weights_new(IN_F(25), IN_F(26), IN_F(27));
    CameraPath of_camera;
    of_camera.key = key;
    of_camera.ray = path_ray(IN_V(16), IN_V(19), FAR);
    of_camera.throughput = vec3_splat(1.0f);
    of_camera.partial = weights_new(IN_F(28), IN_F(29), IN_F(30));
    of_camera.specular = false;
    Hit light_hit = bvh_closest_hit(scene, of_light.ray, rng_ray_key_light_extension(key, 1u));
    Hit camera_hit = bvh_closest_hit(scene, of_camera.ray, rng_ray_key_extension(key, 1u));
    PathVertex light = light_path_light_path_arrive(scene, of_light, 1u, light_hit, merging.ratios);
    PathVertex camera = camera_path_camera_path_arrive(scene, of_camera, 1u, false, camera_hit).vertex;
    Photon photon;
    photon.position = vec3_splat(0.0f);
    photon.from = vec3_splat(0.0f);
    photon.throughput = vec3_splat(0.0f);
    photon.bounce = 0u;
    photon.vcm = 0.0f;
    photon.vm = 0.0f;
    Merge merge;
    merge.wanted = false;
    merge.value = vec3_splat(0.0f);
    merge.weight = 0.0f;
    if (light.wanted && camera.wanted && !vertex_vertex_is_specular(light) && !vertex_vertex_is_specular(camera)) {
        photon = photon_photon_new(light, IN_U(31));
        merge = photon_photon_merge(photon, camera, merging);
    }
    OUT_V(0, photon.position);
    OUT_V(3, photon.from);
    OUT_V(6, photon.throughput);
    OUT_F(9, photon.vcm);
    OUT_F(10, photon.vm);
    OUT_U(11, photon_photon_is_within(photon.bounce, 1u, 2u) ? 1u : 0u);
    OUT_U(12, merge.wanted ? 1u : 0u);
    OUT_V(13, merge.value);
    OUT_F(16, merge.weight);
}

LS_PROBE(film_tiled, 3, 1) {
    u32 width = IN_U(1) + 1u;
    u32 height = IN_U(2) + 1u;
    OUT_U(0, film_tiled(IN_U(0) % (width * height), width, height));
}

LS_PROBE(film_quantize, 6, 9) {
    InvalidSamples invalid = film_no_invalid();
    Words dither;
    dither.w[0] = IN_U(3);
    dither.w[1] = IN_U(4);
    dither.w[2] = IN_U(5);
    dither.w[3] = 0u;
    Units units = film_quantize(IN_V(0), dither, &invalid);
    for (u32 i = 0u; i < 3u; i++) {
        OUT_U(2u * i, (u32)units.channel[i]);
        OUT_U(2u * i + 1u, (u32)(units.channel[i] >> 32));
        OUT_U(6u + i, invalid.count[i]);
    }
}
