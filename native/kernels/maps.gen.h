/* Generated from src/retrograde/ops/scalar.py by tools/regenerate.py: do not edit. */

#ifndef RG_MAPS_GEN_H
#define RG_MAPS_GEN_H

#define RG_FORWARD_MAPS(X) \
    X(add, 3, 1) \
    X(sub, 3, 1) \
    X(mul, 3, 1) \
    X(div, 3, 1) \
    X(neg, 1, 1) \
    X(pow, 3, 0) \
    X(square, 1, 1) \
    X(reciprocal, 1, 1) \
    X(exp, 1, 0) \
    X(expm1, 1, 0) \
    X(log, 1, 0) \
    X(log1p, 1, 0) \
    X(exp2, 1, 0) \
    X(log2, 1, 0) \
    X(log10, 1, 0) \
    X(sqrt, 1, 1) \
    X(rsqrt, 1, 1) \
    X(cbrt, 1, 0) \
    X(xlogy, 3, 0) \
    X(logit, 1, 0) \
    X(sech2, 1, 0) \
    X(tanh, 1, 0) \
    X(sigmoid, 1, 0) \
    X(relu, 1, 1) \
    X(leaky_relu, 3, 1) \
    X(softplus, 1, 0) \
    X(silu, 1, 0) \
    X(logsigmoid, 1, 0) \
    X(logaddexp, 3, 0) \
    X(elu, 3, 0) \
    X(celu, 3, 0) \
    X(selu, 1, 0) \
    X(mish, 1, 0) \
    X(softsign, 1, 1) \
    X(relu6, 1, 1) \
    X(hardtanh, 7, 1) \
    X(hardswish, 1, 1) \
    X(sin, 1, 0) \
    X(cos, 1, 0) \
    X(tan, 1, 0) \
    X(asin, 1, 0) \
    X(acos, 1, 0) \
    X(atan, 1, 0) \
    X(atan2, 3, 0) \
    X(sinh, 1, 0) \
    X(cosh, 1, 0) \
    X(asinh, 1, 0) \
    X(acosh, 1, 0) \
    X(atanh, 1, 0) \
    X(hypot, 3, 0) \
    X(sinc, 1, 0) \
    X(sign, 1, 1) \
    X(abs, 1, 1) \
    X(floor, 1, 0) \
    X(ceil, 1, 0) \
    X(trunc, 1, 0) \
    X(round, 1, 0) \
    X(fmod, 3, 0) \
    X(remainder, 3, 0) \
    X(maximum, 3, 1) \
    X(minimum, 3, 1) \
    X(clip, 7, 1) \
    X(where, 7, 1) \
    X(less, 3, 1) \
    X(less_equal, 3, 1) \
    X(equal, 3, 1) \
    X(gauss, 1, 0) \
    X(norm_pdf, 1, 0) \
    X(erf, 1, 0) \
    X(erfc, 1, 0) \
    X(norm_cdf, 1, 0) \
    X(gelu, 1, 0) \
    X(erfcx, 1, 0) \
    X(log_ndtr, 1, 0) \
    X(erfinv, 1, 0) \
    X(ndtri, 1, 0) \
    X(trigamma, 1, 0) \
    X(digamma, 1, 0) \
    X(lgamma, 1, 0) \
    X(betaln, 3, 0)

#define RG_PARTIAL_MAPS(X) \
    X(add, 0, 0, 1) \
    X(add, 1, 0, 1) \
    X(sub, 0, 0, 1) \
    X(sub, 1, 0, 1) \
    X(mul, 0, 2, 1) \
    X(mul, 1, 1, 1) \
    X(div, 0, 2, 1) \
    X(div, 1, 10, 1) \
    X(neg, 0, 0, 1) \
    X(pow, 0, 11, 0) \
    X(pow, 1, 11, 0) \
    X(square, 0, 1, 1) \
    X(reciprocal, 0, 8, 1) \
    X(exp, 0, 8, 1) \
    X(expm1, 0, 1, 0) \
    X(log, 0, 1, 1) \
    X(log1p, 0, 1, 1) \
    X(exp2, 0, 8, 1) \
    X(log2, 0, 1, 1) \
    X(log10, 0, 1, 1) \
    X(sqrt, 0, 8, 1) \
    X(rsqrt, 0, 9, 1) \
    X(cbrt, 0, 8, 1) \
    X(xlogy, 0, 3, 0) \
    X(xlogy, 1, 3, 1) \
    X(logit, 0, 1, 1) \
    X(sech2, 0, 9, 0) \
    X(tanh, 0, 1, 0) \
    X(sigmoid, 0, 9, 0) \
    X(relu, 0, 1, 1) \
    X(leaky_relu, 0, 3, 1) \
    X(leaky_relu, 1, 1, 1) \
    X(softplus, 0, 1, 0) \
    X(silu, 0, 9, 0) \
    X(logsigmoid, 0, 1, 0) \
    X(logaddexp, 0, 3, 0) \
    X(logaddexp, 1, 3, 0) \
    X(elu, 0, 3, 0) \
    X(elu, 1, 1, 0) \
    X(celu, 0, 3, 0) \
    X(celu, 1, 3, 0) \
    X(selu, 0, 1, 0) \
    X(mish, 0, 1, 0) \
    X(softsign, 0, 1, 1) \
    X(relu6, 0, 1, 1) \
    X(hardtanh, 0, 7, 1) \
    X(hardtanh, 1, 7, 1) \
    X(hardtanh, 2, 5, 1) \
    X(hardswish, 0, 1, 1) \
    X(sin, 0, 1, 0) \
    X(cos, 0, 1, 0) \
    X(tan, 0, 8, 1) \
    X(asin, 0, 1, 1) \
    X(acos, 0, 1, 1) \
    X(atan, 0, 1, 1) \
    X(atan2, 0, 3, 0) \
    X(atan2, 1, 3, 0) \
    X(sinh, 0, 1, 0) \
    X(cosh, 0, 1, 0) \
    X(asinh, 0, 1, 0) \
    X(acosh, 0, 1, 1) \
    X(atanh, 0, 1, 1) \
    X(hypot, 0, 11, 0) \
    X(hypot, 1, 11, 0) \
    X(sinc, 0, 1, 0) \
    X(sign, 0, 0, 1) \
    X(abs, 0, 1, 0) \
    X(floor, 0, 0, 1) \
    X(ceil, 0, 0, 1) \
    X(trunc, 0, 0, 1) \
    X(round, 0, 0, 1) \
    X(fmod, 0, 0, 1) \
    X(fmod, 1, 11, 0) \
    X(remainder, 0, 0, 1) \
    X(remainder, 1, 3, 0) \
    X(maximum, 0, 3, 1) \
    X(maximum, 1, 3, 1) \
    X(minimum, 0, 3, 1) \
    X(minimum, 1, 3, 1) \
    X(clip, 0, 7, 1) \
    X(clip, 1, 7, 1) \
    X(clip, 2, 7, 1) \
    X(where, 0, 0, 1) \
    X(where, 1, 1, 1) \
    X(where, 2, 1, 1) \
    X(less, 0, 0, 1) \
    X(less, 1, 0, 1) \
    X(less_equal, 0, 0, 1) \
    X(less_equal, 1, 0, 1) \
    X(equal, 0, 0, 1) \
    X(equal, 1, 0, 1) \
    X(gauss, 0, 9, 1) \
    X(norm_pdf, 0, 9, 1) \
    X(erf, 0, 1, 0) \
    X(erfc, 0, 1, 0) \
    X(norm_cdf, 0, 1, 0) \
    X(gelu, 0, 1, 0) \
    X(erfcx, 0, 1, 0) \
    X(log_ndtr, 0, 1, 0) \
    X(erfinv, 0, 9, 0) \
    X(ndtri, 0, 9, 0) \
    X(trigamma, 0, 0, 1) \
    X(digamma, 0, 1, 0) \
    X(lgamma, 0, 1, 0) \
    X(betaln, 0, 3, 0) \
    X(betaln, 1, 3, 0)

#ifndef RG_LISTS_ONLY
SIMD vd rgm_add(vd x, vd y, vd spare2) { return rgv_add(x, y); }
SIMD vd rgm_add_d0(vd x, vd y, vd spare2, vd z, vd upstream) { return upstream; }
SIMD vd rgm_add_d1(vd x, vd y, vd spare2, vd z, vd upstream) { return upstream; }
SIMD vd rgm_sub(vd x, vd y, vd spare2) { return rgv_sub(x, y); }
SIMD vd rgm_sub_d0(vd x, vd y, vd spare2, vd z, vd upstream) { return upstream; }
SIMD vd rgm_sub_d1(vd x, vd y, vd spare2, vd z, vd upstream) { return v_neg(upstream); }
SIMD vd rgm_mul(vd x, vd y, vd spare2) { return rgv_mul(x, y); }
SIMD vd rgm_mul_d0(vd x, vd y, vd spare2, vd z, vd upstream) { return v_mul(upstream, y); }
SIMD vd rgm_mul_d1(vd x, vd y, vd spare2, vd z, vd upstream) { return v_mul(upstream, x); }
SIMD vd rgm_div(vd x, vd y, vd spare2) { return rgv_div(x, y); }
SIMD vd rgm_div_d0(vd x, vd y, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_div(v_set(1.0), y)); }
SIMD vd rgm_div_d1(vd x, vd y, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_neg(v_div(z, y))); }
SIMD vd rgm_neg(vd x, vd spare1, vd spare2) { return rgv_neg(x); }
SIMD vd rgm_neg_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_neg(upstream); }
SIMD vd rgm_pow(vd x, vd y, vd spare2) { return rgv_pow(x, y); }
SIMD vd rgm_pow_d0(vd x, vd y, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_select(vm_and(v_eq(x, v_set(0.0)), v_eq(y, v_set(0.0))), v_set(0.0), v_select(vm_and(v_ge(v_abs(z), v_set(2.2250738585072014e-308)), v_le(v_abs(z), v_set(1.7976931348623157e+308))), v_select(vm_or(v_lt(v_abs(z), v_set(1.0)), v_lt(v_abs(y), v_set(1.0))), v_div(v_mul(y, z), v_select(v_eq(x, v_set(0.0)), v_set(1.0), x)), v_mul(y, v_div(z, v_select(v_eq(x, v_set(0.0)), v_set(1.0), x)))), v_select(v_lt(v_abs(z), v_set(2.2250738585072014e-308)), v_mul(v_mul(v_select(vm_and(v_lt(x, v_set(0.0)), v_eq(v_mul(v_set(2.0), v_floor(v_mul(v_set(0.5), y))), y)), v_neg(y), y), v_pow(v_select(v_lt(v_abs(z), v_set(2.2250738585072014e-308)), v_abs(x), x), v_select(v_lt(v_abs(z), v_set(2.2250738585072014e-308)), v_mul(v_set(0.5), v_sub(y, v_set(1.0))), v_sub(y, v_set(1.0))))), v_pow(v_select(v_lt(v_abs(z), v_set(2.2250738585072014e-308)), v_abs(x), x), v_select(v_lt(v_abs(z), v_set(2.2250738585072014e-308)), v_mul(v_set(0.5), v_sub(y, v_set(1.0))), v_sub(y, v_set(1.0))))), v_mul(y, v_pow(v_select(v_lt(v_abs(z), v_set(2.2250738585072014e-308)), v_abs(x), x), v_select(v_lt(v_abs(z), v_set(2.2250738585072014e-308)), v_mul(v_set(0.5), v_sub(y, v_set(1.0))), v_sub(y, v_set(1.0))))))))); }
SIMD vd rgm_pow_d1(vd x, vd y, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_select(vm_and(v_eq(x, v_set(0.0)), v_gt(y, v_set(0.0))), v_set(0.0), v_select(vm_and(v_ge(v_abs(z), v_set(2.2250738585072014e-308)), v_le(v_abs(z), v_set(1.7976931348623157e+308))), v_mul(z, v_log(x)), v_mul(v_mul(v_pow(x, v_mul(v_set(0.5), y)), v_log(x)), v_pow(x, v_mul(v_set(0.5), y)))))); }
SIMD vd rgm_square(vd x, vd spare1, vd spare2) { return rgv_square(x); }
SIMD vd rgm_square_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_mul(v_set(2.0), x)); }
SIMD vd rgm_reciprocal(vd x, vd spare1, vd spare2) { return rgv_reciprocal(x); }
SIMD vd rgm_reciprocal_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_neg(v_mul(z, z))); }
SIMD vd rgm_exp(vd x, vd spare1, vd spare2) { return rgv_exp(x); }
SIMD vd rgm_exp_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, z); }
SIMD vd rgm_expm1(vd x, vd spare1, vd spare2) { return rgv_expm1(x); }
SIMD vd rgm_expm1_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_exp(x)); }
SIMD vd rgm_log(vd x, vd spare1, vd spare2) { return rgv_log(x); }
SIMD vd rgm_log_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_div(v_set(1.0), x)); }
SIMD vd rgm_log1p(vd x, vd spare1, vd spare2) { return rgv_log1p(x); }
SIMD vd rgm_log1p_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_div(v_set(1.0), v_add(v_set(1.0), x))); }
SIMD vd rgm_exp2(vd x, vd spare1, vd spare2) { return rgv_exp2(x); }
SIMD vd rgm_exp2_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_mul(v_set(0.6931471805599453), z)); }
SIMD vd rgm_log2(vd x, vd spare1, vd spare2) { return rgv_log2(x); }
SIMD vd rgm_log2_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_div(v_set(1.4426950408889634), x)); }
SIMD vd rgm_log10(vd x, vd spare1, vd spare2) { return rgv_log10(x); }
SIMD vd rgm_log10_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_div(v_set(0.43429448190325176), x)); }
SIMD vd rgm_sqrt(vd x, vd spare1, vd spare2) { return rgv_sqrt(x); }
SIMD vd rgm_sqrt_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_div(v_set(0.5), z)); }
SIMD vd rgm_rsqrt(vd x, vd spare1, vd spare2) { return rgv_rsqrt(x); }
SIMD vd rgm_rsqrt_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_neg(v_mul(v_set(0.5), v_div(z, x)))); }
SIMD vd rgm_cbrt(vd x, vd spare1, vd spare2) { return rgv_cbrt(x); }
SIMD vd rgm_cbrt_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_div(v_set(1.0), v_mul(v_set(3.0), v_mul(z, z)))); }
SIMD vd rgm_xlogy(vd x, vd y, vd spare2) { return rgv_xlogy(x, y); }
SIMD vd rgm_xlogy_d0(vd x, vd y, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_select(vm_and(v_eq(x, v_set(0.0)), v_le(y, v_set(0.0))), v_set(0.0), v_log(y))); }
SIMD vd rgm_xlogy_d1(vd x, vd y, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_select(vm_and(v_eq(x, v_set(0.0)), v_eq(y, v_set(0.0))), v_set(0.0), v_div(x, y))); }
SIMD vd rgm_logit(vd x, vd spare1, vd spare2) { return rgv_logit(x); }
SIMD vd rgm_logit_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_div(v_div(v_set(1.0), x), v_sub(v_set(1.0), x))); }
SIMD vd rgm_sech2(vd x, vd spare1, vd spare2) { return rgv_sech2(x); }
SIMD vd rgm_sech2_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_neg(v_mul(v_mul(v_set(2.0), v_tanh(x)), z))); }
SIMD vd rgm_tanh(vd x, vd spare1, vd spare2) { return rgv_tanh(x); }
SIMD vd rgm_tanh_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, rgv_sech2(x)); }
SIMD vd rgm_sigmoid(vd x, vd spare1, vd spare2) { return rgv_sigmoid(x); }
SIMD vd rgm_sigmoid_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_mul(z, rgv_sigmoid(v_neg(x)))); }
SIMD vd rgm_relu(vd x, vd spare1, vd spare2) { return rgv_relu(x); }
SIMD vd rgm_relu_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_select(v_le(x, v_set(0.0)), v_set(0.0), v_set(1.0))); }
SIMD vd rgm_leaky_relu(vd x, vd slope, vd spare2) { return rgv_leaky_relu(x, slope); }
SIMD vd rgm_leaky_relu_d0(vd x, vd slope, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_select(v_le(x, v_set(0.0)), slope, v_set(1.0))); }
SIMD vd rgm_leaky_relu_d1(vd x, vd slope, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_select(v_le(x, v_set(0.0)), x, v_set(0.0))); }
SIMD vd rgm_softplus(vd x, vd spare1, vd spare2) { return rgv_softplus(x); }
SIMD vd rgm_softplus_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, rgv_sigmoid(x)); }
SIMD vd rgm_silu(vd x, vd spare1, vd spare2) { return rgv_silu(x); }
SIMD vd rgm_silu_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_add(rgv_sigmoid(x), v_mul(z, rgv_sigmoid(v_neg(x))))); }
SIMD vd rgm_logsigmoid(vd x, vd spare1, vd spare2) { return rgv_logsigmoid(x); }
SIMD vd rgm_logsigmoid_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, rgv_sigmoid(v_neg(x))); }
SIMD vd rgm_logaddexp(vd x, vd y, vd spare2) { return rgv_logaddexp(x, y); }
SIMD vd rgm_logaddexp_d0(vd x, vd y, vd spare2, vd z, vd upstream) { return v_mul(upstream, rgv_sigmoid(v_sub(x, y))); }
SIMD vd rgm_logaddexp_d1(vd x, vd y, vd spare2, vd z, vd upstream) { return v_mul(upstream, rgv_sigmoid(v_sub(y, x))); }
SIMD vd rgm_elu(vd x, vd alpha, vd spare2) { return rgv_elu(x, alpha); }
SIMD vd rgm_elu_d0(vd x, vd alpha, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_select(v_gt(x, v_set(0.0)), v_set(1.0), v_mul(alpha, v_exp(x)))); }
SIMD vd rgm_elu_d1(vd x, vd alpha, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_select(v_gt(x, v_set(0.0)), v_set(0.0), v_expm1(x))); }
SIMD vd rgm_celu(vd x, vd alpha, vd spare2) { return rgv_celu(x, alpha); }
SIMD vd rgm_celu_d0(vd x, vd alpha, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_select(v_gt(x, v_set(0.0)), v_set(1.0), v_exp(v_div(x, alpha)))); }
SIMD vd rgm_celu_d1(vd x, vd alpha, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_select(v_gt(x, v_set(0.0)), v_set(0.0), rgs_growth_gap(v_div(x, alpha)))); }
SIMD vd rgm_selu(vd x, vd spare1, vd spare2) { return rgv_selu(x); }
SIMD vd rgm_selu_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_mul(v_set(1.0507009873554805), v_select(v_gt(x, v_set(0.0)), v_set(1.0), v_mul(v_set(1.6732632423543772), v_exp(x))))); }
SIMD vd rgm_mish(vd x, vd spare1, vd spare2) { return rgv_mish(x); }
SIMD vd rgm_mish_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, rgs_gated_by_softplus_slope(x)); }
SIMD vd rgm_softsign(vd x, vd spare1, vd spare2) { return rgv_softsign(x); }
SIMD vd rgm_softsign_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_div(v_div(v_set(1.0), v_add(v_set(1.0), v_abs(x))), v_add(v_set(1.0), v_abs(x)))); }
SIMD vd rgm_relu6(vd x, vd spare1, vd spare2) { return rgv_relu6(x); }
SIMD vd rgm_relu6_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_select(vm_or(v_le(x, v_set(0.0)), v_ge(x, v_set(6.0))), v_set(0.0), v_set(1.0))); }
SIMD vd rgm_hardtanh(vd x, vd low, vd high) { return rgv_hardtanh(x, low, high); }
SIMD vd rgm_hardtanh_d0(vd x, vd low, vd high, vd z, vd upstream) { return v_mul(upstream, v_select(vm_or(vm_or(v_le(x, low), v_ne(low, low)), vm_or(v_ge(x, high), v_ne(high, high))), v_set(0.0), v_set(1.0))); }
SIMD vd rgm_hardtanh_d1(vd x, vd low, vd high, vd z, vd upstream) { return v_mul(upstream, v_select(vm_or(v_ge(x, high), v_ne(high, high)), v_set(0.0), v_select(vm_or(v_le(x, low), v_ne(low, low)), v_set(1.0), v_set(0.0)))); }
SIMD vd rgm_hardtanh_d2(vd x, vd low, vd high, vd z, vd upstream) { return v_mul(upstream, v_select(vm_or(v_ge(x, high), v_ne(high, high)), v_set(1.0), v_set(0.0))); }
SIMD vd rgm_hardswish(vd x, vd spare1, vd spare2) { return rgv_hardswish(x); }
SIMD vd rgm_hardswish_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_select(v_le(x, v_set(-3.0)), v_set(0.0), v_select(v_ge(x, v_set(3.0)), v_set(1.0), v_add(v_div(x, v_set(3.0)), v_set(0.5))))); }
SIMD vd rgm_sin(vd x, vd spare1, vd spare2) { return rgv_sin(x); }
SIMD vd rgm_sin_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_cos(x)); }
SIMD vd rgm_cos(vd x, vd spare1, vd spare2) { return rgv_cos(x); }
SIMD vd rgm_cos_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_neg(v_sin(x))); }
SIMD vd rgm_tan(vd x, vd spare1, vd spare2) { return rgv_tan(x); }
SIMD vd rgm_tan_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_add(v_set(1.0), v_mul(z, z))); }
SIMD vd rgm_asin(vd x, vd spare1, vd spare2) { return rgv_asin(x); }
SIMD vd rgm_asin_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_div(v_set(1.0), v_sqrt(v_mul(v_sub(v_set(1.0), x), v_add(v_set(1.0), x))))); }
SIMD vd rgm_acos(vd x, vd spare1, vd spare2) { return rgv_acos(x); }
SIMD vd rgm_acos_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_neg(v_div(v_set(1.0), v_sqrt(v_mul(v_sub(v_set(1.0), x), v_add(v_set(1.0), x)))))); }
SIMD vd rgm_atan(vd x, vd spare1, vd spare2) { return rgv_atan(x); }
SIMD vd rgm_atan_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_div(v_set(8.673617379884035e-19), v_add(v_set(8.673617379884035e-19), v_mul(v_mul(x, v_set(9.313225746154785e-10)), v_mul(x, v_set(9.313225746154785e-10)))))); }
SIMD vd rgm_atan2(vd y, vd x, vd spare2) { return rgv_atan2(y, x); }
SIMD vd rgm_atan2_d0(vd y, vd x, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_mul(v_select(vm_or(v_gt(v_abs(x), v_set(1.0)), v_gt(v_abs(y), v_set(1.0))), v_set(0.5), v_set(1.0)), v_div(v_div(v_mul(v_select(vm_or(v_gt(v_abs(x), v_set(1.0)), v_gt(v_abs(y), v_set(1.0))), v_set(0.5), v_set(1.0)), x), v_hypot(v_mul(v_select(vm_or(v_gt(v_abs(x), v_set(1.0)), v_gt(v_abs(y), v_set(1.0))), v_set(0.5), v_set(1.0)), x), v_mul(v_select(vm_or(v_gt(v_abs(x), v_set(1.0)), v_gt(v_abs(y), v_set(1.0))), v_set(0.5), v_set(1.0)), y))), v_hypot(v_mul(v_select(vm_or(v_gt(v_abs(x), v_set(1.0)), v_gt(v_abs(y), v_set(1.0))), v_set(0.5), v_set(1.0)), x), v_mul(v_select(vm_or(v_gt(v_abs(x), v_set(1.0)), v_gt(v_abs(y), v_set(1.0))), v_set(0.5), v_set(1.0)), y))))); }
SIMD vd rgm_atan2_d1(vd y, vd x, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_neg(v_mul(v_select(vm_or(v_gt(v_abs(x), v_set(1.0)), v_gt(v_abs(y), v_set(1.0))), v_set(0.5), v_set(1.0)), v_div(v_div(v_mul(v_select(vm_or(v_gt(v_abs(x), v_set(1.0)), v_gt(v_abs(y), v_set(1.0))), v_set(0.5), v_set(1.0)), y), v_hypot(v_mul(v_select(vm_or(v_gt(v_abs(x), v_set(1.0)), v_gt(v_abs(y), v_set(1.0))), v_set(0.5), v_set(1.0)), x), v_mul(v_select(vm_or(v_gt(v_abs(x), v_set(1.0)), v_gt(v_abs(y), v_set(1.0))), v_set(0.5), v_set(1.0)), y))), v_hypot(v_mul(v_select(vm_or(v_gt(v_abs(x), v_set(1.0)), v_gt(v_abs(y), v_set(1.0))), v_set(0.5), v_set(1.0)), x), v_mul(v_select(vm_or(v_gt(v_abs(x), v_set(1.0)), v_gt(v_abs(y), v_set(1.0))), v_set(0.5), v_set(1.0)), y)))))); }
SIMD vd rgm_sinh(vd x, vd spare1, vd spare2) { return rgv_sinh(x); }
SIMD vd rgm_sinh_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_cosh(x)); }
SIMD vd rgm_cosh(vd x, vd spare1, vd spare2) { return rgv_cosh(x); }
SIMD vd rgm_cosh_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_sinh(x)); }
SIMD vd rgm_asinh(vd x, vd spare1, vd spare2) { return rgv_asinh(x); }
SIMD vd rgm_asinh_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_div(v_set(1.0), v_hypot(x, v_set(1.0)))); }
SIMD vd rgm_acosh(vd x, vd spare1, vd spare2) { return rgv_acosh(x); }
SIMD vd rgm_acosh_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_div(v_set(1.0), v_mul(v_sqrt(v_sub(x, v_set(1.0))), v_sqrt(v_add(x, v_set(1.0)))))); }
SIMD vd rgm_atanh(vd x, vd spare1, vd spare2) { return rgv_atanh(x); }
SIMD vd rgm_atanh_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_div(v_set(1.0), v_mul(v_sub(v_set(1.0), x), v_add(v_set(1.0), x)))); }
SIMD vd rgm_hypot(vd x, vd y, vd spare2) { return rgv_hypot(x, y); }
SIMD vd rgm_hypot_d0(vd x, vd y, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_select(v_eq(z, v_set(0.0)), v_set(0.0), v_select(vm_and(v_ge(z, v_set(1.1830521861667747e-271)), v_le(z, v_set(1.7976931348623157e+308))), v_div(x, z), v_div(v_mul(v_select(v_gt(z, v_set(1.0)), v_set(0.5), v_set(4.149515568880993e+180)), x), v_hypot(v_mul(v_select(v_gt(z, v_set(1.0)), v_set(0.5), v_set(4.149515568880993e+180)), x), v_mul(v_select(v_gt(z, v_set(1.0)), v_set(0.5), v_set(4.149515568880993e+180)), y)))))); }
SIMD vd rgm_hypot_d1(vd x, vd y, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_select(v_eq(z, v_set(0.0)), v_set(0.0), v_select(vm_and(v_ge(z, v_set(1.1830521861667747e-271)), v_le(z, v_set(1.7976931348623157e+308))), v_div(y, z), v_div(v_mul(v_select(v_gt(z, v_set(1.0)), v_set(0.5), v_set(4.149515568880993e+180)), y), v_hypot(v_mul(v_select(v_gt(z, v_set(1.0)), v_set(0.5), v_set(4.149515568880993e+180)), x), v_mul(v_select(v_gt(z, v_set(1.0)), v_set(0.5), v_set(4.149515568880993e+180)), y)))))); }
SIMD vd rgm_sinc(vd x, vd spare1, vd spare2) { return rgv_sinc(x); }
SIMD vd rgm_sinc_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, rgs_sine_cardinal_slope(x)); }
SIMD vd rgm_sign(vd x, vd spare1, vd spare2) { return rgv_sign(x); }
SIMD vd rgm_sign_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_set(0.0)); }
SIMD vd rgm_abs(vd x, vd spare1, vd spare2) { return rgv_abs(x); }
SIMD vd rgm_abs_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, rgv_sign(x)); }
SIMD vd rgm_floor(vd x, vd spare1, vd spare2) { return rgv_floor(x); }
SIMD vd rgm_floor_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_set(0.0)); }
SIMD vd rgm_ceil(vd x, vd spare1, vd spare2) { return rgv_ceil(x); }
SIMD vd rgm_ceil_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_set(0.0)); }
SIMD vd rgm_trunc(vd x, vd spare1, vd spare2) { return rgv_trunc(x); }
SIMD vd rgm_trunc_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_set(0.0)); }
SIMD vd rgm_round(vd x, vd spare1, vd spare2) { return rgv_round(x); }
SIMD vd rgm_round_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_set(0.0)); }
SIMD vd rgm_fmod(vd x, vd y, vd spare2) { return rgv_fmod(x, y); }
SIMD vd rgm_fmod_d0(vd x, vd y, vd spare2, vd z, vd upstream) { return upstream; }
SIMD vd rgm_fmod_d1(vd x, vd y, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_neg(rgv_round(v_div(v_sub(x, z), y)))); }
SIMD vd rgm_remainder(vd x, vd y, vd spare2) { return rgv_remainder(x, y); }
SIMD vd rgm_remainder_d0(vd x, vd y, vd spare2, vd z, vd upstream) { return upstream; }
SIMD vd rgm_remainder_d1(vd x, vd y, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_sub(v_select(vm_or(vm_and(v_lt(v_fmod(x, y), v_set(0.0)), v_gt(y, v_set(0.0))), vm_and(v_gt(v_fmod(x, y), v_set(0.0)), v_lt(y, v_set(0.0)))), v_set(1.0), v_set(0.0)), rgv_round(v_div(v_sub(x, v_fmod(x, y)), y)))); }
SIMD vd rgm_maximum(vd x, vd y, vd spare2) { return rgv_maximum(x, y); }
SIMD vd rgm_maximum_d0(vd x, vd y, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_select(vm_or(v_ge(x, y), v_ne(x, x)), v_set(1.0), v_set(0.0))); }
SIMD vd rgm_maximum_d1(vd x, vd y, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_select(vm_or(v_ge(x, y), v_ne(x, x)), v_set(0.0), v_set(1.0))); }
SIMD vd rgm_minimum(vd x, vd y, vd spare2) { return rgv_minimum(x, y); }
SIMD vd rgm_minimum_d0(vd x, vd y, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_select(vm_or(v_le(x, y), v_ne(x, x)), v_set(1.0), v_set(0.0))); }
SIMD vd rgm_minimum_d1(vd x, vd y, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_select(vm_or(v_le(x, y), v_ne(x, x)), v_set(0.0), v_set(1.0))); }
SIMD vd rgm_clip(vd x, vd low, vd high) { return rgv_clip(x, low, high); }
SIMD vd rgm_clip_d0(vd x, vd low, vd high, vd z, vd upstream) { return v_mul(upstream, v_select(vm_or(vm_or(vm_or(v_lt(x, low), v_gt(x, high)), v_ne(low, low)), v_ne(high, high)), v_set(0.0), v_set(1.0))); }
SIMD vd rgm_clip_d1(vd x, vd low, vd high, vd z, vd upstream) { return v_mul(upstream, v_select(vm_or(v_gt(v_select(vm_or(v_lt(x, low), v_ne(low, low)), low, x), high), v_ne(high, high)), v_set(0.0), v_select(vm_or(v_lt(x, low), v_ne(low, low)), v_set(1.0), v_set(0.0)))); }
SIMD vd rgm_clip_d2(vd x, vd low, vd high, vd z, vd upstream) { return v_mul(upstream, v_select(vm_or(v_gt(v_select(vm_or(v_lt(x, low), v_ne(low, low)), low, x), high), v_ne(high, high)), v_set(1.0), v_set(0.0))); }
SIMD vd rgm_where(vd condition, vd x, vd y) { return rgv_where(condition, x, y); }
SIMD vd rgm_where_d0(vd condition, vd x, vd y, vd z, vd upstream) { return v_mul(upstream, v_set(0.0)); }
SIMD vd rgm_where_d1(vd condition, vd x, vd y, vd z, vd upstream) { return v_mul(upstream, v_select(v_ne(condition, v_set(0.0)), v_set(1.0), v_set(0.0))); }
SIMD vd rgm_where_d2(vd condition, vd x, vd y, vd z, vd upstream) { return v_mul(upstream, v_select(v_ne(condition, v_set(0.0)), v_set(0.0), v_set(1.0))); }
SIMD vd rgm_less(vd x, vd y, vd spare2) { return rgv_less(x, y); }
SIMD vd rgm_less_d0(vd x, vd y, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_set(0.0)); }
SIMD vd rgm_less_d1(vd x, vd y, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_set(0.0)); }
SIMD vd rgm_less_equal(vd x, vd y, vd spare2) { return rgv_less_equal(x, y); }
SIMD vd rgm_less_equal_d0(vd x, vd y, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_set(0.0)); }
SIMD vd rgm_less_equal_d1(vd x, vd y, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_set(0.0)); }
SIMD vd rgm_equal(vd x, vd y, vd spare2) { return rgv_equal(x, y); }
SIMD vd rgm_equal_d0(vd x, vd y, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_set(0.0)); }
SIMD vd rgm_equal_d1(vd x, vd y, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_set(0.0)); }
SIMD vd rgm_gauss(vd x, vd spare1, vd spare2) { return rgv_gauss(x); }
SIMD vd rgm_gauss_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_neg(v_mul(v_set(2.0), v_mul(x, z)))); }
SIMD vd rgm_norm_pdf(vd x, vd spare1, vd spare2) { return rgv_norm_pdf(x); }
SIMD vd rgm_norm_pdf_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_neg(v_mul(x, z))); }
SIMD vd rgm_erf(vd x, vd spare1, vd spare2) { return rgv_erf(x); }
SIMD vd rgm_erf_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_mul(v_set(1.1283791670955126), rgv_gauss(x))); }
SIMD vd rgm_erfc(vd x, vd spare1, vd spare2) { return rgv_erfc(x); }
SIMD vd rgm_erfc_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_neg(v_mul(v_set(1.1283791670955126), rgv_gauss(x)))); }
SIMD vd rgm_norm_cdf(vd x, vd spare1, vd spare2) { return rgv_norm_cdf(x); }
SIMD vd rgm_norm_cdf_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, rgv_norm_pdf(x)); }
SIMD vd rgm_gelu(vd x, vd spare1, vd spare2) { return rgv_gelu(x); }
SIMD vd rgm_gelu_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_add(rgv_norm_cdf(x), v_mul(v_mul(v_mul(v_set(0.3989422804014327), x), rgv_gauss(v_mul(v_set(0.5), x))), rgv_gauss(v_mul(v_set(0.5), x))))); }
SIMD vd rgm_erfcx(vd x, vd spare1, vd spare2) { return rgv_erfcx(x); }
SIMD vd rgm_erfcx_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, rgs_scaled_erfc_slope(x)); }
SIMD vd rgm_log_ndtr(vd x, vd spare1, vd spare2) { return rgv_log_ndtr(x); }
SIMD vd rgm_log_ndtr_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_select(v_lt(x, v_set(0.0)), v_div(v_set(0.7978845608028654), rgv_erfcx(v_neg(v_mul(v_select(v_lt(x, v_set(0.0)), x, v_set(0.0)), v_set(0.7071067811865476))))), v_div(rgv_norm_pdf(v_select(v_lt(x, v_set(0.0)), v_set(0.0), x)), rgv_norm_cdf(v_select(v_lt(x, v_set(0.0)), v_set(0.0), x))))); }
SIMD vd rgm_erfinv(vd x, vd spare1, vd spare2) { return rgv_erfinv(x); }
SIMD vd rgm_erfinv_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_select(v_eq(v_select(v_lt(x, v_set(0.0)), v_add(v_set(1.0), x), v_sub(v_set(1.0), x)), v_set(0.0)), v_div(v_set(1.0), v_select(v_lt(x, v_set(0.0)), v_add(v_set(1.0), x), v_sub(v_set(1.0), x))), v_div(v_mul(v_set(0.8862269254527579), rgv_erfcx(v_select(v_lt(x, v_set(0.0)), v_neg(z), z))), v_select(v_lt(x, v_set(0.0)), v_add(v_set(1.0), x), v_sub(v_set(1.0), x))))); }
SIMD vd rgm_ndtri(vd x, vd spare1, vd spare2) { return rgv_ndtri(x); }
SIMD vd rgm_ndtri_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, v_select(v_eq(v_select(v_lt(x, v_set(0.5)), x, v_sub(v_set(1.0), x)), v_set(0.0)), v_div(v_set(1.0), v_select(v_lt(x, v_set(0.5)), x, v_sub(v_set(1.0), x))), v_div(v_mul(v_set(1.2533141373155001), rgv_erfcx(v_mul(v_select(v_lt(x, v_set(0.5)), v_neg(z), z), v_set(0.7071067811865476)))), v_select(v_lt(x, v_set(0.5)), x, v_sub(v_set(1.0), x))))); }
SIMD vd rgm_trigamma(vd x, vd spare1, vd spare2) { return rgv_trigamma(x); }
SIMD vd rgm_trigamma_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_set(RG_NAN); }
SIMD vd rgm_digamma(vd x, vd spare1, vd spare2) { return rgv_digamma(x); }
SIMD vd rgm_digamma_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, rgv_trigamma(x)); }
SIMD vd rgm_lgamma(vd x, vd spare1, vd spare2) { return rgv_lgamma(x); }
SIMD vd rgm_lgamma_d0(vd x, vd spare1, vd spare2, vd z, vd upstream) { return v_mul(upstream, rgv_digamma(x)); }
SIMD vd rgm_betaln(vd x, vd y, vd spare2) { return rgv_betaln(x, y); }
SIMD vd rgm_betaln_d0(vd x, vd y, vd spare2, vd z, vd upstream) { return v_mul(upstream, rgs_psi_drop(x, y)); }
SIMD vd rgm_betaln_d1(vd x, vd y, vd spare2, vd z, vd upstream) { return v_mul(upstream, rgs_psi_drop(y, x)); }

#endif
#endif
