/* Arrays of NumPy's in and out, and how arrays step along shapes they are spread over.
 *
 * NumPy is met by the buffer protocol alone. What comes in is copied; what goes out is a read-only
 * array on our own numbers, which nobody writes into while it is held. */
#include "tensor.h"

#include "kernels/arrays.h"

/* ---- in ------------------------------------------------------------------------------------- */

static PyTypeObject *array_type = NULL; /* numpy.ndarray, once one was met */

static int is_exact_array(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    if (RG_LIKELY(type == array_type)) return 1;
    /* A class that Python makes has no module in this name. */
    if (array_type || strcmp(type->tp_name, "numpy.ndarray") != 0) return 0;
    array_type = (PyTypeObject *)Py_NewRef((PyObject *)type);
    return 1;
}

/* A leaf that holds a copy of an array of float64 with some axes, whatever its strides; NULL without
 * an exception for anything else. */
Value *rg_leaf_of_floats(PyObject *object) {
    Py_buffer view;
    Py_ssize_t strides[RG_MOST_AXES];
    if (!is_exact_array(object) || rg_recording()) return NULL;
    if (PyObject_GetBuffer(object, &view, PyBUF_STRIDES | PyBUF_FORMAT) < 0) {
        PyErr_Clear();
        return NULL;
    }
    int fits =
        view.format && !strcmp(view.format, "d") && view.ndim > 0 && view.ndim <= RG_MOST_AXES;
    for (int d = 0; fits && d < view.ndim; d++) {
        strides[d] = view.strides[d] / (Py_ssize_t)sizeof(double);
        fits = view.strides[d] % (Py_ssize_t)sizeof(double) == 0;
    }
    fits = fits && (uintptr_t)view.buf % sizeof(double) == 0;
    Value *v = fits ? rg_tensor_blank(view.ndim, 0) : NULL;
    if (v) {
        for (int d = 0; d < view.ndim; d++) rg_body(v)->shape[d] = view.shape[d];
        if (rg_tensor_room(v) == 0) {
            rg_pack(view.ndim, view.shape, rg_body(v)->at, (RgView){view.buf, strides});
        } else {
            Py_DECREF((PyObject *)v);
            v = NULL;
        }
    }
    PyBuffer_Release(&view);
    PyErr_Clear(); /* of memory: the long way says it */
    return v;
}

/* Whether something is an array with at least one axis; -1 with an exception. */
int rg_is_array(PyObject *object) {
    if (RG_UNLIKELY(rg_recording()) && PyObject_HasAttrString(object, "recorded_value")) return 0;
    if (!PyObject_HasAttrString(object, "__array__")) return 0;
    PyObject *ndim = PyObject_GetAttrString(object, "ndim");
    long axes = ndim ? PyLong_AsLong(ndim) : -1;
    Py_XDECREF(ndim);
    if (axes == -1 && PyErr_Occurred()) PyErr_Clear();
    return axes > 0;
}

/* A view of float64 numbers in the order of C, of anything NumPy can turn into such. */
int rg_floats_of(PyObject *object, const char *what, PyObject **owner, Py_buffer *view) {
    *owner = NULL;
    if (is_exact_array(object)) { /* a class above it may mean more than its numbers: a mask */
        if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) == 0) {
            if (view->format && !strcmp(view->format, "d") && view->ndim <= RG_MOST_AXES) return 0;
            PyBuffer_Release(view);
        } else {
            PyErr_Clear();
        }
    }
    *owner = rg_call("retrograde._shared.arrays", "floats", "Os", object, what);
    if (*owner == NULL) return -1;
    if (PyObject_GetBuffer(*owner, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) == 0) {
        if (view->ndim <= RG_MOST_AXES) return 0;
        PyBuffer_Release(view);
        PyErr_Format(PyExc_ValueError, "%s has %d axes; a tensor has at most %d", what, view->ndim,
                     RG_MOST_AXES);
    } else if (PyErr_ExceptionMatches(PyExc_BufferError) ||
               PyErr_ExceptionMatches(PyExc_ValueError)) {
        PyErr_Clear(); /* its numbers lie in another order */
        PyObject *packed = rg_call("numpy", "ascontiguousarray", "(O)", *owner);
        Py_SETREF(*owner, packed);
        if (packed && PyObject_GetBuffer(packed, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) == 0)
            return 0;
    }
    Py_CLEAR(*owner);
    return -1;
}

/* A leaf that holds a copy of an array; NULL with an exception. */
Value *rg_leaf_of(PyObject *object, const char *what, int requires_grad) {
    PyObject *owner;
    Py_buffer view;
    if (rg_floats_of(object, what, &owner, &view) < 0) return NULL;
    Value *v = rg_tensor_blank(view.ndim, 0);
    if (v) {
        for (int d = 0; d < view.ndim; d++) rg_body(v)->shape[d] = view.shape[d];
        if (rg_tensor_room(v) < 0) {
            Py_DECREF((PyObject *)v);
            v = NULL;
        } else {
            memcpy(rg_body(v)->at, view.buf, (size_t)view.len);
            if (requires_grad) v->flags |= RG_REQUIRES_GRAD;
            if (RG_UNLIKELY(rg_recording())) v->flags |= RG_COLLECTED; /* see leaf_origin */
        }
    }
    PyBuffer_Release(&view);
    Py_XDECREF(owner);
    return v;
}

/* The numbers of an array that has to have a tensor's shape, as a buffer of its own. */
RgBuffer *rg_numbers_like(PyObject *object, const char *what, const Value *v) {
    PyObject *owner;
    Py_buffer view;
    const RgBody *body = rg_body(v);
    if (rg_floats_of(object, what, &owner, &view) < 0) return NULL;
    int fits = view.ndim == body->ndim;
    for (int d = 0; fits && d < view.ndim; d++) fits = view.shape[d] == body->shape[d];
    RgBuffer *buffer = NULL;
    if (!fits)
        rg_fail("TensorError", "shape", "sNN", what, rg_shape_tuple(body->ndim, body->shape),
                rg_shape_tuple(view.ndim, view.shape));
    else if ((buffer = rg_numbers_new((size_t)body->size)))
        memcpy(buffer->data, view.buf, (size_t)view.len);
    PyBuffer_Release(&view);
    Py_XDECREF(owner);
    return buffer;
}

/* ---- out ------------------------------------------------------------------------------------ */

/* What an array of NumPy's holds on to: numbers, and how they lie. */
typedef struct {
    PyObject_HEAD RgBuffer *buffer;
    const double *at;
    int ndim;
    Py_ssize_t size;
    Py_ssize_t axes[2 * RG_MOST_AXES]; /* shape, then strides in bytes */
} Lent;

static PyTypeObject *Lent_Type = NULL;

static int lent_buffer(PyObject *self, Py_buffer *view, int flags) {
    Lent *lent = (Lent *)self;
    view->obj = NULL;
    if (flags & PyBUF_WRITABLE) {
        PyErr_SetString(PyExc_BufferError, "the numbers of a tensor are read-only");
        return -1;
    }
    view->obj = Py_NewRef(self);
    view->buf = (void *)lent->at;
    view->len = lent->size * (Py_ssize_t)sizeof(double);
    view->readonly = 1;
    view->itemsize = sizeof(double);
    view->format = "d";
    view->ndim = lent->ndim;
    view->shape = lent->axes;
    view->strides = lent->axes + RG_MOST_AXES;
    view->suboffsets = NULL;
    view->internal = NULL;
    return 0;
}

static void lent_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    ((Lent *)self)->buffer->arrays--;
    rg_numbers_drop(((Lent *)self)->buffer);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

static PyType_Slot lent_slots[] = {
    {Py_tp_doc, "The numbers of a tensor, as NumPy reads them."},
    {Py_tp_dealloc, lent_dealloc},
    {Py_bf_getbuffer, lent_buffer},
    {0, NULL},
};

static PyType_Spec lent_spec = {
    .name = "retrograde._native.Numbers",
    .basicsize = sizeof(Lent),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = lent_slots,
};

static PyObject *as_array = NULL; /* numpy.asarray */

/* A read-only ndarray on the numbers of a buffer, of which it holds a share. */
PyObject *rg_export(RgBuffer *buffer, const double *at, int ndim, const Py_ssize_t *shape,
                    const Py_ssize_t *strides) {
    if (Lent_Type == NULL) {
        Lent_Type = (PyTypeObject *)PyType_FromSpec(&lent_spec);
        if (Lent_Type == NULL) return NULL;
    }
    if (as_array == NULL) {
        PyObject *numpy = PyImport_ImportModule("numpy");
        as_array = numpy ? PyObject_GetAttrString(numpy, "asarray") : NULL;
        Py_XDECREF(numpy);
        if (as_array == NULL) return NULL;
    }
    Lent *lent = PyObject_New(Lent, Lent_Type);
    if (lent == NULL) return NULL;
    lent->buffer = rg_numbers_share(buffer);
    buffer->arrays++;
    lent->at = at;
    lent->ndim = ndim;
    lent->size = 1;
    for (int d = ndim; d-- > 0;) {
        lent->axes[d] = shape[d];
        lent->axes[RG_MOST_AXES + d] =
            (strides ? strides[d] : lent->size) * (Py_ssize_t)sizeof(double);
        lent->size *= shape[d];
    }
    PyObject *array = PyObject_CallOneArg(as_array, (PyObject *)lent);
    Py_DECREF((PyObject *)lent);
    return array;
}

PyObject *rg_shape_tuple(int ndim, const Py_ssize_t *shape) {
    PyObject *tuple = PyTuple_New(ndim);
    for (int d = 0; tuple && d < ndim; d++) {
        PyObject *length = PyLong_FromSsize_t(shape[d]);
        if (length == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, d, length);
    }
    return tuple;
}

/* ---- strides -------------------------------------------------------------------------------- */

/* How far an array steps along each axis of a shape that it is spread over. */
void rg_spread(Py_ssize_t *steps, int ndim, const Py_ssize_t *shape, RgArray array) {
    int more = ndim - array.ndim;
    for (int d = 0; d < ndim; d++)
        steps[d] =
            d < more || (array.shape[d - more] == 1 && shape[d] != 1) ? 0 : array.strides[d - more];
}

/* The same of an array in the order of C. */
void rg_spread_packed(Py_ssize_t *steps, int ndim, const Py_ssize_t *shape, int own_ndim,
                      const Py_ssize_t *own_shape) {
    Py_ssize_t strides[RG_MOST_AXES], size = 1;
    for (int d = own_ndim; d-- > 0; size *= own_shape[d]) strides[d] = size;
    rg_spread(steps, ndim, shape, (RgArray){NULL, own_ndim, own_shape, strides});
}

/* The numbers of a tensor in the order of C, shared where they lie so; NULL with an exception. */
RgBuffer *rg_packed(const Value *v) {
    const RgBody *body = rg_body(v);
    if (body->contiguous && body->at == body->buffer->data) return rg_numbers_share(body->buffer);
    RgBuffer *buffer = rg_numbers_new((size_t)body->size);
    if (buffer) rg_pack(body->ndim, body->shape, buffer->data, (RgView){body->at, body->strides});
    return buffer;
}
