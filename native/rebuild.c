/* Taking nodes apart and putting them together again: for pickling and copying, and to tell
 * whether a node's data is still what its op makes of its inputs. */
#include "tensor.h"

/* parts(value) -> (op, inputs, numbers): inputs hold None for number operands, numbers the partial
 * of each input or the number itself. `op` is an index; rules are read from the value. */
static PyObject *parts(PyObject *Py_UNUSED(module), PyObject *object) {
    Value *v = rg_any_node(object);
    if (v == NULL) {
        rg_fail("NotAValueError", "of", "sO", "parts", object);
        return NULL;
    }
    Py_ssize_t count = rg_width(v);
    PyObject *inputs = PyTuple_New(count), *numbers = PyTuple_New(count);
    for (Py_ssize_t i = 0; inputs && numbers && i < count; i++) {
        RgEntry entry = rg_input_at(v, i);
        PyObject *number = PyFloat_FromDouble(entry.partial);
        if (number == NULL)
            Py_CLEAR(inputs);
        else
            PyTuple_SET_ITEM(numbers, i, number);
        if (inputs)
            PyTuple_SET_ITEM(inputs, i, entry.input ? rg_face(entry.input) : Py_NewRef(Py_None));
    }
    if (inputs == NULL || numbers == NULL) {
        Py_XDECREF(inputs);
        Py_XDECREF(numbers);
        return NULL;
    }
    return Py_BuildValue("iNN", v->op, inputs, numbers);
}

/* node(op, data, inputs, numbers) -> value: the inverse of parts, for rows, sums and dots. */
static PyObject *make_node(PyObject *Py_UNUSED(module), PyObject *args) {
    int op;
    double data;
    PyObject *inputs, *numbers;
    if (!PyArg_ParseTuple(args, "idO!O!:node", &op, &data, &PyTuple_Type, &inputs, &PyTuple_Type,
                          &numbers))
        return NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(inputs);
    int fits = PyTuple_GET_SIZE(numbers) == count && op >= 0 &&
               (op < RG_OP_COUNT ? count == RG_OPS[op].arity
                                 : op == RG_SUM || (op == RG_DOT && count % 2 == 0));
    RgEntry *entries = NULL;
    if (fits && (entries = rg_entries_new(count)) == NULL) return NULL;
    for (Py_ssize_t i = 0; fits && i < count; i++) {
        PyObject *input = PyTuple_GET_ITEM(inputs, i);
        fits = input == Py_None || rg_is_value(input);
        entries[i].input = input == Py_None ? NULL : (Value *)input;
        fits = fits && rg_number(PyTuple_GET_ITEM(numbers, i), &entries[i].partial) == 1;
    }
    if (!fits) {
        if (entries) rg_entries_free(entries, count);
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "these are not the parts of a value");
        return NULL;
    }
    if (op < RG_OP_COUNT && RG_OPS[op].absent) rg_absent_met = 1;
    Py_ssize_t modes = rg_modes_active; /* a copy is no new computation: no mode applies */
    rg_modes_active = 0;
    rg_copying = 1;
    PyObject *value = rg_finish_entries(op, data, entries, count);
    rg_copying = 0;
    rg_modes_active = modes;
    if (value && rg_remember((Value *)value) < 0) Py_CLEAR(value);
    return value;
}

/* recompute(value) -> what its op makes of its inputs' data now; None for leaves and customs. */
static PyObject *recompute(PyObject *Py_UNUSED(module), PyObject *object) {
    if (!rg_is_value(object)) {
        rg_fail("NotAValueError", "of", "sO", "recompute", object);
        return NULL;
    }
    Value *v = (Value *)object;
    if (v->op >= RG_OP_COUNT && v->op != RG_SUM && v->op != RG_DOT) Py_RETURN_NONE;
    double numbers[3] = {0.0, 0.0, 0.0}, total = 0.0;
    Py_ssize_t half = v->op == RG_DOT ? v->count / 2 : 0;
    for (Py_ssize_t i = 0; i < rg_width(v) - half; i++) {
        RgEntry entry = rg_input_at(v, i);
        double number = entry.input ? entry.input->data : entry.partial;
        if (v->op < RG_OP_COUNT) {
            numbers[i] = number;
            continue;
        }
        if (half) {
            RgEntry partner = rg_input_at(v, half + i);
            number *= partner.input ? partner.input->data : partner.partial;
        }
        total = i ? total + number : number;
    }
    return PyFloat_FromDouble(v->op < RG_OP_COUNT ? RG_OPS[v->op].eval(numbers) : total);
}

/* recorded_op(value) -> "stop" or "take" where it is one, else "": a custom op may have any name. */
static PyObject *recorded_op(PyObject *Py_UNUSED(module), PyObject *object) {
    if (!rg_is_value(object)) {
        rg_fail("NotAValueError", "of", "sO", "recorded_op", object);
        return NULL;
    }
    int op = ((Value *)object)->op;
    return PyUnicode_FromString(op >= RG_STOP ? rg_code_name(op) : "");
}

/* The names of the ops in the order of their indices: the rows, leaf, then the structural rows. */
PyObject *rg_op_names(void) {
    PyObject *names = PyTuple_New(RG_CUSTOM);
    for (int i = 0; names && i < RG_CUSTOM; i++) {
        PyObject *name = PyUnicode_FromString(i < RG_OP_COUNT ? RG_OPS[i].name : rg_code_name(i));
        if (name == NULL)
            Py_CLEAR(names);
        else
            PyTuple_SET_ITEM(names, i, name);
    }
    return names;
}

PyMethodDef rg_rebuild_methods[] = {
    {"parts", parts, METH_O,
     RG_DOC("parts($module, value, /)", "A value's op, inputs and numbers.")},
    {"node", make_node, METH_VARARGS,
     RG_DOC("node($module, op, data, inputs, numbers, /)", "A value from its parts.")},
    {"argument", rg_argument, METH_O,
     RG_DOC("argument($module, given, /)", "A fresh argument of a function being recorded.")},
    {"peek", rg_peek, METH_O,
     RG_DOC("peek($module, value, /)", "The number of a value, also while recording.")},
    {"hides", rg_hides, METH_O,
     RG_DOC("hides($module, value, /)", "Whether a recording hides the number of a value now.")},
    {"take", rg_take, METH_VARARGS,
     RG_DOC("take($module, values, index, /)", "One of a list of values, chosen by a value.")},
    {"recorded_op", recorded_op, METH_O,
     RG_DOC("recorded_op($module, value, /)",
            "What only recordings make: stop, take, or neither.")},
    {"recompute", recompute, METH_O,
     RG_DOC("recompute($module, value, /)", "What a value's op makes of its inputs now.")},
    {NULL, NULL, 0, NULL},
};
