/* Gradients lent to closures: the backward pass over nodes whose rule is a Python callable.
 *
 * Such a rule reads `out.grad` and adds to `x.grad`, so the gradients of the whole graph are lent to
 * it: set aside, zeroed, and settled or put back at the end. While a loan lasts the numbers in place
 * are those of an unfinished pass. Another pass over the same values, from inside a rule or from
 * another thread, would add to them and be lost: it is refused. A pass takes 8 bytes a node. */
#include <stdlib.h>

#include "tensor.h"

static RgLoan *loans = NULL; /* those that last, latest first */
int rg_lending = 0;

void rg_hold(const RgGraph *graph) {
    for (size_t i = 0; i < graph->order.count; i++) Py_INCREF((PyObject *)graph->order.items[i]);
    for (size_t i = 0; i < graph->leaves.count; i++) Py_INCREF((PyObject *)graph->leaves.items[i]);
}

void rg_let_go(const RgGraph *graph) {
    for (size_t i = 0; i < graph->order.count; i++) Py_DECREF((PyObject *)graph->order.items[i]);
    for (size_t i = 0; i < graph->leaves.count; i++) Py_DECREF((PyObject *)graph->leaves.items[i]);
}

int rg_loan_begin(RgLoan *loan, RgGraph *graph) {
    size_t count = graph->order.count + graph->leaves.count;
    rg_unmark(graph);
    *loan = (RgLoan){.graph = graph, .thread = PyThread_get_thread_ident(), .next = loans};
    loan->old = rg_buffer_resize(NULL, (count + 1) * sizeof(double));
    if (loan->old == NULL) return -1;
    rg_hold(graph);
    for (size_t i = 0; i < count; i++) {
        Value *v = rg_graph_node(graph, i);
        loan->old[i] = v->grad;
        v->grad = 0.0;
    }
    loans = loan;
    rg_lending++;
    return 0;
}

/* What becomes of the gradients is the caller's: it has had them, and `old`, in its hands. */
void rg_loan_end(RgLoan *loan) {
    RgLoan **link = &loans;
    while (*link != loan) link = &(*link)->next;
    *link = loan->next;
    rg_lending--;
    rg_buffer_free(loan->old);
    rg_buffer_free(loan->sorted);
    rg_let_go(loan->graph);
}

int rg_loan_pull(RgLoan *loan, RgGraph *graph, Value **roots, const double *seeds,
                 Py_ssize_t count) {
    int failed = 0;
    if (graph->closures && rg_check_loans(graph, RG_OTHER_THREADS) < 0) return -1;
    if (rg_loan_begin(loan, graph) < 0) return -1;
    for (Py_ssize_t r = 0; r < count; r++) roots[r]->grad += seeds[r];
    for (size_t i = graph->order.count; i-- > 0 && !failed;) {
        Value *v = graph->order.items[i];
        if (v->op == RG_CLOSURE)
            failed = rg_call_closure(v) < 0;
        else
            rg_contribute(v);
    }
    if (failed) rg_loan_return(loan);
    return failed ? -1 : 0;
}

void rg_loan_return(RgLoan *loan) {
    const RgGraph *graph = loan->graph;
    for (size_t i = 0; i < graph->order.count + graph->leaves.count; i++)
        rg_graph_node(graph, i)->grad = loan->old[i];
    rg_loan_end(loan);
}

static int by_address(const void *left, const void *right) {
    uintptr_t a = (uintptr_t)*(Value *const *)left, b = (uintptr_t)*(Value *const *)right;
    return (a > b) - (a < b);
}

/* Whether a value is lent; -1 without memory. The nodes are sorted when somebody first asks. */
static int is_lent(RgLoan *loan, Value *v) {
    size_t count = loan->graph->order.count + loan->graph->leaves.count;
    if (loan->sorted == NULL) {
        loan->sorted = rg_buffer_try(NULL, (count + 1) * sizeof(Value *));
        if (loan->sorted == NULL) return -1;
        for (size_t i = 0; i < count; i++) loan->sorted[i] = rg_graph_node(loan->graph, i);
        qsort(loan->sorted, count, sizeof(Value *), by_address);
    }
    return bsearch(&v, loan->sorted, count, sizeof(Value *), by_address) != NULL;
}

static int lent_to(Value *v, RgWhose whose) {
    unsigned long here = PyThread_get_thread_ident();
    for (RgLoan *loan = loans; loan; loan = loan->next) {
        if (whose == RG_OTHER_THREADS && loan->thread == here) continue;
        int lent = is_lent(loan, v);
        if (lent) return lent < 0 ? -1 : loan->thread == here ? 1 : 2;
    }
    return 0;
}

static int refuse(Value *v, int lent) {
    if (lent < 0)
        PyErr_NoMemory();
    else
        rg_fail("PassInProgressError", lent == 1 ? "here" : "elsewhere", "N", rg_face(v));
    return -1;
}

int rg_check_loan(Value *v, RgWhose whose) {
    int lent = lent_to(v, whose);
    return lent ? refuse(v, lent) : 0;
}

int rg_check_loans(RgGraph *graph, RgWhose whose) {
    size_t count = rg_lending ? graph->order.count + graph->leaves.count : 0;
    for (size_t i = 0; i < count; i++) {
        Value *v = rg_graph_node(graph, i);
        int lent = lent_to(v, whose);
        if (!lent) continue;
        rg_unmark(graph); /* only now: Python code may not meet marks */
        return refuse(v, lent);
    }
    return 0;
}

/* Under anomaly(): what a closure has added must be finite. */
static int check_closure(Value *v, Value **roots, Py_ssize_t root_count) {
    for (Py_ssize_t i = 0; i < v->count; i++) {
        Value *input = v->entries[i].input;
        if (!(input->flags & RG_REQUIRES_GRAD) || isfinite(input->grad)) continue;
        rg_fail("AnomalyError", "closure", "OndN", v, i, input->grad,
                rg_tuple_of(roots, root_count));
        return -1;
    }
    return 0;
}

static int contribute_watched(Value *v, Value **roots, Py_ssize_t root_count) {
    for (Py_ssize_t i = 0; i < rg_width(v); i++) {
        RgEntry entry = rg_input_at(v, i);
        if (entry.input == NULL) continue;
        double before = entry.input->grad;
        entry.input->grad += entry.partial * v->grad;
        if (rg_watch_contribution(v, i, entry.partial, v->grad, before, entry.input->grad, roots,
                                  root_count) < 0)
            return -1;
    }
    return 0;
}

static int walk(RgGraph *graph, Value **roots, const double *seeds, Py_ssize_t count) {
    int anomaly = rg_anomaly_enabled();
    for (Py_ssize_t r = 0; r < count; r++) {
        roots[r]->grad += seeds[r];
        if (anomaly && rg_watch_seed(roots[r], seeds[r]) < 0) return -1;
    }
    for (size_t i = graph->order.count; i-- > 0;) {
        Value *v = graph->order.items[i];
        double total = v->grad;
        if (rg_run_hooks(v, &total, anomaly) < 0) return -1;
        v->grad = total;
        if (rg_is_leaf(v)) continue;
        if (v->op == RG_CLOSURE) {
            if (rg_call_closure(v) < 0) return -1;
            if (anomaly && check_closure(v, roots, count) < 0) return -1;
        } else if (anomaly) {
            if (contribute_watched(v, roots, count) < 0) return -1;
        } else {
            rg_contribute(v);
        }
    }
    return 0;
}

int rg_backward_lent(RgGraph *graph, Value **roots, const double *seeds, Py_ssize_t count) {
    RgLoan loan;
    if (rg_loan_begin(&loan, graph) < 0) return -1;
    int failed = walk(graph, roots, seeds, count) < 0;
    for (size_t i = 0; i < graph->order.count + graph->leaves.count; i++) {
        Value *v = rg_graph_node(graph, i);
        if (failed || !(v->flags & RG_REQUIRES_GRAD))
            v->grad = loan.old[i];
        else if (rg_is_leaf(v))
            v->grad = loan.old[i] + v->grad;
    }
    rg_loan_end(&loan);
    return failed ? -1 : 0;
}
