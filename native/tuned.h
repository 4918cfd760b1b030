/* Rows of the law that are computed as a whole, because their expression would lose digits.
 *
 * The C library does the hard part; what is added here is what rounding takes from its argument.
 * src/retrograde/ops/emit/ieee.py has the same in Python; the vector kernels have forms of their
 * own. */
#ifndef RG_TUNED_H
#define RG_TUNED_H

#include "platform.h"

#define RG_TUNED static inline RG_UNUSED

/* What rounding took from `product`, which is x * y; for sizes below 2^480. */
RG_TUNED double rg_product_rest(double x, double y, double product) {
    double x_high = x * 134217729.0 - (x * 134217729.0 - x), x_low = x - x_high;
    double y_high = y * 134217729.0 - (y * 134217729.0 - y), y_low = y - y_high;
    return ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low;
}

/* exp(-scale * a^2); the rounding of a^2 = 700 alone would be an error of 250 ulps. */
RG_TUNED double rg_exp_minus_square(double a, double scale) {
    double square = a * a;
    double e = exp(-scale * square);
    return e - e * (scale * rg_product_rest(a, a, square));
}

RG_TUNED double rg_tuned_gauss(double x) {
    double a = fabs(x);
    return rg_exp_minus_square(a > 28.0 ? 28.0 : a, 1.0);
}

RG_TUNED double rg_tuned_norm_pdf(double x) {
    double a = fabs(x);
    return 0.3989422804014327 * rg_exp_minus_square(a > 40.0 ? 40.0 : a, 0.5);
}

/* erfc(-x/sqrt2) / 2. What rounding takes from x/sqrt2 is put back by the slope there. */
RG_TUNED double rg_tuned_norm_cdf(double x) {
    if (fabs(x) > 40.0) return x > 0.0 ? 1.0 : 0.0;
    double a = -x * 0.7071067811865476;
    double rest = rg_product_rest(-x, 0.7071067811865476, a) - x * -4.833646656726457e-17;
    return 0.5 * (erfc(a) - rest * (1.1283791670955126 * exp(-a * a)));
}

/* x * norm_cdf(x), and by its asymptotic series where norm_cdf(x) is denormal. */
RG_TUNED double rg_tuned_gelu(double x) {
    if (!(x < -37.0 && x > -HUGE_VAL)) return x * rg_tuned_norm_cdf(x);
    double r = 1.0 / (x * x);
    double series =
        1.0 -
        r * (1.0 -
             3.0 * r * (1.0 - 5.0 * r * (1.0 - 7.0 * r * (1.0 - 9.0 * r * (1.0 - 11.0 * r)))));
    return -(rg_tuned_norm_pdf(x) * series);
}

/* 1 / cosh(x)^2, down to the last denormal. */
RG_TUNED double rg_tuned_sech2(double x) {
    double e = exp(-2.0 * fabs(x));
    double below = 1.0 + e * (2.0 + e); /* (1 + e)^2 */
    return e > 0.25 ? 1.0 - (1.0 - e) * (1.0 - e) / below : 4.0 * e / below;
}

/* x / (1 + exp(-x)), in two halves where the exponential alone is denormal. */
RG_TUNED double rg_tuned_silu(double x) {
    if (x < -700.0) {
        double half = exp(0.5 * x);
        return x * half * half;
    }
    double e = exp(-fabs(x));
    return x >= 0.0 ? x / (1.0 + e) : x * (e / (1.0 + e));
}

#endif
