/* Matrix products and sums whose bits depend on the operands and their shapes alone.
 *
 * A number of a matrix product is one chain of fma in the order of k; where the product has one row
 * or one column, and in sums, it is eight chains, the j-th over k = j, j + 8, …, added up as
 * ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7)). Chains begin anew every RG_CHAIN terms, and
 * the totals are added in order. Extremes go the same way, in chains without end, so that it is settled
 * which of two zeros is the larger. Neither SIMD level, tile, layout nor thread changes that. */
#ifndef RG_PRODUCTS_H
#define RG_PRODUCTS_H

#include <stddef.h>

enum { RG_CHAIN = 1024, RG_CHAINS = 8 };

/* Numbers of a matrix: `at`, and how far apart rows and columns are, in doubles. */
typedef struct {
    const double *at;
    ptrdiff_t row, column;
} RgMatrix;

/* Whether a product replaces what is there, or is added to it as a whole. */
typedef enum { RG_REPLACE, RG_ADD } RgHow;

typedef struct {
    /* c[m, n], rows `stride` apart, from a[m, k] and b[k, n]; 0, or -1 where there is no memory. */
    int (*product)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, RgMatrix a, RgMatrix b, double *c,
                   ptrdiff_t stride, RgHow how);
    /* `batch` of them, whose operands and results are that far apart. */
    int (*several)(ptrdiff_t batch, ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, RgMatrix a,
                   ptrdiff_t a_step, RgMatrix b, ptrdiff_t b_step, double *c, ptrdiff_t stride,
                   ptrdiff_t c_step, RgHow how);
    /* The sum of n numbers that lie `stride` apart. */
    double (*sum)(ptrdiff_t n, const double *x, ptrdiff_t stride);
    /* The sums of lines of n numbers, one line behind the other; results are `stride` apart. */
    void (*sums)(ptrdiff_t lines, ptrdiff_t n, const double *x, double *to, ptrdiff_t stride);
    /* A matrix of lines of n numbers, one line behind the other, turned: to[i, line]. */
    void (*turned)(ptrdiff_t lines, ptrdiff_t n, const double *x, double *to);
    /* The largest numbers of such lines, or the smallest; n is at least 1. NaN where one is NaN. */
    void (*extremes)(int smallest, ptrdiff_t lines, ptrdiff_t n, const double *x, double *to,
                     ptrdiff_t stride);
} RgProducts;

extern const RgProducts rg_products_base, rg_products_v3, rg_products_v4, rg_products_neon;

#endif
