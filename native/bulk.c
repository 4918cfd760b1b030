/* Moving whole nests of values to and from float64 buffers. A nest is a list of lists … of values
 * with a known shape; every item is checked before anything is written. */
#include "tensor.h"

typedef enum { READ_DATA, READ_GRAD, WRITE_DATA, ADD_GRAD, ZERO_GRAD } Action;

typedef struct {
    const Py_ssize_t *shape;
    int dimensions;
    double *numbers;
    Py_ssize_t at[16];
} Nest;

static void wrong_item(const Nest *nest, int depth, PyObject *item) {
    PyObject *place = PyTuple_New(depth);
    for (int i = 0; place && i < depth; i++)
        PyTuple_SET_ITEM(place, i, PyLong_FromSsize_t(nest->at[i]));
    if (place) rg_fail("ShapeError", "nest", "OO", place, item);
    Py_XDECREF(place);
}

/* While recording, what a replay would find another number in is neither read nor assigned. */
static int refuse_recorded(PyObject *item, Action action) {
    const Value *v = (const Value *)item;
    const char *which = "grad_assignment";
    if (action != WRITE_DATA && !rg_is_read_afresh(v)) return 0;
    if (action == WRITE_DATA) which = "assignment";
    if (action == READ_GRAD) which = "grad";
    if (action == READ_DATA) which = v->flags & RG_TRACED ? "data" : "captured_data";
    rg_fail("RecordingError", which, "(O)", item);
    return -1;
}

/* Items may be values; where data is read, also numbers that convert without running Python code,
 * since nests are borrowed from. */
static int check_items(Nest *nest, PyObject *const *items, Py_ssize_t count, int depth,
                       Action action) {
    int recording = rg_recording();
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = items[i];
        if (rg_is_value(item)) {
            if (recording && refuse_recorded(item, action) < 0) return -1;
            if (RG_UNLIKELY(rg_lending) && (action == ADD_GRAD || action == ZERO_GRAD) &&
                rg_check_loan((Value *)item, RG_ANY_THREAD) < 0)
                return -1;
        } else if (action != READ_DATA || !(PyFloat_Check(item) || PyLong_CheckExact(item))) {
            if (depth >= 0) nest->at[depth] = i;
            wrong_item(nest, depth + 1, item);
            return -1;
        }
    }
    return 0;
}

static int move_items(Nest *nest, PyObject *const *items, Py_ssize_t count, Action action) {
    double *numbers = nest->numbers;
#define EVERY for (Py_ssize_t i = 0; i < count; i++)
#define ITEM ((Value *)items[i])
    switch (action) {
        case READ_DATA:
            EVERY {
                if (RG_LIKELY(rg_is_value(items[i])))
                    numbers[i] = ITEM->data;
                else if (rg_number(items[i], &numbers[i]) != 1)
                    return -1;
            }
            break;
        case READ_GRAD: EVERY numbers[i] = ITEM->grad; break;
        case WRITE_DATA: EVERY ITEM->data = numbers[i]; break;
        case ADD_GRAD: EVERY ITEM->grad += numbers[i]; break;
        case ZERO_GRAD: break; /* zero() itself does it */
    }
#undef EVERY
#undef ITEM
    nest->numbers += count;
    return 0;
}

/* Check the nest against its shape, or move its numbers: two walks over the same path. */
static int walk_nest(Nest *nest, PyObject *item, int depth, int checking, Action action) {
    if (nest->dimensions == 0)
        return checking ? check_items(nest, &item, 1, -1, action)
                        : move_items(nest, &item, 1, action);
    int is_list = PyList_Check(item) || PyTuple_Check(item);
    Py_ssize_t count = nest->shape[depth];
    if (!is_list || PySequence_Fast_GET_SIZE(item) != count) {
        wrong_item(nest, depth, item);
        return -1;
    }
    PyObject *const *items = PySequence_Fast_ITEMS(item);
    if (depth == nest->dimensions - 1)
        return checking ? check_items(nest, items, count, depth, action)
                        : move_items(nest, items, count, action);
    for (Py_ssize_t i = 0; i < count; i++) {
        nest->at[depth] = i;
        if (walk_nest(nest, items[i], depth + 1, checking, action) < 0) return -1;
    }
    return 0;
}

/* move(nest, array, action): array is a C-contiguous float64 buffer of the nest's shape. */
static PyObject *move(PyObject *args, Action action) {
    PyObject *object, *array;
    Py_buffer view;
    if (!PyArg_ParseTuple(args, "OO", &object, &array)) return NULL;
    int flags =
        PyBUF_ND | PyBUF_FORMAT | (action == WRITE_DATA || action == ADD_GRAD ? 0 : PyBUF_WRITABLE);
    if (PyObject_GetBuffer(array, &view, flags) < 0) return NULL;
    PyObject *done = NULL;
    if (view.itemsize != sizeof(double) || view.format == NULL || strcmp(view.format, "d") ||
        view.ndim > 16) {
        PyErr_SetString(PyExc_TypeError, "bulk transfers take a float64 array");
    } else {
        Nest nest = {view.shape, view.ndim, view.buf, {0}};
        if (walk_nest(&nest, object, 0, 1, action) == 0 &&
            walk_nest(&nest, object, 0, 0, action) == 0)
            done = Py_NewRef(Py_None);
    }
    PyBuffer_Release(&view);
    return done;
}

static PyObject *read_data(PyObject *Py_UNUSED(module), PyObject *args) {
    return move(args, READ_DATA);
}

static PyObject *read_grad(PyObject *Py_UNUSED(module), PyObject *args) {
    return move(args, READ_GRAD);
}

static PyObject *write_data(PyObject *Py_UNUSED(module), PyObject *args) {
    return move(args, WRITE_DATA);
}

static PyObject *add_grad(PyObject *Py_UNUSED(module), PyObject *args) {
    return move(args, ADD_GRAD);
}

/* zero(values): set the gradients of a list of values and tensors to zero. */
static PyObject *zero(PyObject *Py_UNUSED(module), PyObject *values) {
    if (!PyList_Check(values)) {
        PyErr_SetString(PyExc_TypeError, "zero takes a list of values");
        return NULL;
    }
    Py_ssize_t count = PyList_GET_SIZE(values);
    Nest nest = {&count, 1, NULL, {0}};
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyList_GET_ITEM(values, i);
        nest.at[0] = i;
        if (!rg_is_tensor(item) && !rg_is_value(item)) {
            wrong_item(&nest, 1, item);
            return NULL;
        }
        if (rg_is_tensor(item) ? rg_lending && rg_check_loan(rg_node_of(item), RG_ANY_THREAD) < 0
                               : check_items(&nest, &item, 1, -1, ZERO_GRAD) < 0)
            return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyList_GET_ITEM(values, i);
        if (rg_is_tensor(item)) {
            RgBody *body = rg_body(rg_node_of(item));
            rg_numbers_xdrop(body->gradient);
            body->gradient = NULL;
        } else {
            ((Value *)item)->grad = 0.0;
        }
    }
    Py_RETURN_NONE;
}

/* taking(values): a byte for each of a list, 0 where it takes no gradient, 1, or 2 with hooks. */
static PyObject *taking(PyObject *Py_UNUSED(module), PyObject *values) {
    if (!PyList_Check(values)) {
        PyErr_SetString(PyExc_TypeError, "taking takes a list of values");
        return NULL;
    }
    Py_ssize_t count = PyList_GET_SIZE(values);
    PyObject *found = PyBytes_FromStringAndSize(NULL, count);
    if (found == NULL) return NULL;
    char *each = PyBytes_AS_STRING(found);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyList_GET_ITEM(values, i);
        int flags = rg_is_value(item) ? ((Value *)item)->flags : 0;
        each[i] = flags & RG_REQUIRES_GRAD ? 1 + !!(flags & RG_HOOKED) : 0;
    }
    return found;
}

PyMethodDef rg_bulk_methods[] = {
    {"taking", taking, METH_O,
     RG_DOC("taking($module, values, /)",
            "Which values of a list take gradients: 0, 1, or 2 with hooks.")},
    {"read_data", read_data, METH_VARARGS,
     RG_DOC("read_data($module, nest, array, /)", "Copy the data of a nest into a float64 array.")},
    {"read_grad", read_grad, METH_VARARGS,
     RG_DOC("read_grad($module, nest, array, /)",
            "Copy the gradients of a nest into a float64 array.")},
    {"write_data", write_data, METH_VARARGS,
     RG_DOC("write_data($module, nest, array, /)",
            "Copy a float64 array into the data of a nest.")},
    {"add_grad", add_grad, METH_VARARGS,
     RG_DOC("add_grad($module, nest, array, /)",
            "Add a float64 array to the gradients of a nest.")},
    {"zero", zero, METH_O,
     RG_DOC("zero($module, values, /)",
            "Set the gradients of a list of values and tensors to zero.")},
    {NULL, NULL, 0, NULL},
};
