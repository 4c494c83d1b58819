/* Media inside dielectrics: attenuation by Beer's law, and dispersion. The counterpart of
 * core/transport/src/media.rs, which gives the reasons. */

#ifdef LS_MEDIA

#define CHANNEL_CHOSEN 0x80000000u

/* Share of light that passes a distance in a medium, one above an index into the scene's layers; all without one. */
LS_INLINE Vec3 media_transmittance(SceneRef scene, u32 medium, float distance) {
    u32 index = medium & ~CHANNEL_CHOSEN;
    if (index == 0u) {
        return vec3_splat(1.0f);
    }
    Vec3 attenuation = load_layers(scene, index - 1u).attenuation;
    float depth = distance * MATH_LOG2_E;
    return vec3_new(math_exp2(-(attenuation.x * depth)), math_exp2(-(attenuation.y * depth)),
                    math_exp2(-(attenuation.z * depth)));
}

/* The medium of a ray that arrives at a surface from its outside or inside. */
LS_INLINE u32 media_arriving(Material material, u32 medium, bool outside) {
    bool is_inside = !outside && material.kind == MATERIAL_DIELECTRIC && material.layers != 0u;
    return is_inside ? material.layers | (medium & CHANNEL_CHOSEN) : medium;
}

/* The medium of a ray that leaves a surface, in the direction of this local z, where the arriving ray had `medium`. */
LS_INLINE u32 media_leaving(Material material, u32 medium, bool outside, float z) {
    if (material.kind != MATERIAL_DIELECTRIC) {
        return medium;
    }
    u32 chosen = medium & CHANNEL_CHOSEN;
    if (outside == (z < 0.0f)) {
        return material.layers | chosen;
    }
    return outside ? medium : chosen;
}

/* The colour channel that a sample follows through dispersive media. */
LS_INLINE u32 media_dispersed_channel(SampleKey key) {
    return rng_index_below(rng_draw(key, BLOCK_DISPERSION, 0u).w[0], 3u);
}

/* The index of refraction of a channel: `dispersion` is 20 over the Abbe number. */
LS_INLINE float media_dispersed_ior(float ior, float dispersion, u32 channel) {
    float spread = (ior - 1.0f) * 0.025f * dispersion;
    float offset = channel == 0u ? -spread : spread;
    return math_max(channel == 1u ? ior : ior + offset, 1.0f);
}

/* Throughput of a path that follows one channel: three times that channel, nothing of the others. */
LS_INLINE Vec3 media_one_channel(Vec3 throughput, u32 channel) {
    return vec3_new(channel == 0u ? 3.0f * throughput.x : 0.0f, channel == 1u ? 3.0f * throughput.y : 0.0f,
                    channel == 2u ? 3.0f * throughput.z : 0.0f);
}

#endif
