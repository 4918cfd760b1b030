/* Generated from src/retrograde/ops/scalar.py by tools/regenerate.py: do not edit. */

#ifndef RG_OPS_GEN_H
#define RG_OPS_GEN_H

enum {
    RG_OP_add = 0,
    RG_OP_sub = 1,
    RG_OP_mul = 2,
    RG_OP_div = 3,
    RG_OP_neg = 4,
    RG_OP_pow = 5,
    RG_OP_square = 6,
    RG_OP_reciprocal = 7,
    RG_OP_exp = 8,
    RG_OP_expm1 = 9,
    RG_OP_log = 10,
    RG_OP_log1p = 11,
    RG_OP_exp2 = 12,
    RG_OP_log2 = 13,
    RG_OP_log10 = 14,
    RG_OP_sqrt = 15,
    RG_OP_rsqrt = 16,
    RG_OP_cbrt = 17,
    RG_OP_xlogy = 18,
    RG_OP_logit = 19,
    RG_OP_sech2 = 20,
    RG_OP_tanh = 21,
    RG_OP_sigmoid = 22,
    RG_OP_relu = 23,
    RG_OP_leaky_relu = 24,
    RG_OP_softplus = 25,
    RG_OP_silu = 26,
    RG_OP_logsigmoid = 27,
    RG_OP_logaddexp = 28,
    RG_OP_elu = 29,
    RG_OP_celu = 30,
    RG_OP_selu = 31,
    RG_OP_mish = 32,
    RG_OP_softsign = 33,
    RG_OP_relu6 = 34,
    RG_OP_hardtanh = 35,
    RG_OP_hardswish = 36,
    RG_OP_sin = 37,
    RG_OP_cos = 38,
    RG_OP_tan = 39,
    RG_OP_asin = 40,
    RG_OP_acos = 41,
    RG_OP_atan = 42,
    RG_OP_atan2 = 43,
    RG_OP_sinh = 44,
    RG_OP_cosh = 45,
    RG_OP_asinh = 46,
    RG_OP_acosh = 47,
    RG_OP_atanh = 48,
    RG_OP_hypot = 49,
    RG_OP_sinc = 50,
    RG_OP_sign = 51,
    RG_OP_abs = 52,
    RG_OP_floor = 53,
    RG_OP_ceil = 54,
    RG_OP_trunc = 55,
    RG_OP_round = 56,
    RG_OP_fmod = 57,
    RG_OP_remainder = 58,
    RG_OP_maximum = 59,
    RG_OP_minimum = 60,
    RG_OP_clip = 61,
    RG_OP_where = 62,
    RG_OP_less = 63,
    RG_OP_less_equal = 64,
    RG_OP_equal = 65,
    RG_OP_gauss = 66,
    RG_OP_norm_pdf = 67,
    RG_OP_erf = 68,
    RG_OP_erfc = 69,
    RG_OP_norm_cdf = 70,
    RG_OP_gelu = 71,
    RG_OP_erfcx = 72,
    RG_OP_log_ndtr = 73,
    RG_OP_erfinv = 74,
    RG_OP_ndtri = 75,
    RG_OP_trigamma = 76,
    RG_OP_digamma = 77,
    RG_OP_lgamma = 78,
    RG_OP_betaln = 79,
    RG_OP_COUNT = 80
};

#define RG_UNARY_OPS(X) \
    X(neg) \
    X(square) \
    X(reciprocal) \
    X(exp) \
    X(expm1) \
    X(log) \
    X(log1p) \
    X(exp2) \
    X(log2) \
    X(log10) \
    X(sqrt) \
    X(rsqrt) \
    X(cbrt) \
    X(logit) \
    X(sech2) \
    X(tanh) \
    X(sigmoid) \
    X(relu) \
    X(softplus) \
    X(silu) \
    X(logsigmoid) \
    X(selu) \
    X(mish) \
    X(softsign) \
    X(relu6) \
    X(hardswish) \
    X(sin) \
    X(cos) \
    X(tan) \
    X(asin) \
    X(acos) \
    X(atan) \
    X(sinh) \
    X(cosh) \
    X(asinh) \
    X(acosh) \
    X(atanh) \
    X(sinc) \
    X(sign) \
    X(abs) \
    X(floor) \
    X(ceil) \
    X(trunc) \
    X(round) \
    X(gauss) \
    X(norm_pdf) \
    X(erf) \
    X(erfc) \
    X(norm_cdf) \
    X(gelu) \
    X(erfcx) \
    X(log_ndtr) \
    X(erfinv) \
    X(ndtri) \
    X(trigamma) \
    X(digamma) \
    X(lgamma)

#define RG_BINARY_OPS(X) \
    X(add) \
    X(sub) \
    X(mul) \
    X(div) \
    X(pow) \
    X(xlogy) \
    X(leaky_relu) \
    X(logaddexp) \
    X(elu) \
    X(celu) \
    X(atan2) \
    X(hypot) \
    X(fmod) \
    X(remainder) \
    X(maximum) \
    X(minimum) \
    X(less) \
    X(less_equal) \
    X(equal) \
    X(betaln)

#define RG_TERNARY_OPS(X) \
    X(hardtanh) \
    X(clip) \
    X(where)

/* Structural rows: those that values are made by, and those of recordings alone. */

#define RG_EAGER_ROWS(X) X(SUM, "sum") X(DOT, "dot")

#define RG_RECORDED_ROWS(X) X(TAKE, "take")

/* The rules on doubles; the vector kernels have rules of their own. */
#ifndef RG_LISTS_ONLY

#include "tuned.h"

#define RG_RULE static inline RG_UNUSED

/* A partial that is not stated: backward passes look for such nodes once one has been made. */
extern int rg_absent_met;
RG_RULE double rg_absent(void) {
    rg_absent_met = 1;
    return NAN;
}

RG_RULE double rgs_stirling_rest(double x) {
    double s1 = ((1.0 / x) / x);
    return ((0.08333333333332846 + (s1 * (-0.002777777775518135 + (s1 * (0.0007936504289200681 + (s1 * (-0.0005952086221883123 + (s1 * (0.0008403563803617168 + (s1 * (-0.001875393513527176 + (s1 * (0.005549213550518392 + (s1 * (-0.017024921983356506 + (s1 * (0.040346591282143685 + (s1 * -0.04928960129055561)))))))))))))))))) / x);
}

RG_RULE double rgs_log_gamma(double x) {
    double s1 = fabs(x);
    double s2 = ((x >= 2.0) ? (x - 2.0) : ((x >= 1.0) ? (x - 1.0) : ((x >= 0.0) ? x : ((x > -1.0) ? (x + 1.0) : ((x > -2.0) ? (x + 2.0) : (x + 3.0))))));
    double s3 = (((x < 0.0) && (x > -1.0)) ? x : (s2 - 1.0));
    double s4 = ((s2 * s3) * (0.4831289505409809 + ((s2 - 0.5) * (-0.14595989591430608 + ((s2 - 0.5) * (0.06291140107456945 + ((s2 - 0.5) * (-0.03130848750100996 + ((s2 - 0.5) * (0.016797098630837354 + ((s2 - 0.5) * (-0.009425622448624275 + ((s2 - 0.5) * (0.005446457856416762 + ((s2 - 0.5) * (-0.003212074068929319 + ((s2 - 0.5) * (0.0019229159364923141 + ((s2 - 0.5) * (-0.0011644147016826286 + ((s2 - 0.5) * (0.0007115239910037748 + ((s2 - 0.5) * (-0.0004379914234919181 + ((s2 - 0.5) * (0.00027127335730736993 + ((s2 - 0.5) * (-0.00016893212907292385 + ((s2 - 0.5) * (0.0001055642726690397 + ((s2 - 0.5) * (-6.606407454823539e-05 + ((s2 - 0.5) * (4.236348642975285e-05 + ((s2 - 0.5) * (-2.7455523487610547e-05 + ((s2 - 0.5) * (1.436660890419623e-05 + ((s2 - 0.5) * (-7.891074746941363e-06 + ((s2 - 0.5) * (1.1240614588729303e-05 + ((s2 - 0.5) * -8.122659178311168e-06)))))))))))))))))))))))))))))))))))))))))));
    double s5 = (((x < 0.0) && (x > -3.0)) ? x : -0.5);
    double s6 = (s5 + 1.0);
    double s7 = (s5 * s6);
    double s8 = (s5 * 134217729.0);
    double s9 = (s8 - (s8 - s5));
    double s10 = (s5 - s9);
    double s11 = (s6 * 134217729.0);
    double s12 = (s11 - (s11 - s6));
    double s13 = (s6 - s12);
    double s14 = (((((s9 * s12) - s7) + (s9 * s13)) + (s10 * s12)) + (s10 * s13));
    double s15 = ((s5 < -1.0) ? (s5 + 2.0) : 1.0);
    double s16 = (s7 * s15);
    double s17 = (s7 * 134217729.0);
    double s18 = (s17 - (s17 - s7));
    double s19 = (s7 - s18);
    double s20 = (s15 * 134217729.0);
    double s21 = (s20 - (s20 - s15));
    double s22 = (s15 - s21);
    double s23 = (((((s18 * s21) - s16) + (s18 * s22)) + (s19 * s21)) + (s19 * s22));
    double s24 = (s23 + (s14 * s15));
    double s25 = ((s5 < -2.0) ? (s5 + 3.0) : 1.0);
    double s26 = (s16 * s25);
    double s27 = (s16 * 134217729.0);
    double s28 = (s27 - (s27 - s16));
    double s29 = (s16 - s28);
    double s30 = (s25 * 134217729.0);
    double s31 = (s30 - (s30 - s25));
    double s32 = (s25 - s31);
    double s33 = (((((s28 * s31) - s26) + (s28 * s32)) + (s29 * s31)) + (s29 * s32));
    double s34 = ((s33 + (s24 * s25)) / ((s26 == 0.0) ? 1.0 : s26));
    double s35 = ((s1 < 3.0) ? 3.0 : s1);
    double s36 = (((s35 - 0.5) * (log(s35) - 1.0)) + (0.41893853320467267 + rgs_stirling_rest(s35)));
    double s37 = (s35 - floor(s35));
    double s38 = sin((3.141592653589793 * ((s37 > 0.5) ? (1.0 - s37) : s37)));
    double s39 = ((x >= 3.0) ? 1.0 : ((x >= 2.0) ? (x - 1.0) : ((x >= 1.0) ? 1.0 : ((x >= 0.0) ? x : ((x > -3.0) ? fabs(s26) : (s35 * (s38 / 3.141592653589793)))))));
    double s40 = log(s39);
    double s41 = ((x >= 3.0) ? s36 : ((x > -3.0) ? s4 : (-s36)));
    return ((x < -1.7976931348623157e+308) ? s1 : ((x >= 2.0) ? (s41 + s40) : (((x < 0.0) && (x > -3.0)) ? ((s41 - s40) - s34) : (s41 - s40))));
}

RG_RULE double rgs_psi(double x) {
    double s1 = ((x < 0.0) ? (1.0 - x) : x);
    double s2 = ((s1 < 3.0) ? (s1 + 3.0) : s1);
    double s3 = ((1.0 / s2) / s2);
    double s4 = (log(s2) - ((0.5 / s2) + (s3 * (0.08333333333333333 + (s3 * (-0.008333333333326249 + (s3 * (0.0039682539650225555 + (s3 * (-0.004166665973607018 + (s3 * (0.0075756724560946615 + (s3 * (-0.021086112703501383 + (s3 * (0.08297320781752321 + (s3 * (-0.42924285590009237 + (s3 * (2.642664545171597 + (s3 * (-16.95485413884146 + (s3 * (99.01502284249092 + (s3 * (-468.4619946159348 + (s3 * (1610.7033569988114 + (s3 * (-3495.9518061097615 + (s3 * 3553.211879486964)))))))))))))))))))))))))))))));
    double s5 = ((s1 < 3.0) ? ((1.0 / s1) + ((1.0 / (s1 + 1.0)) + (1.0 / (s1 + 2.0)))) : 0.0);
    double s6 = floor(x);
    double s7 = (x - s6);
    double s8 = ((s7 > 0.5) ? (s6 + 1.0) : s6);
    double s9 = (x - s8);
    double s11 = (3.141592653589793 / tan((3.141592653589793 * s9)));
    return (((x < 0.0) ? ((s4 - s5) - s11) : (s4 - s5)) + sqrt((((x < 0.0) && (s9 == 0.0)) ? -1.0 : 0.0)));
}

RG_RULE double rgs_psi1(double x) {
    double s1 = ((x < 0.0) ? (1.0 - x) : x);
    double s2 = ((s1 < 3.0) ? (s1 + 3.0) : s1);
    double s3 = ((1.0 / s2) / s2);
    double s4 = ((1.0 / s2) + ((s3 * 0.5) + ((s3 / s2) * (0.1666666666666252 + (s3 * (-0.033333333306163074 + (s3 * (0.02380951756819962 + (s3 * (-0.0333326071470089 + (s3 * (0.07570725765292617 + (s3 * (-0.2508362260021231 + (s3 * (1.0950391341617933 + (s3 * (-5.4453072434249945 + (s3 * (25.738157938878427 + (s3 * (-96.73059516862504 + (s3 * (239.60250064676632 + (s3 * -282.86801373165054)))))))))))))))))))))))));
    double s5 = (1.0 / (s1 + 1.0));
    double s6 = (1.0 / (s1 + 2.0));
    double s7 = ((s1 < 3.0) ? (((1.0 / s1) / s1) + ((s5 * s5) + (s6 * s6))) : 0.0);
    double s8 = floor(x);
    double s9 = (x - s8);
    double s10 = ((s9 > 0.5) ? (s8 + 1.0) : s8);
    double s11 = (x - s10);
    double s13 = (sin((3.141592653589793 * s11)) / 3.141592653589793);
    return ((x < 0.0) ? (((1.0 / s13) / s13) - (s4 + s7)) : (s4 + s7));
}

RG_RULE double rgs_log_beta(double x, double y) {
    double s1 = ((x < y) ? x : y);
    double s2 = ((x < y) ? y : x);
    double s3 = rgs_log_gamma(s1);
    double s4 = ((s3 + rgs_log_gamma(s2)) - rgs_log_gamma((s1 + s2)));
    double s5 = ((s2 >= 3.0) ? s2 : 3.0);
    double s6 = log1p((s1 / s5));
    double s7 = (rgs_stirling_rest(s5) - rgs_stirling_rest((s5 + s1)));
    double s8 = (s3 + (((s1 - (s1 * log((s5 + s1)))) - ((s5 - 0.5) * s6)) + s7));
    double s9 = ((s1 >= 3.0) ? s1 : 3.0);
    double s10 = ((((0.9189385332046727 - (0.5 * log(s5))) + (s7 + rgs_stirling_rest(s9))) - ((s9 - 0.5) * log1p((s5 / s9)))) - (s5 * s6));
    return (((s1 >= 3.0) ? s10 : ((s2 >= 3.0) ? s8 : s4)) + sqrt(((s1 < 0.0) ? -1.0 : 0.0)));
}

RG_RULE double rgs_psi_drop(double x, double y) {
    double s1 = (((x < 0.0) || (y < 0.0)) ? 1.0 : x);
    double s2 = (((x < 0.0) || (y < 0.0)) ? 1.0 : y);
    double s3 = ((s1 < 3.0) ? (s1 + 3.0) : s1);
    double s4 = (s3 + s2);
    double s5 = ((1.0 / s3) / s3);
    double s6 = ((1.0 / s4) / s4);
    double s7 = ((0.0 * s5) + 0.0);
    double s8 = ((0.0 * s6) + 3553.211879486964);
    double s9 = ((s7 * s5) + s8);
    double s10 = ((s8 * s6) + -3495.9518061097615);
    double s11 = ((s9 * s5) + s10);
    double s12 = ((s10 * s6) + 1610.7033569988114);
    double s13 = ((s11 * s5) + s12);
    double s14 = ((s12 * s6) + -468.4619946159348);
    double s15 = ((s13 * s5) + s14);
    double s16 = ((s14 * s6) + 99.01502284249092);
    double s17 = ((s15 * s5) + s16);
    double s18 = ((s16 * s6) + -16.95485413884146);
    double s19 = ((s17 * s5) + s18);
    double s20 = ((s18 * s6) + 2.642664545171597);
    double s21 = ((s19 * s5) + s20);
    double s22 = ((s20 * s6) + -0.42924285590009237);
    double s23 = ((s21 * s5) + s22);
    double s24 = ((s22 * s6) + 0.08297320781752321);
    double s25 = ((s23 * s5) + s24);
    double s26 = ((s24 * s6) + -0.021086112703501383);
    double s27 = ((s25 * s5) + s26);
    double s28 = ((s26 * s6) + 0.0075756724560946615);
    double s29 = ((s27 * s5) + s28);
    double s30 = ((s28 * s6) + -0.004166665973607018);
    double s31 = ((s29 * s5) + s30);
    double s32 = ((s30 * s6) + 0.0039682539650225555);
    double s33 = ((s31 * s5) + s32);
    double s34 = ((s32 * s6) + -0.008333333333326249);
    double s35 = ((s33 * s5) + s34);
    double s36 = ((s34 * s6) + 0.08333333333333333);
    double s37 = ((s35 * s5) + s36);
    double s39 = (((s2 / s3) / s4) * ((1.0 / s3) + (1.0 / s4)));
    double s40 = (log1p((s2 / s3)) + ((0.5 * ((s2 / s3) / s4)) + (s39 * s37)));
    double s41 = (((s2 / (s1 + s2)) / s1) + (((s2 / ((s1 + 1.0) + s2)) / (s1 + 1.0)) + ((s2 / ((s1 + 2.0) + s2)) / (s1 + 2.0))));
    return (sqrt((((x < 0.0) || (y < 0.0)) ? -1.0 : 0.0)) - ((s1 < 3.0) ? (s40 + s41) : s40));
}

RG_RULE double rgs_scaled_erfc(double x) {
    double s1 = ((x < 0.0) ? (-x) : x);
    double s2 = (1.0 / (s1 + 4.0));
    double s3 = ((s1 < 4.0) ? s1 : 4.0);
    double s4 = ((s3 / (s3 + 4.0)) - 0.25);
    double s5 = (1.8727183681541615 + (s4 * (-4.785577828049049 + (s4 * (9.559392582162058 + (s4 * (-15.174009935544312 + (s4 * (19.097579916026433 + (s4 * (-18.61824747050013 + (s4 * (13.191791193506635 + (s4 * (-5.550651042490978 + (s4 * (-0.16105181312013625 + (s4 * (1.8218229857811234 + (s4 * (-0.7466777143185572 + (s4 * (-0.3813201302208983 + (s4 * (0.37554772184502394 + (s4 * (0.07626392723571739 + (s4 * (-0.1578086090138944 + (s4 * (-0.023959768690646182 + (s4 * (0.058508723886322375 + (s4 * 0.017181883749847963))))))))))))))))))))))))))))))))));
    double s6 = (s2 - 0.0625);
    double s7 = ((s1 < 4.0) ? s5 : (0.7496675362383002 + (s6 * (3.889045195290259 + (s6 * (19.041738270342357 + (s6 * (87.50075386923187 + (s6 * (374.5972583623846 + (s6 * (1479.182979878352 + (s6 * (5310.494244239181 + (s6 * (16949.26195267777 + (s6 * (46217.2829600494 + (s6 * (98639.35116778898 + (s6 * (120170.62379773009 + (s6 * (-160078.86706069257 + (s6 * (-1363473.6846086585 + (s6 * (-3468981.065388892 + (s6 * (-612184.0302384703 + (s6 * (26734976.99225054 + (s6 * (69891252.08395235 + (s6 * -41173936.025103316)))))))))))))))))))))))))))))))))));
    double s8 = ((x < 0.0) ? x : 0.0);
    return ((x < 0.0) ? ((2.0 * exp((s8 * s8))) - (s7 * s2)) : (s7 * s2));
}

RG_RULE double rgs_scaled_erfc_slope(double x) {
    double s1 = ((x < 0.0) ? (-x) : x);
    double s2 = (1.0 / (s1 + 4.0));
    double s3 = ((s1 < 4.0) ? s1 : 4.0);
    double s4 = ((s3 / (s3 + 4.0)) - 0.25);
    double s5 = (5.461901739190949 + (s4 * (-23.91024452934107 + (s4 * (62.81970010145991 + (s4 * (-117.98877949031228 + (s4 * (165.30632759485968 + (s4 * (-171.07254518455392 + (s4 * (121.48345627812188 + (s4 * (-43.438898189870905 + (s4 * (-13.746768020800767 + (s4 * (23.81834406886201 + (s4 * (-5.067695999126156 + (s4 * (-7.956543437579035 + (s4 * (4.141416420136121 + (s4 * (2.7354862132254016 + (s4 * (-2.131775799106215 + (s4 * (-1.164422982254858 + (s4 * (0.9727088177920948 + (s4 * (0.5401837952171403 + (s4 * -0.3667030084444053))))))))))))))))))))))))))))))))))));
    double s6 = (s2 - 0.0625);
    double s7 = ((s1 < 4.0) ? s5 : (0.9927328609439414 + (s6 * (10.158307674373274 + (s6 * (73.53160616150656 + (s6 * (443.6523300678422 + (s6 * (2335.2309730332477 + (s6 * (10866.53321995375 + (s6 * (44588.76179024456 + (s6 * (158702.73834357405 + (s6 * (471440.21225752885 + (s6 * (1061499.2126832763 + (s6 * (1211800.4046714173 + (s6 * (-2943139.4397978405 + (s6 * (-20534199.06702509 + (s6 * (-49206080.19381703 + (s6 * (13513206.805896048 + (s6 * (511904752.8916952 + (s6 * (1462302291.379036 + (s6 * (-1546082438.854987 + (s6 * -17764016609.631763)))))))))))))))))))))))))))))))))))));
    double s8 = ((x < 0.0) ? x : 0.0);
    return ((4.0 * (s8 * exp((s8 * s8)))) - ((s7 * s2) * s2));
}

RG_RULE double rgs_inverse_erf_ratio(double w) {
    double s1 = sqrt(w);
    double s2 = (w - 3.125);
    double s3 = (1.6536545626831027 + (s2 * (0.24015818242558834 + (s2 * (-0.006033670871427191 + (s2 * (-0.0007407025341546016 + (s2 * (0.0001867342080211316 + (s2 * (-1.388252339409359e-05 + (s2 * (-1.3654691781283023e-06 + (s2 * (4.2347881700814134e-07 + (s2 * (-2.9070389199799928e-08 + (s2 * (-4.112660572710345e-09 + (s2 * (1.0512222201557254e-09 + (s2 * (-5.414297365431998e-11 + (s2 * (-1.2978391141409978e-11 + (s2 * (2.6305104277733045e-12 + (s2 * (-8.081770524714984e-14 + (s2 * (-4.0017073210539774e-14 + (s2 * (6.537026775434705e-15 + (s2 * (-3.974784762543838e-17 + (s2 * (-1.238149762974575e-16 + (s2 * (1.5536101867210847e-17 + (s2 * (7.189724658091624e-19 + (s2 * (-3.48400869656548e-19 + (s2 * (1.56805695962258e-20 + (s2 * (3.213016550553282e-21 + (s2 * -2.862308604233905e-22))))))))))))))))))))))))))))))))))))))))))))))));
    double s4 = ((s1 - 3.25) / (s1 + 3.25));
    double s5 = (3.0838856104922208 + (s4 * (6.534183290012074 + (s4 * (6.761104429899401 + (s4 * (5.957849933219287 + (s4 * (8.571799660432571 + (s4 * (-0.5385692969257183 + (s4 * (15.79234168842993 + (s4 * (44.885655328254096 + (s4 * (-175.40593926523422 + (s4 * (37.13522987471468 + (s4 * (1430.9868884735947 + (s4 * (-2013.0941408311119 + (s4 * (-8045.435515480994 + (s4 * (19248.944141082095 + (s4 * (37811.10347160475 + (s4 * (-118689.54167228148 + (s4 * (-163246.2938819879 + (s4 * (510548.36611900793 + (s4 * (638059.110355221 + (s4 * (-1249269.2083950238 + (s4 * -1288345.5548329114))))))))))))))))))))))))))))))))))))))));
    double s6 = ((s1 - 6.25) / (s1 + 6.25));
    double s7 = (6.11228428058907 + (s6 * (12.617023798358808 + (s6 * (12.53925537222941 + (s6 * (12.413878942338947 + (s6 * (12.62699867032663 + (s6 * (12.361607001079152 + (s6 * (12.641083155450684 + (s6 * (12.373303857857923 + (s6 * (12.606339917364787 + (s6 * (12.420585327834461 + (s6 * (12.565698052259563 + (s6 * (12.392045126573734 + (s6 * (13.833415778722289 + (s6 * (-2.2878465545964692 + (s6 * (73.09744631206799 + (s6 * (-107.23985341437292 + (s6 * (1591.0131042217822 + (s6 * (-10688.641427399176 + (s6 * (6982.529989658748 + (s6 * (100390.91121626645 + (s6 * (-118653.67229170044 + (s6 * -301734.4333484232))))))))))))))))))))))))))))))))))))))))));
    double s8 = ((s1 - 16.0) / (s1 + 16.0));
    double s9 = (15.917016980290148 + (s8 * (32.1037208660678 + (s8 * (31.95829600897591 + (s8 * (32.02127401858273 + (s8 * (31.999197817501564 + (s8 * (31.988734881754205 + (s8 * (32.02315909887678 + (s8 * (31.968788018018248 + (s8 * (32.0389168055567 + (s8 * (31.95579051242142 + (s8 * (32.04883096772688 + (s8 * (31.947956621404558 + (s8 * (32.06115017991446 + (s8 * (31.943908206842437 + (s8 * (31.912708661957062 + (s8 * (31.945160761992952 + (s8 * (34.09424416349652 + (s8 * (32.05276762101042 + (s8 * (13.87522224424541 + (s8 * (30.09032181790917 + (s8 * (123.6971487451221 + (s8 * (45.332800914798774 + (s8 * -162.8388954821027))))))))))))))))))))))))))))))))))))))))))));
    return ((w < 6.25) ? s3 : ((s1 < 4.25) ? s5 : ((s1 < 9.0) ? s7 : s9)));
}

RG_RULE double rgs_inverse_erf(double x) {
    double s1 = (-log(((1.0 - x) * (1.0 + x))));
    double s2 = (x * rgs_inverse_erf_ratio(s1));
    return (((x <= -1.0) || (x >= 1.0)) ? (x / sqrt(((1.0 - x) * (1.0 + x)))) : s2);
}

RG_RULE double rgs_normal_quantile(double x) {
    double s1 = (((4.0 * x) * (1.0 - x)) + 0.0);
    double s2 = (-log(s1));
    double s3 = ((2.0 * x) - 1.0);
    double s4 = ((1.4142135623730951 * s3) * rgs_inverse_erf_ratio(s2));
    return (((x <= 0.0) || (x >= 1.0)) ? (s3 / sqrt(s1)) : s4);
}

RG_RULE double rgs_sine_cardinal(double x) {
    double s1 = floor(x);
    double s2 = (x - s1);
    double s3 = ((s2 > 0.5) ? (s1 + 1.0) : s1);
    double s4 = (x - s3);
    double s5 = (1.0 - (2.0 * (s3 - (2.0 * floor((0.5 * s3))))));
    return ((x == 0.0) ? 1.0 : ((s5 * sin((3.141592653589793 * s4))) / (3.141592653589793 * x)));
}

RG_RULE double rgs_sine_cardinal_slope(double x) {
    double s1 = (((x > -0.5) && (x < 0.5)) ? x : 0.0);
    double s2 = (((x > -0.5) && (x < 0.5)) ? 1.0 : x);
    double s3 = floor(s2);
    double s4 = (s2 - s3);
    double s5 = ((s4 > 0.5) ? (s3 + 1.0) : s3);
    double s6 = (s2 - s5);
    double s7 = (1.0 - (2.0 * (s5 - (2.0 * floor((0.5 * s5))))));
    double s8 = ((s7 * (cos((3.141592653589793 * s6)) - (sin((3.141592653589793 * s6)) / (3.141592653589793 * s2)))) / s2);
    return (((x > -0.5) && (x < 0.5)) ? (s1 * (-3.289868133696453 + ((s1 * s1) * (3.2469697011333998 + ((s1 * s1) * (-1.144510944731456 + ((s1 * s1) * (0.209182782507498 + ((s1 * s1) * (-0.023460809767408428 + ((s1 * s1) * (0.0017811395176284051 + ((s1 * s1) * (-9.762520104261489e-05 + ((s1 * s1) * (3.914128191786299e-06 + ((s1 * s1) * (1.4091685677416858e-07 + ((s1 * s1) * -2.2661101758424778e-07))))))))))))))))))) : s8);
}

RG_RULE double rgs_cube_root(double x) {
    double s1 = ((x < 0.0) ? (-x) : x);
    double s2 = ((s1 < 1e-280) ? (s1 * 5.846006549323612e+48) : ((s1 > 1e+280) ? (s1 * 1.7105694144590052e-49) : s1));
    double s3 = (((s1 > 0.0) && (s1 <= 1.7976931348623157e+308)) ? s2 : 1.0);
    double s4 = exp((log(s3) / 3.0));
    double s5 = (s4 * s4);
    double s6 = (s4 * 134217729.0);
    double s7 = (s6 - (s6 - s4));
    double s8 = (s4 - s7);
    double s9 = (s4 * 134217729.0);
    double s10 = (s9 - (s9 - s4));
    double s11 = (s4 - s10);
    double s12 = (((((s7 * s10) - s5) + (s7 * s11)) + (s8 * s10)) + (s8 * s11));
    double s13 = (s5 * s4);
    double s14 = (s5 * 134217729.0);
    double s15 = (s14 - (s14 - s5));
    double s16 = (s5 - s15);
    double s17 = (s4 * 134217729.0);
    double s18 = (s17 - (s17 - s4));
    double s19 = (s4 - s18);
    double s20 = (((((s15 * s18) - s13) + (s15 * s19)) + (s16 * s18)) + (s16 * s19));
    double s21 = (s4 + (((s3 - s13) - (s20 + (s12 * s4))) / (3.0 * s5)));
    double s22 = ((s1 < 1e-280) ? (s21 * 5.551115123125783e-17) : ((s1 > 1e+280) ? (s21 * 1.8014398509481984e+16) : s21));
    return (((s1 > 0.0) && (s1 <= 1.7976931348623157e+308)) ? ((x < 0.0) ? (-s22) : s22) : x);
}

RG_RULE double rgs_growth_gap(double x) {
    double s1 = (((x > -1.0) && (x < 1.0)) ? x : 0.0);
    double s2 = (((x > -1.0) && (x < 1.0)) ? 1.0 : ((x < -800.0) ? -800.0 : x));
    return (((x > -1.0) && (x < 1.0)) ? (-((s1 * s1) * (0.5 + (s1 * (0.3333333333333333 + (s1 * (0.125 + (s1 * (0.0333333333333338 + (s1 * (0.0069444444444444475 + (s1 * (0.0011904761904722111 + (s1 * (0.00017361111111106515 + (s1 * (2.2045855395432458e-05 + (s1 * (2.480158730412935e-06 + (s1 * (2.505210482565283e-07 + (s1 * (2.2964431998892602e-08 + (s1 * (1.927128334908737e-09 + (s1 * (1.4912067386735584e-10 + (s1 * (1.0678764164804531e-11 + (s1 * (7.162067501946182e-13 + (s1 * (5.221003063740779e-14 + (s1 * 2.873351933568687e-15)))))))))))))))))))))))))))))))))) : ((exp(s2) * (1.0 - s2)) - 1.0));
}

RG_RULE double rgs_gated_by_softplus(double x) {
    double s1 = exp(((x < 0.0) ? ((x < -600.0) ? (x + 300.0) : x) : (-x)));
    double s2 = ((x < -600.0) ? 0.0 : s1);
    double s3 = (s2 * s2);
    double s4 = ((x < 0.0) ? (s3 + ((2.0 * s2) + 2.0)) : (1.0 + ((2.0 * s2) + (2.0 * s3))));
    double s5 = (((x < 0.0) ? (s2 + 2.0) : (1.0 + (2.0 * s2))) / s4);
    double s7 = ((x < 0.0) ? s1 : 1.0);
    double s8 = ((x < -600.0) ? 5.148200222412013e-131 : 1.0);
    return (((x * s5) * s7) * s8);
}

RG_RULE double rgs_gated_by_softplus_slope(double x) {
    double s1 = exp(((x < 0.0) ? ((x < -600.0) ? (x + 300.0) : x) : (-x)));
    double s2 = ((x < -600.0) ? 0.0 : s1);
    double s3 = (s2 * s2);
    double s4 = ((x < 0.0) ? (s3 + ((2.0 * s2) + 2.0)) : (1.0 + ((2.0 * s2) + (2.0 * s3))));
    double s5 = (((x < 0.0) ? (s2 + 2.0) : (1.0 + (2.0 * s2))) / s4);
    double s6 = (((((x < 0.0) ? 4.0 : (4.0 * s3)) * (1.0 + s2)) / s4) / s4);
    double s7 = ((x < 0.0) ? s1 : 1.0);
    double s8 = ((x < -600.0) ? 5.148200222412013e-131 : 1.0);
    return (((s5 + (x * s6)) * s7) * s8);
}

RG_RULE double rg_add(double x, double y) { return (x + y); }
RG_RULE double rg_add_d0(double x, double y, double z) { return 1.0; }
RG_RULE double rg_add_d1(double x, double y, double z) { return 1.0; }

RG_RULE double rg_sub(double x, double y) { return (x - y); }
RG_RULE double rg_sub_d0(double x, double y, double z) { return 1.0; }
RG_RULE double rg_sub_d1(double x, double y, double z) { return -1.0; }

RG_RULE double rg_mul(double x, double y) { return (x * y); }
RG_RULE double rg_mul_d0(double x, double y, double z) { return y; }
RG_RULE double rg_mul_d1(double x, double y, double z) { return x; }

RG_RULE double rg_div(double x, double y) { return (x / y); }
RG_RULE double rg_div_d0(double x, double y, double z) { return (1.0 / y); }
RG_RULE double rg_div_d1(double x, double y, double z) { return (-(z / y)); }

RG_RULE double rg_neg(double x) { return (-x); }
RG_RULE double rg_neg_d0(double x, double z) { return -1.0; }

RG_RULE double rg_pow(double x, double y) { return pow(x, y); }
RG_RULE double rg_pow_d0(double x, double y, double z) { return (((x == 0.0) && (y == 0.0)) ? 0.0 : (((fabs(z) >= 2.2250738585072014e-308) && (fabs(z) <= 1.7976931348623157e+308)) ? (((fabs(z) < 1.0) || (fabs(y) < 1.0)) ? ((y * z) / ((x == 0.0) ? 1.0 : x)) : (y * (z / ((x == 0.0) ? 1.0 : x)))) : ((fabs(z) < 2.2250738585072014e-308) ? (((((x < 0.0) && ((2.0 * floor((0.5 * y))) == y)) ? (-y) : y) * pow(((fabs(z) < 2.2250738585072014e-308) ? fabs(x) : x), ((fabs(z) < 2.2250738585072014e-308) ? (0.5 * (y - 1.0)) : (y - 1.0)))) * pow(((fabs(z) < 2.2250738585072014e-308) ? fabs(x) : x), ((fabs(z) < 2.2250738585072014e-308) ? (0.5 * (y - 1.0)) : (y - 1.0)))) : (y * pow(((fabs(z) < 2.2250738585072014e-308) ? fabs(x) : x), ((fabs(z) < 2.2250738585072014e-308) ? (0.5 * (y - 1.0)) : (y - 1.0))))))); }
RG_RULE double rg_pow_d1(double x, double y, double z) { return (((x == 0.0) && (y > 0.0)) ? 0.0 : (((fabs(z) >= 2.2250738585072014e-308) && (fabs(z) <= 1.7976931348623157e+308)) ? (z * log(x)) : ((pow(x, (0.5 * y)) * log(x)) * pow(x, (0.5 * y))))); }

RG_RULE double rg_square(double x) { return (x * x); }
RG_RULE double rg_square_d0(double x, double z) { return (2.0 * x); }

RG_RULE double rg_reciprocal(double x) { return (1.0 / x); }
RG_RULE double rg_reciprocal_d0(double x, double z) { return (-(z * z)); }

RG_RULE double rg_exp(double x) { return exp(x); }
RG_RULE double rg_exp_d0(double x, double z) { return z; }

RG_RULE double rg_expm1(double x) { return expm1(x); }
RG_RULE double rg_expm1_d0(double x, double z) { return exp(x); }

RG_RULE double rg_log(double x) { return log(x); }
RG_RULE double rg_log_d0(double x, double z) { return (1.0 / x); }

RG_RULE double rg_log1p(double x) { return log1p(x); }
RG_RULE double rg_log1p_d0(double x, double z) { return (1.0 / (1.0 + x)); }

RG_RULE double rg_exp2(double x) { return pow(2.0, x); }
RG_RULE double rg_exp2_d0(double x, double z) { return (0.6931471805599453 * z); }

RG_RULE double rg_log2(double x) { return log2(x); }
RG_RULE double rg_log2_d0(double x, double z) { return (1.4426950408889634 / x); }

RG_RULE double rg_log10(double x) { return log10(x); }
RG_RULE double rg_log10_d0(double x, double z) { return (0.43429448190325176 / x); }

RG_RULE double rg_sqrt(double x) { return sqrt(x); }
RG_RULE double rg_sqrt_d0(double x, double z) { return (0.5 / z); }

RG_RULE double rg_rsqrt(double x) { return (1.0 / sqrt(x)); }
RG_RULE double rg_rsqrt_d0(double x, double z) { return (-(0.5 * (z / x))); }

RG_RULE double rg_cbrt(double x) { return rgs_cube_root(x); }
RG_RULE double rg_cbrt_d0(double x, double z) { return (1.0 / (3.0 * (z * z))); }

RG_RULE double rg_xlogy(double x, double y) { return (((x == 0.0) && (y == y)) ? 0.0 : (x * log(y))); }
RG_RULE double rg_xlogy_d0(double x, double y, double z) { return (((x == 0.0) && (y <= 0.0)) ? 0.0 : log(y)); }
RG_RULE double rg_xlogy_d1(double x, double y, double z) { return (((x == 0.0) && (y == 0.0)) ? 0.0 : (x / y)); }

RG_RULE double rg_logit(double x) { return log((x / (1.0 - x))); }
RG_RULE double rg_logit_d0(double x, double z) { return ((1.0 / x) / (1.0 - x)); }

RG_RULE double rg_sech2(double x) { return rg_tuned_sech2(x); }
RG_RULE double rg_sech2_d0(double x, double z) { return (-((2.0 * tanh(x)) * z)); }

RG_RULE double rg_tanh(double x) { return tanh(x); }
RG_RULE double rg_tanh_d0(double x, double z) { return rg_sech2(x); }

RG_RULE double rg_sigmoid(double x) { return ((x >= 0.0) ? (1.0 / (1.0 + exp((-x)))) : (exp(x) / (1.0 + exp(x)))); }
RG_RULE double rg_sigmoid_d0(double x, double z) { return (z * rg_sigmoid((-x))); }

RG_RULE double rg_relu(double x) { return ((x <= 0.0) ? 0.0 : x); }
RG_RULE double rg_relu_d0(double x, double z) { return ((x <= 0.0) ? 0.0 : 1.0); }

RG_RULE double rg_leaky_relu(double x, double slope) { return ((x <= 0.0) ? (slope * x) : x); }
RG_RULE double rg_leaky_relu_d0(double x, double slope, double z) { return ((x <= 0.0) ? slope : 1.0); }
RG_RULE double rg_leaky_relu_d1(double x, double slope, double z) { return ((x <= 0.0) ? x : 0.0); }

RG_RULE double rg_softplus(double x) { return (((x <= 0.0) ? 0.0 : x) + log1p(exp((-fabs(x))))); }
RG_RULE double rg_softplus_d0(double x, double z) { return rg_sigmoid(x); }

RG_RULE double rg_silu(double x) { return rg_tuned_silu(x); }
RG_RULE double rg_silu_d0(double x, double z) { return (rg_sigmoid(x) + (z * rg_sigmoid((-x)))); }

RG_RULE double rg_logsigmoid(double x) { return (((x < 0.0) ? x : 0.0) - log1p(exp((-fabs(x))))); }
RG_RULE double rg_logsigmoid_d0(double x, double z) { return rg_sigmoid((-x)); }

RG_RULE double rg_logaddexp(double x, double y) { return ((x == y) ? (x + 0.6931471805599453) : (((x > y) ? x : y) + log1p(exp((-fabs((x - y))))))); }
RG_RULE double rg_logaddexp_d0(double x, double y, double z) { return rg_sigmoid((x - y)); }
RG_RULE double rg_logaddexp_d1(double x, double y, double z) { return rg_sigmoid((y - x)); }

RG_RULE double rg_elu(double x, double alpha) { return ((x > 0.0) ? x : (alpha * expm1(x))); }
RG_RULE double rg_elu_d0(double x, double alpha, double z) { return ((x > 0.0) ? 1.0 : (alpha * exp(x))); }
RG_RULE double rg_elu_d1(double x, double alpha, double z) { return ((x > 0.0) ? 0.0 : expm1(x)); }

RG_RULE double rg_celu(double x, double alpha) { return (((x > 0.0) || (fabs((x / alpha)) < 1e-290)) ? x : (alpha * expm1((x / alpha)))); }
RG_RULE double rg_celu_d0(double x, double alpha, double z) { return ((x > 0.0) ? 1.0 : exp((x / alpha))); }
RG_RULE double rg_celu_d1(double x, double alpha, double z) { return ((x > 0.0) ? 0.0 : rgs_growth_gap((x / alpha))); }

RG_RULE double rg_selu(double x) { return (1.0507009873554805 * ((x > 0.0) ? x : (1.6732632423543772 * expm1(x)))); }
RG_RULE double rg_selu_d0(double x, double z) { return (1.0507009873554805 * ((x > 0.0) ? 1.0 : (1.6732632423543772 * exp(x)))); }

RG_RULE double rg_mish(double x) { return rgs_gated_by_softplus(x); }
RG_RULE double rg_mish_d0(double x, double z) { return rgs_gated_by_softplus_slope(x); }

RG_RULE double rg_softsign(double x) { return (x / (1.0 + fabs(x))); }
RG_RULE double rg_softsign_d0(double x, double z) { return ((1.0 / (1.0 + fabs(x))) / (1.0 + fabs(x))); }

RG_RULE double rg_relu6(double x) { return ((x <= 0.0) ? 0.0 : ((x >= 6.0) ? 6.0 : x)); }
RG_RULE double rg_relu6_d0(double x, double z) { return (((x <= 0.0) || (x >= 6.0)) ? 0.0 : 1.0); }

RG_RULE double rg_hardtanh(double x, double low, double high) { return (((x >= high) || (high != high)) ? high : (((x <= low) || (low != low)) ? low : x)); }
RG_RULE double rg_hardtanh_d0(double x, double low, double high, double z) { return ((((x <= low) || (low != low)) || ((x >= high) || (high != high))) ? 0.0 : 1.0); }
RG_RULE double rg_hardtanh_d1(double x, double low, double high, double z) { return (((x >= high) || (high != high)) ? 0.0 : (((x <= low) || (low != low)) ? 1.0 : 0.0)); }
RG_RULE double rg_hardtanh_d2(double x, double low, double high, double z) { return (((x >= high) || (high != high)) ? 1.0 : 0.0); }

RG_RULE double rg_hardswish(double x) { return ((x <= -3.0) ? 0.0 : ((x >= 3.0) ? x : ((x * (x + 3.0)) / 6.0))); }
RG_RULE double rg_hardswish_d0(double x, double z) { return ((x <= -3.0) ? 0.0 : ((x >= 3.0) ? 1.0 : ((x / 3.0) + 0.5))); }

RG_RULE double rg_sin(double x) { return sin(x); }
RG_RULE double rg_sin_d0(double x, double z) { return cos(x); }

RG_RULE double rg_cos(double x) { return cos(x); }
RG_RULE double rg_cos_d0(double x, double z) { return (-sin(x)); }

RG_RULE double rg_tan(double x) { return tan(x); }
RG_RULE double rg_tan_d0(double x, double z) { return (1.0 + (z * z)); }

RG_RULE double rg_asin(double x) { return asin(x); }
RG_RULE double rg_asin_d0(double x, double z) { return (1.0 / sqrt(((1.0 - x) * (1.0 + x)))); }

RG_RULE double rg_acos(double x) { return acos(x); }
RG_RULE double rg_acos_d0(double x, double z) { return (-(1.0 / sqrt(((1.0 - x) * (1.0 + x))))); }

RG_RULE double rg_atan(double x) { return atan(x); }
RG_RULE double rg_atan_d0(double x, double z) { return (8.673617379884035e-19 / (8.673617379884035e-19 + ((x * 9.313225746154785e-10) * (x * 9.313225746154785e-10)))); }

RG_RULE double rg_atan2(double y, double x) { return atan2(y, x); }
RG_RULE double rg_atan2_d0(double y, double x, double z) { return ((((fabs(x) > 1.0) || (fabs(y) > 1.0)) ? 0.5 : 1.0) * ((((((fabs(x) > 1.0) || (fabs(y) > 1.0)) ? 0.5 : 1.0) * x) / hypot(((((fabs(x) > 1.0) || (fabs(y) > 1.0)) ? 0.5 : 1.0) * x), ((((fabs(x) > 1.0) || (fabs(y) > 1.0)) ? 0.5 : 1.0) * y))) / hypot(((((fabs(x) > 1.0) || (fabs(y) > 1.0)) ? 0.5 : 1.0) * x), ((((fabs(x) > 1.0) || (fabs(y) > 1.0)) ? 0.5 : 1.0) * y)))); }
RG_RULE double rg_atan2_d1(double y, double x, double z) { return (-((((fabs(x) > 1.0) || (fabs(y) > 1.0)) ? 0.5 : 1.0) * ((((((fabs(x) > 1.0) || (fabs(y) > 1.0)) ? 0.5 : 1.0) * y) / hypot(((((fabs(x) > 1.0) || (fabs(y) > 1.0)) ? 0.5 : 1.0) * x), ((((fabs(x) > 1.0) || (fabs(y) > 1.0)) ? 0.5 : 1.0) * y))) / hypot(((((fabs(x) > 1.0) || (fabs(y) > 1.0)) ? 0.5 : 1.0) * x), ((((fabs(x) > 1.0) || (fabs(y) > 1.0)) ? 0.5 : 1.0) * y))))); }

RG_RULE double rg_sinh(double x) { return sinh(x); }
RG_RULE double rg_sinh_d0(double x, double z) { return cosh(x); }

RG_RULE double rg_cosh(double x) { return cosh(x); }
RG_RULE double rg_cosh_d0(double x, double z) { return sinh(x); }

RG_RULE double rg_asinh(double x) { return asinh(x); }
RG_RULE double rg_asinh_d0(double x, double z) { return (1.0 / hypot(x, 1.0)); }

RG_RULE double rg_acosh(double x) { return acosh(x); }
RG_RULE double rg_acosh_d0(double x, double z) { return (1.0 / (sqrt((x - 1.0)) * sqrt((x + 1.0)))); }

RG_RULE double rg_atanh(double x) { return atanh(x); }
RG_RULE double rg_atanh_d0(double x, double z) { return (1.0 / ((1.0 - x) * (1.0 + x))); }

RG_RULE double rg_hypot(double x, double y) { return hypot(x, y); }
RG_RULE double rg_hypot_d0(double x, double y, double z) { return ((z == 0.0) ? 0.0 : (((z >= 1.1830521861667747e-271) && (z <= 1.7976931348623157e+308)) ? (x / z) : ((((z > 1.0) ? 0.5 : 4.149515568880993e+180) * x) / hypot((((z > 1.0) ? 0.5 : 4.149515568880993e+180) * x), (((z > 1.0) ? 0.5 : 4.149515568880993e+180) * y))))); }
RG_RULE double rg_hypot_d1(double x, double y, double z) { return ((z == 0.0) ? 0.0 : (((z >= 1.1830521861667747e-271) && (z <= 1.7976931348623157e+308)) ? (y / z) : ((((z > 1.0) ? 0.5 : 4.149515568880993e+180) * y) / hypot((((z > 1.0) ? 0.5 : 4.149515568880993e+180) * x), (((z > 1.0) ? 0.5 : 4.149515568880993e+180) * y))))); }

RG_RULE double rg_sinc(double x) { return rgs_sine_cardinal(x); }
RG_RULE double rg_sinc_d0(double x, double z) { return rgs_sine_cardinal_slope(x); }

RG_RULE double rg_sign(double x) { return ((x > 0.0) ? 1.0 : ((x < 0.0) ? -1.0 : x)); }
RG_RULE double rg_sign_d0(double x, double z) { return 0.0; }

RG_RULE double rg_abs(double x) { return fabs(x); }
RG_RULE double rg_abs_d0(double x, double z) { return rg_sign(x); }

RG_RULE double rg_floor(double x) { return floor(x); }
RG_RULE double rg_floor_d0(double x, double z) { return 0.0; }

RG_RULE double rg_ceil(double x) { return (-floor((-x))); }
RG_RULE double rg_ceil_d0(double x, double z) { return 0.0; }

RG_RULE double rg_trunc(double x) { return ((x < 0.0) ? (-floor((-x))) : floor(x)); }
RG_RULE double rg_trunc_d0(double x, double z) { return 0.0; }

RG_RULE double rg_round(double x) { return (((fabs(x) < 4503599627370496.0) && (x != 0.0)) ? ((x < 0.0) ? (-(((fabs(x) - floor(fabs(x))) < 0.5) ? floor(fabs(x)) : (((fabs(x) - floor(fabs(x))) > 0.5) ? (floor(fabs(x)) + 1.0) : (floor(fabs(x)) + (floor(fabs(x)) - (2.0 * floor((0.5 * floor(fabs(x)))))))))) : (((fabs(x) - floor(fabs(x))) < 0.5) ? floor(fabs(x)) : (((fabs(x) - floor(fabs(x))) > 0.5) ? (floor(fabs(x)) + 1.0) : (floor(fabs(x)) + (floor(fabs(x)) - (2.0 * floor((0.5 * floor(fabs(x)))))))))) : x); }
RG_RULE double rg_round_d0(double x, double z) { return 0.0; }

RG_RULE double rg_fmod(double x, double y) { return fmod(x, y); }
RG_RULE double rg_fmod_d0(double x, double y, double z) { return 1.0; }
RG_RULE double rg_fmod_d1(double x, double y, double z) { return (-rg_round(((x - z) / y))); }

RG_RULE double rg_remainder(double x, double y) { return ((((fmod(x, y) < 0.0) && (y > 0.0)) || ((fmod(x, y) > 0.0) && (y < 0.0))) ? (fmod(x, y) + y) : fmod(x, y)); }
RG_RULE double rg_remainder_d0(double x, double y, double z) { return 1.0; }
RG_RULE double rg_remainder_d1(double x, double y, double z) { return (((((fmod(x, y) < 0.0) && (y > 0.0)) || ((fmod(x, y) > 0.0) && (y < 0.0))) ? 1.0 : 0.0) - rg_round(((x - fmod(x, y)) / y))); }

RG_RULE double rg_maximum(double x, double y) { return (((x >= y) || (x != x)) ? x : y); }
RG_RULE double rg_maximum_d0(double x, double y, double z) { return (((x >= y) || (x != x)) ? 1.0 : 0.0); }
RG_RULE double rg_maximum_d1(double x, double y, double z) { return (((x >= y) || (x != x)) ? 0.0 : 1.0); }

RG_RULE double rg_minimum(double x, double y) { return (((x <= y) || (x != x)) ? x : y); }
RG_RULE double rg_minimum_d0(double x, double y, double z) { return (((x <= y) || (x != x)) ? 1.0 : 0.0); }
RG_RULE double rg_minimum_d1(double x, double y, double z) { return (((x <= y) || (x != x)) ? 0.0 : 1.0); }

RG_RULE double rg_clip(double x, double low, double high) { return ((((((x < low) || (low != low)) ? low : x) > high) || (high != high)) ? high : (((x < low) || (low != low)) ? low : x)); }
RG_RULE double rg_clip_d0(double x, double low, double high, double z) { return (((((x < low) || (x > high)) || (low != low)) || (high != high)) ? 0.0 : 1.0); }
RG_RULE double rg_clip_d1(double x, double low, double high, double z) { return ((((((x < low) || (low != low)) ? low : x) > high) || (high != high)) ? 0.0 : (((x < low) || (low != low)) ? 1.0 : 0.0)); }
RG_RULE double rg_clip_d2(double x, double low, double high, double z) { return ((((((x < low) || (low != low)) ? low : x) > high) || (high != high)) ? 1.0 : 0.0); }

RG_RULE double rg_where(double condition, double x, double y) { return ((condition != 0.0) ? x : y); }
RG_RULE double rg_where_d0(double condition, double x, double y, double z) { return 0.0; }
RG_RULE double rg_where_d1(double condition, double x, double y, double z) { return ((condition != 0.0) ? 1.0 : 0.0); }
RG_RULE double rg_where_d2(double condition, double x, double y, double z) { return ((condition != 0.0) ? 0.0 : 1.0); }

RG_RULE double rg_less(double x, double y) { return ((x < y) ? 1.0 : 0.0); }
RG_RULE double rg_less_d0(double x, double y, double z) { return 0.0; }
RG_RULE double rg_less_d1(double x, double y, double z) { return 0.0; }

RG_RULE double rg_less_equal(double x, double y) { return ((x <= y) ? 1.0 : 0.0); }
RG_RULE double rg_less_equal_d0(double x, double y, double z) { return 0.0; }
RG_RULE double rg_less_equal_d1(double x, double y, double z) { return 0.0; }

RG_RULE double rg_equal(double x, double y) { return ((x == y) ? 1.0 : 0.0); }
RG_RULE double rg_equal_d0(double x, double y, double z) { return 0.0; }
RG_RULE double rg_equal_d1(double x, double y, double z) { return 0.0; }

RG_RULE double rg_gauss(double x) { return rg_tuned_gauss(x); }
RG_RULE double rg_gauss_d0(double x, double z) { return (-(2.0 * (x * z))); }

RG_RULE double rg_norm_pdf(double x) { return rg_tuned_norm_pdf(x); }
RG_RULE double rg_norm_pdf_d0(double x, double z) { return (-(x * z)); }

RG_RULE double rg_erf(double x) { return erf(x); }
RG_RULE double rg_erf_d0(double x, double z) { return (1.1283791670955126 * rg_gauss(x)); }

RG_RULE double rg_erfc(double x) { return erfc(x); }
RG_RULE double rg_erfc_d0(double x, double z) { return (-(1.1283791670955126 * rg_gauss(x))); }

RG_RULE double rg_norm_cdf(double x) { return rg_tuned_norm_cdf(x); }
RG_RULE double rg_norm_cdf_d0(double x, double z) { return rg_norm_pdf(x); }

RG_RULE double rg_gelu(double x) { return rg_tuned_gelu(x); }
RG_RULE double rg_gelu_d0(double x, double z) { return (rg_norm_cdf(x) + (((0.3989422804014327 * x) * rg_gauss((0.5 * x))) * rg_gauss((0.5 * x)))); }

RG_RULE double rg_erfcx(double x) { return rgs_scaled_erfc(x); }
RG_RULE double rg_erfcx_d0(double x, double z) { return rgs_scaled_erfc_slope(x); }

RG_RULE double rg_log_ndtr(double x) { return ((x < 0.0) ? (log((0.5 * rg_erfcx((-(x * 0.7071067811865476))))) - (0.5 * (x * x))) : log1p((-(0.5 * erfc((x * 0.7071067811865476)))))); }
RG_RULE double rg_log_ndtr_d0(double x, double z) { return ((x < 0.0) ? (0.7978845608028654 / rg_erfcx((-(((x < 0.0) ? x : 0.0) * 0.7071067811865476)))) : (rg_norm_pdf(((x < 0.0) ? 0.0 : x)) / rg_norm_cdf(((x < 0.0) ? 0.0 : x)))); }

RG_RULE double rg_erfinv(double x) { return rgs_inverse_erf(x); }
RG_RULE double rg_erfinv_d0(double x, double z) { return ((((x < 0.0) ? (1.0 + x) : (1.0 - x)) == 0.0) ? (1.0 / ((x < 0.0) ? (1.0 + x) : (1.0 - x))) : ((0.8862269254527579 * rg_erfcx(((x < 0.0) ? (-z) : z))) / ((x < 0.0) ? (1.0 + x) : (1.0 - x)))); }

RG_RULE double rg_ndtri(double x) { return rgs_normal_quantile(x); }
RG_RULE double rg_ndtri_d0(double x, double z) { return ((((x < 0.5) ? x : (1.0 - x)) == 0.0) ? (1.0 / ((x < 0.5) ? x : (1.0 - x))) : ((1.2533141373155001 * rg_erfcx((((x < 0.5) ? (-z) : z) * 0.7071067811865476))) / ((x < 0.5) ? x : (1.0 - x)))); }

RG_RULE double rg_trigamma(double x) { return rgs_psi1(x); }
RG_RULE double rg_trigamma_d0(double x, double z) { return rg_absent(); }

RG_RULE double rg_digamma(double x) { return rgs_psi(x); }
RG_RULE double rg_digamma_d0(double x, double z) { return rg_trigamma(x); }

RG_RULE double rg_lgamma(double x) { return rgs_log_gamma(x); }
RG_RULE double rg_lgamma_d0(double x, double z) { return rg_digamma(x); }

RG_RULE double rg_betaln(double x, double y) { return rgs_log_beta(x, y); }
RG_RULE double rg_betaln_d0(double x, double y, double z) { return rgs_psi_drop(x, y); }
RG_RULE double rg_betaln_d1(double x, double y, double z) { return rgs_psi_drop(y, x); }

static double rg_eval_add(const double *a) { return rg_add(a[0], a[1]); }
static void rg_slopes_add(const double *a, double z, double *p) { p[0] = rg_add_d0(a[0], a[1], z); p[1] = rg_add_d1(a[0], a[1], z); }
static double rg_eval_sub(const double *a) { return rg_sub(a[0], a[1]); }
static void rg_slopes_sub(const double *a, double z, double *p) { p[0] = rg_sub_d0(a[0], a[1], z); p[1] = rg_sub_d1(a[0], a[1], z); }
static double rg_eval_mul(const double *a) { return rg_mul(a[0], a[1]); }
static void rg_slopes_mul(const double *a, double z, double *p) { p[0] = rg_mul_d0(a[0], a[1], z); p[1] = rg_mul_d1(a[0], a[1], z); }
static double rg_eval_div(const double *a) { return rg_div(a[0], a[1]); }
static void rg_slopes_div(const double *a, double z, double *p) { p[0] = rg_div_d0(a[0], a[1], z); p[1] = rg_div_d1(a[0], a[1], z); }
static double rg_eval_neg(const double *a) { return rg_neg(a[0]); }
static void rg_slopes_neg(const double *a, double z, double *p) { p[0] = rg_neg_d0(a[0], z); }
static double rg_eval_pow(const double *a) { return rg_pow(a[0], a[1]); }
static void rg_slopes_pow(const double *a, double z, double *p) { p[0] = rg_pow_d0(a[0], a[1], z); p[1] = rg_pow_d1(a[0], a[1], z); }
static double rg_eval_square(const double *a) { return rg_square(a[0]); }
static void rg_slopes_square(const double *a, double z, double *p) { p[0] = rg_square_d0(a[0], z); }
static double rg_eval_reciprocal(const double *a) { return rg_reciprocal(a[0]); }
static void rg_slopes_reciprocal(const double *a, double z, double *p) { p[0] = rg_reciprocal_d0(a[0], z); }
static double rg_eval_exp(const double *a) { return rg_exp(a[0]); }
static void rg_slopes_exp(const double *a, double z, double *p) { p[0] = rg_exp_d0(a[0], z); }
static double rg_eval_expm1(const double *a) { return rg_expm1(a[0]); }
static void rg_slopes_expm1(const double *a, double z, double *p) { p[0] = rg_expm1_d0(a[0], z); }
static double rg_eval_log(const double *a) { return rg_log(a[0]); }
static void rg_slopes_log(const double *a, double z, double *p) { p[0] = rg_log_d0(a[0], z); }
static double rg_eval_log1p(const double *a) { return rg_log1p(a[0]); }
static void rg_slopes_log1p(const double *a, double z, double *p) { p[0] = rg_log1p_d0(a[0], z); }
static double rg_eval_exp2(const double *a) { return rg_exp2(a[0]); }
static void rg_slopes_exp2(const double *a, double z, double *p) { p[0] = rg_exp2_d0(a[0], z); }
static double rg_eval_log2(const double *a) { return rg_log2(a[0]); }
static void rg_slopes_log2(const double *a, double z, double *p) { p[0] = rg_log2_d0(a[0], z); }
static double rg_eval_log10(const double *a) { return rg_log10(a[0]); }
static void rg_slopes_log10(const double *a, double z, double *p) { p[0] = rg_log10_d0(a[0], z); }
static double rg_eval_sqrt(const double *a) { return rg_sqrt(a[0]); }
static void rg_slopes_sqrt(const double *a, double z, double *p) { p[0] = rg_sqrt_d0(a[0], z); }
static double rg_eval_rsqrt(const double *a) { return rg_rsqrt(a[0]); }
static void rg_slopes_rsqrt(const double *a, double z, double *p) { p[0] = rg_rsqrt_d0(a[0], z); }
static double rg_eval_cbrt(const double *a) { return rg_cbrt(a[0]); }
static void rg_slopes_cbrt(const double *a, double z, double *p) { p[0] = rg_cbrt_d0(a[0], z); }
static double rg_eval_xlogy(const double *a) { return rg_xlogy(a[0], a[1]); }
static void rg_slopes_xlogy(const double *a, double z, double *p) { p[0] = rg_xlogy_d0(a[0], a[1], z); p[1] = rg_xlogy_d1(a[0], a[1], z); }
static double rg_eval_logit(const double *a) { return rg_logit(a[0]); }
static void rg_slopes_logit(const double *a, double z, double *p) { p[0] = rg_logit_d0(a[0], z); }
static double rg_eval_sech2(const double *a) { return rg_sech2(a[0]); }
static void rg_slopes_sech2(const double *a, double z, double *p) { p[0] = rg_sech2_d0(a[0], z); }
static double rg_eval_tanh(const double *a) { return rg_tanh(a[0]); }
static void rg_slopes_tanh(const double *a, double z, double *p) { p[0] = rg_tanh_d0(a[0], z); }
static double rg_eval_sigmoid(const double *a) { return rg_sigmoid(a[0]); }
static void rg_slopes_sigmoid(const double *a, double z, double *p) { p[0] = rg_sigmoid_d0(a[0], z); }
static double rg_eval_relu(const double *a) { return rg_relu(a[0]); }
static void rg_slopes_relu(const double *a, double z, double *p) { p[0] = rg_relu_d0(a[0], z); }
static double rg_eval_leaky_relu(const double *a) { return rg_leaky_relu(a[0], a[1]); }
static void rg_slopes_leaky_relu(const double *a, double z, double *p) { p[0] = rg_leaky_relu_d0(a[0], a[1], z); p[1] = rg_leaky_relu_d1(a[0], a[1], z); }
static double rg_eval_softplus(const double *a) { return rg_softplus(a[0]); }
static void rg_slopes_softplus(const double *a, double z, double *p) { p[0] = rg_softplus_d0(a[0], z); }
static double rg_eval_silu(const double *a) { return rg_silu(a[0]); }
static void rg_slopes_silu(const double *a, double z, double *p) { p[0] = rg_silu_d0(a[0], z); }
static double rg_eval_logsigmoid(const double *a) { return rg_logsigmoid(a[0]); }
static void rg_slopes_logsigmoid(const double *a, double z, double *p) { p[0] = rg_logsigmoid_d0(a[0], z); }
static double rg_eval_logaddexp(const double *a) { return rg_logaddexp(a[0], a[1]); }
static void rg_slopes_logaddexp(const double *a, double z, double *p) { p[0] = rg_logaddexp_d0(a[0], a[1], z); p[1] = rg_logaddexp_d1(a[0], a[1], z); }
static double rg_eval_elu(const double *a) { return rg_elu(a[0], a[1]); }
static void rg_slopes_elu(const double *a, double z, double *p) { p[0] = rg_elu_d0(a[0], a[1], z); p[1] = rg_elu_d1(a[0], a[1], z); }
static double rg_eval_celu(const double *a) { return rg_celu(a[0], a[1]); }
static void rg_slopes_celu(const double *a, double z, double *p) { p[0] = rg_celu_d0(a[0], a[1], z); p[1] = rg_celu_d1(a[0], a[1], z); }
static double rg_eval_selu(const double *a) { return rg_selu(a[0]); }
static void rg_slopes_selu(const double *a, double z, double *p) { p[0] = rg_selu_d0(a[0], z); }
static double rg_eval_mish(const double *a) { return rg_mish(a[0]); }
static void rg_slopes_mish(const double *a, double z, double *p) { p[0] = rg_mish_d0(a[0], z); }
static double rg_eval_softsign(const double *a) { return rg_softsign(a[0]); }
static void rg_slopes_softsign(const double *a, double z, double *p) { p[0] = rg_softsign_d0(a[0], z); }
static double rg_eval_relu6(const double *a) { return rg_relu6(a[0]); }
static void rg_slopes_relu6(const double *a, double z, double *p) { p[0] = rg_relu6_d0(a[0], z); }
static double rg_eval_hardtanh(const double *a) { return rg_hardtanh(a[0], a[1], a[2]); }
static void rg_slopes_hardtanh(const double *a, double z, double *p) { p[0] = rg_hardtanh_d0(a[0], a[1], a[2], z); p[1] = rg_hardtanh_d1(a[0], a[1], a[2], z); p[2] = rg_hardtanh_d2(a[0], a[1], a[2], z); }
static double rg_eval_hardswish(const double *a) { return rg_hardswish(a[0]); }
static void rg_slopes_hardswish(const double *a, double z, double *p) { p[0] = rg_hardswish_d0(a[0], z); }
static double rg_eval_sin(const double *a) { return rg_sin(a[0]); }
static void rg_slopes_sin(const double *a, double z, double *p) { p[0] = rg_sin_d0(a[0], z); }
static double rg_eval_cos(const double *a) { return rg_cos(a[0]); }
static void rg_slopes_cos(const double *a, double z, double *p) { p[0] = rg_cos_d0(a[0], z); }
static double rg_eval_tan(const double *a) { return rg_tan(a[0]); }
static void rg_slopes_tan(const double *a, double z, double *p) { p[0] = rg_tan_d0(a[0], z); }
static double rg_eval_asin(const double *a) { return rg_asin(a[0]); }
static void rg_slopes_asin(const double *a, double z, double *p) { p[0] = rg_asin_d0(a[0], z); }
static double rg_eval_acos(const double *a) { return rg_acos(a[0]); }
static void rg_slopes_acos(const double *a, double z, double *p) { p[0] = rg_acos_d0(a[0], z); }
static double rg_eval_atan(const double *a) { return rg_atan(a[0]); }
static void rg_slopes_atan(const double *a, double z, double *p) { p[0] = rg_atan_d0(a[0], z); }
static double rg_eval_atan2(const double *a) { return rg_atan2(a[0], a[1]); }
static void rg_slopes_atan2(const double *a, double z, double *p) { p[0] = rg_atan2_d0(a[0], a[1], z); p[1] = rg_atan2_d1(a[0], a[1], z); }
static double rg_eval_sinh(const double *a) { return rg_sinh(a[0]); }
static void rg_slopes_sinh(const double *a, double z, double *p) { p[0] = rg_sinh_d0(a[0], z); }
static double rg_eval_cosh(const double *a) { return rg_cosh(a[0]); }
static void rg_slopes_cosh(const double *a, double z, double *p) { p[0] = rg_cosh_d0(a[0], z); }
static double rg_eval_asinh(const double *a) { return rg_asinh(a[0]); }
static void rg_slopes_asinh(const double *a, double z, double *p) { p[0] = rg_asinh_d0(a[0], z); }
static double rg_eval_acosh(const double *a) { return rg_acosh(a[0]); }
static void rg_slopes_acosh(const double *a, double z, double *p) { p[0] = rg_acosh_d0(a[0], z); }
static double rg_eval_atanh(const double *a) { return rg_atanh(a[0]); }
static void rg_slopes_atanh(const double *a, double z, double *p) { p[0] = rg_atanh_d0(a[0], z); }
static double rg_eval_hypot(const double *a) { return rg_hypot(a[0], a[1]); }
static void rg_slopes_hypot(const double *a, double z, double *p) { p[0] = rg_hypot_d0(a[0], a[1], z); p[1] = rg_hypot_d1(a[0], a[1], z); }
static double rg_eval_sinc(const double *a) { return rg_sinc(a[0]); }
static void rg_slopes_sinc(const double *a, double z, double *p) { p[0] = rg_sinc_d0(a[0], z); }
static double rg_eval_sign(const double *a) { return rg_sign(a[0]); }
static void rg_slopes_sign(const double *a, double z, double *p) { p[0] = rg_sign_d0(a[0], z); }
static double rg_eval_abs(const double *a) { return rg_abs(a[0]); }
static void rg_slopes_abs(const double *a, double z, double *p) { p[0] = rg_abs_d0(a[0], z); }
static double rg_eval_floor(const double *a) { return rg_floor(a[0]); }
static void rg_slopes_floor(const double *a, double z, double *p) { p[0] = rg_floor_d0(a[0], z); }
static double rg_eval_ceil(const double *a) { return rg_ceil(a[0]); }
static void rg_slopes_ceil(const double *a, double z, double *p) { p[0] = rg_ceil_d0(a[0], z); }
static double rg_eval_trunc(const double *a) { return rg_trunc(a[0]); }
static void rg_slopes_trunc(const double *a, double z, double *p) { p[0] = rg_trunc_d0(a[0], z); }
static double rg_eval_round(const double *a) { return rg_round(a[0]); }
static void rg_slopes_round(const double *a, double z, double *p) { p[0] = rg_round_d0(a[0], z); }
static double rg_eval_fmod(const double *a) { return rg_fmod(a[0], a[1]); }
static void rg_slopes_fmod(const double *a, double z, double *p) { p[0] = rg_fmod_d0(a[0], a[1], z); p[1] = rg_fmod_d1(a[0], a[1], z); }
static double rg_eval_remainder(const double *a) { return rg_remainder(a[0], a[1]); }
static void rg_slopes_remainder(const double *a, double z, double *p) { p[0] = rg_remainder_d0(a[0], a[1], z); p[1] = rg_remainder_d1(a[0], a[1], z); }
static double rg_eval_maximum(const double *a) { return rg_maximum(a[0], a[1]); }
static void rg_slopes_maximum(const double *a, double z, double *p) { p[0] = rg_maximum_d0(a[0], a[1], z); p[1] = rg_maximum_d1(a[0], a[1], z); }
static double rg_eval_minimum(const double *a) { return rg_minimum(a[0], a[1]); }
static void rg_slopes_minimum(const double *a, double z, double *p) { p[0] = rg_minimum_d0(a[0], a[1], z); p[1] = rg_minimum_d1(a[0], a[1], z); }
static double rg_eval_clip(const double *a) { return rg_clip(a[0], a[1], a[2]); }
static void rg_slopes_clip(const double *a, double z, double *p) { p[0] = rg_clip_d0(a[0], a[1], a[2], z); p[1] = rg_clip_d1(a[0], a[1], a[2], z); p[2] = rg_clip_d2(a[0], a[1], a[2], z); }
static double rg_eval_where(const double *a) { return rg_where(a[0], a[1], a[2]); }
static void rg_slopes_where(const double *a, double z, double *p) { p[0] = rg_where_d0(a[0], a[1], a[2], z); p[1] = rg_where_d1(a[0], a[1], a[2], z); p[2] = rg_where_d2(a[0], a[1], a[2], z); }
static double rg_eval_less(const double *a) { return rg_less(a[0], a[1]); }
static void rg_slopes_less(const double *a, double z, double *p) { p[0] = rg_less_d0(a[0], a[1], z); p[1] = rg_less_d1(a[0], a[1], z); }
static double rg_eval_less_equal(const double *a) { return rg_less_equal(a[0], a[1]); }
static void rg_slopes_less_equal(const double *a, double z, double *p) { p[0] = rg_less_equal_d0(a[0], a[1], z); p[1] = rg_less_equal_d1(a[0], a[1], z); }
static double rg_eval_equal(const double *a) { return rg_equal(a[0], a[1]); }
static void rg_slopes_equal(const double *a, double z, double *p) { p[0] = rg_equal_d0(a[0], a[1], z); p[1] = rg_equal_d1(a[0], a[1], z); }
static double rg_eval_gauss(const double *a) { return rg_gauss(a[0]); }
static void rg_slopes_gauss(const double *a, double z, double *p) { p[0] = rg_gauss_d0(a[0], z); }
static double rg_eval_norm_pdf(const double *a) { return rg_norm_pdf(a[0]); }
static void rg_slopes_norm_pdf(const double *a, double z, double *p) { p[0] = rg_norm_pdf_d0(a[0], z); }
static double rg_eval_erf(const double *a) { return rg_erf(a[0]); }
static void rg_slopes_erf(const double *a, double z, double *p) { p[0] = rg_erf_d0(a[0], z); }
static double rg_eval_erfc(const double *a) { return rg_erfc(a[0]); }
static void rg_slopes_erfc(const double *a, double z, double *p) { p[0] = rg_erfc_d0(a[0], z); }
static double rg_eval_norm_cdf(const double *a) { return rg_norm_cdf(a[0]); }
static void rg_slopes_norm_cdf(const double *a, double z, double *p) { p[0] = rg_norm_cdf_d0(a[0], z); }
static double rg_eval_gelu(const double *a) { return rg_gelu(a[0]); }
static void rg_slopes_gelu(const double *a, double z, double *p) { p[0] = rg_gelu_d0(a[0], z); }
static double rg_eval_erfcx(const double *a) { return rg_erfcx(a[0]); }
static void rg_slopes_erfcx(const double *a, double z, double *p) { p[0] = rg_erfcx_d0(a[0], z); }
static double rg_eval_log_ndtr(const double *a) { return rg_log_ndtr(a[0]); }
static void rg_slopes_log_ndtr(const double *a, double z, double *p) { p[0] = rg_log_ndtr_d0(a[0], z); }
static double rg_eval_erfinv(const double *a) { return rg_erfinv(a[0]); }
static void rg_slopes_erfinv(const double *a, double z, double *p) { p[0] = rg_erfinv_d0(a[0], z); }
static double rg_eval_ndtri(const double *a) { return rg_ndtri(a[0]); }
static void rg_slopes_ndtri(const double *a, double z, double *p) { p[0] = rg_ndtri_d0(a[0], z); }
static double rg_eval_trigamma(const double *a) { return rg_trigamma(a[0]); }
static void rg_slopes_trigamma(const double *a, double z, double *p) { p[0] = rg_trigamma_d0(a[0], z); }
static double rg_eval_digamma(const double *a) { return rg_digamma(a[0]); }
static void rg_slopes_digamma(const double *a, double z, double *p) { p[0] = rg_digamma_d0(a[0], z); }
static double rg_eval_lgamma(const double *a) { return rg_lgamma(a[0]); }
static void rg_slopes_lgamma(const double *a, double z, double *p) { p[0] = rg_lgamma_d0(a[0], z); }
static double rg_eval_betaln(const double *a) { return rg_betaln(a[0], a[1]); }
static void rg_slopes_betaln(const double *a, double z, double *p) { p[0] = rg_betaln_d0(a[0], a[1], z); p[1] = rg_betaln_d1(a[0], a[1], z); }

typedef struct {
    const char *name;
    const char *symbol;
    int arity;
    int defaults;
    double default_value[2];
    const char *inputs[3];
    int absent; /* a bit an input: no partial is stated along it */
    double (*eval)(const double *inputs);
    void (*slopes)(const double *inputs, double z, double *partials);
} RgOp;

static const RgOp RG_OPS[RG_OP_COUNT] RG_UNUSED = {
    {"add", "+", 2, 0, {0.0}, {"x", "y"}, 0, rg_eval_add, rg_slopes_add},
    {"sub", "-", 2, 0, {0.0}, {"x", "y"}, 0, rg_eval_sub, rg_slopes_sub},
    {"mul", "*", 2, 0, {0.0}, {"x", "y"}, 0, rg_eval_mul, rg_slopes_mul},
    {"div", "/", 2, 0, {0.0}, {"x", "y"}, 0, rg_eval_div, rg_slopes_div},
    {"neg", "neg", 1, 0, {0.0}, {"x"}, 0, rg_eval_neg, rg_slopes_neg},
    {"pow", "**", 2, 0, {0.0}, {"x", "y"}, 0, rg_eval_pow, rg_slopes_pow},
    {"square", "**2", 1, 0, {0.0}, {"x"}, 0, rg_eval_square, rg_slopes_square},
    {"reciprocal", "**-1", 1, 0, {0.0}, {"x"}, 0, rg_eval_reciprocal, rg_slopes_reciprocal},
    {"exp", "exp", 1, 0, {0.0}, {"x"}, 0, rg_eval_exp, rg_slopes_exp},
    {"expm1", "expm1", 1, 0, {0.0}, {"x"}, 0, rg_eval_expm1, rg_slopes_expm1},
    {"log", "log", 1, 0, {0.0}, {"x"}, 0, rg_eval_log, rg_slopes_log},
    {"log1p", "log1p", 1, 0, {0.0}, {"x"}, 0, rg_eval_log1p, rg_slopes_log1p},
    {"exp2", "exp2", 1, 0, {0.0}, {"x"}, 0, rg_eval_exp2, rg_slopes_exp2},
    {"log2", "log2", 1, 0, {0.0}, {"x"}, 0, rg_eval_log2, rg_slopes_log2},
    {"log10", "log10", 1, 0, {0.0}, {"x"}, 0, rg_eval_log10, rg_slopes_log10},
    {"sqrt", "sqrt", 1, 0, {0.0}, {"x"}, 0, rg_eval_sqrt, rg_slopes_sqrt},
    {"rsqrt", "rsqrt", 1, 0, {0.0}, {"x"}, 0, rg_eval_rsqrt, rg_slopes_rsqrt},
    {"cbrt", "cbrt", 1, 0, {0.0}, {"x"}, 0, rg_eval_cbrt, rg_slopes_cbrt},
    {"xlogy", "xlogy", 2, 0, {0.0}, {"x", "y"}, 0, rg_eval_xlogy, rg_slopes_xlogy},
    {"logit", "logit", 1, 0, {0.0}, {"x"}, 0, rg_eval_logit, rg_slopes_logit},
    {"sech2", "sech2", 1, 0, {0.0}, {"x"}, 0, rg_eval_sech2, rg_slopes_sech2},
    {"tanh", "tanh", 1, 0, {0.0}, {"x"}, 0, rg_eval_tanh, rg_slopes_tanh},
    {"sigmoid", "sigmoid", 1, 0, {0.0}, {"x"}, 0, rg_eval_sigmoid, rg_slopes_sigmoid},
    {"relu", "ReLU", 1, 0, {0.0}, {"x"}, 0, rg_eval_relu, rg_slopes_relu},
    {"leaky_relu", "leaky_relu", 2, 1, {0.01}, {"x", "slope"}, 0, rg_eval_leaky_relu, rg_slopes_leaky_relu},
    {"softplus", "softplus", 1, 0, {0.0}, {"x"}, 0, rg_eval_softplus, rg_slopes_softplus},
    {"silu", "silu", 1, 0, {0.0}, {"x"}, 0, rg_eval_silu, rg_slopes_silu},
    {"logsigmoid", "logsigmoid", 1, 0, {0.0}, {"x"}, 0, rg_eval_logsigmoid, rg_slopes_logsigmoid},
    {"logaddexp", "logaddexp", 2, 0, {0.0}, {"x", "y"}, 0, rg_eval_logaddexp, rg_slopes_logaddexp},
    {"elu", "elu", 2, 1, {1.0}, {"x", "alpha"}, 0, rg_eval_elu, rg_slopes_elu},
    {"celu", "celu", 2, 1, {1.0}, {"x", "alpha"}, 0, rg_eval_celu, rg_slopes_celu},
    {"selu", "selu", 1, 0, {0.0}, {"x"}, 0, rg_eval_selu, rg_slopes_selu},
    {"mish", "mish", 1, 0, {0.0}, {"x"}, 0, rg_eval_mish, rg_slopes_mish},
    {"softsign", "softsign", 1, 0, {0.0}, {"x"}, 0, rg_eval_softsign, rg_slopes_softsign},
    {"relu6", "ReLU6", 1, 0, {0.0}, {"x"}, 0, rg_eval_relu6, rg_slopes_relu6},
    {"hardtanh", "hardtanh", 3, 2, {-1.0, 1.0}, {"x", "low", "high"}, 0, rg_eval_hardtanh, rg_slopes_hardtanh},
    {"hardswish", "hardswish", 1, 0, {0.0}, {"x"}, 0, rg_eval_hardswish, rg_slopes_hardswish},
    {"sin", "sin", 1, 0, {0.0}, {"x"}, 0, rg_eval_sin, rg_slopes_sin},
    {"cos", "cos", 1, 0, {0.0}, {"x"}, 0, rg_eval_cos, rg_slopes_cos},
    {"tan", "tan", 1, 0, {0.0}, {"x"}, 0, rg_eval_tan, rg_slopes_tan},
    {"asin", "asin", 1, 0, {0.0}, {"x"}, 0, rg_eval_asin, rg_slopes_asin},
    {"acos", "acos", 1, 0, {0.0}, {"x"}, 0, rg_eval_acos, rg_slopes_acos},
    {"atan", "atan", 1, 0, {0.0}, {"x"}, 0, rg_eval_atan, rg_slopes_atan},
    {"atan2", "atan2", 2, 0, {0.0}, {"y", "x"}, 0, rg_eval_atan2, rg_slopes_atan2},
    {"sinh", "sinh", 1, 0, {0.0}, {"x"}, 0, rg_eval_sinh, rg_slopes_sinh},
    {"cosh", "cosh", 1, 0, {0.0}, {"x"}, 0, rg_eval_cosh, rg_slopes_cosh},
    {"asinh", "asinh", 1, 0, {0.0}, {"x"}, 0, rg_eval_asinh, rg_slopes_asinh},
    {"acosh", "acosh", 1, 0, {0.0}, {"x"}, 0, rg_eval_acosh, rg_slopes_acosh},
    {"atanh", "atanh", 1, 0, {0.0}, {"x"}, 0, rg_eval_atanh, rg_slopes_atanh},
    {"hypot", "hypot", 2, 0, {0.0}, {"x", "y"}, 0, rg_eval_hypot, rg_slopes_hypot},
    {"sinc", "sinc", 1, 0, {0.0}, {"x"}, 0, rg_eval_sinc, rg_slopes_sinc},
    {"sign", "sign", 1, 0, {0.0}, {"x"}, 0, rg_eval_sign, rg_slopes_sign},
    {"abs", "abs", 1, 0, {0.0}, {"x"}, 0, rg_eval_abs, rg_slopes_abs},
    {"floor", "floor", 1, 0, {0.0}, {"x"}, 0, rg_eval_floor, rg_slopes_floor},
    {"ceil", "ceil", 1, 0, {0.0}, {"x"}, 0, rg_eval_ceil, rg_slopes_ceil},
    {"trunc", "trunc", 1, 0, {0.0}, {"x"}, 0, rg_eval_trunc, rg_slopes_trunc},
    {"round", "round", 1, 0, {0.0}, {"x"}, 0, rg_eval_round, rg_slopes_round},
    {"fmod", "fmod", 2, 0, {0.0}, {"x", "y"}, 0, rg_eval_fmod, rg_slopes_fmod},
    {"remainder", "remainder", 2, 0, {0.0}, {"x", "y"}, 0, rg_eval_remainder, rg_slopes_remainder},
    {"maximum", "maximum", 2, 0, {0.0}, {"x", "y"}, 0, rg_eval_maximum, rg_slopes_maximum},
    {"minimum", "minimum", 2, 0, {0.0}, {"x", "y"}, 0, rg_eval_minimum, rg_slopes_minimum},
    {"clip", "clip", 3, 0, {0.0}, {"x", "low", "high"}, 0, rg_eval_clip, rg_slopes_clip},
    {"where", "where", 3, 0, {0.0}, {"condition", "x", "y"}, 0, rg_eval_where, rg_slopes_where},
    {"less", "<", 2, 0, {0.0}, {"x", "y"}, 0, rg_eval_less, rg_slopes_less},
    {"less_equal", "<=", 2, 0, {0.0}, {"x", "y"}, 0, rg_eval_less_equal, rg_slopes_less_equal},
    {"equal", "==", 2, 0, {0.0}, {"x", "y"}, 0, rg_eval_equal, rg_slopes_equal},
    {"gauss", "gauss", 1, 0, {0.0}, {"x"}, 0, rg_eval_gauss, rg_slopes_gauss},
    {"norm_pdf", "norm_pdf", 1, 0, {0.0}, {"x"}, 0, rg_eval_norm_pdf, rg_slopes_norm_pdf},
    {"erf", "erf", 1, 0, {0.0}, {"x"}, 0, rg_eval_erf, rg_slopes_erf},
    {"erfc", "erfc", 1, 0, {0.0}, {"x"}, 0, rg_eval_erfc, rg_slopes_erfc},
    {"norm_cdf", "norm_cdf", 1, 0, {0.0}, {"x"}, 0, rg_eval_norm_cdf, rg_slopes_norm_cdf},
    {"gelu", "gelu", 1, 0, {0.0}, {"x"}, 0, rg_eval_gelu, rg_slopes_gelu},
    {"erfcx", "erfcx", 1, 0, {0.0}, {"x"}, 0, rg_eval_erfcx, rg_slopes_erfcx},
    {"log_ndtr", "log_ndtr", 1, 0, {0.0}, {"x"}, 0, rg_eval_log_ndtr, rg_slopes_log_ndtr},
    {"erfinv", "erfinv", 1, 0, {0.0}, {"x"}, 0, rg_eval_erfinv, rg_slopes_erfinv},
    {"ndtri", "ndtri", 1, 0, {0.0}, {"x"}, 0, rg_eval_ndtri, rg_slopes_ndtri},
    {"trigamma", "trigamma", 1, 0, {0.0}, {"x"}, 1, rg_eval_trigamma, rg_slopes_trigamma},
    {"digamma", "digamma", 1, 0, {0.0}, {"x"}, 0, rg_eval_digamma, rg_slopes_digamma},
    {"lgamma", "lgamma", 1, 0, {0.0}, {"x"}, 0, rg_eval_lgamma, rg_slopes_lgamma},
    {"betaln", "betaln", 2, 0, {0.0}, {"x", "y"}, 0, rg_eval_betaln, rg_slopes_betaln},
};

#endif
#endif
