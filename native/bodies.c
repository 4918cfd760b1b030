/* Bodies of tensors, and the handles that Python holds: made, kept, let go, put together again.
 *
 * A body counts who reads its data. When the last handle and the last rule are gone the data goes,
 * and comes back (rg_tensor_restore) should anybody ask for it through the graph. */
#include "slabs.h"
#include "tensor.h"

PyTypeObject *RgTensor_Type = NULL;
PyTypeObject *RgNode_Type = NULL;

#define MOST_BODIES ((size_t)1 << 16)  /* free ones that are kept */
#define MOST_HANDLES ((size_t)1 << 12) /* likewise */

RgBody *rg_free_bodies = NULL;
RgTensor *rg_free_handles = NULL;
size_t rg_bodies_free = 0, rg_handles_free = 0;

static RgBody *body_new(void) {
    RgBody *body = rg_free_bodies;
    if (RG_UNLIKELY(body == NULL || rg_failures_counted()))
        return rg_buffer_resize(NULL, sizeof(RgBody));
    rg_free_bodies = (RgBody *)body->handle;
    rg_bodies_free--;
    return body;
}

static void body_free(RgBody *body) {
    if (RG_UNLIKELY(body->shape != body->axes)) rg_buffer_free(body->shape);
#ifndef RG_NO_FREE_LIST
    if (rg_bodies_free < MOST_BODIES) {
        body->handle = (PyObject *)rg_free_bodies;
        rg_free_bodies = body;
        rg_bodies_free++;
        return;
    }
#endif
    rg_buffer_free(body);
}

/* A leaf of so many axes, without shape, numbers or gradient, made at this line; as a Value it has
 * a body besides. NULL with an exception. */
Value *rg_tensor_blank(int ndim, int as_value) {
    RgBody *body = body_new();
    if (RG_UNLIKELY(body == NULL)) return NULL;
    body->row = NULL;
    body->buffer = body->gradient = NULL;
    body->at = NULL;
    body->handle = body->rule = NULL;
    body->wholes = NULL;
    body->keep = 0;
    body->version = 0;
    body->code = 0;
    body->place = 0;
    body->ndim = (uint8_t)ndim;
    body->saves = body->saves_result = body->contiguous = body->marks = body->open = 0;
    body->size = 1;
    body->shape = body->axes;
    if (RG_UNLIKELY(ndim > RG_INLINE_AXES)) {
        body->shape = rg_buffer_resize(NULL, 2 * (size_t)ndim * sizeof(Py_ssize_t));
        if (body->shape == NULL) {
            body->shape = body->axes;
            body_free(body);
            return NULL;
        }
    }
    body->strides = body->shape + (ndim > RG_INLINE_AXES ? ndim : RG_INLINE_AXES);
    Value *v = rg_node_take();
    if (RG_UNLIKELY(v == NULL)) {
        body_free(body);
        return NULL;
    }
    if (!as_value) Py_SET_TYPE((PyObject *)v, RgNode_Type);
    v->op = RG_LEAF;
    v->flags = RG_WIDE;
    v->epoch = (uint16_t)rg_epoch;
    v->grad = 0.0;
    v->data = 0.0;
    v->entries = body->inputs;
    v->count = 0;
    v->rule = (PyObject *)body;
    rg_site_capture(v);
    return v;
}

/* Room for the inputs of a new node. NULL with an exception. */
RgEntry *rg_body_entries(Value *z, Py_ssize_t count) {
    if (count > 3) {
        RgEntry *entries = rg_entries_new(count);
        if (entries == NULL) return NULL;
        z->entries = entries;
    }
    z->count = count;
    for (Py_ssize_t i = 0; i < count; i++) z->entries[i] = (RgEntry){NULL, 0.0};
    return z->entries;
}

static inline int is_saved(const RgBody *body, Py_ssize_t i) {
    return i < 8 ? body->saves >> i & 1 : body->saves != 0;
}

/* Whether the rule of a node reads an input whose data was changed since. */
int rg_is_stale(const Value *v, Py_ssize_t i) {
    return is_saved(rg_body(v), i) &&
           v->entries[i].partial != (double)rg_body(v->entries[i].input)->version;
}

/* One reader less. A leaf keeps its data, from which all else can be had again, and so does a write
 * in place, of which that does not hold. */
void rg_unkeep(Value *v) {
    RgBody *body = rg_body(v);
    if (--body->keep > 0 || body->buffer == NULL || v->op != RG_ARRAY) return;
    if (body->marks & RG_ONLY) return;
    rg_numbers_drop(body->buffer);
    body->buffer = NULL;
    body->at = NULL;
}

/* The new node is of its inputs from now on: it holds them, and what its rule reads is kept. */
void rg_hold_inputs(Value *z) {
    RgBody *body = rg_body(z);
    z->op = RG_ARRAY;
    for (Py_ssize_t i = 0; i < z->count; i++) {
        RgEntry *entry = &z->entries[i];
        if (entry->input == NULL) continue;
        Py_INCREF((PyObject *)entry->input);
        if (!rg_is_node(entry->input)) continue;
        RgBody *of = rg_body(entry->input);
        entry->partial = (double)of->version;
        if (is_saved(body, i)) of->keep++;
    }
    if (body->saves_result && rg_is_node(z)) body->keep++;
}

/* Let go of what the rule reads, while the inputs are still held. */
static void release_saved(Value *z) {
    RgBody *body = rg_body(z);
    if (z->op != RG_ARRAY) return;
    for (Py_ssize_t i = 0; i < z->count; i++) {
        Value *input = z->entries[i].input;
        if (input && rg_is_node(input) && is_saved(body, i)) rg_unkeep(input);
    }
    if (body->saves_result && rg_is_node(z)) rg_unkeep(z);
}

/* The node is a leaf from now on. */
void rg_tensor_forget(Value *z) {
    RgBody *body = rg_body(z);
    RgEntry *entries = z->entries;
    Py_ssize_t count = z->count;
    PyObject *rule = body->rule;
    if (z->op != RG_ARRAY) return;
    if (body->saves_result && rg_is_node(z)) body->keep--; /* a leaf keeps its data: not unkeep */
    body->saves_result = 0;
    release_saved(z);
    z->op = RG_LEAF;
    z->entries = body->inputs;
    z->count = 0;
    body->row = NULL;
    body->rule = NULL;
    rg_numbers_xdrop(body->wholes);
    body->wholes = NULL;
    body->saves = body->saves_result = 0;
    for (Py_ssize_t i = 0; i < count; i++) Py_XDECREF((PyObject *)entries[i].input);
    if (entries != body->inputs) rg_entries_free(entries, count);
    Py_XDECREF(rule);
}

/* Of a dead node, or of a value that becomes a plain leaf: its inputs join the list of those that
 * die, and the body goes. */
Value *rg_drop_body(Value *v, Value *list, Value *(*drop)(Value *, Value *)) {
    RgBody *body = rg_body(v);
    RgEntry *entries = v->entries;
    Py_ssize_t count = v->count, held = v->op == RG_ARRAY ? count : 0; /* else it was never whole */
    PyObject *rule = body->rule;
    v->op = RG_LEAF;
    v->flags &= (uint8_t)~RG_WIDE;
    v->in[0] = v->in[1] = NULL;
    rg_numbers_xdrop(body->buffer);
    rg_numbers_xdrop(body->gradient);
    rg_numbers_xdrop(body->wholes);
    for (Py_ssize_t i = 0; i < held; i++) {
        Value *input = entries[i].input;
        if (input && is_saved(body, i) && rg_is_node(input)) rg_unkeep(input);
        list = drop(input, list);
    }
    if (entries != body->inputs) rg_entries_free(entries, count);
    body_free(body);
    Py_XDECREF(rule);
    return list;
}

/* ---- handles ------------------------------------------------------------------------------ */

/* A handle around a node that has none, whose reference it takes over, also in failure. */
PyObject *rg_tensor_wrap(Value *v) {
    RgTensor *handle;
    if (RG_LIKELY(rg_free_handles != NULL)) {
        handle = rg_handle_pop();
    } else {
        handle = PyObject_Malloc(sizeof(RgTensor));
        if (handle == NULL) {
            Py_DECREF((PyObject *)v);
            return PyErr_NoMemory();
        }
        Py_SET_TYPE((PyObject *)handle,
                    RgTensor_Type); /* which outlives them: no reference to it */
        _Py_NewReference((PyObject *)handle);
    }
    handle->node = v;
    rg_body(v)->handle = (PyObject *)handle;
    rg_body(v)->keep++;
    return (PyObject *)handle;
}

/* The same around a node that others hold too. */
PyObject *rg_tensor_handle(Value *v) { return rg_tensor_wrap((Value *)Py_NewRef((PyObject *)v)); }

void rg_handle_dealloc(PyObject *self) {
    RgTensor *handle = (RgTensor *)self;
    Value *v = handle->node;
    rg_body(v)->handle = NULL;
    rg_unkeep(v);
    Py_DECREF((PyObject *)v);
#ifndef RG_NO_FREE_LIST
    if (rg_handles_free < MOST_HANDLES) {
        handle->node = (Value *)rg_free_handles;
        rg_free_handles = handle;
        rg_handles_free++;
        return;
    }
#endif
    PyObject_Free(handle);
}

/* ---- finishing ----------------------------------------------------------------------------- */

/* A node of a recording keeps its inputs, whether they take gradients or not; under no_grad() no
 * gradient goes through it. */
static PyObject *finish_recorded(Value *z, uint8_t flags) {
    rg_hold_inputs(z);
    if (rg_grad_enabled()) z->flags |= flags & RG_REQUIRES_GRAD;
    rg_record_array(z);
    PyObject *face = rg_anomaly_enabled() && rg_tensor_watch(z) < 0 ? NULL : rg_face(z);
    Py_DECREF((PyObject *)z);
    return face;
}

/* A node made in some mode, or none of whose inputs takes gradients: it needs none of them. Takes
 * over the node, also in failure; a new reference to what Python sees of it. */
PyObject *rg_tensor_finish_odd(Value *z, uint8_t flags) {
    if (RG_UNLIKELY(rg_recording())) return finish_recorded(z, flags);
    int takes = flags & RG_REQUIRES_GRAD, failed = 0;
    PyObject *held = NULL; /* a watcher's handle must not be the last: that lets numbers go */
    if (rg_modes_active) {
        rg_hold_inputs(z);
        if (rg_anomaly_enabled()) failed = rg_tensor_watch(z);
        if (!failed && !rg_grad_enabled()) {
            z->flags |= takes;
            held = rg_face(z);
            if (held == NULL)
                failed = 1;
            else
                rg_report_cut(z);
            z->flags &= (uint8_t)~RG_REQUIRES_GRAD;
            takes = 0;
        }
        if (!takes || failed) {
            if (rg_is_node(z))
                rg_tensor_forget(z);
            else
                rg_release_inputs(z);
        }
    } else if (!takes) {
        if (z->entries != rg_body(z)->inputs) rg_entries_free(z->entries, z->count);
        z->entries = rg_body(z)->inputs;
        z->count = 0;
        Py_CLEAR(rg_body(z)->rule);
        rg_numbers_xdrop(rg_body(z)->wholes);
        rg_body(z)->wholes = NULL;
        rg_body(z)->saves = rg_body(z)->saves_result = 0;
        if (!rg_is_node(z)) { /* a number made of numbers: a plain leaf */
            z->op = RG_ARRAY;
            rg_release_inputs(z);
        }
    }
    z->flags |= (uint8_t)takes;
    PyObject *face = failed ? NULL : rg_face(z);
    Py_XDECREF(held);
    Py_DECREF((PyObject *)z);
    return face;
}

/* ---- numbers that were let go --------------------------------------------------------------- */

typedef struct {
    Value **items;
    size_t count, capacity;
} Nodes;

static int push(Nodes *nodes, Value *v) {
    if (nodes->count == nodes->capacity) {
        size_t capacity = nodes->capacity ? 2 * nodes->capacity : 64;
        Value **items = rg_buffer_resize(nodes->items, capacity * sizeof(Value *));
        if (items == NULL) return -1;
        nodes->items = items;
        nodes->capacity = capacity;
    }
    nodes->items[nodes->count++] = v;
    return 0;
}

/* The first input, from some on, whose numbers are not there. */
static Value *missing_input(const Value *v) {
    for (Py_ssize_t i = 0; i < v->count; i++) {
        Value *input = v->entries[i].input;
        if (input && rg_is_node(input) && rg_body(input)->buffer == NULL) return input;
    }
    return NULL;
}

static int compute_again(Value *v) {
    RgBody *body = rg_body(v);
    Value *stale = rg_stale_input(v, 1);
    if (stale) {
        rg_fail("StaleGraph", "input", "NN", rg_face(v), rg_face(stale));
        return -1;
    }
    RgBuffer *buffer = rg_numbers_new((size_t)body->size);
    if (buffer == NULL || body->row->run(v, buffer->data) < 0) {
        rg_numbers_xdrop(buffer);
        return -1;
    }
    Py_ssize_t stride = 1;
    for (int d = body->ndim; d-- > 0; stride *= body->shape[d]) body->strides[d] = stride;
    body->contiguous = 1;
    body->buffer = buffer;
    body->at = buffer->data;
    return 0;
}

/* Compute the numbers of a node again that were let go, and of what it needs. No recursion. Where they
 * cannot be had, `gone` is set, or without it the exception. */
static int restore(Value *v, int *gone) {
    Nodes stack = {NULL, 0, 0}, restored = {NULL, 0, 0};
    int failed = push(&stack, v);
    while (!failed && stack.count) {
        Value *top = stack.items[stack.count - 1];
        Value *missing = rg_body(top)->buffer ? NULL : missing_input(top);
        if (rg_body(top)->buffer == NULL && top->op != RG_ARRAY) {
            if (gone)
                *gone = 1;
            else
                rg_fail("AliasError", "gone", "N", rg_face(top));
            failed = -1;
            continue;
        }
        if (missing) {
            failed = push(&stack, missing);
            continue;
        }
        stack.count--;
        if (rg_body(top)->buffer) continue;
        failed = push(&restored, top) < 0 || compute_again(top) < 0;
    }
    for (size_t i = 0; i < restored.count; i++) { /* what only helped goes again */
        RgBody *body = rg_body(restored.items[i]);
        if (restored.items[i] == v || body->keep > 0 || body->buffer == NULL) continue;
        rg_numbers_drop(body->buffer);
        body->buffer = NULL;
        body->at = NULL;
    }
    rg_buffer_free(stack.items);
    rg_buffer_free(restored.items);
    return failed ? -1 : 0;
}

/* The numbers of a node, computed again where they were let go. 0, or -1 with an exception. */
int rg_tensor_restore(Value *v) {
    return RG_LIKELY(rg_body(v)->buffer != NULL) ? 0 : restore(v, NULL);
}

/* Whether t[i] = v has taken over the numbers of a node, or those it would be computed from again. */
int rg_tensor_is_gone(Value *v) {
    const RgBody *body = rg_body(v);
    int gone = body->marks & RG_WRITTEN;
    if (!gone && body->buffer == NULL && restore(v, &gone) < 0) PyErr_Clear();
    return gone != 0;
}

/* The first input whose data was changed since the node read it; of those the rule reads, or all. */
Value *rg_stale_input(const Value *v, int all) {
    for (Py_ssize_t i = 0; i < v->count; i++) {
        const RgEntry *entry = &v->entries[i];
        if (entry->input && rg_is_node(entry->input) && (all || is_saved(rg_body(v), i)) &&
            entry->partial != (double)rg_body(entry->input)->version)
            return entry->input;
    }
    return NULL;
}

/* The bytes of a body, its numbers and its gradient; shared ones count where they are. */
Py_ssize_t rg_body_bytes(const Value *v) {
    const RgBody *body = rg_body(v);
    size_t bytes = sizeof(RgBody);
    if (body->shape != body->axes) bytes += 2 * body->ndim * sizeof(Py_ssize_t);
    if (v->count > 3) bytes += (size_t)v->count * sizeof(RgEntry);
    if (body->buffer) bytes += rg_numbers_held(body->buffer) / (size_t)body->buffer->refs;
    if (body->wholes) bytes += rg_numbers_held(body->wholes);
    if (body->gradient) bytes += rg_numbers_held(body->gradient) / (size_t)body->gradient->refs;
    return (Py_ssize_t)bytes;
}
