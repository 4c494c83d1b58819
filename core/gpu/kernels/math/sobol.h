/* Owen-scrambled Sobol points by hashing (Burley 2020). The counterpart of core/src/math/sobol.rs. */

/* Four 32-bit fractions, one for each word of a block. */
typedef struct {
    u32 x[4];
} SobolPoint;

/* A group of point `index` of Sobol's sequence. SOBOL_DIRECTIONS are its direction numbers by group, bit of the index and
 * dimension. */
LS_INLINE SobolPoint sobol_point(u32 group, u32 index) {
    SobolPoint p;
    p.x[0] = 0u;
    p.x[1] = 0u;
    p.x[2] = 0u;
    p.x[3] = 0u;
    u32 first = group * 128u;
    for (u32 bits = index; bits != 0u; bits >>= 1) {
        /* All ones where the bit is set. */
        u32 taken = 0u - (bits & 1u);
        p.x[0] ^= SOBOL_DIRECTIONS[first] & taken;
        p.x[1] ^= SOBOL_DIRECTIONS[first + 1u] & taken;
        p.x[2] ^= SOBOL_DIRECTIONS[first + 2u] & taken;
        p.x[3] ^= SOBOL_DIRECTIONS[first + 3u] & taken;
        first += 4u;
    }
    return p;
}

/* A hash in which bits depend on lower bits alone (Laine and Karras 2011; Vegdahl 2021). */
LS_INLINE u32 sobol_laine_karras(u32 x, u32 seed) {
    x ^= x * 0x3d20adeau;
    x += seed;
    x *= (seed >> 16) | 1u;
    x ^= x * 0x05526c56u;
    x ^= x * 0x53a22864u;
    return x;
}

LS_INLINE u32 sobol_reverse_bits(u32 x) {
    x = ((x >> 1) & 0x55555555u) | ((x & 0x55555555u) << 1);
    x = ((x >> 2) & 0x33333333u) | ((x & 0x33333333u) << 2);
    x = ((x >> 4) & 0x0f0f0f0fu) | ((x & 0x0f0f0f0fu) << 4);
    x = ((x >> 8) & 0x00ff00ffu) | ((x & 0x00ff00ffu) << 8);
    return (x >> 16) | (x << 16);
}

/* Nested uniform scrambling in base 2 (Owen 1995). */
LS_INLINE u32 sobol_scramble(u32 x, u32 seed) {
    return sobol_reverse_bits(sobol_laine_karras(sobol_reverse_bits(x), seed));
}

/* The scrambled point of a sample in a group; beyond the last, the first group of a sample that `order` shuffles. `seeds`
 * scramble the dimensions. */
LS_INLINE SobolPoint sobol_scrambled(u32 sample, u32 group, u32 order, SobolPoint seeds) {
    bool joint = group < SOBOL_GROUPS;
    SobolPoint p = sobol_point(joint ? group : 0u, joint ? sample : sobol_scramble(sample, order));
    p.x[0] = sobol_scramble(p.x[0], seeds.x[0]);
    p.x[1] = sobol_scramble(p.x[1], seeds.x[1]);
    p.x[2] = sobol_scramble(p.x[2], seeds.x[2]);
    p.x[3] = sobol_scramble(p.x[3], seeds.x[3]);
    return p;
}
