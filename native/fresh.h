/* New tensors in the common case: node, body and handle come from the lists of free ones. */
#ifndef RETROGRADE_FRESH_H
#define RETROGRADE_FRESH_H

#include "slabs.h"
#include "tensor.h"

RG_HIDE

/* A free node, body and handle, and the site: all or none of them. */
typedef struct {
    Value *node;
    RgBody *body;
    RgTensor *handle;
} RgFresh;

static inline int rg_take_fresh(RgFresh *fresh) {
    PyCodeObject *code;
    uint32_t instruction;
    if (RG_UNLIKELY(rg_free_nodes == NULL || rg_free_bodies == NULL || rg_free_handles == NULL))
        return 0;
    if (RG_UNLIKELY(!rg_site_quick(&code, &instruction))) {
        Value place;
        rg_site_capture_caller(&place);
        code = place.code;
        instruction = place.instruction;
        if (rg_free_nodes == NULL || rg_free_bodies == NULL || rg_free_handles == NULL) {
            Py_XDECREF((PyObject *)code); /* a collection ran */
            return 0;
        }
    }
    Value *node = fresh->node = rg_node_pop();
    RgBody *body = fresh->body = rg_free_bodies;
    RgTensor *handle = fresh->handle = rg_handle_pop();
    rg_free_bodies = (RgBody *)body->handle;
    rg_bodies_free--;
    Py_SET_TYPE((PyObject *)node, RgNode_Type);
    node->code = code;
    node->instruction = instruction;
    node->epoch = (uint16_t)rg_epoch;
    node->op = RG_ARRAY;
    node->entries = body->inputs;
    node->rule = (PyObject *)body;
    handle->node = node;
    body->handle = (PyObject *)handle;
    body->version = 0;
    body->gradient = NULL;
    body->rule = NULL;
    body->wholes = NULL;
    body->place = 0;
    body->marks = body->open = 0;
    body->shape = body->axes;
    body->strides = body->axes + RG_INLINE_AXES;
    return 1;
}

RG_HIDE_END

#endif
