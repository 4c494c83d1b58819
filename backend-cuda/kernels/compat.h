/* The kernel dialect in CUDA C++ for NVRTC. */

typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

/* Inlined everywhere, but in programs that are not built for speed: inlining takes most of their compiler's time. */
#if defined(LS_PROBES) || defined(LS_RECORDS)
#define LS_FN static __device__ __noinline__
#else
#define LS_FN static __device__ __forceinline__
#endif
/* A function that is called: too large to be inlined at each of its uses. */
#define LS_CALL static __device__ __noinline__
/* Words that say more to compilers for CPUs. */
#define LS_INLINE LS_FN
#define LS_OUTLINED LS_FN
#define LS_KERNEL extern "C" __global__
/* Launch bounds. Traversal is bound by memory latency: eight resident blocks of 128 threads, at 64
 * registers each, gain more than spilling costs. So is shading without layers: seven blocks, at 72 registers.
 * Other stages keep four, at 128. LS_GROUP is the block size of kernels for large blocks; it limits their registers. */
#ifdef LS_GROUP
#define LS_TRAVERSAL __launch_bounds__(LS_GROUP, 1024 / LS_GROUP)
#define LS_STAGE __launch_bounds__(LS_GROUP)
#define LS_SHADING LS_STAGE
#else
#define LS_TRAVERSAL __launch_bounds__(128, 8)
#define LS_STAGE __launch_bounds__(128, 4)
#ifdef LS_FEW_REGISTERS
#define LS_SHADING __launch_bounds__(128, 7)
#else
#define LS_SHADING LS_STAGE
#endif
#endif
#define LS_GLOBAL
#define LS_CONSTANT __constant__
#define LS_LOCAL __shared__
#define LS_LOCAL_POINTER
#define LS_RESTRICT __restrict__
#define LS_ALIGN16 __align__(16)

#define LS_GLOBAL_ID() ((u32)(blockIdx.x * blockDim.x + threadIdx.x))
#define LS_GLOBAL_SIZE() ((u32)(gridDim.x * blockDim.x))
#define LS_LOCAL_ID() ((u32)threadIdx.x)
#define LS_LOCAL_SIZE() ((u32)blockDim.x)
#define LS_BARRIER() __syncthreads()
#define LS_ATOMIC_ADD(counter, amount) atomicAdd(counter, amount)
/* Adds to a 64-bit sum. */
#define LS_ATOMIC_ADD_I64(sum, amount) (void)atomicAdd((u64 *)(sum), (u64)(amount))

/* Active lanes of the warp. Warp-aggregated atomic increment; returns the old value. */
#define LS_LANES() ((u32)__popc(__activemask()))
#define LS_TAKE(counter) atomicAdd(counter, 1u)

#define LS_AS_U32(x) __float_as_uint(x)
#define LS_AS_F32(x) __uint_as_float(x)
#define LS_FMA(a, b, c) __fmaf_rn(a, b, c)
#define LS_SQRT(x) sqrtf(x)
#define LS_DIV(a, b) ((a) / (b))
#define LS_ABS(x) fabsf(x)
#define LS_MIN(a, b) fminf(a, b)
#define LS_MAX(a, b) fmaxf(a, b)

/* Index of the lowest set bit of a non-zero word. */
#define LS_LOWEST_BIT(x) ((u32)(__ffs((int)(x)) - 1))

/* 8-wide SIMD, emulated by loops: only BVH8 traversal uses it, which GPUs do not run but tests compile. */
typedef struct {
    float lanes[8];
} LsF32x8;

#define LS_F32X8 LsF32x8
#define LS_F32X8_SPLAT(x) ls_f32x8_splat(x)
#define LS_F32X8_LOAD(from) ls_f32x8_load(from)
#define LS_F32X8_STORE(v, to) ls_f32x8_store(v, to)
#define LS_F32X8_ADD(a, b) ls_f32x8_add(a, b)
#define LS_F32X8_SUB(a, b) ls_f32x8_sub(a, b)
#define LS_F32X8_MUL(a, b) ls_f32x8_mul(a, b)
#define LS_F32X8_DIV(a, b) ls_f32x8_div(a, b)
#define LS_F32X8_MIN(a, b) ls_f32x8_min(a, b)
#define LS_F32X8_MAX(a, b) ls_f32x8_max(a, b)
#define LS_F32X8_ABS(a) ls_f32x8_abs(a)
#define LS_F32X8_LESS(a, b) ls_f32x8_less(a, b)
#define LS_F32X8_AT_MOST(a, b) ls_f32x8_at_most(a, b)
#define LS_F32X8_EQUAL(a, b) ls_f32x8_equal(a, b)

#define LS_F32X8_LANEWISE(name, parameters, expression)     \
    LS_FN LsF32x8 name parameters {                         \
        LsF32x8 result;                                     \
        for (int i = 0; i < 8; i++) {                       \
            result.lanes[i] = expression;                   \
        }                                                   \
        return result;                                      \
    }
#define LS_F32X8_COMPARISON(name, comparison)                          \
    LS_FN u32 name(LsF32x8 a, LsF32x8 b) {                             \
        u32 bits = 0u;                                                 \
        for (int i = 0; i < 8; i++) {                                  \
            bits |= (a.lanes[i] comparison b.lanes[i] ? 1u : 0u) << i; \
        }                                                              \
        return bits;                                                   \
    }

LS_F32X8_LANEWISE(ls_f32x8_splat, (float x), x)
LS_F32X8_LANEWISE(ls_f32x8_load, (const float *from), from[i])
LS_F32X8_LANEWISE(ls_f32x8_add, (LsF32x8 a, LsF32x8 b), a.lanes[i] + b.lanes[i])
LS_F32X8_LANEWISE(ls_f32x8_sub, (LsF32x8 a, LsF32x8 b), a.lanes[i] - b.lanes[i])
LS_F32X8_LANEWISE(ls_f32x8_mul, (LsF32x8 a, LsF32x8 b), a.lanes[i] * b.lanes[i])
LS_F32X8_LANEWISE(ls_f32x8_div, (LsF32x8 a, LsF32x8 b), a.lanes[i] / b.lanes[i])
LS_F32X8_LANEWISE(ls_f32x8_min, (LsF32x8 a, LsF32x8 b), a.lanes[i] < b.lanes[i] ? a.lanes[i] : b.lanes[i])
LS_F32X8_LANEWISE(ls_f32x8_max, (LsF32x8 a, LsF32x8 b), a.lanes[i] > b.lanes[i] ? a.lanes[i] : b.lanes[i])
LS_F32X8_LANEWISE(ls_f32x8_abs, (LsF32x8 a), LS_ABS(a.lanes[i]))
LS_F32X8_COMPARISON(ls_f32x8_less, <)
LS_F32X8_COMPARISON(ls_f32x8_at_most, <=)
LS_F32X8_COMPARISON(ls_f32x8_equal, ==)

LS_FN void ls_f32x8_store(LsF32x8 v, float *to) {
    for (int i = 0; i < 8; i++) {
        to[i] = v.lanes[i];
    }
}
