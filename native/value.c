/* The Value type: construction, attributes, operators.
 *
 * What need not be fast is written once in Python (retrograde._core.face) for both engines. */
#include "sites.h"

PyTypeObject *RgValue_Type = NULL;
PyTypeObject *RgClosure_Type = NULL;
PyTypeObject *RgTracked_Type = NULL;

/* ---- construction ------------------------------------------------------------------------ */

typedef struct {
    PyObject *data, *children, *local_grads, *op, *label, *requires_grad;
} Arguments;

static int take_keyword(Arguments *given, PyObject *name, PyObject *object) {
    const char *word = PyUnicode_AsUTF8(name);
    if (word == NULL) return -1;
    PyObject **place = NULL;
    if (!strcmp(word, "data")) place = &given->data;
    if (!strcmp(word, "children") || !strcmp(word, "_children")) place = &given->children;
    if (!strcmp(word, "local_grads") || !strcmp(word, "_local_grads")) place = &given->local_grads;
    if (!strcmp(word, "_op")) place = &given->op;
    if (!strcmp(word, "label")) place = &given->label;
    if (!strcmp(word, "requires_grad")) place = &given->requires_grad;
    if (place == NULL || *place != NULL) {
        PyErr_Format(PyExc_TypeError, "Value() got %s argument '%s'",
                     place ? "two values for" : "an unexpected keyword", word);
        return -1;
    }
    *place = object;
    return 0;
}

static int take_positional(Arguments *given, PyObject *const *args, Py_ssize_t count) {
    if (count > 3) {
        PyErr_Format(PyExc_TypeError,
                     "Value() takes data, children and local_grads by position, got %zd arguments",
                     count);
        return -1;
    }
    if (count > 0) given->data = args[0];
    if (count > 1) given->children = args[1];
    if (count > 2) *(PyUnicode_Check(args[2]) ? &given->op : &given->local_grads) = args[2];
    return 0;
}

static int check_arguments(const Arguments *given) {
    if (given->data == NULL) {
        PyErr_SetString(PyExc_TypeError, "Value() needs data: a number, as in Value(2.0)");
        return -1;
    }
    if (given->op && !PyUnicode_Check(given->op) &&
        !PyObject_HasAttrString(given->op, "retrograde_rule")) {
        PyErr_SetString(PyExc_TypeError, "Value(): _op is the name of the operation, a string");
        return -1;
    }
    return 0;
}

/* Fill `entries` from iterables of inputs and partials (NULL in the closure style). */
static RgEntry *take_entries(PyObject *inputs, PyObject *partials, Py_ssize_t *count) {
    RgEntry *entries = NULL;
    *count = PySequence_Fast_GET_SIZE(inputs);
    if (partials && PySequence_Fast_GET_SIZE(partials) != *count) {
        rg_fail("ShapeError", "partials", "nn", *count, PySequence_Fast_GET_SIZE(partials));
        return NULL;
    }
    entries = rg_entries_new(*count);
    for (Py_ssize_t i = 0; entries && i < *count; i++) {
        PyObject *input = PySequence_Fast_GET_ITEM(inputs, i);
        double partial = 0.0;
        int failed = 0;
        if (!rg_is_value(input)) {
            rg_fail("NotAValueError", "at", "snO", "children", i, input);
            failed = 1;
        } else if (partials) {
            failed = rg_number_or_fail(PySequence_Fast_GET_ITEM(partials, i), "a local gradient",
                                       &partial) < 0;
        }
        if (failed) {
            rg_entries_free(entries, *count);
            return NULL;
        }
        entries[i] = (RgEntry){(Value *)input, partial};
    }
    return entries;
}

static int is_given(PyObject *iterable) {
    if (iterable == NULL || iterable == Py_None) return 0;
    Py_ssize_t size = PyObject_Size(iterable);
    if (size < 0) PyErr_Clear();
    return size != 0;
}

static int set_label(PyObject *self, PyObject *label, void *closure);

/* Turn a fresh leaf into what the arguments ask for. Nothing is changed on failure. */
static int fill(Value *v, const Arguments *given) {
    double data;
    int requires_grad = 1, failed = -1;
    PyObject *inputs = NULL, *partials = NULL;
    RgEntry *entries = NULL;
    Py_ssize_t count = 0;
    if (rg_number_or_fail(given->data, "Value(data)", &data) < 0) return -1;
    if (given->requires_grad && (requires_grad = PyObject_IsTrue(given->requires_grad)) < 0)
        return -1;
    if (is_given(given->children)) {
        inputs = PySequence_Tuple(given->children); /* owned: converting numbers may run code */
        if (inputs == NULL) goto done;
        if (is_given(given->local_grads)) {
            partials = PySequence_Tuple(given->local_grads);
            if (partials == NULL) goto done;
        }
        entries = take_entries(inputs, partials, &count);
        if (entries == NULL) goto done;
    } else if (is_given(given->local_grads)) {
        rg_fail("ShapeError", "partials", "nn", (Py_ssize_t)0, PyObject_Size(given->local_grads));
        goto done;
    }
    if (given->label && given->label != Py_None && set_label((PyObject *)v, given->label, NULL) < 0)
        goto done;
    rg_release_inputs(v); /* of a value that is initialised again */
    v->data = data;
    v->flags = (uint8_t)((v->flags & ~RG_REQUIRES_GRAD) | (requires_grad ? RG_REQUIRES_GRAD : 0));
    failed = 0;
    if (entries) {
        uint8_t flags = 0;
        for (Py_ssize_t i = 0; i < count; i++) {
            flags |= entries[i].input->flags;
            if (RG_UNLIKELY(rg_recording()) && rg_is_read_afresh(entries[i].input))
                flags |= RG_TRACED;
            Py_INCREF((PyObject *)entries[i].input);
        }
        v->flags = (uint8_t)((v->flags & ~RG_REQUIRES_GRAD) | RG_WIDE);
        v->flags |= flags & (RG_REQUIRES_GRAD | RG_TRACED);
        v->op = partials ? RG_CUSTOM : RG_CLOSURE;
        if (PyObject_IS_GC((PyObject *)v)) v->flags |= RG_COLLECTED;
        v->entries = entries;
        v->count = count;
        v->rule = Py_XNewRef(given->op);
        entries = NULL;
    }
done:
    if (entries) rg_entries_free(entries, count);
    Py_XDECREF(inputs);
    Py_XDECREF(partials);
    return failed;
}

/* A fresh leaf of any type in the family. */
static Value *blank(PyTypeObject *type) {
    Value *v;
    if (type == RgValue_Type) {
        v = rg_node_take();
        if (v == NULL) return NULL;
    } else {
        v = (Value *)type->tp_alloc(type, 0);
        if (v == NULL) return NULL;
    }
    v->op = RG_LEAF;
    v->flags = RG_REQUIRES_GRAD;
    if (RG_UNLIKELY(rg_recording())) v->flags |= RG_COLLECTED; /* see leaf_origin */
    v->epoch = (uint16_t)rg_epoch;
    v->grad = 0.0;
    v->data = 0.0;
    v->in[0] = v->in[1] = NULL;
    rg_site_capture(v);
    return v;
}

/* The modes apply to constructed values as to computed ones. */
static int finish_constructed(Value *v) {
    if (RG_UNLIKELY(rg_anomaly_enabled()) && rg_is_birth(v)) {
        rg_fail("AnomalyError", "forward", "(O)", v);
        return -1;
    }
    if (rg_recording() || rg_is_leaf(v)) return 0;
    if (!rg_grad_enabled()) {
        rg_report_cut(v);
        v->flags &= (uint8_t)~RG_REQUIRES_GRAD;
    }
    if (!(v->flags & RG_REQUIRES_GRAD)) rg_release_inputs(v);
    return 0;
}

/* construct(...): a value of the exact type, or of the one that closures need. */
PyObject *rg_construct(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count,
                       PyObject *kwnames) {
    Arguments given = {NULL, NULL, NULL, NULL, NULL, NULL};
    if (take_positional(&given, args, count) < 0) return NULL;
    for (Py_ssize_t i = 0; kwnames && i < PyTuple_GET_SIZE(kwnames); i++)
        if (take_keyword(&given, PyTuple_GET_ITEM(kwnames, i), args[count + i]) < 0) return NULL;
    if (check_arguments(&given) < 0) return NULL;
    int closure = is_given(given.children) && !is_given(given.local_grads);
    Value *v = blank(closure ? RgClosure_Type : RgValue_Type);
    if (v == NULL) return NULL;
    if (fill(v, &given) < 0 || finish_constructed(v) < 0) {
        Py_DECREF((PyObject *)v);
        return NULL;
    }
    return (PyObject *)v;
}

/* Value(...): the exact type, straight from the call. */
PyObject *rg_value_vectorcall(PyObject *Py_UNUSED(type), PyObject *const *args, size_t nargsf,
                              PyObject *kwnames) {
    if (RG_UNLIKELY(rg_constructor != NULL))
        return PyObject_Vectorcall(rg_constructor, args, nargsf, kwnames);
    return rg_construct(NULL, args, PyVectorcall_NARGS(nargsf), kwnames);
}

/* Subclasses: __new__ makes a leaf of 0.0, whatever it is given; __init__ fills it. */
static PyObject *value_new(PyTypeObject *type, PyObject *Py_UNUSED(args),
                           PyObject *Py_UNUSED(kwargs)) {
    return (PyObject *)blank(type);
}

static int value_init(PyObject *self, PyObject *args, PyObject *kwargs) {
    Arguments given = {NULL, NULL, NULL, NULL, NULL, NULL};
    PyObject *name, *object;
    Py_ssize_t position = 0;
    if (take_positional(&given, PySequence_Fast_ITEMS(args), PyTuple_GET_SIZE(args)) < 0) return -1;
    while (kwargs && PyDict_Next(kwargs, &position, &name, &object))
        if (take_keyword(&given, name, object) < 0) return -1;
    if (check_arguments(&given) < 0) return -1;
    Value *v = (Value *)self;
    return fill(v, &given) < 0 ? -1 : finish_constructed(v);
}

/* ---- attributes -------------------------------------------------------------------------- */

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

static int set_label(PyObject *self, PyObject *label, void *Py_UNUSED(closure)) {
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

static PyObject *get_op(PyObject *self, void *Py_UNUSED(closure)) {
    Value *v = (Value *)self;
    if (v->op < RG_OP_COUNT) return PyUnicode_FromString(RG_OPS[v->op].name);
    if (v->op == RG_LEAF) return PyUnicode_FromString("leaf");
    if (v->op == RG_SUM) return PyUnicode_FromString("sum");
    if (v->op == RG_DOT) return PyUnicode_FromString("dot");
    if (v->op == RG_STOP) return PyUnicode_FromString("stop");
    if (v->op == RG_TAKE) return PyUnicode_FromString("take");
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
static PyObject *get_inputs(PyObject *self, void *Py_UNUSED(closure)) {
    Value *v = (Value *)self;
    Py_ssize_t count = rg_width(v);
    PyObject *inputs = PyTuple_New(count);
    for (Py_ssize_t i = 0; inputs && i < count; i++) {
        RgEntry entry = rg_input_at(v, i);
        PyObject *input = entry.input ? Py_NewRef((PyObject *)entry.input) : NULL;
        if (input == NULL) {
            Value *number = blank(RgValue_Type);
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
    if (v->op == RG_CLOSURE) return PyTuple_New(0);
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
    RgEntry *entries = take_entries(inputs, NULL, &count);
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

static PyGetSetDef value_getset[] = {
    {"data", get_data, set_data, "The number.", NULL},
    {"grad", get_grad, set_grad, "The gradient of the last root with respect to this.", NULL},
    {"label", get_label, set_label, "A name for people; empty where there is none.", NULL},
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

/* ---- methods ----------------------------------------------------------------------------- */

static PyObject *value_backward(PyObject *self, PyObject *const *args, Py_ssize_t count,
                                PyObject *kwnames) {
    Value *root = (Value *)self;
    double seed = 1.0;
    Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
    if (count + named > 1 ||
        (named && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, 0), "seed"))) {
        PyErr_SetString(PyExc_TypeError, "backward() takes one optional argument: seed");
        return NULL;
    }
    if (count + named && rg_number_or_fail(args[0], "the seed", &seed) < 0) return NULL;
    Py_INCREF(self);
    int failed = rg_backward(&root, &seed, 1);
    Py_DECREF(self);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

static PyObject *value_detach(PyObject *self, PyObject *Py_UNUSED(ignored)) {
    if (RG_UNLIKELY(rg_recording())) return rg_make_stop((Value *)self);
    return rg_make_leaf(((Value *)self)->data, 0);
}

static PyObject *value_sizeof(PyObject *self, PyObject *Py_UNUSED(ignored)) {
    Value *v = (Value *)self;
    Py_ssize_t entries = v->flags & RG_WIDE ? v->count : 0;
    return PyLong_FromSsize_t(Py_TYPE(self)->tp_basicsize + entries * (Py_ssize_t)sizeof(RgEntry));
}

/* A fresh argument of a function being recorded. */
PyObject *rg_argument(PyObject *Py_UNUSED(module), PyObject *number) {
    double data;
    if (rg_number_or_fail(number, "an argument", &data) < 0) return NULL;
    Value *v = blank(RgValue_Type);
    if (v == NULL) return NULL;
    v->data = data;
    v->flags |= RG_TRACED;
    return (PyObject *)v;
}

/* The number itself, for the recorder: it may look where the recorded function may not. */
PyObject *rg_peek(PyObject *Py_UNUSED(module), PyObject *object) {
    if (!rg_is_value(object)) {
        rg_fail("NotAValueError", "of", "sO", "peek", object);
        return NULL;
    }
    return PyFloat_FromDouble(((Value *)object)->data);
}

/* hides(value): whether a function is recorded now to which the number of the value must not leak. */
PyObject *rg_hides(PyObject *Py_UNUSED(module), PyObject *object) {
    if (!rg_is_value(object)) {
        rg_fail("NotAValueError", "of", "sO", "hides", object);
        return NULL;
    }
    return PyBool_FromLong(rg_hides_number((Value *)object));
}

static PyMethodDef value_own_methods[] = {
    {"__sizeof__", value_sizeof, METH_NOARGS, "Bytes of the node and of its list of inputs."},
    {"backward", (PyCFunction)(void (*)(void))value_backward, METH_FASTCALL | METH_KEYWORDS,
     "backward($self, seed=1.0)\n--\n\n"
     "Add the gradient of this value into every leaf under it.\n\n"
     "Interior gradients are replaced by this pass's; leaves accumulate."},
    {"detach", value_detach, METH_NOARGS,
     "detach($self, /)\n--\n\nThe same number as a leaf that takes no gradient."},
    {"_contribute", rg_contribute_now, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

/* ---- slots ------------------------------------------------------------------------------- */

PyObject *rg_compare(PyObject *self, PyObject *other, int symbol) {
    if (RG_UNLIKELY(rg_modes_active) && other != Py_None) {
        if (rg_recording())
            return rg_call("retrograde.program.conditions", "compare", "OOi", self, other, symbol);
        int right_hides = rg_is_value(other) && rg_hides_number((Value *)other);
        if (right_hides || rg_hides_number((Value *)self)) {
            rg_fail("RecordingError", "thread", "(O)", right_hides ? other : self);
            return NULL;
        }
    }
    double left = ((Value *)self)->data, right;
    if (rg_is_value(other)) {
        right = ((Value *)other)->data;
    } else {
        int converted = rg_number(other, &right);
        if (converted < 0) return NULL;
        if (converted == 0)
            return rg_call("retrograde._shared.operands", "other_comparison", "OOi", self, other,
                           symbol);
    }
    Py_RETURN_RICHCOMPARE(left, right, symbol);
}

static Py_hash_t value_hash(PyObject *self) { return _Py_HashPointer(self); }

static int value_bool(PyObject *self) {
    if (RG_UNLIKELY(rg_recording())) {
        PyObject *truth = rg_call("retrograde.program.conditions", "truth", "(O)", self);
        if (truth == NULL) return -1;
        Py_DECREF(truth);
        return truth == Py_True;
    }
    if (RG_UNLIKELY(rg_hides_number((Value *)self))) {
        rg_fail("RecordingError", "thread", "(O)", self);
        return -1;
    }
    return ((Value *)self)->data != 0.0;
}

static PyObject *value_power(PyObject *base, PyObject *exponent, PyObject *modulus) {
    if (modulus == Py_None) return rg_power(base, exponent);
    PyErr_SetString(PyExc_TypeError, "pow() of values takes no modulus");
    return NULL;
}

static PyObject *value_matmul(PyObject *Py_UNUSED(left), PyObject *Py_UNUSED(right)) {
    rg_fail("OperandError", "matmul", "()");
    return NULL;
}

static PyObject *value_positive(PyObject *self) { return Py_NewRef(self); }

/* Plain values are not the collector's; their subclasses in Python are, and pass on here. */
int rg_value_traverse(PyObject *self, visitproc visit, void *arg) {
    Value *v = (Value *)self;
    for (Py_ssize_t i = 0; i < rg_width(v); i++) Py_VISIT((PyObject *)rg_input_at(v, i).input);
    return 0;
}

static PyType_Slot value_slots[] = {
    {Py_tp_traverse, rg_value_traverse},
    {Py_tp_doc,
     "Value(data, children=(), local_grads=(), *, label='', requires_grad=True)\n--\n\n"
     "A number that remembers how it was made.\n\n"
     ">>> from retrograde import Value\n"
     ">>> a, b = Value(2.0), Value(-3.0)\n"
     ">>> f = (a * b + 10.0).relu()\n"
     ">>> f.backward()\n"
     ">>> f.data, a.grad, b.grad\n"
     "(4.0, -3.0, 2.0)\n"},
    {Py_tp_new, value_new},
    {Py_tp_init, value_init},
    {Py_tp_dealloc, rg_value_dealloc},
    {Py_tp_richcompare, rg_compare},
    {Py_tp_hash, value_hash},
    {Py_tp_getset, value_getset},
    {Py_tp_methods, value_own_methods},
    {Py_nb_add, rg_binary_add},
    {Py_nb_subtract, rg_binary_sub},
    {Py_nb_multiply, rg_binary_mul},
    {Py_nb_true_divide, rg_binary_div},
    {Py_nb_power, value_power},
    {Py_nb_negative, rg_unary_neg},
    {Py_nb_positive, value_positive},
    {Py_nb_absolute, rg_unary_abs},
    {Py_nb_bool, value_bool},
    {Py_nb_matrix_multiply, value_matmul},
    {Py_mp_subscript, rg_indexed},
    {0, NULL},
};

PyType_Spec rg_value_spec = {
    .name = "retrograde.Value",
    .basicsize = sizeof(Value),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = value_slots,
};
