/* Moves a batch's ray counts and invalid samples to the totals of the pass. Parameters are declared in
 * core/gpu/src/signatures.rs. */

LS_KERNEL void LS_STAGE ls_tally(Pass pass, LS_GLOBAL BounceCounters *LS_RESTRICT counters, LS_GLOBAL u32 *LS_RESTRICT invalid,
                        LS_GLOBAL u64 *LS_RESTRICT totals) {
    if (LS_GLOBAL_ID() != 0u) {
        return;
    }
    for (u32 i = 0u; i < 3u; i++) {
        totals[i] += invalid[i];
        invalid[i] = 0u;
    }
    for (u32 bounce = 0u; bounce <= pass.bounces; bounce++) {
        BounceCounters c = counters[bounce];
        u32 to = 4u + 4u * bounce;
        totals[to] += c.extension_rays;
        totals[to + 1u] += c.hits;
        totals[to + 2u] += c.shadow_rays;
        totals[to + 3u] += c.unoccluded;
        c.extension_rays = 0u;
        c.hits = 0u;
        c.shadow_rays = 0u;
        c.unoccluded = 0u;
        counters[bounce] = c;
#if defined(LS_PERSISTENT) || defined(LS_DYNAMIC_FETCH)
        counters[LS_HEADS(pass, bounce)] = c;
#endif
    }
}
