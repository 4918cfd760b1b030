/* The replay kernels: each works on a block of lanes. One table a SIMD level, all from one source.
 *
 * Blocks are padded to a whole number of vectors of eight, so kernels never handle a tail. An
 * operand is lanes, or one uniform number where its bit in `mask` is set. The destination may be
 * one of the operands. */
#ifndef RG_KERNELS_H
#define RG_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "../ops.gen.h"

typedef void (*RgUnary)(double *out, const double *x, size_t n);
typedef void (*RgBinary)(double *out, const double *x, const double *y, int mask, size_t n);
typedef void (*RgTernary)(double *out, const double *x, const double *y, const double *z, int mask,
                          size_t n);

typedef struct {
    const char *level;
    RgUnary unary[RG_OP_COUNT];
    RgBinary binary[RG_OP_COUNT];
    RgTernary ternary[RG_OP_COUNT];
    RgTernary fma;        /* x * y + z, rounded once */
    RgBinary add_product; /* out = out + x * y */
    /* lane i is row i of the column, or row index[i] where there is an index */
    void (*load)(double *out, const char *base, ptrdiff_t stride, const int64_t *index, size_t rows,
                 size_t n);
    /* eight adjacent columns of row-major memory at once */
    void (*load_eight)(double *const *out, const char *base, ptrdiff_t stride, const int64_t *index,
                       size_t rows, size_t n);
} RgKernels;

extern const RgKernels rg_kernels_base;
extern const RgKernels rg_kernels_v3, rg_kernels_v4; /* where RG_HAS_v3, RG_HAS_v4 */

#endif
