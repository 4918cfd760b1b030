/* Wide nodes: the n-ary sum and dot, rows of three inputs, and what only recordings make.
 *
 * A wide node keeps its inputs in `entries`. Items are read from the caller's own list, where they
 * stand; before anything runs that could change that list, it is copied. */
#include "make.h"

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
    v->entries = entries;
    v->count = 1;
    v->rule = NULL;
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

/* An item that is not plainly a value or a float. */
static __attribute__((noinline)) int take_other(Terms *terms, int side, Py_ssize_t index,
                                                RgEntry *entry, double *number) {
    PyObject *item = terms->items[side][index];
    if (rg_is_value(item)) {
        entry->input = (Value *)Py_NewRef(item);
        *number = entry->input->data;
        terms->flags |= entry->input->flags;
        return 1;
    }
    if (!PyLong_CheckExact(item)) { /* turning it into a number may run Python code */
        if (settle(terms) < 0) return -1;
        item = terms->items[side][index];
    }
    int converted = rg_number(item, number);
    if (converted == 0) rg_fail("NumberError", "at", "snO", terms->where, index, item);
    entry->input = NULL;
    return converted == 1 ? 0 : -1;
}

/* One item: 1 a value, which the entry then owns, 0 a number, -1 neither. */
static inline int take(Terms *terms, int side, Py_ssize_t index, RgEntry *entry, double *number) {
    PyObject *item = terms->items[side][index];
    if (RG_LIKELY(rg_is_plain(item))) {
        Value *v = (Value *)item;
        Py_INCREF(item);
        entry->input = v;
        *number = v->data;
        terms->flags |= v->flags;
        return 1;
    }
    if (RG_LIKELY(PyFloat_CheckExact(item))) {
        entry->input = NULL;
        *number = PyFloat_AS_DOUBLE(item);
        return 0;
    }
    return take_other(terms, side, index, entry, number);
}

/* The additive identity: unlike 0.0 it leaves a negative zero as it is. */
#define NOTHING (-0.0)

/* sum(terms): one node, added in index order. Without values, a float. */
PyObject *rg_sum(PyObject *Py_UNUSED(module), PyObject *iterable) {
    Terms terms = {.where = "sum", .sides = 1};
    if (open_side(&terms, 0, iterable, "sum takes an iterable of values or numbers") < 0)
        return NULL;
    Py_ssize_t count = terms.count = PySequence_Fast_GET_SIZE(terms.owner[0]);
    RgEntry *entries = rg_entries_new(count);
    double total = count ? NOTHING : 0.0, number = 0.0;
    int values = 0;
    PyObject *result = NULL;
    for (Py_ssize_t i = 0; entries && i < count; i++) {
        int value = take(&terms, 0, i, &entries[i], &number);
        if (RG_UNLIKELY(value < 0)) {
            drop_entries(entries, i, count);
            entries = NULL;
            break;
        }
        entries[i].partial = value ? 1.0 : number;
        values |= value;
        total += number;
    }
    if (entries && values)
        result = wide(RG_SUM, total, entries, count, terms.flags);
    else if (entries) {
        rg_entries_free(entries, count);
        result = PyFloat_FromDouble(total);
    }
    close_terms(&terms);
    return result;
}

/* Fill the entries of a dot; the number of products taken before a failure, or `count`. */
static inline Py_ssize_t take_products(Terms *terms, RgEntry *lefts, Py_ssize_t count,
                                       double *total) {
    RgEntry *rights = lefts + count;
    double x = 0.0, y = 0.0;
    for (Py_ssize_t i = 0; i < count; i++) {
        int left = take(terms, 0, i, &lefts[i], &x);
        if (RG_UNLIKELY(left < 0)) return i;
        int right = take(terms, 1, i, &rights[i], &y);
        if (RG_UNLIKELY(right < 0)) {
            Py_XDECREF((PyObject *)lefts[i].input);
            return i;
        }
        lefts[i].partial = left ? y : x;
        rights[i].partial = right ? x : y;
        terms->values |= left | right;
        *total += x * y;
    }
    return count;
}

/* dot(left, right): one node, products added in index order. Without values, a float. */
PyObject *rg_dot(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t given) {
    if (given != 2) {
        PyErr_Format(PyExc_TypeError, "dot takes two sequences, got %zd", given);
        return NULL;
    }
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
    Py_ssize_t taken = take_products(&terms, entries, count, &total);
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
        int value = take(&terms, 0, i, &entries[i], &number);
        if (value < 0) {
            drop_entries(entries, i, count + 1);
            close_terms(&terms);
            return NULL;
        }
        if (i == (Py_ssize_t)index) data = number;
        entries[i].partial = value ? i == (Py_ssize_t)index : number;
    }
    close_terms(&terms);
    entries[count] = (RgEntry){(Value *)Py_NewRef(chooser), 0.0};
    return wide(RG_TAKE, data, entries, count + 1, terms.flags);
}
