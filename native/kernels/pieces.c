/* Reading the words of programs with shapes, every one of them doubted, and deciding how boxes are gone
 * through. */
#define RG_LISTS_ONLY
#include <stdlib.h>

#include "pieces.h"

#define SMALL_PRODUCT 1e6 /* multiplications below which there is nothing to share among threads */

enum { MOST_WHOLE = 2048 };

/* Of boxes that are gone through in several turns: the length of the last loop from which that does not
 * pay, and how many numbers a turn has. */
enum { SHORT_LINE = 64, LEAST_AT_ONCE = 128, MOST_AT_ONCE = 1024 };

/* Words, one after the other; `wrong` once one is missing or is not what it has to be. */
typedef struct {
    const int64_t *at, *end;
    const int64_t *slot_sizes, *whole_sizes;
    int slots, wholes, wrong;
} Words;

static int64_t next_word(Words *words) {
    if (words->at < words->end) return *words->at++;
    words->wrong = 1;
    return 0;
}

static Count next_within(Words *words, Count low, Count high) {
    int64_t word = next_word(words);
    if (word < low || word > high) words->wrong = 1;
    return words->wrong ? low : (Count)word;
}

enum { LARGE = 1 << 30 };
#define ANY (((Count)LARGE) << 20)

static int next_slot(Words *words) { return (int)next_within(words, 0, words->slots - 1); }

static void next_lengths(Words *words, int loops, Count *length) {
    for (int i = 0; i < loops; i++) length[i] = next_within(words, 1, ANY);
}

/* Whether all places that loops lead to lie inside a slot. */
static void check_reach(Words *words, int slot, Count offset, int loops, const Count *length,
                        const Count *stride) {
    if (words->wrong) return;
    Count low = offset, high = offset;
    for (int i = 0; i < loops; i++) {
        Count far = 0;
        if (RG_MULTIPLY_OVERFLOWS(stride[i], length[i] - 1, &far) ||
            RG_ADD_OVERFLOWS(far < 0 ? low : high, far, far < 0 ? &low : &high))
            words->wrong = 1;
    }
    if (low < 0 || high >= words->slot_sizes[slot]) words->wrong = 1;
}

static void read_operand(Words *words, Operand *it, int loops, const Count *length) {
    it->slot = next_slot(words);
    it->offset = next_within(words, 0, ANY);
    for (int i = 0; i < loops; i++) it->stride[i] = next_within(words, -ANY, ANY);
    check_reach(words, it->slot, it->offset, loops, length, it->stride);
}

/* The loops of an operand, those joined along which it goes on evenly. */
static Laid laid_of(const Operand *it, int loops, const Count *length) {
    Laid laid = {0};
    for (int i = 0; i < loops; i++) {
        int last = laid.loops - 1;
        if (last >= 0 && laid.loop[last].stride == it->stride[i] * length[i]) {
            laid.loop[last].length *= length[i];
            laid.loop[last].stride = it->stride[i];
        } else {
            laid.loop[laid.loops].length = length[i];
            laid.loop[laid.loops++].stride = it->stride[i];
        }
    }
    return laid;
}

/* How much of the first loop is gone through at once: all of it in a small box; in a larger one whose
 * last loop is short, as much as fits a block and goes into the loop evenly. 0 where it is nothing. */
static Count leap_of(const Box *box) {
    Count inner = 1, first = box->loops ? box->length[0] : 1;
    for (int i = 1; i < box->loops; i++) {
        inner *= box->length[i];
        if (inner < 1 || inner > MOST_WHOLE) return 0;
    }
    if (first <= MOST_WHOLE / inner) return first;
    if (box->loops < 2 || box->length[box->loops - 1] >= SHORT_LINE) return 0;
    for (int i = 0; i < box->reductions; i++)
        if (box->operand[box->reduction[i].out].stride[0] == 0) return 0;
    Count leap = MOST_AT_ONCE / inner;
    while (leap > 1 && first % leap) leap--;
    return leap * inner >= LEAST_AT_ONCE ? leap : 0;
}

/* Whether a box is gone through at once, and how then. */
static void plan_whole(Box *box) {
    Count leap = leap_of(box), length[RG_BOX_LOOPS], total = 1;
    if (leap == 0) return;
    for (int i = 0; i < box->loops; i++) total *= length[i] = i ? box->length[i] : leap;
    for (int i = 0; i < box->reductions; i++) { /* its lines have to go on evenly */
        Reduction *it = &box->reduction[i];
        const Operand *to = &box->operand[it->out];
        Laid lines = laid_of(to, box->loops - 1, length);
        if (lines.loops > 1) return;
        it->line = lines.loops ? lines.loop[0].stride : 0;
        it->next = box->loops ? to->stride[box->loops - 1] : 0;
    }
    Count *step = box->step;
    for (int o = 0; o < box->operands + box->rooms; o++) {
        step[o] = 1;
        if (o >= box->reads) continue;
        Laid laid = box->laid[o] = laid_of(&box->operand[o], box->loops, length);
        Count stride = laid.loops ? laid.loop[0].stride : 0;
        int wide = box->wide >> o & 1 && total > 1;
        if (laid.loops <= 1 && (stride == 1 || (stride == 0 && !wide)))
            step[o] = stride;
        else
            box->copied |= 1u << o;
    }
    Count rooms = box->rooms + RG_ONES_OF(box->copied);
    if (rooms * rg_whole_room(total) > RG_SHAPED_SCRATCH) return;
    for (int i = 0; i < box->rows; i++)
        for (int k = 0; k < 3; k++) box->row[i].step[k] = step[box->row[i].arg[k]];
    for (int o = 0; o < box->operands; o++) {
        const Operand *it = &box->operand[o];
        Count turn = box->loops ? leap * it->stride[0] : 0;
        box->start[o] = (Start){it->slot, it->offset, turn};
    }
    box->last = box->loops ? box->length[box->loops - 1] : 1;
    box->whole = total;
    box->turns = box->loops ? box->length[0] / leap : 1;
}

static void read_box(Words *words, Box *box) {
    box->loops = (int)next_within(words, 0, RG_BOX_LOOPS);
    next_lengths(words, box->loops, box->length);
    box->operands = (int)next_within(words, 1, RG_BOX_OPERANDS);
    box->reads = (int)next_within(words, 0, box->operands);
    for (int i = 0; i < box->operands; i++)
        read_operand(words, &box->operand[i], box->loops, box->length);
    int registers = box->operands + RG_BOX_ROOMS - 1;
    box->rows = (int)next_within(words, 0, MOST_STEPS);
    for (int i = 0; i < box->rows; i++) {
        Row *row = &box->row[i];
        row->op = (short)next_within(words, 0, RG_OP_COUNT - 1);
        row->to = (uint8_t)next_within(words, box->reads, registers);
        if (row->to - box->operands >= box->rooms) box->rooms = row->to - box->operands + 1;
        for (int k = 0; k < 3; k++)
            row->arg[k] = (uint8_t)next_within(words, 0, box->operands + box->rooms - 1);
    }
    box->reductions = (int)next_within(words, 0, MOST_REDUCTIONS);
    for (int i = 0; i < box->reductions; i++) {
        Reduction *it = &box->reduction[i];
        it->kind = (int)next_within(words, RG_TOTAL, RG_BOTTOM);
        it->from = (int)next_within(words, 0, box->operands + box->rooms - 1);
        it->out = (int)next_within(words, box->reads, box->operands - 1);
        if (it->from < box->reads) box->wide |= 1u << it->from;
    }
    if (!words->wrong) plan_whole(box);
}

static void read_matrix(Words *words, Matrix *it, const Matrices *of, Count rows, Count columns) {
    it->slot = next_slot(words);
    it->offset = next_within(words, 0, ANY);
    it->row = next_within(words, -ANY, ANY);
    it->column = next_within(words, -ANY, ANY);
    for (int i = 0; i < of->loops; i++) it->turn[i] = next_within(words, -ANY, ANY);
    Count length[RG_BOX_LOOPS + 2], stride[RG_BOX_LOOPS + 2];
    for (int i = 0; i < of->loops; i++) length[i] = of->length[i], stride[i] = it->turn[i];
    length[of->loops] = rows, stride[of->loops] = it->row;
    length[of->loops + 1] = columns, stride[of->loops + 1] = it->column;
    check_reach(words, it->slot, it->offset, of->loops + 2, length, stride);
}

static void read_matrices(Words *words, Matrices *it) {
    it->loops = (int)next_within(words, 0, RG_BOX_LOOPS);
    next_lengths(words, it->loops, it->length);
    next_lengths(words, 3, it->size);
    it->adds = (int)next_within(words, 0, 1);
    read_matrix(words, &it->a, it, it->size[0], it->size[2]);
    read_matrix(words, &it->b, it, it->size[2], it->size[1]);
    read_matrix(words, &it->c, it, it->size[0], it->size[1]);
    if (it->c.column != 1) words->wrong = 1;
    it->small = (double)it->size[0] * (double)it->size[1] * (double)it->size[2] < SMALL_PRODUCT;
}

static void read_planned(Words *words, Planned *it, RgPlan *const *plans, int count) {
    int number = (int)next_within(words, 0, count - 1);
    if (words->wrong) return;
    it->plan = plans[number];
    it->out = next_slot(words);
    if (words->wrong || words->slot_sizes[it->out] < it->plan->size) words->wrong = 1;
    it->arrays = (int)next_within(words, 0, MOST_ARGS);
    if (it->arrays != it->plan->arrays) words->wrong = 1;
    for (int i = 0; i < it->arrays && !words->wrong; i++) {
        it->array[i] = next_slot(words);
        it->offset[i] = next_within(words, 0, ANY);
        if (!words->wrong &&
            it->offset[i] + it->plan->array_size[i + 1] > words->slot_sizes[it->array[i]])
            words->wrong = 1;
    }
    it->wholes = (int)next_within(words, 0, MOST_ARGS);
    if (it->wholes != it->plan->wholes) words->wrong = 1;
    for (int i = 0; i < it->wholes && !words->wrong; i++) {
        it->whole[i] = (int)next_within(words, 0, words->wholes - 1);
        if (!words->wrong && words->whole_sizes[it->whole[i]] != it->plan->whole_size[i])
            words->wrong = 1;
    }
}

static void read_choice(Words *words, Choice *it) {
    it->by = (int)next_within(words, RG_ARGMAX, RG_ARGSORT);
    for (int i = 0; i < 3; i++) it->size[i] = next_within(words, 0, ANY);
    it->slot = next_slot(words);
    it->offset = next_within(words, 0, ANY);
    it->whole = (int)next_within(words, 0, words->wholes - 1);
    if (words->wrong) return;
    Count made = it->size[0] * it->size[2] * (it->by == RG_ARGSORT ? it->size[1] : 1);
    Count read = it->size[0] * it->size[1] * it->size[2];
    if (words->whole_sizes[it->whole] != made || (made && it->size[1] == 0) ||
        it->offset + read > words->slot_sizes[it->slot])
        words->wrong = 1;
}

static void read_called(Words *words, RgCalled *it) {
    it->number = (int)next_within(words, 0, LARGE);
    it->arrays = (int)next_within(words, 1, RG_CALL_ARGS);
    for (int i = 0; i < it->arrays; i++) {
        it->array[i] = next_slot(words);
        it->offset[i] = next_within(words, 0, ANY);
        it->size[i] = next_within(words, 0, ANY);
        if (!words->wrong && it->offset[i] + it->size[i] > words->slot_sizes[it->array[i]])
            words->wrong = 1;
    }
    it->wholes = (int)next_within(words, 0, RG_CALL_ARGS);
    for (int i = 0; i < it->wholes; i++) {
        it->whole[i] = (int)next_within(words, 0, words->wholes - 1);
        if (!words->wrong) it->whole_size[i] = words->whole_sizes[it->whole[i]];
    }
}

/* Both sides have to lie inside their slots wherever the whole numbers lead. */
static void read_moving(Words *words, Moving *it, Count *size) {
    it->loops = (int)next_within(words, 0, RG_BOX_LOOPS);
    next_lengths(words, it->loops, it->length);
    it->adds = (int)next_within(words, 0, 1);
    it->whole = (int)next_within(words, 0, words->wholes - 1);
    it->scale = next_within(words, -ANY, ANY);
    it->limit = next_within(words, 1, ANY);
    for (int i = 0; i < it->loops; i++) it->turn[i] = next_within(words, 0, ANY);
    read_operand(words, &it->to, it->loops, it->length);
    read_operand(words, &it->from, it->loops, it->length);
    if (words->wrong) return;
    const Operand *led = it->adds ? &it->to : &it->from;
    Count length[RG_BOX_LOOPS + 1], stride[RG_BOX_LOOPS + 1], far = 0;
    for (int i = 0; i < it->loops; i++) {
        length[i] = it->length[i], stride[i] = led->stride[i];
        Count step = 0;
        if (RG_MULTIPLY_OVERFLOWS(it->turn[i], it->length[i] - 1, &step) ||
            RG_ADD_OVERFLOWS(far, step, &far))
            words->wrong = 1;
    }
    length[it->loops] = it->limit, stride[it->loops] = it->scale;
    check_reach(words, led->slot, led->offset, it->loops + 1, length, stride);
    if (far >= words->whole_sizes[it->whole]) words->wrong = 1;
    *size = words->slot_sizes[it->to.slot];
}

static void read_packing(Words *words, Packing *it) {
    it->loops = (int)next_within(words, 0, RG_BOX_LOOPS);
    next_lengths(words, it->loops, it->length);
    it->out = next_slot(words);
    read_operand(words, &it->from, it->loops, it->length);
    Count size = 1;
    for (int i = 0; i < it->loops; i++) size *= it->length[i];
    if (words->wrong || size > words->slot_sizes[it->out]) words->wrong = 1;
}

static size_t size_of(int kind) {
    size_t sizes[] = {sizeof(Box),    sizeof(Packing),  sizeof(Matrices), sizeof(Planned),
                      sizeof(Choice), sizeof(RgCalled), sizeof(Moving)};
    return offsetof(Piece, box) + sizes[kind];
}

RgShaped *rg_shaped_read(const int64_t *at, size_t count, RgPlan *const *plans, int plan_count,
                         const int64_t *slot_sizes, int slots, const int64_t *whole_sizes,
                         int wholes) {
    Words words = {at, at + count, slot_sizes, whole_sizes, slots, wholes, 0};
    int steps = (int)next_within(&words, 0, LARGE);
    if (words.wrong || (size_t)steps > count) return NULL;
    RgShaped *shaped = calloc(1, sizeof(RgShaped) + (size_t)steps * sizeof(Piece *));
    if (shaped == NULL) return NULL;
    for (int i = 0; i < steps && !words.wrong; i++) {
        int kind = (int)next_within(&words, RG_BOX, RG_MOVE);
        Piece *step = words.wrong ? NULL : calloc(1, size_of(kind));
        if (step == NULL) {
            words.wrong = 1;
            break;
        }
        shaped->step[shaped->count++] = step;
        step->kind = kind;
        switch (kind) {
            case RG_BOX: read_box(&words, &step->box); break;
            case RG_PACK: read_packing(&words, &step->packing); break;
            case RG_MATRICES: read_matrices(&words, &step->matrices); break;
            case RG_PLANNED: read_planned(&words, &step->planned, plans, plan_count); break;
            case RG_CHOOSE: read_choice(&words, &step->choice); break;
            case RG_CALLED: read_called(&words, &step->called); break;
            case RG_MOVE: read_moving(&words, &step->moving, &step->size); break;
        }
    }
    if (words.wrong || words.at != words.end) {
        rg_shaped_free(shaped);
        return NULL;
    }
    return shaped;
}

void rg_shaped_free(RgShaped *shaped) {
    if (shaped == NULL) return;
    for (int i = 0; i < shaped->count; i++) free(shaped->step[i]);
    free(shaped);
}
