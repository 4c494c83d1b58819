/* The photons of a pass in a hash grid: ls_light_paths counts them by bucket, these kernels make room for every
 * bucket and scatter. Neither the order of buckets nor that within one matters. core/gpu/src/signatures.rs declares
 * the kernels' parameters. */

/* Buckets that a work-item makes room for at once, as a power of two. */
#define BUCKETS_AT_ONCE 6u

/* Empties all buckets, and the count of photons that have room. */
LS_KERNEL void LS_STAGE ls_clear_buckets(Pass pass, LS_GLOBAL u32 *LS_RESTRICT bucket_counts,
                                         LS_GLOBAL u32 *LS_RESTRICT placed) {
    u32 count = pass.samples * (pass.merging[0].bucket_mask + 1u);
    LS_FOR_SHARE(i, count) {
        bucket_counts[i] = 0u;
        if (i == 0u) {
            placed[0] = 0u;
        }
    }
}

/* Gives every bucket a range of positions, and sets its end to the range's beginning. */
LS_KERNEL void LS_STAGE ls_place_buckets(Pass pass, LS_GLOBAL const u32 *LS_RESTRICT bucket_counts,
                                         LS_GLOBAL u32 *LS_RESTRICT bucket_ends, LS_GLOBAL u32 *LS_RESTRICT placed) {
    u32 buckets = pass.samples * (pass.merging[0].bucket_mask + 1u);
    u32 count = (buckets + (1u << BUCKETS_AT_ONCE) - 1u) >> BUCKETS_AT_ONCE;
    LS_FOR_SHARE(i, count) {
        u32 first = i << BUCKETS_AT_ONCE;
        u32 last = first + (1u << BUCKETS_AT_ONCE);
        last = last < buckets ? last : buckets;
        u32 photons = 0u;
        for (u32 bucket = first; bucket < last; bucket++) {
            photons += bucket_counts[bucket];
        }
        u32 begin = photons > 0u ? LS_ATOMIC_ADD(&placed[0], photons) : 0u;
        for (u32 bucket = first; bucket < last; bucket++) {
            bucket_ends[bucket] = begin;
            begin += bucket_counts[bucket];
        }
    }
}

/* Copies every photon to its bucket, whose end is then behind its last photon. Positions and bounces lie together too:
 * a search reads several for each photon that merges. */
LS_KERNEL void LS_STAGE ls_sort_photons(Pass pass, LS_GLOBAL const u32 *LS_RESTRICT light_lengths,
                                        LS_GLOBAL const Photon *LS_RESTRICT photons,
                                        LS_GLOBAL u32 *LS_RESTRICT bucket_ends,
                                        LS_GLOBAL Packed *LS_RESTRICT photon_positions,
                                        LS_GLOBAL Photon *LS_RESTRICT sorted_photons) {
    u32 count = pass.pixels * pass.samples;
    LS_FOR_SHARE(i, count) {
        u32 length = light_lengths[i];
        Merging merging = MERGING(pass, i);
        LS_GLOBAL u32 *ends = BUCKETS(pass, i, bucket_ends);
        for (u32 bounce = 0u; bounce < length; bounce++) {
            Photon photon = photons[bounce * count + i];
            if (photon.bounce != NO_PHOTON) {
                u32 bucket = merging_merging_bucket(merging, merging_merging_cell(merging, photon.position));
                u32 to = LS_ATOMIC_ADD(&ends[bucket], 1u);
                store_packed(photon_positions, to, photon.position, photon.bounce);
                sorted_photons[to] = photon;
            }
        }
    }
}
