/* The limit for `black_scholes`: the price of a call and its five sensitivities, adjoint by hand.
 *
 * The rows are worked in blocks that stay in the first-level cache. A block goes through a few
 * short loops and not one long one, three vectors abreast where chains of operations are long:
 * so the processor, which looks a hundred instructions ahead, always finds some that need not
 * wait. The results leave for memory past the caches, since an ordinary store would first read
 * every line that it is about to overwrite, and they leave between the loops over the next
 * block, so that memory and arithmetic are busy at once. Inputs and outputs may lie anywhere.
 */
#pragma GCC optimize("schedule-insns") /* the three abreast are interleaved */
#include <string.h>

#include "vector.h"

enum { INPUTS = 5, OUTPUTS = 6, BLOCK = 48, ABREAST = 3, AHEAD = 4 * BLOCK };

_Static_assert(BLOCK % (ABREAST * LANES) == 0, "a block is whole steps");

typedef struct {
    _Alignas(64) double root_t[BLOCK], scale[BLOCK], discount[BLOCK], density[BLOCK];
    _Alignas(64) double n1[BLOCK], n2[BLOCK]; /* first d1 and d2 */
} scratch;

/* One output on its way to memory. Only whole lines are sent, so up to a line's worth of the
 * rows before the block may still wait in front of it. */
typedef struct {
    _Alignas(64) double rows[LANES + BLOCK];
    double *to;     /* where the block goes */
    size_t waiting; /* how many rows before the block have not been sent */
} parcel;

static void arguments(const double *const in[INPUTS], scratch *at) {
    for (size_t i = 0; i < BLOCK; i += LANES) {
        vec s = load(in[0] + i), k = load(in[1] + i), r = load(in[2] + i), t = load(in[4] + i);
        for (int j = 0; j < INPUTS; j++) fetch(in[j] + i + AHEAD);
        vec root_t = root(t);
        vec deviation = load(in[3] + i) * root_t;
        vec scale = splat(1.0) / deviation;
        vec rate = r * t;
        vec d1 = fma_(vlog(s / k) + rate, scale, splat(0.5) * deviation);
        store(at->root_t + i, root_t);
        store(at->scale + i, scale);
        store(at->discount + i, vexp(-rate));
        store(at->n1 + i, d1);
        store(at->n2 + i, d1 - deviation);
    }
}

/* In place. The density is kept where there is a place for it. */
static inline void distribution(double *x, double *density) {
    for (size_t i = 0; i < BLOCK; i += ABREAST * LANES) {
        vec n[ABREAST], d[ABREAST];
        for (int j = 0; j < ABREAST; j++) n[j] = normal(load(x + i + j * LANES), &d[j]);
        for (int j = 0; j < ABREAST; j++) store(x + i + j * LANES, n[j]);
        for (int j = 0; density && j < ABREAST; j++) store(density + i + j * LANES, d[j]);
    }
}

/* As S n(d1) = K exp(-rT) n(d2), d1 and d2 pass nothing on but through sigma sqrt(T). */
static void outputs(const double *const in[INPUTS], const scratch *at, parcel out[OUTPUTS]) {
    for (size_t i = 0; i < BLOCK; i += LANES) {
        vec s = load(in[0] + i), k = load(in[1] + i), sigma = load(in[3] + i);
        vec n1 = load(at->n1 + i);
        vec strike = load(at->discount + i) * load(at->n2 + i);
        vec owed = k * strike;
        vec to_deviation = s * load(at->density + i) * splat(ONE_OVER_SQRT_2PI);
        vec to_root_t = to_deviation * (splat(0.5) * sigma * sigma);
        store(out[0].rows + LANES + i, fms(s, n1, owed));
        store(out[1].rows + LANES + i, n1);
        store(out[2].rows + LANES + i, -strike);
        store(out[3].rows + LANES + i, owed * load(in[4] + i));
        store(out[4].rows + LANES + i, to_deviation * load(at->root_t + i));
        store(out[5].rows + LANES + i,
              fma_(to_root_t, load(at->scale + i), load(in[2] + i) * owed));
    }
}

/* Sends the whole lines of n more rows past the caches; what is left over waits in `next`. */
static void send(const parcel *it, parcel *next, size_t n) {
    const double *from = it->rows + LANES - it->waiting;
    double *to = it->to - it->waiting;
    size_t i = 0, end = it->waiting + n;
    for (; i < end && (uintptr_t)(to + i) % sizeof(vec); i++) to[i] = from[i]; /* the first rows */
    for (; i + LANES <= end; i += LANES) stream(to + i, load(from + i));
    next->waiting = end - i;
    memcpy(next->rows + LANES - next->waiting, from + i, next->waiting * sizeof(double));
}

/* in: S, K, r, sigma, T; out: the value and its derivatives to these. */
void limit_black_scholes(size_t rows, const double *const in[INPUTS], double *const out[OUTPUTS]) {
    scratch at;
    parcel parcels[2][OUTPUTS], *made = parcels[0], *sent = parcels[1];
    _Alignas(64) double padded[INPUTS][BLOCK];
    size_t sent_rows = 0;
    for (int j = 0; j < OUTPUTS; j++) sent[j].to = out[j], sent[j].waiting = 0;
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
        for (int j = 0; j < 2; j++) send(&sent[j], &made[j], sent_rows);
        distribution(at.n1, at.density);
        for (int j = 2; j < 4; j++) send(&sent[j], &made[j], sent_rows);
        distribution(at.n2, NULL);
        for (int j = 4; j < 6; j++) send(&sent[j], &made[j], sent_rows);
        outputs(from, &at, made);
        for (int j = 0; j < OUTPUTS; j++) made[j].to = out[j] + i;
        parcel *next = sent;
        sent = made, made = next, sent_rows = n;
    }
    for (int j = 0; j < OUTPUTS; j++) {
        send(&sent[j], &made[j], sent_rows);
        double *end = sent[j].to + sent_rows;
        memcpy(end - made[j].waiting, made[j].rows + LANES - made[j].waiting,
               made[j].waiting * sizeof(double));
    }
    _mm_sfence();
}
