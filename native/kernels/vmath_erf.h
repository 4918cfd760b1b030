/* The error function and its family: erf, erfc, the normal distribution function, the bell curve.
 *
 * The tails are exp(-x^2) times something tame, and what makes them hard is the argument: the
 * rounding of x^2 = 700 alone is an error of 250 ulps in the exponential. So the square is kept as
 * two doubles, and the exponential takes both. The numbers come from tools/minimax_erf.py, and
 * tests/kernels/ulps.py says how accurate all this is. */
#ifndef RG_VMATH_ERF_H
#define RG_VMATH_ERF_H

#include "simd.h"

/* 2^128 * 2^(i/16), its bits less i << 48: see rg_exp_minus. */
RG_TABLE rg_exp_high[16] = {
    0x1p+128,
    0x1.fb5586cf9890fp+127,
    0x1.f72b83c7d517bp+127,
    0x1.f387a6e756238p+127,
    0x1.f06fe0a31b715p+127,
    0x1.edea64c123422p+127,
    0x1.ebfdad5362a27p+127,
    0x1.eab07dd485429p+127,
    0x1.ea09e667f3bcdp+127,
    0x1.ea11473eb0187p+127,
    0x1.eace5422aa0dbp+127,
    0x1.ec49182a3f09p+127,
    0x1.ee89f995ad3adp+127,
    0x1.f199bdd85529cp+127,
    0x1.f5818dcfba487p+127,
    0x1.fa4afa2a490dap+127,
};

/* What 2^(i/16) lost to rounding, over itself. */
RG_TABLE rg_exp_low[16] = {
    0.0,
    0x1.79aa65d837b6dp-54,
    -0x1.01b15eaa59348p-55,
    0x1.68efde3a8a894p-54,
    0x1.34d754db0abb6p-55,
    0x1.59f48a72a4c6dp-55,
    0x1.690cebb7aafbp-56,
    0x1.063e1e21c5409p-54,
    -0x1.3b3efbf5e2228p-54,
    -0x1.b32dcb94da51dp-56,
    0x1.db72fc1f0eab4p-55,
    0x1.1affc2b91ce27p-56,
    0x1.c1a7792cb3387p-55,
    0x1.36eae30af0cb3p-56,
    0x1.4a385a63d07a7p-56,
    -0x1.ff7128fd391fp-55,
};

/* power * (1 + rest), not yet multiplied out: callers have more to put in before they round. */
typedef struct {
    vd power, rest;
} RgPower;

/* 2^128 * exp(low - high), for high from 0 to 800 and a tiny low.
 *
 * With k = 16n + i nearest to -high * 16/ln2, this is 2^n * 2^(i/16) * exp(-r) where r is within
 * ln2/32 of 0, so that a short polynomial will do. The factor 2^128 keeps 2^n a normal number down
 * to the last denormal result; callers multiply by something that carries 2^-128. Unless careful,
 * it does without what rounding took from the table. */
SIMD RgPower rg_exp_minus(vd high, vd low, int careful) {
    vd magic = v_set(6755399441055744.0); /* 1.5 * 2^52: adding it leaves k in the last bits */
    vd shifted = v_fnma(v_set(23.083120654223414), high, magic);
    vd k = v_sub(shifted, magic);
    /* r = high + k * ln2/16 - low; the first product is exact, its factor having 36 bits. */
    vd r = v_sub(v_fma(k, v_set(0x1.62e42fefap-5), high), low);
    r = v_fma(k, v_set(0x1.cf79abc9e3b3ap-44), r);
    vd p = v_set(0x1.6c14d31050634p-10);
    p = v_fma(p, r, v_set(-0x1.11123b40362e8p-7));
    p = v_fma(p, r, v_set(0x1.55555558eca5p-5));
    p = v_fma(p, r, v_set(-0x1.555555548ec71p-3));
    p = v_fma(p, r, v_set(0x1.fffffffffffbap-2));
    vd first = careful ? v_sub(v_lookup16(rg_exp_low, v_bits(shifted)), r) : v_neg(r);
    p = v_fma(p, v_mul(r, r), first);
    /* k << 48 is n << 52, the exponent, and i << 48, which the table has been lowered by. */
    vi k48 = vi_shl(v_bits(shifted), 48);
    vd power = v_from_bits(vi_add(v_bits(v_lookup16(rg_exp_high, v_bits(shifted))), k48));
    RgPower of = {power, p};
    return of;
}

/* Coefficients of 2^-128 * (x+4) * exp(x^2) * erfc(x) in t = (x-4)/(x+4), for x from 0 to 27.3. */
RG_TABLE rg_erfc_tail[23] = {
    0x1.18932bf08e154p-128,  -0x1.f3fe31ecb49cp-129,  0x1.8be202d26c741p-129,
    -0x1.14eacb1ad02dbp-129, 0x1.52cac2370f183p-130,  -0x1.645fd8a4bfb16p-131,
    0x1.38dbd2c92094dp-132,  -0x1.b00c052a35a08p-134, 0x1.908f470243b9fp-136,
    -0x1.269b56f8b7efep-140, -0x1.dd283a021137fp-140, 0x1.72cddf787b407p-141,
    -0x1.e7fbcf7d4599p-147,  -0x1.3c750f519821dp-144, 0x1.3b1d941c47b63p-146,
    0x1.7f2deda22aa25p-148,  -0x1.c6feec9126b37p-149, -0x1.57caf4956aca6p-152,
    0x1.0bd6a19876a98p-151,  0x1.2a4f517c25de2p-156,  -0x1.069322ff0c69ep-154,
    -0x1.12328aa6d5648p-158, 0x1.b8ab8fbb2f3cbp-159,
};

/* The same of 2^-128 * (a+4) * exp(a^2/2) * erfc(a/sqrt2)/2, for a from 0 to 38.6. */
RG_TABLE rg_norm_tail[23] = {
    0x1.82b4bb8c94dcep-129,  -0x1.373e3a893c28ap-129, 0x1.8c6dbf2cfc2c4p-130,
    -0x1.7dff2bff6843cp-131, 0x1.eec4cc3e48364p-133,  -0x1.ee27610445946p-136,
    -0x1.c81719cccf94cp-137, 0x1.ab825fb203091p-138,  0x1.17a4a7a22d6d6p-141,
    -0x1.e4a421bce9ff2p-141, -0x1.0012f3a0bf7f4p-147, 0x1.26d05ead8284ap-143,
    0x1.7ff01052d0ca8p-149,  -0x1.8d4822c1d6a24p-146, -0x1.4fd4608000157p-149,
    0x1.1243db617d0a7p-148,  0x1.1bff5cb289952p-150,  -0x1.4fd4e35de5d5ap-151,
    -0x1.4c7c7869c748cp-152, 0x1.1144ffdd3e809p-154,  0x1.f7abaca4c6caap-155,
    -0x1.3af872e762447p-160, -0x1.4671b0fb792cep-158,
};

/* exp * y, where y(a) is (2^-128 times) erfc(a) or the normal tail over its exponential; c are the
 * coefficients above. The derivative of y is twice * a * y - slope.
 *
 * One polynomial covers everything from a = 0 to where the result underflows. Two things are done
 * to keep it accurate:
 * - Near a = 0 the roundings of a+4 and of q would show fivefold. But the polynomial is right for
 *   the argument whose q this is, which is off by (a+4)*e; so we step back along the derivative.
 * - The roundings of the two products are caught by fma, and are put back in the last addition. */
SIMD vd rg_tail(vd a, RgPower exp, const double *c, double twice, double slope) {
    vd four = v_set(4.0), one = v_set(1.0);
    vd sum = v_add(a, four);
    vd q = v_inverse(sum);
    vd t = v_fnma(v_set(8.0), q, one); /* exact where a <= 4 */
    /* e = 1 - q*(a+4), the larger product first: what that leaves is small, and often exact. */
    vd e = v_fnma(q, v_min(four, a), v_fnma(q, v_max(four, a), one));
    /* Odd and even powers side by side, for two shorter chains; the last steps, which decide the
     * accuracy, one by one. */
    vd tt = v_mul(t, t);
    vd even = v_set(c[22]), odd = v_set(c[21]);
    RG_UNROLL(9)
    for (int i = 20; i >= 4; i -= 2) {
        even = v_fma(even, tt, v_set(c[i]));
        odd = v_fma(odd, tt, v_set(c[i - 1]));
    }
    vd p = v_fma(even, t, odd);
    p = v_fma(p, t, v_set(c[2]));
    p = v_fma(p, t, v_set(c[1]));
    vd value = v_fma(p, t, v_set(c[0]));
    vd y = v_mul(value, q);
    vd g = v_fnma(v_mul(v_set(twice), a), y, v_set(slope * 0x1p-128));
    vd over = v_fnma(value, q, y); /* by how much y is too large */
    over = v_fnma(v_mul(sum, e), g, over);
    over = v_fnma(y, exp.rest, over);
    vd product = v_mul(exp.power, y);
    over = v_fma(exp.power, over, v_fnma(exp.power, y, product));
    return v_sub(product, over);
}

SIMD vd v_erfc(vd x) {
    vd a = v_min(v_set(28.0), v_abs(x)); /* erfc(28) is 0; a NaN passes */
    vd square = v_mul(a, a);
    RgPower e = rg_exp_minus(square, v_fnma(a, a, square), 1);
    vd r = rg_tail(a, e, rg_erfc_tail, 2.0, 1.1283791670955126);
    return v_select(v_lt(x, v_set(0.0)), v_sub(v_set(2.0), r), r);
}

/* 2^128 * exp(-a^2/2) */
SIMD RgPower rg_half_bell(vd a, int careful) {
    vd half = v_mul(v_set(0.5), a);
    vd square = v_mul(a, half);
    return rg_exp_minus(square, v_fnma(a, half, square), careful);
}

/* erfc(-x/sqrt2)/2, with a polynomial of its own: no rounding of x/sqrt2 to make good. */
SIMD vd v_norm_cdf(vd x) {
    vd a = v_min(v_set(39.0), v_abs(x));
    vd r = rg_tail(a, rg_half_bell(a, 1), rg_norm_tail, 1.0, 0.3989422804014327);
    return v_select(v_gt(x, v_set(0.0)), v_sub(v_set(1.0), r), r);
}

/* x times that, which is a normal number where the other factor is none any more: so the tail is
 * computed 2^64 times as large, and rounded once. */
SIMD vd v_gelu(vd x) {
    vd a = v_min(v_set(39.0), v_abs(x));
    RgPower e = rg_half_bell(a, 1);
    e.power = v_mul(e.power, v_set(0x1p64));
    vd r = rg_tail(a, e, rg_norm_tail, 1.0, 0.3989422804014327);
    vd above = v_mul(x, v_fnma(r, v_set(0x1p-64), v_set(1.0)));
    vd below = v_mul(v_mul(v_neg(a), r), v_set(0x1p-64));
    return v_select(v_gt(x, v_set(0.0)), above, v_fma(x, v_set(0.0), below)); /* -inf makes NaN */
}

/* exp(-x^2) */
SIMD vd v_gauss(vd x) {
    vd a = v_min(v_set(28.0), v_abs(x));
    vd square = v_mul(a, a);
    RgPower e = rg_exp_minus(square, v_fnma(a, a, square), 1);
    return v_mul(v_fma(e.power, e.rest, e.power), v_set(0x1p-128));
}

/* exp(-x^2/2) / sqrt(2 pi) */
SIMD vd v_norm_pdf(vd x) {
    RgPower e = rg_half_bell(v_min(v_set(39.0), v_abs(x)), 0);
    return v_mul(v_fma(e.power, e.rest, e.power), v_set(0.3989422804014327 * 0x1p-128));
}

/* erf around the multiples of 49/128, a column each; row j has the coefficients of h^j. The width
 * is such that the sixteen pieces just reach 5.93, where erf is 1. */
RG_TABLE rg_erf_table[14][16] = {
    {0.0, 0x1.a5a2aca209394p-2, 0x1.7131e5f496a5ap-1, 0x1.ca930e0e2a825p-1, 0x1.f0762fde45ee6p-1,
     0x1.fc85cf56ecd38p-1, 0x1.ff67d08401202p-1, 0x1.ffec39ff380b9p-1, 0x1.fffe0e0140857p-1,
     0x1.ffffdb01e8546p-1, 0x1.fffffdedf37edp-1, 0x1.ffffffe9aeb97p-1, 0x1.ffffffff4b453p-1,
     0x1.fffffffffbb58p-1, 0x1.ffffffffffec7p-1, 0x1.ffffffffffffcp-1},
    {0x1.20dd750429b6dp+0, 0x1.f2fa4c16c0018p-1, 0x1.417a0c4049fdp-1, 0x1.35005285227f1p-2,
     0x1.bb1c972f23e4fp-4, 0x1.da0005e5f28e1p-6, 0x1.7a3ade6c8b3ep-8, 0x1.c245d4b9984bdp-11,
     0x1.8fdc1b2dcf81cp-14, 0x1.08e1badf100c9p-17, 0x1.05c803e473cb9p-21, 0x1.81fb7defd8633p-26,
     0x1.a887bcfcfba05p-31, 0x1.5c4e863325233p-36, 0x1.aa57259926f29p-42, 0x1.8578a299ed095p-48},
    {0.0, -0x1.7e07a2416aeafp-2, -0x1.ec42e2c27125p-2, -0x1.62de5ec4e5c3ap-2, -0x1.5341e3c0172ddp-3,
     -0x1.c5a205a511b6fp-5, -0x1.b25f9b70a56a5p-7, -0x1.2da5c8026cb9dp-9, -0x1.322484cf34b02p-12,
     -0x1.c84cdaecf3b3bp-16, -0x1.f510d6c88a091p-20, -0x1.96563e1927cbap-24, -0x1.e78ae100c42e7p-29,
     -0x1.b12aff277ef2bp-34, -0x1.1cc78b47d8561p-39, -0x1.9db7d64dc00efp-45},
    {-0x1.812746b03790dp-2, -0x1.d64f2aa245ff4p-3, 0x1.278631edc5a3ap-5, 0x1.51644a1a131dap-3,
     0x1.107929f6e773cp-3, 0x1.f3dabe384e9d5p-5, 0x1.2d0c4b23dfd9ap-6, 0x1.f55bacea05d3ap-9,
     0x1.27dc1bc6cd4c3p-11, 0x1.f5f573d63cbccp-15, 0x1.34c869534b0d5p-18, 0x1.1522a12a4059bp-22,
     0x1.6c6efa941cd1dp-27, 0x1.602d2cc7901f7p-32, 0x1.f56c0bd5699c7p-38, 0x1.0239a7e42a7c5p-43},
    {0.0, 0x1.58b4e8a9d93a1p-3, 0x1.2be43f64c9e82p-3, 0x1.56bd4509b1495p-6, -0x1.7e1b362fbb6acp-5,
     -0x1.472a5629b350ep-5, -0x1.1156d9b97bc98p-6, -0x1.1d989e4c7eca9p-8, -0x1.9202f4577e3fep-11,
     -0x1.8a53821f7c307p-14, -0x1.12a32b5d16f77p-17, -0x1.12d2034d4041fp-21, -0x1.8e5278e6431eap-26,
     -0x1.a8ddfa39e3d37p-31, -0x1.5acfdd2c8052p-36, 0x1.9cd5758aee0dcp-39},
    {0x1.ce2f21a01273ep-4, 0x1.613cfe3e93ac7p-5, -0x1.c806430b070fcp-5, -0x1.e397d1f9a90fap-5,
     -0x1.73b61e4a2797ap-7, 0x1.921e5d37d2d04p-7, 0x1.41a1cfc6858e7p-7, 0x1.cdd6df933c98bp-9,
     0x1.93b4c976f0989p-11, 0x1.d423120a8c621p-14, 0x1.7638785b33c94p-17, 0x1.a553f49728457p-21,
     0x1.5284908f9bf93p-25, 0x1.874d103c3992ep-30, 0x1.467e661af2191p-35, 0x1.66035ff48cbb8p-40},
    {0.0, -0x1.9cc304a2ed549p-5, -0x1.97019893e8e03p-6, 0x1.16da9001f66b7p-6, 0x1.2aa764deb33a5p-6,
     0x1.71aa5535024ap-9, -0x1.91dfdae56615ep-9, -0x1.0435e56b18031p-9, -0x1.30e9eb5909649p-11,
     -0x1.b079266f2d73bp-14, -0x1.94422d4a6a481p-17, -0x1.02ff3ac934493p-20, -0x1.cc3b7e755990cp-25,
     -0x1.722dcbce2ff6fp-30, 0x1.071987bd57de1p-34, -0x1.51067675b9b3cp-32},
    {-0x1.b82ce2c80650bp-6, -0x1.37ab0840d7b75p-8, 0x1.322fe857a852dp-6, 0x1.1591274cd8fb3p-7,
     -0x1.59a38a0f78b4ep-8, -0x1.2490c0ed38b1bp-8, -0x1.54b062386740dp-12, 0x1.650c1df07b6dfp-11,
     0x1.555b9b4fead85p-12, 0x1.3a40f212a0211p-14, 0x1.61174f56c39bp-17, 0x1.05875e1d35ccfp-20,
     0x1.098404fe2a8ddp-24, 0x1.8ccea23e764ep-29, 0x1.defa3920377abp-34, -0x1.ee99756ad787fp-35},
    {0.0, 0x1.70b577b2b67ddp-7, 0x1.c9be90a9b7909p-10, -0x1.8e664b9648bbdp-8,
     -0x1.eeb49d61b7ee5p-10, 0x1.91908a82082a8p-10, 0x1.ba4538ab71091p-11, -0x1.022e33dc0d012p-15,
     -0x1.0555c6f35b8c1p-13, -0x1.63ee5d6eb33dp-15, -0x1.f8efd6dd49cd5p-18, -0x1.bce54d7e0fd7fp-21,
     -0x1.715020d0a6837p-24, -0x1.57627cb5a7dcap-25, -0x1.8387f62344999p-28, 0x1.dd78e0626ce96p-27},
    {0x1.565b939ee6f29p-8, -0x1.113797372f223p-15, -0x1.019e871c0b18fp-8, -0x1.9105b75b48951p-14,
     0x1.b529203270cfbp-10, 0x1.c5ff1c46afbd3p-13, -0x1.81408c7343408p-12, -0x1.de67f054a23dcp-14,
     0x1.68ed4111963ep-16, 0x1.2cbef3c28f0a5p-16, 0x1.21b863bd69fe2p-18, 0x1.348b75f377c5cp-21,
     0x1.708a2804ca6efp-25, -0x1.5a138ced76baep-28, -0x1.21e6635135ef7p-30, 0x1.9030de18cb872p-29},
    {0.0, -0x1.05c90e4daefbp-9, 0x1.323bb6344ec3dp-12, 0x1.20dffcdd8f136p-10,
     -0x1.6dd94c6dee75cp-13, -0x1.74d0cfa7d6fc9p-12, 0x1.41497db3ca12dp-16, 0x1.13e3a8df82693p-14,
     0x1.283704557671ap-17, -0x1.4fa4a1fe231eep-18, -0x1.43fdc4795aacp-20, -0x1.0b0266707e026p-23,
     0x1.27554f7dfa696p-21, 0x1.b16f41c65b941p-21, 0x1.03b5c2d9460b6p-23, -0x1.462c081b0956ap-22},
    {-0x1.c0008a8fa2bd3p-11, 0x1.321846621f5fap-13, 0x1.3c906505e1c55p-11, -0x1.c2f99e1a08b68p-13,
     -0x1.d54a5edec0acdp-13, 0x1.7162047c9e1c8p-14, 0x1.b743b26f863e4p-15, -0x1.d51e2a4d9405fp-17,
     -0x1.1f17ffbd75db3p-17, 0x1.1c3a518cc68bp-25, 0x1.c67fcd3f7b40bp-21, 0x1.ce59d8150938ap-23,
     0x1.4a0108188fa6bp-23, 0x1.8fb0d4adeb2a1p-23, 0x1.db6976eb90891p-26, -0x1.297e096dfe5cp-24},
    {0.0, 0x1.2b6655d09c94dp-12, -0x1.04202a120665fp-13, -0x1.f44eef111c205p-14,
     0x1.3f8aaef449a0cp-14, 0x1.e2a3455cd6719p-16, -0x1.acb6caffa8f75p-16, 0x1.95c493d76c14cp-19,
     0x1.1c58f096f15c1p-18, 0x1.39395fdc042c2p-19, -0x1.bc53e61d6cc46p-18, -0x1.f8924b3611749p-20,
     -0x1.4a3af48766272p-18, -0x1.c8bac46bfee48p-18, -0x1.111e520f02b36p-20, 0x1.56b978486ac6ap-19},
    {0x1.e9254d6628d3dp-14, -0x1.a7478a268f496p-15, -0x1.4fb4b2f4b7ba6p-14, 0x1.d42d35360ee98p-15,
     0x1.32293da1ad629p-17, -0x1.3b443625385f2p-16, -0x1.ff7f0c9c03137p-23, 0x1.63e0912593cdfp-18,
     0x1.1eace5d55844p-23, 0x1.0d84a4f38cf5dp-25, -0x1.b3e831407f94dp-20, -0x1.ccade3f3a0aa8p-22,
     -0x1.43efe668ad033p-20, -0x1.c2848953d55c1p-20, -0x1.0d7967120582fp-22, 0x1.52375fb8f4011p-21},
};

/* Here erfc would be a detour: a short polynomial is faster, its coefficients looked up a lane. The
 * first piece is odd, so that small results are as accurate as large ones. */
SIMD vd v_erf(vd x) {
    vd a = v_min(v_set(5.93), v_abs(x));
    vd magic = v_set(6755399441055744.0);
    vd shifted = v_fma(a, v_set(128.0 / 49.0), magic);
    vi piece = v_bits(shifted);
    vd h = v_fnma(v_sub(shifted, magic), v_set(49.0 / 128.0), a); /* exact */
    vd p = v_lookup16(rg_erf_table[13], piece);
    RG_UNROLL(13)
    for (int j = 12; j >= 0; j--) p = v_fma(p, h, v_lookup16(rg_erf_table[j], piece));
    return v_copysign(p, x);
}

#endif
