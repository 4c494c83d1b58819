/* Contents of the scenes that a program renders, as constants: a kind that no material has, a flag that none or all
 * have, a texture that none has. Values stay as they are; compilers see which they cannot be, and drop the code and the
 * registers of all that a scene lacks. contents.rs of this crate writes the macros, none for programs of all scenes. */

/* Where `kind` may be `k`: the first kind of a set is taken without a look. */
#define CONTENTS_KIND(kinds, k)                                                                                  \
    known = ((kinds) & (1u << (k))) != 0u && (((kinds) & ((1u << (k)) - 1u)) == 0u || kind == (k)) ? (k) : known;

/* `kind`, which is in a constant set of at most six. */
LS_INLINE u32 contents_kind(u32 kinds, u32 kind) {
    u32 known = 0u;
    CONTENTS_KIND(kinds, 0u)
    CONTENTS_KIND(kinds, 1u)
    CONTENTS_KIND(kinds, 2u)
    CONTENTS_KIND(kinds, 3u)
    CONTENTS_KIND(kinds, 4u)
    CONTENTS_KIND(kinds, 5u)
    return known;
}

LS_INLINE u32 contents_material_kind(u32 kind) {
#ifdef LS_MATERIAL_KINDS
    return contents_kind(LS_MATERIAL_KINDS, kind);
#else
    return kind;
#endif
}

LS_INLINE u32 contents_environment_kind(u32 kind) {
#ifdef LS_ENVIRONMENT_KINDS
    return contents_kind(LS_ENVIRONMENT_KINDS, kind);
#else
    return kind;
#endif
}

/* True where the environment may be sampled as a light. */
LS_INLINE bool contents_has_environment_light(void) {
#ifdef LS_LIGHT_KINDS
    return (LS_LIGHT_KINDS & (1u << LIGHT_ENVIRONMENT)) != 0u;
#else
    return true;
#endif
}

LS_INLINE float contents_transmission(float transmission) {
#ifdef LS_NO_TRANSMISSION
    return 0.0f;
#else
    return transmission;
#endif
}

LS_INLINE float contents_metallic(float metallic) {
#ifdef LS_NO_METALS
    return 0.0f;
#else
    return metallic;
#endif
}

#ifdef LS_MATERIAL_TEXTURES
/* A texture of a material, which programs without texture `k` know to be absent. */
LS_INLINE u32 contents_material_texture(u32 k, u32 texture) {
    return (LS_MATERIAL_TEXTURES & (1u << k)) != 0u ? texture : NONE;
}
#endif

LS_INLINE Material contents_material(Material material) {
    material.kind = contents_material_kind(material.kind);
    material.transmission = contents_transmission(material.transmission);
    material.metallic = contents_metallic(material.metallic);
#ifdef LS_MATERIAL_FLAGS
    material.flags = LS_MATERIAL_FLAGS(material.flags);
#endif
#ifdef LS_MATERIAL_TEXTURES
    material.base_color_texture = contents_material_texture(0u, material.base_color_texture);
    material.metallic_roughness_texture = contents_material_texture(1u, material.metallic_roughness_texture);
    material.normal_texture = contents_material_texture(2u, material.normal_texture);
    material.emission_texture = contents_material_texture(3u, material.emission_texture);
    material.transmission_texture = contents_material_texture(4u, material.transmission_texture);
#endif
#ifdef LS_NO_EMISSION
    material.emission.x = 0.0f;
    material.emission.y = 0.0f;
    material.emission.z = 0.0f;
#endif
    return material;
}

LS_INLINE Texture contents_texture(Texture texture) {
#ifdef LS_TEXTURE_FLAGS
    texture.flags = LS_TEXTURE_FLAGS(texture.flags);
#endif
    return texture;
}

LS_INLINE Light contents_light(Light light) {
#ifdef LS_LIGHT_KINDS
    light.kind = contents_kind(LS_LIGHT_KINDS, light.kind);
#endif
    return light;
}

/* A vertex, whose alpha and sign of the bitangent stay where colours are white. */
LS_INLINE Vertex contents_vertex(Vertex vertex) {
#ifdef LS_NO_VERTEX_COLORS
    vertex.red_green = 0x3c003c00u;
    vertex.blue_alpha = (vertex.blue_alpha & 0xffff0000u) | 0x3c00u;
#endif
    return vertex;
}

/* An instance, which lies in the world as it is where there is no other. */
LS_INLINE Instance contents_instance(Instance instance) {
#ifndef LS_INSTANCES
    instance.flags = (instance.flags | INSTANCE_IDENTITY) & ~INSTANCE_MIRRORED;
#endif
    return instance;
}
