/* Runs with Python around them: what replay.c and callsite.c share. */
#ifndef RG_REPLAYING_H
#define RG_REPLAYING_H

#include "replay.h"
#include "retrograde.h"

/* The code of a run, as what keeps it alive: what the keeper holds, or made and kept there. */
PyObject *rg_code_of_run(RgRun *run, PyObject *keeper, const Py_buffer *steps,
                         const Py_buffer *extras);

/* Run one plan; with the GIL where there is little to do. 0, or -1 with an exception. */
int rg_run_alone(RgRun *run, Py_ssize_t threads);

#endif
