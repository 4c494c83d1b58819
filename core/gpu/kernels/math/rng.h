/* Counter-based random numbers with named dimensions. The counterpart of core/src/math/rng.rs. */

#define BLOCK_CAMERA 0u
#define BLOCK_LIGHT 1u
#define BLOCK_BSDF 2u
#define BLOCK_EXTENSION_ALPHA 3u
#define BLOCK_SHADOW_ALPHA 4u
#define BLOCK_ENVIRONMENT 5u
#define BLOCK_FILM 0x40000000u
#define BLOCK_EMISSION_POSITION 0x80001000u
#define BLOCK_EMISSION_DIRECTION 0x80001001u
#define BLOCK_LIGHT_BSDF 0x80001002u
#define BLOCK_LIGHT_EXTENSION_ALPHA 0x80001003u
#define BLOCK_LENS 0x80001004u
#define BLOCK_CONNECTION_ALPHA 0xc0002000u
#define BLOCK_DISPERSION 0xc0002001u
#define BLOCK_LAYER 0xc0002002u
#define BLOCKS_PER_BOUNCE 5u
#define SOBOL_STREAM 0x736f626fu
#define XORWOW_STREAM 0x786f7277u
#define XORWOW_RUN 64u

/* Identity of one sample of one pixel, the key of every draw along its path. */
typedef struct {
    u32 pixel;
    u32 sample;
    u32 seed;
} SampleKey;

/* Identity of one ray of one sample, the key of stochastic alpha. */
typedef struct {
    SampleKey sample;
    u32 dimension;
} RayKey;

typedef struct {
    u32 w[4];
} Words;

typedef struct {
    float u[4];
} Uniforms;

/* The dimension counter of a block at `bounce`; bounce 0 starts at the camera ray. */
LS_INLINE u32 rng_block_at(u32 block, u32 bounce) {
    return block + bounce * BLOCKS_PER_BOUNCE;
}

LS_INLINE Words rng_mix(Words v) {
    v.w[0] = v.w[0] + v.w[1] * v.w[3];
    v.w[1] = v.w[1] + v.w[2] * v.w[0];
    v.w[2] = v.w[2] + v.w[0] * v.w[1];
    v.w[3] = v.w[3] + v.w[1] * v.w[2];
    return v;
}

/* Four 32-bit hash words of a counter. */
LS_INLINE Words rng_pcg4d(u32 a, u32 b, u32 c, u32 d) {
    Words v;
    v.w[0] = a * 1664525u + 1013904223u;
    v.w[1] = b * 1664525u + 1013904223u;
    v.w[2] = c * 1664525u + 1013904223u;
    v.w[3] = d * 1664525u + 1013904223u;
    v = rng_mix(v);
    v.w[0] ^= v.w[0] >> 16;
    v.w[1] ^= v.w[1] >> 16;
    v.w[2] ^= v.w[2] >> 16;
    v.w[3] ^= v.w[3] >> 16;
    return rng_mix(v);
}

/* The draws of a dimension counter by hash. */
LS_INLINE Words rng_pcg_draw(SampleKey key, u32 dimension) {
    return rng_pcg4d(key.pixel, key.sample, dimension, key.seed);
}

#if defined(LS_SOBOL) || defined(LS_PROBES)
/* Bounces whose blocks have groups of Sobol's sequence, the camera's aside. */
#define JOINT_BOUNCES 3u

/* The group of Sobol's sequence that a dimension counter has for itself; SOBOL_GROUPS for none. By bounce, groups are
 * those of light, environment and BSDF. */
LS_INLINE u32 rng_sobol_group(u32 dimension) {
    if (dimension == BLOCK_CAMERA) {
        return 0u;
    }
    u32 bounce = (dimension - 1u) / BLOCKS_PER_BOUNCE;
    u32 block = dimension - bounce * BLOCKS_PER_BOUNCE;
    u32 group = 0u;
    if (block == BLOCK_LIGHT) {
        group = 1u;
    } else if (block == BLOCK_ENVIRONMENT) {
        group = 2u;
    } else if (block == BLOCK_BSDF) {
        group = 3u;
    }
    return group == 0u || bounce >= JOINT_BOUNCES ? SOBOL_GROUPS : group + 3u * bounce;
}

/* The draws of a dimension counter by Owen-scrambled Sobol: a group of the sample's point, scrambled anew for every pixel,
 * counter and seed. Counters without a group of their own also shuffle the samples. */
LS_INLINE Words rng_sobol_draw(SampleKey key, u32 dimension) {
    Words order = rng_pcg4d(key.pixel, dimension, key.seed, SOBOL_STREAM);
    Words hashed = rng_pcg4d(order.w[0], order.w[1], order.w[2], order.w[3]);
    SobolPoint seeds;
    seeds.x[0] = hashed.w[0];
    seeds.x[1] = hashed.w[1];
    seeds.x[2] = hashed.w[2];
    seeds.x[3] = hashed.w[3];
    SobolPoint p = sobol_scrambled(key.sample, rng_sobol_group(dimension), order.w[0], seeds);
    Words words;
    words.w[0] = p.x[0];
    words.w[1] = p.x[1];
    words.w[2] = p.x[2];
    words.w[3] = p.x[3];
    return words;
}
#endif

#if defined(LS_XORWOW) || defined(LS_PROBES)
/* The draws of a dimension counter by xorwow: counter `n` draws the words `4 n` to `4 n + 3` of the sample's sequence,
 * and every XORWOW_RUN counters begin a sequence of their own. */
LS_INLINE Words rng_xorwow_draw(SampleKey key, u32 dimension) {
    Words seed = rng_pcg4d(key.pixel, key.sample, dimension / XORWOW_RUN, key.seed ^ XORWOW_STREAM);
    Xorwow state = xorwow_seeded(seed.w[0], seed.w[1], seed.w[2], seed.w[3]);
    for (u32 skipped = 4u * (dimension % XORWOW_RUN); skipped > 0u; skipped--) {
        state = xorwow_next(state);
    }
    Words words;
    state = xorwow_next(state);
    words.w[0] = state.v + state.weyl;
    state = xorwow_next(state);
    words.w[1] = state.v + state.weyl;
    state = xorwow_next(state);
    words.w[2] = state.v + state.weyl;
    state = xorwow_next(state);
    words.w[3] = state.v + state.weyl;
    return words;
}
#endif

/* The four draws of a dimension counter, by the sampler that the program is built for. */
LS_INLINE Words rng_draw_at(SampleKey key, u32 dimension) {
#if defined(LS_SOBOL)
    return rng_sobol_draw(key, dimension);
#elif defined(LS_XORWOW)
    return rng_xorwow_draw(key, dimension);
#else
    return rng_pcg_draw(key, dimension);
#endif
}

/* The four draws of `block` at `bounce`. */
LS_INLINE Words rng_draw(SampleKey key, u32 block, u32 bounce) {
    return rng_draw_at(key, rng_block_at(block, bounce));
}

/* Words for rounding the contribution of this technique to film units, by hash whatever the sampler. */
LS_INLINE Words rng_dither(SampleKey key, u32 technique) {
    return rng_pcg_draw(key, rng_block_at(BLOCK_FILM, technique));
}

/* A uniform in `[0, 1)` with 24 bits. */
LS_INLINE float rng_uniform(u32 word) {
    return (float)(word >> 8) * (1.0f / 16777216.0f);
}

/* Four uniforms of four words. */
LS_INLINE Uniforms rng_uniforms(Words words) {
    Uniforms r;
    r.u[0] = rng_uniform(words.w[0]);
    r.u[1] = rng_uniform(words.w[1]);
    r.u[2] = rng_uniform(words.w[2]);
    r.u[3] = rng_uniform(words.w[3]);
    return r;
}

/* Keeps the draws in a path record. */
LS_INLINE void rng_record(Words words, u32 *record) {
    record[0] = words.w[0];
    record[1] = words.w[1];
    record[2] = words.w[2];
    record[3] = words.w[3];
}

/* `word * n / 2^32`: an index below `n`, biased by at most `n / 2^32`. */
LS_INLINE u32 rng_index_below(u32 word, u32 n) {
    return (u32)(((u64)word * (u64)n) >> 32);
}

/* The key of a ray by its block and its index there. */
LS_INLINE RayKey rng_ray_key_new(SampleKey sample, u32 block, u32 index) {
    RayKey key;
    key.sample = sample;
    key.dimension = rng_block_at(block, index);
    return key;
}

/* The key of an extension ray. */
LS_INLINE RayKey rng_ray_key_extension(SampleKey sample, u32 bounce) {
    return rng_ray_key_new(sample, BLOCK_EXTENSION_ALPHA, bounce);
}

/* The key of a shadow ray. */
LS_INLINE RayKey rng_ray_key_shadow(SampleKey sample, u32 bounce) {
    return rng_ray_key_new(sample, BLOCK_SHADOW_ALPHA, bounce);
}

/* The key of an extension ray of a light sub-path; bounce 0 leaves the light. */
LS_INLINE RayKey rng_ray_key_light_extension(SampleKey sample, u32 bounce) {
    return rng_ray_key_new(sample, BLOCK_LIGHT_EXTENSION_ALPHA, bounce);
}

/* The key of the connection of two sub-paths by a technique of this index. */
LS_INLINE RayKey rng_ray_key_connection(SampleKey sample, u32 technique) {
    return rng_ray_key_new(sample, BLOCK_CONNECTION_ALPHA, technique);
}

/* A uniform for a ray and a hit candidate, so that stochastic alpha does not depend on traversal order. */
LS_INLINE float rng_alpha_uniform(RayKey key, u32 instance, u32 primitive) {
    Words of_ray = rng_pcg4d(key.sample.pixel, key.sample.sample, key.dimension, key.sample.seed);
    return rng_uniform(rng_pcg4d(of_ray.w[0], of_ray.w[1], instance, primitive).w[0]);
}
