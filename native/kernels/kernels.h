/* What a SIMD level provides: a machine that runs steps over a tile of lanes, and each op of the
 * law on its own. One table a level, all from one source.
 *
 * A step works on a whole tile, a few vectors, and hands its result in registers to the next: an
 * operand is lanes in a slot, a uniform number, or what the step before carried. */
#ifndef RG_KERNELS_H
#define RG_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "../ops.gen.h"

/* Instructions beyond the rows of the law. */
enum {
    RG_DO_FMA = RG_OP_COUNT,
    RG_DO_SUM,   /* count operands from the extras */
    RG_DO_DOT,   /* count pairs from the extras: lefts from x on, rights from y on */
    RG_DO_CHAIN, /* the same, each product added with one rounding; to the extra before z, if any */
    RG_DO_TAKE,  /* count elements from the extras, then the index */
    RG_DO_SCATTER, /* out..out+count: pairs (index, upstream) from the extras */
    RG_DO_LOAD,    /* a column of the rows */
    RG_DO_EIGHT,   /* eight columns of the rows, into slots from the extras */
    RG_DO_FETCH,   /* share y of what EIGHT will read next, into the cache; z: where that is */
    RG_DO_STORE,   /* into a column of the results */
    RG_DO_REDUCE,  /* into a sum over the rows */
    RG_DO_GUARD,   /* x must be what it was while recording; z: guards below it are all done */
    RG_DO_COPY,    /* x, into a slot */
    RG_DO_AGAIN,   /* x steps back, until those were done count times; y moves stand after it */
    RG_DO_MOVE,    /* never done: what an AGAIN adds to a field before the next round */
    RG_DO_END,     /* the tile is done */
    /* Several steps by the handler of the first, where that is faster: see `group` in executor.c. */
    RG_DO_FOUR_DOTS,
    RG_DO_FOUR_CHAINS,
    RG_DO_FOUR_REDUCED, /* chains, each with the reduction after it */
    RG_DO_COUNT
};

/* Where an operand is. */
enum { RG_IN_SLOT, RG_IN_UNIFORM, RG_CARRIED, RG_KINDS };

/* Where a result goes: to the next step, to it and a slot, or to a slot alone; then what the step
 * was handed is passed on. */
enum { RG_ON, RG_ON_AND_STORED, RG_STORED, RG_WAYS };

typedef struct {
    const void *handler; /* of a type that only the level knows */
    uint32_t out;        /* places are doubles from the start of the arena; extras, an index */
    uint32_t x, y, z;
    uint32_t count;
    uint8_t kind[3]; /* of x, y, z */
    uint8_t goes;    /* where the result goes */
} RgCode;

/* A place among the extras: its kind in the low bits, so that one number is enough. */
static inline uint32_t rg_extra(uint32_t place, int kind) { return place << 1 | (uint32_t)kind; }

/* What a FETCH is for: the next tile, or the next round of a loop up or down the columns. */
enum { RG_NEXT_TILE, RG_AFTER, RG_BEFORE };

/* What a MOVE of a plan moves: `count` is which field of the step that stands `out` before the AGAIN,
 * in the order out, x, y, z; or RG_EXTRA: number `out` among the extras. In code `out` is how many
 * bytes before the AGAIN the field is. */
enum { RG_EXTRA = 4 };

typedef struct {
    char *base;
    ptrdiff_t stride;
} RgColumn;

/* The rows a tile stands for, and where what is not lanes comes from and goes to. */
typedef struct {
    size_t first, rows;
    const int64_t *index; /* row i of the run is row index[i] of the columns; NULL: row i */
    const uint32_t *extras;
    const RgColumn *inputs, *outputs;
    double *sums;    /* of as many lanes as a uniform number */
    int32_t *failed; /* the first failed guard of each row, or -1; NULL without guards */
    int streams;     /* results go past the caches: there are more than these would keep */
    int stop;        /* an index was out of range */
} RgTile;

typedef struct {
    const char *level;
    size_t lanes; /* of a tile */
    size_t equal; /* of a uniform number, and of a sum over rows: eight; or one, for one row */
    /* The handler of a step, for operands of these kinds; NULL of steps that are not worth one. */
    const void *(*handler)(uint32_t op, const uint8_t kind[3], int goes);
    void (*run)(const RgCode *code, double *arena, RgTile *tile);
    /* One op on the lanes of a uniform number. */
    void (*unary[RG_OP_COUNT])(double *out, const double *x);
    void (*binary[RG_OP_COUNT])(double *out, const double *x, const double *y);
    void (*ternary[RG_OP_COUNT])(double *out, const double *x, const double *y, const double *z);
} RgKernels;

extern const RgKernels rg_kernels_base;
extern const RgKernels rg_kernels_v3, rg_kernels_v4, rg_kernels_v4_narrow; /* where RG_HAS_v4 */
extern const RgKernels rg_kernels_v3_one;                                  /* where RG_HAS_one */
extern const RgKernels rg_kernels_neon, rg_kernels_neon_one;               /* where RG_HAS_neon */

#endif
