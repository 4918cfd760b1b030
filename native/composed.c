/* Rows by their names, and compositions of rows, without a word of Python from the second time on.
 *
 * What a composition does depends on shapes and arguments alone. So Python traces it once
 * (retrograde._tensors.tracing), and what it did is kept: a program of steps, each one row, found
 * again by a key of name, shapes and arguments. Nodes are those that Python would have made. */
#include "composed.h"
#include "calls.h"

enum { TABLE = 4096 };

static RgProgram *table[TABLE];
static size_t kept = 0;
static PyObject *trace = NULL;       /* trace(way, name, operands, args, kwargs) */
static PyObject *whole_names = NULL; /* rows to the names of their whole numbers */
static PyObject *as_array = NULL;    /* numpy.asarray */

/* ---- what is known --------------------------------------------------------------------------------- */

static RgProgram *found(const RgKey *key, uint64_t hash) {
    for (size_t slot = hash % TABLE; table[slot]; slot = (slot + 1) % TABLE) {
        RgProgram *program = table[slot];
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

/* Whole numbers by their shape; what they are is asked when a program runs. */
static void put_whole(RgKey *key, Call *call, PyObject *given) {
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
        rg_key_shape(key, 'w', view->ndim, view->shape);
    else
        key->full = 1;
}

/* The whole numbers a ready row is given, as its nodes keep them, counted from the front. NULL
 * without an exception where one is out of range. */
static RgBuffer *gathered(const RgTracedStep *step, const Call *call) {
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

static PyObject *run_step(const RgProgram *program, const RgTracedStep *step,
                          PyObject *const *slots, const Call *call) {
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

/* What a softmax is shifted by, made at once: the largest of each line, 0 where that is infinite. NULL
 * without an exception where it has to be made step by step. */
static PyObject *shifted(const RgTracedStep *step, PyObject *const *slots) {
    const RgReady *ready = step->ready;
    const RgChoice *choice = &ready->choice;
    if (!rg_is_tensor(slots[step->shifts])) return NULL;
    const RgBody *x = rg_body(rg_node_of(slots[step->shifts]));
    if (x->at == NULL || !x->contiguous || x->size != choice->outer * choice->n) return NULL;
    Value *z = rg_tensor_blank(ready->ndim, 0);
    if (z == NULL) return NULL;
    for (int d = 0; d < ready->ndim; d++) rg_body(z)->shape[d] = ready->shape[d];
    PyObject *handle = NULL;
    if (rg_tensor_room(z) == 0) {
        double *to = rg_body(z)->at;
        rg_largest(choice->outer, choice->n, x->at, to);
        for (Py_ssize_t i = 0; i < choice->outer; i++)
            if (isinf(to[i])) to[i] = 0.0;
        handle = rg_tensor_handle(z);
    }
    Py_DECREF((PyObject *)z);
    return handle;
}

/* Whether the numbers of all operands are there: then no step runs Python code. */
static int all_present(const RgProgram *program, const Call *call) {
    for (int i = 0; i < program->operands; i++) {
        PyObject *operand = call->operands[i];
        if (rg_is_tensor(operand) ? rg_body(rg_node_of(operand))->at == NULL
                                  : !rg_is_value(operand) && !PyFloat_CheckExact(operand))
            return 0;
    }
    return 1;
}

/* What a program makes of a call; NotImplemented where Python has to say what is wrong. */
static PyObject *run(const RgProgram *program, const Call *call) {
    PyObject *slots[MOST_SLOTS], *result = NULL;
    int made = program->operands, site = 0;
    if (program->steps == 1 && program->result == program->operands)
        return run_step(program, &program->step[0], call->operands, call);
    for (int i = 0; i < program->operands; i++) slots[i] = call->operands[i];
    if (rg_site_known == NULL && rg_modes_active == 0 && all_present(program, call))
        site = rg_site_begin();
    int fused = program->fused && rg_modes_active == 0;
    for (int i = 0; i < program->steps; i++) {
        const RgTracedStep *step = &program->step[i];
        PyObject *now = NULL;
        if (fused && step->skipped) {
            slots[made++] = NULL;
            continue;
        }
        if (fused && step->shifts >= 0) {
            now = shifted(step, slots);
            for (int k = 4; now == NULL && !PyErr_Occurred() && k > 0; k--) {
                slots[made - k] = run_step(program, step - k, slots, call);
                if (slots[made - k] == NULL || slots[made - k] == Py_NotImplemented) {
                    result = slots[made - k];
                    slots[made - k] = NULL;
                    goto done;
                }
            }
        }
        if (now == NULL && !PyErr_Occurred()) now = run_step(program, step, slots, call);
        if (now == NULL || now == Py_NotImplemented) {
            result = now;
            goto done;
        }
        slots[made++] = now;
    }
    result = Py_NewRef(slots[program->result]);
done:
    if (site) rg_site_end();
    while (made > program->operands) Py_XDECREF(slots[--made]);
    return result;
}

/* How Python would do a call, as a program. */
static RgProgram *traced(const RgKey *key, uint64_t hash, const Call *call) {
    RgProgram *program = rg_program_new(call->count);
    if (program == NULL) return NULL;
    program->hash = hash;
    program->key_size = key->size;
    program->key = rg_buffer_resize(NULL, key->size + 1);
    PyObject *operands = program->key ? PyTuple_New(call->count) : NULL;
    for (int i = 0; operands && i < call->count; i++)
        PyTuple_SET_ITEM(operands, i, Py_NewRef(call->operands[i]));
    PyObject *steps = operands ? PyObject_CallFunction(trace, "sOOOO", call->way, call->name,
                                                       operands, call->args, call->kwargs)
                               : NULL;
    program->known = steps && rg_program_read(program, steps);
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

static PyObject *run_held(RgProgram *program, const Call *call) {
    Py_INCREF((PyObject *)program);
    PyObject *made = run(program, call);
    Py_DECREF((PyObject *)program);
    return made;
}

static PyObject *not_ours(void) { return Py_NewRef(Py_NotImplemented); }

/* `again` is set to the program where it may be run at once the next time. */
static PyObject *carried_out(const RgKey *key, const Call *call, PyObject **again) {
    uint64_t hash = rg_key_hash(key);
    RgProgram *program = found(key, hash);
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
    if (RG_LIKELY(again != NULL)) return run_held((RgProgram *)again, &call);
    RgKey key = {.size = 0, .full = 0};
    rg_key_text(&key, name);
    rg_key_operand(&key, self);
    for (Py_ssize_t i = 0; i < count; i++) rg_key_argument(&key, args[i]);
    for (Py_ssize_t i = 0; i < named; i++) {
        rg_key_tag(&key, 'k', 0);
        rg_key_text(&key, PyTuple_GET_ITEM(kwnames, i));
        rg_key_argument(&key, args[count + i]);
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
    RgKey key = {.size = 0, .full = 0};
    Call call = {.way = "method", .name = name, .operands = &self, .count = 1};
    rg_key_text(&key, name);
    rg_key_operand(&key, self);
    if (PyList_CheckExact(item) || (PyObject_CheckBuffer(item) && !PyBytes_Check(item))) {
        call.way = "picked";
        put_whole(&key, &call, item);
    } else {
        rg_key_argument(&key, item);
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
    RgKey key = {.size = 0, .full = 0};
    Call call = {.way = "row",
                 .name = args[0],
                 .operands = PySequence_Fast_ITEMS(args[1]),
                 .count = (int)operands,
                 .args = args[1],
                 .kwargs = args[2]};
    PyObject *name, *argument, *names = PyDict_GetItemWithError(whole_names, args[0]);
    int ours = 0;
    rg_key_tag(&key, 'r', (unsigned char)operands);
    rg_key_text(&key, args[0]);
    for (Py_ssize_t i = 0; i < operands && !key.full; i++) {
        ours |= rg_any_node(call.operands[i]) != NULL;
        rg_key_operand(&key, call.operands[i]);
    }
    while (!key.full && PyDict_Next(args[2], &at, &name, &argument)) {
        rg_key_text(&key, name);
        if (names && PySequence_Contains(names, name) == 1)
            put_whole(&key, &call, argument);
        else
            rg_key_argument(&key, argument);
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
    if (rg_programs_begin() < 0) return NULL;
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
