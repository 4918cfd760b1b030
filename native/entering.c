/* Which functions are entered while one is recorded: a profile function of this thread that looks at
 * calls alone, and hands every event on to the one that was set before. */
#include "retrograde.h"

#if PY_VERSION_HEX < 0x030B0000
#include <frameobject.h>
#elif PY_VERSION_HEX < 0x03100000
#define Py_BUILD_CORE 1
#undef _PyGC_FINALIZED /* defined again, the same, by the headers of the core */
#include <internal/pycore_frame.h>
#if PY_VERSION_HEX >= 0x030E0000
#include <internal/pycore_interpframe_structs.h>
#endif
#undef Py_BUILD_CORE
#else
#error "where a frame of this Python has its function is not known: the pure-Python core serves"
#endif

typedef struct {
    PyObject_HEAD PyObject *entered; /* entered(frame) -> whether to be told of this code again */
    PyObject *settled; /* addresses of code objects it need not be told of: the code */
    Py_tracefunc previous;
    PyObject *previous_object;
} Watcher;

static PyTypeObject *Watcher_Type = NULL;

static int tell_of(Watcher *watcher, PyFrameObject *frame) {
    PyObject *code = (PyObject *)PyFrame_GetCode(frame);
    PyObject *key = PyLong_FromVoidPtr(code);
    int known = key ? PyDict_Contains(watcher->settled, key) : -1;
    if (known == 0) {
        PyObject *again = PyObject_CallOneArg(watcher->entered, (PyObject *)frame);
        if (again == NULL)
            known = -1;
        else if (again == Py_False) /* kept, so that its address stays its own */
            known = PyDict_SetItem(watcher->settled, key, code);
        Py_XDECREF(again);
    }
    Py_XDECREF(key);
    Py_DECREF(code);
    return known < 0 ? -1 : 0;
}

static int on_event(PyObject *self, PyFrameObject *frame, int what, PyObject *arg) {
    Watcher *watcher = (Watcher *)self;
    if (what == PyTrace_CALL && tell_of(watcher, frame) < 0) return -1;
    if (watcher->previous) return watcher->previous(watcher->previous_object, frame, what, arg);
    return 0;
}

/* watch_entries(entered) -> what unwatch_entries takes. */
static PyObject *watch_entries(PyObject *Py_UNUSED(module), PyObject *entered) {
    Watcher *watcher = PyObject_New(Watcher, Watcher_Type);
    if (watcher == NULL) return NULL;
    PyThreadState *thread = PyThreadState_Get();
    watcher->entered = Py_NewRef(entered);
    watcher->previous = thread->c_profilefunc;
    watcher->previous_object = Py_XNewRef(thread->c_profileobj);
    watcher->settled = PyDict_New();
    if (watcher->settled == NULL) {
        Py_DECREF((PyObject *)watcher);
        return NULL;
    }
    PyEval_SetProfile(on_event, (PyObject *)watcher);
    return (PyObject *)watcher;
}

/* unwatch_entries(watcher): the profile function of before, unless the code set another meanwhile. */
static PyObject *unwatch_entries(PyObject *Py_UNUSED(module), PyObject *object) {
    if (!Py_IS_TYPE(object, Watcher_Type)) return PyErr_Format(PyExc_TypeError, "takes a watcher");
    const Watcher *watcher = (const Watcher *)object;
    if (PyThreadState_Get()->c_profileobj == object)
        PyEval_SetProfile(watcher->previous, watcher->previous_object);
    Py_RETURN_NONE;
}

/* closures_of(frame) -> [the cells of its function's free variables, in the order of their names]; an
 * empty list where the interpreter does not show them. */
static PyObject *closures_of(PyObject *Py_UNUSED(module), PyObject *object) {
    if (!PyFrame_Check(object)) return PyErr_Format(PyExc_TypeError, "closures_of takes a frame");
#if PY_VERSION_HEX < 0x030B0000
    const PyFrameObject *frame = (const PyFrameObject *)object;
    Py_ssize_t first = frame->f_code->co_nlocals + PyTuple_GET_SIZE(frame->f_code->co_cellvars);
    Py_ssize_t count = PyTuple_GET_SIZE(frame->f_code->co_freevars);
    PyObject *cells = PyTuple_New(count);
    for (Py_ssize_t i = 0; cells && i < count; i++)
        PyTuple_SET_ITEM(cells, i, Py_NewRef(frame->f_localsplus[first + i]));
    return Py_BuildValue("[N]", cells);
#else
#if PY_VERSION_HEX < 0x030C0000
    PyObject *function = (PyObject *)((PyFrameObject *)object)->f_frame->f_func;
#elif PY_VERSION_HEX < 0x030E0000
    PyObject *function = ((PyFrameObject *)object)->f_frame->f_funcobj;
#else
    enum { TAGS = 3 }; /* of a reference that is on the stack */
    uintptr_t bits = ((PyFrameObject *)object)->f_frame->f_funcobj.bits;
    PyObject *function = (PyObject *)(bits & ~(uintptr_t)TAGS);
#endif
    PyObject *cells =
        function && PyFunction_Check(function) ? PyFunction_GetClosure(function) : NULL;
    return cells ? Py_BuildValue("[O]", cells) : PyList_New(0);
#endif
}

static void watcher_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    Watcher *watcher = (Watcher *)self;
    Py_XDECREF(watcher->entered);
    Py_XDECREF(watcher->settled);
    Py_XDECREF(watcher->previous_object);
    type->tp_free(self);
    Py_DECREF((PyObject *)type);
}

static PyType_Slot watcher_slots[] = {{Py_tp_dealloc, watcher_dealloc}, {0, NULL}};

static PyType_Spec watcher_spec = {
    .name = "retrograde._native.Watcher",
    .basicsize = sizeof(Watcher),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = watcher_slots,
};

static PyMethodDef entering_methods[] = {
    {"watch_entries", watch_entries, METH_O,
     RG_DOC("watch_entries($module, entered, /)", "Be told of the functions this thread enters.")},
    {"unwatch_entries", unwatch_entries, METH_O,
     RG_DOC("unwatch_entries($module, watcher, /)", "Be told no longer.")},
    {"closures_of", closures_of, METH_O,
     RG_DOC("closures_of($module, frame, /)", "The closure cells of a frame's function.")},
    {NULL, NULL, 0, NULL},
};

int rg_add_entering(PyObject *module) {
    Watcher_Type = (PyTypeObject *)PyType_FromSpec(&watcher_spec);
    return Watcher_Type == NULL ? -1 : PyModule_AddFunctions(module, entering_methods);
}
