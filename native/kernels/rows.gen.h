/* Generated from src/retrograde/ops/scalar.py by tools/regenerate.py: do not edit. */
#ifndef RG_ROWS_GEN_H
#define RG_ROWS_GEN_H

SIMD vd rgv_add(vd x, vd y) { return v_add(x, y); }
SIMD vd rgv_sub(vd x, vd y) { return v_sub(x, y); }
SIMD vd rgv_mul(vd x, vd y) { return v_mul(x, y); }
SIMD vd rgv_div(vd x, vd y) { return v_div(x, y); }
SIMD vd rgv_neg(vd x) { return v_neg(x); }
SIMD vd rgv_pow(vd x, vd y) { return v_pow(x, y); }
SIMD vd rgv_square(vd x) { return v_mul(x, x); }
SIMD vd rgv_reciprocal(vd x) { return v_div(v_set(1.0), x); }
SIMD vd rgv_exp(vd x) { return v_exp(x); }
SIMD vd rgv_expm1(vd x) { return v_expm1(x); }
SIMD vd rgv_log(vd x) { return v_log(x); }
SIMD vd rgv_log1p(vd x) { return v_log1p(x); }
SIMD vd rgv_log2(vd x) { return v_log2(x); }
SIMD vd rgv_log10(vd x) { return v_log10(x); }
SIMD vd rgv_sqrt(vd x) { return v_sqrt(x); }
SIMD vd rgv_sech2(vd x) { return v_sech2(x); }
SIMD vd rgv_tanh(vd x) { return v_tanh(x); }
SIMD vd rgv_sigmoid(vd x) { return v_sigmoid(x); }
SIMD vd rgv_relu(vd x) { return v_select(v_le(x, v_set(0.0)), v_set(0.0), x); }
SIMD vd rgv_leaky_relu(vd x, vd slope) { return v_select(v_le(x, v_set(0.0)), v_mul(slope, x), x); }
SIMD vd rgv_softplus(vd x) { return v_add(v_select(v_le(x, v_set(0.0)), v_set(0.0), x), v_log1p(v_exp(v_neg(v_abs(x))))); }
SIMD vd rgv_silu(vd x) { return v_silu(x); }
SIMD vd rgv_sin(vd x) { return v_sin(x); }
SIMD vd rgv_cos(vd x) { return v_cos(x); }
SIMD vd rgv_tan(vd x) { return v_tan(x); }
SIMD vd rgv_asin(vd x) { return v_asin(x); }
SIMD vd rgv_acos(vd x) { return v_acos(x); }
SIMD vd rgv_atan(vd x) { return v_atan(x); }
SIMD vd rgv_atan2(vd y, vd x) { return v_atan2(y, x); }
SIMD vd rgv_sinh(vd x) { return v_sinh(x); }
SIMD vd rgv_cosh(vd x) { return v_cosh(x); }
SIMD vd rgv_asinh(vd x) { return v_asinh(x); }
SIMD vd rgv_acosh(vd x) { return v_acosh(x); }
SIMD vd rgv_atanh(vd x) { return v_atanh(x); }
SIMD vd rgv_hypot(vd x, vd y) { return v_hypot(x, y); }
SIMD vd rgv_sign(vd x) { return v_select(v_gt(x, v_set(0.0)), v_set(1.0), v_select(v_lt(x, v_set(0.0)), v_set(-1.0), x)); }
SIMD vd rgv_abs(vd x) { return v_abs(x); }
SIMD vd rgv_floor(vd x) { return v_floor(x); }
SIMD vd rgv_maximum(vd x, vd y) { return v_select(vm_or(v_ge(x, y), v_ne(x, x)), x, y); }
SIMD vd rgv_minimum(vd x, vd y) { return v_select(vm_or(v_le(x, y), v_ne(x, x)), x, y); }
SIMD vd rgv_clip(vd x, vd low, vd high) { return v_select(vm_or(v_gt(v_select(vm_or(v_lt(x, low), v_ne(low, low)), low, x), high), v_ne(high, high)), high, v_select(vm_or(v_lt(x, low), v_ne(low, low)), low, x)); }
SIMD vd rgv_where(vd condition, vd x, vd y) { return v_select(v_ne(condition, v_set(0.0)), x, y); }
SIMD vd rgv_less(vd x, vd y) { return v_select(v_lt(x, y), v_set(1.0), v_set(0.0)); }
SIMD vd rgv_less_equal(vd x, vd y) { return v_select(v_le(x, y), v_set(1.0), v_set(0.0)); }
SIMD vd rgv_equal(vd x, vd y) { return v_select(v_eq(x, y), v_set(1.0), v_set(0.0)); }
SIMD vd rgv_gauss(vd x) { return v_gauss(x); }
SIMD vd rgv_norm_pdf(vd x) { return v_norm_pdf(x); }
SIMD vd rgv_erf(vd x) { return v_erf(x); }
SIMD vd rgv_erfc(vd x) { return v_erfc(x); }
SIMD vd rgv_norm_cdf(vd x) { return v_norm_cdf(x); }
SIMD vd rgv_gelu(vd x) { return v_gelu(x); }

#endif
