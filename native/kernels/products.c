/* Matrix products and sums at one SIMD level; products.h says in which order they add.
 *
 * Small operands are read where they lie: those of b as vectors, those of a one by one. Larger ones
 * are copied first into panels as wide as the tile of numbers that registers hold, in blocks that
 * fit the caches. A chain that is cut by such a block goes on from what was stored. */
#include "products.h"
#include "../platform.h"

#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "turns.h"

/* Of vectors. */
#if RG_LANES == 8 || RG_LANES == 2
#define RG_REGISTERS 32
#else
#define RG_REGISTERS 16
#endif

enum { ROWS = RG_REGISTERS == 32 ? 8 : 4, VECTORS = 3, WIDE = VECTORS * LANES };

/* Accumulators stay in registers only where every loop over them is written out. */
#define UNROLLED RG_UNROLL(8) for

/* ---- The tile: ROWS x VECTORS accumulators ---------------------------------------------------- */

enum { BEGIN, GO_ON };              /* the chains: at zero, or from what c holds */
enum { WHOLE, CUT_C, CUT_B_AND_C }; /* whether the last vector is shorter, and in what */

typedef void (*Tile)(Count k, const double *a, Count a_row, Count a_column, const double *b,
                     Count b_row, double *c, Count c_row, int from, RgHow how, Count last);

#define TILE(HEIGHT, VECS, CUT)                                                                    \
    static void tile_##HEIGHT##_##VECS##_##CUT(                                                    \
        Count k, const double *a, Count a_row, Count a_column, const double *b, Count b_row,       \
        double *c, Count c_row, int from, RgHow how, Count last) {                                 \
        vd sum[HEIGHT][VECS];                                                                      \
        const Part part = part_of(last);                                                           \
        (void)part;                                                                                \
        UNROLLED(int i = 0; i < HEIGHT; i++)                                                       \
        UNROLLED(int v = 0; v < VECS; v++) {                                                       \
            const double *at = c + i * c_row + v * LANES;                                          \
            sum[i][v] = from == BEGIN                       ? v_set(0.0)                           \
                        : (CUT) != WHOLE && v == (VECS) - 1 ? load_part(at, part)                  \
                                                            : v_load(at);                          \
        }                                                                                          \
        for (Count p = 0; p < k; p++, b += b_row, a += a_column) {                                 \
            vd y[VECS];                                                                            \
            UNROLLED(int v = 0; v < VECS; v++)                                                     \
            y[v] = (CUT) == CUT_B_AND_C && v == (VECS) - 1 ? load_part(b + v * LANES, part)        \
                                                           : v_load(b + v * LANES);                \
            UNROLLED(int i = 0; i < HEIGHT; i++) {                                                 \
                vd x = v_set(a[i * a_row]);                                                        \
                UNROLLED(int v = 0; v < VECS; v++) sum[i][v] = v_fma(x, y[v], sum[i][v]);          \
            }                                                                                      \
        }                                                                                          \
        UNROLLED(int i = 0; i < HEIGHT; i++)                                                       \
        UNROLLED(int v = 0; v < VECS; v++) {                                                       \
            double *at = c + i * c_row + v * LANES;                                                \
            if ((CUT) != WHOLE && v == (VECS) - 1) {                                               \
                vd old = how == RG_ADD ? load_part(at, part) : v_set(0.0);                         \
                store_part(at, part, how == RG_ADD ? v_add(old, sum[i][v]) : sum[i][v]);           \
            } else {                                                                               \
                v_store(at, how == RG_ADD ? v_add(v_load(at), sum[i][v]) : sum[i][v]);             \
            }                                                                                      \
        }                                                                                          \
    }

#if RG_REGISTERS == 32
#define HEIGHTS(M, V, C)                                                                           \
    M(1, V, C) M(2, V, C) M(3, V, C) M(4, V, C) M(5, V, C) M(6, V, C) M(7, V, C) M(8, V, C)
#else
#define HEIGHTS(M, V, C) M(1, V, C) M(2, V, C) M(3, V, C) M(4, V, C)
#endif
#define TILES(C) HEIGHTS(TILE, 1, C) HEIGHTS(TILE, 2, C) HEIGHTS(TILE, 3, C)
TILES(WHOLE)
TILES(CUT_C)
TILES(CUT_B_AND_C)

#define NAMED(H, V, C) tile_##H##_##V##_##C,
#define NAMES(C)                                                                                   \
    {                                                                                              \
        {HEIGHTS(NAMED, 1, C)}, {HEIGHTS(NAMED, 2, C)}, { HEIGHTS(NAMED, 3, C) }                   \
    }
static const Tile tiles[3][VECTORS][ROWS] = {NAMES(WHOLE), NAMES(CUT_C), NAMES(CUT_B_AND_C)};

static inline Count least(Count x, Count y) { return x < y ? x : y; }

/* How many vectors hold so many numbers, and how many of them are in the last. */
static inline Count vectors_of(Count width) { return (width + LANES - 1) / LANES; }
static inline Count in_last(Count width) { return width - (vectors_of(width) - 1) * LANES; }

/* How many numbers the next tile takes of those left over: a single vector, which has too few chains
 * to keep the processor busy, is left to nobody where two tiles of two can be made. */
static inline Count tile_width(Count left) {
    return LANES < 8 && left > WIDE && left <= WIDE + LANES ? 2 * LANES : least(left, WIDE);
}

/* ---- Copies ----------------------------------------------------------------------------------- */

/* to[p][q] = from[p, q] for q below `width`, and zeros up to `wide`. */
static void copy_panel(Count k, Count width, Count wide, const double *from, Count row,
                       Count column, double *to) {
    if (column == 1) {
        Count vectors = wide / LANES, whole = width / LANES;
        Part rest = part_of(width - whole * LANES);
        for (Count p = 0; p < k; p++, from += row, to += wide) {
            for (Count v = 0; v < whole; v++) v_store(to + v * LANES, v_load(from + v * LANES));
            for (Count v = whole; v < vectors; v++)
                v_store(to + v * LANES, v > whole ? v_set(0.0) : load_part(from + v * LANES, rest));
        }
        return;
    }
    turn(k, width, wide, from, row, column, to);
}

/* ---- One row or one column: eight chains a number ---------------------------------------------- */

static inline double joined(const double s[RG_CHAINS]) {
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

enum {
    PER = RG_CHAINS / LANES, /* vectors that hold the chains of one number */
    STRIP = 64               /* numbers made at a time */
};

SIMD void chains_begin(vd s[PER]) {
    for (int v = 0; v < PER; v++) s[v] = v_set(0.0);
}

SIMD double joined_lanes(const vd s[PER]) {
#if RG_LANES == 8
    vd half = v_add(s[0], _mm512_shuffle_f64x2(s[0], s[0], 0x4e));
    vd two = v_add(half, _mm512_shuffle_f64x2(half, half, 0xb1));
    return _mm512_cvtsd_f64(v_add(two, _mm512_permute_pd(two, 0x55)));
#elif RG_LANES == 4
    vd half = v_add(s[0], s[1]);
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(half), _mm256_extractf128_pd(half, 1));
    return _mm_cvtsd_f64(two) + _mm_cvtsd_f64(_mm_unpackhi_pd(two, two));
#else
    double lanes[RG_CHAINS];
    UNROLLED(int v = 0; v < PER; v++) v_store(lanes + v * LANES, s[v]);
    return joined(lanes);
#endif
}

/* Some rows of contiguous numbers times x, lanes along k. */
#define LINES(HEIGHT)                                                                              \
    static void lines_##HEIGHT(Count k, const double *a, Count row, const double *x, double *to) { \
        vd s[HEIGHT][PER];                                                                         \
        UNROLLED(int i = 0; i < HEIGHT; i++) chains_begin(s[i]);                                   \
        Count p = 0;                                                                               \
        for (; p + RG_CHAINS <= k; p += RG_CHAINS) UNROLLED(int v = 0; v < PER; v++) {             \
                vd y = v_load(x + p + v * LANES);                                                  \
                UNROLLED(int i = 0; i < HEIGHT; i++)                                               \
                s[i][v] = v_fma(v_load(a + i * row + p + v * LANES), y, s[i][v]);                  \
            }                                                                                      \
        for (int v = 0; p < k; v++, p += LANES) {                                                  \
            Part part = part_of(least(k - p, LANES));                                              \
            vd y = load_part(x + p, part);                                                         \
            UNROLLED(int i = 0; i < HEIGHT; i++)                                                   \
            s[i][v] = v_fma(load_part(a + i * row + p, part), y, s[i][v]);                         \
        }                                                                                          \
        UNROLLED(int i = 0; i < HEIGHT; i++) {                                                     \
            double lanes[RG_CHAINS];                                                               \
            UNROLLED(int v = 0; v < PER; v++) v_store(lanes + v * LANES, s[i][v]);                 \
            to[i] = joined(lanes);                                                                 \
        }                                                                                          \
    }
LINES(1)
LINES(4)

/* Eight terms of a vector's worth of numbers, one a chain. */
SIMD void eight_terms(vd s[RG_CHAINS], const double *from, Count column, const double *x) {
    UNROLLED(int j = 0; j < RG_CHAINS; j++)
    s[j] = v_fma(v_load(from + j * column), v_set(x[j]), s[j]);
}

/* Numbers whose terms lie in columns, lanes along the numbers. The chains of a strip wait in memory,
 * so that a row of it is read as a whole. */
static void columns(Count k, Count width, const double *a, Count column, const double *x,
                    double *to) {
    double chains[STRIP / LANES * RG_CHAINS * LANES];
    Count vectors = width / LANES, p = 0;
    for (Count c = 0; c < vectors * RG_CHAINS * LANES; c++) chains[c] = 0.0;
    for (; p + 2 * RG_CHAINS <= k; p += 2 * RG_CHAINS)
        for (Count i = 0; i < vectors; i++) {
            double *at = chains + i * RG_CHAINS * LANES;
            const double *from = a + p * column + i * LANES;
            vd s[RG_CHAINS];
            UNROLLED(int j = 0; j < RG_CHAINS; j++) s[j] = v_load(at + j * LANES);
            eight_terms(s, from, column, x + p);
            eight_terms(s, from + RG_CHAINS * column, column, x + p + RG_CHAINS);
            UNROLLED(int j = 0; j < RG_CHAINS; j++) v_store(at + j * LANES, s[j]);
        }
    for (Count i = 0; i < vectors; i++) {
        vd s[RG_CHAINS];
        UNROLLED(int j = 0; j < RG_CHAINS; j++)
        s[j] = v_load(chains + (i * RG_CHAINS + j) * LANES);
        for (Count q = p; q < k; q++)
            s[q % RG_CHAINS] =
                v_fma(v_load(a + q * column + i * LANES), v_set(x[q]), s[q % RG_CHAINS]);
        v_store(to + i * LANES, v_add(v_add(v_add(s[0], s[4]), v_add(s[2], s[6])),
                                      v_add(v_add(s[1], s[5]), v_add(s[3], s[7]))));
    }
    for (Count i = vectors * LANES; i < width; i++) {
        double s[RG_CHAINS] = {0};
        for (Count q = 0; q < k; q++)
            s[q % RG_CHAINS] = fma(a[q * column + i], x[q], s[q % RG_CHAINS]);
        to[i] = joined(s);
    }
}

static void strip(Count k, Count width, const double *a, Count row, Count column, const double *x,
                  double *to, double *copy) {
    if (row == 1) {
        columns(k, width, a, column, x, to);
        return;
    }
    if (column != 1) {
        for (Count i = 0; i < width; i++)
            for (Count p = 0; p < k; p++) copy[i * k + p] = a[i * row + p * column];
        a = copy;
        row = k;
    }
    Count i = 0;
    for (; i + 4 <= width; i += 4) lines_4(k, a + i * row, row, x, to + i);
    for (; i < width; i++) lines_1(k, a + i * row, row, x, to + i);
}

/* to[i] = the sum over k of a[i, k] * x[k]. */
static int vector_product(Count m, Count k, RgMatrix a, const double *x, Count x_stride, double *to,
                          Count stride, RgHow how) {
    int spread = a.row != 1 && a.column != 1, moved = x_stride != 1;
    Count chain = least(k, RG_CHAIN), strips = spread ? STRIP * chain : 0;
    double *copy = NULL, *line = NULL;
    if (strips + (moved ? k : 0)) {
        copy = malloc((size_t)(strips + (moved ? k : 0)) * sizeof(double));
        if (copy == NULL) return -1;
        line = copy + strips;
    }
    if (moved) {
        for (Count p = 0; p < k; p++) line[p] = x[p * x_stride];
        x = line;
    }
    for (Count i = 0; i < m; i += STRIP) {
        Count width = least(m - i, STRIP);
        double total[STRIP], part[STRIP];
        const double *from = a.at + i * a.row;
        strip(chain, width, from, a.row, a.column, x, total, copy);
        for (Count p = RG_CHAIN; p < k; p += RG_CHAIN) {
            strip(least(k - p, RG_CHAIN), width, from + p * a.column, a.row, a.column, x + p, part,
                  copy);
            for (Count j = 0; j < width; j++) total[j] += part[j];
        }
        for (Count j = 0; j < width; j++) {
            double *at = to + (i + j) * stride;
            *at = how == RG_ADD ? *at + total[j] : total[j];
        }
    }
    free(copy);
    return 0;
}

/* ---- Matrices: one chain a number ------------------------------------------------------------- */

enum { ENDS = 1 << 12 }; /* numbers of a cut panel that are copied, with zeros behind them */

/* Everything small: b's rows are contiguous, and `filled` with zeros up to whole vectors or not. */
static void direct(Count m, Count n, Count k, const double *a, Count a_row, Count a_column,
                   const double *b, Count b_row, int filled, double *c, Count c_row, RgHow how) {
    _Alignas(64) double ends[ENDS];
    for (Count j = 0, width; j < n; j += width) {
        width = tile_width(n - j);
        Count vectors = vectors_of(width), last = in_last(width);
        const double *from = b + j;
        Count row = b_row;
        int cut = last == LANES ? WHOLE : filled ? CUT_C : CUT_B_AND_C;
        if (cut == CUT_B_AND_C && m > 2 * ROWS && k * vectors * LANES <= ENDS) {
            copy_panel(k, width, vectors * LANES, from, b_row, 1, ends);
            from = ends;
            row = vectors * LANES;
            cut = CUT_C;
        }
        const Tile *tile = tiles[cut][vectors - 1];
        const double *down = a;
        double *to = c + j;
        Count left = m;
        for (; left >= ROWS; left -= ROWS, down += ROWS * a_row, to += ROWS * c_row)
            tile[ROWS - 1](k, down, a_row, a_column, from, row, to, c_row, BEGIN, how, last);
        if (left) tile[left - 1](k, down, a_row, a_column, from, row, to, c_row, BEGIN, how, last);
    }
}

enum { DEEP = 256, HIGH = 96, BROAD = 3072 }; /* blocks: k, rows of a, columns of b */

/* Blocks of b in panels of WIDE, blocks of a in panels of ROWS. k is at most RG_CHAIN, and at most
 * DEEP where the product is added. */
static int blocked(Count m, Count n, Count k, RgMatrix a, RgMatrix b, double *c, Count c_row,
                   RgHow how) {
    Count deep = least(k, DEEP), high = (least(m, HIGH) + ROWS - 1) / ROWS * ROWS;
    Count broad = (least(n, BROAD) + WIDE - 1) / WIDE * WIDE;
    double *panels = rg_aligned_take((size_t)(deep * (high + broad)) * sizeof(double));
    if (panels == NULL) return -1;
    double *of_a = panels, *of_b = panels + deep * high;
    for (Count j0 = 0; j0 < n; j0 += BROAD) {
        Count wide = least(n - j0, BROAD);
        for (Count p0 = 0; p0 < k; p0 += DEEP) {
            Count depth = least(k - p0, DEEP);
            for (Count j = 0; j < wide; j += WIDE)
                copy_panel(depth, least(wide - j, WIDE), WIDE,
                           b.at + p0 * b.row + (j0 + j) * b.column, b.row, b.column,
                           of_b + j * depth);
            for (Count i0 = 0; i0 < m; i0 += HIGH) {
                Count tall = least(m - i0, HIGH);
                for (Count i = 0; i < tall; i += ROWS)
                    copy_panel(depth, least(tall - i, ROWS), ROWS,
                               a.at + p0 * a.column + (i0 + i) * a.row, a.column, a.row,
                               of_a + i * depth);
                for (Count j = 0; j < wide; j += WIDE) {
                    Count width = least(wide - j, WIDE), vectors = vectors_of(width);
                    int cut = in_last(width) == LANES ? WHOLE : CUT_C;
                    for (Count i = 0; i < tall; i += ROWS)
                        tiles[cut][vectors - 1][least(tall - i, ROWS) - 1](
                            depth, of_a + i * depth, 1, ROWS, of_b + j * depth, WIDE,
                            c + (i0 + i) * c_row + j0 + j, c_row, p0 ? GO_ON : BEGIN, how,
                            in_last(width));
                }
            }
        }
    }
    rg_aligned_free(panels);
    return 0;
}

enum { SMALL = 1 << 15 }; /* numbers of a and b up to which copying them does not pay */

enum { TURNED = 1 << 12 }; /* numbers of b up to which it is turned on the stack */

static inline int fits_turned(Count n, Count k) { return k * vectors_of(n) * LANES <= TURNED; }

/* The same where b's columns lie apart: as many of them are turned at a time as there is room for. */
static void direct_turned(Count m, Count n, Count k, RgMatrix a, RgMatrix b, double *c, Count c_row,
                          RgHow how) {
    _Alignas(64) double turned[TURNED];
    Count most = fits_turned(n, k) ? n : TURNED / k / WIDE * WIDE;
    for (Count j = 0; j < n; j += most) {
        Count width = least(n - j, most), wide = vectors_of(width) * LANES;
        turn(k, width, wide, b.at + j * b.column, b.row, b.column, turned);
        direct(m, width, k, a.at, a.row, a.column, turned, wide, 1, c + j, c_row, how);
    }
}

/* At most RG_CHAIN terms a number. */
static int one_chain(Count m, Count n, Count k, RgMatrix a, RgMatrix b, double *c, Count c_row,
                     RgHow how) {
    if (b.column == 1 && (m <= ROWS || m * k + k * n <= SMALL)) {
        direct(m, n, k, a.at, a.row, a.column, b.at, b.row, 0, c, c_row, how);
        return 0;
    }
    if ((fits_turned(n, k) && m * k <= SMALL) || (k * WIDE <= TURNED && m * k + k * n <= SMALL)) {
        direct_turned(m, n, k, a, b, c, c_row, how);
        return 0;
    }
    if (how == RG_REPLACE || k <= DEEP) return blocked(m, n, k, a, b, c, c_row, how);
    double *product = malloc((size_t)(m * n) * sizeof(double));
    if (product == NULL) return -1;
    int failed = blocked(m, n, k, a, b, product, n, RG_REPLACE);
    for (Count i = 0; !failed && i < m; i++)
        for (Count j = 0; j < n; j++) c[i * c_row + j] += product[i * n + j];
    free(product);
    return failed;
}

static int product(Count m, Count n, Count k, RgMatrix a, RgMatrix b, double *c, Count stride,
                   RgHow how) {
    if (k == 0 && how == RG_REPLACE)
        for (Count i = 0; i < m; i++) memset(c + i * stride, 0, (size_t)n * sizeof(double));
    if (m == 0 || n == 0 || k == 0) return 0;
    if (m > 1 && n > 1 && b.column == 1 && k <= RG_CHAIN && m * k + k * n <= SMALL) {
        direct(m, n, k, a.at, a.row, a.column, b.at, b.row, 0, c, stride, how);
        return 0;
    }
    if (n == 1) return vector_product(m, k, a, b.at, b.row, c, stride, how);
    if (m == 1)
        return vector_product(n, k, (RgMatrix){b.at, b.column, b.row}, a.at, a.column, c, 1, how);
    if (k <= RG_CHAIN) return one_chain(m, n, k, a, b, c, stride, how);
    /* Several chains: their totals are added up before they reach c. */
    double *total = how == RG_ADD ? malloc((size_t)(m * n) * sizeof(double)) : c;
    Count row = how == RG_ADD ? n : stride;
    if (total == NULL) return -1;
    int failed = 0;
    for (Count p = 0; p < k && !failed; p += RG_CHAIN)
        failed = one_chain(
            m, n, least(k - p, RG_CHAIN), (RgMatrix){a.at + p * a.column, a.row, a.column},
            (RgMatrix){b.at + p * b.row, b.row, b.column}, total, row, p ? RG_ADD : RG_REPLACE);
    if (how == RG_ADD) {
        for (Count i = 0; !failed && i < m; i++)
            for (Count j = 0; j < n; j++) c[i * stride + j] += total[i * n + j];
        free(total);
    }
    return failed;
}

/* ---- Few columns: two rows of the product in a vector ------------------------------------------ */

#if RG_LANES == 8
enum { FEW = LANES / 2 };

/* Twice the first few numbers. */
SIMD vd twice(const double *from, Part few) {
    return _mm512_broadcast_f64x4(_mm256_maskz_loadu_pd(few, from));
}

/* Up to 2 * `pairs` rows of a product whose left side lies in columns. */
SIMD void pairs_of_columns(int pairs, Count height, Count k, const double *a, Count a_column,
                           const double *b, Count b_row, Part few, vd *s) {
    static const int64_t rows_of[LANES / 2][LANES] = {{0, 0, 0, 0, 1, 1, 1, 1},
                                                      {2, 2, 2, 2, 3, 3, 3, 3},
                                                      {4, 4, 4, 4, 5, 5, 5, 5},
                                                      {6, 6, 6, 6, 7, 7, 7, 7}};
    vi rows[LANES / 2];
    UNROLLED(int j = 0; j < LANES / 2; j++) rows[j] = _mm512_loadu_si512(rows_of[j]);
    for (Count p = 0; p < k; p++, a += a_column, b += b_row) {
        vd y = twice(b, few);
        UNROLLED(int j = 0; j < pairs; j += LANES / 2) {
            Count left = height - 2 * j;
            vd x = load_part(a + 2 * j, part_of(least(left, LANES)));
            UNROLLED(int i = 0; i < LANES / 2; i++)
            s[j + i] = v_fma(_mm512_permutexvar_pd(rows[i], x), y, s[j + i]);
        }
    }
}

/* The same where it lies in rows. */
SIMD void pairs_of_rows(int pairs, Count height, Count k, const double *a, Count a_row,
                        const double *b, Count b_row, Part few, vd *s) {
    static const int64_t both[LANES][LANES] = {
        {0, 0, 0, 0, 8, 8, 8, 8},     {1, 1, 1, 1, 9, 9, 9, 9},     {2, 2, 2, 2, 10, 10, 10, 10},
        {3, 3, 3, 3, 11, 11, 11, 11}, {4, 4, 4, 4, 12, 12, 12, 12}, {5, 5, 5, 5, 13, 13, 13, 13},
        {6, 6, 6, 6, 14, 14, 14, 14}, {7, 7, 7, 7, 15, 15, 15, 15}};
    for (Count p = 0; p < k; p += LANES) {
        Count deep = least(k - p, LANES);
        vd row[2 * LANES];
        UNROLLED(int i = 0; i < 2 * pairs; i++)
        row[i] = load_part(a + least(i, height - 1) * a_row + p, part_of(deep));
        for (Count q = 0; q < deep; q++, b += b_row) {
            vd y = twice(b, few);
            vi two = _mm512_loadu_si512(both[q]);
            UNROLLED(int j = 0; j < pairs; j++)
            s[j] = v_fma(_mm512_permutex2var_pd(row[2 * j], two, row[2 * j + 1]), y, s[j]);
        }
    }
}

SIMD void few_columns_of(int pairs, Count height, Count n, Count k, RgMatrix a, RgMatrix b,
                         double *c, Count c_row, RgHow how) {
    vd s[LANES];
    Part few = part_of(n);
    UNROLLED(int j = 0; j < pairs; j++) s[j] = v_set(0.0);
    if (a.row == 1)
        pairs_of_columns(pairs, height, k, a.at, a.column, b.at, b.row, few, s);
    else
        pairs_of_rows(pairs, height, k, a.at, a.row, b.at, b.row, few, s);
    UNROLLED(int j = 0; j < pairs; j++)
    UNROLLED(int half = 0; half < 2; half++) {
        if (2 * j + half >= height) continue;
        double *at = c + (2 * j + half) * c_row;
        __m256d made = half ? _mm512_extractf64x4_pd(s[j], 1) : _mm512_castpd512_pd256(s[j]);
        if (how == RG_ADD) made = _mm256_add_pd(_mm256_maskz_loadu_pd(few, at), made);
        _mm256_mask_storeu_pd(at, few, made);
    }
}

/* A product of at most FEW columns, whose left side goes on evenly one way or the other. */
static void few_columns(Count m, Count n, Count k, RgMatrix a, RgMatrix b, double *c, Count c_row,
                        RgHow how) {
    for (; m > LANES; m -= 2 * LANES, a.at += 2 * LANES * a.row, c += 2 * LANES * c_row)
        few_columns_of(LANES, least(m, 2 * LANES), n, k, a, b, c, c_row, how);
    if (m > 0) few_columns_of(LANES / 2, m, n, k, a, b, c, c_row, how);
}
#endif

/* Small ones of one tile or a few each: what they have in common is decided once. */
static int several(Count batch, Count m, Count n, Count k, RgMatrix a, Count a_step, RgMatrix b,
                   Count b_step, double *c, Count stride, Count c_step, RgHow how) {
    int small = m > 1 && n > 1 && k > 0 && k <= RG_CHAIN && m * k + k * n <= SMALL;
    Count vectors = vectors_of(n), wide = vectors * LANES;
    int turns = b.column != 1;
    if (!small || (turns && k * wide > TURNED)) {
        for (; batch > 0; batch--, a.at += a_step, b.at += b_step, c += c_step)
            if (product(m, n, k, a, b, c, stride, how)) return -1;
        return 0;
    }
#if RG_LANES == 8
    if (n <= FEW && !turns && (a.row == 1 || a.column == 1)) {
        for (; batch > 0; batch--, a.at += a_step, b.at += b_step, c += c_step)
            few_columns(m, n, k, a, b, c, stride, how);
        return 0;
    }
#endif
    _Alignas(64) double turned[TURNED];
    if (m > ROWS || vectors > VECTORS) {
        for (; batch > 0; batch--, a.at += a_step, b.at += b_step, c += c_step) {
            if (turns) turn(k, n, wide, b.at, b.row, b.column, turned);
            direct(m, n, k, a.at, a.row, a.column, turns ? turned : b.at, turns ? wide : b.row,
                   turns, c, stride, how);
        }
        return 0;
    }
    Count last = in_last(n);
    Tile tile = tiles[last == LANES ? WHOLE : turns ? CUT_C : CUT_B_AND_C][vectors - 1][m - 1];
    for (; batch > 0; batch--, a.at += a_step, b.at += b_step, c += c_step) {
        if (turns) turn(k, n, wide, b.at, b.row, b.column, turned);
        tile(k, a.at, a.row, a.column, turns ? turned : b.at, turns ? wide : b.row, c, stride,
             BEGIN, how, last);
    }
    return 0;
}

/* ---- Sums -------------------------------------------------------------------------------------- */

static double chain_sum(Count n, const double *x, Count stride) {
    double lanes[RG_CHAINS] = {0};
    if (stride == 1) {
        vd s[PER];
        chains_begin(s);
        Count p = 0;
        for (; p + RG_CHAINS <= n; p += RG_CHAINS)
            for (int v = 0; v < PER; v++) s[v] = v_add(s[v], v_load(x + p + v * LANES));
        for (int v = 0; p < n; v++, p += LANES)
            s[v] = v_add(s[v], load_part(x + p, part_of(least(n - p, LANES))));
        for (int v = 0; v < PER; v++) v_store(lanes + v * LANES, s[v]);
    } else {
        for (Count p = 0; p < n; p++) lanes[p % RG_CHAINS] += x[p * stride];
    }
    return joined(lanes);
}

static double sum(Count n, const double *x, Count stride) {
    double total = chain_sum(least(n, RG_CHAIN), x, stride);
    for (Count p = RG_CHAIN; p < n; p += RG_CHAIN)
        total += chain_sum(least(n - p, RG_CHAIN), x + p * stride, stride);
    return total;
}

/* The sums of lines that lie one behind the other. */
static void sums(Count lines, Count n, const double *x, double *to, Count stride) {
    if (n > RG_CHAIN) {
        for (Count r = 0; r < lines; r++, x += n, to += stride) *to = sum(n, x, 1);
        return;
    }
    for (Count r = 0; r < lines; r++, x += n, to += stride) {
        vd s[PER];
        chains_begin(s);
        Count p = 0;
        for (; p + RG_CHAINS <= n; p += RG_CHAINS)
            UNROLLED(int v = 0; v < PER; v++) s[v] = v_add(s[v], v_load(x + p + v * LANES));
        if (p < n) UNROLLED(int v = 0; v < PER; v++) {
                if (p + v * LANES < n)
                    s[v] = v_add(s[v], load_part(x + p + v * LANES,
                                                 part_of(least(n - p - v * LANES, LANES))));
            }
        *to = joined_lanes(s);
    }
}

/* Squares of vectors, and the edges number by number: nothing behind the matrix is written. */
static void turned(Count lines, Count n, const double *x, double *to) {
    Count wide = lines / LANES * LANES, deep = n / LANES * LANES;
    for (Count q = 0; q < wide; q += LANES)
        for (Count p = 0; p < deep; p += LANES)
            turn_square(x + q * n + p, n, to + p * lines + q, lines);
    for (Count q = 0; q < lines; q++)
        for (Count p = q < wide ? deep : 0; p < n; p++) to[p * lines + q] = x[q * n + p];
}

/* ---- Extremes ---------------------------------------------------------------------------------- */

/* The better of two; y where they are equal. */
SIMD vd better(vd x, vd y, int smallest) { return smallest ? v_min(x, y) : v_max(x, y); }

/* The best of the chains, halved again and again: as sums are added up. */
SIMD double best_of(const vd s[PER], int smallest) {
#if RG_LANES == 8
    vd four = better(_mm512_shuffle_f64x2(s[0], s[0], 0x4e), s[0], smallest);
    vd two = better(_mm512_shuffle_f64x2(four, four, 0xb1), four, smallest);
    return _mm512_cvtsd_f64(better(_mm512_permute_pd(two, 0x55), two, smallest));
#elif RG_LANES == 4
    vd four = better(s[1], s[0], smallest);
    vd two = better(_mm256_permute2f128_pd(four, four, 1), four, smallest);
    return _mm256_cvtsd_f64(better(_mm256_permute_pd(two, 5), two, smallest));
#else
    double c[RG_CHAINS];
    for (int v = 0; v < PER; v++) v_store(c + v * LANES, s[v]);
    for (int half = RG_CHAINS / 2; half; half /= 2)
        for (int i = 0; i < half; i++)
            c[i] = (smallest ? c[i + half] < c[i] : c[i + half] > c[i]) ? c[i + half] : c[i];
    return c[0];
#endif
}

static double first_nan(const double *x) {
    while (*x == *x) x++;
    return *x;
}

SIMD void extremes_of(int smallest, Count lines, Count n, const double *x, double *to,
                      Count stride) {
    const vd none = v_set(smallest ? HUGE_VAL : -HUGE_VAL);
    for (; lines > 0; lines--, x += n, to += stride) {
        vd s[PER];
        for (int v = 0; v < PER; v++) s[v] = none;
        vm nan = v_ne(none, none);
        Count p = 0;
        for (; p + RG_CHAINS <= n; p += RG_CHAINS)
            for (int v = 0; v < PER; v++) {
                vd y = v_load(x + p + v * LANES);
                nan = vm_or(nan, v_ne(y, y));
                s[v] = better(y, s[v], smallest);
            }
        for (int v = 0; p < n; v++, p += LANES) {
            vd y = load_part_of(none, x + p, part_of(least(n - p, LANES)));
            nan = vm_or(nan, v_ne(y, y));
            s[v] = better(y, s[v], smallest);
        }
        *to = vm_any(nan) ? first_nan(x) : best_of(s, smallest);
    }
}

static void extremes(int smallest, Count lines, Count n, const double *x, double *to,
                     Count stride) {
    if (smallest)
        extremes_of(1, lines, n, x, to, stride);
    else
        extremes_of(0, lines, n, x, to, stride);
}

#define JOIN(A, B) A##B
#define TABLE(LEVEL) JOIN(rg_products_, LEVEL)
const RgProducts TABLE(RG_LEVEL) = {product, several, sum, sums, turned, extremes};
