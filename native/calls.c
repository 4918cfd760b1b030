/* Method calls of tensors that were made before, found again by who their arguments are:
 * `t.sum(-1, True)` in a loop passes the same objects each time, or tuples of the same. What is not
 * found here is looked up by value (composed.c). */
#include "calls.h"

enum { TABLE = 512, MOST_GIVEN = 4 }; /* a power of two */

typedef struct {
    PyObject *name, *kwnames, *given[MOST_GIVEN]; /* held; names are interned */
    int count, ndim;
    Py_ssize_t shape[RG_INLINE_AXES];
    PyObject *program; /* NULL: an empty place */
} Call;

static Call calls[TABLE];

static inline size_t mixed(size_t hash, size_t word) { return hash * 31 + word; }

/* A tuple is made anew for every call; what it holds mostly is not. */
static inline size_t mixed_with(size_t hash, PyObject *given) {
    if (!PyTuple_CheckExact(given)) return mixed(hash, (size_t)given >> 4);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(given); i++)
        hash = mixed(hash, (size_t)PyTuple_GET_ITEM(given, i) >> 4);
    return hash;
}

/* Whether an argument is one that was kept, or a tuple of the same objects. */
static inline int is_same(PyObject *kept, PyObject *given) {
    if (kept == given) return 1;
    if (!PyTuple_CheckExact(given) || !PyTuple_CheckExact(kept)) return 0;
    Py_ssize_t size = PyTuple_GET_SIZE(given);
    if (PyTuple_GET_SIZE(kept) != size) return 0;
    for (Py_ssize_t i = 0; i < size; i++)
        if (PyTuple_GET_ITEM(kept, i) != PyTuple_GET_ITEM(given, i)) return 0;
    return 1;
}

/* How many objects were given, by place and by name; -1 for a call that is not kept. */
static inline int given_count(const RgBody *body, Py_ssize_t count, PyObject *kwnames) {
    Py_ssize_t given = count + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
    return given <= MOST_GIVEN && body->ndim <= RG_INLINE_AXES ? (int)given : -1;
}

static inline Call *place_of(PyObject *name, const RgBody *body, PyObject *const *args, int given,
                             PyObject *kwnames) {
    size_t hash = mixed((size_t)name >> 4, ((size_t)kwnames >> 4) + (size_t)body->ndim);
    for (int d = 0; d < body->ndim; d++) hash = mixed(hash, (size_t)body->shape[d]);
    for (int i = 0; i < given; i++) hash = mixed_with(hash, args[i]);
    return &calls[(hash * (size_t)UINT64_C(0x9E3779B97F4A7C15)) >> 32 & (TABLE - 1)];
}

PyObject *rg_call_found(PyObject *name, PyObject *self, PyObject *const *args, Py_ssize_t count,
                        PyObject *kwnames) {
    const RgBody *body = rg_body(rg_node_of(self));
    int given = given_count(body, count, kwnames);
    if (RG_UNLIKELY(given < 0)) return NULL;
    const Call *call = place_of(name, body, args, given, kwnames);
    if (call->program == NULL || call->name != name || call->kwnames != kwnames ||
        call->count != (int)count || call->ndim != body->ndim)
        return NULL;
    for (int d = 0; d < body->ndim; d++)
        if (call->shape[d] != body->shape[d]) return NULL;
    for (int i = 0; i < given; i++)
        if (!is_same(call->given[i], args[i])) return NULL;
    return call->program;
}

static void clear(Call *call) {
    PyObject *program = call->program;
    call->program = NULL;
    if (program == NULL) return;
    Py_CLEAR(call->name);
    Py_CLEAR(call->kwnames);
    for (int i = 0; i < MOST_GIVEN; i++) Py_CLEAR(call->given[i]);
    Py_DECREF(program);
}

/* Whether an object means the same for as long as it lives. */
static int is_constant(PyObject *given, int deep) {
    if (PyTuple_CheckExact(given) && !deep) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(given); i++)
            if (!is_constant(PyTuple_GET_ITEM(given, i), 1)) return 0;
        return 1;
    }
    return given == Py_None || PyBool_Check(given) || PyLong_CheckExact(given) ||
           PyFloat_CheckExact(given) || PyUnicode_CheckExact(given);
}

void rg_call_keep(PyObject *name, PyObject *self, PyObject *const *args, Py_ssize_t count,
                  PyObject *kwnames, PyObject *program) {
    const RgBody *body = rg_body(rg_node_of(self));
    int given = given_count(body, count, kwnames);
    for (int i = 0; i < given; i++)
        if (!is_constant(args[i], 0)) return;
    if (given < 0) return;
    Call *call = place_of(name, body, args, given, kwnames);
    clear(call);
    call->name = Py_NewRef(name);
    call->kwnames = Py_XNewRef(kwnames);
    for (int i = 0; i < given; i++) call->given[i] = Py_NewRef(args[i]);
    call->count = (int)count;
    call->ndim = body->ndim;
    for (int d = 0; d < body->ndim; d++) call->shape[d] = body->shape[d];
    call->program = Py_NewRef(program);
}

void rg_calls_forget(void) {
    for (int i = 0; i < TABLE; i++) clear(&calls[i]);
}
