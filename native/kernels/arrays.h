/* Arrays of doubles: what tensors compute with. Nothing here knows about Python or about graphs.
 *
 * A level's table has one kernel a row of the scalar law and one for each of its partials, over
 * contiguous numbers; matrix products and sums are products.h's. The functions below it take whole
 * arrays with strides, or a plan: a statement of the array law on given shapes. The level is chosen
 * once (`rg_arrays`). Results have the same bits at every level and with any number of threads, and
 * the order in which numbers are added depends on shapes alone. */
#ifndef RG_ARRAYS_H
#define RG_ARRAYS_H

#include <stddef.h>
#include <stdint.h>

#ifndef RG_LISTS_ONLY
#define RG_LISTS_ONLY
#include "../ops.gen.h"
#undef RG_LISTS_ONLY
#else
#include "../ops.gen.h"
#endif

#include "../platform.h"
#include "descent.h"
#include "products.h"

/* ---- the tables --------------------------------------------------------------------------------- */

/* out[i] = op(in[0][i], in[1][i], in[2][i]) for i below n. A step is 1, or 0 for an operand that is
 * one number. `out` may be one of the operands. */
typedef void (*RgForward)(ptrdiff_t n, double *out, const double *const in[3],
                          const ptrdiff_t step[3]);

/* What a partial reads, by its place in `in`: operands, the row's result, the upstream gradient. */
enum { RG_RESULT_AT = 3, RG_UPSTREAM_AT = 4, RG_BACK = 5 };

/* out[i] = upstream[i] * partial, or is added to. What the partial does not read may be NULL.
 * `out` may be any of them. */
typedef void (*RgPartial)(ptrdiff_t n, double *out, const double *const in[RG_BACK],
                          const ptrdiff_t step[RG_BACK], RgHow how);

/* Numbers of a row up to which several are computed at once; of these; and of a vector, which may be
 * written behind them. */
enum { RG_SHORT = 64, RG_TOGETHER = 512, RG_BEHIND = 8 };

typedef struct {
    const char *level;
    const RgProducts *products;
    const RgDescent *descent;
    /* to[r, i] = from[r * line + i * next], side by side; up to a vector of numbers behind them may
     * be written too. */
    void (*lay)(ptrdiff_t lines, ptrdiff_t n, double *to, const double *from, ptrdiff_t line,
                ptrdiff_t next);
    RgForward forward[RG_OP_COUNT];
    RgPartial partial[RG_OP_COUNT][3];
} RgArrays;

extern const RgArrays rg_arrays_base, rg_arrays_v3, rg_arrays_v4, rg_arrays_neon;

/* The table in use: the best of this processor, unless `rg_use_arrays` named another. */
extern const RgArrays *rg_arrays;
const RgArrays *rg_use_arrays(const char *level); /* "" is the best; NULL: not on this processor */

/* A bit for each place of `in` that a partial reads, the upstream gradient aside. */
extern const uint8_t rg_partial_reads[RG_OP_COUNT][3];

/* ---- whole arrays ------------------------------------------------------------------------------- */

enum { RG_AXES = 32 };

/* What a call may say besides 0. */
enum { RG_NO_MEMORY = -1, RG_OUT_OF_RANGE = -2 };

/* Numbers of an array: strides are in doubles, one an axis of the shape it is used with; 0 along
 * axes that it is spread over. */
typedef struct {
    const double *at;
    const ptrdiff_t *strides;
} RgView;

typedef struct {
    double *at;
    const ptrdiff_t *strides;
} RgTarget;

/* out, in order and without gaps, from a row of the law. */
void rg_map(int op, int ndim, const ptrdiff_t *shape, double *out, const RgView in[3]);

/* The contribution of a row to its operand `which`. Along axes where `out` has stride 0 it is summed;
 * `shape` is that of the result. Views of what the partial does not read may have NULL in `at`. */
int rg_map_back(int op, int which, int ndim, const ptrdiff_t *shape, RgTarget out,
                const RgView in[RG_BACK], RgHow how);

/* The same numbers in order and without gaps. */
void rg_pack(int ndim, const ptrdiff_t *shape, double *out, RgView in);

/* Several matrix products one after the other, `batch` of them, that far apart; in threads where
 * they are large. */
int rg_product(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, RgMatrix a, RgMatrix b, double *c,
               ptrdiff_t stride, RgHow how);
int rg_products(ptrdiff_t batch, ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, RgMatrix a,
                ptrdiff_t a_step, RgMatrix b, ptrdiff_t b_step, double *c, ptrdiff_t stride,
                ptrdiff_t c_step, RgHow how);
int rg_use_threads(int most); /* of one product; 1 unless told. How many it was before */

/* The sum of an array; `rg_arrays->products->sum` is the same for numbers that lie evenly. */
int rg_total(int ndim, const ptrdiff_t *shape, RgView x, double *out);

/* Whole numbers found by looking along the middle axis of x[outer, n, inner]: for argmax and argmin
 * out[outer, inner] (n at least 1), for argsort out[outer, n, inner]. */
enum { RG_ARGMAX, RG_ARGMIN, RG_ARGSORT };
int rg_choose(int by, ptrdiff_t outer, ptrdiff_t n, ptrdiff_t inner, const double *x, int64_t *out);

/* The numbers that argmax finds in lines of n, at least 1, which lie one behind the other. */
void rg_largest(ptrdiff_t lines, ptrdiff_t n, const double *x, double *to);

/* ---- plans -------------------------------------------------------------------------------------- */

/* A statement of the array law on given shapes, as ops/arrays/plans.py packs it. */
typedef struct RgPlan RgPlan;

RgPlan *rg_plan_read(const int64_t *words, size_t count, const double *numbers,
                     size_t number_count);
void rg_plan_free(RgPlan *plan);

/* Carry a plan out. `arrays` and `wholes` are in the order of the plan's names for them, each in
 * order and without gaps; `out` has the statement's shape, and is nowhere among the arrays. 0,
 * RG_NO_MEMORY, or RG_OUT_OF_RANGE where a whole number names no place. */
int rg_plan_run(const RgPlan *plan, double *out, const double *const *arrays,
                const int64_t *const *wholes, RgHow how);

#endif
