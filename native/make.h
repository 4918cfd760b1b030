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

/* A node none of whose inputs takes gradients needs none of them: it becomes a plain leaf. While a
 * function is recorded, or a graph copied, everything keeps its history. */
static inline PyObject *rg_forget(Value *v, uint8_t flags, PyObject *done) {
    if (RG_UNLIKELY(!(flags & RG_REQUIRES_GRAD)) && done != NULL && !rg_copying && !rg_recording())
        rg_release_inputs(v);
    return done;
}

/* Give a node of one or two inputs its inputs. */
static inline PyObject *rg_finish_narrow(Value *v, Value *first, Value *second, uint8_t flags) {
    v->flags = flags & RG_INHERITED;
    v->in[0] = first;
    v->in[1] = second;
    Py_XINCREF((PyObject *)first);
    Py_XINCREF((PyObject *)second);
    return rg_forget(v, flags, rg_finish(v));
}

#endif
