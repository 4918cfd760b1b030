/* A thread a row: what kernels for a GPU are made of. The same text runs as C, a row after another,
 * where RG_EMULATED is defined: so its bits are proved without a GPU. */
#if defined(RG_EMULATED)
#define RG_KERNEL void
#define RG_CONSTANT static
#define RG_LARGE static
#define RG_SHARED static
#define RG_READ(place) (*(place))
#define RG_DEVICE static inline __attribute__((unused))
#define CALLED static __attribute__((noinline, unused))
static struct {
    int64_t x;
} blockIdx, blockDim, threadIdx;
#else
typedef long long int64_t;
typedef unsigned long long uint64_t;
typedef unsigned int uint32_t;
typedef int int32_t;
#define INT64_MIN (-9223372036854775807LL - 1)
#define INT64_MAX 9223372036854775807LL
#define INT32_MAX 2147483647
#define SIMD static __device__ __forceinline__
#define RG_RARE static __device__ __noinline__
#define CALLED static __device__ __noinline__
#define RG_DEVICE static __device__ __forceinline__
#define RG_TABLE_OF(type) static __device__ const __align__(64) type
#define RG_KERNEL extern "C" __global__ void __launch_bounds__(RG_BLOCK)
#define RG_CONSTANT __constant__
#define RG_LARGE __device__
#define RG_SHARED __shared__
#define RG_READ(place) __ldg(place)
#define RG_FMA fma
#define RG_FMOD fmod
#define RG_RINT rint
#define RG_SQRT sqrt
#define RG_INFINITY __longlong_as_double(0x7ff0000000000000LL)
#define RG_NAN __longlong_as_double(0x7ff8000000000000LL)
#define RG_LIKELY(condition) (condition)
#define RG_UNLIKELY(condition) (condition)
#define RG_PRAGMA(text) _Pragma(#text)
#define RG_UNROLL(times) RG_PRAGMA(unroll times)
#define restrict
#endif
