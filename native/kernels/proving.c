/* The proof that rows of a box which another compiler made have the bits of its steps.
 *
 * Both go through the same numbers made up: of several lengths, near 1, large, and special. Only then
 * do the others take the place of the steps. */
#define RG_LISTS_ONLY
#include <stdlib.h>
#include <string.h>

#include "pieces.h"

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
    rg_run_rows(box, n, at, step);
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
