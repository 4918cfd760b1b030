/* Freeing without recursion: dead nodes wait in a list linked through their own memory, so a chain
 * of any length is freed in constant stack.
 *
 * Of two inputs that die with a node the second is freed first, all of its graph before the
 * other: about the reverse of the order in which they were made. */
#include "slabs.h"

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

/* Give up a reference to an input. */
static inline void drop(Value *v) {
    if (v == NULL) return;
#ifndef Py_REF_DEBUG
    if (Py_REFCNT((PyObject *)v) == 1 && RG_LIKELY(Py_IS_TYPE((PyObject *)v, RgValue_Type))) {
        v->next = dying;
        dying = v;
        return;
    }
#endif
    Py_DECREF((PyObject *)v);
}

static void drop_inputs(Value *v) {
    if (v->flags & RG_WIDE) {
        RgEntry *entries = v->entries;
        Py_ssize_t count = v->count;
        PyObject *rule = v->rule;
        v->flags &= (uint8_t)~RG_WIDE;
        v->in[0] = v->in[1] = NULL;
        for (Py_ssize_t i = 0; i < count; i++) drop(entries[i].input);
        rg_entries_free(entries, count);
        Py_XDECREF(rule);
    } else {
        Value *first = v->in[0], *second = v->in[1];
        v->in[0] = v->in[1] = NULL;
        drop(first);
        drop(second);
    }
}

static inline void release(Value *v, Debt *debt) {
    if (RG_UNLIKELY(v->flags & (RG_LABELLED | RG_HOOKED))) rg_notes_drop(v);
    if (RG_UNLIKELY(v->code != debt->code)) {
        settle(debt);
        debt->code = v->code;
    }
    debt->count++;
    if (RG_LIKELY(!(v->flags & RG_WIDE))) {
        Value *first = v->in[0], *second = v->in[1];
        drop(first);
        drop(second);
    } else {
        drop_inputs(v);
    }
    if (RG_LIKELY(Py_IS_TYPE((PyObject *)v, RgValue_Type))) {
        rg_node_give_back(v);
    } else {
        PyTypeObject *type = Py_TYPE((PyObject *)v);
        type->tp_free(v);
        Py_DECREF((PyObject *)type);
    }
}

static void drain(void) {
    Debt debt = {NULL, 0};
    draining = 1;
    while (dying) {
        Value *v = dying;
        dying = v->next;
        release(v, &debt);
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
    v->op = RG_LEAF;
    drop_inputs(v);
    if (dying && !draining) drain();
}
