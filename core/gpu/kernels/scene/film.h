/* From radiance to film units. The counterpart of core/src/film.rs. */

#define UNITS_PER_RADIANCE 8388608.0f
#define MAX_SAMPLE_RADIANCE 16777215.0f
#define INVALID_NON_FINITE 0
#define INVALID_NEGATIVE 1
#define INVALID_CLAMPED 2

#define TILE_WIDTH 8u
#define TILE_HEIGHT 4u

typedef struct {
    u32 count[3];
} InvalidSamples;

typedef struct {
    i64 channel[3];
} Units;

LS_INLINE InvalidSamples film_no_invalid(void) {
    InvalidSamples none;
    none.count[INVALID_NON_FINITE] = 0u;
    none.count[INVALID_NEGATIVE] = 0u;
    none.count[INVALID_CLAMPED] = 0u;
    return none;
}

/* Rounds one channel, limited, to film units: up with the probability of the fraction. */
LS_INLINE i64 film_units(float v, float limit, u32 word) {
    float exact = math_clamp(v, 0.0f, limit) * UNITS_PER_RADIANCE;
    i64 whole = (i64)exact;
    /* Odd multiples of 2^-24, so that a subnormal fraction never matters; exact, from a float of 1 to 2 */
    float threshold = LS_AS_F32(0x3f800000u | (word >> 9)) - (1.0f - 1.0f / 16777216.0f);
    return whole + (exact - (float)whole > threshold ? 1 : 0);
}

/* The radiance of one contribution, whose channels have a limit, in film units, counting invalid samples.
 * `dither` is a draw of BLOCK_FILM. */
LS_INLINE Units film_quantize_up_to(float limit, Vec3 radiance, Words dither, InvalidSamples *invalid) {
    Units units;
    if (!vec3_is_finite(radiance)) {
        invalid->count[INVALID_NON_FINITE] += 1u;
        units.channel[0] = 0;
        units.channel[1] = 0;
        units.channel[2] = 0;
        return units;
    }
    if (radiance.x < 0.0f || radiance.y < 0.0f || radiance.z < 0.0f) {
        invalid->count[INVALID_NEGATIVE] += 1u;
    }
    if (radiance.x > limit || radiance.y > limit || radiance.z > limit) {
        invalid->count[INVALID_CLAMPED] += 1u;
    }
    units.channel[0] = film_units(radiance.x, limit, dither.w[0]);
    units.channel[1] = film_units(radiance.y, limit, dither.w[1]);
    units.channel[2] = film_units(radiance.z, limit, dither.w[2]);
    return units;
}

/* One sample's radiance in film units. */
LS_INLINE Units film_quantize(Vec3 radiance, Words dither, InvalidSamples *invalid) {
    return film_quantize_up_to(MAX_SAMPLE_RADIANCE, radiance, dither, invalid);
}

/* The pixel at position `i` of tiled order: tile by tile, rows of tiles from top to bottom. Tiles at the
 * right and lower edges are as small as need be. */
LS_INLINE u32 film_tiled(u32 i, u32 width, u32 height) {
    u32 band = i / (TILE_HEIGHT * width);
    u32 below = height - TILE_HEIGHT * band;
    u32 rows = below < TILE_HEIGHT ? below : TILE_HEIGHT;
    u32 in_band = i - TILE_HEIGHT * width * band;
    u32 tile = in_band / (TILE_WIDTH * rows);
    u32 beside = width - TILE_WIDTH * tile;
    u32 columns = beside < TILE_WIDTH ? beside : TILE_WIDTH;
    u32 in_tile = in_band - TILE_WIDTH * rows * tile;
    u32 row = in_tile / columns;
    return (TILE_HEIGHT * band + row) * width + TILE_WIDTH * tile + (in_tile - row * columns);
}
