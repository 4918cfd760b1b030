/* NumPy's functions given values: np.exp(v), np.float64(2) * v.
 *
 * The common ones are known by a code and make their node here; arrays, options and the rest go to
 * retrograde.protocols, which hands both in when it is imported. */
#include "retrograde.h"

/* A code below RG_OP_COUNT is a row; these follow. retrograde.protocols has the same numbers. */
enum { POWER = 256, COMPARISON };

static PyObject *codes = NULL, *otherwise = NULL;

PyObject *rg_take_ufuncs(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *table, *call;
    if (!PyArg_ParseTuple(args, "O!O:take_ufuncs", &PyDict_Type, &table, &call)) return NULL;
    Py_XSETREF(codes, Py_NewRef(table));
    Py_XSETREF(otherwise, Py_NewRef(call));
    Py_RETURN_NONE;
}

static PyObject *compared(PyObject *left, PyObject *right, int symbol) {
    static const int swapped[] = {Py_GT, Py_GE, Py_EQ, Py_NE, Py_LT, Py_LE};
    return rg_is_value(left) ? rg_compare(left, right, symbol)
                             : rg_compare(right, left, swapped[symbol]);
}

/* A function that has a code, on as many operands as it takes: NotImplemented where one of them
 * asks for more. */
static PyObject *known(long code, PyObject *const *operands, Py_ssize_t count) {
    if (code < RG_OP_COUNT && RG_OPS[code].arity == count) return rg_apply((int)code, operands);
    if (code == POWER && count == 2) return rg_power(operands[0], operands[1]);
    if (code >= COMPARISON && count == 2)
        return compared(operands[0], operands[1], (int)(code - COMPARISON));
    Py_RETURN_NOTIMPLEMENTED;
}

/* __array_ufunc__(ufunc, method, *inputs, **options). */
PyObject *rg_array_ufunc(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t count,
                         PyObject *kwnames) {
    Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
    if (count < 2 || otherwise == NULL) Py_RETURN_NOTIMPLEMENTED;
    if (named == 0 && !PyUnicode_CompareWithASCIIString(args[1], "__call__")) {
        PyObject *code = PyDict_GetItemWithError(codes, args[0]);
        if (code == NULL && PyErr_Occurred()) return NULL;
        if (code != NULL) {
            PyObject *result = known(PyLong_AsLong(code), args + 2, count - 2);
            if (result != Py_NotImplemented) return result;
            Py_DECREF(result);
        }
    }
    PyObject *inputs = PyTuple_New(count - 2), *options = PyDict_New(), *result = NULL;
    if (inputs == NULL || options == NULL) goto done;
    for (Py_ssize_t i = 2; i < count; i++) PyTuple_SET_ITEM(inputs, i - 2, Py_NewRef(args[i]));
    for (Py_ssize_t i = 0; i < named; i++)
        if (PyDict_SetItem(options, PyTuple_GET_ITEM(kwnames, i), args[count + i]) < 0) goto done;
    result = PyObject_CallFunctionObjArgs(otherwise, args[0], args[1], inputs, options, NULL);
done:
    Py_XDECREF(inputs);
    Py_XDECREF(options);
    return result;
}

/* v[index]: v[None] is a sequence of one. */
PyObject *rg_indexed(PyObject *self, PyObject *index) {
    return rg_call("retrograde.operands", "indexed", "OO", self, index);
}
