/* Where a node was made: the code object of the innermost Python frame and the instruction in it.
 *
 * Read straight from the interpreter's frame, which differs by version. Frames that may be of this
 * package itself, by a small filter on the address of the code object, take the slow way. */
#ifndef RETROGRADE_SITES_H
#define RETROGRADE_SITES_H

#include "retrograde.h"

#if PY_VERSION_HEX < 0x030B0000
#include <frameobject.h>
#elif PY_VERSION_HEX < 0x030C0000
#define Py_BUILD_CORE 1
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE
#endif

#define RG_SKIP_FILTER 4096
extern uint8_t rg_skip_filter[RG_SKIP_FILTER];
void rg_site_capture_caller(Value *v);

static inline uint8_t *rg_skip_place(PyObject *code) {
    return &rg_skip_filter[((uintptr_t)code >> 4) % RG_SKIP_FILTER];
}

static inline void rg_site_capture(Value *v) {
#if PY_VERSION_HEX >= 0x030D0000
    struct _PyInterpreterFrame *frame = PyThreadState_GetUnchecked()->current_frame;
#elif PY_VERSION_HEX >= 0x030B0000
    struct _PyInterpreterFrame *frame = _PyThreadState_UncheckedGet()->cframe->current_frame;
#else
    PyFrameObject *frame = _PyThreadState_UncheckedGet()->frame;
#endif
    v->code = NULL;
    if (RG_UNLIKELY(frame == NULL)) return;
#if PY_VERSION_HEX >= 0x030C0000
    PyObject *code = PyUnstable_InterpreterFrame_GetCode(frame); /* a new reference */
    uint32_t instruction = (uint32_t)PyUnstable_InterpreterFrame_GetLasti(frame);
    if (RG_UNLIKELY(*rg_skip_place(code) || !PyCode_Check(code))) {
        Py_DECREF(code);
        rg_site_capture_caller(v);
        return;
    }
#else
#if PY_VERSION_HEX >= 0x030B0000
    uint32_t instruction =
        (uint32_t)((char *)frame->prev_instr - (char *)_PyCode_CODE(frame->f_code));
#else
    uint32_t instruction = (uint32_t)frame->f_lasti * 2;
#endif
    PyObject *code = (PyObject *)frame->f_code;
    if (RG_UNLIKELY(*rg_skip_place(code))) {
        rg_site_capture_caller(v);
        return;
    }
    Py_INCREF(code);
#endif
    v->code = (PyCodeObject *)code;
    v->instruction = instruction;
}

#endif
