/* The backward pass over graphs that hold tensors, values among them.
 *
 * Rules may fail for memory, so the pass keeps its totals aside: they are put in place in one go when
 * it is whole, and a failure has nothing to undo. What a pass brings to an inner tensor is let go as
 * soon as it was handed on, unless it is retained.
 *
 * A node finds its total by its place, which stands where its gradient does. Where Python code may
 * run on the way that lasts only until the edges are copied; else until the end, and nobody sees it.
 * A pass takes 16 bytes a node, or 12 and 4 an input, besides the arrays themselves. */
#include "tensor.h"

struct RgPass {
    RgGraph *graph;
    size_t nodes;
    RgTotal *totals;
    double *old; /* of a pass in place: the gradients of values */
    uint32_t *
        edges; /* of one on copied edges: for each node in order the places of its inputs, then how many there are */
    size_t edge_count;
    uint32_t *root_place;
    Value **roots;
    Py_ssize_t root_count;
    Value **inputs; /* whose totals are asked for, and their places */
    uint32_t *input_place;
    Py_ssize_t input_count;
    size_t at; /* the place of the node whose turn it is */
    int anomaly;
    int keep_all; /* the totals of inner tensors are asked for */
    int python;   /* Python code may run on the way: edges are copied, nodes held */
    int values;   /* whether there is one */
    int retained; /* whether a tensor in order keeps its gradient */
    int begun, settled;
    const Value *stale; /* a node that reads data which was changed since */
};

static inline Value *node_at(const RgPass *pass, size_t i) { return rg_graph_node(pass->graph, i); }

/* ---- beginning and end ----------------------------------------------------------------------- */

static inline void set_place(Value *v, size_t place) { memcpy(&v->grad, &place, sizeof(double)); }

static inline uint32_t place_of(const Value *v) {
    size_t place;
    memcpy(&place, &v->grad, sizeof(double));
    return (uint32_t)place;
}

static void find_places(RgPass *pass) {
    for (Py_ssize_t r = 0; r < pass->root_count; r++)
        pass->root_place[r] = place_of(pass->roots[r]);
    for (Py_ssize_t i = 0; i < pass->input_count; i++)
        pass->input_place[i] = place_of(pass->inputs[i]); /* of no use where it is not reached */
}

/* The places of a node's inputs; the input whose data was changed since the node's rule read it goes
 * to `stale`. Only leaves are ever changed. */
static inline uint32_t *copy_inputs(const Value *v, uint32_t *edge, const Value **stale) {
    const RgBody *body = v->op == RG_ARRAY ? rg_body(v) : NULL;
    for (Py_ssize_t k = 0; k < v->count; k++) {
        const RgEntry *entry = &v->entries[k];
        *edge++ = entry->input ? place_of(entry->input) : RG_NOWHERE;
        if (body && entry->input && rg_is_leaf(entry->input) && rg_is_node(entry->input) &&
            RG_UNLIKELY(rg_is_stale(v, k)))
            *stale = v;
    }
    return edge;
}

/* Gradients of values wait among the totals while each node holds its place; no Python code runs
 * here. Returns the first node that reads data which was changed since, or NULL. */
static const Value *copy_edges(RgPass *pass) {
    const RgNodes *order = &pass->graph->order;
    uint32_t *edge = pass->edges;
    const Value *stale = NULL;
    for (size_t i = 0; i < pass->nodes; i++) {
        Value *v = node_at(pass, i);
        if (rg_is_node(v))
            pass->totals[i].array = NULL;
        else
            pass->totals[i].number = v->grad;
        set_place(v, i);
    }
    for (size_t i = 0; i < order->count; i++) {
        const Value *v = order->items[i], *changed = NULL;
        uint32_t *first = edge;
        if (v->flags & RG_WIDE) {
            edge = copy_inputs(v, edge, &changed);
        } else if (!rg_is_leaf(v)) {
            *edge++ = v->in[0] ? place_of(v->in[0]) : RG_NOWHERE;
            *edge++ = v->in[1] ? place_of(v->in[1]) : RG_NOWHERE;
        }
        uint32_t count = (uint32_t)(edge - first);
        *edge++ = count;
        if (RG_UNLIKELY(changed != NULL) && stale == NULL) stale = changed;
    }
    pass->edge_count = (size_t)(edge - pass->edges);
    find_places(pass);
    for (size_t i = 0; i < pass->nodes; i++) {
        Value *v = node_at(pass, i);
        if (rg_is_node(v)) continue;
        v->grad = pass->totals[i].number;
        pass->totals[i].number = 0.0;
        pass->values = 1;
    }
    return stale;
}

/* Every node knows its place until the pass ends; gradients of values are put aside. */
static void begin_in_place(RgPass *pass) {
    for (size_t i = 0; i < pass->nodes; i++) {
        Value *v = node_at(pass, i);
        v->flags &= (uint8_t)~RG_MARKS;
        if (rg_is_node(v)) {
            pass->totals[i].array = NULL;
        } else {
            pass->old[i] = v->grad;
            pass->totals[i].number = 0.0;
            pass->values = 1;
        }
        set_place(v, i);
    }
    find_places(pass);
}

static size_t count_edges(const RgNodes *order) {
    size_t room = 1;
    for (size_t i = 0; i < order->count; i++) {
        const Value *v = order->items[i];
        room += v->flags & RG_WIDE ? (size_t)v->count + 1 : 3;
    }
    return room;
}

static int pass_begin(RgPass *pass) {
    RgGraph *graph = pass->graph;
    pass->nodes = graph->order.count + graph->leaves.count;
    pass->anomaly = rg_anomaly_enabled();
    pass->python = graph->python || graph->callbacks || pass->anomaly;
    int fits = pass->nodes < RG_NOWHERE;
    size_t bytes = pass->python ? count_edges(&graph->order) * sizeof(uint32_t)
                                : (pass->nodes + 1) * sizeof(double);
    void *more = fits ? rg_buffer_try(NULL, bytes) : NULL;
    pass->totals = more ? rg_buffer_try(NULL, (pass->nodes + 1) * sizeof(RgTotal)) : NULL;
    size_t roots = (size_t)pass->root_count + 1;
    pass->root_place = pass->totals ? rg_buffer_try(NULL, roots * sizeof(uint32_t)) : NULL;
    *(pass->python ? (void **)&pass->edges : (void **)&pass->old) = more;
    if (pass->root_place == NULL) {
        rg_unmark(graph);
        if (fits)
            rg_fail("GraphMemoryError", "of", "n", (Py_ssize_t)(pass->nodes * 16));
        else
            PyErr_SetString(PyExc_OverflowError, "a pass over tensors takes at most 2**32 nodes");
        return -1;
    }
    pass->begun = 1;
    if (!pass->python) {
        begin_in_place(pass);
        return 0;
    }
    rg_unmark(graph);
    pass->stale = copy_edges(pass);
    rg_hold(graph);
    return pass->stale ? -1 : 0;
}

/* What Python may hear of a failure, now that everything is as it was. */
static void explain_failure(const RgPass *pass) {
    if (PyErr_Occurred()) return;
    if (pass->stale)
        rg_fail("StaleGraph", "input", "NN", rg_face((Value *)pass->stale),
                rg_face(rg_stale_input(pass->stale, 0)));
    else
        rg_fail("GraphMemoryError", "of", "n", (Py_ssize_t)(pass->nodes * 16));
}

static void pass_end(RgPass *pass, int failed) {
    for (size_t i = 0; pass->begun && !pass->settled && i < pass->nodes; i++) {
        Value *v = node_at(pass, i);
        if (rg_is_node(v))
            rg_numbers_xdrop(pass->totals[i].array);
        else if (!pass->python)
            v->grad = pass->old[i];
    }
    if (pass->begun && failed) explain_failure(pass);
    if (pass->begun && pass->python) rg_let_go(pass->graph);
    rg_buffer_free(pass->totals);
    rg_buffer_free(pass->old);
    rg_buffer_free(pass->edges);
    rg_buffer_free(pass->root_place);
}

/* ---- contributions ---------------------------------------------------------------------------- */

/* Where an input's contribution goes: `fresh` says that nothing is there yet. */
double *rg_pull_into(RgPass *pass, uint32_t place, Value *input, int *fresh) {
    RgTotal *total = &pass->totals[place];
    size_t size = (size_t)rg_body(input)->size;
    *fresh = total->array == NULL;
    if (total->array && total->array->refs == 1) return total->array->data;
    RgBuffer *buffer = rg_numbers_new_or_not(size);
    if (RG_UNLIKELY(buffer == NULL)) return NULL; /* said when the pass ends */
    if (total->array) {
        memcpy(buffer->data, total->array->data, size * sizeof(double));
        rg_numbers_drop(total->array);
    }
    total->array = buffer;
    return buffer->data;
}

/* The place of what a view shows, where a contribution to the view may go there at once: nothing else
 * comes to the view, whose turn is next, and nobody sees its total. Then everything is added in the
 * same order. RG_NOWHERE else. */
uint32_t rg_pull_past(const RgPass *pass, uint32_t place) {
    if (pass->python || pass->keep_all || place + 1 != pass->at || pass->totals[place].array)
        return RG_NOWHERE;
    const Value *view = node_at(pass, place);
    if ((rg_body(view)->marks & RG_RETAINS) || view->count != 1) return RG_NOWHERE;
    const Value *input = view->entries[0].input;
    return input ? place_of(input) : RG_NOWHERE;
}

static void add_onto(double *to, const double *from, Py_ssize_t size) {
    for (Py_ssize_t i = 0; i < size; i++) to[i] += from[i];
}

/* The upstream itself, as many numbers in the same order: shared as long as it is the only one. */
int rg_pull_share(RgPass *pass, uint32_t place, Value *input, const double *upstream) {
    RgTotal *total = &pass->totals[place], *from = &pass->totals[pass->at];
    if (total->array == NULL && rg_is_node(node_at(pass, pass->at)) &&
        from->array->data == upstream) {
        total->array = rg_numbers_share(from->array);
        return 0;
    }
    int fresh;
    double *to = rg_pull_into(pass, place, input, &fresh);
    if (to == NULL) return -1;
    if (fresh)
        memcpy(to, upstream, (size_t)rg_body(input)->size * sizeof(double));
    else
        add_onto(to, upstream, rg_body(input)->size);
    return 0;
}

/* The upstream but for some numbers, which are 0: in its own array where nobody needs that any more,
 * so that a chain of such nodes copies nothing. NULL with an exception. */
double *rg_pull_over(RgPass *pass, uint32_t place, Value *input, const double *upstream,
                     Py_ssize_t first, Py_ssize_t count) {
    RgTotal *total = &pass->totals[place], *from = &pass->totals[pass->at];
    int needed = pass->anomaly || pass->keep_all ||
                 (rg_body(node_at(pass, pass->at))->marks & RG_RETAINS) || from->array->refs > 1;
    size_t size = (size_t)rg_body(input)->size;
    double *to;
    if (total->array == NULL && !needed) {
        total->array = rg_numbers_share(from->array);
        to = total->array->data;
    } else {
        int fresh;
        to = rg_pull_into(pass, place, input, &fresh);
        if (to == NULL) return NULL;
        if (!fresh) {
            for (size_t i = 0; i < size; i++)
                if ((Py_ssize_t)i < first || (Py_ssize_t)i >= first + count) to[i] += upstream[i];
            return to;
        }
        memcpy(to, upstream, size * sizeof(double));
    }
    memset(to + first, 0, (size_t)count * sizeof(double));
    return to;
}

void rg_pull_number(RgPass *pass, uint32_t place, double amount) {
    pass->totals[place].number += amount;
}

/* A closure works on `.grad` itself: those it may touch are lent to it for the call. */
static int pull_closure(RgPass *pass, Value *v, const uint32_t *places, uint32_t count) {
    RgLoan loan;
    size_t used = 0;
    Value **items = rg_buffer_resize(NULL, ((size_t)count + 1) * sizeof(Value *));
    if (items == NULL) return -1;
    v->flags |= RG_VISITED; /* so that each is lent once; nothing runs until they are */
    items[used++] = v;
    for (Py_ssize_t k = 0; k < v->count && k < (Py_ssize_t)count; k++) {
        Value *input = v->entries[k].input;
        if (input == NULL || input->flags & RG_VISITED) continue;
        input->flags |= RG_VISITED;
        items[used++] = input;
    }
    RgGraph lent = {.order = {items, used, used}};
    int failed = rg_loan_begin(&loan, &lent) < 0; /* takes the marks away */
    if (!failed) {
        v->grad = pass->totals[pass->at].number;
        for (uint32_t k = 0; k < count; k++)
            if (places[k] != RG_NOWHERE)
                node_at(pass, places[k])->grad = pass->totals[places[k]].number;
        failed = rg_call_closure(v) < 0;
        for (uint32_t k = 0; k < count && !failed; k++)
            if (places[k] != RG_NOWHERE)
                pass->totals[places[k]].number = node_at(pass, places[k])->grad;
        rg_loan_return(&loan);
    }
    rg_buffer_free(items);
    return failed ? -1 : 0;
}

/* ---- anomaly mode ------------------------------------------------------------------------------ */

static Py_ssize_t first_odd(const double *numbers, Py_ssize_t size) {
    for (Py_ssize_t i = 0; i < size; i++)
        if (!isfinite(numbers[i])) return i;
    return -1;
}

/* A total as Python sees it: a number, an array, or None before anything came. */
PyObject *rg_total_shown(const Value *input, const RgTotal *total) {
    if (!rg_is_node(input)) return PyFloat_FromDouble(total->number);
    if (total->array == NULL) return Py_NewRef(Py_None);
    const RgBody *body = rg_body(input);
    return rg_export(total->array, total->array->data, body->ndim, body->shape, NULL);
}

static int is_finite_total(const Value *input, const RgTotal *total) {
    if (!rg_is_node(input)) return isfinite(total->number);
    return total->array == NULL || first_odd(total->array->data, rg_body(input)->size) < 0;
}

/* Under anomaly() a node hands on to one input after the other, and each must stay finite. The rule
 * is run once an input: the others take no gradient meanwhile. */
static int pull_watched(RgPass *pass, Value *v, const double *upstream, const uint32_t *places,
                        uint32_t count) {
    uint32_t *all = rg_buffer_resize(NULL, ((size_t)count + 1) * sizeof(uint32_t));
    int failed = all == NULL;
    for (uint32_t k = 0; k < count && !failed; k++) {
        if (places[k] == RG_NOWHERE) continue;
        Value *input = node_at(pass, places[k]);
        if (!(input->flags & RG_REQUIRES_GRAD)) continue;
        RgTotal *total = &pass->totals[places[k]], before = *total;
        int finite = is_finite_total(input, total);
        if (rg_is_node(input))
            total->array = NULL; /* so that the contribution stands alone */
        else
            total->number = 0.0;
        for (uint32_t j = 0; j < count; j++) all[j] = j == k ? places[j] : RG_NOWHERE;
        failed = rg_body(v)->row->pull(pass, v, upstream, all) < 0;
        PyObject *amount = failed ? NULL : rg_total_shown(input, total);
        if (!failed && amount == NULL) failed = 1;
        if (rg_is_node(input)) {
            RgBuffer *added = total->array;
            total->array = before.array;
            if (added && before.array) {
                int fresh;
                double *to = rg_pull_into(pass, places[k], input, &fresh);
                if (to) add_onto(to, added->data, rg_body(input)->size);
                failed = failed || to == NULL;
                rg_numbers_drop(added);
            } else if (added) {
                total->array = added;
            }
        } else {
            total->number += before.number;
        }
        if (!failed && finite && !is_finite_total(input, total)) {
            RgTotal old = before;
            PyObject *was = rg_is_node(input) ? Py_NewRef(Py_None) : rg_total_shown(input, &old);
            rg_fail("AnomalyError", "backward_array", "NiNON", rg_face(v), (int)k, was, amount,
                    rg_tuple_of(pass->roots, pass->root_count));
            failed = 1;
        }
        Py_XDECREF(amount);
    }
    rg_buffer_free(all);
    return failed ? -1 : 0;
}

static int watch_seed(Value *root, const RgTotal *seed) {
    if (!rg_is_node(root)) return rg_watch_seed(root, seed->number);
    Py_ssize_t odd = first_odd(seed->array->data, rg_body(root)->size);
    if (odd < 0) return 0;
    rg_fail("AnomalyError", "seed", "Nd", rg_face(root), seed->array->data[odd]);
    return -1;
}

/* A new node under anomaly(): a NaN always stops, an infinity unless an operand was infinite. */
int rg_tensor_watch(Value *z) {
    const RgBody *body = rg_body(z);
    if (!rg_is_node(z) && isfinite(z->data)) return 0;
    RgBuffer *packed = rg_is_node(z) ? rg_packed(z) : NULL;
    if (rg_is_node(z) && packed == NULL) return -1;
    const double *numbers = packed ? packed->data : &z->data;
    Py_ssize_t odd = first_odd(numbers, body->size);
    double number = odd < 0 ? 0.0 : numbers[odd];
    int born = odd >= 0;
    if (born && !isnan(number))
        for (Py_ssize_t k = 0; k < z->count && born; k++) {
            Value *input = z->entries[k].input;
            RgBuffer *read =
                input && rg_is_node(input) && rg_body(input)->buffer ? rg_packed(input) : NULL;
            const double *numbers_read = read ? read->data : &z->entries[k].partial;
            Py_ssize_t count = read ? rg_body(input)->size : input && rg_is_node(input) ? 0 : 1;
            for (Py_ssize_t i = 0; i < count && born; i++) born = !isinf(numbers_read[i]);
            rg_numbers_xdrop(read);
        }
    if (born) rg_fail("AnomalyError", "forward_array", "N", rg_face(z));
    rg_numbers_xdrop(packed);
    return born ? -1 : 0;
}

/* ---- hooks ------------------------------------------------------------------------------------- */

/* The hooks of a tensor see the total as an array, and may replace it. */
static int run_array_hooks(RgPass *pass, Value *v, RgTotal *total) {
    const RgBody *body = rg_body(v);
    if (total->array == NULL) {
        total->array = rg_numbers_new((size_t)body->size);
        if (total->array == NULL) return -1;
        memset(total->array->data, 0, (size_t)body->size * sizeof(double));
    }
    PyObject *shown = rg_export(total->array, total->array->data, body->ndim, body->shape, NULL);
    PyObject *seen =
        shown ? rg_call("retrograde._shared.hooks", "run_on_array", "NO", rg_face(v), shown) : NULL;
    int failed = seen == NULL;
    if (!failed && seen != shown) {
        RgBuffer *buffer = rg_numbers_like(seen, "the gradient", v);
        failed = buffer == NULL;
        if (buffer) {
            rg_numbers_drop(total->array);
            total->array = buffer;
        }
    }
    Py_XDECREF(seen);
    Py_XDECREF(shown);
    Py_ssize_t odd = failed || !pass->anomaly ? -1 : first_odd(total->array->data, body->size);
    if (odd >= 0) {
        rg_fail("AnomalyError", "hook", "Nd", rg_face(v), total->array->data[odd]);
        return -1;
    }
    return failed ? -1 : 0;
}

/* ---- the pass ---------------------------------------------------------------------------------- */

static inline int pull_row(RgPass *pass, const Value *v, const uint32_t *places) {
    double upstream = pass->totals[pass->at].number;
    Py_ssize_t count = v->flags & RG_WIDE ? v->count : 2;
    for (Py_ssize_t k = 0; k < count; k++)
        if (places[k] != RG_NOWHERE)
            pass->totals[places[k]].number +=
                (v->flags & RG_WIDE ? v->entries[k].partial : v->partial[k]) * upstream;
    return 0;
}

/* Under anomaly() the contributions of a row to values are watched one by one. */
static int pull_row_watched(RgPass *pass, Value *v, const uint32_t *places) {
    double upstream = pass->totals[pass->at].number;
    Py_ssize_t count = v->flags & RG_WIDE ? v->count : 2;
    for (Py_ssize_t k = 0; k < count; k++) {
        if (places[k] == RG_NOWHERE) continue;
        double partial = v->flags & RG_WIDE ? v->entries[k].partial : v->partial[k];
        double *total = &pass->totals[places[k]].number, before = *total;
        *total += partial * upstream;
        if (rg_watch_contribution(v, k, partial, upstream, before, *total, pass->roots,
                                  pass->root_count) < 0)
            return -1;
    }
    return 0;
}

/* One array row, in place. */
static inline int pull_in_place(RgPass *pass, Value *v) {
    RgTotal *total = &pass->totals[pass->at];
    const RgBody *body = rg_body(v);
    uint32_t places[RG_MOST_IN_PLACE];
    int array = rg_is_node(v);
    if (array && total->array == NULL) return 0; /* nothing came: no use depends on it */
    for (Py_ssize_t k = 0; k < v->count; k++) {
        const Value *input = v->entries[k].input;
        places[k] = input ? place_of(input) : RG_NOWHERE;
        if (input && rg_is_leaf(input) && rg_is_node(input) && RG_UNLIKELY(rg_is_stale(v, k))) {
            pass->stale = v;
            return -1;
        }
    }
    if (body->row->pull(pass, v, array ? total->array->data : &total->number, places) < 0)
        return -1;
    if (!array) return 0;
    if (RG_LIKELY(!(body->marks & RG_RETAINS) && !pass->keep_all)) {
        rg_numbers_drop(total->array);
        total->array = NULL;
    } else {
        pass->retained = 1;
    }
    return 0;
}

/* Where no Python code runs. */
static int walk_in_place(RgPass *pass) {
    RgTotal *totals = pass->totals;
    for (size_t i = pass->graph->order.count; i-- > 0;) {
        Value *v = pass->graph->order.items[i];
        pass->at = i;
        if (v->op == RG_ARRAY) {
            if (pull_in_place(pass, v) < 0) return -1;
            continue;
        }
        if (rg_is_leaf(v)) continue;
        double upstream = totals[i].number;
        if (!(v->flags & RG_WIDE)) {
            if (v->in[0]) totals[place_of(v->in[0])].number += v->partial[0] * upstream;
            if (v->in[1]) totals[place_of(v->in[1])].number += v->partial[1] * upstream;
            continue;
        }
        for (const RgEntry *entry = v->entries, *end = entry + v->count; entry < end; entry++)
            if (entry->input) totals[place_of(entry->input)].number += entry->partial * upstream;
    }
    return 0;
}

static int walk(RgPass *pass) {
    if (!pass->python) return walk_in_place(pass);
    const uint32_t *edge = pass->edges + pass->edge_count;
    for (size_t i = pass->graph->order.count; i-- > 0;) {
        Value *v = pass->graph->order.items[i];
        RgTotal *total = &pass->totals[i];
        uint32_t count = *--edge;
        edge -= count;
        pass->at = i;
        int array = rg_is_node(v), failed = 0;
        if (RG_UNLIKELY(v->flags & RG_HOOKED) && !pass->graph->no_hooks)
            failed = array ? run_array_hooks(pass, v, total)
                           : rg_run_hooks(v, &total->number, pass->anomaly);
        if (failed) return -1;
        if (RG_UNLIKELY(rg_is_leaf(v))) continue;
        if (v->op == RG_ARRAY) {
            if (array && total->array == NULL) continue; /* nothing came: no use depends on it */
            const double *upstream = array ? total->array->data : &total->number;
            failed = RG_UNLIKELY(pass->anomaly) ? pull_watched(pass, v, upstream, edge, count)
                                                : rg_body(v)->row->pull(pass, v, upstream, edge);
        } else if (v->op == RG_CLOSURE) {
            failed = pull_closure(pass, v, edge, count);
        } else {
            failed = pass->anomaly ? pull_row_watched(pass, v, edge) : pull_row(pass, v, edge);
        }
        if (failed) return -1;
        if (!array) continue;
        if (RG_LIKELY(!(rg_body(v)->marks & RG_RETAINS) && !pass->keep_all)) {
            rg_numbers_drop(total->array);
            total->array = NULL;
        } else {
            pass->retained = 1;
        }
    }
    return 0;
}

/* Old and new gradient of every tensor leaf, still aside: what may fail comes first. Leaves stand in
 * the order only where they have hooks. */
static int add_old(RgPass *pass) {
    size_t first = pass->graph->callbacks ? 0 : pass->graph->order.count;
    for (size_t i = first; i < pass->nodes; i++) {
        Value *v = node_at(pass, i);
        RgTotal *total = &pass->totals[i];
        if (!rg_is_leaf(v) || !rg_is_node(v) || total->array == NULL) continue;
        RgBody *body = rg_body(v);
        if (body->gradient == NULL || !(v->flags & RG_REQUIRES_GRAD)) continue;
        int fresh;
        double *to = rg_pull_into(pass, (uint32_t)i, v, &fresh);
        if (to == NULL) return -1;
        const double *old = body->gradient->data;
        for (Py_ssize_t j = 0; j < body->size; j++) to[j] = old[j] + to[j];
    }
    return 0;
}

static void settle_one(Value *v, RgTotal *total, const double *aside) {
    int takes = v->flags & RG_REQUIRES_GRAD;
    if (!rg_is_node(v)) {
        double before = aside ? *aside : v->grad;
        v->grad = !takes ? before : rg_is_leaf(v) ? before + total->number : total->number;
        return;
    }
    RgBody *body = rg_body(v);
    RgBuffer *old = body->gradient;
    if (takes && ((body->marks & RG_RETAINS) || (rg_is_leaf(v) && total->array))) {
        body->gradient = total->array;
        total->array = old;
    }
    rg_numbers_xdrop(total->array);
}

/* The pass is whole: no Python code runs until every gradient is in place. */
static void settle(RgPass *pass) {
    int all = pass->values || pass->retained || pass->python;
    for (size_t i = all ? 0 : pass->graph->order.count; i < pass->nodes; i++)
        settle_one(node_at(pass, i), &pass->totals[i], pass->python ? NULL : &pass->old[i]);
    pass->settled = 1;
}

static int seed(RgPass *pass, const RgTotal *seeds) {
    for (Py_ssize_t r = 0; r < pass->root_count; r++) {
        Value *root = pass->roots[r];
        uint32_t place = pass->root_place[r];
        if (pass->anomaly && watch_seed(root, &seeds[r]) < 0) return -1;
        if (!rg_is_node(root)) {
            pass->totals[place].number += seeds[r].number;
            continue;
        }
        if (pass->totals[place].array == NULL) {
            pass->totals[place].array = rg_numbers_share(seeds[r].array);
            continue;
        }
        int fresh;
        double *to = rg_pull_into(pass, place, root, &fresh);
        if (to == NULL) return -1;
        add_onto(to, seeds[r].array->data, rg_body(root)->size);
    }
    return 0;
}

int rg_backward_mixed(RgGraph *graph, Value **roots, const RgTotal *seeds, Py_ssize_t count) {
    RgPass pass = {.graph = graph, .roots = roots, .root_count = count};
    int failed = pass_begin(&pass);
    if (!failed) failed = seed(&pass, seeds) < 0 || walk(&pass) < 0;
    if (!failed && pass.python) failed = rg_check_loans(graph, RG_ANY_THREAD);
    if (!failed) failed = add_old(&pass);
    if (!failed) settle(&pass);
    pass_end(&pass, failed);
    return failed ? -1 : 0;
}

/* What the roots bring to some inputs, into `found`; no gradient is touched and no hook called. */
int rg_pull_mixed(RgGraph *graph, Value **roots, const RgTotal *seeds, Py_ssize_t root_count,
                  Value **inputs, RgTotal *found, const char *reached, Py_ssize_t count) {
    RgPass pass = {.graph = graph, .roots = roots, .root_count = root_count};
    for (Py_ssize_t i = 0; i < count; i++)
        if (reached[i] && !rg_is_leaf(inputs[i])) pass.keep_all = 1;
    uint32_t *places = rg_buffer_resize(NULL, ((size_t)count + 1) * sizeof(uint32_t));
    pass.inputs = inputs;
    pass.input_place = places;
    pass.input_count = count;
    int failed = places == NULL || pass_begin(&pass) < 0;
    if (!failed) failed = seed(&pass, seeds) < 0 || walk(&pass) < 0;
    for (Py_ssize_t i = 0; i < count && !failed; i++) {
        if (!reached[i]) continue;
        found[i] = pass.totals[places[i]];
        if (rg_is_node(inputs[i]) && found[i].array) rg_numbers_share(found[i].array);
    }
    pass_end(&pass, failed);
    rg_buffer_free(places);
    return failed ? -1 : 0;
}
