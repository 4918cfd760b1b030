/* sqrt, fma and rint as IEEE 754 has them, whatever the machine: nothing of libm. */
#if defined(__FAST_MATH__)
#error "this file promises bits: compile it without -ffast-math"
#endif
#include <float.h>
#if FLT_EVAL_METHOD != 0
#error                                                                                             \
    "this file promises bits: compile it so that doubles are computed as doubles (-msse2 -mfpmath=sse)"
#endif
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline __attribute__((unused)) uint64_t rg_word(double x) {
    uint64_t word;
    memcpy(&word, &x, sizeof word);
    return word;
}

static inline __attribute__((unused)) double rg_from_word(uint64_t word) {
    double x;
    memcpy(&x, &word, sizeof x);
    return x;
}

/* A number other than 0 as m 2^e, its highest bit the 125th of m. */
typedef struct {
    unsigned __int128 m;
    int e;
} rg_wide;

static inline __attribute__((unused)) int rg_length(unsigned __int128 m) {
    uint64_t high = (uint64_t)(m >> 64);
    return high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)m);
}

static inline __attribute__((unused)) rg_wide rg_lifted(unsigned __int128 m, int e) {
    int up = 126 - rg_length(m);
    return (rg_wide){m << up, e - up};
}

static inline __attribute__((unused)) uint64_t rg_mantissa(uint64_t word, int *e) {
    int field = (int)(word >> 52 & 0x7ff);
    *e = (field ? field : 1) - 1075;
    return (word & 0xfffffffffffff) | (uint64_t)(field != 0) << 52;
}

/* m 2^e, rounded to the nearest double, ties to even. */
static inline __attribute__((unused)) double rg_rounded(unsigned __int128 m, int e, uint64_t sign) {
    int length = rg_length(m);
    int top = e + length; /* the number is below 2^top */
    int down = top < -1021 ? -1074 - e : length - 53;
    uint64_t kept;
    if (down <= 0) {
        kept = (uint64_t)(m << -down);
    } else if (down > 127) {
        kept = 0;
    } else {
        unsigned __int128 half = (unsigned __int128)1 << (down - 1), rest = m & ((half << 1) - 1);
        kept = (uint64_t)(m >> down);
        kept += rest > half || (rest == half && (kept & 1));
    }
    int field = top < -1021 ? 0 : top + 1021; /* of what kept has no place for; it may carry over */
    uint64_t word = ((uint64_t)field << 52) + kept;
    if (top > 1024 || word >= 0x7ff0000000000000) word = 0x7ff0000000000000;
    return rg_from_word(word | sign);
}

/* x y + z, rounded once, by whole numbers. */
static __attribute__((noinline, unused)) double rg_soft_fma(double x, double y, double z) {
    uint64_t a = rg_word(x), b = rg_word(y), c = rg_word(z), inf = 0x7ff0000000000000;
    uint64_t below = 0x7fffffffffffffff;
    if ((a & inf) == inf || (b & inf) == inf || (c & inf) == inf) {
        if ((a & inf) == inf || (b & inf) == inf) return x * y + z;
        return z;
    }
    if (!(a & below) || !(b & below)) return x * y + z;
    if (!(c & below)) return x * y;
    int ea, eb, ec;
    uint64_t ma = rg_mantissa(a, &ea), mb = rg_mantissa(b, &eb), mc = rg_mantissa(c, &ec);
    uint64_t sign = (a ^ b) >> 63 << 63, other = c >> 63 << 63;
    rg_wide p = rg_lifted((unsigned __int128)ma * mb, ea + eb), q = rg_lifted(mc, ec);
    if (p.e < q.e || (p.e == q.e && p.m < q.m)) {
        rg_wide t = p;
        p = q, q = t;
        uint64_t s = sign;
        sign = other, other = s;
    }
    int apart = p.e - q.e;
    if (apart > 126) {
        q.m = 1; /* it only tips the scales */
    } else if (apart) {
        unsigned __int128 lost = q.m & (((unsigned __int128)1 << apart) - 1);
        q.m = q.m >> apart | (lost != 0);
    }
    if (sign == other) return rg_rounded(p.m + q.m, p.e, sign);
    if (p.m == q.m) return 0.0;
    return rg_rounded(p.m - q.m, p.e, sign);
}

/* What x leaves when it is divided by y, exactly, with the sign of x. */
static __attribute__((noinline, unused)) double rg_fmod(double x, double y) {
    uint64_t a = rg_word(x), b = rg_word(y) & 0x7fffffffffffffff, inf = 0x7ff0000000000000;
    uint64_t sign = a >> 63 << 63;
    a ^= sign;
    if (a >= inf || b > inf || !b) return (x * y) / (x * y);
    if (a < b) return x;
    int ea, eb;
    uint64_t ma = rg_mantissa(a, &ea), mb = rg_mantissa(b, &eb);
    int left = ea - eb;
    for (ma %= mb; left > 0 && ma; left -= left < 11 ? left : 11)
        ma = (ma << (left < 11 ? left : 11)) % mb;
    return ma ? rg_rounded(ma, eb, sign) : rg_from_word(sign);
}
#define RG_FMOD rg_fmod

#if defined(__FMA__) || defined(__aarch64__) || defined(__FP_FAST_FMA)
#define RG_FMA __builtin_fma
#elif defined(__x86_64__)
__attribute__((target("fma"), unused)) static double rg_hard_fma(double x, double y, double z) {
    return __builtin_fma(x, y, z);
}
static inline __attribute__((unused)) double rg_fma(double x, double y, double z) {
    return __builtin_cpu_supports("fma") ? rg_hard_fma(x, y, z) : rg_soft_fma(x, y, z);
}
#define RG_FMA rg_fma
#else
#define RG_FMA rg_soft_fma
#endif

/* The nearest whole number, ties to even, zeros with their sign. */
static inline __attribute__((unused)) double rg_rint(double x) {
    double a = rg_from_word(rg_word(x) & 0x7fffffffffffffff);
    if (!(a < 0x1p52)) return x;
    a = (a + 0x1p52) - 0x1p52;
    return rg_from_word(rg_word(a) | rg_word(x) >> 63 << 63);
}
#define RG_RINT rg_rint

#if defined(__SSE2__)
#include <emmintrin.h>
static inline __attribute__((unused)) double rg_sqrt(double x) {
    __m128d v = _mm_set_sd(x);
    return _mm_cvtsd_f64(_mm_sqrt_sd(v, v));
}
#elif defined(__aarch64__)
static inline __attribute__((unused)) double rg_sqrt(double x) {
    double root;
    __asm__("fsqrt %d0, %d1" : "=w"(root) : "w"(x));
    return root;
}
#else
#include <math.h>
static inline __attribute__((unused)) double rg_sqrt(double x) { return sqrt(x); }
#endif
#define RG_SQRT rg_sqrt
