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
#undef _PyGC_FINALIZED /* defined again, the same, by the headers of the core */
#include <internal/pycore_frame.h>
#include <internal/pycore_pystate.h>
#undef Py_BUILD_CORE
#endif

#define RG_SKIP_FILTER 65536 /* few enough of a program's own fall into those of the package */
extern uint8_t rg_skip_filter[RG_SKIP_FILTER];
void rg_site_capture_caller(Value *v);

/* Where frames of this package were called from, while rows run one after the other below them and no
 * Python code does: else NULL. */
extern PyCodeObject *rg_site_known;
extern uint32_t rg_site_known_at;
int rg_site_begin(void);
void rg_site_end(void);

static inline uint8_t *rg_skip_place(PyObject *code) {
    return &rg_skip_filter[((uintptr_t)code >> 4) % RG_SKIP_FILTER];
}

static inline int rg_site_is_known(PyCodeObject **code, uint32_t *instruction) {
    if (rg_site_known == NULL) return 0;
    *code = (PyCodeObject *)Py_NewRef((PyObject *)rg_site_known);
    *instruction = rg_site_known_at;
    return 1;
}

/* The place where Python code now runs, if that is plain to see: `code` is then a new reference. */
static inline int rg_site_quick(PyCodeObject **code, uint32_t *instruction) {
#if PY_VERSION_HEX >= 0x030D0000
    struct _PyInterpreterFrame *frame = PyThreadState_GetUnchecked()->current_frame;
#elif PY_VERSION_HEX >= 0x030C0000
    struct _PyInterpreterFrame *frame = _PyThreadState_UncheckedGet()->cframe->current_frame;
#elif PY_VERSION_HEX >= 0x030B0000
    struct _PyInterpreterFrame *frame = _PyThreadState_GET()->cframe->current_frame;
#else
    PyFrameObject *frame = _PyThreadState_UncheckedGet()->frame;
#endif
    if (RG_UNLIKELY(frame == NULL)) return 0;
#if PY_VERSION_HEX >= 0x030C0000
    PyObject *found = PyUnstable_InterpreterFrame_GetCode(frame); /* a new reference */
    if (RG_UNLIKELY(*rg_skip_place(found) || !PyCode_Check(found))) {
        Py_DECREF(found);
        return rg_site_is_known(code, instruction);
    }
    *instruction = (uint32_t)PyUnstable_InterpreterFrame_GetLasti(frame);
#else
    PyObject *found = (PyObject *)frame->f_code;
    if (RG_UNLIKELY(*rg_skip_place(found))) return rg_site_is_known(code, instruction);
    Py_INCREF(found);
#if PY_VERSION_HEX >= 0x030B0000
    *instruction = (uint32_t)((char *)frame->prev_instr - (char *)_PyCode_CODE(frame->f_code));
#else
    *instruction = (uint32_t)frame->f_lasti * 2;
#endif
#endif
    *code = (PyCodeObject *)found;
    return 1;
}

static inline void rg_site_capture(Value *v) {
    if (RG_UNLIKELY(!rg_site_quick(&v->code, &v->instruction))) rg_site_capture_caller(v);
}

#endif
