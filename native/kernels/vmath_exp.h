/* exp, log and their kin, a vector of lanes at a time.
 *
 * Only the exactly rounded operations of simd.h, in one order, so every width gives the same bits.
 * Nothing branches: special values fall out of the arithmetic or are selected at the end.
 * tools/minimax.py made the polynomials and the tables; tests/kernels/ulps.py states how far each
 * function may be from the truth.
 *
 * NaNs: a NaN that meets only numbers on its way comes out as it went in. Where two might meet, or
 * a sign might be flipped (v_fnma of a NaN differs between widths), one is selected at the end. */
#ifndef RG_VMATH_EXP_H
#define RG_VMATH_EXP_H

#include "simd.h"

#define RG_INF RG_INFINITY

/* ln(2) in two parts, the first so short that its product with an exponent is exact. */
#define RG_LN2_HIGH 0x1.62e42fefa3800p-1
#define RG_LN2_LOW 0x1.ef35793c76730p-45
#define RG_LOG2E 0x1.71547652b82fep+0

/* ---- exp and what is made of it ---------------------------------------------------------------
 *
 * exp(x) = 2^n exp(r), where n is a multiple of 1/16: |r| <= ln(2)/32, and a short polynomial will
 * do. The table has t = 2^(n - floor(n)); sixteen entries stay in registers where lanes are wide.
 * exp(x) = 2^floor(n) (t + rest), and rest is so small that its rounding errors hardly count. */

RG_TABLE rg_exp_table[2][16] = {
    /* 2^(j/16), and what rounding took from it */
    {0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
     0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
     0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
     0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0},
    {0x0.0p+0, 0x1.8a62e4adc610bp-54, -0x1.19041b9d78a76p-55, 0x1.9b07eb6c70573p-54,
     0x1.6f46ad23182e4p-55, 0x1.ada0911f09ebcp-55, 0x1.d4397afec42e2p-56, 0x1.6324c054647adp-54,
     -0x1.bdd3413b26456p-54, -0x1.41577ee04992fp-55, 0x1.6e9f156864b27p-54, 0x1.c7c46b071f2bep-56,
     0x1.7a1cd345dcc81p-54, 0x1.11065895048ddp-55, 0x1.2ed02d75b3707p-55, -0x1.e9c23179c2893p-54},
};

typedef struct {
    vd n;
    vi field; /* floor(n) + 1023 in the bits from the fifth on: the exponent of a double */
    vd r, t, t_low;
} rg_power;

/* For |x| <= 800, and a NaN passes. low is added to x: a constant -0.0 there costs nothing. */
SIMD rg_power rg_reduce(vd x, vd low) {
    rg_power of;
    /* A sum near 1.5 * 2^48 is rounded to sixteenths, which then fill its low bits. */
    vd magic = v_set(0x1.8p48 + 1023.0);
    vd sum = v_fma(x, v_set(RG_LOG2E), magic);
    of.field = v_bits(sum);
    of.n = v_sub(sum, magic);
    vd r = v_fma(of.n, v_set(-RG_LN2_HIGH), x); /* exact */
    of.r = v_add(v_fma(of.n, v_set(-RG_LN2_LOW), r), low);
    of.t = v_lookup16(rg_exp_table[0], of.field);
    of.t_low = v_lookup16(rg_exp_table[1], of.field);
    return of;
}

/* exp(r) - 1 where r is small */
SIMD vd rg_exp_rest(vd r) {
    vd r2 = v_mul(r, r);
    vd p0 = v_fma(r, v_set(0x1.555555548f7bep-3), v_set(0x1.0000000000005p-1));
    vd p2 = v_fma(r, v_set(0x1.11123ab80e9abp-7), v_set(0x1.5555555460c65p-5));
    p2 = v_fma(r2, v_set(0x1.6c185c8a3a38dp-10), p2);
    p0 = v_fma(r2, p2, p0);
    return v_fma(r2, p0, r);
}

/* exp(x + low) / 2^halvings */
SIMD vd rg_exp(vd x, vd low, int halvings) {
    rg_power of = rg_reduce(x, low);
    vd rest = v_fma(of.t, rg_exp_rest(of.r), of.t_low);
    return v_scale(v_add(of.t, rest), halvings ? v_sub(of.n, v_set(halvings)) : of.n);
}

/* The exponential itself, which most programs wait for, does without what rounding took from the
 * table. Far out, where everything overflows or vanishes, v_scale decides by n alone, and r must only
 * not be a NaN. */
SIMD vd v_exp(vd x) {
#if RG_LANES != 8
    x = v_max(v_set(-746.0), v_min(v_set(710.0), x));
#endif
    vd magic = v_set(0x1.8p48 + 1023.0);
    vd sum = v_fma(x, v_set(RG_LOG2E), magic);
    vd n = v_sub(sum, magic);
    vd r = v_fma(n, v_set(-RG_LN2_HIGH), x); /* exact */
    r = v_fma(n, v_set(-RG_LN2_LOW), r);
#if RG_LANES == 8
    r = _mm512_range_pd(r, v_set(0x1p-5), 2); /* the smaller in magnitude; never the NaN */
#endif
    vd t = v_lookup16(rg_exp_table[0], v_bits(sum));
    return v_scale(v_fma(t, rg_exp_rest(r), t), n);
}

/* With e = exp(-|x|) and q = e / (1 + e), this is 1 - q on the right and e - e q on the left, where
 * the rounding errors of q hardly count. */
SIMD vd v_sigmoid(vd x) {
    vd one = v_set(1.0);
    vd left = v_from_bits(vi_or(v_bits(x), vi_set(INT64_MIN)));
    vd e = rg_exp(v_max(v_set(-746.0), left), v_set(-0.0), 0);
    vd q = v_div(e, v_add(one, e));
    vd top = v_select(v_lt(x, v_set(0.0)), e, one);
    return v_fnma(top, q, top);
}

/* x times that, by the same terms. On the left the power of two comes last: the product is a normal
 * number where e is none any more, and is rounded once. x * 0 makes NaN of -inf, as in C. */
SIMD vd v_silu(vd x) {
    vd one = v_set(1.0), zero = v_set(0.0);
    vd left = v_max(v_set(-760.0), v_from_bits(vi_or(v_bits(x), vi_set(INT64_MIN))));
    rg_power of = rg_reduce(left, v_set(-0.0));
    vd power = v_add(of.t, v_fma(of.t, rg_exp_rest(of.r), of.t_low));
    vd e = v_scale(power, of.n);
    vd q = v_div(e, v_add(one, e));
    vd product = v_mul(left, power);
    vd below = v_fma(x, zero, v_scale(v_fnma(product, q, product), of.n));
    return v_select(v_lt(x, zero), below, v_mul(x, v_sub(one, q)));
}

/* 4 e / (1 + e)^2 with e = exp(-2|x|); near the top 1 - ((1 - e) / (1 + e))^2. */
SIMD vd v_sech2(vd x) {
    rg_power of = rg_reduce(v_neg(v_min(v_set(800.0), v_abs(v_add(x, x)))), v_set(-0.0));
    vd power = v_fma(of.t, rg_exp_rest(of.r), of.t); /* as in v_exp */
    vd four = v_scale(power, v_add(of.n, v_set(2.0)));
    vd e = v_mul(four, v_set(0.25)), one = v_set(1.0);
    vm near = v_gt(e, v_set(0.25));
    vd rest = v_sub(one, e);
    vd q = v_div(v_select(near, v_mul(rest, rest), four), v_fma(e, v_add(e, v_set(2.0)), one));
    return v_select(near, v_sub(one, q), q);
}

/* Half of e^|x|, which is a double wherever the result is, and a quarter of its inverse. */
SIMD vd v_cosh(vd x) {
    vd half = rg_exp(v_min(v_set(710.5), v_abs(x)), v_set(-0.0), 1);
    return v_add(half, v_div(v_set(0.25), half));
}

/* (exp(x) - 1) / 2^halvings, for x >= -60. Where that is small 2^n t - 1 is exact, and the rest has
 * a term more than above and is rounded once less, to be relatively accurate. */
SIMD vd rg_expm1(vd x, int halvings) {
    rg_power of = rg_reduce(x, v_set(-0.0));
    vd r = of.r, r2 = v_mul(r, r);
    vd p0 = v_fma(r, v_set(0x1.555555555555fp-3), v_set(0x1.0000000000003p-1));
    vd p2 = v_fma(r, v_set(0x1.1111110fb625ap-7), v_set(0x1.55555554a0754p-5));
    vd p4 = v_fma(r, v_set(0x1.a01d0fa441a3ep-13), v_set(0x1.6c1828db2c1a1p-10));
    p2 = v_fma(r2, p4, p2);
    p0 = v_fma(r2, p2, p0);
    vd rest = v_fma(of.t, r, v_fma(v_mul(of.t, r2), p0, of.t_low));
    vi exponent = vi_sub(vi_shr(of.field, 4), vi_set(halvings));
    vd scale = v_from_bits(vi_shl(exponent, 52));
    return v_fma(scale, rest, v_fma(scale, of.t, v_set(-1.0 / (1 << halvings))));
}

/* The greatest 2^n are not doubles, so half of the result is computed. Tiny x is its own answer:
 * halving it could lose a bit, or zero's sign. */
SIMD vd v_expm1(vd x) {
    vd half = rg_expm1(v_max(v_set(-60.0), v_min(v_set(710.0), x)), 1);
    return v_select(v_lt(v_abs(x), v_set(0x1p-54)), x, v_add(half, half));
}

/* q = h / (h + 1) with h = (exp(2|x|) - 1) / 2. From 20 on that is 1. Near zero -2|x| serves too,
 * and keeps h + 1 below 1, where doubles lie closer; and there h - h q forgets most errors of q. */
SIMD vd v_tanh(vd x) {
    vd twice = v_min(v_set(40.0), v_abs(v_add(x, x)));
    vm near = v_lt(twice, v_set(0.34));
    vd h = rg_expm1(v_select(near, v_neg(twice), twice), 1);
    vd q = v_div(h, v_add(h, v_set(1.0)));
    return v_copysign(v_select(near, v_fnma(h, q, h), q), x);
}

/* Subtracting exponentials would lose too much near zero. With |x| = n ln(2) + r, n whole,
 *
 *     sinh |x| = minus cosh(r) + plus sinh(r)      plus, minus = (2^n +- 2^-n) / 2
 *
 * halved throughout, since the greatest 2^(n-1) is not a double. */
SIMD vd v_sinh(vd x) {
    vd a = v_min(v_set(710.5), v_abs(x));
    vd magic = v_set(0x1.8p52 + 1021.0);
    vd sum = v_fma(a, v_set(RG_LOG2E), magic);
    vd n = v_sub(sum, magic);
    vd up = v_from_bits(vi_shl(v_bits(sum), 52)); /* 2^(n-2) */
    /* 2^(-n-2); for great n, something else that is too small to matter */
    vd down = v_from_bits(vi_shl(v_bits(v_sub(magic, v_min(v_set(512.0), n))), 52));
    vd plus = v_add(up, down), minus = v_sub(up, down);
    vd high = v_fma(n, v_set(-RG_LN2_HIGH), a); /* exact */
    vd low = v_mul(n, v_set(-RG_LN2_LOW));
    vd r = v_add(high, low);
    vd z = v_mul(r, r);
    vd z2 = v_mul(z, z);
    vd c0 = v_fma(z, v_set(0x1.5555555555558p-5), v_set(0x1.0000000000000p-1));
    vd c2 = v_fma(z, v_set(0x1.a01a01ad71fabp-16), v_set(0x1.6c16c16c15013p-10));
    vd c4 = v_fma(z, v_set(0x1.1f8b95001248ep-29), v_set(0x1.27e4cc3700d92p-22));
    vd s0 = v_fma(z, v_set(0x1.111111110f650p-7), v_set(0x1.5555555555559p-3));
    vd s2 = v_fma(z, v_set(0x1.71ddf8082cec2p-19), v_set(0x1.a01a01b0062a3p-13));
    c2 = v_fma(z2, c4, c2);
    s2 = v_fma(z2, v_set(0x1.af5f3894cf34ap-26), s2);
    vd c = v_mul(z, v_fma(z2, c2, c0));                /* cosh(r) - 1 */
    vd s = v_fma(v_mul(z, r), v_fma(z2, s2, s0), low); /* sinh(r) - high */
    vd most = v_fma(plus, high, minus);
    vd half = v_add(most, v_fma(minus, c, v_mul(plus, s)));
    /* Tiny x is its own answer: halving it could lose a bit. */
    return v_copysign(v_select(v_lt(a, v_set(0x1p-54)), a, v_add(half, half)), x);
}

/* The remainder of x / y with the sign of x. It is exact, and as long a division as the exponents
 * are apart: the C library has it, a lane at a time. */
SIMD vd v_fmod(vd x, vd y) {
    double a[RG_LANES], b[RG_LANES];
    v_store(a, x);
    v_store(b, y);
    for (int i = 0; i < RG_LANES; i++) a[i] = RG_FMOD(a[i], b[i]);
    return v_load(a);
}

/* ---- log and what is made of it ---------------------------------------------------------------
 *
 * x = 2^k m with m from 3/4 to 3/2. The table has c, close to 1/m and so short that r = m c - 1 is
 * exact, and -log(c): log(x) = k log(2) - log(c) + log(1 + r). Next to 1, c is 1: nothing cancels.
 * Sums start with the exact terms and keep what rounding takes from them. */

RG_TABLE rg_log_table[7][16] = {
    /* c */
    {0x1.0000000000000p+0, 0x1.d000000000000p-1, 0x1.c000000000000p-1, 0x1.a000000000000p-1,
     0x1.9000000000000p-1, 0x1.8000000000000p-1, 0x1.7000000000000p-1, 0x1.6000000000000p-1,
     0x1.5000000000000p+0, 0x1.4000000000000p+0, 0x1.3800000000000p+0, 0x1.2800000000000p+0,
     0x1.2000000000000p+0, 0x1.1800000000000p+0, 0x1.1000000000000p+0, 0x1.0000000000000p+0},
    /* -ln(c) */
    {0x0.0p+0, 0x1.9335e5d594000p-4, 0x1.1178e8227e000p-3, 0x1.a93ed3c8ae000p-3,
     0x1.f991c6cb3c000p-3, 0x1.269621134e000p-2, 0x1.522ae0738a000p-2, 0x1.7fafa3bd81000p-2,
     -0x1.1675cababa000p-2, -0x1.c8ff7c79aa000p-3, -0x1.9525a9cf46000p-3, -0x1.29552f8200000p-3,
     -0x1.e27076e2b0000p-4, -0x1.6f0d28ae58000p-4, -0x1.f0a30c0118000p-5, 0x0.0p+0},
    /* the rest of it */
    {0x0.0p+0, 0x1.3115c3abd47dap-45, 0x1.1ef78ce2d07f2p-45, -0x1.8724350562169p-45,
     -0x1.90d04cd7cc834p-44, -0x1.1b61f10522625p-44, 0x1.ebe708164c759p-45, 0x1.46fb79bf6d4cbp-44,
     -0x1.8380e731f55c4p-44, 0x1.7794f689f8434p-45, 0x1.297137d9f158fp-44, 0x1.5b967f4471dfcp-44,
     0x1.a342c2af0003cp-45, 0x1.4b4641b664613p-44, 0x1.d599e83368e91p-45, 0x0.0p+0},
    /* -log2(c) */
    {0x0.0p+0, 0x1.22dadc2ab4000p-3, 0x1.8a8980abfc000p-3, 0x1.32bfee370f000p-2,
     0x1.6cb0f6865d000p-2, 0x1.a8ff971811000p-2, 0x1.e7df5fe539000p-2, 0x1.14c560fe68800p-1,
     -0x1.91bba891f1000p-2, -0x1.49a784bcd2000p-2, -0x1.24407ab0e0000p-2, -0x1.acf5e2db4e000p-3,
     -0x1.5c01a39fbe000p-3, -0x1.08c588cda8000p-3, -0x1.663f6fac90000p-4, 0x0.0p+0},
    /* the rest of it */
    {0x0.0p+0, -0x1.6d25a5b8a19b2p-44, -0x1.66cccab240e90p-46, -0x1.979a5db68721dp-46,
     -0x1.c57f2495fb7fap-44, -0x1.6879fa00b120ap-44, -0x1.532c412ba94dbp-44, 0x1.7c407050799bfp-44,
     -0x1.c22d2cad415aep-44, 0x1.1d406db502403p-44, -0x1.ce60916e52e91p-44, -0x1.927dfc23d9780p-44,
     0x1.2f0c0bfe9dbecp-44, 0x1.871a7610e40bdp-45, -0x1.3167ccc538261p-44, 0x0.0p+0},
    /* -log10(c) */
    {0x0.0p+0, 0x1.5e3966b7e8000p-5, 0x1.db11ed7668000p-5, 0x1.715d0ce368000p-4,
     0x1.b721cd1714000p-4, 0x1.ffbfc2bbc8000p-4, 0x1.25ba8215b0000p-3, 0x1.4d43f8275a000p-3,
     -0x1.e3bc1ab0e0000p-4, -0x1.8cf1838864000p-4, -0x1.5fe80488b0000p-4, -0x1.02428c1f08000p-4,
     -0x1.a30a9d60a0000p-5, -0x1.3ed1199a60000p-5, -0x1.af5f92b010000p-6, 0x0.0p+0},
    /* the rest of it */
    {0x0.0p+0, 0x1.2951bb9cd2fb7p-45, 0x1.5fa196e1e0ddap-44, -0x1.41149840eaa65p-46,
     0x1.7e295f660b9dap-44, -0x1.ff229f20ed3d2p-46, -0x1.007bf2d8bf07ap-44, 0x1.20ca9a2bcc728p-45,
     -0x1.9fe3d562a53f0p-44, -0x1.019365163f2fcp-45, 0x1.606adb567e739p-45, -0x1.5ea6bc2bc8c2cp-52,
     0x1.0163d7e67d282p-45, 0x1.bdafc8ad828b8p-45, 0x1.9f05921f59258p-46, 0x0.0p+0},
};

/* The row of m is the top four bits of its mantissa, at the end. */
SIMD vi rg_log_row(vd m) { return vi_shr(v_bits(m), 48); }

/* log(1 + r) - r + more, for r from -0.038 to 1/16 */
SIMD vd rg_log_rest(vd r, vd more) {
    vd r2 = v_mul(r, r);
    vd r4 = v_mul(r2, r2);
    vd p0 = v_fma(r, v_set(0x1.5555555556259p-2), v_set(-0x1.fffffffffffe7p-2));
    vd p2 = v_fma(r, v_set(0x1.9999998237dd4p-3), v_set(-0x1.00000000375eep-2));
    vd p4 = v_fma(r, v_set(0x1.24929bf3a9f4cp-3), v_set(-0x1.5555510f33ca4p-3));
    vd p6 = v_fma(r, v_set(0x1.c6f76346c23a2p-4), v_set(-0x1.001042351dad3p-3));
    p6 = v_fma(r2, v_set(-0x1.70192234b6a88p-4), p6);
    p0 = v_fma(r2, p2, p0);
    p4 = v_fma(r2, p6, p4);
    return v_fma(r2, v_fma(r4, p4, p0), more);
}

/* k log(2) - log(c) + log(1 + r) + more. Where k is infinite, low is a NaN, which v_min turns into
 * a 1 that leaves infinity alone: log needs nothing more at zero and infinity. */
SIMD vd rg_log_sum(vd k, vi row, vd r, vd more) {
    vd base = v_fma(k, v_set(RG_LN2_HIGH), v_lookup16(rg_log_table[1], row)); /* exact */
    vd low = v_fma(k, v_set(RG_LN2_LOW), v_lookup16(rg_log_table[2], row));
    vd high = v_add(base, r);
    low = v_add(v_add(low, more), v_add(v_sub(base, high), r));
    return v_add(high, v_min(rg_log_rest(r, low), v_set(1.0)));
}

SIMD vd v_log(vd x) {
    vd k, m = v_split(x, &k);
    vi row = rg_log_row(m);
    vd r = v_fma(m, v_lookup16(rg_log_table[0], row), v_set(-1.0));
    return rg_log_sum(k, row, r, v_set(-0.0));
}

/* The same in another base: two is log(2) and unit log(e) in that base, each in two parts, and the
 * table's rows from `column` on are -log(c). */
SIMD vd rg_log_base(vd x, int column, double two, double two_low, double unit, double unit_low) {
    vd k, m = v_split(x, &k);
    vi row = rg_log_row(m);
    vd r = v_fma(m, v_lookup16(rg_log_table[0], row), v_set(-1.0));
    vd base = v_fma(k, v_set(two), v_lookup16(rg_log_table[column], row)); /* exact */
    vd low = v_fma(k, v_set(two_low), v_lookup16(rg_log_table[column + 1], row));
    vd first = v_mul(r, v_set(unit));
    vd high = v_add(base, first);
    low = v_add(low, v_add(v_sub(base, high), first));
    vd slip = v_fma(r, v_set(unit), v_neg(first)); /* what first rounded off */
    vd rest = rg_log_rest(r, v_set(0.0));
    low = v_add(low, v_fma(r, v_set(unit_low), slip));
    low = v_fma(rest, v_set(unit), low);
    return v_add(high, v_min(low, v_set(1.0)));
}

SIMD vd v_log2(vd x) {
    return rg_log_base(x, 3, 1.0, 0.0, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56);
}

SIMD vd v_log10(vd x) {
    return rg_log_base(x, 5, 0x1.34413509f8000p-2, -0x1.80433b83b532ap-44, 0x1.bcb7b1526e50ep-2,
                       0x1.95355baaafad3p-57);
}

/* With 1 + x = 2^k m and s = c / 2^k, r = m c - 1 = x s + (s - 1): rounded once, and where k is 0
 * and c is 1 not at all. At -1 and infinity r may be a NaN: v_min helps, as in rg_log_sum. */
SIMD vd v_log1p(vd x) {
    vd k, m = v_split(v_add(x, v_set(1.0)), &k);
    vi row = rg_log_row(m);
    vd s = v_scale(v_lookup16(rg_log_table[0], row), v_neg(k));
    vd r = v_min(v_fma(x, s, v_sub(s, v_set(1.0))), v_set(1.0));
    return v_copysign(rg_log_sum(k, row, r, v_set(-0.0)), x); /* a zero keeps its sign */
}

/* log(u + c), or where x is big log(2x): c, what u rounded off, comes divided by u. */
SIMD vd rg_log_of_sum(vd x, vm big, vd u, vd c_over_u) {
    vd k, m = v_split(v_select(big, x, u), &k);
    vi row = rg_log_row(m);
    vd r = v_fma(m, v_lookup16(rg_log_table[0], row), v_set(-1.0));
    k = v_select(big, v_add(k, v_set(1.0)), k);
    return rg_log_sum(k, row, r, v_select(big, v_set(0.0), c_over_u));
}

/* log(x + h), h = sqrt(x^2 + 1), for |x|. Near zero all that matters is what rounding would lose:
 * both h and the sum carry it along. 1 / (x + h) is h - x, so nothing divides. */
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
    return v_copysign(y, x);
}

/* log(x + h), h = sqrt(x^2 - 1), and 1 / (x + h) = x - h. */
SIMD vd v_acosh(vd x) {
    vd h = v_sqrt(v_fma(x, x, v_set(-1.0)));
    vd u = v_add(x, h);
    vd c = v_sub(h, v_sub(u, x));
    vd y = rg_log_of_sum(x, v_gt(x, v_set(0x1p27)), u, v_mul(c, v_sub(x, h)));
    return v_select(v_ge(x, v_set(1.0)), y, v_set(RG_NAN));
}

/* z p(z), which follows 2 in log((1+s)/(1-s)) / s, with z = s^2 <= 0.061 */
SIMD vd rg_atanh_rest(vd z) {
    vd w = v_mul(z, z);
    vd odd = v_fma(w, v_set(0x1.08ff14f03cba4p-3), v_set(0x1.74587e9fa9547p-3));
    vd even = v_fma(w, v_set(0x1.35043f403128fp-3), v_set(0x1.3b943ecac9322p-3));
    odd = v_fma(w, odd, v_set(0x1.24924900d490fp-2));
    even = v_fma(w, even, v_set(0x1.c71c8a2ddf265p-3));
    odd = v_fma(w, odd, v_set(0x1.5555555555492p-1));
    even = v_fma(w, even, v_set(0x1.99999999cc27dp-2));
    return v_mul(z, v_fma(z, even, odd));
}

/* log((1+a)/(1-a)) / 2 for a = |x|. With that ratio 2^k (1+s)/(1-s), one division makes
 * s = ((1+a) - 2^k (1-a)) / ((1+a) + 2^k (1-a)), which for k = 0 is a itself. */
SIMD vd v_atanh(vd x) {
    vd a = v_abs(x);
    vd one = v_set(1.0);
    /* A double's bits are nearly its logarithm, so this is about log2 of the ratio. It is rounded
     * up from 0.677 only: k is 0 up to a = 0.225, where s is exact. |s| is never over 0.247. */
    vi ratio = vi_sub(v_bits(v_add(one, a)), v_bits(v_sub(one, a)));
    vi whole = vi_shr(vi_add(ratio, vi_set(0x5295e9e1b089a)), 52);
    vd k = v_from_int(whole);
    vd scale = v_pow2(whole);
    vd minus = v_sub(one, scale);
    vd lost = v_sub(one, v_add(minus, scale)); /* 1 where k is 54, else 0 */
    vd top = v_add(v_fma(a, scale, minus), v_add(a, lost));
    vd s = v_div(top, v_fma(v_add(scale, scale), v_sub(one, a), top));
    vd rest = v_mul(v_mul(s, v_set(0.5)), rg_atanh_rest(v_mul(s, s)));
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

RG_TABLE rg_pow_table[64][4] = {
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
    vd z = rg_exp(clamped, e_low, 0);
    /* Negative x: whole y decide the sign; others have no real answer, but for x = -inf. */
    vd half = v_mul(y, v_set(0.5));
    vm whole = v_eq(v_rint(y), y);
    vm odd = vm_and(whole, v_ne(v_rint(half), half));
    z = v_from_bits(vi_xor(v_bits(z), v_bits(v_select(odd, v_sign_bit(x), zero))));
    vm none = vm_and(vm_and(v_lt(x, zero), v_gt(x, v_set(-RG_INF))), vm_not(whole));
    return v_select(vm_or(none, v_is_nan(z)), v_set(RG_NAN), z);
}

#endif
