/* Copies every photon to its bucket, whose end is then behind its last photon. Positions and bounces lie together too:
 * a search reads several for each photon that merges. core/gpu/src/signatures.rs declares the kernel's parameters. */

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
