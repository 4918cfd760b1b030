/* NumPy's functions given values: np.exp(v), np.add(array, v).
 *
 * The common ones are known by a code and make their node here; arrays, options and the rest go to
 * retrograde._values.protocols, which hands both in when it is imported.
 *
 * In an operator NumPy need not take that road, which costs it 0.4 µs before anyone is asked: told
 * that __array_ufunc__ is None, it leaves np.float64(2) * v to the value at once. So the attribute
 * of the class is None while the interpreter is at an operator, and the method otherwise. Where that
 * cannot be seen it is the method: slower, and the same. */
#include <opcode.h>

#include "sites.h"
#include "tensor.h"

/* A code below RG_OP_COUNT is a row; these follow. retrograde._values.protocols has the same numbers. */
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
static PyObject *array_ufunc(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t count,
                             PyObject *kwnames) {
    Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
    if (count < 2 || otherwise == NULL || !PyUnicode_Check(args[1])) Py_RETURN_NOTIMPLEMENTED;
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

/* ---- the attribute ------------------------------------------------------------------------- */

/* Whether an operator is one of those that tensors answer in C: + - * / @. */
static int is_arithmetic(int operator) {
#ifdef BINARY_OP
    return operator == NB_ADD || operator == NB_SUBTRACT || operator == NB_MULTIPLY ||
           operator == NB_TRUE_DIVIDE || operator == NB_MATRIX_MULTIPLY;
#else
    return 0;
#endif
}

/* Whether the interpreter is at an operator that makes a new result: a + b, a < b, not a += b. */
static int at_operator(int arithmetic) {
    PyCodeObject *code;
    uint32_t at;
    if (!rg_site_quick(&code, &at)) return 0;
#if PY_VERSION_HEX >= 0x030B0000
    const uint8_t *unit = (const uint8_t *)code->co_code_adaptive + at;
#else
    const uint8_t *unit = (const uint8_t *)PyBytes_AS_STRING(code->co_code) + at;
#endif
    int found = 0;
    switch (unit[0]) {
#ifdef COMPARE_OP_ADAPTIVE
        case COMPARE_OP_ADAPTIVE:
#endif
        case COMPARE_OP: found = !arithmetic; break;
#ifdef BINARY_OP
#ifdef BINARY_OP_ADAPTIVE
        case BINARY_OP_ADAPTIVE:
#endif
        case BINARY_OP:
            found = arithmetic ? is_arithmetic(unit[1]) : unit[1] < NB_INPLACE_ADD;
            break;
#else
        case BINARY_ADD:
        case BINARY_SUBTRACT:
        case BINARY_MULTIPLY:
        case BINARY_TRUE_DIVIDE:
        case BINARY_POWER: found = !arithmetic; break;
#endif
    }
    Py_DECREF((PyObject *)code);
    return found;
}

/* What stands on a class: its method, and whether only arithmetic is left to it. */
typedef struct {
    PyObject_HEAD PyObject *method;
    int arithmetic;
} Attribute;

static PyObject *attribute_get(PyObject *self, PyObject *object, PyObject *type) {
    const Attribute *attribute = (const Attribute *)self;
    PyObject *method = attribute->method;
    if (object != NULL && object != Py_None)
        return Py_TYPE(method)->tp_descr_get(method, object, type);
    return Py_NewRef(at_operator(attribute->arithmetic) ? Py_None : method);
}

static void attribute_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((Attribute *)self)->method);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

static PyType_Slot attribute_slots[] = {
    {Py_tp_doc, "What NumPy is told of a class: None at an operator, else a method."},
    {Py_tp_descr_get, attribute_get},
    {Py_tp_dealloc, attribute_dealloc},
    {0, NULL},
};

static PyType_Spec attribute_spec = {
    .name = "retrograde._native.ArrayUfunc",
    .basicsize = sizeof(Attribute),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = attribute_slots,
};

/* Have a class answer NumPy by a method, and at operators by its own slots. */
static int put_attribute(PyTypeObject *class, PyObject *method, int arithmetic) {
    static PyTypeObject *type = NULL;
    if (type == NULL && (type = (PyTypeObject *)PyType_FromSpec(&attribute_spec)) == NULL)
        return -1;
    Attribute *attribute = PyObject_New(Attribute, type);
    if (attribute == NULL) return -1;
    attribute->method = Py_NewRef(method);
    attribute->arithmetic = arithmetic;
    int failed =
        PyObject_SetAttrString((PyObject *)class, "__array_ufunc__", (PyObject *)attribute);
    Py_DECREF((PyObject *)attribute);
    return failed;
}

/* Have tensors answer NumPy by a function of Python's, but for arithmetic. */
int rg_tensor_array_ufunc(PyObject *function) { return put_attribute(RgTensor_Type, function, 1); }

static PyMethodDef method_definition = {"__array_ufunc__", (PyCFunction)(void (*)(void))array_ufunc,
                                        METH_FASTCALL | METH_KEYWORDS,
                                        "What NumPy's functions of arrays do with values."};

/* Give Value its __array_ufunc__. */
int rg_add_array_ufunc(void) {
    PyObject *method = PyDescr_NewMethod(RgValue_Type, &method_definition);
    int failed = method == NULL || put_attribute(RgValue_Type, method, 0) < 0;
    Py_XDECREF(method);
    return failed ? -1 : 0;
}

/* v[index]: v[None] is a sequence of one. */
PyObject *rg_indexed(PyObject *self, PyObject *index) {
    return rg_call("retrograde._shared.operands", "indexed", "OO", self, index);
}
