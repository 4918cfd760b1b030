/* What a new node is given, whatever its op. */
#ifndef RETROGRADE_MAKE_H
#define RETROGRADE_MAKE_H

#include "sites.h"

/* What a node inherits from its inputs. */
#define RG_INHERITED ((uint8_t)(RG_REQUIRES_GRAD | RG_TRACED | RG_COLLECTED))

/* A node whose flags and inputs are still to be set. `flags` are those of the inputs: over a
 * closure the collector has to see every node. */
static inline Value *rg_node(int op, double data, uint8_t flags) {
    Value *v = RG_UNLIKELY(flags & RG_COLLECTED) ? rg_tracked_new() : rg_node_take();
    if (RG_UNLIKELY(v == NULL)) return NULL;
    v->op = (uint8_t)op;
    v->epoch = (uint16_t)rg_epoch;
    v->grad = 0.0;
    v->data = data;
    rg_site_capture(v);
    return v;
}

/* The same in the common case, and without a call that may have to be returned to, so that
 * nothing need be saved. NULL, without an exception, where anything is out of the ordinary. */
static inline Value *rg_node_quick(int op, double data, uint8_t flags) {
    PyCodeObject *code;
    uint32_t instruction;
    if (RG_UNLIKELY((flags & (RG_COLLECTED | RG_REQUIRES_GRAD)) != RG_REQUIRES_GRAD ||
                    rg_modes_active || rg_free_nodes == NULL ||
                    !rg_site_quick(&code, &instruction)))
        return NULL;
    Value *v = rg_node_pop();
    v->op = (uint8_t)op;
    v->epoch = (uint16_t)rg_epoch;
    v->instruction = instruction;
    v->grad = 0.0;
    v->data = data;
    v->code = code;
    return v;
}

/* A node made in some mode, or none of whose inputs takes gradients: such a node needs none of
 * them and becomes a plain leaf, unless a function is recorded or a graph copied. */
PyObject *rg_finish_odd(Value *v);

static inline PyObject *rg_finish(Value *v) {
    int plain = (v->flags & RG_REQUIRES_GRAD) && rg_modes_active == 0;
    return RG_LIKELY(plain) ? (PyObject *)v : rg_finish_odd(v);
}

/* Give a node of one or two inputs its inputs. */
static inline PyObject *rg_set_inputs(Value *v, Value *first, Value *second, uint8_t flags) {
    v->flags = flags & RG_INHERITED;
    v->in[0] = first;
    v->in[1] = second;
    Py_XINCREF((PyObject *)first);
    Py_XINCREF((PyObject *)second);
    return (PyObject *)v;
}

#endif
