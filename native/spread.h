/* Maps over operands that lie in rows: see spread.c. */
#ifndef RETROGRADE_SPREAD_H
#define RETROGRADE_SPREAD_H

#include "tensor.h"

#include "kernels/arrays.h"

RG_HIDE

/* `count` rows of `n` numbers. An operand moves `down` from row to row, and `along` (1 or 0) in one. */
typedef struct {
    Py_ssize_t count, n;
    Py_ssize_t down[3];
    ptrdiff_t along[3];
} RgRows;

int rg_in_rows(const Value *z, RgRows *rows);
void rg_map_rows(const RgRows *rows, int op, int arity, double *to, const double *const at[3]);
int rg_pull_rows(const RgRows *rows, int op, int which, const double *const at[RG_BACK], double *to,
                 RgHow how);

RG_HIDE_END

#endif
