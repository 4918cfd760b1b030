/* Rows: columns in, columns out, a tile of vectors at a time. */
#include <stdlib.h>

enum { RG_TILE = RG_VECTORS * RG_LANES, RG_CHUNK = 1024 };
/* Where a row stands: no guard failed, this one did, or an index was out of range. */
#define RG_NONE 0x1p40
#define RG_BAD -1.0

/* Number i of a column is at base + i * stride, in bytes. */
typedef struct {
    char *base;
    ptrdiff_t stride;
} rg_column;

/* Columns side by side, of which a loop reads one a round: distances in bytes. */
typedef struct {
    const char *base;
    ptrdiff_t down, across;
} rg_array;

typedef struct {
    void (*once)(const double *given, double *u);
    void (*tiles)(size_t count, const double *const *x, const rg_array *a, const double *u,
                  double *const *o, double *number, vd *scratch);
    int columns, arrays, outputs, guards;
    const int *column;     /* which column of a call each one is */
    const int (*array)[2]; /* the first column of each array, and how many */
    size_t uniforms, vectors;
} rg_program;

#define U(i) v_set(u[i])
#define X(c, j) v_load(x[c] + row + (j) * RG_LANES)
#define XS(a, i, j) xs##a[(i) * RG_VECTORS + (j)]
#define M(f, i, j) m##f[(i) * RG_VECTORS + (j)]
#define PUT(n, value, j) v_store(o[n] + row + (j) * RG_LANES, value)
#define GUARD(n, holds, value, j) failed##j = rg_guard(failed##j, n, holds, value)
#define GUARD_BY(cell, value, j)                                                                   \
    if (cell) GUARD((cell) < 0 ? -1 - (cell) : (cell) - 1, (cell) > 0, value, j)
#define TAKE(e, count, index, j) rg_take(e, count, index, &failed##j)
#define TAKE_ONCE(e, count, index, j) rg_take_once(u, e, count, index, &failed##j)

SIMD double v_first(vd x) {
    double lanes[RG_LANES];
    v_store(lanes, x);
    return lanes[0];
}

/* ---- the steps that are no kernels ---- */

SIMD vd rg_guard(vd failed, double number, int holds, vd x) {
    vm is = v_ne(x, v_set(0.0));
    return v_min(failed, v_select(holds ? vm_not(is) : is, v_set(number), v_set(RG_NONE)));
}

/* Which of some elements each lane asks for. Where there is none such a row has gone wrong, unless it
 * has failed a guard before. */
static inline __attribute__((unused)) void rg_places(size_t *place, int count, vd index,
                                                     vd *failed) {
    double wanted[RG_LANES], gone[RG_LANES];
    v_store(wanted, index);
    v_store(gone, *failed);
    for (int l = 0; l < RG_LANES; l++) {
        int there = wanted[l] >= 0.0 && wanted[l] < count;
        place[l] = there ? (size_t)wanted[l] : 0;
        if (!there || (double)place[l] != wanted[l]) {
            place[l] = 0;
            if (gone[l] >= RG_NONE) gone[l] = RG_BAD;
        }
    }
    *failed = v_load(gone);
}

static inline __attribute__((unused)) vd rg_take(const vd *e, int count, vd index, vd *failed) {
    size_t place[RG_LANES];
    double found[RG_LANES];
    rg_places(place, count, index, failed);
    for (int l = 0; l < RG_LANES; l++)
        memcpy(found + l, (const double *)(e + place[l]) + l, sizeof(double));
    return v_load(found);
}

static inline __attribute__((unused)) vd rg_take_once(const double *u, const int *e, int count,
                                                      vd index, vd *failed) {
    size_t place[RG_LANES];
    double found[RG_LANES];
    rg_places(place, count, index, failed);
    for (int l = 0; l < RG_LANES; l++) found[l] = u[e[place[l]]];
    return v_load(found);
}

static inline __attribute__((unused)) void rg_clear(vd *sums, int count) {
    for (int i = 0; i < count; i++) sums[i] = v_set(0.0);
}

static inline __attribute__((unused)) void rg_scatter(vd *sums, int count, vd index, vd upstream) {
    double wanted[RG_LANES], up[RG_LANES];
    v_store(wanted, index);
    v_store(up, upstream);
    for (int l = 0; l < RG_LANES; l++)
        if (wanted[l] >= 0.0 && wanted[l] < count)
            ((double *)(sums + (size_t)wanted[l]))[l] += up[l];
}

/* ---- columns that loops run through ---- */

/* rg_turn: eight columns of as many rows as a vector has lanes, a vector a column. */
#if RG_LANES == 8
SIMD void rg_turn(vd *to, size_t apart, const char *from, ptrdiff_t down) {
    for (int half = 0; half < 2; half++) {
        __m512d pairs[4]; /* rows 0 and 2, 1 and 3, 4 and 6, 5 and 7 */
        for (int i = 0; i < 4; i++) {
            const char *row = from + (i % 2 + i / 2 * 4) * down + half * 32;
            __m512d low = _mm512_castpd256_pd512(_mm256_loadu_pd((const void *)row));
            pairs[i] = _mm512_insertf64x4(low, _mm256_loadu_pd((const void *)(row + 2 * down)), 1);
        }
        __m512d even_low = _mm512_unpacklo_pd(pairs[0], pairs[1]);
        __m512d odd_low = _mm512_unpackhi_pd(pairs[0], pairs[1]);
        __m512d even_high = _mm512_unpacklo_pd(pairs[2], pairs[3]);
        __m512d odd_high = _mm512_unpackhi_pd(pairs[2], pairs[3]);
        vd *at = to + (size_t)half * 4 * apart;
        at[0] = _mm512_shuffle_f64x2(even_low, even_high, 0x88);
        at[apart] = _mm512_shuffle_f64x2(odd_low, odd_high, 0x88);
        at[2 * apart] = _mm512_shuffle_f64x2(even_low, even_high, 0xdd);
        at[3 * apart] = _mm512_shuffle_f64x2(odd_low, odd_high, 0xdd);
    }
}
#elif RG_LANES == 4
SIMD void rg_turn(vd *to, size_t apart, const char *from, ptrdiff_t down) {
    for (int half = 0; half < 2; half++) {
        __m256d row[4];
        for (int i = 0; i < 4; i++) row[i] = v_load((const double *)(from + i * down) + half * 4);
        __m256d even_low = _mm256_unpacklo_pd(row[0], row[1]);
        __m256d odd_low = _mm256_unpackhi_pd(row[0], row[1]);
        __m256d even_high = _mm256_unpacklo_pd(row[2], row[3]);
        __m256d odd_high = _mm256_unpackhi_pd(row[2], row[3]);
        vd *at = to + (size_t)half * 4 * apart;
        at[0] = _mm256_permute2f128_pd(even_low, even_high, 0x20);
        at[apart] = _mm256_permute2f128_pd(odd_low, odd_high, 0x20);
        at[2 * apart] = _mm256_permute2f128_pd(even_low, even_high, 0x31);
        at[3 * apart] = _mm256_permute2f128_pd(odd_low, odd_high, 0x31);
    }
}
#elif RG_LANES == 2
SIMD void rg_turn(vd *to, size_t apart, const char *from, ptrdiff_t down) {
    for (int c = 0; c < 8; c += 2) {
        vd one = v_load((const double *)from + c), two = v_load((const double *)(from + down) + c);
        to[(size_t)c * apart] = vzip1q_f64(one, two);
        to[(size_t)(c + 1) * apart] = vzip2q_f64(one, two);
    }
}
#else
SIMD void rg_turn(vd *to, size_t apart, const char *from, ptrdiff_t down) {
    (void)down;
    for (int c = 0; c < 8; c++) to[(size_t)c * apart] = v_load((const double *)from + c);
}
#endif

/* Whether columns of an array lie side by side. */
SIMD int rg_turns(rg_array a) {
    const uintptr_t size = sizeof(double);
    return a.across == sizeof(double) && ((uintptr_t)a.base | (uintptr_t)a.down) % size == 0;
}

/* Eight columns that do, for the rows of one tile. */
SIMD void rg_eight(vd *xs, rg_array a, size_t row, int first) {
    const char *from = a.base + (ptrdiff_t)row * a.down + (ptrdiff_t)sizeof(double) * first;
    for (int j = 0; j < RG_VECTORS; j++)
        rg_turn(xs + first * RG_VECTORS + j, RG_VECTORS, from + j * RG_LANES * a.down, a.down);
}

/* Columns `first` to `last` of an array for the rows of one tile, a vector each. */
static inline __attribute__((unused)) void rg_columns(vd *xs, rg_array a, size_t row, int first,
                                                      int last) {
    if (rg_turns(a))
        for (; first + 8 <= last; first += 8) rg_eight(xs, a, row, first);
    for (int j = 0; j < RG_VECTORS; j++) {
        const char *from = a.base + (ptrdiff_t)(row + (size_t)(j * RG_LANES)) * a.down;
        vd *to = xs + j;
        if (a.down == sizeof(double) && (uintptr_t)from % sizeof(double) == 0) {
            for (int c = first; c < last; c++)
                to[c * RG_VECTORS] = v_load((const double *)(from + c * a.across));
            continue;
        }
        for (int c = first; c < last; c++) {
            double lanes[RG_LANES];
            for (int l = 0; l < RG_LANES; l++)
                memcpy(lanes + l, from + l * a.down + c * a.across, sizeof(double));
            to[c * RG_VECTORS] = v_load(lanes);
        }
    }
}

/* What the next tile reads of an array, on its way while this one is computed: some lines of the cache
 * a round, one after another where rows lie close together (and then those for which there are not
 * rounds enough at once); else those of column `c`, along rows or down columns, as they lie. */
typedef struct {
    uintptr_t next;
    int is_close;
} rg_ahead;

SIMD rg_ahead rg_look_ahead(rg_array a, size_t row, int rounds) {
    uintptr_t next = (uintptr_t)a.base + (row + RG_TILE) * (uintptr_t)a.down;
    int is_close = a.across == sizeof(double) && a.down > 0 && a.down / 12 < rounds;
#if RG_LANES > 1
    if (is_close)
        for (ptrdiff_t at = 64 * RG_VECTORS * (ptrdiff_t)rounds; at <= RG_TILE * a.down; at += 64)
            __builtin_prefetch((const void *)(next + (uintptr_t)at));
#endif
    return (rg_ahead){next, is_close};
}

SIMD void rg_fetch(rg_ahead ahead, rg_array a, int c, int k) {
#if RG_LANES > 1
    uintptr_t at = ahead.next, apart = 64;
    if (ahead.is_close) {
        at += (uintptr_t)(64 * RG_VECTORS * k);
    } else {
        apart = RG_LANES * (uintptr_t)a.down;
        if (a.across == sizeof(double))
            at += (uintptr_t)(c % RG_LANES) * (uintptr_t)a.down +
                  (uintptr_t)(c / RG_LANES * RG_LANES) * sizeof(double);
        else
            at += (uintptr_t)c * (uintptr_t)a.across;
    }
    for (int j = 0; j < RG_VECTORS; j++)
        __builtin_prefetch((const void *)(at + (uintptr_t)j * apart));
#else
    (void)ahead, (void)a, (void)c, (void)k;
#endif
}

/* ---- a program over rows ---- */

static inline const char *rg_at(rg_column column, const int64_t *index, size_t row) {
    return column.base + (ptrdiff_t)(index ? index[row] : (int64_t)row) * column.stride;
}

/* How many doubles rg_rows works with, beside the vectors of the program. */
static size_t rg_room(const rg_program *p) {
    size_t width = 0;
    for (int a = 0; a < p->arrays; a++) width += (size_t)p->array[a][1];
    return ((size_t)(p->columns + p->outputs) + width) * RG_TILE + RG_CHUNK;
}

/* Whether the columns of an array lie at equal distances, and it can be read as it is. */
static int rg_is_even(const rg_column *c, int width) {
    for (int i = 2; i < width; i++)
        if (c[i].base - c[i - 1].base != c[1].base - c[0].base) return 0;
    for (int i = 1; i < width; i++)
        if (c[i].stride != c[0].stride) return 0;
    return 1;
}

/* Lane l of eight adds up rows l, l + 8, … of a chunk, whatever the width. */
static void rg_add_rows(double *sums, const double *x, size_t first, size_t rows) {
    for (size_t i = 0; i < rows; i++) sums[(first + i) % 8] += x[i];
}

/* Rows `first` to `last` of a chunk. `sum` has the number of the sum that an output is added to, or
 * -1 where it is stored; `sums` has eight lanes each. The columns of `out` are those of the outputs
 * that are stored, in their order. `failed` gets the first guard that a row failed, -1 for none, or -2
 * where an index was out of range; then -1 is returned. */
static int rg_rows(const rg_program *p, const double *u, vd *scratch, double *room, size_t first,
                   size_t last, const int64_t *index, const rg_column *in, const rg_column *out,
                   const int *sum, double *sums, int32_t *failed) {
    const double *x[p->columns + 1];
    double *o[p->outputs + 1];
    rg_array a[p->arrays + 1];
    double *pads = room + RG_CHUNK, *number = room;
    int wrong = 0, even = 1, direct = 1;
    for (int i = 0; i < p->arrays; i++) even &= rg_is_even(in + p->array[i][0], p->array[i][1]);
    for (int i = 0; i < p->columns; i++) direct &= in[p->column[i]].stride == sizeof(double);
    for (int i = 0, s = 0; i < p->outputs; i++)
        direct &= !(sum && sum[i] >= 0) && out[s++].stride == sizeof(double);
    for (size_t row = first; row < last;) {
        size_t rows = last - row < RG_TILE ? last - row : RG_TILE, tiles = 1;
        int whole = rows == RG_TILE && !index;
        if (whole && direct && even) tiles = (last - row) / RG_TILE, rows = tiles * RG_TILE;
        double *pad = pads;
        for (int i = 0; i < p->columns; i++, pad += RG_TILE) {
            rg_column c = in[p->column[i]];
            x[i] = pad;
            if (whole && c.stride == sizeof(double)) {
                x[i] = (const double *)rg_at(c, NULL, row);
                continue;
            }
            for (size_t r = 0; r < RG_TILE; r++)
                memcpy(pad + r, rg_at(c, index, row + (r < rows ? r : rows - 1)), sizeof(double));
        }
        for (int i = 0; i < p->arrays; i++) {
            const rg_column *c = in + p->array[i][0];
            int width = p->array[i][1];
            ptrdiff_t across = width > 1 ? c[1].base - c[0].base : (ptrdiff_t)sizeof(double);
            if (whole && even) {
                a[i] = (rg_array){rg_at(c[0], NULL, row), c[0].stride, across};
            } else {
                ptrdiff_t size = sizeof(double);
                a[i] = (rg_array){(const char *)pad, width * size, size};
                for (size_t r = 0; r < RG_TILE; r++)
                    for (int k = 0; k < width; k++, pad++)
                        memcpy(pad, rg_at(c[k], index, row + (r < rows ? r : rows - 1)),
                               sizeof(double));
            }
        }
        for (int i = 0, s = 0; i < p->outputs; i++, pad += RG_TILE) {
            int stored = !(sum && sum[i] >= 0);
            rg_column c = stored ? out[s++] : (rg_column){NULL, 0};
            int there = stored && whole && c.stride == sizeof(double);
            o[i] = there ? (double *)(c.base + (ptrdiff_t)row * c.stride) : pad;
        }
        p->tiles(tiles, x, a, u, o, number, scratch);
        for (int i = 0, s = 0; i < p->outputs; i++) {
            if (sum && sum[i] >= 0) {
                rg_add_rows(sums + sum[i] * 8, o[i], row % RG_CHUNK, rows);
            } else {
                rg_column c = out[s++];
                if (!whole || c.stride != sizeof(double))
                    for (size_t r = 0; r < rows; r++)
                        memcpy((char *)rg_at(c, index, row + r), o[i] + r, sizeof(double));
            }
        }
        for (size_t r = 0; r < rows; r++) {
            wrong |= number[r] < 0.0;
            if (failed)
                failed[row + r] = number[r] >= RG_NONE ? -1
                                  : number[r] < 0.0    ? -2
                                                       : (int32_t)number[r];
        }
        row += rows;
    }
    return wrong ? -1 : 0;
}

static inline __attribute__((unused)) double rg_added(const double *s) {
    return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}
