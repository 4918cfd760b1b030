/* Replay seen from Python: arrays in, arrays out, threads over chunks, the GIL released. */
#include "replay.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "retrograde.h"

static const RgKernels *chosen = NULL;

/* The kernels for this processor, or for a level named by a test. */
static const RgKernels *kernels_for(const char *level) {
#if defined(RG_HAS_v4)
    __builtin_cpu_init();
    int v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
    int v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (!strcmp(level, "v4") || (!*level && v4)) return v4 ? &rg_kernels_v4 : NULL;
    if (!strcmp(level, "v3") || (!*level && v3)) return v3 ? &rg_kernels_v3 : NULL;
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
    return PyUnicode_FromString(found->level);
}

static const RgKernels *kernels(void) {
    if (chosen == NULL) chosen = kernels_for("");
    return chosen;
}

typedef struct {
    RgRun run;
    size_t chunks;
    atomic_size_t next;
    atomic_int stop; /* 1: interrupted, 2: a take out of range, 3: out of memory */
} Job;

#define BETWEEN_CHECKS 20000000 /* nanoseconds between looks for Ctrl-C */

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Take chunks until there are none left. The calling thread also looks for Ctrl-C. */
static void work(Job *job, int is_caller) {
    size_t slot_bytes = (job->run.slots + 1) * job->run.block * sizeof(double);
    double *slots = aligned_alloc(64, (slot_bytes + 63) & ~(size_t)63);
    double *sums = malloc((job->run.sum_count + 1) * 8 * sizeof(double));
    int64_t last = now();
    if (slots == NULL || sums == NULL) atomic_store(&job->stop, 3);
    while (!atomic_load(&job->stop)) {
        size_t chunk = atomic_fetch_add(&job->next, 1);
        if (chunk >= job->chunks) break;
        if (rg_run_chunk(&job->run, chunk, slots, sums) < 0) atomic_store(&job->stop, 2);
        if (is_caller && now() - last > BETWEEN_CHECKS) {
            PyGILState_STATE held = PyGILState_Ensure();
            if (PyErr_CheckSignals() < 0) atomic_store(&job->stop, 1);
            PyGILState_Release(held);
            last = now();
        }
    }
    free(slots);
    free(sums);
}

static void *worker(void *job) {
    work(job, 0);
    return NULL;
}

#define MOST_THREADS 64

static void run_threads(Job *job, Py_ssize_t threads) {
    pthread_t started[MOST_THREADS];
    Py_ssize_t count = 0, wanted = threads - 1;
    if (wanted > (Py_ssize_t)job->chunks - 1) wanted = (Py_ssize_t)job->chunks - 1;
    for (; count < wanted && count < MOST_THREADS; count++)
        if (pthread_create(&started[count], NULL, worker, job) != 0) break;
    work(job, 1);
    for (Py_ssize_t i = 0; i < count; i++) pthread_join(started[i], NULL);
}

/* The uniform steps: the same interpreter on one block of eight equal lanes. */
static int run_uniform(const RgRun *run, const RgStep *steps, size_t count) {
    RgRun once = *run;
    once.steps = steps;
    once.step_count = count;
    once.block = 8;
    once.rows = 1;
    once.sum_count = 0;
    double none;
    once.sums = &none;
    return rg_run_chunk(&once, 0, run->uniforms, &none);
}

static int columns_of(PyObject *list, RgColumn **columns, Py_ssize_t *count) {
    *count = PyList_GET_SIZE(list);
    *columns = rg_buffer_resize(NULL, (size_t)(*count + 1) * sizeof(RgColumn));
    for (Py_ssize_t i = 0; *columns && i < *count; i++) {
        Py_ssize_t address, stride;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(list, i), "nn", &address, &stride)) return -1;
        (*columns)[i] = (RgColumn){(char *)address, stride};
    }
    return *columns ? 0 : -1;
}

/* replay(steps, uniform_steps, extras, uniforms, slots, block, rows, inputs, outputs, sums, failed,
 * threads): the arrays are buffers; inputs and outputs are lists of (address, stride). The caller
 * has checked the plan and keeps every array alive. */
static PyObject *replay(PyObject *Py_UNUSED(module), PyObject *args) {
    Py_buffer steps, uniform_steps, extras, uniforms, sums, failed;
    Py_ssize_t slots, block, rows, threads, input_count, output_count;
    PyObject *inputs, *outputs, *result = NULL;
    if (!PyArg_ParseTuple(args, "y*y*y*w*nnnO!O!w*w*n:replay", &steps, &uniform_steps, &extras,
                          &uniforms, &slots, &block, &rows, &PyList_Type, &inputs, &PyList_Type,
                          &outputs, &sums, &failed, &threads))
        return NULL;
    RgColumn *input_columns = NULL, *output_columns = NULL;
    size_t chunks = ((size_t)rows + RG_CHUNK - 1) / RG_CHUNK;
    Job job = {.chunks = chunks};
    if (columns_of(inputs, &input_columns, &input_count) == 0 &&
        columns_of(outputs, &output_columns, &output_count) == 0) {
        job.run = (RgRun){
            .kernels = kernels(),
            .steps = steps.buf,
            .step_count = (size_t)steps.len / sizeof(RgStep),
            .extras = extras.buf,
            .uniforms = uniforms.buf,
            .slots = (size_t)slots,
            .block = (size_t)block,
            .rows = (size_t)rows,
            .inputs = input_columns,
            .outputs = output_columns,
            .sums = sums.buf,
            .sum_count = chunks ? (size_t)sums.len / sizeof(double) / chunks : 0,
            .failed = failed.len ? failed.buf : NULL,
        };
        Py_BEGIN_ALLOW_THREADS if (run_uniform(&job.run, uniform_steps.buf,
                                               (size_t)uniform_steps.len / sizeof(RgStep)) < 0)
            atomic_store(&job.stop, 2);
        else if (rows) run_threads(&job, threads);
        Py_END_ALLOW_THREADS int stop = atomic_load(&job.stop);
        if (stop == 2) rg_fail("TakeError", "rows", "()");
        if (stop == 3) rg_fail("GraphMemoryError", "of", "n", slots * block * 8);
        if (stop == 0) result = Py_NewRef(Py_None);
    }
    rg_buffer_free(input_columns);
    rg_buffer_free(output_columns);
    PyBuffer_Release(&steps);
    PyBuffer_Release(&uniform_steps);
    PyBuffer_Release(&extras);
    PyBuffer_Release(&uniforms);
    PyBuffer_Release(&sums);
    PyBuffer_Release(&failed);
    return result;
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
    if (RG_OPS[op].arity == 1) k->unary[op](out, lanes[0], 8);
    if (RG_OPS[op].arity == 2) k->binary[op](out, lanes[0], lanes[1], 0, 8);
    if (RG_OPS[op].arity == 3) k->ternary[op](out, lanes[0], lanes[1], lanes[2], 0, 8);
    return PyFloat_FromDouble(out[0]);
}

PyMethodDef rg_replay_methods[] = {
    {"replay", replay, METH_VARARGS, "Run a plan over rows."},
    {"evaluate", evaluate, METH_VARARGS, "One row of the law by the replay kernels."},
    {"use_kernels", use_kernels, METH_O, "Choose the SIMD level; '' is the best there is."},
    {NULL, NULL, 0, NULL},
};
