/* Moving whole nests of values to and from float64 buffers. A nest is a list of lists … of values
 * with a known shape; every item is checked before anything is written. */
#include "retrograde.h"

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

/* Check the nest against its shape, or move its numbers: two walks over the same path. */
static int walk_nest(Nest *nest, PyObject *item, int depth, int checking, Action action) {
    if (depth == nest->dimensions) {
        int value = rg_is_value(item);
        if (checking) {
            /* Only numbers that convert without running Python code: nests are borrowed from. */
            int number = PyFloat_Check(item) || PyLong_CheckExact(item);
            int fine = value || (action == READ_DATA && number);
            if (!fine) wrong_item(nest, depth, item);
            if (value && rg_recording() &&
                (action == WRITE_DATA ||
                 (action == READ_DATA && rg_is_read_afresh((Value *)item)))) {
                int traced = ((Value *)item)->flags & RG_TRACED;
                rg_fail("RecordingError",
                        action == WRITE_DATA ? "assignment"
                        : traced             ? "data"
                                             : "captured_data",
                        "(O)", item);
                return -1;
            }
            return fine ? 0 : -1;
        }
        Value *v = (Value *)item;
        switch (action) {
            case READ_DATA:
                if (value)
                    *nest->numbers++ = v->data;
                else if (rg_number(item, nest->numbers++) != 1)
                    return -1;
                break;
            case READ_GRAD: *nest->numbers++ = v->grad; break;
            case WRITE_DATA: v->data = *nest->numbers++; break;
            case ADD_GRAD: v->grad += *nest->numbers++; break;
            case ZERO_GRAD: v->grad = 0.0; break;
        }
        return 0;
    }
    int is_list = PyList_Check(item) || PyTuple_Check(item);
    if (!is_list || PySequence_Fast_GET_SIZE(item) != nest->shape[depth]) {
        wrong_item(nest, depth, item);
        return -1;
    }
    for (Py_ssize_t i = 0; i < nest->shape[depth]; i++) {
        nest->at[depth] = i;
        if (walk_nest(nest, PySequence_Fast_GET_ITEM(item, i), depth + 1, checking, action) < 0)
            return -1;
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

/* zero(values): set the gradients of a list of values to zero. */
static PyObject *zero(PyObject *Py_UNUSED(module), PyObject *values) {
    if (!PyList_Check(values)) {
        PyErr_SetString(PyExc_TypeError, "zero takes a list of values");
        return NULL;
    }
    Py_ssize_t shape = PyList_GET_SIZE(values);
    Nest nest = {&shape, 1, NULL, {0}};
    if (walk_nest(&nest, values, 0, 1, ZERO_GRAD) < 0) return NULL;
    walk_nest(&nest, values, 0, 0, ZERO_GRAD);
    Py_RETURN_NONE;
}

/* The places in a list of the values that have a flag. */
static PyObject *places_with(PyObject *values, int flag) {
    if (!PyList_Check(values)) {
        PyErr_SetString(PyExc_TypeError, "a list of values is wanted");
        return NULL;
    }
    PyObject *places = PyList_New(0);
    for (Py_ssize_t i = 0; places != NULL && i < PyList_GET_SIZE(values); i++) {
        PyObject *item = PyList_GET_ITEM(values, i);
        if (!rg_is_value(item) || !(((Value *)item)->flags & flag)) continue;
        PyObject *place = PyLong_FromSsize_t(i);
        if (place == NULL || PyList_Append(places, place) < 0) Py_CLEAR(places);
        Py_XDECREF(place);
    }
    return places;
}

static PyObject *hooked(PyObject *Py_UNUSED(module), PyObject *values) {
    return places_with(values, RG_HOOKED);
}

static PyObject *taking(PyObject *Py_UNUSED(module), PyObject *values) {
    return places_with(values, RG_REQUIRES_GRAD);
}

PyMethodDef rg_bulk_methods[] = {
    {"taking", taking, METH_O, "The places in a list of the values that take gradients."},
    {"hooked", hooked, METH_O, "The places in a list of the values that have hooks."},
    {"read_data", read_data, METH_VARARGS, "Copy the data of a nest into a float64 array."},
    {"read_grad", read_grad, METH_VARARGS, "Copy the gradients of a nest into a float64 array."},
    {"write_data", write_data, METH_VARARGS, "Copy a float64 array into the data of a nest."},
    {"add_grad", add_grad, METH_VARARGS, "Add a float64 array to the gradients of a nest."},
    {"zero", zero, METH_O, "Set the gradients of a list of values to zero."},
    {NULL, NULL, 0, NULL},
};
