/* Plans that only move numbers, in rows: sums along the last axis, numbers spread over an axis, rows
 * picked by whole numbers, and their gradients. They are recognised when a plan is read and carried
 * out without the walk over places that nests in general need; the numbers and the order in which
 * they are added are those of nests.c. */
#include "plans.h"

#include <string.h>

/* ---- which plans ------------------------------------------------------------------------------- */

/* The one nest of a plan, if it moves the numbers of one operand to the result. */
static const Nest *only_nest(const RgPlan *plan) {
    if (plan->parts != 1 || plan->part[0].ways != 1) return NULL;
    const Way *way = &plan->part[0].way[0];
    if (way->finite || way->turns || way->steps != 1 || way->step[0].kind != NEST) return NULL;
    const Nest *nest = way->step[0].nest;
    int moves = nest->instructions == 0 && nest->result_kind == REF && nest->reads == 1 &&
                nest->guards == 0 && nest->loops >= 1 && nest->loops <= 2;
    if (!moves || nest->place[0].array != 0 || nest->place[1].array < 1) return NULL;
    if (nest->place[1].array > plan->arrays) return NULL;
    return nest->mode == SET || nest->mode == ADD ? nest : NULL;
}

/* Whether a table is a factor times whole numbers, one a turn of the first loop. */
static int reads_rows(const RgPlan *plan, const Nest *nest, const Table *table, RgMoves *moves,
                      int side) {
    static const int64_t along_the_first[] = {1, 1, 1, LETTER, 0};
    const int64_t *words = table->formula;
    if (table->letters != 1 || table->loop[0] != 0) return 0;
    if (words + 10 > plan->words + plan->word_count || words[0] != 1 || words[2] != 1) return 0;
    if (words[3] != READ || words[4] < 0 || words[4] >= plan->wholes) return 0;
    if (memcmp(words + 5, along_the_first, sizeof along_the_first) != 0) return 0;
    if (plan->whole_size[words[4]] < nest->length[0]) return 0;
    moves->side[side].factor = (Count)words[1];
    moves->side[side].whole = (int)words[4];
    return 1;
}

void rg_plan_find_moves(RgPlan *plan) {
    const Nest *nest = only_nest(plan);
    RgMoves *moves = &plan->moves;
    moves->known = 0;
    if (nest == NULL) return;
    int by_rows = nest->loops == 2 || nest->tables;
    moves->rows = by_rows ? nest->length[0] : 1;
    moves->n = nest->loops == 2 ? nest->length[1] : by_rows ? 1 : nest->length[0];
    for (int side = 0; side < 2; side++) {
        const Place *place = &nest->place[side];
        RgMoved *it = &moves->side[side];
        it->array = place->array;
        it->size = plan->array_size[place->array];
        it->base = nest->base[side];
        it->down = by_rows ? nest->move[0][side] : 0;
        it->along = nest->loops == 2 ? nest->move[1][side] : by_rows ? 1 : nest->move[0][side];
        it->whole = -1;
        it->factor = 0;
        if (place->tables > 1 || it->along < 0) return;
        if (place->tables && !reads_rows(plan, nest, &nest->table[place->table[0]], moves, side))
            return;
        if (!place->tables && !place->safe) return;
    }
    moves->adds = nest->mode == ADD;
    const RgMoved *to = &moves->side[0]; /* a sum of numbers that are looked up is made by strips */
    moves->known = nest->loops == 2 || !by_rows || !moves->adds || to->whole >= 0 || to->down != 0;
}

/* ---- carrying them out -------------------------------------------------------------------------- */

static inline void set_row(Count n, double *to, Count out, const double *from, Count in) {
    if (out == 1 && in == 1) {
        for (; n >= 4; n -= 4, to += 4, from += 4) memcpy(to, from, 4 * sizeof(double));
        for (Count i = 0; i < n; i++) to[i] = from[i];
    } else if (out == 1 && in == 0) {
        double all = *from;
        for (Count i = 0; i < n; i++) to[i] = all;
    } else {
        for (Count i = 0; i < n; i++) to[i * out] = from[i * in];
    }
}

static inline void add_row(Count n, double *to, Count out, const double *from, Count in) {
    if (out == 0)
        *to += rg_arrays->products->sum(n, from, in);
    else if (out == 1 && in <= 1 && n >= 16)
        rg_arrays->forward[RG_OP_add](n, to, (const double *const[3]){to, from, NULL},
                                      (const Count[3]){1, in, 0});
    else
        for (Count i = 0; i < n; i++) to[i * out] += from[i * in];
}

/* The first short rows at once, where they lie one behind the other in the result; how many. */
static Count lay_rows(const RgMoves *moves, double *out, const double *in, int adds) {
    const RgMoved *to = &moves->side[0], *from = &moves->side[1];
    Count n = moves->n, some = RG_TOGETHER / (n ? n : 1);
    if (n == 0 || n > RG_SHORT || to->whole >= 0 || from->whole >= 0 || to->along != 1 ||
        to->down != n)
        return 0;
    if (!adds) { /* but for those that end less than a vector before the last */
        Count rows = moves->rows - (RG_BEHIND + n - 1) / n;
        if (rows <= 0) return 0;
        rg_arrays->lay(rows, n, out + to->base, in + from->base, from->down, from->along);
        return rows;
    }
    double room[RG_TOGETHER + RG_BEHIND];
    for (Count row = 0; row < moves->rows; row += some) {
        double *at = out + to->base + row * n;
        if (some > moves->rows - row) some = moves->rows - row;
        rg_arrays->lay(some, n, room, in + from->base + row * from->down, from->down, from->along);
        rg_arrays->forward[RG_OP_add](some * n, at, (const double *const[3]){at, room, NULL},
                                      (const Count[3]){1, 1, 0});
    }
    return moves->rows;
}

/* Where a row begins on one side; -1 where a whole number names no place. */
static inline Count row_begins(const RgMoved *it, const int64_t *const *wholes, Count row,
                               Count n) {
    Count at = it->base + row * it->down;
    if (it->whole < 0) return at;
    at += (Count)wholes[it->whole][row] * it->factor;
    return at < 0 || at + (n - 1) * it->along >= it->size ? -1 : at;
}

/* The same as the walk of nests.c. What is there already is added to only where a plan writes every
 * number once: 1 where it has to be done the other way, else 0 or RG_OUT_OF_RANGE. */
int rg_move_rows(const RgPlan *plan, double *out, const double *const *arrays,
                 const int64_t *const *wholes, RgHow how) {
    const RgMoves *moves = &plan->moves;
    const RgMoved *to = &moves->side[0], *from = &moves->side[1];
    const double *in = arrays[from->array - 1];
    int sums = moves->adds && to->along == 0 && from->along == 1 && to->whole < 0;
    if (how == RG_ADD && (moves->adds || plan->start != NOTHING)) return 1;
    if (plan->start == ONES) return 1;
    if (sums && plan->start == ZEROS && to->down == 1 && to->base == 0 && from->whole < 0 &&
        from->down == moves->n && moves->rows == plan->size) {
        rg_arrays->products->sums(moves->rows, moves->n, in + from->base, out, 1);
        return 0;
    }
    if (plan->start == ZEROS) memset(out, 0, (size_t)plan->size * sizeof(double));
    int adds = moves->adds || how == RG_ADD;
    for (Count row = lay_rows(moves, out, in, adds); row < moves->rows && moves->n; row++) {
        Count at = row_begins(to, wholes, row, moves->n);
        Count begin = row_begins(from, wholes, row, moves->n);
        if (at < 0 || begin < 0) return RG_OUT_OF_RANGE;
        if (adds)
            add_row(moves->n, out + at, to->along, in + begin, from->along);
        else
            set_row(moves->n, out + at, to->along, in + begin, from->along);
    }
    return 0;
}
