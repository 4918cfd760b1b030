/* The machine's frame: a handler a step, each ending in a jump to the next one's.
 *
 * A handler takes the tile's carried value as arguments, which the calling convention keeps in
 * vector registers, and passes its own result on in the same way. So a chain of simple steps
 * touches memory only for its other operands, and a step costs a predicted jump. The jump must be
 * a true one (a sibling call): else a program of a million steps would be a million frames deep. The
 * compiler guarantees it where it knows `musttail`; elsewhere the build looks at the machine code
 * (jumps.py), and where it cannot, RG_LOOP has each handler return the next step to a loop. */
#ifndef RG_MACHINE_H
#define RG_MACHINE_H

#include "kernels.h"
#include "simd.h"

#if defined(RG_NARROW) || defined(RG_ONE)
#define RG_TILE 1 /* for calls with few rows */
#define CARRY vd a0
#define CARRIED a0
#define EACH(M, ...) M(0, __VA_ARGS__)
#elif RG_LANES == 4
#define RG_TILE 4 /* vectors: sixteen registers hold no more */
#define CARRY vd a0, vd a1, vd a2, vd a3
#define CARRIED a0, a1, a2, a3
#define EACH(M, ...) M(0, __VA_ARGS__) M(1, __VA_ARGS__) M(2, __VA_ARGS__) M(3, __VA_ARGS__)
#else
#define RG_TILE 8 /* as many as the calling convention passes in registers */
#define CARRY vd a0, vd a1, vd a2, vd a3, vd a4, vd a5, vd a6, vd a7
#define CARRIED a0, a1, a2, a3, a4, a5, a6, a7
/* clang-format off */
#define EACH(M, ...)                                                                               \
    M(0, __VA_ARGS__)                                                                              \
    M(1, __VA_ARGS__)                                                                              \
    M(2, __VA_ARGS__)                                                                              \
    M(3, __VA_ARGS__) M(4, __VA_ARGS__) M(5, __VA_ARGS__) M(6, __VA_ARGS__) M(7, __VA_ARGS__)
/* clang-format on */
#endif

#define RG_TILE_LANES (RG_TILE * RG_LANES)

/* Lanes of a uniform number and of a sum over rows: eight, so that any vector can be read from one,
 * and sums are the same whatever the width. */
#if defined(RG_ONE)
#define RG_EQUAL 1
#else
#define RG_EQUAL 8
#endif

#ifdef RG_LOOP

/* A handler loads the carried value from memory, and leaves its result there. */
typedef const RgCode *(*Handler)(const RgCode *code, double *arena, RgTile *tile, vd *carried);
#define UNPACK(j, CARRIED_AT) vd a##j = (CARRIED_AT)[j];
#define PACK(j, CARRIED_AT) (CARRIED_AT)[j] = a##j;
#define HANDLER(NAME)                                                                              \
    static inline const RgCode *NAME##_of(const RgCode *code, double *arena, RgTile *tile,         \
                                          vd *carried, CARRY);                                     \
    static const RgCode *NAME(const RgCode *code, double *arena, RgTile *tile, vd *carried) {      \
        EACH(UNPACK, carried)                                                                      \
        return NAME##_of(code, arena, tile, carried, CARRIED);                                     \
    }                                                                                              \
    static inline const RgCode *NAME##_of(const RgCode *code, double *arena, RgTile *tile,         \
                                          vd *carried, CARRY)
#define AFTER(STEPS)                                                                               \
    do {                                                                                           \
        EACH(PACK, carried)                                                                        \
        return code + (STEPS);                                                                     \
    } while (0)
#define STOP return NULL

#else

typedef RG_IN_REGISTERS void (*Handler)(const RgCode *code, double *arena, RgTile *tile, CARRY);
#define HANDLER(NAME)                                                                              \
    static RG_IN_REGISTERS void NAME(const RgCode *code, double *arena, RgTile *tile, CARRY)
#if defined(__has_attribute)
#if __has_attribute(musttail)
#define JUMP __attribute__((musttail)) return
#endif
#endif
#ifndef JUMP
#define JUMP return
#endif
#define AFTER(STEPS) JUMP((Handler)code[STEPS].handler)(code + (STEPS), arena, tile, CARRIED)
#define STOP return

#endif

#define NEXT AFTER(1)

/* Vector j of an operand. */
SIMD vd rg_operand(int kind, const double *at, vd carried, int j) {
    return kind == RG_CARRIED      ? carried
           : kind == RG_IN_UNIFORM ? v_load(at)
                                   : v_load(at + j * RG_LANES);
}

/* The registers as an array, for handlers that loop, and back. */
#define TO_ARRAY(j, A) A[j] = a##j;
#define FROM_ARRAY(j, A) a##j = A[j];
#define STORE_CARRIED(j, OUT) v_store((OUT) + (j) * RG_LANES, a##j);

#endif
