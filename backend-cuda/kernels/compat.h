/* The kernel dialect's words in CUDA C++ for NVRTC, and nothing else. */

typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

#define LS_FN static __device__ __forceinline__
#define LS_KERNEL extern "C" __global__
/* Traversal waits for memory most of the time: eight groups of 128 in flight, at 64 registers each, hide more of it than
 * the registers that must then be spilled cost. LS_GROUP makes kernels for groups of up to so many threads, at as many
 * registers as these leave. */
#ifdef LS_GROUP
#define LS_TRAVERSAL __launch_bounds__(LS_GROUP, 1024 / LS_GROUP)
#define LS_STAGE __launch_bounds__(LS_GROUP)
#else
#define LS_TRAVERSAL __launch_bounds__(128, 8)
#define LS_STAGE
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

#define LS_AS_U32(x) __float_as_uint(x)
#define LS_AS_F32(x) __uint_as_float(x)
#define LS_FMA(a, b, c) __fmaf_rn(a, b, c)
#define LS_SQRT(x) sqrtf(x)
#define LS_ABS(x) fabsf(x)
#define LS_MIN(a, b) fminf(a, b)
#define LS_MAX(a, b) fmaxf(a, b)
