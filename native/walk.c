/* Ordering a graph and running it backward, without recursion.
 *
 * The order is a left-to-right depth-first postorder; backward walks it in reverse, so every node
 * is reached after all its uses. While an ordering is in progress the nodes it has seen carry a
 * mark; no Python code runs until the marks are gone. An ordering takes 16 bytes a level of depth
 * and 8 a node; backward takes 16 more a leaf. */
#include "retrograde.h"

typedef struct {
    Value **items;
    size_t count, capacity;
} Nodes;

typedef struct {
    Value *node;
    Py_ssize_t next; /* the input to look at next */
} Frame;

typedef struct {
    Frame *items;
    size_t count, capacity;
} Frames;

typedef struct {
    Nodes order;  /* inner nodes, and leaves that have hooks, in postorder */
    Nodes leaves; /* every other leaf, in the order met */
    int callbacks; /* whether a hook or a closure will run Python code */
    int takes_gradient; /* whether any leaf does */
} Graph;

#define INTERRUPT_EVERY (1 << 16)

static int nodes_push(Nodes *nodes, Value *v) {
    if (RG_UNLIKELY(nodes->count == nodes->capacity)) {
        size_t larger = nodes->capacity ? nodes->capacity * 2 : 256;
        Value **items = rg_buffer_resize(nodes->items, larger * sizeof(Value *));
        if (items == NULL) return -1;
        nodes->items = items;
        nodes->capacity = larger;
    }
    nodes->items[nodes->count++] = v;
    return 0;
}

static int frames_push(Frames *frames, Value *v) {
    if (RG_UNLIKELY(frames->count == frames->capacity)) {
        size_t larger = frames->capacity ? frames->capacity * 2 : 256;
        Frame *items = rg_buffer_resize(frames->items, larger * sizeof(Frame));
        if (items == NULL) return -1;
        frames->items = items;
        frames->capacity = larger;
    }
    frames->items[frames->count++] = (Frame){v, 0};
    return 0;
}

#define MARKS ((uint16_t)(RG_VISITED | RG_OPEN))

static void unmark(Graph *graph) {
    for (size_t i = 0; i < graph->order.count; i++) graph->order.items[i]->flags &= (uint16_t)~MARKS;
    for (size_t i = 0; i < graph->leaves.count; i++)
        graph->leaves.items[i]->flags &= (uint16_t)~MARKS;
}

static void graph_free(Graph *graph) {
    rg_buffer_free(graph->order.items);
    rg_buffer_free(graph->leaves.items);
}

/* Mark a node met for the first time, and put it where it belongs. */
static inline int enter(Graph *graph, Frames *frames, Value *v, int leaves_in_order) {
    v->flags |= RG_VISITED;
    if (rg_is_leaf(v)) {
        if (v->flags & RG_REQUIRES_GRAD) graph->takes_gradient = 1;
        if (RG_UNLIKELY(v->flags & RG_HOOKED)) graph->callbacks = 1;
        Nodes *where = leaves_in_order || (v->flags & RG_HOOKED) ? &graph->order : &graph->leaves;
        if (nodes_push(where, v) == 0) return 0;
    } else {
        v->flags |= RG_OPEN;
        if (RG_UNLIKELY(v->op == RG_CLOSURE || (v->flags & RG_HOOKED))) graph->callbacks = 1;
        if (frames_push(frames, v) == 0) return 0;
    }
    v->flags &= (uint16_t)~MARKS;
    return -1;
}

/* 1: done; 0: Ctrl-C came, nothing is marked; -1: error, nothing is marked. */
static int order_once(Graph *graph, Value **roots, Py_ssize_t count, int leaves_in_order) {
    Frames frames = {NULL, 0, 0};
    size_t popped = 0;
    int outcome = 1;
    for (Py_ssize_t r = 0; r < count && outcome == 1; r++) {
        if (roots[r]->flags & RG_VISITED) continue;
        if (enter(graph, &frames, roots[r], leaves_in_order) < 0) outcome = -1;
        while (frames.count && outcome == 1) {
            Frame *top = &frames.items[frames.count - 1];
            Value *v = top->node, *input = NULL;
            Py_ssize_t next = top->next;
            Py_ssize_t width = RG_LIKELY(!(v->flags & RG_WIDE)) ? 2 : v->count;
            while (next < width) {
                input = width == 2 && !(v->flags & RG_WIDE) ? v->in[next] : v->entries[next].input;
                next++;
                if (input == NULL) continue;
                if (!(input->flags & RG_VISITED)) break;
                if (RG_UNLIKELY(input->flags & RG_OPEN)) {
                    outcome = -2;
                    break;
                }
                input = NULL;
            }
            if (RG_UNLIKELY(outcome == -2)) break;
            if (input) {
                top->next = next;
                if (enter(graph, &frames, input, leaves_in_order) < 0) outcome = -1;
                continue;
            }
            if (nodes_push(&graph->order, v) < 0) {
                outcome = -1;
                break;
            }
            v->flags &= (uint16_t)~RG_OPEN;
            frames.count--;
            if (RG_UNLIKELY(++popped % INTERRUPT_EVERY == 0) && PyOS_InterruptOccurred())
                outcome = 0;
        }
    }
    if (outcome != 1) {
        unmark(graph);
        Value *open = frames.count ? frames.items[frames.count - 1].node : NULL;
        for (size_t i = 0; i < frames.count; i++) frames.items[i].node->flags &= (uint16_t)~MARKS;
        graph->order.count = graph->leaves.count = 0;
        graph->callbacks = graph->takes_gradient = 0;
        if (outcome == -2) rg_fail("CycleError", "of", "O", open);
    }
    rg_buffer_free(frames.items);
    return outcome < 0 ? -1 : outcome;
}

/* Order what is under the roots. On success the nodes are marked: the caller unmarks. */
static int order_graph(Graph *graph, Value **roots, Py_ssize_t count, int leaves_in_order) {
    int outcome;
    while ((outcome = order_once(graph, roots, count, leaves_in_order)) == 0) {
        /* The signal's Python handler runs here, where nothing is marked. */
        PyErr_SetInterrupt();
        if (PyErr_CheckSignals() < 0) {
            outcome = -1;
            break;
        }
    }
    if (outcome < 0) graph_free(graph);
    return outcome < 0 ? -1 : 0;
}

static inline void contribute(const Value *v) {
    double upstream = v->grad;
    if (RG_LIKELY(!(v->flags & RG_WIDE))) {
        if (v->in[0]) v->in[0]->grad += v->partial[0] * upstream;
        if (v->in[1]) v->in[1]->grad += v->partial[1] * upstream;
    } else {
        for (Py_ssize_t i = 0; i < v->count; i++)
            if (v->entries[i].input) v->entries[i].input->grad += v->entries[i].partial * upstream;
    }
}

/* Reverse walk over numbers only: nothing in it can fail. */
static void run_plain(Graph *graph, Value **roots, const double *seeds, Py_ssize_t count,
                      double *old) {
    for (size_t i = 0; i < graph->leaves.count; i++) {
        Value *leaf = graph->leaves.items[i];
        old[i] = leaf->grad;
        leaf->grad = 0.0;
        leaf->flags &= (uint16_t)~MARKS;
    }
    for (size_t i = 0; i < graph->order.count; i++) {
        graph->order.items[i]->grad = 0.0;
        graph->order.items[i]->flags &= (uint16_t)~MARKS;
    }
    for (Py_ssize_t r = 0; r < count; r++) roots[r]->grad += seeds[r];
    for (size_t i = graph->order.count; i-- > 0;) contribute(graph->order.items[i]);
    for (size_t i = 0; i < graph->leaves.count; i++) {
        Value *leaf = graph->leaves.items[i];
        leaf->grad = leaf->flags & RG_REQUIRES_GRAD ? old[i] + leaf->grad : old[i];
    }
}

/* Let each hook see, and perhaps replace, the total of this pass. */
static int run_hooks(Value *v) {
    PyObject *hooks = rg_note_get(v, RG_HOOKED);
    if (hooks == NULL) return 0;
    PyObject *total = rg_call("retrograde.hooks", "run", "Od", v, v->grad);
    if (total == NULL) return -1;
    v->grad = PyFloat_AsDouble(total);
    Py_DECREF(total);
    return v->grad == -1.0 && PyErr_Occurred() ? -1 : 0;
}

static int contribute_watched(Value *v) {
    Py_ssize_t count = v->flags & RG_WIDE ? v->count : 2;
    for (Py_ssize_t i = 0; i < count; i++) {
        Value *input = v->flags & RG_WIDE ? v->entries[i].input : v->in[i];
        double partial = v->flags & RG_WIDE ? v->entries[i].partial : v->partial[i];
        if (input == NULL) continue;
        double before = input->grad, contribution = partial * v->grad;
        input->grad += contribution;
        if ((input->flags & RG_REQUIRES_GRAD) && !isfinite(input->grad) && isfinite(before)) {
            rg_fail("AnomalyError", "backward", "Onddd", v, i, partial, v->grad, before);
            return -1;
        }
    }
    return 0;
}

static int call_closure(Value *v) {
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

/* Reverse walk that may run Python code: on any failure every gradient is put back. */
static int run_careful(Graph *graph, Value **roots, const double *seeds, Py_ssize_t count,
                       double *old) {
    Nodes *order = &graph->order, *leaves = &graph->leaves;
    int anomaly = rg_anomaly_enabled(), failed = 0;
    unmark(graph);
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
        failed = run_hooks(v) < 0;
        if (failed || rg_is_leaf(v)) continue;
        if (v->op == RG_CLOSURE)
            failed = call_closure(v) < 0;
        else if (anomaly)
            failed = contribute_watched(v) < 0;
        else
            contribute(v);
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

int rg_backward(Value **roots, const double *seeds, Py_ssize_t count) {
    Graph graph = {{NULL, 0, 0}, {NULL, 0, 0}, 0, 0};
    if (order_graph(&graph, roots, count, 0) < 0) return -1;
    if (!graph.takes_gradient) {
        unmark(&graph);
        graph_free(&graph);
        rg_fail("NoGradientError", "of", "(O)", roots[0]);
        return -1;
    }
    int careful = graph.callbacks || rg_anomaly_enabled(), failed = 0;
    size_t kept = graph.leaves.count + (careful ? graph.order.count : 0);
    double *old = rg_buffer_resize(NULL, (kept ? kept : 1) * sizeof(double));
    if (old == NULL) {
        unmark(&graph);
        graph_free(&graph);
        return -1;
    }
    if (careful)
        failed = run_careful(&graph, roots, seeds, count, old);
    else
        run_plain(&graph, roots, seeds, count, old);
    rg_buffer_free(old);
    graph_free(&graph);
    return failed;
}

/* value._contribute(): add this node's contributions into its inputs, once, in place. */
PyObject *rg_contribute(PyObject *self, PyObject *Py_UNUSED(ignored)) {
    Value *v = (Value *)self;
    if (v->op == RG_CLOSURE) {
        if (call_closure(v) < 0) return NULL;
    } else if (!rg_is_leaf(v)) {
        contribute(v);
    }
    Py_RETURN_NONE;
}

/* Borrowed values of a list or tuple, checked. */
static Value **values_of(PyObject *sequence, const char *where) {
    Py_ssize_t count = PySequence_Fast_GET_SIZE(sequence);
    Value **values = rg_buffer_resize(NULL, (size_t)(count ? count : 1) * sizeof(Value *));
    for (Py_ssize_t i = 0; values && i < count; i++) {
        PyObject *item = PySequence_Fast_GET_ITEM(sequence, i);
        if (!rg_is_value(item)) {
            rg_fail("NotAValueError", "at", "snO", where, i, item);
            rg_buffer_free(values);
            return NULL;
        }
        values[i] = (Value *)item;
    }
    return values;
}

/* backward(roots, seeds): two lists of one length. */
static PyObject *backward(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *roots, *seeds, *done = NULL;
    if (!PyArg_ParseTuple(args, "O!O!:backward", &PyTuple_Type, &roots, &PyTuple_Type, &seeds))
        return NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(roots);
    if (count != PyTuple_GET_SIZE(seeds)) {
        rg_fail("ShapeError", "seeds", "nn", count, PyTuple_GET_SIZE(seeds));
        return NULL;
    }
    Value **values = values_of(roots, "backward");
    double *numbers = values ? rg_buffer_resize(NULL, (size_t)(count + 1) * sizeof(double)) : NULL;
    if (numbers == NULL) goto failed;
    for (Py_ssize_t i = 0; i < count; i++)
        if (rg_number_or_fail(PyTuple_GET_ITEM(seeds, i), "a seed", &numbers[i]) < 0) goto failed;
    if (count == 0 || rg_backward(values, numbers, count) == 0) done = Py_NewRef(Py_None);
failed:
    rg_buffer_free(numbers);
    rg_buffer_free(values);
    return done;
}

/* order(roots) -> list: everything under the roots, leaves included, inputs before uses. */
static PyObject *order(PyObject *Py_UNUSED(module), PyObject *roots) {
    if (!PyTuple_Check(roots)) {
        PyErr_SetString(PyExc_TypeError, "order takes a tuple of values");
        return NULL;
    }
    Value **values = values_of(roots, "order");
    if (values == NULL) return NULL;
    Graph graph = {{NULL, 0, 0}, {NULL, 0, 0}, 0, 0};
    int failed = order_graph(&graph, values, PyTuple_GET_SIZE(roots), 1);
    rg_buffer_free(values);
    if (failed) return NULL;
    unmark(&graph);
    PyObject *list = PyList_New((Py_ssize_t)graph.order.count);
    for (size_t i = 0; list && i < graph.order.count; i++)
        PyList_SET_ITEM(list, (Py_ssize_t)i, Py_NewRef((PyObject *)graph.order.items[i]));
    graph_free(&graph);
    return list;
}

/* zero_under(roots): set the gradient of everything under the roots to zero. */
static PyObject *zero_under(PyObject *Py_UNUSED(module), PyObject *roots) {
    if (!PyTuple_Check(roots)) {
        PyErr_SetString(PyExc_TypeError, "zero_under takes a tuple of values");
        return NULL;
    }
    Value **values = values_of(roots, "zero_grad");
    if (values == NULL) return NULL;
    Graph graph = {{NULL, 0, 0}, {NULL, 0, 0}, 0, 0};
    int failed = order_graph(&graph, values, PyTuple_GET_SIZE(roots), 1);
    rg_buffer_free(values);
    if (failed) return NULL;
    unmark(&graph);
    for (size_t i = 0; i < graph.order.count; i++) graph.order.items[i]->grad = 0.0;
    graph_free(&graph);
    Py_RETURN_NONE;
}

PyMethodDef rg_walk_methods[] = {
    {"backward", backward, METH_VARARGS, "Run the backward pass from several roots."},
    {"order", order, METH_O, "Everything under the roots, inputs before uses."},
    {"zero_under", zero_under, METH_O, "Zero the gradient of everything under the roots."},
    {NULL, NULL, 0, NULL},
};
