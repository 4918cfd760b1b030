/* Keys of calls: bytes that are equal where name, shapes and arguments are. What is out of the ordinary
 * has none. */
#include "composed.h"

static inline void put_bytes(RgKey *key, const void *from, size_t count) {
    if (RG_UNLIKELY(key->size + count > MOST_KEY)) {
        key->full = 1;
        return;
    }
    if (count) memcpy(key->bytes + key->size, from, count); /* no axes: from nowhere */
    key->size += count;
}

void rg_key_tag(RgKey *key, unsigned char tag, unsigned char more) {
    unsigned char both[2] = {tag, more};
    put_bytes(key, both, 2);
}

void rg_key_text(RgKey *key, PyObject *text) {
    Py_ssize_t size;
    const char *bytes = PyUnicode_AsUTF8AndSize(text, &size);
    if (bytes == NULL || size > 255) {
        PyErr_Clear();
        key->full = 1;
        return;
    }
    rg_key_tag(key, 's', (unsigned char)size);
    put_bytes(key, bytes, (size_t)size);
}

void rg_key_shape(RgKey *key, unsigned char tag, int ndim, const Py_ssize_t *shape) {
    rg_key_tag(key, tag, (unsigned char)ndim);
    put_bytes(key, shape, (size_t)ndim * sizeof(Py_ssize_t));
}

/* An argument by its value; what is out of the ordinary has no key. */
void rg_key_argument(RgKey *key, PyObject *argument) {
    if (argument == Py_None) {
        rg_key_tag(key, 'N', 0);
    } else if (PyLong_CheckExact(argument)) {
        int overflow;
        long long number = PyLong_AsLongLongAndOverflow(argument, &overflow);
        key->full |= overflow;
        rg_key_tag(key, 'i', 0);
        put_bytes(key, &number, sizeof number);
    } else if (PyBool_Check(argument)) {
        rg_key_tag(key, 'b', argument == Py_True);
    } else if (PyTuple_CheckExact(argument) || PyList_CheckExact(argument)) {
        Py_ssize_t count = Py_SIZE(argument);
        key->full |= count > 64;
        rg_key_tag(key, PyTuple_CheckExact(argument) ? 't' : 'l', (unsigned char)count);
        for (Py_ssize_t i = 0; i < count && !key->full; i++)
            rg_key_argument(key, PySequence_Fast_GET_ITEM(argument, i));
    } else if (PySlice_Check(argument)) {
        const PySliceObject *slice = (PySliceObject *)argument;
        rg_key_tag(key, 'S', 0);
        rg_key_argument(key, slice->start);
        rg_key_argument(key, slice->stop);
        rg_key_argument(key, slice->step);
    } else if (argument == Py_Ellipsis) {
        rg_key_tag(key, 'E', 0);
    } else if (PyFloat_CheckExact(argument)) {
        double number = PyFloat_AS_DOUBLE(argument);
        rg_key_tag(key, 'f', 0);
        put_bytes(key, &number, sizeof number);
    } else if (PyUnicode_CheckExact(argument)) {
        rg_key_text(key, argument);
    } else {
        key->full = 1;
    }
}

/* An operand into the key; the numbers of arrays do not matter for it. */
void rg_key_operand(RgKey *key, PyObject *operand) {
    if (rg_is_tensor(operand)) {
        const RgBody *body = rg_body(rg_node_of(operand));
        rg_key_shape(key, 'T', body->ndim, body->shape);
    } else if (rg_is_value(operand)) {
        rg_key_tag(key, 'V', 0);
    } else if (PyFloat_CheckExact(operand)) {
        rg_key_tag(key, 'F', 0);
    } else {
        Py_buffer view;
        if (!PyObject_CheckBuffer(operand) ||
            PyObject_GetBuffer(operand, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) {
            PyErr_Clear();
            key->full = 1;
            return;
        }
        if (view.format && !strcmp(view.format, "d") && view.ndim > 0 && view.ndim <= RG_MOST_AXES)
            rg_key_shape(key, 'A', view.ndim, view.shape);
        else
            key->full = 1;
        PyBuffer_Release(&view);
    }
}

uint64_t rg_key_hash(const RgKey *key) {
    uint64_t hash = key->size, word;
    size_t i = 0;
    for (; i + 8 <= key->size; i += 8) {
        memcpy(&word, key->bytes + i, 8);
        hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    word = 0;
    memcpy(&word, key->bytes + i, key->size - i);
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}
