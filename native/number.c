/* What may stand where a number is expected: int, float, and real scalars such as NumPy's. */
#include "tensor.h"

/* Types that retrograde._shared.operands has accepted before; strong references, a handful in practice. */
#define ACCEPTED 16
static PyTypeObject *accepted[ACCEPTED];

static int is_accepted(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    for (int i = 0; i < ACCEPTED && accepted[i]; i++)
        if (accepted[i] == type) return 1;
    PyObject *verdict = rg_call("retrograde._shared.operands", "is_real_scalar", "(O)", object);
    if (verdict == NULL) return -1;
    int real = PyObject_IsTrue(verdict);
    Py_DECREF(verdict);
    /* A type that can be iterated over is an array of some number of axes: asked each time. */
    if (real == 1 && type->tp_iter == NULL)
        for (int i = 0; i < ACCEPTED; i++)
            if (accepted[i] == NULL) {
                accepted[i] = (PyTypeObject *)Py_NewRef((PyObject *)type);
                break;
            }
    return real;
}

static int overflow(void) {
    if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
        PyErr_Clear();
        rg_fail("NumberError", "too_large", "()");
    }
    return -1;
}

int rg_number_slow(PyObject *object, double *number) {
    if (PyFloat_Check(object)) {
        *number = PyFloat_AS_DOUBLE(object);
        return 1;
    }
    if (PyLong_Check(object)) {
        *number = PyLong_AsDouble(object);
        return *number == -1.0 && PyErr_Occurred() ? overflow() : 1;
    }
    if (object == Py_None || rg_is_value(object) || rg_is_tensor(object) ||
        Py_TYPE(object)->tp_as_number == NULL || Py_TYPE(object)->tp_as_number->nb_float == NULL)
        return 0;
    int real = is_accepted(object);
    if (real != 1) return real;
    PyObject *converted = PyNumber_Float(object);
    if (converted == NULL) return overflow();
    *number = PyFloat_AS_DOUBLE(converted);
    Py_DECREF(converted);
    return 1;
}

/* A number, or the exception that says what was expected and what came. */
int rg_number_or_fail(PyObject *object, const char *what, double *number) {
    int converted = rg_number(object, number);
    if (converted == 0) rg_fail("NumberError", "of", "sO", what, object);
    return converted == 1 ? 0 : -1;
}
