/* The executor: a vectorised interpreter. Each step runs over a block of lanes, then the next.
 *
 * Nothing here knows about Python. Rows come in chunks of RG_CHUNK, so that a reduction has the same
 * bits whatever the block and the number of threads: within a chunk lane l of eight adds up rows
 * l, l + 8, …; the eight are added in a fixed tree, and the chunks in their order. */
#include "replay.h"

#include <math.h>
#include <string.h>

static inline const double *operand(const RgRun *run, const double *slots, uint32_t at) {
    return at & RG_UNIFORM ? run->uniforms + (size_t)(at & ~RG_UNIFORM) * 8
                           : slots + (size_t)at * run->block;
}

static inline int mask_of(const RgStep *step) {
    return (int)((step->x >> 31) | (step->y >> 31) << 1 | (step->z >> 31) << 2);
}

static void copy(const RgRun *run, double *out, const double *slots, uint32_t from, size_t n) {
    const double *x = operand(run, slots, from);
    if (from & RG_UNIFORM) {
        for (size_t i = 0; i < n; i++) out[i] = *x;
    } else if (out != x) {
        memcpy(out, x, n * sizeof(double));
    }
}

static void do_sum(const RgRun *run, const RgStep *step, double *slots, size_t n) {
    const uint32_t *terms = run->extras + step->x;
    double *out = slots + (size_t)step->out * run->block;
    copy(run, out, slots, terms[0], n);
    for (uint32_t i = 1; i < step->count; i++)
        run->kernels->binary[RG_OP_add](out, out, operand(run, slots, terms[i]),
                                        (int)(terms[i] >> 31) << 1, n);
}

static void do_dot(const RgRun *run, const RgStep *step, double *slots, size_t n) {
    const uint32_t *lefts = run->extras + step->x, *rights = lefts + step->count;
    double *out = slots + (size_t)step->out * run->block;
    for (uint32_t i = 0; i < step->count; i++) {
        const double *x = operand(run, slots, lefts[i]), *y = operand(run, slots, rights[i]);
        int mask = (int)((lefts[i] >> 31) | (rights[i] >> 31) << 1);
        if (i) {
            run->kernels->add_product(out, x, y, mask, n);
        } else if (mask == 3) {
            for (size_t j = 0; j < n; j++) out[j] = *x * *y;
        } else {
            run->kernels->binary[RG_OP_mul](out, x, y, mask, n);
        }
    }
}

static int do_take(const RgRun *run, const RgStep *step, double *slots, size_t first, size_t rows,
                   size_t n) {
    const uint32_t *elements = run->extras + step->x;
    uint32_t chooser = elements[step->count];
    const double *index = operand(run, slots, chooser);
    double *out = slots + (size_t)step->out * run->block;
    for (size_t i = 0; i < n; i++) {
        double wanted = index[chooser & RG_UNIFORM ? 0 : i];
        if (!(wanted >= 0.0 && wanted < (double)step->count) || wanted != floor(wanted)) {
            int left = run->failed && i < rows && run->failed[first + i] >= 0;
            if (i < rows && !left) return -1; /* a row that failed a guard never gets here */
            wanted = 0.0;
        }
        uint32_t at = elements[(size_t)wanted];
        out[i] = operand(run, slots, at)[at & RG_UNIFORM ? 0 : i];
    }
    return 0;
}

static void do_scatter(const RgRun *run, const RgStep *step, double *slots, size_t n) {
    const uint32_t *pairs = run->extras + step->x;
    double *out = slots + (size_t)step->out * run->block;
    memset(out, 0, (size_t)step->count * run->block * sizeof(double));
    for (uint32_t p = 0; p < step->y; p++) {
        uint32_t chooser = pairs[2 * p], from = pairs[2 * p + 1];
        const double *index = operand(run, slots, chooser), *up = operand(run, slots, from);
        for (size_t i = 0; i < n; i++) {
            double wanted = index[chooser & RG_UNIFORM ? 0 : i];
            if (wanted >= 0.0 && wanted < (double)step->count)
                out[(size_t)wanted * run->block + i] += up[from & RG_UNIFORM ? 0 : i];
        }
    }
}

static void do_store(const RgRun *run, const RgStep *step, const double *slots, size_t first,
                     size_t rows) {
    const double *x = operand(run, slots, step->x);
    RgColumn column = run->outputs[step->y];
    size_t advance = step->x & RG_UNIFORM ? 0 : 1;
    if (run->index != NULL) {
        const int64_t *index = run->index + first;
        for (size_t i = 0; i < rows; i++)
            memcpy(column.base + index[i] * column.stride, x + i * advance, sizeof(double));
        return;
    }
    char *base = column.base + (ptrdiff_t)first * column.stride;
    if (advance && column.stride == sizeof(double)) {
        memcpy(base, x, rows * sizeof(double));
        return;
    }
    for (size_t i = 0; i < rows; i++)
        memcpy(base + (ptrdiff_t)i * column.stride, x + i * advance, sizeof(double));
}

static void do_reduce(const RgRun *run, const RgStep *step, const double *slots, double *sums,
                      size_t rows) {
    const double *x = operand(run, slots, step->x);
    double *lanes = sums + (size_t)step->y * 8;
    size_t advance = step->x & RG_UNIFORM ? 0 : 1;
    for (size_t i = 0; i < rows; i++) lanes[i % 8] += x[i * advance];
}

/* The first failed guard of each row; 0 when no row is left. Guards may come out of their order, so
 * a row is only gone when every guard before the one it failed is done: an earlier one may fail too. */
static int do_guard(const RgRun *run, const RgStep *step, const double *slots, size_t first,
                    size_t rows) {
    const double *x = operand(run, slots, step->x);
    size_t advance = step->x & RG_UNIFORM ? 0 : 1;
    int32_t number = (int32_t)step->y, done = (int32_t)step->z, left = 0;
    for (size_t i = 0; i < rows; i++) {
        int32_t *failed = &run->failed[first + i];
        if ((x[i * advance] != 0.0) != (step->count != 0) && (*failed < 0 || *failed > number))
            *failed = number; /* the first of the function, in whatever order they are checked */
        left |= *failed < 0 || *failed >= done;
    }
    return left;
}

static void do_load(const RgRun *run, const RgStep *step, double *slots, size_t first, size_t rows,
                    size_t n) {
    RgColumn column = run->inputs[step->x];
    const int64_t *index = run->index ? run->index + first : NULL;
    ptrdiff_t skip = index ? 0 : (ptrdiff_t)first;
    const char *base = column.base + skip * column.stride;
    if (step->count == 0) {
        double *out = slots + (size_t)step->out * run->block;
        run->kernels->load(out, base, column.stride, index, rows, n);
        return;
    }
    double *out[8];
    int adjacent = 1;
    for (uint32_t i = 0; i < 8; i++) {
        RgColumn other = run->inputs[step->x + i];
        out[i] = slots + (size_t)run->extras[step->y + i] * run->block;
        adjacent &= other.base == column.base + i * sizeof(double) && other.stride == column.stride;
    }
    if (adjacent) {
        run->kernels->load_eight(out, base, column.stride, index, rows, n);
        return;
    }
    for (uint32_t i = 0; i < 8; i++) {
        RgColumn other = run->inputs[step->x + i];
        run->kernels->load(out[i], other.base + skip * other.stride, other.stride, index, rows, n);
    }
}

static int run_block(const RgRun *run, double *slots, double *sums, size_t first, size_t rows) {
    size_t n = (rows + 7) & ~(size_t)7;
    const RgKernels *kernels = run->kernels;
    for (const RgStep *step = run->steps, *end = step + run->step_count; step < end; step++) {
        double *out = slots + (size_t)step->out * run->block;
        if (step->op < RG_OP_COUNT) {
            int arity = RG_OPS[step->op].arity, mask = mask_of(step);
            const double *x = operand(run, slots, step->x);
            if (arity == 1) {
                kernels->unary[step->op](out, x, n);
            } else if (arity == 2) {
                kernels->binary[step->op](out, x, operand(run, slots, step->y), mask & 3, n);
            } else {
                kernels->ternary[step->op](out, x, operand(run, slots, step->y),
                                           operand(run, slots, step->z), mask, n);
            }
            continue;
        }
        switch (step->op) {
            case RG_DO_FMA:
                kernels->fma(out, operand(run, slots, step->x), operand(run, slots, step->y),
                             operand(run, slots, step->z), mask_of(step), n);
                break;
            case RG_DO_SUM: do_sum(run, step, slots, n); break;
            case RG_DO_DOT: do_dot(run, step, slots, n); break;
            case RG_DO_TAKE:
                if (do_take(run, step, slots, first, rows, n) < 0) return -1;
                break;
            case RG_DO_SCATTER: do_scatter(run, step, slots, n); break;
            case RG_DO_LOAD: do_load(run, step, slots, first, rows, n); break;
            case RG_DO_STORE: do_store(run, step, slots, first, rows); break;
            case RG_DO_REDUCE: do_reduce(run, step, slots, sums, rows); break;
            default:
                if (!do_guard(run, step, slots, first, rows)) return 0;
                break;
        }
    }
    return 0;
}

int rg_run_chunk(const RgRun *run, size_t chunk, double *slots, double *partial_sums) {
    size_t first = chunk * RG_CHUNK;
    size_t end = first + RG_CHUNK < run->rows ? first + RG_CHUNK : run->rows;
    memset(partial_sums, 0, run->sum_count * 8 * sizeof(double));
    for (; first < end; first += run->block) {
        size_t rows = end - first < run->block ? end - first : run->block;
        if (run_block(run, slots, partial_sums, first, rows) < 0) return -1;
    }
    for (size_t j = 0; j < run->sum_count; j++) {
        const double *s = partial_sums + j * 8;
        run->sums[chunk * run->sum_count + j] =
            ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
    }
    return 0;
}
