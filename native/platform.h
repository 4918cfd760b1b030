/* What systems spell differently: the few of their services that the core asks for. What compilers
 * do is in kernels/compiler.h; everything else in native/ is plain C17. */
#ifndef RG_PLATFORM_H
#define RG_PLATFORM_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/compiler.h"

RG_HIDE

/* ---- memory --------------------------------------------------------------------------------- */

/* Bytes that begin at a cache line; NULL where there are none. Given back by rg_aligned_free. */
void *rg_aligned_take(size_t bytes);
void rg_aligned_free(void *memory);

/* Whole pages of zeros straight from the system, which get them back. */
void *rg_pages_take(size_t bytes);
void rg_pages_free(void *memory, size_t bytes);

/* ---- threads and time ----------------------------------------------------------------------- */

typedef uintptr_t RgThread;

/* Begin one that runs `body(with)`: 0, or -1 where the system refuses. Each is waited for. */
int rg_thread_begin(RgThread *thread, void (*body)(void *), void *with);
void rg_thread_wait(RgThread thread);

/* Nanoseconds since some moment; never backwards. */
int64_t rg_nanoseconds(void);

/* ---- the processor -------------------------------------------------------------------------- */

/* The widest level of x86-64 that the processor and the system have, 1 to 4; 0 on others. */
int rg_x86_level(void);

RG_HIDE_END

#endif
