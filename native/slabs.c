/* Slabs of nodes: which is handed out next, and when memory goes back to the system.
 *
 * All free nodes of a slab count as taken once it is handed out, though an empty one is handed out
 * a few nodes at a time; what is handed out becomes the list that rg_node_take takes from.
 * When a quarter of it has been given back it may be handed out again; when all of it has, its
 * nodes are linked in the order of their addresses again. At most 20 MiB of empty slabs are kept. */
#include "slabs.h"

#define CHUNK_SLABS 16                                  /* asked for at once: 1 MiB */
#define CHUNK_BYTES ((CHUNK_SLABS + 1) * RG_SLAB_BYTES) /* one more, for the alignment; untouched */
#define KEPT_EMPTY 320                                  /* slabs: 20 MiB */

struct RgChunk {
    void *memory; /* straight from the system, so that it goes back there and not to a heap */
    RgSlab *slabs;
    uint32_t empty; /* how many of its slabs are */
};

typedef struct {
    RgSlab *first;
    size_t count;
} Slabs;

static Slabs empty, partial;

static void push(Slabs *list, RgSlab *slab) {
    slab->previous = NULL;
    slab->next = list->first;
    if (list->first) list->first->previous = slab;
    list->first = slab;
    list->count++;
}

static void take_out(Slabs *list, RgSlab *slab) {
    if (slab->previous)
        slab->previous->next = slab->next;
    else
        list->first = slab->next;
    if (slab->next) slab->next->previous = slab->previous;
    list->count--;
}

static RgSlab *slab_at(const RgChunk *chunk, int index) {
    return (RgSlab *)((char *)chunk->slabs + (size_t)index * RG_SLAB_BYTES);
}

static int add_chunk(void) {
    RgChunk *chunk = PyMem_RawMalloc(sizeof(RgChunk));
    if (chunk == NULL) return -1;
    void *memory = rg_pages_take(CHUNK_BYTES);
    if (memory == NULL) {
        PyMem_RawFree(chunk);
        return -1;
    }
    uintptr_t aligned = ((uintptr_t)memory + RG_SLAB_BYTES - 1) & ~(uintptr_t)(RG_SLAB_BYTES - 1);
    *chunk = (RgChunk){memory, (RgSlab *)aligned, CHUNK_SLABS};
    for (int i = CHUNK_SLABS; i-- > 0;) {
        *slab_at(chunk, i) = (RgSlab){.chunk = chunk};
        push(&empty, slab_at(chunk, i));
    }
    return 0;
}

static void remove_chunk(RgChunk *chunk) {
    for (int i = 0; i < CHUNK_SLABS; i++) take_out(&empty, slab_at(chunk, i));
    rg_pages_free(chunk->memory, CHUNK_BYTES);
    PyMem_RawFree(chunk);
}

/* A quarter of a slab is free, or all of it. */
void rg_slab_notice(RgSlab *slab) {
    if (slab->taken > 0) {
        slab->notice = 0;
        push(&partial, slab);
        return;
    }
    take_out(&partial, slab);
    push(&empty, slab);
    slab->chunk->empty++;
    if (slab->chunk->empty == CHUNK_SLABS && empty.count > KEPT_EMPTY) remove_chunk(slab->chunk);
}

/* The slab whose nodes are handed out a group at a time, since it was empty: by the time a group is
 * used its memory is near. */
static RgSlab *fresh;
static uint32_t fresh_index;

#define GROUP 16

static void ask_for(const Value *nodes) {
    for (const char *line = (const char *)nodes; line < (const char *)(nodes + GROUP); line += 64)
        RG_PREFETCH_TO_WRITE(line);
}

/* The next nodes of the fresh slab as a list, in the order of their addresses. */
static Value *next_group(void) {
    Value *nodes = (Value *)(fresh + 1) + fresh_index;
    uint32_t left = RG_SLAB_NODES - fresh_index, count = left < GROUP ? left : GROUP;
    for (uint32_t i = 0; i < count; i++) nodes[i].next = &nodes[i + 1];
    nodes[count - 1].next = NULL;
    if (RG_UNLIKELY(!fresh->typed))
        for (uint32_t i = 0; i < count; i++) Py_SET_TYPE((PyObject *)&nodes[i], RgValue_Type);
    fresh_index += count;
    if (fresh_index == RG_SLAB_NODES) {
        fresh->typed = 1;
        fresh = NULL;
    } else {
        ask_for(nodes + count);
    }
    return nodes;
}

/* Some free nodes as a list, or NULL where there is no memory. A slab in use comes first, so that
 * a few long-lived nodes do not hold on to many slabs. */
Value *rg_slab_hand_out(void) {
    if (RG_LIKELY(fresh != NULL)) return next_group();
    RgSlab *slab = partial.first;
    Value *nodes = NULL;
    if (slab) {
        take_out(&partial, slab);
        nodes = slab->free;
    } else {
        if (empty.first == NULL && add_chunk() < 0) return NULL;
        slab = empty.first;
        take_out(&empty, slab);
        slab->chunk->empty--;
        fresh = slab;
        fresh_index = 0;
    }
    slab->free = NULL;
    slab->taken = RG_SLAB_NODES;
    slab->notice = RG_SLAB_NODES - RG_SLAB_NODES / 4;
    return nodes ? nodes : next_group();
}
