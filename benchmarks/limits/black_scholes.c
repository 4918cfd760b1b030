/* The limit for `black_scholes`: the price of a call and its five sensitivities, adjoint by hand.
 *
 * The rows are worked in blocks that stay in the first-level cache. Each block goes through a
 * few short loops and not one long one, because the processor looks a few hundred instructions
 * ahead: of a short loop it works on many rows at once, of a long one it waits for each. The
 * results then leave for memory past the caches: an ordinary store would first read every line
 * that it is about to overwrite. Inputs and outputs may lie at any address.
 */
#include <string.h>

#include "vector.h"

enum { INPUTS = 5, OUTPUTS = 6, BLOCK = 256 };

typedef struct {
    _Alignas(64) double deviation[BLOCK], scale[BLOCK], root_t[BLOCK], discount[BLOCK], d1[BLOCK],
        n1[BLOCK], n2[BLOCK], density[BLOCK];
} scratch;

static void arguments(size_t n, const double *const in[INPUTS], scratch *at)
{
    for (size_t i = 0; i < n; i += LANES) {
        vec s = load(in[0] + i), k = load(in[1] + i), r = load(in[2] + i), t = load(in[4] + i);
        vec root_t = root(t);
        vec deviation = load(in[3] + i) * root_t;
        vec scale = splat(1.0) / deviation;
        vec rate = r * t;
        store(at->root_t + i, root_t);
        store(at->deviation + i, deviation);
        store(at->scale + i, scale);
        store(at->discount + i, vexp(-rate));
        store(at->d1 + i, fma_(vlog(s / k) + rate, scale, splat(0.5) * deviation));
    }
}

static void distributions(size_t n, scratch *at)
{
    vec density;
    for (size_t i = 0; i < n; i += LANES) {
        store(at->n1 + i, normal(load(at->d1 + i), &density));
        store(at->density + i, density);
    }
    for (size_t i = 0; i < n; i += LANES)
        store(at->n2 + i, normal(load(at->d1 + i) - load(at->deviation + i), &density));
}

/* As S n(d1) = K exp(-rT) n(d2), d1 and d2 pass nothing on but through sigma sqrt(T). */
static void outputs(size_t n, const double *const in[INPUTS], const scratch *at,
                    double out[OUTPUTS][BLOCK])
{
    for (size_t i = 0; i < n; i += LANES) {
        vec s = load(in[0] + i), k = load(in[1] + i), sigma = load(in[3] + i);
        vec n1 = load(at->n1 + i);
        vec strike = load(at->discount + i) * load(at->n2 + i);
        vec owed = k * strike;
        vec to_deviation = s * load(at->density + i) * splat(ONE_OVER_SQRT_2PI);
        vec to_root_t = to_deviation * (splat(0.5) * sigma * sigma);
        store(out[0] + i, fms(s, n1, owed));
        store(out[1] + i, n1);
        store(out[2] + i, -strike);
        store(out[3] + i, owed * load(in[4] + i));
        store(out[4] + i, to_deviation * load(at->root_t + i));
        store(out[5] + i, fma_(to_root_t, load(at->scale + i), load(in[2] + i) * owed));
    }
}

/* Copies to memory past the caches, but for the ends of lines shared with a neighbour. */
static void send(double *to, const double *from, size_t n)
{
    const size_t line = LANES * sizeof(double);
    size_t head = (line - (uintptr_t)to % line) % line / sizeof(double), i = 0;
    if (head > n) head = n;
    for (; i < head; i++) to[i] = from[i];
    for (; i + LANES <= n; i += LANES) stream(to + i, load(from + i));
    for (; i < n; i++) to[i] = from[i];
}

/* in: S, K, r, sigma, T; out: the value and its derivatives to these. */
void limit_black_scholes(size_t rows, const double *const in[INPUTS], double *const out[OUTPUTS])
{
    scratch at;
    _Alignas(64) double done[OUTPUTS][BLOCK], padded[INPUTS][BLOCK];
    for (size_t i = 0; i < rows; i += BLOCK) {
        size_t n = rows - i < BLOCK ? rows - i : BLOCK;
        const double *from[INPUTS];
        for (int j = 0; j < INPUTS; j++) {
            from[j] = in[j] + i;
            if (n == BLOCK) continue;
            for (size_t lane = n; lane < BLOCK; lane++) padded[j][lane] = 1.0;
            from[j] = memcpy(padded[j], from[j], n * sizeof(double));
        }
        arguments(n, from, &at);
        distributions(n, &at);
        outputs(n, from, &at, done);
        for (int j = 0; j < OUTPUTS; j++) send(out[j] + i, done[j], n);
    }
    _mm_sfence();
}
