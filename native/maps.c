/* Maps: a row of the scalar law on every number of its operands, spread over each other as NumPy
 * does it. Operands are tensors, values, numbers and arrays; the last two take no gradient. */
#include "fresh.h"
#include "spread.h"

/* ---- forward --------------------------------------------------------------------------------- */

static inline int lies_like(const RgBody *of, const RgBody *result) {
    return of->contiguous && of->size == result->size;
}

static int map_run(Value *z, double *to) {
    const RgBody *body = rg_body(z);
    int op = body->code, arity = (int)z->count, plain = 1;
    const double *at[3] = {NULL, NULL, NULL};
    ptrdiff_t step[3] = {0, 0, 0};
    for (int k = 0; k < arity; k++) {
        const RgEntry *entry = &z->entries[k];
        at[k] = &entry->partial;
        if (entry->input == NULL || !rg_is_node(entry->input)) continue;
        at[k] = rg_body(entry->input)->at;
        step[k] = 1;
        plain = plain && lies_like(rg_body(entry->input), body);
    }
    if (RG_LIKELY(plain)) {
        rg_arrays->forward[op](body->size, to, at, step);
        return 0;
    }
    RgRows rows;
    if (RG_LIKELY(rg_in_rows(z, &rows))) {
        rg_map_rows(&rows, op, arity, to, at);
        return 0;
    }
    Py_ssize_t steps[3][RG_MOST_AXES];
    RgView in[3];
    for (int k = 0; k < arity; k++) {
        rg_spread(steps[k], body->ndim, body->shape, rg_array_of(&z->entries[k]));
        in[k] = (RgView){at[k], steps[k]};
    }
    rg_map(op, body->ndim, body->shape, to, in);
    return 0;
}

/* ---- backward -------------------------------------------------------------------------------- */

/* Whether the partial along an operand is 1 everywhere: the gradient is handed on as it is. */
static inline int passes_on(int op, int which) {
    return op == RG_OP_add || (op == RG_OP_sub && which == 0);
}

typedef struct {
    const RgBody *body;
    int op, arity, plain; /* whether all that is read lies like the result */
    const double *at[RG_BACK];
    ptrdiff_t step[RG_BACK];
} Back;

static void read_operands(Back *back, const Value *z, const double *upstream) {
    const RgBody *body = back->body = rg_body(z);
    back->op = body->code;
    back->arity = (int)z->count;
    back->plain = body->at == NULL || body->contiguous;
    back->at[1] = back->at[2] = NULL;
    back->step[1] = back->step[2] = 0;
    for (int k = 0; k < back->arity; k++) {
        const RgEntry *entry = &z->entries[k];
        int array = entry->input && rg_is_node(entry->input);
        back->at[k] = array ? rg_body(entry->input)->at : &entry->partial;
        back->step[k] = array;
        if (array && back->at[k]) back->plain &= lies_like(rg_body(entry->input), body);
    }
    back->at[RG_RESULT_AT] = body->at;
    back->at[RG_UPSTREAM_AT] = upstream;
    back->step[RG_RESULT_AT] = back->step[RG_UPSTREAM_AT] = 1;
}

/* The contribution to an operand of other strides or of another shape. */
static RG_NEVER_INLINE int pull_spread(const Back *back, const Value *z, int which, int ndim,
                                       const Py_ssize_t *shape, double *to, RgHow how) {
    const RgBody *body = back->body;
    Py_ssize_t target[RG_MOST_AXES], steps[RG_BACK][RG_MOST_AXES];
    RgView in[RG_BACK];
    for (int k = 0; k < back->arity; k++)
        rg_spread(steps[k], body->ndim, body->shape, rg_array_of(&z->entries[k]));
    memcpy(steps[RG_RESULT_AT], body->strides, body->ndim * sizeof(Py_ssize_t));
    rg_spread_packed(steps[RG_UPSTREAM_AT], body->ndim, body->shape, body->ndim, body->shape);
    for (int k = 0; k < RG_BACK; k++) in[k] = (RgView){back->at[k], steps[k]};
    rg_spread_packed(target, body->ndim, body->shape, ndim, shape);
    if (rg_map_back(back->op, which, body->ndim, body->shape, (RgTarget){to, target}, in, how) == 0)
        return 0;
    PyErr_NoMemory();
    return -1;
}

static int map_pull(RgPass *pass, Value *z, const double *upstream, const uint32_t *places) {
    Back back;
    RgRows rows;
    read_operands(&back, z, upstream);
    int in_rows = back.body->at && !back.body->contiguous ? 0 : -1; /* not known yet */
    for (int k = 0; k < back.arity; k++) {
        Value *input = z->entries[k].input;
        if (input == NULL || !(input->flags & RG_REQUIRES_GRAD) || places[k] == RG_NOWHERE)
            continue;
        if (!rg_is_node(input)) {
            double total = 0.0;
            if (pull_spread(&back, z, k, 0, NULL, &total, RG_REPLACE) < 0) return -1;
            rg_pull_number(pass, places[k], total);
            continue;
        }
        const RgBody *of = rg_body(input);
        int same = of->size == back.body->size, fresh;
        if (same && passes_on(back.op, k)) {
            if (rg_pull_share(pass, places[k], input, upstream) < 0) return -1;
            continue;
        }
        double *to = rg_pull_into(pass, places[k], input, &fresh);
        if (to == NULL) return -1;
        RgHow how = fresh ? RG_REPLACE : RG_ADD;
        if (RG_LIKELY(same && back.plain)) {
            rg_arrays->partial[back.op][k](of->size, to, back.at, back.step, how);
        } else if (back.body->size == 0) {
            if (fresh) memset(to, 0, (size_t)of->size * sizeof(double));
        } else {
            if (in_rows < 0) in_rows = rg_in_rows(z, &rows);
            int other = in_rows ? rg_pull_rows(&rows, back.op, k, back.at, to, how) : 1;
            if (other < 0) return -1;
            if (other && pull_spread(&back, z, k, of->ndim, of->shape, to, how) < 0) return -1;
        }
    }
    return 0;
}

const RgRow rg_map_row = {NULL, map_run, map_pull, 0};

/* ---- making ---------------------------------------------------------------------------------- */

typedef struct {
    Value *nodes[3];
    Value *made[3]; /* of arrays: owned */
    double numbers[3];
    int arity, ndim, same;
    uint8_t flags;
    const RgBody *first;
    Py_ssize_t shape[RG_MOST_AXES];
} Operands;

static void release(Operands *given) {
    for (int k = 0; k < given->arity; k++) Py_XDECREF((PyObject *)given->made[k]);
}

/* 1: taken, 0: not an operand, -1: error. */
static int take_odd(Operands *given, int k, PyObject *object) {
    if (rg_is_value(object)) {
        given->nodes[k] = (Value *)object;
        given->numbers[k] = given->nodes[k]->data;
        given->flags |= given->nodes[k]->flags;
        return 1;
    }
    Value *quick = rg_leaf_of_floats(object);
    if (RG_LIKELY(quick != NULL)) {
        given->made[k] = given->nodes[k] = quick;
        return 1;
    }
    int converted = rg_number(object, &given->numbers[k]);
    if (converted) return converted;
    int array = rg_is_array(object);
    if (array <= 0) return array;
    Value *leaf = rg_leaf_of(object, "an operand", 0);
    if (leaf == NULL) return -1;
    given->made[k] = given->nodes[k] = leaf;
    return 1;
}

static inline int has_same_shape(const RgBody *left, const RgBody *right) {
    if (left->ndim != right->ndim) return 0;
    for (int d = 0; d < left->ndim; d++)
        if (left->shape[d] != right->shape[d]) return 0;
    return 1;
}

/* Spread the shape over one more operand; 0 where they do not fit. */
static int spread_over(Operands *given, const RgBody *body) {
    int ndim = given->ndim > body->ndim ? given->ndim : body->ndim;
    Py_ssize_t shape[RG_MOST_AXES];
    for (int d = 1; d <= ndim; d++) {
        Py_ssize_t a = d <= given->ndim ? given->shape[given->ndim - d] : 1;
        Py_ssize_t b = d <= body->ndim ? body->shape[body->ndim - d] : 1;
        if (a != b && a != 1 && b != 1) return 0;
        shape[ndim - d] = a == 1 ? b : a;
    }
    memcpy(given->shape, shape, (size_t)ndim * sizeof(Py_ssize_t));
    given->ndim = ndim;
    return 1;
}

static int settle_shape(int op, Operands *given) {
    given->ndim = 0;
    for (int k = 0; k < given->arity; k++) {
        if (given->nodes[k] == NULL || !rg_is_node(given->nodes[k])) continue;
        if (spread_over(given, rg_body(given->nodes[k]))) continue;
        int other = 0;
        while (given->nodes[other] == NULL || !rg_is_node(given->nodes[other])) other++;
        for (int j = other + 1; j < k; j++)
            if (given->nodes[j] && rg_is_node(given->nodes[j])) other = j;
        rg_call_unfit(RG_OPS[op].name, given->nodes[other], given->nodes[k]);
        return -1;
    }
    return 0;
}

/* What the rule of a new map reads. */
static void set_saves(Value *z, int op) {
    int reads = 0, takers = 0;
    for (int k = 0; k < (int)z->count; k++) {
        const Value *input = z->entries[k].input;
        if (input == NULL || !(input->flags & RG_REQUIRES_GRAD)) continue;
        takers |= 1 << k;
        reads |= rg_partial_reads[op][k];
    }
    if (RG_UNLIKELY(RG_OPS[op].absent & takers)) rg_absent_met = 1;
    rg_body(z)->saves = reads & 7;
    rg_body(z)->saves_result = reads >> RG_RESULT_AT & 1;
}

/* A node whose inputs and numbers are there becomes one of a map. */
void rg_map_restored(Value *z, int op) {
    rg_body(z)->row = &rg_map_row;
    rg_body(z)->code = (uint16_t)op;
    set_saves(z, op);
}

/* A new node in the common case, whose numbers are still to come; NULL, without an exception, where
 * anything is out of the ordinary. */
static Value *blank_quick(int op, const Operands *given) {
    RgFresh fresh;
    int ndim = given->same ? given->first->ndim : given->ndim;
    if (rg_modes_active || !(given->flags & RG_REQUIRES_GRAD) || ndim > RG_INLINE_AXES ||
        !rg_take_fresh(&fresh))
        return NULL;
    Value *z = fresh.node;
    RgBody *body = fresh.body;
    body->buffer = NULL;
    body->at = NULL;
    body->size = 1;
    body->code = (uint16_t)op;
    body->ndim = (uint8_t)ndim;
    body->row = &rg_map_row;
    z->flags = RG_WIDE | (given->flags & RG_INHERITED);
    z->grad = z->data = 0.0;
    z->count = given->arity;
    for (int k = 0; k < given->arity; k++)
        z->entries[k] = (RgEntry){given->nodes[k], given->numbers[k]};
    set_saves(z, op);
    body->keep = 1 + body->saves_result; /* the handle, and perhaps the rule */
    for (int k = 0; k < given->arity; k++) {
        Value *input = given->nodes[k];
        if (input == NULL) continue;
        Py_INCREF((PyObject *)input);
        if (!rg_is_node(input)) continue;
        z->entries[k].partial = (double)rg_body(input)->version;
        rg_body(input)->keep += body->saves >> k & 1;
    }
    return z;
}

static PyObject *make(int op, Operands *given) {
    const RgBody *first = given->first;
    Value *quick = blank_quick(op, given);
    if (RG_LIKELY(quick != NULL)) {
        RgBody *body = rg_body(quick);
        const Py_ssize_t *lengths = given->same ? first->shape : given->shape;
        for (int d = 0; d < body->ndim; d++) body->shape[d] = lengths[d];
        if (RG_LIKELY(rg_tensor_room(quick) == 0 && map_run(quick, body->at) == 0))
            return body->handle;
        Py_DECREF(body->handle);
        return NULL;
    }
    int same = given->same, ndim = same ? first->ndim : given->ndim;
    Value *z = rg_tensor_blank(ndim, 0);
    if (RG_UNLIKELY(z == NULL)) return NULL;
    RgBody *body = rg_body(z);
    const Py_ssize_t *shape = same ? first->shape : given->shape;
    for (int d = 0; d < ndim; d++) body->shape[d] = shape[d];
    body->row = &rg_map_row;
    body->code = (uint16_t)op;
    z->count = given->arity;
    for (int k = 0; k < given->arity; k++)
        z->entries[k] = (RgEntry){given->nodes[k], given->numbers[k]};
    if (RG_UNLIKELY(rg_tensor_room(z) < 0 || map_run(z, body->at) < 0)) {
        Py_DECREF((PyObject *)z);
        return NULL;
    }
    set_saves(z, op);
    return rg_tensor_finish(z, given->flags);
}

/* The common case, without a turn that could be spared: tensors of one shape that lie in the order of
 * C, and floats, of which something takes gradients, in no mode. NULL, without an exception, where
 * anything is out of the ordinary. */
static RG_ALWAYS_INLINE PyObject *make_quick(int op, PyObject *const *operands, const int arity) {
    Value *nodes[2] = {NULL, NULL};
    double numbers[2] = {0.0, 0.0};
    const double *at[3] = {NULL, NULL, NULL};
    ptrdiff_t step[3] = {0, 0, 0};
    const RgBody *first = NULL;
    uint8_t flags = 0;
    int reads = 0;
    for (int k = 0; k < arity; k++) {
        if (RG_UNLIKELY(!rg_is_tensor(operands[k]))) {
            if (!PyFloat_CheckExact(operands[k])) return NULL;
            numbers[k] = PyFloat_AS_DOUBLE(operands[k]);
            at[k] = &numbers[k];
            continue;
        }
        Value *node = nodes[k] = rg_node_of(operands[k]);
        const RgBody *body = rg_body(node);
        if (RG_UNLIKELY(body->at == NULL || !body->contiguous)) return NULL;
        if (first && RG_UNLIKELY(first->size != body->size || first->ndim != body->ndim ||
                                 (body->ndim != 1 && !has_same_shape(first, body))))
            return NULL;
        first = body;
        at[k] = body->at;
        step[k] = 1;
        flags |= node->flags;
        if (node->flags & RG_REQUIRES_GRAD) reads |= rg_partial_reads[op][k];
    }
    if (RG_UNLIKELY(first == NULL || !(flags & RG_REQUIRES_GRAD) || first->ndim > RG_INLINE_AXES ||
                    RG_OPS[op].absent))
        return NULL;
    RgBuffer *buffer = rg_numbers_new_or_not((size_t)first->size);
    if (RG_UNLIKELY(buffer == NULL)) return NULL; /* the thorough way says it */
    RgFresh fresh;
    if (RG_UNLIKELY(!rg_take_fresh(&fresh))) {
        rg_numbers_drop(buffer);
        return NULL;
    }
    Value *z = fresh.node;
    RgBody *body = fresh.body;
    memcpy(body->axes, first->axes, sizeof body->axes);
    body->row = &rg_map_row;
    body->buffer = buffer;
    body->at = buffer->data;
    body->size = first->size;
    body->code = (uint16_t)op;
    body->ndim = first->ndim;
    body->contiguous = 1;
    body->saves = reads & 7;
    body->saves_result = reads >> RG_RESULT_AT & 1;
    body->keep = 1 + (reads >> RG_RESULT_AT & 1); /* the handle, and perhaps the rule */
    z->flags = RG_WIDE | (flags & RG_INHERITED);
    z->grad = z->data = 0.0;
    z->count = arity;
    for (int k = 0; k < arity; k++) {
        Value *input = nodes[k];
        body->inputs[k] = (RgEntry){input, numbers[k]};
        if (input == NULL) continue;
        Py_INCREF((PyObject *)input);
        body->inputs[k].partial = (double)rg_body(input)->version;
        rg_body(input)->keep += reads >> k & 1;
    }
    rg_arrays->forward[op](first->size, buffer->data, at, step);
    return (PyObject *)fresh.handle;
}

static RG_NEVER_INLINE PyObject *map_thorough(int op, PyObject *const *operands) {
    Operands given;
    given.arity = RG_OPS[op].arity;
    given.same = 1;
    given.flags = 0;
    given.first = NULL;
    for (int k = 0; k < given.arity; k++) {
        given.nodes[k] = given.made[k] = NULL;
        given.numbers[k] = 0.0;
    }
    for (int k = 0; k < given.arity; k++) {
        PyObject *object = operands[k];
        if (RG_LIKELY(rg_is_tensor(object))) {
            given.nodes[k] = rg_node_of(object);
            given.flags |= given.nodes[k]->flags;
            if (RG_UNLIKELY(rg_body(given.nodes[k])->buffer == NULL) &&
                rg_tensor_restore(given.nodes[k]) < 0) {
                release(&given);
                return NULL;
            }
        } else if (RG_LIKELY(PyFloat_CheckExact(object))) {
            given.numbers[k] = PyFloat_AS_DOUBLE(object);
            continue;
        } else {
            int taken = take_odd(&given, k, object);
            if (taken <= 0) {
                release(&given);
                return taken < 0 ? NULL : Py_NewRef(Py_NotImplemented);
            }
            if (given.nodes[k] == NULL || !rg_is_node(given.nodes[k])) continue;
        }
        const RgBody *body = rg_body(given.nodes[k]);
        if (given.first == NULL)
            given.first = body;
        else
            given.same = given.same && has_same_shape(given.first, body);
    }
    PyObject *made = NULL;
    if (given.first == NULL)
        made = Py_NewRef(Py_NotImplemented);
    else if (given.same || settle_shape(op, &given) == 0)
        made = make(op, &given);
    release(&given);
    return made;
}

/* A row on operands of which one at least is a tensor or an array. NotImplemented where another is
 * nothing it knows. */
PyObject *rg_tensor_map(int op, PyObject *const *operands) {
    int arity = RG_OPS[op].arity;
    if (RG_LIKELY(arity <= 2 && rg_modes_active == 0)) {
        PyObject *made = arity == 2 ? make_quick(op, operands, 2) : make_quick(op, operands, 1);
        if (RG_LIKELY(made != NULL)) return made;
    }
    return map_thorough(op, operands);
}

/* x to a whole power from 3 to 8, by repeated multiplication: the highest bit is x itself. */
static PyObject *whole_power(PyObject *x, int exponent) {
    int bit = 1;
    while (bit * 2 <= exponent) bit *= 2;
    PyObject *power = Py_NewRef(x);
    for (bit /= 2; bit && power; bit /= 2) {
        PyObject *pair[] = {power, power};
        PyObject *squared = rg_tensor_map(RG_OP_mul, pair);
        Py_SETREF(power, squared);
        if (power == NULL || !(exponent & bit)) continue;
        PyObject *more[] = {power, x};
        PyObject *product = rg_tensor_map(RG_OP_mul, more);
        Py_SETREF(power, product);
    }
    return power;
}

/* `**`, by the same rows as of values: a constant exponent chooses. */
PyObject *rg_tensor_power(PyObject *base, PyObject *exponent) {
    double number;
    PyObject *operands[] = {base, exponent};
    int converted = rg_is_tensor(base) && !rg_is_value(exponent) ? rg_number(exponent, &number) : 0;
    if (converted < 0) return NULL;
    if (converted && number == 2.0) return rg_tensor_map(RG_OP_square, &base);
    if (converted && number == -1.0) return rg_tensor_map(RG_OP_reciprocal, &base);
    if (converted && number == floor(number) && fabs(number) >= 2.0 && fabs(number) <= 8.0) {
        if (number > 0.0) return whole_power(base, (int)number);
        PyObject *inverse = rg_tensor_map(RG_OP_reciprocal, &base);
        if (inverse == NULL) return NULL;
        PyObject *power = number == -2.0 ? rg_tensor_map(RG_OP_square, &inverse)
                                         : whole_power(inverse, (int)-number);
        Py_DECREF(inverse);
        return power;
    }
    return rg_tensor_map(RG_OP_pow, operands);
}
