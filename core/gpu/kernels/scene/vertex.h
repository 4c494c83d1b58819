/* Shading attributes of mesh vertices. The counterpart of core/src/scene/vertex.rs. */

/* The half float in the lowest 15 bits; their exponent is not the largest. Exact without subnormal floats: a
 * subnormal half is the one with the next exponent, less that one's leading bit. */
LS_INLINE float vertex_half(u32 bits) {
    u32 magnitude = bits & 0x7fffu;
    bool subnormal = magnitude < 0x400u;
    float value = LS_AS_F32((magnitude << 13) + (subnormal ? 113u << 23 : 112u << 23));
    return value - (subnormal ? 1.0f / 16384.0f : 0.0f);
}

/* Linear RGB that multiplies the base colour. */
LS_INLINE Vec3 vertex_rgb(Vertex v) {
    return vec3_new(vertex_half(v.red_green), vertex_half(v.red_green >> 16), vertex_half(v.blue_alpha));
}

/* Alpha that multiplies the material's. */
LS_INLINE float vertex_alpha(Vertex v) {
    return vertex_half(v.blue_alpha >> 16);
}

/* +1 or -1: bitangent = sign * cross(normal, tangent). */
LS_INLINE float vertex_tangent_sign(Vertex v) {
    return LS_AS_F32(0x3f800000u | (v.blue_alpha & 0x80000000u));
}

/* True when RGB is one. */
LS_INLINE bool vertex_is_white(Vertex v) {
    return v.red_green == 0x3c003c00u && (v.blue_alpha & 0xffffu) == 0x3c00u;
}
