/* The backward pass where Python code may run: hooks, and anomaly mode, which may raise.
 *
 * A hook may run any code, another backward pass over the same values among it, and may let other
 * threads run. So the pass works on a copy of the graph's edges and keeps its gradients aside; they
 * are put in place in one go when it is whole, and what has been added meanwhile stays. A failure
 * has nothing to undo. It takes 16 bytes a node and 24 an input. */
#include "tensor.h"

/* One input of a node: its place among the totals, and the partial. */
typedef struct {
    size_t place;
    Py_ssize_t index; /* which input of its node it is */
    double partial;
} Edge;

typedef struct {
    RgGraph *graph;
    size_t nodes, edges;
    double *totals; /* what this pass brings to each node */
    size_t *first;  /* where the edges of each node in order begin, and where the last ones end */
    Edge *edge;
    Value **roots;
    Py_ssize_t root_count;
    size_t *root_place;
    int anomaly;
} Pass;

static inline Value *node_at(const Pass *pass, size_t i) { return rg_graph_node(pass->graph, i); }

static void pass_free(Pass *pass) {
    rg_buffer_free(pass->totals);
    rg_buffer_free(pass->first);
    rg_buffer_free(pass->edge);
    rg_buffer_free(pass->root_place);
}

static size_t count_edges(const RgGraph *graph) {
    size_t edges = 0;
    for (size_t i = 0; i < graph->order.count; i++) {
        const Value *v = graph->order.items[i];
        edges += rg_is_leaf(v) ? 0 : v->flags & RG_WIDE ? (size_t)v->count : 2;
    }
    return edges;
}

/* A node's place, while it stands where its gradient was. */
static inline void set_place(Value *v, size_t place) { memcpy(&v->grad, &place, sizeof(double)); }

static inline size_t place_of(const Value *v) {
    size_t place;
    memcpy(&place, &v->grad, sizeof(double));
    return place;
}

/* Copy the edges. Gradients wait among the totals while each node holds its place; no Python code
 * runs in between. */
static void copy_edges(Pass *pass) {
    _Static_assert(sizeof(size_t) == sizeof(double), "a place stands where a gradient was");
    const RgNodes *order = &pass->graph->order;
    Edge *edge = pass->edge;
    for (size_t i = 0; i < pass->nodes; i++) {
        pass->totals[i] = node_at(pass, i)->grad;
        set_place(node_at(pass, i), i);
    }
    for (size_t i = 0; i < order->count; i++) {
        const Value *v = order->items[i];
        pass->first[i] = (size_t)(edge - pass->edge);
        if (rg_is_leaf(v)) continue;
        Py_ssize_t count = v->flags & RG_WIDE ? v->count : 2;
        for (Py_ssize_t k = 0; k < count; k++) {
            const Value *input = v->flags & RG_WIDE ? v->entries[k].input : v->in[k];
            double partial = v->flags & RG_WIDE ? v->entries[k].partial : v->partial[k];
            if (input) *edge++ = (Edge){place_of(input), k, partial};
        }
    }
    pass->first[order->count] = (size_t)(edge - pass->edge);
    for (Py_ssize_t r = 0; r < pass->root_count; r++)
        pass->root_place[r] = place_of(pass->roots[r]);
    for (size_t i = 0; i < pass->nodes; i++) {
        node_at(pass, i)->grad = pass->totals[i];
        pass->totals[i] = 0.0;
    }
}

static int pass_begin(Pass *pass) {
    size_t in_order = pass->graph->order.count;
    pass->nodes = in_order + pass->graph->leaves.count;
    pass->edges = count_edges(pass->graph);
    pass->totals = rg_buffer_resize(NULL, (pass->nodes + 1) * sizeof(double));
    pass->first = pass->totals ? rg_buffer_resize(NULL, (in_order + 1) * sizeof(size_t)) : NULL;
    pass->edge = pass->first ? rg_buffer_resize(NULL, (pass->edges + 1) * sizeof(Edge)) : NULL;
    size_t roots = (size_t)pass->root_count + 1;
    pass->root_place = pass->edge ? rg_buffer_resize(NULL, roots * sizeof(size_t)) : NULL;
    rg_unmark(pass->graph);
    if (pass->root_place == NULL) return -1;
    copy_edges(pass);
    return 0;
}

/* The roots as a tuple, for the route from a birth to where the pass began. */
PyObject *rg_tuple_of(Value **roots, Py_ssize_t count) {
    PyObject *tuple = PyTuple_New(count);
    for (Py_ssize_t r = 0; tuple && r < count; r++) PyTuple_SET_ITEM(tuple, r, rg_face(roots[r]));
    return tuple;
}

int rg_run_hooks(Value *v, double *total, int anomaly) {
    PyObject *hooks = rg_note_get(v, RG_HOOKED);
    if (hooks == NULL) return 0;
    PyObject *seen = rg_call("retrograde._shared.hooks", "run", "Od", v, *total);
    if (seen == NULL) return -1;
    *total = PyFloat_AsDouble(seen);
    Py_DECREF(seen);
    if (*total == -1.0 && PyErr_Occurred()) return -1;
    if (anomaly && !isfinite(*total)) {
        rg_fail("AnomalyError", "hook", "Od", v, *total);
        return -1;
    }
    return 0;
}

int rg_watch_contribution(Value *v, Py_ssize_t index, double partial, double upstream,
                          double before, double after, Value **roots, Py_ssize_t count) {
    Value *input = rg_input_at(v, index).input;
    if (isfinite(after) || !isfinite(before) || !(input->flags & RG_REQUIRES_GRAD)) return 0;
    rg_fail("AnomalyError", "backward", "OndddN", v, index, partial, upstream, before,
            rg_tuple_of(roots, count));
    return -1;
}

int rg_watch_seed(Value *root, double seed) {
    if (isfinite(seed)) return 0;
    rg_fail("AnomalyError", "seed", "Od", root, seed);
    return -1;
}

static int walk(Pass *pass) {
    double *totals = pass->totals;
    for (size_t i = pass->graph->order.count; i-- > 0;) {
        Value *v = pass->graph->order.items[i];
        if (rg_run_hooks(v, &totals[i], pass->anomaly) < 0) return -1;
        const Edge *end = pass->edge + pass->first[i + 1];
        for (const Edge *edge = pass->edge + pass->first[i]; edge < end; edge++) {
            double before = totals[edge->place];
            totals[edge->place] += edge->partial * totals[i];
            if (pass->anomaly &&
                rg_watch_contribution(v, edge->index, edge->partial, totals[i], before,
                                      totals[edge->place], pass->roots, pass->root_count) < 0)
                return -1;
        }
    }
    return 0;
}

/* The pass is whole: no Python code runs until every gradient is in place. */
static void settle(const Pass *pass) {
    for (size_t i = 0; i < pass->nodes; i++) {
        Value *v = node_at(pass, i);
        if (!(v->flags & RG_REQUIRES_GRAD)) continue;
        v->grad = rg_is_leaf(v) ? v->grad + pass->totals[i] : pass->totals[i];
    }
}

int rg_backward_aside(RgGraph *graph, Value **roots, const double *seeds, Py_ssize_t count) {
    Pass pass = {.graph = graph, .roots = roots, .root_count = count};
    int failed = pass_begin(&pass);
    if (!failed) {
        pass.anomaly = rg_anomaly_enabled();
        rg_hold(graph);
        for (Py_ssize_t r = 0; r < count && !failed; r++) {
            pass.totals[pass.root_place[r]] += seeds[r];
            failed = pass.anomaly && rg_watch_seed(roots[r], seeds[r]) < 0;
        }
        if (!failed) failed = walk(&pass);
        if (!failed) failed = rg_check_loans(graph, RG_ANY_THREAD);
        if (!failed) settle(&pass);
        rg_let_go(graph);
    }
    pass_free(&pass);
    return failed ? -1 : 0;
}
