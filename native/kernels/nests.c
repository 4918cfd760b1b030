/* Loop nests: one term of a statement, its last loop many turns at once.
 *
 * The outer loops only move places. Along the last one the guards leave runs of turns; each is done
 * in strips: what is read is brought side by side, the body runs on it row by row of the law, and
 * the amounts are written, added or multiplied. */
#include "plans.h"

#include <string.h>

typedef struct {
    const Run *run;
    const Nest *nest;
    Count at[MOST_PLACES]; /* the places in the present turn of the outer loops */
    Count n;               /* turns of the last loop */
    const Count *inner;    /* how far one of them moves each place */
} Walk;

static int first_table(const Nest *nest) { return 1 + nest->reads + nest->guards; }

/* ---- whole numbers ------------------------------------------------------------------------------- */

static int64_t floor_div(int64_t x, int64_t by) { return x / by - (x % by < 0); }

/* A formula along a run of the letter `along` (-1: there is none), from its first turn on; the other
 * letters stand where `turn` says. Gives back where the formula ends, or NULL: a place was outside. */
static const int64_t *formula_row(const Run *run, const int64_t *words, const Count *turn,
                                  int along, Count first, Count n, int64_t *out) {
    int64_t parts = *words++;
    for (Count i = 0; i < n; i++) out[i] = 0;
    for (int64_t p = 0; p < parts; p++) {
        int64_t factor = *words++, atoms = *words++;
        int64_t amount[STRIP], inside[STRIP];
        for (Count i = 0; i < n; i++) amount[i] = factor;
        for (int64_t a = 0; a < atoms; a++) {
            int64_t kind = *words++, number = *words++;
            if (kind == LETTER) {
                for (Count i = 0; i < n; i++)
                    amount[i] *= number == along ? first + i : turn[number];
                continue;
            }
            words = formula_row(run, words, turn, along, first, n, inside);
            if (words == NULL) return NULL;
            if (kind == QUOTIENT) {
                for (Count i = 0; i < n; i++) amount[i] *= floor_div(inside[i], number);
                continue;
            }
            if (number < 0 || number >= run->plan->wholes) return NULL;
            const int64_t *wholes = run->wholes[number];
            Count size = run->plan->whole_size[number];
            for (Count i = 0; i < n; i++) {
                if (inside[i] < 0 || inside[i] >= size) return NULL;
                amount[i] *= wholes[inside[i]];
            }
        }
        for (Count i = 0; i < n; i++) out[i] += amount[i];
    }
    return words;
}

/* All numbers of a table. 0, or RG_OUT_OF_RANGE. */
static int fill_table(const Run *run, const Nest *nest, const Table *table, int64_t *out) {
    Count turn[MOST_LOOPS] = {0};
    int last = table->letters - 1;
    int along = last < 0 ? -1 : table->loop[last];
    Count n = last < 0 ? 1 : nest->length[along];
    for (;;) {
        for (Count first = 0; first < n; first += STRIP, out += STRIP) {
            Count some = n - first < STRIP ? n - first : STRIP;
            if (!formula_row(run, table->formula, turn, along, first, some, out))
                return RG_OUT_OF_RANGE;
        }
        out -= (n + STRIP - 1) / STRIP * STRIP - n;
        int i = last - 1;
        for (; i >= 0; i--) {
            int loop = table->loop[i];
            if (++turn[loop] < nest->length[loop]) break;
            turn[loop] = 0;
        }
        if (i < 0) return 0;
    }
}

/* ---- places -------------------------------------------------------------------------------------- */

/* A place at the beginning of the last loop, what is looked up along it aside. */
static Count begins(const Walk *walk, int p) {
    const Nest *nest = walk->nest;
    const Place *place = &nest->place[p];
    Count at = walk->at[p];
    for (int i = 0; i < place->tables; i++) {
        int t = first_table(nest) + place->table[i];
        if (!walk->inner[t]) at += (Count)walk->run->tables[walk->at[t]];
    }
    return at;
}

/* What is looked up in one turn of the last loop. */
static Count looked_up(const Walk *walk, int p, Count i) {
    const Nest *nest = walk->nest;
    const Place *place = &nest->place[p];
    Count found = 0;
    for (int j = 0; j < place->tables; j++) {
        int t = first_table(nest) + place->table[j];
        if (walk->inner[t]) found += (Count)walk->run->tables[walk->at[t] + i * walk->inner[t]];
    }
    return found;
}

/* The numbers of a place in some turns of the last loop, as offsets in its array. 0, or
 * RG_OUT_OF_RANGE. */
static int offsets(const Walk *walk, int p, Count first, Count n, Count *out) {
    Count at = begins(walk, p), step = walk->inner[p];
    Count size = walk->run->plan->array_size[walk->nest->place[p].array];
    const Place *place = &walk->nest->place[p];
    if (place->tables == 1) {
        int t = first_table(walk->nest) + place->table[0];
        const int64_t *table = walk->run->tables + walk->at[t] + first * walk->inner[t];
        Count apart = walk->inner[t];
        for (Count i = 0; i < n; i++) out[i] = at + (first + i) * step + (Count)table[i * apart];
    } else {
        for (Count i = 0; i < n; i++)
            out[i] = at + (first + i) * step + looked_up(walk, p, first + i);
    }
    Count outside = 0;
    for (Count i = 0; i < n; i++) outside |= out[i] | (size - 1 - out[i]);
    return outside < 0 ? RG_OUT_OF_RANGE : 0;
}

/* Where a run of turns begins, for a place that moves evenly. 0, or RG_OUT_OF_RANGE. */
static int even(const Walk *walk, int p, Count first, Count n, Count *at) {
    const Place *place = &walk->nest->place[p];
    Count step = walk->inner[p],
          from = (place->tables ? begins(walk, p) : walk->at[p]) + first * step;
    *at = from;
    if (place->safe) return 0;
    Count to = from + (n - 1) * step, size = walk->run->plan->array_size[place->array];
    return from < 0 || from >= size || to < 0 || to >= size ? RG_OUT_OF_RANGE : 0;
}

/* ---- amounts ------------------------------------------------------------------------------------- */

typedef struct {
    const double *at;
    Count step; /* 1, or 0 for one number */
} Source;

/* What a strip reads, side by side. */
static int fetch(const Walk *walk, int p, Count first, Count n, double *room, Source *source) {
    const Place *place = &walk->nest->place[p];
    const double *array = walk->run->array[place->array];
    if (place->inner) {
        Count places[STRIP];
        int failed = offsets(walk, p, first, n, places);
        if (failed) return failed;
        for (Count i = 0; i < n; i++) room[i] = array[places[i]];
        *source = (Source){room, 1};
        return 0;
    }
    Count at, step = walk->inner[p];
    int failed = even(walk, p, first, n, &at);
    if (failed) return failed;
    if (step == 0 || step == 1) {
        *source = (Source){array + at, step};
        return 0;
    }
    for (Count i = 0; i < n; i++) room[i] = array[at + i * step];
    *source = (Source){room, 1};
    return 0;
}

/* The body in one strip; into `into` if that is not NULL and the body computes. */
static int amounts(const Walk *walk, Count first, Count n, double *into, Source *result) {
    const Nest *nest = walk->nest;
    double *rooms = walk->run->rooms;
    Source read[MOST_PLACES / 2];
    for (int i = 0; i < nest->reads; i++) {
        int failed = fetch(walk, 1 + i, first, n, rooms + (nest->rooms + i) * STRIP, &read[i]);
        if (failed) return failed;
    }
    for (int i = 0; i < nest->instructions; i++) {
        const Instruction *it = &nest->program[i];
        const double *in[3] = {NULL};
        Count step[3] = {0};
        for (int j = 0; j < it->count; j++) {
            int number = it->operand[j].number;
            switch (it->operand[j].kind) {
                case ROOM:
                    in[j] = rooms + number * STRIP;
                    step[j] = 1;
                    break;
                case REF:
                    in[j] = read[number].at;
                    step[j] = read[number].step;
                    break;
                default: in[j] = nest->numbers + number;
            }
        }
        double *out = rooms + it->room * STRIP;
        if (into && i == nest->instructions - 1) out = into;
        rg_arrays->forward[it->op](n, out, in, step);
    }
    if (nest->result_kind == REF)
        *result = read[nest->result];
    else if (nest->result_kind == NUMBER)
        *result = (Source){nest->numbers + nest->result, 0};
    else
        *result = (Source){into ? into : rooms + nest->result * STRIP, 1};
    return 0;
}

/* Amounts to places that lie evenly; the amounts may lie any step apart. */
static void deliver(int mode, Count n, double *out, Count step, Source from) {
    const double *x = from.at;
    Count apart = from.step;
    int together = step == 1 && (apart == 0 || apart == 1);
    if (mode == SET) {
        if (step == 1 && apart == 1) {
            if (out != x) memcpy(out, x, (size_t)n * sizeof(double));
        } else {
            for (Count i = 0; i < n; i++) out[i * step] = x[i * apart];
        }
    } else if (mode == ADD) {
        if (together)
            rg_arrays->forward[RG_OP_add](n, out, (const double *const[3]){out, x, NULL},
                                          (const Count[3]){1, apart, 0});
        else if (step == 0)
            *out += rg_arrays->products->sum(n, x, apart);
        else
            for (Count i = 0; i < n; i++) out[i * step] += x[i * apart];
    } else if (together) {
        rg_arrays->forward[RG_OP_mul](n, out, (const double *const[3]){out, x, NULL},
                                      (const Count[3]){1, apart, 0});
    } else {
        for (Count i = 0; i < n; i++) out[i * step] *= x[i * apart];
    }
}

/* Amounts to places that are looked up: one after the other, for they may meet. */
static int scatter(const Walk *walk, Count first, Count n, Source from) {
    double *out = walk->run->array[walk->nest->place[0].array];
    int mode = walk->nest->mode;
    Count places[STRIP];
    int failed = offsets(walk, 0, first, n, places);
    if (failed) return failed;
    for (Count i = 0; i < n; i++) {
        double amount = from.at[i * from.step], *to = out + places[i];
        *to = mode == SET ? amount : mode == ADD ? *to + amount : *to * amount;
    }
    return 0;
}

/* A run of turns in which the guards hold. */
static int do_run(Walk *walk, Count first, Count n) {
    const Nest *nest = walk->nest;
    const Place *to = &nest->place[0];
    double *out = walk->run->array[to->array];
    Count step = walk->inner[0];
    int failed;
    if (nest->instructions == 0 && nest->result_kind == REF && !to->inner &&
        !nest->place[1 + nest->result].inner) { /* numbers are only moved */
        int p = 1 + nest->result;
        Count at, from;
        if ((failed = even(walk, 0, first, n, &at))) return failed;
        if ((failed = even(walk, p, first, n, &from))) return failed;
        deliver(nest->mode, n, out + at, step,
                (Source){walk->run->array[nest->place[p].array] + from, walk->inner[p]});
        return 0;
    }
    for (Count end = first + n; first < end; first += STRIP) {
        Count some = end - first < STRIP ? end - first : STRIP, at = 0;
        double *into = NULL;
        Source made;
        if (!to->inner) {
            if ((failed = even(walk, 0, first, some, &at))) return failed;
            if (nest->mode == SET && step == 1 && nest->instructions) into = out + at;
        }
        if ((failed = amounts(walk, first, some, into, &made))) return failed;
        if (to->inner) {
            if ((failed = scatter(walk, first, some, made))) return failed;
        } else {
            deliver(nest->mode, some, out + at, step, made);
        }
    }
    return 0;
}

/* ---- guards -------------------------------------------------------------------------------------- */

/* Whether all guards hold in one turn of the last loop. */
static int holds(const Walk *walk, Count i) {
    const Nest *nest = walk->nest;
    for (int p = 1 + nest->reads; p <= nest->reads + nest->guards; p++) {
        Count value = begins(walk, p) + i * walk->inner[p] + looked_up(walk, p, i);
        if (nest->place[p].array == AT_MOST ? value > 0 : value == 0) return 0;
    }
    return 1;
}

/* The turns of the last loop that guards leave: from *low to *high, and whether each one has to be
 * asked about. */
static int bounds(const Walk *walk, Count *low, Count *high) {
    const Nest *nest = walk->nest;
    int ask = 0;
    *low = 0;
    *high = walk->n;
    for (int p = 1 + nest->reads; p <= nest->reads + nest->guards; p++) {
        if (nest->place[p].inner) {
            ask = 1;
            continue;
        }
        Count value = begins(walk, p), step = walk->inner[p];
        if (nest->place[p].array == DIFFERS) {
            if (step)
                ask |= value % step == 0 && -value / step >= 0 && -value / step < walk->n;
            else if (value == 0)
                *high = 0;
        } else {
            rg_narrow(value, step, low, high);
        }
    }
    return ask;
}

static int guarded(Walk *walk) {
    Count low, high;
    int ask = bounds(walk, &low, &high);
    if (!ask) return low < high ? do_run(walk, low, high - low) : 0;
    while (low < high) {
        while (low < high && !holds(walk, low)) low++;
        Count end = low;
        while (end < high && holds(walk, end)) end++;
        if (end > low) {
            int failed = do_run(walk, low, end - low);
            if (failed) return failed;
        }
        low = end;
    }
    return 0;
}

/* A walk that keeps a total: every turn writes it, those that the guards leave add to it. */
static int running(Walk *walk) {
    const Nest *nest = walk->nest;
    double *out = walk->run->array[nest->place[0].array];
    int adds = nest->mode == RUN_ADD;
    double total = adds ? 0.0 : 1.0;
    Count step = walk->inner[0], low = 0, high = walk->n;
    int ask = nest->guards ? bounds(walk, &low, &high) : 0, failed;
    for (Count first = 0; first < walk->n; first += STRIP) {
        Count some = walk->n - first < STRIP ? walk->n - first : STRIP, at;
        Source made;
        if ((failed = even(walk, 0, first, some, &at))) return failed;
        if ((failed = amounts(walk, first, some, NULL, &made))) return failed;
        for (Count i = 0; i < some; i++) {
            Count turn = first + i;
            if (turn >= low && turn < high && (!ask || holds(walk, turn))) {
                double amount = made.at[i * made.step];
                total = adds ? total + amount : total * amount;
            }
            out[at + i * step] = total;
        }
    }
    return 0;
}

/* ---- the nest ------------------------------------------------------------------------------------ */

int rg_run_nest(const Run *run, const Nest *nest, const Count *turn) {
    static const Count still[MOST_PLACES];
    Walk walk = {.run = run, .nest = nest};
    int last = nest->loops - 1;
    walk.n = last < 0 ? 1 : nest->length[last];
    walk.inner = last < 0 ? still : nest->move[last];
    for (int p = 0; p < nest->places; p++) {
        walk.at[p] = nest->base[p];
        for (int t = 0; t < nest->turns; t++)
            walk.at[p] += turn[t] * nest->move[nest->loops + t][p];
    }
    for (int t = 0; t < nest->tables; t++) {
        int failed =
            fill_table(run, nest, &nest->table[t], run->tables + nest->base[first_table(nest) + t]);
        if (failed) return failed;
    }
    int runs = nest->mode == RUN_ADD || nest->mode == RUN_MULTIPLY;
    Count at[MOST_LOOPS] = {0};
    if (nest->moves_block) last--;
    for (;;) {
        int failed = nest->moves_block ? rg_move_block(run, nest, walk.at)
                     : runs            ? running(&walk)
                     : nest->guards    ? guarded(&walk)
                                       : do_run(&walk, 0, walk.n);
        if (failed) return failed;
        int loop = last - 1;
        for (; loop >= 0; loop--) {
            int goes_on = ++at[loop] < nest->length[loop];
            Count steps = goes_on ? 1 : 1 - nest->length[loop];
            const Count *move = nest->move[loop];
            for (int p = 0; p < nest->places; p++) walk.at[p] += steps * move[p];
            if (goes_on) break;
            at[loop] = 0;
        }
        if (loop < 0) return 0;
    }
}
