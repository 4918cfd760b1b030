/* Buffers, fresh nodes, and an injector of failures for the tests.
 *
 * The inputs of wide nodes live in blocks that are kept by their size, up to 4 MiB in all. */
#include "slabs.h"
#include "tensor.h"

#define KEPT_COUNT 513 /* blocks of fewer entries than this are kept */
#define KEPT_BYTES ((size_t)4 << 20)

typedef union Block {
    union Block *next;
    RgEntry entry;
} Block;

Value *rg_free_nodes = NULL;

static Value *set_aside = NULL; /* the free nodes, while failures are counted down */
static Block *kept[KEPT_COUNT];
static size_t kept_bytes = 0;
static Py_ssize_t failure_countdown = -1;

/* Whether the injector wants this allocation to fail. */
int rg_failure_due(void) {
    if (RG_LIKELY(failure_countdown < 0)) return 0;
    return failure_countdown-- == 0;
}

int rg_failures_counted(void) { return failure_countdown >= 0; }

PyObject *rg_inject_allocation_failure(PyObject *Py_UNUSED(module), PyObject *count) {
    Py_ssize_t after = PyLong_AsSsize_t(count);
    if (after == -1 && PyErr_Occurred()) return NULL;
    failure_countdown = after;
    rg_numbers_count(after >= 0);
    if (after >= 0 && set_aside == NULL) { /* so that making a node comes past the injector */
        set_aside = rg_free_nodes;
        rg_free_nodes = NULL;
    }
    Py_RETURN_NONE;
}

void *rg_buffer_try(void *buffer, size_t bytes) {
    return rg_failure_due() ? NULL : PyMem_RawRealloc(buffer, bytes);
}

void *rg_buffer_resize(void *buffer, size_t bytes) {
    void *resized = rg_buffer_try(buffer, bytes);
    if (resized == NULL) rg_fail("GraphMemoryError", "of", "n", (Py_ssize_t)bytes);
    return resized;
}

void rg_buffer_free(void *buffer) { PyMem_RawFree(buffer); }

RgEntry *rg_entries_new(Py_ssize_t count) {
    if (count == 0) count = 1;
    if (count < KEPT_COUNT && kept[count] && failure_countdown < 0) {
        Block *block = kept[count];
        kept[count] = block->next;
        kept_bytes -= (size_t)count * sizeof(RgEntry);
        return &block->entry;
    }
    return rg_buffer_resize(NULL, (size_t)count * sizeof(RgEntry));
}

void rg_entries_free(RgEntry *entries, Py_ssize_t count) {
    if (count == 0) count = 1;
#ifndef RG_NO_FREE_LIST
    if (count < KEPT_COUNT && kept_bytes < KEPT_BYTES) {
        Block *block = (Block *)entries;
        block->next = kept[count];
        kept[count] = block;
        kept_bytes += (size_t)count * sizeof(RgEntry);
        return;
    }
#endif
    rg_buffer_free(entries);
}

/* A node when the list of free ones is empty. Its type outlives every node, so nodes of the exact
 * type hold no reference to it. */
Value *rg_node_allocate(void) {
    Value *v = NULL;
    if (!rg_failure_due()) {
#ifdef RG_NO_FREE_LIST
        v = PyObject_Malloc(sizeof(Value));
        if (v) Py_SET_TYPE((PyObject *)v, RgValue_Type);
#else
        v = set_aside ? set_aside : rg_slab_hand_out();
        if (v) *(failure_countdown < 0 ? &rg_free_nodes : &set_aside) = v->next;
        if (v && failure_countdown < 0) set_aside = NULL;
#endif
    }
    if (v == NULL) {
        rg_fail("GraphMemoryError", "of", "n", (Py_ssize_t)sizeof(Value));
        return NULL;
    }
    _Py_NewReference((PyObject *)v);
    return v;
}
