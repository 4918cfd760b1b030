/* Bound rows made ready: read from what Python says of them, once, and kept on them. */
#include "ready.h"

#include "arrays.h"
#include "kernels/plans.h"

PyTypeObject *RgReady_Type = NULL;
PyObject *rg_plan_maker = NULL; /* array_plan, as Python calls it */

/* ---- reading ----------------------------------------------------------------------------------- */

static int no_plan(void) {
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_SystemError, "this is no plan for the native core");
    return -1;
}

static int is_tuple(PyObject *object, Py_ssize_t size) {
    return object && PyTuple_Check(object) && (size < 0 || PyTuple_GET_SIZE(object) == size);
}

/* Where a name stands among others; -1 where it does not. */
static int place_of(PyObject *names, PyObject *name) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++)
        if (PyUnicode_Compare(PyTuple_GET_ITEM(names, i), name) == 0) return (int)i;
    return -1;
}

/* (capsule, sources, names of whole numbers) */
static int read_step(const RgReady *ready, PyObject *from, RgStep *step) {
    if (!is_tuple(from, 3)) return no_plan();
    PyObject *sources = PyTuple_GET_ITEM(from, 1), *names = PyTuple_GET_ITEM(from, 2);
    step->plan = rg_plan_of_capsule(PyTuple_GET_ITEM(from, 0));
    if (step->plan == NULL || !is_tuple(sources, step->plan->arrays) ||
        !is_tuple(names, step->plan->wholes) || step->plan->arrays > RG_MOST_ARRAYS ||
        step->plan->wholes > RG_MOST_ARRAYS)
        return no_plan();
    step->capsule = Py_NewRef(PyTuple_GET_ITEM(from, 0));
    step->arrays = step->plan->arrays;
    step->wholes = step->plan->wholes;
    step->source = rg_buffer_resize(NULL, (size_t)(step->arrays + step->wholes + 1) * sizeof(int));
    if (step->source == NULL) return -1;
    step->whole = step->source + step->arrays;
    for (int i = 0; i < step->arrays; i++)
        step->source[i] = (int)PyLong_AsLong(PyTuple_GET_ITEM(sources, i));
    for (int i = 0; i < step->wholes; i++) {
        int whole = place_of(ready->names, PyTuple_GET_ITEM(names, i));
        if (whole < 0 ||
            ready->whole_at[whole + 1] - ready->whole_at[whole] != step->plan->whole_size[i])
            return no_plan();
        step->whole[i] = whole;
    }
    return PyErr_Occurred() ? -1 : 0;
}

static void drop_step(RgStep *step) {
    rg_buffer_free(step->source);
    Py_XDECREF(step->capsule);
}

/* Whole numbers by (name, shape, limit): where they lie in a node's buffer. */
static int read_wholes(RgReady *ready, PyObject *wholes) {
    if (!is_tuple(wholes, -1)) return no_plan();
    Py_ssize_t count = PyTuple_GET_SIZE(wholes), at = 0;
    ready->wholes = (int)count;
    ready->names = PyTuple_New(count);
    ready->shapes = PyTuple_New(count);
    ready->whole_at = rg_buffer_resize(NULL, 2 * (size_t)(count + 1) * sizeof(Py_ssize_t));
    if (ready->names == NULL || ready->shapes == NULL || ready->whole_at == NULL) return -1;
    ready->limit = ready->whole_at + count + 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name, *shape;
        Py_ssize_t size = 1;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(wholes, i), "UO!n", &name, &PyTuple_Type, &shape,
                              &ready->limit[i]))
            return -1;
        PyTuple_SET_ITEM(ready->names, i, Py_NewRef(name));
        PyTuple_SET_ITEM(ready->shapes, i, Py_NewRef(shape));
        for (Py_ssize_t d = 0; d < PyTuple_GET_SIZE(shape); d++)
            size *= PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, d));
        ready->whole_at[i] = at;
        at += size;
    }
    ready->whole_at[count] = ready->whole_size = at;
    return PyErr_Occurred() ? -1 : 0;
}

/* None, or (by, operand, outer, lengths, inner) of axes that lie next to each other, or False. */
static int read_choice(RgReady *ready, PyObject *from) {
    PyObject *lengths;
    RgChoice *choice = &ready->choice;
    ready->choices = from == Py_None ? 0 : from == Py_False ? -1 : 1;
    if (ready->choices != 1) return 0;
    if (!PyArg_ParseTuple(from, "iinO!n", &choice->by, &choice->operand, &choice->outer,
                          &PyTuple_Type, &lengths, &choice->inner))
        return -1;
    choice->first = ready->given;
    choice->axes = (int)PyTuple_GET_SIZE(lengths);
    if (choice->axes < 1 || choice->axes > RG_MOST_AXES) return no_plan();
    choice->n = 1;
    for (int i = 0; i < choice->axes; i++) {
        choice->length[i] = PyLong_AsSsize_t(PyTuple_GET_ITEM(lengths, i));
        choice->n *= choice->length[i];
    }
    return PyErr_Occurred() ? -1 : 0;
}

/* For each axis of the operand (begin, name or None, steps). */
static int read_view(RgReady *ready, PyObject *from) {
    ready->axes = (int)PyTuple_GET_SIZE(from);
    size_t words = (size_t)ready->axes * (size_t)(ready->ndim + 2), steps = (size_t)ready->ndim;
    ready->view = rg_buffer_resize(NULL, (words + steps + 1) * sizeof(Py_ssize_t));
    if (ready->view == NULL) return -1;
    ready->packed = ready->view + words;
    Py_ssize_t *word = ready->view;
    for (int axis = 0; axis < ready->axes; axis++) {
        PyObject *entry = PyTuple_GET_ITEM(from, axis);
        if (!is_tuple(entry, ready->ndim + 2)) return no_plan();
        PyObject *name = PyTuple_GET_ITEM(entry, 1);
        *word++ = PyLong_AsSsize_t(PyTuple_GET_ITEM(entry, 0));
        *word++ = name == Py_None ? -1 : place_of(ready->names, name);
        if (name != Py_None && word[-1] < 0) return no_plan();
        for (int d = 0; d < ready->ndim; d++)
            *word++ = PyLong_AsSsize_t(PyTuple_GET_ITEM(entry, 2 + d));
    }
    return PyErr_Occurred() ? -1 : 0;
}

static int read_shape(RgReady *ready) {
    PyObject *shape = PyObject_GetAttrString(ready->bound, "shape");
    PyObject *operands = shape ? PyObject_GetAttrString(ready->bound, "operands") : NULL;
    int failed = !is_tuple(shape, -1) || !is_tuple(operands, -1);
    if (!failed && PyTuple_GET_SIZE(shape) > RG_MOST_AXES) {
        PyErr_Format(PyExc_ValueError, "a tensor has at most %d axes", RG_MOST_AXES);
        failed = 1;
    }
    if (!failed) {
        ready->ndim = (int)PyTuple_GET_SIZE(shape);
        ready->operands = (int)PyTuple_GET_SIZE(operands);
        ready->shape = rg_buffer_resize(NULL, (size_t)(ready->ndim + 1) * sizeof(Py_ssize_t));
        ready->back = rg_buffer_resize(NULL, (size_t)(ready->operands + 1) * sizeof(RgBack));
        failed = ready->shape == NULL || ready->back == NULL;
    }
    ready->size = 1;
    for (int d = 0; !failed && d < ready->ndim; d++) {
        ready->shape[d] = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, d));
        ready->size *= ready->shape[d];
    }
    for (int i = 0; !failed && i < ready->operands; i++) ready->back[i] = (RgBack){0, 0, NULL};
    Py_XDECREF(shape);
    Py_XDECREF(operands);
    return failed || PyErr_Occurred() ? no_plan() : 0;
}

static void drop_back(RgBack *back) {
    for (int i = 0; i < back->count; i++) drop_step(&back->step[i]);
    rg_buffer_free(back->step);
    *back = (RgBack){0, 0, NULL};
}

static void ready_dealloc(PyObject *self) {
    RgReady *ready = (RgReady *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    for (int i = 0; ready->back && i < ready->operands; i++) drop_back(&ready->back[i]);
    drop_step(&ready->forward);
    rg_buffer_free(ready->back);
    rg_buffer_free(ready->shape);
    rg_buffer_free(ready->whole_at);
    rg_buffer_free(ready->view);
    Py_XDECREF(ready->names);
    Py_XDECREF(ready->shapes);
    Py_XDECREF(ready->bound);
    type->tp_free(self);
    Py_DECREF((PyObject *)type);
}

/* It holds its bound row, which holds it. */
static int ready_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((RgReady *)self)->bound);
    return 0;
}

static PyType_Slot ready_slots[] = {
    {Py_tp_doc, "A bound row as the native core carries it out."},
    {Py_tp_dealloc, ready_dealloc},
    {Py_tp_traverse, ready_traverse},
    {0, NULL},
};

static PyType_Spec ready_spec = {
    .name = "retrograde._native.ReadyRow",
    .basicsize = sizeof(RgReady),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_GC,
    .slots = ready_slots,
};

int rg_ready_begin(void) {
    RgReady_Type = (PyTypeObject *)PyType_FromSpec(&ready_spec);
    return RgReady_Type ? 0 : -1;
}

/* From (way, whole numbers, how many of them are given, what is chosen): the way is "reshape", a view
 * or a step. */
static PyObject *ready_from(PyObject *bound, PyObject *told) {
    PyObject *way, *wholes, *choice;
    int given;
    if (!PyArg_ParseTuple(told, "OOiO", &way, &wholes, &given, &choice)) return NULL;
    RgReady *ready = PyObject_GC_New(RgReady, RgReady_Type);
    if (ready == NULL) return NULL;
    memset((char *)ready + sizeof(PyObject), 0, sizeof(RgReady) - sizeof(PyObject));
    ready->bound = Py_NewRef(bound);
    ready->given = given;
    PyObject_GC_Track((PyObject *)ready);
    int failed =
        read_shape(ready) < 0 || read_wholes(ready, wholes) < 0 || read_choice(ready, choice) < 0;
    if (!failed && PyUnicode_Check(way)) {
        ready->kind = RG_RESHAPED;
    } else if (!failed && PyTuple_Check(way)) {
        ready->kind = RG_VIEWED;
        failed = read_view(ready, way) < 0;
    } else if (!failed) {
        ready->kind = RG_PLANNED;
        failed = !PyList_Check(way) || PyList_GET_SIZE(way) != 1 ||
                 read_step(ready, PyList_GET_ITEM(way, 0), &ready->forward) < 0 ||
                 ready->forward.plan->size != ready->size;
        if (failed) no_plan();
    }
    if (!failed) return (PyObject *)ready;
    Py_DECREF((PyObject *)ready);
    return NULL;
}

/* How the core carries a bound row out: the number of a scalar row, the name of one of its own, a
 * ready row, or False where NumPy does it. `wholes` have the shapes of the given whole numbers. */
PyObject *rg_plan_of(PyObject *bound, PyObject *wholes) {
    PyObject *plan = PyObject_GetAttrString(bound, "plan");
    if (plan != Py_None) return plan;
    Py_SETREF(plan,
              rg_call("retrograde._shared.views", "plan", "OOO", bound, wholes, rg_plan_maker));
    if (plan && PyTuple_Check(plan)) Py_SETREF(plan, ready_from(bound, plan));
    if (plan && PyObject_SetAttrString(bound, "plan", plan) < 0) Py_CLEAR(plan);
    return plan;
}

/* ---- gradients ----------------------------------------------------------------------------------- */

/* The steps of an operand's gradient, read before any pass needs them. */
static int read_back(RgReady *ready, int operand) {
    RgBack *back = &ready->back[operand];
    if (back->known || ready->kind != RG_PLANNED) return 0;
    PyObject *shapes = PyDict_New();
    for (int i = 0; shapes && i < ready->wholes; i++)
        if (PyDict_SetItem(shapes, PyTuple_GET_ITEM(ready->names, i),
                           PyTuple_GET_ITEM(ready->shapes, i)) < 0)
            Py_CLEAR(shapes);
    PyObject *steps = shapes ? rg_call("retrograde._shared.views", "back", "OiOO", ready->bound,
                                       operand, shapes, rg_plan_maker)
                             : NULL;
    Py_XDECREF(shapes);
    int failed = steps == NULL || (steps != Py_None && !is_tuple(steps, -1));
    if (!failed && steps != Py_None) {
        Py_ssize_t count = PyTuple_GET_SIZE(steps);
        RgStep *made = rg_buffer_resize(NULL, (size_t)(count + 1) * sizeof(RgStep));
        failed = made == NULL || count > RG_MOST_ARRAYS;
        *back = (RgBack){0, 0, made};
        for (; !failed && back->count < count; back->count++) {
            made[back->count] = (RgStep){NULL, NULL, 0, 0, NULL, NULL};
            failed = read_step(ready, PyTuple_GET_ITEM(steps, back->count), &made[back->count]) < 0;
        }
    }
    Py_XDECREF(steps);
    if (failed) drop_back(back);
    back->known = !failed;
    return failed ? no_plan() : 0;
}

/* The names of the operands that take gradients; -1 as `takers` where there are too many to tell. */
static PyObject *takers_of(const RgReady *ready, const Value *z) {
    PyObject *names = PyObject_GetAttrString(ready->bound, "operands");
    PyObject *takers = names ? PyList_New(0) : NULL;
    for (Py_ssize_t k = 0; takers && k < z->count; k++) {
        const Value *input = z->entries[k].input;
        if (input && (input->flags & RG_REQUIRES_GRAD) &&
            PyList_Append(takers, PyTuple_GET_ITEM(names, k)) < 0)
            Py_CLEAR(takers);
    }
    Py_XDECREF(names);
    return takers;
}

/* What the rule reads, by the law; a slope that is not stated is said by backward. */
static int ask_saves(RgReady *ready, const Value *z, RgSaves *found) {
    PyObject *names = PyObject_GetAttrString(ready->bound, "operands");
    PyObject *takers = names ? takers_of(ready, z) : NULL;
    PyObject *saved = takers ? PyObject_CallMethod(ready->bound, "saves", "O", takers) : NULL;
    int failed = takers == NULL;
    if (saved == NULL && !failed) {
        failed = !PyErr_ExceptionMatches(PyExc_ValueError);
        if (!failed) PyErr_Clear();
        found->open = 1;
    }
    for (Py_ssize_t i = 0; saved && i < PyTuple_GET_SIZE(saved); i++) {
        PyObject *name = PyTuple_GET_ITEM(saved, i);
        if (PyUnicode_CompareWithASCIIString(name, "z") == 0) found->saves_result = 1;
        int k = place_of(names, name);
        if (k >= 0) found->saves |= (uint8_t)(1 << (k < 7 ? k : 7));
    }
    for (Py_ssize_t k = 0; k < z->count && !failed && !found->open; k++) {
        const Value *input = z->entries[k].input;
        if (input && input->flags & RG_REQUIRES_GRAD) failed = read_back(ready, (int)k) < 0;
    }
    Py_XDECREF(names);
    Py_XDECREF(takers);
    Py_XDECREF(saved);
    return failed ? -1 : 0;
}

/* Set what the rule of a new node reads, and have the steps of its gradients ready. */
int rg_ready_saves(RgReady *ready, Value *z) {
    RgBody *body = rg_body(z);
    RgSaves asked = {0, 0, 0, 0};
    const RgSaves *found = NULL;
    for (Py_ssize_t k = 0; k < z->count; k++) {
        const Value *input = z->entries[k].input;
        if (input && input->flags & RG_REQUIRES_GRAD) asked.takers |= (uint64_t)1 << (k & 63);
    }
    if (asked.takers == 0) return 0;
    for (int i = 0; i < ready->saves_known && found == NULL && z->count <= 64; i++)
        if (ready->saves[i].takers == asked.takers) found = &ready->saves[i];
    if (found == NULL) {
        if (ask_saves(ready, z, &asked) < 0) return -1;
        if (ready->saves_known < 8 && z->count <= 64) ready->saves[ready->saves_known++] = asked;
        found = &asked;
    }
    body->saves = found->saves;
    body->saves_result = found->saves_result;
    body->open = found->open;
    if (found->open) rg_absent_met = 1;
    return 0;
}

/* ---- whole numbers ------------------------------------------------------------------------------- */

/* Those of a dict, as a node keeps them; `wholes` may lack what is still to be chosen. */
int rg_ready_take_wholes(const RgReady *ready, Value *z, PyObject *wholes) {
    if (ready->wholes == 0) return 0;
    RgBuffer *buffer = rg_numbers_new((size_t)ready->whole_size);
    if (buffer == NULL) return -1;
    rg_body(z)->wholes = buffer;
    for (int i = 0; i < ready->wholes; i++) {
        PyObject *array = PyDict_GetItemWithError(wholes, PyTuple_GET_ITEM(ready->names, i));
        Py_ssize_t size = ready->whole_at[i + 1] - ready->whole_at[i];
        Py_buffer view;
        if (array == NULL && !PyErr_Occurred() && i >= ready->given) continue;
        if (array == NULL || PyObject_GetBuffer(array, &view, PyBUF_C_CONTIGUOUS) < 0)
            return no_plan();
        int fits = view.itemsize == 8 && view.len == size * 8;
        if (fits) memcpy(buffer->data + ready->whole_at[i], view.buf, (size_t)view.len);
        PyBuffer_Release(&view);
        if (!fits) return no_plan();
    }
    return 0;
}

PyObject *rg_ready_wholes(const Value *z) {
    const RgReady *ready = rg_ready_of(z);
    const char *bytes = (const char *)rg_wholes_of(z);
    return rg_call("retrograde._shared.views", "whole_numbers", "OOy#", ready->names, ready->shapes,
                   bytes ? bytes : "", ready->whole_size * 8);
}

/* A blank node of the row's shape: a Value where it has no axes. */
Value *rg_ready_blank(const RgReady *ready) {
    Value *z = rg_tensor_blank(ready->ndim, ready->ndim == 0);
    if (z == NULL) return NULL;
    RgBody *body = rg_body(z);
    for (int d = 0; d < ready->ndim; d++) body->shape[d] = ready->shape[d];
    body->size = ready->size;
    body->rule = Py_NewRef((PyObject *)ready);
    return z;
}
