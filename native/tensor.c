/* The Tensor type: a handle around a node. Construction, attributes, methods, operators.
 *
 * What need not be fast is written once in Python (retrograde._tensors) for both cores. */
#include "ready.h"

int rg_refuse_recording(const char *what) {
    if (!rg_recording()) return 0;
    rg_fail("RecordingError", "tensor", "s", what);
    return -1;
}

/* The numbers of a tensor must not leave a graph that is being recorded. */
int rg_refuse_hidden(Value *v) {
    if (RG_LIKELY(!rg_hides_number(v))) return 0;
    const char *which = v->flags & RG_TRACED ? "tensor_data" : "captured_tensor_data";
    rg_fail("RecordingError", which, "N", rg_face(v));
    return -1;
}

/* Two tensors whose shapes do not fit: the law says why, the error where they were made. */
void rg_call_unfit(const char *op, Value *left, Value *right) {
    const RgBody *x = rg_body(left), *y = rg_body(right);
    PyObject *shapes =
        Py_BuildValue("(NN)", rg_shape_tuple(x->ndim, x->shape), rg_shape_tuple(y->ndim, y->shape));
    PyObject *operands = shapes ? Py_BuildValue("(NN)", rg_face(left), rg_face(right)) : NULL;
    PyObject *text =
        operands ? rg_call("retrograde._shared.views", "unfit", "sO", op, shapes) : NULL;
    if (text) rg_fail("FitError", "of", "OO", text, operands);
    Py_XDECREF(text);
    Py_XDECREF(operands);
    Py_XDECREF(shapes);
}

/* ---- construction --------------------------------------------------------------------------- */

static PyObject *tensor_new(PyTypeObject *Py_UNUSED(type), PyObject *args, PyObject *kwargs) {
    static char *names[] = {"data", "label", "requires_grad", NULL};
    PyObject *data, *label = Py_None;
    int requires_grad = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$Op:Tensor", names, &data, &label,
                                     &requires_grad))
        return NULL;
    Value *v = rg_leaf_of(data, "Tensor(data)", requires_grad);
    if (v == NULL) return NULL;
    if (rg_body(v)->ndim == 0) {
        rg_fail("TensorError", "no_axes", "(O)", data);
        Py_DECREF((PyObject *)v);
        return NULL;
    }
    PyObject *handle = NULL;
    if ((label == Py_None || rg_set_label((PyObject *)v, label, NULL) == 0) &&
        !(rg_anomaly_enabled() && rg_tensor_watch(v) < 0))
        handle = rg_tensor_handle(v);
    Py_DECREF((PyObject *)v);
    return handle;
}

/* ---- numbers -------------------------------------------------------------------------------- */

static PyObject *get_data(PyObject *self, void *Py_UNUSED(closure)) {
    Value *v = rg_node_of(self);
    const RgBody *body = rg_body(v);
    if (rg_refuse_hidden(v) < 0 || rg_tensor_restore(v) < 0) return NULL;
    return rg_export(body->buffer, body->at, body->ndim, body->shape, body->strides);
}

static int has_gradient(PyObject *self) {
    Value *v = rg_node_of(self);
    if (rg_is_leaf(v) || (rg_body(v)->marks & RG_RETAINS)) return 1;
    rg_fail("LeafError", "tensor_grad", "(O)", self);
    return 0;
}

static PyObject *get_grad(PyObject *self, void *Py_UNUSED(closure)) {
    const RgBody *body = rg_body(rg_node_of(self));
    if (!has_gradient(self)) return NULL;
    RgBuffer *gradient =
        body->gradient ? rg_numbers_share(body->gradient) : rg_numbers_new((size_t)body->size);
    if (gradient == NULL) return NULL;
    if (body->gradient == NULL) memset(gradient->data, 0, (size_t)body->size * sizeof(double));
    PyObject *array = rg_export(gradient, gradient->data, body->ndim, body->shape, NULL);
    rg_numbers_drop(gradient);
    return array;
}

static int set_grad(PyObject *self, PyObject *object, void *Py_UNUSED(closure)) {
    Value *v = rg_node_of(self);
    if (object == NULL) {
        PyErr_SetString(PyExc_AttributeError, "a tensor's grad cannot be deleted");
        return -1;
    }
    if (!has_gradient(self)) return -1;
    RgBuffer *gradient = NULL;
    if (object != Py_None && (gradient = rg_numbers_like(object, "tensor.grad", v)) == NULL)
        return -1;
    RgBuffer *old = rg_body(v)->gradient;
    rg_body(v)->gradient = gradient;
    rg_numbers_xdrop(old);
    return 0;
}

static PyObject *get_shape(PyObject *self, void *Py_UNUSED(closure)) {
    const RgBody *body = rg_body(rg_node_of(self));
    return rg_shape_tuple(body->ndim, body->shape);
}

static PyObject *get_ndim(PyObject *self, void *Py_UNUSED(closure)) {
    return PyLong_FromLong(rg_body(rg_node_of(self))->ndim);
}

static PyObject *get_size(PyObject *self, void *Py_UNUSED(closure)) {
    return PyLong_FromSsize_t(rg_body(rg_node_of(self))->size);
}

/* ---- how it was made ------------------------------------------------------------------------ */

static PyObject *get_label(PyObject *self, void *Py_UNUSED(closure)) {
    PyObject *label = rg_note_get(rg_node_of(self), RG_LABELLED);
    return label ? Py_NewRef(label) : PyUnicode_FromStringAndSize("", 0);
}

static int set_label(PyObject *self, PyObject *label, void *closure) {
    return rg_set_label((PyObject *)rg_node_of(self), label, closure);
}

static PyObject *get_hooks(PyObject *self, void *Py_UNUSED(closure)) {
    PyObject *hooks = rg_note_get(rg_node_of(self), RG_HOOKED);
    return Py_NewRef(hooks ? hooks : Py_None);
}

static int set_hooks(PyObject *self, PyObject *hooks, void *Py_UNUSED(closure)) {
    return rg_note_set(rg_node_of(self), RG_HOOKED, hooks == Py_None ? NULL : hooks);
}

static PyObject *get_requires_grad(PyObject *self, void *Py_UNUSED(closure)) {
    return PyBool_FromLong(rg_node_of(self)->flags & RG_REQUIRES_GRAD);
}

static int set_requires_grad(PyObject *self, PyObject *object, void *Py_UNUSED(closure)) {
    Value *v = rg_node_of(self);
    int wanted = object ? PyObject_IsTrue(object) : -1;
    if (object == NULL) PyErr_SetString(PyExc_AttributeError, "requires_grad cannot be deleted");
    if (wanted < 0) return -1;
    if (!rg_is_leaf(v)) {
        if (wanted) return 0;
        rg_fail("LeafError", "requires_grad", "(O)", self);
        return -1;
    }
    v->flags = (uint8_t)(wanted ? v->flags | RG_REQUIRES_GRAD : v->flags & ~RG_REQUIRES_GRAD);
    return 0;
}

/* The name of the row that made a node with a body. */
PyObject *rg_row_name(const Value *v) {
    const RgBody *body = rg_body(v);
    if (v->op == RG_LEAF) return PyUnicode_FromString("leaf");
    if (body->row == &rg_map_row) return PyUnicode_FromString(RG_OPS[body->code].name);
    if (body->row->name) return PyUnicode_FromString(body->row->name);
    const RgReady *ready = rg_ready_of(v);
    return PyObject_GetAttrString(ready ? ready->bound : PyTuple_GET_ITEM(body->rule, 0), "name");
}

static PyObject *get_op(PyObject *self, void *Py_UNUSED(closure)) {
    return rg_row_name(rg_node_of(self));
}

static PyObject *get_symbol(PyObject *self, void *closure) {
    if (rg_is_leaf(rg_node_of(self))) return PyUnicode_FromString("");
    return get_op(self, closure);
}

static PyObject *get_inputs(PyObject *self, void *Py_UNUSED(closure)) {
    return rg_inputs_of(rg_node_of(self));
}

static PyObject *get_site(PyObject *self, void *closure) {
    return rg_site_get((PyObject *)rg_node_of(self), closure);
}

static PyObject *get_transposed(PyObject *self, void *closure);

static PyGetSetDef tensor_getset[] = {
    {"data", get_data, NULL, "Its numbers: an array that cannot be written to.", NULL},
    {"grad", get_grad, set_grad,
     "The gradient: of a leaf zeros before a backward pass, of others after retain_grad().", NULL},
    {"shape", get_shape, NULL, "The lengths along its axes.", NULL},
    {"ndim", get_ndim, NULL, "How many axes it has.", NULL},
    {"size", get_size, NULL, "How many numbers it has.", NULL},
    {"label", get_label, set_label, "A name for people; empty where there is none.", NULL},
    {"requires_grad", get_requires_grad, set_requires_grad, "Whether it takes gradients.", NULL},
    {"op", get_op, NULL, "The row that made it; 'leaf' for a leaf.", NULL},
    {"inputs", get_inputs, NULL, "What it was made from: values and tensors, in order.", NULL},
    {"site", get_site, NULL, "Where it was made: file, line, function; or None.", NULL},
    {"T", get_transposed, NULL, "The axes the other way round.", NULL},
    {"_op", get_symbol, NULL, NULL, NULL},
    {"_children", get_inputs, NULL, NULL, NULL},
    {"_hooks", get_hooks, set_hooks, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

/* ---- methods -------------------------------------------------------------------------------- */

/* The seed of a pass from a tensor: an array of its shape; NULL with an exception. */
RgBuffer *rg_seed_of(Value *root, PyObject *seed) {
    const RgBody *body = rg_body(root);
    if (seed && seed != Py_None) return rg_numbers_like(seed, "the seed", root);
    if (body->size != 1) {
        rg_fail("TensorError", "seed", "N", rg_face(root));
        return NULL;
    }
    RgBuffer *one = rg_numbers_new(1);
    if (one) one->data[0] = 1.0;
    return one;
}

static PyObject *tensor_backward(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"seed", NULL};
    PyObject *seed = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:backward", names, &seed) ||
        rg_refuse_recording("backward") < 0)
        return NULL;
    Value *root = (Value *)Py_NewRef((PyObject *)rg_node_of(self));
    RgTotal total = {.array = rg_seed_of(root, seed)};
    int failed = total.array == NULL || rg_backward(&root, &total, 1) < 0;
    rg_numbers_xdrop(total.array);
    Py_DECREF((PyObject *)root);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

static PyObject *tensor_register_hook(PyObject *self, PyObject *hook) {
    return rg_call("retrograde._shared.hooks", "register", "OO", self, hook);
}

static PyObject *tensor_retain(PyObject *self, PyObject *Py_UNUSED(ignored)) {
    rg_body(rg_node_of(self))->marks |= RG_RETAINS;
    Py_RETURN_NONE;
}

/* What Python does with operators and methods that are out of the ordinary: operated(name, left,
 * right), a class whose functions are methods, and what NumPy's functions call. retrograde._tensors hands them in. */
static PyObject *operated = NULL, *methods = NULL;

static PyObject *take_tensors(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *function, *class, *array_ufunc;
    if (!PyArg_ParseTuple(args, "OOO!:take_tensors", &function, &class, &PyFunction_Type,
                          &array_ufunc) ||
        rg_tensor_array_ufunc(array_ufunc) < 0)
        return NULL;
    Py_XSETREF(operated, Py_NewRef(function));
    Py_XSETREF(methods, Py_NewRef(class));
    Py_RETURN_NONE;
}

PyMethodDef rg_tensor_methods[] = {
    {"take_tensors", take_tensors, METH_VARARGS,
     RG_DOC("take_tensors($module, operated, methods, array_ufunc, /)",
            "Who answers for tensors what is out of the ordinary.")},
    {NULL, NULL, 0, NULL},
};

static PyObject *call_with(const char *name, PyObject *self, PyObject *args, PyObject *kwargs) {
    PyObject *method = methods ? PyObject_GetAttrString(methods, name) : NULL;
    PyObject *first = method ? PyTuple_Pack(1, self) : NULL, *all = NULL, *result = NULL;
    if (methods == NULL) PyErr_SetString(PyExc_TypeError, "tensors take whole numbers here");
    if (first) all = PySequence_Concat(first, args);
    if (all) result = PyObject_Call(method, all, kwargs);
    Py_XDECREF(all);
    Py_XDECREF(first);
    Py_XDECREF(method);
    return result;
}

PyObject *rg_call_method(const char *name, PyObject *self, PyObject *argument) {
    PyObject *args = argument ? PyTuple_Pack(1, argument) : PyTuple_New(0);
    PyObject *result = args ? call_with(name, self, args, NULL) : NULL;
    Py_XDECREF(args);
    return result;
}

int rg_call_set_item(PyObject *self, PyObject *key, PyObject *object) {
    PyObject *args = PyTuple_Pack(2, key, object);
    PyObject *result = args ? call_with("__setitem__", self, args, NULL) : NULL;
    Py_XDECREF(args);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

/* The same numbers as a leaf that takes no gradient; they are shared. */
PyObject *rg_tensor_detached(PyObject *self) {
    Value *x = rg_node_of(self);
    if (RG_UNLIKELY(rg_recording())) return rg_call_method("_stopped", self, NULL);
    if (rg_tensor_restore(x) < 0) return NULL;
    const RgBody *from = rg_body(x);
    Value *z = rg_tensor_blank(from->ndim, 0);
    if (z == NULL) return NULL;
    RgBody *body = rg_body(z);
    for (int d = 0; d < from->ndim; d++) {
        body->shape[d] = from->shape[d];
        body->strides[d] = from->strides[d];
    }
    body->size = from->size;
    body->contiguous = from->contiguous;
    body->buffer = rg_numbers_share(from->buffer);
    body->at = from->at;
    PyObject *handle = rg_tensor_handle(z);
    Py_DECREF((PyObject *)z);
    return handle;
}

static PyObject *tensor_detach(PyObject *self, PyObject *Py_UNUSED(ignored)) {
    return rg_tensor_detached(self);
}

static PyObject *tensor_sizeof(PyObject *self, PyObject *Py_UNUSED(ignored)) {
    return PyLong_FromSsize_t((Py_ssize_t)(sizeof(RgTensor) + sizeof(Value)) +
                              rg_body_bytes(rg_node_of(self)));
}

/* A method that is a row or a composition of rows, in Python where it is out of the ordinary. */
static PyObject *composed(PyObject **interned, const char *name, PyObject *self,
                          PyObject *const *args, Py_ssize_t count, PyObject *kwnames) {
    if (*interned == NULL && (*interned = PyUnicode_InternFromString(name)) == NULL) return NULL;
    PyObject *made = rg_composed_method(*interned, self, args, count, kwnames);
    if (made != Py_NotImplemented) return made;
    Py_DECREF(made);
    Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
    PyObject *given = PyTuple_New(count), *kwargs = named ? PyDict_New() : NULL;
    for (Py_ssize_t i = 0; given && i < count; i++) PyTuple_SET_ITEM(given, i, Py_NewRef(args[i]));
    for (Py_ssize_t i = 0; kwargs && i < named; i++)
        if (PyDict_SetItem(kwargs, PyTuple_GET_ITEM(kwnames, i), args[count + i]) < 0)
            Py_CLEAR(kwargs);
    made = given && (kwargs || !named) ? call_with(name, self, given, kwargs) : NULL;
    Py_XDECREF(given);
    Py_XDECREF(kwargs);
    return made;
}

#define COMPOSED(NAME)                                                                             \
    static PyObject *tensor_##NAME(PyObject *self, PyObject *const *args, Py_ssize_t count,        \
                                   PyObject *kwnames) {                                            \
        static PyObject *name = NULL;                                                              \
        return composed(&name, #NAME, self, args, count, kwnames);                                 \
    }
COMPOSED(mean)
COMPOSED(prod)
COMPOSED(max)
COMPOSED(min)
COMPOSED(var)
COMPOSED(std)
COMPOSED(logsumexp)
COMPOSED(norm)
COMPOSED(softmax)
COMPOSED(log_softmax)
COMPOSED(reshape)
COMPOSED(ravel)
COMPOSED(transpose)
COMPOSED(swapaxes)
COMPOSED(squeeze)

static PyObject *tensor_sum(PyObject *self, PyObject *const *args, Py_ssize_t count,
                            PyObject *kwnames) {
    static PyObject *name = NULL;
    if (RG_LIKELY(count == 0 && kwnames == NULL)) return rg_tensor_sum(self);
    return composed(&name, "sum", self, args, count, kwnames);
}

static PyObject *get_transposed(PyObject *self, void *Py_UNUSED(closure)) {
    return tensor_transpose(self, NULL, 0, NULL);
}

static PyMethodDef tensor_own_methods[] = {
#define ENTRY(NAME, SIGNATURE, TEXT)                                                               \
    {#NAME, (PyCFunction)(void (*)(void))tensor_##NAME, METH_FASTCALL | METH_KEYWORDS,             \
     #NAME "($self" SIGNATURE ")\n--\n\n" TEXT}
#define ALONG ", axis=None, keepdims=False"
    ENTRY(sum, ALONG, "The sum of all numbers, or along axes."),
    ENTRY(mean, ALONG, "The mean of all numbers, or along axes."),
    ENTRY(prod, ALONG, "The product of all numbers, or along axes."),
    ENTRY(max, ALONG,
          "The largest number, or along axes; the first of several receives the whole gradient."),
    ENTRY(min, ALONG,
          "The smallest number, or along axes; the first of several receives the whole gradient."),
    ENTRY(var, ", axis=None, ddof=0, keepdims=False",
          "The variance of all numbers, or along axes."),
    ENTRY(std, ", axis=None, ddof=0, keepdims=False",
          "The standard deviation of all numbers, or along axes."),
    ENTRY(logsumexp, ALONG, "``log(sum(exp(t)))`` without overflow."),
    ENTRY(norm, ALONG, "The Euclidean length of all numbers, or along axes; its slope at 0 is 0."),
    ENTRY(softmax, ", axis=-1",
          "Positive shares that add up to one along an axis, without overflow."),
    ENTRY(log_softmax, ", axis=-1", "The logarithm of ``softmax``, without computing it."),
    ENTRY(reshape, ", *shape",
          "The same numbers in the same order along other axes; one length may be -1."),
    ENTRY(ravel, "", "The same numbers along one axis."),
    ENTRY(transpose, ", *axes", "The axes in another order, reversed unless told."),
    ENTRY(swapaxes, ", axis1, axis2", "Two axes in each other's place."),
    ENTRY(squeeze, ", axis=None", "Without axes of length 1."),
    {"__sizeof__", tensor_sizeof, METH_NOARGS, "Bytes of the node, its numbers and its gradient."},
    {"backward", (PyCFunction)(void (*)(void))tensor_backward, METH_VARARGS | METH_KEYWORDS,
     "backward($self, seed=None)\n--\n\n"
     "Add the gradients of sum(seed * self) into every leaf under it.\n\n"
     "The seed is an array of its shape; a tensor of one number needs none."},
    {"register_hook", tensor_register_hook, METH_O,
     "register_hook($self, hook, /)\n--\n\n"
     "Let hook(total) see the gradient each pass brings here, an array, and replace it if it "
     "returns one."},
    {"retain_grad", tensor_retain, METH_NOARGS,
     "retain_grad($self, /)\n--\n\n"
     "Keep the gradient of an interior tensor after each backward pass, in .grad."},
    {"detach", tensor_detach, METH_NOARGS,
     "detach($self, /)\n--\n\nThe same numbers as a leaf that takes no gradient."},
    {NULL, NULL, 0, NULL},
};

/* ---- slots ---------------------------------------------------------------------------------- */

static Py_hash_t tensor_hash(PyObject *self) { return _Py_HashPointer(self); }

/* Operands that are out of the ordinary: lists, mistakes, classes that answer for themselves. */
static PyObject *otherwise(const char *op, PyObject *left, PyObject *right, PyObject *made) {
    if (RG_LIKELY(made != Py_NotImplemented)) return made;
    if (operated == NULL) return made;
    Py_DECREF(made);
    return PyObject_CallFunction(operated, "sOO", op, left, right);
}

#define BINARY_SLOT(NAME)                                                                          \
    static PyObject *slot_##NAME(PyObject *left, PyObject *right) {                                \
        PyObject *operands[] = {left, right};                                                      \
        return otherwise(#NAME, left, right, rg_tensor_map(RG_OP_##NAME, operands));               \
    }
#define UNARY_SLOT(NAME)                                                                           \
    static PyObject *slot_##NAME(PyObject *self) { return rg_tensor_map(RG_OP_##NAME, &self); }

BINARY_SLOT(add)
BINARY_SLOT(sub)
BINARY_SLOT(mul)
BINARY_SLOT(div)
static PyObject *slot_matmul(PyObject *left, PyObject *right) {
    return otherwise("matmul", left, right, rg_tensor_matmul(left, right));
}

UNARY_SLOT(neg)
UNARY_SLOT(abs)

static PyObject *slot_positive(PyObject *self) { return Py_NewRef(self); }

static PyObject *slot_power(PyObject *base, PyObject *exponent, PyObject *modulus) {
    if (modulus != Py_None) {
        PyErr_SetString(PyExc_TypeError, "pow() of tensors takes no modulus");
        return NULL;
    }
    return otherwise("pow", base, exponent, rg_tensor_power(base, exponent));
}

static PyType_Slot tensor_slots[] = {
    {Py_tp_doc,
     "Tensor(data, *, label=None, requires_grad=True)\n--\n\n"
     "An array of numbers that remembers how it was made.\n\n"
     ">>> import retrograde as rg\n"
     ">>> x = rg.Tensor([[1.0, 2.0], [3.0, 4.0]])\n"
     ">>> (x * x).sum().backward()\n"
     ">>> x.grad\n"
     "array([[2., 4.],\n"
     "       [6., 8.]])\n"},
    {Py_tp_new, tensor_new},
    {Py_tp_dealloc, rg_handle_dealloc},
    {Py_tp_hash, tensor_hash},
    {Py_tp_getset, tensor_getset},
    {Py_tp_methods, tensor_own_methods},
    {Py_mp_subscript, rg_tensor_item},
    {Py_mp_ass_subscript, rg_tensor_set_item},
    {Py_nb_add, slot_add},
    {Py_nb_subtract, slot_sub},
    {Py_nb_multiply, slot_mul},
    {Py_nb_true_divide, slot_div},
    {Py_nb_power, slot_power},
    {Py_nb_negative, slot_neg},
    {Py_nb_positive, slot_positive},
    {Py_nb_absolute, slot_abs},
    {Py_nb_matrix_multiply, slot_matmul},
    {0, NULL},
};

PyType_Spec rg_tensor_spec = {
    .name = "retrograde.Tensor",
    .basicsize = sizeof(RgTensor),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = tensor_slots,
};

/* ---- the node -------------------------------------------------------------------------------- */

static PyType_Slot node_slots[] = {
    {Py_tp_doc, "The node of a tensor, which Python never sees."},
    {Py_tp_dealloc, rg_value_dealloc},
    {0, NULL},
};

PyType_Spec rg_node_spec = {
    .name = "retrograde._native.TensorNode",
    .basicsize = sizeof(Value),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = node_slots,
};

#define UNARY_METHOD(NAME)                                                                         \
    static PyObject *method_##NAME(PyObject *self, PyObject *Py_UNUSED(ignored)) {                 \
        return rg_tensor_map(RG_OP_##NAME, &self);                                                 \
    }
RG_UNARY_OPS(UNARY_METHOD)

#define UNARY_ENTRY(NAME) {#NAME, method_##NAME, METH_NOARGS, "rg." #NAME " of every number."},
static PyMethodDef row_methods[] = {RG_UNARY_OPS(UNARY_ENTRY){NULL, NULL, 0, NULL}};

/* What the face must not replace: operators, and the rows as methods. */
static const char *const operators[] = {"__add__",     "__radd__",    "__sub__",     "__rsub__",
                                        "__mul__",     "__rmul__",    "__truediv__", "__rtruediv__",
                                        "__pow__",     "__rpow__",    "__matmul__",  "__rmatmul__",
                                        "__neg__",     "__abs__",     "__pos__",     "__hash__",
                                        "__getitem__", "__setitem__", "__delitem__", "T"};

int rg_add_tensor_names(void) {
    PyObject *names = PyList_New(0);
    int failed = names == NULL;
    for (size_t i = 0; i < sizeof operators / sizeof *operators && !failed; i++) {
        PyObject *name = PyUnicode_FromString(operators[i]);
        failed = name == NULL || PyList_Append(names, name) < 0;
        Py_XDECREF(name);
    }
    for (PyMethodDef *method = tensor_own_methods; method->ml_name && !failed; method++) {
        if (method->ml_flags != (METH_FASTCALL | METH_KEYWORDS)) continue;
        PyObject *name = PyUnicode_FromString(method->ml_name);
        failed = name == NULL || PyList_Append(names, name) < 0;
        Py_XDECREF(name);
    }
    for (PyMethodDef *method = row_methods; method->ml_name && !failed; method++) {
        PyObject *descriptor = PyDescr_NewMethod(RgTensor_Type, method);
        PyObject *name = descriptor ? PyUnicode_FromString(method->ml_name) : NULL;
        failed = name == NULL || PyList_Append(names, name) < 0 ||
                 PyObject_SetAttr((PyObject *)RgTensor_Type, name, descriptor) < 0;
        Py_XDECREF(name);
        Py_XDECREF(descriptor);
    }
    PyObject *tuple = failed ? NULL : PyList_AsTuple(names);
    failed = tuple == NULL ||
             PyObject_SetAttrString((PyObject *)RgTensor_Type, "_native_names", tuple) < 0;
    Py_XDECREF(tuple);
    Py_XDECREF(names);
    return failed ? -1 : 0;
}
