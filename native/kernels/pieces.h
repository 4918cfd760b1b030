/* The steps of programs with shapes as they are carried out: what shaped.c, pieces.c and proving.c
 * share. */
#ifndef RG_PIECES_H
#define RG_PIECES_H

#include <stdatomic.h>

#include "plans.h"
#include "shaped.h"

enum { MOST_STEPS = 64, MOST_REDUCTIONS = 4, MOST_ARGS = 64 };

typedef struct {
    int slot;
    Count offset;
    Count stride[RG_BOX_LOOPS];
} Operand;

typedef struct {
    short op;
    uint8_t to, arg[3];
    Count step[3]; /* of a whole box: 0 where an operand is one number */
} Row;

typedef struct {
    int kind, from, out;
    /* of a whole box: how far apart the results of its lines are, and those in a line */
    Count line, next;
} Reduction;

/* How an operand is copied side by side: the loops of its box, as few as it has for itself. */
typedef struct {
    int loops;
    struct {
        Count length, stride;
    } loop[RG_BOX_LOOPS];
} Laid;

/* Where an operand of a whole box begins, and how much further in every turn. */
typedef struct {
    int slot;
    Count offset, turn;
} Start;

/* What every run of a box reads stands first, and together. */
typedef struct {
    _Atomic(RgMapRows) compiled; /* in place of the rows; NULL where there is nothing compiled */
    Count whole; /* how many numbers are gone through at once, in so many `turns` of the first loop;
                    * 0 where it is not done that way */
    Count turns;
    Count last; /* numbers of the last loop */
    int loops, operands, reads, rows, reductions, rooms;
    uint32_t copied;
    uint32_t wide; /* operands that a reduction reads: one number an element, always */
    Reduction reduction[MOST_REDUCTIONS];
    Start start[RG_BOX_OPERANDS];
    Row row[MOST_STEPS];
    Laid laid[RG_BOX_OPERANDS];
    Count length[RG_BOX_LOOPS];
    Operand operand[RG_BOX_OPERANDS];
    Count step[RG_BOX_OPERANDS + RG_BOX_ROOMS]; /* of a whole box, as its rows have them */
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

/* How far apart the rooms of a small box are: a vector may be written behind what it has. */
static inline Count rg_whole_room(Count numbers) { return (numbers + 7) / 8 * 8 + 8; }

/* The rows of a body on n numbers, one after the other. */
void rg_run_rows(const Box *box, Count n, double *const *at, const Count *step);

#endif
