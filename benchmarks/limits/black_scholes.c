/* The limit for `black_scholes`: the price of a call and its five sensitivities, adjoint by hand.
 *
 * The rows are worked in blocks that stay in the first-level cache. A block goes through a few
 * short loops and not one long one, three vectors abreast where chains of operations are long:
 * so the processor, which looks a hundred instructions ahead, always finds some that need not
 * wait. The results leave for memory past the caches, since an ordinary store would first read
 * every line that it is about to overwrite, and they leave between the loops over the next
 * block, so that memory and arithmetic are busy at once. Inputs and outputs may lie anywhere.
 */
#include <string.h>

#include "vector.h"

enum { INPUTS = 5, OUTPUTS = 6, BLOCK = 240, ABREAST = 3 };

_Static_assert(BLOCK % (ABREAST * LANES) == 0, "a block is whole steps");

typedef struct {
    _Alignas(64) double root_t[BLOCK], deviation[BLOCK], scale[BLOCK], discount[BLOCK], d1[BLOCK],
        d2[BLOCK], n1[BLOCK], n2[BLOCK], density[BLOCK], unused[BLOCK];
} scratch;

/* The results of a block on their way out. */
typedef struct {
    _Alignas(64) double from[OUTPUTS][BLOCK];
    double *to[OUTPUTS];
    size_t rows;
} parcel;

static void arguments(const double *const in[INPUTS], scratch *at)
{
    for (size_t i = 0; i < BLOCK; i += LANES) {
        vec s = load(in[0] + i), k = load(in[1] + i), r = load(in[2] + i), t = load(in[4] + i);
        vec root_t = root(t);
        vec deviation = load(in[3] + i) * root_t;
        vec scale = splat(1.0) / deviation;
        vec rate = r * t;
        vec d1 = fma_(vlog(s / k) + rate, scale, splat(0.5) * deviation);
        store(at->root_t + i, root_t);
        store(at->deviation + i, deviation);
        store(at->scale + i, scale);
        store(at->discount + i, vexp(-rate));
        store(at->d1 + i, d1);
        store(at->d2 + i, d1 - deviation);
    }
}

static void distribution(const double *x, double *cumulative, double *density)
{
    for (size_t i = 0; i < BLOCK; i += ABREAST * LANES) {
        vec n[ABREAST], d[ABREAST];
        for (int j = 0; j < ABREAST; j++) n[j] = normal(load(x + i + j * LANES), &d[j]);
        for (int j = 0; j < ABREAST; j++) store(cumulative + i + j * LANES, n[j]);
        for (int j = 0; j < ABREAST; j++) store(density + i + j * LANES, d[j]);
    }
}

/* As S n(d1) = K exp(-rT) n(d2), d1 and d2 pass nothing on but through sigma sqrt(T). */
static void outputs(const double *const in[INPUTS], const scratch *at, double out[OUTPUTS][BLOCK])
{
    for (size_t i = 0; i < BLOCK; i += LANES) {
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

/* Copies an output to memory past the caches, but for the ends of lines shared with a neighbour. */
static void send(const parcel *it, int output)
{
    const size_t line = LANES * sizeof(double), n = it->rows;
    const double *from = it->from[output];
    double *to = it->to[output];
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
    parcel parcels[2], *made = &parcels[0], *sent = &parcels[1];
    _Alignas(64) double padded[INPUTS][BLOCK];
    sent->rows = 0;
    for (size_t i = 0; i < rows; i += BLOCK) {
        size_t n = rows - i < BLOCK ? rows - i : BLOCK;
        const double *from[INPUTS];
        for (int j = 0; j < INPUTS; j++) {
            from[j] = in[j] + i;
            if (n == BLOCK) continue;
            for (size_t lane = n; lane < BLOCK; lane++) padded[j][lane] = 1.0;
            from[j] = memcpy(padded[j], from[j], n * sizeof(double));
        }
        arguments(from, &at);
        send(sent, 0), send(sent, 1);
        distribution(at.d1, at.n1, at.density);
        send(sent, 2), send(sent, 3);
        distribution(at.d2, at.n2, at.unused);
        send(sent, 4), send(sent, 5);
        outputs(from, &at, made->from);
        for (int j = 0; j < OUTPUTS; j++) made->to[j] = out[j] + i;
        made->rows = n;
        parcel *next = sent;
        sent = made, made = next;
    }
    for (int j = 0; j < OUTPUTS; j++) send(sent, j);
    _mm_sfence();
}
