/* Programs with shapes: coarse steps over buffers, carried out one after the other.
 *
 * program/shaped/packing.py writes the words. A slot is a buffer: a place in the arena, a constant, an
 * argument, a captured leaf or an output. Nothing here knows about Python. */
#ifndef RG_SHAPED_H
#define RG_SHAPED_H

#include "arrays.h"

enum { RG_CALL_ARGS = 16 };
enum { RG_BOX_LOOPS = 8, RG_BOX_OPERANDS = 24, RG_BOX_ROOMS = 12, RG_BOX_BLOCK = 1024 };

/* As program/shaped/packing.py numbers them. */
enum { RG_BOX, RG_PACK, RG_MATRICES, RG_PLANNED, RG_CHOOSE, RG_CALLED, RG_MOVE };
enum { RG_TOTAL, RG_TOP, RG_BOTTOM };

typedef struct RgShaped RgShaped;

/* A step that somebody else carries out: arrays, the result first, then whole numbers, those that it
 * finds behind those that it reads. */
typedef struct {
    int number, arrays, wholes;
    int array[RG_CALL_ARGS], whole[RG_CALL_ARGS];
    ptrdiff_t offset[RG_CALL_ARGS], size[RG_CALL_ARGS], whole_size[RG_CALL_ARGS];
} RgCalled;

/* What one run works in. */
typedef struct RgRun {
    double **slots;                                             /* by number */
    int64_t **wholes;                                           /* by number */
    double *scratch;                                            /* RG_SHAPED_SCRATCH numbers */
    int (*call)(const struct RgRun *run, const RgCalled *step); /* 0, or what the run answers */
    void *caller;                                               /* for `call` */
} RgRun;

enum { RG_SHAPED_SCRATCH = (RG_BOX_OPERANDS + RG_BOX_ROOMS) * RG_BOX_BLOCK };

/* The steps of a program. `plans` are those that planned steps name, and stay the caller's. NULL where
 * the words are not well formed, or there is no memory. `slot_sizes` and `whole_sizes` say how many
 * numbers lie behind each: a step that would reach further is not well formed. */
RgShaped *rg_shaped_read(const int64_t *words, size_t count, RgPlan *const *plans, int plan_count,
                         const int64_t *slot_sizes, int slots, const int64_t *whole_sizes,
                         int wholes);
void rg_shaped_free(RgShaped *shaped);

/* The rows of a box as another compiler made them: `at` and `step` are those of its operands and rooms,
 * of which n numbers each are gone through. Only what a box writes, and the rooms that it sums, are
 * filled. 0 where there are too few numbers for it, and nothing is done. */
typedef int (*RgMapRows)(ptrdiff_t n, double *const *at, const ptrdiff_t *step);

/* What a library of maps exports: the rows of every box in their order, NULL for those that it leaves
 * to the steps. printing/text/maps.h has the same. */
typedef struct {
    uint64_t version, count;
    const RgMapRows *rows;
} RgMaps;

enum { RG_MAPS_VERSION = 1 };

/* Run a library's rows in place of the steps, once they have given the steps' bits on numbers made up;
 * runs of other threads may be under way. 0; RG_NO_MEMORY; RG_OTHER_MAPS where the library is not of
 * these boxes, RG_OTHER_BITS where its bits are others, and the steps go on. */
enum { RG_OTHER_MAPS = -4, RG_OTHER_BITS = -5 };
int rg_shaped_compile(RgShaped *shaped, const RgMaps *maps);

/* Carry all steps out. 0, RG_NO_MEMORY, RG_OUT_OF_RANGE, or what a called step answered. */
int rg_shaped_run(const RgShaped *shaped, const RgRun *run);

#endif
