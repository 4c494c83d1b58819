/* The canary of exact mode: item `i` computes every operation of core/src/math/canary.rs from its four words, in
 * the order of its table. */
LS_KERNEL void ls_canary(u32 count, LS_GLOBAL const u32 *LS_RESTRICT inputs, LS_GLOBAL u32 *LS_RESTRICT outputs) {
    for (u32 i = LS_GLOBAL_ID(); i < count; i += LS_GLOBAL_SIZE()) {
        LS_GLOBAL const u32 *x = inputs + CANARY_INPUTS * i;
        LS_GLOBAL u32 *y = outputs + CANARY_OPERATIONS * i;
        float a = LS_AS_F32(x[0]);
        float b = LS_AS_F32(x[1]);
        float c = LS_AS_F32(x[2]);
        u32 n = x[3];
        float u = rng_uniform(n);
        SinCos turned = math_sin_cos_turns(u);
        y[0] = LS_AS_U32(a + b);
        y[1] = LS_AS_U32(a - b);
        y[2] = LS_AS_U32(a * b);
        y[3] = LS_AS_U32(a * b + c);
        y[4] = LS_AS_U32(LS_FMA(a, b, c));
        y[5] = LS_AS_U32(LS_DIV(a, b));
        y[6] = LS_AS_U32(LS_SQRT(LS_ABS(a)));
        y[7] = LS_AS_U32(LS_MIN(a, b));
        y[8] = LS_AS_U32(LS_MAX(a, b));
        y[9] = (a < b ? 1u : 0u) | (a >= b ? 2u : 0u);
        y[10] = LS_AS_U32((float)n);
        y[11] = (u32)math_floor_to_i32(a);
        y[12] = (u32)(((u64)x[0] * (u64)n) >> 32);
        y[13] = LS_AS_U32(turned.s);
        y[14] = LS_AS_U32(turned.c);
        y[15] = LS_AS_U32(math_atan2_turns(a, b));
        y[16] = LS_AS_U32(math_acos(u * 2.0f - 1.0f));
        y[17] = rng_pcg4d(x[0], x[1], x[2], n).w[0];
    }
}
