/* Bound rows that need no loops: the operand's own numbers along other axes, and reshapes. */
#include "ready.h"

/* The steps of a view over an operand of these strides; where it begins is returned. */
static Py_ssize_t view_steps(const RgReady *ready, const int64_t *wholes, const Py_ssize_t *strides,
                             Py_ssize_t *steps) {
    const Py_ssize_t *word = ready->view;
    Py_ssize_t begin = 0, words = ready->ndim + 2;
    for (int axis = 0; axis < ready->axes; axis++, word += words) {
        begin += word[0] * strides[axis];
        if (word[1] >= 0) begin += (Py_ssize_t)wholes[ready->whole_at[word[1]]] * strides[axis];
    }
    word = ready->view + 2;
    for (int d = 0; d < ready->ndim; d++, word++) {
        Py_ssize_t step = 0;
        for (int axis = 0; axis < ready->axes; axis++) step += word[axis * words] * strides[axis];
        steps[d] = step;
    }
    return begin;
}

static int is_packed(const RgBody *body) {
    Py_ssize_t stride = 1;
    for (int d = body->ndim; d-- > 0;) {
        if (body->shape[d] != 1 && body->strides[d] != stride && body->size > 1) return 0;
        stride *= body->shape[d];
    }
    return 1;
}

static void set_packed_strides(RgBody *body) {
    Py_ssize_t stride = 1;
    for (int d = body->ndim; d-- > 0; stride *= body->shape[d]) body->strides[d] = stride;
    body->contiguous = 1;
}

/* The numbers of a new node: the operand's own where that can be, else a copy. */
int rg_view_numbers(const RgReady *ready, Value *z) {
    const RgEntry *entry = &z->entries[0];
    RgBody *body = rg_body(z);
    if (entry->input == NULL || !rg_is_node(entry->input)) { /* one number, wherever it is read */
        if (!rg_is_node(z)) {
            z->data = entry->partial;
            return 0;
        }
        if (rg_tensor_room(z) < 0) return -1;
        for (Py_ssize_t i = 0; i < body->size; i++) body->at[i] = entry->partial;
        return 0;
    }
    const RgBody *of = rg_body(entry->input);
    Py_ssize_t begin = 0;
    if (ready->kind == RG_VIEWED) {
        begin = view_steps(ready, rg_wholes_of(z), of->strides, body->strides);
        body->contiguous = (uint8_t)is_packed(body);
    } else {
        set_packed_strides(body);
    }
    if (!rg_is_node(z)) {
        z->data = of->at[begin];
        return 0;
    }
    if (ready->kind == RG_VIEWED || of->contiguous) {
        body->buffer = rg_numbers_share(of->buffer);
        body->at = of->at + begin;
        return 0;
    }
    body->buffer = rg_packed(entry->input); /* in another order than they lie in */
    if (body->buffer == NULL) return -1;
    body->at = body->buffer->data;
    return 0;
}

static int view_run(Value *z, double *to) {
    const RgReady *ready = rg_ready_of(z);
    const RgEntry *entry = &z->entries[0];
    if (entry->input == NULL || !rg_is_node(entry->input)) {
        for (Py_ssize_t i = 0; i < ready->size; i++) to[i] = entry->partial;
        return 0;
    }
    const RgBody *of = rg_body(entry->input);
    if (ready->kind == RG_RESHAPED) {
        rg_pack(of->ndim, of->shape, to, (RgView){of->at, of->strides});
        return 0;
    }
    Py_ssize_t steps[RG_MOST_AXES];
    Py_ssize_t begin = view_steps(ready, rg_wholes_of(z), of->strides, steps);
    rg_pack(ready->ndim, ready->shape, to, (RgView){of->at + begin, steps});
    return 0;
}

static inline void copy_row(Py_ssize_t n, double *to, const double *from) {
    for (; n >= 4; n -= 4, to += 4, from += 4) memcpy(to, from, 4 * sizeof(double));
    for (Py_ssize_t i = 0; i < n; i++) to[i] = from[i];
}

/* Add numbers in order to places that lie apart; `fresh` where each is met once, and nothing is
 * there yet. */
static void add_apart(int ndim, const Py_ssize_t *shape, double *to, const Py_ssize_t *steps,
                      const double *from, int fresh) {
    Py_ssize_t at[RG_MOST_AXES], rows = 1;
    Py_ssize_t n = ndim ? shape[ndim - 1] : 1, step = ndim ? steps[ndim - 1] : 0;
    for (int d = 0; d + 1 < ndim; d++) {
        rows *= shape[d];
        at[d] = 0;
    }
    if (fresh && ndim == 2 && steps[0] == 1 && step == shape[0]) { /* a matrix turned */
        rg_arrays->products->turned(shape[0], n, from, to);
        return;
    }
    for (Py_ssize_t row = 0; row < rows && n; row++) {
        if (fresh && step == 1)
            copy_row(n, to, from);
        else if (fresh)
            for (Py_ssize_t i = 0; i < n; i++) to[i * step] = from[i];
        else
            for (Py_ssize_t i = 0; i < n; i++) to[i * step] += from[i];
        from += n;
        for (int d = ndim - 2; d >= 0; d--) {
            to += steps[d];
            if (++at[d] < shape[d]) break;
            to -= steps[d] * shape[d];
            at[d] = 0;
        }
    }
}

/* Whether every number of the operand is seen exactly once: its axes in another order, perhaps from
 * their other ends. */
static int is_permutation(const RgReady *ready, Py_ssize_t size) {
    uint32_t used = 0;
    if (ready->size != size) return 0;
    for (int axis = 0; axis < ready->axes; axis++) {
        const Py_ssize_t *step = ready->view + axis * (ready->ndim + 2) + 2;
        int along = -1;
        for (int d = 0; d < ready->ndim; d++) {
            if (step[d] == 0 || ready->shape[d] == 1) continue;
            if (along >= 0 || step[d] < -1 || step[d] > 1 || used >> d & 1) return 0;
            along = d;
        }
        if (along >= 0) used |= (uint32_t)1 << along;
    }
    for (int d = 0; d < ready->ndim; d++)
        if (ready->shape[d] != 1 && !(used >> d & 1)) return 0;
    return 1;
}

/* How the view of a node steps over its operand's numbers in the order of C. */
static const Py_ssize_t *packed_steps(RgReady *ready, const Value *z, Py_ssize_t *begin) {
    if (!ready->packed_known || ready->wholes) {
        const RgBody *of = rg_body(z->entries[0].input);
        Py_ssize_t strides[RG_MOST_AXES], size = 1;
        for (int d = of->ndim; d-- > 0; size *= of->shape[d]) strides[d] = size;
        ready->packed_begin = view_steps(ready, rg_wholes_of(z), strides, ready->packed);
        ready->permutes = (uint8_t)is_permutation(ready, size);
        ready->packed_known = 1;
    }
    *begin = ready->packed_begin;
    return ready->packed;
}

/* How a node that shows every number of its operand exactly once, in another order, steps over that
 * operand's gradient, and where it begins; NULL for any other node. */
const Py_ssize_t *rg_view_permutes(const Value *z, Py_ssize_t *begin) {
    if (rg_body(z)->row != &rg_view_row) return NULL;
    RgReady *ready = rg_ready_of(z);
    const Value *input = z->entries[0].input;
    if (ready->kind != RG_VIEWED || input == NULL || !rg_is_node(input) ||
        !(input->flags & RG_REQUIRES_GRAD))
        return NULL;
    const Py_ssize_t *steps = packed_steps(ready, z, begin);
    return ready->permutes ? steps : NULL;
}

static int view_pull(RgPass *pass, Value *z, const double *upstream, const uint32_t *places) {
    RgReady *ready = rg_ready_of(z);
    Value *input = z->entries[0].input;
    if (input == NULL || !(input->flags & RG_REQUIRES_GRAD) || places[0] == RG_NOWHERE) return 0;
    if (!rg_is_node(input)) {
        rg_pull_number(pass, places[0], rg_arrays->products->sum(ready->size, upstream, 1));
        return 0;
    }
    if (ready->kind == RG_RESHAPED) /* the same numbers in the same order */
        return rg_pull_share(pass, places[0], input, upstream);
    Py_ssize_t begin;
    const Py_ssize_t *steps = packed_steps(ready, z, &begin);
    int fresh;
    double *to = rg_pull_into(pass, places[0], input, &fresh);
    if (to == NULL) return -1;
    if (fresh && !ready->permutes) {
        memset(to, 0, (size_t)rg_body(input)->size * sizeof(double));
        fresh = 0;
    }
    add_apart(ready->ndim, ready->shape, to + begin, steps, upstream, fresh);
    return 0;
}

const RgRow rg_view_row = {NULL, view_run, view_pull, 0};
