/* Gives every bucket a range of positions, and sets its end to the range's beginning. Neither the order of buckets nor
 * that of photons within one matters. core/gpu/src/signatures.rs declares the kernel's parameters. */

/* Buckets that a work-item makes room for at once, as a power of two. */
#define BUCKETS_AT_ONCE 6u

LS_KERNEL void LS_STAGE ls_place_buckets(Pass pass, LS_GLOBAL const u32 *LS_RESTRICT bucket_counts,
                                         LS_GLOBAL u32 *LS_RESTRICT bucket_ends,
                                         LS_GLOBAL u32 *LS_RESTRICT placed) {
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
