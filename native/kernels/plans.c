/* Plans: read from the words that Python packs, and carried out part by part.
 *
 * Words are trusted as far as they say which loops turn; no place outside an array is touched. */
#include "plans.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ------------------------------------------------------------------------------------- */

typedef struct {
    const int64_t *at, *end;
    int wrong;
} Words;

static int64_t next(Words *words) {
    if (words->at >= words->end) {
        words->wrong = 1;
        return 0;
    }
    return *words->at++;
}

/* A count of things, at most so many. */
static int next_count(Words *words, int most) {
    int64_t count = next(words);
    if (count < 0 || count > most) {
        words->wrong = 1;
        return 0;
    }
    return (int)count;
}

static int next_id(Words *words, int count) {
    int64_t id = next(words);
    if (id < 0 || id >= count) words->wrong = 1;
    return words->wrong ? 0 : (int)id;
}

/* A place: its base, its moves, its tables. */
static void read_place(Words *words, Nest *nest, int at) {
    Place *place = &nest->place[at];
    nest->base[at] = (Count)next(words);
    for (int i = 0; i < nest->loops + nest->turns; i++) nest->move[i][at] = (Count)next(words);
    place->tables = next_count(words, 4);
    for (int i = 0; i < place->tables; i++) place->table[i] = next_id(words, nest->tables);
}

static void read_table(Words *words, Nest *nest, Table *table) {
    table->letters = next_count(words, nest->loops);
    table->size = 1;
    for (int i = 0; i < table->letters; i++) {
        table->loop[i] = next_id(words, nest->loops);
        table->size *= nest->length[table->loop[i]];
    }
    int64_t count = next(words);
    table->formula = words->at;
    if (count < 0 || count > words->end - words->at)
        words->wrong = 1;
    else
        words->at += count;
}

static int allocated(void *memory, Words *words) {
    if (memory == NULL) words->wrong = 1;
    return memory != NULL;
}

/* Where tables stand in the loops: places behind the others. */
static void place_tables(Nest *nest) {
    int first = 1 + nest->reads + nest->guards;
    nest->places = first + nest->tables;
    for (int t = 0; t < nest->tables; t++) {
        const Table *table = &nest->table[t];
        Count step = 1;
        nest->base[first + t] = nest->table_words;
        for (int i = table->letters - 1; i >= 0; i--) {
            nest->move[table->loop[i]][first + t] = step;
            step *= nest->length[table->loop[i]];
        }
        nest->table_words += table->size;
    }
    for (int p = 0; p < first; p++)
        for (int i = 0; i < nest->place[p].tables; i++)
            if (nest->loops && nest->move[nest->loops - 1][first + nest->place[p].table[i]])
                nest->place[p].inner = 1;
}

/* Whether a place without tables stays inside its array in all turns. */
static int stays_inside(const Nest *nest, int at, const Count *turns, Count size) {
    Count low = nest->base[at], high = low;
    for (int i = 0; i < nest->loops + nest->turns; i++) {
        Count length = i < nest->loops ? nest->length[i] : turns[i - nest->loops];
        Count reach = nest->move[i][at] * (length - 1);
        if (reach < 0)
            low += reach;
        else
            high += reach;
    }
    return nest->place[at].tables == 0 && low >= 0 && high < size;
}

static void read_program(Words *words, Nest *nest, const RgPlan *plan) {
    nest->rooms = next_count(words, 1 << 12);
    nest->numbers = plan->numbers + next(words);
    nest->instructions = next_count(words, 1 << 14);
    nest->program = calloc((size_t)nest->instructions + 1, sizeof(Instruction));
    if (!allocated(nest->program, words)) return;
    for (int i = 0; i < nest->instructions; i++) {
        Instruction *it = &nest->program[i];
        it->op = (uint16_t)next_id(words, RG_OP_COUNT);
        it->room = (uint16_t)next_id(words, nest->rooms);
        it->count = (uint16_t)next_count(words, 3);
        for (int j = 0; j < it->count; j++) {
            it->operand[j].kind = (uint16_t)next_id(words, NUMBER + 1);
            it->operand[j].number = (uint16_t)next_id(words, 1 << 16);
        }
    }
    nest->result_kind = next_id(words, NUMBER + 1);
    nest->result = next_id(words, 1 << 16);
}

/* Whether a nest moves numbers in blocks: no guard asks about both of the last two loops. */
static int is_block(const Nest *nest) {
    int inner = nest->loops - 1;
    if (nest->loops < 2 || nest->instructions || nest->result_kind != REF || nest->tables) return 0;
    if (nest->mode != SET && nest->mode != ADD) return 0;
    for (int p = 1 + nest->reads; p <= nest->reads + nest->guards; p++)
        if (nest->place[p].array != AT_MOST || (nest->move[inner][p] && nest->move[inner - 1][p]))
            return 0;
    return 1;
}

static Nest *read_nest(Words *words, RgPlan *plan, const Way *way) {
    Nest *nest = calloc(1, sizeof(Nest));
    if (!allocated(nest, words)) return NULL;
    nest->mode = next_id(words, RUN_MULTIPLY + 1);
    nest->loops = next_count(words, MOST_LOOPS);
    nest->turns = way->turns;
    for (int i = 0; i < nest->loops; i++) nest->length[i] = (Count)next(words);
    nest->tables = next_count(words, MOST_PLACES / 4);
    nest->move = calloc((size_t)(nest->loops + nest->turns) + 1, sizeof *nest->move);
    nest->table = calloc((size_t)nest->tables + 1, sizeof(Table));
    if (!allocated(nest->move, words) || !allocated(nest->table, words)) return nest;
    for (int i = 0; i < nest->tables; i++) read_table(words, nest, &nest->table[i]);
    int arrays = plan->arrays + plan->scratch + 1;
    nest->place[0].array = next_id(words, arrays);
    read_place(words, nest, 0);
    nest->reads = next_count(words, MOST_PLACES / 2);
    for (int i = 1; i <= nest->reads && !words->wrong; i++) {
        nest->place[i].array = next_id(words, arrays);
        read_place(words, nest, i);
    }
    nest->guards = next_count(words, MOST_PLACES / 4 - 1);
    for (int i = 1 + nest->reads; i <= nest->reads + nest->guards && !words->wrong; i++) {
        nest->place[i].array = next_id(words, DIFFERS + 1);
        read_place(words, nest, i);
    }
    if (words->wrong) return nest;
    place_tables(nest);
    for (int i = 0; i <= nest->reads; i++)
        nest->place[i].safe =
            stays_inside(nest, i, way->length, plan->array_size[nest->place[i].array]);
    read_program(words, nest, plan);
    nest->moves_block = is_block(nest);
    for (int p = 1 + nest->reads; p <= nest->reads + nest->guards; p++)
        for (int t = 0; t < nest->turns; t++)
            nest->depends_on_turn |= nest->move[nest->loops + t][p] != 0;
    if (nest->table_words > plan->table_words) plan->table_words = nest->table_words;
    if (nest->rooms + nest->reads + 1 > plan->rooms) plan->rooms = nest->rooms + nest->reads + 1;
    return nest;
}

/* Whether a matrix of a product stays inside its array in all turns. */
static int matrix_inside(const Product *product, int which, const Way *way, const RgPlan *plan) {
    static const int sides[3][2] = {{0, 2}, {2, 1}, {0, 1}}; /* of sizes: m, n, k */
    Count row = product->matrix[which].row * (product->size[sides[which][0]] - 1);
    Count column = product->matrix[which].column * (product->size[sides[which][1]] - 1);
    Count low = product->matrix[which].base, high = low;
    for (int i = -2; i < product->loops + product->turns; i++) {
        Count length = i < 0                ? 0
                       : i < product->loops ? product->length[i]
                                            : way->length[i - product->loops];
        Count reach = i == -2   ? row
                      : i == -1 ? column
                                : product->matrix[which].move[i] * (length - 1);
        if (reach < 0)
            low += reach;
        else
            high += reach;
    }
    return low >= 0 && high < plan->array_size[product->matrix[which].array];
}

static Product *read_product(Words *words, const RgPlan *plan, const Way *way) {
    Product *product = calloc(1, sizeof(Product));
    if (!allocated(product, words)) return NULL;
    product->mode = next_id(words, ADD + 1);
    for (int i = 0; i < 3; i++) product->size[i] = (Count)next(words);
    product->loops = next_count(words, MOST_LOOPS);
    product->turns = way->turns;
    for (int i = 0; i < product->loops; i++) product->length[i] = (Count)next(words);
    for (int i = 0; i < 3; i++) {
        product->matrix[i].array = next_id(words, plan->arrays + plan->scratch + 1);
        product->matrix[i].row = (Count)next(words);
        product->matrix[i].column = (Count)next(words);
        product->matrix[i].base = (Count)next(words);
        for (int j = 0; j < product->loops + product->turns; j++)
            product->matrix[i].move[j] = (Count)next(words);
        if (!words->wrong && !matrix_inside(product, i, way, plan)) words->wrong = 1;
    }
    return product;
}

static void read_way(Words *words, RgPlan *plan, Way *way) {
    way->finite = next_count(words, 4);
    for (int i = 0; i < way->finite; i++) way->must_be_finite[i] = next_id(words, plan->arrays + 1);
    way->turns = next_count(words, MOST_LOOPS);
    for (int i = 0; i < way->turns; i++) way->length[i] = (Count)next(words);
    int count = next_count(words, 16);
    way->step = calloc((size_t)count + 1, sizeof(Step));
    if (!allocated(way->step, words)) return;
    for (; way->steps < count && !words->wrong; way->steps++) {
        Step *step = &way->step[way->steps];
        step->kind = next_id(words, PRODUCT + 1);
        if (step->kind == NEST)
            step->nest = read_nest(words, plan, way);
        else
            step->product = read_product(words, plan, way);
    }
}

static void read_sizes(Words *words, RgPlan *plan) {
    plan->size = (Count)next(words);
    plan->start = next_id(words, ONES + 1);
    plan->arrays = next_count(words, 1 << 16);
    const int64_t *sizes = words->at;
    for (int i = 0; i < plan->arrays; i++) next(words);
    plan->wholes = next_count(words, 1 << 10);
    plan->whole_size = calloc((size_t)plan->wholes + 1, sizeof(Count));
    if (!allocated(plan->whole_size, words)) return;
    for (int i = 0; i < plan->wholes; i++) plan->whole_size[i] = (Count)next(words);
    plan->scratch = next_count(words, 1 << 16);
    size_t count = (size_t)(plan->arrays + plan->scratch) + 1;
    plan->array_size = calloc(count, sizeof(Count));
    plan->begins_as_zeros = calloc((size_t)plan->scratch + 1, sizeof(int));
    if (!allocated(plan->array_size, words) || !allocated(plan->begins_as_zeros, words)) return;
    plan->array_size[0] = plan->size;
    for (int i = 0; i < plan->arrays && !words->wrong; i++)
        plan->array_size[1 + i] = (Count)sizes[i];
    for (int i = 0; i < plan->scratch; i++) {
        Count size = (Count)next(words);
        plan->array_size[1 + plan->arrays + i] = size;
        plan->begins_as_zeros[i] = (int)next(words);
        plan->scratch_size += size;
    }
}

RgPlan *rg_plan_read(const int64_t *words, size_t count, const double *numbers,
                     size_t number_count) {
    RgPlan *plan = calloc(1, sizeof(RgPlan));
    if (plan == NULL) return NULL;
    plan->words = malloc((count + 1) * sizeof(int64_t));
    plan->numbers = malloc((number_count + 1) * sizeof(double));
    if (plan->words == NULL || plan->numbers == NULL) {
        rg_plan_free(plan);
        return NULL;
    }
    plan->word_count = count;
    memcpy(plan->words, words, count * sizeof(int64_t));
    memcpy(plan->numbers, numbers, number_count * sizeof(double));
    Words reading = {plan->words, plan->words + count, 0};
    read_sizes(&reading, plan);
    int parts = next_count(&reading, 1 << 20);
    if (!reading.wrong) plan->part = calloc((size_t)parts + 1, sizeof(Part));
    for (; plan->part && plan->parts < parts && !reading.wrong; plan->parts++) {
        Part *part = &plan->part[plan->parts];
        int ways = next_count(&reading, 4);
        part->way = calloc((size_t)ways + 1, sizeof(Way));
        if (!allocated(part->way, &reading)) break;
        for (; part->ways < ways && !reading.wrong; part->ways++)
            read_way(&reading, plan, &part->way[part->ways]);
    }
    if (reading.wrong || plan->part == NULL) {
        rg_plan_free(plan);
        return NULL;
    }
    rg_plan_find_moves(plan);
    return plan;
}

static void free_step(Step *step) {
    if (step->kind == NEST && step->nest) {
        free(step->nest->move);
        free(step->nest->table);
        free(step->nest->program);
        free(step->nest);
    } else if (step->kind == PRODUCT) {
        free(step->product);
    }
}

void rg_plan_free(RgPlan *plan) {
    if (plan == NULL) return;
    for (int i = 0; plan->part && i <= plan->parts; i++) {
        Part *part = &plan->part[i];
        for (int j = 0; part->way && j <= part->ways; j++) {
            Way *way = &part->way[j];
            for (int k = 0; way->step && k < way->steps; k++) free_step(&way->step[k]);
            free(way->step);
        }
        free(part->way);
    }
    free(plan->part);
    free(plan->array_size);
    free(plan->whole_size);
    free(plan->begins_as_zeros);
    free(plan->words);
    free(plan->numbers);
    free(plan);
}

/* ---- running ------------------------------------------------------------------------------------- */

static int run_product(const Run *run, const Product *product, const Count *turn, RgHow how) {
    Count at[MOST_LOOPS] = {0}, offset[3];
    double *array[3];
    for (int i = 0; i < 3; i++) {
        offset[i] = product->matrix[i].base;
        for (int t = 0; t < product->turns; t++)
            offset[i] += turn[t] * product->matrix[i].move[product->loops + t];
        array[i] = run->array[product->matrix[i].array];
    }
    for (;;) {
        int failed = rg_product(
            product->size[0], product->size[1], product->size[2],
            (RgMatrix){array[0] + offset[0], product->matrix[0].row, product->matrix[0].column},
            (RgMatrix){array[1] + offset[1], product->matrix[1].row, product->matrix[1].column},
            array[2] + offset[2], product->matrix[2].row, how);
        if (failed) return failed;
        int loop = product->loops - 1;
        for (; loop >= 0; loop--) {
            int goes_on = ++at[loop] < product->length[loop];
            Count steps = goes_on ? 1 : 1 - product->length[loop];
            for (int i = 0; i < 3; i++) offset[i] += steps * product->matrix[i].move[loop];
            if (goes_on) break;
            at[loop] = 0;
        }
        if (loop < 0) return 0;
    }
}

static int all_finite(const double *x, Count size) {
    double zero = 0.0;
    for (Count i = 0; i < size; i++) zero += x[i] * 0.0;
    return zero == 0.0;
}

static const Way *way_of(const Run *run, const Part *part) {
    for (int i = 0; i < part->ways; i++) {
        const Way *way = &part->way[i];
        int fit = 1;
        for (int j = 0; fit && j < way->finite; j++) {
            int array = way->must_be_finite[j];
            fit = all_finite(run->array[array], run->plan->array_size[array]);
        }
        if (fit) return way;
    }
    return NULL;
}

static int run_way(const Run *run, const Way *way, RgHow how) {
    const RgPlan *plan = run->plan;
    Count turn[MOST_LOOPS] = {0};
    for (int first = 1;; first = 0) {
        for (int i = 0; i < way->steps; i++) {
            const Step *step = &way->step[i];
            int failed;
            if (step->kind == PRODUCT) {
                int adds = step->product->mode == ADD || how == RG_ADD;
                failed = run_product(run, step->product, turn, adds ? RG_ADD : RG_REPLACE);
            } else {
                int own = step->nest->place[0].array - plan->arrays - 1;
                if (own >= 0 && plan->begins_as_zeros[own] &&
                    (first || step->nest->depends_on_turn)) /* else the gaps are as they were */
                    memset(run->array[step->nest->place[0].array], 0,
                           (size_t)plan->array_size[step->nest->place[0].array] * sizeof(double));
                failed = rg_run_nest(run, step->nest, turn);
            }
            if (failed) return failed;
        }
        int loop = way->turns - 1;
        for (; loop >= 0; loop--) {
            if (++turn[loop] < way->length[loop]) break;
            turn[loop] = 0;
        }
        if (loop < 0) return 0;
    }
}

/* Whether a plan is one product that may be added to what is there. */
static int is_product(const RgPlan *plan) {
    return plan->parts == 1 && plan->start == NOTHING && plan->part[0].ways == 1 &&
           plan->part[0].way[0].steps == 1 && plan->part[0].way[0].step[0].kind == PRODUCT;
}

static void begin(double *out, Count size, int start) {
    if (start == ZEROS) memset(out, 0, (size_t)size * sizeof(double));
    for (Count i = 0; start == ONES && i < size; i++) out[i] = 1.0;
}

int rg_plan_run(const RgPlan *plan, double *out, const double *const *arrays,
                const int64_t *const *wholes, RgHow how) {
    if (plan->moves.known) {
        int moved = rg_move_rows(plan, out, arrays, wholes, how);
        if (moved <= 0) return moved;
    }
    int apart = how == RG_ADD && !is_product(plan);
    size_t pointers = (size_t)(plan->arrays + plan->scratch) + 1;
    Count numbers = plan->rooms * STRIP + plan->scratch_size + (apart ? plan->size : 0);
    size_t bytes = pointers * sizeof(double *) + (size_t)plan->table_words * sizeof(int64_t) +
                   (size_t)numbers * sizeof(double);
    enum { LITTLE = 4096 };
    _Alignas(16) char near[LITTLE];
    char *memory = bytes <= LITTLE ? near : malloc(bytes);
    if (memory == NULL) return RG_NO_MEMORY;
    Run run = {plan, (double **)memory, wholes, NULL, NULL};
    run.tables = (int64_t *)(run.array + pointers);
    run.rooms = (double *)(run.tables + plan->table_words);
    double *free_room = run.rooms + plan->rooms * STRIP;
    for (int i = 0; i < plan->arrays; i++) run.array[1 + i] = (double *)(uintptr_t)arrays[i];
    for (int i = 1 + plan->arrays; i < (int)pointers; i++) {
        run.array[i] = free_room;
        free_room += plan->array_size[i];
    }
    run.array[0] = apart ? free_room : out;
    begin(run.array[0], plan->size, plan->start);
    int failed = 0;
    for (int i = 0; !failed && i < plan->parts; i++) {
        const Way *way = way_of(&run, &plan->part[i]);
        failed = way ? run_way(&run, way, apart ? RG_REPLACE : how) : RG_OUT_OF_RANGE;
    }
    if (apart && !failed) {
        const double *in[3] = {out, run.array[0], NULL};
        rg_arrays->forward[RG_OP_add](plan->size, out, in, (const Count[3]){1, 1, 0});
    }
    if (memory != near) free(memory);
    return failed;
}
