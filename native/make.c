/* Making nodes: the rows of the law on values and numbers, and the n-ary sum and dot.
 *
 * A node of one or two inputs keeps them in itself; wider ones keep `entries`. A number operand
 * gets no node: its place among the inputs is NULL and the number stands where its partial would. */
#include "sites.h"

/* `flags` are those of the inputs: over a closure the collector has to see every node. */
static inline Value *node(int op, double data, int flags) {
    Value *v = RG_UNLIKELY(flags & RG_COLLECTED) ? rg_tracked_new() : rg_node_take();
    if (RG_UNLIKELY(v == NULL)) return NULL;
    v->op = (uint8_t)op;
    v->epoch = (uint16_t)rg_epoch;
    v->grad = 0.0;
    v->data = data;
    rg_site_capture(v);
    return v;
}

PyObject *rg_make_leaf(double data, int requires_grad) {
    Value *v = node(RG_LEAF, data, 0);
    if (v == NULL) return NULL;
    v->flags = requires_grad ? RG_REQUIRES_GRAD : 0;
    return rg_finish(v);
}

int rg_copying = 0;

static inline int keeps_history(void) { return rg_copying || rg_recording(); }

#define INHERITED (RG_REQUIRES_GRAD | RG_TRACED | RG_COLLECTED)

/* A node none of whose inputs takes gradients needs none of them: it becomes a plain leaf. While a
 * function is recorded, or a graph copied, everything keeps its history. */
static inline PyObject *finish_narrow(Value *v, Value *first, Value *second, uint8_t flags) {
    v->flags = flags & INHERITED;
    v->in[0] = first;
    v->in[1] = second;
    Py_XINCREF((PyObject *)first);
    Py_XINCREF((PyObject *)second);
    PyObject *done = rg_finish(v);
    if (RG_UNLIKELY(!(flags & RG_REQUIRES_GRAD)) && done != NULL && !keeps_history())
        rg_release_inputs(v);
    return done;
}

#define DEFINE_UNARY(NAME)                                                                         \
    PyObject *rg_unary_##NAME(PyObject *operand) {                                                 \
        Value *x = (Value *)operand;                                                               \
        double z = rg_##NAME(x->data);                                                             \
        Value *v = node(RG_OP_##NAME, z, x->flags);                                                \
        if (RG_UNLIKELY(v == NULL)) return NULL;                                                   \
        v->partial[0] = rg_##NAME##_d0(x->data, z);                                                \
        return finish_narrow(v, x, NULL, x->flags);                                                \
    }

#define DEFINE_BINARY(NAME)                                                                        \
    PyObject *rg_binary_##NAME(PyObject *left, PyObject *right) {                                  \
        double number;                                                                             \
        int converted;                                                                             \
        if (RG_LIKELY(rg_is_value(left))) {                                                        \
            Value *x = (Value *)left;                                                              \
            if (rg_is_value(right)) {                                                              \
                Value *y = (Value *)right;                                                         \
                double z = rg_##NAME(x->data, y->data);                                            \
                Value *v = node(RG_OP_##NAME, z, x->flags | y->flags);                             \
                if (RG_UNLIKELY(v == NULL)) return NULL;                                           \
                v->partial[0] = rg_##NAME##_d0(x->data, y->data, z);                               \
                v->partial[1] = rg_##NAME##_d1(x->data, y->data, z);                               \
                return finish_narrow(v, x, y, x->flags | y->flags);                                \
            }                                                                                      \
            if (RG_LIKELY((converted = rg_number(right, &number)) == 1)) {                         \
                double z = rg_##NAME(x->data, number);                                             \
                Value *v = node(RG_OP_##NAME, z, x->flags);                                        \
                if (RG_UNLIKELY(v == NULL)) return NULL;                                           \
                v->partial[0] = rg_##NAME##_d0(x->data, number, z);                                \
                v->partial[1] = number;                                                            \
                return finish_narrow(v, x, NULL, x->flags);                                        \
            }                                                                                      \
        } else if (RG_LIKELY((converted = rg_number(left, &number)) == 1)) {                       \
            Value *y = (Value *)right;                                                             \
            double z = rg_##NAME(number, y->data);                                                 \
            Value *v = node(RG_OP_##NAME, z, y->flags);                                            \
            if (RG_UNLIKELY(v == NULL)) return NULL;                                               \
            v->partial[0] = number;                                                                \
            v->partial[1] = rg_##NAME##_d1(number, y->data, z);                                    \
            return finish_narrow(v, NULL, y, y->flags);                                            \
        }                                                                                          \
        if (converted < 0) return NULL;                                                            \
        return rg_other_operand(RG_OP_##NAME, (PyObject *[]){left, right}, 2);                     \
    }

RG_UNARY_OPS(DEFINE_UNARY)
RG_BINARY_OPS(DEFINE_BINARY)

/* An operand that is neither value nor number: an array, a mistake, or another class's business. */
PyObject *rg_other_operand(int op, PyObject *const *operands, Py_ssize_t count) {
    PyObject *tuple = PyTuple_New(count);
    if (tuple == NULL) return NULL;
    for (Py_ssize_t i = 0; i < count; i++) PyTuple_SET_ITEM(tuple, i, Py_NewRef(operands[i]));
    PyObject *result =
        rg_call("retrograde.operands", "other_operand", "sO", RG_OPS[op].name, tuple);
    Py_DECREF(tuple);
    return result;
}

RgEntry *rg_entries_new(Py_ssize_t count) {
    return rg_buffer_resize(NULL, (size_t)(count ? count : 1) * sizeof(RgEntry));
}

/* Give a wide node its entries, whose inputs are borrowed until here. */
static PyObject *finish_wide(int op, double data, RgEntry *entries, Py_ssize_t count) {
    uint8_t flags = 0;
    for (Py_ssize_t i = 0; i < count; i++)
        if (entries[i].input) flags |= entries[i].input->flags;
    Value *v = node(op, data, flags);
    if (v == NULL) {
        rg_buffer_free(entries);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) Py_XINCREF((PyObject *)entries[i].input);
    v->flags = (flags & INHERITED) | RG_WIDE;
    v->entries = entries;
    v->count = count;
    v->rule = NULL;
    PyObject *done = rg_finish(v);
    if (!(flags & RG_REQUIRES_GRAD) && done != NULL && !keeps_history()) rg_release_inputs(v);
    return done;
}

/* While recording: the same number with its history, but no gradient through it. */
PyObject *rg_make_stop(Value *input) {
    Value *v = node(RG_STOP, input->data, input->flags);
    RgEntry *entries = v ? rg_entries_new(1) : NULL;
    if (entries == NULL) {
        if (v) v->op = RG_LEAF, v->flags = 0, Py_DECREF((PyObject *)v);
        return NULL;
    }
    Py_INCREF((PyObject *)input);
    entries[0] = (RgEntry){input, 0.0};
    v->flags = (input->flags & (RG_TRACED | RG_COLLECTED)) | RG_WIDE;
    v->entries = entries;
    v->count = 1;
    v->rule = NULL;
    return (PyObject *)v;
}

/* A row, sum or dot from entries, in the form its number of inputs asks for; takes them over. */
PyObject *rg_finish_entries(int op, double data, RgEntry *entries, Py_ssize_t count) {
    if (op >= RG_OP_COUNT || RG_OPS[op].arity == 3) return finish_wide(op, data, entries, count);
    RgEntry first = entries[0], second = count == 2 ? entries[1] : (RgEntry){NULL, 0.0};
    rg_buffer_free(entries);
    uint8_t flags =
        (first.input ? first.input->flags : 0) | (second.input ? second.input->flags : 0);
    Value *v = node(op, data, flags);
    if (v == NULL) return NULL;
    v->partial[0] = first.partial;
    v->partial[1] = second.partial;
    return finish_narrow(v, first.input, second.input, flags);
}

static PyObject *apply_ternary(int op, PyObject *const *operands) {
    double numbers[3], partials[3];
    Value *values[3];
    int any = 0;
    for (int i = 0; i < 3; i++) {
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
    return finish_wide(op, z, entries, 3);
}

/* Any row on values or numbers; numbers alone give a float. */
PyObject *rg_apply(int op, PyObject *const *operands) {
    if (RG_OPS[op].arity == 3) return apply_ternary(op, operands);
    double numbers[2];
    for (int i = 0; i < RG_OPS[op].arity; i++) {
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
    if (rg_is_value(base) && !rg_is_value(exponent)) {
        int converted = rg_number(exponent, &number);
        if (converted < 0) return NULL;
        if (converted == 1 && number == 2.0) return rg_unary_square(base);
        if (converted == 1 && number == -1.0) return rg_unary_reciprocal(base);
        if (converted == 1 && number == floor(number) && fabs(number) >= 2.0 &&
            fabs(number) <= 8.0) {
            if (number > 0.0) return whole_power(base, (int)number);
            PyObject *power =
                number == -2.0 ? rg_unary_square(base) : whole_power(base, (int)-number);
            if (power == NULL) return NULL;
            PyObject *inverse = rg_unary_reciprocal(power);
            Py_DECREF(power);
            return inverse;
        }
    }
    return rg_binary_pow(base, exponent);
}

/* One term of a sum or dot: a value, or a number in the place of its partial. */
static int take_term(PyObject *item, const char *where, Py_ssize_t index, RgEntry *entry,
                     double *number) {
    if (RG_LIKELY(rg_is_value(item))) {
        entry->input = (Value *)item;
        *number = entry->input->data;
        return 1;
    }
    entry->input = NULL;
    int converted = rg_number(item, number);
    if (converted == 0) rg_fail("NumberError", "at", "snO", where, index, item);
    return converted == 1 ? 0 : -1;
}

/* take(values, index), while recording: one of the values, chosen by the index. */
PyObject *rg_take(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *list, *chooser;
    if (!PyArg_ParseTuple(args, "O!O!:take", &PyList_Type, &list, RgValue_Type, &chooser))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(list);
    double index = ((Value *)chooser)->data, number = 0.0;
    if (!(index >= 0.0 && index < (double)count) || index != floor(index)) {
        rg_fail("TakeError", "of", "dn", index, count);
        return NULL;
    }
    RgEntry *entries = rg_entries_new(count + 1);
    double data = 0.0;
    for (Py_ssize_t i = 0; entries && i < count; i++) {
        int value = take_term(PyList_GET_ITEM(list, i), "take", i, &entries[i], &number);
        if (value < 0) {
            rg_buffer_free(entries);
            return NULL;
        }
        if (i == (Py_ssize_t)index) data = number;
        entries[i].partial = value ? i == (Py_ssize_t)index : number;
    }
    if (entries == NULL) return NULL;
    entries[count] = (RgEntry){(Value *)chooser, 0.0};
    return finish_wide(RG_TAKE, data, entries, count + 1);
}

/* The items of an iterable, safe to borrow from: where turning an item into a number might run
 * Python code, which might change a list, they are copied into a tuple. */
static PyObject *stable_items(PyObject *iterable, const char *message) {
    PyObject *items = PySequence_Fast(iterable, message);
    if (items == NULL || PyTuple_CheckExact(items)) return items;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items); i++) {
        PyObject *item = PySequence_Fast_GET_ITEM(items, i);
        if (rg_is_value(item) || PyFloat_Check(item) || PyLong_CheckExact(item)) continue;
        PyObject *copy = PySequence_Tuple(items);
        Py_DECREF(items);
        return copy;
    }
    return items;
}

/* sum(terms): one node, added in index order. Without values, a float. */
PyObject *rg_sum(PyObject *Py_UNUSED(module), PyObject *terms) {
    PyObject *list = stable_items(terms, "sum takes an iterable of values or numbers");
    if (list == NULL) return NULL;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(list);
    RgEntry *entries = rg_entries_new(count);
    double total = 0.0, number = 0.0;
    int any = 0;
    PyObject *result = NULL;
    for (Py_ssize_t i = 0; entries && i < count; i++) {
        int value = take_term(PySequence_Fast_GET_ITEM(list, i), "sum", i, &entries[i], &number);
        if (value < 0) goto failed;
        entries[i].partial = value ? 1.0 : number;
        any |= value;
        total = i ? total + number : number;
    }
    if (entries == NULL) goto failed;
    if (any) {
        result = finish_wide(RG_SUM, total, entries, count);
        entries = NULL; /* taken over, also in failure */
    } else {
        result = PyFloat_FromDouble(total);
    }
failed:
    if (entries) rg_buffer_free(entries);
    Py_DECREF(list);
    return result;
}

/* dot(left, right): one node, products added in index order. Without values, a float. */
PyObject *rg_dot(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t given) {
    if (given != 2) {
        PyErr_Format(PyExc_TypeError, "dot takes two sequences, got %zd", given);
        return NULL;
    }
    PyObject *result = NULL, *right = NULL;
    RgEntry *entries = NULL;
    PyObject *left = stable_items(args[0], "dot takes two sequences of values or numbers");
    if (left) right = stable_items(args[1], "dot takes two sequences of values or numbers");
    if (right == NULL) goto failed;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(left);
    if (count != PySequence_Fast_GET_SIZE(right)) {
        rg_fail("ShapeError", "dot", "nn", count, PySequence_Fast_GET_SIZE(right));
        goto failed;
    }
    entries = rg_entries_new(2 * count);
    if (entries == NULL) goto failed;
    double total = 0.0, x = 0.0, y = 0.0;
    int any = 0;
    PyObject **lefts = PySequence_Fast_ITEMS(left), **rights = PySequence_Fast_ITEMS(right);
    for (Py_ssize_t i = 0; i < count; i++) {
        RgEntry *first = &entries[i], *second = &entries[count + i];
        int left_value = take_term(lefts[i], "dot", i, first, &x);
        int right_value = left_value < 0 ? -1 : take_term(rights[i], "dot", i, second, &y);
        if (right_value < 0) goto failed;
        first->partial = left_value ? y : x;
        second->partial = right_value ? x : y;
        any |= left_value | right_value;
        total = i ? total + x * y : x * y;
    }
    if (any) {
        result = finish_wide(RG_DOT, total, entries, 2 * count);
        entries = NULL; /* taken over, also in failure */
    } else {
        result = PyFloat_FromDouble(total);
    }
failed:
    if (entries) rg_buffer_free(entries);
    Py_XDECREF(left);
    Py_XDECREF(right);
    return result;
}
