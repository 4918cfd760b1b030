/* Maps: a row of the scalar law on every number of its operands, spread over each other as NumPy
 * does it. Operands are tensors, values, numbers and arrays; the last two take no gradient. */
#include "tensor.h"

enum { RESULT = 3 }; /* its bit among what a rule reads */

/* ---- what backward reads, asked of the law once ---------------------------------------------- */

static uint8_t known_saves[RG_OP_COUNT][8]; /* by the inputs that take gradients; 0: not asked yet */
enum { ASKED = 128 };

static int ask_saves(int op, int takers) {
    PyObject *found = rg_call("retrograde._shared.bound", "map_saves", "si", RG_OPS[op].name, takers);
    long saves = found ? PyLong_AsLong(found) : -1;
    Py_XDECREF(found);
    if (saves == -1 && PyErr_Occurred()) return -1;
    known_saves[op][takers] = (uint8_t)(saves | ASKED);
    return 0;
}

/* ---- forward --------------------------------------------------------------------------------- */

static void run_stretch(int op, double *to, const double *const *x, const Py_ssize_t *step,
                        Py_ssize_t length) {
    int arity = RG_OPS[op].arity;
    double (*eval)(const double *) = RG_OPS[op].eval;
    double numbers[3] = {0.0, 0.0, 0.0};
    for (Py_ssize_t i = 0; i < length; i++) {
        for (int k = 0; k < arity; k++) numbers[k] = x[k][i * step[k]];
        to[i] = eval(numbers);
    }
}

static int map_run(Value *z, double *to) {
    const RgBody *body = rg_body(z);
    int op = body->code, arity = RG_OPS[op].arity, plain = 1;
    const double *at[4] = {to};
    Py_ssize_t step[3] = {0, 0, 0};
    RgArray arrays[3];
    for (int k = 0; k < arity; k++) {
        arrays[k] = rg_array_of(&z->entries[k]);
        at[k + 1] = arrays[k].at;
        if (arrays[k].ndim == 0) continue;
        const RgBody *of = rg_body(z->entries[k].input);
        plain = plain && of->contiguous && of->size == body->size;
        step[k] = 1;
    }
    if (RG_LIKELY(plain)) {
        run_stretch(op, to, at + 1, step, body->size);
        return 0;
    }
    if (body->size == 0) return 0;
    Py_ssize_t steps[4][RG_MOST_AXES];
    rg_spread_packed(steps[0], body->ndim, body->shape, body->ndim, body->shape);
    for (int k = 0; k < arity; k++) rg_spread(steps[k + 1], body->ndim, body->shape, arrays[k]);
    RgBox box;
    rg_box(&box, body->ndim, body->shape, arity + 1, steps);
    for (int k = 0; k < arity; k++) step[k] = box.step[k + 1][0];
    Py_ssize_t count[RG_MOST_AXES] = {0};
    do {
        run_stretch(op, (double *)at[0], at + 1, step, box.length[0]);
    } while (rg_box_next(&box, arity + 1, count, at));
    return 0;
}

/* ---- backward -------------------------------------------------------------------------------- */

typedef enum { WRITE, ADD, REDUCE } How;

/* upstream × partial along operand `which`: into `to`, onto it, or all onto *to. */
static void pull_stretch(int op, int which, How how, double *to, const double *g, Py_ssize_t g_step,
                         const double *const *x, const Py_ssize_t *step, const double *z,
                         Py_ssize_t z_step, Py_ssize_t to_step, Py_ssize_t length) {
    int arity = RG_OPS[op].arity;
    double numbers[3] = {0.0, 0.0, 0.0}, partials[3], total = 0.0;
    for (Py_ssize_t i = 0; i < length; i++) {
        for (int k = 0; k < arity; k++) numbers[k] = x[k][i * step[k]];
        RG_OPS[op].slopes(numbers, z[i * z_step], partials);
        double amount = partials[which] * g[i * g_step];
        if (how == WRITE)
            to[i * to_step] = amount;
        else if (how == ADD)
            to[i * to_step] += amount;
        else
            total += amount;
    }
    if (how == REDUCE) *to += total;
}

static const double nothing = 0.0;

/* Whether the partial along an operand is 1 everywhere: the gradient is handed on as it is. */
static int passes_on(int op, int which) {
    return op == RG_OP_add || (op == RG_OP_sub && which == 0);
}

typedef struct {
    int op, arity, which, plain;
    RgArray arrays[3];
    RgArray result;
    const double *upstream;
    const RgBody *body;
} Pull;

/* The contribution to one operand, summed over the axes that it is spread along. */
static void pull_one(const Pull *p, RgArray target, double *to, How how) {
    const double *at[6] = {to, p->upstream, p->result.at};
    Py_ssize_t step[3];
    for (int k = 0; k < p->arity; k++) at[3 + k] = p->arrays[k].at;
    if (p->plain && target.ndim == p->body->ndim) {
        for (int k = 0; k < p->arity; k++) step[k] = p->arrays[k].ndim != 0;
        pull_stretch(p->op, p->which, how, to, at[1], 1, at + 3, step, at[2], p->result.ndim != 0, 1,
                     p->body->size);
        return;
    }
    int ndim = p->body->ndim, arrays = 3 + p->arity;
    const Py_ssize_t *shape = p->body->shape;
    Py_ssize_t steps[6][RG_MOST_AXES];
    rg_spread_packed(steps[0], ndim, shape, target.ndim, target.shape);
    rg_spread_packed(steps[1], ndim, shape, ndim, shape);
    rg_spread(steps[2], ndim, shape, p->result);
    for (int k = 0; k < p->arity; k++) rg_spread(steps[3 + k], ndim, shape, p->arrays[k]);
    RgBox box;
    rg_box(&box, ndim, shape, arrays, steps);
    for (int k = 0; k < p->arity; k++) step[k] = box.step[3 + k][0];
    Py_ssize_t count[RG_MOST_AXES] = {0};
    if (box.step[0][0] == 0) how = REDUCE;
    do {
        pull_stretch(p->op, p->which, how, (double *)at[0], at[1], box.step[1][0], at + 3, step,
                     at[2], box.step[2][0], box.step[0][0], box.length[0]);
    } while (rg_box_next(&box, arrays, count, at));
}

static int map_pull(RgPass *pass, Value *z, const double *upstream, const uint32_t *places) {
    const RgBody *body = rg_body(z);
    Pull p = {.op = body->code,
              .arity = RG_OPS[body->code].arity,
              .plain = 1,
              .upstream = upstream,
              .body = body};
    p.result = body->at ? (RgArray){body->at, body->ndim, body->shape, body->strides}
                        : (RgArray){&nothing, 0, NULL, NULL};
    for (int k = 0; k < p.arity; k++) {
        p.arrays[k] = rg_array_of(&z->entries[k]);
        if (p.arrays[k].ndim == 0) continue;
        const RgBody *of = rg_body(z->entries[k].input);
        p.plain = p.plain && of->contiguous && of->size == body->size;
        if (of->at == NULL) p.arrays[k] = (RgArray){&nothing, 0, NULL, NULL};
    }
    p.plain = p.plain && body->contiguous;
    for (p.which = 0; p.which < p.arity; p.which++) {
        Value *input = z->entries[p.which].input;
        if (input == NULL || !(input->flags & RG_REQUIRES_GRAD)) continue;
        if (!rg_is_node(input)) {
            double total = 0.0;
            if (body->size)
                pull_one(&p, (RgArray){&nothing, 0, NULL, NULL}, &total, ADD);
            rg_pull_number(pass, places[p.which], total);
            continue;
        }
        const RgBody *of = rg_body(input);
        int same = of->size == body->size, fresh;
        if (same && passes_on(p.op, p.which)) {
            if (rg_pull_share(pass, places[p.which], input, upstream) < 0) return -1;
            continue;
        }
        double *to = rg_pull_into(pass, places[p.which], input, &fresh);
        if (to == NULL) return -1;
        if (fresh && !same) {
            memset(to, 0, (size_t)of->size * sizeof(double));
            fresh = 0;
        }
        if (body->size)
            pull_one(&p, (RgArray){NULL, of->ndim, of->shape, NULL}, to, fresh ? WRITE : ADD);
    }
    return 0;
}

const RgRow rg_map_row = {NULL, map_run, map_pull, 0};

/* ---- making ---------------------------------------------------------------------------------- */

typedef struct {
    Value *nodes[3];
    Value *made[3]; /* of arrays: owned */
    double numbers[3];
    int arity, ndim, same;
    uint8_t flags;
    const RgBody *first;
    Py_ssize_t shape[RG_MOST_AXES];
} Operands;

static void release(Operands *given) {
    for (int k = 0; k < given->arity; k++) Py_XDECREF((PyObject *)given->made[k]);
}

/* 1: taken, 0: not an operand, -1: error. */
static int take_odd(Operands *given, int k, PyObject *object) {
    if (rg_is_value(object)) {
        given->nodes[k] = (Value *)object;
        given->numbers[k] = given->nodes[k]->data;
        given->flags |= given->nodes[k]->flags;
        return 1;
    }
    int converted = rg_number(object, &given->numbers[k]);
    if (converted) return converted;
    int array = rg_is_array(object);
    if (array <= 0) return array;
    Value *leaf = rg_leaf_of(object, "an operand", 0);
    if (leaf == NULL) return -1;
    given->made[k] = given->nodes[k] = leaf;
    return 1;
}

static inline int has_same_shape(const RgBody *left, const RgBody *right) {
    if (left->ndim != right->ndim) return 0;
    for (int d = 0; d < left->ndim; d++)
        if (left->shape[d] != right->shape[d]) return 0;
    return 1;
}

/* Spread the shape over one more operand; 0 where they do not fit. */
static int spread_over(Operands *given, const RgBody *body) {
    int ndim = given->ndim > body->ndim ? given->ndim : body->ndim;
    Py_ssize_t shape[RG_MOST_AXES];
    for (int d = 1; d <= ndim; d++) {
        Py_ssize_t a = d <= given->ndim ? given->shape[given->ndim - d] : 1;
        Py_ssize_t b = d <= body->ndim ? body->shape[body->ndim - d] : 1;
        if (a != b && a != 1 && b != 1) return 0;
        shape[ndim - d] = a == 1 ? b : a;
    }
    memcpy(given->shape, shape, (size_t)ndim * sizeof(Py_ssize_t));
    given->ndim = ndim;
    return 1;
}

static int settle_shape(int op, Operands *given) {
    given->ndim = 0;
    for (int k = 0; k < given->arity; k++) {
        if (given->nodes[k] == NULL || !rg_is_node(given->nodes[k])) continue;
        if (spread_over(given, rg_body(given->nodes[k]))) continue;
        int other = 0;
        while (given->nodes[other] == NULL || !rg_is_node(given->nodes[other])) other++;
        for (int j = other + 1; j < k; j++)
            if (given->nodes[j] && rg_is_node(given->nodes[j])) other = j;
        rg_call_unfit(RG_OPS[op].name, given->nodes[other], given->nodes[k]);
        return -1;
    }
    return 0;
}

static PyObject *make(int op, Operands *given) {
    const RgBody *first = given->first;
    int same = given->same, ndim = same ? first->ndim : given->ndim, takers = 0;
    Value *z = rg_tensor_blank(ndim, 0);
    if (RG_UNLIKELY(z == NULL)) return NULL;
    RgBody *body = rg_body(z);
    const Py_ssize_t *shape = same ? first->shape : given->shape;
    for (int d = 0; d < ndim; d++) body->shape[d] = shape[d];
    body->row = &rg_map_row;
    body->code = (uint16_t)op;
    z->count = given->arity;
    for (int k = 0; k < given->arity; k++) {
        z->entries[k] = (RgEntry){given->nodes[k], given->numbers[k]};
        if (given->nodes[k] && given->nodes[k]->flags & RG_REQUIRES_GRAD) takers |= 1 << k;
    }
    uint8_t saves = known_saves[op][takers];
    if (RG_UNLIKELY(rg_tensor_room(z) < 0 || map_run(z, body->at) < 0 ||
                    (saves == 0 && ask_saves(op, takers) < 0))) {
        Py_DECREF((PyObject *)z);
        return NULL;
    }
    if (RG_UNLIKELY(RG_OPS[op].absent & takers)) rg_absent_met = 1;
    saves = known_saves[op][takers];
    body->saves = saves & 7;
    body->saves_result = saves >> RESULT & 1;
    return rg_tensor_finish(z, given->flags);
}

/* A row on operands of which one at least is a tensor or an array. NotImplemented where another is
 * nothing it knows. */
PyObject *rg_tensor_map(int op, PyObject *const *operands) {
    Operands given;
    given.arity = RG_OPS[op].arity;
    given.same = 1;
    given.flags = 0;
    given.first = NULL;
    if (RG_UNLIKELY(rg_modes_active) && rg_refuse_recording(RG_OPS[op].name) < 0) return NULL;
    for (int k = 0; k < given.arity; k++) {
        given.nodes[k] = given.made[k] = NULL;
        given.numbers[k] = 0.0;
    }
    for (int k = 0; k < given.arity; k++) {
        PyObject *object = operands[k];
        if (RG_LIKELY(rg_is_tensor(object))) {
            given.nodes[k] = rg_node_of(object);
            given.flags |= given.nodes[k]->flags;
            if (RG_UNLIKELY(rg_body(given.nodes[k])->buffer == NULL) &&
                rg_tensor_restore(given.nodes[k]) < 0) {
                release(&given);
                return NULL;
            }
        } else if (RG_LIKELY(PyFloat_CheckExact(object))) {
            given.numbers[k] = PyFloat_AS_DOUBLE(object);
            continue;
        } else {
            int taken = take_odd(&given, k, object);
            if (taken <= 0) {
                release(&given);
                return taken < 0 ? NULL : Py_NewRef(Py_NotImplemented);
            }
            if (given.nodes[k] == NULL || !rg_is_node(given.nodes[k])) continue;
        }
        const RgBody *body = rg_body(given.nodes[k]);
        if (given.first == NULL)
            given.first = body;
        else
            given.same = given.same && has_same_shape(given.first, body);
    }
    PyObject *made = NULL;
    if (given.first == NULL)
        made = Py_NewRef(Py_NotImplemented);
    else if (given.same || settle_shape(op, &given) == 0)
        made = make(op, &given);
    release(&given);
    return made;
}

/* x to a whole power from 3 to 8, by repeated multiplication: the highest bit is x itself. */
static PyObject *whole_power(PyObject *x, int exponent) {
    int bit = 1;
    while (bit * 2 <= exponent) bit *= 2;
    PyObject *power = Py_NewRef(x);
    for (bit /= 2; bit && power; bit /= 2) {
        PyObject *pair[] = {power, power};
        PyObject *squared = rg_tensor_map(RG_OP_mul, pair);
        Py_SETREF(power, squared);
        if (power == NULL || !(exponent & bit)) continue;
        PyObject *more[] = {power, x};
        PyObject *product = rg_tensor_map(RG_OP_mul, more);
        Py_SETREF(power, product);
    }
    return power;
}

/* `**`, by the same rows as of values: a constant exponent chooses. */
PyObject *rg_tensor_power(PyObject *base, PyObject *exponent) {
    double number;
    PyObject *operands[] = {base, exponent};
    int converted = rg_is_tensor(base) && !rg_is_value(exponent) ? rg_number(exponent, &number) : 0;
    if (converted < 0) return NULL;
    if (converted && number == 2.0) return rg_tensor_map(RG_OP_square, &base);
    if (converted && number == -1.0) return rg_tensor_map(RG_OP_reciprocal, &base);
    if (converted && number == floor(number) && fabs(number) >= 2.0 && fabs(number) <= 8.0) {
        if (number > 0.0) return whole_power(base, (int)number);
        PyObject *inverse = rg_tensor_map(RG_OP_reciprocal, &base);
        if (inverse == NULL) return NULL;
        PyObject *power = number == -2.0 ? rg_tensor_map(RG_OP_square, &inverse)
                                         : whole_power(inverse, (int)-number);
        Py_DECREF(inverse);
        return power;
    }
    return rg_tensor_map(RG_OP_pow, operands);
}
