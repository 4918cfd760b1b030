/* A bound row of the array law (retrograde._shared.bound) as this core carries it out.
 *
 * It is made once and kept on the bound row (`plan`); its nodes share it as their rule, so that a
 * node is made, and hands gradients on, without a word of Python. Maps, products and the sum of all
 * have rows of their own and need none. */
#ifndef RETROGRADE_READY_H
#define RETROGRADE_READY_H

#include "tensor.h"

#include "kernels/arrays.h"

RG_HIDE

#define RG_MOST_ARRAYS 64 /* that one step reads */

/* One statement: its plan, where its arrays come from, which whole numbers it reads. */
typedef struct {
    PyObject *capsule; /* holds the plan */
    const RgPlan *plan;
    int arrays, wholes;
    int *source; /* an operand's number, or one of those below; then the whole numbers' */
    int *whole;
} RgStep;

enum { RG_UPSTREAM = -1, RG_RESULT = -2, RG_FIRST_MADE = -3 }; /* and on down */

/* How an operand receives its gradient. */
typedef struct {
    int known, count; /* none: it receives nothing */
    RgStep *step;
} RgBack;

/* What the rule reads, given which operands take gradients. */
typedef struct {
    uint64_t takers;
    uint8_t saves, saves_result, open;
} RgSaves;

typedef enum { RG_VIEWED, RG_RESHAPED, RG_PLANNED } RgKind;

/* Whole numbers that a row finds along axes of an operand that lie next to each other. */
typedef struct {
    int by, operand, first, names; /* the operand's number; the first of the names it sets */
    Py_ssize_t outer, n, inner;
    int axes;
    Py_ssize_t length[RG_MOST_AXES];
} RgChoice;

typedef struct {
    PyObject_HEAD PyObject *bound;
    RgKind kind;
    int ndim, operands;
    Py_ssize_t *shape, size;
    /* Whole numbers: a node keeps all of them in one buffer. The first are given, the rest chosen. */
    PyObject *names, *shapes; /* tuples */
    int wholes, given;
    Py_ssize_t *whole_at, whole_size; /* where each begins */
    Py_ssize_t *limit; /* of those given: how long the axis is they pick from, or 0 */
    int choices;       /* -1: Python chooses */
    RgChoice choice;
    /* A view: for each axis of the operand where it begins, a whole number to add to that or -1,
     * and how far each axis of the result steps. Of an operand in the order of C that is worked out
     * once, and whether every number is seen exactly once. */
    int axes;
    Py_ssize_t *view, *packed, packed_begin;
    uint8_t packed_known, permutes;
    RgStep forward;
    RgBack *back;
    RgSaves saves[8];
    int saves_known;
} RgReady;

extern PyTypeObject *RgReady_Type;
extern const RgRow rg_planned_row, rg_view_row;

static inline int rg_is_ready(PyObject *object) {
    return object && Py_IS_TYPE(object, RgReady_Type);
}

/* The ready row of a node, or NULL. */
static inline RgReady *rg_ready_of(const Value *z) {
    PyObject *rule = rg_body(z)->rule;
    return rg_is_ready(rule) ? (RgReady *)rule : NULL;
}

static inline const int64_t *rg_wholes_of(const Value *z) {
    const RgBuffer *wholes = rg_body(z)->wholes;
    return wholes ? (const int64_t *)wholes->data : NULL;
}

/* ready.c */
PyObject *rg_plan_of(PyObject *bound, PyObject *wholes); /* a new reference: see views.plan */
int rg_ready_take_wholes(const RgReady *ready, Value *z, PyObject *wholes);
PyObject *rg_ready_wholes(const Value *z); /* as a dict of arrays */
int rg_ready_saves(RgReady *ready, Value *z);
Value *rg_ready_blank(const RgReady *ready);

/* planned.c */
int rg_planned_compute(const RgReady *ready, Value *z, double *to);
int rg_planned_choose(const RgReady *ready, Value *z);

/* viewed.c */
int rg_view_numbers(const RgReady *ready, Value *z);
const Py_ssize_t *rg_view_permutes(const Value *z, Py_ssize_t *begin);

/* fresh.c */
PyObject *rg_ready_quick(RgReady *ready, PyObject *const *operands, RgBuffer *wholes);

/* rows.c */
PyObject *rg_ready_make(RgReady *ready, PyObject *const *operands, RgBuffer *wholes, int flat);

RG_HIDE_END

#endif
