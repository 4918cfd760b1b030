/* Carrying out programs with shapes.
 *
 * A box is a body, rows of the scalar law, over some loops: a block of the last two loops at a time,
 * row after row of the body, with what is made on the way in rooms that stay in the first cache. What
 * is summed behind it is taken from the rooms. */
#define RG_LISTS_ONLY
#include "shaped.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "plans.h"

#define SMALL_PRODUCT 1e6 /* multiplications below which there is nothing to share among threads */

enum { MOST_STEPS = 64, MOST_REDUCTIONS = 4, SHORT_BLOCK = 256, MOST_WHOLE = 2048, MOST_ARGS = 64 };

/* Of boxes that are gone through in several turns: the length of the last loop from which that does not
 * pay, and how many numbers a turn has. */
enum { SHORT_LINE = 64, LEAST_AT_ONCE = 128, MOST_AT_ONCE = 1024 };

typedef struct {
    int slot;
    Count offset;
    Count stride[RG_BOX_LOOPS];
} Operand;

typedef struct {
    int op, to, arg[3];
    Count step[3]; /* of a whole box: 0 where an operand is one number */
} Row;

typedef struct {
    int kind, from, out;
    Count line; /* of a whole box: how far apart the results of its lines are */
} Reduction;

/* How an operand is copied side by side: the loops of its box, as few as it has for itself. */
typedef struct {
    int loops;
    Count length[RG_BOX_LOOPS], stride[RG_BOX_LOOPS];
} Laid;

typedef struct {
    int loops, operands, reads, rows, reductions, rooms;
    Count length[RG_BOX_LOOPS];
    Operand operand[RG_BOX_OPERANDS];
    Row row[MOST_STEPS];
    Reduction reduction[MOST_REDUCTIONS];
    uint32_t wide; /* operands that a reduction reads: one number an element, always */
    Count whole; /* how many numbers are gone through at once, in so many `turns` of the first loop,
                    * each `leap` of it; 0 where it is not done that way */
    Count turns, leap;
    uint32_t copied;
    Laid laid[RG_BOX_OPERANDS];
    Count step[RG_BOX_OPERANDS + RG_BOX_ROOMS]; /* of a whole box, as its rows have them */
    _Atomic(RgMapRows) compiled; /* in place of the rows; NULL where there is nothing compiled */
} Box;

typedef struct {
    int slot;
    Count offset, row, column;
    Count turn[RG_BOX_LOOPS];
} Matrix;

typedef struct {
    int loops, adds;
    Count size[3], length[RG_BOX_LOOPS];
    Matrix a, b, c;
    int small; /* not worth a thread's while */
} Matrices;

typedef struct {
    const RgPlan *plan;
    int out, arrays, wholes;
    int array[MOST_ARGS], whole[MOST_ARGS];
    Count offset[MOST_ARGS];
} Planned;

typedef struct {
    int by, slot, whole;
    Count size[3], offset;
} Choice;

typedef struct {
    int loops, out;
    Count length[RG_BOX_LOOPS];
    Operand from;
} Packing;

/* Numbers moved, one side of them at places that whole numbers name: `scale` times the number beyond
 * where the loops stand. Where they go to such places they are added up. */
typedef struct {
    int loops, adds, whole;
    Count length[RG_BOX_LOOPS], turn[RG_BOX_LOOPS]; /* of the whole numbers */
    Count scale, limit;
    Operand to, from;
} Moving;

typedef struct {
    int kind;
    Count size; /* of what a moving step adds up */
    union {
        Box box;
        Packing packing;
        Matrices matrices;
        Planned planned;
        Choice choice;
        RgCalled called;
        Moving moving;
    };
} Piece;

struct RgShaped {
    int count;
    Piece *step[];
};

/* ---- boxes -------------------------------------------------------------------------------------- */

/* What a body works on in one block: `n` numbers a line, `lines` of them. */
typedef struct {
    const Box *box;
    Count n, lines;
    double *at[RG_BOX_OPERANDS + RG_BOX_ROOMS];
    Count step[RG_BOX_OPERANDS + RG_BOX_ROOMS];
} Block;

/* An operand laid out for a block: as it lies, as one number, or copied to a room. */
static void lay_out(Block *block, int which, double *at, Count line, Count next, double *room) {
    Count n = block->n, lines = block->lines;
    int wide = block->box->wide >> which & 1;
    block->step[which] = 1;
    if (next == 1 && (lines == 1 || line == n)) {
        block->at[which] = at;
        return;
    }
    if (next == 0 && (lines == 1 || line == 0) && !wide) {
        block->at[which] = at;
        block->step[which] = 0;
        return;
    }
    block->at[which] = room;
    for (Count r = 0; r < lines; r++, at += line, room += n) {
        if (next == 1)
            memcpy(room, at, (size_t)n * sizeof(double));
        else if (next == 0)
            for (Count i = 0; i < n; i++) room[i] = *at;
        else
            for (Count i = 0; i < n; i++) room[i] = at[i * next];
    }
}

static double better(int kind, double x, double y) {
    if (y != y) return x == x ? y : x;
    return (kind == RG_TOP ? y > x : y < x) ? y : x;
}

static double of_line(int kind, Count n, const double *x) {
    if (kind == RG_TOTAL) return rg_arrays->products->sum(n, x, 1);
    double best;
    rg_arrays->products->extremes(kind == RG_BOTTOM, 1, n, x, &best, 1);
    return best;
}

static inline double joined(int kind, double x, double y) {
    return kind == RG_TOTAL ? x + y : better(kind, x, y);
}

/* A block reduced into `out`; `first` says that nothing has gone there in earlier turns. */
static void reduce(const Block *block, const Reduction *reduction, double *out, Count line,
                   Count next, int first) {
    const double *x = block->at[reduction->from];
    int kind = reduction->kind;
    Count n = block->n;
    if (next == 0 && line != 0 && first) {
        if (kind == RG_TOTAL)
            rg_arrays->products->sums(block->lines, n, x, out, line);
        else
            rg_arrays->products->extremes(kind == RG_BOTTOM, block->lines, n, x, out, line);
        return;
    }
    for (Count r = 0; r < block->lines; r++, x += n, out += line) {
        int begins = first && (line != 0 || r == 0);
        if (next == 0) {
            double made = of_line(kind, n, x);
            *out = begins ? made : joined(kind, *out, made);
        } else if (begins) {
            for (Count i = 0; i < n; i++) out[i * next] = x[i];
        } else if (next == 1 && kind == RG_TOTAL) {
            for (Count i = 0; i < n; i++) out[i] += x[i];
        } else {
            for (Count i = 0; i < n; i++) out[i * next] = joined(kind, out[i * next], x[i]);
        }
    }
}

/* The rows of a body on n numbers, one after the other. */
static void run_rows(const Box *box, Count n, double *const *at, const Count *step) {
    for (int i = 0; i < box->rows; i++) {
        const Row *row = &box->row[i];
        const double *in[3] = {at[row->arg[0]], at[row->arg[1]], at[row->arg[2]]};
        const Count own[3] = {step[row->arg[0]], step[row->arg[1]], step[row->arg[2]]};
        rg_arrays->forward[row->op](n, at[row->to], in, own);
    }
}

/* Whether what is compiled has gone through the numbers. */
static inline int ran_compiled(const Box *box, Count n, double *const *at, const Count *step) {
    RgMapRows compiled = atomic_load_explicit(&box->compiled, memory_order_acquire);
    return compiled && compiled(n, at, step);
}

/* One turn of the loops around the last two. `nonzero` has a bit for each that does not stand at 0. */
static void run_lines(const Box *box, double *const *base, const Count *turn_offset, Count lines,
                      Count n, uint32_t nonzero, double *scratch) {
    int last = box->loops - 1, before = box->loops - 2;
    int long_rows = box->reductions && n > SHORT_BLOCK;
    Count limit = long_rows ? RG_BOX_BLOCK : SHORT_BLOCK;
    Count wide = n < limit ? n : limit, most = limit / wide;
    Block block;
    block.box = box;
    int total = box->operands;
    for (int i = 0; i < box->rooms; i++) {
        block.at[total + i] = scratch + (size_t)(RG_BOX_OPERANDS + i) * RG_BOX_BLOCK;
        block.step[total + i] = 1;
    }
    for (Count r = 0; r < lines; r += most) {
        block.lines = lines - r < most ? lines - r : most;
        for (Count i = 0; i < n; i += wide) {
            block.n = n - i < wide ? n - i : wide;
            for (int o = 0; o < total; o++) {
                const Operand *it = &box->operand[o];
                Count line = before >= 0 ? it->stride[before] : 0;
                Count next = last >= 0 ? it->stride[last] : 0;
                double *at = base[o] + turn_offset[o] + r * line + i * next;
                if (o < box->reads) {
                    lay_out(&block, o, at, line, next, scratch + (size_t)o * RG_BOX_BLOCK);
                } else {
                    block.at[o] = at;
                    block.step[o] = 1;
                }
            }
            if (!ran_compiled(box, block.n * block.lines, block.at, block.step))
                run_rows(box, block.n * block.lines, block.at, block.step);
            for (int k = 0; k < box->reductions; k++) {
                const Reduction *it = &box->reduction[k];
                const Operand *to = &box->operand[it->out];
                Count line = before >= 0 ? to->stride[before] : 0;
                Count next = last >= 0 ? to->stride[last] : 0;
                int first = (next != 0 || i == 0) && (line != 0 || r == 0);
                for (int loop = 0; loop < before; loop++)
                    if (to->stride[loop] == 0 && nonzero >> loop & 1) first = 0;
                reduce(&block, it, block.at[it->out], line, next, first);
            }
        }
    }
}

/* An operand copied side by side. A vector's worth of numbers behind it may be written too. */
static void lay_whole(const Laid *laid, const double *from, double *to) {
    int last = laid->loops - 1, before = laid->loops - 2;
    Count n = laid->length[last], lines = before < 0 ? 1 : laid->length[before];
    Count next = laid->stride[last], line = before < 0 ? 0 : laid->stride[before];
    Count turn[RG_BOX_LOOPS] = {0};
    for (;; to += lines * n) {
        rg_arrays->lay(lines, n, to, from, line, next);
        int loop = before - 1;
        for (; loop >= 0; loop--) {
            from += laid->stride[loop];
            if (++turn[loop] < laid->length[loop]) break;
            from -= laid->stride[loop] * laid->length[loop];
            turn[loop] = 0;
        }
        if (loop < 0) return;
    }
}

/* How far apart the rooms of a small box are: a vector may be written behind what it has. */
static inline Count whole_room(Count numbers) { return (numbers + 7) / 8 * 8 + 8; }

/* A small box, all of it at once, or one turn of a larger one. What is the same in every turn is
 * copied in the first. */
static void run_whole(const Box *box, const RgRun *run, Count turn) {
    double *at[RG_BOX_OPERANDS + RG_BOX_ROOMS], *room = run->scratch;
    Count apart = whole_room(box->whole), beyond = turn * box->leap;
    for (int o = 0; o < box->operands; o++) {
        const Operand *it = &box->operand[o];
        at[o] = run->slots[it->slot] + it->offset + beyond * it->stride[0];
        if (box->copied >> o & 1) {
            if (turn == 0 || it->stride[0] != 0) lay_whole(&box->laid[o], at[o], room);
            at[o] = room;
            room += apart;
        }
    }
    for (int i = 0; i < box->rooms; i++, room += apart) at[box->operands + i] = room;
    int rows = ran_compiled(box, box->whole, at, box->step) ? 0 : box->rows;
    for (int i = 0; i < rows; i++) {
        const Row *row = &box->row[i];
        const double *in[3] = {at[row->arg[0]], at[row->arg[1]], at[row->arg[2]]};
        rg_arrays->forward[row->op](box->whole, at[row->to], in, row->step);
    }
    Block block;
    block.n = box->loops ? box->length[box->loops - 1] : 1;
    block.lines = box->reductions ? box->whole / block.n : 0;
    for (int i = 0; i < box->reductions; i++) {
        const Reduction *it = &box->reduction[i];
        const Operand *to = &box->operand[it->out];
        block.at[it->from] = at[it->from];
        reduce(&block, it, at[it->out], it->line, box->loops ? to->stride[box->loops - 1] : 0, 1);
    }
}

/* ---- compiled boxes ----------------------------------------------------------------------------- */

enum { TRIAL_ROOM = 64, TRIALS = 4 };

static double made_up(uint64_t *state, int trial) {
    static const double special[] = {0.0,    -0.0, 1.0,  -1.0,   RG_INFINITY, -RG_INFINITY,
                                     RG_NAN, 0.5,  2.0,  1e-320, 1e-308,      1e300,
                                     -1e300, -0.5, 40.0, -3.0};
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    double unit = (double)(*state >> 11) * 0x1p-53;
    if (trial == 0) return 0.25 + 1.75 * unit;
    if (trial == 1) return 4.0 * unit - 2.0;
    if (trial == 2) return 400.0 * unit - 200.0;
    return special[*state >> 60];
}

static int differ(const double *x, const double *y, Count n) {
    for (Count i = 0; i < n; i++)
        if (memcmp(x + i, y + i, sizeof(double)) && (x[i] == x[i] || y[i] == y[i])) return 1;
    return 0;
}

/* Whether compiled rows have other bits than the steps of their box, on n numbers. `room` is for what
 * is read and made, and for what is made a second time. */
static int bits_differ(const Box *box, RgMapRows compiled, Count n, int trial, double *room) {
    double *at[RG_BOX_OPERANDS + RG_BOX_ROOMS], *second[RG_BOX_OPERANDS + RG_BOX_ROOMS];
    Count step[RG_BOX_OPERANDS + RG_BOX_ROOMS];
    int total = box->operands + box->rooms;
    uint64_t state = (uint64_t)n;
    for (int o = 0; o < total; o++) {
        at[o] = second[o] = room + (size_t)o * TRIAL_ROOM;
        if (o >= box->reads) second[o] += (size_t)total * TRIAL_ROOM;
        int moves = 0;
        for (int i = 0; o < box->operands && i < box->loops; i++)
            moves |= box->operand[o].stride[i] != 0;
        step[o] = o >= box->reads || box->wide >> o & 1 || (moves && (trial + o) % 3 != 2);
        for (int i = 0; i < TRIAL_ROOM; i++) {
            at[o][i] = i == 0 || step[o] ? made_up(&state, trial) : at[o][0];
            second[o][i] = at[o][i];
        }
    }
    if (!compiled(n, second, step)) return 0;
    run_rows(box, n, at, step);
    int wrong = 0;
    for (int i = 0; i < box->rows; i++)
        if (box->row[i].to < box->operands)
            wrong |= differ(at[box->row[i].to], second[box->row[i].to], n);
    for (int i = 0; i < box->reductions; i++)
        wrong |= differ(at[box->reduction[i].from], second[box->reduction[i].from], n);
    return wrong;
}

static int prove(const Box *box, RgMapRows compiled, double *room) {
    static const Count counts[] = {16, 32, 37, TRIAL_ROOM - 1};
    for (int trial = 0; trial < TRIALS; trial++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            if (bits_differ(box, compiled, counts[i], trial, room)) return RG_OTHER_BITS;
    return 0;
}

int rg_shaped_compile(RgShaped *shaped, const RgMaps *maps) {
    uint64_t boxes = 0;
    for (int i = 0; i < shaped->count; i++) boxes += shaped->step[i]->kind == RG_BOX;
    if (maps->version != RG_MAPS_VERSION || maps->count != boxes) return RG_OTHER_MAPS;
    size_t numbers = 2 * (size_t)(RG_BOX_OPERANDS + RG_BOX_ROOMS) * TRIAL_ROOM;
    double *room = malloc(numbers * sizeof(double));
    if (room == NULL) return RG_NO_MEMORY;
    int failed = 0;
    for (int store = 0; store < 2 && !failed; store++) {
        const RgMapRows *next = maps->rows;
        for (int i = 0; i < shaped->count && !failed; i++) {
            if (shaped->step[i]->kind != RG_BOX) continue;
            Box *box = &shaped->step[i]->box;
            RgMapRows compiled = *next++;
            if (store)
                atomic_store_explicit(&box->compiled, compiled, memory_order_release);
            else if (compiled)
                failed = prove(box, compiled, room);
        }
    }
    free(room);
    return failed;
}

static void run_box(const Box *box, const RgRun *run) {
    if (box->whole) {
        for (Count turn = 0; turn < box->turns; turn++) run_whole(box, run, turn);
        return;
    }
    double *base[RG_BOX_OPERANDS];
    Count offset[RG_BOX_OPERANDS] = {0}, turn[RG_BOX_LOOPS] = {0};
    for (int o = 0; o < box->operands; o++)
        base[o] = run->slots[box->operand[o].slot] + box->operand[o].offset;
    int around = box->loops - 2;
    Count n = box->loops >= 1 ? box->length[box->loops - 1] : 1;
    Count lines = box->loops >= 2 ? box->length[box->loops - 2] : 1;
    uint32_t nonzero = 0;
    for (;;) {
        run_lines(box, base, offset, lines, n, nonzero, run->scratch);
        int loop = around - 1;
        for (; loop >= 0; loop--) {
            if (++turn[loop] < box->length[loop]) {
                for (int o = 0; o < box->operands; o++) offset[o] += box->operand[o].stride[loop];
                nonzero |= 1u << loop;
                break;
            }
            for (int o = 0; o < box->operands; o++)
                offset[o] -= box->operand[o].stride[loop] * (box->length[loop] - 1);
            turn[loop] = 0;
            nonzero &= ~(1u << loop);
        }
        if (loop < 0) return;
    }
}

/* ---- the other steps ---------------------------------------------------------------------------- */

static int run_matrices(const Matrices *it, const RgRun *run) {
    Count turn[RG_BOX_LOOPS] = {0};
    const double *a = run->slots[it->a.slot] + it->a.offset,
                 *b = run->slots[it->b.slot] + it->b.offset;
    double *c = run->slots[it->c.slot] + it->c.offset;
    RgHow how = it->adds ? RG_ADD : RG_REPLACE;
    int inner = it->loops - 1;
    if (it->small && inner <= 0)
        return rg_arrays->products->several(inner < 0 ? 1 : it->length[0], it->size[0], it->size[1],
                                            it->size[2], (RgMatrix){a, it->a.row, it->a.column},
                                            it->a.turn[0], (RgMatrix){b, it->b.row, it->b.column},
                                            it->b.turn[0], c, it->c.row, it->c.turn[0], how);
    for (;;) {
        RgMatrix left = {a, it->a.row, it->a.column}, right = {b, it->b.row, it->b.column};
        int failed =
            inner < 0
                ? rg_product(it->size[0], it->size[1], it->size[2], left, right, c, it->c.row, how)
                : rg_products(it->length[inner], it->size[0], it->size[1], it->size[2], left,
                              it->a.turn[inner], right, it->b.turn[inner], c, it->c.row,
                              it->c.turn[inner], how);
        if (failed) return failed;
        int loop = inner - 1;
        for (; loop >= 0; loop--) {
            if (++turn[loop] < it->length[loop]) {
                a += it->a.turn[loop], b += it->b.turn[loop], c += it->c.turn[loop];
                break;
            }
            Count back = it->length[loop] - 1;
            a -= it->a.turn[loop] * back, b -= it->b.turn[loop] * back;
            c -= it->c.turn[loop] * back;
            turn[loop] = 0;
        }
        if (loop < 0) return 0;
    }
}

static int run_planned(const Planned *it, const RgRun *run) {
    const double *arrays[MOST_ARGS];
    const int64_t *wholes[MOST_ARGS];
    for (int i = 0; i < it->arrays; i++) arrays[i] = run->slots[it->array[i]] + it->offset[i];
    for (int i = 0; i < it->wholes; i++) wholes[i] = run->wholes[it->whole[i]];
    return rg_plan_run(it->plan, run->slots[it->out], arrays, wholes, RG_REPLACE);
}

static void run_packing(const Packing *it, const RgRun *run) {
    rg_pack(it->loops, it->length, run->slots[it->out],
            (RgView){run->slots[it->from.slot] + it->from.offset, it->from.stride});
}

/* The last loop, at one place of the others. */
static int move_line(const Moving *it, double *to, const double *from, const int64_t *at) {
    int last = it->loops - 1;
    Count n = last < 0 ? 1 : it->length[last], turn = last < 0 ? 0 : it->turn[last];
    Count there = last < 0 ? 0 : it->to.stride[last], here = last < 0 ? 0 : it->from.stride[last];
    if (turn) {
        for (Count i = 0; i < n; i++) {
            Count place = at[i * turn];
            if (place < 0 || place >= it->limit) return RG_OUT_OF_RANGE;
            if (it->adds)
                to[i * there + place * it->scale] += from[i * here];
            else
                to[i * there] = from[i * here + place * it->scale];
        }
        return 0;
    }
    if (*at < 0 || *at >= it->limit) return RG_OUT_OF_RANGE;
    Count beyond = (Count)*at * it->scale;
    if (!it->adds) {
        from += beyond;
        if (here == 1 && there == 1)
            memcpy(to, from, (size_t)n * sizeof(double));
        else
            for (Count i = 0; i < n; i++) to[i * there] = from[i * here];
        return 0;
    }
    to += beyond;
    if (here == 1 && there == 1)
        rg_arrays->forward[RG_OP_add](n, to, (const double *const[3]){to, from, to},
                                      (const Count[3]){1, 1, 1});
    else
        for (Count i = 0; i < n; i++) to[i * there] += from[i * here];
    return 0;
}

static int run_moving(const Moving *it, const RgRun *run, Count size) {
    Count turn[RG_BOX_LOOPS] = {0};
    double *to = run->slots[it->to.slot];
    if (it->adds) memset(to, 0, (size_t)size * sizeof(double));
    to += it->to.offset;
    const double *from = run->slots[it->from.slot] + it->from.offset;
    const int64_t *at = run->wholes[it->whole];
    for (;;) {
        int failed = move_line(it, to, from, at);
        if (failed) return failed;
        int loop = it->loops - 2;
        for (; loop >= 0; loop--) {
            if (++turn[loop] < it->length[loop]) {
                to += it->to.stride[loop], from += it->from.stride[loop], at += it->turn[loop];
                break;
            }
            Count back = it->length[loop] - 1;
            to -= it->to.stride[loop] * back, from -= it->from.stride[loop] * back;
            at -= it->turn[loop] * back;
            turn[loop] = 0;
        }
        if (loop < 0) return 0;
    }
}

int rg_shaped_run(const RgShaped *shaped, const RgRun *run) {
    int failed = 0;
    for (int i = 0; i < shaped->count && !failed; i++) {
        const Piece *step = shaped->step[i];
        switch (step->kind) {
            case RG_BOX: run_box(&step->box, run); break;
            case RG_PACK: run_packing(&step->packing, run); break;
            case RG_MATRICES: failed = run_matrices(&step->matrices, run); break;
            case RG_PLANNED: failed = run_planned(&step->planned, run); break;
            case RG_CHOOSE: {
                const Choice *it = &step->choice;
                failed = rg_choose(it->by, it->size[0], it->size[1], it->size[2],
                                   run->slots[it->slot] + it->offset, run->wholes[it->whole]);
                break;
            }
            case RG_CALLED: failed = run->call(run, &step->called); break;
            case RG_MOVE: failed = run_moving(&step->moving, run, step->size); break;
        }
    }
    return failed;
}

/* ---- reading ------------------------------------------------------------------------------------ */

/* Words, one after the other; `wrong` once one is missing or is not what it has to be. */
typedef struct {
    const int64_t *at, *end;
    const int64_t *slot_sizes, *whole_sizes;
    int slots, wholes, wrong;
} Words;

static int64_t next_word(Words *words) {
    if (words->at < words->end) return *words->at++;
    words->wrong = 1;
    return 0;
}

static Count next_within(Words *words, Count low, Count high) {
    int64_t word = next_word(words);
    if (word < low || word > high) words->wrong = 1;
    return words->wrong ? low : (Count)word;
}

enum { LARGE = 1 << 30 };
#define ANY (((Count)LARGE) << 20)

static int next_slot(Words *words) { return (int)next_within(words, 0, words->slots - 1); }

static void next_lengths(Words *words, int loops, Count *length) {
    for (int i = 0; i < loops; i++) length[i] = next_within(words, 1, ANY);
}

/* Whether all places that loops lead to lie inside a slot. */
static void check_reach(Words *words, int slot, Count offset, int loops, const Count *length,
                        const Count *stride) {
    if (words->wrong) return;
    Count low = offset, high = offset;
    for (int i = 0; i < loops; i++) {
        Count far = 0;
        if (RG_MULTIPLY_OVERFLOWS(stride[i], length[i] - 1, &far) ||
            RG_ADD_OVERFLOWS(far < 0 ? low : high, far, far < 0 ? &low : &high))
            words->wrong = 1;
    }
    if (low < 0 || high >= words->slot_sizes[slot]) words->wrong = 1;
}

static void read_operand(Words *words, Operand *it, int loops, const Count *length) {
    it->slot = next_slot(words);
    it->offset = next_within(words, 0, ANY);
    for (int i = 0; i < loops; i++) it->stride[i] = next_within(words, -ANY, ANY);
    check_reach(words, it->slot, it->offset, loops, length, it->stride);
}

/* The loops of an operand, those joined along which it goes on evenly. */
static Laid laid_of(const Operand *it, int loops, const Count *length) {
    Laid laid = {0};
    for (int i = 0; i < loops; i++) {
        int last = laid.loops - 1;
        if (last >= 0 && laid.stride[last] == it->stride[i] * length[i]) {
            laid.length[last] *= length[i];
            laid.stride[last] = it->stride[i];
        } else {
            laid.length[laid.loops] = length[i];
            laid.stride[laid.loops++] = it->stride[i];
        }
    }
    return laid;
}

/* How much of the first loop is gone through at once: all of it in a small box; in a larger one whose
 * last loop is short, as much as fits a block and goes into the loop evenly. 0 where it is nothing. */
static Count leap_of(const Box *box) {
    Count inner = 1, first = box->loops ? box->length[0] : 1;
    for (int i = 1; i < box->loops; i++) {
        inner *= box->length[i];
        if (inner < 1 || inner > MOST_WHOLE) return 0;
    }
    if (first <= MOST_WHOLE / inner) return first;
    if (box->loops < 2 || box->length[box->loops - 1] >= SHORT_LINE) return 0;
    for (int i = 0; i < box->reductions; i++)
        if (box->operand[box->reduction[i].out].stride[0] == 0) return 0;
    Count leap = MOST_AT_ONCE / inner;
    while (leap > 1 && first % leap) leap--;
    return leap * inner >= LEAST_AT_ONCE ? leap : 0;
}

/* Whether a box is gone through at once, and how then. */
static void plan_whole(Box *box) {
    Count leap = leap_of(box), length[RG_BOX_LOOPS], total = 1;
    if (leap == 0) return;
    for (int i = 0; i < box->loops; i++) total *= length[i] = i ? box->length[i] : leap;
    for (int i = 0; i < box->reductions; i++) { /* its lines have to go on evenly */
        Reduction *it = &box->reduction[i];
        Laid lines = laid_of(&box->operand[it->out], box->loops - 1, length);
        if (lines.loops > 1) return;
        it->line = lines.loops ? lines.stride[0] : 0;
    }
    Count *step = box->step;
    for (int o = 0; o < box->operands + box->rooms; o++) {
        step[o] = 1;
        if (o >= box->reads) continue;
        Laid laid = box->laid[o] = laid_of(&box->operand[o], box->loops, length);
        Count stride = laid.loops ? laid.stride[0] : 0;
        int wide = box->wide >> o & 1 && total > 1;
        if (laid.loops <= 1 && (stride == 1 || (stride == 0 && !wide)))
            step[o] = stride;
        else
            box->copied |= 1u << o;
    }
    Count rooms = box->rooms + RG_ONES_OF(box->copied);
    if (rooms * whole_room(total) > RG_SHAPED_SCRATCH) return;
    for (int i = 0; i < box->rows; i++)
        for (int k = 0; k < 3; k++) box->row[i].step[k] = step[box->row[i].arg[k]];
    box->whole = total;
    box->leap = leap;
    box->turns = box->loops ? box->length[0] / leap : 1;
}

static void read_box(Words *words, Box *box) {
    box->loops = (int)next_within(words, 0, RG_BOX_LOOPS);
    next_lengths(words, box->loops, box->length);
    box->operands = (int)next_within(words, 1, RG_BOX_OPERANDS);
    box->reads = (int)next_within(words, 0, box->operands);
    for (int i = 0; i < box->operands; i++)
        read_operand(words, &box->operand[i], box->loops, box->length);
    int registers = box->operands + RG_BOX_ROOMS - 1;
    box->rows = (int)next_within(words, 0, MOST_STEPS);
    for (int i = 0; i < box->rows; i++) {
        Row *row = &box->row[i];
        row->op = (int)next_within(words, 0, RG_OP_COUNT - 1);
        row->to = (int)next_within(words, box->reads, registers);
        if (row->to - box->operands >= box->rooms) box->rooms = row->to - box->operands + 1;
        for (int k = 0; k < 3; k++)
            row->arg[k] = (int)next_within(words, 0, box->operands + box->rooms - 1);
    }
    box->reductions = (int)next_within(words, 0, MOST_REDUCTIONS);
    for (int i = 0; i < box->reductions; i++) {
        Reduction *it = &box->reduction[i];
        it->kind = (int)next_within(words, RG_TOTAL, RG_BOTTOM);
        it->from = (int)next_within(words, 0, box->operands + box->rooms - 1);
        it->out = (int)next_within(words, box->reads, box->operands - 1);
        if (it->from < box->reads) box->wide |= 1u << it->from;
    }
    if (!words->wrong) plan_whole(box);
}

static void read_matrix(Words *words, Matrix *it, const Matrices *of, Count rows, Count columns) {
    it->slot = next_slot(words);
    it->offset = next_within(words, 0, ANY);
    it->row = next_within(words, -ANY, ANY);
    it->column = next_within(words, -ANY, ANY);
    for (int i = 0; i < of->loops; i++) it->turn[i] = next_within(words, -ANY, ANY);
    Count length[RG_BOX_LOOPS + 2], stride[RG_BOX_LOOPS + 2];
    for (int i = 0; i < of->loops; i++) length[i] = of->length[i], stride[i] = it->turn[i];
    length[of->loops] = rows, stride[of->loops] = it->row;
    length[of->loops + 1] = columns, stride[of->loops + 1] = it->column;
    check_reach(words, it->slot, it->offset, of->loops + 2, length, stride);
}

static void read_matrices(Words *words, Matrices *it) {
    it->loops = (int)next_within(words, 0, RG_BOX_LOOPS);
    next_lengths(words, it->loops, it->length);
    next_lengths(words, 3, it->size);
    it->adds = (int)next_within(words, 0, 1);
    read_matrix(words, &it->a, it, it->size[0], it->size[2]);
    read_matrix(words, &it->b, it, it->size[2], it->size[1]);
    read_matrix(words, &it->c, it, it->size[0], it->size[1]);
    if (it->c.column != 1) words->wrong = 1;
    it->small = (double)it->size[0] * (double)it->size[1] * (double)it->size[2] < SMALL_PRODUCT;
}

static void read_planned(Words *words, Planned *it, RgPlan *const *plans, int count) {
    int number = (int)next_within(words, 0, count - 1);
    if (words->wrong) return;
    it->plan = plans[number];
    it->out = next_slot(words);
    if (words->wrong || words->slot_sizes[it->out] < it->plan->size) words->wrong = 1;
    it->arrays = (int)next_within(words, 0, MOST_ARGS);
    if (it->arrays != it->plan->arrays) words->wrong = 1;
    for (int i = 0; i < it->arrays && !words->wrong; i++) {
        it->array[i] = next_slot(words);
        it->offset[i] = next_within(words, 0, ANY);
        if (!words->wrong &&
            it->offset[i] + it->plan->array_size[i + 1] > words->slot_sizes[it->array[i]])
            words->wrong = 1;
    }
    it->wholes = (int)next_within(words, 0, MOST_ARGS);
    if (it->wholes != it->plan->wholes) words->wrong = 1;
    for (int i = 0; i < it->wholes && !words->wrong; i++) {
        it->whole[i] = (int)next_within(words, 0, words->wholes - 1);
        if (!words->wrong && words->whole_sizes[it->whole[i]] != it->plan->whole_size[i])
            words->wrong = 1;
    }
}

static void read_choice(Words *words, Choice *it) {
    it->by = (int)next_within(words, RG_ARGMAX, RG_ARGSORT);
    for (int i = 0; i < 3; i++) it->size[i] = next_within(words, 0, ANY);
    it->slot = next_slot(words);
    it->offset = next_within(words, 0, ANY);
    it->whole = (int)next_within(words, 0, words->wholes - 1);
    if (words->wrong) return;
    Count made = it->size[0] * it->size[2] * (it->by == RG_ARGSORT ? it->size[1] : 1);
    Count read = it->size[0] * it->size[1] * it->size[2];
    if (words->whole_sizes[it->whole] != made || (made && it->size[1] == 0) ||
        it->offset + read > words->slot_sizes[it->slot])
        words->wrong = 1;
}

static void read_called(Words *words, RgCalled *it) {
    it->number = (int)next_within(words, 0, LARGE);
    it->arrays = (int)next_within(words, 1, RG_CALL_ARGS);
    for (int i = 0; i < it->arrays; i++) {
        it->array[i] = next_slot(words);
        it->offset[i] = next_within(words, 0, ANY);
        it->size[i] = next_within(words, 0, ANY);
        if (!words->wrong && it->offset[i] + it->size[i] > words->slot_sizes[it->array[i]])
            words->wrong = 1;
    }
    it->wholes = (int)next_within(words, 0, RG_CALL_ARGS);
    for (int i = 0; i < it->wholes; i++) {
        it->whole[i] = (int)next_within(words, 0, words->wholes - 1);
        if (!words->wrong) it->whole_size[i] = words->whole_sizes[it->whole[i]];
    }
}

/* Both sides have to lie inside their slots wherever the whole numbers lead. */
static void read_moving(Words *words, Moving *it, Count *size) {
    it->loops = (int)next_within(words, 0, RG_BOX_LOOPS);
    next_lengths(words, it->loops, it->length);
    it->adds = (int)next_within(words, 0, 1);
    it->whole = (int)next_within(words, 0, words->wholes - 1);
    it->scale = next_within(words, -ANY, ANY);
    it->limit = next_within(words, 1, ANY);
    for (int i = 0; i < it->loops; i++) it->turn[i] = next_within(words, 0, ANY);
    read_operand(words, &it->to, it->loops, it->length);
    read_operand(words, &it->from, it->loops, it->length);
    if (words->wrong) return;
    const Operand *led = it->adds ? &it->to : &it->from;
    Count length[RG_BOX_LOOPS + 1], stride[RG_BOX_LOOPS + 1], far = 0;
    for (int i = 0; i < it->loops; i++) {
        length[i] = it->length[i], stride[i] = led->stride[i];
        Count step = 0;
        if (RG_MULTIPLY_OVERFLOWS(it->turn[i], it->length[i] - 1, &step) ||
            RG_ADD_OVERFLOWS(far, step, &far))
            words->wrong = 1;
    }
    length[it->loops] = it->limit, stride[it->loops] = it->scale;
    check_reach(words, led->slot, led->offset, it->loops + 1, length, stride);
    if (far >= words->whole_sizes[it->whole]) words->wrong = 1;
    *size = words->slot_sizes[it->to.slot];
}

static void read_packing(Words *words, Packing *it) {
    it->loops = (int)next_within(words, 0, RG_BOX_LOOPS);
    next_lengths(words, it->loops, it->length);
    it->out = next_slot(words);
    read_operand(words, &it->from, it->loops, it->length);
    Count size = 1;
    for (int i = 0; i < it->loops; i++) size *= it->length[i];
    if (words->wrong || size > words->slot_sizes[it->out]) words->wrong = 1;
}

static size_t size_of(int kind) {
    size_t sizes[] = {sizeof(Box),    sizeof(Packing),  sizeof(Matrices), sizeof(Planned),
                      sizeof(Choice), sizeof(RgCalled), sizeof(Moving)};
    return offsetof(Piece, box) + sizes[kind];
}

RgShaped *rg_shaped_read(const int64_t *at, size_t count, RgPlan *const *plans, int plan_count,
                         const int64_t *slot_sizes, int slots, const int64_t *whole_sizes,
                         int wholes) {
    Words words = {at, at + count, slot_sizes, whole_sizes, slots, wholes, 0};
    int steps = (int)next_within(&words, 0, LARGE);
    if (words.wrong || (size_t)steps > count) return NULL;
    RgShaped *shaped = calloc(1, sizeof(RgShaped) + (size_t)steps * sizeof(Piece *));
    if (shaped == NULL) return NULL;
    for (int i = 0; i < steps && !words.wrong; i++) {
        int kind = (int)next_within(&words, RG_BOX, RG_MOVE);
        Piece *step = words.wrong ? NULL : calloc(1, size_of(kind));
        if (step == NULL) {
            words.wrong = 1;
            break;
        }
        shaped->step[shaped->count++] = step;
        step->kind = kind;
        switch (kind) {
            case RG_BOX: read_box(&words, &step->box); break;
            case RG_PACK: read_packing(&words, &step->packing); break;
            case RG_MATRICES: read_matrices(&words, &step->matrices); break;
            case RG_PLANNED: read_planned(&words, &step->planned, plans, plan_count); break;
            case RG_CHOOSE: read_choice(&words, &step->choice); break;
            case RG_CALLED: read_called(&words, &step->called); break;
            case RG_MOVE: read_moving(&words, &step->moving, &step->size); break;
        }
    }
    if (words.wrong || words.at != words.end) {
        rg_shaped_free(shaped);
        return NULL;
    }
    return shaped;
}

void rg_shaped_free(RgShaped *shaped) {
    if (shaped == NULL) return;
    for (int i = 0; i < shaped->count; i++) free(shaped->step[i]);
    free(shaped);
}
