/* Labels, hooks and attributes of a program's own: an open-addressing table from node to its note. Few nodes have one, so nodes
 * carry only a flag. Deletion shifts the followers back; there are no tombstones. */
#include "retrograde.h"

typedef struct {
    Value *key;
    PyObject *label;
    PyObject *hooks;
    PyObject *own;
} Note;

static Note *notes = NULL;
static size_t capacity = 0; /* a power of two, or 0 */
static size_t used = 0;

static size_t home(const Value *v) {
    return (size_t)(((uintptr_t)v >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (capacity - 1);
}

static Note *find(const Value *v) {
    if (capacity == 0) return NULL;
    for (size_t i = home(v); notes[i].key; i = (i + 1) & (capacity - 1))
        if (notes[i].key == v) return &notes[i];
    return NULL;
}

static void place(Note note) {
    size_t i = home(note.key);
    while (notes[i].key) i = (i + 1) & (capacity - 1);
    notes[i] = note;
}

static int grow(void) {
    size_t old_capacity = capacity;
    Note *old = notes;
    size_t larger = capacity ? capacity * 2 : 64;
    Note *fresh = rg_buffer_resize(NULL, larger * sizeof(Note));
    if (fresh == NULL) return -1;
    memset(fresh, 0, larger * sizeof(Note));
    notes = fresh;
    capacity = larger;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].key) place(old[i]);
    rg_buffer_free(old);
    return 0;
}

static void remove_note(Note *note) {
    size_t hole = (size_t)(note - notes);
    for (size_t i = (hole + 1) & (capacity - 1); notes[i].key; i = (i + 1) & (capacity - 1)) {
        size_t wanted = home(notes[i].key);
        if (((i - wanted) & (capacity - 1)) >= ((i - hole) & (capacity - 1))) {
            notes[hole] = notes[i];
            hole = i;
        }
    }
    notes[hole] = (Note){NULL, NULL, NULL, NULL};
    used--;
}

static PyObject **field(Note *note, int which) {
    if (which == RG_OWN) return &note->own;
    return which == RG_LABELLED ? &note->label : &note->hooks;
}

/* The flag that tells of a field; attributes share that of labels, since a node has no more bits. */
static int flag_of(int which) { return which == RG_OWN ? RG_LABELLED : which; }

/* A borrowed reference to the label (RG_LABELLED), the hooks (RG_HOOKED) or the attributes (RG_OWN),
 * or NULL. */
PyObject *rg_note_get(Value *v, int which) {
    if (!(v->flags & flag_of(which))) return NULL;
    Note *note = find(v);
    return note ? *field(note, which) : NULL;
}

/* Set one of them; NULL takes it away. */
int rg_note_set(Value *v, int which, PyObject *object) {
    Note *note = v->flags & (RG_LABELLED | RG_HOOKED) ? find(v) : NULL;
    if (note == NULL) {
        if (object == NULL) return 0;
        if (used * 2 >= capacity && grow() < 0) return -1;
        place((Note){v, NULL, NULL, NULL});
        used++;
        note = find(v);
    }
    PyObject *old = *field(note, which);
    *field(note, which) = Py_XNewRef(object);
    v->flags &= (uint8_t)~(RG_LABELLED | RG_HOOKED);
    if (note->label || note->own) v->flags |= RG_LABELLED;
    if (note->hooks) v->flags |= RG_HOOKED;
    if (!(v->flags & (RG_LABELLED | RG_HOOKED))) remove_note(note);
    Py_XDECREF(old);
    return 0;
}

/* Forget a node that is being freed. */
void rg_notes_drop(Value *v) {
    Note *note = find(v);
    v->flags &= (uint8_t)~(RG_LABELLED | RG_HOOKED);
    if (note == NULL) return;
    PyObject *label = note->label, *hooks = note->hooks, *own = note->own;
    remove_note(note);
    Py_XDECREF(label);
    Py_XDECREF(own);
    Py_XDECREF(hooks);
}
