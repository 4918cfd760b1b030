/* Nodes of ready rows in the common case, without a turn that could be spared. */
#include "fresh.h"
#include "ready.h"

/* What the rule of a row of one operand reads, if that is known; NULL where the law states no slope. */
static inline const RgSaves *known_saves(const RgReady *ready) {
    for (int i = 0; i < ready->saves_known; i++)
        if (ready->saves[i].takers == 1) return ready->saves[i].open ? NULL : &ready->saves[i];
    return NULL;
}

/* The common case: one tensor that takes gradients, in no mode, and a tensor of few axes. NULL, without
 * an exception and with `wholes` untouched, where anything is out of the ordinary. */
PyObject *rg_ready_quick(RgReady *ready, PyObject *const *operands, RgBuffer *wholes) {
    if (ready->operands != 1 || !rg_is_tensor(operands[0]) || rg_modes_active || ready->ndim == 0 ||
        ready->ndim > RG_INLINE_AXES)
        return NULL;
    Value *x = rg_node_of(operands[0]);
    RgBody *of = rg_body(x);
    const RgSaves *saves = known_saves(ready);
    if (of->at == NULL || !(x->flags & RG_REQUIRES_GRAD) || saves == NULL) return NULL;
    RgBuffer *buffer = NULL;
    RgFresh fresh;
    if (ready->kind == RG_PLANNED) {
        buffer = rg_numbers_new_or_not((size_t)ready->size);
        if (buffer == NULL) return NULL;
    }
    if (RG_UNLIKELY(!rg_take_fresh(&fresh))) {
        rg_numbers_xdrop(buffer);
        return NULL;
    }
    Value *z = fresh.node;
    RgBody *body = fresh.body;
    Py_ssize_t stride = 1;
    for (int d = ready->ndim; d-- > 0; stride *= ready->shape[d]) {
        body->axes[d] = ready->shape[d];
        body->axes[RG_INLINE_AXES + d] = stride;
    }
    body->row = ready->kind == RG_PLANNED ? &rg_planned_row : &rg_view_row;
    body->rule = Py_NewRef((PyObject *)ready);
    body->wholes = wholes;
    body->buffer = buffer;
    body->at = buffer ? buffer->data : NULL;
    body->size = ready->size;
    body->code = 0;
    body->ndim = (uint8_t)ready->ndim;
    body->contiguous = 1;
    body->saves = saves->saves;
    body->saves_result = saves->saves_result;
    body->keep = 1 + saves->saves_result; /* the handle, and perhaps the rule */
    z->flags = RG_WIDE | (x->flags & RG_INHERITED);
    z->grad = z->data = 0.0;
    z->count = 1;
    Py_INCREF((PyObject *)x);
    body->inputs[0] = (RgEntry){x, (double)of->version};
    of->keep += saves->saves & 1;
    int failed = ready->choices > 0 && rg_planned_choose(ready, z) < 0;
    if (!failed)
        failed = (buffer ? rg_planned_compute(ready, z, body->at) : rg_view_numbers(ready, z)) < 0;
    if (RG_LIKELY(!failed)) return (PyObject *)fresh.handle;
    PyErr_Clear(); /* the thorough way says it */
    body->wholes = NULL;
    Py_DECREF((PyObject *)fresh.handle);
    return NULL;
}
