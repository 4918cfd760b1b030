/* What gcc, clang and clang-cl spell differently, or what C17 has no word for: attributes and hints.
 * Programs that are printed as C bring it along. */
#ifndef RG_COMPILER_H
#define RG_COMPILER_H

#if !defined(__GNUC__) && !defined(__clang__)
#error "the native core is written for gcc, clang or clang-cl"
#endif

#define RG_ALWAYS_INLINE inline __attribute__((always_inline))
#define RG_NEVER_INLINE __attribute__((noinline))
#define RG_COLD __attribute__((noinline, cold))
#define RG_UNUSED __attribute__((unused))
#define RG_ALIGNED(BYTES) __attribute__((aligned(BYTES)))
#define RG_LIKELY(CONDITION) __builtin_expect(!!(CONDITION), 1)
#define RG_UNLIKELY(CONDITION) __builtin_expect(!!(CONDITION), 0)
#define RG_PREFETCH(ADDRESS) __builtin_prefetch(ADDRESS)
#define RG_PREFETCH_TO_WRITE(ADDRESS) __builtin_prefetch(ADDRESS, 1)
#define RG_ADD_OVERFLOWS(X, Y, SUM) __builtin_add_overflow(X, Y, SUM)
#define RG_MULTIPLY_OVERFLOWS(X, Y, PRODUCT) __builtin_mul_overflow(X, Y, PRODUCT)
#define RG_ONES_OF(BITS) __builtin_popcount(BITS)
#define RG_INFINITY __builtin_inf()
#define RG_NAN __builtin_nan("")

/* Before a loop: write it out so many times. */
#define RG_PRAGMA(TEXT) _Pragma(#TEXT)
#if defined(__clang__)
#define RG_UNROLL(TIMES) RG_PRAGMA(clang loop unroll_count(TIMES))
#else
#define RG_UNROLL(TIMES) RG_PRAGMA(GCC unroll TIMES)
#endif

/* Between these nothing is seen from outside the module. Windows shows nothing unless it is asked to. */
#if defined(_WIN32)
#define RG_HIDE
#define RG_HIDE_END
#else
#define RG_HIDE _Pragma("GCC visibility push(hidden)")
#define RG_HIDE_END _Pragma("GCC visibility pop")
#endif

/* The convention by which handlers of replay steps call each other: eight vectors in registers.
 * That of Windows on x86-64 passes vectors by their address; gcc cannot compile the other there, and
 * runs steps from a loop. */
#if defined(_WIN32) && defined(__x86_64__) && defined(__clang__)
#define RG_IN_REGISTERS __attribute__((sysv_abi))
#else
#define RG_IN_REGISTERS
#endif

#endif
