/* Maps from uniforms to directions, and alias tables. The counterpart of core/src/math/sampling.rs. */

typedef struct {
    float x;
    float y;
} Vec2;

typedef struct {
    Vec3 s;
    Vec3 t;
} Frame;

/* A point in the unit disk, uniform by area. */
LS_INLINE Vec2 sampling_uniform_disk(float u, float v) {
    float r = LS_SQRT(u);
    SinCos angle = math_sin_cos_turns(v);
    Vec2 d;
    d.x = r * angle.c;
    d.y = r * angle.s;
    return d;
}

/* A direction about +z with density cos / pi (Malley's method). */
LS_INLINE Vec3 sampling_cosine_hemisphere(float u, float v) {
    Vec2 d = sampling_uniform_disk(u, v);
    return vec3_new(d.x, d.y, math_safe_sqrt(1.0f - u));
}

/* A direction within the cone about +z whose half-angle has `1 - cos` equal to `one_minus_cos`, uniform by
 * solid angle. */
LS_INLINE Vec3 sampling_uniform_cone(float u, float v, float one_minus_cos) {
    float below = u * one_minus_cos;
    float r = math_safe_sqrt(below * (2.0f - below));
    SinCos angle = math_sin_cos_turns(v);
    return vec3_new(r * angle.c, r * angle.s, 1.0f - below);
}

/* Barycentric coordinates (of the second and third vertex), uniform by area. */
LS_INLINE Vec2 sampling_uniform_triangle(float u, float v) {
    float r = LS_SQRT(u);
    Vec2 b;
    b.x = r * (1.0f - v);
    b.y = r * v;
    return b;
}

/* A right-handed frame whose third axis is the unit vector `n` (Duff et al., JCGT 6(1), 2017). */
LS_INLINE Frame sampling_frame(Vec3 n) {
    float sign = math_with_sign_of(1.0f, n.z);
    float a = LS_DIV(-1.0f, sign + n.z);
    float b = n.x * n.y * a;
    Frame f;
    f.s = vec3_new(1.0f + sign * n.x * n.x * a, sign * b, -sign * n.x);
    f.t = vec3_new(b, sign + n.y * n.y * a, -n.y);
    return f;
}

/* The index that an alias table's column gives for a word. */
LS_INLINE u32 sampling_choose(u32 column, AliasEntry entry, u32 choice_word) {
    return choice_word < entry.threshold ? column : entry.alias;
}

/* The light that the alias table gives for two independent words. */
LS_INLINE u32 sampling_pick_light(SceneRef scene, u32 index_word, u32 choice_word) {
    u32 column = rng_index_below(index_word, scene.constants.light_count);
    return sampling_choose(column, load_light_alias(scene, column), choice_word);
}

/* The cell of the environment's image that the alias table gives for two independent words. */
LS_INLINE u32 sampling_pick_cell(SceneRef scene, u32 index_word, u32 choice_word) {
    u32 column = rng_index_below(index_word, scene.constants.environment_cells);
    return sampling_choose(column, load_environment_alias(scene, column), choice_word);
}

/* The weight of a sample whose technique has density `a` where the other technique has density `b`:
 * Veach's power heuristic with exponent two, written so that large densities do not overflow. */
LS_INLINE float sampling_power_heuristic(float a, float b) {
    if (a >= b) {
        float r = LS_DIV(b, a);
        return LS_DIV(1.0f, 1.0f + r * r);
    }
    float r = LS_DIV(a, b);
    return LS_DIV(r * r, 1.0f + r * r);
}
