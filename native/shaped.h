/* Calls of programs with shapes: what shaped.c and shaped_sites.c share. */
#ifndef RG_SHAPED_CALLS_H
#define RG_SHAPED_CALLS_H

#include "retrograde.h"

/* An argument lent to a call. `at` is NULL where it is neither a number nor an array. */
typedef struct {
    const void *at;
    int64_t size;
    double number;
    Py_buffer view;
} RgLent;

/* 0, or -1 with an exception. `lent` is all zeros before. */
int rg_lend(PyObject *object, RgLent *lent);
void rg_unlend(RgLent *lent, Py_ssize_t count);

/* Run a plan; what comes back is what `shaped_run` gives. */
PyObject *rg_shaped_call(PyObject *capsule, const RgLent *lent, Py_ssize_t count,
                         PyObject *captured, PyObject *takers);

/* shaped_sites.c */
int rg_add_shaped_sites(PyObject *module);

#endif
