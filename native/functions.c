/* The rows as functions of the module (`exp(x)`) and as methods of Value (`x.exp()`), generated
 * from the law's list: a new row appears here by itself. */
#include "tensor.h"

static PyObject *not_enough(int op, Py_ssize_t given, int method) {
    PyErr_Format(PyExc_TypeError, "%s%s takes %d operand(s), got %zd", method ? "Value." : "",
                 RG_OPS[op].name, RG_OPS[op].arity, given);
    return NULL;
}

/* A function, unlike an operator, has no reflected form to fall back to. */
static PyObject *apply_checked(int op, PyObject *const *operands) {
    PyObject *result = rg_apply(op, operands);
    if (result != Py_NotImplemented) return result;
    Py_DECREF(result);
    PyObject *culprit = operands[0];
    for (int i = 0; i < RG_OPS[op].arity; i++) {
        double number;
        if (!rg_is_value(operands[i]) && rg_number(operands[i], &number) == 0)
            culprit = operands[i];
    }
    rg_fail("OperandError", "of", "sO", RG_OPS[op].name, culprit);
    return NULL;
}

/* Put positional and keyword operands in their places, fill defaults, apply. `first` is self of
 * a method call, or NULL. */
static PyObject *call_op(int op, PyObject *first, PyObject *const *args, Py_ssize_t count,
                         PyObject *kwnames) {
    const RgOp *row = &RG_OPS[op];
    PyObject *operands[3] = {NULL, NULL, NULL};
    PyObject *filled[3] = {NULL, NULL, NULL};
    int method = first != NULL, place = 0;
    Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
    if (count + method + named > row->arity) return not_enough(op, count + method + named, method);
    if (method) operands[place++] = first;
    for (Py_ssize_t i = 0; i < count; i++) operands[place++] = args[i];
    for (Py_ssize_t i = 0; i < named; i++) {
        const char *name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(kwnames, i));
        int slot = 0;
        if (name == NULL) return NULL;
        while (slot < row->arity && strcmp(name, row->inputs[slot])) slot++;
        if (slot == row->arity || operands[slot]) {
            PyErr_Format(PyExc_TypeError, "%s has no free operand named '%s'", row->name, name);
            return NULL;
        }
        operands[slot] = args[count + i];
    }
    PyObject *result = NULL;
    for (int i = 0; i < row->arity; i++) {
        if (operands[i]) continue;
        int index = i - (row->arity - row->defaults);
        if (index < 0) {
            not_enough(op, count + method + named, method);
            goto done;
        }
        operands[i] = filled[i] = PyFloat_FromDouble(row->default_value[index]);
        if (filled[i] == NULL) goto done;
    }
    result = apply_checked(op, operands);
done:
    for (int i = 0; i < 3; i++) Py_XDECREF(filled[i]);
    return result;
}

#define UNARY_FUNCTION(NAME)                                                                       \
    static PyObject *function_##NAME(PyObject *Py_UNUSED(module), PyObject *x) {                   \
        if (RG_LIKELY(rg_is_plain(x))) return rg_unary_##NAME(x);                                  \
        if (rg_is_tensor(x)) return rg_tensor_map(RG_OP_##NAME, &x);                               \
        if (rg_is_value(x)) return rg_unary_##NAME(x);                                             \
        return apply_checked(RG_OP_##NAME, &x);                                                    \
    }                                                                                              \
    static PyObject *method_##NAME(PyObject *self, PyObject *Py_UNUSED(ignored)) {                 \
        return rg_unary_##NAME(self);                                                              \
    }

#define WIDER_FUNCTION(NAME)                                                                       \
    static PyObject *function_##NAME(PyObject *Py_UNUSED(module), PyObject *const *args,           \
                                     Py_ssize_t count, PyObject *kwnames) {                        \
        return call_op(RG_OP_##NAME, NULL, args, count, kwnames);                                  \
    }                                                                                              \
    static PyObject *method_##NAME(PyObject *self, PyObject *const *args, Py_ssize_t count,        \
                                   PyObject *kwnames) {                                            \
        return call_op(RG_OP_##NAME, self, args, count, kwnames);                                  \
    }

RG_UNARY_OPS(UNARY_FUNCTION)
RG_BINARY_OPS(WIDER_FUNCTION)
RG_TERNARY_OPS(WIDER_FUNCTION)

#define KEYWORDS (METH_FASTCALL | METH_KEYWORDS)
#define UNARY_FUNCTION_ENTRY(NAME) {#NAME, function_##NAME, METH_O, NULL},
#define WIDER_FUNCTION_ENTRY(NAME)                                                                 \
    {#NAME, (PyCFunction)(void (*)(void))function_##NAME, KEYWORDS, NULL},
#define UNARY_METHOD_ENTRY(NAME) {#NAME, method_##NAME, METH_NOARGS, NULL},
#define WIDER_METHOD_ENTRY(NAME)                                                                   \
    {#NAME, (PyCFunction)(void (*)(void))method_##NAME, KEYWORDS, NULL},

PyMethodDef rg_function_methods[] = {
    RG_UNARY_OPS(UNARY_FUNCTION_ENTRY) RG_BINARY_OPS(WIDER_FUNCTION_ENTRY)
        RG_TERNARY_OPS(WIDER_FUNCTION_ENTRY){
            "sum", rg_sum, METH_O,
            "sum(terms, /)\n--\n\nThe sum of values or numbers as one node, in index order."},
    {"dot", (PyCFunction)(void (*)(void))rg_dot, METH_FASTCALL,
     "dot(left, right, /)\n--\n\nThe sum of products as one node, in index order."},
    {NULL, NULL, 0, NULL},
};

PyMethodDef rg_value_op_methods[] = {
    RG_UNARY_OPS(UNARY_METHOD_ENTRY) RG_BINARY_OPS(WIDER_METHOD_ENTRY)
        RG_TERNARY_OPS(WIDER_METHOD_ENTRY){NULL, NULL, 0, NULL},
};
