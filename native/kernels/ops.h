/* The handlers of the law's rows and of fma.
 *
 * Where an operand is, is known when a plan is laid out. The simple ops, which would otherwise
 * spend more time finding their operands than computing, have a handler for each combination; the
 * others look when they run, and loop over the vectors. */
#ifndef RG_OPS_H
#define RG_OPS_H

#include "machine.h"

SIMD vd rgv_fma(vd x, vd y, vd z) { return v_fma(x, y, z); }

#define SIMPLE_UNARY(X)                                                                            \
    X(neg) X(square) X(reciprocal) X(sqrt) X(abs) X(relu) X(exp) X(log) X(norm_pdf) X(sech2)
#define SIMPLE_BINARY(X)                                                                           \
    X(add) X(sub) X(mul) X(div) X(maximum) X(minimum) X(less) X(less_equal) X(equal)
#define SIMPLE_TERNARY(X) X(where) X(fma)

/* ---- simple ops: a handler for each combination of kinds, stored or not ---- */

/* Vector j of a result. */
#define DELIVER(j, RESULT, GOES)                                                                   \
    {                                                                                              \
        vd result = RESULT;                                                                        \
        if (GOES != RG_ON) v_store(out + j * RG_LANES, result);                                    \
        if (GOES != RG_STORED) a##j = result;                                                      \
    }
#define UNARY_VECTOR(j, NAME, KX, GOES) DELIVER(j, rgv_##NAME(rg_operand(KX, x, a##j, j)), GOES)
#define BINARY_VECTOR(j, NAME, KX, KY, GOES)                                                       \
    DELIVER(j, rgv_##NAME(rg_operand(KX, x, a##j, j), rg_operand(KY, y, a##j, j)), GOES)
#define TERNARY_VECTOR(j, NAME, KX, KY, KZ, GOES)                                                  \
    DELIVER(j,                                                                                     \
            rgv_##NAME(rg_operand(KX, x, a##j, j), rg_operand(KY, y, a##j, j),                     \
                       rg_operand(KZ, z, a##j, j)),                                                \
            GOES)

#define OUT_AND_X                                                                                  \
    double *out = arena + code->out;                                                               \
    const double *x = arena + code->x;                                                             \
    (void)out, (void)x

#define UNARY_ONE(NAME, KX, GOES)                                                                  \
    HANDLER(NAME##_##KX##_##GOES) {                                                                \
        OUT_AND_X;                                                                                 \
        EACH(UNARY_VECTOR, NAME, KX, GOES)                                                         \
        NEXT;                                                                                      \
    }
#define BINARY_ONE(NAME, KX, KY, GOES)                                                             \
    HANDLER(NAME##_##KX##KY##_##GOES) {                                                            \
        OUT_AND_X;                                                                                 \
        const double *y = arena + code->y;                                                         \
        (void)y;                                                                                   \
        EACH(BINARY_VECTOR, NAME, KX, KY, GOES)                                                    \
        NEXT;                                                                                      \
    }
#define TERNARY_ONE(NAME, KX, KY, KZ, GOES)                                                        \
    HANDLER(NAME##_##KX##KY##KZ##_##GOES) {                                                        \
        OUT_AND_X;                                                                                 \
        const double *y = arena + code->y, *z = arena + code->z;                                   \
        (void)y, (void)z;                                                                          \
        EACH(TERNARY_VECTOR, NAME, KX, KY, KZ, GOES)                                               \
        NEXT;                                                                                      \
    }

/* clang-format off: macros of macros */
#define UNARY_KINDS(M, NAME) M(NAME, 0) M(NAME, 1) M(NAME, 2)
#define BINARY_KINDS(M, NAME)                                                                      \
    M(NAME, 0, 0)                                                                                  \
    M(NAME, 0, 1)                                                                                  \
    M(NAME, 0, 2)                                                                                  \
    M(NAME, 1, 0) M(NAME, 1, 1) M(NAME, 1, 2) M(NAME, 2, 0) M(NAME, 2, 1) M(NAME, 2, 2)
#define TERNARY_KINDS_OF(M, NAME, KX)                                                              \
    M(NAME, KX, 0, 0)                                                                              \
    M(NAME, KX, 0, 1)                                                                              \
    M(NAME, KX, 0, 2)                                                                              \
    M(NAME, KX, 1, 0)                                                                              \
    M(NAME, KX, 1, 1) M(NAME, KX, 1, 2) M(NAME, KX, 2, 0) M(NAME, KX, 2, 1) M(NAME, KX, 2, 2)
#define TERNARY_KINDS(M, NAME)                                                                     \
    TERNARY_KINDS_OF(M, NAME, 0) TERNARY_KINDS_OF(M, NAME, 1) TERNARY_KINDS_OF(M, NAME, 2)

#define UNARY_WAYS(NAME, KX) UNARY_ONE(NAME, KX, 0) UNARY_ONE(NAME, KX, 1) UNARY_ONE(NAME, KX, 2)
#define BINARY_WAYS(NAME, KX, KY)                                                                  \
    BINARY_ONE(NAME, KX, KY, 0) BINARY_ONE(NAME, KX, KY, 1) BINARY_ONE(NAME, KX, KY, 2)
#define TERNARY_WAYS(NAME, KX, KY, KZ)                                                             \
    TERNARY_ONE(NAME, KX, KY, KZ, 0)                                                               \
    TERNARY_ONE(NAME, KX, KY, KZ, 1) TERNARY_ONE(NAME, KX, KY, KZ, 2)

#define UNARY_NAMES(NAME, KX) NAME##_##KX##_0, NAME##_##KX##_1, NAME##_##KX##_2,
#define BINARY_NAMES(NAME, KX, KY) NAME##_##KX##KY##_0, NAME##_##KX##KY##_1, NAME##_##KX##KY##_2,
#define TERNARY_NAMES(NAME, KX, KY, KZ)                                                            \
    NAME##_##KX##KY##KZ##_0, NAME##_##KX##KY##KZ##_1, NAME##_##KX##KY##KZ##_2,

/* clang-format on */

/* The handlers of a simple op, by x, y, z and whether the result is stored. */
#define SIMPLE_UNARY_OP(NAME)                                                                      \
    UNARY_KINDS(UNARY_WAYS, NAME)                                                                  \
    static const Handler simple_##NAME[] = {UNARY_KINDS(UNARY_NAMES, NAME)};
#define SIMPLE_BINARY_OP(NAME)                                                                     \
    BINARY_KINDS(BINARY_WAYS, NAME)                                                                \
    static const Handler simple_##NAME[] = {BINARY_KINDS(BINARY_NAMES, NAME)};
#define SIMPLE_TERNARY_OP(NAME)                                                                    \
    TERNARY_KINDS(TERNARY_WAYS, NAME)                                                              \
    static const Handler simple_##NAME[] = {TERNARY_KINDS(TERNARY_NAMES, NAME)};

SIMPLE_UNARY(SIMPLE_UNARY_OP)
SIMPLE_BINARY(SIMPLE_BINARY_OP)
SIMPLE_TERNARY(SIMPLE_TERNARY_OP)

/* ---- every op: one handler, which the simple ones do not need ---- */

#define LOOP RG_UNROLL(1) for (int j = 0; j < RG_TILE; j++)
#define LOOKED_UP(P, I) rg_operand(code->kind[I], arena + code->P, a[j], j)

#define LOOPING(NAME, EXPRESSION)                                                                  \
    HANDLER(looping_##NAME) {                                                                      \
        vd a[RG_TILE], result[RG_TILE];                                                            \
        EACH(TO_ARRAY, a)                                                                          \
        LOOP result[j] = EXPRESSION;                                                               \
        if (code->goes != RG_ON) LOOP v_store(arena + code->out + j * RG_LANES, result[j]);        \
        if (code->goes != RG_STORED) {                                                             \
            EACH(FROM_ARRAY, result)                                                               \
        }                                                                                          \
        NEXT;                                                                                      \
    }
#define LOOPING_UNARY(NAME) LOOPING(NAME, rgv_##NAME(LOOKED_UP(x, 0)))
#define LOOPING_BINARY(NAME) LOOPING(NAME, rgv_##NAME(LOOKED_UP(x, 0), LOOKED_UP(y, 1)))
#define LOOPING_TERNARY(NAME)                                                                      \
    LOOPING(NAME, rgv_##NAME(LOOKED_UP(x, 0), LOOKED_UP(y, 1), LOOKED_UP(z, 2)))

RG_UNARY_OPS(LOOPING_UNARY)
RG_BINARY_OPS(LOOPING_BINARY)
RG_TERNARY_OPS(LOOPING_TERNARY)

#define LOOPING_ENTRY(NAME) [RG_OP_##NAME] = looping_##NAME,
static const Handler looping[RG_OP_COUNT] = {
    RG_UNARY_OPS(LOOPING_ENTRY) RG_BINARY_OPS(LOOPING_ENTRY) RG_TERNARY_OPS(LOOPING_ENTRY)};

/* ---- one op on the lanes of a uniform number ---- */

#define EIGHT for (int i = 0; i < RG_EQUAL; i += RG_LANES)
#define EIGHT_UNARY(NAME)                                                                          \
    static void eight_##NAME(double *out, const double *x) {                                       \
        EIGHT v_store(out + i, rgv_##NAME(v_load(x + i)));                                         \
    }
#define EIGHT_BINARY(NAME)                                                                         \
    static void eight_##NAME(double *out, const double *x, const double *y) {                      \
        EIGHT v_store(out + i, rgv_##NAME(v_load(x + i), v_load(y + i)));                          \
    }
#define EIGHT_TERNARY(NAME)                                                                        \
    static void eight_##NAME(double *out, const double *x, const double *y, const double *z) {     \
        EIGHT v_store(out + i, rgv_##NAME(v_load(x + i), v_load(y + i), v_load(z + i)));           \
    }

RG_UNARY_OPS(EIGHT_UNARY)
RG_BINARY_OPS(EIGHT_BINARY)
RG_TERNARY_OPS(EIGHT_TERNARY)

#define EIGHT_ENTRY(NAME) [RG_OP_##NAME] = eight_##NAME,

#endif
