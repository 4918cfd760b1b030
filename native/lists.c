/* Lists of values at once: a row of the law over lists, and the dots of a matrix with a list.
 *
 * The nodes are the same, to the bit, as those of the rows and dots one by one; what is saved is the
 * interpreter's work between them. All nodes of a call share one site, found once. */
#include <math.h>

#include "make.h"

/* An operand: a value, or NULL and a number. */
typedef struct {
    Value *value;
    double number;
} Term;

/* A node made where `site` was. */
static inline Value *node_at(const Value *site, int op, double data, uint8_t flags) {
    Value *v = RG_UNLIKELY(flags & RG_COLLECTED) ? rg_tracked_new() : rg_node_take();
    if (RG_UNLIKELY(v == NULL)) return NULL;
    v->op = (uint8_t)op;
    v->epoch = (uint16_t)rg_epoch;
    v->grad = 0.0;
    v->data = data;
    v->code = site->code;
    Py_XINCREF((PyObject *)v->code);
    v->instruction = site->instruction;
    return v;
}

/* 0 and the operand as a term, 1 where it is neither value nor number, -1 in failure. */
static inline int take_operand(PyObject *item, Term *term) {
    if (RG_LIKELY(rg_is_value(item))) {
        term->value = (Value *)item;
        term->number = term->value->data;
        return 0;
    }
    term->value = NULL;
    int converted = rg_number(item, &term->number);
    return converted < 0 ? -1 : !converted;
}

static int is_list(PyObject *object) { return PyList_Check(object) || PyTuple_Check(object); }

/* Whether turning an item into a number runs no Python code, which might change the list. */
static inline int is_tame(PyObject *item) {
    return rg_is_value(item) || PyFloat_CheckExact(item) || PyLong_CheckExact(item);
}

/* ---- a row over lists ----------------------------------------------------------------------- */

static int op_named(PyObject *name) {
    static PyObject *numbers = NULL; /* name -> number of the row */
    if (numbers == NULL) {
        PyObject *made = PyDict_New();
        for (int op = 0; made && op < RG_OP_COUNT; op++) {
            PyObject *number = PyLong_FromLong(op);
            if (number == NULL || PyDict_SetItemString(made, RG_OPS[op].name, number) < 0)
                Py_CLEAR(made);
            Py_XDECREF(number);
        }
        if (made == NULL) return -1;
        numbers = made;
    }
    PyObject *found = PyDict_GetItemWithError(numbers, name);
    if (found == NULL && !PyErr_Occurred()) PyErr_Format(PyExc_KeyError, "no op is named %R", name);
    return found ? (int)PyLong_AsLong(found) : -1;
}

static PyObject *apply_terms(const Value *site, int op, const Term *terms, int arity) {
    double numbers[2], partials[2];
    uint8_t flags = 0;
    int any = 0;
    for (int i = 0; i < arity; i++) {
        numbers[i] = terms[i].number;
        if (terms[i].value) flags |= terms[i].value->flags, any = 1;
    }
    double z = RG_OPS[op].eval(numbers);
    if (!any) return PyFloat_FromDouble(z);
    Value *v = node_at(site, op, z, flags);
    if (RG_UNLIKELY(v == NULL)) return NULL;
    RG_OPS[op].slopes(numbers, z, partials);
    v->in[1] = NULL;
    for (int i = 0; i < arity; i++) {
        v->in[i] = terms[i].value;
        Py_XINCREF((PyObject *)terms[i].value);
        v->partial[i] = terms[i].value ? partials[i] : terms[i].number;
    }
    v->flags = flags & RG_INHERITED;
    return rg_finish(v);
}

/* each(op, x) or each(op, x, y): the row on every item; lists go item by item, a value or number
 * serves for all. */
static PyObject *each(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t given) {
    int op = given ? op_named(args[0]) : -1, arity = op < 0 ? 0 : RG_OPS[op].arity;
    if (op < 0 || arity > 2 || given != arity + 1) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "each takes a row of one or two inputs and those");
        return NULL;
    }
    PyObject *lists[2] = {NULL, NULL}, *results = NULL;
    Term terms[2];
    Value site = {.code = NULL};
    Py_ssize_t count = -1;
    for (int i = 0; i < arity; i++) {
        PyObject *operand = args[1 + i];
        if (is_list(operand)) {
            if ((lists[i] = PySequence_Tuple(operand)) == NULL) goto done;
            Py_ssize_t size = PyTuple_GET_SIZE(lists[i]);
            if (count >= 0 && size != count) {
                rg_fail("ShapeError", "lists", "Onn", args[0], count, size);
                goto done;
            }
            count = size;
        } else {
            int failed = take_operand(operand, &terms[i]);
            if (failed > 0) rg_fail("OperandError", "of", "OO", args[0], operand);
            if (failed) goto done;
        }
    }
    if (count < 0) {
        PyErr_SetString(PyExc_TypeError, "each takes at least one list");
        goto done;
    }
    rg_site_capture(&site);
    results = PyList_New(count);
    for (Py_ssize_t at = 0; results && at < count; at++) {
        PyObject *result = NULL;
        int failed = 0;
        for (int i = 0; i < arity && !failed; i++) {
            if (lists[i] == NULL) continue;
            PyObject *item = PyTuple_GET_ITEM(lists[i], at);
            failed = take_operand(item, &terms[i]);
            if (failed > 0) rg_fail("OperandError", "of", "OO", args[0], item);
        }
        if (!failed) result = apply_terms(&site, op, terms, arity);
        if (result == NULL)
            Py_CLEAR(results);
        else
            PyList_SET_ITEM(results, at, result);
    }
done:
    Py_XDECREF((PyObject *)site.code);
    Py_XDECREF(lists[0]);
    Py_XDECREF(lists[1]);
    return results;
}

/* largest(terms, function): the largest number of a list, 0 where that is not finite; NaN is passed
 * over. The function is the one to name where an item is no number. */
static PyObject *largest(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *list;
    const char *function;
    if (!PyArg_ParseTuple(args, "Os", &list, &function)) return NULL;
    PyObject *items = PySequence_Tuple(list);
    if (items == NULL) return NULL;
    double most = -INFINITY;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items); i++) {
        Term term = {NULL, 0.0};
        int failed = take_operand(PyTuple_GET_ITEM(items, i), &term);
        if (failed > 0)
            rg_fail("NumberError", "at", "snO", function, i, PyTuple_GET_ITEM(items, i));
        if (failed) {
            Py_DECREF(items);
            return NULL;
        }
        if (term.number > most) most = term.number;
    }
    Py_DECREF(items);
    return PyFloat_FromDouble(isfinite(most) ? most : 0.0);
}

/* ---- a matrix with a list ------------------------------------------------------------------- */

/* An entry on the left, its partner on the right, and their product; the entries hold their values
 * from here on, since making a node known to the collector may run other code. */
static inline double pair(RgEntry *left, RgEntry *right, Term one, Term two) {
    Py_XINCREF((PyObject *)one.value);
    Py_XINCREF((PyObject *)two.value);
    *left = (RgEntry){one.value, one.value ? two.number : one.number};
    *right = (RgEntry){two.value, two.value ? one.number : two.number};
    return one.number * two.number;
}

/* Drop what `pair` has held so far. */
static PyObject *abandon(RgEntry *entries, Py_ssize_t width, Py_ssize_t filled) {
    for (Py_ssize_t i = 0; i < filled; i++) {
        Py_XDECREF((PyObject *)entries[i].input);
        Py_XDECREF((PyObject *)entries[width + i].input);
    }
    rg_entries_free(entries, 2 * width);
    return NULL;
}

/* A dot from its entries, which it takes over; `flags` are those of their inputs. */
static PyObject *finish_dot(const Value *site, double total, RgEntry *entries, Py_ssize_t width,
                            uint8_t flags) {
    Value *v = node_at(site, RG_DOT, total, flags);
    if (RG_UNLIKELY(v == NULL)) return abandon(entries, width, width);
    v->flags = (flags & RG_INHERITED) | RG_WIDE;
    v->entries = entries;
    v->count = 2 * width;
    v->rule = NULL;
    return rg_finish(v);
}

/* One row's dot with the terms; `bias`, where there is one, comes first and counts once. Unless the
 * items of the row are held by a tuple, one whose conversion may run Python code sets `wild`. */
static PyObject *dot_row(const Value *site, PyObject *list, const Term *terms, Py_ssize_t count,
                         PyObject *bias, Py_ssize_t at, int *wild) {
    const int held = PyTuple_CheckExact(list);
    PyObject *const *row = PySequence_Fast_ITEMS(list);
    Py_ssize_t head = bias != NULL, width = count + head;
    RgEntry *lefts = rg_entries_new(2 * width), *rights = lefts + width;
    if (lefts == NULL) return NULL;
    double total = 0.0;
    uint8_t flags = 0;
    Term left;
    int failed = 0;
    if (head) {
        failed = take_operand(bias, &left);
        if (failed > 0) rg_fail("NumberError", "at", "snO", "linear, the biases", at, bias);
        if (failed) return abandon(lefts, width, 0);
        total = pair(lefts, rights, left, (Term){NULL, 1.0});
        if (left.value) flags = left.value->flags;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (RG_UNLIKELY(!held && !is_tame(row[i]))) {
            *wild = 1;
            return abandon(lefts, width, head + i);
        }
        failed = take_operand(row[i], &left);
        if (RG_UNLIKELY(failed)) {
            if (failed > 0) rg_fail("NumberError", "at", "snO", "linear", i, row[i]);
            return abandon(lefts, width, head + i);
        }
        double product = pair(lefts + head + i, rights + head + i, left, terms[i]);
        if (left.value) flags |= left.value->flags;
        total = head + i ? total + product : product;
    }
    int any = 0;
    for (Py_ssize_t i = 0; i < count; i++)
        if (terms[i].value) flags |= terms[i].value->flags, any = 1;
    for (Py_ssize_t i = 0; i < width && !any; i++) any = lefts[i].input != NULL;
    if (any) return finish_dot(site, total, lefts, width, flags);
    abandon(lefts, width, width);
    return PyFloat_FromDouble(total);
}

/* The same where there is no bias and everything is a plain value, in one tight loop; `flags` are
 * those of the terms. NULL without an exception where an item is something else. */
static PyObject *dot_plain(const Value *site, PyObject *const *row, const Term *terms,
                           Py_ssize_t count, uint8_t flags) {
    RgEntry *lefts = rg_entries_new(2 * count), *rights = lefts + count;
    if (lefts == NULL) return NULL;
    double total = 0.0;
    for (Py_ssize_t i = 0; i < count; i++) {
        Value *v = (Value *)row[i];
        if (RG_UNLIKELY(!Py_IS_TYPE(row[i], RgValue_Type))) {
            for (Py_ssize_t j = 0; j < i; j++) Py_DECREF((PyObject *)lefts[j].input);
            rg_entries_free(lefts, 2 * count);
            return NULL;
        }
        Py_INCREF(row[i]);
        lefts[i] = (RgEntry){v, terms[i].number};
        rights[i] = (RgEntry){terms[i].value, v->data};
        flags |= v->flags;
        total = i ? total + v->data * terms[i].number : v->data * terms[i].number;
    }
    for (Py_ssize_t i = 0; i < count; i++) Py_INCREF((PyObject *)terms[i].value);
    return finish_dot(site, total, lefts, count, flags);
}

/* `flags` are those of the terms, where all of them are plain values, else -1. */
static PyObject *linear_row(const Value *site, PyObject *rows, Py_ssize_t at, const Term *terms,
                            Py_ssize_t count, PyObject *biases, int flags) {
    PyObject *row = PyTuple_GET_ITEM(rows, at);
    Py_ssize_t width = is_list(row) ? PySequence_Fast_GET_SIZE(row) : -1;
    if (width != count) {
        rg_fail("ShapeError", "linear", "nnn", at, width, count);
        return NULL;
    }
    PyObject *bias = biases ? PyTuple_GET_ITEM(biases, at) : NULL, *result = NULL;
    if (RG_LIKELY(flags >= 0 && bias == NULL)) {
        result = dot_plain(site, PySequence_Fast_ITEMS(row), terms, count, (uint8_t)flags);
        if (RG_LIKELY(result != NULL) || PyErr_Occurred()) return result;
    }
    int wild = 0;
    result = dot_row(site, row, terms, count, bias, at, &wild);
    if (RG_LIKELY(!wild)) return result;
    if ((row = PySequence_Tuple(row)) == NULL) return NULL;
    result = dot_row(site, row, terms, count, bias, at, &wild);
    Py_DECREF(row);
    return result;
}

/* linear(rows, xs, biases): bias + dot(row, xs) for every row, one node each; biases may be None. */
static PyObject *linear(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t given) {
    if (given != 3) {
        PyErr_SetString(PyExc_TypeError, "linear takes rows, a list and biases");
        return NULL;
    }
    PyObject *rows = PySequence_Tuple(args[0]), *results = NULL, *biases = NULL;
    PyObject *xs = rows ? PySequence_Tuple(args[1]) : NULL;
    Term *terms = NULL;
    Value site = {.code = NULL};
    int flags = 0;
    if (xs == NULL) goto done;
    Py_ssize_t count = PyTuple_GET_SIZE(xs);
    if (args[2] != Py_None) {
        if ((biases = PySequence_Tuple(args[2])) == NULL) goto done;
        if (PyTuple_GET_SIZE(biases) != PyTuple_GET_SIZE(rows)) {
            rg_fail("ShapeError", "biases", "nn", PyTuple_GET_SIZE(rows), PyTuple_GET_SIZE(biases));
            goto done;
        }
    }
    terms = rg_buffer_resize(NULL, (size_t)(count ? count : 1) * sizeof(Term));
    if (terms == NULL) goto done;
    for (Py_ssize_t i = 0; i < count; i++) {
        int failed = take_operand(PyTuple_GET_ITEM(xs, i), &terms[i]);
        if (failed > 0) rg_fail("NumberError", "at", "snO", "linear", i, PyTuple_GET_ITEM(xs, i));
        if (failed) goto done;
        int plain = terms[i].value && Py_IS_TYPE(PyTuple_GET_ITEM(xs, i), RgValue_Type);
        flags = plain && flags >= 0 ? flags | terms[i].value->flags : -1;
    }
    rg_site_capture(&site);
    results = PyList_New(PyTuple_GET_SIZE(rows));
    for (Py_ssize_t at = 0; results && at < PyTuple_GET_SIZE(rows); at++) {
        PyObject *result = linear_row(&site, rows, at, terms, count, biases, flags);
        if (result == NULL)
            Py_CLEAR(results);
        else
            PyList_SET_ITEM(results, at, result);
    }
done:
    Py_XDECREF((PyObject *)site.code);
    if (terms) rg_buffer_free(terms);
    Py_XDECREF(rows);
    Py_XDECREF(xs);
    Py_XDECREF(biases);
    return results;
}

PyMethodDef rg_list_methods[] = {
    {"each", (PyCFunction)(void (*)(void))each, METH_FASTCALL,
     RG_DOC("each($module, op, /, *operands)",
            "A row of the law on every item of lists; a value or number serves for all.")},
    {"largest", largest, METH_VARARGS,
     RG_DOC("largest($module, terms, function, /)",
            "The largest number of a list, or 0 where that is not finite.")},
    {"linear", (PyCFunction)(void (*)(void))linear, METH_FASTCALL,
     RG_DOC("linear($module, rows, xs, biases, /)",
            "The dot of every row with a list, on top of its bias: one node a row.")},
    {NULL, NULL, 0, NULL},
};
