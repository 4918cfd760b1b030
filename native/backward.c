/* The backward pass over a graph in order: numbers only where nothing can fail, and with care where
 * Python code runs or is watched for. It takes 8 bytes a leaf, and 8 a node where it may fail. */
#include "walk.h"

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
        if (i >= AHEAD) __builtin_prefetch(order->items[i - AHEAD]);
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

/* Let each hook see, and perhaps replace, the total of this pass. */
static int run_hooks(Value *v, int anomaly) {
    PyObject *hooks = rg_note_get(v, RG_HOOKED);
    if (hooks == NULL) return 0;
    PyObject *total = rg_call("retrograde.hooks", "run", "Od", v, v->grad);
    if (total == NULL) return -1;
    v->grad = PyFloat_AsDouble(total);
    Py_DECREF(total);
    if (v->grad == -1.0 && PyErr_Occurred()) return -1;
    if (anomaly && !isfinite(v->grad)) {
        rg_fail("AnomalyError", "hook", "Od", v, v->grad);
        return -1;
    }
    return 0;
}

/* The roots as a tuple, for the route from a birth to where the pass began. */
static PyObject *tuple_of(Value **roots, Py_ssize_t count) {
    PyObject *tuple = PyTuple_New(count);
    for (Py_ssize_t r = 0; tuple && r < count; r++)
        PyTuple_SET_ITEM(tuple, r, Py_NewRef((PyObject *)roots[r]));
    return tuple;
}

static int contribute_watched(Value *v, Value **roots, Py_ssize_t root_count) {
    Py_ssize_t count = v->flags & RG_WIDE ? v->count : 2;
    for (Py_ssize_t i = 0; i < count; i++) {
        Value *input = v->flags & RG_WIDE ? v->entries[i].input : v->in[i];
        double partial = v->flags & RG_WIDE ? v->entries[i].partial : v->partial[i];
        if (input == NULL) continue;
        double before = input->grad, contribution = partial * v->grad;
        input->grad += contribution;
        if ((input->flags & RG_REQUIRES_GRAD) && !isfinite(input->grad) && isfinite(before)) {
            rg_fail("AnomalyError", "backward", "OndddN", v, i, partial, v->grad, before,
                    tuple_of(roots, root_count));
            return -1;
        }
    }
    return 0;
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

/* Under anomaly(): what a closure has added must be finite. */
static int check_closure(Value *v, Value **roots, Py_ssize_t root_count) {
    for (Py_ssize_t i = 0; i < v->count; i++) {
        Value *input = v->entries[i].input;
        if (!(input->flags & RG_REQUIRES_GRAD) || isfinite(input->grad)) continue;
        rg_fail("AnomalyError", "closure", "OndN", v, i, input->grad, tuple_of(roots, root_count));
        return -1;
    }
    return 0;
}

/* Reverse walk that may run Python code: on any failure every gradient is put back. */
static int run_careful(RgGraph *graph, Value **roots, const double *seeds, Py_ssize_t count,
                       double *old) {
    RgNodes *order = &graph->order, *leaves = &graph->leaves;
    int anomaly = rg_anomaly_enabled(), failed = 0;
    rg_unmark(graph);
    for (size_t i = 0; i < order->count + leaves->count; i++) {
        Value *v = i < order->count ? order->items[i] : leaves->items[i - order->count];
        Py_INCREF((PyObject *)v);
        old[i] = v->grad;
        v->grad = 0.0;
    }
    for (Py_ssize_t r = 0; r < count; r++) {
        roots[r]->grad += seeds[r];
        if (anomaly && !isfinite(seeds[r]) && !failed) {
            rg_fail("AnomalyError", "seed", "Od", roots[r], seeds[r]);
            failed = 1;
        }
    }
    for (size_t i = order->count; i-- > 0 && !failed;) {
        Value *v = order->items[i];
        failed = run_hooks(v, anomaly) < 0;
        if (failed || rg_is_leaf(v)) continue;
        if (v->op == RG_CLOSURE)
            failed = rg_call_closure(v) < 0 || (anomaly && check_closure(v, roots, count) < 0);
        else if (anomaly)
            failed = contribute_watched(v, roots, count) < 0;
        else
            rg_contribute(v);
    }
    for (size_t i = 0; i < order->count + leaves->count; i++) {
        Value *v = i < order->count ? order->items[i] : leaves->items[i - order->count];
        if (failed || !(v->flags & RG_REQUIRES_GRAD))
            v->grad = old[i];
        else if (rg_is_leaf(v))
            v->grad = old[i] + v->grad;
    }
    for (size_t i = 0; i < order->count; i++) Py_DECREF((PyObject *)order->items[i]);
    for (size_t i = 0; i < leaves->count; i++) Py_DECREF((PyObject *)leaves->items[i]);
    return failed ? -1 : 0;
}

int rg_absent_met = 0;

/* The first node, in order, that has no partial along an input that takes gradients. */
static Value *open_node(const RgGraph *graph) {
    for (size_t i = 0; rg_absent_met && i < graph->order.count; i++) {
        Value *v = graph->order.items[i];
        int absent = v->op < RG_OP_COUNT ? RG_OPS[v->op].absent : 0;
        for (Py_ssize_t j = 0; absent >> j; j++) {
            Value *input = rg_input_at(v, j).input;
            if ((absent >> j & 1) && input && (input->flags & RG_REQUIRES_GRAD)) return v;
        }
    }
    return NULL;
}

int rg_backward(Value **roots, const double *seeds, Py_ssize_t count) {
    RgGraph graph = {.oldest = RG_ANY_AGE};
    if (rg_order(&graph, roots, count) < 0) return -1;
    if (graph.traced && rg_recording()) {
        rg_unmark(&graph);
        rg_graph_free(&graph);
        rg_fail("RecordingError", "backward", "(O)", roots[0]);
        return -1;
    }
    if (!graph.takes_gradient) {
        rg_unmark(&graph);
        rg_graph_free(&graph);
        rg_fail("NoGradientError", "of", "(O)", roots[0]);
        return -1;
    }
    Value *open = open_node(&graph);
    if (open != NULL) {
        rg_unmark(&graph);
        rg_graph_free(&graph);
        rg_fail("NotDifferentiable", "of", "(O)", open);
        return -1;
    }
    int careful = graph.callbacks || rg_anomaly_enabled(), failed = 0;
    size_t kept = graph.leaves.count + (careful ? graph.order.count : 0);
    double *old = rg_buffer_resize(NULL, (kept ? kept : 1) * sizeof(double));
    if (old == NULL) {
        rg_unmark(&graph);
        rg_graph_free(&graph);
        return -1;
    }
    if (careful)
        failed = run_careful(&graph, roots, seeds, count, old);
    else
        run_plain(&graph, roots, seeds, count, old);
    rg_buffer_free(old);
    rg_graph_free(&graph);
    return failed;
}
