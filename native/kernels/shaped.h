/* Programs with shapes: coarse steps over buffers, carried out one after the other.
 *
 * program/shaped/packing.py writes the words. A slot is a buffer: a place in the arena, a constant, an
 * argument, a captured leaf or an output. Nothing here knows about Python. */
#ifndef RG_SHAPED_H
#define RG_SHAPED_H

#include "arrays.h"

enum { RG_BOX_LOOPS = 8, RG_BOX_OPERANDS = 24, RG_BOX_ROOMS = 12, RG_BOX_BLOCK = 1024 };

/* As program/shaped/packing.py numbers them. */
enum { RG_BOX, RG_PACK, RG_MATRICES, RG_PLANNED, RG_CHOOSE };
enum { RG_TOTAL, RG_TOP, RG_BOTTOM };

typedef struct RgShaped RgShaped;

/* What one run works in. */
typedef struct {
    double **slots;   /* by number */
    int64_t **wholes; /* by number */
    double *scratch;  /* RG_SHAPED_SCRATCH numbers */
} RgRun;

enum { RG_SHAPED_SCRATCH = (RG_BOX_OPERANDS + RG_BOX_ROOMS) * RG_BOX_BLOCK };

/* The steps of a program. `plans` are those that planned steps name, and stay the caller's. NULL where
 * the words are not well formed, or there is no memory. `slot_sizes` and `whole_sizes` say how many
 * numbers lie behind each: a step that would reach further is not well formed. */
RgShaped *rg_shaped_read(const int64_t *words, size_t count, RgPlan *const *plans, int plan_count,
                         const int64_t *slot_sizes, int slots, const int64_t *whole_sizes,
                         int wholes);
void rg_shaped_free(RgShaped *shaped);

/* Carry all steps out. 0, RG_NO_MEMORY, or RG_OUT_OF_RANGE. */
int rg_shaped_run(const RgShaped *shaped, const RgRun *run);

#endif
