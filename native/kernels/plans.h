/* A plan, taken apart: what plans.c reads and nests.c carries out. */
#ifndef RG_PLANS_H
#define RG_PLANS_H

#include "arrays.h"

typedef ptrdiff_t Count;

enum { MOST_PLACES = 64, MOST_LOOPS = 32 };

/* As ops/arrays/nests.py and programs.py number them. */
enum { SET, ADD, MULTIPLY, RUN_ADD, RUN_MULTIPLY };
enum { AT_MOST, DIFFERS };
enum { LETTER, QUOTIENT, READ };
enum { ROOM, REF, NUMBER };
enum { NEST, PRODUCT };
enum { NOTHING, ZEROS, ONES };

typedef struct {
    uint16_t op, room, count;
    struct {
        uint16_t kind, number;
    } operand[3];
} Instruction;

/* Whole numbers over some of the loops, worked out from a formula before a nest begins. */
typedef struct {
    int letters;
    int loop[MOST_LOOPS];
    Count size;
    const int64_t *formula;
} Table;

/* Of a place: where it may lie, and the tables that are added to it. */
typedef struct {
    int array; /* of a guard: its kind */
    int safe;  /* whether it is plain that it stays inside its array */
    int tables, table[4];
    int inner; /* whether one of them changes along the last loop */
} Place;

/* Places are the target, what is read, the guards, and then where in the tables the loops stand. */
typedef struct {
    int mode, loops, turns;
    Count length[MOST_LOOPS];
    int reads, guards, tables;
    Place place[MOST_PLACES];
    Table *table;
    int places; /* with the tables */
    Count base[MOST_PLACES];
    Count (*move)[MOST_PLACES]; /* a turn of a loop, then those of the loops around */
    int rooms, instructions;
    Instruction *program;
    const double *numbers;
    int result_kind, result;
    Count table_words;
    int moves_block;     /* whether numbers are only moved, and the last two loops are a block */
    int depends_on_turn; /* whether a guard moves with the loops around */
} Nest;

typedef struct {
    int mode, loops, turns;
    Count size[3], length[MOST_LOOPS];
    struct {
        int array;
        Count row, column, base, move[2 * MOST_LOOPS];
    } matrix[3];
} Product;

typedef struct {
    int kind;
    union {
        Nest *nest;
        Product *product;
    };
} Step;

typedef struct {
    int finite, must_be_finite[4];
    int turns;
    Count length[MOST_LOOPS];
    int steps;
    Step *step;
} Way;

typedef struct {
    int ways;
    Way *way;
} Part;

/* Numbers of one operand moved to the result, a row a turn: where rows begin on both sides, the
 * result first, how far apart their numbers are, and the whole numbers (or -1) that say more. */
typedef struct {
    int array, whole;
    Count size, base, down, along, factor;
} RgMoved;

typedef struct {
    int known, adds;
    Count rows, n;
    RgMoved side[2];
} RgMoves;

struct RgPlan {
    int64_t *words;
    size_t word_count;
    double *numbers;
    Count size;
    int start;
    int arrays, wholes, scratch;
    Count *array_size, *whole_size; /* array 0 is the result; scratch arrays come last */
    int *begins_as_zeros;
    int parts;
    Part *part;
    Count table_words, rooms, scratch_size;
    RgMoves moves;
};

/* What one run works in. */
typedef struct {
    const RgPlan *plan;
    double **array;
    const int64_t *const *wholes;
    int64_t *tables;
    double *rooms;
} Run;

enum { STRIP = 256 };

/* moves.c */
void rg_plan_find_moves(RgPlan *plan);
int rg_move_rows(const RgPlan *plan, double *out, const double *const *arrays,
                 const int64_t *const *wholes, RgHow how);

/* The last two loops of a nest that only moves numbers: as many turns as the guards leave, with the
 * places where they stand. 0, or RG_OUT_OF_RANGE. */
int rg_move_block(const Run *run, const Nest *nest, const Count *at);

/* The turns of a loop in which `value + step * i` is at most 0 are from *low to *high. */
static inline void rg_narrow(Count value, Count step, Count *low, Count *high) {
    if (step > 0) {
        Count last = -value / step - (-value % step < 0);
        if (last < *high - 1) *high = last + 1;
    } else if (step < 0) {
        Count from = value / -step + (value % -step > 0);
        if (from > *low) *low = from;
    } else if (value > 0) {
        *high = 0;
    }
}

/* Carry out a nest, the loops around it in the given turn. 0, or RG_OUT_OF_RANGE. */
int rg_run_nest(const Run *run, const Nest *nest, const Count *turn);

#endif
