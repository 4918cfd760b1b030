/* What Python asks of graphs: an order, a backward pass from several roots, gradients as numbers,
 * whether values depend on nothing else, gradients set to zero. */
#include "tensor.h"

/* value._contribute(): add this node's contributions into its inputs, once, in place. */
PyObject *rg_contribute_now(PyObject *self, PyObject *Py_UNUSED(ignored)) {
    Value *v = (Value *)self;
    if (RG_UNLIKELY(rg_hides_number(v))) {
        rg_fail("RecordingError", "backward", "(O)", self);
        return NULL;
    }
    if (v->op == RG_ARRAY) {
        rg_fail("ClosureStyleError", "array", "(O)", self);
        return NULL;
    }
    if (v->op == RG_CLOSURE) {
        if (rg_call_closure(v) < 0) return NULL;
    } else if (!rg_is_leaf(v)) {
        rg_contribute(v);
    }
    Py_RETURN_NONE;
}

Value **rg_values_of(PyObject *sequence, const char *where) {
    Py_ssize_t count = PySequence_Fast_GET_SIZE(sequence);
    Value **values = rg_buffer_resize(NULL, (size_t)(count ? count : 1) * sizeof(Value *));
    for (Py_ssize_t i = 0; values && i < count; i++) {
        PyObject *item = PySequence_Fast_GET_ITEM(sequence, i);
        values[i] = rg_any_node(item);
        if (values[i] == NULL) {
            rg_fail("NotAValueError", "at", "snO", where, i, item);
            rg_buffer_free(values);
            return NULL;
        }
    }
    return values;
}

/* Seeds of roots: numbers, and arrays where a root is a tensor. */
RgTotal *rg_totals_of(PyObject *seeds, Value **roots, Py_ssize_t count) {
    if (PyTuple_GET_SIZE(seeds) != count) {
        rg_fail("ShapeError", "seeds", "nn", count, PyTuple_GET_SIZE(seeds));
        return NULL;
    }
    RgTotal *totals = rg_buffer_resize(NULL, (size_t)(count + 1) * sizeof(RgTotal));
    for (Py_ssize_t i = 0; totals && i < count; i++) {
        PyObject *seed = PyTuple_GET_ITEM(seeds, i);
        int failed = rg_is_node(roots[i])
                         ? (totals[i].array = rg_seed_of(roots[i], seed)) == NULL
                         : rg_number_or_fail(seed, "a seed", &totals[i].number) < 0;
        if (failed) {
            rg_totals_free(totals, roots, i);
            return NULL;
        }
    }
    return totals;
}

void rg_totals_free(RgTotal *totals, Value **roots, Py_ssize_t count) {
    for (Py_ssize_t i = 0; totals && i < count; i++)
        if (rg_is_node(roots[i])) rg_numbers_drop(totals[i].array);
    rg_buffer_free(totals);
}

/* backward(roots, seeds): two tuples of one length. */
static PyObject *backward(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *roots, *seeds, *done = NULL;
    if (!PyArg_ParseTuple(args, "O!O!:backward", &PyTuple_Type, &roots, &PyTuple_Type, &seeds))
        return NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(roots);
    Value **values = rg_values_of(roots, "backward");
    RgTotal *totals = values ? rg_totals_of(seeds, values, count) : NULL;
    if (totals && (count == 0 || rg_backward(values, totals, count) == 0))
        done = Py_NewRef(Py_None);
    rg_totals_free(totals, values, count);
    rg_buffer_free(values);
    return done;
}

static PyObject *as_list(const RgNodes *nodes) {
    PyObject *list = PyList_New((Py_ssize_t)nodes->count);
    for (size_t i = 0; list && i < nodes->count; i++)
        PyList_SET_ITEM(list, (Py_ssize_t)i, rg_face(nodes->items[i]));
    return list;
}

static PyObject *list_graph(PyObject *roots, RgGraph *graph) {
    Value **values = rg_values_of(roots, "order");
    if (values == NULL) return NULL;
    int failed = rg_order(graph, values, PyTuple_GET_SIZE(roots));
    rg_buffer_free(values);
    if (failed) return NULL;
    rg_unmark(graph);
    PyObject *list = as_list(&graph->order);
    rg_graph_free(graph);
    return list;
}

/* order(roots) -> list: everything under the roots, leaves included, inputs before uses. */
static PyObject *order(PyObject *Py_UNUSED(module), PyObject *roots) {
    if (!PyTuple_Check(roots)) {
        PyErr_SetString(PyExc_TypeError, "order takes a tuple of values");
        return NULL;
    }
    RgGraph graph = {.oldest = RG_ANY_AGE, .leaves_in_order = 1};
    return list_graph(roots, &graph);
}

/* order_since(roots, epoch) -> list: the inner nodes made since an epoch, inputs before uses. */
static PyObject *order_since(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *roots;
    unsigned long long since;
    if (!PyArg_ParseTuple(args, "O!K:order_since", &PyTuple_Type, &roots, &since)) return NULL;
    RgGraph graph = {.oldest = rg_age_limit(since), .no_hooks = 1};
    return list_graph(roots, &graph);
}

static PyObject *begin_epoch(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    return PyLong_FromUnsignedLongLong(++rg_epoch);
}

/* leaf_origin(leaf, epoch) -> where a leaf met in a recording comes from: "captured" from outside,
 * "constant" made inside since the epoch, or "argument" of another recording. Leaves made while
 * recording are marked: an age alone could be mistaken after 2^16 epochs. */
static PyObject *leaf_origin(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *object;
    unsigned long long since;
    if (!PyArg_ParseTuple(args, "OK:leaf_origin", &object, &since)) return NULL;
    const Value *leaf = rg_any_node(object);
    if (leaf == NULL) {
        PyErr_SetString(PyExc_TypeError, "leaf_origin takes a value or a tensor");
        return NULL;
    }
    RgGraph graph = {.oldest = rg_age_limit(since)};
    if (leaf->flags & RG_TRACED) return PyUnicode_FromString("argument");
    int inside = (leaf->flags & RG_COLLECTED) && !rg_is_old(&graph, leaf);
    return PyUnicode_FromString(inside ? "constant" : "captured");
}

/* Whether every leaf that takes gradients is among the inputs. */
static int is_closed(const RgGraph *graph, Value **roots, Py_ssize_t root_count, Value **inputs,
                     Py_ssize_t count) {
    Py_ssize_t taking = 0, given = 0;
    if (rg_hidden_root(roots, root_count)) return 0; /* numbers would be those of one row */
    int recording = rg_recording(); /* numbers would be those of one row, or of today */
    for (size_t i = 0; i < graph->leaves.count && recording; i++)
        if (!rg_is_leaf(graph->leaves.items[i]) || rg_is_read_afresh(graph->leaves.items[i]))
            return 0;
    for (size_t i = 0; i < graph->leaves.count; i++)
        taking += (graph->leaves.items[i]->flags & RG_REQUIRES_GRAD) != 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        Value *v = inputs[i];
        if ((v->flags & RG_MARKS) != RG_VISITED || !rg_is_leaf(v)) continue;
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
    Value **root_values = rg_values_of(roots, "is_closed");
    Value **input_values = root_values ? rg_values_of(inputs, "is_closed") : NULL;
    RgGraph graph = {.oldest = rg_age_limit(since), .no_hooks = 1};
    if (input_values && rg_order(&graph, root_values, PyTuple_GET_SIZE(roots)) == 0) {
        result = PyBool_FromLong(is_closed(&graph, root_values, PyTuple_GET_SIZE(roots),
                                           input_values, PyTuple_GET_SIZE(inputs)));
        rg_unmark(&graph);
        rg_graph_free(&graph);
    }
    rg_buffer_free(input_values);
    rg_buffer_free(root_values);
    return result;
}

/* The gradients as a list, None where an input was not reached: floats, and arrays of tensors. With
 * every `.grad` as it was afterwards. The graph comes marked. */
static PyObject *pulled(RgGraph *graph, Value **roots, const RgTotal *seeds, Py_ssize_t root_count,
                        Value **inputs, Py_ssize_t count) {
    PyObject *list = NULL;
    RgTotal *found = rg_buffer_resize(NULL, (size_t)(count + 1) * sizeof(RgTotal));
    char *reached = found ? rg_buffer_resize(NULL, (size_t)count + 1) : NULL;
    for (Py_ssize_t i = 0; reached && i < count; i++) {
        reached[i] = (inputs[i]->flags & RG_VISITED) != 0;
        found[i].array = NULL;
    }
    rg_unmark(graph);
    int failed = reached == NULL;
    if (failed) {
        ;
    } else if (graph->tensors) {
        failed = rg_pull_mixed(graph, roots, seeds, root_count, inputs, found, reached, count);
    } else {
        RgLoan loan;
        failed = rg_loan_pull(&loan, graph, roots, &seeds->number, root_count) < 0;
        for (Py_ssize_t i = 0; i < count && !failed; i++) found[i].number = inputs[i]->grad;
        if (!failed) rg_loan_return(&loan);
    }
    if (!failed) list = PyList_New(count);
    for (Py_ssize_t i = 0; list && i < count; i++) {
        PyObject *item = reached[i] ? rg_total_shown(inputs[i], &found[i]) : Py_NewRef(Py_None);
        if (item == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, i, item);
    }
    for (Py_ssize_t i = 0; reached && i < count; i++)
        if (rg_is_node(inputs[i])) rg_numbers_xdrop(found[i].array);
    rg_buffer_free(reached);
    rg_buffer_free(found);
    return list;
}

/* gradients(roots, seeds, inputs, epoch) -> list of float or array, None where an input was not
 * reached; or None where the result depends on values made before the epoch, so that numbers would
 * not do. */
static PyObject *gradients(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *roots, *seeds, *inputs, *result = NULL;
    unsigned long long since;
    if (!PyArg_ParseTuple(args, "O!O!O!K:gradients", &PyTuple_Type, &roots, &PyTuple_Type, &seeds,
                          &PyTuple_Type, &inputs, &since))
        return NULL;
    Py_ssize_t root_count = PyTuple_GET_SIZE(roots), count = PyTuple_GET_SIZE(inputs);
    Value **root_values = rg_values_of(roots, "gradients");
    RgTotal *totals = root_values ? rg_totals_of(seeds, root_values, root_count) : NULL;
    Value **input_values = totals ? rg_values_of(inputs, "gradients") : NULL;
    RgGraph graph = {.oldest = rg_age_limit(since), .no_hooks = 1};
    if (input_values && rg_order(&graph, root_values, root_count) == 0) {
        for (Py_ssize_t r = 0; r < root_count; r++) graph.tensors |= rg_is_node(root_values[r]);
        if (is_closed(&graph, root_values, root_count, input_values, count)) {
            result = pulled(&graph, root_values, totals, root_count, input_values, count);
        } else {
            rg_unmark(&graph);
            result = Py_NewRef(Py_None);
        }
        rg_graph_free(&graph);
    }
    rg_buffer_free(input_values);
    rg_totals_free(totals, root_values, root_count);
    rg_buffer_free(root_values);
    return result;
}

/* zero_under(roots): set the gradient of everything under the roots to zero. */
static PyObject *zero_under(PyObject *Py_UNUSED(module), PyObject *roots) {
    if (!PyTuple_Check(roots)) {
        PyErr_SetString(PyExc_TypeError, "zero_under takes a tuple of values");
        return NULL;
    }
    Value **values = rg_values_of(roots, "zero_grad");
    if (values == NULL) return NULL;
    Value *hidden = rg_hidden_root(values, PyTuple_GET_SIZE(roots));
    if (hidden) {
        rg_fail("RecordingError", "grad_assignment", "(O)", hidden);
        rg_buffer_free(values);
        return NULL;
    }
    RgGraph graph = {.oldest = RG_ANY_AGE, .leaves_in_order = 1};
    int failed = rg_order(&graph, values, PyTuple_GET_SIZE(roots));
    rg_buffer_free(values);
    if (failed) return NULL;
    failed = rg_check_loans(&graph, RG_ANY_THREAD) < 0;
    rg_unmark(&graph);
    for (size_t i = 0; i < graph.order.count && !failed; i++) {
        Value *v = graph.order.items[i];
        v->grad = 0.0;
        if (RG_LIKELY(!rg_is_node(v))) continue;
        rg_numbers_xdrop(rg_body(v)->gradient);
        rg_body(v)->gradient = NULL;
    }
    rg_graph_free(&graph);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

PyMethodDef rg_walk_methods[] = {
    {"backward", backward, METH_VARARGS,
     RG_DOC("backward($module, roots, seeds, /)", "Run the backward pass from several roots.")},
    {"order", order, METH_O,
     RG_DOC("order($module, roots, /)", "Everything under the roots, inputs before uses.")},
    {"order_since", order_since, METH_VARARGS,
     RG_DOC("order_since($module, roots, epoch, /)",
            "The inner nodes made since an epoch, in order.")},
    {"begin_epoch", begin_epoch, METH_NOARGS,
     RG_DOC("begin_epoch($module, /)", "Start a new epoch and return its number.")},
    {"leaf_origin", leaf_origin, METH_VARARGS,
     RG_DOC("leaf_origin($module, leaf, epoch, /)", "Where a leaf met in a recording comes from.")},
    {"is_closed", closed, METH_VARARGS,
     RG_DOC("is_closed($module, roots, inputs, epoch, /)",
            "Whether values depend on nothing but the inputs.")},
    {"gradients", gradients, METH_VARARGS,
     RG_DOC("gradients($module, roots, seeds, inputs, epoch, /)",
            "Gradients as numbers, touching no .grad.")},
    {"zero_under", zero_under, METH_O,
     RG_DOC("zero_under($module, roots, /)", "Zero the gradient of everything under the roots.")},
    {NULL, NULL, 0, NULL},
};
