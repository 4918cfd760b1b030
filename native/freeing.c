/* Freeing without recursion: dead nodes wait in a list linked through their own memory, so a chain
 * of any length is freed in constant stack.
 *
 * Of two inputs that die with a node the second is freed first, all of its graph before the
 * other: about the reverse of the order in which they were made. */
#include "slabs.h"
#include "tensor.h"

static Value *dying = NULL; /* those that wait */
static int draining = 0;

/* References to one code object that are still to be given up: nodes made on one line die together,
 * and pay for it once. */
typedef struct {
    PyCodeObject *code;
    Py_ssize_t count;
} Debt;

static void settle(Debt *debt) {
    PyObject *code = (PyObject *)debt->code;
    Py_ssize_t count = debt->count;
    *debt = (Debt){NULL, 0};
    if (code == NULL) return;
#ifndef Py_REF_DEBUG
    Py_SET_REFCNT(code, Py_REFCNT(code) - (count - 1)); /* nothing, where it is immortal */
    count = 1;
#endif
    while (count-- > 0) Py_DECREF(code);
}

/* Give up a reference to an input, which joins the list if it was the last. */
static inline Value *drop(Value *v, Value *list) {
    if (v == NULL) return list;
#ifndef Py_REF_DEBUG
    if (Py_REFCNT((PyObject *)v) == 1 && (RG_LIKELY(rg_is_plain((PyObject *)v)) || rg_is_node(v))) {
        v->next = list;
        return v;
    }
#endif
    Py_DECREF((PyObject *)v);
    return list;
}

static inline Value *drop_entries(Value *v, Value *list) {
    RgEntry *entries = v->entries;
    Py_ssize_t count = v->count;
    PyObject *rule = v->rule;
    v->flags &= (uint8_t)~RG_WIDE;
    v->in[0] = v->in[1] = NULL;
    for (RgEntry *entry = entries, *end = entry + count; entry < end; entry++)
        list = drop(entry->input, list);
    rg_entries_free(entries, count);
    Py_XDECREF(rule);
    return list;
}

static inline Value *drop_wide(Value *v, Value *list) {
    return rg_has_body(v) ? rg_drop_body(v, list, drop) : drop_entries(v, list);
}

static void free_odd(Value *v) {
    PyTypeObject *type = Py_TYPE((PyObject *)v);
    type->tp_free(v);
    Py_DECREF((PyObject *)type);
}

/* Free what waits. The list is local: `dying` is where Python code run on the way, or another
 * thread meanwhile, leaves more. */
static void drain(void) {
    Debt debt = {NULL, 0};
    Value *list = NULL;
    draining = 1;
    for (;;) {
        if (RG_UNLIKELY(list == NULL)) {
            list = dying;
            dying = NULL;
            if (list == NULL) break;
        }
        Value *v = list;
        list = v->next;
        if (RG_UNLIKELY(v->flags & (RG_LABELLED | RG_HOOKED))) rg_notes_drop(v);
        if (RG_UNLIKELY(v->code != debt.code)) {
            settle(&debt);
            debt.code = v->code;
        }
        debt.count++;
        if (RG_LIKELY(!(v->flags & RG_WIDE))) {
            list = drop(v->in[0], list);
            list = drop(v->in[1], list);
        } else if (rg_is_node(v)) {
            list = rg_drop_body(v, list, drop);
            Py_SET_TYPE((PyObject *)v, RgValue_Type); /* of the slabs, like plain ones */
            rg_node_give_back(v);
            continue;
        } else {
            list = drop_wide(v, list);
        }
        if (RG_LIKELY(rg_is_plain((PyObject *)v)))
            rg_node_give_back(v);
        else
            free_odd(v);
    }
    draining = 0;
    settle(&debt);
}

void rg_value_dealloc(PyObject *self) {
    Value *v = (Value *)self;
    v->next = dying;
    dying = v;
    if (!draining) drain();
}

/* Let go of the inputs: the node is a leaf afterwards. */
void rg_release_inputs(Value *v) {
    if (rg_is_leaf(v)) return;
    Value *list = NULL;
    if (v->op == RG_ARRAY) {
        list = rg_drop_body(v, list, drop);
    } else if (v->flags & RG_WIDE) {
        v->op = RG_LEAF;
        list = drop_entries(v, list);
    } else {
        Value *first = v->in[0], *second = v->in[1];
        v->op = RG_LEAF;
        v->in[0] = v->in[1] = NULL;
        list = drop(second, drop(first, list));
    }
    while (list) {
        Value *dead = list;
        list = dead->next;
        rg_value_dealloc((PyObject *)dead);
    }
}
