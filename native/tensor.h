/* Tensors: arrays in the graph of values.
 *
 * A tensor is a node like any other (struct Value, of a type that Python never sees) with a body: its
 * shape, its numbers, the row of the array law that made it. What Python holds is a handle around the
 * node, so that data which neither a handle nor a rule reads can be let go while the node stays. A
 * value that an array row made (shape ()) is a public Value with a body; its number and its gradient
 * stand where those of any value do. */
#ifndef RETROGRADE_TENSOR_H
#define RETROGRADE_TENSOR_H

#include "make.h"
#include "walk.h"

RG_HIDE

#define RG_MOST_AXES 32
#define RG_INLINE_AXES 4

/* Numbers, aligned to a cache line and counted: views, gradients and arrays that Python holds share
 * them. Nobody writes into a buffer that is shared. */
struct RgBuffer {
    Py_ssize_t refs;
    size_t room; /* in doubles */
    RgBuffer *next;
    int kept;          /* its size class, or -1 */
    Py_ssize_t arrays; /* of those that hold it, arrays that Python has */
    size_t unused[3];
    double data[];
};

_Static_assert(sizeof(RgBuffer) == 64, "numbers begin on a cache line of their own");

typedef struct RgPass RgPass;

/* How nodes of one kind compute and hand gradients on. `name` is NULL where the body's own code or
 * rule says it. */
typedef struct {
    const char *name;
    /* The numbers anew, into a contiguous array. 0, or -1 with an exception. */
    int (*run)(Value *z, double *to);
    /* The contributions to every input that takes gradients. `places` are theirs in the pass. */
    int (*pull)(RgPass *pass, Value *z, const double *upstream, const uint32_t *places);
    int python; /* whether either may run Python code */
} RgRow;

#define RG_RETAINS 1 /* the gradient of an inner node is kept */
#define RG_WRITTEN 2 /* t[i] = v has taken its numbers over */
#define RG_ONLY 4    /* t[i] = v made its numbers out of others, which are gone */

typedef struct RgBody RgBody;
struct RgBody {
    const RgRow *row;
    RgBuffer *buffer; /* NULL: let go, or never had (a Value) */
    double *at;
    Py_ssize_t size;
    uint16_t code; /* which row of the scalar law, of a map; how many whole numbers, of an index */
    uint8_t ndim;
    uint8_t saves; /* a bit an input whose data the rule reads, as far as there are bits for them */
    uint8_t saves_result;
    uint8_t contiguous;
    uint8_t marks;      /* of RG_RETAINS, RG_WRITTEN and RG_ONLY */
    uint8_t open;       /* the law states no slope along an input that takes gradients */
    int32_t keep;       /* handles and rules that read the data */
    uint32_t version;   /* how often the data of this leaf was changed */
    PyObject *handle;   /* borrowed; NULL while Python holds none */
    RgBuffer *gradient; /* of a leaf, or retained; NULL: zeros */
    PyObject
        *rule; /* what the row needs besides: a ready row, or (bound row, whole numbers); or NULL */
    RgBuffer *wholes;            /* of a ready row: its whole numbers, as int64_t */
    Py_ssize_t place;            /* where an index begins, in the order of C */
    Py_ssize_t *shape, *strides; /* in doubles; into `axes`, or one block of their own */
    Py_ssize_t axes[2 * RG_INLINE_AXES];
    RgEntry inputs[3]; /* more have a block of their own. `partial` holds a value's number as it was
                        * read, or the version of a tensor */
};

typedef struct {
    PyObject_HEAD Value *node;
} RgTensor;

extern PyTypeObject *RgTensor_Type; /* the handle */
extern PyTypeObject *RgNode_Type;   /* the node; Python never sees one */

static inline int rg_is_tensor(PyObject *object) { return Py_IS_TYPE(object, RgTensor_Type); }
static inline Value *rg_node_of(PyObject *handle) { return ((RgTensor *)handle)->node; }
static inline int rg_is_node(const Value *v) { return Py_IS_TYPE((PyObject *)v, RgNode_Type); }

/* Whether it has a body: a tensor, or a value made by an array row. */
static inline int rg_has_body(const Value *v) {
    return (v->flags & RG_WIDE) && (v->op == RG_ARRAY || v->op == RG_LEAF);
}
static inline RgBody *rg_body(const Value *v) { return (RgBody *)v->rule; }

/* The node behind a Value or a Tensor, or NULL. */
static inline Value *rg_any_node(PyObject *object) {
    if (rg_is_value(object)) return (Value *)object;
    return rg_is_tensor(object) ? rg_node_of(object) : NULL;
}

/* buffers.c */
RgBuffer *rg_numbers_allocate(size_t count);
RgBuffer *rg_numbers_try(size_t count); /* sets no exception */
void rg_numbers_free(RgBuffer *buffer);
void rg_numbers_begin(void);
void rg_numbers_count(int failures);
size_t rg_numbers_held(const RgBuffer *buffer);

/* Free ones by their size class, of which there are two to every power of two, and how many cache
 * lines they take together. While failures are counted only the first classes are open. */
#define RG_CLASSES 24
#define RG_MOST_CLASSED ((size_t)1 << 14)
#define RG_MOST_KEPT ((size_t)1 << 20)
extern RgBuffer *rg_kept_numbers[RG_CLASSES];
extern uint8_t rg_class_of[RG_MOST_CLASSED / 8 + 1]; /* by the number of cache lines */
extern uint8_t rg_open_classes;
extern size_t rg_kept_lines;

static inline size_t rg_lines_of(const RgBuffer *buffer) { return buffer->room / 8 + 1; }

/* One that is free, or NULL. */
static inline RgBuffer *rg_numbers_pop(size_t count) {
    if (RG_UNLIKELY(count > RG_MOST_CLASSED)) return NULL;
    uint8_t class = rg_class_of[(count + 7) / 8];
    RgBuffer *buffer = rg_kept_numbers[class];
    if (RG_UNLIKELY(buffer == NULL || class >= rg_open_classes)) return NULL;
    rg_kept_numbers[class] = buffer->next;
    rg_kept_lines -= rg_lines_of(buffer);
    buffer->refs = 1;
    return buffer;
}

/* Room for so many numbers; NULL with an exception. */
static inline RgBuffer *rg_numbers_new(size_t count) {
    RgBuffer *buffer = rg_numbers_pop(count);
    return RG_LIKELY(buffer != NULL) ? buffer : rg_numbers_allocate(count);
}

/* The same without an exception. */
static inline RgBuffer *rg_numbers_new_or_not(size_t count) {
    RgBuffer *buffer = rg_numbers_pop(count);
    return RG_LIKELY(buffer != NULL) ? buffer : rg_numbers_try(count);
}

static inline RgBuffer *rg_numbers_share(RgBuffer *buffer) {
    buffer->refs++;
    return buffer;
}

static inline void rg_numbers_drop(RgBuffer *buffer) {
    if (--buffer->refs != 0) return;
#ifndef RG_NO_FREE_LIST
    int class = buffer->kept;
    if (RG_LIKELY(class >= 0 && rg_kept_lines < RG_MOST_KEPT)) {
        buffer->next = rg_kept_numbers[class];
        rg_kept_numbers[class] = buffer;
        rg_kept_lines += rg_lines_of(buffer);
        return;
    }
#endif
    rg_numbers_free(buffer);
}

static inline void rg_numbers_xdrop(RgBuffer *buffer) {
    if (buffer) rg_numbers_drop(buffer);
}

/* bodies.c */
extern RgBody *rg_free_bodies;    /* linked by `handle` */
extern RgTensor *rg_free_handles; /* linked by `node` */
extern size_t rg_bodies_free, rg_handles_free;

/* The first of the free handles, of which there is one, with one reference. */
static inline RgTensor *rg_handle_pop(void) {
    RgTensor *handle = rg_free_handles;
    rg_free_handles = (RgTensor *)handle->node;
    rg_handles_free--;
#ifdef Py_REF_DEBUG
    _Py_NewReference((PyObject *)handle);
#else
    Py_SET_REFCNT((PyObject *)handle, 1);
#endif
    return handle;
}
Value *rg_tensor_blank(int ndim, int as_value);
PyObject *rg_tensor_handle(Value *v);
PyObject *rg_tensor_wrap(Value *v);
Value *rg_drop_body(Value *v, Value *list, Value *(*drop)(Value *, Value *));
void rg_unkeep(Value *v);
void rg_tensor_forget(Value *z);
PyObject *rg_tensor_finish_odd(Value *z, uint8_t flags);
void rg_hold_inputs(Value *z);
int rg_tensor_restore(Value *v);
int rg_tensor_is_gone(Value *v);
RgEntry *rg_body_entries(Value *z, Py_ssize_t count);
Value *rg_stale_input(const Value *v, int all);
int rg_is_stale(const Value *v, Py_ssize_t i);
int rg_tensor_watch(Value *z);
void rg_handle_dealloc(PyObject *self);
Py_ssize_t rg_body_bytes(const Value *v);

/* A new reference to what Python sees of a node. */
static inline PyObject *rg_face(Value *v) {
    if (RG_LIKELY(!rg_is_node(v))) return Py_NewRef((PyObject *)v);
    PyObject *handle = rg_body(v)->handle;
    return handle ? Py_NewRef(handle) : rg_tensor_handle(v);
}

/* A new node with its inputs set, and not held yet: takes it over, also in failure; a new reference
 * to what Python sees of it. `flags` are those of the inputs. */
static inline PyObject *rg_tensor_finish(Value *z, uint8_t flags) {
    if (RG_UNLIKELY(!(flags & RG_REQUIRES_GRAD) || rg_modes_active))
        return rg_tensor_finish_odd(z, flags);
    z->flags |= flags & RG_INHERITED;
    rg_hold_inputs(z);
    if (!rg_is_node(z)) return (PyObject *)z;
    return rg_tensor_wrap(z);
}

/* Give a new node contiguous strides, its size, and room for its numbers. */
static inline int rg_tensor_room(Value *z) {
    RgBody *body = rg_body(z);
    Py_ssize_t size = 1;
    for (int d = body->ndim; d-- > 0;) {
        body->strides[d] = size;
        size *= body->shape[d];
    }
    body->size = size;
    body->contiguous = 1;
    body->buffer = rg_numbers_new((size_t)size);
    if (RG_UNLIKELY(body->buffer == NULL)) return -1;
    body->at = body->buffer->data;
    return 0;
}

/* An operand's numbers as an array of any strides. */
typedef struct {
    const double *at;
    int ndim;
    const Py_ssize_t *shape, *strides;
} RgArray;

/* What an input of a node holds: the number of a value stands in its entry. */
static inline RgArray rg_array_of(const RgEntry *entry) {
    if (entry->input == NULL || !rg_is_node(entry->input))
        return (RgArray){&entry->partial, 0, NULL, NULL};
    const RgBody *body = rg_body(entry->input);
    return (RgArray){body->at, body->ndim, body->shape, body->strides};
}

/* exchange.c: arrays of NumPy's, and steps along shapes. */
int rg_is_array(PyObject *object);
Value *rg_leaf_of_floats(PyObject *object);
int rg_floats_of(PyObject *object, const char *what, PyObject **owner, Py_buffer *view);
Value *rg_leaf_of(PyObject *object, const char *what, int requires_grad);
PyObject *rg_export(RgBuffer *buffer, const double *at, int ndim, const Py_ssize_t *shape,
                    const Py_ssize_t *strides);
PyObject *rg_shape_tuple(int ndim, const Py_ssize_t *shape);
RgBuffer *rg_packed(const Value *v);
RgBuffer *rg_numbers_like(PyObject *object, const char *what, const Value *v);

void rg_spread(Py_ssize_t *steps, int ndim, const Py_ssize_t *shape, RgArray array);
void rg_spread_packed(Py_ssize_t *steps, int ndim, const Py_ssize_t *shape, int own_ndim,
                      const Py_ssize_t *own_shape);

/* maps.c */
PyObject *rg_tensor_map(int op, PyObject *const *operands);
PyObject *rg_tensor_power(PyObject *base, PyObject *exponent);
void rg_map_restored(Value *z, int op);
extern const RgRow rg_map_row;

/* products.c, rows.c */
PyObject *rg_tensor_sum(PyObject *tensor);
PyObject *rg_tensor_matmul(PyObject *left, PyObject *right);
void rg_product_restored(Value *z, int sums);
PyObject *rg_array_of_row(PyObject *bound, PyObject *operands, PyObject *wholes);
extern PyMethodDef rg_row_methods[];

/* ready.c, see ready.h */
extern PyObject *rg_plan_maker;
int rg_ready_begin(void);

/* composed.c */
PyObject *rg_composed_method(PyObject *name, PyObject *self, PyObject *const *args,
                             Py_ssize_t count, PyObject *kwnames);
PyObject *rg_composed_item(PyObject *self, PyObject *item);
extern PyMethodDef rg_composed_methods[];

/* shaped.c */
extern PyMethodDef rg_shaped_methods[];

/* places.c */
PyObject *rg_tensor_item(PyObject *self, PyObject *key);
int rg_tensor_set_item(PyObject *self, PyObject *key, PyObject *object);
void rg_tensor_replace(Value *leaf, RgBuffer *buffer);
extern PyMethodDef rg_place_methods[];

/* A node of more inputs is walked over by copied edges. */
#define RG_MOST_IN_PLACE 64

/* No place in a pass. */
#define RG_NOWHERE UINT32_MAX

/* mixed.c: the backward pass over graphs that hold tensors. */
int rg_backward_mixed(RgGraph *graph, Value **roots, const RgTotal *seeds, Py_ssize_t count);
int rg_pull_mixed(RgGraph *graph, Value **roots, const RgTotal *seeds, Py_ssize_t root_count,
                  Value **inputs, RgTotal *found, const char *reached, Py_ssize_t count);
PyObject *rg_total_shown(const Value *v, const RgTotal *total);
double *rg_pull_into(RgPass *pass, uint32_t place, Value *input, int *fresh);
uint32_t rg_pull_past(const RgPass *pass, uint32_t place);
int rg_pull_share(RgPass *pass, uint32_t place, Value *input, const double *upstream);
double *rg_pull_over(RgPass *pass, uint32_t place, Value *input, const double *upstream,
                     Py_ssize_t first, Py_ssize_t count);
void rg_pull_number(RgPass *pass, uint32_t place, double amount);

/* tensor.c */
extern PyType_Spec rg_tensor_spec;
extern PyType_Spec rg_node_spec;
int rg_add_tensor_names(void);
extern PyMethodDef rg_tensor_methods[];
PyObject *rg_call_method(const char *name, PyObject *self, PyObject *argument);
int rg_call_set_item(PyObject *self, PyObject *key, PyObject *object);
int rg_refuse_recording(const char *what);
int rg_refuse_hidden(Value *v);
void rg_call_unfit(const char *op, Value *left, Value *right);
RgBuffer *rg_seed_of(Value *root, PyObject *seed);
PyObject *rg_row_name(const Value *v);
PyObject *rg_tensor_detached(PyObject *self);

RG_HIDE_END

#endif
