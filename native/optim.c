/* Optimizers over a list of leaves, values and tensors: one pass reads every gradient and moves
 * every number.
 *
 * State lives in float64 arrays, one item a number; `steps` counts how often each was moved, since a
 * frozen leaf is passed over. Everything is checked, and all memory taken, before anything is
 * changed. The formulas are in kernels/descent.c. */
#include <math.h>

#include "tensor.h"

#include "kernels/arrays.h"

#define MOST_ARRAYS 4

/* The leaves of a call and its arrays of state. */
typedef struct {
    PyObject *values; /* a list or tuple */
    PyObject *const *items;
    Py_ssize_t count;
    Py_ssize_t numbers; /* of all leaves together */
    int arrays;
    Py_buffer views[MOST_ARRAYS];
    double *state[MOST_ARRAYS];
} Leaves;

static void release(Leaves *leaves) {
    for (int i = 0; i < leaves->arrays; i++) PyBuffer_Release(&leaves->views[i]);
    Py_XDECREF(leaves->values);
}

static inline Value *leaf(const Leaves *leaves, Py_ssize_t i) {
    PyObject *item = leaves->items[i];
    return rg_is_value(item) ? (Value *)item : rg_node_of(item);
}

typedef enum { READS_GRADIENTS, SETS_GRADIENTS, SETS_DATA } Purpose;

/* A buffer of a tensor's own, that may be written to: what others hold of it stays as it is. */
static int own(RgBuffer **buffer, Py_ssize_t size) {
    if (*buffer != NULL && (*buffer)->refs == 1) return 0;
    RgBuffer *mine = rg_numbers_new((size_t)size);
    if (mine == NULL) return -1;
    if (*buffer == NULL)
        memset(mine->data, 0, (size_t)size * sizeof(double));
    else
        memcpy(mine->data, (*buffer)->data, (size_t)size * sizeof(double));
    rg_numbers_xdrop(*buffer);
    *buffer = mine;
    return 0;
}

/* Memory for what is about to change; the numbers are the same afterwards. */
static int own_tensor(PyObject *item, Purpose purpose) {
    Value *v = rg_node_of(item);
    RgBody *body = rg_body(v);
    if (purpose == READS_GRADIENTS) return 0;
    if (purpose == SETS_DATA) {
        if (!rg_is_leaf(v)) {
            rg_fail("LeafError", "tensor_data", "(O)", item);
            return -1;
        }
        if (rg_refuse_recording("an optimizer") < 0) return -1;
        if (!(v->flags & RG_REQUIRES_GRAD)) return 0;
        if (rg_tensor_restore(v) < 0) return -1;
        if (!body->contiguous || body->at != body->buffer->data || body->buffer->refs > 1) {
            RgBuffer *packed = rg_numbers_new((size_t)body->size);
            if (packed == NULL) return -1;
            RgBuffer *now = rg_packed(v);
            if (now == NULL) {
                rg_numbers_drop(packed);
                return -1;
            }
            memcpy(packed->data, now->data, (size_t)body->size * sizeof(double));
            rg_numbers_drop(now);
            rg_tensor_replace(v, packed);
            body->version--; /* the numbers are as they were */
        }
    }
    return own(&body->gradient, body->size);
}

/* The leaves of a list, which is read where it stands: no Python code may run from here on. Those
 * whose numbers will be set must be leaves of no recording. */
static int take_values(Leaves *leaves, PyObject *list, Purpose purpose) {
    leaves->values = PySequence_Fast(list, "an optimizer takes a list of values");
    if (leaves->values == NULL) return -1;
    leaves->items = PySequence_Fast_ITEMS(leaves->values);
    leaves->count = PySequence_Fast_GET_SIZE(leaves->values);
    for (Py_ssize_t i = 0; i < leaves->count; i++) {
        PyObject *item = leaves->items[i];
        int tensor = rg_is_tensor(item);
        if (!tensor && !rg_is_value(item)) {
            rg_fail("NotAValueError", "at", "snO", "an optimizer", i, item);
            return -1;
        }
        Value *v = leaf(leaves, i);
        if (RG_UNLIKELY(rg_lending) && purpose == SETS_GRADIENTS &&
            rg_check_loan(v, RG_ANY_THREAD) < 0)
            return -1;
        int moves = purpose == SETS_DATA;
        if (rg_recording() && (moves || rg_is_read_afresh(v))) {
            rg_fail("RecordingError", moves ? "assignment" : "grad", "(O)", item);
            return -1;
        }
        leaves->numbers += tensor ? rg_body(v)->size : 1;
    }
    for (Py_ssize_t i = 0; i < leaves->count; i++)
        if (rg_is_tensor(leaves->items[i]) && own_tensor(leaves->items[i], purpose) < 0) return -1;
    return 0;
}

static int take_array(Leaves *leaves, PyObject *array) {
    Py_buffer *view = &leaves->views[leaves->arrays];
    if (PyObject_GetBuffer(array, view, PyBUF_ND | PyBUF_FORMAT | PyBUF_WRITABLE) < 0) return -1;
    leaves->state[leaves->arrays++] = view->buf;
    return 0;
}

static int check_arrays(const Leaves *leaves) {
    for (int i = 0; i < leaves->arrays; i++) {
        const Py_buffer *view = &leaves->views[i];
        if (view->format != NULL && !strcmp(view->format, "d") && view->ndim == 1 &&
            view->shape[0] == leaves->numbers)
            continue;
        PyErr_SetString(PyExc_TypeError,
                        "the state of an optimizer is a float64 array, one item a number");
        return -1;
    }
    return 0;
}

/* The arguments of a step: leaves, `arrays` arrays of state, then numbers. */
static int take_step(Leaves *leaves, PyObject *const *args, Py_ssize_t given, int arrays,
                     double *numbers, int count) {
    *leaves = (Leaves){NULL};
    if (given != 1 + arrays + count) {
        PyErr_Format(PyExc_TypeError, "expected %d arguments, got %zd", 1 + arrays + count, given);
        return -1;
    }
    for (int i = 0; i < count; i++)
        if (rg_number_or_fail(args[1 + arrays + i], "a setting of an optimizer", &numbers[i]) < 0)
            return -1;
    for (int i = 0; i < arrays; i++)
        if (take_array(leaves, args[1 + i]) < 0) return -1;
    return take_values(leaves, args[0], SETS_DATA) < 0 ? -1 : check_arrays(leaves);
}

/* ---- moving ---------------------------------------------------------------------------------- */

/* Moves numbers that were all moved `before` times: `state` are the arrays after `steps`. */
typedef void (*Move)(void *settings, double before, Py_ssize_t count, double *x, const double *g,
                     double *const *state);

static void move_run(const Leaves *leaves, Move move, void *settings, Py_ssize_t at,
                     Py_ssize_t count, double *x, const double *g) {
    double *steps = leaves->state[0] + at, *state[MOST_ARRAYS];
    for (Py_ssize_t begin = 0, end; begin < count; begin = end) {
        double before = steps[begin];
        end = begin + rg_arrays->descent->count(count - begin, steps + begin, before + 1.0);
        if (end == begin) end++; /* a count that is no number */
        for (int a = 1; a < leaves->arrays; a++) state[a - 1] = leaves->state[a] + at + begin;
        move(settings, before, end - begin, x + begin, g + begin, state);
    }
}

#define BLOCK 64

/* Values next to each other are gathered, moved, and put back. Returns how many there were. */
static Py_ssize_t move_values(const Leaves *leaves, Move move, void *settings, Py_ssize_t first,
                              Py_ssize_t at) {
    double x[BLOCK], g[BLOCK];
    Py_ssize_t count = 0;
    for (; count < BLOCK && first + count < leaves->count; count++) {
        PyObject *item = leaves->items[first + count];
        if (!rg_is_value(item) || !(((Value *)item)->flags & RG_REQUIRES_GRAD)) break;
        x[count] = ((Value *)item)->data;
        g[count] = ((Value *)item)->grad;
    }
    move_run(leaves, move, settings, at, count, x, g);
    for (Py_ssize_t j = 0; j < count; j++) leaf(leaves, first + j)->data = x[j];
    return count;
}

static PyObject *move_all(Leaves *leaves, Move move, void *settings) {
    Py_ssize_t at = 0;
    for (Py_ssize_t i = 0; i < leaves->count;) {
        Value *v = leaf(leaves, i);
        int tensor = rg_is_tensor(leaves->items[i]);
        if (!(v->flags & RG_REQUIRES_GRAD)) {
            at += tensor ? rg_body(v)->size : 1;
            i++;
        } else if (tensor) {
            RgBody *body = rg_body(v);
            move_run(leaves, move, settings, at, body->size, body->at, body->gradient->data);
            body->version++;
            at += body->size;
            i++;
        } else {
            Py_ssize_t count = move_values(leaves, move, settings, i, at);
            at += count;
            i += count;
        }
    }
    release(leaves);
    Py_RETURN_NONE;
}

static void move_sgd(void *settings, double before, Py_ssize_t count, double *x, const double *g,
                     double *const *state) {
    rg_arrays->descent->sgd(settings, before == 0.0, count, x, g, state[0]);
}

/* sgd(leaves, steps, velocity, lr, momentum, dampening, weight_decay, nesterov) */
static PyObject *sgd(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t given) {
    Leaves leaves;
    double s[5];
    if (take_step(&leaves, args, given, 2, s, 5) < 0) {
        release(&leaves);
        return NULL;
    }
    return move_all(&leaves, move_sgd, &(RgSgd){s[0], s[1], 1.0 - s[2], s[3], s[4] != 0.0});
}

/* For numbers that were moved `corrected` times. */
typedef struct {
    RgAdam settings;
    double corrected;
} Adam;

static void move_adam(void *settings, double before, Py_ssize_t count, double *x, const double *g,
                      double *const *state) {
    Adam *kept = settings;
    RgAdam *a = &kept->settings;
    double now = before + 1.0;
    if (now != kept->corrected) {
        a->size = a->lr / (1.0 - pow(a->beta1, now));
        a->root = sqrt(1.0 - pow(a->beta2, now));
        kept->corrected = now;
    }
    rg_arrays->descent->adam(a, count, x, g, state[0], state[1]);
}

/* adam(leaves, steps, mean, square, lr, beta1, beta2, epsilon, weight_decay, decoupled) */
static PyObject *adam(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t given) {
    Leaves leaves;
    double s[6];
    if (take_step(&leaves, args, given, 3, s, 6) < 0) {
        release(&leaves);
        return NULL;
    }
    Adam settings = {{s[0], s[1], s[2], s[3], s[4], 0.0, 0.0, s[5] != 0.0}, 0.0};
    return move_all(&leaves, move_adam, &settings);
}

static void move_rmsprop(void *settings, double Py_UNUSED(before), Py_ssize_t count, double *x,
                         const double *g, double *const *state) {
    rg_arrays->descent->rmsprop(settings, count, x, g, state[0], state[1], state[2]);
}

/* rmsprop(leaves, steps, square, mean, velocity, lr, alpha, epsilon, weight_decay, momentum,
 * centered) */
static PyObject *rmsprop(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t given) {
    Leaves leaves;
    double s[6];
    if (take_step(&leaves, args, given, 4, s, 6) < 0) {
        release(&leaves);
        return NULL;
    }
    RgRmsprop settings = {s[0], s[1], s[2], s[3], s[4], s[5] != 0.0};
    return move_all(&leaves, move_rmsprop, &settings);
}

/* ---- gradients ------------------------------------------------------------------------------- */

/* The gradient of a leaf: how many numbers, and where they stand; NULL for zeros. */
static Py_ssize_t gradient_of(const Leaves *leaves, Py_ssize_t i, double **at) {
    Value *v = leaf(leaves, i);
    if (!rg_is_tensor(leaves->items[i])) {
        *at = &v->grad;
        return 1;
    }
    *at = rg_body(v)->gradient ? rg_body(v)->gradient->data : NULL;
    return rg_body(v)->size;
}

/* grad_norm(values, kind): the length of the gradients, by the sum of their powers, in order. */
static PyObject *grad_norm(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *list;
    double kind, total = 0.0;
    Leaves leaves = {NULL};
    if (!PyArg_ParseTuple(args, "Od", &list, &kind)) return NULL;
    if (take_values(&leaves, list, READS_GRADIENTS) < 0) {
        release(&leaves);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < leaves.count && !isnan(total); i++) {
        double *g;
        Py_ssize_t count = gradient_of(&leaves, i, &g);
        for (Py_ssize_t j = 0; g != NULL && j < count; j++) {
            double size = fabs(g[j]);
            if (isinf(kind))
                total = size > total || isnan(size) ? size : total;
            else
                total += kind == 2.0 ? size * size : pow(size, kind);
            if (isnan(total)) break;
        }
    }
    release(&leaves);
    if (!isinf(kind)) total = kind == 2.0 ? sqrt(total) : pow(total, 1.0 / kind);
    return PyFloat_FromDouble(total);
}

/* scale_grad(values, factor) */
static PyObject *scale_grad(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *list;
    double factor;
    Leaves leaves = {NULL};
    if (!PyArg_ParseTuple(args, "Od", &list, &factor)) return NULL;
    int failed = take_values(&leaves, list, SETS_GRADIENTS);
    for (Py_ssize_t i = 0; !failed && i < leaves.count; i++) {
        double *g;
        Py_ssize_t count = gradient_of(&leaves, i, &g);
        for (Py_ssize_t j = 0; j < count; j++) g[j] *= factor;
    }
    release(&leaves);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

/* clip_grad(values, limit): every gradient into [-limit, limit]; NaN stays. */
static PyObject *clip_grad(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *list;
    double limit;
    Leaves leaves = {NULL};
    if (!PyArg_ParseTuple(args, "Od", &list, &limit)) return NULL;
    int failed = take_values(&leaves, list, SETS_GRADIENTS);
    for (Py_ssize_t i = 0; !failed && i < leaves.count; i++) {
        double *g;
        Py_ssize_t count = gradient_of(&leaves, i, &g);
        for (Py_ssize_t j = 0; j < count; j++)
            g[j] = g[j] > limit ? limit : g[j] < -limit ? -limit : g[j];
    }
    release(&leaves);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

#define FAST(FUNCTION) (PyCFunction)(void (*)(void)) FUNCTION, METH_FASTCALL

PyMethodDef rg_optim_methods[] = {
    {"sgd", FAST(sgd),
     RG_DOC("sgd($module, leaves, steps, velocity, lr, momentum, dampening, weight_decay, "
            "nesterov, /)",
            "One step of stochastic gradient descent over leaves.")},
    {"adam", FAST(adam),
     RG_DOC("adam($module, leaves, steps, mean, square, lr, beta1, beta2, epsilon, weight_decay, "
            "decoupled, /)",
            "One step of Adam or AdamW over leaves.")},
    {"rmsprop", FAST(rmsprop),
     RG_DOC("rmsprop($module, leaves, steps, square, mean, velocity, lr, alpha, epsilon, "
            "weight_decay, momentum, centered, /)",
            "One step of RMSprop over leaves.")},
    {"grad_norm", grad_norm, METH_VARARGS,
     RG_DOC("grad_norm($module, values, kind, /)", "The length of the gradients of values.")},
    {"scale_grad", scale_grad, METH_VARARGS,
     RG_DOC("scale_grad($module, values, factor, /)", "Multiply the gradients of values.")},
    {"clip_grad", clip_grad, METH_VARARGS,
     RG_DOC("clip_grad($module, values, limit, /)", "Clip the gradients of values into a range.")},
    {NULL, NULL, 0, NULL},
};
