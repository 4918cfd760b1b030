/* Bound rows by native plans: their statement, and the statement of each gradient. */
#include "ready.h"

#include "kernels/plans.h"

/* What a step reads, and what has to be given up afterwards. */
typedef struct {
    const double *arrays[RG_MOST_ARRAYS];
    const int64_t *wholes[RG_MOST_ARRAYS];
    RgBuffer *packed[RG_MOST_ARRAYS];
    int packed_count;
} Reading;

static void give_up(Reading *reading) {
    for (int i = 0; i < reading->packed_count; i++) rg_numbers_drop(reading->packed[i]);
}

static int refuse_plan(void) {
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_SystemError, "a plan does not fit what it is given");
    return -1;
}

/* The numbers of a tensor in the order of C, wherever they are. */
static const double *packed_numbers(Reading *reading, const Value *v) {
    const RgBody *body = rg_body(v);
    if (body->buffer == NULL) return NULL;
    if (body->contiguous) return body->at;
    RgBuffer *packed = rg_packed(v);
    if (packed == NULL) return NULL;
    reading->packed[reading->packed_count++] = packed;
    return packed->data;
}

static int read_array(Reading *reading, int at, const Value *z, int source, const double *upstream,
                      RgBuffer *const *made, Count wanted) {
    const double *numbers = NULL;
    Py_ssize_t size = 1;
    if (source == RG_UPSTREAM) {
        numbers = upstream;
        size = rg_body(z)->size;
    } else if (source == RG_RESULT) {
        numbers = rg_is_node(z) ? packed_numbers(reading, z) : &z->data;
        size = rg_body(z)->size;
    } else if (source <= RG_FIRST_MADE) {
        numbers = made[RG_FIRST_MADE - source]->data;
        size = wanted; /* it was made for this */
    } else if (source < z->count) {
        const RgEntry *entry = &z->entries[source];
        int array = entry->input && rg_is_node(entry->input);
        numbers = array ? packed_numbers(reading, entry->input) : &entry->partial;
        size = array ? rg_body(entry->input)->size : 1;
    }
    if (numbers == NULL || size != wanted) return refuse_plan();
    reading->arrays[at] = numbers;
    return 0;
}

/* One step, into `to`. */
static int run_step(const RgReady *ready, const RgStep *step, const Value *z,
                    const double *upstream, RgBuffer *const *made, double *to, RgHow how) {
    Reading reading;
    const int64_t *wholes = rg_wholes_of(z);
    int failed = 0;
    reading.packed_count = 0;
    for (int i = 0; i < step->arrays && !failed; i++)
        failed = read_array(&reading, i, z, step->source[i], upstream, made,
                            step->plan->array_size[i + 1]) < 0;
    if (step->wholes && wholes == NULL) failed = refuse_plan();
    for (int i = 0; i < step->wholes && !failed; i++)
        reading.wholes[i] = wholes + ready->whole_at[step->whole[i]];
    if (!failed) {
        int code = rg_plan_run(step->plan, to, reading.arrays, reading.wholes, how);
        if (code == RG_NO_MEMORY) PyErr_NoMemory();
        if (code == RG_OUT_OF_RANGE) PyErr_SetString(PyExc_IndexError, "an index is out of bounds");
        failed = code != 0;
    }
    give_up(&reading);
    return failed ? -1 : 0;
}

/* ---- forward -------------------------------------------------------------------------------------- */

int rg_planned_compute(const RgReady *ready, Value *z, double *to) {
    return run_step(ready, &ready->forward, z, NULL, NULL, to, RG_REPLACE);
}

static int planned_run(Value *z, double *to) { return rg_planned_compute(rg_ready_of(z), z, to); }

/* Of several axes a place counts over all of them; every name has it along its own. */
static void unravel(const RgChoice *choice, Py_ssize_t size, int64_t *places) {
    for (Py_ssize_t i = 0; i < size; i++) {
        int64_t place = places[i];
        for (int axis = choice->axes; axis-- > 0; place /= choice->length[axis])
            places[axis * size + i] = place % choice->length[axis];
    }
}

/* The whole numbers that a row finds by looking at an operand. */
int rg_planned_choose(const RgReady *ready, Value *z) {
    const RgChoice *choice = &ready->choice;
    Reading reading;
    reading.packed_count = 0;
    int64_t *places = (int64_t *)rg_body(z)->wholes->data + ready->whole_at[choice->first];
    Py_ssize_t size = choice->outer * choice->n * choice->inner;
    int failed = read_array(&reading, 0, z, choice->operand, NULL, NULL, size) < 0;
    if (!failed && rg_choose(choice->by, choice->outer, choice->n, choice->inner, reading.arrays[0],
                             places) != 0) {
        PyErr_NoMemory();
        failed = 1;
    }
    if (!failed && choice->axes > 1) unravel(choice, choice->outer * choice->inner, places);
    give_up(&reading);
    return failed ? -1 : 0;
}

/* ---- backward ------------------------------------------------------------------------------------- */

static int pull_operand(RgPass *pass, Value *z, const RgBack *back, const double *upstream,
                        uint32_t place, Value *input) {
    const RgReady *ready = rg_ready_of(z);
    RgBuffer *made[RG_MOST_ARRAYS];
    int last = back->count - 1, failed = 0, done = 0;
    for (int i = 0; i <= last && !failed; i++) {
        const RgStep *step = &back->step[i];
        Py_ssize_t size = rg_is_node(input) ? rg_body(input)->size : 1;
        double number = 0.0, *to = &number;
        int fresh = 1;
        if (i == last && step->plan->size != size) return refuse_plan();
        if (i < last) {
            made[i] = rg_numbers_new((size_t)step->plan->size);
            to = made[i] ? made[i]->data : NULL;
            done += to != NULL;
        } else if (rg_is_node(input)) {
            to = rg_pull_into(pass, place, input, &fresh);
        }
        failed = to == NULL ||
                 run_step(ready, step, z, upstream, made, to, fresh ? RG_REPLACE : RG_ADD) < 0;
        if (!failed && i == last && !rg_is_node(input)) rg_pull_number(pass, place, number);
    }
    for (int i = 0; i < done; i++) rg_numbers_drop(made[i]);
    return failed ? -1 : 0;
}

static int planned_pull(RgPass *pass, Value *z, const double *upstream, const uint32_t *places) {
    const RgReady *ready = rg_ready_of(z);
    for (Py_ssize_t k = 0; k < z->count; k++) {
        Value *input = z->entries[k].input;
        const RgBack *back = &ready->back[k];
        if (input == NULL || !(input->flags & RG_REQUIRES_GRAD) || places[k] == RG_NOWHERE)
            continue;
        if (!back->known) return refuse_plan();
        if (back->count && pull_operand(pass, z, back, upstream, places[k], input) < 0) return -1;
    }
    return 0;
}

const RgRow rg_planned_row = {NULL, planned_run, planned_pull, 0};
