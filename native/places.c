/* Numbers by whole numbers, t[i, j], and written there, t[i, j] = v, past bound rows.
 *
 * Whole numbers in front name a block of numbers that lie together in the order of C: a view, or one
 * number as a Value. Writing makes a node of the row put_at, of which the handle is from then on; it
 * takes the numbers over where no array and no rule holds them, and views keep what they had. A block
 * of a tensor that takes gradients is copied, as one number is: so a loop x[i + 1] = f(x[i]) is
 * linear whatever f needs for its gradient. */
#include "tensor.h"

#include "kernels/arrays.h"

/* ---- numbers ----------------------------------------------------------------------------------- */

/* Numbers in the order of C that no other node shares. 0, or -1 with an exception. */
static int own_numbers(Value *v) {
    RgBody *body = rg_body(v);
    RgBuffer *own = rg_numbers_new((size_t)body->size);
    if (own == NULL) return -1;
    rg_pack(body->ndim, body->shape, own->data, (RgView){body->at, body->strides});
    rg_numbers_drop(body->buffer);
    body->buffer = own;
    body->at = own->data;
    Py_ssize_t size = 1;
    for (int d = body->ndim; d-- > 0; size *= body->shape[d]) body->strides[d] = size;
    body->contiguous = 1;
    return 0;
}

/* ---- a block ----------------------------------------------------------------------------------- */

typedef struct {
    int count;        /* whole numbers given */
    Py_ssize_t place; /* where it begins, in the order of C */
    Py_ssize_t begin; /* the same by the tensor's own strides */
} Block;

/* One number of a key onto the block; 0 where Python has to say what is wrong with it. */
static int take_number(const RgBody *x, PyObject *item, Block *block) {
    if (!PyLong_CheckExact(item) || block->count == x->ndim) return 0;
    Py_ssize_t number = PyLong_AsSsize_t(item), length = x->shape[block->count];
    if (number == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    if (number < 0) number += length;
    if (number < 0 || number >= length) return 0;
    block->place = block->place * length + number;
    block->begin += number * x->strides[block->count++];
    return 1;
}

/* A key of whole numbers alone; 0 for any other. */
static int block_of(const RgBody *x, PyObject *key, Block *block) {
    *block = (Block){0, 0, 0};
    int known = 1;
    if (PyTuple_CheckExact(key))
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key) && known; i++)
            known = take_number(x, PyTuple_GET_ITEM(key, i), block);
    else
        known = take_number(x, key, block);
    if (!known || block->count == 0) return 0;
    for (int d = block->count; d < x->ndim; d++) block->place *= x->shape[d];
    return 1;
}

/* How many numbers a block of so many whole numbers has. */
static Py_ssize_t block_size(const RgBody *x, int count) {
    Py_ssize_t size = 1;
    for (int d = count; d < x->ndim; d++) size *= x->shape[d];
    return size;
}

/* Where a block begins by a tensor's own strides. */
static Py_ssize_t block_begin(const RgBody *x, int count, Py_ssize_t place) {
    Py_ssize_t begin = 0;
    place /= block_size(x, count) ? block_size(x, count) : 1;
    for (int d = count; d-- > 0; place /= x->shape[d]) begin += place % x->shape[d] * x->strides[d];
    return begin;
}

/* ---- reading ------------------------------------------------------------------------------------ */

static int index_run(Value *z, double *to) {
    const RgBody *body = rg_body(z), *x = rg_body(z->entries[0].input);
    const double *from = x->at + block_begin(x, body->code, body->place);
    rg_pack(x->ndim - body->code, x->shape + body->code, to,
            (RgView){from, x->strides + body->code});
    return 0;
}

static int index_pull(RgPass *pass, Value *z, const double *upstream, const uint32_t *places) {
    Value *input = z->entries[0].input;
    const RgBody *body = rg_body(z);
    int fresh;
    if (!(input->flags & RG_REQUIRES_GRAD) || places[0] == RG_NOWHERE) return 0;
    double *to = rg_pull_into(pass, places[0], input, &fresh);
    if (to == NULL) return -1;
    if (fresh) memset(to, 0, (size_t)rg_body(input)->size * sizeof(double));
    for (Py_ssize_t i = 0; i < body->size; i++) to[body->place + i] += upstream[i];
    return 0;
}

static const RgRow index_row = {"index", index_run, index_pull, 0};

/* t[key]. */
PyObject *rg_tensor_item(PyObject *self, PyObject *key) {
    Value *x = rg_node_of(self);
    const RgBody *of = rg_body(x);
    Block block;
    if (rg_recording() || !block_of(of, key, &block)) {
        PyObject *made = rg_composed_item(self, key);
        if (made != Py_NotImplemented) return made;
        Py_DECREF(made);
        return rg_call_method("__getitem__", self, key);
    }
    if (rg_tensor_restore(x) < 0) return NULL;
    int ndim = of->ndim - block.count;
    Value *z = rg_tensor_blank(ndim, ndim == 0);
    if (z == NULL) return NULL;
    RgBody *body = rg_body(z);
    for (int d = 0; d < ndim; d++) {
        body->shape[d] = of->shape[block.count + d];
        body->strides[d] = of->strides[block.count + d];
    }
    body->size = block_size(of, block.count);
    body->row = &index_row;
    body->code = (uint16_t)block.count;
    body->place = block.place;
    if (ndim == 0) {
        z->data = of->at[block.begin];
    } else {
        body->contiguous = of->contiguous;
        body->buffer = rg_numbers_share(of->buffer);
        body->at = of->at + block.begin;
    }
    rg_body_entries(z, 1)[0].input = x;
    if (ndim && (x->flags & RG_REQUIRES_GRAD) && own_numbers(z) < 0) {
        Py_DECREF((PyObject *)z);
        return NULL;
    }
    return rg_tensor_finish(z, x->flags);
}

/* ---- writing ------------------------------------------------------------------------------------ */

/* An operand spread over a block. */
static void write_block(const Value *z, const RgBody *x, double *to) {
    const RgBody *body = rg_body(z);
    RgArray from = rg_array_of(&z->entries[1]);
    Py_ssize_t steps[RG_MOST_AXES];
    int count = body->code;
    rg_spread(steps, x->ndim - count, x->shape + count, from);
    rg_pack(x->ndim - count, x->shape + count, to + body->place, (RgView){from.at, steps});
}

static int put_run(Value *z, double *to) {
    const RgBody *x = rg_body(z->entries[0].input);
    rg_pack(x->ndim, x->shape, to, (RgView){x->at, x->strides});
    write_block(z, x, to);
    return 0;
}

static int put_pull(RgPass *pass, Value *z, const double *upstream, const uint32_t *places) {
    const RgBody *body = rg_body(z);
    Value *x = z->entries[0].input, *y = z->entries[1].input;
    Py_ssize_t size = block_size(body, body->code);
    if (y && (y->flags & RG_REQUIRES_GRAD) && places[1] != RG_NOWHERE) {
        const double *block = upstream + body->place;
        if (!rg_is_node(y)) {
            rg_pull_number(pass, places[1], rg_arrays->products->sum(size, block, 1));
        } else {
            int ndim = body->ndim - body->code, fresh;
            const Py_ssize_t *shape = body->shape + body->code;
            Py_ssize_t target[RG_MOST_AXES], own[RG_MOST_AXES];
            RgView in[RG_BACK] = {{NULL, NULL}};
            double *to = rg_pull_into(pass, places[1], y, &fresh);
            if (to == NULL) return -1;
            rg_spread_packed(target, ndim, shape, rg_body(y)->ndim, rg_body(y)->shape);
            rg_spread_packed(own, ndim, shape, ndim, shape);
            in[RG_UPSTREAM_AT] = (RgView){block, own};
            if (rg_map_back(RG_OP_add, 0, ndim, shape, (RgTarget){to, target}, in,
                            fresh ? RG_REPLACE : RG_ADD) != 0) {
                PyErr_NoMemory();
                return -1;
            }
        }
    }
    if (!(x->flags & RG_REQUIRES_GRAD) || places[0] == RG_NOWHERE) return 0;
    double *to = rg_pull_over(pass, places[0], x, upstream, body->place, size);
    return to ? 0 : -1;
}

static const RgRow put_row = {"put_at", put_run, put_pull, 0};

/* Whether the numbers of a tensor are read by its handle alone; views may share them. */
static int is_free(const RgBody *body) { return body->keep == 1 && body->buffer->arrays == 0; }

/* The handle is of another node from now on. */
static void hand_over(PyObject *handle, Value *z) {
    Value *x = rg_node_of(handle);
    ((RgTensor *)handle)->node = (Value *)Py_NewRef((PyObject *)z);
    rg_body(z)->handle = handle;
    rg_body(z)->keep++;
    rg_body(x)->handle = NULL;
    rg_unkeep(x);
    Py_DECREF((PyObject *)x);
}

/* The node of a write, with inputs that are not held yet. */
static Value *put_node(Value *x, RgEntry operand, const Block *block) {
    const RgBody *of = rg_body(x);
    Value *z = rg_tensor_blank(of->ndim, 0);
    if (z == NULL) return NULL;
    RgBody *body = rg_body(z);
    Py_ssize_t size = 1;
    for (int d = of->ndim; d-- > 0; size *= of->shape[d]) {
        body->shape[d] = of->shape[d];
        body->strides[d] = size;
    }
    body->size = size;
    body->contiguous = 1;
    body->row = &put_row;
    body->code = (uint16_t)block->count;
    body->place = block->place;
    RgEntry *entries = rg_body_entries(z, 2);
    entries[0].input = x;
    entries[1] = operand;
    return z;
}

/* What was written to is still called what it was. */
static int keep_label(Value *from, Value *to) {
    PyObject *label = rg_note_get(from, RG_LABELLED);
    return label ? rg_note_set(to, RG_LABELLED, label) : 0;
}

/* Write into the numbers of a tensor, a copy where views share them. */
static int write_in_place(PyObject *self, RgEntry operand, const Block *block) {
    Value *x = rg_node_of(self);
    RgBody *of = rg_body(x);
    if ((!of->contiguous || of->at != of->buffer->data || of->buffer->refs > 1) &&
        own_numbers(x) < 0)
        return -1;
    Value *z = put_node(x, operand, block);
    if (z == NULL) return -1;
    if (keep_label(x, z) < 0) {
        Py_DECREF((PyObject *)z);
        return -1;
    }
    uint8_t flags = x->flags | (operand.input ? operand.input->flags : 0);
    int takes = (flags & RG_REQUIRES_GRAD) && rg_grad_enabled();
    write_block(z, of, of->at);
    if (!takes && rg_is_leaf(x)) { /* numbers alone: the leaf stays what it is */
        of->version++;
        Py_DECREF((PyObject *)z);
        return 0;
    }
    RgBody *body = rg_body(z);
    body->buffer = of->buffer;
    body->at = of->at;
    of->buffer = NULL;
    of->at = NULL;
    of->marks |= RG_WRITTEN;
    if (takes) {
        body->marks |= RG_ONLY;
        z->flags |= flags & RG_INHERITED;
        rg_hold_inputs(z);
    } else { /* a leaf, which holds none */
        z->count = 0;
        body->row = NULL;
    }
    hand_over(self, z);
    int failed = rg_anomaly_enabled() && rg_tensor_watch(z) < 0;
    Py_DECREF((PyObject *)z);
    return failed ? -1 : 0;
}

static int refuse_held(PyObject *self) {
    if (is_free(rg_body(rg_node_of(self)))) return 0;
    rg_fail("AliasError", "held", "(O)", self);
    return -1;
}

/* While recording only tensors of the recording are written to: a replay repeats nothing outside. */
static int refuse_outside(PyObject *self) {
    const Value *v = rg_node_of(self);
    if (!rg_recording() || (v->flags & RG_TRACED) || !rg_is_read_afresh(v)) return 0;
    return rg_refuse_recording("t[i] = v of a tensor from outside");
}

/* Whether a tensor can be written onto a block as it is, or spread over it. */
static int fits_block(const RgBody *y, const RgBody *x, int count) {
    int more = x->ndim - count - y->ndim;
    for (int d = 0; more >= 0 && d < y->ndim; d++)
        if (y->shape[d] != 1 && y->shape[d] != x->shape[count + more + d]) return 0;
    return more >= 0;
}

/* t[key] = number, value or tensor, at whole numbers; anything else is Python's. */
int rg_tensor_set_item(PyObject *self, PyObject *key, PyObject *object) {
    Value *x = rg_node_of(self);
    Block block;
    RgEntry operand = {NULL, 0.0};
    if (object == NULL) {
        PyErr_SetString(PyExc_TypeError, "numbers of a tensor cannot be deleted");
        return -1;
    }
    int tensor = rg_is_tensor(object);
    int plain = PyFloat_CheckExact(object) || rg_is_plain(object) || tensor;
    if (rg_recording() || !plain || !block_of(rg_body(x), key, &block) ||
        (tensor && !fits_block(rg_body(rg_node_of(object)), rg_body(x), block.count)))
        return rg_call_set_item(self, key, object);
    if (rg_tensor_restore(x) < 0 || refuse_held(self) < 0) return -1;
    if (tensor) {
        operand.input = rg_node_of(object);
        if (rg_tensor_restore(operand.input) < 0) return -1;
    } else if (rg_is_plain(object))
        operand = (RgEntry){(Value *)object, ((Value *)object)->data};
    else
        operand.partial = PyFloat_AS_DOUBLE(object);
    return write_in_place(self, operand, &block);
}

/* put(tensor, bound, operand, wholes): the same for any row that writes. */
static PyObject *put(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *self, *bound, *operand, *wholes;
    if (!PyArg_ParseTuple(args, "O!OOO!:put", RgTensor_Type, &self, &bound, &operand, &PyDict_Type,
                          &wholes) ||
        refuse_outside(self) < 0 || rg_tensor_restore(rg_node_of(self)) < 0 ||
        refuse_held(self) < 0)
        return NULL;
    PyObject *operands = PyTuple_Pack(2, self, operand);
    PyObject *made = operands ? rg_array_of_row(bound, operands, wholes) : NULL;
    Py_XDECREF(operands);
    if (made == NULL) return NULL;
    if (!rg_is_tensor(made)) {
        Py_DECREF(made);
        PyErr_SetString(PyExc_SystemError, "a row that writes makes a tensor");
        return NULL;
    }
    Value *x = rg_node_of(self), *z = rg_node_of(made);
    if (keep_label(x, z) < 0) {
        Py_DECREF(made);
        return NULL;
    }
    /* The two handles change nodes. */
    ((RgTensor *)self)->node = z;
    ((RgTensor *)made)->node = x;
    rg_body(z)->handle = self;
    rg_body(x)->handle = made;
    Py_DECREF(made);
    Py_RETURN_NONE;
}

/* write_tensor(tensor, array): other numbers for a leaf, and a new version. Who holds the old ones
 * keeps them. */
static PyObject *write_tensor(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *self, *array;
    if (!PyArg_ParseTuple(args, "O!O:write_tensor", RgTensor_Type, &self, &array) ||
        rg_refuse_recording("assign") < 0)
        return NULL;
    Value *v = rg_node_of(self);
    if (!rg_is_leaf(v)) {
        rg_fail("LeafError", "tensor_data", "(O)", self);
        return NULL;
    }
    RgBuffer *buffer = rg_numbers_like(array, "assign", v);
    if (buffer == NULL) return NULL;
    rg_tensor_replace(v, buffer);
    Py_RETURN_NONE;
}

/* is_written_over(thing) */
static PyObject *is_written_over(PyObject *Py_UNUSED(module), PyObject *thing) {
    return PyBool_FromLong(rg_is_tensor(thing) && rg_tensor_is_gone(rg_node_of(thing)));
}

/* mark_written_over(tensor): its numbers go, as those of a node that t[i] = v has written on. For
 * copies of such nodes, which no rule reads. */
static PyObject *mark_written_over(PyObject *Py_UNUSED(module), PyObject *thing) {
    if (!rg_is_tensor(thing)) {
        rg_fail("NotAValueError", "of", "sO", "mark_written_over", thing);
        return NULL;
    }
    RgBody *body = rg_body(rg_node_of(thing));
    rg_numbers_xdrop(body->buffer);
    body->buffer = NULL;
    body->at = NULL;
    body->marks |= RG_WRITTEN;
    Py_RETURN_NONE;
}

/* A leaf gets other numbers, in the order of C; takes the buffer over. */
void rg_tensor_replace(Value *leaf, RgBuffer *buffer) {
    RgBody *body = rg_body(leaf);
    Py_ssize_t size = 1;
    for (int d = body->ndim; d-- > 0; size *= body->shape[d]) body->strides[d] = size;
    rg_numbers_xdrop(body->buffer);
    body->buffer = buffer;
    body->at = buffer->data;
    body->contiguous = 1;
    body->version++;
}

PyMethodDef rg_place_methods[] = {
    {"put", put, METH_VARARGS,
     RG_DOC("put($module, tensor, bound, operand, wholes, /)", "tensor[key] = operand.")},
    {"is_written_over", is_written_over, METH_O,
     RG_DOC("is_written_over($module, thing, /)", "Whether t[i] = v has taken over its numbers.")},
    {"mark_written_over", mark_written_over, METH_O,
     RG_DOC("mark_written_over($module, tensor, /)", "Let the numbers go that were written over.")},
    {"write_tensor", write_tensor, METH_VARARGS,
     RG_DOC("write_tensor($module, tensor, array, /)", "Give a leaf other numbers.")},
    {NULL, NULL, 0, NULL},
};
