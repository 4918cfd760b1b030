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

/* While recording: the first root whose number must not leave the graph, or NULL. */
static inline Value *rg_hidden_root(Value **roots, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count && rg_recording(); i++)
        if (rg_is_read_afresh(roots[i])) return roots[i];
    return NULL;
}

/* backward.c. */
void rg_contribute(const Value *v);
int rg_call_closure(Value *v);

/* walk.c: what Python gave. Borrowed values of a list or tuple, checked; seeds as numbers, one a root.
 * To be freed; NULL with an exception. */
Value **rg_values_of(PyObject *sequence, const char *where);
double *rg_seeds_of(PyObject *seeds, Py_ssize_t roots);

#endif
