/* Texture lookup. The counterpart of core/src/scene/texture.rs. */

typedef struct {
    Vec3 rgb;
    float a;
} Rgba;

/* A byte of a texel as a fraction. */
LS_INLINE float texture_unorm(u32 texel, u32 shift) {
    return (float)((texel >> shift) & 255u) * (1.0f / 255.0f);
}

/* The linear colour of a texel. */
LS_INLINE Vec3 texture_linear_rgb(u32 texel) {
    return vec3_new(texture_unorm(texel, 0u), texture_unorm(texel, 8u), texture_unorm(texel, 16u));
}

/* The colour of a texel under a texture's flags. */
LS_INLINE Vec3 texture_texel_rgb(TexelMemory memory, u32 texel, u32 flags) {
    if ((flags & TEXTURE_SRGB) != 0u) {
        return vec3_new(load_srgb_to_linear(memory, texel & 255u), load_srgb_to_linear(memory, (texel >> 8) & 255u),
                        load_srgb_to_linear(memory, (texel >> 16) & 255u));
    }
    return texture_linear_rgb(texel);
}

/* Column or row of a texel index that may lie outside the image. */
LS_INLINE u32 texture_wrap_index(i32 i, u32 size, u32 wrap) {
    /* Nearly all indices lie inside, and remainders take a division. */
    if ((u32)i < size) {
        return (u32)i;
    }
    i32 n = (i32)size;
    if (wrap == WRAP_CLAMP) {
        return (u32)math_clamp_i32(i, 0, n - 1);
    }
    if (wrap == WRAP_REPEAT) {
        i32 r = i % n;
        return (u32)(r < 0 ? r + n : r);
    }
    i32 period = 2 * n;
    i32 r = i % period;
    r = r < 0 ? r + period : r;
    return (u32)(r < n ? r : period - 1 - r);
}

/* Brings a coordinate into the range where its texel index fits 24 bits, without changing what it
 * addresses. */
LS_INLINE float texture_wrap_coordinate(float u, u32 wrap) {
    if (wrap == WRAP_CLAMP) {
        return math_clamp(u, -1.0f, 2.0f);
    }
    if (wrap == WRAP_REPEAT) {
        return math_fract(u);
    }
    return 2.0f * math_fract(0.5f * u);
}

/* Texture coordinates of set 0 or 1, interpolated with barycentrics `(w, u, v)` and transformed. */
LS_INLINE Vec2 texture_coordinates(Texture texture, Vertex a, Vertex b, Vertex c, Vec3 weights) {
    bool second = (texture.flags & TEXTURE_UV_SET_1) != 0u;
    float pu = second ? a.uv1[0] : a.uv0[0];
    float pv = second ? a.uv1[1] : a.uv0[1];
    float qu = second ? b.uv1[0] : b.uv0[0];
    float qv = second ? b.uv1[1] : b.uv0[1];
    float ru = second ? c.uv1[0] : c.uv0[0];
    float rv = second ? c.uv1[1] : c.uv0[1];
    float u = pu * weights.x + qu * weights.y + ru * weights.z;
    float v = pv * weights.x + qv * weights.y + rv * weights.z;
    Vec2 uv;
    uv.x = texture.transform[0][0] * u + texture.transform[0][1] * v + texture.transform[0][2];
    uv.y = texture.transform[1][0] * u + texture.transform[1][1] * v + texture.transform[1][2];
    return uv;
}

/* A texture without its transform. */
typedef struct {
    u32 first_texel;
    u32 width;
    u32 height;
    u32 flags;
} Texels;

/* One texel, which may lie outside the image. */
LS_INLINE Rgba texture_load(TexelMemory memory, Texels image, i32 column, i32 row) {
    u32 x = texture_wrap_index(column, image.width, image.flags & 3u);
    u32 y = texture_wrap_index(row, image.height, (image.flags >> 2) & 3u);
    u32 texel = load_texel(memory, image.first_texel + y * image.width + x);
    Rgba value;
    value.rgb = texture_texel_rgb(memory, texel, image.flags);
    value.a = texture_unorm(texel, 24u);
    return value;
}

/* The texels' value at transformed coordinates. */
LS_OUTLINED Rgba texture_filtered(TexelMemory memory, Texels image, Vec2 uv) {
    float x = texture_wrap_coordinate(uv.x, image.flags & 3u) * (float)image.width;
    float y = texture_wrap_coordinate(uv.y, (image.flags >> 2) & 3u) * (float)image.height;
    if ((image.flags & TEXTURE_NEAREST) != 0u) {
        return texture_load(memory, image, math_floor_to_i32(x), math_floor_to_i32(y));
    }
    /* Interpolate between the four texel centres around the point. */
    x = x - 0.5f;
    y = y - 0.5f;
    i32 column = math_floor_to_i32(x);
    i32 row = math_floor_to_i32(y);
    float fx = x - (float)column;
    float fy = y - (float)row;
    Rgba t00 = texture_load(memory, image, column, row);
    Rgba t10 = texture_load(memory, image, column + 1, row);
    Rgba t01 = texture_load(memory, image, column, row + 1);
    Rgba t11 = texture_load(memory, image, column + 1, row + 1);
    float w00 = (1.0f - fx) * (1.0f - fy);
    float w10 = fx * (1.0f - fy);
    float w01 = (1.0f - fx) * fy;
    float w11 = fx * fy;
    Vec3 top = vec3_add(vec3_scale(t00.rgb, w00), vec3_scale(t10.rgb, w10));
    Rgba value;
    value.rgb = vec3_add(vec3_add(top, vec3_scale(t01.rgb, w01)), vec3_scale(t11.rgb, w11));
    value.a = t00.a * w00 + t10.a * w10 + t01.a * w01 + t11.a * w11;
    return value;
}

/* The parts of a scene and of a texture that a lookup reads. */
LS_INLINE TexelMemory texture_memory(SceneRef scene) {
    TexelMemory memory;
    memory.texels = scene.texels;
    memory.srgb_to_linear = scene.srgb_to_linear;
    return memory;
}

LS_INLINE Texels texture_texels(Texture texture) {
    Texels image;
    image.first_texel = texture.first_texel;
    image.width = texture.width;
    image.height = texture.height;
    image.flags = texture.flags;
    return image;
}

/* The texture's value at transformed coordinates. */
LS_INLINE Rgba texture_sample(SceneRef scene, Texture texture, Vec2 uv) {
    return texture_filtered(texture_memory(scene), texture_texels(texture), uv);
}
