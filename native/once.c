/* What is the same for all rows: computed once by every thread, before any row.
 *
 * A number is as many equal lanes as a vector has, so that a row's step can read it like a slot. */
#include <math.h>
#include <string.h>

#include "replay.h"

/* The uniform numbers, `lanes` equal ones each. */
typedef struct {
    double *numbers;
    size_t lanes;
} Uniforms;

static double *at(Uniforms u, size_t place) { return u.numbers + place * u.lanes; }

static void fill(Uniforms u, double *out, double number) {
    for (size_t i = 0; i < u.lanes; i++) out[i] = number;
}

static void set(Uniforms u, size_t place, double number) { fill(u, at(u, place), number); }

static int uniform_take(Uniforms u, const RgStep *step, const uint32_t *elements) {
    double wanted = *at(u, elements[step->count]);
    if (!(wanted >= 0.0 && wanted < (double)step->count) || wanted != floor(wanted)) return -1;
    set(u, step->out, *at(u, elements[(size_t)wanted]));
    return 0;
}

static void uniform_scatter(Uniforms u, const RgStep *step, const uint32_t *pairs) {
    for (uint32_t i = 0; i < step->count; i++) set(u, step->out + i, 0.0);
    for (uint32_t p = 0; p < step->y; p++) {
        double wanted = *at(u, pairs[2 * p]), up = *at(u, pairs[2 * p + 1]);
        if (!(wanted >= 0.0 && wanted < (double)step->count)) continue;
        size_t place = step->out + (size_t)wanted;
        set(u, place, *at(u, place) + up);
    }
}

static double uniform_sum(Uniforms u, const RgStep *step, const uint32_t *terms) {
    double total = *at(u, terms[0]);
    for (uint32_t i = 1; i < step->count; i++) total += *at(u, terms[i]);
    return total;
}

static double uniform_dot(Uniforms u, const RgStep *step, const uint32_t *extras) {
    const uint32_t *lefts = extras + step->x, *rights = extras + step->y;
    double total = *at(u, lefts[0]) * *at(u, rights[0]);
    for (uint32_t i = 1; i < step->count; i++) total += *at(u, lefts[i]) * *at(u, rights[i]);
    return total;
}

/* A step that is no loop's. 0, or -1 where an index is out of range. */
static int uniform_step(const RgKernels *kernels, Uniforms u, const RgStep *step,
                        const uint32_t *extras) {
    const uint32_t *listed = extras + step->x;
    if (step->op < RG_OP_COUNT) {
        double *out = at(u, step->out);
        const double *x = at(u, step->x), *y = at(u, step->y), *z = at(u, step->z);
        int arity = RG_OPS[step->op].arity;
        if (arity == 1) kernels->unary[step->op](out, x);
        if (arity == 2) kernels->binary[step->op](out, x, y);
        if (arity == 3) kernels->ternary[step->op](out, x, y, z);
        return 0;
    }
    switch (step->op) {
        case RG_DO_FMA:
            set(u, step->out, fma(*at(u, step->x), *at(u, step->y), *at(u, step->z)));
            return 0;
        case RG_DO_COPY: set(u, step->out, *at(u, step->x)); return 0;
        case RG_DO_SUM: set(u, step->out, uniform_sum(u, step, listed)); return 0;
        case RG_DO_DOT: set(u, step->out, uniform_dot(u, step, extras)); return 0;
        case RG_DO_SCATTER: uniform_scatter(u, step, listed); return 0;
        default: return uniform_take(u, step, listed);
    }
}

/* ---- loops ---- */

/* A step of a thread's own, made ready: where its numbers are, and the kernel of its row. */
typedef struct {
    enum { UNARY, BINARY, TERNARY, FUSED, COPIED, OTHER, AGAIN, MOVES_PLACE, MOVES_NUMBER } what;
    RgStep step;
    union {
        void (*unary)(double *, const double *);
        void (*binary)(double *, const double *, const double *);
        void (*ternary)(double *, const double *, const double *, const double *);
        void *moved; /* what a move adds to: a place, or a number of a step or among the extras */
    } as;
    double *places[4];  /* out, x, y, z */
    ptrdiff_t by, back; /* what a move adds before a round, and when all are done */
} Once;

size_t rg_once_bytes(const RgRun *run) {
    if (!run->counts.once_loops) return 0;
    return run->once_count * sizeof(Once) + run->counts.extras * sizeof(uint32_t);
}

static Once ready_step(const RgKernels *kernels, Uniforms u, const RgStep *step) {
    Once once = {.what = step->op == RG_DO_AGAIN ? AGAIN : OTHER, .step = *step};
    int is_row = step->op < RG_OP_COUNT, arity = is_row ? RG_OPS[step->op].arity : 0;
    if (step->op == RG_DO_FMA) arity = 3;
    if (step->op == RG_DO_COPY) arity = 1;
    if (!arity) return once;
    const uint32_t places[4] = {step->out, step->x, step->y, step->z};
    for (int i = 0; i <= arity; i++) once.places[i] = at(u, places[i]);
    once.what = arity == 1 ? UNARY : arity == 2 ? BINARY : TERNARY;
    if (!is_row) once.what = arity == 1 ? COPIED : FUSED;
    if (!is_row) return once;
    if (arity == 1) once.as.unary = kernels->unary[step->op];
    if (arity == 2) once.as.binary = kernels->binary[step->op];
    if (arity == 3) once.as.ternary = kernels->ternary[step->op];
    return once;
}

static Once ready_move(Uniforms u, Once *again, const RgStep *move, uint32_t *extras) {
    Once *step = again - (move->count == RG_EXTRA ? 0 : move->out);
    uint32_t *numbers[] = {&step->step.out, &step->step.x, &step->step.y, &step->step.z};
    Once once = {.what = MOVES_NUMBER, .by = (int32_t)move->x};
    if (move->count == RG_EXTRA) {
        once.as.moved = extras + move->out;
    } else if (step->what == OTHER) {
        once.as.moved = numbers[move->count];
    } else {
        once.what = MOVES_PLACE;
        once.as.moved = &step->places[move->count];
        once.by *= (ptrdiff_t)u.lanes;
    }
    once.back = -once.by * (ptrdiff_t)(again->step.count - 1);
    return once;
}

static void move(const Once *move, ptrdiff_t by) {
    if (move->what == MOVES_PLACE)
        *(double **)move->as.moved += by;
    else
        *(uint32_t *)move->as.moved += (uint32_t)by;
}

/* The step after an AGAIN: of the next round, or after the last; then all is as in the first. */
static Once *after(Once *again) {
    Once *moves = again + 1, *end = moves + again->step.y;
    if (++again->step.out < again->step.count) {
        for (; moves < end; moves++) move(moves, moves->by);
        return again - again->step.x;
    }
    for (; moves < end; moves++) move(moves, moves->back);
    again->step.out = 0;
    return end;
}

/* The steps in a copy of this thread's own, since they change as they are done. */
static int run_loops(const RgRun *run, Uniforms u, void *room) {
    Once *steps = room, *end = steps + run->once_count, *again = NULL;
    uint32_t *extras = (uint32_t *)(void *)end;
    memcpy(extras, run->once_extras, run->counts.extras * sizeof(uint32_t));
    for (size_t i = 0; i < run->once_count; i++) {
        const RgStep *step = &run->once[i];
        if (step->op == RG_DO_AGAIN) again = &steps[i];
        steps[i] = step->op == RG_DO_MOVE ? ready_move(u, again, step, extras)
                                          : ready_step(run->kernels, u, step);
    }
    for (Once *step = steps; step < end;) {
        double **p = step->places;
        switch (step->what) {
            case UNARY: step++->as.unary(p[0], p[1]); break;
            case BINARY: step++->as.binary(p[0], p[1], p[2]); break;
            case TERNARY: step++->as.ternary(p[0], p[1], p[2], p[3]); break;
            case FUSED: fill(u, step++->places[0], fma(*p[1], *p[2], *p[3])); break;
            case COPIED: fill(u, step++->places[0], *p[1]); break;
            case AGAIN: step = after(step); break;
            default:
                if (uniform_step(run->kernels, u, &step++->step, extras) < 0) return -1;
        }
    }
    return 0;
}

int rg_run_once(const RgRun *run, double *arena, void *room) {
    Uniforms u = {arena, run->kernels->equal};
    for (size_t i = 0; i < run->known; i++) set(u, i, run->uniforms[i]);
    if (run->counts.once_loops) return run_loops(run, u, room);
    for (const RgStep *step = run->once, *end = step + run->once_count; step < end; step++)
        if (uniform_step(run->kernels, u, step, run->once_extras) < 0) return -1;
    return 0;
}
