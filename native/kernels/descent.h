/* How optimizers move numbers: one pass over arrays that lie side by side. The same formulas, bit
 * for bit, are in the reference core (retrograde/_core/descent.py). */
#ifndef RG_DESCENT_H
#define RG_DESCENT_H

#include <stddef.h>

typedef struct {
    double lr, momentum, kept, decay;
    int nesterov;
} RgSgd;

/* `size` is lr over the first bias correction, `root` the square root of the second. */
typedef struct {
    double lr, beta1, beta2, epsilon, decay, size, root;
    int decoupled;
} RgAdam;

typedef struct {
    double lr, alpha, epsilon, decay, momentum;
    int centered;
} RgRmsprop;

typedef struct {
    /* `first`: the velocity is not there yet. */
    void (*sgd)(const RgSgd *settings, int first, ptrdiff_t n, double *x, const double *g,
                double *velocity);
    void (*adam)(const RgAdam *settings, ptrdiff_t n, double *x, const double *g, double *mean,
                 double *square);
    void (*rmsprop)(const RgRmsprop *settings, ptrdiff_t n, double *x, const double *g,
                    double *square, double *mean, double *velocity);
    /* How many numbers from the first on are what it is; each of them becomes `next`. */
    ptrdiff_t (*count)(ptrdiff_t n, double *steps, double next);
} RgDescent;

extern const RgDescent rg_descent_base, rg_descent_v3, rg_descent_v4, rg_descent_neon;

#endif
