/* Wide nodes: the n-ary sum and dot, rows of three inputs, and what only recordings make.
 *
 * A wide node keeps its inputs in `entries`. Items are read from the caller's own list, where they
 * stand; before anything runs that could change that list, it is copied. */
#include "make.h"
#include "tensor.h"

static void drop_entries(RgEntry *entries, Py_ssize_t taken, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < taken; i++) Py_XDECREF((PyObject *)entries[i].input);
    rg_entries_free(entries, count);
}

/* A wide node from entries that own their inputs; takes them over, also in failure. `flags` are
 * those of the inputs. */
static PyObject *wide(int op, double data, RgEntry *entries, Py_ssize_t count, uint8_t flags) {
    Value *v = rg_node(op, data, flags);
    if (RG_UNLIKELY(v == NULL)) {
        drop_entries(entries, count, count);
        return NULL;
    }
    v->flags = (flags & RG_INHERITED) | RG_WIDE;
    v->entries = entries;
    v->count = count;
    v->rule = NULL;
    return rg_finish(v);
}

/* A row, sum or dot from entries whose inputs are borrowed, in the form its number of inputs asks
 * for; takes the entries over. */
PyObject *rg_finish_entries(int op, double data, RgEntry *entries, Py_ssize_t count) {
    uint8_t flags = 0;
    for (Py_ssize_t i = 0; i < count; i++)
        if (entries[i].input) flags |= entries[i].input->flags;
    if (op >= RG_OP_COUNT || RG_OPS[op].arity == 3) {
        for (Py_ssize_t i = 0; i < count; i++) Py_XINCREF((PyObject *)entries[i].input);
        return wide(op, data, entries, count, flags);
    }
    RgEntry first = entries[0], second = count == 2 ? entries[1] : (RgEntry){NULL, 0.0};
    rg_entries_free(entries, count);
    Value *v = rg_node(op, data, flags);
    if (v == NULL) return NULL;
    v->partial[0] = first.partial;
    v->partial[1] = second.partial;
    rg_set_inputs(v, first.input, second.input, flags);
    return rg_finish(v);
}

/* While recording: the same number with its history, but no gradient through it. */
PyObject *rg_make_stop(Value *input) {
    RgEntry *entries = rg_entries_new(1);
    Value *v = entries ? rg_node(RG_STOP, input->data, input->flags) : NULL;
    if (v == NULL) {
        if (entries) rg_entries_free(entries, 1);
        return NULL;
    }
    Py_INCREF((PyObject *)input);
    entries[0] = (RgEntry){input, 0.0};
    v->flags = (input->flags & (RG_TRACED | RG_COLLECTED)) | RG_WIDE;
    if (rg_is_read_afresh(input)) v->flags |= RG_TRACED;
    v->entries = entries;
    v->count = 1;
    v->rule = NULL;
    if (rg_remember(v) < 0) Py_CLEAR(v);
    return (PyObject *)v;
}

/* ---- the items of an iterable --------------------------------------------------------------- */

typedef struct {
    const char *where; /* the function that reads them, for its exceptions */
    int sides;         /* how many sequences there are */
    PyObject *owner[2];
    PyObject **items[2];
    Py_ssize_t count;
    uint8_t flags; /* of all values met */
    int values;    /* whether any was */
} Terms;

static void close_terms(Terms *terms) {
    for (int side = 0; side < terms->sides; side++) Py_XDECREF(terms->owner[side]);
}

static int open_side(Terms *terms, int side, PyObject *iterable, const char *message) {
    PyObject *owner =
        PyList_CheckExact(iterable) ? Py_NewRef(iterable) : PySequence_Fast(iterable, message);
    if (owner == NULL) return -1;
    terms->owner[side] = owner;
    terms->items[side] = PySequence_Fast_ITEMS(owner);
    return 0;
}

/* Copy the lists into tuples, which nobody can change. */
static int settle(Terms *terms) {
    for (int side = 0; side < terms->sides; side++) {
        if (PyTuple_CheckExact(terms->owner[side])) continue;
        PyObject *copy = PySequence_Tuple(terms->owner[side]);
        if (copy == NULL) return -1;
        Py_SETREF(terms->owner[side], copy);
        terms->items[side] = PySequence_Fast_ITEMS(copy);
        if (PyTuple_GET_SIZE(copy) < terms->count) {
            PyErr_Format(PyExc_RuntimeError, "%s: the list was changed while it was read",
                         terms->where);
            return -1;
        }
    }
    return 0;
}

/* One item: a value, to which there is then a new reference, or a number and NULL. It may be
 * necessary to move the items. */
static int take(Terms *terms, int side, Py_ssize_t index, Value **value, double *number) {
    PyObject *item = terms->items[side][index];
    *value = NULL;
    if (rg_is_value(item)) {
        *value = (Value *)Py_NewRef(item);
        *number = (*value)->data;
        terms->flags |= (*value)->flags;
        return 0;
    }
    if (!PyFloat_CheckExact(item) && !PyLong_CheckExact(item)) { /* may run Python code */
        if (settle(terms) < 0) return -1;
        item = terms->items[side][index];
    }
    int converted = rg_number(item, number);
    if (converted == 0) rg_fail("NumberError", "at", "snO", terms->where, index, item);
    return converted == 1 ? 0 : -1;
}

/* The additive identity: unlike 0.0 it leaves a negative zero as it is. */
#define NOTHING (-0.0)

static inline Value *keep(PyObject *value, uint8_t *flags) {
    Py_INCREF(value);
    *flags |= ((Value *)value)->flags;
    return (Value *)value;
}

/* Fill the entries of a sum; the number of terms taken before a failure, or all. */
static Py_ssize_t take_terms(Terms *terms, RgEntry *entries, double *total) {
    PyObject **items = terms->items[0];
    double sum = *total;
    uint8_t flags = 0;
    Py_ssize_t i = 0;
    for (; i < terms->count && rg_is_plain(items[i]); i++) { /* as a rule, all of them */
        entries[i] = (RgEntry){keep(items[i], &flags), 1.0};
        sum += entries[i].input->data;
    }
    terms->values = i > 0;
    terms->flags |= flags;
    for (; i < terms->count; i++) {
        Value *value;
        double number;
        if (take(terms, 0, i, &value, &number) < 0) break;
        entries[i] = (RgEntry){value, value ? 1.0 : number};
        terms->values |= value != NULL;
        sum += number;
    }
    *total = sum;
    return i;
}

/* sum(terms): one node, added in index order. Without values, a float. */
PyObject *rg_sum(PyObject *Py_UNUSED(module), PyObject *iterable) {
    if (RG_UNLIKELY(rg_is_tensor(iterable)))
        return rg_call("retrograde._shared.operands", "of_tensors", "s(O)", "sum", iterable);
    Terms terms = {.where = "sum", .sides = 1};
    if (open_side(&terms, 0, iterable, "sum takes an iterable of values or numbers") < 0)
        return NULL;
    Py_ssize_t count = terms.count = PySequence_Fast_GET_SIZE(terms.owner[0]);
    RgEntry *entries = rg_entries_new(count);
    double total = count ? NOTHING : 0.0;
    PyObject *result = NULL;
    Py_ssize_t taken = entries ? take_terms(&terms, entries, &total) : 0;
    if (entries && taken < count) {
        drop_entries(entries, taken, count);
    } else if (entries && terms.values) {
        result = wide(RG_SUM, total, entries, count, terms.flags);
    } else if (entries) {
        rg_entries_free(entries, count);
        result = PyFloat_FromDouble(total);
    }
    close_terms(&terms);
    return result;
}

/* The same for a dot, as far as each product is of two values, or of a value and a float. */
static inline Py_ssize_t take_plain_products(Terms *terms, RgEntry *lefts, double *total) {
    PyObject **xs = terms->items[0], **ys = terms->items[1];
    Py_ssize_t count = terms->count, i = 0;
    RgEntry *rights = lefts + count;
    double sum = *total;
    uint8_t flags = 0;
    for (; i < count; i++) {
        PyObject *a = xs[i], *b = ys[i];
        double x, y;
        if (RG_LIKELY(rg_is_plain(a))) {
            x = ((Value *)a)->data;
            if (RG_LIKELY(rg_is_plain(b))) {
                y = ((Value *)b)->data;
                rights[i] = (RgEntry){keep(b, &flags), x};
            } else if (PyFloat_CheckExact(b)) {
                y = PyFloat_AS_DOUBLE(b);
                rights[i] = (RgEntry){NULL, y};
            } else {
                break;
            }
            lefts[i] = (RgEntry){keep(a, &flags), y};
        } else if (PyFloat_CheckExact(a) && rg_is_plain(b)) {
            x = PyFloat_AS_DOUBLE(a);
            y = ((Value *)b)->data;
            lefts[i] = (RgEntry){NULL, x};
            rights[i] = (RgEntry){keep(b, &flags), x};
        } else {
            break;
        }
        sum += x * y;
    }
    terms->values = i > 0;
    terms->flags |= flags;
    *total = sum;
    return i;
}

/* The left operands fill the first half of the entries. */
static Py_ssize_t take_products(Terms *terms, RgEntry *lefts, double *total) {
    RgEntry *rights = lefts + terms->count;
    Py_ssize_t i = take_plain_products(terms, lefts, total);
    for (; i < terms->count; i++) {
        Value *left, *right;
        double x, y;
        if (take(terms, 0, i, &left, &x) < 0) break;
        if (take(terms, 1, i, &right, &y) < 0) {
            Py_XDECREF((PyObject *)left);
            break;
        }
        lefts[i] = (RgEntry){left, left ? y : x};
        rights[i] = (RgEntry){right, right ? x : y};
        terms->values |= left != NULL || right != NULL;
        *total += x * y;
    }
    return i;
}

/* dot(left, right): one node, products added in index order. Without values, a float. */
PyObject *rg_dot(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t given) {
    if (given != 2) {
        PyErr_Format(PyExc_TypeError, "dot takes two sequences, got %zd", given);
        return NULL;
    }
    if (RG_UNLIKELY(rg_is_tensor(args[0]) || rg_is_tensor(args[1])))
        return rg_call("retrograde._shared.operands", "of_tensors", "s(OO)", "dot", args[0],
                       args[1]);
    Terms terms = {.where = "dot", .sides = 2};
    PyObject *result = NULL;
    static const char *message = "dot takes two sequences of values or numbers";
    if (open_side(&terms, 0, args[0], message) < 0 || open_side(&terms, 1, args[1], message) < 0)
        goto done;
    Py_ssize_t count = terms.count = PySequence_Fast_GET_SIZE(terms.owner[0]);
    if (count != PySequence_Fast_GET_SIZE(terms.owner[1])) {
        rg_fail("ShapeError", "dot", "nn", count, PySequence_Fast_GET_SIZE(terms.owner[1]));
        goto done;
    }
    RgEntry *entries = rg_entries_new(2 * count);
    if (entries == NULL) goto done;
    double total = count ? NOTHING : 0.0;
    Py_ssize_t taken = take_products(&terms, entries, &total);
    if (RG_UNLIKELY(taken < count)) {
        for (Py_ssize_t i = 0; i < taken; i++) Py_XDECREF((PyObject *)entries[count + i].input);
        drop_entries(entries, taken, 2 * count);
    } else if (RG_LIKELY(terms.values)) {
        result = wide(RG_DOT, total, entries, 2 * count, terms.flags);
    } else {
        rg_entries_free(entries, 2 * count);
        result = PyFloat_FromDouble(total);
    }
done:
    close_terms(&terms);
    return result;
}

/* take(values, index), while recording: one of the values, chosen by the index. */
PyObject *rg_take(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *list, *chooser;
    if (!PyArg_ParseTuple(args, "O!O!:take", &PyList_Type, &list, RgValue_Type, &chooser))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(list);
    double index = ((Value *)chooser)->data, number = 0.0, data = 0.0;
    if (!(index >= 0.0 && index < (double)count) || index != floor(index)) {
        rg_fail("TakeError", "of", "dn", index, count);
        return NULL;
    }
    RgEntry *entries = rg_entries_new(count + 1);
    if (entries == NULL) return NULL;
    Terms terms = {.where = "take",
                   .sides = 1,
                   .owner = {Py_NewRef(list)},
                   .items = {PySequence_Fast_ITEMS(list)},
                   .count = count,
                   .flags = ((Value *)chooser)->flags};
    for (Py_ssize_t i = 0; i < count; i++) {
        Value *value;
        if (take(&terms, 0, i, &value, &number) < 0) {
            drop_entries(entries, i, count + 1);
            close_terms(&terms);
            return NULL;
        }
        if (i == (Py_ssize_t)index) data = number;
        entries[i] = (RgEntry){value, value ? i == (Py_ssize_t)index : number};
    }
    close_terms(&terms);
    entries[count] = (RgEntry){(Value *)Py_NewRef(chooser), 0.0};
    return wide(RG_TAKE, data, entries, count + 1, terms.flags);
}
