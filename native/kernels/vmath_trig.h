/* Trigonometry: sin, cos, tan, their inverses, atan2 and hypot.
 *
 * Angles are reduced by a multiple of pi/2, which in three parts is exact enough up to 2^40; and
 * beyond, lane by lane, with the first 1200 bits of 2/pi. The numbers come from
 * tools/minimax_erf.py, and tests/kernels/ulps.py says how accurate all this is. */
#ifndef RG_VMATH_TRIG_H
#define RG_VMATH_TRIG_H

#include "simd.h"

/* pi as the sum of three doubles. */
#define RG_PI_1 0x1.921fb54442d18p+1
#define RG_PI_2 0x1.1a62633145c07p-53
#define RG_PI_3 -0x1.f1976b7ed8fbcp-109

#define RG_MAGIC 6755399441055744.0 /* 1.5 * 2^52: adding it rounds, and leaves n in the low bits */
#define RG_HUGE 0x1p40

/* 2/pi in words of 32 bits, after a word of zeros. */
RG_TABLE_OF(uint32_t)
rg_two_over_pi[41] = {
    0,          0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041,
    0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c,
    0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4,
    0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf,
    0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea,
    0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d,
};

/* For huge a: n (modulo 4) and r with a = n * pi/2 + r, |r| <= pi/4.
 *
 * a is a whole number of 53 bits times a power of two, so that of 2/pi only those 192 bits matter
 * which decide the last two bits of the whole part of a * 2/pi and 137 bits of its fraction: enough
 * even for the double nearest to a multiple of pi/2, whose fraction begins with 61 zeros. */
RG_RARE double rg_angle_huge(double a, int64_t *n) {
    int64_t word;
    memcpy(&word, &a, sizeof word);
    int exponent = (int)(word >> 52) - 1075;
    *n = 0;
    if (exponent == 2047 - 1075) return a - a; /* infinity is no angle: NaN */
    uint64_t mantissa = ((uint64_t)word & 0xfffffffffffff) | 0x10000000000000;

    /* Six words of 2/pi, beginning with the bit that makes 2 times the mantissa in a * 2/pi. */
    uint32_t w[7], u[6];
    int skip = exponent - 2 + 32;
    for (int i = 0; i < 6; i++) {
        const uint32_t *pair = rg_two_over_pi + skip / 32 + i;
        w[i] = (uint32_t)(((uint64_t)pair[0] << 32 | pair[1]) >> (32 - skip % 32));
    }
    w[6] = 0;
    /* u = w * mantissa modulo 2^192, which is a * 2/pi modulo 4: two bits, then the fraction. */
    uint64_t low = mantissa & 0xffffffff, high = mantissa >> 32, carry = 0;
    for (int i = 5; i >= 0; i--) {
        uint64_t t = low * w[i] + carry;
        u[i] = (uint32_t)t;
        carry = t >> 32;
    }
    carry = 0;
    for (int i = 5; i >= 0; i--) {
        uint64_t t = high * w[i + 1] + u[i] + carry;
        u[i] = (uint32_t)t;
        carry = t >> 32;
    }
    *n = (uint32_t)(u[0] + (1u << 29)) >> 30; /* the nearest */

    /* With those two bits shifted out, what is left is a signed fraction. */
    for (int i = 0; i < 6; i++) u[i] = u[i] << 2 | (i < 5 ? u[i + 1] >> 30 : 0);
    int negative = u[0] > INT32_MAX;
    uint32_t borrow = 1;
    for (int i = 5; negative && i >= 0; i--) {
        u[i] = ~u[i] + borrow;
        borrow = borrow && u[i] == 0;
    }
    double sum = 0.0, rest = 0.0, weight = 0x1p-32;
    for (int i = 0; i < 6; i++) {
        double term = u[i] * weight, next = sum + term;
        rest += term - (next - sum);
        sum = next;
        weight *= 0x1p-32;
    }
    double r = sum * (RG_PI_1 / 2);
    r += RG_FMA(sum, RG_PI_1 / 2, -r) + (sum * (RG_PI_2 / 2) + rest * (RG_PI_1 / 2));
    return negative ? -r : r;
}

/* rg_angle_huge for those lanes that are. */
RG_RARE void rg_angle_lanes(const vd *a, vd *r, vi *n) {
    double angle[RG_LANES], rest[RG_LANES];
    int64_t turns[RG_LANES];
    memcpy(angle, a, sizeof angle);
    memcpy(rest, r, sizeof rest);
    memcpy(turns, n, sizeof turns);
    for (int i = 0; i < RG_LANES; i++) {
        if (angle[i] > RG_HUGE) rest[i] = rg_angle_huge(angle[i], &turns[i]);
    }
    memcpy(r, rest, sizeof rest);
    memcpy(n, turns, sizeof turns);
}

/* An angle less n quarter turns, |r| <= pi/4; only the last two bits of n count. */
typedef struct {
    vd r;
    vi n;
} RgAngle;

/* The first step is exact, for what it uses of pi. Each of the others rounds what it leaves, and is
 * small beside it even next to a multiple of pi/2. */
SIMD RgAngle rg_angle(vd a) {
    vd magic = v_set(RG_MAGIC);
    vd shifted = v_fma(a, v_set(0.6366197723675814), magic);
    vd k = v_sub(shifted, magic);
    vd r = v_fnma(v_set(RG_PI_1 / 2), k, a);
    r = v_fnma(v_set(RG_PI_2 / 2), k, r);
    r = v_fnma(v_set(RG_PI_3 / 2), k, r);
    vi n = v_bits(shifted);
    if (RG_UNLIKELY(vm_any(v_gt(a, v_set(RG_HUGE))))) {
        vd angle = a, rest = r;
        vi turns = n;
        rg_angle_lanes(&angle, &rest, &turns);
        r = rest;
        n = turns;
    }
    RgAngle of = {r, n};
    return of;
}

SIMD vm rg_is_odd(vi n) { return vi_eq(vi_and(n, vi_set(1)), vi_set(1)); }

/* sin(r + n * pi/2): by quarter turns sin, cos, -sin, -cos. No result is beyond 1: cos(r) is 1 less
 * something, and sin(r) is far from 1. */
SIMD vd rg_sin_turned(vd r, vi n) {
    vd z = v_mul(r, r);
    vd p = v_set(0x1.5d8e2d0d0741ep-33);
    p = v_fma(p, z, v_set(-0x1.ae5e54552d911p-26));
    p = v_fma(p, z, v_set(0x1.71de355ee0093p-19));
    p = v_fma(p, z, v_set(-0x1.a01a019bf1f9dp-13));
    p = v_fma(p, z, v_set(0x1.111111110f75cp-7));
    p = v_fma(p, z, v_set(-0x1.5555555555548p-3));
    vd sine = v_fma(v_mul(p, z), r, r);
    vd q = v_set(-0x1.8fa6af57b192cp-37);
    q = v_fma(q, z, v_set(0x1.1ee9dc2185f76p-29));
    q = v_fma(q, z, v_set(-0x1.27e4f7f20611dp-22));
    q = v_fma(q, z, v_set(0x1.a01a019c8fb48p-16));
    q = v_fma(q, z, v_set(-0x1.6c16c16c15019p-10));
    q = v_fma(q, z, v_set(0x1.555555555554bp-5));
    q = v_fma(q, z, v_set(-0.5));
    vd cosine = v_fma(q, z, v_set(1.0));
    vd s = v_select(rg_is_odd(n), cosine, sine);
    vi minus = vi_and(vi_shl(n, 62), vi_set(INT64_MIN));
    return v_from_bits(vi_xor(v_bits(s), minus));
}

SIMD vd v_sin(vd x) {
    RgAngle a = rg_angle(v_abs(x));
    /* The sign of x last, which also keeps that of a zero. */
    return v_from_bits(vi_xor(v_bits(rg_sin_turned(a.r, a.n)), v_bits(v_sign_bit(x))));
}

SIMD vd v_cos(vd x) {
    RgAngle a = rg_angle(v_abs(x));
    return rg_sin_turned(a.r, vi_add(a.n, vi_set(1)));
}

/* tan is the quotient of two polynomials, upside down where n is odd. Every rounding on the way
 * shows in a quotient, and tan magnifies that of r: so all are caught, and put right at the end. */
SIMD vd v_tan(vd x) {
    vd a = v_abs(x), magic = v_set(RG_MAGIC), one = v_set(1.0);
    vd shifted = v_fma(a, v_set(0.6366197723675814), magic);
    vd k = v_sub(shifted, magic);
    vd first = v_fnma(v_set(RG_PI_1 / 2), k, a);
    vd second = v_mul(v_set(RG_PI_2 / 2), k);
    vd r = v_sub(first, second);
    vd r_low = v_sub(v_sub(first, r), second); /* exact: first ends before second does */
    r_low = v_add(r_low, v_fnma(v_set(RG_PI_2 / 2), k, second));
    r_low = v_fnma(v_set(RG_PI_3 / 2), k, r_low);
    vi n = v_bits(shifted);
    vm huge = v_gt(a, v_set(RG_HUGE));
    if (RG_UNLIKELY(vm_any(huge))) {
        vd angle = a, rest = r;
        vi turns = n;
        rg_angle_lanes(&angle, &rest, &turns);
        r = rest;
        n = turns;
        r_low = v_select(huge, v_set(0.0), r_low);
    }
    vd z = v_mul(r, r);
    vd p = v_set(-0x1.2b7027373e5e3p-16);
    p = v_fma(p, z, v_set(0x1.c0cc87724e6dp-9));
    p = v_fma(p, z, v_set(-0x1.1127cf6e2e01bp-3));
    vd q = v_set(0x1.0b1c41683138p-21);
    q = v_fma(q, z, v_set(-0x1.46d15e58d108ep-12));
    q = v_fma(q, z, v_set(0x1.a46cf8a80311bp-6));
    q = v_fma(q, z, v_set(-0x1.dde93d0c6c563p-2));
    vd bend = v_fma(v_mul(p, z), r, r_low);
    vd above = v_add(r, bend), above_low = v_add(v_sub(r, above), bend);
    vd below = v_fma(q, z, one), below_low = v_fma(q, z, v_sub(one, below));
    vm odd = rg_is_odd(n);
    vd top = v_select(odd, below, above), top_low = v_select(odd, below_low, above_low);
    vd bottom = v_select(odd, above, below), bottom_low = v_select(odd, above_low, below_low);
    /* Negative, to do without v_fnma: of a NaN, that would change the sign at some widths only. */
    vd inverse = v_div(v_set(-1.0), bottom);
    vd t = v_mul(top, inverse);
    vd miss = v_add(v_fma(t, bottom, top), v_fma(t, bottom_low, top_low));
    t = v_fma(miss, inverse, t);
    vi minus = vi_xor(vi_shl(n, 63), v_bits(v_sign_bit(v_neg(x))));
    return v_from_bits(vi_xor(v_bits(t), minus));
}

/* base - (s + s * rest), where base is a multiple of pi/2 (turns of them) and s is not larger. The
 * rounding of the first difference is put back, and pi/2 has its second part. */
SIMD vd rg_from_base(vd turns, vd s, vd rest) {
    vd base = v_mul(turns, v_set(RG_PI_1 / 2));
    vd high = v_sub(base, s);
    vd low = v_fma(turns, v_set(RG_PI_2 / 2), v_sub(v_sub(base, high), s));
    return v_add(high, v_fnma(s, rest, low));
}

/* asin(s)/s - 1 for z = s^2 <= 1/4 */
SIMD vd rg_asin_rest(vd z) {
    vd zz = v_mul(z, z);
    vd even = v_set(-0x1.09d22cfd8c918p-6), odd = v_set(0x1.056d0856a4b7bp-5);
    even = v_fma(even, zz, v_set(0x1.abcfe12df4dc3p-8));
    odd = v_fma(odd, zz, v_set(0x1.3ff428fcedb28p-6));
    even = v_fma(even, zz, v_set(0x1.c6fdc1621c6e1p-7));
    odd = v_fma(odd, zz, v_set(0x1.8ec2f51e9db02p-7));
    even = v_fma(even, zz, v_set(0x1.6e89f43ca1c52p-6));
    odd = v_fma(odd, zz, v_set(0x1.1c6be1c07a10bp-6));
    even = v_fma(even, zz, v_set(0x1.6db6db42795c7p-5));
    odd = v_fma(odd, zz, v_set(0x1.f1c72c393547p-6));
    even = v_fma(even, zz, v_set(0x1.555555555539p-3));
    odd = v_fma(odd, zz, v_set(0x1.333333336e828p-4));
    return v_mul(v_fma(odd, z, even), z);
}

/* Above 1/2 through asin(a) = pi/2 - 2 asin(sqrt((1-a)/2)), where 1-a is exact. */
SIMD vd v_asin(vd x) {
    vd a = v_abs(x);
    vm upper = v_gt(a, v_set(0.5));
    vd z = v_select(upper, v_fnma(v_set(0.5), a, v_set(0.5)), v_mul(a, a));
    vd root = v_sqrt(z);
    vd s = v_select(upper, v_add(root, root), v_neg(a));
    vd turns = v_select(upper, v_set(1.0), v_set(0.0));
    return v_copysign(rg_from_base(turns, s, rg_asin_rest(z)), x);
}

SIMD vd v_acos(vd x) {
    vd a = v_abs(x);
    vm upper = v_gt(a, v_set(0.5));
    vd z = v_select(upper, v_fnma(v_set(0.5), a, v_set(0.5)), v_mul(a, a));
    vd root = v_sqrt(z);
    /* acos(a) = 2 asin(root), and acos(-a) = pi less that; in the middle pi/2 - asin(x). */
    vd s = v_select(upper, v_copysign(v_add(root, root), v_neg(x)), x);
    vd ends = v_select(v_lt(x, v_set(0.0)), v_set(2.0), v_set(0.0));
    return rg_from_base(v_select(upper, ends, v_set(1.0)), s, rg_asin_rest(z));
}

/* atan(t)/t - 1 for |t| <= 1 */
SIMD vd rg_atan_rest(vd t) {
    vd z = v_mul(t, t);
    vd zz = v_mul(z, z);
    vd even = v_set(-0x1.53e74f8def11ap-16), odd = v_set(0x1.d3bcdfe5a86b9p-13);
    even = v_fma(even, zz, v_set(-0x1.312b3ba656f2cp-10));
    odd = v_fma(odd, zz, v_set(0x1.f96e181a23258p-9));
    even = v_fma(even, zz, v_set(-0x1.2cf80555c042ep-7));
    odd = v_fma(odd, zz, v_set(0x1.162ca29597b64p-6));
    even = v_fma(even, zz, v_set(-0x1.a7270c7101e7ap-6));
    odd = v_fma(odd, zz, v_set(0x1.1716002ea9edap-5));
    even = v_fma(even, zz, v_set(-0x1.4f45372a3437fp-5));
    odd = v_fma(odd, zz, v_set(0x1.7ee3ffa3c924ap-5));
    even = v_fma(even, zz, v_set(-0x1.ad32bd848be21p-5));
    odd = v_fma(odd, zz, v_set(0x1.e1781809cb987p-5));
    /* From here one by one: the terms alternate, and sums of odd and of even ones would cancel. */
    vd p = v_fma(even, z, odd);
    p = v_fma(p, z, v_set(-0x1.11089d1745c53p-4));
    p = v_fma(p, z, v_set(0x1.3b12b2ebbd031p-4));
    p = v_fma(p, z, v_set(-0x1.745d02314c4dap-4));
    p = v_fma(p, z, v_set(0x1.c71c709e1e762p-4));
    p = v_fma(p, z, v_set(-0x1.2492491fa2282p-3));
    p = v_fma(p, z, v_set(0x1.9999999984115p-3));
    p = v_fma(p, z, v_set(-0x1.555555555544cp-2));
    return v_mul(p, z);
}

SIMD vd v_atan(vd x) {
    vd a = v_abs(x), one = v_set(1.0);
    vm upper = v_gt(a, one);
    vd t = v_div(v_select(upper, one, v_neg(a)), v_select(upper, a, one));
    vd turns = v_select(upper, one, v_set(0.0));
    return v_copysign(rg_from_base(turns, t, rg_atan_rest(t)), x);
}

SIMD vd v_atan2(vd y, vd x) {
    vd ax = v_abs(x), ay = v_abs(y), zero = v_set(0.0), one = v_set(1.0);
    vm steep = v_lt(ax, ay);
    vd smaller = v_select(steep, ax, ay), larger = v_select(steep, ay, ax);
    /* Equal sides make 1, even where both are infinite; but zeros make 0. */
    vd same = v_select(v_eq(larger, zero), zero, one);
    vd t = v_select(v_eq(smaller, larger), same, v_div(smaller, larger));
    /* To the right t, to the left pi - t; where steep, pi/2 - t or pi/2 + t. */
    vm left = v_lt(v_copysign(one, x), zero);
    vd turns = v_select(steep, one, v_select(left, v_set(2.0), zero));
    vd flat = v_select(left, t, v_neg(t)), upright = v_select(left, v_neg(t), t);
    vd s = v_select(steep, upright, flat);
    return v_copysign(rg_from_base(turns, s, rg_atan_rest(t)), y);
}

/* Both sides are scaled by the power of two that brings the larger near 1; at either end of the
 * range by 2^1000 or its inverse, which is near enough for the squares. */
SIMD vd v_hypot(vd x, vd y) {
    vd ax = v_abs(x), ay = v_abs(y);
    vm swap = v_lt(ax, ay);
    vd larger = v_select(swap, ay, ax), smaller = v_select(swap, ax, ay);
    vd within = v_max(v_min(larger, v_set(0x1p1000)), v_set(0x1p-1000));
    vi power = vi_and(v_bits(within), vi_set(0x7ff0000000000000));
    vd down = v_from_bits(vi_sub(vi_set(0x7fe0000000000000), power));
    vd a = v_mul(larger, down), b = v_mul(smaller, down);
    vd h = v_mul(v_sqrt(v_fma(a, a, v_mul(b, b))), v_from_bits(power));
    /* An infinite side wins over a NaN. */
    vd infinity = v_set(RG_INFINITY);
    return v_select(vm_or(v_eq(ax, infinity), v_eq(ay, infinity)), infinity, h);
}

#endif
