/* The closure style: a node whose contributions are added by a Python callable, `_backward`.
 *
 * The callable usually refers back to the node, so this subtype is known to the cycle collector.
 * A Python subclass of Value has no room for the callable: there it lives in the instance's
 * __dict__, which the collector knows as well. */
#include "retrograde.h"

static int closure_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT((PyObject *)Py_TYPE(self));
    Py_VISIT(((RgClosure *)self)->backward);
    return rg_value_traverse(self, visit, arg);
}

static int closure_clear(PyObject *self) {
    Py_CLEAR(((RgClosure *)self)->backward);
    return 0;
}

static void closure_dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    Py_CLEAR(((RgClosure *)self)->backward);
    rg_value_dealloc(self);
}

static PyType_Slot closure_slots[] = {
    {Py_tp_traverse, closure_traverse},
    {Py_tp_clear, closure_clear},
    {Py_tp_dealloc, closure_dealloc},
    {Py_tp_doc, "A value whose contributions are added by a Python callable."},
    {0, NULL},
};

PyType_Spec rg_closure_spec = {
    .name = "retrograde._native.ClosureValue",
    .basicsize = sizeof(RgClosure),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = closure_slots,
};

/* A node made from a closure node. It is plain but for being known to the collector: a cycle from a
 * closure back to itself may lead through it. */
static void tracked_dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    rg_value_dealloc(self);
}

static int tracked_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT((PyObject *)Py_TYPE(self));
    return rg_value_traverse(self, visit, arg);
}

/* Cycles are broken at the closures. */
static int tracked_clear(PyObject *Py_UNUSED(self)) { return 0; }

static PyType_Slot tracked_slots[] = {
    {Py_tp_traverse, tracked_traverse},
    {Py_tp_clear, tracked_clear},
    {Py_tp_dealloc, tracked_dealloc},
    {Py_tp_doc, "A value made from one whose rule is a Python callable."},
    {0, NULL},
};

PyType_Spec rg_tracked_spec = {
    .name = "retrograde._native.TrackedValue",
    .basicsize = sizeof(Value),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = tracked_slots,
};

/* A leaf of that type, for its maker to fill. */
Value *rg_tracked_new(void) {
    Value *v = (Value *)RgTracked_Type->tp_alloc(RgTracked_Type, 0);
    if (v != NULL) v->op = RG_LEAF;
    return v;
}

static PyObject *key(void) {
    static PyObject *interned = NULL;
    if (interned == NULL) interned = PyUnicode_InternFromString("_closure");
    return interned;
}

/* A new reference to the callable; NULL without an exception where none was assigned. */
PyObject *rg_closure_backward(Value *v) {
    if (Py_IS_TYPE((PyObject *)v, RgClosure_Type)) return Py_XNewRef(((RgClosure *)v)->backward);
    PyObject *dict = PyObject_GenericGetDict((PyObject *)v, NULL);
    if (dict == NULL) return NULL;
    PyObject *found = PyDict_GetItemWithError(dict, key());
    Py_XINCREF(found);
    Py_DECREF(dict);
    return found;
}

int rg_closure_set_backward(Value *v, PyObject *backward) {
    if (Py_IS_TYPE((PyObject *)v, RgClosure_Type)) {
        Py_XSETREF(((RgClosure *)v)->backward, Py_NewRef(backward));
        return 0;
    }
    PyObject *dict = PyObject_GenericGetDict((PyObject *)v, NULL);
    if (dict == NULL) return -1;
    int failed = PyDict_SetItem(dict, key(), backward);
    Py_DECREF(dict);
    return failed;
}
