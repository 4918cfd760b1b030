/* A graph as flat arrays, read in one walk, and the backward pass over such arrays.
 *
 * `src/retrograde/passes` makes a Pass of them; the reference core offers the same two functions in
 * src/retrograde/_core/reading.py. Arrays are bytes objects of 8-byte numbers unless said otherwise. */
#include "tensor.h"

enum { TAKES = 1, HOOKED = 2, RULED = 4, ARRAY = 8 };

/* Where values were made, each place once: an open-addressing table from (code, offset) to its number. */
typedef struct {
    PyCodeObject *code;
    uint32_t offset;
    int32_t number;
} Site;

typedef struct {
    Site *slots;
    size_t capacity; /* a power of two */
    const Site **found;
    size_t count;
} Sites;

static size_t home(const Sites *sites, const PyCodeObject *code, uint32_t offset) {
    uint64_t key = ((uint64_t)(uintptr_t)code >> 4) * UINT64_C(0x9E3779B97F4A7C15) + offset;
    return (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (sites->capacity - 1);
}

static int widen_sites(Sites *sites) {
    size_t capacity = sites->capacity ? 2 * sites->capacity : 256;
    Site *old = sites->slots, *slots = rg_buffer_try(NULL, capacity * sizeof(Site));
    const Site **found = slots ? rg_buffer_try(sites->found, capacity * sizeof(Site *)) : NULL;
    if (found) sites->found = found;
    if (found == NULL) {
        rg_buffer_free(slots);
        return -1;
    }
    memset(slots, 0, capacity * sizeof(Site));
    sites->slots = slots;
    sites->capacity = capacity;
    for (size_t k = 0; k < sites->count; k++) {
        const Site *site = found[k];
        size_t at = home(sites, site->code, site->offset);
        while (slots[at].code) at = (at + 1) & (capacity - 1);
        slots[at] = *site;
        found[k] = &slots[at];
    }
    rg_buffer_free(old);
    return 0;
}

/* The number of a place; -1 where it is not known, -2 without memory. */
static int32_t place_of(Sites *sites, PyCodeObject *code, uint32_t offset) {
    if (code == NULL) return -1;
    if (2 * sites->count >= sites->capacity && widen_sites(sites) < 0) return -2;
    size_t at = home(sites, code, offset);
    for (; sites->slots[at].code; at = (at + 1) & (sites->capacity - 1))
        if (sites->slots[at].code == code && sites->slots[at].offset == offset)
            return sites->slots[at].number;
    sites->slots[at] = (Site){code, offset, (int32_t)sites->count};
    sites->found[sites->count++] = &sites->slots[at];
    return sites->slots[at].number;
}

enum { OPS, FLAGS, DATA, GRADS, STARTS, INPUTS, NUMBERS, PLACES, ARRAYS };

#define AT(TYPE, WHICH) ((TYPE *)PyBytes_AS_STRING(arrays[WHICH]))

static inline Py_ssize_t width_in(const RgGraph *graph, const Value *v) {
    if (rg_is_leaf(v) || (graph->oldest != RG_ANY_AGE && rg_is_old(graph, v))) return 0;
    return rg_width(v);
}

/* No Python code runs here: a node's place in the order stands in its `instruction` meanwhile. */
static int fill(const RgGraph *graph, PyObject **arrays, uint32_t *instructions, Sites *sites) {
    Value **values = graph->order.items;
    size_t count = graph->order.count, edge = 0, i = 0;
    int32_t place = 0;
    for (; i < count && place != -2; i++) {
        Value *v = values[i];
        instructions[i] = v->instruction;
        v->instruction = (uint32_t)i;
        AT(uint8_t, OPS)[i] = v->op;
        AT(uint8_t, FLAGS)
        [i] = (uint8_t)((v->flags & RG_REQUIRES_GRAD ? TAKES : 0) |
                        (v->flags & RG_HOOKED ? HOOKED : 0) |
                        (v->op == RG_CLOSURE || v->op == RG_ARRAY ? RULED : 0) |
                        (rg_is_node(v) ? ARRAY : 0));
        AT(double, DATA)[i] = rg_is_node(v) ? NAN : v->data;
        AT(double, GRADS)[i] = rg_is_node(v) ? NAN : v->grad;
        AT(int64_t, STARTS)[i] = (int64_t)edge;
        AT(int32_t, PLACES)[i] = place = place_of(sites, v->code, instructions[i]);
        Py_ssize_t width = width_in(graph, v);
        for (Py_ssize_t k = 0; k < width; k++, edge++) {
            RgEntry entry = rg_input_at(v, k);
            AT(int64_t, INPUTS)[edge] = entry.input ? (int64_t)entry.input->instruction : -1;
            AT(double, NUMBERS)
            [edge] =
                v->op == RG_ARRAY && entry.input ? NAN : entry.partial; /* it has no one partial */
        }
    }
    AT(int64_t, STARTS)[count] = (int64_t)edge;
    while (i-- > 0) values[i]->instruction = instructions[i];
    return place == -2 ? -1 : 0;
}

static PyObject *listed(const Sites *sites) {
    PyObject *list = PyList_New((Py_ssize_t)sites->count);
    for (size_t k = 0; list && k < sites->count; k++) {
        PyObject *item = Py_BuildValue("OI", sites->found[k]->code, sites->found[k]->offset);
        if (item == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, (Py_ssize_t)k, item);
    }
    return list;
}

static PyObject *labels_of(PyObject *values) {
    PyObject *labels = PyDict_New();
    for (Py_ssize_t i = 0; labels && i < PyList_GET_SIZE(values); i++) {
        Value *v = rg_any_node(PyList_GET_ITEM(values, i));
        PyObject *label = v->flags & RG_LABELLED ? rg_note_get(v, RG_LABELLED) : NULL;
        if (label == NULL) continue;
        PyObject *index = PyLong_FromSsize_t(i);
        if (index == NULL || PyDict_SetItem(labels, index, label) < 0) Py_CLEAR(labels);
        Py_XDECREF(index);
    }
    return labels;
}

/* The graph comes in order and unmarked, and its nodes are held by `values`. */
static PyObject *read_graph(const RgGraph *graph, PyObject *values) {
    size_t count = graph->order.count, edges = 0;
    for (size_t i = 0; i < count; i++) edges += (size_t)width_in(graph, graph->order.items[i]);
    const size_t sizes[ARRAYS] = {count,           count,     8 * count, 8 * count,
                                  8 * (count + 1), 8 * edges, 8 * edges, 4 * count};
    PyObject *arrays[ARRAYS] = {NULL}, *result = NULL;
    uint32_t *instructions = rg_buffer_resize(NULL, (count + 1) * sizeof(uint32_t));
    int failed = instructions == NULL;
    Sites sites = {NULL, 0, NULL, 0};
    for (int k = 0; k < ARRAYS && !failed; k++)
        failed = !(arrays[k] = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)sizes[k]));
    if (!failed && fill(graph, arrays, instructions, &sites) < 0) {
        rg_fail("GraphMemoryError", "of", "n", (Py_ssize_t)(2 * sites.capacity * sizeof(Site)));
        failed = 1;
    }
    PyObject *made = failed ? NULL : listed(&sites), *labels = made ? labels_of(values) : NULL;
    if (labels)
        result = Py_BuildValue("OOOOOOOOOOO", values, arrays[OPS], arrays[FLAGS], arrays[DATA],
                               arrays[GRADS], arrays[STARTS], arrays[INPUTS], arrays[NUMBERS],
                               arrays[PLACES], made, labels);
    Py_XDECREF(made);
    Py_XDECREF(labels);
    for (int k = 0; k < ARRAYS; k++) Py_XDECREF(arrays[k]);
    rg_buffer_free(sites.slots);
    rg_buffer_free((void *)sites.found);
    rg_buffer_free(instructions);
    return result;
}

/* The nodes of a graph that is marked, as the log of a recording has them: each where it was made,
 * what no op made before its first use, inputs first. Where the log lacks a node (another thread
 * made it) the order stays that of the walk. */
static int order_as_made(RgGraph *graph, PyObject *log) {
    size_t count = graph->order.count, placed = 0;
    Value **items = rg_buffer_resize(NULL, (count + 1) * sizeof(Value *));
    if (items == NULL) return -1;
    int known = 1;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(log) && known; i++) {
        Value *v = (Value *)PyList_GET_ITEM(log, i);
        if (!(v->flags & RG_VISITED)) continue;
        Py_ssize_t width = width_in(graph, v);
        for (Py_ssize_t k = 0; k < width; k++) {
            Value *input = rg_input_at(v, k).input;
            if (input == NULL || !(input->flags & RG_VISITED)) continue;
            if (width_in(graph, input)) known = 0;
            input->flags &= (uint8_t)~RG_MARKS;
            items[placed++] = input;
        }
        v->flags &= (uint8_t)~RG_MARKS;
        items[placed++] = v;
    }
    for (size_t i = 0; i < count && known; i++) {
        Value *v = graph->order.items[i];
        if (v->flags & RG_VISITED) items[placed++] = v;
    }
    if (known) {
        Value **walked = graph->order.items;
        graph->order.items = items;
        items = walked;
    }
    rg_buffer_free(items);
    return 0;
}

/* read(roots, epoch, log=None) -> (values, ops, flags, data, grads, starts, inputs, numbers, places,
 * instructions, labels): everything under the roots made since the epoch, and what it was made from,
 * inputs before uses. The inputs of value i are at starts[i]:starts[i + 1], -1 for a number operand;
 * `numbers` has the partial of each, or the number. Ops and flags are bytes, places (4 bytes) index
 * `instructions`. With the log of a recording they stand in the order in which they were made.
 * Tensors are flagged; their numbers, and the partials of array rows, are NaN here. */
static PyObject *read_pass(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *roots, *log = NULL, *values = NULL, *result = NULL;
    unsigned long long since;
    if (!PyArg_ParseTuple(args, "O!K|O!:read", &PyTuple_Type, &roots, &since, &PyList_Type, &log))
        return NULL;
    Value **root_values = rg_values_of(roots, "order");
    if (root_values == NULL) return NULL;
    RgGraph graph = {
        .oldest = since ? rg_age_limit(since) : RG_ANY_AGE, .leaves_in_order = 1, .no_hooks = 1};
    int failed = rg_order(&graph, root_values, PyTuple_GET_SIZE(roots));
    rg_buffer_free(root_values);
    if (failed) return NULL;
    failed = log != NULL && order_as_made(&graph, log) < 0;
    rg_unmark(&graph);
    if (failed) {
        rg_graph_free(&graph);
        return NULL;
    }
    values = PyList_New((Py_ssize_t)graph.order.count);
    for (size_t i = 0; values && i < graph.order.count; i++) {
        PyObject *face = rg_face(graph.order.items[i]);
        if (face == NULL)
            Py_CLEAR(values);
        else
            PyList_SET_ITEM(values, (Py_ssize_t)i, face);
    }
    if (values) result = read_graph(&graph, values);
    Py_XDECREF(values);
    rg_graph_free(&graph);
    return result;
}

typedef struct {
    const int64_t *starts, *inputs;
    const double *partials;
    const uint8_t *ruled;
    PyObject *rule;
    double *gradients, *amounts, *befores;
    Py_ssize_t count, edges;
} Pull;

static int has_sound_edges(const Pull *p) {
    int sound = p->count >= 0 && p->starts[0] == 0 && p->starts[p->count] == p->edges;
    for (Py_ssize_t i = 0; i < p->count && sound; i++) {
        sound = p->starts[i] <= p->starts[i + 1] && p->starts[i + 1] <= p->edges;
        for (int64_t e = p->starts[i]; sound && e < p->starts[i + 1]; e++)
            sound = -1 <= p->inputs[e] && p->inputs[e] < i;
    }
    return sound;
}

static inline void contribute(const Pull *p, int64_t edge, double amount) {
    double *gradient = &p->gradients[p->inputs[edge]];
    p->amounts[edge] = amount;
    p->befores[edge] = *gradient;
    *gradient += amount;
}

/* What a rule in Python hands on: a number an input, None where it hands on nothing. */
static int ask_rule(const Pull *p, Py_ssize_t i) {
    PyObject *found = PyObject_CallFunction(p->rule, "nd", i, p->gradients[i]);
    PyObject *fast = found ? PySequence_Fast(found, "a rule returns its contributions") : NULL;
    int64_t first = p->starts[i];
    Py_ssize_t width = (Py_ssize_t)(p->starts[i + 1] - first);
    int failed = fast == NULL;
    if (!failed && PySequence_Fast_GET_SIZE(fast) != width) {
        PyErr_SetString(PyExc_ValueError, "a rule returns one contribution an input");
        failed = 1;
    }
    for (Py_ssize_t k = 0; k < width && !failed; k++) {
        PyObject *item = PySequence_Fast_GET_ITEM(fast, k);
        if (item == Py_None || p->inputs[first + k] < 0) continue;
        double amount = PyFloat_AsDouble(item);
        failed = amount == -1.0 && PyErr_Occurred();
        if (!failed) contribute(p, first + k, amount);
    }
    Py_XDECREF(fast);
    Py_XDECREF(found);
    return failed ? -1 : 0;
}

static int pull_all(const Pull *p) {
    for (Py_ssize_t i = p->count; i-- > 0;) {
        if (p->ruled[i]) {
            if (ask_rule(p, i) < 0) return -1;
            continue;
        }
        double upstream = p->gradients[i];
        for (int64_t e = p->starts[i]; e < p->starts[i + 1]; e++)
            if (p->inputs[e] >= 0) contribute(p, e, p->partials[e] * upstream);
    }
    return 0;
}

/* pull(starts, inputs, partials, ruled, rule, gradients, amounts, befores): the backward pass over
 * flat arrays. `gradients` comes with the seeds; `amounts` and `befores` get, by edge, a contribution
 * and what the input's gradient held before it. Where `ruled` (a byte a value) is set, rule(value,
 * upstream) gives the contributions. */
static PyObject *pull(PyObject *Py_UNUSED(module), PyObject *args) {
    Py_buffer starts, inputs, partials, ruled, gradients, amounts, befores;
    PyObject *rule, *result = NULL;
    if (!PyArg_ParseTuple(args, "y*y*y*y*Ow*w*w*:pull", &starts, &inputs, &partials, &ruled, &rule,
                          &gradients, &amounts, &befores))
        return NULL;
    Pull p = {starts.buf,    inputs.buf,  partials.buf, ruled.buf,          rule,
              gradients.buf, amounts.buf, befores.buf,  starts.len / 8 - 1, inputs.len / 8};
    Py_ssize_t count = p.count, edges = p.edges;
    if (starts.len != 8 * (count + 1) || ruled.len != count || gradients.len != 8 * count ||
        inputs.len != 8 * edges || partials.len != 8 * edges || amounts.len != 8 * edges ||
        befores.len != 8 * edges || !has_sound_edges(&p))
        PyErr_SetString(PyExc_ValueError, "these are not the arrays of a pass");
    else if (pull_all(&p) == 0)
        result = Py_NewRef(Py_None);
    Py_buffer *all[] = {&starts, &inputs, &partials, &ruled, &gradients, &amounts, &befores};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) PyBuffer_Release(all[k]);
    return result;
}

PyMethodDef rg_reading_methods[] = {
    {"read", read_pass, METH_VARARGS,
     RG_DOC("read($module, roots, epoch, log=None, /)", "The graph under roots as flat arrays.")},
    {"pull", pull, METH_VARARGS,
     RG_DOC("pull($module, starts, inputs, partials, ruled, rule, gradients, amounts, befores, /)",
            "The backward pass over flat arrays.")},
    {NULL, NULL, 0, NULL},
};
