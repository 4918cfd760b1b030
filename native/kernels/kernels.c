/* One source, compiled once a SIMD level: RG_LEVEL names the table it defines. */
#define RG_LISTS_ONLY
#include "kernels.h"

#include "simd.h"
#include "vmath_erf.h"
#include "vmath_exp.h"
#include "vmath_trig.h"

#include "rows.gen.h"

#define VECTORS for (size_t i = 0; i < n; i += RG_LANES)

#define DEFINE_UNARY(NAME)                                                                         \
    static void unary_##NAME(double *out, const double *x, size_t n) {                             \
        VECTORS v_store(out + i, rgv_##NAME(v_load(x + i)));                                       \
    }

/* x is read as lanes or as one number; the choice is made outside the loop. */
#define DEFINE_BINARY(NAME)                                                                        \
    static void binary_##NAME(double *out, const double *x, const double *y, int mask, size_t n) { \
        if (mask == 1) {                                                                           \
            vd u = v_set(*x);                                                                      \
            VECTORS v_store(out + i, rgv_##NAME(u, v_load(y + i)));                                \
        } else if (mask == 2) {                                                                    \
            vd u = v_set(*y);                                                                      \
            VECTORS v_store(out + i, rgv_##NAME(v_load(x + i), u));                                \
        } else {                                                                                   \
            VECTORS v_store(out + i, rgv_##NAME(v_load(x + i), v_load(y + i)));                    \
        }                                                                                          \
    }

#define OPERAND(p, bit) (mask & (bit) ? v_set(*(p)) : v_load((p) + i))

#define DEFINE_TERNARY(NAME)                                                                       \
    static void ternary_##NAME(double *out, const double *x, const double *y, const double *z,     \
                               int mask, size_t n) {                                               \
        if (mask == 0) {                                                                           \
            VECTORS v_store(out + i, rgv_##NAME(v_load(x + i), v_load(y + i), v_load(z + i)));     \
        } else {                                                                                   \
            VECTORS v_store(out + i, rgv_##NAME(OPERAND(x, 1), OPERAND(y, 2), OPERAND(z, 4)));     \
        }                                                                                          \
    }

RG_UNARY_OPS(DEFINE_UNARY)
RG_BINARY_OPS(DEFINE_BINARY)
RG_TERNARY_OPS(DEFINE_TERNARY)

static void fused(double *out, const double *x, const double *y, const double *z, int mask,
                  size_t n) {
    if (mask == 0) {
        VECTORS v_store(out + i, v_fma(v_load(x + i), v_load(y + i), v_load(z + i)));
    } else if (mask == 1) {
        vd u = v_set(*x);
        VECTORS v_store(out + i, v_fma(u, v_load(y + i), v_load(z + i)));
    } else if (mask == 2) {
        vd u = v_set(*y);
        VECTORS v_store(out + i, v_fma(v_load(x + i), u, v_load(z + i)));
    } else {
        VECTORS v_store(out + i, v_fma(OPERAND(x, 1), OPERAND(y, 2), OPERAND(z, 4)));
    }
}

static void add_product(double *out, const double *x, const double *y, int mask, size_t n) {
    VECTORS v_store(out + i, v_add(v_load(out + i), v_mul(OPERAND(x, 1), OPERAND(y, 2))));
}

/* One column of a block from memory of any stride; the padding repeats the last row. Where there is
 * an index, lane i is row index[i]. */
static void load(double *out, const char *base, ptrdiff_t stride, const int64_t *index, size_t rows,
                 size_t n) {
    if (index != NULL) {
        for (size_t i = 0; i < rows; i++) memcpy(out + i, base + index[i] * stride, sizeof(double));
    } else if (stride == sizeof(double)) {
        memcpy(out, base, rows * sizeof(double));
    } else {
        for (size_t i = 0; i < rows; i++)
            memcpy(out + i, base + (ptrdiff_t)i * stride, sizeof(double));
    }
    for (size_t i = rows; i < n; i++) out[i] = out[rows - 1];
}

/* Eight rows by eight columns, turned. */
static inline void turn(double *const *out, size_t lane, const char *const *row) {
#if RG_LANES == 8
    __m512d r[8], t[8];
    for (int i = 0; i < 8; i++) r[i] = _mm512_loadu_pd((const void *)row[i]);
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm512_unpacklo_pd(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_pd(r[i], r[i + 1]);
    }
    for (int i = 0; i < 2; i++) {
        __m512d a = _mm512_shuffle_f64x2(t[i], t[i + 2], 0x88);
        __m512d b = _mm512_shuffle_f64x2(t[i], t[i + 2], 0xdd);
        __m512d c = _mm512_shuffle_f64x2(t[i + 4], t[i + 6], 0x88);
        __m512d d = _mm512_shuffle_f64x2(t[i + 4], t[i + 6], 0xdd);
        _mm512_storeu_pd(out[i] + lane, _mm512_shuffle_f64x2(a, c, 0x88));
        _mm512_storeu_pd(out[i + 2] + lane, _mm512_shuffle_f64x2(b, d, 0x88));
        _mm512_storeu_pd(out[i + 4] + lane, _mm512_shuffle_f64x2(a, c, 0xdd));
        _mm512_storeu_pd(out[i + 6] + lane, _mm512_shuffle_f64x2(b, d, 0xdd));
    }
#else
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            memcpy(out[j] + lane + i, row[i] + j * (ptrdiff_t)sizeof(double), sizeof(double));
#endif
}

/* The columns that follow are asked for ahead: they lie in the next cache line of each row. */
static void load_eight(double *const *out, const char *base, ptrdiff_t stride, const int64_t *index,
                       size_t rows, size_t n) {
    size_t whole = rows & ~(size_t)7;
    for (size_t i = 0; i < whole; i += 8) {
        const char *row[8];
        for (size_t k = 0; k < 8; k++) {
            row[k] = base + (index ? index[i + k] : (int64_t)(i + k)) * stride;
            __builtin_prefetch(row[k] + 128);
        }
        turn(out, i, row);
    }
    for (size_t i = whole; i < n; i++) {
        size_t last = i < rows ? i : rows - 1;
        const char *row = base + (index ? index[last] : (int64_t)last) * stride;
        for (int j = 0; j < 8; j++)
            memcpy(out[j] + i, row + j * (ptrdiff_t)sizeof(double), sizeof(double));
    }
}

#define UNARY_ENTRY(NAME) [RG_OP_##NAME] = unary_##NAME,
#define BINARY_ENTRY(NAME) [RG_OP_##NAME] = binary_##NAME,
#define TERNARY_ENTRY(NAME) [RG_OP_##NAME] = ternary_##NAME,

#define JOIN(a, b) a##b
#define TABLE(level) JOIN(rg_kernels_, level)
#define TEXT(x) #x
#define QUOTED(x) TEXT(x)

const RgKernels TABLE(RG_LEVEL) = {
    .level = QUOTED(RG_LEVEL),
    .unary = {RG_UNARY_OPS(UNARY_ENTRY)},
    .binary = {RG_BINARY_OPS(BINARY_ENTRY)},
    .ternary = {RG_TERNARY_OPS(TERNARY_ENTRY)},
    .fma = fused,
    .add_product = add_product,
    .load = load,
    .load_eight = load_eight,
};
