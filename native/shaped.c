/* Programs with shapes as Python objects: a plan that is made once, and calls of it.
 *
 * A plan is a capsule: steps, slots, constants. A call lends the numbers of arguments and captured
 * leaves, runs without the GIL where that is worth it, and hands out arrays, or adds gradients into
 * the captured leaves. */
#include "tensor.h"

#include "arrays.h"
#include "kernels/plans.h"
#include "kernels/shaped.h"
#include "shaped.h"

/* As program/shaped/packing.py numbers them. */
enum { ARENA, CONSTANT, ARGUMENT, CAPTURED, OUTPUT };
enum { STATED, GIVEN, LOOKED };

typedef struct {
    int64_t kind, number, size;
} Slot;

/* Given: an argument's numbers at the places that lie in `data[number]`, below `length`. */
typedef struct {
    int64_t kind, number, size, argument, length;
} Whole;

/* What one call works in; kept for the next. */
typedef struct Session {
    struct Session *next;
    RgRun run;
    double *arena;
    int64_t *found;
    double *singles; /* outputs without axes */
    double *numbers; /* arguments and captured values that are numbers */
    const void **at; /* arguments, then captured leaves */
    int64_t *sizes;
    double **outputs;
} Session;

typedef struct {
    RgShaped *shaped;
    int slot_count, whole_count, outputs, guards, arguments, captured, releases;
    Slot *slots;
    int *moving, moving_count; /* the slots that lie elsewhere in every call */
    Whole *wholes;
    int64_t arena_size, found_size;
    PyObject *shapes;   /* of the outputs, the guards not among them */
    PyObject *outcomes; /* of the guards, as bytes */
    PyObject *kept;     /* what the steps refer to */
    PyObject *calls;    /* the functions of called steps */
    Py_buffer *constants, *data;
    Py_ssize_t constant_count, data_count;
    Session *free;
} Plan;

static const char capsule_name[] = "retrograde.shaped";

static void free_session(Session *session) {
    free(session->run.slots);
    free(session->run.wholes);
    rg_aligned_free(session->arena);
    free(session->found);
    free(session->singles);
    free(session->numbers);
    free(session->at);
    free(session->sizes);
    free(session->outputs);
    rg_aligned_free(session->run.scratch);
    free(session);
}

static void free_plan(Plan *plan) {
    if (plan == NULL) return;
    while (plan->free) {
        Session *session = plan->free;
        plan->free = session->next;
        free_session(session);
    }
    rg_shaped_free(plan->shaped);
    for (Py_ssize_t i = 0; i < plan->constant_count; i++) PyBuffer_Release(&plan->constants[i]);
    for (Py_ssize_t i = 0; i < plan->data_count; i++) PyBuffer_Release(&plan->data[i]);
    PyMem_Free(plan->constants);
    PyMem_Free(plan->data);
    PyMem_Free(plan->slots);
    PyMem_Free(plan->moving);
    PyMem_Free(plan->wholes);
    Py_XDECREF(plan->shapes);
    Py_XDECREF(plan->outcomes);
    Py_XDECREF(plan->kept);
    Py_XDECREF(plan->calls);
    PyMem_Free(plan);
}

static void free_capsule(PyObject *capsule) {
    free_plan(PyCapsule_GetPointer(capsule, capsule_name));
}

/* ---- making ------------------------------------------------------------------------------------- */

static int refuse(void) {
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "this is no program for the native core");
    return -1;
}

static int hold_buffers(PyObject *tuple, Py_buffer **buffers, Py_ssize_t *count) {
    Py_ssize_t wanted = PyTuple_GET_SIZE(tuple);
    *buffers = PyMem_Calloc((size_t)wanted + 1, sizeof(Py_buffer));
    if (*buffers == NULL) return -1;
    for (; *count < wanted; (*count)++)
        if (PyObject_GetBuffer(PyTuple_GET_ITEM(tuple, *count), *buffers + *count,
                               PyBUF_C_CONTIGUOUS) < 0)
            return -1;
    return 0;
}

static void *copied(const void *from, size_t bytes) {
    void *made = PyMem_Malloc(bytes + 1);
    if (made) memcpy(made, from, bytes);
    return made;
}

/* Slots and whole numbers must have what they name. */
static int check_tables(const Plan *plan) {
    int outputs = plan->outputs + plan->guards;
    for (int i = 0; i < plan->slot_count; i++) {
        const Slot *slot = &plan->slots[i];
        int64_t most = slot->kind == ARENA      ? plan->arena_size - slot->size
                       : slot->kind == CONSTANT ? plan->constant_count - 1
                       : slot->kind == ARGUMENT ? plan->arguments - 1
                       : slot->kind == CAPTURED ? plan->captured - 1
                       : slot->kind == OUTPUT   ? outputs - 1
                                                : -1;
        if (slot->size < 0 || slot->number < 0 || slot->number > most) return refuse();
        if (slot->kind == CONSTANT && plan->constants[slot->number].len != slot->size * 8)
            return refuse();
    }
    for (int i = 0; i < plan->whole_count; i++) {
        const Whole *whole = &plan->wholes[i];
        if (whole->size < 0 || whole->number < 0) return refuse();
        if (whole->kind == LOOKED) {
            if (whole->number + whole->size > plan->found_size) return refuse();
            continue;
        }
        if ((whole->kind != STATED && whole->kind != GIVEN) || whole->number >= plan->data_count ||
            plan->data[whole->number].len != whole->size * 8)
            return refuse();
        if (whole->kind == GIVEN && (whole->argument < 0 || whole->argument >= plan->arguments))
            return refuse();
    }
    return 0;
}

static int read_steps(Plan *plan, const char *words, Py_ssize_t bytes, PyObject *plans) {
    Py_ssize_t count = PyTuple_GET_SIZE(plans);
    RgPlan **found = PyMem_Calloc((size_t)count + 1, sizeof(RgPlan *));
    int64_t *sizes =
        PyMem_Malloc(((size_t)plan->slot_count + (size_t)plan->whole_count + 1) * sizeof(int64_t));
    int64_t *aligned = copied(words, (size_t)bytes);
    int fine = found && sizes && aligned;
    for (Py_ssize_t i = 0; fine && i < count; i++)
        fine = (found[i] = rg_plan_of_capsule(PyTuple_GET_ITEM(plans, i))) != NULL;
    if (fine) {
        int64_t *whole_sizes = sizes + plan->slot_count;
        for (int i = 0; i < plan->slot_count; i++) sizes[i] = plan->slots[i].size;
        for (int i = 0; i < plan->whole_count; i++) whole_sizes[i] = plan->wholes[i].size;
        plan->shaped = rg_shaped_read(aligned, (size_t)bytes / 8, found, (int)count, sizes,
                                      plan->slot_count, whole_sizes, plan->whole_count);
        fine = plan->shaped != NULL;
    }
    PyMem_Free(found);
    PyMem_Free(sizes);
    PyMem_Free(aligned);
    return fine ? 0 : refuse();
}

/* shaped_plan(words, slots, wholes, constants, data, plans, calls, shapes, outcomes, sizes): `sizes` are the
 * numbers of the arena, those of whole numbers found, arguments, captured leaves, and whether a run
 * is long enough to let other threads go on. */
static PyObject *shaped_plan(PyObject *Py_UNUSED(module), PyObject *args) {
    const char *words, *slots, *wholes;
    Py_ssize_t word_bytes, slot_bytes, whole_bytes;
    PyObject *constants, *data, *plans, *calls, *shapes, *outcomes;
    Plan *plan = PyMem_Calloc(1, sizeof(Plan));
    if (plan == NULL) return PyErr_NoMemory();
    long long arena, found;
    if (!PyArg_ParseTuple(args, "y#y#y#O!O!O!O!O!O!(LLiip):shaped_plan", &words, &word_bytes,
                          &slots, &slot_bytes, &wholes, &whole_bytes, &PyTuple_Type, &constants,
                          &PyTuple_Type, &data, &PyTuple_Type, &plans, &PyTuple_Type, &calls,
                          &PyTuple_Type, &shapes, &PyBytes_Type, &outcomes, &arena, &found,
                          &plan->arguments, &plan->captured, &plan->releases)) {
        free_plan(plan);
        return NULL;
    }
    plan->arena_size = arena;
    plan->found_size = found;
    plan->slot_count = (int)(slot_bytes / (Py_ssize_t)sizeof(Slot));
    plan->whole_count = (int)(whole_bytes / (Py_ssize_t)sizeof(Whole));
    plan->slots = copied(slots, (size_t)slot_bytes);
    plan->wholes = copied(wholes, (size_t)whole_bytes);
    plan->moving = PyMem_Malloc(((size_t)plan->slot_count + 1) * sizeof(int));
    for (int i = 0; plan->slots && plan->moving && i < plan->slot_count; i++)
        if (plan->slots[i].kind != ARENA && plan->slots[i].kind != CONSTANT)
            plan->moving[plan->moving_count++] = i;
    plan->shapes = Py_NewRef(shapes);
    plan->outcomes = Py_NewRef(outcomes);
    plan->outputs = (int)PyTuple_GET_SIZE(shapes);
    plan->guards = (int)PyBytes_GET_SIZE(outcomes);
    plan->kept = PyTuple_Pack(3, constants, data, plans);
    plan->calls = Py_NewRef(calls);
    int fine = plan->slots && plan->wholes && plan->moving && plan->kept && arena >= 0 &&
               found >= 0 &&
               hold_buffers(constants, &plan->constants, &plan->constant_count) == 0 &&
               hold_buffers(data, &plan->data, &plan->data_count) == 0 && check_tables(plan) == 0 &&
               read_steps(plan, words, word_bytes, plans) == 0;
    PyObject *capsule = fine ? PyCapsule_New(plan, capsule_name, free_capsule) : NULL;
    if (capsule == NULL) {
        refuse();
        free_plan(plan);
    }
    return capsule;
}

/* ---- steps by Python ---------------------------------------------------------------------------- */

enum { RAISED = -3 };

static PyObject *lent(void *at, ptrdiff_t numbers, int how) {
    static double nothing;
    return PyMemoryView_FromMemory(numbers ? at : (void *)&nothing, numbers * 8, how);
}

/* One function of Python's on the memory of a step; the result is the first array. */
static int call_python(const RgRun *run, const RgCalled *step) {
    PyGILState_STATE state = PyGILState_Ensure();
    const Plan *plan = run->caller;
    PyObject *args = PyTuple_New(step->arrays + step->wholes), *made = NULL;
    int fine = args != NULL;
    for (int i = 0; fine && i < step->arrays; i++) {
        PyObject *one = lent(run->slots[step->array[i]] + step->offset[i], step->size[i],
                             i ? PyBUF_READ : PyBUF_WRITE);
        fine = one != NULL;
        if (fine) PyTuple_SET_ITEM(args, i, one);
    }
    for (int i = 0; fine && i < step->wholes; i++) {
        PyObject *one = lent(run->wholes[step->whole[i]], step->whole_size[i], PyBUF_WRITE);
        fine = one != NULL;
        if (fine) PyTuple_SET_ITEM(args, step->arrays + i, one);
    }
    if (fine && step->number < PyTuple_GET_SIZE(plan->calls))
        made = PyObject_Call(PyTuple_GET_ITEM(plan->calls, step->number), args, NULL);
    else if (fine)
        refuse();
    int code = made ? 0 : RAISED;
    Py_XDECREF(made);
    Py_XDECREF(args);
    PyGILState_Release(state);
    return code;
}

/* ---- calling ------------------------------------------------------------------------------------ */

static double *aligned_numbers(int64_t count) {
    size_t bytes = ((size_t)count * sizeof(double) + 127) / 64 * 64;
    return rg_aligned_take(bytes);
}

static Session *new_session(const Plan *plan) {
    Session *session = calloc(1, sizeof(Session));
    if (session == NULL) return (Session *)PyErr_NoMemory();
    session->run.slots = calloc((size_t)plan->slot_count + 1, sizeof(double *));
    session->run.wholes = calloc((size_t)plan->whole_count + 1, sizeof(int64_t *));
    session->run.scratch = aligned_numbers(RG_SHAPED_SCRATCH);
    session->arena = aligned_numbers(plan->arena_size);
    int64_t given = 0;
    for (int i = 0; i < plan->whole_count; i++)
        if (plan->wholes[i].kind == GIVEN) given += plan->wholes[i].size;
    session->found = calloc((size_t)(plan->found_size + given) + 1, sizeof(int64_t));
    session->singles = calloc((size_t)(plan->outputs + plan->guards) + 1, sizeof(double));
    session->numbers = calloc((size_t)(plan->arguments + plan->captured) + 1, sizeof(double));
    size_t given_count = (size_t)(plan->arguments + plan->captured) + 1;
    session->at = calloc(given_count, sizeof(void *));
    session->sizes = calloc(given_count, sizeof(int64_t));
    session->outputs = calloc((size_t)(plan->outputs + plan->guards) + 1, sizeof(double *));
    if (!session->at || !session->sizes || !session->outputs || !session->run.slots ||
        !session->run.wholes || !session->run.scratch || !session->arena || !session->found ||
        !session->singles || !session->numbers) {
        free_session(session);
        return (Session *)PyErr_NoMemory();
    }
    session->run.call = call_python;
    session->run.caller = (void *)(uintptr_t)plan;
    int64_t *next = session->found + plan->found_size;
    for (int i = 0; i < plan->slot_count; i++) {
        const Slot *slot = &plan->slots[i];
        if (slot->kind == ARENA) session->run.slots[i] = session->arena + slot->number;
        if (slot->kind == CONSTANT) session->run.slots[i] = plan->constants[slot->number].buf;
    }
    for (int i = 0; i < plan->whole_count; i++) {
        const Whole *whole = &plan->wholes[i];
        if (whole->kind == STATED) session->run.wholes[i] = plan->data[whole->number].buf;
        if (whole->kind == LOOKED) session->run.wholes[i] = session->found + whole->number;
        if (whole->kind == GIVEN) {
            session->run.wholes[i] = next;
            next += whole->size;
        }
    }
    return session;
}

/* What a call holds while it runs. */
typedef struct {
    RgBuffer **shared;
    int shared_count;
    PyObject **arrays; /* outputs with axes */
    Py_buffer *results;
    int result_count;
    RgBuffer **gradients;
} Held;

static void let_go(Held *held, const Plan *plan) {
    for (int i = 0; i < held->shared_count; i++) rg_numbers_drop(held->shared[i]);
    for (int i = 0; i < plan->outputs; i++) {
        if (held->arrays) Py_XDECREF(held->arrays[i]);
        if (held->gradients) rg_numbers_xdrop(held->gradients[i]);
    }
    for (int i = 0; i < held->result_count; i++) PyBuffer_Release(&held->results[i]);
    PyMem_Free(held->results);
}

/* One block of memory for all of it. */
static int prepare(Held *held, const Plan *plan) {
    size_t outputs = (size_t)plan->outputs;
    size_t captured = (size_t)plan->captured;
    char *memory =
        PyMem_Calloc(1, outputs * sizeof(Py_buffer) + (captured + outputs) * sizeof(RgBuffer *) +
                            outputs * sizeof(PyObject *) + 64);
    if (memory == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    held->results = (Py_buffer *)memory;
    held->shared = (RgBuffer **)(held->results + outputs);
    held->gradients = held->shared + captured;
    held->arrays = (PyObject **)(held->gradients + outputs);
    return 0;
}

int rg_lend(PyObject *object, RgLent *lent) {
    if (PyFloat_CheckExact(object)) {
        lent->number = PyFloat_AS_DOUBLE(object);
        lent->at = &lent->number;
        lent->size = 1;
        return 0;
    }
    lent->at = NULL;
    lent->size = -1; /* a setting: nothing reads it */
    if (!PyObject_CheckBuffer(object)) return 0;
    if (PyObject_GetBuffer(object, &lent->view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) return -1;
    lent->at = lent->view.buf;
    lent->size = lent->view.len / 8;
    return 0;
}

void rg_unlend(RgLent *lent, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count; i++)
        if (lent[i].view.obj) PyBuffer_Release(&lent[i].view);
}

static int lend_leaf(Held *held, PyObject *object, double *number, const void **at, int64_t *size) {
    Value *v = rg_any_node(object);
    if (v == NULL) return refuse();
    if (!rg_is_node(v)) {
        *number = v->data;
        *at = number;
        *size = 1;
        return 0;
    }
    if (rg_tensor_restore(v) < 0) return -1;
    const RgBody *body = rg_body(v);
    if (!body->contiguous) {
        RgBuffer *packed = rg_packed(v);
        if (packed == NULL) return -1;
        held->shared[held->shared_count++] = packed;
        *at = packed->data;
    } else {
        held->shared[held->shared_count++] = rg_numbers_share(body->buffer);
        *at = body->at;
    }
    *size = body->size;
    return 0;
}

static int misfit(void) {
    PyErr_SetString(PyExc_SystemError, "arguments do not fit the recorded program");
    return -1;
}

/* The whole numbers of a call, counted from the front. */
static int count_wholes(const Plan *plan, Session *session, const void *const *at,
                        const int64_t *sizes) {
    for (int i = 0; i < plan->whole_count; i++) {
        const Whole *whole = &plan->wholes[i];
        if (whole->kind != GIVEN) continue;
        const int64_t *from = at[whole->argument], *places = plan->data[whole->number].buf;
        int64_t *to = session->run.wholes[i];
        for (int64_t k = 0; k < whole->size; k++) {
            if (from == NULL || places[k] < 0 || places[k] >= sizes[whole->argument])
                return misfit();
            int64_t number = from[places[k]];
            if (number < -whole->length || number >= whole->length) {
                PyErr_Format(PyExc_IndexError,
                             "index %lld is out of bounds for an axis of length %lld",
                             (long long)number, (long long)whole->length);
                return -1;
            }
            to[k] = number < 0 ? number + whole->length : number;
        }
    }
    return 0;
}

static PyObject *np_empty = NULL;

static PyObject *empty_array(PyObject *shape) {
    if (np_empty == NULL) {
        PyObject *numpy = PyImport_ImportModule("numpy");
        np_empty = numpy ? PyObject_GetAttrString(numpy, "empty") : NULL;
        Py_XDECREF(numpy);
    }
    return np_empty ? PyObject_CallOneArg(np_empty, shape) : NULL;
}

/* Memory for every output: one number, an array, or a gradient that stays here. */
static int make_outputs(const Plan *plan, Held *held, const Session *session, int settles,
                        double **at) {
    for (int i = 0; i < plan->outputs + plan->guards; i++) {
        at[i] = &session->singles[i];
        PyObject *shape = i < plan->outputs ? PyTuple_GET_ITEM(plan->shapes, i) : NULL;
        if (shape == NULL || PyTuple_GET_SIZE(shape) == 0) continue;
        if (settles) {
            size_t size = 1;
            for (Py_ssize_t d = 0; d < PyTuple_GET_SIZE(shape); d++)
                size *= PyLong_AsSize_t(PyTuple_GET_ITEM(shape, d));
            held->gradients[i] = rg_numbers_new(size);
            if (held->gradients[i] == NULL) return -1;
            at[i] = held->gradients[i]->data;
            continue;
        }
        held->arrays[i] = empty_array(shape);
        if (held->arrays[i] == NULL) return -1;
        Py_buffer *view = &held->results[held->result_count];
        if (PyObject_GetBuffer(held->arrays[i], view, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) < 0)
            return -1;
        held->result_count++;
        at[i] = view->buf;
    }
    return 0;
}

static int fill_slots(const Plan *plan, Session *session, const void *const *arguments,
                      const int64_t *argument_sizes, const void *const *leaves,
                      const int64_t *leaf_sizes, double *const *outputs) {
    for (int k = 0; k < plan->moving_count; k++) {
        int i = plan->moving[k];
        const Slot *slot = &plan->slots[i];
        int64_t number = slot->number, size = slot->size;
        if (slot->kind == ARGUMENT) {
            session->run.slots[i] = (double *)(uintptr_t)arguments[number];
            if (argument_sizes[number] != size) return misfit();
        } else if (slot->kind == CAPTURED) {
            session->run.slots[i] = (double *)(uintptr_t)leaves[number];
            if (leaf_sizes[number] != size) return misfit();
        } else if (slot->kind == OUTPUT) {
            session->run.slots[i] = outputs[number];
        }
    }
    return 0;
}

/* The outcomes of the guards as bytes where they differ from the recorded ones; None where they are
 * as they were. */
static PyObject *outcomes_of(const Plan *plan, const Session *session) {
    const char *expected = PyBytes_AS_STRING(plan->outcomes);
    int same = 1;
    for (int i = 0; i < plan->guards; i++)
        same = same && (session->singles[plan->outputs + i] != 0.0) == expected[i];
    if (same) return Py_NewRef(Py_None);
    PyObject *found = PyBytes_FromStringAndSize(NULL, plan->guards);
    for (int i = 0; found && i < plan->guards; i++)
        PyBytes_AS_STRING(found)[i] = session->singles[plan->outputs + i] != 0.0;
    return found;
}

/* Gradients into the leaves that take them: output i + 1 is that of takers[i]. */
static PyObject *settle(const Plan *plan, Held *held, const Session *session, PyObject *captured,
                        PyObject *takers) {
    for (Py_ssize_t i = 0; rg_lending && i < PyTuple_GET_SIZE(takers); i++) {
        Py_ssize_t number = PyLong_AsSsize_t(PyTuple_GET_ITEM(takers, i));
        Value *v = rg_any_node(PyList_GET_ITEM(captured, number));
        if (!rg_is_node(v) && rg_check_loan(v, RG_ANY_THREAD) < 0) return NULL;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(takers); i++) {
        Py_ssize_t number = PyLong_AsSsize_t(PyTuple_GET_ITEM(takers, i));
        Value *v = rg_any_node(PyList_GET_ITEM(captured, number));
        if (!rg_is_node(v)) {
            v->grad += session->singles[i + 1];
            continue;
        }
        RgBody *body = rg_body(v);
        RgBuffer *made = held->gradients[i + 1], *before = body->gradient;
        if (before) {
            const double *in[3] = {before->data, made->data, NULL};
            rg_arrays->forward[RG_OP_add](body->size, made->data, in,
                                          (const ptrdiff_t[3]){1, 1, 0});
        }
        held->gradients[i + 1] = NULL;
        body->gradient = made;
        rg_numbers_xdrop(before);
    }
    return PyFloat_FromDouble(session->singles[0]);
}

static PyObject *results_of(const Plan *plan, Held *held, const Session *session) {
    PyObject *results = PyTuple_New(plan->outputs);
    for (int i = 0; results && i < plan->outputs; i++) {
        PyObject *one =
            held->arrays[i] ? Py_NewRef(held->arrays[i]) : PyFloat_FromDouble(session->singles[i]);
        if (one == NULL) {
            Py_CLEAR(results);
            break;
        }
        PyTuple_SET_ITEM(results, i, one);
    }
    return results;
}

static int answered(int code) {
    if (code == RG_NO_MEMORY) PyErr_NoMemory();
    if (code == RG_OUT_OF_RANGE) PyErr_SetString(PyExc_IndexError, "an index is out of bounds");
    return code ? -1 : 0;
}

enum { HAND_OUT, SETTLE, OTHER_TAKERS };

/* Whether gradients may go straight into the leaves: no hook is to see them first. Or that others
 * than the takers, which are in order, take gradients now. */
static int settles_here(PyObject *captured, PyObject *takers) {
    Py_ssize_t next = 0, count = PyTuple_GET_SIZE(takers);
    int how = SETTLE;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(captured); i++) {
        const Value *v = rg_any_node(PyList_GET_ITEM(captured, i));
        if (v == NULL) return misfit();
        int taker = next < count && PyLong_AsSsize_t(PyTuple_GET_ITEM(takers, next)) == i;
        if (taker != ((v->flags & RG_REQUIRES_GRAD) != 0)) return OTHER_TAKERS;
        if (taker && v->flags & RG_HOOKED) how = HAND_OUT;
        next += taker;
    }
    return next == count ? how : misfit();
}

static PyObject *call(Plan *plan, Session *session, Held *held, const RgLent *lent,
                      PyObject *captured, PyObject *takers) {
    const void **at = session->at;
    int64_t *sizes = session->sizes;
    double **outputs = session->outputs;
    int settles = takers == Py_None ? HAND_OUT : settles_here(captured, takers);
    if (settles < 0) return NULL;
    if (settles == OTHER_TAKERS) return Py_NewRef(Py_None);
    for (int i = 0; i < plan->arguments; i++) {
        at[i] = lent[i].at;
        sizes[i] = lent[i].size;
    }
    for (int i = 0; i < plan->captured; i++) {
        int k = plan->arguments + i;
        if (lend_leaf(held, PyList_GET_ITEM(captured, i), &session->numbers[k], &at[k], &sizes[k]) <
            0)
            return NULL;
    }
    const void *const *leaf_at = at + plan->arguments;
    if (count_wholes(plan, session, at, sizes) < 0 ||
        make_outputs(plan, held, session, settles, outputs) < 0 ||
        fill_slots(plan, session, at, sizes, leaf_at, sizes + plan->arguments, outputs) < 0)
        return NULL;
    int code;
    if (plan->releases) {
        Py_BEGIN_ALLOW_THREADS;
        code = rg_shaped_run(plan->shaped, &session->run);
        Py_END_ALLOW_THREADS;
    } else {
        code = rg_shaped_run(plan->shaped, &session->run);
    }
    if (answered(code) < 0) return NULL;
    PyObject *differ = outcomes_of(plan, session);
    if (differ != Py_None) return differ;
    Py_DECREF(differ);
    return settles ? settle(plan, held, session, captured, takers)
                   : results_of(plan, held, session);
}

static int fits(const Plan *plan, PyObject *captured, PyObject *takers) {
    return PyList_Check(captured) && PyList_GET_SIZE(captured) == plan->captured &&
           (takers == Py_None ||
            (PyTuple_Check(takers) && PyTuple_GET_SIZE(takers) == plan->outputs - 1));
}

PyObject *rg_shaped_call(PyObject *capsule, const RgLent *lent, Py_ssize_t count,
                         PyObject *captured, PyObject *takers) {
    Plan *plan = PyCapsule_GetPointer(capsule, capsule_name);
    if (plan == NULL) return NULL;
    if (count != plan->arguments || !fits(plan, captured, takers)) {
        misfit();
        return NULL;
    }
    Session *session = plan->free;
    if (session)
        plan->free = session->next;
    else
        session = new_session(plan);
    if (session == NULL) return NULL;
    Held held = {0};
    PyObject *result =
        prepare(&held, plan) < 0 ? NULL : call(plan, session, &held, lent, captured, takers);
    if (held.results) let_go(&held, plan);
    session->next = plan->free;
    plan->free = session;
    return result;
}

/* shaped_run(plan, leaves, captured, takers) -> the outputs; bytes, the outcomes of all guards, where
 * one differs; or, with takers, the first output as a float once the gradients are added, and None
 * where other leaves than these take gradients now. */
static PyObject *shaped_run(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count) {
    if (count != 4 || !PyList_Check(args[1])) {
        misfit();
        return NULL;
    }
    Py_ssize_t arguments = PyList_GET_SIZE(args[1]), given = 0;
    RgLent *lent = PyMem_Calloc((size_t)arguments + 1, sizeof(RgLent));
    if (lent == NULL) return PyErr_NoMemory();
    int fine = 1;
    for (; fine && given < arguments; given++)
        fine = rg_lend(PyList_GET_ITEM(args[1], given), &lent[given]) == 0;
    PyObject *result = fine ? rg_shaped_call(args[0], lent, arguments, args[2], args[3]) : NULL;
    rg_unlend(lent, given);
    PyMem_Free(lent);
    return result;
}

/* shaped_compiled(plan, address): run the maps of a library in place of the steps. The library stays
 * loaded. */
static PyObject *shaped_compiled(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *capsule;
    unsigned long long address;
    if (!PyArg_ParseTuple(args, "OK:shaped_compiled", &capsule, &address)) return NULL;
    Plan *plan = PyCapsule_GetPointer(capsule, capsule_name);
    if (plan == NULL) return NULL;
    int failed = rg_shaped_compile(plan->shaped, (const RgMaps *)(uintptr_t)address);
    if (failed == 0) Py_RETURN_NONE;
    if (failed == RG_NO_MEMORY) return PyErr_NoMemory();
    PyErr_SetString(PyExc_ValueError, failed == RG_OTHER_MAPS
                                          ? "the library is of another version"
                                          : "it has other bits than the interpreter");
    return NULL;
}

PyMethodDef rg_shaped_methods[] = {
    {"shaped_plan", shaped_plan, METH_VARARGS,
     RG_DOC("shaped_plan($module, words, slots, wholes, constants, data, plans, calls, shapes, "
            "outcomes, sizes, /)",
            "A program with shapes, ready to run.")},
    {"shaped_run", (PyCFunction)(void (*)(void))shaped_run, METH_FASTCALL,
     RG_DOC("shaped_run($module, plan, leaves, captured, takers, /)",
            "Run a program with shapes.")},
    {"shaped_compiled", shaped_compiled, METH_VARARGS,
     RG_DOC("shaped_compiled($module, plan, address, /)",
            "Run a library's maps in place of the steps of a plan.")},
    {NULL, NULL, 0, NULL},
};
