/* Sums and matrix products of tensors, past bound rows. The order in which they add is that of
 * kernels/products.h: it depends on the shapes alone. */
#include "tensor.h"

#include "kernels/arrays.h"

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

static int next_turn(const Product *p, Py_ssize_t *at, const Py_ssize_t *const *steps,
                     Py_ssize_t *offset, int count) {
    for (int d = p->batch_ndim - 1; d >= 0; d--) {
        if (++at[d] < p->batch[d]) {
            for (int i = 0; i < count; i++) offset[i] += steps[i][d];
            return 1;
        }
        for (int i = 0; i < count; i++) offset[i] -= steps[i][d] * (p->batch[d] - 1);
        at[d] = 0;
    }
    return 0;
}

static RgMatrix moved(RgMatrix matrix, Py_ssize_t by) {
    matrix.at += by;
    return matrix;
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

static int matmul_run(Value *z, double *to) {
    Value *left = z->entries[0].input, *right = z->entries[1].input;
    const RgBody *x = rg_body(left), *y = rg_body(right);
    Product p;
    int joins = x->ndim > 2 && y->ndim <= 2;
    RgBuffer *numbers = left_numbers(left, joins);
    if (numbers == NULL) return -1;
    set_product(&p, x, y, joins && !x->contiguous ? numbers->data : x->at, y->at);
    const Py_ssize_t *steps[] = {p.x.steps, p.y.steps, p.z.steps};
    Py_ssize_t at[RG_MOST_AXES] = {0}, offset[3] = {0};
    int failed = 0;
    if (p.turns && p.m && p.n) do {
            failed = rg_product(p.m, p.n, p.k, moved(p.x.matrix, offset[0]),
                                moved(p.y.matrix, offset[1]), to + offset[2], p.n, RG_REPLACE);
        } while (!failed && next_turn(&p, at, steps, offset, 3));
    rg_numbers_drop(numbers);
    return failed ? no_memory() : 0;
}

/* x' = z' @ yᵀ: into the gradient of the left operand, which lies in the order of C. */
static int pull_left(const Product *p, const RgBody *x, const double *upstream, double *to,
                     RgHow how) {
    Product back = *p;
    Py_ssize_t strides[RG_MOST_AXES], at[RG_MOST_AXES] = {0}, offset[3] = {0};
    packed_strides(x->ndim, x->shape, strides);
    if (p->batch_ndim) set_matrices(&back.x, 0, x->ndim, x->shape, strides, p);
    const Py_ssize_t *steps[] = {back.x.steps, back.y.steps, back.z.steps};
    int failed = 0;
    do {
        RgMatrix g = {upstream + offset[2], p->n, 1};
        failed = rg_product(p->m, p->k, p->n, g, turned(moved(p->y.matrix, offset[1])),
                            to + offset[0], p->k, how);
    } while (!failed && next_turn(p, at, steps, offset, 3));
    return failed;
}

/* y' = xᵀ @ z', likewise. */
static int pull_right(const Product *p, const RgBody *y, const double *upstream, double *to,
                      RgHow how) {
    Product back = *p;
    Py_ssize_t strides[RG_MOST_AXES], at[RG_MOST_AXES] = {0}, offset[3] = {0};
    packed_strides(y->ndim, y->shape, strides);
    set_matrices(&back.y, 1, y->ndim, y->shape, strides, p);
    const Py_ssize_t *steps[] = {back.x.steps, back.y.steps, back.z.steps};
    int failed = 0;
    do {
        RgMatrix g = {upstream + offset[2], p->n, 1};
        failed = rg_product(p->k, p->n, p->m, turned(moved(p->x.matrix, offset[0])), g,
                            to + offset[1], p->n, how);
    } while (!failed && next_turn(p, at, steps, offset, 3));
    return failed;
}

static int matmul_pull(RgPass *pass, Value *z, const double *upstream, const uint32_t *places) {
    Value *inputs[2] = {z->entries[0].input, z->entries[1].input};
    const RgBody *x = rg_body(inputs[0]), *y = rg_body(inputs[1]);
    int joins = x->ndim > 2 && y->ndim <= 2, failed = 0;
    RgBuffer *numbers = x->buffer ? left_numbers(inputs[0], joins) : NULL;
    Product p;
    if (x->buffer && numbers == NULL) return -1;
    set_product(&p, x, y, joins && numbers && !x->contiguous ? numbers->data : x->at, y->at);
    for (int side = 0; side < 2 && !failed; side++) {
        int fresh, kept = 1;
        if (!(inputs[side]->flags & RG_REQUIRES_GRAD) || places[side] == RG_NOWHERE) continue;
        double *to = rg_pull_into(pass, places[side], inputs[side], &fresh);
        if (to == NULL) {
            rg_numbers_xdrop(numbers);
            return -1;
        }
        const RgBody *of = side ? y : x;
        for (int d = 0; d < p.batch_ndim; d++) /* a place that several turns reach is added to */
            kept &= p.batch[d] == 1 || (side ? p.y.steps : p.x.steps)[d] != 0;
        kept &= p.turns && p.m && p.n && p.k;
        if (fresh && !kept) memset(to, 0, (size_t)of->size * sizeof(double));
        RgHow how = fresh && kept ? RG_REPLACE : RG_ADD;
        RgMatrix g = {upstream, p.n, 1};
        if (p.batch_ndim == 0 && kept)
            failed = side ? rg_product(p.k, p.n, p.m, turned(p.x.matrix), g, to, p.n, how)
                          : rg_product(p.m, p.k, p.n, g, turned(p.y.matrix), to, p.k, how);
        else if (p.turns && p.m && p.n && p.k)
            failed =
                side ? pull_right(&p, y, upstream, to, how) : pull_left(&p, x, upstream, to, how);
    }
    rg_numbers_xdrop(numbers);
    return failed ? no_memory() : 0;
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
