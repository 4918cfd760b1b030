/* Ordering a graph and running it backward, without recursion.
 *
 * The order is a left-to-right depth-first postorder; backward walks it in reverse, so every node
 * is reached after all its uses. While an ordering is in progress the nodes it has seen carry a
 * mark; no Python code runs until the marks are gone. An ordering takes 16 bytes a level of depth
 * and 8 a node; backward takes 16 more a leaf. */
#include "retrograde.h"

uint64_t rg_epoch = 0;

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
    Nodes order;         /* inner nodes, and leaves that have hooks, in postorder */
    Nodes leaves;        /* every other leaf, in the order met */
    uint16_t oldest;     /* how many epochs back a node may have been made to be entered */
    int leaves_in_order; /* put every leaf into `order` */
    int no_hooks;        /* a functional transform: hooks are for backward() */
    int callbacks;       /* whether a hook or a closure will run Python code */
    int takes_gradient;  /* whether any leaf does */
    int traced;          /* whether anything depends on an argument being recorded */
    Value *culprit;      /* the node that closes a cycle */
    size_t turns;        /* since the last look for Ctrl-C, modulo INTERRUPT_EVERY */
} Graph;

#define INTERRUPT_EVERY (1 << 16)
#define AHEAD 8 /* how many nodes ahead of the walk memory is asked for */

static inline int nodes_push(Nodes *nodes, Value *v) {
    if (RG_UNLIKELY(nodes->count == nodes->capacity)) {
        size_t larger = nodes->capacity ? nodes->capacity * 2 : 256;
        Value **items = rg_buffer_try(nodes->items, larger * sizeof(Value *));
        if (items == NULL) return -1;
        nodes->items = items;
        nodes->capacity = larger;
    }
    nodes->items[nodes->count++] = v;
    return 0;
}

static inline int frames_push(Frames *frames, Value *v, Py_ssize_t next) {
    if (RG_UNLIKELY(frames->count == frames->capacity)) {
        size_t larger = frames->capacity ? frames->capacity * 2 : 256;
        Frame *items = rg_buffer_try(frames->items, larger * sizeof(Frame));
        if (items == NULL) return -1;
        frames->items = items;
        frames->capacity = larger;
    }
    frames->items[frames->count++] = (Frame){v, next};
    return 0;
}

#define MARKS ((uint8_t)(RG_VISITED | RG_OPEN))

static inline void clear_marks(Value *v) { v->flags &= (uint8_t)~MARKS; }

static void unmark(Graph *graph) {
    for (size_t i = 0; i < graph->order.count; i++) clear_marks(graph->order.items[i]);
    for (size_t i = 0; i < graph->leaves.count; i++) clear_marks(graph->leaves.items[i]);
}

static void graph_free(Graph *graph) {
    rg_buffer_free(graph->order.items);
    rg_buffer_free(graph->leaves.items);
}

#define ANY_AGE UINT16_MAX

/* Nodes made before an epoch count as leaves. After 2^16 epochs the age can no longer be told, and
 * everything is entered: slower, never wrong. */
static uint16_t age_limit(uint64_t since) {
    return rg_epoch - since < ANY_AGE ? (uint16_t)(rg_epoch - since) : ANY_AGE;
}

static inline int is_old(const Graph *graph, const Value *v) {
    return (uint16_t)((uint16_t)rg_epoch - v->epoch) > graph->oldest;
}

/* A leaf met for the first time. */
static inline int enter_leaf(Graph *graph, Value *leaf) {
    leaf->flags |= RG_VISITED;
    if (leaf->flags & RG_REQUIRES_GRAD) graph->takes_gradient = 1;
    if (RG_UNLIKELY(leaf->flags & RG_TRACED)) graph->traced = 1;
    int hooked = (leaf->flags & RG_HOOKED) && !graph->no_hooks;
    if (RG_UNLIKELY(hooked)) graph->callbacks = 1;
    if (nodes_push(graph->leaves_in_order || hooked ? &graph->order : &graph->leaves, leaf) == 0)
        return 0;
    clear_marks(leaf);
    return -1;
}

/* Memory far from the processor is slow. Inputs are made before their uses and so mostly lie
 * below them: ask for what is a few nodes down before it is needed. */
static inline void look_ahead(const Value *v) {
    const char *below = (const char *)v - 8 * sizeof(Value);
    __builtin_prefetch(below, 1);
    __builtin_prefetch(below - 64, 1);
    __builtin_prefetch(below - 128, 1);
}

/* An inner node met for the first time. */
static inline void enter_inner(Graph *graph, Value *v) {
    look_ahead(v);
    v->flags |= MARKS;
    if (RG_UNLIKELY(v->op == RG_CLOSURE || (v->flags & RG_HOOKED))) graph->callbacks = 1;
}

/* Whether an input asks for nothing before its use: a number, or a node already in order. */
static inline int is_ready(const Value *input) {
    return input == NULL || (input->flags & MARKS) == RG_VISITED;
}

typedef enum { DONE = 1, INTERRUPTED = 0, FAILED = -1, CYCLE = -2, DESCEND = -3 } Outcome;

/* Deal with one input: DONE when nothing more is to be done for it, DESCEND when it has inputs
 * of its own to look at first. */
static inline Outcome look_at(Graph *graph, Value *input) {
    if (input == NULL) return DONE;
    if (input->flags & RG_VISITED) return RG_UNLIKELY(input->flags & RG_OPEN) ? CYCLE : DONE;
    if (rg_is_leaf(input) || RG_UNLIKELY(is_old(graph, input)))
        return RG_LIKELY(enter_leaf(graph, input) == 0) ? DONE : FAILED;
    if ((input->flags & (RG_WIDE | RG_HOOKED)) || !is_ready(input->in[0]) ||
        !is_ready(input->in[1]))
        return DESCEND;
    if (RG_UNLIKELY(nodes_push(&graph->order, input) < 0)) return FAILED;
    input->flags |= RG_VISITED; /* the common case: no turn on the stack */
    return DONE;
}

/* Depth first from one root. The node being looked at and the input to look at next are `v` and
 * `next`; the stack holds the same of every node above it. */
static Outcome order_from(Graph *graph, Frames *frames, Value *root) {
    if (root->flags & RG_VISITED) return DONE;
    if (rg_is_leaf(root) || is_old(graph, root)) return enter_leaf(graph, root) < 0 ? FAILED : DONE;
    Value *v = root, *input = NULL;
    Py_ssize_t next = 0;
    enter_inner(graph, v);
    for (;;) {
        Outcome outcome = DONE;
        if (RG_LIKELY(!(v->flags & RG_WIDE))) {
            if (next == 0) {
                next = 1;
                input = v->in[0];
                outcome = look_at(graph, input);
            }
            if (outcome == DONE && next == 1) {
                next = 2;
                input = v->in[1];
                outcome = look_at(graph, input);
            }
        } else {
            while (outcome == DONE && next < v->count) {
                input = v->entries[next++].input;
                outcome = look_at(graph, input);
            }
        }
        if (outcome == DESCEND) {
            if (RG_LIKELY(frames_push(frames, v, next) == 0)) {
                v = input;
                next = 0;
                enter_inner(graph, v);
                continue;
            }
            outcome = FAILED;
        }
        if (outcome == DONE && RG_UNLIKELY(nodes_push(&graph->order, v) < 0)) outcome = FAILED;
        if (RG_UNLIKELY(outcome != DONE)) {
            clear_marks(v); /* neither in order nor on the stack */
            graph->culprit = v;
            return outcome;
        }
        v->flags &= (uint8_t)~RG_OPEN;
        if (RG_UNLIKELY(++graph->turns % INTERRUPT_EVERY == 0) && PyOS_InterruptOccurred())
            return INTERRUPTED;
        if (frames->count == 0) return DONE;
        frames->count--;
        v = frames->items[frames->count].node;
        next = frames->items[frames->count].next;
    }
}

/* On anything but DONE nothing stays marked. */
static Outcome order_once(Graph *graph, Value **roots, Py_ssize_t count) {
    Frames frames = {NULL, 0, 0};
    Outcome outcome = DONE;
    for (Py_ssize_t r = 0; r < count && outcome == DONE; r++)
        outcome = order_from(graph, &frames, roots[r]);
    if (outcome != DONE) {
        unmark(graph);
        for (size_t i = 0; i < frames.count; i++) clear_marks(frames.items[i].node);
        graph->order.count = graph->leaves.count = 0;
        graph->callbacks = graph->takes_gradient = 0;
    }
    rg_buffer_free(frames.items);
    return outcome;
}

/* Order what is under the roots. On success the nodes are marked: the caller unmarks. */
static int order_graph(Graph *graph, Value **roots, Py_ssize_t count) {
    Outcome outcome;
    while ((outcome = order_once(graph, roots, count)) == INTERRUPTED) {
        /* The signal's Python handler runs here, where nothing is marked. */
        PyErr_SetInterrupt();
        if (PyErr_CheckSignals() < 0) {
            outcome = FAILED;
            break;
        }
    }
    if (outcome == DONE) return 0;
    if (outcome == FAILED && !PyErr_Occurred()) /* only now: Python code may not meet marks */
        rg_fail("GraphMemoryError", "of", "n",
                (Py_ssize_t)(graph->order.capacity * 2 * sizeof(Value *)));
    if (outcome == CYCLE) rg_fail("CycleError", "of", "(O)", graph->culprit);
    graph_free(graph);
    return -1;
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
static void run_plain(Graph *graph, Value **roots, const double *seeds, Py_ssize_t count,
                      double *old) {
    Nodes *order = &graph->order, *leaves = &graph->leaves;
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
            for (Py_ssize_t j = 0; j < v->count; j++)
                if (v->entries[j].input)
                    accumulate(v->entries[j].input, v->entries[j].partial * upstream);
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

/* Under anomaly(): what a closure has added must be finite. */
static int check_closure(Value *v) {
    for (Py_ssize_t i = 0; i < v->count; i++) {
        Value *input = v->entries[i].input;
        if (!(input->flags & RG_REQUIRES_GRAD) || isfinite(input->grad)) continue;
        rg_fail("AnomalyError", "closure", "Ond", v, i, input->grad);
        return -1;
    }
    return 0;
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
        failed = run_hooks(v, anomaly) < 0;
        if (failed || rg_is_leaf(v)) continue;
        if (v->op == RG_CLOSURE)
            failed = call_closure(v) < 0 || (anomaly && check_closure(v) < 0);
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
    Graph graph = {.oldest = ANY_AGE};
    if (order_graph(&graph, roots, count) < 0) return -1;
    if (graph.traced && rg_recording()) {
        unmark(&graph);
        graph_free(&graph);
        rg_fail("RecordingError", "backward", "(O)", roots[0]);
        return -1;
    }
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

/* The seeds as numbers, one a root. */
static double *seeds_of(PyObject *seeds, Py_ssize_t roots) {
    if (PyTuple_GET_SIZE(seeds) != roots) {
        rg_fail("ShapeError", "seeds", "nn", roots, PyTuple_GET_SIZE(seeds));
        return NULL;
    }
    double *numbers = rg_buffer_resize(NULL, (size_t)(roots + 1) * sizeof(double));
    for (Py_ssize_t i = 0; numbers && i < roots; i++)
        if (rg_number_or_fail(PyTuple_GET_ITEM(seeds, i), "a seed", &numbers[i]) < 0) {
            rg_buffer_free(numbers);
            return NULL;
        }
    return numbers;
}

/* backward(roots, seeds): two tuples of one length. */
static PyObject *backward(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *roots, *seeds, *done = NULL;
    if (!PyArg_ParseTuple(args, "O!O!:backward", &PyTuple_Type, &roots, &PyTuple_Type, &seeds))
        return NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(roots);
    double *numbers = seeds_of(seeds, count);
    Value **values = numbers ? values_of(roots, "backward") : NULL;
    if (values && (count == 0 || rg_backward(values, numbers, count) == 0))
        done = Py_NewRef(Py_None);
    rg_buffer_free(numbers);
    rg_buffer_free(values);
    return done;
}

static PyObject *as_list(const Nodes *nodes) {
    PyObject *list = PyList_New((Py_ssize_t)nodes->count);
    for (size_t i = 0; list && i < nodes->count; i++)
        PyList_SET_ITEM(list, (Py_ssize_t)i, Py_NewRef((PyObject *)nodes->items[i]));
    return list;
}

static PyObject *list_graph(PyObject *roots, Graph *graph) {
    Value **values = values_of(roots, "order");
    if (values == NULL) return NULL;
    int failed = order_graph(graph, values, PyTuple_GET_SIZE(roots));
    rg_buffer_free(values);
    if (failed) return NULL;
    unmark(graph);
    PyObject *list = as_list(&graph->order);
    graph_free(graph);
    return list;
}

/* order(roots) -> list: everything under the roots, leaves included, inputs before uses. */
static PyObject *order(PyObject *Py_UNUSED(module), PyObject *roots) {
    if (!PyTuple_Check(roots)) {
        PyErr_SetString(PyExc_TypeError, "order takes a tuple of values");
        return NULL;
    }
    Graph graph = {.oldest = ANY_AGE, .leaves_in_order = 1};
    return list_graph(roots, &graph);
}

/* order_since(roots, epoch) -> list: the inner nodes made since an epoch, inputs before uses. */
static PyObject *order_since(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *roots;
    unsigned long long since;
    if (!PyArg_ParseTuple(args, "O!K:order_since", &PyTuple_Type, &roots, &since)) return NULL;
    Graph graph = {.oldest = age_limit(since), .no_hooks = 1};
    return list_graph(roots, &graph);
}

static PyObject *begin_epoch(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    return PyLong_FromUnsignedLongLong(++rg_epoch);
}

/* leaf_origin(leaf, epoch) -> where a leaf met in a recording comes from: "captured" from outside,
 * "constant" made inside since the epoch, or "argument" of another recording. Leaves made while
 * recording are marked: an age alone could be mistaken after 2^16 epochs. */
static PyObject *leaf_origin(PyObject *Py_UNUSED(module), PyObject *args) {
    Value *leaf;
    unsigned long long since;
    if (!PyArg_ParseTuple(args, "O!K:leaf_origin", RgValue_Type, &leaf, &since)) return NULL;
    Graph graph = {.oldest = age_limit(since)};
    if (leaf->flags & RG_TRACED) return PyUnicode_FromString("argument");
    int inside = (leaf->flags & RG_COLLECTED) && !is_old(&graph, leaf);
    return PyUnicode_FromString(inside ? "constant" : "captured");
}

/* Whether every leaf that takes gradients is among the inputs. */
static int is_closed(const Graph *graph, Value **inputs, Py_ssize_t count) {
    Py_ssize_t taking = 0, given = 0;
    if (graph->traced && rg_recording()) return 0; /* numbers would be those of one row */
    for (size_t i = 0; i < graph->leaves.count; i++)
        taking += (graph->leaves.items[i]->flags & RG_REQUIRES_GRAD) != 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        Value *v = inputs[i];
        if ((v->flags & MARKS) != RG_VISITED || !rg_is_leaf(v)) continue;
        v->flags |= RG_OPEN; /* so that an input given twice counts once */
        given += (v->flags & RG_REQUIRES_GRAD) != 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) inputs[i]->flags &= (uint8_t)~RG_OPEN;
    return taking == given;
}

/* is_closed(roots, inputs, epoch): whether the roots depend on nothing but the inputs. */
static PyObject *closed(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *roots, *inputs, *result = NULL;
    unsigned long long since;
    if (!PyArg_ParseTuple(args, "O!O!K:is_closed", &PyTuple_Type, &roots, &PyTuple_Type, &inputs,
                          &since))
        return NULL;
    Value **root_values = values_of(roots, "is_closed");
    Value **input_values = root_values ? values_of(inputs, "is_closed") : NULL;
    Graph graph = {.oldest = age_limit(since), .no_hooks = 1};
    if (input_values && order_graph(&graph, root_values, PyTuple_GET_SIZE(roots)) == 0) {
        result = PyBool_FromLong(is_closed(&graph, input_values, PyTuple_GET_SIZE(inputs)));
        unmark(&graph);
        graph_free(&graph);
    }
    rg_buffer_free(input_values);
    rg_buffer_free(root_values);
    return result;
}

static PyObject *collect(Value **inputs, const char *reached, Py_ssize_t count) {
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; list && i < count; i++) {
        PyObject *item = reached[i] ? PyFloat_FromDouble(inputs[i]->grad) : Py_NewRef(Py_None);
        if (item == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, i, item);
    }
    return list;
}

/* The gradients of the roots as numbers, with every `.grad` as it was afterwards. */
static PyObject *pull(Graph *graph, Value **roots, const double *seeds, Py_ssize_t root_count,
                      Value **inputs, Py_ssize_t count) {
    Nodes *order = &graph->order, *leaves = &graph->leaves;
    size_t total = order->count + leaves->count;
    char *reached = rg_buffer_resize(NULL, (size_t)count + 1);
    double *old = reached ? rg_buffer_resize(NULL, (total + 1) * sizeof(double)) : NULL;
    PyObject *result = NULL;
    if (old != NULL) {
        int failed = 0;
        for (Py_ssize_t i = 0; i < count; i++) reached[i] = (inputs[i]->flags & RG_VISITED) != 0;
        unmark(graph);
        for (size_t i = 0; i < total; i++) {
            Value *v = i < order->count ? order->items[i] : leaves->items[i - order->count];
            Py_INCREF((PyObject *)v);
            old[i] = v->grad;
            v->grad = 0.0;
        }
        for (Py_ssize_t r = 0; r < root_count; r++) roots[r]->grad += seeds[r];
        for (size_t i = order->count; i-- > 0 && !failed;) {
            if (order->items[i]->op == RG_CLOSURE)
                failed = call_closure(order->items[i]) < 0;
            else
                contribute(order->items[i]);
        }
        if (!failed) result = collect(inputs, reached, count);
        for (size_t i = 0; i < total; i++) {
            Value *v = i < order->count ? order->items[i] : leaves->items[i - order->count];
            v->grad = old[i];
            Py_DECREF((PyObject *)v);
        }
    } else {
        unmark(graph);
    }
    rg_buffer_free(old);
    rg_buffer_free(reached);
    return result;
}

/* gradients(roots, seeds, inputs, epoch) -> list of float, None where an input was not reached; or
 * None where the result depends on values made before the epoch, so that numbers would not do. */
static PyObject *gradients(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *roots, *seeds, *inputs, *result = NULL;
    unsigned long long since;
    if (!PyArg_ParseTuple(args, "O!O!O!K:gradients", &PyTuple_Type, &roots, &PyTuple_Type, &seeds,
                          &PyTuple_Type, &inputs, &since))
        return NULL;
    Py_ssize_t root_count = PyTuple_GET_SIZE(roots), count = PyTuple_GET_SIZE(inputs);
    double *numbers = seeds_of(seeds, root_count);
    Value **root_values = numbers ? values_of(roots, "gradients") : NULL;
    Value **input_values = root_values ? values_of(inputs, "gradients") : NULL;
    Graph graph = {.oldest = age_limit(since), .no_hooks = 1};
    if (input_values && order_graph(&graph, root_values, root_count) == 0) {
        if (is_closed(&graph, input_values, count)) {
            result = pull(&graph, root_values, numbers, root_count, input_values, count);
        } else {
            unmark(&graph);
            result = Py_NewRef(Py_None);
        }
        graph_free(&graph);
    }
    rg_buffer_free(input_values);
    rg_buffer_free(root_values);
    rg_buffer_free(numbers);
    return result;
}

/* zero_under(roots): set the gradient of everything under the roots to zero. */
static PyObject *zero_under(PyObject *Py_UNUSED(module), PyObject *roots) {
    if (!PyTuple_Check(roots)) {
        PyErr_SetString(PyExc_TypeError, "zero_under takes a tuple of values");
        return NULL;
    }
    Value **values = values_of(roots, "zero_grad");
    if (values == NULL) return NULL;
    Graph graph = {.oldest = ANY_AGE, .leaves_in_order = 1};
    int failed = order_graph(&graph, values, PyTuple_GET_SIZE(roots));
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
    {"order_since", order_since, METH_VARARGS, "The inner nodes made since an epoch, in order."},
    {"begin_epoch", begin_epoch, METH_NOARGS, "Start a new epoch and return its number."},
    {"leaf_origin", leaf_origin, METH_VARARGS, "Where a leaf met in a recording comes from."},
    {"is_closed", closed, METH_VARARGS, "Whether values depend on nothing but the inputs."},
    {"gradients", gradients, METH_VARARGS, "Gradients as numbers, touching no .grad."},
    {"zero_under", zero_under, METH_O, "Zero the gradient of everything under the roots."},
    {NULL, NULL, 0, NULL},
};
