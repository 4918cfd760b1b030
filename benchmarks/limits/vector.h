/* Vectors of doubles and the functions the limits need of them, for AVX-512 and for AVX2.
 *
 * What lives here: the vector type with its few operations, and exp, log and the normal
 * distribution, branch-free and right over the whole range (zeros, infinities, NaN, denormals,
 * overflow), each within 2 ulps (`python benchmarks/replay_limits.py` measures them against
 * mpmath). What does not: the programs. Nothing of the package is used, so that the limit stays
 * independent of what is measured against it.
 *
 * The coefficients were found with mpmath by interpolation in Chebyshev points.
 */
#ifndef LIMITS_VECTOR_H
#define LIMITS_VECTOR_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define LN2 0x1.62e42fefa39efp-1
#define LN2_TAIL 0x1.abc9e3b39803fp-56
#define LN2_SHORT 0x1.62e42fefa2000p-1 /* 40 bits: its product with an exponent is exact */
#define LN2_SHORT_TAIL 0x1.9ef35793c7673p-41
#define LOG2_E 0x1.71547652b82fep+0
#define ONE_OVER_SQRT_2PI 0x1.9884533d43651p-2

#if defined(__AVX512F__) && defined(__AVX512DQ__)

#define LANES 8
#define SIMD "AVX-512"
typedef __m512d vec;

static inline vec splat(double x) { return _mm512_set1_pd(x); }
static inline vec load(const double *from) { return _mm512_loadu_pd(from); }
static inline void store(double *to, vec x) { _mm512_storeu_pd(to, x); }
static inline void stream(double *to, vec x) { _mm512_stream_pd(to, x); }
static inline vec fma_(vec x, vec y, vec z) { return _mm512_fmadd_pd(x, y, z); }
static inline vec fnma(vec x, vec y, vec z) { return _mm512_fnmadd_pd(x, y, z); }
static inline vec fms(vec x, vec y, vec z) { return _mm512_fmsub_pd(x, y, z); }
static inline vec magnitude(vec x) { return _mm512_abs_pd(x); }
/* A NaN as the second operand is kept. */
static inline vec at_most(double bound, vec x) { return _mm512_min_pd(splat(bound), x); }
static inline vec where_not_below(vec x, vec bound, vec yes, vec no) {
    return _mm512_mask_blend_pd(_mm512_cmp_pd_mask(x, bound, _CMP_GE_OQ), no, yes);
}

static inline void fetch(const double *from) { _mm_prefetch((const char *)from, _MM_HINT_T0); }

/* sqrt(x) to the last bit or the one before, without the divider, which is slow and wanted for
 * quotients; zero and infinity, where the first guess is of no use, are their own roots. */
static inline vec root(vec x) {
    __mmask8 itself = _mm512_fpclass_pd_mask(x, 0x0e);
    vec guess = _mm512_rsqrt14_pd(x);
    vec g = x * guess, h = splat(0.5) * guess;
    vec e = fnma(g, h, splat(0.5));
    g = fma_(g, e, g);
    h = fma_(h, e, h);
    return _mm512_mask_mov_pd(fma_(fnma(g, g, x), h, g), itself, x);
}

/* 1 / x for normal x above 0, all but the last bit. */
static inline vec reciprocal(vec x) {
    vec w = _mm512_rcp14_pd(x);
    vec e = fnma(x, w, splat(1.0));
    return fma_(w, fma_(fma_(e, e, e), e, e), w);
}

static const double EXP_TABLE[16] = {
    0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
    0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
    0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
    0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0,
};
static const double EXP_TABLE_TAIL[16] = {
    0x0.0p+0,
    0x1.8a62e4adc610bp-54,
    -0x1.19041b9d78a76p-55,
    0x1.9b07eb6c70573p-54,
    0x1.6f46ad23182e4p-55,
    0x1.ada0911f09ebcp-55,
    0x1.d4397afec42e2p-56,
    0x1.6324c054647adp-54,
    -0x1.bdd3413b26456p-54,
    -0x1.41577ee04992fp-55,
    0x1.6e9f156864b27p-54,
    0x1.c7c46b071f2bep-56,
    0x1.7a1cd345dcc81p-54,
    0x1.11065895048ddp-55,
    0x1.2ed02d75b3707p-55,
    -0x1.e9c23179c2893p-54,
};
static const double EXP[] = {
    0x1.0000000000000p-1, 0x1.55555554dcc9bp-3,  0x1.55555555190f9p-5,
    0x1.11120b77051e7p-7, 0x1.6c17bbd1f560ap-10,
};

/* exp(x + tail) = 2^k exp(r), k in sixteenths. `shifted` is k in the last bits of a number so
 * large that they are all it has after the point: there the table's index is found. */
typedef struct {
    vec shifted, k, r;
} reduced;

static inline reduced reduce(vec x, vec tail) {
    const vec shift = splat(0x1.8p48);
    vec shifted = fma_(x, splat(LOG2_E), shift);
    vec k = shifted - shift;
    vec r = fnma(k, splat(LN2), x) + fnma(k, splat(LN2_TAIL), tail);
    return (reduced){shifted, k, r};
}

static inline vec exp_lookup(const double *table, reduced it) {
    return _mm512_permutex2var_pd(load(table), _mm512_castpd_si512(it.shifted), load(table + 8));
}

/* exp(r) - 1. Far out r means nothing and must only not be a NaN, so the smaller magnitude is
 * taken: there the scaling by 2^k decides, which does denormals, overflow, infinities and NaN,
 * and of k takes the whole part. */
static inline vec expm1_reduced(vec r) {
    r = _mm512_range_pd(r, splat(0.03125), 2);
    vec r2 = r * r;
    vec low = fma_(splat(EXP[1]), r, splat(EXP[0]));
    vec high = fma_(splat(EXP[4]), r2, fma_(splat(EXP[3]), r, splat(EXP[2])));
    return fma_(fma_(high, r2, low), r2, r);
}

static inline vec vexp(vec x) {
    reduced it = reduce(x, splat(0.0)); /* its r is not used: the next line is one operation less */
    it.r = fnma(it.k, splat(LN2_TAIL), fnma(it.k, splat(LN2), x));
    vec table = exp_lookup(EXP_TABLE, it);
    return _mm512_scalef_pd(fma_(table, expm1_reduced(it.r), table), it.k);
}

/* exp(x + tail), the tail below an ulp of x, a little more accurate than vexp. */
static inline vec vexp_with_tail(vec x, vec tail) {
    reduced it = reduce(x, tail);
    vec table = exp_lookup(EXP_TABLE, it), rest = exp_lookup(EXP_TABLE_TAIL, it);
    return _mm512_scalef_pd(table + fma_(table, expm1_reduced(it.r), rest), it.k);
}

/* For a mantissa m in [0.75, 1.5), by its first four bits: about 1 / m, and minus its logarithm,
 * chosen among neighbours so that 42 bits of it are right to 2^-64. */
static const double LOG_RECIPROCAL[16] = {
    0x1.0000000000000p+0, 0x1.d41d41d4179fap-1, 0x1.bacf914c20492p-1, 0x1.a41a41a1b3fbcp-1,
    0x1.8f9c18f9bc134p-1, 0x1.7d05f415a6a1ep-1, 0x1.6c16c16c1e159p-1, 0x1.5c9882b933745p-1,
    0x1.4e5e0a72f1de2p+0, 0x1.4141414140a47p+0, 0x1.3521cfb2b1c6ap+0, 0x1.29e4129c8fda9p+0,
    0x1.1f7047ddab32fp+0, 0x1.15b1e5f8db1fdp+0, 0x1.0c9714fa48d02p+0, 0x1.0000000000000p+0,
};
static const double LOG_TABLE[16] = {
    0x0.0p+0,
    0x1.6f0d28ae88000p-4,
    0x1.29552f81ea000p-3,
    0x1.9525a9daf8000p-3,
    0x1.fb9186d600000p-3,
    0x1.2e8e2bb3e2000p-2,
    0x1.5d1bdbf56c000p-2,
    0x1.89a3386c0d000p-2,
    -0x1.1178e82283000p-2,
    -0x1.d1037f2652000p-3,
    -0x1.823c1654f4000p-3,
    -0x1.365fcaf5b6000p-3,
    -0x1.da72764f0c000p-4,
    -0x1.4d3115e8a8000p-4,
    -0x1.894aa11ba8000p-5,
    0x0.0p+0,
};
static const double LOG[] = {
    -0x1.ffffffffffffdp-2, 0x1.5555555555acdp-2,  -0x1.000000000e257p-2,
    0x1.99999989586e7p-3,  -0x1.5555536a77564p-3, 0x1.2492a3911afe2p-3,
    -0x1.000ba86012c57p-3, 0x1.c65e411a844b5p-4,  -0x1.6d5d9b2c1cc43p-4,
};

static inline vec vlog(vec x) {
    vec m = _mm512_getmant_pd(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
    vec e = _mm512_getexp_pd(x);
    __mmask8 halved = _mm512_cmp_pd_mask(m, splat(1.0), _CMP_LT_OQ);
    e = _mm512_mask_add_pd(e, halved, e, splat(1.0));
    __m512i index = _mm512_srli_epi64(_mm512_castpd_si512(m), 48);
    vec c = _mm512_permutex2var_pd(load(LOG_RECIPROCAL), index, load(LOG_RECIPROCAL + 8));
    vec table = _mm512_permutex2var_pd(load(LOG_TABLE), index, load(LOG_TABLE + 8));
    vec r = fms(m, c, splat(1.0));
    vec r2 = r * r, r4 = r2 * r2;
    vec p01 = fma_(splat(LOG[1]), r, splat(LOG[0]));
    vec p23 = fma_(splat(LOG[3]), r, splat(LOG[2]));
    vec p45 = fma_(splat(LOG[5]), r, splat(LOG[4]));
    vec p67 = fma_(splat(LOG[7]), r, splat(LOG[6]));
    vec p = fma_(fma_(fma_(splat(LOG[8]), r2, p67), r2, p45), r4, fma_(p23, r2, p01));
    vec whole = fma_(e, splat(LN2_SHORT), table);
    return whole + (r + fma_(p, r2, e * splat(LN2_SHORT_TAIL)));
}

#elif defined(__AVX2__) && defined(__FMA__)

#define LANES 4
#define SIMD "AVX2"
typedef __m256d vec;

static inline vec splat(double x) { return _mm256_set1_pd(x); }
static inline vec load(const double *from) { return _mm256_loadu_pd(from); }
static inline void store(double *to, vec x) { _mm256_storeu_pd(to, x); }
static inline void stream(double *to, vec x) { _mm256_stream_pd(to, x); }
static inline vec fma_(vec x, vec y, vec z) { return _mm256_fmadd_pd(x, y, z); }
static inline vec fnma(vec x, vec y, vec z) { return _mm256_fnmadd_pd(x, y, z); }
static inline vec fms(vec x, vec y, vec z) { return _mm256_fmsub_pd(x, y, z); }
static inline void fetch(const double *from) { _mm_prefetch((const char *)from, _MM_HINT_T0); }
static inline vec root(vec x) { return _mm256_sqrt_pd(x); }
static inline vec magnitude(vec x) { return _mm256_andnot_pd(splat(-0.0), x); }
/* A NaN as the second operand is kept. */
static inline vec at_most(double bound, vec x) { return _mm256_min_pd(splat(bound), x); }
static inline vec where_not_below(vec x, vec bound, vec yes, vec no) {
    return _mm256_blendv_pd(no, yes, _mm256_cmp_pd(x, bound, _CMP_GE_OQ));
}
static inline vec reciprocal(vec x) { return splat(1.0) / x; }

static const double EXP[] = {
    0x1.0000000000000p-1,  0x1.5555555555557p-3,  0x1.5555555555556p-5,  0x1.11111111100dcp-7,
    0x1.6c16c16c162d4p-10, 0x1.a01a01abe7fe1p-13, 0x1.a01a01a6d889cp-16, 0x1.71de0231960ebp-19,
    0x1.27e4db646b17ep-22, 0x1.af4de97ca4194p-26, 0x1.1f730349868cep-29,
};

/* exp(x + tail), the tail below half an ulp of x. */
static inline vec vexp_with_tail(vec x, vec tail) {
    const vec shift = splat(0x1.8p52);
    x = _mm256_max_pd(splat(-750.0), at_most(710.0, x));
    vec shifted = fma_(x, splat(LOG2_E), shift);
    vec k = shifted - shift;
    vec r = fnma(k, splat(LN2), x) + fnma(k, splat(LN2_TAIL), tail);
    vec r2 = r * r, r4 = r2 * r2;
    vec p01 = fma_(splat(EXP[1]), r, splat(EXP[0])), p23 = fma_(splat(EXP[3]), r, splat(EXP[2]));
    vec p45 = fma_(splat(EXP[5]), r, splat(EXP[4])), p67 = fma_(splat(EXP[7]), r, splat(EXP[6]));
    vec p89 = fma_(splat(EXP[9]), r, splat(EXP[8]));
    vec high = fma_(fma_(splat(EXP[10]), r2, p89), r4, fma_(p67, r2, p45));
    vec p = splat(1.0) + fma_(fma_(high, r4, fma_(p23, r2, p01)), r2, r);
    /* 2^k in two factors, as it need not be a normal number */
    __m256i whole = _mm256_castpd_si256(shifted);
    __m256i half = _mm256_srai_epi32(_mm256_slli_epi64(whole, 32), 1); /* k/2 in the upper words */
    half = _mm256_srli_epi64(half, 32);
    __m256i rest = _mm256_sub_epi64(whole, half);
    const __m256i bias = _mm256_set1_epi64x(1023);
    __m256i first = _mm256_slli_epi64(_mm256_add_epi64(half, bias), 52);
    __m256i second = _mm256_slli_epi64(_mm256_add_epi64(rest, bias), 52);
    return p * _mm256_castsi256_pd(first) * _mm256_castsi256_pd(second);
}

static inline vec vexp(vec x) { return vexp_with_tail(x, splat(0.0)); }

/* log(m) by s = (m - 1) / (m + 1), with the coefficients of fdlibm. */
static inline vec vlog(vec x) {
    const vec smallest = splat(0x1p-1022);
    vec denormal = _mm256_cmp_pd(x, smallest, _CMP_LT_OQ);
    vec scaled = _mm256_blendv_pd(x, x * splat(0x1p54), denormal);
    __m256i bits = _mm256_castpd_si256(scaled);
    /* the exponent that leaves m in [sqrt(1/2), sqrt(2)), made a number by the last bits of 2^52 */
    const __m256i to_one = _mm256_set1_epi64x(0x3ff0000000000000 - 0x3fe6a09e667f3bcd);
    __m256i exponent = _mm256_srli_epi64(_mm256_add_epi64(bits, to_one), 52);
    vec e = _mm256_castsi256_pd(_mm256_or_si256(exponent, _mm256_set1_epi64x(0x4330000000000000)));
    e = e - splat(0x1p52 + 1023.0);
    exponent = _mm256_sub_epi64(exponent, _mm256_set1_epi64x(1023));
    vec m = _mm256_castsi256_pd(_mm256_sub_epi64(bits, _mm256_slli_epi64(exponent, 52)));
    e = e - _mm256_and_pd(denormal, splat(54.0));

    vec f = m - splat(1.0);
    vec s = f / (splat(2.0) + f);
    vec z = s * s, w = z * z;
    vec even = fma_(w, fma_(w, splat(1.531383769920937332e-1), splat(2.222219843214978396e-1)),
                    splat(3.999999999940941908e-1)) *
               w;
    vec odd = fma_(w, splat(1.479819860511658591e-1), splat(1.818357216161805012e-1));
    odd = fma_(w, fma_(w, odd, splat(2.857142874366239149e-1)), splat(6.666666666666735130e-1)) * z;
    vec half = splat(0.5) * f * f;
    vec tail = fma_(s, half + (even + odd), e * splat(LN2_SHORT_TAIL));
    vec result = fma_(e, splat(LN2_SHORT), f - (half - tail));

    const vec infinity = splat(__builtin_inf());
    result = _mm256_blendv_pd(result, x, _mm256_cmp_pd(x, infinity, _CMP_EQ_OQ));
    result = _mm256_blendv_pd(result, -infinity, _mm256_cmp_pd(x, splat(0.0), _CMP_EQ_OQ));
    return _mm256_blendv_pd(result, splat(__builtin_nan("")),
                            _mm256_cmp_pd(x, splat(0.0), _CMP_NGE_UQ));
}

#else
#error "the limits are written for AVX2 with FMA and for AVX-512"
#endif

/* N(-a) exp(a^2 / 2) (a + 1) as a polynomial in t = (a - 5.5) / (a + 5.5), a in [0, 38.7]. */
static const double TAIL[] = {
    0x1.d43372dd1ca78p-2,  -0x1.69d624ce86423p-4,  0x1.2870a53b3f2edp-5,   0x1.2253e8f10c2b3p-9,
    -0x1.5ed74b0a0a59cp-6, 0x1.8e36e348eab91p-6,   -0x1.2aae0549675e6p-6,  0x1.4ef00015fc8efp-7,
    -0x1.16af72ef991c0p-8, 0x1.2fbff1863aeaep-10,  -0x1.55b69684cd35ep-14, -0x1.7bd58f5d7c5e2p-14,
    0x1.45f82e52620cap-15, -0x1.0464696b6078fp-21, -0x1.3afa259da0d9bp-18, 0x1.1c8935d42dcd8p-20,
    0x1.e14a5a7ddada9p-22, -0x1.ce7e974b5e41ep-23, -0x1.6e675b7da514ep-25, 0x1.2b9f2a9b7b497p-25,
    0x1.a3c1c0b016674p-28, -0x1.1b203f4b42257p-28, -0x1.3e9c9734840a5p-30,
};

/* The cumulative normal distribution, and its density without the factor 1 / sqrt(2 pi). */
static inline vec normal(vec x, vec *density) {
    /* beyond 38.7 the tail is zero; a NaN stays one */
    vec a = at_most(38.75, magnitude(x));
    vec square = a * a;
    vec lost = fms(a, a, square);
    vec bell = vexp_with_tail(splat(-0.5) * square, splat(-0.5) * lost);

    vec far = a + splat(5.5), near = a + splat(1.0);
    vec near_tail = a - (near - splat(1.0));
    vec w = reciprocal(far * near);
    vec t = fma_(a + a, w * near, splat(-1.0));
    vec t2 = t * t;
    vec even = splat(TAIL[22]), odd = splat(TAIL[21]);
#pragma GCC unroll 16
    for (int i = 20; i > 1; i -= 2) {
        even = fma_(even, t2, splat(TAIL[i]));
        odd = fma_(odd, t2, splat(TAIL[i - 1]));
    }
    vec high = fma_(even, t, odd);
    vec p = fma_(high, t, splat(TAIL[0]));
    vec p_tail = fma_(high, t, splat(TAIL[0]) - p);
    /* p / near: a first quotient, and what is left */
    vec over = w * far;
    vec q = p * over;
    vec left = (fnma(q, near_tail, p_tail) + fnma(q, near, p)) * over;
    vec tail = fma_(bell, q, bell * left);
    *density = bell;
    return where_not_below(x, splat(0.0), splat(1.0) - tail, tail);
}

#endif
