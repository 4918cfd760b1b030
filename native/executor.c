/* The executor: runs a plan over the rows, tile by tile; each step over a tile, then the next.
 *
 * Nothing here knows about Python. Rows come in chunks of RG_CHUNK, so that a reduction has the same
 * bits whatever the tile and the number of threads: within a chunk lane l of eight adds up rows
 * l, l + 8, …; the eight are added in a fixed tree, and the chunks in their order. */
#include "replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- code ---- */

static int kind_of(uint32_t place) {
    return place == RG_CARRY ? RG_CARRIED : place & RG_UNIFORM ? RG_IN_UNIFORM : RG_IN_SLOT;
}

static uint32_t offset_of(const RgRun *run, uint32_t place) {
    switch (kind_of(place)) {
        case RG_CARRIED: return 0;
        case RG_IN_UNIFORM: return (place & ~RG_UNIFORM) * 8;
        default: return (uint32_t)(run->uniform_count * 8 + place * run->kernels->lanes);
    }
}

size_t rg_arena_size(const RgRun *run) {
    return run->uniform_count * 8 + run->slots * run->kernels->lanes;
}

/* How many of a step's fields are operands: rows of the law and fma have them in place. */
static int operands_of(uint32_t op) {
    if (op < RG_OP_COUNT) return RG_OPS[op].arity;
    if (op == RG_DO_FMA) return 3;
    return op == RG_DO_STORE || op == RG_DO_REDUCE || op == RG_DO_GUARD ? 1 : 0;
}

static RgCode code_of(const RgRun *run, const RgStep *step) {
    RgCode code = {.x = step->x, .y = step->y, .z = step->z, .count = step->count};
    uint32_t *fields[3] = {&code.x, &code.y, &code.z};
    for (int i = 0; i < operands_of(step->op); i++) {
        code.kind[i] = (uint8_t)kind_of(*fields[i]);
        *fields[i] = offset_of(run, *fields[i]);
    }
    code.goes = step->out == RG_CARRY ? RG_ON : RG_ON_AND_STORED;
    if ((step->op < RG_OP_COUNT || step->op == RG_DO_FMA) && step->count) code.goes = RG_STORED;
    code.out = offset_of(run, step->out);
    code.handler = run->kernels->handler(step->op, code.kind, code.goes);
    return code;
}

int rg_encode(RgRun *run, const RgStep *steps, size_t count, const uint32_t *extras, size_t more) {
    if (rg_arena_size(run) >= RG_CARRY) return -1;
    run->code = malloc((count + 1) * sizeof(RgCode));
    run->extras = malloc((more + 1) * sizeof(uint32_t));
    if (run->code == NULL || run->extras == NULL) return -1;
    for (size_t i = 0; i < count; i++) run->code[i] = code_of(run, &steps[i]);
    run->code[count] = code_of(run, &(RgStep){.op = RG_DO_END, .out = RG_CARRY});
    for (size_t i = 0; i < more; i++)
        run->extras[i] = rg_extra(offset_of(run, extras[i]), kind_of(extras[i]));
    return 0;
}

/* ---- what is the same for all rows ---- */

static void fill(double *out, double number) {
    for (int i = 0; i < 8; i++) out[i] = number;
}

static int uniform_take(double *uniforms, const RgStep *step, const uint32_t *elements) {
    double wanted = uniforms[elements[step->count] * 8];
    if (!(wanted >= 0.0 && wanted < (double)step->count) || wanted != floor(wanted)) return -1;
    fill(uniforms + step->out * 8, uniforms[elements[(size_t)wanted] * 8]);
    return 0;
}

static void uniform_scatter(double *uniforms, const RgStep *step, const uint32_t *pairs) {
    double *out = uniforms + step->out * 8;
    memset(out, 0, step->count * 8 * sizeof(double));
    for (uint32_t p = 0; p < step->y; p++) {
        double wanted = uniforms[pairs[2 * p] * 8], up = uniforms[pairs[2 * p + 1] * 8];
        if (!(wanted >= 0.0 && wanted < (double)step->count)) continue;
        for (int i = 0; i < 8; i++) out[(size_t)wanted * 8 + i] += up;
    }
}

static double uniform_sum(const double *uniforms, const RgStep *step, const uint32_t *terms) {
    double total = uniforms[terms[0] * 8];
    for (uint32_t i = 1; i < step->count; i++) total += uniforms[terms[i] * 8];
    return total;
}

static double uniform_dot(const double *uniforms, const RgStep *step, const uint32_t *lefts) {
    const uint32_t *rights = lefts + step->count;
    double total = uniforms[lefts[0] * 8] * uniforms[rights[0] * 8];
    for (uint32_t i = 1; i < step->count; i++)
        total += uniforms[lefts[i] * 8] * uniforms[rights[i] * 8];
    return total;
}

int rg_run_uniform(const RgRun *run, double *uniforms) {
    const RgKernels *kernels = run->kernels;
    for (size_t i = 0; i < run->uniform_count; i++) fill(uniforms + i * 8, run->uniforms[i]);
    for (const RgStep *step = run->once, *end = step + run->once_count; step < end; step++) {
        double *out = uniforms + (size_t)step->out * 8;
        const double *x = uniforms + (size_t)step->x * 8, *y = uniforms + (size_t)step->y * 8;
        const double *z = uniforms + (size_t)step->z * 8;
        const uint32_t *listed = run->once_extras + step->x;
        if (step->op < RG_OP_COUNT) {
            int arity = RG_OPS[step->op].arity;
            if (arity == 1) kernels->unary[step->op](out, x);
            if (arity == 2) kernels->binary[step->op](out, x, y);
            if (arity == 3) kernels->ternary[step->op](out, x, y, z);
            continue;
        }
        switch (step->op) {
            case RG_DO_FMA: fill(out, fma(*x, *y, *z)); break;
            case RG_DO_SUM: fill(out, uniform_sum(uniforms, step, listed)); break;
            case RG_DO_DOT: fill(out, uniform_dot(uniforms, step, listed)); break;
            case RG_DO_SCATTER: uniform_scatter(uniforms, step, listed); break;
            default:
                if (uniform_take(uniforms, step, listed) < 0) return -1;
        }
    }
    return 0;
}

/* ---- rows ---- */

int rg_run_chunk(const RgRun *run, size_t chunk, double *arena, double *sums) {
    size_t first = chunk * RG_CHUNK, lanes = run->kernels->lanes;
    size_t end = first + RG_CHUNK < run->rows ? first + RG_CHUNK : run->rows;
    RgTile tile = {.index = run->index,
                   .extras = run->extras,
                   .inputs = run->inputs,
                   .outputs = run->outputs,
                   .sums = sums,
                   .failed = run->failed};
    memset(sums, 0, run->sum_count * 8 * sizeof(double));
    for (; first < end; first += lanes) {
        tile.first = first;
        tile.rows = end - first < lanes ? end - first : lanes;
        run->kernels->run(run->code, arena, &tile);
        if (tile.stop) return -1;
    }
    for (size_t j = 0; j < run->sum_count; j++) {
        const double *s = sums + j * 8;
        run->sums[chunk * run->sum_count + j] =
            ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
    }
    return 0;
}
