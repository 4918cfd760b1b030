/* The backward pass over a graph in order. Here it is numbers only: nothing can fail and no Python
 * code runs, so it works in place and takes 8 bytes a leaf. Where Python code may run, aside.c
 * (hooks, anomaly mode) and lent.c (closures) do the same with care. */
#include "tensor.h"

#define AHEAD 8 /* how many nodes ahead of the walk memory is asked for */

void rg_contribute(const Value *v) {
    double upstream = v->grad;
    if (RG_LIKELY(!(v->flags & RG_WIDE))) {
        if (v->in[0]) v->in[0]->grad += v->partial[0] * upstream;
        if (v->in[1]) v->in[1]->grad += v->partial[1] * upstream;
    } else {
        for (Py_ssize_t i = 0; i < v->count; i++)
            if (v->entries[i].input) v->entries[i].input->grad += v->entries[i].partial * upstream;
    }
}

/* One contribution. The first to reach a node in this pass finds it marked, and starts its
 * gradient anew; so nothing is zero-filled. */
static inline void accumulate(Value *input, double contribution) {
    if (input->flags & RG_VISITED) {
        input->flags &= (uint8_t)~RG_VISITED;
        input->grad = 0.0 + contribution;
    } else {
        input->grad += contribution;
    }
}

/* Reverse walk over numbers only: nothing in it can fail, and it takes away the marks. */
static void run_plain(RgGraph *graph, Value **roots, const double *seeds, Py_ssize_t count,
                      double *old) {
    RgNodes *order = &graph->order, *leaves = &graph->leaves;
    for (size_t i = 0; i < leaves->count; i++) old[i] = leaves->items[i]->grad;
    for (Py_ssize_t r = 0; r < count; r++) accumulate(roots[r], seeds[r]);
    for (size_t i = order->count; i-- > 0;) {
        const Value *v = order->items[i];
        double upstream = v->grad;
        if (i >= AHEAD) RG_PREFETCH(order->items[i - AHEAD]);
        if (RG_LIKELY(!(v->flags & RG_WIDE))) {
            if (v->in[0]) accumulate(v->in[0], v->partial[0] * upstream);
            if (v->in[1]) accumulate(v->in[1], v->partial[1] * upstream);
        } else {
            for (const RgEntry *entry = v->entries, *end = entry + v->count; entry < end; entry++)
                if (entry->input) accumulate(entry->input, entry->partial * upstream);
        }
    }
    for (size_t i = 0; i < leaves->count; i++) {
        Value *leaf = leaves->items[i];
        leaf->grad = leaf->flags & RG_REQUIRES_GRAD ? old[i] + leaf->grad : old[i];
    }
}

int rg_call_closure(Value *v) {
    PyObject *backward = rg_closure_backward(v);
    if (backward == NULL) {
        if (!PyErr_Occurred()) rg_fail("MissingBackwardError", "of", "O", v);
        return -1;
    }
    PyObject *result = PyObject_CallNoArgs(backward);
    Py_DECREF(backward);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

int rg_absent_met = 0;

/* The first node, in order, that has no partial along an input that takes gradients. */
static Value *open_node(const RgGraph *graph) {
    for (size_t i = 0; rg_absent_met && i < graph->order.count; i++) {
        Value *v = graph->order.items[i];
        if (v->op == RG_ARRAY && rg_body(v)->open) return v;
        int op = v->op == RG_ARRAY && rg_body(v)->row == &rg_map_row ? rg_body(v)->code : v->op;
        int absent = op < RG_OP_COUNT ? RG_OPS[op].absent : 0;
        for (Py_ssize_t j = 0; absent >> j; j++) {
            Value *input = rg_input_at(v, j).input;
            if ((absent >> j & 1) && input && (input->flags & RG_REQUIRES_GRAD)) return v;
        }
    }
    return NULL;
}

int rg_backward(Value **roots, const RgTotal *totals, Py_ssize_t count) {
    RgGraph graph = {.oldest = RG_ANY_AGE};
    const double *seeds = &totals->number; /* where no root is a tensor */
    int failed = -1;
    Value *hidden = rg_hidden_root(roots, count);
    if (RG_UNLIKELY(hidden != NULL)) {
        rg_fail("RecordingError", "backward", "(O)", hidden);
        return -1;
    }
    if (rg_order(&graph, roots, count) < 0) return -1;
    for (Py_ssize_t r = 0; r < count; r++) graph.tensors |= rg_is_node(roots[r]);
    Value *open = open_node(&graph);
    if (rg_check_loans(&graph, RG_ANY_THREAD) < 0) {
        failed = -1;
    } else if (!graph.takes_gradient) {
        rg_unmark(&graph);
        rg_fail("NoGradientError", "of", "N", rg_face(roots[0]));
    } else if (open != NULL) {
        rg_unmark(&graph);
        rg_fail("NotDifferentiable", "of", "N", rg_face(open));
    } else if (RG_UNLIKELY(graph.tensors)) {
        failed = rg_backward_mixed(&graph, roots, totals, count);
    } else if (graph.closures) {
        failed = rg_backward_lent(&graph, roots, seeds, count);
    } else if (graph.callbacks || rg_anomaly_enabled()) {
        failed = rg_backward_aside(&graph, roots, seeds, count);
    } else {
        size_t leaves = graph.leaves.count;
        double *old = rg_buffer_resize(NULL, (leaves ? leaves : 1) * sizeof(double));
        if (old == NULL) {
            rg_unmark(&graph);
        } else {
            run_plain(&graph, roots, seeds, count, old);
            failed = 0;
        }
        rg_buffer_free(old);
    }
    rg_graph_free(&graph);
    return failed;
}
