/* What the names of a recorded function mean: places that were read, and what stood there.
 *
 * A place is an attribute of an object, an item of a container, or a closure cell. Looking there
 * again runs no Python code of anybody: where an attribute is not plain (a property, __getattr__),
 * it is the descriptor that is compared, and its own code has places of its own. */
#include "retrograde.h"

enum { ATTRIBUTE, ITEM, CELL };

typedef struct {
    PyObject *container, *key;
    PyObject *expected; /* what stood there, NULL for nothing */
    PyObject *name;     /* how the code comes there, for messages */
    int kind;
    unsigned int version; /* of an attribute: of the type it was looked up in; 0 for no shortcut */
    int in_class;         /* found there, and not in the object itself */
    Py_ssize_t hint;      /* the hash of the key, or an index */
    uint64_t state;       /* of the dict in which it was plainly there; 0 for none */
} Place;

typedef struct {
    PyObject_HEAD Place *places;
    Py_ssize_t count, capacity;
    PyObject *known; /* (id of the container, kind, key) -> its index in `places` */
} Names;

static PyTypeObject *Names_Type = NULL;

/* ---- looking ------------------------------------------------------------------------------- */

/* What stands at a place now, and whether it can be gone on from. */
typedef struct {
    PyObject *found; /* a new reference, or NULL for nothing */
    int follow;
} Look;

static PyObject *in_dict(PyObject *dict, PyObject *key) {
    PyObject *found = PyDict_GetItemWithError(dict, key);
    if (found == NULL) PyErr_Clear(); /* a key that does not compare is not there */
    return Py_XNewRef(found);
}

static PyObject *in_instance(PyObject *object, PyObject *name) {
    if (PyModule_Check(object)) return in_dict(PyModule_GetDict(object), name);
    if (Py_TYPE(object)->tp_dictoffset == 0) return NULL;
    PyObject *dict = PyObject_GenericGetDict(object, NULL);
    if (dict == NULL) {
        PyErr_Clear();
        return NULL;
    }
    PyObject *found = PyDict_Check(dict) ? in_dict(dict, name) : NULL;
    Py_DECREF(dict);
    return found;
}

/* Whether attributes are found as object.__getattribute__ finds them, before any __getattr__. */
static int is_looked_up_plainly(PyTypeObject *type) {
    static PyObject *getattribute = NULL;
    if (type->tp_getattro == PyObject_GenericGetAttr || type == &PyModule_Type) return 1;
    if (getattribute == NULL) getattribute = PyUnicode_InternFromString("__getattribute__");
    PyObject *found = getattribute ? _PyType_Lookup(type, getattribute) : NULL;
    if (found == NULL) {
        PyErr_Clear();
        return 0;
    }
    return found == _PyType_Lookup(&PyBaseObject_Type, getattribute) ||
           found == _PyType_Lookup(&PyModule_Type, getattribute);
}

/* 1: looked, 0: this is no plain place. */
static int look_at_attribute(PyObject *object, PyObject *name, Look *look) {
    PyTypeObject *type = Py_TYPE(object);
    PyObject *described = _PyType_Lookup(type, name);
    int is_data = described && Py_TYPE(described)->tp_descr_set;
    if (PyType_Check(object)) {
        if (is_data) return 0;
        look->found = Py_XNewRef(_PyType_Lookup((PyTypeObject *)object, name));
    } else if (!is_looked_up_plainly(type)) {
        return 0;
    } else if (is_data && Py_IS_TYPE(described, &PyMemberDescr_Type)) { /* of __slots__ */
        look->found = Py_TYPE(described)->tp_descr_get(described, object, (PyObject *)type);
        if (look->found == NULL) PyErr_Clear();
        look->follow = look->found != NULL;
        return 1;
    } else if (is_data) {
        look->found = Py_NewRef(described);
        return 1;
    } else {
        look->found = in_instance(object, name);
        look->follow = look->found != NULL;
        if (look->found) return 1;
        look->found = Py_XNewRef(described);
    }
    look->follow = look->found && Py_TYPE(look->found)->tp_descr_get == NULL;
    return 1;
}

static int look_at_item(PyObject *object, PyObject *key, Look *look) {
    PyTypeObject *type = Py_TYPE(object);
    PyMappingMethods *mapping = type->tp_as_mapping;
    binaryfunc item = mapping ? mapping->mp_subscript : NULL;
    if (item == PyDict_Type.tp_as_mapping->mp_subscript && PyDict_Check(object)) {
        look->found = in_dict(object, key);
    } else if (PyLong_Check(key) && ((item == PyList_Type.tp_as_mapping->mp_subscript) ||
                                     (item == PyTuple_Type.tp_as_mapping->mp_subscript))) {
        Py_ssize_t index = PyLong_AsSsize_t(key), count = PySequence_Fast_GET_SIZE(object);
        if (index == -1 && PyErr_Occurred()) {
            PyErr_Clear();
            return 0;
        }
        if (index < 0) index += count;
        if (index >= 0 && index < count)
            look->found = Py_NewRef(PySequence_Fast_GET_ITEM(object, index));
    } else if (!strcmp(type->tp_name, "numpy.ndarray")) { /* a number of an array */
        look->found = item(object, key);
        if (look->found == NULL || !PyFloat_Check(look->found)) {
            PyErr_Clear();
            Py_CLEAR(look->found);
            return 0;
        }
    } else {
        return 0;
    }
    look->follow = look->found != NULL;
    return 1;
}

static int look(int kind, PyObject *container, PyObject *key, Look *look) {
    *look = (Look){NULL, 0};
    if (kind == ITEM) return look_at_item(container, key, look);
    if (kind == ATTRIBUTE)
        return PyUnicode_CheckExact(key) ? look_at_attribute(container, key, look) : 0;
    if (!PyCell_Check(container)) return 0;
    look->found = PyCell_Get(container);
    look->follow = look->found != NULL;
    return 1;
}

/* The same object; or numbers and texts that are the same, which are made anew time and again. */
static int is_same(PyObject *one, PyObject *other) {
    if (one == other) return 1;
    if (one == NULL || other == NULL || Py_TYPE(one) != Py_TYPE(other)) return 0;
    if (PyFloat_Check(one) && Py_TYPE(one)->tp_dictoffset == 0) {
        double left = PyFloat_AS_DOUBLE(one), right = PyFloat_AS_DOUBLE(other);
        return memcmp(&left, &right, sizeof left) == 0;
    }
    if (PyLong_CheckExact(one)) return PyObject_RichCompareBool(one, other, Py_EQ) == 1;
    if (PyUnicode_CheckExact(one)) return PyUnicode_Compare(one, other) == 0;
    return 0;
}

static unsigned int version_of(PyTypeObject *type) {
#if PY_VERSION_HEX < 0x030C0000
    if (!PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG)) return 0;
#endif
    return (unsigned int)type->tp_version_tag;
}

/* What the shortcut needs to know. */
static void prepare(Place *place) {
    PyObject *container = place->container;
    place->version = 0;
    place->in_class = 0;
    place->hint = -1;
    place->state = 0;
    if (place->kind == ITEM && PyList_CheckExact(container))
        place->hint = PyLong_AsSsize_t(place->key); /* it was an index a moment ago */
    else if (place->kind != CELL && PyUnicode_CheckExact(place->key))
        place->hint = PyObject_Hash(place->key);
    if (place->kind != ATTRIBUTE) return;
    PyTypeObject *type = Py_TYPE(container);
    PyObject *described = _PyType_Lookup(type, place->key);
    place->in_class = described != NULL && described == place->expected;
    int is_data = described && Py_TYPE(described)->tp_descr_set;
    if (PyType_Check(container))
        place->version = version_of((PyTypeObject *)container);
    else if (!is_data && type->tp_dictoffset != 0)
        place->version = version_of(type);
}

/* A number that no other dict has, nor this one once it has changed; 0 where there is no such number. */
static inline uint64_t state_of(PyObject *dict) {
#if PY_VERSION_HEX < 0x030C0000
    return ((PyDictObject *)dict)->ma_version_tag;
#else
    (void)dict;
    return 0;
#endif
}

/* `state` becomes that of the dict. */
static inline int is_in_dict(PyObject *dict, const Place *place, PyObject *expected,
                             uint64_t *state) {
    *state = state_of(dict);
    if (*state != 0 && *state == place->state) return 1;
    PyObject *found = _PyDict_GetItem_KnownHash(dict, place->key, place->hint);
    if (found == NULL && PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    return found == expected;
}

/* The shortcut: whether the very same object is plainly there. 0 means to look thoroughly. */
static inline int is_plainly_there(const Place *place, uint64_t *state) {
    PyObject *container = place->container;
    if (place->kind == CELL) return PyCell_GET(container) == place->expected;
    if (place->hint == -1) return 0;
    if (place->kind == ITEM) {
        if (PyDict_CheckExact(container))
            return is_in_dict(container, place, place->expected, state);
        return PyList_CheckExact(container) && place->hint < PyList_GET_SIZE(container) &&
               place->hint >= 0 && PyList_GET_ITEM(container, place->hint) == place->expected;
    }
    if (place->version == 0) return 0;
    if (PyType_Check(container)) return version_of((PyTypeObject *)container) == place->version;
    if (version_of(Py_TYPE(container)) != place->version) return 0;
    PyObject **dict = _PyObject_GetDictPtr(container);
    if (dict == NULL || *dict == NULL || !PyDict_CheckExact(*dict)) return 0;
    return is_in_dict(*dict, place, place->in_class ? NULL : place->expected, state);
}

/* Looking may run code that makes the list longer or shorter. */
static int is_as_expected(Names *names, Py_ssize_t at) {
    const Place *place = &names->places[at];
    PyObject *container = place->container, *key = place->key, *expected = place->expected;
    int kind = place->kind;
    uint64_t before = place->state, state = before;
    if (RG_LIKELY(is_plainly_there(place, &state))) {
        Place *now = &names->places[at];
        if (state != before && at < names->count && now->container == container &&
            now->key == key && now->expected == expected)
            now->state = state;
        return 1;
    }
    Look now;
    Py_XINCREF(expected);
    int plain = look(kind, container, key, &now);
    int same = plain && is_same(now.found, expected);
    Py_XDECREF(now.found);
    Py_XDECREF(expected);
    return same;
}

/* ---- the list of places -------------------------------------------------------------------- */

static PyObject *key_of(int kind, PyObject *container, PyObject *key) {
    return Py_BuildValue("(NiO)", PyLong_FromVoidPtr(container), kind, key);
}

static void drop_place(Place *place) {
    Py_CLEAR(place->container);
    Py_CLEAR(place->key);
    Py_CLEAR(place->expected);
    Py_CLEAR(place->name);
}

static PyObject *names_read_at(Names *names, int kind, PyObject *container, PyObject *key,
                               PyObject *name);

/* Add a place under its key. */
static int add(Names *names, PyObject *known_as, Place place) {
    if (names->count == names->capacity) {
        Py_ssize_t capacity = names->capacity ? 2 * names->capacity : 16;
        Place *larger = PyMem_Realloc(names->places, (size_t)capacity * sizeof(Place));
        if (larger == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        names->places = larger;
        names->capacity = capacity;
    }
    PyObject *index = PyLong_FromSsize_t(names->count);
    if (index == NULL || PyDict_SetItem(names->known, known_as, index) < 0) {
        Py_XDECREF(index);
        return -1;
    }
    Py_DECREF(index);
    Py_INCREF(place.container);
    Py_INCREF(place.key);
    Py_XINCREF(place.expected);
    Py_INCREF(place.name);
    prepare(&place);
    names->places[names->count++] = place;
    return 0;
}

/* An attribute that was found in the class: the object may be gone tomorrow, and the class not. */
static int remember_class(Names *names, PyObject *object, PyObject *key, PyObject *name,
                          PyObject *found) {
    PyTypeObject *type = Py_TYPE(object);
    if (PyType_Check(object) || found == NULL || found != _PyType_Lookup(type, key)) return 0;
    PyObject *in_class = names_read_at(names, ATTRIBUTE, (PyObject *)type, key, name);
    Py_XDECREF(in_class);
    return in_class ? 0 : -1;
}

/* read(kind, container, key, name) -> what stands there, None where it cannot be gone on from. The
 * place is remembered with what was found there first; items of tuples cannot change. */
static PyObject *names_read(PyObject *self, PyObject *args) {
    int kind;
    PyObject *container, *key, *name;
    if (!PyArg_ParseTuple(args, "iOOU:read", &kind, &container, &key, &name)) return NULL;
    return names_read_at((Names *)self, kind, container, key, name);
}

static PyObject *names_read_at(Names *names, int kind, PyObject *container, PyObject *key,
                               PyObject *name) {
    Look now;
    if (!look(kind, container, key, &now)) Py_RETURN_NONE;
    if (kind == ATTRIBUTE && remember_class(names, container, key, name, now.found) < 0) {
        Py_XDECREF(now.found);
        return NULL;
    }
    PyObject *known_as = key_of(kind, container, key);
    int failed = known_as == NULL;
    if (!failed && !(kind == ITEM && PyTuple_Check(container))) {
        int known = PyDict_Contains(names->known, known_as);
        failed = known < 0 ||
                 (!known && add(names, known_as,
                                (Place){container, key, now.found, name, kind, 0, 0, -1, 0}) < 0);
    }
    Py_XDECREF(known_as);
    if (failed || !now.follow) Py_CLEAR(now.found);
    if (failed) return NULL;
    return now.found ? now.found : Py_NewRef(Py_None);
}

int rg_names_are_unchanged(PyObject *object) {
    Names *names = (Names *)object;
    for (Py_ssize_t i = 0; i < names->count; i++)
        if (!is_as_expected(names, i)) return 0;
    return 1;
}

int rg_is_names(PyObject *object) { return Py_IS_TYPE(object, Names_Type); }

static PyObject *names_unchanged(PyObject *self, PyObject *Py_UNUSED(ignored)) {
    return PyBool_FromLong(rg_names_are_unchanged(self));
}

/* changed() -> {key: name} of the places where something else stands now. */
static PyObject *names_changed(PyObject *self, PyObject *Py_UNUSED(ignored)) {
    Names *names = (Names *)self;
    PyObject *found = PyDict_New();
    for (Py_ssize_t i = 0; found && i < names->count; i++) {
        if (is_as_expected(names, i)) continue;
        const Place *place = &names->places[i];
        PyObject *key = key_of(place->kind, place->container, place->key);
        if (key == NULL || PyDict_SetItem(found, key, place->name) < 0) Py_CLEAR(found);
        Py_XDECREF(key);
    }
    return found;
}

/* The place of another list that is the same as one of this list, or NULL. */
static const Place *same_place(const Names *names, const Place *other) {
    PyObject *key = key_of(other->kind, other->container, other->key);
    PyObject *index = key ? PyDict_GetItemWithError(names->known, key) : NULL;
    Py_XDECREF(key);
    return index ? &names->places[PyLong_AsSsize_t(index)] : NULL;
}

/* differing(other) -> {key: name} of the places in both where something else was found. */
static PyObject *names_differing(PyObject *self, PyObject *object) {
    if (!Py_IS_TYPE(object, Names_Type)) return PyErr_Format(PyExc_TypeError, "takes Names");
    const Names *names = (const Names *)self, *others = (const Names *)object;
    PyObject *found = PyDict_New();
    for (Py_ssize_t i = 0; found && i < names->count; i++) {
        const Place *place = &names->places[i], *other = same_place(others, place);
        if (other == NULL && PyErr_Occurred()) Py_CLEAR(found);
        if (other == NULL || is_same(place->expected, other->expected)) continue;
        PyObject *key = key_of(place->kind, place->container, place->key);
        if (key == NULL || PyDict_SetItem(found, key, place->name) < 0) Py_CLEAR(found);
        Py_XDECREF(key);
    }
    return found;
}

/* Keep the places for which `keep` has a 1. */
static int keep_only(Names *names, const char *keep) {
    PyObject *known = PyDict_New();
    if (known == NULL) return -1;
    for (Py_ssize_t i = 0, left = 0; i < names->count; i++) {
        if (!keep[i]) continue;
        const Place *place = &names->places[i];
        PyObject *key = key_of(place->kind, place->container, place->key);
        PyObject *index = key ? PyLong_FromSsize_t(left++) : NULL;
        int failed = index == NULL || PyDict_SetItem(known, key, index) < 0;
        Py_XDECREF(key);
        Py_XDECREF(index);
        if (failed) {
            Py_DECREF(known);
            return -1;
        }
    }
    Py_ssize_t kept = 0, count = names->count;
    Place *dropped = PyMem_Malloc((size_t)(count + 1) * sizeof(Place));
    if (dropped == NULL) {
        Py_DECREF(known);
        PyErr_NoMemory();
        return -1;
    }
    Py_ssize_t gone = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (keep[i])
            names->places[kept++] = names->places[i];
        else
            dropped[gone++] = names->places[i];
    }
    names->count = kept;
    Py_SETREF(names->known, known);
    for (Py_ssize_t i = 0; i < gone; i++) drop_place(&dropped[i]); /* may run code: at the end */
    PyMem_Free(dropped);
    return 0;
}

static PyObject *filtered(Names *names, const Names *out_of, int (*drops)(Names *, char *)) {
    char *keep = PyMem_Malloc((size_t)names->count + 1);
    if (keep == NULL) return PyErr_NoMemory();
    memset(keep, 1, (size_t)names->count + 1);
    int failed = 0;
    for (Py_ssize_t i = 0; out_of && i < names->count; i++) {
        keep[i] = same_place(out_of, &names->places[i]) == NULL;
        failed |= PyErr_Occurred() != NULL;
    }
    if (drops) failed |= drops(names, keep) < 0;
    Py_ssize_t before = names->count;
    if (!failed) failed = keep_only(names, keep) < 0;
    PyMem_Free(keep);
    return failed ? NULL : PyLong_FromSsize_t(before - names->count);
}

/* drop(other): forget the places that are in the other list. */
static PyObject *names_drop(PyObject *self, PyObject *object) {
    if (!Py_IS_TYPE(object, Names_Type)) return PyErr_Format(PyExc_TypeError, "takes Names");
    return filtered((Names *)self, (const Names *)object, NULL);
}

static int count_reference(PyObject *counts, PyObject *object) {
    if (object == NULL) return 0;
    PyObject *key = PyLong_FromVoidPtr(object);
    PyObject *before = key ? PyDict_GetItemWithError(counts, key) : NULL;
    PyObject *after = key ? PyLong_FromSsize_t(before ? PyLong_AsSsize_t(before) + 1 : 1) : NULL;
    int failed = after == NULL || PyDict_SetItem(counts, key, after) < 0;
    Py_XDECREF(key);
    Py_XDECREF(after);
    return failed ? -1 : 0;
}

/* What nobody else refers to cannot change any more; what holds a value of the recording itself was
 * put there by it. */
static int find_temporary(Names *names, char *keep) {
    PyObject *counts = PyDict_New();
    int failed = counts == NULL;
    for (Py_ssize_t i = 0; !failed && i < names->count; i++)
        failed = count_reference(counts, names->places[i].container) < 0 ||
                 count_reference(counts, names->places[i].expected) < 0;
    for (Py_ssize_t i = 0; !failed && i < names->count; i++) {
        const Place *place = &names->places[i];
        PyObject *key = PyLong_FromVoidPtr(place->container);
        PyObject *ours = key ? PyDict_GetItemWithError(counts, key) : NULL;
        failed = ours == NULL;
        Py_XDECREF(key);
        int made_here = place->expected && rg_is_value(place->expected) &&
                        (((Value *)place->expected)->flags & RG_TRACED);
        if (!failed && (made_here || Py_REFCNT(place->container) <= PyLong_AsSsize_t(ours)))
            keep[i] = 0;
    }
    Py_XDECREF(counts);
    return failed ? -1 : 0;
}

/* prune(): forget the places in what only the recording had. */
static PyObject *names_prune(PyObject *self, PyObject *Py_UNUSED(ignored)) {
    for (;;) { /* what was in a thing that is forgotten may be forgotten next */
        PyObject *gone = filtered((Names *)self, NULL, find_temporary);
        if (gone == NULL) return NULL;
        int done = PyLong_AsSsize_t(gone) == 0;
        Py_DECREF(gone);
        if (done) Py_RETURN_NONE;
    }
}

/* absorb(other, keys=None): take over the places that are not here yet, or those of the keys. */
static PyObject *names_absorb(PyObject *self, PyObject *args) {
    PyObject *object, *keys = Py_None;
    if (!PyArg_ParseTuple(args, "O!|O:absorb", Names_Type, &object, &keys)) return NULL;
    const Names *others = (const Names *)object;
    for (Py_ssize_t i = 0; i < others->count; i++) {
        const Place *other = &others->places[i];
        PyObject *key = key_of(other->kind, other->container, other->key);
        int wanted = key == NULL ? -1 : keys == Py_None ? 1 : PySequence_Contains(keys, key);
        int known = wanted > 0 ? PyDict_Contains(((Names *)self)->known, key) : wanted < 0 ? -1 : 1;
        int failed = known < 0 || (known == 0 && add((Names *)self, key, *other) < 0);
        Py_XDECREF(key);
        if (failed) return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *names_keys(PyObject *self, PyObject *Py_UNUSED(ignored)) {
    return PySet_New(((Names *)self)->known);
}

static Py_ssize_t names_length(PyObject *self) { return ((Names *)self)->count; }

static PyObject *names_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    Names *names = (Names *)type->tp_alloc(type, 0);
    if (names == NULL) return NULL;
    names->known = PyDict_New();
    if (names->known == NULL) Py_CLEAR(names);
    return (PyObject *)names;
}

static int names_traverse(PyObject *self, visitproc visit, void *arg) {
    const Names *names = (const Names *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(names->known);
    for (Py_ssize_t i = 0; i < names->count; i++) {
        Py_VISIT(names->places[i].container);
        Py_VISIT(names->places[i].key);
        Py_VISIT(names->places[i].expected);
    }
    return 0;
}

static int names_clear(PyObject *self) {
    Names *names = (Names *)self;
    while (names->count > 0) drop_place(&names->places[--names->count]);
    return 0;
}

static void names_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    names_clear(self);
    PyMem_Free(((Names *)self)->places);
    Py_XDECREF(((Names *)self)->known);
    type->tp_free(self);
    Py_DECREF((PyObject *)type);
}

static PyMethodDef names_methods[] = {
    {"read", names_read, METH_VARARGS,
     "read($self, kind, container, key, name, /)\n--\n\nWhat stands at a place, remembered."},
    {"unchanged", names_unchanged, METH_NOARGS,
     "unchanged($self, /)\n--\n\nWhether every place holds what it did."},
    {"changed", names_changed, METH_NOARGS,
     "changed($self, /)\n--\n\nThe places that hold something else now."},
    {"differing", names_differing, METH_O,
     "differing($self, other, /)\n--\n\nThe places where two lists found different things."},
    {"drop", names_drop, METH_O, "drop($self, other, /)\n--\n\nForget the places of another list."},
    {"prune", names_prune, METH_NOARGS,
     "prune($self, /)\n--\n\nForget the places in what nobody else refers to."},
    {"absorb", names_absorb, METH_VARARGS,
     "absorb($self, other, keys=None, /)\n--\n\nTake over places of another list."},
    {"keys", names_keys, METH_NOARGS, "keys($self, /)\n--\n\nThe keys of all places."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot names_slots[] = {
    {Py_tp_doc, "What the names of a recorded function mean."},
    {Py_tp_new, names_new},
    {Py_tp_traverse, names_traverse},
    {Py_tp_clear, names_clear},
    {Py_tp_dealloc, names_dealloc},
    {Py_tp_methods, names_methods},
    {Py_sq_length, names_length},
    {0, NULL},
};

static PyType_Spec names_spec = {
    .name = "retrograde._native.Names",
    .basicsize = sizeof(Names),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = names_slots,
};

int rg_add_names(PyObject *module) {
    Names_Type = (PyTypeObject *)PyType_FromSpec(&names_spec);
    return Names_Type == NULL ? -1 : PyModule_AddType(module, Names_Type);
}
