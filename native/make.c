/* Making nodes: the rows of the law on values and numbers.
 *
 * A node of one or two inputs keeps them in itself; wider ones (wide.c) keep `entries`. A number
 * operand gets no node: its place is NULL and the number stands where its partial would. */
#include "tensor.h"

PyObject *rg_make_leaf(double data, int requires_grad) {
    Value *v = rg_node(RG_LEAF, data, 0);
    if (v == NULL) return NULL;
    v->flags = requires_grad ? RG_REQUIRES_GRAD : 0;
    v->in[0] = v->in[1] = NULL;
    return rg_modes_active ? rg_finish_in_mode(v) : (PyObject *)v;
}

PyObject *rg_finish_odd(Value *v) {
    int takes_gradient = v->flags & RG_REQUIRES_GRAD;
    PyObject *done = rg_modes_active ? rg_finish_in_mode(v) : (PyObject *)v;
    if (!takes_gradient && done && !rg_copying && !rg_recording()) rg_release_inputs(v);
    return done;
}

int rg_copying = 0;

/* Each way to make a node is written once and compiled twice: quick, where NULL says that the other
 * has to be taken, and thorough, where it is an error. */
#define MAKE(QUICK, OP, Z, FLAGS)                                                                  \
    Value *v = QUICK ? rg_node_quick(OP, Z, FLAGS) : rg_node(OP, Z, FLAGS);                        \
    if (RG_UNLIKELY(v == NULL)) return NULL;

#define FINISH(QUICK, FIRST, SECOND, FLAGS)                                                        \
    rg_set_inputs(v, FIRST, SECOND, FLAGS);                                                        \
    return QUICK ? (PyObject *)v : rg_finish(v);

#define NOT_INLINE static RG_NEVER_INLINE

#define DEFINE_UNARY(NAME)                                                                         \
    static inline PyObject *NAME##_of(Value *x, int quick) {                                       \
        double z = rg_##NAME(x->data);                                                             \
        MAKE(quick, RG_OP_##NAME, z, x->flags)                                                     \
        v->partial[0] = rg_##NAME##_d0(x->data, z);                                                \
        FINISH(quick, x, NULL, x->flags)                                                           \
    }                                                                                              \
    NOT_INLINE PyObject *NAME##_thorough(Value *x) { return NAME##_of(x, 0); }                     \
    PyObject *rg_unary_##NAME(PyObject *operand) {                                                 \
        PyObject *made = NAME##_of((Value *)operand, 1);                                           \
        return RG_LIKELY(made != NULL) ? made : NAME##_thorough((Value *)operand);                 \
    }

/* The plainest operands first, by their exact types: a test of subtypes is a call. */
#define DEFINE_BINARY(NAME)                                                                        \
    static inline PyObject *NAME##_of_values(Value *x, Value *y, int quick) {                      \
        uint8_t flags = x->flags | y->flags;                                                       \
        double z = rg_##NAME(x->data, y->data);                                                    \
        MAKE(quick, RG_OP_##NAME, z, flags)                                                        \
        v->partial[0] = rg_##NAME##_d0(x->data, y->data, z);                                       \
        v->partial[1] = rg_##NAME##_d1(x->data, y->data, z);                                       \
        FINISH(quick, x, y, flags)                                                                 \
    }                                                                                              \
    static inline PyObject *NAME##_by_number(Value *x, double number, int quick) {                 \
        double z = rg_##NAME(x->data, number);                                                     \
        MAKE(quick, RG_OP_##NAME, z, x->flags)                                                     \
        v->partial[0] = rg_##NAME##_d0(x->data, number, z);                                        \
        v->partial[1] = number;                                                                    \
        FINISH(quick, x, NULL, x->flags)                                                           \
    }                                                                                              \
    static inline PyObject *NAME##_of_number(double number, Value *y, int quick) {                 \
        double z = rg_##NAME(number, y->data);                                                     \
        MAKE(quick, RG_OP_##NAME, z, y->flags)                                                     \
        v->partial[0] = number;                                                                    \
        v->partial[1] = rg_##NAME##_d1(number, y->data, z);                                        \
        FINISH(quick, NULL, y, y->flags)                                                           \
    }                                                                                              \
    NOT_INLINE PyObject *NAME##_thorough(PyObject *left, PyObject *right) {                        \
        double number;                                                                             \
        int is_value = rg_is_value(left);                                                          \
        if (is_value && rg_is_value(right))                                                        \
            return NAME##_of_values((Value *)left, (Value *)right, 0);                             \
        int converted = rg_number(is_value ? right : left, &number);                               \
        if (converted < 0) return NULL;                                                            \
        if (converted == 0) return rg_other_operand(RG_OP_##NAME, (PyObject *[]){left, right}, 2); \
        return is_value ? NAME##_by_number((Value *)left, number, 0)                               \
                        : NAME##_of_number(number, (Value *)right, 0);                             \
    }                                                                                              \
    PyObject *rg_binary_##NAME(PyObject *left, PyObject *right) {                                  \
        PyObject *made = NULL;                                                                     \
        if (RG_LIKELY(rg_is_plain(left))) {                                                        \
            if (RG_LIKELY(rg_is_plain(right)))                                                     \
                made = NAME##_of_values((Value *)left, (Value *)right, 1);                         \
            else if (RG_LIKELY(PyFloat_CheckExact(right)))                                         \
                made = NAME##_by_number((Value *)left, PyFloat_AS_DOUBLE(right), 1);               \
        } else if (RG_LIKELY(PyFloat_CheckExact(left) && rg_is_plain(right))) {                    \
            made = NAME##_of_number(PyFloat_AS_DOUBLE(left), (Value *)right, 1);                   \
        }                                                                                          \
        return RG_LIKELY(made != NULL) ? made : NAME##_thorough(left, right);                      \
    }

RG_UNARY_OPS(DEFINE_UNARY)
RG_BINARY_OPS(DEFINE_BINARY)

/* An operand that is neither value nor number: an array, a mistake, or another class's business. */
PyObject *rg_other_operand(int op, PyObject *const *operands, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count; i++)
        if (rg_is_tensor(operands[i])) {
            PyObject *made = rg_tensor_map(op, operands);
            if (made != Py_NotImplemented || !rg_recording()) return made;
            Py_DECREF(made); /* while recording another may be a condition */
            break;
        }
    PyObject *tuple = PyTuple_New(count);
    if (tuple == NULL) return NULL;
    for (Py_ssize_t i = 0; i < count; i++) PyTuple_SET_ITEM(tuple, i, Py_NewRef(operands[i]));
    PyObject *result =
        rg_call("retrograde._shared.operands", "other_operand", "sO", RG_OPS[op].name, tuple);
    Py_DECREF(tuple);
    return result;
}

static PyObject *apply_ternary(int op, PyObject *const *operands) {
    double numbers[3], partials[3];
    Value *values[3];
    int any = 0;
    for (int i = 0; i < 3; i++) {
        if (rg_is_tensor(operands[i])) return rg_tensor_map(op, operands);
        if (rg_is_value(operands[i])) {
            values[i] = (Value *)operands[i];
            numbers[i] = values[i]->data;
            any = 1;
            continue;
        }
        values[i] = NULL;
        int converted = rg_number(operands[i], &numbers[i]);
        if (converted < 0) return NULL;
        if (converted == 0) return rg_other_operand(op, operands, 3);
    }
    double z = RG_OPS[op].eval(numbers);
    if (!any) return PyFloat_FromDouble(z);
    RG_OPS[op].slopes(numbers, z, partials);
    RgEntry *entries = rg_entries_new(3);
    if (entries == NULL) return NULL;
    for (int i = 0; i < 3; i++)
        entries[i] = (RgEntry){values[i], values[i] ? partials[i] : numbers[i]};
    return rg_finish_entries(op, z, entries, 3);
}

/* Any row on values or numbers; numbers alone give a float. */
PyObject *rg_apply(int op, PyObject *const *operands) {
    if (RG_OPS[op].arity == 3) return apply_ternary(op, operands);
    double numbers[2];
    for (int i = 0; i < RG_OPS[op].arity; i++) {
        if (rg_is_tensor(operands[i])) return rg_tensor_map(op, operands);
        if (rg_is_value(operands[i])) {
            switch (op) {
#define UNARY_CASE(NAME)                                                                           \
    case RG_OP_##NAME: return rg_unary_##NAME(operands[0]);
#define BINARY_CASE(NAME)                                                                          \
    case RG_OP_##NAME: return rg_binary_##NAME(operands[0], operands[1]);
                RG_UNARY_OPS(UNARY_CASE)
                RG_BINARY_OPS(BINARY_CASE)
            }
        }
        int converted = rg_number(operands[i], &numbers[i]);
        if (converted < 0) return NULL;
        if (converted == 0) return rg_other_operand(op, operands, RG_OPS[op].arity);
    }
    return PyFloat_FromDouble(RG_OPS[op].eval(numbers));
}

/* x to a whole power from 3 to 8, by repeated multiplication: the highest bit is x itself. */
static PyObject *whole_power(PyObject *x, int exponent) {
    int bit = 1;
    while (bit * 2 <= exponent) bit *= 2;
    PyObject *power = Py_NewRef(x);
    for (bit /= 2; bit && power; bit /= 2) {
        PyObject *squared = rg_binary_mul(power, power);
        Py_DECREF(power);
        power = squared;
        if (power && (exponent & bit)) {
            PyObject *more = rg_binary_mul(power, x);
            Py_DECREF(power);
            power = more;
        }
    }
    return power;
}

/* `**`: a constant exponent chooses the row. */
PyObject *rg_power(PyObject *base, PyObject *exponent) {
    double number;
    if (rg_is_tensor(base) || rg_is_tensor(exponent)) return rg_tensor_power(base, exponent);
    if (rg_is_value(base) && !rg_is_value(exponent)) {
        int converted = rg_number(exponent, &number);
        if (converted < 0) return NULL;
        if (converted == 1 && number == 2.0) return rg_unary_square(base);
        if (converted == 1 && number == -1.0) return rg_unary_reciprocal(base);
        if (converted == 1 && number == floor(number) && fabs(number) >= 2.0 &&
            fabs(number) <= 8.0) {
            if (number > 0.0) return whole_power(base, (int)number);
            /* The reciprocal first: that of the power would have a slope far smaller than either. */
            PyObject *inverse = rg_unary_reciprocal(base);
            if (inverse == NULL) return NULL;
            PyObject *power =
                number == -2.0 ? rg_unary_square(inverse) : whole_power(inverse, (int)-number);
            Py_DECREF(inverse);
            return power;
        }
    }
    return rg_binary_pow(base, exponent);
}
