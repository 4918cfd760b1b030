/* One source, compiled once a SIMD level: RG_LEVEL names the table it defines. */
#include "kernels.h"

#include "simd.h"
#include "vmath_erf.h"
#include "vmath_exp.h"
#include "vmath_trig.h"

#include "rows.gen.h"

#define VECTORS for (size_t i = 0; i < n; i += RG_LANES)

#define DEFINE_UNARY(NAME)                                                   \
    static void unary_##NAME(double *out, const double *x, size_t n) {        \
        VECTORS v_store(out + i, rgv_##NAME(v_load(x + i)));                  \
    }

/* x is read as lanes or as one number; the choice is made outside the loop. */
#define DEFINE_BINARY(NAME)                                                                  \
    static void binary_##NAME(double *out, const double *x, const double *y, int mask,         \
                              size_t n) {                                                      \
        if (mask == 1) {                                                                       \
            vd u = v_set(*x);                                                                  \
            VECTORS v_store(out + i, rgv_##NAME(u, v_load(y + i)));                            \
        } else if (mask == 2) {                                                                \
            vd u = v_set(*y);                                                                  \
            VECTORS v_store(out + i, rgv_##NAME(v_load(x + i), u));                            \
        } else {                                                                               \
            VECTORS v_store(out + i, rgv_##NAME(v_load(x + i), v_load(y + i)));                \
        }                                                                                      \
    }

#define OPERAND(p, bit) (mask & (bit) ? v_set(*(p)) : v_load((p) + i))

#define DEFINE_TERNARY(NAME)                                                                 \
    static void ternary_##NAME(double *out, const double *x, const double *y, const double *z, \
                               int mask, size_t n) {                                           \
        if (mask == 0) {                                                                       \
            VECTORS v_store(out + i, rgv_##NAME(v_load(x + i), v_load(y + i), v_load(z + i))); \
        } else {                                                                               \
            VECTORS v_store(out + i,                                                           \
                            rgv_##NAME(OPERAND(x, 1), OPERAND(y, 2), OPERAND(z, 4)));          \
        }                                                                                      \
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

/* One column of a block from memory of any stride; the padding repeats the last row. */
static void load(double *out, const char *base, ptrdiff_t stride, size_t rows, size_t n) {
    if (stride == sizeof(double)) {
        memcpy(out, base, rows * sizeof(double));
    } else {
        for (size_t i = 0; i < rows; i++) memcpy(out + i, base + (ptrdiff_t)i * stride, sizeof(double));
    }
    for (size_t i = rows; i < n; i++) out[i] = out[rows - 1];
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
};
