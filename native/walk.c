/* What Python asks of graphs: an order, a backward pass from several roots, gradients as numbers,
 * whether values depend on nothing else, gradients set to zero. */
#include "walk.h"

/* value._contribute(): add this node's contributions into its inputs, once, in place. */
PyObject *rg_contribute_now(PyObject *self, PyObject *Py_UNUSED(ignored)) {
    Value *v = (Value *)self;
    if (RG_UNLIKELY(rg_hides_number(v))) {
        rg_fail("RecordingError", "backward", "(O)", self);
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
        if (!rg_is_value(item)) {
            rg_fail("NotAValueError", "at", "snO", where, i, item);
            rg_buffer_free(values);
            return NULL;
        }
        values[i] = (Value *)item;
    }
    return values;
}

double *rg_seeds_of(PyObject *seeds, Py_ssize_t roots) {
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
    double *numbers = rg_seeds_of(seeds, count);
    Value **values = numbers ? rg_values_of(roots, "backward") : NULL;
    if (values && (count == 0 || rg_backward(values, numbers, count) == 0))
        done = Py_NewRef(Py_None);
    rg_buffer_free(numbers);
    rg_buffer_free(values);
    return done;
}

static PyObject *as_list(const RgNodes *nodes) {
    PyObject *list = PyList_New((Py_ssize_t)nodes->count);
    for (size_t i = 0; list && i < nodes->count; i++)
        PyList_SET_ITEM(list, (Py_ssize_t)i, Py_NewRef((PyObject *)nodes->items[i]));
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
    Value *leaf;
    unsigned long long since;
    if (!PyArg_ParseTuple(args, "O!K:leaf_origin", RgValue_Type, &leaf, &since)) return NULL;
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

static PyObject *as_floats(const double *numbers, const char *reached, Py_ssize_t count) {
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; list && i < count; i++) {
        PyObject *item = reached[i] ? PyFloat_FromDouble(numbers[i]) : Py_NewRef(Py_None);
        if (item == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, i, item);
    }
    return list;
}

/* What the roots bring to the inputs, into `numbers`, with every `.grad` as it was afterwards. */
static int pull(RgGraph *graph, Value **roots, const double *seeds, Py_ssize_t root_count,
                Value **inputs, double *numbers, Py_ssize_t count) {
    RgLoan loan;
    if (rg_loan_pull(&loan, graph, roots, seeds, root_count) < 0) return -1;
    for (Py_ssize_t i = 0; i < count; i++) numbers[i] = inputs[i]->grad;
    rg_loan_return(&loan);
    return 0;
}

/* The gradients as a list of floats, None where an input was not reached. The graph comes marked. */
static PyObject *pulled(RgGraph *graph, Value **roots, const double *seeds, Py_ssize_t root_count,
                        Value **inputs, Py_ssize_t count) {
    PyObject *list = NULL;
    char *reached = rg_buffer_resize(NULL, (size_t)count + 1);
    double *numbers = reached ? rg_buffer_resize(NULL, (size_t)(count + 1) * sizeof(double)) : NULL;
    for (Py_ssize_t i = 0; numbers && i < count; i++)
        reached[i] = (inputs[i]->flags & RG_VISITED) != 0;
    rg_unmark(graph);
    if (numbers && pull(graph, roots, seeds, root_count, inputs, numbers, count) == 0)
        list = as_floats(numbers, reached, count);
    rg_buffer_free(numbers);
    rg_buffer_free(reached);
    return list;
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
    double *numbers = rg_seeds_of(seeds, root_count);
    Value **root_values = numbers ? rg_values_of(roots, "gradients") : NULL;
    Value **input_values = root_values ? rg_values_of(inputs, "gradients") : NULL;
    RgGraph graph = {.oldest = rg_age_limit(since), .no_hooks = 1};
    if (input_values && rg_order(&graph, root_values, root_count) == 0) {
        if (is_closed(&graph, root_values, root_count, input_values, count)) {
            result = pulled(&graph, root_values, numbers, root_count, input_values, count);
        } else {
            rg_unmark(&graph);
            result = Py_NewRef(Py_None);
        }
        rg_graph_free(&graph);
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
    for (size_t i = 0; i < graph.order.count && !failed; i++) graph.order.items[i]->grad = 0.0;
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
