/* Lanes: one spelling of vector arithmetic for every width.
 *
 * Only operations that IEEE 754 rounds exactly (+ - * / sqrt fma rint), comparisons, selections and
 * bit operations, so that results are the same bits whatever the width. The width is chosen by the
 * compiler's target: AVX-512 (8 lanes), AVX2 with FMA (4), NEON (2), or plain C (1) everywhere else;
 * and where RG_ONE asks for it, for calls with one row, or RG_PLAIN, for the level to compare with.
 *
 *   vd  doubles      vi  64-bit integers      vm  a truth value a lane
 *
 * v_min and v_max give y where either is a NaN: write the bound first and NaNs pass. v_lookup16 reads
 * a table of sixteen at the last four bits of the index, and is much faster than v_lookup. */
#ifndef RG_SIMD_H
#define RG_SIMD_H

#ifndef RG_FMA /* a printed program brings its own */
#include <math.h>
#define RG_FMA fma
#define RG_FMOD fmod
#define RG_RINT rint
#define RG_SQRT sqrt
#include <stdint.h>
#include <string.h>
#endif

/* How things are declared; for a GPU a printed program says it otherwise. */
#ifndef SIMD
#include "compiler.h"
#define SIMD static RG_ALWAYS_INLINE RG_UNUSED
#define RG_RARE static RG_COLD RG_UNUSED
#define RG_TABLE_OF(type) static const type RG_ALIGNED(64) RG_UNUSED
#endif
#define RG_TABLE RG_TABLE_OF(double)

#if defined(__AVX512F__) && defined(__AVX512DQ__) && !defined(RG_ONE)

#include <immintrin.h>
#define RG_LANES 8
typedef __m512d vd;
typedef __m512i vi;
typedef __mmask8 vm;

SIMD vd v_set(double x) { return _mm512_set1_pd(x); }
SIMD vd v_load(const double *p) { return _mm512_loadu_pd(p); }
SIMD void v_store(double *p, vd x) { _mm512_storeu_pd(p, x); }
SIMD void v_stream(double *p, vd x) { _mm512_stream_pd(p, x); }
SIMD vd v_add(vd x, vd y) { return _mm512_add_pd(x, y); }
SIMD vd v_sub(vd x, vd y) { return _mm512_sub_pd(x, y); }
SIMD vd v_mul(vd x, vd y) { return _mm512_mul_pd(x, y); }
SIMD vd v_div(vd x, vd y) { return _mm512_div_pd(x, y); }
SIMD vd v_sqrt(vd x) { return _mm512_sqrt_pd(x); }
SIMD vd v_fma(vd x, vd y, vd z) { return _mm512_fmadd_pd(x, y, z); }
SIMD vd v_fnma(vd x, vd y, vd z) { return _mm512_fnmadd_pd(x, y, z); }
SIMD vd v_rint(vd x) { return _mm512_roundscale_pd(x, 8); }
SIMD vm v_lt(vd x, vd y) { return _mm512_cmp_pd_mask(x, y, _CMP_LT_OQ); }
SIMD vm v_le(vd x, vd y) { return _mm512_cmp_pd_mask(x, y, _CMP_LE_OQ); }
SIMD vm v_eq(vd x, vd y) { return _mm512_cmp_pd_mask(x, y, _CMP_EQ_OQ); }
SIMD vm v_ne(vd x, vd y) { return _mm512_cmp_pd_mask(x, y, _CMP_NEQ_UQ); }
SIMD vm vm_or(vm a, vm b) { return (vm)(a | b); }
SIMD vm vm_and(vm a, vm b) { return (vm)(a & b); }
SIMD vm vm_not(vm a) { return (vm)~a; }
SIMD vd v_select(vm c, vd x, vd y) { return _mm512_mask_blend_pd(c, y, x); }
SIMD vi v_bits(vd x) { return _mm512_castpd_si512(x); }
SIMD vd v_from_bits(vi x) { return _mm512_castsi512_pd(x); }
SIMD vi vi_set(int64_t x) { return _mm512_set1_epi64(x); }
SIMD vi vi_add(vi x, vi y) { return _mm512_add_epi64(x, y); }
SIMD vi vi_sub(vi x, vi y) { return _mm512_sub_epi64(x, y); }
SIMD vi vi_and(vi x, vi y) { return _mm512_and_si512(x, y); }
SIMD vi vi_or(vi x, vi y) { return _mm512_or_si512(x, y); }
SIMD vi vi_xor(vi x, vi y) { return _mm512_xor_si512(x, y); }
SIMD vi vi_shl(vi x, int n) { return _mm512_slli_epi64(x, (unsigned)n); }
SIMD vi vi_shr(vi x, int n) { return _mm512_srli_epi64(x, (unsigned)n); }
SIMD vm vi_eq(vi x, vi y) { return _mm512_cmpeq_epi64_mask(x, y); }
SIMD vi vi_select(vm c, vi x, vi y) { return _mm512_mask_blend_epi64(c, y, x); }
/* A gather merges into a register, and so waits for what was last computed there: give it a zero.
 * Compilers drop that where they see that all lanes are asked for, so hide it. */
SIMD vd v_lookup(const double *table, vi index) {
    __mmask8 all = 0xff;
    __asm__("" : "+Yk"(all));
    return _mm512_mask_i64gather_pd(_mm512_setzero_pd(), all, index, table, 8);
}
/* v_scale and v_split: for what they promise, see their other definitions at the end. */
SIMD vd v_scale(vd x, vd n) { return _mm512_scalef_pd(x, n); }
SIMD vd v_split(vd x, vd *k) {
    vd m = _mm512_getmant_pd(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
    *k = _mm512_sub_pd(_mm512_getexp_pd(x), _mm512_getexp_pd(m));
    return m;
}
SIMD vd v_lookup16(const double *table, vi index) {
    return _mm512_permutex2var_pd(v_load(table), index, v_load(table + 8));
}
SIMD vd v_min(vd x, vd y) { return _mm512_min_pd(x, y); }
SIMD vd v_max(vd x, vd y) { return _mm512_max_pd(x, y); }
SIMD int vm_any(vm a) { return a != 0; }

#elif defined(__AVX2__) && defined(__FMA__) && !defined(RG_ONE)

#include <immintrin.h>
#define RG_LANES 4
typedef __m256d vd;
typedef __m256i vi;
typedef __m256d vm;

SIMD vd v_set(double x) { return _mm256_set1_pd(x); }
SIMD vd v_load(const double *p) { return _mm256_loadu_pd(p); }
SIMD void v_store(double *p, vd x) { _mm256_storeu_pd(p, x); }
SIMD void v_stream(double *p, vd x) { _mm256_stream_pd(p, x); }
SIMD vd v_add(vd x, vd y) { return _mm256_add_pd(x, y); }
SIMD vd v_sub(vd x, vd y) { return _mm256_sub_pd(x, y); }
SIMD vd v_mul(vd x, vd y) { return _mm256_mul_pd(x, y); }
SIMD vd v_div(vd x, vd y) { return _mm256_div_pd(x, y); }
SIMD vd v_sqrt(vd x) { return _mm256_sqrt_pd(x); }
SIMD vd v_fma(vd x, vd y, vd z) { return _mm256_fmadd_pd(x, y, z); }
SIMD vd v_fnma(vd x, vd y, vd z) { return _mm256_fnmadd_pd(x, y, z); }
SIMD vd v_rint(vd x) { return _mm256_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
SIMD vm v_lt(vd x, vd y) { return _mm256_cmp_pd(x, y, _CMP_LT_OQ); }
SIMD vm v_le(vd x, vd y) { return _mm256_cmp_pd(x, y, _CMP_LE_OQ); }
SIMD vm v_eq(vd x, vd y) { return _mm256_cmp_pd(x, y, _CMP_EQ_OQ); }
SIMD vm v_ne(vd x, vd y) { return _mm256_cmp_pd(x, y, _CMP_NEQ_UQ); }
SIMD vm vm_or(vm a, vm b) { return _mm256_or_pd(a, b); }
SIMD vm vm_and(vm a, vm b) { return _mm256_and_pd(a, b); }
SIMD vm vm_not(vm a) { return _mm256_xor_pd(a, _mm256_castsi256_pd(_mm256_set1_epi64x(-1))); }
SIMD vd v_select(vm c, vd x, vd y) { return _mm256_blendv_pd(y, x, c); }
SIMD vi v_bits(vd x) { return _mm256_castpd_si256(x); }
SIMD vd v_from_bits(vi x) { return _mm256_castsi256_pd(x); }
SIMD vi vi_set(int64_t x) { return _mm256_set1_epi64x(x); }
SIMD vi vi_add(vi x, vi y) { return _mm256_add_epi64(x, y); }
SIMD vi vi_sub(vi x, vi y) { return _mm256_sub_epi64(x, y); }
SIMD vi vi_and(vi x, vi y) { return _mm256_and_si256(x, y); }
SIMD vi vi_or(vi x, vi y) { return _mm256_or_si256(x, y); }
SIMD vi vi_xor(vi x, vi y) { return _mm256_xor_si256(x, y); }
SIMD vi vi_shl(vi x, int n) { return _mm256_slli_epi64(x, n); }
SIMD vi vi_shr(vi x, int n) { return _mm256_srli_epi64(x, n); }
SIMD vm vi_eq(vi x, vi y) { return _mm256_castsi256_pd(_mm256_cmpeq_epi64(x, y)); }
SIMD vi vi_select(vm c, vi x, vi y) {
    return _mm256_castpd_si256(_mm256_blendv_pd(_mm256_castsi256_pd(y), _mm256_castsi256_pd(x), c));
}
/* As above: into a zero, so that it need not wait. */
SIMD vd v_lookup(const double *table, vi index) {
    vd all = _mm256_castsi256_pd(_mm256_set1_epi64x(-1));
    __asm__("" : "+x"(all));
    return _mm256_mask_i64gather_pd(_mm256_setzero_pd(), table, index, all, 8);
}
SIMD vd v_lookup16(const double *table, vi index) {
    return v_lookup(table, vi_and(index, vi_set(15)));
}
SIMD vd v_min(vd x, vd y) { return _mm256_min_pd(x, y); }
SIMD vd v_max(vd x, vd y) { return _mm256_max_pd(x, y); }
SIMD int vm_any(vm a) { return _mm256_movemask_pd(a) != 0; }

#elif defined(__aarch64__) && !defined(RG_ONE) && !defined(RG_PLAIN)

#include <arm_neon.h>
#define RG_LANES 2
typedef float64x2_t vd;
typedef int64x2_t vi;
typedef uint64x2_t vm;

SIMD vd v_set(double x) { return vdupq_n_f64(x); }
SIMD vd v_load(const double *p) { return vld1q_f64(p); }
SIMD void v_store(double *p, vd x) { vst1q_f64(p, x); }
SIMD void v_stream(double *p, vd x) { vst1q_f64(p, x); }
SIMD vd v_add(vd x, vd y) { return vaddq_f64(x, y); }
SIMD vd v_sub(vd x, vd y) { return vsubq_f64(x, y); }
SIMD vd v_mul(vd x, vd y) { return vmulq_f64(x, y); }
SIMD vd v_div(vd x, vd y) { return vdivq_f64(x, y); }
SIMD vd v_sqrt(vd x) { return vsqrtq_f64(x); }
SIMD vd v_fma(vd x, vd y, vd z) { return vfmaq_f64(z, x, y); }
SIMD vd v_fnma(vd x, vd y, vd z) { return vfmsq_f64(z, x, y); }
SIMD vd v_rint(vd x) { return vrndnq_f64(x); }
SIMD vm v_lt(vd x, vd y) { return vcltq_f64(x, y); }
SIMD vm v_le(vd x, vd y) { return vcleq_f64(x, y); }
SIMD vm v_eq(vd x, vd y) { return vceqq_f64(x, y); }
SIMD vm vm_or(vm a, vm b) { return vorrq_u64(a, b); }
SIMD vm vm_and(vm a, vm b) { return vandq_u64(a, b); }
SIMD vm vm_not(vm a) { return veorq_u64(a, vdupq_n_u64(UINT64_MAX)); }
SIMD vm v_ne(vd x, vd y) { return vm_not(v_eq(x, y)); }
SIMD vd v_select(vm c, vd x, vd y) { return vbslq_f64(c, x, y); }
SIMD vi v_bits(vd x) { return vreinterpretq_s64_f64(x); }
SIMD vd v_from_bits(vi x) { return vreinterpretq_f64_s64(x); }
SIMD vi vi_set(int64_t x) { return vdupq_n_s64(x); }
SIMD vi vi_add(vi x, vi y) { return vaddq_s64(x, y); }
SIMD vi vi_sub(vi x, vi y) { return vsubq_s64(x, y); }
SIMD vi vi_and(vi x, vi y) { return vandq_s64(x, y); }
SIMD vi vi_or(vi x, vi y) { return vorrq_s64(x, y); }
SIMD vi vi_xor(vi x, vi y) { return veorq_s64(x, y); }
SIMD vi vi_shl(vi x, int n) { return vshlq_s64(x, vdupq_n_s64(n)); }
SIMD vi vi_shr(vi x, int n) {
    return vreinterpretq_s64_u64(vshlq_u64(vreinterpretq_u64_s64(x), vdupq_n_s64(-n)));
}
SIMD vm vi_eq(vi x, vi y) { return vceqq_s64(x, y); }
SIMD vi vi_select(vm c, vi x, vi y) { return vbslq_s64(c, x, y); }
SIMD vd v_lookup(const double *table, vi index) {
    vd first = vld1q_dup_f64(table + vgetq_lane_s64(index, 0));
    return vld1q_lane_f64(table + vgetq_lane_s64(index, 1), first, 1);
}
SIMD vd v_lookup16(const double *table, vi index) {
    return v_lookup(table, vi_and(index, vi_set(15)));
}
/* Not the instructions of these names, which make a NaN of either NaN. */
SIMD vd v_min(vd x, vd y) { return v_select(v_lt(x, y), x, y); }
SIMD vd v_max(vd x, vd y) { return v_select(v_lt(y, x), x, y); }
SIMD int vm_any(vm a) { return vmaxvq_u32(vreinterpretq_u32_u64(a)) != 0; }

#else

#define RG_LANES 1
typedef double vd;
typedef int64_t vi;
typedef int vm;

SIMD vd v_set(double x) { return x; }
SIMD vd v_load(const double *p) { return *p; }
SIMD void v_store(double *p, vd x) { *p = x; }
SIMD void v_stream(double *p, vd x) { *p = x; }
SIMD vd v_add(vd x, vd y) { return x + y; }
SIMD vd v_sub(vd x, vd y) { return x - y; }
SIMD vd v_mul(vd x, vd y) { return x * y; }
SIMD vd v_div(vd x, vd y) { return x / y; }
SIMD vd v_sqrt(vd x) { return RG_SQRT(x); }
SIMD vd v_fma(vd x, vd y, vd z) { return RG_FMA(x, y, z); }
SIMD vd v_fnma(vd x, vd y, vd z) { return RG_FMA(-x, y, z); }
SIMD vd v_rint(vd x) { return RG_RINT(x); }
SIMD vm v_lt(vd x, vd y) { return x < y; }
SIMD vm v_le(vd x, vd y) { return x <= y; }
SIMD vm v_eq(vd x, vd y) { return x == y; }
SIMD vm v_ne(vd x, vd y) { return x != y; }
SIMD vm vm_or(vm a, vm b) { return a | b; }
SIMD vm vm_and(vm a, vm b) { return a & b; }
SIMD vm vm_not(vm a) { return !a; }
SIMD vd v_select(vm c, vd x, vd y) { return c ? x : y; }
SIMD vi v_bits(vd x) {
    vi bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
SIMD vd v_from_bits(vi bits) {
    vd x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
SIMD vi vi_set(int64_t x) { return x; }
SIMD vi vi_add(vi x, vi y) { return (vi)((uint64_t)x + (uint64_t)y); }
SIMD vi vi_sub(vi x, vi y) { return (vi)((uint64_t)x - (uint64_t)y); }
SIMD vi vi_and(vi x, vi y) { return x & y; }
SIMD vi vi_or(vi x, vi y) { return x | y; }
SIMD vi vi_xor(vi x, vi y) { return x ^ y; }
SIMD vi vi_shl(vi x, int n) { return (vi)((uint64_t)x << n); }
SIMD vi vi_shr(vi x, int n) { return (vi)((uint64_t)x >> n); }
SIMD vm vi_eq(vi x, vi y) { return x == y; }
SIMD vi vi_select(vm c, vi x, vi y) { return c ? x : y; }
SIMD vd v_lookup(const double *table, vi index) { return table[index]; }
SIMD vd v_lookup16(const double *table, vi index) { return table[index & 15]; }
SIMD vd v_min(vd x, vd y) { return x < y ? x : y; }
SIMD vd v_max(vd x, vd y) { return x > y ? x : y; }
SIMD int vm_any(vm a) { return a; }

#endif

/* What follows is the same for every width. */

/* 1 / x for x from 2^-500 to 2^500, or a NaN: for a GPU a printed program says it otherwise. */
#ifndef RG_INVERSE
#define RG_INVERSE(x) v_div(v_set(1.0), x)
#endif
SIMD vd v_inverse(vd x) { return RG_INVERSE(x); }

SIMD vm v_gt(vd x, vd y) { return v_lt(y, x); }
SIMD vm v_ge(vd x, vd y) { return v_le(y, x); }
SIMD vm v_is_nan(vd x) { return v_ne(x, x); }
SIMD vd v_sign_bit(vd x) { return v_from_bits(vi_and(v_bits(x), vi_set(INT64_MIN))); }
SIMD vd v_neg(vd x) { return v_from_bits(vi_xor(v_bits(x), vi_set(INT64_MIN))); }
SIMD vd v_abs(vd x) { return v_from_bits(vi_and(v_bits(x), vi_set(INT64_MAX))); }
/* |x| with the sign of y */
SIMD vd v_copysign(vd x, vd y) {
    return v_from_bits(vi_or(v_bits(v_abs(x)), v_bits(v_sign_bit(y))));
}
/* A whole double of magnitude below 2^51 as an integer, and back. */
SIMD vi v_to_int(vd x) {
    vd magic = v_set(6755399441055744.0); /* 1.5 * 2^52 */
    return vi_sub(v_bits(v_add(x, magic)), v_bits(magic));
}
SIMD vd v_from_int(vi x) {
    vd magic = v_set(6755399441055744.0);
    return v_sub(v_from_bits(vi_add(x, v_bits(magic))), magic);
}
/* 2^n for whole n from -1022 to 1023 */
SIMD vd v_pow2(vi n) { return v_from_bits(vi_shl(vi_add(n, vi_set(1023)), 52)); }
SIMD vd v_floor(vd x) {
    vd r = v_rint(x);
    vd lower = v_select(v_gt(r, x), v_sub(r, v_set(1.0)), r);
    return v_copysign(lower, x); /* zeros keep their sign */
}

#if RG_LANES != 8 /* what AVX-512 has instructions for: scaleB and logB of IEEE 754, both exact */

/* x * 2^floor(n), rounded once, for n in sixteenths from -2044 to 2046 and x within 2^500 of 1 */
SIMD vd v_scale(vd x, vd n) {
    /* 2^n itself may not be a double: multiply by two halves of it, the first time exactly. */
    vi fields = v_bits(v_add(v_sub(n, v_set(15.0 / 32)), v_set(0x1.8p52 + 2046.0)));
    vi half = vi_shr(fields, 1);
    vd first = v_from_bits(vi_shl(half, 52));
    vd second = v_from_bits(vi_shl(vi_sub(fields, half), 52));
    return v_mul(v_mul(x, first), second);
}
/* The m from 3/4 to 3/2 and the whole k with x = m * 2^k, also where x is denormal. Where x is
 * zero, k is -inf; infinite, inf; a NaN, that; negative, a NaN: and m then means nothing. */
SIMD vd v_split(vd x, vd *k) {
    vm tiny = v_lt(x, v_set(0x1p-1022));
    vd scaled = v_select(tiny, v_mul(x, v_set(0x1p54)), x);
    vi start = vi_set(0x3fe8000000000000); /* 3/4, from where the exponent is to count */
    vi moved = vi_add(v_bits(scaled), vi_sub(vi_set(0x3ff0000000000000), start));
    vd m = v_from_bits(vi_add(vi_and(moved, vi_set(0x000fffffffffffff)), start));
    vd biased = v_from_bits(vi_or(vi_shr(moved, 52), vi_set(0x4330000000000000))); /* + 2^52 */
    vd e = v_sub(biased, v_select(tiny, v_set(0x1p52 + 1023 + 54), v_set(0x1p52 + 1023)));
    vd negative = v_from_bits(vi_set((int64_t)0xfff8000000000000)); /* the NaN that x86 makes */
    vd other = v_select(v_eq(x, v_set(0.0)), v_set(-RG_INFINITY), negative);
    e = v_select(v_gt(x, v_set(0.0)), e, other);
    *k = v_select(v_lt(x, v_set(RG_INFINITY)), e, x);
    return m;
}

#endif

#endif
