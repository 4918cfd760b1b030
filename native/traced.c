/* Programs of steps, read from what Python traced. */
#include "composed.h"

static PyTypeObject *Program_Type = NULL;

static void program_dealloc(PyObject *self) {
    RgProgram *program = (RgProgram *)self;
    PyTypeObject *type = Py_TYPE(self);
    for (int i = 0; program->step && i < program->steps; i++) {
        Py_XDECREF((PyObject *)program->step[i].ready);
        rg_buffer_free(program->step[i].slot);
    }
    rg_buffer_free(program->step);
    rg_buffer_free(program->key);
    Py_XDECREF(program->numbers);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

static PyType_Slot program_slots[] = {
    {Py_tp_doc, "A composition of rows, traced once."},
    {Py_tp_dealloc, program_dealloc},
    {0, NULL},
};

static PyType_Spec program_spec = {
    .name = "retrograde._native.Composition",
    .basicsize = sizeof(RgProgram),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = program_slots,
};

/* The whole numbers of a ready row: which of the call's they are. 0 where it cannot be had. */
static int read_wholes(RgTracedStep *step, PyObject *wholes) {
    const RgReady *ready = step->ready;
    if (ready->given > MOST_WHOLES || ready->choices < 0) return 0;
    for (int i = 0; i < ready->given; i++) {
        PyObject *stand_in = PyDict_GetItemWithError(wholes, PyTuple_GET_ITEM(ready->names, i));
        PyObject *place = stand_in ? PyObject_GetAttrString(stand_in, "place") : NULL;
        long number = place ? PyLong_AsLong(place) : -1;
        Py_XDECREF(place);
        if (number < 0 || number >= MOST_WHOLES) return 0;
        step->whole[i] = (int8_t)number;
    }
    return 1;
}

/* (what, operands, whole numbers): what is a bound row, the number of a scalar row, or None for what
 * stops gradients. 0 where the core cannot do it. */
static int read_step(const RgProgram *program, PyObject *from, RgTracedStep *step) {
    PyObject *what, *slots, *wholes;
    if (!PyArg_ParseTuple(from, "OO!O!", &what, &PyTuple_Type, &slots, &PyDict_Type, &wholes))
        return 0;
    step->count = (int)PyTuple_GET_SIZE(slots);
    step->slot = rg_buffer_resize(NULL, (size_t)(step->count + 3) * sizeof(int16_t));
    if (step->slot == NULL) return 0;
    for (int i = 0; i < step->count; i++) {
        long slot = PyLong_AsLong(PyTuple_GET_ITEM(slots, i));
        if (slot >= program->operands + (step - program->step) ||
            slot < -PyTuple_GET_SIZE(program->numbers) || PyErr_Occurred())
            return 0;
        step->slot[i] = (int16_t)slot;
    }
    if (what == Py_None) {
        step->kind = STOP;
        return step->count == 1;
    }
    PyObject *plan = PyLong_Check(what) ? Py_NewRef(what) : rg_plan_of(what, wholes);
    if (plan == NULL) return 0;
    int fine = 1;
    if (PyLong_CheckExact(plan)) { /* and not False */
        step->kind = MAP;
        step->code = (int)PyLong_AsLong(plan);
        fine =
            step->code >= 0 && step->code < RG_OP_COUNT && RG_OPS[step->code].arity == step->count;
    } else if (rg_is_ready(plan)) {
        step->kind = ROW;
        step->ready = (RgReady *)Py_NewRef(plan);
        fine = step->ready->operands == step->count && read_wholes(step, wholes);
    } else if (PyUnicode_Check(plan)) {
        int sums = PyUnicode_CompareWithASCIIString(plan, "sum") == 0;
        step->kind = sums ? SUM : MATMUL;
        fine = step->count == (sums ? 1 : 2);
    } else {
        fine = 0;
    }
    Py_DECREF(plan);
    return fine;
}

/* What is made only for steps that let no gradient through is flat itself. */
static void find_flat(RgProgram *program) {
    char needed[MOST_SLOTS] = {0};
    needed[program->result] = 1;
    for (int i = program->steps; i-- > 0;) {
        RgTracedStep *step = &program->step[i];
        step->flat = !needed[program->operands + i];
        if (step->flat || step->kind == STOP) continue;
        for (int k = 0; k < step->count; k++)
            if (step->slot[k] >= 0) needed[step->slot[k]] = 1;
    }
}

/* Whether a slot is read by nobody but some steps, and is not the result. */
static int only_used_by(const RgProgram *program, int slot, int first, int last) {
    for (int i = 0; i < program->steps; i++)
        for (int k = 0; k < program->step[i].count && (i < first || i > last); k++)
            if (program->step[i].slot[k] == slot) return 0;
    return program->result != slot;
}

static int is_map(const RgTracedStep *step, int code) {
    return step->kind == MAP && step->code == code;
}

/* stop(where(|m| = inf, 0, m)) of m = max(x) along the last axes, which the exponentials of a softmax
 * are shifted by: five steps, of which only the last leaves anything behind. */
static int is_shift(const RgProgram *program, int first) {
    const RgTracedStep *step = &program->step[first];
    const RgReady *ready = step->ready;
    int slot = program->operands + first;
    if (first + 5 > program->steps || step->kind != ROW || step->slot[0] < 0) return 0;
    if (ready->choices != 1 || ready->wholes != ready->choice.axes || ready->operands != 1 ||
        ready->choice.by != RG_ARGMAX || ready->choice.inner != 1 || ready->choice.n < 1 ||
        ready->size != ready->choice.outer || ready->ndim < 1)
        return 0;
    const RgTracedStep *size = step + 1, *compared = step + 2, *chosen = step + 3, *stop = step + 4;
    if (!is_map(size, RG_OP_abs) || !is_map(compared, RG_OP_equal) ||
        !is_map(chosen, RG_OP_where) || stop->kind != STOP)
        return 0;
    if (size->slot[0] != slot || compared->slot[0] != slot + 1 || compared->slot[1] >= 0 ||
        chosen->slot[0] != slot + 2 || chosen->slot[1] >= 0 || chosen->slot[2] != slot ||
        stop->slot[0] != slot + 3)
        return 0;
    double largest = PyFloat_AsDouble(PyTuple_GET_ITEM(program->numbers, -1 - compared->slot[1]));
    double instead = PyFloat_AsDouble(PyTuple_GET_ITEM(program->numbers, -1 - chosen->slot[1]));
    for (int i = 0; i < 4; i++)
        if (!only_used_by(program, slot + i, first, first + 4)) return 0;
    return isinf(largest) && largest > 0.0 && instead == 0.0 && !signbit(instead);
}

static void find_shifts(RgProgram *program) {
    for (int i = 0; i < program->steps; i++) program->step[i].shifts = -1;
    for (int i = 0; i < program->steps; i++) {
        if (!is_shift(program, i)) continue;
        for (int k = 0; k < 4; k++) program->step[i + k].skipped = 1;
        program->step[i + 4].shifts = program->step[i].slot[0];
        program->step[i + 4].ready = (RgReady *)Py_NewRef((PyObject *)program->step[i].ready);
        program->fused = 1;
    }
}

/* (steps, numbers, result) of a trace. 0 where the core cannot do it. */
int rg_program_read(RgProgram *program, PyObject *traced) {
    PyObject *steps, *numbers;
    if (traced == Py_None) return 0;
    if (!PyArg_ParseTuple(traced, "O!O!i", &PyList_Type, &steps, &PyTuple_Type, &numbers,
                          &program->result))
        return 0;
    Py_ssize_t count = PyList_GET_SIZE(steps);
    program->numbers = Py_NewRef(numbers);
    if (count + program->operands > MOST_SLOTS || program->result < 0 ||
        program->result >= count + program->operands)
        return 0;
    program->step = rg_buffer_resize(NULL, (size_t)(count + 1) * sizeof(RgTracedStep));
    if (program->step == NULL) return 0;
    for (; program->steps < count; program->steps++) {
        program->step[program->steps] = (RgTracedStep){.kind = STOP};
        if (!read_step(program, PyList_GET_ITEM(steps, program->steps),
                       &program->step[program->steps])) {
            program->steps++;
            return 0;
        }
    }
    find_flat(program);
    find_shifts(program);
    return 1;
}

int rg_programs_begin(void) {
    if (Program_Type == NULL) Program_Type = (PyTypeObject *)PyType_FromSpec(&program_spec);
    return Program_Type ? 0 : -1;
}

/* One without steps; NULL with an exception. */
RgProgram *rg_program_new(int operands) {
    RgProgram *program = PyObject_New(RgProgram, Program_Type);
    if (program == NULL) return NULL;
    memset((char *)program + sizeof(PyObject), 0, sizeof(RgProgram) - sizeof(PyObject));
    program->operands = operands;
    return program;
}
