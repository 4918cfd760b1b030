/* The Value type: construction, methods, operators. Its attributes are in attributes.c.
 *
 * What need not be fast is written once in Python (retrograde._core.face) for both cores. */
#include "tensor.h"

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
RgEntry *rg_take_entries(PyObject *inputs, PyObject *partials, Py_ssize_t *count) {
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
        entries = rg_take_entries(inputs, partials, &count);
        if (entries == NULL) goto done;
    } else if (is_given(given->local_grads)) {
        rg_fail("ShapeError", "partials", "nn", (Py_ssize_t)0, PyObject_Size(given->local_grads));
        goto done;
    }
    if (given->label && given->label != Py_None &&
        rg_set_label((PyObject *)v, given->label, NULL) < 0)
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
Value *rg_blank(PyTypeObject *type) {
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
    if (rg_is_leaf(v)) return 0;
    if (rg_recording()) return rg_remember(v);
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
    Value *v = rg_blank(closure ? RgClosure_Type : RgValue_Type);
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
    return (PyObject *)rg_blank(type);
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

/* ---- methods ----------------------------------------------------------------------------- */

static PyObject *value_backward(PyObject *self, PyObject *const *args, Py_ssize_t count,
                                PyObject *kwnames) {
    Value *root = (Value *)self;
    RgTotal seed = {.number = 1.0};
    Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
    if (count + named > 1 ||
        (named && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, 0), "seed"))) {
        PyErr_SetString(PyExc_TypeError, "backward() takes one optional argument: seed");
        return NULL;
    }
    if (count + named && rg_number_or_fail(args[0], "the seed", &seed.number) < 0) return NULL;
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
    if (rg_has_body(v)) return PyLong_FromSsize_t(Py_TYPE(self)->tp_basicsize + rg_body_bytes(v));
    return PyLong_FromSsize_t(Py_TYPE(self)->tp_basicsize + entries * (Py_ssize_t)sizeof(RgEntry));
}

/* A fresh argument of a function being recorded. */
PyObject *rg_argument(PyObject *Py_UNUSED(module), PyObject *number) {
    double data;
    if (!PyFloat_Check(number) && rg_is_array(number) > 0) {
        Value *array = rg_leaf_of(number, "an argument", 1);
        PyObject *handle = array ? rg_tensor_handle(array) : NULL;
        if (array) {
            array->flags |= RG_TRACED | RG_COLLECTED;
            Py_CLEAR(array->code); /* it was made on no line of the caller's */
        }
        Py_XDECREF((PyObject *)array);
        return handle;
    }
    if (rg_number_or_fail(number, "an argument", &data) < 0) return NULL;
    Value *v = rg_blank(RgValue_Type);
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
    const Value *v = rg_any_node(object);
    if (v == NULL) {
        rg_fail("NotAValueError", "of", "sO", "hides", object);
        return NULL;
    }
    return PyBool_FromLong(rg_hides_number(v));
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

static Py_hash_t value_hash(PyObject *self) {
    if (RG_UNLIKELY(rg_recording())) { /* what is looked up by identity may be refused */
        PyObject *told = rg_call("retrograde.program.conditions", "looked_up", "(O)", self);
        if (told == NULL) return -1;
        Py_DECREF(told);
    }
    return _Py_HashPointer(self);
}

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
    {Py_tp_getset, rg_value_getset},
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
