/* Rows of the array law that come bound to shapes (retrograde._shared.bound).
 *
 * Maps, products and sums go to kernels of their own, views need no numbers of their own, other
 * statements have plans, and implicit rows are carried out by NumPy through the bound row. A node
 * keeps (bound row, whole numbers), and behind them its plan. */
#include "tensor.h"

#include "kernels/arrays.h"

/* ---- operands --------------------------------------------------------------------------------- */

/* An operand as an input: a node, or a number in `partial`. `made` is what has to be given up. */
static int take_operand(PyObject *object, RgEntry *entry, Value **made) {
    *made = NULL;
    *entry = (RgEntry){rg_any_node(object), 0.0};
    if (entry->input && rg_is_node(entry->input)) return rg_tensor_restore(entry->input);
    if (entry->input) {
        entry->partial = entry->input->data;
        return 0;
    }
    int converted = rg_number(object, &entry->partial);
    if (converted) return converted < 0 ? -1 : 0;
    *made = entry->input = rg_leaf_of(object, "an operand", 0);
    return entry->input ? 0 : -1;
}

/* The inputs of a new node from a tuple; what was made for it has to be given up afterwards. */
static int take_operands(Value *z, PyObject *operands, Value **made, uint8_t *flags) {
    for (Py_ssize_t k = 0; k < z->count; k++) {
        if (take_operand(PyTuple_GET_ITEM(operands, k), &z->entries[k], &made[k]) < 0) return -1;
        if (z->entries[k].input) *flags |= z->entries[k].input->flags;
    }
    return 0;
}

/* ---- by NumPy ---------------------------------------------------------------------------------- */

static PyObject *shown_number(double number) {
    RgBuffer *buffer = rg_numbers_new(1);
    if (buffer == NULL) return NULL;
    buffer->data[0] = number;
    PyObject *array = rg_export(buffer, buffer->data, 0, NULL, NULL);
    rg_numbers_drop(buffer);
    return array;
}

/* An input as an array of NumPy's; None where its numbers were let go. */
static PyObject *shown_input(const RgEntry *entry) {
    if (entry->input == NULL || !rg_is_node(entry->input)) return shown_number(entry->partial);
    const RgBody *body = rg_body(entry->input);
    if (body->buffer == NULL) return Py_NewRef(Py_None);
    return rg_export(body->buffer, body->at, body->ndim, body->shape, body->strides);
}

/* Names to arrays: the inputs, then whole numbers. */
static PyObject *shown_arrays(const Value *z, PyObject *bound, PyObject *wholes) {
    PyObject *names = PyObject_GetAttrString(bound, "operands");
    PyObject *arrays = names ? PyDict_Copy(wholes) : NULL;
    for (Py_ssize_t k = 0; arrays && k < z->count; k++) {
        PyObject *array = shown_input(&z->entries[k]);
        if (array == NULL || PyDict_SetItem(arrays, PyTuple_GET_ITEM(names, k), array) < 0)
            Py_CLEAR(arrays);
        Py_XDECREF(array);
    }
    Py_XDECREF(names);
    return arrays;
}

/* Copy what NumPy made, an array of a known size. */
static int copy_numbers(PyObject *array, double *to, Py_ssize_t size) {
    PyObject *owner;
    Py_buffer view;
    if (rg_floats_of(array, "the result of a row", &owner, &view) < 0) return -1;
    int fits = view.len == size * (Py_ssize_t)sizeof(double);
    if (fits)
        memcpy(to, view.buf, (size_t)view.len);
    else
        PyErr_SetString(PyExc_SystemError, "a row made another number of numbers than it said");
    PyBuffer_Release(&view);
    Py_XDECREF(owner);
    return fits ? 0 : -1;
}

/* bound.run(arrays) -> the numbers, and every array of whole numbers that made them. */
static int run_bound(Value *z, PyObject *bound, PyObject *wholes, double *to, PyObject **found) {
    PyObject *arrays = shown_arrays(z, bound, wholes);
    PyObject *made = arrays ? PyObject_CallMethod(bound, "run", "O", arrays) : NULL;
    int failed = made == NULL || !PyTuple_Check(made) || PyTuple_GET_SIZE(made) != 2 ||
                 copy_numbers(PyTuple_GET_ITEM(made, 0), to, rg_body(z)->size) < 0;
    if (!failed && found) *found = Py_NewRef(PyTuple_GET_ITEM(made, 1));
    Py_XDECREF(arrays);
    Py_XDECREF(made);
    return failed ? -1 : 0;
}

static int bound_run(Value *z, double *to) {
    PyObject *rule = rg_body(z)->rule;
    return run_bound(z, PyTuple_GET_ITEM(rule, 0), PyTuple_GET_ITEM(rule, 1), to, NULL);
}

/* The names of the inputs that take gradients and have a place in the pass. */
static PyObject *takers_of(const Value *z, PyObject *names, const uint32_t *places) {
    PyObject *takers = PyList_New(0);
    for (Py_ssize_t k = 0; takers && k < z->count; k++) {
        const Value *input = z->entries[k].input;
        if (input == NULL || !(input->flags & RG_REQUIRES_GRAD) ||
            (places && places[k] == RG_NOWHERE))
            continue;
        if (PyList_Append(takers, PyTuple_GET_ITEM(names, k)) < 0) Py_CLEAR(takers);
    }
    return takers;
}

static int add_amount(RgPass *pass, uint32_t place, Value *input, PyObject *amount) {
    double number;
    if (amount == Py_None) return 0;
    if (!rg_is_node(input)) {
        if (copy_numbers(amount, &number, 1) < 0) return -1;
        rg_pull_number(pass, place, number);
        return 0;
    }
    PyObject *owner;
    Py_buffer view;
    if (rg_floats_of(amount, "a contribution", &owner, &view) < 0) return -1;
    Py_ssize_t size = rg_body(input)->size;
    int fresh, failed = view.len != size * (Py_ssize_t)sizeof(double);
    if (failed) PyErr_SetString(PyExc_SystemError, "a contribution has another shape");
    double *to = failed ? NULL : rg_pull_into(pass, place, input, &fresh);
    const double *from = view.buf;
    for (Py_ssize_t i = 0; to && i < size; i++) to[i] = fresh ? from[i] : to[i] + from[i];
    PyBuffer_Release(&view);
    Py_XDECREF(owner);
    return to ? 0 : -1;
}

static PyObject *shown_result(const Value *z) {
    if (!rg_is_node(z)) return shown_number(z->data);
    const RgBody *body = rg_body(z);
    if (body->buffer == NULL) return Py_NewRef(Py_None);
    return rg_export(body->buffer, body->at, body->ndim, body->shape, body->strides);
}

static PyObject *shown_upstream(const Value *z, const double *upstream) {
    const RgBody *body = rg_body(z);
    if (!rg_is_node(z)) return shown_number(*upstream);
    RgBuffer *copy = rg_numbers_new((size_t)body->size); /* the pass may write into its own */
    if (copy == NULL) return NULL;
    memcpy(copy->data, upstream, (size_t)body->size * sizeof(double));
    PyObject *array = rg_export(copy, copy->data, body->ndim, body->shape, NULL);
    rg_numbers_drop(copy);
    return array;
}

static int bound_pull(RgPass *pass, Value *z, const double *upstream, const uint32_t *places) {
    PyObject *rule = rg_body(z)->rule, *bound = PyTuple_GET_ITEM(rule, 0), *amounts = NULL;
    PyObject *names = PyObject_GetAttrString(bound, "operands");
    PyObject *takers = names ? takers_of(z, names, places) : NULL;
    PyObject *arrays = takers ? shown_arrays(z, bound, PyTuple_GET_ITEM(rule, 1)) : NULL;
    PyObject *up = arrays ? shown_upstream(z, upstream) : NULL;
    PyObject *result = up ? shown_result(z) : NULL;
    if (result)
        amounts = PyObject_CallMethod(bound, "contributions", "OOOO", takers, up, arrays, result);
    int failed = amounts == NULL || !PyList_Check(amounts) ||
                 PyList_GET_SIZE(amounts) != PyList_GET_SIZE(takers);
    Py_ssize_t at = 0;
    for (Py_ssize_t k = 0; k < z->count && !failed; k++) {
        Value *input = z->entries[k].input;
        if (input && (input->flags & RG_REQUIRES_GRAD) && places[k] != RG_NOWHERE)
            failed = add_amount(pass, places[k], input, PyList_GET_ITEM(amounts, at++)) < 0;
    }
    Py_XDECREF(names);
    Py_XDECREF(takers);
    Py_XDECREF(arrays);
    Py_XDECREF(up);
    Py_XDECREF(result);
    Py_XDECREF(amounts);
    return failed ? -1 : 0;
}

static const RgRow bound_row = {NULL, bound_run, bound_pull, 1};

/* What the rule reads, by the law; a slope that is not stated is said by backward. */
static int set_saves(Value *z, PyObject *bound) {
    RgBody *body = rg_body(z);
    PyObject *names = PyObject_GetAttrString(bound, "operands");
    PyObject *takers = names ? takers_of(z, names, NULL) : NULL;
    PyObject *saved = takers ? PyObject_CallMethod(bound, "saves", "O", takers) : NULL;
    int failed = names == NULL || takers == NULL;
    if (saved == NULL && !failed) {
        failed = !PyErr_ExceptionMatches(PyExc_ValueError);
        if (!failed) PyErr_Clear();
        body->open = 1;
        rg_absent_met = 1;
    }
    for (Py_ssize_t i = 0; saved && i < PyTuple_GET_SIZE(saved); i++) {
        PyObject *name = PyTuple_GET_ITEM(saved, i);
        if (PyUnicode_CompareWithASCIIString(name, "z") == 0) body->saves_result = 1;
        for (Py_ssize_t k = 0; k < z->count; k++)
            if (PyUnicode_Compare(name, PyTuple_GET_ITEM(names, k)) == 0)
                body->saves |= (uint8_t)(1 << (k < 7 ? k : 7));
    }
    Py_XDECREF(names);
    Py_XDECREF(takers);
    Py_XDECREF(saved);
    return failed ? -1 : 0;
}

/* ---- new nodes ----------------------------------------------------------------------------------- */

/* A blank node of a bound row's shape: a Value where it has no axes. */
static Value *blank_of(PyObject *bound) {
    PyObject *shape = PyObject_GetAttrString(bound, "shape");
    if (shape == NULL || !PyTuple_Check(shape) || PyTuple_GET_SIZE(shape) > RG_MOST_AXES) {
        if (shape) PyErr_Format(PyExc_ValueError, "a tensor has at most %d axes", RG_MOST_AXES);
        Py_XDECREF(shape);
        return NULL;
    }
    int ndim = (int)PyTuple_GET_SIZE(shape);
    Value *z = rg_tensor_blank(ndim, ndim == 0);
    for (int d = 0; z && d < ndim; d++) {
        Py_ssize_t length = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, d));
        rg_body(z)->shape[d] = length;
        if (length == -1 && PyErr_Occurred()) {
            Py_DECREF((PyObject *)z);
            z = NULL;
        }
    }
    Py_DECREF(shape);
    return z;
}

/* Room for the numbers of a new node; of a Value, its own. */
static double *room_of(Value *z) {
    if (!rg_is_node(z)) return &z->data;
    return rg_tensor_room(z) < 0 ? NULL : rg_body(z)->at;
}

/* The numbers and the whole numbers of a new node: by its plan where it has one. */
static int compute(Value *z, PyObject *bound, PyObject *plan, PyObject *wholes, double *to,
                   PyObject **found) {
    if (plan == NULL) return run_bound(z, bound, wholes, to, found);
    if (PyList_GET_ITEM(plan, 2) == Py_False) {
        *found = Py_NewRef(wholes);
    } else { /* some are found by looking */
        PyObject *arrays = shown_arrays(z, bound, wholes);
        *found = arrays ? rg_call("retrograde._shared.views", "chosen", "OO", bound, arrays) : NULL;
        Py_XDECREF(arrays);
        if (*found == NULL) return -1;
    }
    return rg_plan_forward(z, plan, *found, to);
}

/* A node of a bound row: by its plan, by NumPy, or with data that is there already. */
static PyObject *array_made(PyObject *bound, PyObject *plan, PyObject *operands, PyObject *wholes,
                            PyObject *data) {
    Py_ssize_t count = PyTuple_GET_SIZE(operands);
    Value *z = blank_of(bound), **made = NULL;
    PyObject *result = NULL, *found = NULL;
    uint8_t flags = 0;
    if (z == NULL) return NULL;
    made = rg_buffer_resize(NULL, ((size_t)count + 1) * sizeof(Value *));
    for (Py_ssize_t k = 0; made && k < count; k++) made[k] = NULL;
    double *to = made && rg_body_entries(z, count) ? room_of(z) : NULL;
    rg_body(z)->row = plan ? &rg_planned_row : &bound_row;
    int failed = to == NULL || take_operands(z, operands, made, &flags) < 0;
    if (!failed && data) {
        failed = copy_numbers(data, to, rg_body(z)->size) < 0;
        found = Py_NewRef(wholes);
    } else if (!failed) {
        failed = compute(z, bound, plan, wholes, to, &found) < 0;
    }
    if (!failed) {
        rg_body(z)->rule =
            plan ? PyTuple_Pack(3, bound, found, plan) : PyTuple_Pack(2, bound, found);
        failed = rg_body(z)->rule == NULL || set_saves(z, bound) < 0;
    }
    if (!failed && data) { /* a copy is no new computation: no mode applies */
        Py_ssize_t modes = rg_modes_active;
        rg_modes_active = 0;
        result = rg_tensor_finish(z, flags);
        rg_modes_active = modes;
    } else if (!failed) {
        result = rg_tensor_finish(z, flags);
    } else {
        Py_DECREF((PyObject *)z);
    }
    for (Py_ssize_t k = 0; made && k < count; k++) Py_XDECREF((PyObject *)made[k]);
    rg_buffer_free(made);
    Py_XDECREF(found);
    return result;
}

/* ---- views --------------------------------------------------------------------------------------- */

static int is_packed(const RgBody *body) {
    Py_ssize_t stride = 1;
    for (int d = body->ndim; d-- > 0;) {
        if (body->shape[d] != 1 && body->strides[d] != stride && body->size > 1) return 0;
        stride *= body->shape[d];
    }
    return 1;
}

/* The steps of a view over the gradient of what it looks at, which lies in the order of C. Where it
 * begins is returned. */
static Py_ssize_t view_steps(PyObject *plan, PyObject *wholes, int ndim, int own_ndim,
                             const Py_ssize_t *strides, Py_ssize_t *steps) {
    Py_ssize_t begin = 0;
    for (int d = 0; d < ndim; d++) steps[d] = 0;
    for (int axis = 0; axis < own_ndim; axis++) {
        PyObject *entry = PyTuple_GET_ITEM(plan, axis), *name = PyTuple_GET_ITEM(entry, 1);
        begin += PyLong_AsSsize_t(PyTuple_GET_ITEM(entry, 0)) * strides[axis];
        if (name != Py_None) {
            PyObject *whole = PyDict_GetItemWithError(wholes, name);
            PyObject *number = whole ? PyNumber_Long(whole) : NULL;
            if (number) begin += PyLong_AsSsize_t(number) * strides[axis];
            Py_XDECREF(number);
        }
        for (int d = 0; d < ndim; d++)
            steps[d] += PyLong_AsSsize_t(PyTuple_GET_ITEM(entry, 2 + d)) * strides[axis];
    }
    return begin;
}

static Py_ssize_t packed_view(const Value *z, Py_ssize_t *steps) {
    PyObject *rule = rg_body(z)->rule;
    const RgBody *of = rg_body(z->entries[0].input);
    Py_ssize_t strides[RG_MOST_AXES], size = 1;
    for (int d = of->ndim; d-- > 0; size *= of->shape[d]) strides[d] = size;
    return view_steps(PyTuple_GET_ITEM(rule, 2), PyTuple_GET_ITEM(rule, 1), rg_body(z)->ndim,
                      of->ndim, strides, steps);
}

/* Add numbers in order to places that lie apart. */
static void add_apart(int ndim, const Py_ssize_t *shape, double *to, const Py_ssize_t *steps,
                      const double *from) {
    Py_ssize_t at[RG_MOST_AXES] = {0}, rows = 1;
    Py_ssize_t n = ndim ? shape[ndim - 1] : 1, step = ndim ? steps[ndim - 1] : 0;
    for (int d = 0; d + 1 < ndim; d++) rows *= shape[d];
    for (Py_ssize_t row = 0; row < rows && n; row++) {
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

static int view_pull(RgPass *pass, Value *z, const double *upstream, const uint32_t *places) {
    const RgBody *body = rg_body(z);
    Value *input = z->entries[0].input;
    if (!(input->flags & RG_REQUIRES_GRAD) || places[0] == RG_NOWHERE) return 0;
    if (PyTuple_GET_SIZE(body->rule) == 2) /* a reshape: the same numbers in the same order */
        return rg_pull_share(pass, places[0], input, upstream);
    Py_ssize_t steps[RG_MOST_AXES], begin = packed_view(z, steps);
    int fresh;
    double *to = rg_pull_into(pass, places[0], input, &fresh);
    if (to == NULL) return -1;
    if (fresh) memset(to, 0, (size_t)rg_body(input)->size * sizeof(double));
    add_apart(body->ndim, body->shape, to + begin, steps, upstream);
    return 0;
}

static const RgRow view_row = {NULL, bound_run, view_pull, 1};

/* A view of its operand; a Value reads its one number. `plan` is NULL for a reshape, which may have
 * to copy. */
static PyObject *array_view(PyObject *bound, PyObject *plan, PyObject *operand, PyObject *wholes) {
    Value *x = rg_node_of(operand);
    if (rg_tensor_restore(x) < 0) return NULL;
    const RgBody *of = rg_body(x);
    Value *z = blank_of(bound);
    if (z == NULL) return NULL;
    RgBody *body = rg_body(z);
    Py_ssize_t begin = 0, size = 1;
    for (int d = body->ndim; d-- > 0; size *= body->shape[d]) body->strides[d] = size;
    body->size = size;
    if (plan) begin = view_steps(plan, wholes, body->ndim, of->ndim, of->strides, body->strides);
    body->rule = plan ? PyTuple_Pack(3, bound, wholes, plan) : PyTuple_Pack(2, bound, wholes);
    if (body->rule == NULL || PyErr_Occurred()) {
        Py_DECREF((PyObject *)z);
        return NULL;
    }
    body->contiguous = (uint8_t)is_packed(body);
    body->row = &view_row;
    if (!rg_is_node(z)) {
        z->data = of->at[begin];
    } else if (plan || of->contiguous) {
        body->buffer = rg_numbers_share(of->buffer);
        body->at = of->at + begin;
    } else { /* in another order than they lie in: a copy */
        body->buffer = rg_packed(x);
        if (body->buffer == NULL) {
            Py_DECREF((PyObject *)z);
            return NULL;
        }
        body->at = body->buffer->data;
    }
    rg_body_entries(z, 1)[0] = (RgEntry){x, 0.0};
    return rg_tensor_finish(z, x->flags);
}

/* ---- core.array ------------------------------------------------------------------------------------ */

static int check_arguments(PyObject *operands, PyObject *wholes) {
    if (PyTuple_Check(operands) && PyDict_Check(wholes)) return 0;
    PyErr_SetString(PyExc_TypeError, "a row takes a tuple of operands and a dict of whole numbers");
    return -1;
}

/* Whether an operand is a tensor. */
static int any_tensor(PyObject *operands) {
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(operands); k++)
        if (rg_is_tensor(PyTuple_GET_ITEM(operands, k))) return 1;
    return 0;
}

static PyObject *array_as_planned(PyObject *bound, PyObject *plan, PyObject *operands,
                                  PyObject *wholes) {
    PyObject *const *items = PySequence_Fast_ITEMS(operands);
    PyObject *made = NULL;
    if (PyLong_CheckExact(plan)) {
        made = rg_tensor_map((int)PyLong_AsLong(plan), items);
    } else if (PyUnicode_Check(plan)) {
        if (PyUnicode_CompareWithASCIIString(plan, "matmul") == 0)
            made = rg_tensor_matmul(items[0], items[1]);
        else if (PyUnicode_CompareWithASCIIString(plan, "sum") == 0 && rg_is_tensor(items[0]))
            made = rg_tensor_sum(items[0]);
        else if (rg_is_tensor(items[0]))
            made = array_view(bound, NULL, items[0], wholes);
    } else if (PyTuple_Check(plan) && rg_is_tensor(items[0])) {
        made = array_view(bound, plan, items[0], wholes);
    }
    if (made == NULL && PyErr_Occurred()) return NULL;
    return made ? made : Py_NewRef(Py_NotImplemented);
}

/* How the core carries a bound row out; a new reference. */
static PyObject *plan_of(PyObject *bound, PyObject *wholes) {
    PyObject *plan = PyObject_GetAttrString(bound, "plan");
    if (plan == Py_None)
        Py_SETREF(plan,
                  rg_call("retrograde._shared.views", "plan", "OOO", bound, wholes, rg_plan_maker));
    return plan;
}

/* One node of a bound row. */
PyObject *rg_array_of_row(PyObject *bound, PyObject *operands, PyObject *wholes) {
    if (check_arguments(operands, wholes) < 0) return NULL;
    PyObject *plan = plan_of(bound, wholes), *made = plan ? Py_NewRef(Py_NotImplemented) : NULL;
    if (plan && any_tensor(operands))
        Py_SETREF(made, array_as_planned(bound, plan, operands, wholes));
    if (made == Py_NotImplemented)
        Py_SETREF(made,
                  array_made(bound, PyList_Check(plan) ? plan : NULL, operands, wholes, NULL));
    Py_XDECREF(plan);
    return made;
}

static PyObject *array(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count) {
    if (count == 3) return rg_array_of_row(args[0], args[1], args[2]);
    PyErr_SetString(PyExc_TypeError, "array takes a bound row, operands and whole numbers");
    return NULL;
}

/* array_node(bound, data, operands, wholes): a node from its parts; nothing is computed. */
static PyObject *array_node(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *bound, *data, *operands, *wholes;
    if (!PyArg_ParseTuple(args, "OOO!O!:array_node", &bound, &data, &PyTuple_Type, &operands,
                          &PyDict_Type, &wholes))
        return NULL;
    PyObject *plan = plan_of(bound, wholes);
    if (plan == NULL) return NULL;
    PyObject *made = array_made(bound, PyList_Check(plan) ? plan : NULL, operands, wholes, data);
    Py_DECREF(plan);
    return made;
}

/* The shapes of a node's inputs, as the law binds rows to them. */
static PyObject *input_shapes(const Value *v) {
    PyObject *shapes = PyTuple_New(v->count);
    for (Py_ssize_t k = 0; shapes && k < v->count; k++) {
        RgArray array = rg_array_of(&v->entries[k]);
        PyObject *shape = rg_shape_tuple(array.ndim, array.shape);
        if (shape == NULL)
            Py_CLEAR(shapes);
        else
            PyTuple_SET_ITEM(shapes, k, shape);
    }
    return shapes;
}

/* array_row(thing) -> (bound row, whole numbers) of what an array row made, else None. */
static PyObject *array_row(PyObject *Py_UNUSED(module), PyObject *thing) {
    Value *v = rg_any_node(thing);
    if (v == NULL) {
        rg_fail("NotAValueError", "of", "sO", "array_row", thing);
        return NULL;
    }
    if (v->op != RG_ARRAY) Py_RETURN_NONE;
    PyObject *rule = rg_body(v)->rule;
    if (rule) return PyTuple_Pack(2, PyTuple_GET_ITEM(rule, 0), PyTuple_GET_ITEM(rule, 1));
    PyObject *shapes = input_shapes(v), *name = shapes ? rg_row_name(v) : NULL;
    PyObject *made = name ? rg_call("retrograde._shared.views", "made_by", "ONnn", name, shapes,
                                    rg_body(v)->place, (Py_ssize_t)rg_body(v)->code)
                          : NULL;
    if (name == NULL) Py_XDECREF(shapes);
    Py_XDECREF(name);
    return made;
}

/* key(thing): who a node is. */
static PyObject *key(PyObject *Py_UNUSED(module), PyObject *thing) {
    Value *v = rg_any_node(thing);
    return PyLong_FromVoidPtr(v ? (void *)v : (void *)thing);
}

/* stale_input(thing): the input of an array row whose numbers were changed since, or None. */
static PyObject *stale_input(PyObject *Py_UNUSED(module), PyObject *thing) {
    Value *v = rg_any_node(thing);
    if (v == NULL || v->op != RG_ARRAY) Py_RETURN_NONE;
    Value *stale = rg_stale_input(v, 1);
    for (Py_ssize_t k = 0; k < v->count && stale == NULL; k++) {
        const RgEntry *entry = &v->entries[k];
        if (entry->input && !rg_is_node(entry->input) && entry->input->data != entry->partial &&
            !(isnan(entry->input->data) && isnan(entry->partial)))
            stale = entry->input;
    }
    return stale ? rg_face(stale) : Py_NewRef(Py_None);
}

#define FAST(FUNCTION) (PyCFunction)(void (*)(void)) FUNCTION, METH_FASTCALL

PyMethodDef rg_row_methods[] = {
    {"array", FAST(array),
     RG_DOC("array($module, bound, operands, wholes, /)", "One node of a bound row.")},
    {"array_node", array_node, METH_VARARGS,
     RG_DOC("array_node($module, bound, data, operands, wholes, /)",
            "A node of a bound row from its parts.")},
    {"array_row", array_row, METH_O,
     RG_DOC("array_row($module, thing, /)", "The bound row that made a thing, or None.")},
    {"key", key, METH_O, RG_DOC("key($module, thing, /)", "Who a node is.")},
    {"stale_input", stale_input, METH_O,
     RG_DOC("stale_input($module, thing, /)", "The input that was changed since, or None.")},
    {NULL, NULL, 0, NULL},
};
