/* Calls into the package: exceptions are built by retrograde.errors, in Python, once. */
#include "retrograde.h"

static PyObject *lookup(const char *module, const char *name) {
    PyObject *namespace = PyImport_ImportModule(module);
    if (namespace == NULL) return NULL;
    PyObject *found = PyObject_GetAttrString(namespace, name);
    Py_DECREF(namespace);
    return found;
}

static PyObject *call(PyObject *function, const char *format, va_list facts) {
    PyObject *args = Py_VaBuildValue(format, facts);
    if (args != NULL && !PyTuple_Check(args)) {
        PyObject *single = PyTuple_Pack(1, args);
        Py_DECREF(args);
        args = single;
    }
    PyObject *result = args == NULL ? NULL : PyObject_CallObject(function, args);
    Py_XDECREF(args);
    return result;
}

/* Raise errors.CLASS.METHOD(facts): a classmethod that builds the exception with its text. */
void rg_fail(const char *class_name, const char *method, const char *format, ...) {
    PyObject *class = lookup("retrograde.errors", class_name);
    PyObject *build = class == NULL ? NULL : PyObject_GetAttrString(class, method);
    if (build != NULL) {
        va_list facts;
        va_start(facts, format);
        PyObject *error = call(build, format, facts);
        va_end(facts);
        if (error != NULL) {
            PyErr_SetObject((PyObject *)Py_TYPE(error), error);
            Py_DECREF(error);
        }
    }
    Py_XDECREF(build);
    Py_XDECREF(class);
}

/* MODULE.FUNCTION(arguments). */
PyObject *rg_call(const char *module, const char *function, const char *format, ...) {
    PyObject *callable = lookup(module, function);
    if (callable == NULL) return NULL;
    va_list arguments;
    va_start(arguments, format);
    PyObject *result = call(callable, format, arguments);
    va_end(arguments);
    Py_DECREF(callable);
    return result;
}
