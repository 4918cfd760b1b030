/* Rows by their names, and compositions of rows, without a word of Python from the second time on.
 *
 * What a composition does depends on shapes and arguments alone. So Python traces it once
 * (retrograde._tensors.tracing), and what it did is kept: a program of steps, each one row, found
 * again by a key of name, shapes and arguments. Nodes are those that Python would have made. */
#include "calls.h"
#include "ready.h"

enum { MOST_SLOTS = 96, MOST_OPERANDS = 32, MOST_WHOLES = 4, MOST_KEY = 512, TABLE = 4096 };

typedef enum { MAP, ROW, MATMUL, SUM, STOP } StepKind;

typedef struct {
    StepKind kind;
    int code; /* of a map */
    int flat; /* no gradient passes through what it makes */
    RgReady *ready;
    int count;
    int16_t *slot;             /* operands; below 0: a number */
    int8_t whole[MOST_WHOLES]; /* which of the call's whole numbers a ready row takes */
} Step;

typedef struct {
    PyObject_HEAD int known; /* else Python does it */
    int operands, steps, result;
    Step *step;
    PyObject *numbers; /* a tuple of floats */
    uint64_t hash;
    size_t key_size;
    unsigned char *key;
} Program;

static PyTypeObject *Program_Type = NULL;
static Program *table[TABLE];
static size_t kept = 0;
static PyObject *trace = NULL;       /* trace(way, name, operands, args, kwargs) */
static PyObject *whole_names = NULL; /* rows to the names of their whole numbers */
static PyObject *as_array = NULL;    /* numpy.asarray */

/* ---- keys --------------------------------------------------------------------------------------- */

typedef struct {
    size_t size;
    int full;
    unsigned char bytes[MOST_KEY];
} Key;

static inline void put_bytes(Key *key, const void *from, size_t count) {
    if (RG_UNLIKELY(key->size + count > MOST_KEY)) {
        key->full = 1;
        return;
    }
    if (count) memcpy(key->bytes + key->size, from, count); /* no axes: from nowhere */
    key->size += count;
}

static inline void put_tag(Key *key, unsigned char tag, unsigned char more) {
    unsigned char both[2] = {tag, more};
    put_bytes(key, both, 2);
}

static void put_text(Key *key, PyObject *text) {
    Py_ssize_t size;
    const char *bytes = PyUnicode_AsUTF8AndSize(text, &size);
    if (bytes == NULL || size > 255) {
        PyErr_Clear();
        key->full = 1;
        return;
    }
    put_tag(key, 's', (unsigned char)size);
    put_bytes(key, bytes, (size_t)size);
}

static void put_shape(Key *key, unsigned char tag, int ndim, const Py_ssize_t *shape) {
    put_tag(key, tag, (unsigned char)ndim);
    put_bytes(key, shape, (size_t)ndim * sizeof(Py_ssize_t));
}

/* An argument by its value; what is out of the ordinary has no key. */
static void put_argument(Key *key, PyObject *argument) {
    if (argument == Py_None) {
        put_tag(key, 'N', 0);
    } else if (PyLong_CheckExact(argument)) {
        int overflow;
        long long number = PyLong_AsLongLongAndOverflow(argument, &overflow);
        key->full |= overflow;
        put_tag(key, 'i', 0);
        put_bytes(key, &number, sizeof number);
    } else if (PyBool_Check(argument)) {
        put_tag(key, 'b', argument == Py_True);
    } else if (PyTuple_CheckExact(argument) || PyList_CheckExact(argument)) {
        Py_ssize_t count = Py_SIZE(argument);
        key->full |= count > 64;
        put_tag(key, PyTuple_CheckExact(argument) ? 't' : 'l', (unsigned char)count);
        for (Py_ssize_t i = 0; i < count && !key->full; i++)
            put_argument(key, PySequence_Fast_GET_ITEM(argument, i));
    } else if (PySlice_Check(argument)) {
        const PySliceObject *slice = (PySliceObject *)argument;
        put_tag(key, 'S', 0);
        put_argument(key, slice->start);
        put_argument(key, slice->stop);
        put_argument(key, slice->step);
    } else if (argument == Py_Ellipsis) {
        put_tag(key, 'E', 0);
    } else if (PyFloat_CheckExact(argument)) {
        double number = PyFloat_AS_DOUBLE(argument);
        put_tag(key, 'f', 0);
        put_bytes(key, &number, sizeof number);
    } else if (PyUnicode_CheckExact(argument)) {
        put_text(key, argument);
    } else {
        key->full = 1;
    }
}

static uint64_t hash_of(const Key *key) {
    uint64_t hash = key->size, word;
    size_t i = 0;
    for (; i + 8 <= key->size; i += 8) {
        memcpy(&word, key->bytes + i, 8);
        hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    word = 0;
    memcpy(&word, key->bytes + i, key->size - i);
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

static Program *found(const Key *key, uint64_t hash) {
    for (size_t slot = hash % TABLE; table[slot]; slot = (slot + 1) % TABLE) {
        Program *program = table[slot];
        if (program->hash == hash && program->key_size == key->size &&
            memcmp(program->key, key->bytes, key->size) == 0)
            return program;
    }
    return NULL;
}

static void forget_all(void) {
    rg_calls_forget();
    for (size_t slot = 0; slot < TABLE; slot++) Py_CLEAR(table[slot]);
    kept = 0;
}

/* ---- programs ----------------------------------------------------------------------------------- */

static void program_dealloc(PyObject *self) {
    Program *program = (Program *)self;
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
    .basicsize = sizeof(Program),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = program_slots,
};

/* The whole numbers of a ready row: which of the call's they are. 0 where it cannot be had. */
static int read_wholes(Step *step, PyObject *wholes) {
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
static int read_step(const Program *program, PyObject *from, Step *step) {
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
static void find_flat(Program *program) {
    char needed[MOST_SLOTS] = {0};
    needed[program->result] = 1;
    for (int i = program->steps; i-- > 0;) {
        Step *step = &program->step[i];
        step->flat = !needed[program->operands + i];
        if (step->flat || step->kind == STOP) continue;
        for (int k = 0; k < step->count; k++)
            if (step->slot[k] >= 0) needed[step->slot[k]] = 1;
    }
}

/* (steps, numbers, result) of a trace. 0 where the core cannot do it. */
static int read_program(Program *program, PyObject *traced) {
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
    program->step = rg_buffer_resize(NULL, (size_t)(count + 1) * sizeof(Step));
    if (program->step == NULL) return 0;
    for (; program->steps < count; program->steps++) {
        program->step[program->steps] = (Step){.kind = STOP};
        if (!read_step(program, PyList_GET_ITEM(steps, program->steps),
                       &program->step[program->steps])) {
            program->steps++;
            return 0;
        }
    }
    find_flat(program);
    return 1;
}

/* ---- calls --------------------------------------------------------------------------------------- */

/* One call: `way` says how Python would do it. */
typedef struct {
    const char *way;
    PyObject *name;
    PyObject *const *operands;
    int count;
    PyObject *args, *kwargs; /* for Python; NULL until asked for */
    PyObject *whole[MOST_WHOLES];
    Py_buffer view[MOST_WHOLES];
    int wholes;
} Call;

static void release(Call *call) {
    for (int i = 0; i < call->wholes; i++) {
        PyBuffer_Release(&call->view[i]);
        Py_DECREF(call->whole[i]);
    }
    call->wholes = 0;
}

/* An operand into the key; the numbers of arrays do not matter for it. */
static void put_operand(Key *key, PyObject *operand) {
    if (rg_is_tensor(operand)) {
        const RgBody *body = rg_body(rg_node_of(operand));
        put_shape(key, 'T', body->ndim, body->shape);
    } else if (rg_is_value(operand)) {
        put_tag(key, 'V', 0);
    } else if (PyFloat_CheckExact(operand)) {
        put_tag(key, 'F', 0);
    } else {
        Py_buffer view;
        if (!PyObject_CheckBuffer(operand) ||
            PyObject_GetBuffer(operand, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) {
            PyErr_Clear();
            key->full = 1;
            return;
        }
        if (view.format && !strcmp(view.format, "d") && view.ndim > 0 && view.ndim <= RG_MOST_AXES)
            put_shape(key, 'A', view.ndim, view.shape);
        else
            key->full = 1;
        PyBuffer_Release(&view);
    }
}

/* Whole numbers by their shape; what they are is asked when a program runs. */
static void put_whole(Key *key, Call *call, PyObject *given) {
    PyObject *array = NULL;
    if (call->wholes == MOST_WHOLES || rg_any_node(given)) {
        key->full = 1;
        return;
    }
    if (PyList_CheckExact(given) || PyTuple_CheckExact(given) || PyLong_CheckExact(given))
        array = as_array ? PyObject_CallOneArg(as_array, given) : NULL;
    else if (PyObject_CheckBuffer(given))
        array = Py_NewRef(given);
    Py_buffer *view = &call->view[call->wholes];
    if (array == NULL || PyObject_GetBuffer(array, view, PyBUF_STRIDES | PyBUF_FORMAT) < 0) {
        PyErr_Clear();
        Py_XDECREF(array);
        key->full = 1;
        return;
    }
    call->whole[call->wholes++] = array;
    int fits = view->itemsize == 8 && view->format && view->ndim <= RG_MOST_AXES &&
               (!strcmp(view->format, "l") || !strcmp(view->format, "q"));
    if (fits)
        put_shape(key, 'w', view->ndim, view->shape);
    else
        key->full = 1;
}

/* The whole numbers a ready row is given, as its nodes keep them, counted from the front. NULL
 * without an exception where one is out of range. */
static RgBuffer *gathered(const Step *step, const Call *call) {
    const RgReady *ready = step->ready;
    RgBuffer *buffer = rg_numbers_new((size_t)ready->whole_size);
    for (int i = 0; buffer && i < ready->given; i++) {
        const Py_buffer *view = &call->view[step->whole[i]];
        int64_t *to = (int64_t *)buffer->data + ready->whole_at[i], limit = ready->limit[i];
        Py_ssize_t size = ready->whole_at[i + 1] - ready->whole_at[i], at[RG_MOST_AXES] = {0};
        const char *from = view->buf;
        int fine = size * 8 == view->len;
        for (Py_ssize_t j = 0; j < size && fine; j++) {
            memcpy(&to[j], from, 8);
            if (limit && to[j] < 0) to[j] += limit;
            fine = limit == 0 || (to[j] >= 0 && to[j] < limit);
            for (int d = view->ndim - 1; d >= 0; d--) {
                from += view->strides[d];
                if (++at[d] < view->shape[d]) break;
                from -= view->strides[d] * view->shape[d];
                at[d] = 0;
            }
        }
        if (!fine) {
            rg_numbers_drop(buffer);
            return NULL;
        }
    }
    return buffer;
}

static PyObject *stopped(PyObject *thing, int made) {
    if (rg_is_tensor(thing)) {
        const Value *v = rg_node_of(thing);
        int flat = made && rg_is_leaf(v) && !(v->flags & RG_REQUIRES_GRAD);
        return flat ? Py_NewRef(thing) : rg_tensor_detached(thing);
    }
    return rg_is_value(thing) ? rg_make_leaf(((Value *)thing)->data, 0) : Py_NewRef(thing);
}

static PyObject *run_step(const Program *program, const Step *step, PyObject *const *slots,
                          const Call *call) {
    PyObject *operands[MOST_OPERANDS];
    int tensors = 0;
    for (int k = 0; k < step->count; k++) {
        int slot = step->slot[k];
        operands[k] = slot >= 0 ? slots[slot] : PyTuple_GET_ITEM(program->numbers, -1 - slot);
        tensors |= rg_is_tensor(operands[k]);
    }
    switch (step->kind) {
        case MAP:
            if (tensors) return rg_tensor_map(step->code, operands);
            return rg_apply(step->code, operands);
        case MATMUL: return rg_tensor_matmul(operands[0], operands[1]);
        case SUM:
            if (tensors) return rg_tensor_sum(operands[0]);
            return Py_NewRef(Py_NotImplemented);
        case STOP: return stopped(operands[0], step->slot[0] >= program->operands);
        default: break;
    }
    RgBuffer *wholes = NULL;
    if (step->ready->wholes) {
        wholes = gathered(step, call);
        if (wholes == NULL) return PyErr_Occurred() ? NULL : Py_NewRef(Py_NotImplemented);
    }
    return rg_ready_make(step->ready, operands, wholes, step->flat && rg_modes_active == 0);
}

/* Whether the numbers of all operands are there: then no step runs Python code. */
static int all_present(const Program *program, const Call *call) {
    for (int i = 0; i < program->operands; i++) {
        PyObject *operand = call->operands[i];
        if (rg_is_tensor(operand) ? rg_body(rg_node_of(operand))->at == NULL
                                  : !rg_is_value(operand) && !PyFloat_CheckExact(operand))
            return 0;
    }
    return 1;
}

/* What a program makes of a call; NotImplemented where Python has to say what is wrong. */
static PyObject *run(const Program *program, const Call *call) {
    PyObject *slots[MOST_SLOTS], *result = NULL;
    int made = program->operands, site = 0;
    if (program->steps == 1 && program->result == program->operands)
        return run_step(program, &program->step[0], call->operands, call);
    for (int i = 0; i < program->operands; i++) slots[i] = call->operands[i];
    if (rg_site_known == NULL && rg_modes_active == 0 && all_present(program, call))
        site = rg_site_begin();
    for (int i = 0; i < program->steps; i++) {
        PyObject *now = run_step(program, &program->step[i], slots, call);
        if (now == NULL || now == Py_NotImplemented) {
            result = now;
            goto done;
        }
        slots[made++] = now;
    }
    result = Py_NewRef(slots[program->result]);
done:
    if (site) rg_site_end();
    while (made > program->operands) Py_DECREF(slots[--made]);
    return result;
}

/* How Python would do a call, as a program. */
static Program *traced(const Key *key, uint64_t hash, const Call *call) {
    Program *program = PyObject_New(Program, Program_Type);
    if (program == NULL) return NULL;
    memset((char *)program + sizeof(PyObject), 0, sizeof(Program) - sizeof(PyObject));
    program->operands = call->count;
    program->hash = hash;
    program->key_size = key->size;
    program->key = rg_buffer_resize(NULL, key->size + 1);
    PyObject *operands = program->key ? PyTuple_New(call->count) : NULL;
    for (int i = 0; operands && i < call->count; i++)
        PyTuple_SET_ITEM(operands, i, Py_NewRef(call->operands[i]));
    PyObject *steps = operands ? PyObject_CallFunction(trace, "sOOOO", call->way, call->name,
                                                       operands, call->args, call->kwargs)
                               : NULL;
    program->known = steps && read_program(program, steps);
    PyErr_Clear(); /* the same call in Python says what is wrong */
    Py_XDECREF(steps);
    Py_XDECREF(operands);
    if (program->key == NULL) {
        Py_DECREF((PyObject *)program);
        return NULL;
    }
    memcpy(program->key, key->bytes, key->size);
    if (kept >= TABLE / 2) forget_all();
    size_t slot = hash % TABLE;
    while (table[slot]) slot = (slot + 1) % TABLE;
    table[slot] = program;
    kept++;
    return program;
}

static PyObject *run_held(Program *program, const Call *call) {
    Py_INCREF((PyObject *)program);
    PyObject *made = run(program, call);
    Py_DECREF((PyObject *)program);
    return made;
}

static PyObject *not_ours(void) { return Py_NewRef(Py_NotImplemented); }

/* `again` is set to the program where it may be run at once the next time. */
static PyObject *carried_out(const Key *key, const Call *call, PyObject **again) {
    uint64_t hash = hash_of(key);
    Program *program = found(key, hash);
    if (RG_UNLIKELY(program == NULL)) {
        if (call->args == NULL) return NULL; /* asked again, with what Python needs */
        program = traced(key, hash, call);
        if (program == NULL) return not_ours();
    }
    if (!program->known) return not_ours();
    if (again) *again = (PyObject *)program;
    return run_held(program, call);
}

/* ---- methods ------------------------------------------------------------------------------------- */

static PyObject *keywords(PyObject *const *args, Py_ssize_t count, PyObject *kwnames) {
    PyObject *dict = PyDict_New();
    Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
    for (Py_ssize_t i = 0; dict && i < named; i++)
        if (PyDict_SetItem(dict, PyTuple_GET_ITEM(kwnames, i), args[count + i]) < 0) Py_CLEAR(dict);
    return dict;
}

/* A method of a tensor by its name; NotImplemented where Python does it. */
PyObject *rg_composed_method(PyObject *name, PyObject *self, PyObject *const *args,
                             Py_ssize_t count, PyObject *kwnames) {
    Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
    if (trace == NULL || rg_recording() || rg_any_bits()) return not_ours();
    Call call = {.way = "method", .name = name, .operands = &self, .count = 1};
    PyObject *again = rg_call_found(name, self, args, count, kwnames);
    if (RG_LIKELY(again != NULL)) return run_held((Program *)again, &call);
    Key key = {.size = 0, .full = 0};
    put_text(&key, name);
    put_operand(&key, self);
    for (Py_ssize_t i = 0; i < count; i++) put_argument(&key, args[i]);
    for (Py_ssize_t i = 0; i < named; i++) {
        put_tag(&key, 'k', 0);
        put_text(&key, PyTuple_GET_ITEM(kwnames, i));
        put_argument(&key, args[count + i]);
    }
    if (key.full) return not_ours();
    PyObject *made = carried_out(&key, &call, &again);
    if (made && made != Py_NotImplemented && again)
        rg_call_keep(name, self, args, count, kwnames, again);
    if (made != NULL || PyErr_Occurred()) return made;
    call.args = PyTuple_New(count);
    for (Py_ssize_t i = 0; call.args && i < count; i++)
        PyTuple_SET_ITEM(call.args, i, Py_NewRef(args[i]));
    call.kwargs = keywords(args, count, kwnames);
    if (call.args && call.kwargs) made = carried_out(&key, &call, NULL);
    Py_XDECREF(call.args);
    Py_XDECREF(call.kwargs);
    return made;
}

/* t[key] with slices, new axes, or one array of whole numbers; NotImplemented for anything else. */
PyObject *rg_composed_item(PyObject *self, PyObject *item) {
    static PyObject *name = NULL;
    if (trace == NULL || rg_recording()) return not_ours();
    if (name == NULL && (name = PyUnicode_InternFromString("__getitem__")) == NULL) return NULL;
    Key key = {.size = 0, .full = 0};
    Call call = {.way = "method", .name = name, .operands = &self, .count = 1};
    put_text(&key, name);
    put_operand(&key, self);
    if (PyList_CheckExact(item) || (PyObject_CheckBuffer(item) && !PyBytes_Check(item))) {
        call.way = "picked";
        put_whole(&key, &call, item);
    } else {
        put_argument(&key, item);
    }
    PyObject *made = key.full ? not_ours() : carried_out(&key, &call, NULL);
    if (made == NULL && !PyErr_Occurred()) {
        call.args = PyTuple_Pack(1, call.wholes ? call.whole[0] : item);
        call.kwargs = PyDict_New();
        if (call.args && call.kwargs) made = carried_out(&key, &call, NULL);
        Py_XDECREF(call.args);
        Py_XDECREF(call.kwargs);
    }
    release(&call);
    return made;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

/* composed(name, operands, arguments): a row by its name, or NotImplemented. */
static PyObject *composed(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count) {
    if (count != 3 || !PyUnicode_Check(args[0]) || !PyTuple_Check(args[1]) ||
        !PyDict_Check(args[2])) {
        PyErr_SetString(PyExc_TypeError, "composed takes a name, a tuple and a dict");
        return NULL;
    }
    Py_ssize_t operands = PyTuple_GET_SIZE(args[1]), at = 0;
    if (trace == NULL || rg_recording() || rg_any_bits() || operands > MOST_OPERANDS)
        return not_ours();
    Key key = {.size = 0, .full = 0};
    Call call = {.way = "row",
                 .name = args[0],
                 .operands = PySequence_Fast_ITEMS(args[1]),
                 .count = (int)operands,
                 .args = args[1],
                 .kwargs = args[2]};
    PyObject *name, *argument, *names = PyDict_GetItemWithError(whole_names, args[0]);
    int ours = 0;
    put_tag(&key, 'r', (unsigned char)operands);
    put_text(&key, args[0]);
    for (Py_ssize_t i = 0; i < operands && !key.full; i++) {
        ours |= rg_any_node(call.operands[i]) != NULL;
        put_operand(&key, call.operands[i]);
    }
    while (!key.full && PyDict_Next(args[2], &at, &name, &argument)) {
        put_text(&key, name);
        if (names && PySequence_Contains(names, name) == 1)
            put_whole(&key, &call, argument);
        else
            put_argument(&key, argument);
    }
    PyObject *made = key.full || !ours ? not_ours() : carried_out(&key, &call, NULL);
    release(&call);
    return made;
}

/* take_compositions(trace, whole_names, asarray) */
static PyObject *take_compositions(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *function, *names, *array;
    if (!PyArg_ParseTuple(args, "OO!O:take_compositions", &function, &PyDict_Type, &names, &array))
        return NULL;
    if (Program_Type == NULL) Program_Type = (PyTypeObject *)PyType_FromSpec(&program_spec);
    if (Program_Type == NULL) return NULL;
    forget_all();
    Py_XSETREF(trace, Py_NewRef(function));
    Py_XSETREF(whole_names, Py_NewRef(names));
    Py_XSETREF(as_array, Py_NewRef(array));
    Py_RETURN_NONE;
}

PyMethodDef rg_composed_methods[] = {
    {"composed", (PyCFunction)(void (*)(void))composed, METH_FASTCALL,
     RG_DOC("composed($module, name, operands, arguments, /)",
            "A row of the array law by its name; NotImplemented where Python does it.")},
    {"take_compositions", take_compositions, METH_VARARGS,
     RG_DOC("take_compositions($module, trace, whole_names, asarray, /)",
            "Who traces rows and compositions.")},
    {NULL, NULL, 0, NULL},
};
