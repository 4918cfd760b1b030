/* The attributes of values: what they hold, how they were made, and what may be assigned.
 *
 * Names that begin with an underscore are those of the small teaching engines. */
#include "tensor.h"

static int no_delete(PyObject *object, const char *name) {
    if (object != NULL) return 0;
    PyErr_Format(PyExc_AttributeError, "a value's %s cannot be deleted", name);
    return -1;
}

/* While a function is recorded, a number that may be another one at the next run must not leave the
 * graph, and no state is changed that a replay would not change again. */
static PyObject *get_grad(PyObject *self, void *Py_UNUSED(closure)) {
    Value *v = (Value *)self;
    if (RG_UNLIKELY(rg_hides_number(v))) {
        rg_fail("RecordingError", "grad", "(O)", self);
        return NULL;
    }
    return PyFloat_FromDouble(v->grad);
}

static int set_grad(PyObject *self, PyObject *object, void *Py_UNUSED(closure)) {
    double number;
    if (no_delete(object, "grad") < 0) return -1;
    if (rg_number_or_fail(object, "value.grad", &number) < 0) return -1;
    if (RG_UNLIKELY(rg_hides_number((Value *)self))) {
        rg_fail("RecordingError", "grad_assignment", "(O)", self);
        return -1;
    }
    /* A rule of this thread may add to what was lent to it; what another thread adds would be lost. */
    if (RG_UNLIKELY(rg_lending) && rg_check_loan((Value *)self, RG_OTHER_THREADS) < 0) return -1;
    ((Value *)self)->grad = number;
    return 0;
}

static PyObject *get_data(PyObject *self, void *Py_UNUSED(closure)) {
    Value *v = (Value *)self;
    if (RG_UNLIKELY(rg_hides_number(v))) {
        rg_fail("RecordingError", v->flags & RG_TRACED ? "data" : "captured_data", "(O)", self);
        return NULL;
    }
    return PyFloat_FromDouble(v->data);
}

static int set_data(PyObject *self, PyObject *object, void *Py_UNUSED(closure)) {
    double number;
    if (no_delete(object, "data") < 0) return -1;
    if (rg_number_or_fail(object, "value.data", &number) < 0) return -1;
    if (RG_UNLIKELY(rg_recording())) {
        rg_fail("RecordingError", "assignment", "(O)", self);
        return -1;
    }
    ((Value *)self)->data = number;
    return 0;
}

static PyObject *get_label(PyObject *self, void *Py_UNUSED(closure)) {
    PyObject *label = rg_note_get((Value *)self, RG_LABELLED);
    return label ? Py_NewRef(label) : PyUnicode_FromStringAndSize("", 0);
}

int rg_set_label(PyObject *self, PyObject *label, void *Py_UNUSED(closure)) {
    if (label == NULL || label == Py_None) return rg_note_set((Value *)self, RG_LABELLED, NULL);
    if (!PyUnicode_Check(label)) {
        rg_fail("LabelError", "of", "(O)", label);
        return -1;
    }
    int is_empty = PyUnicode_GET_LENGTH(label) == 0; /* an empty label is none */
    return rg_note_set((Value *)self, RG_LABELLED, is_empty ? NULL : label);
}

static PyObject *get_hooks(PyObject *self, void *Py_UNUSED(closure)) {
    PyObject *hooks = rg_note_get((Value *)self, RG_HOOKED);
    return Py_NewRef(hooks ? hooks : Py_None);
}

static int set_hooks(PyObject *self, PyObject *hooks, void *Py_UNUSED(closure)) {
    return rg_note_set((Value *)self, RG_HOOKED, hooks == Py_None ? NULL : hooks);
}

static PyObject *get_requires_grad(PyObject *self, void *Py_UNUSED(closure)) {
    return PyBool_FromLong(((Value *)self)->flags & RG_REQUIRES_GRAD);
}

static int set_requires_grad(PyObject *self, PyObject *object, void *Py_UNUSED(closure)) {
    Value *v = (Value *)self;
    if (no_delete(object, "requires_grad") < 0) return -1;
    int wanted = PyObject_IsTrue(object);
    if (wanted < 0) return -1;
    if (!rg_is_leaf(v)) {
        if (wanted) return 0;
        rg_fail("LeafError", "requires_grad", "(O)", self);
        return -1;
    }
    v->flags = (uint8_t)(wanted ? v->flags | RG_REQUIRES_GRAD : v->flags & ~RG_REQUIRES_GRAD);
    return 0;
}

/* The name of an op that is no row of the table; NULL of those that name themselves. */
const char *rg_code_name(int op) {
    switch (op) {
#define RG_NAME(code, name)                                                                        \
    case RG_##code: return name;
        RG_NAME(LEAF, "leaf")
        RG_EAGER_ROWS(RG_NAME)
        RG_NAME(STOP, "stop")
        RG_RECORDED_ROWS(RG_NAME)
#undef RG_NAME
        default: return NULL;
    }
}

static PyObject *get_op(PyObject *self, void *Py_UNUSED(closure)) {
    Value *v = (Value *)self;
    if (v->op < RG_OP_COUNT) return PyUnicode_FromString(RG_OPS[v->op].name);
    if (v->op == RG_ARRAY) return rg_row_name(v);
    const char *name = rg_code_name(v->op);
    if (name) return PyUnicode_FromString(name);
    if (v->rule == NULL) return PyUnicode_FromString("custom");
    return PyUnicode_Check(v->rule) ? Py_NewRef(v->rule) : PyObject_GetAttrString(v->rule, "name");
}

static PyObject *get_symbol(PyObject *self, void *closure) {
    Value *v = (Value *)self;
    if (v->op < RG_OP_COUNT) return PyUnicode_FromString(RG_OPS[v->op].symbol);
    if (v->op == RG_LEAF) return PyUnicode_FromString("");
    if ((v->op == RG_CUSTOM || v->op == RG_CLOSURE) && v->rule == NULL)
        return PyUnicode_FromString("");
    return get_op(self, closure);
}

/* The CustomOp behind a custom op's value, or None. */
static PyObject *get_rule(PyObject *self, void *Py_UNUSED(closure)) {
    Value *v = (Value *)self;
    int custom = v->op == RG_CUSTOM || v->op == RG_CLOSURE;
    PyObject *rule = custom && v->rule && !PyUnicode_Check(v->rule) ? v->rule : Py_None;
    return Py_NewRef(rule);
}

Py_ssize_t rg_width(const Value *v) {
    if (v->flags & RG_WIDE) return v->count;
    return v->op < RG_OP_COUNT ? RG_OPS[v->op].arity : 0;
}

RgEntry rg_input_at(const Value *v, Py_ssize_t i) {
    return v->flags & RG_WIDE ? v->entries[i] : (RgEntry){v->in[i], v->partial[i]};
}

/* The inputs; a number operand is shown as a leaf that takes no gradient. */
PyObject *rg_inputs_of(Value *v) {
    Py_ssize_t count = rg_width(v);
    PyObject *inputs = PyTuple_New(count);
    for (Py_ssize_t i = 0; inputs && i < count; i++) {
        RgEntry entry = rg_input_at(v, i);
        PyObject *input = entry.input ? rg_face(entry.input) : NULL;
        if (entry.input && input == NULL) {
            Py_DECREF(inputs);
            return NULL;
        }
        if (input == NULL) {
            Value *number = rg_blank(RgValue_Type);
            if (number == NULL) {
                Py_DECREF(inputs);
                return NULL;
            }
            number->flags &= (uint8_t)~RG_REQUIRES_GRAD;
            number->data = entry.partial;
            input = (PyObject *)number;
        }
        PyTuple_SET_ITEM(inputs, i, input);
    }
    return inputs;
}

static PyObject *get_inputs(PyObject *self, void *Py_UNUSED(closure)) {
    return rg_inputs_of((Value *)self);
}

/* The partial of a number operand is not kept: it is worked out again from the law. */
static double partial_of_number(const Value *v, Py_ssize_t index) {
    if (v->op == RG_SUM) return 1.0;
    if (v->op == RG_DOT) {
        RgEntry partner = rg_input_at(v, (index + v->count / 2) % v->count);
        return partner.input ? partner.input->data : partner.partial;
    }
    double numbers[3], partials[3];
    for (int i = 0; i < RG_OPS[v->op].arity; i++) {
        RgEntry entry = rg_input_at(v, i);
        numbers[i] = entry.input ? entry.input->data : entry.partial;
    }
    RG_OPS[v->op].slopes(numbers, v->data, partials);
    return partials[index];
}

static PyObject *get_partials(PyObject *self, void *Py_UNUSED(closure)) {
    Value *v = (Value *)self;
    if (v->op == RG_CLOSURE || v->op == RG_ARRAY) return PyTuple_New(0);
    if (RG_UNLIKELY(rg_hides_number(v))) {
        rg_fail("RecordingError", "partials", "(O)", self);
        return NULL;
    }
    Py_ssize_t count = rg_width(v);
    PyObject *partials = PyTuple_New(count);
    for (Py_ssize_t i = 0; partials && i < count; i++) {
        RgEntry entry = rg_input_at(v, i);
        double partial = entry.input ? entry.partial : partial_of_number(v, i);
        PyObject *number = PyFloat_FromDouble(partial);
        if (number == NULL)
            Py_CLEAR(partials);
        else
            PyTuple_SET_ITEM(partials, i, number);
    }
    return partials;
}

/* Only the closure style may have its inputs reassigned. */
static int set_inputs(PyObject *self, PyObject *object, void *Py_UNUSED(closure)) {
    Value *v = (Value *)self;
    Py_ssize_t count;
    if (no_delete(object, "inputs") < 0) return -1;
    if (v->op != RG_CLOSURE) {
        rg_fail("ClosureStyleError", "inputs", "(O)", self);
        return -1;
    }
    PyObject *inputs = PySequence_Fast(object, "the inputs are an iterable of values");
    if (inputs == NULL) return -1;
    RgEntry *entries = rg_take_entries(inputs, NULL, &count);
    if (entries) {
        RgEntry *old = v->entries;
        Py_ssize_t old_count = v->count;
        for (Py_ssize_t i = 0; i < count; i++) Py_INCREF((PyObject *)entries[i].input);
        v->entries = entries;
        v->count = count;
        for (Py_ssize_t i = 0; i < old_count; i++) Py_DECREF((PyObject *)old[i].input);
        rg_entries_free(old, old_count);
    }
    Py_DECREF(inputs);
    return entries ? 0 : -1;
}

static PyObject *get_prev(PyObject *self, void *closure) {
    PyObject *inputs = get_inputs(self, closure);
    PyObject *set = inputs ? PySet_New(inputs) : NULL;
    Py_XDECREF(inputs);
    return set;
}

static PyObject *get_backward(PyObject *self, void *Py_UNUSED(closure)) {
    Value *v = (Value *)self;
    if (v->op == RG_CLOSURE) {
        PyObject *backward = rg_closure_backward(v);
        if (backward || PyErr_Occurred()) return backward;
    }
    return PyObject_GetAttrString(self, "_contribute");
}

static int set_backward(PyObject *self, PyObject *backward, void *Py_UNUSED(closure)) {
    if (no_delete(backward, "_backward") < 0) return -1;
    if (!PyCallable_Check(backward)) {
        rg_fail("ClosureStyleError", "not_callable", "OO", self, backward);
        return -1;
    }
    /* A leaf has nothing to contribute: a rule given to it (under no_grad, say) is not needed. */
    if (rg_is_leaf((Value *)self)) return 0;
    if (((Value *)self)->op != RG_CLOSURE) {
        rg_fail("ClosureStyleError", "backward", "(O)", self);
        return -1;
    }
    return rg_closure_set_backward((Value *)self, backward);
}

PyGetSetDef rg_value_getset[] = {
    {"data", get_data, set_data, "The number.", NULL},
    {"grad", get_grad, set_grad, "The gradient of the last root with respect to this.", NULL},
    {"label", get_label, rg_set_label, "A name for people; empty where there is none.", NULL},
    {"requires_grad", get_requires_grad, set_requires_grad, "Whether it takes gradients.", NULL},
    {"op", get_op, NULL, "The name of the op that made it; 'leaf' for a leaf.", NULL},
    {"inputs", get_inputs, NULL, "The values it was made from, in order.", NULL},
    {"partials", get_partials, NULL, "The local derivatives, one an input.", NULL},
    {"site", rg_site_get, NULL, "Where it was made: file, line, function; or None.", NULL},
    {"_rule", get_rule, NULL, NULL, NULL},
    {"_hooks", get_hooks, set_hooks, NULL, NULL},
    {"_prev", get_prev, set_inputs, "The inputs as a set, as in micrograd.", NULL},
    {"_op", get_symbol, NULL, "The op as drawings show it: '+', '*', 'tanh', …", NULL},
    {"_children", get_inputs, set_inputs, "The inputs as a tuple, as in microgpt.", NULL},
    {"_local_grads", get_partials, NULL, "The partials as a tuple, as in microgpt.", NULL},
    {"_backward", get_backward, set_backward, "Adds this node's contributions, once.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
