/* The kernels of arrays seen from Python: for plans, which the array law makes there, and for tests.
 *
 * Arrays come as buffers of doubles with strides; shapes are the caller's to get right, and what
 * would read or write outside is refused. */
#include "retrograde.h"

#include "arrays.h"
#include "kernels/plans.h"

typedef struct {
    Py_buffer buffer;
    ptrdiff_t strides[RG_AXES];
} Lent;

static int lend(PyObject *object, Lent *lent, int writable, char format) {
    int flags = PyBUF_STRIDES | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, &lent->buffer, flags) < 0) return -1;
    Py_buffer *b = &lent->buffer;
    const char *kind = b->format ? b->format : "B";
    int right = format == 'd' ? !strcmp(kind, "d") : strchr("lqn", kind[0]) && !kind[1];
    if (!right || b->itemsize != 8 || b->ndim > RG_AXES) {
        PyBuffer_Release(b);
        PyErr_Format(PyExc_TypeError, "a kernel takes an array of %s",
                     format == 'd' ? "doubles" : "64-bit whole numbers");
        return -1;
    }
    for (int axis = 0; axis < b->ndim; axis++) lent->strides[axis] = b->strides[axis] / 8;
    return 0;
}

static void give_back(Lent *lent, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count; i++)
        if (lent[i].buffer.obj) PyBuffer_Release(&lent[i].buffer);
}

static int same_shape(const Py_buffer *x, const Py_buffer *y) {
    if (x->ndim == y->ndim &&
        (x->ndim == 0 || !memcmp(x->shape, y->shape, (size_t)x->ndim * sizeof(Py_ssize_t))))
        return 1;
    PyErr_SetString(PyExc_ValueError, "the arrays of a kernel have one shape");
    return 0;
}

/* 0, or an exception for what a kernel says. */
static int answered(int code) {
    if (code == RG_NO_MEMORY) PyErr_NoMemory();
    if (code == RG_OUT_OF_RANGE) PyErr_SetString(PyExc_IndexError, "an index is out of bounds");
    return code ? -1 : 0;
}

static int is_row(int op) {
    if (op >= 0 && op < RG_OP_COUNT) return 1;
    PyErr_SetString(PyExc_ValueError, "no such row");
    return 0;
}

/* array_map(op, out, operands) */
static PyObject *array_map(PyObject *Py_UNUSED(module), PyObject *args) {
    int op;
    PyObject *out, *operands;
    if (!PyArg_ParseTuple(args, "iOO!:array_map", &op, &out, &PyTuple_Type, &operands)) return NULL;
    if (!is_row(op)) return NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(operands);
    if (count != RG_OPS[op].arity) {
        PyErr_SetString(PyExc_ValueError, "one array an operand");
        return NULL;
    }
    Lent lent[4] = {0};
    RgView in[3] = {{NULL, NULL}};
    int fine = lend(out, &lent[3], 1, 'd') == 0;
    for (Py_ssize_t i = 0; fine && i < count; i++) {
        fine = lend(PyTuple_GET_ITEM(operands, i), &lent[i], 0, 'd') == 0 &&
               same_shape(&lent[i].buffer, &lent[3].buffer);
        in[i] = (RgView){lent[i].buffer.buf, lent[i].strides};
    }
    if (fine && !PyBuffer_IsContiguous(&lent[3].buffer, 'C')) {
        PyErr_SetString(PyExc_ValueError, "the result is contiguous");
        fine = 0;
    }
    if (fine) rg_map(op, lent[3].buffer.ndim, lent[3].buffer.shape, lent[3].buffer.buf, in);
    give_back(lent, 4);
    if (!fine) return NULL;
    Py_RETURN_NONE;
}

/* array_back(op, which, out, sources, add): sources are operands, result and upstream, or None;
 * out has the shape of the upstream gradient, and strides of 0 where it was spread. */
static PyObject *array_back(PyObject *Py_UNUSED(module), PyObject *args) {
    int op, which, add;
    PyObject *out, *sources;
    if (!PyArg_ParseTuple(args, "iiOO!p:array_back", &op, &which, &out, &PyTuple_Type, &sources,
                          &add))
        return NULL;
    if (!is_row(op)) return NULL;
    if (which < 0 || which >= RG_OPS[op].arity || PyTuple_GET_SIZE(sources) != RG_BACK) {
        PyErr_SetString(PyExc_ValueError, "array_back takes an operand and five sources");
        return NULL;
    }
    Lent lent[RG_BACK + 1] = {0};
    RgView in[RG_BACK] = {{NULL, NULL}};
    int reads = rg_partial_reads[op][which] | 1 << RG_UPSTREAM_AT;
    int fine = lend(out, &lent[RG_BACK], 1, 'd') == 0;
    for (int i = 0; fine && i < RG_BACK; i++) {
        if (!(reads >> i & 1)) continue;
        fine = lend(PyTuple_GET_ITEM(sources, i), &lent[i], 0, 'd') == 0 &&
               same_shape(&lent[i].buffer, &lent[RG_BACK].buffer);
        in[i] = (RgView){lent[i].buffer.buf, lent[i].strides};
    }
    if (fine) {
        const Py_buffer *to = &lent[RG_BACK].buffer;
        RgTarget target = {to->buf, lent[RG_BACK].strides};
        fine = answered(rg_map_back(op, which, to->ndim, to->shape, target, in,
                                    add ? RG_ADD : RG_REPLACE)) == 0;
    }
    give_back(lent, RG_BACK + 1);
    if (!fine) return NULL;
    Py_RETURN_NONE;
}

/* array_product(a, b, c, add): matrices; rows of c are contiguous. */
static PyObject *array_product(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *objects[3];
    int add;
    if (!PyArg_ParseTuple(args, "OOOp:array_product", &objects[0], &objects[1], &objects[2], &add))
        return NULL;
    Lent lent[3] = {0};
    int fine = 1;
    for (int i = 0; fine && i < 3; i++) fine = lend(objects[i], &lent[i], i == 2, 'd') == 0;
    const Py_buffer *a = &lent[0].buffer, *b = &lent[1].buffer, *c = &lent[2].buffer;
    if (fine && (a->ndim != 2 || b->ndim != 2 || c->ndim != 2 || a->shape[1] != b->shape[0] ||
                 c->shape[0] != a->shape[0] || c->shape[1] != b->shape[1] ||
                 (c->shape[1] > 1 && lent[2].strides[1] != 1))) {
        PyErr_SetString(PyExc_ValueError, "array_product takes matrices that fit");
        fine = 0;
    }
    if (fine)
        fine = answered(rg_product(c->shape[0], c->shape[1], a->shape[1],
                                   (RgMatrix){a->buf, lent[0].strides[0], lent[0].strides[1]},
                                   (RgMatrix){b->buf, lent[1].strides[0], lent[1].strides[1]},
                                   c->buf, lent[2].strides[0], add ? RG_ADD : RG_REPLACE)) == 0;
    give_back(lent, 3);
    if (!fine) return NULL;
    Py_RETURN_NONE;
}

/* array_total(x) -> float */
static PyObject *array_total(PyObject *Py_UNUSED(module), PyObject *x) {
    Lent lent = {0};
    if (lend(x, &lent, 0, 'd') < 0) return NULL;
    double total = 0.0;
    int code = rg_total(lent.buffer.ndim, lent.buffer.shape,
                        (RgView){lent.buffer.buf, lent.strides}, &total);
    give_back(&lent, 1);
    return answered(code) < 0 ? NULL : PyFloat_FromDouble(total);
}

/* array_choose(by, x, out): along the middle axis of x. */
static PyObject *array_choose(PyObject *Py_UNUSED(module), PyObject *args) {
    int by;
    PyObject *x, *out;
    if (!PyArg_ParseTuple(args, "iOO:array_choose", &by, &x, &out)) return NULL;
    Lent lent[2] = {0};
    int fine = lend(x, &lent[0], 0, 'd') == 0 && lend(out, &lent[1], 1, 'q') == 0;
    const Py_buffer *from = &lent[0].buffer, *to = &lent[1].buffer;
    if (fine) {
        Py_ssize_t wanted = 0;
        fine = from->ndim == 3 && by >= RG_ARGMAX && by <= RG_ARGSORT;
        if (fine) {
            wanted = from->shape[0] * from->shape[2] * (by == RG_ARGSORT ? from->shape[1] : 1);
            fine = (by == RG_ARGSORT || from->shape[1] > 0 || wanted == 0) &&
                   to->len == wanted * 8 && PyBuffer_IsContiguous(from, 'C') &&
                   PyBuffer_IsContiguous(to, 'C');
        }
        if (!fine) PyErr_SetString(PyExc_ValueError, "array_choose takes three axes and room");
    }
    if (fine)
        fine = answered(rg_choose(by, from->shape[0], from->shape[1], from->shape[2], from->buf,
                                  to->buf)) == 0;
    give_back(lent, 2);
    if (!fine) return NULL;
    Py_RETURN_NONE;
}

/* ---- plans ---- */

static const char capsule_name[] = "retrograde.plan";

static void free_capsule(PyObject *capsule) {
    rg_plan_free(PyCapsule_GetPointer(capsule, capsule_name));
}

/* array_plan(words, numbers) -> a capsule */
static PyObject *array_plan(PyObject *Py_UNUSED(module), PyObject *args) {
    const char *words, *numbers;
    Py_ssize_t count, number_count;
    if (!PyArg_ParseTuple(args, "y#y#:array_plan", &words, &count, &numbers, &number_count))
        return NULL;
    int64_t *aligned = PyMem_Malloc((size_t)(count + number_count) + 8);
    if (aligned == NULL) return PyErr_NoMemory();
    double *aligned_numbers = (double *)(aligned + count / 8);
    memcpy(aligned, words, (size_t)count);
    memcpy(aligned_numbers, numbers, (size_t)number_count);
    RgPlan *plan =
        rg_plan_read(aligned, (size_t)count / 8, aligned_numbers, (size_t)number_count / 8);
    PyMem_Free(aligned);
    if (plan == NULL) {
        PyErr_SetString(PyExc_ValueError, "this is no plan for the native core");
        return NULL;
    }
    PyObject *capsule = PyCapsule_New(plan, capsule_name, free_capsule);
    if (capsule == NULL) rg_plan_free(plan);
    return capsule;
}

RgPlan *rg_plan_of_capsule(PyObject *capsule) {
    return PyCapsule_GetPointer(capsule, capsule_name);
}

static int lend_all(PyObject *objects, Lent *lent, int count, char format, const ptrdiff_t *sizes,
                    const void **at) {
    for (int i = 0; i < count; i++) {
        if (lend(PyTuple_GET_ITEM(objects, i), &lent[i], 0, format) < 0) return -1;
        if (lent[i].buffer.len != sizes[i] * 8 || !PyBuffer_IsContiguous(&lent[i].buffer, 'C')) {
            PyErr_SetString(PyExc_ValueError, "a plan takes contiguous arrays of its own shapes");
            return -1;
        }
        at[i] = lent[i].buffer.buf;
    }
    return 0;
}

/* array_run(plan, out, arrays, wholes, add) */
static PyObject *array_run(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *capsule, *out, *arrays, *wholes;
    int add;
    if (!PyArg_ParseTuple(args, "OOO!O!p:array_run", &capsule, &out, &PyTuple_Type, &arrays,
                          &PyTuple_Type, &wholes, &add))
        return NULL;
    const RgPlan *plan = rg_plan_of_capsule(capsule);
    if (plan == NULL) return NULL;
    int count = plan->arrays, whole_count = plan->wholes;
    if (PyTuple_GET_SIZE(arrays) != count || PyTuple_GET_SIZE(wholes) != whole_count) {
        PyErr_SetString(PyExc_ValueError, "a plan takes as many arrays as it reads");
        return NULL;
    }
    Lent target = {0}, *lent = PyMem_Calloc((size_t)(count + whole_count) + 1, sizeof(Lent));
    const void **at = PyMem_Calloc((size_t)(count + whole_count) + 1, sizeof(void *));
    int fine = lent && at;
    if (!fine) PyErr_NoMemory();
    fine = fine && lend_all(arrays, lent, count, 'd', plan->array_size + 1, at) == 0 &&
           lend_all(wholes, lent + count, whole_count, 'q', plan->whole_size, at + count) == 0 &&
           lend(out, &target, 1, 'd') == 0;
    if (fine &&
        (target.buffer.len != plan->size * 8 || !PyBuffer_IsContiguous(&target.buffer, 'C'))) {
        PyErr_SetString(PyExc_ValueError, "a plan writes a contiguous array of its own shape");
        fine = 0;
    }
    if (fine)
        fine = answered(rg_plan_run(plan, target.buffer.buf, (const double *const *)at,
                                    (const int64_t *const *)(at + count),
                                    add ? RG_ADD : RG_REPLACE)) == 0;
    give_back(&target, 1);
    if (lent) give_back(lent, count + whole_count);
    PyMem_Free(lent);
    PyMem_Free(at);
    if (!fine) return NULL;
    Py_RETURN_NONE;
}

/* array_threads(most) -> how many it was before. */
static PyObject *array_threads(PyObject *Py_UNUSED(module), PyObject *most) {
    long wanted = PyLong_AsLong(most);
    if (wanted == -1 && PyErr_Occurred()) return NULL;
    return PyLong_FromLong(rg_use_threads(wanted > 64 ? 64 : (int)wanted));
}

PyMethodDef rg_array_methods[] = {
    {"array_map", array_map, METH_VARARGS,
     RG_DOC("array_map($module, op, out, operands, /)", "One row of the law on whole arrays.")},
    {"array_back", array_back, METH_VARARGS,
     RG_DOC("array_back($module, op, which, out, sources, add, /)",
            "What one row adds to the gradient of an operand.")},
    {"array_product", array_product, METH_VARARGS,
     RG_DOC("array_product($module, a, b, c, add, /)", "A matrix product into c.")},
    {"array_total", array_total, METH_O,
     RG_DOC("array_total($module, x, /)", "The sum of an array.")},
    {"array_choose", array_choose, METH_VARARGS,
     RG_DOC("array_choose($module, by, x, out, /)",
            "Where the largest or smallest stands along the middle axis, or the order.")},
    {"array_plan", array_plan, METH_VARARGS,
     RG_DOC("array_plan($module, words, numbers, /)", "A plan of the array law, ready to run.")},
    {"array_run", array_run, METH_VARARGS,
     RG_DOC("array_run($module, plan, out, arrays, wholes, add, /)", "Carry a plan out.")},
    {"array_threads", array_threads, METH_O,
     RG_DOC("array_threads($module, most, /)",
            "Say how many threads a product may take; how many it was.")},
    {NULL, NULL, 0, NULL},
};
