/* A graph in order: what the ordering finds, and what walks over it share. */
#ifndef RETROGRADE_WALK_H
#define RETROGRADE_WALK_H

#include "retrograde.h"

typedef struct {
    Value **items;
    size_t count, capacity;
} RgNodes;

typedef struct {
    RgNodes order;       /* inner nodes, and leaves that have hooks, in postorder */
    RgNodes leaves;      /* every other leaf, in the order met */
    uint16_t oldest;     /* how many epochs back a node may have been made to be entered */
    int leaves_in_order; /* put every leaf into `order` */
    int no_hooks;        /* a functional transform: hooks are for backward() */
    int callbacks;       /* whether a hook or a closure will run Python code */
    int closures;        /* whether a closure will */
    int tensors;         /* whether an array row is among them */
    int python;          /* whether one of those may run Python code */
    int takes_gradient;  /* whether any leaf does */
    Value *culprit;      /* the node that closes a cycle */
    size_t turns;        /* since the last look for Ctrl-C */
} RgGraph;

#define RG_MARKS ((uint8_t)(RG_VISITED | RG_OPEN))
#define RG_ANY_AGE UINT16_MAX

/* Nodes made before an epoch count as leaves. After 2^16 epochs the age can no longer be told, and
 * everything is entered: slower, never wrong. */
static inline uint16_t rg_age_limit(uint64_t since) {
    return rg_epoch - since < RG_ANY_AGE ? (uint16_t)(rg_epoch - since) : RG_ANY_AGE;
}

static inline int rg_is_old(const RgGraph *graph, const Value *v) {
    return (uint16_t)((uint16_t)rg_epoch - v->epoch) > graph->oldest;
}

/* order.c. On success the nodes are marked, and the caller unmarks and frees the graph; on failure
 * there is an exception and nothing to undo. */
int rg_order(RgGraph *graph, Value **roots, Py_ssize_t count);
void rg_unmark(RgGraph *graph);
void rg_graph_free(RgGraph *graph);

/* Everything in the order, then the other leaves. */
static inline Value *rg_graph_node(const RgGraph *graph, size_t i) {
    return i < graph->order.count ? graph->order.items[i]
                                  : graph->leaves.items[i - graph->order.count];
}

/* While recording: the first root whose number must not leave the graph, or NULL. */
static inline Value *rg_hidden_root(Value **roots, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count && rg_recording(); i++)
        if (rg_is_read_afresh(roots[i])) return roots[i];
    return NULL;
}

/* backward.c. */
void rg_contribute(const Value *v);
int rg_call_closure(Value *v);

/* aside.c. A hook sees the total and may replace it; under anomaly() seeds and contributions are
 * watched. -1: there is an exception. */
int rg_backward_aside(RgGraph *graph, Value **roots, const double *seeds, Py_ssize_t count);
int rg_run_hooks(Value *v, double *total, int anomaly);
int rg_watch_seed(Value *root, double seed);
int rg_watch_contribution(Value *v, Py_ssize_t index, double partial, double upstream,
                          double before, double after, Value **roots, Py_ssize_t count);
PyObject *rg_tuple_of(Value **roots, Py_ssize_t count);

/* lent.c. A loan of all gradients of a graph to closures: they are zero at its beginning, what they
 * were is in `old`. */
typedef struct RgLoan {
    RgGraph *graph;
    double *old;
    Value **sorted; /* the nodes by their address, once somebody asked */
    unsigned long thread;
    struct RgLoan *next;
} RgLoan;

int rg_backward_lent(RgGraph *graph, Value **roots, const double *seeds, Py_ssize_t count);
int rg_loan_begin(RgLoan *loan, RgGraph *graph);
void rg_loan_end(RgLoan *loan);

/* A backward pass on lent gradients: on success they are in place until the loan is returned, on
 * failure everything is as it was. */
int rg_loan_pull(RgLoan *loan, RgGraph *graph, Value **roots, const double *seeds,
                 Py_ssize_t count);
void rg_loan_return(RgLoan *loan);
void rg_hold(const RgGraph *graph);
void rg_let_go(const RgGraph *graph);

/* Refuse a graph of which something is lent, by anyone or by other threads. */
int rg_check_loans(RgGraph *graph, RgWhose whose);

/* walk.c: what Python gave. Borrowed values of a list or tuple, checked; seeds as numbers, one a root.
 * To be freed; NULL with an exception. */
Value **rg_values_of(PyObject *sequence, const char *where);
RgTotal *rg_totals_of(PyObject *seeds, Value **roots, Py_ssize_t count);
void rg_totals_free(RgTotal *totals, Value **roots, Py_ssize_t count);

#endif
