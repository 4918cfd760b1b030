/* A call site: a call of a compiled function that was made before, gone through again in one go.
 *
 * It knows the kinds of the arguments, the names that must mean what they did, and the plan. Whatever
 * is not as it was is a miss, told by None: then the long way is taken, which knows every case and
 * every error. Nothing has happened by then. */
#include "replaying.h"

enum {
    NUMBER = -2,
    ONE_A_ROW = -1
}; /* kinds of arguments; others are how many numbers a row has */
enum { STEPS, ONCE, EXTRAS, COLUMNS, UNIFORMS, PLACES, KINDS, BUFFERS };

typedef struct {
    PyObject_HEAD Py_buffer buffers[BUFFERS];
    Py_ssize_t places, slots, stored, reduced, guards;
    PyObject *code;     /* the keeper of the plan's code */
    PyObject *names;    /* what must be unchanged */
    PyObject *captured; /* leaves whose numbers come first among the uniform ones */
    PyObject *array_type, *float_type, *default_threads;
} CallSite;

static PyTypeObject *CallSite_Type = NULL;

/* What one call needs, in memory of its own. */
typedef struct {
    Py_buffer *views; /* of the arguments that are arrays */
    Py_ssize_t view_count, rows;
    double *numbers;   /* by id */
    RgColumn *columns; /* the same */
    double *uniforms, *results, *sums;
    RgColumn *inputs, *outputs;
    Py_buffer *made; /* of the arrays that results go to */
    Py_ssize_t made_count;
    int32_t *failed;
    void *memory;
} Call;

static size_t length(const CallSite *site, int which, size_t size) {
    return (size_t)site->buffers[which].len / size;
}

static void release(Call *call) {
    for (Py_ssize_t i = 0; i < call->view_count; i++) PyBuffer_Release(&call->views[i]);
    for (Py_ssize_t i = 0; i < call->made_count; i++) PyBuffer_Release(&call->made[i]);
    PyMem_Free(call->memory);
    PyMem_Free(call->made);
    PyMem_Free(call->failed);
    PyMem_Free(call->sums);
}

/* One number of an argument. 1, or 0 for a miss. */
static int take_number(const CallSite *site, PyObject *given, double *number) {
    if (RG_LIKELY(PyFloat_CheckExact(given)) || (PyObject *)Py_TYPE(given) == site->float_type) {
        *number = PyFloat_AS_DOUBLE(given);
        return 1;
    }
    if (!PyLong_CheckExact(given)) return 0;
    *number = PyLong_AsDouble(given);
    if (*number != -1.0 || !PyErr_Occurred()) return 1;
    PyErr_Clear(); /* too large: the long way says so */
    return 0;
}

/* The columns of an array of rows. 1, or 0 for a miss. */
static int take_array(const CallSite *site, PyObject *given, int kind, Call *call, Py_ssize_t id) {
    if ((PyObject *)Py_TYPE(given) != site->array_type) return 0;
    Py_buffer *view = &call->views[call->view_count];
    if (PyObject_GetBuffer(given, view, PyBUF_STRIDES | PyBUF_FORMAT) < 0) {
        PyErr_Clear();
        return 0;
    }
    call->view_count++;
    if (view->ndim != (kind == ONE_A_ROW ? 1 : 2) || view->format == NULL ||
        strcmp(view->format, "d") || (kind != ONE_A_ROW && view->shape[1] != kind) ||
        view->shape[0] == 0 || (call->rows >= 0 && call->rows != view->shape[0]))
        return 0;
    call->rows = view->shape[0];
    for (Py_ssize_t j = 0; j < (kind == ONE_A_ROW ? 1 : kind); j++) {
        ptrdiff_t across = kind == ONE_A_ROW ? 0 : j * view->strides[1];
        call->columns[id + j] = (RgColumn){(char *)view->buf + across, view->strides[0]};
    }
    return 1;
}

/* Memory for what does not depend on the rows. */
static int prepare(const CallSite *site, Call *call, Py_ssize_t arguments, Py_ssize_t numbers) {
    size_t uniforms = length(site, UNIFORMS, sizeof(double));
    size_t inputs = length(site, COLUMNS, sizeof(uint32_t));
    size_t results = (size_t)site->stored;
    size_t columns = (size_t)numbers + inputs + results + 1;
    size_t doubles = (size_t)numbers + uniforms + results;
    char *memory = PyMem_Malloc((size_t)arguments * sizeof(Py_buffer) + columns * sizeof(RgColumn) +
                                doubles * sizeof(double));
    if (memory == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    call->memory = memory;
    call->views = (Py_buffer *)memory;
    call->columns = (RgColumn *)(call->views + arguments);
    call->inputs = call->columns + numbers;
    call->outputs = call->inputs + inputs + 1;
    call->numbers = (double *)(call->outputs + results);
    call->uniforms = call->numbers + numbers;
    call->results = call->uniforms + uniforms;
    return 0;
}

/* 1, 0 for a miss, -1 with an exception. */
static int take_arguments(const CallSite *site, PyObject *args, Call *call) {
    const int32_t *kinds = site->buffers[KINDS].buf;
    Py_ssize_t count = (Py_ssize_t)length(site, KINDS, sizeof(int32_t)), numbers = 0, id = 0;
    if (PyTuple_GET_SIZE(args) != count) return 0;
    for (Py_ssize_t i = 0; i < count; i++) numbers += kinds[i] < 0 ? 1 : kinds[i];
    if (prepare(site, call, count, numbers) < 0) return -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *given = PyTuple_GET_ITEM(args, i);
        int fits = kinds[i] == NUMBER ? take_number(site, given, &call->numbers[id])
                                      : take_array(site, given, kinds[i], call, id);
        if (!fits) return 0;
        id += kinds[i] < 0 ? 1 : kinds[i];
    }
    return 1;
}

/* The numbers that are the same for all rows. 1, or 0 for a miss. */
static int fill_uniforms(const CallSite *site, Call *call) {
    memcpy(call->uniforms, site->buffers[UNIFORMS].buf, (size_t)site->buffers[UNIFORMS].len);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(site->captured); i++) {
        PyObject *leaf = PyList_GET_ITEM(site->captured, i);
        if (!rg_is_value(leaf)) return 0;
        call->uniforms[i] = ((Value *)leaf)->data;
    }
    const uint32_t *places = site->buffers[PLACES].buf;
    for (size_t i = 0; i < length(site, PLACES, 2 * sizeof(uint32_t)); i++)
        call->uniforms[places[2 * i]] = call->numbers[places[2 * i + 1]];
    const uint32_t *columns = site->buffers[COLUMNS].buf;
    for (size_t i = 0; i < length(site, COLUMNS, sizeof(uint32_t)); i++)
        call->inputs[i] = call->columns[columns[i]];
    return 1;
}

/* Where results go: into numbers of the call's own, or into the rows of fresh arrays. */
static int place_outputs(const CallSite *site, Call *call, PyObject *arrays) {
    Py_ssize_t next = 0;
    for (; arrays == NULL && next < site->stored; next++)
        call->outputs[next] = (RgColumn){(char *)(call->results + next), 0};
    if (arrays == NULL) return 0;
    Py_ssize_t count = PyList_GET_SIZE(arrays);
    call->made = PyMem_Calloc((size_t)count + 1, sizeof(Py_buffer));
    if (call->made == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_buffer *view = &call->made[i];
        if (PyObject_GetBuffer(PyList_GET_ITEM(arrays, i), view, PyBUF_ND | PyBUF_WRITABLE) < 0)
            return -1;
        call->made_count++;
        for (Py_ssize_t j = 0; view->ndim == 2 && j < view->shape[0] && next < site->stored; j++) {
            char *begin = (char *)view->buf + j * call->rows * (Py_ssize_t)sizeof(double);
            call->outputs[next++] = (RgColumn){begin, sizeof(double)};
        }
        if (view->ndim != 2 || view->shape[1] != call->rows) break;
    }
    if (next == site->stored) return 0;
    PyErr_SetString(PyExc_ValueError, "the results need other arrays");
    return -1;
}

/* The chunks' sums added in their order, then what was stored as numbers; all as a tuple. */
static PyObject *numbers_of(const CallSite *site, const Call *call, const RgRun *run) {
    Py_ssize_t stored = call->rows < 0 ? site->stored : 0;
    PyObject *found = PyTuple_New(site->reduced + stored);
    for (Py_ssize_t i = 0; found && i < site->reduced + stored; i++) {
        double number = 0.0;
        for (size_t chunk = 0; i < site->reduced && chunk < rg_chunks(run); chunk++)
            number += call->sums[chunk * (size_t)site->reduced + (size_t)i];
        if (i >= site->reduced) number = call->results[i - site->reduced];
        PyObject *item = PyFloat_FromDouble(number);
        if (item == NULL)
            Py_CLEAR(found);
        else
            PyTuple_SET_ITEM(found, i, item);
    }
    return found;
}

static Py_ssize_t threads_of(const CallSite *site, const RgRun *run, PyObject *wanted) {
    if (rg_chunks(run) < 2) return 1;
    PyObject *count =
        wanted == Py_None ? PyObject_CallNoArgs(site->default_threads) : Py_NewRef(wanted);
    Py_ssize_t threads = count ? PyLong_AsSsize_t(count) : -1;
    Py_XDECREF(count);
    return threads;
}

/* Run the plan. 1, 0 for a miss: a row goes another way; -1 with an exception. */
static int run_plan(const CallSite *site, Call *call, RgRun *run, PyObject *wanted) {
    size_t rows = call->rows < 0 ? 1 : (size_t)call->rows;
    *run = (RgRun){
        .kernels = rg_kernels_of(rows),
        .uniforms = call->uniforms,
        .known = length(site, UNIFORMS, sizeof(double)),
        .uniform_count = (size_t)site->places,
        .once = site->buffers[ONCE].buf,
        .once_count = length(site, ONCE, sizeof(RgStep)),
        .once_extras = site->buffers[EXTRAS].buf,
        .slots = (size_t)site->slots,
        .rows = rows,
        .inputs = call->inputs,
        .columns = call->columns,
        .outputs = call->outputs,
        .sum_count = (size_t)site->reduced,
    };
    call->sums = PyMem_Calloc(rg_chunks(run) * (size_t)site->reduced + 1, sizeof(double));
    call->failed = site->guards ? PyMem_Malloc(rows * sizeof(int32_t)) : NULL;
    if (call->sums == NULL || (site->guards && call->failed == NULL)) {
        PyErr_NoMemory();
        return -1;
    }
    run->sums = call->sums;
    run->failed = call->failed;
    for (size_t i = 0; call->failed && i < rows; i++) call->failed[i] = -1;
    Py_ssize_t threads = threads_of(site, run, wanted);
    if (threads == -1 && PyErr_Occurred()) return -1;
    PyObject *code = rg_code_of_run(run, site->code, &site->buffers[STEPS], &site->buffers[EXTRAS]);
    if (code == NULL) return -1;
    int done = rg_run_alone(run, threads);
    Py_DECREF(code);
    if (done < 0) return -1;
    for (size_t i = 0; call->failed && i < rows; i++)
        if (call->failed[i] >= 0) return 0;
    return 1;
}

/* run(args, allocate, threads) -> None for a miss; else numbers, where there are no rows; else
 * (sums, arrays, rows). allocate(rows) gives the arrays: a list, whose rows the outputs fill. */
static PyObject *site_run(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    const CallSite *site = (const CallSite *)self;
    if (count != 3 || !PyTuple_Check(given[0]))
        return PyErr_Format(PyExc_TypeError, "run takes arguments, an allocator and threads");
    if (rg_recording() || rg_anomaly_enabled()) Py_RETURN_NONE;
    Call call = {.rows = -1};
    RgRun run;
    PyObject *arrays = NULL, *found = NULL;
    int done = take_arguments(site, given[0], &call);
    if (done == 1) done = rg_names_are_unchanged(site->names) && fill_uniforms(site, &call);
    if (done == 1 && call.rows >= 0 && site->stored) {
        arrays = PyObject_CallFunction(given[1], "n", call.rows);
        if (arrays == NULL || !PyList_Check(arrays)) done = -1;
        if (arrays && done < 0) PyErr_SetString(PyExc_TypeError, "an allocator gives a list");
    }
    if (done == 1 && place_outputs(site, &call, arrays) < 0) done = -1;
    if (done == 1) done = run_plan(site, &call, &run, given[2]);
    if (done == 1) found = numbers_of(site, &call, &run);
    if (found && call.rows >= 0)
        found = Py_BuildValue("NOn", found, arrays ? arrays : Py_None, call.rows);
    release(&call);
    Py_XDECREF(arrays);
    if (done == 0) Py_RETURN_NONE;
    return found;
}

/* CallSite(steps, once, extras, columns, uniforms, places, kinds, uniform places, slots, stored, reduced, guards,
 * code, names, captured, array type, float type, default threads). */
static PyObject *site_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs)) {
    CallSite *site = (CallSite *)type->tp_alloc(type, 0);
    if (site == NULL) return NULL;
    Py_buffer *b = site->buffers;
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*y*y*nnnnnO!OO!OOO:CallSite", &b[0], &b[1], &b[2], &b[3],
                          &b[4], &b[5], &b[6], &site->places, &site->slots, &site->stored,
                          &site->reduced, &site->guards, &PyList_Type, &site->code, &site->names,
                          &PyList_Type, &site->captured, &site->array_type, &site->float_type,
                          &site->default_threads)) {
        site->code = site->names = site->captured = NULL; /* borrowed so far */
        site->array_type = site->float_type = site->default_threads = NULL;
        Py_DECREF((PyObject *)site);
        return NULL;
    }
    Py_INCREF(site->code);
    Py_INCREF(site->names);
    Py_INCREF(site->captured);
    Py_INCREF(site->array_type);
    Py_INCREF(site->float_type);
    Py_INCREF(site->default_threads);
    if (rg_is_names(site->names)) return (PyObject *)site;
    Py_DECREF((PyObject *)site);
    return PyErr_Format(PyExc_TypeError, "a call site takes Names");
}

static int site_traverse(PyObject *self, visitproc visit, void *arg) {
    const CallSite *site = (const CallSite *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(site->code);
    Py_VISIT(site->names);
    Py_VISIT(site->captured);
    Py_VISIT(site->array_type);
    Py_VISIT(site->float_type);
    Py_VISIT(site->default_threads);
    return 0;
}

static void site_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    CallSite *site = (CallSite *)self;
    PyObject_GC_UnTrack(self);
    for (int i = 0; i < BUFFERS; i++) PyBuffer_Release(&site->buffers[i]);
    Py_XDECREF(site->code);
    Py_XDECREF(site->names);
    Py_XDECREF(site->captured);
    Py_XDECREF(site->array_type);
    Py_XDECREF(site->float_type);
    Py_XDECREF(site->default_threads);
    type->tp_free(self);
    Py_DECREF((PyObject *)type);
}

static PyMethodDef site_methods[] = {
    {"run", (PyCFunction)(void (*)(void))site_run, METH_FASTCALL,
     "run($self, args, allocate, threads, /)\n--\n\nThe call again; None where it is another one."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot site_slots[] = {
    {Py_tp_doc, "A call of a compiled function, ready to be made again."},
    {Py_tp_new, site_new},
    {Py_tp_traverse, site_traverse},
    {Py_tp_dealloc, site_dealloc},
    {Py_tp_methods, site_methods},
    {0, NULL},
};

static PyType_Spec site_spec = {
    .name = "retrograde._native.CallSite",
    .basicsize = sizeof(CallSite),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = site_slots,
};

int rg_add_call_site(PyObject *module) {
    CallSite_Type = (PyTypeObject *)PyType_FromSpec(&site_spec);
    return CallSite_Type == NULL ? -1 : PyModule_AddType(module, CallSite_Type);
}
