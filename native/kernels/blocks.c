/* Blocks of numbers moved from one array to another: the last two loops of a nest at once. */
#include <string.h>

#include "plans.h"

static inline void move_row(Count n, double *restrict to, const double *restrict from) {
    enum { FOUR = 4 };
    for (; n >= FOUR; n -= FOUR, to += FOUR, from += FOUR) memcpy(to, from, FOUR * sizeof(double));
    for (Count i = 0; i < n; i++) to[i] = from[i];
}

static inline void add_row(Count n, double *restrict to, const double *restrict from) {
    for (; n >= 2; n -= 2, to += 2, from += 2) {
        to[0] += from[0];
        to[1] += from[1];
    }
    if (n) *to += *from;
}

enum { LONG = 64, SQUARE = 16 }; /* numbers of a row from which a call pays; of a square's side */

static void set_rows(Count rows, Count n, double *to, const double *from, const Count step[2][2]) {
    Count out_row = step[0][0], in_row = step[0][1], out = step[1][0], in = step[1][1];
    if (out == 1 && in == 1) {
        for (Count i = 0; i < rows; i++, to += out_row, from += in_row) {
            if (n < LONG)
                move_row(n, to, from);
            else
                memcpy(to, from, (size_t)n * sizeof(double));
        }
        return;
    }
    /* Squares, so that what a cache line holds is used while it is there. */
    for (Count i0 = 0; i0 < rows; i0 += SQUARE) {
        Count last_row = rows - i0 < SQUARE ? rows : i0 + SQUARE;
        for (Count j0 = 0; j0 < n; j0 += SQUARE) {
            Count last = n - j0 < SQUARE ? n : j0 + SQUARE;
            for (Count i = i0; i < last_row; i++)
                for (Count j = j0; j < last; j++)
                    to[i * out_row + j * out] = from[i * in_row + j * in];
        }
    }
}

static void add_rows(Count rows, Count n, double *to, const double *from, const Count step[2][2]) {
    Count out = step[1][0], in = step[1][1];
    for (Count i = 0; i < rows; i++, to += step[0][0], from += step[0][1]) {
        if (out == 1 && in == 1 && n < LONG)
            add_row(n, to, from);
        else if (out == 1 && (in == 0 || in == 1))
            rg_arrays->forward[RG_OP_add](n, to, (const double *const[3]){to, from, NULL},
                                          (const Count[3]){1, in, 0});
        else if (out == 0)
            *to += rg_arrays->products->sum(n, from, in);
        else
            for (Count j = 0; j < n; j++) to[j * out] += from[j * in];
    }
}

/* Whether a block of an array stays inside it. */
static int inside(Count at, Count row, Count step, Count rows, Count n, Count size) {
    Count down = row * (rows - 1), across = step * (n - 1);
    Count low = at + (down < 0 ? down : 0) + (across < 0 ? across : 0);
    Count high = at + (down > 0 ? down : 0) + (across > 0 ? across : 0);
    return low >= 0 && high < size;
}

int rg_move_block(const Run *run, const Nest *nest, const Count *at) {
    int inner = nest->loops - 1, from = 1 + nest->result;
    const Count *along = nest->move[inner], *down = nest->move[inner - 1];
    Count low = 0, high = nest->length[inner], top = 0, bottom = nest->length[inner - 1];
    for (int p = 1 + nest->reads; p <= nest->reads + nest->guards; p++) {
        if (down[p])
            rg_narrow(at[p], down[p], &top, &bottom);
        else
            rg_narrow(at[p], along[p], &low, &high);
    }
    Count rows = bottom - top, n = high - low;
    if (rows <= 0 || n <= 0) return 0;
    const int places[2] = {0, from};
    Count begin[2], step[2][2];
    for (int i = 0; i < 2; i++) {
        int p = places[i];
        begin[i] = at[p] + top * down[p] + low * along[p];
        step[0][i] = down[p];
        step[1][i] = along[p];
        if (!nest->place[p].safe && !inside(begin[i], down[p], along[p], rows, n,
                                            run->plan->array_size[nest->place[p].array]))
            return RG_OUT_OF_RANGE;
    }
    double *to = run->array[nest->place[0].array] + begin[0];
    const double *source = run->array[nest->place[from].array] + begin[1];
    if (nest->mode == SET)
        set_rows(rows, n, to, source, step);
    else
        add_rows(rows, n, to, source, step);
    return 0;
}
