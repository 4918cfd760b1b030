/* Carrying out programs with shapes.
 *
 * A box is a body, rows of the scalar law, over some loops: a block of the last two loops at a time,
 * row after row of the body, with what is made on the way in rooms that stay in the first cache. What
 * is summed behind it is taken from the rooms. */
#define RG_LISTS_ONLY
#include "shaped.h"

#include <string.h>

#include "pieces.h"

/* Numbers of a block, the fewer the more arrays it goes through, all of which are to stay in the first
 * cache; and of a line that is not worth calling a kernel for its addition. */
enum { SHORT_BLOCK = 256, SHORT_SUM = 32 };

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
        } else if (next == 1 && kind == RG_TOTAL && n < SHORT_SUM) {
            for (Count i = 0; i < n; i++) out[i] += x[i];
        } else if (next == 1 && kind == RG_TOTAL) {
            rg_arrays->forward[RG_OP_add](n, out, (const double *const[3]){out, x, NULL},
                                          (const Count[3]){1, 1, 0});
        } else {
            for (Count i = 0; i < n; i++) out[i * next] = joined(kind, out[i * next], x[i]);
        }
    }
}

/* The rows of a body on n numbers, one after the other. */
void rg_run_rows(const Box *box, Count n, double *const *at, const Count *step) {
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
    int long_rows = box->reductions && n > SHORT_BLOCK, arrays = box->operands + box->rooms;
    Count limit = long_rows || arrays <= 4 ? RG_BOX_BLOCK
                  : arrays <= 8            ? 2 * SHORT_BLOCK
                                           : SHORT_BLOCK;
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
                rg_run_rows(box, block.n * block.lines, block.at, block.step);
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
    Count n = laid->loop[last].length, lines = before < 0 ? 1 : laid->loop[before].length;
    Count next = laid->loop[last].stride, line = before < 0 ? 0 : laid->loop[before].stride;
    Count turn[RG_BOX_LOOPS] = {0};
    for (;; to += lines * n) {
        rg_arrays->lay(lines, n, to, from, line, next);
        int loop = before - 1;
        for (; loop >= 0; loop--) {
            from += laid->loop[loop].stride;
            if (++turn[loop] < laid->loop[loop].length) break;
            from -= laid->loop[loop].stride * laid->loop[loop].length;
            turn[loop] = 0;
        }
        if (loop < 0) return;
    }
}

/* A small box, all of it at once, or one turn of a larger one. What is the same in every turn is
 * copied in the first. */
static void run_whole(const Box *box, const RgRun *run, Count turn) {
    double *at[RG_BOX_OPERANDS + RG_BOX_ROOMS], *room = run->scratch;
    Count apart = rg_whole_room(box->whole);
    for (int o = 0; o < box->operands; o++) {
        const Start *it = &box->start[o];
        at[o] = run->slots[it->slot] + it->offset + turn * it->turn;
        if (box->copied >> o & 1) {
            if (turn == 0 || it->turn != 0) lay_whole(&box->laid[o], at[o], room);
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
    if (box->reductions == 0) return;
    Block block;
    block.n = box->last;
    block.lines = box->whole / box->last;
    for (int i = 0; i < box->reductions; i++) {
        const Reduction *it = &box->reduction[i];
        block.at[it->from] = at[it->from];
        reduce(&block, it, at[it->out], it->line, it->next, 1);
    }
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
    if (here == 1 && there == 1 && n < SHORT_SUM)
        for (Count i = 0; i < n; i++) to[i] += from[i];
    else if (here == 1 && there == 1)
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
