/* Empties the buckets of a pass's photon maps, and the count of photons that have room. Runs before light sub-paths, which
 * count their photons by bucket. core/gpu/src/signatures.rs declares the kernel's parameters. */

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
