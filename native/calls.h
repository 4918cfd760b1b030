/* Method calls of tensors that were made before: see calls.c. */
#ifndef RETROGRADE_CALLS_H
#define RETROGRADE_CALLS_H

#include "tensor.h"

RG_HIDE

/* The program of a call, borrowed, or NULL. */
PyObject *rg_call_found(PyObject *name, PyObject *self, PyObject *const *args, Py_ssize_t count,
                        PyObject *kwnames);
void rg_call_keep(PyObject *name, PyObject *self, PyObject *const *args, Py_ssize_t count,
                  PyObject *kwnames, PyObject *program);
void rg_calls_forget(void);

RG_HIDE_END

#endif
