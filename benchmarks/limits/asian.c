/* The limit for `asian`: an arithmetic Asian call and its five sensitivities on every path.
 *
 * A vector holds the same step of neighbouring paths, so the row-major normals are transposed on
 * the way in, four steps at a time. Going forward, the prices and the transposed normals of one
 * tile of paths are kept, which fit into the first-level cache; going back, the adjoint of the
 * price times the price obeys q[t] = q[t+1] + S[t] (with a seed of one for every price that is
 * averaged), and q[t+1] is what arrives at the exponent of step t: two loads and three additions
 * a step. The seed is applied at the end. While one tile is worked on, the next is fetched.
 */
#include <math.h>
#include <stdlib.h>

#include "vector.h"

enum { OUTPUTS = 6, STEPS_AT_ONCE = 4 };

/* What all paths share. */
typedef struct {
    size_t steps;
    double spot, strike, r, sigma, t, drift, volatility, discount;
} market;

/* Steps of LANES neighbouring paths, one vector a step; `stride` is from path to path. */
static inline void transpose(const double *z, size_t stride, vec step[STEPS_AT_ONCE])
{
#if LANES == 8
    __m512d pairs[4];
    for (int i = 0; i < 4; i++) {
        const double *from = z + (i % 2 + i / 2 * 4) * stride;
        pairs[i] = _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(from)),
                                      _mm256_loadu_pd(from + 2 * stride), 1);
    }
    vec even01 = _mm512_unpacklo_pd(pairs[0], pairs[1]);
    vec odd01 = _mm512_unpackhi_pd(pairs[0], pairs[1]);
    vec even45 = _mm512_unpacklo_pd(pairs[2], pairs[3]);
    vec odd45 = _mm512_unpackhi_pd(pairs[2], pairs[3]);
    step[0] = _mm512_shuffle_f64x2(even01, even45, 0x88);
    step[1] = _mm512_shuffle_f64x2(odd01, odd45, 0x88);
    step[2] = _mm512_shuffle_f64x2(even01, even45, 0xdd);
    step[3] = _mm512_shuffle_f64x2(odd01, odd45, 0xdd);
#else
    __m256d pairs[4];
    for (int i = 0; i < 4; i++) {
        const double *from = z + i % 2 * stride + i / 2 * 2;
        pairs[i] = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(from)),
                                        _mm_loadu_pd(from + 2 * stride), 1);
    }
    step[0] = _mm256_unpacklo_pd(pairs[0], pairs[1]);
    step[1] = _mm256_unpackhi_pd(pairs[0], pairs[1]);
    step[2] = _mm256_unpacklo_pd(pairs[2], pairs[3]);
    step[3] = _mm256_unpackhi_pd(pairs[2], pairs[3]);
#endif
}

/* One tile: LANES paths. `kept` has room for a price and a normal of every step. */
static void tile(const market *m, const double *z, size_t stride, double *kept,
                 double *const out[OUTPUTS], size_t path)
{
    const vec drift = splat(m->drift), volatility = splat(m->volatility);
    const size_t steps = m->steps;
    vec price = splat(m->spot), sum = splat(0.0);
    for (size_t t = 0; t < steps; t += STEPS_AT_ONCE) {
        vec normal[STEPS_AT_ONCE];
        transpose(z + t, stride, normal);
        for (int i = 0; i < STEPS_AT_ONCE; i++) {
            price = price * vexp(fma_(volatility, normal[i], drift));
            sum = sum + price;
            store(kept + (t + i) * 2 * LANES, price);
            store(kept + (t + i) * 2 * LANES + LANES, normal[i]);
        }
    }

    vec q = splat(0.0), to_drift = splat(0.0), to_volatility = splat(0.0);
    for (size_t t = steps; t-- > 0;) {
        q = q + load(kept + t * 2 * LANES);
        to_drift = to_drift + q;
        to_volatility = fma_(q, load(kept + t * 2 * LANES + LANES), to_volatility);
    }

    const double n = (double)steps, dt = m->t / n;
    vec above = sum * splat(1.0 / n) - splat(m->strike);
    vec in_the_money = where_not_below(above, splat(0.0), splat(m->discount), splat(0.0));
    vec value = in_the_money * above;
    vec seed = in_the_money * splat(1.0 / n);
    to_drift = to_drift * seed;
    to_volatility = to_volatility * seed;
    store(out[0] + path, value);
    store(out[1] + path, sum * seed * splat(1.0 / m->spot));
    store(out[2] + path, -in_the_money);
    store(out[3] + path, fma_(to_drift, splat(dt), splat(-m->t) * value));
    store(out[4] + path,
          fma_(to_drift, splat(-m->sigma * dt), to_volatility * splat(sqrt(dt))));
    store(out[5] + path, fma_(to_drift, splat(m->drift / m->t),
                              fma_(to_volatility, splat(0.5 * m->volatility / m->t),
                                   splat(-m->r) * value)));
}
