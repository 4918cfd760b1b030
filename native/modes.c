/* no_grad, anomaly and recording: thread-local depths, and one count that keeps the common case to a test. */
#include "tensor.h"

Py_ssize_t rg_modes_active = 0;

static _Thread_local int no_grad_depth = 0;
static _Thread_local int anomaly_depth = 0;
static _Thread_local int recording_depth = 0;
static Py_ssize_t recordings = 0;                  /* in all threads */
static _Thread_local uint64_t recording_since = 0; /* the epoch in which the outermost one began */
static _Thread_local PyObject *made = NULL;        /* in it: the nodes of ops, in the order made */
static _Thread_local int arrays_made = 0;          /* in it: whether array rows made any */
static _Thread_local Py_ssize_t told = 0;          /* at how many of them somebody is told */
static PyObject *told_who = NULL;

int rg_grad_enabled(void) { return rg_modes_active == 0 || no_grad_depth == 0; }
int rg_anomaly_enabled(void) { return rg_modes_active != 0 && anomaly_depth != 0; }
int rg_recording(void) { return rg_modes_active != 0 && recording_depth != 0; }

/* In a recording: whether a replay may find another number here. That is what depends on an argument
 * or on anything from outside, leaves that are captured among it. What is made inside is marked as
 * collected, see leaf_origin; a value that an earlier recording left behind is from outside too. */
int rg_is_read_afresh(const Value *v) {
    uint64_t age = (uint16_t)((uint16_t)rg_epoch - v->epoch);
    return (v->flags & RG_TRACED) || !(v->flags & RG_COLLECTED) || age > rg_epoch - recording_since;
}

/* Whether the number of a value must not leave the graph now. Other threads than the one that records
 * are not told apart from it: what was made in a recording is hidden from them as long as any lasts. */
int rg_hides_number(const Value *v) {
    if (RG_LIKELY(rg_modes_active == 0)) return 0;
    return recording_depth ? rg_is_read_afresh(v) : recordings && (v->flags & RG_TRACED);
}

/* A node made in a recording: what is made of things read afresh is read afresh itself. */
static void inherit_tracing(Value *v) {
    for (Py_ssize_t i = 0, count = rg_width(v); i < count && !(v->flags & RG_TRACED); i++) {
        const Value *input = rg_input_at(v, i).input;
        if (input && rg_is_read_afresh(input)) v->flags |= RG_TRACED;
    }
}

/* tell_of(count, function): in later recordings function(number) is called once so many nodes were
 * made, and returns the number at which it is to be called again. What it raises ends the recording. */
static Py_ssize_t told_first = PY_SSIZE_T_MAX;

static PyObject *tell_of(PyObject *Py_UNUSED(m), PyObject *args) {
    Py_ssize_t count;
    PyObject *function;
    if (!PyArg_ParseTuple(args, "nO:tell_of", &count, &function)) return NULL;
    told_first = count;
    Py_XSETREF(told_who, Py_NewRef(function));
    Py_RETURN_NONE;
}

/* Keep a node of an op in the log of this thread's recording. */
int rg_remember(Value *v) {
    if (made == NULL) return 0;
    if (PyList_Append(made, (PyObject *)v) < 0) return -1;
    if (RG_LIKELY(PyList_GET_SIZE(made) < told)) return 0;
    PyObject *next = PyObject_CallFunction(told_who, "n", PyList_GET_SIZE(made));
    told = next ? PyLong_AsSsize_t(next) : PY_SSIZE_T_MAX;
    Py_XDECREF(next);
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *enter(int *depth) {
    (*depth)++;
    rg_modes_active++;
    Py_RETURN_NONE;
}

static PyObject *leave(int *depth) {
    if (*depth == 0) {
        PyErr_SetString(PyExc_RuntimeError, "this thread is not in that mode");
        return NULL;
    }
    (*depth)--;
    rg_modes_active--;
    Py_RETURN_NONE;
}

#define DEFINE_ENTER(NAME)                                                                         \
    static PyObject *enter_##NAME(PyObject *Py_UNUSED(m), PyObject *Py_UNUSED(ignored)) {          \
        return enter(&NAME##_depth);                                                               \
    }
#define DEFINE_LEAVE(NAME)                                                                         \
    static PyObject *leave_##NAME(PyObject *Py_UNUSED(m), PyObject *Py_UNUSED(ignored)) {          \
        return leave(&NAME##_depth);                                                               \
    }
#define DEFINE_IN(NAME)                                                                            \
    static PyObject *in_##NAME(PyObject *Py_UNUSED(m), PyObject *Py_UNUSED(ignored)) {             \
        return PyBool_FromLong(NAME##_depth);                                                      \
    }

DEFINE_ENTER(no_grad)
DEFINE_LEAVE(no_grad)
DEFINE_ENTER(anomaly)
DEFINE_LEAVE(anomaly)
DEFINE_IN(no_grad)
DEFINE_IN(anomaly)
DEFINE_IN(recording)

static PyObject *enter_recording(PyObject *Py_UNUSED(m), PyObject *Py_UNUSED(ignored)) {
    if (recording_depth == 0) {
        recording_since = rg_epoch;
        told = told_first;
        arrays_made = 0;
        Py_XSETREF(made, PyList_New(0));
        if (made == NULL) return NULL;
    }
    recordings++;
    return enter(&recording_depth);
}

static PyObject *leave_recording(PyObject *Py_UNUSED(m), PyObject *Py_UNUSED(ignored)) {
    if (recording_depth) recordings--;
    PyObject *done = leave(&recording_depth);
    if (done == NULL) return NULL;
    Py_SETREF(done, Py_NewRef(made));
    if (recording_depth == 0) Py_CLEAR(made);
    return done;
}

/* A node of an array row in this thread's recording: what is made inside is marked as leaves are. */
void rg_record_array(Value *v) {
    arrays_made = 1;
    v->flags |= RG_COLLECTED;
    inherit_tracing(v);
}

static PyObject *recorded_arrays(PyObject *Py_UNUSED(m), PyObject *Py_UNUSED(ignored)) {
    return PyBool_FromLong(arrays_made);
}

/* swap_no_grad(depth) -> the depth before: how a transform records inside no_grad(). */
static PyObject *swap_no_grad(PyObject *Py_UNUSED(m), PyObject *depth) {
    long wanted = PyLong_AsLong(depth);
    if (wanted == -1 && PyErr_Occurred()) return NULL;
    int before = no_grad_depth;
    rg_modes_active += wanted - before;
    no_grad_depth = (int)wanted;
    return PyLong_FromLong(before);
}

/* ---- cuts: no_grad() takes a value's history away, and somebody wants to know where ---------- */

#define CUT_PLACES 1024
#define CUT_TIMES 256

static PyObject *cut_watcher = NULL;
static struct {
    PyCodeObject *code; /* never followed */
    uint32_t instruction, times;
} cut_places[CUT_PLACES];

/* watch_cuts(function or None): what is called with a value before no_grad() takes its history. */
static PyObject *watch_cuts(PyObject *Py_UNUSED(m), PyObject *watcher) {
    PyObject *before = cut_watcher;
    cut_watcher = watcher == Py_None ? NULL : Py_NewRef(watcher);
    memset(cut_places, 0, sizeof(cut_places));
    return before ? before : Py_NewRef(Py_None);
}

/* A line may cut many times: it is reported the first 256 times and then each time the count has
 * doubled, so that looking at what lies under each cut stays bounded. */
void rg_report_cut(Value *v) {
    if (cut_watcher == NULL || !(v->flags & RG_REQUIRES_GRAD)) return;
    size_t place = (((uintptr_t)v->code >> 4) ^ (v->instruction * 31)) % CUT_PLACES;
    if (cut_places[place].code != v->code || cut_places[place].instruction != v->instruction) {
        cut_places[place].code = v->code;
        cut_places[place].instruction = v->instruction;
        cut_places[place].times = 0;
    }
    uint32_t times = ++cut_places[place].times;
    if (times > CUT_TIMES && (times & (times - 1))) return;
    PyObject *face = rg_face(v);
    PyObject *done = face ? PyObject_CallOneArg(cut_watcher, face) : NULL;
    Py_XDECREF(face);
    if (done == NULL) PyErr_WriteUnraisable(cut_watcher);
    Py_XDECREF(done);
}

PyMethodDef rg_modes_methods[] = {
    {"watch_cuts", watch_cuts, METH_O,
     RG_DOC("watch_cuts($module, watcher, /)", "Have no_grad() say what it takes the history of.")},
    {"swap_no_grad", swap_no_grad, METH_O,
     RG_DOC("swap_no_grad($module, depth, /)", "Set how deep this thread is in no_grad.")},
    {"enter_no_grad", enter_no_grad, METH_NOARGS,
     RG_DOC("enter_no_grad($module, /)", "Keep no history in this thread.")},
    {"leave_no_grad", leave_no_grad, METH_NOARGS,
     RG_DOC("leave_no_grad($module, /)", "Undo one enter_no_grad.")},
    {"in_no_grad", in_no_grad, METH_NOARGS,
     RG_DOC("in_no_grad($module, /)", "Whether this thread keeps no history.")},
    {"enter_anomaly", enter_anomaly, METH_NOARGS,
     RG_DOC("enter_anomaly($module, /)", "Raise at births in this thread.")},
    {"leave_anomaly", leave_anomaly, METH_NOARGS,
     RG_DOC("leave_anomaly($module, /)", "Undo one enter_anomaly.")},
    {"in_anomaly", in_anomaly, METH_NOARGS,
     RG_DOC("in_anomaly($module, /)", "Whether this thread raises at births.")},
    {"enter_recording", enter_recording, METH_NOARGS,
     RG_DOC("enter_recording($module, /)", "Start to record a function.")},
    {"leave_recording", leave_recording, METH_NOARGS,
     RG_DOC("leave_recording($module, /)",
            "Undo one enter_recording. Returns the nodes of ops, in the order they were made.")},
    {"tell_of", tell_of, METH_VARARGS,
     RG_DOC("tell_of($module, count, function, /)",
            "Have a function called when a recording has made so many nodes.")},
    {"recorded_arrays", recorded_arrays, METH_NOARGS,
     RG_DOC("recorded_arrays($module, /)",
            "Whether array rows made nodes in this thread's latest recording.")},
    {"in_recording", in_recording, METH_NOARGS,
     RG_DOC("in_recording($module, /)", "Whether this thread records a function.")},
    {NULL, NULL, 0, NULL},
};

/* A NaN always stops; an infinity only where no operand was infinite: a given infinity, such as
 * a mask, is not a birth. */
int rg_is_birth(const Value *v) {
    if (isfinite(v->data)) return 0;
    if (isnan(v->data) || rg_is_leaf(v)) return isnan(v->data);
    Py_ssize_t count = v->flags & RG_WIDE ? v->count : RG_OPS[v->op].arity;
    for (Py_ssize_t i = 0; i < count; i++) {
        const Value *input = v->flags & RG_WIDE ? v->entries[i].input : v->in[i];
        double number = v->flags & RG_WIDE ? v->entries[i].partial : v->partial[i];
        if (isinf(input ? input->data : number)) return 0;
    }
    return 1;
}

PyObject *rg_finish_in_mode(Value *v) {
    if (anomaly_depth && rg_is_birth(v)) {
        rg_fail("AnomalyError", "forward", "O", v);
        Py_DECREF((PyObject *)v);
        return NULL;
    }
    if (recording_depth) {
        inherit_tracing(v);
        if (!rg_is_leaf(v) && rg_remember(v) < 0) {
            Py_DECREF((PyObject *)v);
            return NULL;
        }
    }
    if (no_grad_depth && recording_depth) {
        PyObject *stopped = rg_make_stop(v);
        Py_DECREF((PyObject *)v);
        return stopped;
    }
    if (no_grad_depth) {
        if (RG_UNLIKELY(cut_watcher != NULL)) rg_report_cut(v);
        rg_release_inputs(v);
        v->flags &= (uint8_t)~RG_REQUIRES_GRAD;
    }
    return (PyObject *)v;
}
