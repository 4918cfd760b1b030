/* Four dots or chains at once, of equal length and with the same rights: the rows of a matrix with
 * its input. Each adds up its products in their order, as alone; side by side none waits for
 * another. Only where a tile is one vector: of several, they overlap among themselves. */
#ifndef RG_FOURS_H
#define RG_FOURS_H

#include "machine.h"
#include "steps.h"

#if RG_TILE == 1

typedef struct {
    vd of[4];
} Four;

SIMD vd one_listed(const double *arena, uint32_t extra) { return v_load(arena + (extra >> 1)); }

SIMD vd plus_product(vd sum, vd x, vd y) { return v_add(sum, v_mul(x, y)); }
SIMD vd fused_product(vd sum, vd x, vd y) { return v_fma(x, y, sum); }

/* The codes of the four are `apart` from each other. */
SIMD Four four_sums(const RgCode *code, int apart, double *arena, const RgTile *tile,
                    vd (*add)(vd, vd, vd)) {
    const uint32_t *rights = tile->extras + code->y, *lefts[4];
    Four sums;
    vd y = one_listed(arena, rights[0]);
    RG_UNROLL(4)
    for (int k = 0; k < 4; k++) {
        lefts[k] = tile->extras + code[k * apart].x;
        sums.of[k] = v_mul(one_listed(arena, lefts[k][0]), y);
    }
    for (uint32_t i = 1; i < code->count; i++) {
        y = one_listed(arena, rights[i]);
        RG_UNROLL(4)
        for (int k = 0; k < 4; k++) sums.of[k] = add(sums.of[k], one_listed(arena, lefts[k][i]), y);
    }
    RG_UNROLL(4)
    for (int k = 0; k < 4; k++)
        if (code[k * apart].goes) v_store(arena + code[k * apart].out, sums.of[k]);
    return sums;
}

HANDLER(do_four_dots) {
    a0 = four_sums(code, 1, arena, tile, plus_product).of[3];
    AFTER(4);
}

HANDLER(do_four_chains) {
    a0 = four_sums(code, 1, arena, tile, fused_product).of[3];
    AFTER(4);
}

HANDLER(do_four_reduced) {
    Four sums = four_sums(code, 2, arena, tile, fused_product);
    for (int k = 0; k < 4; k++) {
        double lanes[RG_TILE_LANES];
        v_store(lanes, sums.of[k]);
        reduce(lanes, tile->sums + (size_t)code[2 * k + 1].y * RG_EQUAL, tile->rows);
    }
    a0 = sums.of[3];
    AFTER(8);
}

#endif

#endif
