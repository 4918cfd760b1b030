/* Optimizer steps, compiled once a SIMD level. Loops without choices inside, so that they are done
 * in lanes: a setting that changes what is computed has a loop of its own. */
#include "descent.h"

#include <math.h>

#include "../platform.h"

typedef ptrdiff_t Count;

#define INLINE static RG_ALWAYS_INLINE

/* ---- sgd ---------------------------------------------------------------------------------------- */

INLINE void sgd_loop(const RgSgd *settings, Count n, double *restrict x, const double *restrict g,
                     double *restrict velocity, const int decays, const int rolls, const int first,
                     const int nesterov) {
    const RgSgd s = *settings;
    for (Count i = 0; i < n; i++) {
        double slope = g[i];
        if (decays) slope = slope + s.decay * x[i];
        if (rolls) {
            double speed = first ? slope : s.momentum * velocity[i] + s.kept * slope;
            velocity[i] = speed;
            slope = nesterov ? slope + s.momentum * speed : speed;
        }
        x[i] = x[i] - s.lr * slope;
    }
}

static void sgd(const RgSgd *s, int first, Count n, double *x, const double *g, double *velocity) {
    int decays = s->decay != 0.0;
    if (s->momentum == 0.0) {
        if (decays)
            sgd_loop(s, n, x, g, velocity, 1, 0, 0, 0);
        else
            sgd_loop(s, n, x, g, velocity, 0, 0, 0, 0);
    } else if (first) {
        sgd_loop(s, n, x, g, velocity, decays, 1, 1, s->nesterov);
    } else if (s->nesterov) {
        sgd_loop(s, n, x, g, velocity, decays, 1, 0, 1);
    } else {
        sgd_loop(s, n, x, g, velocity, decays, 1, 0, 0);
    }
}

/* ---- adam --------------------------------------------------------------------------------------- */

enum { NONE, COUPLED, DECOUPLED };

INLINE void adam_loop(const RgAdam *settings, Count n, double *restrict x, const double *restrict g,
                      double *restrict mean, double *restrict square, const int decay) {
    const RgAdam a = *settings;
    for (Count i = 0; i < n; i++) {
        double from = x[i], slope = g[i];
        if (decay == DECOUPLED) from = from * (1.0 - a.lr * a.decay);
        if (decay == COUPLED) slope = slope + a.decay * from;
        double m = mean[i] + (slope - mean[i]) * (1.0 - a.beta1);
        double s = a.beta2 * square[i] + (1.0 - a.beta2) * slope * slope;
        mean[i] = m;
        square[i] = s;
        x[i] = from - a.size * m / (sqrt(s) / a.root + a.epsilon);
    }
}

static void adam(const RgAdam *s, Count n, double *x, const double *g, double *mean,
                 double *square) {
    if (s->decay == 0.0)
        adam_loop(s, n, x, g, mean, square, NONE);
    else if (s->decoupled)
        adam_loop(s, n, x, g, mean, square, DECOUPLED);
    else
        adam_loop(s, n, x, g, mean, square, COUPLED);
}

/* ---- rmsprop ------------------------------------------------------------------------------------ */

INLINE void rmsprop_loop(const RgRmsprop *settings, Count n, double *restrict x,
                         const double *restrict g, double *restrict square, double *restrict mean,
                         double *restrict velocity, const int centered, const int rolls) {
    const RgRmsprop s = *settings;
    for (Count i = 0; i < n; i++) {
        double slope = g[i];
        if (s.decay != 0.0) slope = slope + s.decay * x[i];
        double spread = s.alpha * square[i] + (1.0 - s.alpha) * slope * slope;
        square[i] = spread;
        if (centered) {
            double m = mean[i] + (slope - mean[i]) * (1.0 - s.alpha);
            mean[i] = m;
            spread = spread - m * m;
        }
        double root = sqrt(spread) + s.epsilon, step = s.lr * slope / root;
        if (rolls) {
            double speed = s.momentum * velocity[i] + slope / root;
            velocity[i] = speed;
            step = s.lr * speed;
        }
        x[i] = x[i] - step;
    }
}

static void rmsprop(const RgRmsprop *s, Count n, double *x, const double *g, double *square,
                    double *mean, double *velocity) {
    int rolls = s->momentum != 0.0;
    if (s->centered)
        rmsprop_loop(s, n, x, g, square, mean, velocity, 1, rolls);
    else
        rmsprop_loop(s, n, x, g, square, mean, velocity, 0, rolls);
}

/* ---- counts ------------------------------------------------------------------------------------- */

static Count count(Count n, double *steps, double next) {
    enum { BLOCK = 32 };
    double before = steps[0];
    Count at = 0;
    for (; at + BLOCK <= n; at += BLOCK) { /* a block at a time, without a way out on the way */
        int same = 1;
        for (Count i = 0; i < BLOCK; i++) same &= steps[at + i] == before;
        if (!same) break;
        for (Count i = 0; i < BLOCK; i++) steps[at + i] = next;
    }
    for (; at < n && steps[at] == before; at++) steps[at] = next;
    return at;
}

#define JOIN(A, B) A##B
#define NAMED(TABLE, LEVEL) JOIN(TABLE, LEVEL)

const RgDescent NAMED(rg_descent_, RG_LEVEL) = {sgd, adam, rmsprop, count};
