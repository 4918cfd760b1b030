/* A plan: what the executor runs. Made by retrograde.program.plan, in arrays of plain numbers. */
#ifndef RG_REPLAY_H
#define RG_REPLAY_H

#include "kernels/kernels.h"

/* Operands of a plan: the number of a slot, or with RG_UNIFORM that of a number which is the same
 * for all rows, or what the step before carries. As a result: one that is only carried. */
#define RG_UNIFORM 0x80000000u
#define RG_CARRY 0x7fffffffu

typedef struct {
    uint32_t op;
    uint32_t count; /* for rows of the law and fma: whether what was carried is passed on */
    uint32_t out;
    uint32_t x, y, z; /* operands; or an offset into the extras */
} RgStep;

/* A program that was printed and compiled: what its library exports (printing/compiled.py). It has the
 * bits of the plan's steps, and takes their place. */
typedef struct {
    uint64_t version; /* RG_COMPILED_VERSION */
    size_t given;     /* how many numbers `once` is given: captured leaves, uniform arguments */
    size_t uniforms;  /* doubles that it fills */
    size_t room;      /* doubles to work with, and then bytes of vectors */
    size_t scratch;
    void (*once)(const double *given, double *u);
    /* Rows first to last of one chunk; sums have eight lanes each. 0, or -1 where an index is out of
     * range. */
    int (*rows)(const double *u, void *scratch, double *room, size_t first, size_t last,
                const int64_t *index, const RgColumn *in, const RgColumn *out, double *sums,
                int32_t *failed);
} RgCompiled;

enum { RG_COMPILED_VERSION = 1 };

/* How long a plan's code is. */
typedef struct {
    size_t steps, extras;
    size_t done; /* steps that are done in a tile, and before: those of loops many times */
    int loops;   /* the steps change as they are done, so every thread has its own */
    int once_loops;
} RgCounts;

typedef struct {
    const RgKernels *kernels;
    RgCode *code;     /* the steps, for these kernels */
    uint32_t *extras; /* the same */
    RgCounts counts;
    const double *uniforms; /* what is the same for all rows, before the steps that are */
    size_t known; /* how many numbers those are; uniform_count: with what the steps make */
    size_t uniform_count, slots, rows;
    const RgStep *once; /* those steps, and their extras */
    size_t once_count;
    const uint32_t *once_extras;
    const int64_t *index; /* row i of the run is row index[i] of the columns; NULL: row i */
    const RgColumn *inputs, *outputs;
    double *sums; /* one row a chunk, `sum_count` numbers each */
    size_t sum_count;
    int32_t *failed;            /* the first failed guard of each row, or -1; NULL without guards */
    const RgCompiled *compiled; /* runs instead of the steps, where there is one */
    const uint32_t *given;      /* which of the uniform numbers it is given */
    const RgColumn *columns;    /* all columns of the call, which it reads by their numbers there */
} RgRun;

#define RG_CHUNK 1024 /* rows whose reduction is one number: fixed, so that sums are too */

/* Turn a plan's steps into code for run->kernels. 0, or -1 out of memory. */
int rg_encode(RgRun *run, const RgStep *steps, size_t count, const uint32_t *extras, size_t more);

/* How many of some steps are done, when loops go round. */
size_t rg_done_steps(const RgStep *steps, size_t count);

/* Put what is the same for all rows into the arena of one thread, for any number of chunks. 0, or
 * -1 where an index is out of range. */
int rg_run_uniform(const RgRun *run, double *arena);

/* The same, for steps and not for a compiled program (once.c); `room` is for a copy of the steps, of
 * so many bytes. */
int rg_run_once(const RgRun *run, double *arena, void *room);
size_t rg_once_bytes(const RgRun *run);

/* The doubles that one thread needs: the uniform numbers, then the slots. */
size_t rg_arena_size(const RgRun *run);

/* Run one chunk in the arena of one thread, with room for eight lanes a sum. 0, or -1 where an index
 * is out of range. */
int rg_run_chunk(const RgRun *run, size_t chunk, double *arena, double *sums);

/* ---- replay.c: runs with Python around them ---- */

/* The kernels for so many rows. */
const RgKernels *rg_kernels_of(size_t rows);

/* How many chunks a run has. */
static inline size_t rg_chunks(const RgRun *run) { return (run->rows + RG_CHUNK - 1) / RG_CHUNK; }

#endif
