/* Buffers of numbers: aligned to a cache line, kept by their size when they are free.
 *
 * Sizes of up to 2^14 numbers fall into classes, two to every power of two from 32 on; larger buffers
 * are kept in one list, since asking the system for pages costs more than computing with them. What
 * is kept is bounded: 64 MiB of the small, 64 MiB of the large. */
#include "tensor.h"

#define KEPT_LARGE ((size_t)64 << 20)

enum { COUNTED = 4 }; /* classes that are open while failures are counted */

RgBuffer *rg_kept_numbers[RG_CLASSES];
uint8_t rg_class_of[RG_MOST_CLASSED / 8 + 1];
uint8_t rg_open_classes = RG_CLASSES;
size_t rg_kept_lines = 0;
static size_t room_of[RG_CLASSES];
static RgBuffer *large = NULL;
static size_t large_bytes = 0;

/* So that asking for numbers comes past the injector of failures. */
void rg_numbers_count(int failures) { rg_open_classes = failures ? COUNTED : RG_CLASSES; }

/* 8, 16, 24, 32, 48, 64, 96, … */
void rg_numbers_begin(void) {
    size_t room = 8;
    int class = 0;
    for (size_t lines = 0; lines <= RG_MOST_CLASSED / 8; lines++) {
        while (lines * 8 > room) {
            room_of[class++] = room;
            size_t power = 8;
            while (power * 2 <= room) power *= 2;
            room += room < 32 ? 8 : power / 2;
        }
        rg_class_of[lines] = (uint8_t)class;
    }
    room_of[class] = room;
}

static RgBuffer *fresh(size_t room, int class) {
    if (room > (SIZE_MAX / sizeof(double)) / 2 || rg_failure_due()) return NULL;
    RgBuffer *buffer = rg_aligned_take(sizeof(RgBuffer) + room * sizeof(double));
    if (buffer == NULL) return NULL;
    *buffer = (RgBuffer){.refs = 1, .room = room, .kept = class};
    return buffer;
}

/* One of the large ones that fits and does not waste more than a quarter. */
static RgBuffer *take_large(size_t count) {
    for (RgBuffer **link = &large; *link; link = &(*link)->next) {
        RgBuffer *buffer = *link;
        if (buffer->room < count || buffer->room > count + count / 4) continue;
        *link = buffer->next;
        large_bytes -= buffer->room * sizeof(double);
        buffer->refs = 1;
        return buffer;
    }
    return NULL;
}

RgBuffer *rg_numbers_try(size_t count) {
    if (RG_UNLIKELY(rg_failures_counted())) return fresh(count ? count : 1, -1);
    RgBuffer *buffer = count > RG_MOST_CLASSED ? take_large(count) : rg_numbers_pop(count);
    if (buffer) return buffer;
    if (count > RG_MOST_CLASSED) return fresh((count + 7) / 8 * 8, -1);
    int class = rg_class_of[(count + 7) / 8];
    return fresh(room_of[class], class);
}

RgBuffer *rg_numbers_allocate(size_t count) {
    RgBuffer *buffer = rg_numbers_try(count);
    if (RG_UNLIKELY(buffer == NULL))
        rg_fail("GraphMemoryError", "of", "n", (Py_ssize_t)(count * sizeof(double)));
    return buffer;
}

#ifndef RG_NO_FREE_LIST
static void free_large(void) {
    while (large) {
        RgBuffer *buffer = large;
        large = buffer->next;
        rg_aligned_free(buffer);
    }
    large_bytes = 0;
}
#endif

void rg_numbers_free(RgBuffer *buffer) {
#ifndef RG_NO_FREE_LIST
    size_t bytes = buffer->room * sizeof(double);
    if (buffer->kept < 0 && buffer->room > RG_MOST_CLASSED && bytes <= KEPT_LARGE) {
        if (large_bytes + bytes > KEPT_LARGE)
            free_large(); /* a program has moved on to other sizes */
        buffer->next = large;
        large = buffer;
        large_bytes += bytes;
        return;
    }
#endif
    rg_aligned_free(buffer);
}

size_t rg_numbers_held(const RgBuffer *buffer) {
    return sizeof(RgBuffer) + buffer->room * sizeof(double);
}
