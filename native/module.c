/* The extension module: types, functions, and what it says about the processor. */
#include "shaped.h"
#include "tensor.h"

#include "kernels/arrays.h"

static PyObject *simd_level(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
#if defined(__x86_64__)
    if (rg_x86_level() >= 4) return PyUnicode_FromString("x86-64-v4 (AVX-512)");
    if (rg_x86_level() >= 3) return PyUnicode_FromString("x86-64-v3 (AVX2)");
    return PyUnicode_FromString("x86-64 (SSE2)");
#elif defined(RG_HAS_neon)
    return PyUnicode_FromString("AArch64 (NEON)");
#else
    return PyUnicode_FromString("baseline");
#endif
}

static PyMethodDef module_methods[] = {
    {"simd_level", simd_level, METH_NOARGS,
     RG_DOC("simd_level($module, /)", "The widest SIMD level this processor offers.")},
    {"instruction_of", rg_site_instruction, METH_O,
     RG_DOC("instruction_of($module, value, /)", "The code and offset that made a value.")},
    {"skip_sites", rg_site_skip, METH_O,
     RG_DOC("skip_sites($module, codes, /)",
            "Nodes made in these code objects belong to the caller.")},
    {"take_ufuncs", rg_take_ufuncs, METH_VARARGS,
     RG_DOC("take_ufuncs($module, codes, call, /)", "How NumPy's functions are answered.")},
    {"survey", rg_survey, METH_VARARGS,
     RG_DOC("survey($module, roots, seeds, parameters, kinds, limits, /)",
            "What the doctor asks of a graph, in one pass.")},
    {"summarise", rg_summarise, METH_VARARGS,
     RG_DOC("summarise($module, address, kind, count, /)",
            "What the numbers at an address are like, in one pass.")},
    {"leaves_under", rg_leaves_under, METH_O,
     RG_DOC("leaves_under($module, roots, /)", "The leaves under the roots that take gradients.")},
    {"construct", (PyCFunction)(void (*)(void))rg_construct, METH_FASTCALL | METH_KEYWORDS,
     RG_DOC("construct($module, data, children=(), local_grads=(), **more)",
            "Value(...), whoever answers that.")},
    {"set_constructor", rg_set_constructor, METH_O,
     RG_DOC("set_constructor($module, constructor, /)",
            "Who answers Value(...); None: nobody else.")},
    {"lend_attributes", rg_lend_attributes, METH_O,
     RG_DOC("lend_attributes($module, wanted, /)", "Whether values take attributes of any name.")},
    {"own_attributes", rg_own_attributes, METH_O,
     RG_DOC("own_attributes($module, value, /)", "A copy of the attributes put on a value.")},
    {"inject_allocation_failure", rg_inject_allocation_failure, METH_O,
     RG_DOC("inject_allocation_failure($module, count, /)",
            "Let the core's allocation after COUNT more fail, once; -1 switches it off.")},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject *make_type(PyObject *module, PyType_Spec *spec, PyTypeObject *base) {
    PyObject *bases = base ? PyTuple_Pack(1, base) : NULL;
    PyObject *type = bases ? PyType_FromSpecWithBases(spec, bases) : PyType_FromSpec(spec);
    Py_XDECREF(bases);
    if (type == NULL || PyModule_AddType(module, (PyTypeObject *)type) < 0) return NULL;
    return (PyTypeObject *)type;
}

/* The rows become methods of Value, from the same list as the functions. A name that a row shares
 * with an attribute of the type would hide it, so that is refused. */
static int add_op_methods(void) {
    for (PyMethodDef *method = rg_value_op_methods; method->ml_name; method++) {
        PyObject *descriptor = PyDescr_NewMethod(RgValue_Type, method);
        if (descriptor == NULL) return -1;
        int taken = PyObject_HasAttrString((PyObject *)RgValue_Type, method->ml_name);
        if (taken)
            PyErr_Format(PyExc_SystemError, "op '%s' would hide Value.%s", method->ml_name,
                         method->ml_name);
        int failed = taken || PyObject_SetAttrString((PyObject *)RgValue_Type, method->ml_name,
                                                     descriptor) < 0;
        Py_DECREF(descriptor);
        if (failed) return -1;
    }
    return 0;
}

static int make_types(PyObject *module) {
    RgValue_Type = make_type(module, &rg_value_spec, NULL);
    if (RgValue_Type == NULL) return -1;
    RgValue_Type->tp_vectorcall = rg_value_vectorcall;
    RgClosure_Type = make_type(module, &rg_closure_spec, RgValue_Type);
    RgTracked_Type = make_type(module, &rg_tracked_spec, RgValue_Type);
    if (RgClosure_Type == NULL || RgTracked_Type == NULL || add_op_methods() < 0) return -1;
    RgTensor_Type = make_type(module, &rg_tensor_spec, NULL);
    RgNode_Type = (PyTypeObject *)PyType_FromSpec(&rg_node_spec);
    if (RgTensor_Type == NULL || RgNode_Type == NULL || rg_add_tensor_names() < 0) return -1;
    if (rg_ready_begin() < 0) return -1;
    rg_numbers_begin();
    return rg_add_array_ufunc();
}

/* A package that is imported anew gets the types it had: values from before are still values. */
static int add_types(PyObject *module) {
    return PyModule_AddType(module, RgValue_Type) < 0 ||
                   PyModule_AddType(module, RgClosure_Type) < 0 ||
                   PyModule_AddType(module, RgTensor_Type) < 0 ||
                   PyModule_AddType(module, RgTracked_Type) < 0
               ? -1
               : 0;
}

static int execute(PyObject *module) {
    static PyInterpreterState *home = NULL;
    if (home == NULL) home = PyInterpreterState_Get();
    if (home != PyInterpreterState_Get()) {
        PyErr_SetString(PyExc_ImportError,
                        "another interpreter of this process has the native core");
        return -1;
    }
    rg_use_arrays("");
    if ((RgValue_Type ? add_types(module) : make_types(module)) < 0) return -1;
    if (PyModule_AddFunctions(module, rg_function_methods) < 0 ||
        PyModule_AddFunctions(module, rg_modes_methods) < 0 ||
        PyModule_AddFunctions(module, rg_walk_methods) < 0 ||
        PyModule_AddFunctions(module, rg_bulk_methods) < 0 ||
        PyModule_AddFunctions(module, rg_list_methods) < 0 ||
        PyModule_AddFunctions(module, rg_optim_methods) < 0 ||
        PyModule_AddFunctions(module, rg_reading_methods) < 0 ||
        PyModule_AddFunctions(module, rg_rebuild_methods) < 0 ||
        PyModule_AddFunctions(module, rg_array_methods) < 0 ||
        PyModule_AddFunctions(module, rg_row_methods) < 0 ||
        PyModule_AddFunctions(module, rg_tensor_methods) < 0 ||
        PyModule_AddFunctions(module, rg_place_methods) < 0 ||
        PyModule_AddFunctions(module, rg_composed_methods) < 0 ||
        PyModule_AddFunctions(module, rg_shaped_methods) < 0 ||
        PyModule_AddFunctions(module, rg_replay_methods) < 0 || rg_add_names(module) < 0 ||
        rg_add_entering(module) < 0 || rg_add_call_site(module) < 0 ||
        rg_add_shaped_sites(module) < 0)
        return -1;
    Py_XSETREF(rg_plan_maker, PyObject_GetAttrString(module, "array_plan"));
    if (rg_plan_maker == NULL) return -1;
    PyObject *names = rg_op_names();
    int failed = names == NULL || PyModule_AddObjectRef(module, "OP_NAMES", names) < 0;
    Py_XDECREF(names);
    return failed ? -1 : 0;
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, execute},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0, NULL},
};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    "retrograde._native",
    "The native core.",
    0,
    module_methods,
    module_slots,
    NULL,
    NULL,
    NULL,
};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&module_definition); }
