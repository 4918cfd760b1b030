/* Optimizers over a list of leaves, values and tensors: one pass reads every gradient and moves every
 * number.
 *
 * State lives in float64 arrays, one item a number of a leaf; `steps` counts how often each was moved,
 * since a frozen leaf is passed over. Everything is checked before anything is changed. The same formulas,
 * bit for bit, are in the reference core (retrograde/_core/descent.py). */
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
    int tensors;        /* whether there are any */
    int arrays;
    Py_buffer views[MOST_ARRAYS];
    double *state[MOST_ARRAYS];
} Leaves;

static void release(Leaves *leaves) {
    for (int i = 0; i < leaves->arrays; i++) PyBuffer_Release(&leaves->views[i]);
    Py_XDECREF(leaves->values);
}

/* The values of a list, which is read where it stands: no Python code may run from here on. Those
 * whose numbers will be set must be leaves of no recording. */
typedef enum { READS_GRADIENTS, SETS_GRADIENTS, SETS_DATA } Purpose;

/* A tensor of the list, made ready to be written to where it will be. */
static int take_tensor(Leaves *leaves, PyObject *item, Purpose purpose) {
    Value *v = rg_node_of(item);
    RgBody *body = rg_body(v);
    leaves->numbers += body->size - 1;
    leaves->tensors = 1;
    if (rg_refuse_recording("an optimizer") < 0) return -1;
    if (purpose == SETS_DATA && !rg_is_leaf(v)) {
        rg_fail("LeafError", "tensor_data", "(O)", item);
        return -1;
    }
    if (purpose == SETS_DATA && rg_tensor_restore(v) < 0) return -1;
    if (purpose == SETS_DATA && (body->buffer->refs > 1 || !body->contiguous)) {
        RgBuffer *copy = rg_numbers_new((size_t)body->size);
        if (copy == NULL) return -1;
        rg_pack(body->ndim, body->shape, copy->data, (RgView){body->at, body->strides});
        uint32_t version = body->version; /* the same numbers still */
        rg_tensor_replace(v, copy);
        body->version = version;
    }
    if (purpose == SETS_GRADIENTS && body->gradient && body->gradient->refs > 1) {
        RgBuffer *copy = rg_numbers_new((size_t)body->size);
        if (copy == NULL) return -1;
        memcpy(copy->data, body->gradient->data, (size_t)body->size * sizeof(double));
        rg_numbers_drop(body->gradient);
        body->gradient = copy;
    }
    return 0;
}

/* The numbers of one leaf and their gradients; `step` is 0 where no gradient has come yet. */
typedef struct {
    Value *node;
    double *data, *gradient;
    Py_ssize_t count, step;
} Stretch;

static double no_gradient = 0.0;

static Stretch stretch_of(PyObject *item) {
    if (!rg_is_tensor(item)) {
        Value *v = (Value *)item;
        return (Stretch){v, &v->data, &v->grad, 1, 1};
    }
    Value *v = rg_node_of(item);
    RgBody *body = rg_body(v);
    if (body->gradient) return (Stretch){v, body->at, body->gradient->data, body->size, 1};
    return (Stretch){v, body->at, &no_gradient, body->size, 0};
}

/* Every number of every leaf that takes gradients, where there are tensors: `x`, `g` and its place
 * `at` among the state. */
#define EACH_NUMBER(LEAVES, WRITES, BODY)                                                          \
    for (Py_ssize_t i_ = 0, first_ = 0; i_ < (LEAVES).count; i_++) {                               \
        Stretch of_ = stretch_of((LEAVES).items[i_]);                                              \
        if (of_.node->flags & RG_REQUIRES_GRAD) {                                                  \
            for (Py_ssize_t j_ = 0; j_ < of_.count; j_++) {                                        \
                double *x = &of_.data[j_], *g = &of_.gradient[j_ * of_.step];                      \
                Py_ssize_t at = first_ + j_;                                                       \
                (void)x, (void)g, (void)at;                                                        \
                BODY                                                                               \
            }                                                                                      \
            if (WRITES && rg_is_node(of_.node)) rg_body(of_.node)->version++;                      \
        }                                                                                          \
        first_ += of_.count;                                                                       \
    }

static int take_values(Leaves *leaves, PyObject *list, Purpose purpose) {
    leaves->values = PySequence_Fast(list, "an optimizer takes a list of values");
    if (leaves->values == NULL) return -1;
    leaves->items = PySequence_Fast_ITEMS(leaves->values);
    leaves->count = PySequence_Fast_GET_SIZE(leaves->values);
    for (Py_ssize_t i = 0; i < leaves->count; i++) {
        PyObject *item = leaves->items[i];
        leaves->numbers++;
        if (rg_is_tensor(item)) {
            if (take_tensor(leaves, item, purpose) < 0) return -1;
            continue;
        }
        if (!rg_is_value(item)) {
            rg_fail("NotAValueError", "at", "snO", "an optimizer", i, item);
            return -1;
        }
        if (RG_UNLIKELY(rg_lending) && purpose == SETS_GRADIENTS &&
            rg_check_loan((Value *)item, RG_ANY_THREAD) < 0)
            return -1;
        int moves = purpose == SETS_DATA;
        if (rg_recording() && (moves || rg_is_read_afresh((Value *)item))) {
            rg_fail("RecordingError", moves ? "assignment" : "grad", "(O)", item);
            return -1;
        }
    }
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

static inline Value *leaf(const Leaves *leaves, Py_ssize_t i) { return (Value *)leaves->items[i]; }

typedef struct {
    double lr, momentum, kept, decay;
    int nesterov;
} Sgd;

static inline double sgd_one(const Sgd *s, double x, double g, double *steps, double *velocity) {
    if (s->decay != 0.0) g = g + s->decay * x;
    if (s->momentum != 0.0) {
        *velocity = *steps == 0.0 ? g : s->momentum * *velocity + s->kept * g;
        g = s->nesterov ? g + s->momentum * *velocity : *velocity;
    }
    *steps += 1.0;
    return x - s->lr * g;
}

/* sgd(leaves, steps, velocity, lr, momentum, dampening, weight_decay, nesterov) */
static PyObject *sgd(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t given) {
    Leaves leaves;
    double settings[5];
    if (take_step(&leaves, args, given, 2, settings, 5) < 0) {
        release(&leaves);
        return NULL;
    }
    const Sgd s = {settings[0], settings[1], 1.0 - settings[2], settings[3], settings[4] != 0.0};
    double *steps = leaves.state[0], *velocity = leaves.state[1];
    if (leaves.tensors)
        EACH_NUMBER(leaves, 1, { *x = sgd_one(&s, *x, *g, &steps[at], &velocity[at]); })
    for (Py_ssize_t i = 0; i < leaves.count && !leaves.tensors; i++) {
        Value *v = leaf(&leaves, i);
        if (!(v->flags & RG_REQUIRES_GRAD)) continue;
        v->data = sgd_one(&s, v->data, v->grad, &steps[i], &velocity[i]);
    }
    release(&leaves);
    Py_RETURN_NONE;
}

/* What Adam does with one number; `size` is lr over the first bias correction, `root` the square
 * root of the second. */
typedef struct {
    double lr, beta1, beta2, epsilon, decay, size, root;
    int decoupled;
} Adam;

static inline double adam_one(const Adam *a, double x, double g, double *mean, double *square) {
    if (a->decay != 0.0 && a->decoupled)
        x = x * (1.0 - a->lr * a->decay);
    else if (a->decay != 0.0)
        g = g + a->decay * x;
    double m = *mean + (g - *mean) * (1.0 - a->beta1);
    double s = a->beta2 * *square + (1.0 - a->beta2) * g * g;
    *mean = m;
    *square = s;
    return x - a->size * m / (sqrt(s) / a->root + a->epsilon);
}

/* What Adam's means are divided by after so many steps. */
static void correct(Adam *a, double steps) {
    a->size = a->lr / (1.0 - pow(a->beta1, steps));
    a->root = sqrt(1.0 - pow(a->beta2, steps));
}

#define BLOCK 16

/* A block whose leaves have all been moved equally often: numbers are gathered, moved, put back. */
static void adam_block(const Adam *a, const Leaves *leaves, Py_ssize_t at) {
    double x[BLOCK], g[BLOCK], *means = leaves->state[1] + at, *squares = leaves->state[2] + at;
    const Adam adam = *a;
    for (int j = 0; j < BLOCK; j++) {
        x[j] = leaf(leaves, at + j)->data;
        g[j] = leaf(leaves, at + j)->grad;
    }
    for (int j = 0; j < BLOCK; j++) x[j] = adam_one(&adam, x[j], g[j], &means[j], &squares[j]);
    for (int j = 0; j < BLOCK; j++) leaf(leaves, at + j)->data = x[j];
}

static int is_even_block(const Leaves *leaves, Py_ssize_t at) {
    if (at + BLOCK > leaves->count) return 0;
    const double *steps = leaves->state[0] + at;
    int even = RG_REQUIRES_GRAD;
    for (int j = 0; j < BLOCK; j++)
        even &= leaf(leaves, at + j)->flags & (steps[j] == steps[0] ? RG_REQUIRES_GRAD : 0);
    return even;
}

/* adam(leaves, steps, mean, square, lr, beta1, beta2, epsilon, weight_decay, decoupled) */
static PyObject *adam(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t given) {
    Leaves leaves;
    double s[6];
    if (take_step(&leaves, args, given, 3, s, 6) < 0) {
        release(&leaves);
        return NULL;
    }
    Adam a = {s[0], s[1], s[2], s[3], s[4], 0.0, 0.0, s[5] != 0.0};
    double *steps = leaves.state[0], corrected = 0.0;
    if (leaves.tensors)
        EACH_NUMBER(leaves, 1, {
            steps[at] += 1.0;
            if (steps[at] != corrected) correct(&a, corrected = steps[at]);
            *x = adam_one(&a, *x, *g, &leaves.state[1][at], &leaves.state[2][at]);
        })
    for (Py_ssize_t i = 0; i < leaves.count && !leaves.tensors;) {
        Value *v = leaf(&leaves, i);
        if (!(v->flags & RG_REQUIRES_GRAD)) {
            i++;
            continue;
        }
        int even = is_even_block(&leaves, i);
        double now = steps[i] + 1.0;
        if (now != corrected) correct(&a, corrected = now);
        if (even)
            adam_block(&a, &leaves, i);
        else
            v->data = adam_one(&a, v->data, v->grad, &leaves.state[1][i], &leaves.state[2][i]);
        for (int j = 0; j < (even ? BLOCK : 1); j++) steps[i++] = now;
    }
    release(&leaves);
    Py_RETURN_NONE;
}

typedef struct {
    double lr, alpha, epsilon, decay, momentum;
    int centered;
} Rms;

static inline double rms_one(const Rms *r, double x, double g, double *square, double *mean,
                             double *velocity) {
    if (r->decay != 0.0) g = g + r->decay * x;
    *square = r->alpha * *square + (1.0 - r->alpha) * g * g;
    double spread = *square;
    if (r->centered) {
        *mean = *mean + (g - *mean) * (1.0 - r->alpha);
        spread = *square - *mean * *mean;
    }
    double root = sqrt(spread) + r->epsilon, step = r->lr * g / root;
    if (r->momentum != 0.0) {
        *velocity = r->momentum * *velocity + g / root;
        step = r->lr * *velocity;
    }
    return x - step;
}

/* rmsprop(leaves, steps, square, mean, velocity, lr, alpha, epsilon, weight_decay, momentum,
 * centered) */
static PyObject *rmsprop(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t given) {
    Leaves leaves;
    double settings[6];
    if (take_step(&leaves, args, given, 4, settings, 6) < 0) {
        release(&leaves);
        return NULL;
    }
    const Rms r = {settings[0], settings[1], settings[2],
                   settings[3], settings[4], settings[5] != 0.0};
    double *steps = leaves.state[0], *square = leaves.state[1], *mean = leaves.state[2];
    double *velocity = leaves.state[3];
    if (leaves.tensors)
        EACH_NUMBER(leaves, 1, {
            steps[at] += 1.0;
            *x = rms_one(&r, *x, *g, &square[at], &mean[at], &velocity[at]);
        })
    for (Py_ssize_t i = 0; i < leaves.count && !leaves.tensors; i++) {
        Value *v = leaf(&leaves, i);
        if (!(v->flags & RG_REQUIRES_GRAD)) continue;
        steps[i] += 1.0;
        v->data = rms_one(&r, v->data, v->grad, &square[i], &mean[i], &velocity[i]);
    }
    release(&leaves);
    Py_RETURN_NONE;
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
        Stretch of = stretch_of(leaves.items[i]);
        for (Py_ssize_t j = 0; j < of.count && !isnan(total); j++) {
            double size = fabs(of.gradient[j * of.step]);
            if (isinf(kind))
                total = size > total || isnan(size) ? size : total;
            else
                total += kind == 2.0 ? size * size : pow(size, kind);
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
        Stretch of = stretch_of(leaves.items[i]);
        for (Py_ssize_t j = 0; of.step && j < of.count; j++) of.gradient[j] *= factor;
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
        Stretch of = stretch_of(leaves.items[i]);
        for (Py_ssize_t j = 0; of.step && j < of.count; j++) {
            double *g = &of.gradient[j];
            *g = *g > limit ? limit : *g < -limit ? -limit : *g;
        }
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
