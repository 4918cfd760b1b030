/* Where plain nodes live: slabs of 818 of them, handed out in the order of their addresses.
 *
 * A program that frees its graph and builds it again finds the same addresses in the same order,
 * so that what was made together lies together however often it is made: caches and prefetching
 * live on that. A slab is aligned to its size, so a node finds its slab by its address. */
#ifndef RETROGRADE_SLABS_H
#define RETROGRADE_SLABS_H

#include "retrograde.h"

#define RG_SLAB_BYTES ((size_t)1 << 16)

typedef struct RgSlab RgSlab;
typedef struct RgChunk RgChunk;

struct RgSlab {
    Value *free;             /* nodes given back since the slab was last handed out */
    uint32_t taken;          /* nodes handed out and not given back */
    uint32_t notice;         /* rg_slab_notice is called when `taken` has fallen to this */
    RgSlab *next, *previous; /* in the list it stands in, if any */
    RgChunk *chunk;
    int typed;        /* whether its nodes have their type: they keep it when they are free */
    size_t unused[2]; /* nodes begin at a cache line of their own */
};

#define RG_SLAB_NODES ((uint32_t)((RG_SLAB_BYTES - sizeof(RgSlab)) / sizeof(Value)))

void rg_slab_notice(RgSlab *slab);

static inline void rg_node_give_back(Value *v) {
#ifdef RG_NO_FREE_LIST
    PyObject_Free(v);
#else
    RgSlab *slab = (RgSlab *)((uintptr_t)v & ~(uintptr_t)(RG_SLAB_BYTES - 1));
    v->next = slab->free;
    slab->free = v;
    if (RG_UNLIKELY(--slab->taken == slab->notice)) rg_slab_notice(slab);
#endif
}

#endif
