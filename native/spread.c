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

/* How many rows are computed at once. */
static inline Py_ssize_t rows_together(Py_ssize_t n) { return n > RG_SHORT ? 1 : RG_TOGETHER / n; }

/* An operand of some rows at once: where it lies, or laid out in `room`. */
static inline const double *laid(Py_ssize_t some, Py_ssize_t n, double *room, const double *from,
                                 Py_ssize_t down, ptrdiff_t along, ptrdiff_t *step) {
    *step = along;
    if (some == 1 || down == (along ? n : 0)) return from;
    rg_arrays->lay(some, n, room, from, down, along);
    *step = 1;
    return room;
}

void rg_map_rows(const RgRows *rows, int op, int arity, double *to, const double *const at[3]) {
    RgForward kernel = rg_arrays->forward[op];
    Py_ssize_t n = rows->n, some = rows_together(n);
    double room[3][RG_TOGETHER + RG_BEHIND];
    for (Py_ssize_t row = 0; row < rows->count; row += some, to += some * n) {
        const double *from[3] = {NULL, NULL, NULL};
        ptrdiff_t step[3] = {0, 0, 0};
        if (some > rows->count - row) some = rows->count - row;
        for (int k = 0; k < arity; k++)
            from[k] = laid(some, n, room[k], at[k] + row * rows->down[k], rows->down[k],
                           rows->along[k], &step[k]);
        kernel(some * n, to, from, step);
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

/* The contributions of some rows at once, then on to the next. */
static void pull_some(Py_ssize_t some, Py_ssize_t n, RgPartial kernel, Reading *from, double *to,
                      RgHow how) {
    double room[RG_BACK][RG_TOGETHER + RG_BEHIND];
    const double *at[RG_BACK] = {NULL};
    ptrdiff_t step[RG_BACK] = {0};
    for (int i = 0; i < RG_BACK; i++) {
        if (!(from->reads >> i & 1)) continue;
        at[i] = laid(some, n, room[i], from->at[i], from->down[i], from->along[i], &step[i]);
        from->at[i] += some * from->down[i];
    }
    kernel(some * n, to, at, step, how);
}

/* All of them where they are. */
static void pull_each(const RgRows *rows, RgPartial kernel, Reading *from, double *to, RgHow how) {
    Py_ssize_t n = rows->n, some = rows_together(n);
    for (Py_ssize_t row = 0; row < rows->count; row += some, to += some * n) {
        if (some > rows->count - row) some = rows->count - row;
        pull_some(some, n, kernel, from, to, how);
    }
}

/* One number a row: the sum of its contributions. */
static void sum_rows(const RgRows *rows, RgPartial kernel, Reading *from, double *to, RgHow how) {
    Py_ssize_t n = rows->n, some = rows_together(n);
    double made[RG_TOGETHER], totals[RG_TOGETHER];
    for (Py_ssize_t row = 0; row < rows->count; row += some, to += some) {
        if (some > rows->count - row) some = rows->count - row;
        pull_some(some, n, kernel, from, made, RG_REPLACE);
        rg_arrays->products->sums(some, n, made, how == RG_ADD ? totals : to, 1);
        for (Py_ssize_t i = 0; how == RG_ADD && i < some; i++) to[i] += totals[i];
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
    pull_each(rows, kernel, &from, to, how);
    return 0;
}
