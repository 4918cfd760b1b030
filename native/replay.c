/* Replay seen from Python: arrays in, arrays out, threads over chunks, the GIL released. */
#include "replay.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "kernels/arrays.h"
#include "replaying.h"

static const RgKernels *chosen = NULL;

/* The kernels for this processor, or for a level named by a test. */
static const RgKernels *kernels_for(const char *level) {
#if defined(RG_HAS_v4)
    int v3 = rg_x86_level() >= 3, v4 = rg_x86_level() >= 4;
    if (!strcmp(level, "v4") || (!*level && v4)) return v4 ? &rg_kernels_v4 : NULL;
    if (!strcmp(level, "v4_narrow")) return v4 ? &rg_kernels_v4_narrow : NULL;
    if (!strcmp(level, "v3") || (!*level && v3)) return v3 ? &rg_kernels_v3 : NULL;
#elif defined(RG_HAS_neon)
    if (!*level || !strcmp(level, "neon")) return &rg_kernels_neon;
#endif
    return !*level || !strcmp(level, "base") ? &rg_kernels_base : NULL;
}

/* use_kernels(level) -> the level in use; "" is the best of this processor. */
static PyObject *use_kernels(PyObject *Py_UNUSED(module), PyObject *level) {
    const char *name = PyUnicode_AsUTF8(level);
    if (name == NULL) return NULL;
    const RgKernels *found = kernels_for(name);
    if (found == NULL) {
        PyErr_Format(PyExc_ValueError, "this processor has no SIMD level '%s'", name);
        return NULL;
    }
    chosen = found;
    rg_use_arrays(name); /* those for few rows are replay's alone */
    return PyUnicode_FromString(found->level);
}

static const RgKernels *kernels(void) {
    if (chosen == NULL) chosen = kernels_for("");
    return chosen;
}

#define FEW 4 /* vectors: for so many a tile of one each time is faster than part of a wide tile */

/* The kernels for so many rows. */
const RgKernels *rg_kernels_of(size_t rows) {
    const RgKernels *best = kernels();
#if defined(RG_HAS_neon)
    if (rows == 1 && best == &rg_kernels_neon) return &rg_kernels_neon_one;
#endif
#if defined(RG_HAS_one)
    if (rows == 1 && (best == &rg_kernels_v4 || best == &rg_kernels_v3)) return &rg_kernels_v3_one;
#endif
#if defined(RG_HAS_v4)
    if (best == &rg_kernels_v4 && rows <= FEW * rg_kernels_v4_narrow.lanes)
        return &rg_kernels_v4_narrow;
#endif
    return best;
}

/* Runs that are done together: each is a plan over some rows. Threads take chunks of any of them. */
typedef struct {
    RgRun run;
    size_t first_chunk; /* in the numbering over all of them */
} Part;

typedef struct {
    Part *parts;
    size_t part_count, chunks, arena_bytes, sum_bytes;
    atomic_size_t next;
    atomic_int stop; /* 1: interrupted, 2: a take out of range, 3: out of memory */
} Job;

#define BETWEEN_CHECKS 20000000 /* nanoseconds between looks for Ctrl-C */

/* ---- working memory, kept between runs: fresh pages cost as much as running a short plan ---- */

typedef struct {
    size_t bytes;
    _Alignas(64) double numbers[];
} Memory;

#define KEPT 4
#define KEPT_BYTES (4 << 20) /* at most: a run that needs more gets it anew each time */

static _Atomic(Memory *) kept[KEPT];

static Memory *borrow(size_t bytes) {
    for (int i = 0; i < KEPT; i++) {
        Memory *found = atomic_exchange(&kept[i], NULL);
        if (found != NULL && found->bytes >= bytes) return found;
        rg_aligned_free(found);
    }
    Memory *made = rg_aligned_take(sizeof(Memory) + bytes);
    if (made != NULL) made->bytes = bytes;
    return made;
}

static void give_back(Memory *memory) {
    if (memory != NULL && memory->bytes <= KEPT_BYTES)
        for (int i = 0; i < KEPT && memory != NULL; i++) memory = atomic_exchange(&kept[i], memory);
    rg_aligned_free(memory);
}

/* Take chunks until there are none left. The calling thread also looks for Ctrl-C. */
static void work(Job *job, int is_caller) {
    Memory *memory = borrow(job->arena_bytes + job->sum_bytes);
    double *sums = memory == NULL ? NULL : memory->numbers;
    double *arena = memory == NULL ? NULL : sums + job->sum_bytes / sizeof(double);
    int64_t last = rg_nanoseconds();
    size_t part = 0, filled = job->part_count; /* whose uniform numbers are in the arena */
    if (memory == NULL) atomic_store(&job->stop, 3);
    while (!atomic_load(&job->stop)) {
        size_t chunk = atomic_fetch_add(&job->next, 1);
        if (chunk >= job->chunks) break;
        while (part + 1 < job->part_count && job->parts[part + 1].first_chunk <= chunk) part++;
        const Part *mine = &job->parts[part];
        const RgRun *run = &mine->run;
        if ((filled != part && rg_run_uniform(run, arena) < 0) ||
            rg_run_chunk(run, chunk - mine->first_chunk, arena, sums) < 0)
            atomic_store(&job->stop, 2);
        filled = part;
        if (is_caller && rg_nanoseconds() - last > BETWEEN_CHECKS) {
            PyGILState_STATE held = PyGILState_Ensure();
            if (PyErr_CheckSignals() < 0) atomic_store(&job->stop, 1);
            PyGILState_Release(held);
            last = rg_nanoseconds();
        }
    }
    give_back(memory);
}

static void worker(void *job) { work(job, 0); }

#define MOST_THREADS 64

static void run_threads(Job *job, Py_ssize_t threads) {
    RgThread started[MOST_THREADS];
    Py_ssize_t count = 0, wanted = threads - 1;
    if (wanted > (Py_ssize_t)job->chunks - 1) wanted = (Py_ssize_t)job->chunks - 1;
    for (; count < wanted && count < MOST_THREADS; count++)
        if (rg_thread_begin(&started[count], worker, job) < 0) break;
    work(job, 1);
    for (Py_ssize_t i = 0; i < count; i++) rg_thread_wait(started[i]);
}

#define BUFFERS 8

/* What Python gave for one part, held until it is done. */
typedef struct {
    Py_buffer buffers[BUFFERS]; /* steps, uniform steps, extras, columns, uniforms, index, sums,
                                   failed */
    RgColumn *inputs;
    PyObject *code;
} Held;

static void let_go(Held *held) {
    for (int i = 0; i < BUFFERS; i++) PyBuffer_Release(&held->buffers[i]);
    rg_buffer_free(held->inputs);
    Py_XDECREF(held->code);
}

/* A plan's steps as code for some kernels, kept beside the plan for the next run. */
typedef struct {
    const RgKernels *kernels;
    RgCode *code;
    uint32_t *extras;
    RgCounts counts;
} Encoded;

#define CODE_NAME "retrograde code"

static void forget(PyObject *capsule) {
    Encoded *encoded = PyCapsule_GetPointer(capsule, CODE_NAME);
    free(encoded->code);
    free(encoded->extras);
    free(encoded);
}

static PyObject *code_failed(RgRun *run, Encoded *encoded) {
    free(run->code);
    free(run->extras);
    free(encoded);
    rg_fail("GraphMemoryError", "of", "n", (Py_ssize_t)(rg_arena_size(run) * sizeof(double)));
    return NULL;
}

/* A compiled program, and which of a plan's uniform numbers it is given. */
typedef struct {
    const RgCompiled *program;
    size_t done; /* steps in whose place it runs, when loops go round; 0: not counted yet */
    uint32_t given[];
} Compiled;

#define COMPILED_NAME "retrograde compiled"

static void forget_compiled(PyObject *capsule) {
    free(PyCapsule_GetPointer(capsule, COMPILED_NAME));
}

/* compiled_code(address, given) -> what the keeper of a plan's code holds in its last place, so that
 * the program of a library runs instead of the steps. The library stays loaded. */
static PyObject *compiled_code(PyObject *Py_UNUSED(module), PyObject *args) {
    unsigned long long address;
    Py_buffer given;
    if (!PyArg_ParseTuple(args, "Ky*:compiled_code", &address, &given)) return NULL;
    const RgCompiled *program = (const RgCompiled *)(uintptr_t)address;
    size_t count = (size_t)given.len / sizeof(uint32_t);
    PyObject *capsule = NULL;
    if (program->version != RG_COMPILED_VERSION || program->given != count) {
        PyErr_SetString(PyExc_ValueError, "the library is of another version");
    } else {
        Compiled *made = malloc(sizeof(Compiled) + (size_t)given.len);
        if (made == NULL) {
            PyErr_NoMemory();
        } else {
            made->program = program;
            made->done = 0;
            memcpy(made->given, given.buf, (size_t)given.len);
            capsule = PyCapsule_New(made, COMPILED_NAME, forget_compiled);
            if (capsule == NULL) free(made);
        }
    }
    PyBuffer_Release(&given);
    return capsule;
}

/* The code of a run: what the keeper holds; or made and kept there. It is a list with a place for
 * code that is for one row, for few and for many, and one for a compiled program. */
PyObject *rg_code_of_run(RgRun *run, PyObject *keeper, const Py_buffer *steps,
                         const Py_buffer *extras) {
    PyObject *last = PyList_GET_ITEM(keeper, PyList_GET_SIZE(keeper) - 1);
    if (PyCapsule_IsValid(last, COMPILED_NAME)) {
        Compiled *compiled = PyCapsule_GetPointer(last, COMPILED_NAME);
        size_t count = (size_t)steps->len / sizeof(RgStep);
        if (!compiled->done) compiled->done = rg_done_steps(steps->buf, count) + 1;
        run->counts.done = compiled->done;
        run->compiled = compiled->program;
        run->given = compiled->given;
        return Py_NewRef(last);
    }
    Py_ssize_t place = run->kernels == kernels() ? 2 : run->kernels->lanes > 1;
    PyObject *kept = PyList_GET_ITEM(keeper, place);
    if (PyCapsule_IsValid(kept, CODE_NAME)) {
        const Encoded *known = PyCapsule_GetPointer(kept, CODE_NAME);
        run->code = known->code;
        run->extras = known->extras;
        run->counts = known->counts;
        if (known->kernels == run->kernels) return Py_NewRef(kept);
    }
    run->code = NULL;
    run->extras = NULL;
    Encoded *encoded = malloc(sizeof(Encoded));
    if (encoded == NULL || rg_encode(run, steps->buf, (size_t)steps->len / sizeof(RgStep),
                                     extras->buf, (size_t)extras->len / sizeof(uint32_t)) < 0)
        return code_failed(run, encoded);
    *encoded = (Encoded){run->kernels, run->code, run->extras, run->counts};
    PyObject *capsule = PyCapsule_New(encoded, CODE_NAME, forget);
    if (capsule == NULL) return code_failed(run, encoded);
    PyList_SetItem(keeper, place, Py_NewRef(capsule));
    return capsule;
}

/* One part from (steps, uniform_steps, extras, columns, uniforms, uniform places, slots, rows, index,
 * sums, failed, the keeper of its code). */
static int take_part(PyObject *given, const Py_buffer *inputs, const Py_buffer *outputs, Held *held,
                     RgRun *run) {
    Py_buffer *b = held->buffers;
    Py_ssize_t places, slots, rows;
    PyObject *keeper;
    if (!PyArg_ParseTuple(given, "y*y*y*y*y*nnny*w*w*O!:replay", &b[0], &b[1], &b[2], &b[3], &b[4],
                          &places, &slots, &rows, &b[5], &b[6], &b[7], &PyList_Type, &keeper))
        return -1;
    size_t columns = (size_t)b[3].len / sizeof(uint32_t);
    size_t chunks = ((size_t)rows + RG_CHUNK - 1) / RG_CHUNK;
    held->inputs = rg_buffer_resize(NULL, (columns + 1) * sizeof(RgColumn));
    if (held->inputs == NULL) return -1;
    for (size_t i = 0; i < columns; i++)
        held->inputs[i] = ((const RgColumn *)inputs->buf)[((const uint32_t *)b[3].buf)[i]];
    *run = (RgRun){
        .kernels = rg_kernels_of((size_t)rows),
        .uniforms = b[4].buf,
        .known = (size_t)b[4].len / sizeof(double),
        .uniform_count = (size_t)places,
        .once = b[1].buf,
        .once_count = (size_t)b[1].len / sizeof(RgStep),
        .once_extras = b[2].buf,
        .slots = (size_t)slots,
        .rows = (size_t)rows,
        .index = b[5].len ? b[5].buf : NULL,
        .inputs = held->inputs,
        .columns = inputs->buf,
        .outputs = outputs->buf,
        .sums = b[6].buf,
        .sum_count = chunks ? (size_t)b[6].len / sizeof(double) / chunks : 0,
        .failed = b[7].len ? b[7].buf : NULL,
    };
    held->code = rg_code_of_run(run, keeper, &b[0], &b[2]);
    return held->code == NULL ? -1 : 0;
}

/* What one more part asks for. */
static void count_in(Job *job, Part *part) {
    const RgRun *run = &part->run;
    size_t arena_bytes = rg_arena_size(run) * sizeof(double);
    size_t sum_bytes = (run->sum_count + 1) * 8 * sizeof(double);
    if (arena_bytes > job->arena_bytes) job->arena_bytes = arena_bytes;
    if (sum_bytes > job->sum_bytes) job->sum_bytes = sum_bytes;
    part->first_chunk = job->chunks;
    job->chunks += rg_chunks(run);
}

/* Say what stopped a job; 0 where nothing did. */
static int fail_stopped(Job *job) {
    int stop = atomic_load(&job->stop);
    if (stop == 2) rg_fail("TakeError", "rows", "()");
    if (stop == 3) rg_fail("GraphMemoryError", "of", "n", (Py_ssize_t)job->arena_bytes);
    return stop ? -1 : 0;
}

#define AT_ONCE 32768 /* steps: so few are done sooner than the GIL is given away and taken back */

int rg_run_alone(RgRun *run, Py_ssize_t threads) {
    Part part = {.run = *run};
    Job job = {.parts = &part, .part_count = 1};
    count_in(&job, &part);
    if (run->counts.done * run->rows <= AT_ONCE) {
        work(&job, 0);
    } else {
        Py_BEGIN_ALLOW_THREADS;
        run_threads(&job, threads);
        Py_END_ALLOW_THREADS;
    }
    return fail_stopped(&job);
}

/* replay(parts, inputs, outputs, threads): each part is a plan and its rows, as `take_part` reads
 * them; inputs and outputs are buffers of (address, stride); an empty index is none. The caller has
 * checked the plans and keeps every array alive. */
static PyObject *replay(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *list, *result = NULL;
    Py_buffer inputs, outputs;
    Py_ssize_t threads;
    if (!PyArg_ParseTuple(args, "O!y*y*n:replay", &PyList_Type, &list, &inputs, &outputs, &threads))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(list), taken = 0;
    Held *held = rg_buffer_resize(NULL, (size_t)(count + 1) * sizeof(Held));
    Job job = {.parts = rg_buffer_resize(NULL, (size_t)(count + 1) * sizeof(Part)),
               .part_count = (size_t)count};
    if (held != NULL && job.parts != NULL) {
        memset(held, 0, (size_t)(count + 1) * sizeof(Held));
        while (taken < count && take_part(PyList_GET_ITEM(list, taken), &inputs, &outputs,
                                          &held[taken], &job.parts[taken].run) == 0)
            taken++;
        if (taken == count) {
            Py_BEGIN_ALLOW_THREADS;
            for (size_t i = 0; i < job.part_count; i++) count_in(&job, &job.parts[i]);
            if (job.chunks) run_threads(&job, threads);
            Py_END_ALLOW_THREADS;
            if (fail_stopped(&job) == 0) result = Py_NewRef(Py_None);
        }
        for (Py_ssize_t i = 0; i < count; i++) let_go(&held[i]);
    }
    rg_buffer_free(held);
    rg_buffer_free(job.parts);
    PyBuffer_Release(&inputs);
    PyBuffer_Release(&outputs);
    return result;
}

/* tile_lanes() -> how many rows a thread works on at once, at the SIMD level in use. */
static PyObject *tile_lanes(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    return PyLong_FromSize_t(kernels()->lanes);
}

/* evaluate(op, numbers) -> float: one row by the replay kernels, for folding constants. */
static PyObject *evaluate(PyObject *Py_UNUSED(module), PyObject *args) {
    int op;
    PyObject *numbers;
    if (!PyArg_ParseTuple(args, "iO!:evaluate", &op, &PyTuple_Type, &numbers)) return NULL;
    double lanes[3][8], out[8];
    if (op < 0 || op >= RG_OP_COUNT || PyTuple_GET_SIZE(numbers) != RG_OPS[op].arity) {
        PyErr_SetString(PyExc_ValueError, "evaluate takes a row and its operands");
        return NULL;
    }
    for (int i = 0; i < RG_OPS[op].arity; i++) {
        double number = PyFloat_AsDouble(PyTuple_GET_ITEM(numbers, i));
        if (number == -1.0 && PyErr_Occurred()) return NULL;
        for (int j = 0; j < 8; j++) lanes[i][j] = number;
    }
    const RgKernels *k = kernels();
    if (RG_OPS[op].arity == 1) k->unary[op](out, lanes[0]);
    if (RG_OPS[op].arity == 2) k->binary[op](out, lanes[0], lanes[1]);
    if (RG_OPS[op].arity == 3) k->ternary[op](out, lanes[0], lanes[1], lanes[2]);
    return PyFloat_FromDouble(out[0]);
}

PyMethodDef rg_replay_methods[] = {
    {"compiled_code", compiled_code, METH_VARARGS,
     RG_DOC("compiled_code($module, address, given, /)", "Run a library's program for a plan.")},
    {"replay", replay, METH_VARARGS,
     RG_DOC("replay($module, parts, inputs, outputs, threads, /)", "Run a plan over rows.")},
    {"evaluate", evaluate, METH_VARARGS,
     RG_DOC("evaluate($module, op, numbers, /)", "One row of the law by the replay kernels.")},
    {"tile_lanes", tile_lanes, METH_NOARGS,
     RG_DOC("tile_lanes($module, /)", "How many rows a thread works on at once.")},
    {"use_kernels", use_kernels, METH_O,
     RG_DOC("use_kernels($module, level, /)", "Choose the SIMD level; '' is the best there is.")},
    {NULL, NULL, 0, NULL},
};
