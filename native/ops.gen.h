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
    RG_OP_log2 = 12,
    RG_OP_log10 = 13,
    RG_OP_sqrt = 14,
    RG_OP_sech2 = 15,
    RG_OP_tanh = 16,
    RG_OP_sigmoid = 17,
    RG_OP_relu = 18,
    RG_OP_leaky_relu = 19,
    RG_OP_softplus = 20,
    RG_OP_silu = 21,
    RG_OP_sin = 22,
    RG_OP_cos = 23,
    RG_OP_tan = 24,
    RG_OP_asin = 25,
    RG_OP_acos = 26,
    RG_OP_atan = 27,
    RG_OP_atan2 = 28,
    RG_OP_sinh = 29,
    RG_OP_cosh = 30,
    RG_OP_asinh = 31,
    RG_OP_acosh = 32,
    RG_OP_atanh = 33,
    RG_OP_hypot = 34,
    RG_OP_sign = 35,
    RG_OP_abs = 36,
    RG_OP_floor = 37,
    RG_OP_maximum = 38,
    RG_OP_minimum = 39,
    RG_OP_clip = 40,
    RG_OP_where = 41,
    RG_OP_less = 42,
    RG_OP_less_equal = 43,
    RG_OP_equal = 44,
    RG_OP_gauss = 45,
    RG_OP_norm_pdf = 46,
    RG_OP_erf = 47,
    RG_OP_erfc = 48,
    RG_OP_norm_cdf = 49,
    RG_OP_gelu = 50,
    RG_OP_COUNT = 51
};

#define RG_UNARY_OPS(X) \
    X(neg) \
    X(square) \
    X(reciprocal) \
    X(exp) \
    X(expm1) \
    X(log) \
    X(log1p) \
    X(log2) \
    X(log10) \
    X(sqrt) \
    X(sech2) \
    X(tanh) \
    X(sigmoid) \
    X(relu) \
    X(softplus) \
    X(silu) \
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
    X(sign) \
    X(abs) \
    X(floor) \
    X(gauss) \
    X(norm_pdf) \
    X(erf) \
    X(erfc) \
    X(norm_cdf) \
    X(gelu)

#define RG_BINARY_OPS(X) \
    X(add) \
    X(sub) \
    X(mul) \
    X(div) \
    X(pow) \
    X(leaky_relu) \
    X(atan2) \
    X(hypot) \
    X(maximum) \
    X(minimum) \
    X(less) \
    X(less_equal) \
    X(equal)

#define RG_TERNARY_OPS(X) \
    X(clip) \
    X(where)

/* The rules on doubles; the vector kernels have rules of their own. */
#ifndef RG_LISTS_ONLY

#include "tuned.h"

#define RG_RULE static inline __attribute__((unused))

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

RG_RULE double rg_log2(double x) { return log2(x); }
RG_RULE double rg_log2_d0(double x, double z) { return (1.4426950408889634 / x); }

RG_RULE double rg_log10(double x) { return log10(x); }
RG_RULE double rg_log10_d0(double x, double z) { return (0.43429448190325176 / x); }

RG_RULE double rg_sqrt(double x) { return sqrt(x); }
RG_RULE double rg_sqrt_d0(double x, double z) { return (0.5 / z); }

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

RG_RULE double rg_sign(double x) { return ((x > 0.0) ? 1.0 : ((x < 0.0) ? -1.0 : x)); }
RG_RULE double rg_sign_d0(double x, double z) { return 0.0; }

RG_RULE double rg_abs(double x) { return fabs(x); }
RG_RULE double rg_abs_d0(double x, double z) { return rg_sign(x); }

RG_RULE double rg_floor(double x) { return floor(x); }
RG_RULE double rg_floor_d0(double x, double z) { return 0.0; }

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
static double rg_eval_log2(const double *a) { return rg_log2(a[0]); }
static void rg_slopes_log2(const double *a, double z, double *p) { p[0] = rg_log2_d0(a[0], z); }
static double rg_eval_log10(const double *a) { return rg_log10(a[0]); }
static void rg_slopes_log10(const double *a, double z, double *p) { p[0] = rg_log10_d0(a[0], z); }
static double rg_eval_sqrt(const double *a) { return rg_sqrt(a[0]); }
static void rg_slopes_sqrt(const double *a, double z, double *p) { p[0] = rg_sqrt_d0(a[0], z); }
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
static double rg_eval_sign(const double *a) { return rg_sign(a[0]); }
static void rg_slopes_sign(const double *a, double z, double *p) { p[0] = rg_sign_d0(a[0], z); }
static double rg_eval_abs(const double *a) { return rg_abs(a[0]); }
static void rg_slopes_abs(const double *a, double z, double *p) { p[0] = rg_abs_d0(a[0], z); }
static double rg_eval_floor(const double *a) { return rg_floor(a[0]); }
static void rg_slopes_floor(const double *a, double z, double *p) { p[0] = rg_floor_d0(a[0], z); }
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

typedef struct {
    const char *name;
    const char *symbol;
    int arity;
    int defaults;
    double default_value[2];
    const char *inputs[3];
    double (*eval)(const double *inputs);
    void (*slopes)(const double *inputs, double z, double *partials);
} RgOp;

static const RgOp RG_OPS[RG_OP_COUNT] __attribute__((unused)) = {
    {"add", "+", 2, 0, {0.0}, {"x", "y"}, rg_eval_add, rg_slopes_add},
    {"sub", "-", 2, 0, {0.0}, {"x", "y"}, rg_eval_sub, rg_slopes_sub},
    {"mul", "*", 2, 0, {0.0}, {"x", "y"}, rg_eval_mul, rg_slopes_mul},
    {"div", "/", 2, 0, {0.0}, {"x", "y"}, rg_eval_div, rg_slopes_div},
    {"neg", "neg", 1, 0, {0.0}, {"x"}, rg_eval_neg, rg_slopes_neg},
    {"pow", "**", 2, 0, {0.0}, {"x", "y"}, rg_eval_pow, rg_slopes_pow},
    {"square", "**2", 1, 0, {0.0}, {"x"}, rg_eval_square, rg_slopes_square},
    {"reciprocal", "**-1", 1, 0, {0.0}, {"x"}, rg_eval_reciprocal, rg_slopes_reciprocal},
    {"exp", "exp", 1, 0, {0.0}, {"x"}, rg_eval_exp, rg_slopes_exp},
    {"expm1", "expm1", 1, 0, {0.0}, {"x"}, rg_eval_expm1, rg_slopes_expm1},
    {"log", "log", 1, 0, {0.0}, {"x"}, rg_eval_log, rg_slopes_log},
    {"log1p", "log1p", 1, 0, {0.0}, {"x"}, rg_eval_log1p, rg_slopes_log1p},
    {"log2", "log2", 1, 0, {0.0}, {"x"}, rg_eval_log2, rg_slopes_log2},
    {"log10", "log10", 1, 0, {0.0}, {"x"}, rg_eval_log10, rg_slopes_log10},
    {"sqrt", "sqrt", 1, 0, {0.0}, {"x"}, rg_eval_sqrt, rg_slopes_sqrt},
    {"sech2", "sech2", 1, 0, {0.0}, {"x"}, rg_eval_sech2, rg_slopes_sech2},
    {"tanh", "tanh", 1, 0, {0.0}, {"x"}, rg_eval_tanh, rg_slopes_tanh},
    {"sigmoid", "sigmoid", 1, 0, {0.0}, {"x"}, rg_eval_sigmoid, rg_slopes_sigmoid},
    {"relu", "ReLU", 1, 0, {0.0}, {"x"}, rg_eval_relu, rg_slopes_relu},
    {"leaky_relu", "leaky_relu", 2, 1, {0.01}, {"x", "slope"}, rg_eval_leaky_relu, rg_slopes_leaky_relu},
    {"softplus", "softplus", 1, 0, {0.0}, {"x"}, rg_eval_softplus, rg_slopes_softplus},
    {"silu", "silu", 1, 0, {0.0}, {"x"}, rg_eval_silu, rg_slopes_silu},
    {"sin", "sin", 1, 0, {0.0}, {"x"}, rg_eval_sin, rg_slopes_sin},
    {"cos", "cos", 1, 0, {0.0}, {"x"}, rg_eval_cos, rg_slopes_cos},
    {"tan", "tan", 1, 0, {0.0}, {"x"}, rg_eval_tan, rg_slopes_tan},
    {"asin", "asin", 1, 0, {0.0}, {"x"}, rg_eval_asin, rg_slopes_asin},
    {"acos", "acos", 1, 0, {0.0}, {"x"}, rg_eval_acos, rg_slopes_acos},
    {"atan", "atan", 1, 0, {0.0}, {"x"}, rg_eval_atan, rg_slopes_atan},
    {"atan2", "atan2", 2, 0, {0.0}, {"y", "x"}, rg_eval_atan2, rg_slopes_atan2},
    {"sinh", "sinh", 1, 0, {0.0}, {"x"}, rg_eval_sinh, rg_slopes_sinh},
    {"cosh", "cosh", 1, 0, {0.0}, {"x"}, rg_eval_cosh, rg_slopes_cosh},
    {"asinh", "asinh", 1, 0, {0.0}, {"x"}, rg_eval_asinh, rg_slopes_asinh},
    {"acosh", "acosh", 1, 0, {0.0}, {"x"}, rg_eval_acosh, rg_slopes_acosh},
    {"atanh", "atanh", 1, 0, {0.0}, {"x"}, rg_eval_atanh, rg_slopes_atanh},
    {"hypot", "hypot", 2, 0, {0.0}, {"x", "y"}, rg_eval_hypot, rg_slopes_hypot},
    {"sign", "sign", 1, 0, {0.0}, {"x"}, rg_eval_sign, rg_slopes_sign},
    {"abs", "abs", 1, 0, {0.0}, {"x"}, rg_eval_abs, rg_slopes_abs},
    {"floor", "floor", 1, 0, {0.0}, {"x"}, rg_eval_floor, rg_slopes_floor},
    {"maximum", "maximum", 2, 0, {0.0}, {"x", "y"}, rg_eval_maximum, rg_slopes_maximum},
    {"minimum", "minimum", 2, 0, {0.0}, {"x", "y"}, rg_eval_minimum, rg_slopes_minimum},
    {"clip", "clip", 3, 0, {0.0}, {"x", "low", "high"}, rg_eval_clip, rg_slopes_clip},
    {"where", "where", 3, 0, {0.0}, {"condition", "x", "y"}, rg_eval_where, rg_slopes_where},
    {"less", "<", 2, 0, {0.0}, {"x", "y"}, rg_eval_less, rg_slopes_less},
    {"less_equal", "<=", 2, 0, {0.0}, {"x", "y"}, rg_eval_less_equal, rg_slopes_less_equal},
    {"equal", "==", 2, 0, {0.0}, {"x", "y"}, rg_eval_equal, rg_slopes_equal},
    {"gauss", "gauss", 1, 0, {0.0}, {"x"}, rg_eval_gauss, rg_slopes_gauss},
    {"norm_pdf", "norm_pdf", 1, 0, {0.0}, {"x"}, rg_eval_norm_pdf, rg_slopes_norm_pdf},
    {"erf", "erf", 1, 0, {0.0}, {"x"}, rg_eval_erf, rg_slopes_erf},
    {"erfc", "erfc", 1, 0, {0.0}, {"x"}, rg_eval_erfc, rg_slopes_erfc},
    {"norm_cdf", "norm_cdf", 1, 0, {0.0}, {"x"}, rg_eval_norm_cdf, rg_slopes_norm_cdf},
    {"gelu", "gelu", 1, 0, {0.0}, {"x"}, rg_eval_gelu, rg_slopes_gelu},
};

#endif
#endif
