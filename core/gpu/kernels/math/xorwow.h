/* The xorwow generator (Marsaglia 2003). The counterpart of core/src/math/xorwow.rs. */

/* Five words of xorshift, and a Weyl sequence. */
typedef struct {
    u32 x;
    u32 y;
    u32 z;
    u32 w;
    u32 v;
    u32 weyl;
} Xorwow;

/* A state of its own for each four words. */
LS_INLINE Xorwow xorwow_seeded(u32 x, u32 y, u32 z, u32 w) {
    Xorwow s;
    s.x = x;
    s.y = y;
    s.z = z;
    s.w = w;
    s.v = 5783321u;
    s.weyl = 6615241u;
    return s;
}

/* Advances the sequence by a word; the word is `v + weyl` of the new state. */
LS_INLINE Xorwow xorwow_next(Xorwow s) {
    u32 t = s.x ^ (s.x >> 2);
    s.x = s.y;
    s.y = s.z;
    s.z = s.w;
    s.w = s.v;
    s.v = (s.v ^ (s.v << 4)) ^ (t ^ (t << 1));
    s.weyl += 362437u;
    return s;
}
