/* Splats: contributions of light and camera sub-paths to the film. The counterpart of core/src/splat.rs. */

#define MAX_SPLAT_RADIANCE 1048576.0f
#define SPLAT_STRIDE 512u
/* The number of light vertices of a technique that stands for all merges with a vertex of a camera sub-path. */
#define SPLAT_MERGED 511u

/* Sums over photons have 40 fraction bits, 17 more than the film's. */
#define MERGE_UNITS_PER_RADIANCE 1099511627776.0f
#define MERGE_MAX_SUM_BITS 60u
#define MERGE_EXTRA_BITS 17u

/* A number of its own for the technique with these many vertices of the light and of the camera sub-path. */
LS_INLINE u32 splat_technique_index(u32 light, u32 camera) {
    return light * SPLAT_STRIDE + camera;
}

/* One contribution in film units, rounded by a hash of sample and technique, counting invalid samples. */
LS_INLINE Units splat_quantize(Vec3 radiance, SampleKey key, u32 technique, InvalidSamples *invalid) {
    return film_quantize_up_to(MAX_SPLAT_RADIANCE, radiance, rng_dither(key, technique), invalid);
}

/* The sum over the photons that merge with one vertex. */
typedef struct {
    i64 channel[3];
} MergeSum;

LS_INLINE MergeSum splat_no_merges(void) {
    MergeSum sum;
    sum.channel[0] = 0;
    sum.channel[1] = 0;
    sum.channel[2] = 0;
    return sum;
}

/* A channel with one more photon, limited. */
LS_INLINE i64 splat_raised(i64 sum, float radiance) {
    i64 units = (i64)(math_clamp(radiance, 0.0f, MAX_SPLAT_RADIANCE) * MERGE_UNITS_PER_RADIANCE);
    i64 most = (i64)1 << MERGE_MAX_SUM_BITS;
    return sum + units < most ? sum + units : most;
}

/* Adds what one photon contributes and counts it where it is invalid. */
LS_INLINE void splat_merge_sum_add(MergeSum *sum, Vec3 radiance, InvalidSamples *invalid) {
    if (!vec3_is_finite(radiance)) {
        invalid->count[INVALID_NON_FINITE] += 1u;
        return;
    }
    if (radiance.x < 0.0f || radiance.y < 0.0f || radiance.z < 0.0f) {
        invalid->count[INVALID_NEGATIVE] += 1u;
    }
    sum->channel[0] = splat_raised(sum->channel[0], radiance.x);
    sum->channel[1] = splat_raised(sum->channel[1], radiance.y);
    sum->channel[2] = splat_raised(sum->channel[2], radiance.z);
}

/* A channel in film units: up with the probability of the fraction. */
LS_INLINE i64 splat_rounded(i64 sum, u32 word) {
    return (sum + (i64)(word >> (32u - MERGE_EXTRA_BITS))) >> MERGE_EXTRA_BITS;
}

/* The sum in film units, rounded by a hash of sample and technique. A sum at the limit counts as clamped. */
LS_INLINE Units splat_merge_sum_film_units(MergeSum sum, SampleKey key, u32 technique, InvalidSamples *invalid) {
    Words dither = rng_dither(key, technique);
    i64 most = (i64)1 << MERGE_MAX_SUM_BITS;
    if (sum.channel[0] == most || sum.channel[1] == most || sum.channel[2] == most) {
        invalid->count[INVALID_CLAMPED] += 1u;
    }
    Units units;
    units.channel[0] = splat_rounded(sum.channel[0], dither.w[0]);
    units.channel[1] = splat_rounded(sum.channel[1], dither.w[1]);
    units.channel[2] = splat_rounded(sum.channel[2], dither.w[2]);
    return units;
}
