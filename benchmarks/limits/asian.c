/* The limit for `asian`: an arithmetic Asian call and its five sensitivities on every path.
 *
 * A vector holds the same step of neighbouring paths, so the row-major normals are transposed on
 * the way in, four steps at a time. Going forward, the prices and the transposed normals of a
 * tile of paths are kept, 32 kB, while the next tile is fetched. Going back, let q be the adjoint
 * of a price times that price. Then q[t] = q[t+1] + S[t] (with a seed of one for every price in
 * the average, the true one applied at the end), and q[t+1] is just what arrives at the exponent
 * of step t.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vector.h"

enum { OUTPUTS = 6, STEPS_AT_ONCE = 4 };

/* What all paths share. */
typedef struct {
    size_t steps;
    double spot, strike, r, sigma, t, drift, volatility, discount;
} market;

/* Four steps of LANES neighbouring paths, one vector a step; `stride` is from path to path. */
static inline void transpose(const double *z, size_t stride, vec step[STEPS_AT_ONCE]) {
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

/* One step forward; the price and the normal are kept for the way back. */
static inline vec advance(const market *m, vec price, vec normal, double *kept) {
    price = price * vexp(fma_(splat(m->volatility), normal, splat(m->drift)));
    store(kept, price);
    store(kept + LANES, normal);
    return price;
}

static inline vec forward(const market *m, const double *z, double *kept) {
    const size_t steps = m->steps, whole = steps - steps % STEPS_AT_ONCE;
    const double *next = z + LANES * steps;
    vec price = splat(m->spot), sum = splat(0.0);
    for (size_t t = 0; t < whole; t += STEPS_AT_ONCE) {
        vec normal[STEPS_AT_ONCE];
        transpose(z + t, steps, normal);
        for (size_t i = 0; i < STEPS_AT_ONCE; i++) {
            fetch(next + (t + i) * LANES);
            price = advance(m, price, normal[i], kept + (t + i) * 2 * LANES);
            sum = sum + price;
        }
    }
    for (size_t t = whole; t < steps; t++) {
        double lanes[LANES];
        for (size_t i = 0; i < LANES; i++) lanes[i] = z[i * steps + t];
        price = advance(m, price, load(lanes), kept + t * 2 * LANES);
        sum = sum + price;
    }
    return sum;
}

/* Four steps at once, so that q waits for one addition and not for four. */
static inline void back(size_t steps, const double *kept, vec *to_drift, vec *to_volatility) {
    vec q = splat(0.0), drift[2] = {q, q}, volatility[2] = {q, q};
    for (; steps >= STEPS_AT_ONCE; steps -= STEPS_AT_ONCE) {
        const double *at = kept + (steps - STEPS_AT_ONCE) * 2 * LANES;
        vec p3 = load(at + 6 * LANES), p2 = p3 + load(at + 4 * LANES);
        vec p1 = p2 + load(at + 2 * LANES), p0 = p1 + load(at);
        vec q3 = q + p3, q2 = q + p2, q1 = q + p1, q0 = q + p0;
        drift[0] = drift[0] + (q3 + q2);
        drift[1] = drift[1] + (q1 + q0);
        volatility[0] = fma_(q3, load(at + 7 * LANES), volatility[0]);
        volatility[1] = fma_(q2, load(at + 5 * LANES), volatility[1]);
        volatility[0] = fma_(q1, load(at + 3 * LANES), volatility[0]);
        volatility[1] = fma_(q0, load(at + LANES), volatility[1]);
        q = q0;
    }
    while (steps-- > 0) {
        q = q + load(kept + steps * 2 * LANES);
        drift[0] = drift[0] + q;
        volatility[0] = fma_(q, load(kept + steps * 2 * LANES + LANES), volatility[0]);
    }
    *to_drift = drift[0] + drift[1];
    *to_volatility = volatility[0] + volatility[1];
}

/* A tile of LANES paths: writes the results of the first `paths` of them. */
static void tile(const market *m, const double *z, double *kept, double *const out[OUTPUTS],
                 size_t path, size_t paths) {
    vec to_drift, to_volatility;
    vec sum = forward(m, z, kept);
    back(m->steps, kept, &to_drift, &to_volatility);

    const double share = 1.0 / (double)m->steps, dt = m->t * share;
    vec above = fms(sum, splat(share), splat(m->strike));
    vec paid = where_not_below(above, splat(0.0), splat(m->discount), splat(0.0));
    vec value = paid * above, seed = paid * splat(share);
    to_drift = to_drift * seed;
    to_volatility = to_volatility * seed;
    vec to_t = fma_(to_volatility, splat(0.5 * m->volatility / m->t), splat(-m->r) * value);
    vec results[OUTPUTS] = {
        value,
        sum * seed * splat(1.0 / m->spot),
        -paid,
        fma_(to_drift, splat(dt), splat(-m->t) * value),
        fma_(to_drift, splat(-m->sigma * dt), to_volatility * splat(sqrt(dt))),
        fma_(to_drift, splat(m->drift / m->t), to_t),
    };
    for (int j = 0; j < OUTPUTS; j++) memcpy(out[j] + path, &results[j], paths * sizeof(double));
}

/* normals: one path after another; uniform: S0, K, r, sigma, T; out: the payoff of every path and
 * its derivatives to these. */
void limit_asian(size_t paths, size_t steps, const double *normals, const double uniform[5],
                 double *const out[OUTPUTS]) {
    market m = {steps, uniform[0], uniform[1], uniform[2], uniform[3], uniform[4], 0, 0, 0};
    const double dt = m.t / (double)steps;
    m.drift = (m.r - 0.5 * m.sigma * m.sigma) * dt;
    m.volatility = m.sigma * sqrt(dt);
    m.discount = exp(-m.r * m.t);

    const size_t numbers = LANES * steps, bytes = (4 * numbers * sizeof(double) + 63) / 64 * 64;
    double *kept = aligned_alloc(64, bytes), *filled = kept + 2 * numbers;
    size_t path = 0;
    for (; path + LANES <= paths; path += LANES)
        tile(&m, normals + path * steps, kept, out, path, LANES);
    if (path < paths) { /* the last paths, filled up with zeros */
        memset(filled, 0, numbers * sizeof(double));
        memcpy(filled, normals + path * steps, (paths - path) * steps * sizeof(double));
        tile(&m, filled, kept, out, path, paths - path);
    }
    free(kept);
}
