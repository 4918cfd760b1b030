/* Calls of functions on tensors that were made before, gone through again in one go.
 *
 * A site knows what was asked, the kinds of the arguments, the names that must mean what they did, and
 * the plan. Whatever is not as it was is a miss, told by None: then the long way is taken, which knows
 * every case and every error. Nothing has happened by then. */
#include "shaped.h"

enum { NUMBER = -1, MOST_ARGUMENTS = 16, MOST_AXES = 8 };

typedef struct {
    int ndim, whole; /* NUMBER: a float; whether its numbers are whole */
    Py_ssize_t shape[MOST_AXES];
} Kind;

typedef struct {
    PyObject_HEAD PyObject *key; /* what is asked, then a kind an argument */
    PyObject *plan, *captured, *takers;
    PyObject *names;  /* what must be unchanged; None where nothing can change */
    PyObject *trace;  /* counts its calls */
    PyObject *finish; /* hands the results out; None where there is one */
    PyObject *refused;
    Py_ssize_t count;
    Kind kinds[MOST_ARGUMENTS];
} Site;

static PyTypeObject *Site_Type = NULL;
static PyObject *calls_text = NULL;

/* A kind as Python tells it: float, or (shape, 'f8' or 'i8'). 0, or -1 with an exception. */
static int read_kind(PyObject *told, Kind *kind) {
    kind->ndim = NUMBER;
    if (told == (PyObject *)&PyFloat_Type) return 0;
    PyObject *shape;
    const char *code;
    if (!PyTuple_Check(told) || !PyArg_ParseTuple(told, "O!s", &PyTuple_Type, &shape, &code) ||
        PyTuple_GET_SIZE(shape) > MOST_AXES) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "no site has such an argument");
        return -1;
    }
    kind->ndim = (int)PyTuple_GET_SIZE(shape);
    kind->whole = code[0] == 'i';
    for (int axis = 0; axis < kind->ndim; axis++) {
        kind->shape[axis] = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, axis));
        if (kind->shape[axis] < 0) return -1;
    }
    return 0;
}

/* Whether an argument is of a kind. */
static int is_of(const RgLent *lent, const Kind *kind) {
    if (kind->ndim == NUMBER) return lent->at == &lent->number;
    const Py_buffer *view = &lent->view;
    if (view->obj == NULL || view->ndim != kind->ndim || view->itemsize != 8) return 0;
    for (int axis = 0; axis < kind->ndim; axis++)
        if (view->shape[axis] != kind->shape[axis]) return 0;
    const char *format = view->format;
    if (format == NULL || format[0] == 0 || format[1] != 0) return 0;
    return kind->whole ? format[0] == 'l' || format[0] == 'q' : format[0] == 'd';
}

/* Whether a call is the one that a site knows; -1 with an exception. */
static int knows(const Site *site, PyObject *asked, const RgLent *lent, Py_ssize_t count) {
    if (site->count != count) return 0;
    for (Py_ssize_t i = 0; i < count; i++)
        if (!is_of(&lent[i], &site->kinds[i])) return 0;
    PyObject *known = PyTuple_GET_ITEM(site->key, 0);
    return known == asked ? 1 : PyObject_RichCompareBool(known, asked, Py_EQ);
}

static int count_call(PyObject *trace) {
    PyObject *before = PyObject_GetAttr(trace, calls_text);
    Py_ssize_t calls = before ? PyLong_AsSsize_t(before) : -1;
    Py_XDECREF(before);
    PyObject *now = calls < 0 && PyErr_Occurred() ? NULL : PyLong_FromSsize_t(calls + 1);
    int failed = now == NULL || PyObject_SetAttr(trace, calls_text, now) < 0;
    Py_XDECREF(now);
    return failed ? -1 : 0;
}

/* The answer from what the plan gave; NULL without an exception for a miss. */
static PyObject *answer(const Site *site, PyObject *found) {
    if (site->takers == Py_None ? !PyTuple_Check(found) : !PyFloat_CheckExact(found)) return NULL;
    if (count_call(site->trace) < 0) return NULL;
    if (site->takers != Py_None) return Py_NewRef(found);
    if (site->finish == Py_None) return Py_NewRef(PyTuple_GET_ITEM(found, 0));
    return PyObject_CallOneArg(site->finish, found);
}

static PyObject *run_site(const Site *site, const RgLent *lent) {
    PyObject *found = rg_shaped_call(site->plan, lent, site->count, site->captured, site->takers);
    if (found == NULL) {
        if (PyErr_ExceptionMatches(site->refused)) PyErr_Clear();
        return NULL;
    }
    PyObject *result = answer(site, found);
    Py_DECREF(found);
    return result;
}

/* shaped_again(sites, asked, args) -> the answer; None where no site knows the call. The list is kept
 * in an order in which what is asked often is found soon. */
static PyObject *shaped_again(PyObject *Py_UNUSED(module), PyObject *const *given,
                              Py_ssize_t wanted) {
    if (wanted != 3 || !PyList_Check(given[0]) || !PyTuple_Check(given[2]))
        return PyErr_Format(PyExc_TypeError, "takes sites, what is asked, and arguments");
    PyObject *sites = given[0], *result = NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(given[2]), lending = 0;
    if (PyList_GET_SIZE(sites) == 0 || count > MOST_ARGUMENTS || rg_recording() ||
        rg_anomaly_enabled())
        Py_RETURN_NONE;
    RgLent lent[MOST_ARGUMENTS];
    for (int fits = 1; fits && lending < count; lending++) {
        lent[lending].view.obj = NULL;
        fits = rg_lend(PyTuple_GET_ITEM(given[2], lending), &lent[lending]) == 0 &&
               lent[lending].at != NULL;
    }
    PyErr_Clear(); /* an array that cannot be lent: the long way copies it, or says what is wrong */
    int fits = lending == count && (count == 0 || lent[count - 1].at != NULL);
    for (Py_ssize_t i = 0; fits && i < PyList_GET_SIZE(sites); i++) {
        PyObject *object = PyList_GET_ITEM(sites, i);
        if (!Py_IS_TYPE(object, Site_Type)) break;
        const Site *site = (const Site *)object;
        int known = knows(site, given[1], lent, count);
        if (known < 0) break;
        if (!known || (site->names != Py_None && !rg_names_are_unchanged(site->names))) continue;
        PyList_SET_ITEM(sites, i, PyList_GET_ITEM(sites, i / 2));
        PyList_SET_ITEM(sites, i / 2, object);
        Py_INCREF(object);
        result = run_site(site, lent);
        Py_DECREF(object);
        break;
    }
    rg_unlend(lent, lending);
    if (result == NULL && !PyErr_Occurred()) Py_RETURN_NONE;
    return result;
}

/* ShapedSite(key, plan, captured, takers, names, trace, finish, refused). */
static PyObject *site_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs)) {
    PyObject *key, *plan, *captured, *takers, *names, *trace, *finish, *refused;
    if (!PyArg_ParseTuple(args, "O!OO!OOOOO!:ShapedSite", &PyTuple_Type, &key, &plan, &PyList_Type,
                          &captured, &takers, &names, &trace, &finish, &PyTuple_Type, &refused))
        return NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(key) - 1;
    if (count < 0 || count > MOST_ARGUMENTS || (names != Py_None && !rg_is_names(names)))
        return PyErr_Format(PyExc_ValueError, "no site has such a key, or such names");
    Site *site = (Site *)type->tp_alloc(type, 0);
    if (site == NULL) return NULL;
    site->key = Py_NewRef(key);
    site->plan = Py_NewRef(plan);
    site->captured = Py_NewRef(captured);
    site->takers = Py_NewRef(takers);
    site->names = Py_NewRef(names);
    site->trace = Py_NewRef(trace);
    site->finish = Py_NewRef(finish);
    site->refused = Py_NewRef(refused);
    site->count = count;
    for (Py_ssize_t i = 0; i < count; i++)
        if (read_kind(PyTuple_GET_ITEM(key, i + 1), &site->kinds[i]) < 0) {
            Py_DECREF((PyObject *)site);
            return NULL;
        }
    return (PyObject *)site;
}

static int site_traverse(PyObject *self, visitproc visit, void *arg) {
    const Site *site = (const Site *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(site->captured);
    Py_VISIT(site->names);
    Py_VISIT(site->trace);
    Py_VISIT(site->finish);
    return 0;
}

static int site_clear(PyObject *self) {
    Site *site = (Site *)self;
    Py_CLEAR(site->trace);
    Py_CLEAR(site->finish);
    return 0;
}

static void site_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    Site *site = (Site *)self;
    PyObject_GC_UnTrack(self);
    Py_XDECREF(site->key);
    Py_XDECREF(site->plan);
    Py_XDECREF(site->captured);
    Py_XDECREF(site->takers);
    Py_XDECREF(site->names);
    Py_XDECREF(site->trace);
    Py_XDECREF(site->finish);
    Py_XDECREF(site->refused);
    type->tp_free(self);
    Py_DECREF((PyObject *)type);
}

static PyObject *site_key(PyObject *self, void *Py_UNUSED(unused)) {
    return Py_NewRef(((Site *)self)->key);
}

static PyGetSetDef site_getters[] = {
    {"key", site_key, NULL, "What is asked, then a kind an argument.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot site_slots[] = {
    {Py_tp_doc, "A call of a function on tensors, ready to be made again."},
    {Py_tp_new, site_new},
    {Py_tp_traverse, site_traverse},
    {Py_tp_clear, site_clear},
    {Py_tp_dealloc, site_dealloc},
    {Py_tp_getset, site_getters},
    {0, NULL},
};

static PyType_Spec site_spec = {
    .name = "retrograde._native.ShapedSite",
    .basicsize = sizeof(Site),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = site_slots,
};

static PyMethodDef methods[] = {
    {"shaped_again", (PyCFunction)(void (*)(void))shaped_again, METH_FASTCALL,
     "shaped_again($module, sites, asked, args, /)\n--\n\nThe answer of a site that knows the "
     "call; "
     "None where none does."},
    {NULL, NULL, 0, NULL},
};

int rg_add_shaped_sites(PyObject *module) {
    if (calls_text == NULL) calls_text = PyUnicode_InternFromString("calls");
    Site_Type = (PyTypeObject *)PyType_FromSpec(&site_spec);
    if (calls_text == NULL || Site_Type == NULL) return -1;
    return PyModule_AddFunctions(module, methods) < 0 ? -1 : PyModule_AddType(module, Site_Type);
}
