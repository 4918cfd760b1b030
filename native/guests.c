/* What a program that was written for another engine needs while it runs on this one: attributes of
 * its own on values, and a constructor with its own arguments. Nothing here is in the way of others:
 * attributes go the usual way until they are lent, and are kept in the notes beside the nodes. */
#include "retrograde.h"

PyObject *rg_constructor = NULL;

/* What a value is made of. Writing these means the graph, so a refusal stays a refusal. */
static int is_part_of_a_node(PyObject *name) {
    static const char *const parts[] = {"data",      "grad",        "label",     "requires_grad",
                                        "inputs",    "_prev",       "_children", "partials",
                                        "_backward", "_local_grads"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (PyUnicode_CompareWithASCIIString(name, parts[i]) == 0) return 1;
    return 0;
}

static PyObject *get_attribute(PyObject *self, PyObject *name) {
    PyObject *own = rg_note_get((Value *)self, RG_OWN);
    if (own != NULL) {
        PyObject *found = PyDict_GetItemWithError(own, name);
        if (found != NULL) return Py_NewRef(found);
        if (PyErr_Occurred()) return NULL;
    }
    return PyObject_GenericGetAttr(self, name);
}

static int store(Value *v, PyObject *name, PyObject *object) {
    PyObject *own = rg_note_get(v, RG_OWN);
    if (own != NULL) return PyDict_SetItem(own, name, object);
    own = PyDict_New();
    int failed =
        own == NULL || PyDict_SetItem(own, name, object) < 0 || rg_note_set(v, RG_OWN, own) < 0;
    Py_XDECREF(own);
    return failed ? -1 : 0;
}

static int set_attribute(PyObject *self, PyObject *name, PyObject *object) {
    if (PyObject_GenericSetAttr(self, name, object) == 0) return 0;
    if (!PyErr_ExceptionMatches(PyExc_AttributeError) || is_part_of_a_node(name)) return -1;
    if (object == NULL) { /* del: what is not there stays the error that it is */
        PyObject *own = rg_note_get((Value *)self, RG_OWN);
        if (own == NULL || PyDict_Contains(own, name) != 1) return -1;
        PyErr_Clear();
        return PyDict_DelItem(own, name);
    }
    PyErr_Clear();
    return store((Value *)self, name, object);
}

/* lend_attributes(wanted): whether values take attributes of any name. */
PyObject *rg_lend_attributes(PyObject *Py_UNUSED(module), PyObject *wanted) {
    int lent = PyObject_IsTrue(wanted);
    if (lent < 0) return NULL;
    PyTypeObject *types[] = {RgValue_Type, RgClosure_Type, RgTracked_Type};
    for (int i = 0; i < 3; i++) {
        types[i]->tp_getattro = lent ? get_attribute : PyObject_GenericGetAttr;
        types[i]->tp_setattro = lent ? set_attribute : PyObject_GenericSetAttr;
        PyType_Modified(types[i]);
    }
    Py_RETURN_NONE;
}

/* own_attributes(value): a copy of the attributes that a program has put on it. */
PyObject *rg_own_attributes(PyObject *Py_UNUSED(module), PyObject *object) {
    if (!rg_is_value(object)) {
        rg_fail("NotAValueError", "of", "sO", "own_attributes", object);
        return NULL;
    }
    PyObject *own = rg_note_get((Value *)object, RG_OWN);
    return own ? PyDict_Copy(own) : PyDict_New();
}

/* set_constructor(callable or None): who answers Value(...). */
PyObject *rg_set_constructor(PyObject *Py_UNUSED(module), PyObject *constructor) {
    Py_XSETREF(rg_constructor, constructor == Py_None ? NULL : Py_NewRef(constructor));
    Py_RETURN_NONE;
}
