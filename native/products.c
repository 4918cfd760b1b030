/* Sums and matrix products of tensors, past bound rows. The order in which they add is that of
 * kernels/products.h: it depends on the shapes alone. */
#include "ready.h"

/* ---- the sum of all numbers -------------------------------------------------------------------- */

static int sum_run(Value *z, double *to) {
    const RgBody *x = rg_body(z->entries[0].input);
    if (x->contiguous) {
        *to = rg_arrays->products->sum(x->size, x->at, 1);
        return 0;
    }
    if (rg_total(x->ndim, x->shape, (RgView){x->at, x->strides}, to) == 0) return 0;
    PyErr_NoMemory();
    return -1;
}

static int sum_pull(RgPass *pass, Value *z, const double *upstream, const uint32_t *places) {
    Value *input = z->entries[0].input;
    double amount = *upstream;
    int fresh;
    if (!(input->flags & RG_REQUIRES_GRAD) || places[0] == RG_NOWHERE) return 0;
    double *to = rg_pull_into(pass, places[0], input, &fresh);
    if (to == NULL) return -1;
    Py_ssize_t size = rg_body(input)->size;
    if (fresh)
        for (Py_ssize_t i = 0; i < size; i++) to[i] = amount;
    else
        for (Py_ssize_t i = 0; i < size; i++) to[i] += amount;
    return 0;
}

static const RgRow sum_row = {"sum", sum_run, sum_pull, 0};

PyObject *rg_tensor_sum(PyObject *tensor) {
    Value *x = rg_node_of(tensor);
    if (rg_tensor_restore(x) < 0) return NULL;
    Value *z = rg_tensor_blank(0, 1);
    if (z == NULL) return NULL;
    rg_body(z)->row = &sum_row;
    rg_body_entries(z, 1)[0] = (RgEntry){x, 0.0};
    if (sum_run(z, &z->data) < 0) {
        Py_DECREF((PyObject *)z);
        return NULL;
    }
    return rg_tensor_finish(z, x->flags);
}

/* ---- matrix products ------------------------------------------------------------------------------ */

/* One operand as matrices, one a turn of the axes in front. */
typedef struct {
    RgMatrix matrix;
    Py_ssize_t steps[RG_MOST_AXES]; /* along the axes in front */
} Matrices;

/* x[…, m, k] @ y[…, k, n]. A vector on the left is one row, on the right one column. */
typedef struct {
    int batch_ndim;
    Py_ssize_t batch[RG_MOST_AXES], turns, m, n, k;
    Matrices x, y, z; /* of z only where each begins: it lies in the order of C */
} Product;

static void set_matrices(Matrices *of, int side, int ndim, const Py_ssize_t *shape,
                         const Py_ssize_t *strides, const Product *p) {
    of->matrix.row = ndim > 1 ? strides[ndim - 2] : side ? strides[0] : 0;
    of->matrix.column = ndim > 1 ? strides[ndim - 1] : side ? 0 : strides[0];
    int more = p->batch_ndim - (ndim > 2 ? ndim - 2 : 0);
    for (int d = 0; d < p->batch_ndim; d++)
        of->steps[d] =
            d < more || (shape[d - more] == 1 && p->batch[d] != 1) ? 0 : strides[d - more];
}

static void packed_strides(int ndim, const Py_ssize_t *shape, Py_ssize_t *strides) {
    Py_ssize_t size = 1;
    for (int d = ndim; d-- > 0; size *= shape[d]) strides[d] = size;
}

/* Lengths and axes in front; 0 where the shapes do not fit. */
static int set_lengths(Product *p, const RgBody *x, const RgBody *y) {
    p->m = x->ndim > 1 ? x->shape[x->ndim - 2] : 1;
    p->k = x->shape[x->ndim - 1];
    p->n = y->ndim > 1 ? y->shape[y->ndim - 1] : 1;
    if (p->k != y->shape[y->ndim > 1 ? y->ndim - 2 : 0]) return 0;
    int left = x->ndim > 2 ? x->ndim - 2 : 0, right = y->ndim > 2 ? y->ndim - 2 : 0;
    p->batch_ndim = left > right ? left : right;
    p->turns = 1;
    for (int d = 1; d <= p->batch_ndim; d++) {
        Py_ssize_t a = d <= left ? x->shape[left - d] : 1, b = d <= right ? y->shape[right - d] : 1;
        if (a != b && a != 1 && b != 1) return 0;
        p->batch[p->batch_ndim - d] = a == 1 ? b : a;
        p->turns *= a == 1 ? b : a;
    }
    return 1;
}

/* Axes in front of the left operand alone are rows of one product. */
static void join_rows(Product *p, const RgBody *y) {
    if (y->ndim > 2 || p->batch_ndim == 0) return;
    p->m *= p->turns;
    p->turns = 1;
    p->batch_ndim = 0;
}

static RgMatrix turned(RgMatrix matrix) { return (RgMatrix){matrix.at, matrix.column, matrix.row}; }

static int no_memory(void) {
    PyErr_NoMemory();
    return -1;
}

/* What the left operand is read from: in the order of C where its front axes are joined. */
static RgBuffer *left_numbers(const Value *x, int joins) {
    return joins && !rg_body(x)->contiguous ? rg_packed(x) : rg_numbers_share(rg_body(x)->buffer);
}

static void set_product(Product *p, const RgBody *x, const RgBody *y, const double *left,
                        const double *right) {
    Py_ssize_t strides[RG_MOST_AXES];
    set_lengths(p, x, y);
    int joins = y->ndim <= 2 && p->batch_ndim;
    join_rows(p, y);
    if (joins) {
        p->x.matrix = (RgMatrix){left, p->k, 1};
    } else {
        set_matrices(&p->x, 0, x->ndim, x->shape, x->strides, p);
        p->x.matrix.at = left;
    }
    set_matrices(&p->y, 1, y->ndim, y->shape, y->strides, p);
    p->y.matrix.at = right;
    packed_strides(p->batch_ndim, p->batch, strides);
    for (int d = 0; d < p->batch_ndim; d++) p->z.steps[d] = strides[d] * p->m * p->n;
}

/* One of the arrays that a product reads or writes, in turn of the axes in front. */
typedef struct {
    Py_ssize_t at;
    const Py_ssize_t *steps;
} Moving;

/* One turn on along all axes in front but the last; 0 when all are done. */
static int next_turn(const Product *p, Py_ssize_t *at, Moving moving[3]) {
    for (int d = p->batch_ndim - 2; d >= 0; d--) {
        if (++at[d] < p->batch[d]) {
            for (int i = 0; i < 3; i++) moving[i].at += moving[i].steps[d];
            return 1;
        }
        for (int i = 0; i < 3; i++) moving[i].at -= moving[i].steps[d] * (p->batch[d] - 1);
        at[d] = 0;
    }
    return 0;
}

/* c[m, n], rows `stride` apart, from a[m, k] and b[k, n], for every turn of the axes in front, of
 * which there is at least one. */
static int each_product(const Product *p, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, RgMatrix a,
                        const Py_ssize_t *a_steps, RgMatrix b, const Py_ssize_t *b_steps, double *c,
                        Py_ssize_t stride, const Py_ssize_t *c_steps, RgHow how) {
    int last = p->batch_ndim - 1;
    if (last < 0) return rg_product(m, n, k, a, b, c, stride, how);
    Py_ssize_t at[RG_MOST_AXES];
    for (int d = 0; d < last; d++) at[d] = 0;
    Moving moving[3] = {{0, a_steps}, {0, b_steps}, {0, c_steps}};
    int failed;
    do {
        RgMatrix left = {a.at + moving[0].at, a.row, a.column};
        RgMatrix right = {b.at + moving[1].at, b.row, b.column};
        failed = rg_products(p->batch[last], m, n, k, left, a_steps[last], right, b_steps[last],
                             c + moving[2].at, stride, c_steps[last], how);
    } while (!failed && next_turn(p, at, moving));
    return failed;
}

static int matmul_run(Value *z, double *to) {
    Value *left = z->entries[0].input, *right = z->entries[1].input;
    const RgBody *x = rg_body(left), *y = rg_body(right);
    Product p;
    int joins = x->ndim > 2 && y->ndim <= 2, failed = 0;
    RgBuffer *numbers = left_numbers(left, joins);
    if (numbers == NULL) return -1;
    set_product(&p, x, y, joins && !x->contiguous ? numbers->data : x->at, y->at);
    if (p.turns && p.m && p.n)
        failed = each_product(&p, p.m, p.n, p.k, p.x.matrix, p.x.steps, p.y.matrix, p.y.steps, to,
                              p.n, p.z.steps, RG_REPLACE);
    rg_numbers_drop(numbers);
    return failed ? no_memory() : 0;
}

/* Where the gradient of an operand goes, and how far apart its numbers are there. */
typedef struct {
    double *to;
    int fresh; /* nothing is there yet */
    Py_ssize_t row, column, steps[RG_MOST_AXES];
} Target;

/* Past an operand that only shows another's numbers in another order, where the pass allows it and
 * rows or columns lie together there; 0 where it goes the usual way. */
static int find_past(Target *target, RgPass *pass, uint32_t place, const Value *operand,
                     const Product *p) {
    Py_ssize_t begin;
    int ndim = rg_body(operand)->ndim;
    if (ndim != p->batch_ndim + 2) return 0;
    uint32_t beyond = rg_pull_past(pass, place);
    const Py_ssize_t *steps = beyond == RG_NOWHERE ? NULL : rg_view_permutes(operand, &begin);
    if (steps == NULL) return 0;
    target->row = steps[ndim - 2];
    target->column = steps[ndim - 1];
    if (target->row != 1 && target->column != 1) return 0;
    for (int d = 0; d < p->batch_ndim; d++) target->steps[d] = steps[d];
    target->to = rg_pull_into(pass, beyond, operand->entries[0].input, &target->fresh);
    if (target->to) target->to += begin;
    return 1;
}

/* To the operand itself, whose gradient lies in the order of C. */
static void find_own(Target *target, RgPass *pass, uint32_t place, Value *operand, int side,
                     const Product *p) {
    const RgBody *of = rg_body(operand);
    Py_ssize_t strides[RG_MOST_AXES];
    Matrices own;
    target->to = rg_pull_into(pass, place, operand, &target->fresh);
    target->row = side ? p->n : p->k;
    target->column = 1;
    if (p->batch_ndim == 0) return;
    packed_strides(of->ndim, of->shape, strides);
    set_matrices(&own, side, of->ndim, of->shape, strides, p);
    memcpy(target->steps, own.steps, (size_t)p->batch_ndim * sizeof(Py_ssize_t));
}

/* x' = z' @ yᵀ, y' = xᵀ @ z'; or both turned, each number from the same products in the same order. */
static int pull_side(const Product *p, int side, const double *upstream, const Target *target,
                     RgHow how) {
    RgMatrix g = {upstream, p->n, 1};
    RgMatrix a = side ? turned(p->x.matrix) : g, b = side ? g : turned(p->y.matrix);
    const Py_ssize_t *of_a = side ? p->x.steps : p->z.steps;
    const Py_ssize_t *of_b = side ? p->z.steps : p->y.steps;
    Py_ssize_t m = side ? p->k : p->m, n = side ? p->n : p->k, k = side ? p->m : p->n;
    if (target->column == 1)
        return each_product(p, m, n, k, a, of_a, b, of_b, target->to, target->row, target->steps,
                            how);
    return each_product(p, n, m, k, turned(b), of_b, turned(a), of_a, target->to, target->column,
                        target->steps, how);
}

/* The contribution to one operand. */
static int pull_operand(RgPass *pass, Value *operand, uint32_t place, int side, const Product *p,
                        const double *upstream) {
    const Py_ssize_t *steps = side ? p->y.steps : p->x.steps;
    int any = p->turns && p->m && p->n && p->k, kept = any;
    Target target;
    for (int d = 0; d < p->batch_ndim; d++) /* a place that several turns reach is added to */
        kept &= p->batch[d] == 1 || steps[d] != 0;
    if (!kept || !find_past(&target, pass, place, operand, p))
        find_own(&target, pass, place, operand, side, p);
    if (target.to == NULL) return -1;
    if (target.fresh && !kept)
        memset(target.to, 0, (size_t)rg_body(operand)->size * sizeof(double));
    if (!any) return 0;
    RgHow how = target.fresh && kept ? RG_REPLACE : RG_ADD;
    return pull_side(p, side, upstream, &target, how) ? no_memory() : 0;
}

static int matmul_pull(RgPass *pass, Value *z, const double *upstream, const uint32_t *places) {
    Value *inputs[2] = {z->entries[0].input, z->entries[1].input};
    const RgBody *x = rg_body(inputs[0]), *y = rg_body(inputs[1]);
    int joins = x->ndim > 2 && y->ndim <= 2, failed = 0;
    RgBuffer *numbers = x->buffer ? left_numbers(inputs[0], joins) : NULL;
    Product p;
    if (x->buffer && numbers == NULL) return -1;
    set_product(&p, x, y, joins && numbers && !x->contiguous ? numbers->data : x->at, y->at);
    for (int side = 0; side < 2 && !failed; side++)
        if ((inputs[side]->flags & RG_REQUIRES_GRAD) && places[side] != RG_NOWHERE)
            failed = pull_operand(pass, inputs[side], places[side], side, &p, upstream);
    rg_numbers_xdrop(numbers);
    return failed;
}

static const RgRow matmul_row = {"matmul", matmul_run, matmul_pull, 0};

static void save_factors(Value *z) {
    const Value *left = z->entries[0].input, *right = z->entries[1].input;
    rg_body(z)->saves = (uint8_t)((right->flags & RG_REQUIRES_GRAD ? 1 : 0) |
                                  (left->flags & RG_REQUIRES_GRAD ? 2 : 0));
}

/* A node whose inputs and numbers are there becomes a sum or a product. */
void rg_product_restored(Value *z, int sums) {
    rg_body(z)->row = sums ? &sum_row : &matmul_row;
    if (!sums) save_factors(z);
}

static Value *matmul_node(Value *left, Value *right) {
    const RgBody *x = rg_body(left), *y = rg_body(right);
    Product p;
    if (!set_lengths(&p, x, y)) {
        rg_call_unfit("matmul", left, right);
        return NULL;
    }
    int ndim = p.batch_ndim + (x->ndim > 1) + (y->ndim > 1);
    Value *z = rg_tensor_blank(ndim, ndim == 0);
    if (z == NULL) return NULL;
    RgBody *body = rg_body(z);
    for (int d = 0; d < p.batch_ndim; d++) body->shape[d] = p.batch[d];
    if (x->ndim > 1) body->shape[p.batch_ndim] = p.m;
    if (y->ndim > 1) body->shape[ndim - 1] = p.n;
    body->row = &matmul_row;
    RgEntry *entries = rg_body_entries(z, 2);
    entries[0].input = left;
    entries[1].input = right;
    save_factors(z);
    double *to = ndim ? (rg_tensor_room(z) < 0 ? NULL : body->at) : &z->data;
    if (to && matmul_run(z, to) == 0) return z;
    Py_DECREF((PyObject *)z);
    return NULL;
}

/* left @ right as a node that NumPy's product makes; NULL without an exception where it does not. */
static PyObject *any_bits_product(Value *left, Value *right) {
    const RgBody *x = rg_body(left), *y = rg_body(right);
    Product p;
    if (!set_lengths(&p, x, y)) return NULL; /* which is said elsewhere */
    PyObject *bound = rg_call("retrograde._shared.views", "large_matmul", "NN",
                              rg_shape_tuple(x->ndim, x->shape), rg_shape_tuple(y->ndim, y->shape));
    if (bound == Py_None) Py_CLEAR(bound);
    PyObject *operands = bound ? Py_BuildValue("(NN)", rg_face(left), rg_face(right)) : NULL;
    PyObject *wholes = operands ? PyDict_New() : NULL;
    PyObject *made = wholes ? rg_array_of_row(bound, operands, wholes) : NULL;
    Py_XDECREF(wholes);
    Py_XDECREF(bound);
    Py_XDECREF(operands);
    return made;
}

/* left @ right by NumPy's rules; NotImplemented where an operand is neither tensor nor array. */
PyObject *rg_tensor_matmul(PyObject *left, PyObject *right) {
    PyObject *operands[] = {left, right};
    Value *nodes[2], *made[2] = {NULL, NULL}, *z = NULL;
    int known = 1;
    for (int side = 0; side < 2 && known > 0; side++) {
        if (rg_is_tensor(operands[side])) {
            nodes[side] = rg_node_of(operands[side]);
            if (rg_tensor_restore(nodes[side]) < 0) known = -1;
            continue;
        }
        nodes[side] = made[side] = rg_leaf_of_floats(operands[side]);
        if (RG_LIKELY(made[side] != NULL)) continue;
        known = rg_is_array(operands[side]);
        if (known <= 0) break;
        nodes[side] = made[side] = rg_leaf_of(operands[side], "an operand of @", 0);
        if (nodes[side] == NULL) known = -1;
    }
    PyObject *result = NULL;
    if (known > 0 && RG_UNLIKELY(rg_any_bits())) result = any_bits_product(nodes[0], nodes[1]);
    if (known > 0 && result == NULL && !PyErr_Occurred()) z = matmul_node(nodes[0], nodes[1]);
    if (z) result = rg_tensor_finish(z, nodes[0]->flags | nodes[1]->flags);
    Py_XDECREF((PyObject *)made[0]);
    Py_XDECREF((PyObject *)made[1]);
    if (known == 0) return Py_NewRef(Py_NotImplemented);
    return result;
}
