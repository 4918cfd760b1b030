/* Ordering a graph, without recursion: a left-to-right depth-first postorder, so that every value
 * stands after its inputs.
 *
 * While an ordering is in progress the nodes it has seen carry a mark; no Python code runs until
 * the marks are gone. It takes 8 bytes a node, and 8 a level of depth (16 at a wide node). */
#include "tensor.h"

uint64_t rg_epoch = 0;

#define INTERRUPT_EVERY (1 << 16)

enum { FIRST = 128 }; /* items of a list: a kilobyte, which allocators hand out quickly */

/* Nodes that wait for their inputs: the address of each and, in the bits that are free because nodes
 * are aligned, for which. Under the word of a wide node stands the index of the input after. */
typedef struct {
    uintptr_t *items;
    size_t count, capacity;
} Stack;

enum { FOR_FIRST = 0, FOR_SECOND = 1, FOR_ENTRY = 2, FOR = 3 };

static inline uintptr_t waiting(Value *v, int what) { return (uintptr_t)v | (uintptr_t)what; }
static inline Value *waiter(uintptr_t word) { return (Value *)(word & ~(uintptr_t)FOR); }

/* The list with more room, or as it was where there is no memory. */
static RG_NEVER_INLINE RgNodes larger_list(RgNodes nodes) {
    size_t capacity = nodes.capacity ? nodes.capacity * 2 : FIRST;
    Value **items = rg_buffer_try(nodes.items, capacity * sizeof(Value *));
    return items ? (RgNodes){items, nodes.count, capacity} : nodes;
}

static RG_NEVER_INLINE Stack larger_stack(Stack stack) {
    size_t capacity = stack.capacity ? stack.capacity * 2 : FIRST;
    uintptr_t *items = rg_buffer_try(stack.items, capacity * sizeof(uintptr_t));
    return items ? (Stack){items, stack.count, capacity} : stack;
}

static inline void clear_marks(Value *v) { v->flags &= (uint8_t)~RG_MARKS; }

void rg_unmark(RgGraph *graph) {
    for (size_t i = 0; i < graph->order.count; i++) clear_marks(graph->order.items[i]);
    for (size_t i = 0; i < graph->leaves.count; i++) clear_marks(graph->leaves.items[i]);
}

void rg_graph_free(RgGraph *graph) {
    rg_buffer_free(graph->order.items);
    rg_buffer_free(graph->leaves.items);
}

/* Whether the ordering goes no further than this. */
static inline int is_end(const RgGraph *graph, const Value *v, int any_age) {
    return rg_is_leaf(v) || (!any_age && rg_is_old(graph, v));
}

/* A leaf met for the first time: whether it belongs in the order, and not among the leaves. */
static inline int leaf_is_in_order(RgGraph *graph, const Value *leaf) {
    if (leaf->flags & RG_REQUIRES_GRAD) graph->takes_gradient = 1;
    int hooked = (leaf->flags & RG_HOOKED) && !graph->no_hooks;
    if (RG_UNLIKELY(hooked)) graph->callbacks = 1;
    return RG_UNLIKELY(graph->leaves_in_order || hooked);
}

/* Memory far from the processor is slow: ask for it before it is needed. Inputs are made before
 * their uses and so mostly lie below them; what is in order next was mostly made a little later. */
static inline void ask_for(const char *nodes) {
    RG_PREFETCH_TO_WRITE(nodes);
    RG_PREFETCH_TO_WRITE(nodes + 64);
    RG_PREFETCH_TO_WRITE(nodes + 128);
}

static inline void look_below(const Value *v) { ask_for((const char *)(v - 8) - 128); }
static inline void look_above(const Value *v) { ask_for((const char *)(v + 16)); }

/* Whether an input asks for nothing before its use: a number, or a node already in order. */
static inline int is_ready(const Value *input) {
    return input == NULL || (input->flags & RG_MARKS) == RG_VISITED;
}

/* Whether an inner node can be put in order without a turn on the stack. */
static inline int is_settled(const Value *v) {
    return !(v->flags & (RG_WIDE | RG_HOOKED)) && is_ready(v->in[0]) && is_ready(v->in[1]);
}

typedef enum { DONE = 1, INTERRUPTED = 0, FAILED = -1, CYCLE = -2 } Outcome;

#define PUSH(LIST, LARGER, ITEM)                                                                   \
    do {                                                                                           \
        if (RG_UNLIKELY(LIST.count == LIST.capacity)) {                                            \
            LIST = LARGER(LIST);                                                                   \
            if (LIST.count == LIST.capacity) goto failed;                                          \
        }                                                                                          \
        LIST.items[LIST.count++] = ITEM;                                                           \
    } while (0)

#define PUT_IN_ORDER(V) PUSH(order, larger_list, V)
#define WAIT(WORD) PUSH(stack, larger_stack, WORD)

#define MEET_LEAF(LEAF)                                                                            \
    do {                                                                                           \
        if (leaf_is_in_order(graph, LEAF))                                                         \
            PUT_IN_ORDER(LEAF);                                                                    \
        else                                                                                       \
            PUSH(leaves, larger_list, LEAF);                                                       \
        LEAF->flags |= RG_VISITED;                                                                 \
    } while (0)

/* Depth first from one root. A state machine: `v` is the node whose inputs are looked at, the stack
 * holds those above it that wait. The lists are local for as long as it runs. */
static inline Outcome order_aged(RgGraph *graph, Stack *waiting_nodes, Value *root, int any_age) {
    RgNodes order = graph->order, leaves = graph->leaves;
    Stack stack = *waiting_nodes;
    size_t turns = graph->turns;
    Value *v = NULL, *input;
    uintptr_t word;
    Py_ssize_t next;
    Outcome outcome = DONE;
    if (root->flags & RG_VISITED) return DONE;
    if (is_end(graph, root, any_age)) {
        MEET_LEAF(root);
        goto left;
    }
    v = root;

entered: /* an inner node met for the first time */
    look_below(v);
    v->flags |= RG_MARKS;
    if (RG_UNLIKELY(v->flags & (RG_WIDE | RG_HOOKED))) {
        if (v->op == RG_CLOSURE) graph->callbacks = graph->closures = 1;
        if (v->op == RG_ARRAY) {
            graph->tensors = 1;
            graph->python |= rg_body(v)->row->python || v->count > RG_MOST_IN_PLACE;
        }
        if (v->flags & RG_HOOKED) graph->callbacks = 1;
        next = 0;
        if (v->flags & RG_WIDE) goto entries;
    }
    input = v->in[0];
    if (RG_LIKELY(input != NULL)) {
        if (!(input->flags & RG_VISITED)) {
            if (RG_LIKELY(!is_end(graph, input, any_age))) {
                WAIT(waiting(v, FOR_FIRST));
                v = input;
                goto entered;
            }
            MEET_LEAF(input);
        } else if (RG_UNLIKELY(input->flags & RG_OPEN)) {
            goto cycle;
        }
    }

second:
    input = v->in[1];
    if (input != NULL) {
        if (!(input->flags & RG_VISITED)) {
            if (is_end(graph, input, any_age)) {
                MEET_LEAF(input);
            } else if (is_settled(input)) {
                PUT_IN_ORDER(input);
                input->flags |= RG_VISITED;
            } else {
                WAIT(waiting(v, FOR_SECOND));
                v = input;
                goto entered;
            }
        } else if (RG_UNLIKELY(input->flags & RG_OPEN)) {
            goto cycle;
        }
    }

finished:
    look_above(v);
    PUT_IN_ORDER(v);
    v->flags &= (uint8_t)~RG_OPEN;
    v = NULL;
    if (RG_UNLIKELY(++turns % INTERRUPT_EVERY == 0) && PyOS_InterruptOccurred()) {
        outcome = INTERRUPTED;
        goto left;
    }
    if (stack.count == 0) goto left;
    word = stack.items[--stack.count];
    v = waiter(word);
    if ((word & FOR) == FOR_FIRST) goto second;
    if (RG_LIKELY((word & FOR) == FOR_SECOND)) goto finished;
    next = (Py_ssize_t)stack.items[--stack.count];

entries:
    for (const RgEntry *entry = v->entries + next, *end = v->entries + v->count; entry < end;) {
        input = entry++->input;
        if (is_ready(input)) continue;
        if (RG_UNLIKELY(input->flags & RG_OPEN)) goto cycle;
        if (is_end(graph, input, any_age)) {
            MEET_LEAF(input);
        } else if (is_settled(input)) {
            PUT_IN_ORDER(input);
            input->flags |= RG_VISITED;
        } else {
            WAIT((uintptr_t)(entry - v->entries));
            WAIT(waiting(v, FOR_ENTRY));
            v = input;
            goto entered;
        }
    }
    goto finished;

cycle:
    outcome = CYCLE;
    goto left;
failed:
    outcome = FAILED;
left:
    if (outcome != DONE && v) clear_marks(v); /* neither in order nor on the stack */
    graph->culprit = v;
    graph->order = order;
    graph->leaves = leaves;
    graph->turns = turns;
    *waiting_nodes = stack;
    return outcome;
}

/* Compiled twice: where the age of nodes does not matter, it is not looked at. */
static Outcome order_from(RgGraph *graph, Stack *stack, Value *root) {
    return graph->oldest == RG_ANY_AGE ? order_aged(graph, stack, root, 1)
                                       : order_aged(graph, stack, root, 0);
}

/* Take away the marks of the nodes that wait. */
static void unmark_waiting(const Stack *stack) {
    for (size_t i = stack->count; i-- > 0;) {
        clear_marks(waiter(stack->items[i]));
        if ((stack->items[i] & FOR) == FOR_ENTRY) i--; /* its index */
    }
}

/* On anything but DONE nothing stays marked. */
static Outcome order_once(RgGraph *graph, Value **roots, Py_ssize_t count) {
    Stack stack = {NULL, 0, 0};
    Outcome outcome = DONE;
    for (Py_ssize_t r = 0; r < count && outcome == DONE; r++)
        outcome = order_from(graph, &stack, roots[r]);
    if (outcome != DONE) {
        rg_unmark(graph);
        unmark_waiting(&stack);
        graph->order.count = graph->leaves.count = 0;
        graph->callbacks = graph->closures = graph->takes_gradient = 0;
        graph->tensors = graph->python = 0;
    }
    rg_buffer_free(stack.items);
    return outcome;
}

int rg_order(RgGraph *graph, Value **roots, Py_ssize_t count) {
    Outcome outcome;
    while ((outcome = order_once(graph, roots, count)) == INTERRUPTED) {
        /* The signal's Python handler runs here, where nothing is marked. */
        PyErr_SetInterrupt();
        if (PyErr_CheckSignals() < 0) {
            outcome = FAILED;
            break;
        }
    }
    if (outcome == DONE) return 0;
    if (outcome == FAILED && !PyErr_Occurred()) /* only now: Python code may not meet marks */
        rg_fail("GraphMemoryError", "of", "n",
                (Py_ssize_t)(graph->order.capacity * 2 * sizeof(Value *)));
    if (outcome == CYCLE) rg_fail("CycleError", "of", "N", rg_face(graph->culprit));
    rg_graph_free(graph);
    return -1;
}
