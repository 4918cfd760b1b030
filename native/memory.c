/* Nodes and buffers: the free list, freeing without recursion, and an injector of failures.
 *
 * Dead nodes wait in a queue linked through their own memory, so a chain of any length is freed
 * in constant stack. The free list keeps at most RG_FREE_LIMIT nodes (20 MiB). */
#include "retrograde.h"

#define RG_FREE_LIMIT (1 << 18)

Value *rg_free_nodes = NULL;
Py_ssize_t rg_free_count = 0;

static Value *dying = NULL;
static int draining = 0;
static Py_ssize_t failure_countdown = -1;

/* Whether the injector wants this allocation to fail. */
static int failure_due(void) {
    if (RG_LIKELY(failure_countdown < 0)) return 0;
    return failure_countdown-- == 0;
}

PyObject *rg_inject_allocation_failure(PyObject *Py_UNUSED(module), PyObject *count) {
    Py_ssize_t after = PyLong_AsSsize_t(count);
    if (after == -1 && PyErr_Occurred()) return NULL;
    failure_countdown = after;
    if (after >= 0) { /* an empty free list, so that making a node allocates */
        while (rg_free_nodes) {
            Value *v = rg_free_nodes;
            rg_free_nodes = v->next;
            rg_free_count--;
            PyObject_Free(v);
        }
    }
    Py_RETURN_NONE;
}

void *rg_buffer_try(void *buffer, size_t bytes) {
    return failure_due() ? NULL : PyMem_RawRealloc(buffer, bytes);
}

void *rg_buffer_resize(void *buffer, size_t bytes) {
    void *resized = rg_buffer_try(buffer, bytes);
    if (resized == NULL) rg_fail("GraphMemoryError", "of", "n", (Py_ssize_t)bytes);
    return resized;
}

void rg_buffer_free(void *buffer) { PyMem_RawFree(buffer); }

/* A node that was not on the free list. Its type is set once and kept while it is recycled; the
 * type outlives every node, so nodes of the exact type hold no reference to it. */
Value *rg_node_allocate(void) {
    Value *v = failure_due() ? NULL : PyObject_Malloc(sizeof(Value));
    if (v == NULL) {
        rg_fail("GraphMemoryError", "of", "n", (Py_ssize_t)sizeof(Value));
        return NULL;
    }
    Py_SET_TYPE((PyObject *)v, RgValue_Type);
    _Py_NewReference((PyObject *)v);
    return v;
}

static void drop(Value *v) {
    if (v == NULL) return;
#ifndef Py_REF_DEBUG
    if (Py_REFCNT((PyObject *)v) == 1 && Py_IS_TYPE((PyObject *)v, RgValue_Type)) {
        v->next = dying;
        dying = v;
        return;
    }
#endif
    Py_DECREF((PyObject *)v);
}

/* Let go of the inputs: the node is a leaf afterwards. */
void rg_release_inputs(Value *v) {
    if (rg_is_leaf(v)) return;
    v->op = RG_LEAF;
    if (v->flags & RG_WIDE) {
        RgEntry *entries = v->entries;
        Py_ssize_t count = v->count;
        PyObject *rule = v->rule;
        v->flags &= (uint8_t)~RG_WIDE;
        v->entries = NULL;
        v->rule = NULL;
        for (Py_ssize_t i = 0; i < count; i++) drop(entries[i].input);
        rg_buffer_free(entries);
        Py_XDECREF(rule);
    } else {
        Value *first = v->in[0], *second = v->in[1];
        v->in[0] = v->in[1] = NULL;
        drop(first);
        drop(second);
    }
}

static void release(Value *v) {
    if (v->flags & (RG_LABELLED | RG_HOOKED)) rg_notes_drop(v);
    Py_XDECREF((PyObject *)v->code);
    rg_release_inputs(v);
    if (Py_IS_TYPE((PyObject *)v, RgValue_Type)) {
#ifndef RG_NO_FREE_LIST
        if (RG_LIKELY(rg_free_count < RG_FREE_LIMIT)) {
            v->next = rg_free_nodes;
            rg_free_nodes = v;
            rg_free_count++;
            return;
        }
#endif
        PyObject_Free(v);
    } else {
        PyTypeObject *type = Py_TYPE((PyObject *)v);
        type->tp_free(v);
        Py_DECREF((PyObject *)type);
    }
}

void rg_value_dealloc(PyObject *self) {
    Value *v = (Value *)self;
    v->next = dying;
    dying = v;
    if (draining) return;
    draining = 1;
    while (dying) {
        v = dying;
        dying = v->next;
        release(v);
    }
    draining = 0;
}
