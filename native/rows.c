/* Rows of the array law that come bound to shapes (retrograde._shared.bound).
 *
 * Maps, products and sums go to kernels of their own; views and other statements are ready rows
 * (ready.h). Implicit rows are carried out by NumPy: such a node keeps (bound row, whole numbers). */
#include "ready.h"

/* ---- operands --------------------------------------------------------------------------------- */

/* An operand as an input: a node, or a number in `partial`. `made` is what has to be given up. */
static int take_operand(PyObject *object, RgEntry *entry, Value **made) {
    *made = NULL;
    *entry = (RgEntry){rg_any_node(object), 0.0};
    if (entry->input && rg_is_node(entry->input)) return 0;
    if (entry->input) {
        entry->partial = entry->input->data;
        return 0;
    }
    *made = entry->input = rg_leaf_of_floats(object);
    if (entry->input) return 0;
    int converted = rg_number(object, &entry->partial);
    if (converted) return converted < 0 ? -1 : 0;
    *made = entry->input = rg_leaf_of(object, "an operand", 0);
    return entry->input ? 0 : -1;
}

/* The inputs of a new node; what was made for it has to be given up afterwards. A copy, whose data is
 * there, needs no numbers of them. */
static int take_operands(Value *z, PyObject *const *operands, Value **made, uint8_t *flags,
                         int copied) {
    for (Py_ssize_t k = 0; k < z->count; k++) {
        if (take_operand(operands[k], &z->entries[k], &made[k]) < 0) return -1;
        Value *input = z->entries[k].input;
        if (input == NULL) continue;
        if (rg_is_node(input) && !copied && rg_tensor_restore(input) < 0) return -1;
        *flags |= input->flags;
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

/* Room for the numbers of a new node; of a Value, its own. */
static double *room_of(Value *z) {
    if (!rg_is_node(z)) return &z->data;
    return rg_tensor_room(z) < 0 ? NULL : rg_body(z)->at;
}

/* Operands of a new node, and what has to be given up afterwards. */
typedef struct {
    PyObject *const *operands;
    Py_ssize_t count;
    Value *few[4], **made;
    uint8_t flags;
} Given;

static int take_given(Given *given, Value *z, PyObject *const *operands, Py_ssize_t count,
                      int copied) {
    *given = (Given){.operands = operands, .made = given->few};
    if (count > 4) given->made = rg_buffer_resize(NULL, (size_t)count * sizeof(Value *));
    if (given->made == NULL || rg_body_entries(z, count) == NULL) return -1;
    for (Py_ssize_t k = 0; k < count; k++) given->made[k] = NULL;
    given->count = count;
    return take_operands(z, operands, given->made, &given->flags, copied);
}

static void give_up(Given *given) {
    for (Py_ssize_t k = 0; k < given->count; k++) Py_XDECREF((PyObject *)given->made[k]);
    if (given->made != given->few) rg_buffer_free(given->made);
}

/* A copy is no new computation: no mode applies. */
static PyObject *finish_copy(Value *z, uint8_t flags) {
    Py_ssize_t modes = rg_modes_active;
    rg_modes_active = 0;
    PyObject *result = rg_tensor_finish(z, flags);
    rg_modes_active = modes;
    return result;
}

/* A new node that is whole, or not: a new reference to what Python sees of it. */
static PyObject *finished(Value *z, Given *given, int failed, int copied) {
    PyObject *result = NULL;
    if (failed)
        Py_DECREF((PyObject *)z);
    else
        result = copied ? finish_copy(z, given->flags) : rg_tensor_finish(z, given->flags);
    give_up(given);
    return result;
}

/* Whole numbers that Python finds by looking, of axes that do not lie together. */
static int choose_by_numpy(const RgReady *ready, Value *z, PyObject *wholes) {
    PyObject *arrays = shown_arrays(z, ready->bound, wholes);
    PyObject *found =
        arrays ? rg_call("retrograde._shared.views", "chosen", "OO", ready->bound, arrays) : NULL;
    RgBuffer *before = rg_body(z)->wholes;
    int failed = found == NULL || rg_ready_take_wholes(ready, z, found) < 0;
    if (rg_body(z)->wholes != before) rg_numbers_xdrop(before);
    Py_XDECREF(found);
    Py_XDECREF(arrays);
    return failed ? -1 : 0;
}

static int compute_ready(const RgReady *ready, Value *z, PyObject *wholes) {
    if (ready->kind != RG_PLANNED) return rg_view_numbers(ready, z);
    double *to = room_of(z);
    if (to == NULL) return -1;
    if (ready->choices > 0 && rg_planned_choose(ready, z) < 0) return -1;
    if (ready->choices < 0 && choose_by_numpy(ready, z, wholes) < 0) return -1;
    return rg_planned_compute(ready, z, to);
}

/* A node of a ready row whose whole numbers come in a buffer, room for the chosen ones included; it
 * takes the buffer over. `flat`: no gradient will pass. */
PyObject *rg_ready_make(RgReady *ready, PyObject *const *operands, RgBuffer *wholes, int flat) {
    PyObject *quick = flat ? NULL : rg_ready_quick(ready, operands, wholes);
    if (RG_LIKELY(quick != NULL)) return quick;
    Value *z = rg_ready_blank(ready);
    Given given;
    if (z == NULL) {
        rg_numbers_xdrop(wholes);
        return NULL;
    }
    rg_body(z)->wholes = wholes;
    rg_body(z)->row = ready->kind == RG_PLANNED ? &rg_planned_row : &rg_view_row;
    int failed = take_given(&given, z, operands, ready->operands, 0) < 0 ||
                 compute_ready(ready, z, NULL) < 0;
    if (flat) given.flags = 0;
    if (!failed && (given.flags & RG_REQUIRES_GRAD)) failed = rg_ready_saves(ready, z) < 0;
    return finished(z, &given, failed, 0);
}

/* The same with whole numbers from a dict, and with data that is there already or NULL. */
static PyObject *ready_made(RgReady *ready, PyObject *operands, PyObject *wholes, PyObject *data) {
    Value *z = rg_ready_blank(ready);
    Given given;
    if (z == NULL) return NULL;
    rg_body(z)->row = ready->kind == RG_PLANNED ? &rg_planned_row : &rg_view_row;
    int failed = PyTuple_GET_SIZE(operands) != ready->operands;
    if (failed) PyErr_SetString(PyExc_SystemError, "a bound row takes as many operands as it has");
    failed |= take_given(&given, z, PySequence_Fast_ITEMS(operands), failed ? 0 : ready->operands,
                         data != NULL);
    failed = failed || rg_ready_take_wholes(ready, z, wholes) < 0;
    if (!failed && data) {
        double *to = room_of(z);
        failed = to == NULL || copy_numbers(data, to, ready->size) < 0;
    } else if (!failed) {
        failed = compute_ready(ready, z, wholes) < 0;
    }
    if (!failed) failed = rg_ready_saves(ready, z) < 0;
    return finished(z, &given, failed, data != NULL);
}

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

/* A node of a row that NumPy carries out, or with data that is there already. */
static PyObject *array_made(PyObject *bound, PyObject *operands, PyObject *wholes, PyObject *data) {
    Value *z = blank_of(bound);
    PyObject *found = NULL;
    Given given;
    if (z == NULL) return NULL;
    rg_body(z)->row = &bound_row;
    int failed = take_given(&given, z, PySequence_Fast_ITEMS(operands), PyTuple_GET_SIZE(operands),
                            data != NULL) < 0;
    double *to = failed ? NULL : room_of(z);
    failed = to == NULL;
    if (!failed && data) {
        failed = copy_numbers(data, to, rg_body(z)->size) < 0;
        found = Py_NewRef(wholes);
    } else if (!failed) {
        failed = run_bound(z, bound, wholes, to, &found) < 0;
    }
    if (!failed) {
        rg_body(z)->rule = PyTuple_Pack(2, bound, found);
        failed = rg_body(z)->rule == NULL || set_saves(z, bound) < 0;
    }
    Py_XDECREF(found);
    return finished(z, &given, failed, data != NULL);
}

/* A copy of a node that a row of the core's own made: the same row, so the same bits again. */
static PyObject *own_made(PyObject *bound, PyObject *plan, PyObject *operands, PyObject *data) {
    Value *z = blank_of(bound);
    Given given;
    if (z == NULL) return NULL;
    int failed =
        take_given(&given, z, PySequence_Fast_ITEMS(operands), PyTuple_GET_SIZE(operands), 1) < 0;
    double *to = failed ? NULL : room_of(z);
    failed = to == NULL || copy_numbers(data, to, rg_body(z)->size) < 0;
    if (!failed) {
        if (PyLong_Check(plan))
            rg_map_restored(z, (int)PyLong_AsLong(plan));
        else
            rg_product_restored(z, PyUnicode_CompareWithASCIIString(plan, "sum") == 0);
    }
    return finished(z, &given, failed, 1);
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

/* A row of the core's own; NotImplemented where an operand is not for it. */
static PyObject *own_row(PyObject *plan, PyObject *operands) {
    PyObject *const *items = PySequence_Fast_ITEMS(operands);
    if (!any_tensor(operands)) return Py_NewRef(Py_NotImplemented);
    if (PyLong_Check(plan)) return rg_tensor_map((int)PyLong_AsLong(plan), items);
    if (PyUnicode_CompareWithASCIIString(plan, "matmul") == 0)
        return rg_tensor_matmul(items[0], items[1]);
    return rg_is_tensor(items[0]) ? rg_tensor_sum(items[0]) : Py_NewRef(Py_NotImplemented);
}

static PyObject *array_by_plan(PyObject *bound, PyObject *operands, PyObject *wholes) {
    PyObject *plan = rg_plan_of(bound, wholes), *made = NULL;
    if (plan == NULL) return NULL;
    if (RG_UNLIKELY(rg_recording()) && PyDict_GET_SIZE(wholes)) {
        made = array_made(bound, operands, wholes,
                          NULL); /* which keeps the arrays: some are arguments */
    } else if (rg_is_ready(plan)) {
        made = ready_made((RgReady *)plan, operands, wholes, NULL);
    } else {
        made = plan == Py_False ? Py_NewRef(Py_NotImplemented) : own_row(plan, operands);
        if (made == Py_NotImplemented) Py_SETREF(made, array_made(bound, operands, wholes, NULL));
    }
    Py_DECREF(plan);
    return made;
}

/* One node of a bound row. */
PyObject *rg_array_of_row(PyObject *bound, PyObject *operands, PyObject *wholes) {
    if (check_arguments(operands, wholes) < 0) return NULL;
    if (RG_UNLIKELY(rg_any_bits())) {
        bound = rg_call("retrograde._shared.views", "by_any_bits", "(O)", bound);
        PyObject *made = bound ? array_by_plan(bound, operands, wholes) : NULL;
        Py_XDECREF(bound);
        return made;
    }
    return array_by_plan(bound, operands, wholes);
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
    PyObject *plan = rg_plan_of(bound, wholes), *made = NULL;
    if (plan == NULL) return NULL;
    if (rg_is_ready(plan))
        made = ready_made((RgReady *)plan, operands, wholes, data);
    else if (plan != Py_False && any_tensor(operands))
        made = own_made(bound, plan, operands, data);
    else
        made = array_made(bound, operands, wholes, data);
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
    if (rg_is_ready(rule)) {
        PyObject *wholes = rg_ready_wholes(v);
        return wholes ? Py_BuildValue("(ON)", ((RgReady *)rule)->bound, wholes) : NULL;
    }
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
