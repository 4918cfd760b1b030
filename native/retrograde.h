/* The native core: what its files share.
 *
 * A Value is one node of the graph: 80 bytes with its partials. Plain values hold only values,
 * so they need no cycle collector; nodes that carry a Python callback are a collected subtype.
 * Everything here runs under the GIL. */
#ifndef RETROGRADE_H
#define RETROGRADE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#include "ops.gen.h"
#include "platform.h"

/* Ops besides the rows of the table. */
enum {
#define RG_CODE(code, name) RG_##code,
    RG_LEAF = RG_OP_COUNT,    /* made from nothing */
    RG_EAGER_ROWS(RG_CODE)    /* structural: sums, dots; lefts before rights */
    RG_CUSTOM,                /* numeric partials given by the user */
    RG_CLOSURE,               /* a Python callable adds the contributions */
    RG_ARRAY,                 /* a row of the array law: see tensor.h */
    RG_STOP,                  /* while recording: the same number, without gradient */
    RG_RECORDED_ROWS(RG_CODE) /* while recording: one of many, chosen by the last input */
    RG_CODE_COUNT
#undef RG_CODE
};

_Static_assert(RG_CODE_COUNT <= 256, "an op is one byte of a node");

enum {
    RG_REQUIRES_GRAD = 1, /* gradients flow into or through it */
    RG_WIDE = 2,          /* inputs are in `entries`, not in `in` */
    RG_VISITED = 4,       /* seen by the ordering now in progress */
    RG_OPEN = 8,          /* on the stack of that ordering: meeting it again is a cycle */
    RG_LABELLED = 16,     /* has a label in the notes, or attributes of a program's own */
    RG_HOOKED = 32,       /* has hooks in the notes */
    RG_TRACED = 64,       /* made in a recording, and a replay may find another number in it */
    RG_COLLECTED = 128    /* known to the cycle collector: a closure, or made from one */
};

enum { RG_OWN = 256 }; /* in the notes, beside RG_LABELLED and RG_HOOKED: such attributes */

/* A function's text: its signature, which inspect reads and stubtest compares, and what it does. */
#define RG_DOC(SIGNATURE, TEXT) SIGNATURE "\n--\n\n" TEXT

/* Nothing here is seen from outside the module: names are reached without a table. */
RG_HIDE

typedef struct Value Value;

/* One input of a wide node. Where `input` is NULL the operand was a number, kept in `partial`. */
typedef struct {
    Value *input;
    double partial;
} RgEntry;

struct Value {
    PyObject_HEAD uint8_t op;
    uint8_t flags;
    uint16_t epoch;       /* rg_epoch, modulo 2^16, when it was made */
    uint32_t instruction; /* byte offset in `code` of the instruction that made this node */
    union {
        double grad;
        Value *next; /* in the free list, and in the queue of nodes about to be freed */
    };
    double data;
    union {
        struct {
            Value *in[2];      /* NULL: the operand was a number, kept in `partial` */
            double partial[2]; /* d result / d input, at the time the node was made */
        };
        struct {
            RgEntry *entries;
            Py_ssize_t count;
            PyObject *rule; /* of a custom op: its name, or a CustomOp; else NULL */
        };
    };
    PyCodeObject *code; /* where it was made, or NULL */
};

_Static_assert(sizeof(Value) == sizeof(PyObject) + 64, "a node is 80 bytes");

/* The collected subtype: a node whose contributions are added by a Python callable. */
typedef struct {
    Value base;
    PyObject *backward; /* NULL until assigned */
} RgClosure;

extern PyTypeObject *RgValue_Type;
extern PyTypeObject *RgClosure_Type;
extern PyTypeObject *RgTracked_Type;

/* A Value and of no subtype: a test without a call. */
static inline int rg_is_plain(PyObject *object) { return Py_IS_TYPE(object, RgValue_Type); }

static inline int rg_is_value(PyObject *object) {
    return RG_LIKELY(rg_is_plain(object)) || PyType_IsSubtype(Py_TYPE(object), RgValue_Type);
}

static inline int rg_is_leaf(const Value *v) { return v->op == RG_LEAF; }

/* memory.c, slabs.c: nodes and buffers. */
extern Value *rg_free_nodes;
Value *rg_node_allocate(void);
Value *rg_slab_hand_out(void);
RgEntry *rg_entries_new(Py_ssize_t count);
void rg_entries_free(RgEntry *entries, Py_ssize_t count);
void *rg_buffer_resize(void *buffer, size_t bytes);
void *rg_buffer_try(void *buffer, size_t bytes); /* sets no exception */
void rg_buffer_free(void *buffer);
int rg_failure_due(void);
int rg_failures_counted(void);
PyObject *rg_inject_allocation_failure(PyObject *module, PyObject *count);

/* Take the first node off the list of free ones. */
static inline Value *rg_node_pop(void) {
    Value *v = rg_free_nodes;
    rg_free_nodes = v->next;
#ifdef Py_REF_DEBUG
    _Py_NewReference((PyObject *)v);
#else
    Py_SET_REFCNT((PyObject *)v, 1);
#endif
    return v;
}

static inline Value *rg_node_take(void) {
    return RG_LIKELY(rg_free_nodes != NULL) ? rg_node_pop() : rg_node_allocate();
}

/* freeing.c: what happens to dead nodes. */
void rg_value_dealloc(PyObject *self);
void rg_release_inputs(Value *v);

/* sites.c: where a node was made. */
PyObject *rg_site_get(PyObject *self, void *closure);
PyObject *rg_site_skip(PyObject *module, PyObject *codes);
PyObject *rg_site_instruction(PyObject *module, PyObject *value);

/* modes.c: no_grad and anomaly, thread-local; `rg_modes_active` counts threads in any mode. */
extern Py_ssize_t rg_modes_active;
int rg_grad_enabled(void);
int rg_anomaly_enabled(void);
int rg_recording(void);
int rg_any_bits(void); /* whether NumPy may multiply matrices */
void rg_record_array(Value *v);
int rg_remember(Value *v); /* keep a new node in the log of this thread's recording, if any */
int rg_is_read_afresh(const Value *v);
int rg_hides_number(const Value *v);
int rg_is_birth(const Value *v);
void rg_report_cut(Value *v);
PyObject *rg_finish_in_mode(Value *v);
extern PyMethodDef rg_modes_methods[];

/* number.c: what may stand where a number is expected. 1: converted, 0: not a number, -1: error. */
int rg_number_slow(PyObject *object, double *number);
static inline int rg_number(PyObject *object, double *number) {
    if (RG_LIKELY(PyFloat_CheckExact(object))) {
        *number = PyFloat_AS_DOUBLE(object);
        return 1;
    }
    return rg_number_slow(object, number);
}
int rg_number_or_fail(PyObject *object, const char *what, double *number);

/* errors.c: exceptions are built by retrograde.errors, so that both cores say the same. */
void rg_fail(const char *class_name, const char *method, const char *format, ...);
PyObject *rg_call(const char *module, const char *function, const char *format, ...);

/* make.c: nodes of one or two inputs. */
PyObject *rg_make_leaf(double data, int requires_grad);
extern int rg_copying; /* nodes are being put together again: nothing is forgotten */
PyObject *rg_apply(int op, PyObject *const *operands);
PyObject *rg_power(PyObject *base, PyObject *exponent);
PyObject *rg_other_operand(int op, PyObject *const *operands, Py_ssize_t count);
#define RG_DECLARE_UNARY(NAME) PyObject *rg_unary_##NAME(PyObject *operand);
#define RG_DECLARE_BINARY(NAME) PyObject *rg_binary_##NAME(PyObject *left, PyObject *right);
RG_UNARY_OPS(RG_DECLARE_UNARY)
RG_BINARY_OPS(RG_DECLARE_BINARY)

/* wide.c: nodes of any number of inputs. */
PyObject *rg_finish_entries(int op, double data, RgEntry *entries, Py_ssize_t count);
PyObject *rg_make_stop(Value *v);
PyObject *rg_sum(PyObject *module, PyObject *terms);
PyObject *rg_dot(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *rg_take(PyObject *module, PyObject *args);

/* ufuncs.c: NumPy's functions given values. */
int rg_add_array_ufunc(void);
int rg_tensor_array_ufunc(PyObject *function);
PyObject *rg_take_ufuncs(PyObject *module, PyObject *args);
PyObject *rg_indexed(PyObject *self, PyObject *index);

/* notes.c: labels, hooks and guests' attributes, kept beside the nodes because few nodes have any. */
PyObject *rg_note_get(Value *v, int which);
int rg_note_set(Value *v, int which, PyObject *object);
void rg_notes_drop(Value *v);

/* guests.c: programs that were written for another engine. */
extern PyObject *rg_constructor; /* answers Value(...) in its place; NULL: nobody does */
PyObject *rg_lend_attributes(PyObject *module, PyObject *wanted);
PyObject *rg_own_attributes(PyObject *module, PyObject *value);
PyObject *rg_set_constructor(PyObject *module, PyObject *constructor);

/* order.c, backward.c, walk.c: ordering and the backward pass. The epoch counts the functional transforms begun: a node
 * of an earlier epoch than a transform's cannot depend on what the transform made. */
extern uint64_t rg_epoch;

/* What a backward pass brings to a node: a number, or the numbers of a tensor in the order of C. */
typedef struct RgBuffer RgBuffer;
typedef union {
    double number;
    RgBuffer *array;
} RgTotal;

int rg_backward(Value **roots, const RgTotal *seeds, Py_ssize_t count);
PyObject *rg_contribute_now(PyObject *self, PyObject *ignored);

/* lent.c: gradients lent to closures for as long as a pass takes. A writer of gradients that finds
 * `rg_lending` asks whether this one is. */
typedef enum { RG_ANY_THREAD, RG_OTHER_THREADS } RgWhose;
extern int rg_lending;
int rg_check_loan(Value *v, RgWhose whose);
extern PyMethodDef rg_walk_methods[];

/* survey.c: what the doctor asks of a graph. */
PyObject *rg_survey(PyObject *module, PyObject *args);

/* summary.c: arrays of other engines, read by their address. */
PyObject *rg_summarise(PyObject *module, PyObject *args);
PyObject *rg_leaves_under(PyObject *module, PyObject *roots);

/* value.c, attributes.c, closure.c, functions.c, bulk.c: the faces towards Python. */
extern PyType_Spec rg_value_spec;
extern PyType_Spec rg_closure_spec;
extern PyType_Spec rg_tracked_spec;
Value *rg_tracked_new(void);
PyObject *rg_construct(PyObject *module, PyObject *const *args, Py_ssize_t count,
                       PyObject *kwnames);
PyObject *rg_value_vectorcall(PyObject *type, PyObject *const *args, size_t nargsf,
                              PyObject *kwnames);
Value *rg_blank(PyTypeObject *type);
RgEntry *rg_take_entries(PyObject *inputs, PyObject *partials, Py_ssize_t *count);
int rg_set_label(PyObject *self, PyObject *label, void *closure);
extern PyGetSetDef rg_value_getset[];
PyObject *rg_compare(PyObject *self, PyObject *other, int symbol);
int rg_value_traverse(PyObject *self, visitproc visit, void *arg);
PyObject *rg_closure_backward(Value *v);
int rg_closure_set_backward(Value *v, PyObject *backward);
extern PyMethodDef rg_function_methods[];
extern PyMethodDef rg_value_op_methods[];
extern PyMethodDef rg_array_methods[]; /* arrays.c */
extern PyMethodDef rg_bulk_methods[];
extern PyMethodDef rg_list_methods[];    /* lists.c */
extern PyMethodDef rg_optim_methods[];   /* optim.c */
extern PyMethodDef rg_reading_methods[]; /* reading.c */
extern PyMethodDef rg_rebuild_methods[];
extern PyMethodDef rg_replay_methods[];
int rg_add_names(PyObject *module); /* names.c: what a recorded function's names mean */
int rg_names_are_unchanged(PyObject *names);
int rg_is_names(PyObject *object);
int rg_add_entering(PyObject *module);  /* entering.c: which functions it enters */
int rg_add_call_site(PyObject *module); /* callsite.c: calls that go straight to the executor */
PyObject *rg_op_names(void);
PyObject *rg_argument(PyObject *module, PyObject *number);
PyObject *rg_peek(PyObject *module, PyObject *object);
PyObject *rg_hides(PyObject *module, PyObject *object);
RgEntry rg_input_at(const Value *v, Py_ssize_t i);
const char *rg_code_name(int op);
Py_ssize_t rg_width(const Value *v);
PyObject *rg_inputs_of(Value *v);

RG_HIDE_END

#endif
