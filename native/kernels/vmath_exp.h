/* exp, log and their kin, a vector of lanes at a time.
 *
 * Only the exactly rounded operations of simd.h, in one order, so every width gives the same bits.
 * Nothing branches: special values fall out of the arithmetic or are selected at the end.
 * tools/minimax.py made the polynomials and the table; tests/kernels/ulps.py states how far each
 * function may be from the truth.
 *
 * NaNs: a NaN that meets only numbers on its way comes out as it went in. Where two might meet, or
 * a sign might be flipped (v_fnma of a NaN differs between widths), one is selected at the end. */
#ifndef RG_VMATH_EXP_H
#define RG_VMATH_EXP_H

#include "simd.h"

#define RG_INF __builtin_inf()
#define RG_NAN __builtin_nan("")

/* ln(2) in two parts, the first so short that its product with an exponent is exact. */
#define RG_LN2_HIGH 0x1.62e42fefa3800p-1
#define RG_LN2_LOW 0x1.ef35793c76730p-45
#define RG_LOG2E 0x1.71547652b82fep+0

/* ---- exp and what is made of it ---------------------------------------------------------------
 *
 * exp(x) = 2^n exp(r) with n whole and |r| <= ln(2)/2. r is kept in two parts: high, exact, and low,
 * the correction for the rest of ln(2). exp(r) = 1 + high + rest, and each function adds the three
 * in the order that suits. */

typedef struct {
    vd n;     /* the whole number of ln(2)s, */
    vi field; /* and 1023 more than that in the low bits: shifted left by 52, that is 2^n */
    vd high, low;
} rg_reduced;

/* For |x| <= 800, and NaNs pass. */
SIMD rg_reduced rg_reduce(vd x) {
    rg_reduced of;
    /* A sum near 1.5 * 2^52 is rounded to a whole number, which then fills its low bits. */
    vd magic = v_set(0x1.8p52 + 1023.0);
    vd sum = v_fma(x, v_set(RG_LOG2E), magic);
    of.n = v_sub(sum, magic);
    of.field = v_bits(sum);
    of.high = v_fma(of.n, v_set(-RG_LN2_HIGH), x);
    of.low = v_mul(of.n, v_set(-RG_LN2_LOW));
    return of;
}

/* exp(r) - 1 - high */
SIMD vd rg_exp_rest(rg_reduced of) {
    vd r = v_add(of.high, of.low);
    vd r2 = v_mul(r, r);
    vd r4 = v_mul(r2, r2);
    vd p0 = v_fma(r, v_set(0x1.55555555554fdp-3), v_set(0x1.000000000000ap-1));
    vd p2 = v_fma(r, v_set(0x1.1111111126e44p-7), v_set(0x1.55555555506aep-5));
    vd p4 = v_fma(r, v_set(0x1.a01a012f217d6p-13), v_set(0x1.6c16c1847b293p-10));
    vd p6 = v_fma(r, v_set(0x1.71df1a508b930p-19), v_set(0x1.a01999529350cp-16));
    vd p8 = v_fma(r, v_set(0x1.ad9144ec4c448p-26), v_set(0x1.28ae08c652db3p-22));
    p0 = v_fma(r2, p2, p0);
    p4 = v_fma(r2, p6, p4);
    p4 = v_fma(r4, p8, p4);
    p0 = v_fma(r4, p4, p0);
    return v_fma(r2, p0, of.low);
}

SIMD vd rg_exp_of(rg_reduced of) {
    vd r = v_add(of.high, rg_exp_rest(of));
    return v_scale(v_add(v_set(1.0), r), of.n);
}

SIMD vd v_exp(vd x) {
    /* From these bounds on, everything overflows or vanishes. */
    return rg_exp_of(rg_reduce(v_max(v_set(-746.0), v_min(v_set(710.0), x))));
}

/* 2^n (1 + high + rest) - 1. The greatest n would overflow, so half of that is computed. */
SIMD vd v_expm1(vd x) {
    rg_reduced of = rg_reduce(v_max(v_set(-60.0), v_min(v_set(710.0), x)));
    vd rest = rg_exp_rest(of);
    vd scale = v_from_bits(vi_shl(vi_sub(of.field, vi_set(1)), 52)); /* 2^(n-1) */
    vd most = v_fma(of.high, scale, v_sub(scale, v_set(0.5)));
    vd half = v_fma(rest, scale, most);
    /* Tiny x is its own answer; halving it could lose a bit, or zero's sign. */
    return v_select(v_lt(v_abs(x), v_set(0x1p-54)), x, v_add(half, half));
}

/* With e = exp(2|x|) - 1: tanh |x| = e / (e + 2). From 20 on that is 1. Near zero -2|x| does as well,
 * and is better: e + 2 is then a little under 2 and not over, where doubles are half as far apart. */
SIMD vd v_tanh(vd x) {
    vd twice = v_min(v_set(40.0), v_abs(v_add(x, x)));
    rg_reduced of = rg_reduce(v_select(v_lt(twice, v_set(0.34)), v_neg(twice), twice));
    vd rest = rg_exp_rest(of);
    vd scale = v_from_bits(vi_shl(of.field, 52));
    vd e = v_fma(rest, scale, v_fma(of.high, scale, v_sub(scale, v_set(1.0))));
    return v_copysign(v_div(e, v_add(e, v_set(2.0))), x);
}

/* With e = exp(-|x|) and q = e / (1 + e), this is 1 - q on the right and e - e q on the left, where
 * the rounding errors of q hardly count. Those of e do, so what 1 + high rounds off is kept. */
SIMD vd v_sigmoid(vd x) {
    vd one = v_set(1.0);
    vd left = v_from_bits(vi_or(v_bits(x), vi_set(INT64_MIN)));
    rg_reduced of = rg_reduce(v_max(v_set(-746.0), left));
    vd most = v_add(one, of.high);
    vd lost = v_sub(of.high, v_sub(most, one));
    vd e = v_scale(v_add(most, v_add(lost, rg_exp_rest(of))), of.n);
    vd q = v_div(e, v_add(one, e));
    vd top = v_select(v_lt(x, v_set(0.0)), e, one);
    return v_fnma(top, q, top);
}

/* sinh and cosh of |x| without a division: with |x| = n ln(2) + r,
 *
 *     sinh = minus cosh(r) + plus sinh(r)        plus  = 2^(n-1) + 2^(-n-1)
 *     cosh = plus cosh(r) + minus sinh(r)        minus = 2^(n-1) - 2^(-n-1)
 *
 * all halved once more, since the greatest n would overflow. */
typedef struct {
    vd plus, minus;     /* halved */
    vd high;            /* r, all but */
    vd cosh_rest;       /* cosh(r) - 1 */
    vd sinh_rest;       /* sinh(r) - high */
} rg_hyperbolic;

SIMD rg_hyperbolic rg_hyperbolics(vd x) {
    rg_hyperbolic of;
    rg_reduced reduced = rg_reduce(v_min(v_set(710.5), v_abs(x)));
    vd up = v_from_bits(vi_shl(vi_sub(reduced.field, vi_set(2)), 52));
    /* 2^(-n-2), or 2^-514 where that is too small to matter and might not be a double. */
    vd fewer = v_min(v_set(512.0), reduced.n);
    vd field = v_sub(v_set(0x1.8p52 + 1021.0), fewer);
    vd down = v_from_bits(vi_shl(v_bits(field), 52));
    of.plus = v_add(up, down);
    of.minus = v_sub(up, down);
    of.high = reduced.high;
    vd r = v_add(reduced.high, reduced.low);
    vd z = v_mul(r, r);
    vd z2 = v_mul(z, z);
    vd c0 = v_fma(z, v_set(0x1.5555555555558p-5), v_set(0x1.0000000000000p-1));
    vd c2 = v_fma(z, v_set(0x1.a01a01ad71fabp-16), v_set(0x1.6c16c16c15013p-10));
    vd c4 = v_fma(z, v_set(0x1.1f8b95001248ep-29), v_set(0x1.27e4cc3700d92p-22));
    vd s0 = v_fma(z, v_set(0x1.111111110f650p-7), v_set(0x1.5555555555559p-3));
    vd s2 = v_fma(z, v_set(0x1.71ddf8082cec2p-19), v_set(0x1.a01a01b0062a3p-13));
    c2 = v_fma(z2, c4, c2);
    s2 = v_fma(z2, v_set(0x1.af5f3894cf34ap-26), s2);
    c0 = v_fma(z2, c2, c0);
    s0 = v_fma(z2, s2, s0);
    of.cosh_rest = v_mul(z, c0);
    of.sinh_rest = v_fma(v_mul(z, r), s0, reduced.low);
    return of;
}

SIMD vd v_sinh(vd x) {
    rg_hyperbolic of = rg_hyperbolics(x);
    vd most = v_fma(of.plus, of.high, of.minus);
    vd half = v_add(most, v_fma(of.minus, of.cosh_rest, v_mul(of.plus, of.sinh_rest)));
    /* Tiny x is its own answer; halving it could lose a bit. */
    vd y = v_select(v_lt(v_abs(x), v_set(0x1p-54)), x, v_add(half, half));
    return v_copysign(y, x);
}

SIMD vd v_cosh(vd x) {
    rg_hyperbolic of = rg_hyperbolics(x);
    vd most = v_fma(of.minus, of.high, of.plus);
    vd half = v_add(most, v_fma(of.plus, of.cosh_rest, v_mul(of.minus, of.sinh_rest)));
    return v_add(half, half);
}

/* ---- log and what is made of it ---------------------------------------------------------------
 *
 * x = 2^k m with m from 3/4 to 3/2, and f = m - 1 is exact. With s = f / (2 + f) and z = s^2,
 * log(m) = 2s + s z p(z). Only f is exact, so that is rearranged into f less a correction:
 * log(m) = f - (f^2/2 - s (f^2/2 + z p(z))). */

/* z p(z) + more, for z <= 0.051 */
SIMD vd rg_atanh_poly(vd z, vd more) {
    vd w = v_mul(z, z);
    vd odd = v_fma(w, v_set(0x1.0b8694bceff1dp-3), v_set(0x1.745addf11552fp-3));
    vd even = v_fma(w, v_set(0x1.28df44c5f326ep-3), v_set(0x1.3b5dbb7187003p-3));
    odd = v_fma(w, odd, v_set(0x1.2492491857981p-2));
    even = v_fma(w, even, v_set(0x1.c71c7bb446dcep-3));
    odd = v_fma(w, odd, v_set(0x1.5555555555526p-1));
    even = v_fma(w, even, v_set(0x1.99999999a8279p-2));
    return v_fma(z, odd, v_fma(w, even, more));
}

SIMD vd rg_half_square(vd f) { return v_mul(v_mul(f, v_set(0.5)), f); }

/* f - log(1 + f) for f from -1/4 to 1/2 */
SIMD vd rg_log_rest(vd f, vd half) {
    vd s = v_div(f, v_add(f, v_set(2.0)));
    return v_fnma(s, rg_atanh_poly(v_mul(s, s), half), half);
}

/* k ln(2) + f - less. What the sum of the first two rounds off is added to the last. Where k is
 * infinite that is a NaN, which v_min turns into a 1 that leaves infinity alone: the answers of
 * log at zero and infinity need nothing more. */
SIMD vd rg_log_sum(vd k, vd f, vd less) {
    vd whole = v_mul(k, v_set(RG_LN2_HIGH));
    vd high = v_add(whole, f);
    vd low = v_add(v_sub(whole, high), f);
    low = v_sub(v_fma(k, v_set(RG_LN2_LOW), low), less);
    return v_add(high, v_min(low, v_set(1.0)));
}

SIMD vd v_log(vd x) {
    vd k, f = v_sub(v_split(x, &k), v_set(1.0));
    return rg_log_sum(k, f, rg_log_rest(f, rg_half_square(f)));
}

/* The same in another base: k whole + log(m) unit, each constant in two parts. */
SIMD vd rg_log_base(vd x, double whole, double whole_low, double unit, double unit_low) {
    vd k, f = v_sub(v_split(x, &k), v_set(1.0));
    vd half = rg_half_square(f);
    vd less = rg_log_rest(f, half);
    vd first = v_mul(f, v_set(unit));
    vd slip = v_fma(f, v_set(unit), v_neg(first)); /* what first rounded off */
    vd half_slip = v_fma(v_mul(f, v_set(0.5)), f, v_neg(half));
    vd base = v_mul(k, v_set(whole));
    vd high = v_add(base, first);
    vd low = v_add(v_sub(base, high), first);
    if (whole_low != 0.0) low = v_fma(k, v_set(whole_low), low);
    low = v_add(low, v_fma(f, v_set(unit_low), slip));
    low = v_fnma(v_add(less, half_slip), v_set(unit), low);
    return v_add(high, v_min(low, v_set(1.0)));
}

SIMD vd v_log2(vd x) { return rg_log_base(x, 1.0, 0.0, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56); }

SIMD vd v_log10(vd x) { return rg_log_base(x, 0x1.34413509f8000p-2, -0x1.80433b83b532ap-44, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57); }

/* With 1 + x = 2^k m, f = m - 1 = (2^-k - 1) + 2^-k x: one rounding, and none where k is 0. */
SIMD vd v_log1p(vd x) {
    vd k;
    v_split(v_add(x, v_set(1.0)), &k);
    vd scale = v_scale(v_set(1.0), v_neg(k));
    vd f = v_fma(x, scale, v_sub(scale, v_set(1.0)));
    vd y = v_copysign(rg_log_sum(k, f, rg_log_rest(f, rg_half_square(f))), x); /* a zero keeps its sign */
    y = v_select(v_lt(x, v_set(RG_INF)), y, x);
    y = v_select(v_eq(x, v_set(-1.0)), v_set(-RG_INF), y);
    return v_select(v_lt(x, v_set(-1.0)), v_set(RG_NAN), y);
}

/* log(u + c), or where x is big log(2x): c, what u rounded off, is divided by u. */
SIMD vd rg_log_of_sum(vd x, vm big, vd u, vd c_over_u) {
    vd k, f = v_sub(v_split(v_select(big, x, u), &k), v_set(1.0));
    k = v_select(big, v_add(k, v_set(1.0)), k);
    vd less = v_sub(rg_log_rest(f, rg_half_square(f)), v_select(big, v_set(0.0), c_over_u));
    return rg_log_sum(k, f, less);
}

/* log(x + h), h = sqrt(x^2 + 1), for |x|. Near zero all that matters is what rounding would lose, so
 * both h and the sum carry it along; 1 / (x + h) is h - x, so only log divides. */
SIMD vd v_asinh(vd x) {
    vd a = v_abs(x);
    vd d = v_fma(a, a, v_set(1.0));
    vd d_low = v_fma(a, a, v_sub(v_set(1.0), d));
    vd h = v_sqrt(d);
    vd inverse = v_sub(h, a);
    vd u = v_add(h, a);
    vd c = v_sub(a, v_sub(u, h));
    /* h is off by (d - h^2) / 2h, and 1 / 2h = w / (1 + w^2) with w the inverse. The quotient is
     * taken as 3/4 - w^2/4: good where w is near 1, and elsewhere little depends on it. */
    vd miss = v_add(v_fnma(h, h, d), d_low);
    vd part = v_mul(inverse, v_fma(v_mul(inverse, inverse), v_set(-0.25), v_set(0.75)));
    c = v_fma(miss, part, c);
    vd y = rg_log_of_sum(a, v_gt(a, v_set(0x1p27)), u, v_mul(c, inverse));
    return v_select(v_is_nan(x), x, v_copysign(y, x));
}

/* log(x + h), h = sqrt(x^2 - 1), and 1 / (x + h) = x - h. */
SIMD vd v_acosh(vd x) {
    vd h = v_sqrt(v_fma(x, x, v_set(-1.0)));
    vd u = v_add(x, h);
    vd c = v_sub(h, v_sub(u, x));
    vd y = rg_log_of_sum(x, v_gt(x, v_set(0x1p27)), u, v_mul(c, v_sub(x, h)));
    return v_select(v_ge(x, v_set(1.0)), y, v_set(RG_NAN));
}

/* log((1+a)/(1-a)) / 2 for a = |x|. With that ratio 2^k (1+s)/(1-s), one division makes
 * s = ((1+a) - 2^k (1-a)) / ((1+a) + 2^k (1-a)), which for k = 0 is a itself. */
SIMD vd v_atanh(vd x) {
    vd a = v_abs(x);
    vd one = v_set(1.0);
    /* A double's bits are nearly its logarithm, so this is about log2 of the ratio. From 0.6 on it is
     * rounded up: k is 0 up to a = 1/5, and |s| is never over 0.226. */
    vi ratio = vi_sub(v_bits(v_add(one, a)), v_bits(v_sub(one, a)));
    vi whole = vi_shr(vi_add(ratio, vi_set(0x6666666666666)), 52);
    vd k = v_from_int(whole);
    vd scale = v_pow2(whole);
    vd minus = v_sub(one, scale);
    vd lost = v_sub(one, v_add(minus, scale)); /* 1 where k is 54, else 0 */
    vd top = v_add(v_fma(a, scale, minus), v_add(a, lost));
    vd s = v_div(top, v_fma(v_add(scale, scale), v_sub(one, a), top));
    vd rest = v_mul(v_mul(s, v_set(0.5)), rg_atanh_poly(v_mul(s, s), v_set(0.0)));
    vd base = v_mul(k, v_set(RG_LN2_HIGH / 2));
    vd high = v_add(base, s);
    vd low = v_add(v_sub(base, high), s);
    vd y = v_add(high, v_add(v_fma(k, v_set(RG_LN2_LOW / 2), low), rest));
    y = v_select(v_lt(a, one), y, v_select(v_eq(a, one), v_set(RG_INF), v_set(RG_NAN)));
    return v_copysign(y, x);
}

/* ---- pow --------------------------------------------------------------------------------------
 *
 * exp(y log|x|) with the logarithm to about 68 bits, as a sum of two doubles: an error in it is
 * multiplied by up to 745. |x| = 2^k m; the table has c, close to 1/m and short, and -log(c), so
 * that log(m) = -log(c) + log(1 + r) with r = m c - 1 exact and at most 1/64. */

static const double rg_pow_table[64][4] = {
    /* c, and -log(c) in two parts */
    {0x1.0000000000000p+0, 0x0.0p+0, 0x0.0p+0},
    {0x1.f400000000000p-1, 0x1.8492528c90000p-6, -0x1.aa0ba325a0c34p-45},
    {0x1.ec00000000000p-1, 0x1.466aed42e0000p-5, -0x1.c167375bdfd28p-45},
    {0x1.e400000000000p-1, 0x1.ccb73cddd8000p-5, 0x1.965c36e09f5fep-44},
    {0x1.e000000000000p-1, 0x1.08598b59e4000p-4, -0x1.7e5dd7009902cp-46},
    {0x1.d800000000000p-1, 0x1.4d3115d208000p-4, -0x1.53a2582f4e1efp-48},
    {0x1.d000000000000p-1, 0x1.9335e5d594000p-4, 0x1.3115c3abd47dap-45},
    {0x1.ca00000000000p-1, 0x1.c885801bc4000p-4, 0x1.646d1c65aacd3p-45},
    {0x1.c400000000000p-1, 0x1.fe89139dbc000p-4, 0x1.56594d82f7a82p-44},
    {0x1.be00000000000p-1, 0x1.1aa2b7e240000p-3, -0x1.1ac38dde3b366p-44},
    {0x1.b800000000000p-1, 0x1.365fcb015a000p-3, -0x1.fd3a0afb9691bp-44},
    {0x1.b200000000000p-1, 0x1.527e5e4a1c000p-3, -0x1.4e60b8d4b411dp-44},
    {0x1.ac00000000000p-1, 0x1.6f0128b756000p-3, 0x1.577390d31ef0fp-44},
    {0x1.a800000000000p-1, 0x1.823c16551a000p-3, 0x1.e0ddb9a631e83p-46},
    {0x1.a200000000000p-1, 0x1.9f6c40708a000p-3, -0x1.337d94bcd3f43p-44},
    {0x1.9c00000000000p-1, 0x1.bd087383be000p-3, -0x1.d4bc4595412b6p-45},
    {0x1.9800000000000p-1, 0x1.d1037f2656000p-3, -0x1.84a7e75b6f6e4p-47},
    {0x1.9200000000000p-1, 0x1.ef5ade4dd0000p-3, -0x1.a211565bb8e11p-51},
    {0x1.8c00000000000p-1, 0x1.07138604d6000p-2, -0x1.e76324e912b17p-44},
    {0x1.8800000000000p-1, 0x1.1178e8227e000p-2, 0x1.1ef78ce2d07f2p-44},
    {0x1.8400000000000p-1, 0x1.1bf99635a7000p-2, -0x1.1ac89575c2125p-44},
    {0x1.8000000000000p-1, 0x1.269621134e000p-2, -0x1.1b61f10522625p-44},
    {0x1.7c00000000000p-1, 0x1.314f1e1d36000p-2, -0x1.8e27ad3213cb8p-45},
    {0x1.7600000000000p-1, 0x1.419b423d5f000p-2, -0x1.ce379226de3ecp-44},
    {0x1.7200000000000p-1, 0x1.4c9e09e173000p-2, -0x1.e20891b0ad8a4p-45},
    {0x1.6e00000000000p-1, 0x1.57bf753c8d000p-2, 0x1.fadedee5d40efp-46},
    {0x1.6a00000000000p-1, 0x1.630030b3ab000p-2, -0x1.db623e731ae00p-45},
    {0x1.6600000000000p-1, 0x1.6e60ee6af2000p-2, -0x1.a37a6a0f7749ep-44},
    {0x1.6200000000000p-1, 0x1.79e26687d0000p-2, -0x1.309c168817444p-44},
    {0x1.5e00000000000p-1, 0x1.85855776dd000p-2, -0x1.015486666443bp-44},
    {0x1.5a00000000000p-1, 0x1.914a8635bf000p-2, 0x1.a2652b44673e1p-44},
    {0x1.5800000000000p-1, 0x1.973a343135000p-2, 0x1.ab73b16bf4984p-44},
    {0x1.5400000000000p+0, -0x1.22941fbcf8000p-2, 0x1.a6976f5eb0963p-44},
    {0x1.5000000000000p+0, -0x1.1675cababa000p-2, -0x1.8380e731f55c4p-44},
    {0x1.4c00000000000p+0, -0x1.0a324e2739000p-2, -0x1.c6bee7ef4030ep-47},
    {0x1.4a00000000000p+0, -0x1.0402594b4d000p-2, -0x1.036b89ef42d7fp-48},
    {0x1.4600000000000p+0, -0x1.ef0adcbdc6000p-3, 0x1.b26b79c86af24p-45},
    {0x1.4200000000000p+0, -0x1.d5c216b4fc000p-3, 0x1.1ba91bbca681bp-45},
    {0x1.4000000000000p+0, -0x1.c8ff7c79aa000p-3, 0x1.7794f689f8434p-45},
    {0x1.3c00000000000p+0, -0x1.af3c94e80c000p-3, 0x1.a4e633fcd9066p-52},
    {0x1.3a00000000000p+0, -0x1.a23bc1fe2c000p-3, 0x1.539cd91dc9f0bp-44},
    {0x1.3600000000000p+0, -0x1.87fa06520c000p-3, -0x1.22120401202fcp-44},
    {0x1.3400000000000p+0, -0x1.7ab890210e000p-3, 0x1.bdb9072534a58p-45},
    {0x1.3000000000000p+0, -0x1.5ff3070a7a000p-3, 0x1.8586f183bebf2p-44},
    {0x1.2e00000000000p+0, -0x1.526e5e3a1c000p-3, 0x1.790ba37fc5238p-44},
    {0x1.2c00000000000p+0, -0x1.44d2b6ccb8000p-3, 0x1.70cc16135783cp-46},
    {0x1.2800000000000p+0, -0x1.29552f8200000p-3, 0x1.5b967f4471dfcp-44},
    {0x1.2600000000000p+0, -0x1.1b72ad52f6000p-3, -0x1.e80a41811a396p-45},
    {0x1.2400000000000p+0, -0x1.0d77e7cd08000p-3, -0x1.cb2cd2ee2f482p-44},
    {0x1.2000000000000p+0, -0x1.e27076e2b0000p-4, 0x1.a342c2af0003cp-45},
    {0x1.1e00000000000p+0, -0x1.c5e548f5bc000p-4, -0x1.d0c57585fbe06p-46},
    {0x1.1c00000000000p+0, -0x1.a926d3a4ac000p-4, -0x1.563650bd22a9cp-44},
    {0x1.1a00000000000p+0, -0x1.8c345d6318000p-4, -0x1.b20f5acb42a66p-44},
    {0x1.1600000000000p+0, -0x1.51b073f060000p-4, -0x1.83f69278e686ap-44},
    {0x1.1400000000000p+0, -0x1.341d7961bc000p-4, -0x1.1d09299837610p-44},
    {0x1.1200000000000p+0, -0x1.16536eea38000p-4, 0x1.47c5e768fa309p-46},
    {0x1.1000000000000p+0, -0x1.f0a30c0118000p-5, 0x1.d599e83368e91p-45},
    {0x1.0e00000000000p+0, -0x1.b42dd71198000p-5, 0x1.c827ae5d6704cp-46},
    {0x1.0c00000000000p+0, -0x1.77458f6330000p-5, 0x1.181dce586af09p-44},
    {0x1.0a00000000000p+0, -0x1.39e87b9fe8000p-5, -0x1.eafd480ad9015p-44},
    {0x1.0800000000000p+0, -0x1.f829b0e780000p-6, -0x1.980267c7e09e4p-45},
    {0x1.0600000000000p+0, -0x1.7b91b07d60000p-6, 0x1.3b955b602ace4p-44},
    {0x1.0400000000000p+0, -0x1.fc0a8b0fc0000p-7, -0x1.f1e7cf6d3a69cp-50},
    {0x1.0000000000000p+0, 0x0.0p+0, 0x0.0p+0},
};

/* log|x| as a sum. At zero and infinity the first part is the answer and the second a NaN. */
SIMD vd rg_log_pair(vd x, vd *low_part) {
    vd k, m = v_split(x, &k);
    vi row = vi_and(vi_shr(v_bits(m), 44), vi_set(63 * 4)); /* the top six bits of the mantissa */
    const double *table = &rg_pow_table[0][0];
    vd r = v_fma(m, v_lookup(table, row), v_set(-1.0));
    vd base = v_fma(k, v_set(RG_LN2_HIGH), v_lookup(table + 1, row)); /* exact */
    vd low = v_fma(k, v_set(RG_LN2_LOW), v_lookup(table + 2, row));
    /* base + r - r^2/2, keeping what each step rounds off */
    vd sum = v_add(base, r);
    low = v_add(low, v_add(v_sub(base, sum), r));
    vd r2 = v_mul(r, r);
    vd half = v_mul(r2, v_set(-0.5));
    low = v_fma(v_fnma(r, r, r2), v_set(0.5), low);
    vd high = v_add(sum, half);
    low = v_add(low, v_add(v_sub(sum, high), half));
    /* r^3 p(r) */
    vd p0 = v_fma(r, v_set(-0x1.ffffffffffffdp-3), v_set(0x1.5555555555555p-2));
    vd p2 = v_fma(r, v_set(-0x1.5555555568397p-3), v_set(0x1.99999999a0bdep-3));
    vd p4 = v_fma(r, v_set(-0x1.fffffaf6793dap-4), v_set(0x1.249247b9ef658p-3));
    vd p6 = v_fma(r, v_set(-0x1.99dfecbad0855p-4), v_set(0x1.c7540af21eb37p-4));
    p4 = v_fma(r2, p6, p4);
    p0 = v_fma(r2, p2, p0);
    p0 = v_fma(v_mul(r2, r2), p4, p0);
    low = v_min(v_fma(v_mul(r2, r), p0, low), v_set(1.0)); /* as in rg_log_sum */
    vd top = v_add(high, low);
    *low_part = v_add(v_sub(high, top), low);
    return top;
}

SIMD vd v_pow(vd x, vd y) {
    vd zero = v_set(0.0), l_low, l = rg_log_pair(v_abs(x), &l_low);
    vd e = v_mul(y, l);
    vd e_low = v_fma(y, l_low, v_fma(y, l, v_neg(e)));
    /* x = 1 or y = 0 give 1 whatever the other is. */
    e = v_select(vm_or(v_eq(l, zero), v_eq(y, zero)), zero, e);
    vd clamped = v_max(v_set(-746.0), v_min(v_set(710.0), e));
    vm plain = vm_and(v_eq(clamped, e), v_ne(e, zero));
    e_low = v_select(plain, e_low, zero); /* elsewhere it may be a NaN */
    rg_reduced of = rg_reduce(clamped);
    of.low = v_add(of.low, e_low);
    vd z = rg_exp_of(of);
    /* Negative x: whole y decide the sign; others have no real answer, but for x = -inf. */
    vd half = v_mul(y, v_set(0.5));
    vm whole = v_eq(v_rint(y), y);
    vm odd = vm_and(whole, v_ne(v_rint(half), half));
    z = v_from_bits(vi_xor(v_bits(z), v_bits(v_select(odd, v_sign_bit(x), zero))));
    vm none = vm_and(vm_and(v_lt(x, zero), v_gt(x, v_set(-RG_INF))), vm_not(whole));
    return v_select(vm_or(none, v_is_nan(z)), v_set(RG_NAN), z);
}

#endif
