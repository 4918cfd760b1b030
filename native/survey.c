/* A survey of a graph for the doctor: one backward pass on numbers kept aside, and what can be said
 * of its nodes on the way. Every gradient is as it was afterwards.
 *
 * While no Python code can run, `instruction` is lent to the survey: first for the numbers of the
 * parameters, then for depths, and for a closer look for a node's place in the order. What was there
 * is kept beside. src/retrograde/passes/survey.py does the same for any pass. */

#include "tensor.h"

/* What an op is to the doctor, in the table given by Python: a kind, and two flags. */
enum { FACTOR, GATE, SATURATE, SOFT, CHOOSE, FLAT, KINDS = 7, CARRIES = 8, COUNTS = 16 };

/* Why a gradient is zero; diagnose/zeros.py has the same. */
enum { BY_GATE = 1, BY_FLAT = 2, BY_SATURATION = 4, BY_FACTOR = 8, BY_UNDERFLOW = 16, ALIVE = 32 };

#define LEVELS 256 /* the most levels a profile has */
#define MOST_CLOSURES 4096
#define NEARBY 256  /* how many values are looked at for the parameter of a unit */
#define FADES 0.875 /* rows weigh differently in a unit's adjoint, so that they do not cancel */
#define AHEAD 8     /* how many nodes ahead of the walk memory is asked for */

typedef struct {
    Value *first;
    Py_ssize_t rows, closed;
    double data, adjoint; /* of all rows: units that share both are the same unit */
} Unit;

/* A value that is a unit in one row, and the parameter that owns it. */
typedef struct {
    const Value *value;
    Py_ssize_t owner;
} Row;

typedef struct {
    RgGraph graph;
    Value **roots, **parameters;
    double *seeds;
    Py_ssize_t root_count, parameter_count;
    const uint8_t *kinds;
    const double *limits; /* by op: a partial at most this large counts as closed */
    double *old;          /* by place: the gradient and the instruction that were there */
    uint32_t *instructions;
    Unit *units;
    Row *rows; /* in the order of the graph, for the way back */
    size_t row_count, row_room;
    uint8_t *reached; /* by parameter: whether it is under a root, and its place there */
    int32_t *places;
    uint8_t *reasons;
    int32_t *uses;   /* by node: how many uses brought it nothing */
    int32_t *blamed; /* three a node: a shut gate, a zero factor, a slope of 0 */
    size_t nodes, edges, odd_data, odd_adjoints;
    double level[LEVELS];
    int64_t level_nodes[LEVELS];
    int deepest, shift;
    int computed; /* whether a parameter is no leaf */
    int failed;   /* memory ran out on the way */
} Survey;

static inline Value *node_at(const Survey *s, size_t i) {
    return i < s->graph.order.count ? s->graph.order.items[i]
                                    : s->graph.leaves.items[i - s->graph.order.count];
}

#define FOR_EACH_INPUT(V, INPUT, PARTIAL, BODY)                                                    \
    if (RG_LIKELY(!((V)->flags & RG_WIDE))) {                                                      \
        for (int k_ = 0; k_ < 2; k_++) {                                                           \
            Value *INPUT = (V)->in[k_];                                                            \
            double PARTIAL = (V)->partial[k_];                                                     \
            (void)PARTIAL;                                                                         \
            if (INPUT) BODY                                                                        \
        }                                                                                          \
    } else {                                                                                       \
        for (Py_ssize_t k_ = 0; k_ < (V)->count; k_++) {                                           \
            Value *INPUT = (V)->entries[k_].input;                                                 \
            double PARTIAL = (V)->entries[k_].partial;                                             \
            (void)PARTIAL;                                                                         \
            if (INPUT) BODY                                                                        \
        }                                                                                          \
    }

/* Closures run Python code, so they come before anything else is touched. Gradients of the whole
 * graph are in place afterwards, those from before in `old`. */
static int pull_through_closures(Survey *s, double *old) {
    RgLoan loan;
    if (rg_loan_pull(&loan, &s->graph, s->roots, s->seeds, s->root_count) < 0) return -1;
    memcpy(old, loan.old, s->nodes * sizeof(double));
    rg_loan_end(&loan);
    return 0;
}

/* Whether a unit lets nothing through: its op is a gate, or a choice between it and a number. */
static inline int is_unit(const Value *v, int kind) {
    if (kind == GATE || kind == SATURATE || kind == SOFT) return 1;
    if (kind != CHOOSE) return 0;
    int values = 0;
    FOR_EACH_INPUT(v, input, partial, { values++; })
    return values == 1;
}

/* The parameter nearest below a unit by sums and products, level by level; of several at one level
 * the first. `instruction` is one more than a parameter's number, and 0 elsewhere. */
static Py_ssize_t owner_of(const Survey *s, Value *below) {
    Value *nearby[NEARBY];
    size_t first = 0, last = 0;
    if (below->instruction) return (Py_ssize_t)below->instruction - 1;
    if (s->kinds[below->op] & CARRIES) nearby[last++] = below;
    while (first < last) {
        size_t end = last;
        uint32_t best = 0;
        int more = 0;
        for (; first < end; first++) {
            Value *v = nearby[first];
            FOR_EACH_INPUT(v, input, partial, {
                if (input->instruction) {
                    if (!best || input->instruction < best) best = input->instruction;
                } else if (s->kinds[input->op] & CARRIES) {
                    if (last < NEARBY)
                        nearby[last++] = input;
                    else
                        more = 1;
                }
            })
        }
        if (best) return (Py_ssize_t)best - 1;
        if (more) return -1;
    }
    return -1;
}

/* Remember whose unit a value is; -1 where memory runs out, which is said later: no Python code may
 * run while nodes are lent. */
static int remember_row(Survey *s, const Value *v, Py_ssize_t owner) {
    if (s->row_count == s->row_room) {
        size_t room = s->row_room ? 2 * s->row_room : 256;
        Row *rows = rg_buffer_try(s->rows, room * sizeof(Row));
        if (rows == NULL) return -1;
        s->rows = rows;
        s->row_room = room;
    }
    s->rows[s->row_count++] = (Row){v, owner};
    return 0;
}

static void count_unit(Survey *s, Value *v) {
    double largest = 0.0;
    Value *gated = NULL;
    FOR_EACH_INPUT(v, input, partial, {
        if (gated == NULL) {
            gated = input;
            largest = fabs(partial);
        }
    })
    Py_ssize_t owner = gated ? owner_of(s, gated) : -1;
    if (owner < 0) return;
    Unit *unit = &s->units[owner];
    if (remember_row(s, v, owner) < 0) {
        s->failed = 1;
        return;
    }
    if (unit->first == NULL) unit->first = v;
    unit->rows++;
    unit->data += v->data;
    unit->closed += largest <= s->limits[v->op];
}

/* Put what a node holds aside. */
static inline void enter(Survey *s, Value *v, size_t i, int pulled) {
    s->instructions[i] = v->instruction;
    v->instruction = 0;
    v->flags &= (uint8_t)~RG_VISITED;
    if (!pulled) {
        s->old[i] = v->grad;
        v->grad = 0.0;
    }
    if (RG_UNLIKELY(!isfinite(v->data))) s->odd_data++;
}

/* Leaves first, then inputs before uses: which units are shut, and whether every number is finite.
 * A parameter that was computed carries RG_OPEN until its turn comes, and its number in `places`. */
static void look_forward(Survey *s, int pulled) {
    size_t inner = s->graph.order.count;
    for (size_t i = inner; i < s->nodes; i++) enter(s, node_at(s, i), i, pulled);
    for (Py_ssize_t k = s->parameter_count; k-- > 0;) {
        Value *v = s->parameters[k];
        if (!s->reached[k]) continue;
        if (rg_is_leaf(v)) {
            v->instruction = (uint32_t)k + 1;
        } else {
            s->places[k] = (int32_t)v->instruction;
            v->instruction = (uint32_t)k;
            v->flags |= RG_OPEN;
            s->computed = 1;
        }
    }
    for (size_t i = 0; i < inner; i++) {
        Value *v = s->graph.order.items[i];
        if (i + AHEAD < inner) RG_PREFETCH_TO_WRITE(s->graph.order.items[i + AHEAD]);
        enter(s, v, i, pulled);
        if (RG_UNLIKELY(is_unit(v, s->kinds[v->op] & KINDS))) count_unit(s, v);
        if (RG_UNLIKELY(v->flags & RG_OPEN)) {
            uint32_t k = s->instructions[i];
            v->flags &= (uint8_t)~RG_OPEN;
            v->instruction = k + 1;
            s->instructions[i] = (uint32_t)s->places[k];
        }
    }
    for (Py_ssize_t k = 0; k < s->parameter_count; k++)
        if (s->reached[k]) s->parameters[k]->instruction = 0;
}

/* Gradients by depth. Past LEVELS levels, two become one. */
static inline void enter_level(Survey *s, int depth, double size) {
    while (RG_UNLIKELY(depth >> s->shift >= LEVELS)) {
        for (int level = 0; level < LEVELS; level++) {
            int first = 2 * level, in_range = first < LEVELS;
            s->level[level] = in_range ? s->level[first] + s->level[first + 1] : 0.0;
            s->level_nodes[level] =
                in_range ? s->level_nodes[first] + s->level_nodes[first + 1] : 0;
        }
        s->shift++;
    }
    s->level[depth >> s->shift] += size;
    s->level_nodes[depth >> s->shift]++;
}

/* Put a node back as it was. */
static inline void leave(Survey *s, Value *v, size_t i) {
    if (RG_UNLIKELY(!isfinite(v->grad))) s->odd_adjoints++;
    v->grad = s->old[i];
    v->instruction = s->instructions[i];
}

/* One use of a value: its depth, and its contribution unless closures have brought that already. */
static inline void reach(Value *input, double partial, double upstream, uint32_t depth,
                         int pulled) {
    if (depth > input->instruction) input->instruction = depth;
    if (!pulled) input->grad += partial * upstream;
}

/* Uses first: gradients, depths, and the profile. Inner nodes are put back as soon as they are done
 * with, unless they are to be kept. */
static RG_ALWAYS_INLINE void look_backward(Survey *s, int pulled, int keep) {
    size_t edges = 0, row = s->row_count;
    uint32_t deepest = 0;
    for (Py_ssize_t r = 0; r < s->root_count && !pulled; r++) s->roots[r]->grad += s->seeds[r];
    for (size_t i = s->graph.order.count; i-- > 0;) {
        Value *v = s->graph.order.items[i];
        double upstream = v->grad;
        if (row > 0 && s->rows[row - 1].value == v) {
            Unit *unit = &s->units[s->rows[--row].owner];
            unit->adjoint = FADES * unit->adjoint + upstream;
        }
        uint32_t counts = (s->kinds[v->op] & COUNTS) != 0, depth = v->instruction + counts;
        if (i >= AHEAD) RG_PREFETCH_TO_WRITE(s->graph.order.items[i - AHEAD]);
        if (RG_LIKELY(!(v->flags & RG_WIDE))) {
            if (v->in[0]) reach(v->in[0], v->partial[0], upstream, depth, pulled);
            if (v->in[1]) reach(v->in[1], v->partial[1], upstream, depth, pulled);
            edges += (v->in[0] != NULL) + (v->in[1] != NULL);
        } else {
            FOR_EACH_INPUT(v, input, partial, {
                reach(input, partial, upstream, depth, pulled);
                edges++;
            })
        }
        if (counts) enter_level(s, (int)depth - 1, fabs(upstream));
        if (RG_UNLIKELY(depth > deepest)) deepest = depth;
        if (!keep) leave(s, v, i);
    }
    s->edges = edges;
    s->deepest = (int)deepest;
}

/* The gradients once more, for a closer look: they were put back already. */
static void pull_again(Survey *s) {
    for (size_t i = 0; i < s->nodes; i++) {
        node_at(s, i)->grad = 0.0;
    }
    for (Py_ssize_t r = 0; r < s->root_count; r++) s->roots[r]->grad += s->seeds[r];
    for (size_t i = s->graph.order.count; i-- > 0;) {
        const Value *v = s->graph.order.items[i];
        double upstream = v->grad;
        FOR_EACH_INPUT(v, input, partial, { input->grad += partial * upstream; })
    }
}

static uint8_t reason_of(int kind) {
    switch (kind & KINDS) {
        case GATE:
        case CHOOSE: return BY_GATE;
        case FLAT: return BY_FLAT;
        case SATURATE:
        case SOFT: return BY_SATURATION;
        default: return BY_FACTOR;
    }
}

/* Where gradients are zero: what kept them from being anything else. */
static void look_for_reasons(Survey *s) {
    for (size_t i = s->graph.order.count; i-- > 0;) {
        const Value *v = s->graph.order.items[i];
        double upstream = v->grad;
        FOR_EACH_INPUT(v, input, partial, {
            size_t j = input->instruction;
            if (input->grad != 0.0) continue;
            s->uses[j]++;
            if (upstream == 0.0) {
                s->reasons[j] |= s->reasons[i];
                for (int which = 0; which < 3; which++)
                    if (s->blamed[3 * j + which] < 0)
                        s->blamed[3 * j + which] = s->blamed[3 * i + which];
            } else if (partial == 0.0) {
                uint8_t reason = reason_of(s->kinds[v->op]);
                int which = reason == BY_GATE ? 0 : reason == BY_FACTOR ? 1 : 2;
                s->reasons[j] |= reason;
                if (s->blamed[3 * j + which] < 0) s->blamed[3 * j + which] = (int32_t)i;
            } else {
                s->reasons[j] |= partial * upstream == 0.0 ? BY_UNDERFLOW : ALIVE;
            }
        })
    }
}

static PyObject *unit_list(const Survey *s) {
    PyObject *list = PyList_New(0);
    for (Py_ssize_t k = 0; list && k < s->parameter_count; k++) {
        const Unit *unit = &s->units[k];
        if (unit->rows == 0) continue;
        PyObject *entry = Py_BuildValue("(nnnOdd)", k, unit->rows, unit->closed, unit->first,
                                        unit->data, unit->adjoint);
        if (entry == NULL || PyList_Append(list, entry) < 0) Py_CLEAR(list);
        Py_XDECREF(entry);
    }
    return list;
}

/* RgNodes whose rule is a Python callable, so that it can be tried; some, where there are many. */
static PyObject *closure_list(const Survey *s) {
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && s->graph.callbacks && i < s->graph.order.count; i++) {
        Value *v = s->graph.order.items[i];
        if (v->op != RG_CLOSURE) continue;
        if (PyList_Append(list, (PyObject *)v) < 0) Py_CLEAR(list);
        if (list && PyList_GET_SIZE(list) == MOST_CLOSURES) break;
    }
    return list;
}

/* One entry a reached parameter whose gradient is zero. */
static PyObject *zero_list(const Survey *s, const double *gradients) {
    PyObject *list = PyList_New(0);
    for (Py_ssize_t k = 0; list && s->reasons && k < s->parameter_count; k++) {
        if (!s->reached[k] || gradients[k] != 0.0) continue;
        size_t j = (size_t)s->places[k];
        PyObject *blamed[3] = {Py_None, Py_None, Py_None};
        for (int which = 0; which < 3; which++)
            if (s->blamed[3 * j + which] >= 0)
                blamed[which] = (PyObject *)node_at(s, (size_t)s->blamed[3 * j + which]);
        PyObject *entry = Py_BuildValue("(niiOOO)", k, (int)s->reasons[j], (int)s->uses[j],
                                        blamed[0], blamed[1], blamed[2]);
        if (entry == NULL || PyList_Append(list, entry) < 0) Py_CLEAR(list);
        Py_XDECREF(entry);
    }
    return list;
}

/* Lists of plain numbers leave as bytes. */
static PyObject *packed(const void *items, size_t bytes) {
    return PyBytes_FromStringAndSize(items, (Py_ssize_t)bytes);
}

static PyObject *finished(const Survey *s, const double *gradients, const int32_t *depths) {
    size_t n = (size_t)s->parameter_count;
    size_t levels = (size_t)((s->deepest > 0 ? s->deepest - 1 : 0) >> s->shift) + 1;
    PyObject *units = unit_list(s);
    PyObject *zeros = units ? zero_list(s, gradients) : NULL;
    PyObject *closures = zeros ? closure_list(s) : NULL;
    if (closures == NULL) {
        Py_XDECREF(zeros);
        Py_XDECREF(units);
        return NULL;
    }
    return Py_BuildValue("{s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:i,s:n,s:n,s:n,s:n}", "closures",
                         closures, "gradients", packed(gradients, n * sizeof(double)), "reached",
                         packed(s->reached, n), "depths", packed(depths, n * sizeof(int32_t)),
                         "units", units, "zeros", zeros, "level",
                         packed(s->level, levels * sizeof(double)), "level_nodes",
                         packed(s->level_nodes, levels * sizeof(int64_t)), "step", 1 << s->shift,
                         "nodes", (Py_ssize_t)s->nodes, "edges", (Py_ssize_t)s->edges, "odd_data",
                         (Py_ssize_t)s->odd_data, "odd_adjoints", (Py_ssize_t)s->odd_adjoints);
}

static int has_zero(const Survey *s, const double *gradients) {
    for (Py_ssize_t k = 0; k < s->parameter_count; k++)
        if (s->reached[k] && gradients[k] == 0.0) return 1;
    return 0;
}

static int find_reasons(Survey *s) {
    s->reasons = rg_buffer_resize(NULL, s->nodes);
    s->blamed = s->reasons ? rg_buffer_resize(NULL, s->nodes * 3 * sizeof(int32_t)) : NULL;
    s->uses = s->blamed ? rg_buffer_resize(NULL, s->nodes * sizeof(int32_t)) : NULL;
    if (s->uses == NULL) return -1;
    memset(s->uses, 0, s->nodes * sizeof(int32_t));
    memset(s->reasons, 0, s->nodes);
    memset(s->blamed, 0xff, s->nodes * 3 * sizeof(int32_t));
    look_for_reasons(s);
    return 0;
}

static PyObject *look(Survey *s, double *gradients, int32_t *depths, int pulled) {
    look_forward(s, pulled);
    int keep = pulled || s->computed, failed = s->failed;
    if (pulled)
        look_backward(s, 1, 1);
    else if (keep)
        look_backward(s, 0, 1);
    else
        look_backward(s, 0, 0); /* the common case, compiled on its own */
    for (Py_ssize_t k = 0; k < s->parameter_count; k++) {
        gradients[k] = s->reached[k] ? s->parameters[k]->grad : 0.0;
        depths[k] = s->reached[k] ? (int32_t)s->parameters[k]->instruction : -1;
    }
    if (has_zero(s, gradients)) {
        if (!keep) pull_again(s);
        keep = 1;
        s->odd_adjoints = 0; /* they are counted again when the nodes are put back */
        for (size_t i = 0; i < s->nodes; i++) node_at(s, i)->instruction = (uint32_t)i;
        for (Py_ssize_t k = 0; k < s->parameter_count; k++)
            if (s->reached[k]) s->places[k] = (int32_t)s->parameters[k]->instruction;
        failed = find_reasons(s) < 0 || failed;
    }
    for (size_t i = keep ? 0 : s->graph.order.count; i < s->nodes; i++) leave(s, node_at(s, i), i);
    if (s->failed)
        rg_fail("GraphMemoryError", "of", "n", 2 * (Py_ssize_t)(s->row_room * sizeof(Row)));
    return failed ? NULL : finished(s, gradients, depths);
}

/* Get the memory, then look. The graph comes ordered and marked. */
static PyObject *look_with_memory(Survey *s) {
    size_t n = (size_t)s->parameter_count + 1;
    s->nodes = s->graph.order.count + s->graph.leaves.count;
    double *gradients = rg_buffer_resize(NULL, n * sizeof(double));
    int32_t *depths = gradients ? rg_buffer_resize(NULL, n * sizeof(int32_t)) : NULL;
    s->places = depths ? rg_buffer_resize(NULL, n * sizeof(int32_t)) : NULL;
    s->reached = s->places ? rg_buffer_resize(NULL, n) : NULL;
    s->units = s->reached ? rg_buffer_resize(NULL, n * sizeof(Unit)) : NULL;
    s->old = s->units ? rg_buffer_resize(NULL, (s->nodes + 1) * sizeof(double)) : NULL;
    s->instructions = s->old ? rg_buffer_resize(NULL, (s->nodes + 1) * sizeof(uint32_t)) : NULL;
    for (size_t k = 0; s->reached && k + 1 < n; k++)
        s->reached[k] = (s->parameters[k]->flags & RG_VISITED) != 0;
    int pulled = s->graph.callbacks;
    if (pulled || s->instructions == NULL) rg_unmark(&s->graph); /* else on entering */
    PyObject *result = NULL;
    if (s->instructions) {
        memset(s->units, 0, n * sizeof(Unit));
        if (pulled) rg_hold(&s->graph);
        if (!pulled || pull_through_closures(s, s->old) == 0)
            result = look(s, gradients, depths, pulled);
        if (pulled) rg_let_go(&s->graph);
    }
    rg_buffer_free(s->uses);
    rg_buffer_free(s->blamed);
    rg_buffer_free(s->reasons);
    rg_buffer_free(s->instructions);
    rg_buffer_free(s->old);
    rg_buffer_free(s->rows);
    rg_buffer_free(s->units);
    rg_buffer_free(s->reached);
    rg_buffer_free(s->places);
    rg_buffer_free(depths);
    rg_buffer_free(gradients);
    return result;
}

/* survey(roots, seeds, parameters, kinds, limits) -> dict; see passes/survey.py for what is in it. */
PyObject *rg_survey(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *roots, *seeds, *parameters, *result = NULL;
    Py_buffer kinds, limits;
    if (!PyArg_ParseTuple(args, "O!O!O!y*y*:survey", &PyTuple_Type, &roots, &PyTuple_Type, &seeds,
                          &PyTuple_Type, &parameters, &kinds, &limits))
        return NULL;
    Survey survey = {.graph = {.oldest = RG_ANY_AGE, .no_hooks = 1}};
    Survey *s = &survey;
    if (kinds.len < 256 || limits.len < 256 * (Py_ssize_t)sizeof(double)) {
        PyErr_SetString(PyExc_ValueError, "survey takes tables of 256 entries");
        goto done;
    }
    s->kinds = kinds.buf;
    s->limits = limits.buf;
    s->root_count = PyTuple_GET_SIZE(roots);
    s->parameter_count = PyTuple_GET_SIZE(parameters);
    s->roots = rg_values_of(roots, "doctor");
    RgTotal *totals = s->roots ? rg_totals_of(seeds, s->roots, s->root_count) : NULL;
    s->seeds = totals ? &totals->number : NULL;
    s->parameters = totals ? rg_values_of(parameters, "doctor: parameters") : NULL;
    Value *hidden = s->parameters ? rg_hidden_root(s->roots, s->root_count) : NULL;
    if (hidden) {
        rg_fail("RecordingError", "backward", "(O)", hidden);
    } else if (s->parameters && rg_order(&s->graph, s->roots, s->root_count) == 0) {
        for (Py_ssize_t r = 0; r < s->root_count; r++) s->graph.tensors |= rg_is_node(s->roots[r]);
        if (s->graph.tensors) {
            rg_unmark(&s->graph);
            rg_fail("TensorError", "surveyed", "()");
        } else if (s->graph.order.count + s->graph.leaves.count > INT_MAX) {
            rg_unmark(&s->graph);
            PyErr_SetString(PyExc_OverflowError, "a survey takes at most 2**31 values");
        } else {
            result = look_with_memory(s);
        }
        rg_graph_free(&s->graph);
    }
    rg_buffer_free(s->parameters);
    rg_totals_free(totals, s->roots, s->root_count);
    rg_buffer_free(s->roots);
done:
    PyBuffer_Release(&kinds);
    PyBuffer_Release(&limits);
    return result;
}

/* leaves_under(roots) -> the leaves that take gradients, in the order met. */
PyObject *rg_leaves_under(PyObject *Py_UNUSED(module), PyObject *roots) {
    if (!PyTuple_Check(roots)) {
        PyErr_SetString(PyExc_TypeError, "leaves_under takes a tuple of values");
        return NULL;
    }
    Value **values = rg_values_of(roots, "leaves_under");
    if (values == NULL) return NULL;
    RgGraph graph = {.oldest = RG_ANY_AGE, .no_hooks = 1};
    int failed = rg_order(&graph, values, PyTuple_GET_SIZE(roots));
    rg_buffer_free(values);
    if (failed) return NULL;
    rg_unmark(&graph);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < graph.leaves.count; i++) {
        Value *leaf = graph.leaves.items[i];
        if (!(leaf->flags & RG_REQUIRES_GRAD)) continue;
        PyObject *face = rg_face(leaf);
        if (face == NULL || PyList_Append(list, face) < 0) Py_CLEAR(list);
        Py_XDECREF(face);
    }
    rg_graph_free(&graph);
    return list;
}
