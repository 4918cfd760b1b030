/* One source, compiled once a SIMD level: RG_LEVEL names the table it defines. */
#define RG_LISTS_ONLY
#include "kernels.h"

#include "simd.h"
#include "vmath_erf.h"
#include "vmath_exp.h"
#include "vmath_trig.h"

#include "rows.gen.h"

#include "machine.h"
#include "ops.h"
#include "steps.h"

#include "fours.h"

static const Handler others[RG_DO_COUNT] = {
    [RG_DO_SUM] = do_sum,
    [RG_DO_DOT] = do_dot,
    [RG_DO_CHAIN] = do_chain,
    [RG_DO_TAKE] = do_take,
    [RG_DO_SCATTER] = do_scatter,
    [RG_DO_LOAD] = do_load,
    [RG_DO_EIGHT] = do_eight,
    [RG_DO_FETCH] = do_fetch,
    [RG_DO_STORE] = do_store,
    [RG_DO_REDUCE] = do_reduce,
    [RG_DO_GUARD] = do_guard,
    [RG_DO_COPY] = do_copy,
    [RG_DO_AGAIN] = do_again,
    [RG_DO_END] = do_end,
#if RG_TILE == 1
    [RG_DO_FOUR_DOTS] = do_four_dots,
    [RG_DO_FOUR_CHAINS] = do_four_chains,
    [RG_DO_FOUR_REDUCED] = do_four_reduced,
#endif
};

#define UNARY_CASE(NAME)                                                                           \
    case RG_OP_##NAME: return simple_##NAME[kind[0] * RG_WAYS + goes];
#define BINARY_CASE(NAME)                                                                          \
    case RG_OP_##NAME: return simple_##NAME[(kind[0] * RG_KINDS + kind[1]) * RG_WAYS + goes];
#define TERNARY_CASE(NAME)                                                                         \
    case RG_OP_##NAME:                                                                             \
        return simple_##NAME[((kind[0] * RG_KINDS + kind[1]) * RG_KINDS + kind[2]) * RG_WAYS +     \
                             goes];

enum { RG_OP_fma = RG_DO_FMA };

static const void *handler(uint32_t op, const uint8_t kind[3], int goes) {
    switch (op) {
        SIMPLE_UNARY(UNARY_CASE)
        SIMPLE_BINARY(BINARY_CASE)
        SIMPLE_TERNARY(TERNARY_CASE)
        default: return op < RG_OP_COUNT ? looping[op] : others[op];
    }
}

static void run(const RgCode *code, double *arena, RgTile *tile) {
    vd nothing = v_set(0.0);
#ifdef RG_LOOP
    vd carried[RG_TILE];
    for (int j = 0; j < RG_TILE; j++) carried[j] = nothing;
    while (code) code = ((Handler)code->handler)(code, arena, tile, carried);
#else
#define NOTHING(j, N) vd a##j = N;
    EACH(NOTHING, nothing)((Handler)code->handler)(code, arena, tile, CARRIED);
#endif
}

#define JOIN(a, b) a##b
#define TABLE(level) JOIN(rg_kernels_, level)
#define TEXT(x) #x
#define QUOTED(x) TEXT(x)

const RgKernels TABLE(RG_LEVEL) = {
    .level = QUOTED(RG_LEVEL),
    .lanes = RG_TILE_LANES,
    .equal = RG_EQUAL,
    .handler = handler,
    .run = run,
    .unary = {RG_UNARY_OPS(EIGHT_ENTRY)},
    .binary = {RG_BINARY_OPS(EIGHT_ENTRY)},
    .ternary = {RG_TERNARY_OPS(EIGHT_ENTRY)},
};
