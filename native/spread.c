/* Maps whose operands are spread over each other in rows: all numbers, one number a row, or the same
 * row again and again. Biases, scales of a norm, shares of a softmax are such; what is spread in other
 * ways goes through rg_map and rg_map_back, in the same order of additions. */
#include "spread.h"

enum { MOST = 256 }; /* numbers of a row whose contributions are summed on the stack */

typedef enum { FULL, ROW, COLUMN, ONE, OTHER } Kind;

/* How an operand lies in the result; a row has *n numbers. */
static Kind kind_of(const RgBody *z, const RgBody *x, Py_ssize_t *n) {
    if (x->size == z->size) return FULL;
    if (x->size == 1) return ONE;
    int d = x->ndim, more = z->ndim - x->ndim;
    Py_ssize_t size = 1;
    while (d > 0 && x->shape[d - 1] == z->shape[d - 1 + more]) size *= x->shape[--d];
    if (size == x->size) { /* the axes before are 1 */
        *n = size;
        return ROW;
    }
    if (more) return OTHER;
    for (d = 0, size = 1; x->shape[d] == z->shape[d];) size *= x->shape[d++];
    if (size != x->size) return OTHER;
    *n = z->size / size;
    return COLUMN;
}

/* Whether the operands of a map lie in rows; which are let go need no numbers. */
int rg_in_rows(const Value *z, RgRows *rows) {
    const RgBody *body = rg_body(z);
    if (body->size == 0) return 0;
    rows->n = 0;
    for (int k = 0; k < (int)z->count; k++) {
        const Value *input = z->entries[k].input;
        rows->down[k] = rows->along[k] = 0;
        if (input == NULL || !rg_is_node(input)) continue;
        const RgBody *x = rg_body(input);
        Py_ssize_t n = 0;
        Kind kind = kind_of(body, x, &n);
        if (kind == OTHER || (x->at && !x->contiguous)) return 0;
        if (n && rows->n && n != rows->n) return 0;
        if (n) rows->n = n;
        rows->down[k] = kind == FULL ? -1 : kind == COLUMN;
        rows->along[k] = kind == FULL || kind == ROW;
    }
    if (rows->n == 0) rows->n = body->size;
    rows->count = body->size / rows->n;
    for (int k = 0; k < (int)z->count; k++)
        if (rows->down[k] < 0) rows->down[k] = rows->n;
    return 1;
}

void rg_map_rows(const RgRows *rows, int op, int arity, double *to, const double *const at[3]) {
    const double *from[3] = {at[0], at[1], at[2]};
    RgForward kernel = rg_arrays->forward[op];
    for (Py_ssize_t row = 0; row < rows->count; row++, to += rows->n) {
        kernel(rows->n, to, from, rows->along);
        for (int k = 0; k < arity; k++) from[k] += rows->down[k];
    }
}

/* ---- backward ---------------------------------------------------------------------------------- */

typedef struct {
    const double *at[RG_BACK];
    Py_ssize_t down[RG_BACK];
    ptrdiff_t along[RG_BACK];
    int reads;
} Reading;

static inline void next_row(Reading *from) {
    for (int i = 0; i < RG_BACK; i++)
        if (from->reads >> i & 1) from->at[i] += from->down[i];
}

/* One number a row: the sum of its contributions. */
static void sum_rows(const RgRows *rows, RgPartial kernel, Reading *from, double *to, RgHow how) {
    double made[MOST];
    for (Py_ssize_t row = 0; row < rows->count; row++, next_row(from)) {
        kernel(rows->n, made, from->at, from->along, RG_REPLACE);
        double total = rg_arrays->products->sum(rows->n, made, 1);
        to[row] = how == RG_ADD ? to[row] + total : total;
    }
}

/* The same row again and again: contributions are added row after row, from zeros. */
static int add_rows(const RgRows *rows, RgPartial kernel, Reading *from, double *to, RgHow how) {
    RgBuffer *buffer = how == RG_ADD ? rg_numbers_new_or_not((size_t)rows->n) : NULL;
    if (how == RG_ADD && buffer == NULL) return -1;
    double *total = buffer ? buffer->data : to;
    memset(total, 0, (size_t)rows->n * sizeof(double));
    for (Py_ssize_t row = 0; row < rows->count; row++, next_row(from))
        kernel(rows->n, total, from->at, from->along, RG_ADD);
    for (Py_ssize_t i = 0; buffer && i < rows->n; i++) to[i] += total[i];
    rg_numbers_xdrop(buffer);
    return 0;
}

/* The contribution to an operand. 1 where it does not lie in rows, -1 without memory. */
int rg_pull_rows(const RgRows *rows, int op, int which, const double *const at[RG_BACK], double *to,
                 RgHow how) {
    RgPartial kernel = rg_arrays->partial[op][which];
    Py_ssize_t down = rows->down[which];
    int along = rows->along[which] != 0;
    if ((!along && down == 0) || (!along && rows->n > MOST)) return 1;
    Reading from = {.reads = rg_partial_reads[op][which] | 1 << RG_UPSTREAM_AT};
    for (int i = 0; i < RG_BACK; i++) {
        int own = i < RG_RESULT_AT;
        from.at[i] = from.reads >> i & 1 ? at[i] : NULL;
        from.down[i] = own ? rows->down[i] : rows->n;
        from.along[i] = own ? rows->along[i] : 1;
    }
    if (!along) {
        sum_rows(rows, kernel, &from, to, how);
        return 0;
    }
    if (down == 0) return add_rows(rows, kernel, &from, to, how);
    for (Py_ssize_t row = 0; row < rows->count; row++, to += rows->n, next_row(&from))
        kernel(rows->n, to, from.at, from.along, how);
    return 0;
}
