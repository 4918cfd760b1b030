/* Where a node was made, off the fast path: frames of this package itself are passed over, by a
 * small table of their code objects. */
#include "tensor.h"

#define SKIP_SLOTS 4096
static PyObject *skip[SKIP_SLOTS];
uint8_t rg_skip_filter[RG_SKIP_FILTER];
PyCodeObject *rg_site_known = NULL;
uint32_t rg_site_known_at = 0;

static size_t skip_slot(PyObject *code) { return ((uintptr_t)code >> 4) % SKIP_SLOTS; }

static int is_skipped(PyObject *code) {
    for (size_t slot = skip_slot(code); skip[slot]; slot = (slot + 1) % SKIP_SLOTS)
        if (skip[slot] == code) return 1;
    return 0;
}

/* skip_sites(codes): nodes made while these code objects run belong to their caller's line. */
PyObject *rg_site_skip(PyObject *Py_UNUSED(module), PyObject *codes) {
    static Py_ssize_t used = 0;
    PyObject *list = PySequence_Fast(codes, "skip_sites takes a list of code objects");
    if (list == NULL) return NULL;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); i++) {
        PyObject *code = PySequence_Fast_GET_ITEM(list, i);
        if (!PyCode_Check(code) || used >= SKIP_SLOTS / 2) {
            Py_DECREF(list);
            PyErr_SetString(PyExc_ValueError, "skip_sites takes at most 2,048 code objects");
            return NULL;
        }
        if (is_skipped(code)) continue;
        size_t slot = skip_slot(code);
        while (skip[slot]) slot = (slot + 1) % SKIP_SLOTS;
        skip[slot] = Py_NewRef(code);
        *rg_skip_place(code) = 1;
        used++;
    }
    Py_DECREF(list);
    Py_RETURN_NONE;
}

#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000

/* The first frame that is not passed over, without making objects of the frames above it. */
void rg_site_capture_caller(Value *v) {
    const _PyInterpreterFrame *frame = _PyThreadState_GET()->cframe->current_frame;
    while (frame && (_PyFrame_IsIncomplete((_PyInterpreterFrame *)frame) ||
                     is_skipped((PyObject *)frame->f_code)))
        frame = frame->previous;
    v->code = NULL;
    if (frame == NULL) return;
    v->code = (PyCodeObject *)Py_NewRef((PyObject *)frame->f_code);
    v->instruction = (uint32_t)((char *)frame->prev_instr - (char *)_PyCode_CODE(frame->f_code));
}

#else

/* The slow way, by frame objects: the first frame that is not passed over. */
void rg_site_capture_caller(Value *v) {
    v->code = NULL;
    PyFrameObject *frame = PyEval_GetFrame();
    Py_XINCREF((PyObject *)frame);
    while (frame) {
        PyCodeObject *code = PyFrame_GetCode(frame);
        if (!is_skipped((PyObject *)code)) {
            v->code = code;
#if PY_VERSION_HEX >= 0x030B0000
            v->instruction = (uint32_t)PyFrame_GetLasti(frame);
#else
            v->instruction = (uint32_t)frame->f_lasti * 2;
#endif
            Py_DECREF((PyObject *)frame);
            return;
        }
        Py_DECREF((PyObject *)code);
        PyFrameObject *back = PyFrame_GetBack(frame);
        Py_DECREF((PyObject *)frame);
        frame = back;
    }
}

#endif

/* Find where frames of this package were called from, once for all nodes until the end: 0 where the
 * innermost frame is no such frame. No Python code may run until then. */
int rg_site_begin(void) {
    PyCodeObject *code;
    uint32_t instruction;
    if (rg_site_quick(&code, &instruction)) {
        Py_DECREF((PyObject *)code);
        return 0;
    }
    Value place;
    rg_site_capture_caller(&place);
    rg_site_known = place.code;
    rg_site_known_at = place.instruction;
    return rg_site_known != NULL;
}

void rg_site_end(void) { Py_CLEAR(rg_site_known); }

/* Value.site: (file, line, function) or None. */
PyObject *rg_site_get(PyObject *self, void *Py_UNUSED(closure)) {
    Value *v = (Value *)self;
    if (v->code == NULL) Py_RETURN_NONE;
    return rg_call("retrograde._shared.sites", "Site", "OiO", v->code->co_filename,
                   PyCode_Addr2Line(v->code, (int)v->instruction), v->code->co_name);
}

/* instruction_of(value) -> (code, offset) or None: the place before its line is worked out. */
PyObject *rg_site_instruction(PyObject *Py_UNUSED(module), PyObject *value) {
    Value *v = rg_any_node(value);
    if (v == NULL) {
        rg_fail("NotAValueError", "of", "sO", "instruction_of", value);
        return NULL;
    }
    if (v->code == NULL) Py_RETURN_NONE;
    return Py_BuildValue("OI", v->code, v->instruction);
}
