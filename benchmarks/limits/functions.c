/* The functions of vector.h over arrays, for the test of their accuracy. The length must be a
 * multiple of eight. */
#include "vector.h"

#define OVER_ARRAYS(name, expression)                                                              \
    void name(size_t n, const double *from, double *to) {                                          \
        for (size_t i = 0; i < n; i += LANES) {                                                    \
            vec x = load(from + i);                                                                \
            store(to + i, expression);                                                             \
        }                                                                                          \
    }

static inline vec cdf(vec x) {
    vec density;
    return normal(x, &density);
}

OVER_ARRAYS(limit_exp, vexp(x))
OVER_ARRAYS(limit_log, vlog(x))
OVER_ARRAYS(limit_norm_cdf, cdf(x))

const char *limit_simd(void) { return SIMD; }
