/* Adds a batch's radiance to the film. Parameters are declared in core/gpu/src/signatures.rs. */

LS_KERNEL void LS_STAGE ls_resolve(Pass pass, LS_GLOBAL const Packed *LS_RESTRICT path_radiance,
                          LS_GLOBAL i64 *LS_RESTRICT film, LS_GLOBAL u32 *LS_RESTRICT invalid) {
    LS_SCRATCH(scratch);
    InvalidSamples found = film_no_invalid();
    LS_FOR_SHARE(i, pass.pixels) {
        SampleKey key;
        key.pixel = pixel_at(pass, pass.first_pixel + i);
        key.seed = pass.seed;
        u32 first = 3u * key.pixel;
        i64 red = film[first];
        i64 green = film[first + 1u];
        i64 blue = film[first + 2u];
        for (u32 sample = 0u; sample < pass.samples; sample++) {
            key.sample = pass.first_sample + sample;
            Words dither = rng_dither(key, 0u);
            Units units = film_quantize(path_radiance[sample * pass.pixels + i].v, dither, &found);
            red += units.channel[0];
            green += units.channel[1];
            blue += units.channel[2];
        }
        film[first] = red;
        film[first + 1u] = green;
        film[first + 2u] = blue;
    }
    counter_add(&invalid[INVALID_NON_FINITE], found.count[INVALID_NON_FINITE], scratch);
    counter_add(&invalid[INVALID_NEGATIVE], found.count[INVALID_NEGATIVE], scratch);
    counter_add(&invalid[INVALID_CLAMPED], found.count[INVALID_CLAMPED], scratch);
}
