/* The kernel dialect in OpenCL C 1.2. */

#ifndef LS_FAST
#pragma OPENCL FP_CONTRACT OFF
#endif

typedef int i32;
typedef uint u32;
typedef long i64;
typedef ulong u64;

/* LS_FN is a function that GPUs inline; compilers for CPUs decide, since inlining all takes most of their time.
 * LS_INLINE is one that is always inlined where programs are built for speed: inner loops of traversal, and arithmetic on
 * values that a call would pass through memory. Intel's compiler finds these by itself. PoCL copies functions that are
 * called once for each way to reach them, so that programs in which nothing is inlined take it longer still. */
#ifdef LS_GROUP_COMPACTION
#define LS_FN static inline __attribute__((always_inline))
#else
#define LS_FN static inline
#endif
#if defined(LS_PROBES) || defined(LS_RECORDS) || defined(cl_intel_vec_len_hint)
#define LS_INLINE LS_FN
#else
#define LS_INLINE static inline __attribute__((always_inline))
#endif
/* A function that is called: too large to be inlined at each of its uses. NVIDIA's compiler passes structures through
 * memory, which takes longer than the functions do. */
#ifdef __NV_CL_C_VERSION
#define LS_CALL LS_FN
#else
#define LS_CALL static __attribute__((noinline))
#endif
/* A function that is called on processors though GPUs inline it: with copies wherever kernels look textures up,
 * PoCL takes twice as long to compile them. */
#ifdef __NV_CL_C_VERSION
#define LS_OUTLINED LS_FN
#else
#define LS_OUTLINED static __attribute__((noinline))
#endif
/* No vectorisation across work-items: neighbouring rays diverge at the first node. */
#ifdef cl_intel_vec_len_hint
#define LS_KERNEL __kernel __attribute__((intel_vec_len_hint(1)))
#else
#define LS_KERNEL __kernel
#endif
/* Launch bounds. OpenCL has none: compiler flags limit registers. */
#define LS_TRAVERSAL
#define LS_STAGE
#define LS_SHADING
#define LS_GLOBAL __global
#define LS_CONSTANT __constant
#define LS_LOCAL __local
#define LS_LOCAL_POINTER __local
#define LS_RESTRICT restrict
#define LS_ALIGN16 __attribute__((aligned(16)))

/* Where kernels call their bodies, which are functions, a body's parameter `item` holds the work-item's place. */
#ifdef LS_CALLED_BODIES
#define LS_BODY static __attribute__((noinline))
#define LS_GLOBAL_ID() (item.global_id)
#define LS_GLOBAL_SIZE() (item.global_size)
#define LS_LOCAL_ID() (item.local_id)
#define LS_LOCAL_SIZE() (item.local_size)

/* The place of a work-item in its launch and in its group. */
typedef struct {
    u32 global_id;
    u32 global_size;
    u32 local_id;
    u32 local_size;
} WorkItem;

#define LS_WORK_ITEM()                                                                          \
    (WorkItem){(u32)get_global_id(0), (u32)get_global_size(0), (u32)get_local_id(0), (u32)get_local_size(0)}
#else
#define LS_GLOBAL_ID() ((u32)get_global_id(0))
#define LS_GLOBAL_SIZE() ((u32)get_global_size(0))
#define LS_LOCAL_ID() ((u32)get_local_id(0))
#define LS_LOCAL_SIZE() ((u32)get_local_size(0))
#endif
#define LS_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define LS_ATOMIC_ADD(counter, amount) atomic_add(counter, amount)
/* Adds to a 64-bit sum; without 64-bit atomics, to its halves one after the other. A carry out of the lower
 * half may arrive late, but the sum is exact when the kernel has ended. */
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define LS_ATOMIC_ADD_I64(sum, amount) (void)atom_add((volatile __global long *)(sum), (long)(amount))
#else
#define LS_ATOMIC_ADD_I64(sum, amount) ls_atomic_add_halves((volatile __global uint *)(sum), (ulong)(amount))

LS_FN void ls_atomic_add_halves(volatile __global uint *halves, ulong amount) {
    uint low = (uint)amount;
    uint before = atomic_add(&halves[0], low);
    uint high = (uint)(amount >> 32) + (before + low < before ? 1u : 0u);
    if (high != 0u) {
        atomic_add(&halves[1], high);
    }
}
#endif

/* Active lanes of the warp. OpenCL C 1.2 has no subgroups; without NVIDIA's assembly a warp has one lane. */
#ifdef __NV_CL_C_VERSION
#define LS_LANES() ((u32)popcount(ls_active_lanes()))

LS_FN u32 ls_active_lanes(void) {
    u32 lanes;
    __asm__ volatile("activemask.b32 %0;" : "=r"(lanes));
    return lanes;
}
#else
#define LS_LANES() 1u
#endif
/* Atomic increment; returns the old value. NVIDIA's assembler makes it warp-aggregated, since the operand is
 * constant. */
#define LS_TAKE(counter) atomic_add(counter, 1u)

#define LS_AS_U32(x) as_uint(x)
#define LS_AS_F32(x) as_float(x)
#define LS_FMA(a, b, c) fma(a, b, c)
#define LS_SQRT(x) sqrt(x)
#define LS_DIV(a, b) ((a) / (b))
#define LS_ABS(x) fabs(x)
/* Minimum and maximum without NaN. GPUs have an instruction for fmin, CPUs one for the comparison. */
#ifdef LS_GROUP_COMPACTION
#define LS_MIN(a, b) fmin(a, b)
#define LS_MAX(a, b) fmax(a, b)
#else
#define LS_MIN(a, b) math_min(a, b)
#define LS_MAX(a, b) math_max(a, b)
#endif

/* Index of the lowest set bit of a non-zero word. */
#define LS_LOWEST_BIT(x) popcount(~(x) & ((x) - 1u))

/* 8-wide SIMD. Minimum and maximum return the second operand where unordered, as math_min and math_max do.
 * Comparisons return a bit mask of lanes; without AVX, a multiplication gathers a bit of each lane. */
#define LS_F32X8 float8
#define LS_F32X8_SPLAT(x) ((float8)(x))
#define LS_F32X8_LOAD(from) vload8(0, from)
#define LS_F32X8_STORE(v, to) vstore8(v, 0, to)
#define LS_F32X8_ADD(a, b) ((a) + (b))
#define LS_F32X8_SUB(a, b) ((a) - (b))
#define LS_F32X8_MUL(a, b) ((a) * (b))
#define LS_F32X8_DIV(a, b) ((a) / (b))
#define LS_F32X8_MIN(a, b) ls_min8(a, b)
#define LS_F32X8_MAX(a, b) ls_max8(a, b)
#define LS_F32X8_ABS(a) fabs(a)
#define LS_F32X8_LESS(a, b) ls_lanes((a) < (b))
#define LS_F32X8_AT_MOST(a, b) ls_lanes((a) <= (b))
#define LS_F32X8_EQUAL(a, b) ls_lanes((a) == (b))

LS_FN float8 ls_min8(float8 a, float8 b) {
    return a < b ? a : b;
}

LS_FN float8 ls_max8(float8 a, float8 b) {
    return a > b ? a : b;
}

LS_FN u32 ls_lanes(int8 lanes) {
#ifdef __AVX__
    return (u32)__builtin_ia32_movmskps256(as_float8(lanes));
#else
    u64 bytes = as_ulong(convert_char8(lanes)) & 0x0101010101010101ul;
    return (u32)((bytes * 0x0102040810204080ul) >> 56);
#endif
}
