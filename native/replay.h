/* A plan: what the executor runs. Made by retrograde.program.plan, in arrays of plain numbers. */
#ifndef RG_REPLAY_H
#define RG_REPLAY_H

#include "kernels/kernels.h"

/* Instructions beyond the rows of the law. */
enum {
    RG_DO_FMA = RG_OP_COUNT,
    RG_DO_SUM,     /* count operands from the extras */
    RG_DO_DOT,     /* count pairs from the extras: lefts, then rights */
    RG_DO_TAKE,    /* count elements from the extras, then the index */
    RG_DO_SCATTER, /* out..out+count: pairs (index, upstream) from the extras */
    RG_DO_LOAD,    /* a column of the rows; or count of them, into slots from the extras */
    RG_DO_STORE,   /* into a column of the results */
    RG_DO_REDUCE,  /* into a sum over the rows */
    RG_DO_GUARD    /* x must be what it was while recording; z: guards below it are all done */
};

#define RG_UNIFORM 0x80000000u /* an operand that is the same for all rows */

typedef struct {
    uint32_t op;
    uint32_t count;
    uint32_t out;
    uint32_t x, y, z; /* operands; or an offset into the extras */
} RgStep;

typedef struct {
    char *base;
    ptrdiff_t stride;
} RgColumn;

typedef struct {
    const RgKernels *kernels;
    const RgStep *steps;
    size_t step_count;
    const uint32_t *extras;
    double *uniforms; /* eight doubles each */
    size_t slots, block, rows;
    const int64_t *index; /* row i of the run is row index[i] of the columns; NULL: row i */
    const RgColumn *inputs, *outputs;
    double *sums; /* one row a chunk, `sum_count` numbers each */
    size_t sum_count;
    int32_t *failed; /* the first failed guard of each row, or -1; NULL without guards */
} RgRun;

#define RG_CHUNK 1024 /* rows whose reduction is one number: fixed, so that sums are too */

/* Run one chunk in the scratch of one thread. 0, or -1 where a `take` index is out of range. */
int rg_run_chunk(const RgRun *run, size_t chunk, double *slots, double *partial_sums);

#endif
