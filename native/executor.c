/* The executor: runs a plan over the rows, tile by tile; each step over a tile, then the next.
 *
 * Nothing here knows about Python. Rows come in chunks of RG_CHUNK, so that a reduction has the same
 * bits whatever the tile and the number of threads: within a chunk lane l of eight adds up rows
 * l, l + 8, …; the eight are added in a fixed tree, and the chunks in their order. */
#include "replay.h"

#include <stdlib.h>
#include <string.h>

#define MOST_NESTED 16 /* loops in loops that are counted in: what is deeper counts once */

/* ---- code ---- */

static int kind_of(uint32_t place) {
    return place == RG_CARRY ? RG_CARRIED : place & RG_UNIFORM ? RG_IN_UNIFORM : RG_IN_SLOT;
}

static uint32_t offset_of(const RgRun *run, uint32_t place) {
    switch (kind_of(place)) {
        case RG_CARRIED: return 0;
        case RG_IN_UNIFORM: return (place & ~RG_UNIFORM) * (uint32_t)run->kernels->equal;
        default:
            return (uint32_t)(run->uniform_count * run->kernels->equal +
                              place * run->kernels->lanes);
    }
}

/* Where the parts of a compiled program's arena begin, in doubles; each at a cache line. */
static size_t room_at(const RgRun *run) { return (run->compiled->uniforms + 7) & ~(size_t)7; }
static size_t scratch_at(const RgRun *run) {
    return room_at(run) + ((run->compiled->room + run->compiled->given + 7) & ~(size_t)7);
}

static size_t doubles_for(size_t bytes) { return (bytes + sizeof(double) - 1) / sizeof(double); }

/* Where a thread's own steps are: behind all numbers. */
static size_t own_at(const RgRun *run) {
    return run->uniform_count * run->kernels->equal + run->slots * run->kernels->lanes;
}

static int has_loops(const RgStep *steps, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (steps[i].op == RG_DO_AGAIN) return 1;
    return 0;
}

/* The doubles that a thread's own steps take, with their extras. */
static size_t own_size(const RgRun *run) {
    size_t once = rg_once_bytes(run), extras = run->counts.extras * sizeof(uint32_t);
    size_t tile = run->counts.loops ? (run->counts.steps + 1) * sizeof(RgCode) + extras : 0;
    return doubles_for(once > tile ? once : tile);
}

size_t rg_arena_size(const RgRun *run) {
    if (run->compiled) return scratch_at(run) + doubles_for(run->compiled->scratch);
    return own_at(run) + own_size(run);
}

/* How many of a step's fields are operands: rows of the law and fma have them in place. */
static int operands_of(uint32_t op) {
    if (op < RG_OP_COUNT) return RG_OPS[op].arity;
    if (op == RG_DO_FMA) return 3;
    int hands_out = op == RG_DO_STORE || op == RG_DO_REDUCE || op == RG_DO_GUARD;
    return hands_out || op == RG_DO_COPY ? 1 : 0;
}

/* What one place more is in numbers. */
static uint32_t width_of(const RgRun *run, uint32_t place) {
    size_t lanes = kind_of(place) == RG_IN_UNIFORM ? run->kernels->equal : run->kernels->lanes;
    return (uint32_t)lanes;
}

/* A move behind an AGAIN: what is added before the next round, and when all are done. */
static RgCode move_of(const RgRun *run, const RgStep *again, const RgStep *move,
                      const uint32_t *extras) {
    uint32_t by = move->x, field = move->count, far = move->out;
    if (field == RG_EXTRA) {
        by *= width_of(run, extras[move->out]) << 1;
    } else {
        const RgStep *step = again - move->out;
        const uint32_t places[4] = {0, step->x, step->y, step->z};
        if ((int)field <= operands_of(step->op)) by *= width_of(run, places[field]);
        far = (uint32_t)(move->out * sizeof(RgCode) - offsetof(RgCode, out) -
                         field * sizeof(uint32_t));
    }
    uint32_t back = 0 - by * (again->count - 1);
    return (RgCode){.x = by, .y = back, .out = far, .count = field};
}

static RgCode code_of(const RgRun *run, const RgStep *step) {
    if (step->op == RG_DO_AGAIN)
        return (RgCode){.handler = run->kernels->handler(step->op, NULL, 0),
                        .x = step->x,
                        .y = step->y,
                        .count = step->count};
    RgCode code = {.x = step->x, .y = step->y, .z = step->z, .count = step->count};
    uint32_t *fields[3] = {&code.x, &code.y, &code.z};
    for (int i = 0; i < operands_of(step->op); i++) {
        code.kind[i] = (uint8_t)kind_of(*fields[i]);
        *fields[i] = offset_of(run, *fields[i]);
    }
    code.goes = step->out == RG_CARRY ? RG_ON : RG_ON_AND_STORED;
    if ((step->op < RG_OP_COUNT || step->op == RG_DO_FMA) && step->count) code.goes = RG_STORED;
    code.out = offset_of(run, step->out);
    code.handler = run->kernels->handler(step->op, code.kind, code.goes);
    return code;
}

/* Whether a list of operands has a place in it. */
static int has(const uint32_t *list, uint32_t count, uint32_t place) {
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == place) return 1;
    return 0;
}

/* The step that four from here on, `apart` from each other, can be done as: dots or chains of one
 * length with the same rights, none of which needs what another of them yields. */
static uint32_t four_as(const RgStep *step, int apart, const uint32_t *extras) {
    for (int k = 0; k < 4; k++) {
        const RgStep *other = step + k * apart;
        if (other->op != step->op || other->count != step->count || other->y != step->y || other->z)
            return RG_DO_END;
        if (apart == 2 && (other[1].op != RG_DO_REDUCE || other[1].x != RG_CARRY)) return RG_DO_END;
        for (int j = 0; j < k; j++) {
            uint32_t out = step[j * apart].out;
            if (out != RG_CARRY && (has(extras + other->x, step->count, out) ||
                                    has(extras + step->y, step->count, out)))
                return RG_DO_END;
        }
    }
    if (apart == 2) return RG_DO_FOUR_REDUCED;
    return step->op == RG_DO_DOT ? RG_DO_FOUR_DOTS : RG_DO_FOUR_CHAINS;
}

/* Have several steps done by the handler of the first, where the level has one. */
static void group(RgRun *run, const RgStep *steps, size_t count, const uint32_t *extras) {
    for (size_t i = 0; i < count;) {
        uint32_t as = RG_DO_END;
        if (steps[i].op == RG_DO_CHAIN && i + 8 <= count) as = four_as(&steps[i], 2, extras);
        size_t length = as == RG_DO_END ? 4 : 8;
        if (length == 4 && (steps[i].op == RG_DO_CHAIN || steps[i].op == RG_DO_DOT) &&
            i + 4 <= count)
            as = four_as(&steps[i], 1, extras);
        const void *handler = as == RG_DO_END ? NULL : run->kernels->handler(as, NULL, 0);
        if (handler != NULL) run->code[i].handler = handler;
        i += handler != NULL ? length : 1;
    }
}

/* How many steps are done when loops go round. An AGAIN stands behind its steps, so the stack has
 * from the last step on what is done how often. */
size_t rg_done_steps(const RgStep *steps, size_t count) {
    size_t total = 0, depth = 0;
    struct {
        size_t begin, times;
    } around[MOST_NESTED + 1] = {{0, 1}};
    for (size_t i = count; i-- > 0;) {
        while (depth && i < around[depth].begin) depth--;
        if (steps[i].op == RG_DO_AGAIN && depth < MOST_NESTED) {
            size_t times = around[depth].times * steps[i].count;
            around[++depth].begin = i - steps[i].x;
            around[depth].times = times;
        }
        if (steps[i].op != RG_DO_MOVE) total += around[depth].times;
    }
    return total;
}

int rg_encode(RgRun *run, const RgStep *steps, size_t count, const uint32_t *extras, size_t more) {
    run->counts = (RgCounts){
        .steps = count,
        .extras = more,
        .done = rg_done_steps(steps, count) + rg_done_steps(run->once, run->once_count),
        .loops = has_loops(steps, count),
        .once_loops = has_loops(run->once, run->once_count),
    };
    if (rg_arena_size(run) >= RG_CARRY) return -1;
    run->code = malloc((count + 1) * sizeof(RgCode));
    run->extras = malloc((more + 1) * sizeof(uint32_t));
    if (run->code == NULL || run->extras == NULL) return -1;
    const RgStep *again = NULL;
    for (size_t i = 0; i < count; i++) {
        if (steps[i].op == RG_DO_AGAIN) again = &steps[i];
        run->code[i] = steps[i].op == RG_DO_MOVE ? move_of(run, again, &steps[i], extras)
                                                 : code_of(run, &steps[i]);
    }
    run->code[count] = code_of(run, &(RgStep){.op = RG_DO_END, .out = RG_CARRY});
    if (!run->counts.loops) group(run, steps, count, extras); /* places that move may meet */
    for (size_t i = 0; i < more; i++)
        run->extras[i] = rg_extra(offset_of(run, extras[i]), kind_of(extras[i]));
    return 0;
}

int rg_run_uniform(const RgRun *run, double *arena) {
    if (!run->compiled) return rg_run_once(run, arena, arena + own_at(run));
    double *given = arena + room_at(run);
    for (size_t i = 0; i < run->compiled->given; i++) given[i] = run->uniforms[run->given[i]];
    run->compiled->once(given, arena);
    return 0;
}

/* ---- rows ---- */

/* From here on a column of results, 4 MiB, would push everything else out of a core's caches. */
enum { STREAMED_ROWS = 1 << 19 };

/* The sums of a chunk: its lanes added in a fixed tree. */
static void add_lanes(const RgRun *run, size_t chunk, const double *sums) {
    double *added = run->sums + chunk * run->sum_count;
    for (size_t j = 0; j < run->sum_count; j++) {
        const double *s = sums + j * 8;
        added[j] = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
    }
}

static int run_compiled(const RgRun *run, size_t chunk, double *arena, double *sums) {
    size_t first = chunk * RG_CHUNK;
    size_t end = first + RG_CHUNK < run->rows ? first + RG_CHUNK : run->rows;
    memset(sums, 0, run->sum_count * 8 * sizeof(double));
    if (run->compiled->rows(arena, arena + scratch_at(run), arena + room_at(run), first, end,
                            run->index, run->columns, run->outputs, sums, run->failed) < 0)
        return -1;
    add_lanes(run, chunk, sums);
    return 0;
}

/* The code for a tile: where there are loops a copy of it, as no tile before has left it. */
static const RgCode *code_for(const RgRun *run, double *arena, RgTile *tile) {
    if (!run->counts.loops) return run->code;
    size_t steps = run->counts.steps + 1;
    RgCode *own = memcpy(arena + own_at(run), run->code, steps * sizeof(RgCode));
    tile->extras = memcpy(own + steps, run->extras, run->counts.extras * sizeof(uint32_t));
    return own;
}

int rg_run_chunk(const RgRun *run, size_t chunk, double *arena, double *sums) {
    if (run->compiled) return run_compiled(run, chunk, arena, sums);
    size_t first = chunk * RG_CHUNK, lanes = run->kernels->lanes;
    size_t end = first + RG_CHUNK < run->rows ? first + RG_CHUNK : run->rows;
    RgTile tile = {.index = run->index,
                   .extras = run->extras,
                   .inputs = run->inputs,
                   .outputs = run->outputs,
                   .sums = sums,
                   .failed = run->failed,
                   .streams = run->rows >= STREAMED_ROWS};
    memset(sums, 0, run->sum_count * run->kernels->equal * sizeof(double));
    for (; first < end; first += lanes) {
        tile.first = first;
        tile.rows = end - first < lanes ? end - first : lanes;
        run->kernels->run(code_for(run, arena, &tile), arena, &tile);
        if (tile.stop) return -1;
    }
#if defined(__x86_64__)
    if (tile.streams) __builtin_ia32_sfence(); /* before another thread may look */
#endif
    if (run->kernels->equal == 8) add_lanes(run, chunk, sums);
    if (run->kernels->equal == 1)
        memcpy(run->sums + chunk * run->sum_count, sums, run->sum_count * sizeof(double));
    return 0;
}
