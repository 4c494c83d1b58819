/* The kernels that begin and end a batch of paths, whatever lies between. src/kernels/launch.rs declares their parameters. */

LS_KERNEL void LS_STAGE ls_generate(Pass pass, LS_GLOBAL Packed *LS_RESTRICT path_origin,
                           LS_GLOBAL Packed *LS_RESTRICT path_direction,
                           LS_GLOBAL Packed *LS_RESTRICT path_throughput,
                           LS_GLOBAL Packed *LS_RESTRICT path_radiance, LS_GLOBAL u32 *LS_RESTRICT queue,
                           LS_GLOBAL BounceCounters *LS_RESTRICT counters) {
    u32 count = pass.pixels * pass.samples;
    LS_FOR_SHARE(i, count) {
        PathState path = path_generate(pass.camera, path_key(pass, i));
        store_ray(path_origin, path_direction, i, path.ray);
        store_packed(path_throughput, i, path.throughput, LS_AS_U32(path.bsdf_pdf));
        store_packed(path_radiance, i, path.radiance, 0u);
        queue[i] = i;
    }
    if (LS_GLOBAL_ID() == 0u) {
        counters[0].extension_rays = count;
    }
}

LS_KERNEL void LS_STAGE ls_resolve(Pass pass, LS_GLOBAL const Packed *LS_RESTRICT path_radiance,
                          LS_GLOBAL i64 *LS_RESTRICT film, LS_GLOBAL u32 *LS_RESTRICT flaws) {
    LS_SCRATCH(scratch);
    Flaws found;
    found.count[FLAW_NON_FINITE] = 0u;
    found.count[FLAW_NEGATIVE] = 0u;
    found.count[FLAW_CLAMPED] = 0u;
    LS_FOR_SHARE(i, pass.pixels) {
        u32 first = 3u * pixel_at(pass, pass.first_pixel + i);
        i64 red = film[first];
        i64 green = film[first + 1u];
        i64 blue = film[first + 2u];
        for (u32 sample = 0u; sample < pass.samples; sample++) {
            Units units = film_quantize(path_radiance[sample * pass.pixels + i].v, &found);
            red += units.channel[0];
            green += units.channel[1];
            blue += units.channel[2];
        }
        film[first] = red;
        film[first + 1u] = green;
        film[first + 2u] = blue;
    }
    counter_add(&flaws[FLAW_NON_FINITE], found.count[FLAW_NON_FINITE], scratch);
    counter_add(&flaws[FLAW_NEGATIVE], found.count[FLAW_NEGATIVE], scratch);
    counter_add(&flaws[FLAW_CLAMPED], found.count[FLAW_CLAMPED], scratch);
}

LS_KERNEL void LS_STAGE ls_tally(Pass pass, LS_GLOBAL BounceCounters *LS_RESTRICT counters, LS_GLOBAL u32 *LS_RESTRICT flaws,
                        LS_GLOBAL u64 *LS_RESTRICT totals) {
    if (LS_GLOBAL_ID() != 0u) {
        return;
    }
    for (u32 i = 0u; i < 3u; i++) {
        totals[i] += flaws[i];
        flaws[i] = 0u;
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
#if defined(LS_FETCH) || defined(LS_REFILL)
        counters[LS_HEADS(pass, bounce)] = c;
#endif
    }
}
