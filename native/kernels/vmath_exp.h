/* exp, log and their kin, a vector of lanes at a time.
 *
 * Only the exactly rounded operations of simd.h, in one order, so every width gives the same bits.
 * Nothing branches: special values are selected at the end. tools/minimax.py made the polynomials;
 * tests/kernels/ulps.py states how far each function may be from the truth. */
#ifndef RG_VMATH_EXP_H
#define RG_VMATH_EXP_H

#include "simd.h"

#define RG_INF __builtin_inf()
#define RG_NAN __builtin_nan("")

/* ---- exp --------------------------------------------------------------------------------------
 *
 * exp(x) = 2^n * exp(r) with n whole and |r| <= ln(2)/2. ln(2) is split in two: n times the first
 * part is exact, so r loses nothing to cancellation. */

#define RG_LOG2E 0x1.71547652b82fep+0
#define RG_LN2_HIGH 0x1.62e42fefa3800p-1
#define RG_LN2_LOW 0x1.ef35793c76730p-45

/* exp(r) - 1 for |r| <= ln(2)/2 */
SIMD vd rg_exp_poly(vd r) {
    vd r2 = v_mul(r, r);
    vd r4 = v_mul(r2, r2);
    vd p0 = v_fma(r, v_set(0x1.55555555554fdp-3), v_set(0x1.000000000000ap-1));
    vd p2 = v_fma(r, v_set(0x1.1111111126e44p-7), v_set(0x1.55555555506aep-5));
    vd p4 = v_fma(r, v_set(0x1.a01a012f217d6p-13), v_set(0x1.6c16c1847b293p-10));
    vd p6 = v_fma(r, v_set(0x1.71df1a508b930p-19), v_set(0x1.a01999529350cp-16));
    vd p8 = v_fma(r, v_set(0x1.ad9144ec4c448p-26), v_set(0x1.28ae08c652db3p-22));
    p4 = v_fma(r2, p6, p4);
    p0 = v_fma(r2, p2, p0);
    p4 = v_fma(r4, p8, p4);
    p0 = v_fma(r4, p4, p0);
    return v_fma(r2, p0, r);
}

SIMD vd v_exp(vd x) {
    /* Beyond these everything is infinity or zero; a NaN passes through both. */
    vd c = v_select(v_gt(x, v_set(710.0)), v_set(710.0), x);
    c = v_select(v_lt(c, v_set(-746.0)), v_set(-746.0), c);
    /* Adding 1.5 * 2^52 rounds to a whole number and leaves it in the low bits; 2046 more makes
     * room for two exponents' bias there. */
    vd magic = v_set(0x1.8p52 + 2046.0);
    vd t = v_fma(c, v_set(RG_LOG2E), magic);
    vd n = v_sub(t, magic);
    vd r = v_fnma(n, v_set(RG_LN2_HIGH), c);
    r = v_fnma(n, v_set(RG_LN2_LOW), r);
    vd p = rg_exp_poly(r);
    /* 2^n may not be a double where the result is: multiply by its two halves, the first exact. */
    vi bits = v_bits(t);
    vi half = vi_shr(bits, 1);
    vd a = v_from_bits(vi_shl(half, 52));
    vd b = v_from_bits(vi_shl(vi_sub(bits, half), 52));
    vd y = v_mul(v_fma(p, a, a), b);
    return v_select(v_is_nan(x), x, y);
}

/* ---- log --------------------------------------------------------------------------------------
 *
 * x = 2^k * m with m within sqrt(2) of 1, and f = m - 1 is exact. With s = f / (2 + f),
 * log(m) = 2s + s z p(z), z = s^2. Only f is exact, so that is rearranged into f less a correction:
 * log(m) = f - (f^2/2 - s (f^2/2 + z p(z))). */

SIMD vd v_log(vd x) {
    vm tiny = v_lt(x, v_set(0x1p-1022));
    vd scaled = v_select(tiny, v_mul(x, v_set(0x1p54)), x);
    /* Moving sqrt(1/2) to 1 makes the exponent field count from there. */
    vi shifted = vi_add(v_bits(scaled), vi_set(0x3ff0000000000000 - 0x3fe6a09e667f3bcd));
    vi field = vi_shr(shifted, 52);
    vd k = v_from_bits(vi_or(field, vi_set(0x4330000000000000)));
    k = v_sub(k, v_select(tiny, v_set(0x1p52 + 1023 + 54), v_set(0x1p52 + 1023)));
    vi mantissa = vi_add(vi_and(shifted, vi_set(0x000fffffffffffff)), vi_set(0x3fe6a09e667f3bcd));
    vd f = v_sub(v_from_bits(mantissa), v_set(1.0));

    vd s = v_div(f, v_add(f, v_set(2.0)));
    vd half = v_mul(v_mul(f, v_set(0.5)), f);
    vd z = v_mul(s, s);
    vd w = v_mul(z, z);
    vd odd = v_fma(w, v_set(0x1.2f041ebe98560p-3), v_set(0x1.74663d372894ep-3));
    vd even = v_fma(w, v_set(0x1.39a1e00778414p-3), v_set(0x1.c71c52132fdbdp-3));
    odd = v_fma(w, odd, v_set(0x1.24924941e257ep-2));
    even = v_fma(w, even, v_set(0x1.999999997ff0fp-2));
    odd = v_fma(w, odd, v_set(0x1.5555555555592p-1));
    even = v_fma(w, even, half);
    vd correction = v_fnma(s, v_fma(z, odd, even), half);

    /* k ln(2) + f, with what that sum rounds off added to the correction. */
    vd whole = v_mul(k, v_set(RG_LN2_HIGH));
    vd high = v_add(whole, f);
    vd low = v_add(v_sub(whole, high), f);
    low = v_sub(v_fma(k, v_set(RG_LN2_LOW), low), correction);
    vd y = v_add(high, low);
    y = v_select(v_lt(x, v_set(RG_INF)), y, x); /* infinity, NaN */
    y = v_select(v_eq(x, v_set(0.0)), v_set(-RG_INF), y);
    return v_select(v_lt(x, v_set(0.0)), v_set(RG_NAN), y);
}

#endif
