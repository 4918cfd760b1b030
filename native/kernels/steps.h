/* The handlers of what is not a row of the law: loads and stores, sums over operands and over rows,
 * elements chosen by an index, guards.
 *
 * Those that yield no result pass on what they were handed. Rows past the end of a partial tile
 * repeat the last one, and are never stored, reduced or checked. */
#ifndef RG_STEPS_H
#define RG_STEPS_H

#include <string.h>

#include "machine.h"

/* ---- operands among the extras: in a slot or uniform ---- */

typedef struct {
    const double *at;
    size_t step; /* from vector to vector */
} Listed;

static inline Listed listed(const double *arena, uint32_t extra) {
    int uniform = extra & RG_IN_UNIFORM;
    return (Listed){arena + (extra >> 1), uniform ? 0 : RG_LANES};
}

#define SET_TO(j, FROM) a##j = v_load((FROM).at + j * (FROM).step);
#define ADD_TO(j, FROM) a##j = v_add(a##j, v_load((FROM).at + j * (FROM).step));
#define SET_TO_PRODUCT(j, X, Y)                                                                    \
    a##j = v_mul(v_load((X).at + j * (X).step), v_load((Y).at + j * (Y).step));
#define ADD_PRODUCT(j, X, Y)                                                                       \
    a##j = v_add(a##j, v_mul(v_load((X).at + j * (X).step), v_load((Y).at + j * (Y).step)));

HANDLER(do_sum) {
    const uint32_t *terms = tile->extras + code->x;
    Listed first = listed(arena, terms[0]);
    EACH(SET_TO, first)
    for (uint32_t i = 1; i < code->count; i++) {
        Listed term = listed(arena, terms[i]);
        EACH(ADD_TO, term)
    }
    if (code->goes) {
        EACH(STORE_CARRIED, arena + code->out)
    }
    NEXT;
}

HANDLER(do_dot) {
    const uint32_t *lefts = tile->extras + code->x, *rights = tile->extras + code->y;
    Listed x = listed(arena, lefts[0]), y = listed(arena, rights[0]);
    EACH(SET_TO_PRODUCT, x, y)
    for (uint32_t i = 1; i < code->count; i++) {
        x = listed(arena, lefts[i]), y = listed(arena, rights[i]);
        EACH(ADD_PRODUCT, x, y)
    }
    if (code->goes) {
        EACH(STORE_CARRIED, arena + code->out)
    }
    NEXT;
}

#define FUSE_PRODUCT(j, X, Y)                                                                      \
    a##j = v_fma(v_load((X).at + j * (X).step), v_load((Y).at + j * (Y).step), a##j);

HANDLER(do_chain) {
    const uint32_t *lefts = tile->extras + code->x, *rights = tile->extras + code->y;
    Listed x = listed(arena, lefts[0]), y = listed(arena, rights[0]);
    if (code->z) {
        Listed start = listed(arena, tile->extras[code->z - 1]);
        EACH(SET_TO, start)
        EACH(FUSE_PRODUCT, x, y)
    } else {
        EACH(SET_TO_PRODUCT, x, y)
    }
    for (uint32_t i = 1; i < code->count; i++) {
        x = listed(arena, lefts[i]), y = listed(arena, rights[i]);
        EACH(FUSE_PRODUCT, x, y)
    }
    if (code->goes) {
        EACH(STORE_CARRIED, arena + code->out)
    }
    NEXT;
}

static inline double lane(const double *arena, uint32_t extra, size_t i) {
    return arena[(extra >> 1) + (extra & RG_IN_UNIFORM ? 0 : i)];
}

/* 0, or -1 where a row asks for an element that is not there. */
static int take(const RgCode *code, const double *arena, const RgTile *tile, double *out) {
    const uint32_t *elements = tile->extras + code->x;
    for (size_t i = 0; i < RG_TILE_LANES; i++) {
        double wanted = lane(arena, elements[code->count], i);
        if (!(wanted >= 0.0 && wanted < (double)code->count) || wanted != floor(wanted)) {
            int left = tile->failed && i < tile->rows && tile->failed[tile->first + i] >= 0;
            if (i < tile->rows && !left) return -1; /* a row that failed a guard goes elsewhere */
            wanted = 0.0;
        }
        out[i] = lane(arena, elements[(size_t)wanted], i);
    }
    return 0;
}

#define SET_FROM(j, OUT) a##j = v_load(OUT + j * RG_LANES);

HANDLER(do_take) {
    double out[RG_TILE_LANES];
    if (take(code, arena, tile, out) < 0) {
        tile->stop = 1;
        STOP;
    }
    EACH(SET_FROM, out)
    if (code->goes) {
        EACH(STORE_CARRIED, arena + code->out)
    }
    NEXT;
}

static void scatter(const RgCode *code, double *arena, const RgTile *tile) {
    const uint32_t *pairs = tile->extras + code->x;
    double *out = arena + code->out;
    memset(out, 0, (size_t)code->count * RG_TILE_LANES * sizeof(double));
    for (uint32_t p = 0; p < code->y; p++) {
        for (size_t i = 0; i < RG_TILE_LANES; i++) {
            double wanted = lane(arena, pairs[2 * p], i);
            if (wanted >= 0.0 && wanted < (double)code->count)
                out[(size_t)wanted * RG_TILE_LANES + i] += lane(arena, pairs[2 * p + 1], i);
        }
    }
}

HANDLER(do_scatter) {
    scatter(code, arena, tile);
    NEXT;
}

/* ---- rows in ---- */

/* Row i of the tile, in a column. */
static inline char *row_of(RgColumn column, const RgTile *tile, size_t i) {
    size_t row = tile->first + i;
    return column.base + (ptrdiff_t)(tile->index ? tile->index[row] : (int64_t)row) * column.stride;
}

/* Whether a tile's rows of a column lie side by side. */
static inline int side_by_side(RgColumn column, const RgTile *tile) {
    return column.stride == sizeof(double) && tile->rows == RG_TILE_LANES && !tile->index;
}

/* One column. Where its rows lie side by side, those of the tiles to come are asked for ahead. */
static void load_column(double *out, RgColumn column, const RgTile *tile) {
    size_t rows = tile->rows;
    if (side_by_side(column, tile)) {
        const double *from = (const double *)(column.base) + tile->first;
        RG_UNROLL(8)
        for (int j = 0; j < RG_TILE; j++) {
            RG_PREFETCH(from + 4 * RG_TILE_LANES + j * RG_LANES);
            v_store(out + j * RG_LANES, v_load(from + j * RG_LANES));
        }
        return;
    }
    for (size_t i = 0; i < rows; i++) memcpy(out + i, row_of(column, tile, i), sizeof(double));
    for (size_t i = rows; i < RG_TILE_LANES; i++) out[i] = out[rows - 1];
}

HANDLER(do_load) {
    load_column(arena + code->out, tile->inputs[code->x], tile);
    NEXT;
}

/* Eight rows by eight columns, turned. Halves of rows are read, which seldom lie across two cache
 * lines, and two of them make a vector. */
static inline void turn(double *const *out, size_t lane, const char *const *row) {
#if RG_LANES == 8
    RG_UNROLL(2)
    for (int half = 0; half < 2; half++) {
        __m512d pairs[4]; /* rows 0 and 2, 1 and 3, 4 and 6, 5 and 7 */
        RG_UNROLL(4)
        for (int i = 0; i < 4; i++) {
            const char *const *from = row + (i % 2 + i / 2 * 4);
            __m512d low =
                _mm512_castpd256_pd512(_mm256_loadu_pd((const void *)(from[0] + half * 32)));
            __m256d high = _mm256_loadu_pd((const void *)(from[2] + half * 32));
            pairs[i] = _mm512_insertf64x4(low, high, 1);
        }
        __m512d even_low = _mm512_unpacklo_pd(pairs[0], pairs[1]);
        __m512d odd_low = _mm512_unpackhi_pd(pairs[0], pairs[1]);
        __m512d even_high = _mm512_unpacklo_pd(pairs[2], pairs[3]);
        __m512d odd_high = _mm512_unpackhi_pd(pairs[2], pairs[3]);
        double *const *to = out + half * 4;
        _mm512_storeu_pd(to[0] + lane, _mm512_shuffle_f64x2(even_low, even_high, 0x88));
        _mm512_storeu_pd(to[1] + lane, _mm512_shuffle_f64x2(odd_low, odd_high, 0x88));
        _mm512_storeu_pd(to[2] + lane, _mm512_shuffle_f64x2(even_low, even_high, 0xdd));
        _mm512_storeu_pd(to[3] + lane, _mm512_shuffle_f64x2(odd_low, odd_high, 0xdd));
    }
#else
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            memcpy(out[j] + lane + i, row[i] + j * (ptrdiff_t)sizeof(double), sizeof(double));
#endif
}

static void load_eight(const RgCode *code, double *arena, const RgTile *tile) {
    const RgColumn *columns = tile->inputs + code->x;
    double *out[8];
    int adjacent = 1;
    for (int i = 0; i < 8; i++) {
        out[i] = arena + (tile->extras[code->y + (uint32_t)i] >> 1);
        adjacent &= columns[i].base == columns[0].base + i * (ptrdiff_t)sizeof(double) &&
                    columns[i].stride == columns[0].stride;
    }
    if (!adjacent) {
        for (int i = 0; i < 8; i++) load_column(out[i], columns[i], tile);
        return;
    }
    size_t whole = tile->rows & ~(size_t)7;
    for (size_t i = 0; i < whole; i += 8) {
        const char *row[8];
        for (size_t k = 0; k < 8; k++) row[k] = row_of(columns[0], tile, i + k);
        turn(out, i, row);
    }
    for (size_t i = whole; i < RG_TILE_LANES; i++) {
        const char *row = row_of(columns[0], tile, i < tile->rows ? i : tile->rows - 1);
        for (int j = 0; j < 8; j++)
            memcpy(out[j] + i, row + j * (ptrdiff_t)sizeof(double), sizeof(double));
    }
}

HANDLER(do_eight) {
    load_eight(code, arena, tile);
    NEXT;
}

/* An eighth of what the next tile will read of eight columns; in loops, of what the next round will:
 * the eight columns after these, or before them. There are only so many lines that can be on their way
 * at once, so these steps stand evenly among the others. */
HANDLER(do_fetch) {
    const RgColumn *columns = tile->inputs + code->x;
    ptrdiff_t stride = columns[0].stride;
    if (tile->index) {
        /* scattered rows are not worth guessing */
    } else if (stride == sizeof(double)) {
        for (size_t row = 0; row < RG_TILE_LANES; row += 8)
            RG_PREFETCH(columns[code->y].base + (tile->first + RG_TILE_LANES + row) * 8);
    } else {
        size_t first = tile->first + (code->z ? 0 : RG_TILE_LANES);
        ptrdiff_t row = (ptrdiff_t)(first + code->y * (RG_TILE_LANES / 8));
        const char *base = columns[0].base;
        if (code->z) base += code->z == RG_AFTER ? 64 : -64;
        for (int i = 0; i < RG_TILE_LANES / 8; i++) RG_PREFETCH(base + (row + i) * stride);
    }
    NEXT;
}

/* ---- rows out ---- */

#define OPERAND_OF(j, X) X[j] = rg_operand(code->kind[0], arena + code->x, a##j, j);

static void store_rows(const double *from, RgColumn column, const RgTile *tile) {
    for (size_t i = 0; i < tile->rows; i++)
        memcpy(row_of(column, tile, i), from + i, sizeof(double));
}

HANDLER(do_store) {
    RgColumn column = tile->outputs[code->y];
    vd x[RG_TILE];
    EACH(OPERAND_OF, x)
    if (side_by_side(column, tile)) {
        double *to = (double *)column.base + tile->first;
        if (tile->streams && (uintptr_t)to % (RG_LANES * sizeof(double)) == 0) {
            RG_UNROLL(8)
            for (int j = 0; j < RG_TILE; j++) v_stream(to + j * RG_LANES, x[j]);
        } else {
            RG_UNROLL(8)
            for (int j = 0; j < RG_TILE; j++) v_store(to + j * RG_LANES, x[j]);
        }
    } else {
        double lanes[RG_TILE_LANES];
        RG_UNROLL(8)
        for (int j = 0; j < RG_TILE; j++) v_store(lanes + j * RG_LANES, x[j]);
        store_rows(lanes, column, tile);
    }
    NEXT;
}

/* Lane l of eight adds up rows l, l + 8, …, whatever the width. */
static void reduce(const double *x, double *sums, size_t rows) {
    size_t whole = rows & ~(size_t)7;
    for (size_t i = 0; i < whole; i += RG_LANES)
        v_store(sums + i % 8, v_add(v_load(sums + i % 8), v_load(x + i)));
    for (size_t i = whole; i < rows; i++) sums[i % 8] += x[i];
}

HANDLER(do_reduce) {
    vd x[RG_TILE];
    double lanes[RG_TILE_LANES];
    EACH(OPERAND_OF, x)
    for (int j = 0; j < RG_TILE; j++) v_store(lanes + j * RG_LANES, x[j]);
    reduce(lanes, tile->sums + (size_t)code->y * RG_EQUAL, tile->rows);
    NEXT;
}

/* The first failed guard of each row; 0 when no row is left. Guards may come out of their order, so
 * a row is only gone when every guard before the one it failed is done: an earlier one may fail too. */
static int note_failures(const double *x, const RgCode *code, const RgTile *tile) {
    int32_t number = (int32_t)code->y, done = (int32_t)code->z, left = 0;
    for (size_t i = 0; i < tile->rows; i++) {
        int32_t *failed = &tile->failed[tile->first + i];
        if ((x[i] != 0.0) != (code->count != 0) && (*failed < 0 || *failed > number))
            *failed = number; /* the first of the function, in whatever order they are checked */
        left |= *failed < 0 || *failed >= done;
    }
    return left;
}

HANDLER(do_guard) {
    vd x[RG_TILE];
    EACH(OPERAND_OF, x)
    vm holds = v_ne(x[0], v_set(0.0)), any = holds, all = holds;
    for (int j = 1; j < RG_TILE; j++) {
        holds = v_ne(x[j], v_set(0.0));
        any = vm_or(any, holds);
        all = vm_and(all, holds);
    }
    if (code->count ? vm_any(vm_not(all)) : vm_any(any)) {
        double lanes[RG_TILE_LANES];
        for (int j = 0; j < RG_TILE; j++) v_store(lanes + j * RG_LANES, x[j]);
        if (!note_failures(lanes, code, tile)) STOP;
    }
    NEXT;
}

/* ---- loops ---- */

HANDLER(do_copy) {
    vd x[RG_TILE];
    double *out = arena + code->out;
    EACH(OPERAND_OF, x)
    for (int j = 0; j < RG_TILE; j++) v_store(out + j * RG_LANES, x[j]);
    NEXT;
}

/* Turn to the next round, or to what comes after the last one: then all that has moved is where it
 * was in the first. The steps are this thread's own. */
static const RgCode *again(const RgCode *code, const RgTile *tile) {
    RgCode *counter = (RgCode *)code;
    const RgCode *move = code + 1, *end = move + code->y;
    int goes_on = ++counter->out < code->count;
    if (!goes_on) counter->out = 0;
    for (; move < end; move++) {
        uint32_t by = goes_on ? move->x : move->y, *extras = (uint32_t *)tile->extras;
        if (move->count == RG_EXTRA)
            extras[move->out] += by;
        else
            *(uint32_t *)(void *)((char *)counter - move->out) += by;
    }
    return goes_on ? code - code->x : end;
}

HANDLER(do_again) {
    const RgCode *next = again(code, tile);
    AFTER(next - code);
}

HANDLER(do_end) {
    (void)code, (void)arena, (void)tile;
    STOP;
}

#endif
