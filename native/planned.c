/* Bound rows by native plans: their statement, and the statement of each gradient.
 *
 * retrograde._shared.views makes plans and keeps them on the bound row: a list of the plan forward and
 * a dict of those backward, by operand. A step of a plan is (capsule, sources, names of whole numbers):
 * a source is the number of an operand, or one of those below. */
#include "tensor.h"

#include "arrays.h"
#include "kernels/plans.h"

enum { UPSTREAM = -1, RESULT = -2, FIRST_MADE = -3 }; /* and on down */

#define MOST_ARRAYS 64

/* What a step reads, and what has to be given up afterwards. */
typedef struct {
    const double *arrays[MOST_ARRAYS];
    const int64_t *wholes[MOST_ARRAYS];
    RgBuffer *packed[MOST_ARRAYS];
    Py_buffer views[MOST_ARRAYS];
    int packed_count, view_count;
} Reading;

static void give_up(Reading *reading) {
    for (int i = 0; i < reading->packed_count; i++) rg_numbers_drop(reading->packed[i]);
    for (int i = 0; i < reading->view_count; i++) PyBuffer_Release(&reading->views[i]);
}

static int refuse_plan(void) {
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_SystemError, "a plan does not fit what it is given");
    return -1;
}

/* The numbers of a tensor in the order of C, wherever they are. */
static const double *packed_numbers(Reading *reading, const Value *v) {
    const RgBody *body = rg_body(v);
    if (body->buffer == NULL) return NULL;
    if (body->contiguous) return body->at;
    RgBuffer *packed = rg_packed(v);
    if (packed == NULL) return NULL;
    reading->packed[reading->packed_count++] = packed;
    return packed->data;
}

static int read_array(Reading *reading, int at, const Value *z, long source, const double *upstream,
                      RgBuffer *const *made, Count wanted) {
    const double *numbers = NULL;
    Py_ssize_t size = 1;
    if (source == UPSTREAM) {
        numbers = upstream;
        size = rg_body(z)->size;
    } else if (source == RESULT) {
        numbers = rg_is_node(z) ? packed_numbers(reading, z) : &z->data;
        size = rg_body(z)->size;
    } else if (source <= FIRST_MADE) {
        numbers = made[FIRST_MADE - source]->data;
        size = wanted; /* it was made for this */
    } else if (source < z->count) {
        const RgEntry *entry = &z->entries[source];
        int array = entry->input && rg_is_node(entry->input);
        numbers = array ? packed_numbers(reading, entry->input) : &entry->partial;
        size = array ? rg_body(entry->input)->size : 1;
    }
    if (numbers == NULL || size != wanted) return refuse_plan();
    reading->arrays[at] = numbers;
    return 0;
}

static int read_whole(Reading *reading, int at, PyObject *wholes, PyObject *name, Count wanted) {
    PyObject *array = PyDict_GetItemWithError(wholes, name);
    Py_buffer *view = &reading->views[reading->view_count];
    if (array == NULL || PyObject_GetBuffer(array, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0)
        return refuse_plan();
    reading->view_count++;
    if (view->itemsize != 8 || view->len != wanted * 8) return refuse_plan();
    reading->wholes[at] = view->buf;
    return 0;
}

/* One step, into `to`. */
static int run_step(PyObject *step, const Value *z, PyObject *wholes, const double *upstream,
                    RgBuffer *const *made, double *to, RgHow how) {
    const RgPlan *plan = rg_plan_of(PyTuple_GET_ITEM(step, 0));
    PyObject *sources = PyTuple_GET_ITEM(step, 1), *names = PyTuple_GET_ITEM(step, 2);
    Reading reading = {.packed_count = 0, .view_count = 0};
    if (plan == NULL) return -1;
    int failed = plan->arrays != PyTuple_GET_SIZE(sources) || plan->arrays > MOST_ARRAYS ||
                 plan->wholes != PyTuple_GET_SIZE(names) || plan->wholes > MOST_ARRAYS;
    if (failed) refuse_plan();
    for (int i = 0; i < plan->arrays && !failed; i++)
        failed = read_array(&reading, i, z, PyLong_AsLong(PyTuple_GET_ITEM(sources, i)), upstream,
                            made, plan->array_size[i + 1]) < 0;
    for (int i = 0; i < plan->wholes && !failed; i++)
        failed =
            read_whole(&reading, i, wholes, PyTuple_GET_ITEM(names, i), plan->whole_size[i]) < 0;
    if (!failed) {
        int code = rg_plan_run(plan, to, reading.arrays, reading.wholes, how);
        if (code == RG_NO_MEMORY) PyErr_NoMemory();
        if (code == RG_OUT_OF_RANGE) PyErr_SetString(PyExc_IndexError, "an index is out of bounds");
        failed = code != 0;
    }
    give_up(&reading);
    return failed ? -1 : 0;
}

/* ---- forward -------------------------------------------------------------------------------------- */

int rg_plan_forward(Value *z, PyObject *plan, PyObject *wholes, double *to) {
    PyObject *step = PyList_GET_ITEM(plan, 0);
    const RgPlan *read = rg_plan_of(PyTuple_GET_ITEM(step, 0));
    if (read == NULL || read->size != rg_body(z)->size) return refuse_plan();
    return run_step(step, z, wholes, NULL, NULL, to, RG_REPLACE);
}

static int planned_run(Value *z, double *to) {
    PyObject *rule = rg_body(z)->rule;
    return rg_plan_forward(z, PyTuple_GET_ITEM(rule, 2), PyTuple_GET_ITEM(rule, 1), to);
}

/* ---- backward ------------------------------------------------------------------------------------- */

/* How an operand receives its gradient: a list of steps, the last one into it, or None. Borrowed. */
static PyObject *back_of(PyObject *rule, Py_ssize_t operand) {
    PyObject *backs = PyList_GET_ITEM(PyTuple_GET_ITEM(rule, 2), 1);
    PyObject *number = PyLong_FromSsize_t(operand);
    PyObject *back = number ? PyDict_GetItemWithError(backs, number) : NULL;
    if (back == NULL && number && !PyErr_Occurred()) {
        PyObject *made =
            rg_call("retrograde._shared.views", "back", "OnOO", PyTuple_GET_ITEM(rule, 0), operand,
                    PyTuple_GET_ITEM(rule, 1), rg_plan_maker);
        if (made && PyDict_SetItem(backs, number, made) == 0) back = made; /* held by the dict */
        Py_XDECREF(made);
    }
    Py_XDECREF(number);
    return back;
}

static int pull_operand(RgPass *pass, Value *z, PyObject *back, const double *upstream,
                        uint32_t place, Value *input) {
    PyObject *wholes = PyTuple_GET_ITEM(rg_body(z)->rule, 1);
    Py_ssize_t last = PyTuple_GET_SIZE(back) - 1;
    RgBuffer *made[MOST_ARRAYS] = {NULL};
    int failed = last >= MOST_ARRAYS || last < 0;
    for (Py_ssize_t i = 0; i <= last && !failed; i++) {
        PyObject *step = PyTuple_GET_ITEM(back, i);
        const RgPlan *plan = rg_plan_of(PyTuple_GET_ITEM(step, 0));
        Py_ssize_t size = rg_is_node(input) ? rg_body(input)->size : 1;
        double number = 0.0, *to = &number;
        int fresh = 1;
        failed = plan == NULL || (i == last && plan->size != size);
        if (failed) break;
        if (i < last) {
            made[i] = rg_numbers_new((size_t)plan->size);
            to = made[i] ? made[i]->data : NULL;
        } else if (rg_is_node(input)) {
            to = rg_pull_into(pass, place, input, &fresh);
        }
        failed = to == NULL ||
                 run_step(step, z, wholes, upstream, made, to, fresh ? RG_REPLACE : RG_ADD) < 0;
        if (!failed && i == last && !rg_is_node(input)) rg_pull_number(pass, place, number);
    }
    for (Py_ssize_t i = 0; i < last && i < MOST_ARRAYS; i++) rg_numbers_xdrop(made[i]);
    return failed ? refuse_plan() : 0;
}

static int planned_pull(RgPass *pass, Value *z, const double *upstream, const uint32_t *places) {
    for (Py_ssize_t k = 0; k < z->count; k++) {
        Value *input = z->entries[k].input;
        if (input == NULL || !(input->flags & RG_REQUIRES_GRAD) || places[k] == RG_NOWHERE)
            continue;
        PyObject *back = back_of(rg_body(z)->rule, k);
        if (back == NULL) return -1;
        if (back == Py_None) continue;
        Py_INCREF(back);
        int failed = pull_operand(pass, z, back, upstream, places[k], input);
        Py_DECREF(back);
        if (failed) return -1;
    }
    return 0;
}

PyObject *rg_plan_maker = NULL; /* array_plan, as Python calls it */

const RgRow rg_planned_row = {NULL, planned_run, planned_pull, 1};
