/* Whole arrays, whatever their strides, by the kernels of the level in use.
 *
 * Axes along which all operands go on evenly are one. Numbers that do not lie side by side are
 * copied strip by strip. */
#define RG_LISTS_ONLY
#include "arrays.h"

#include <stdlib.h>
#include <string.h>

#include "maps.gen.h"

typedef ptrdiff_t Count;

enum { STRIP = 256 };

/* ---- the level --------------------------------------------------------------------------------- */

static const RgArrays *table_for(const char *level) {
#if defined(RG_HAS_v4)
    int v3 = rg_x86_level() >= 3, v4 = rg_x86_level() >= 4;
    if (!strcmp(level, "v4") || (!*level && v4)) return v4 ? &rg_arrays_v4 : NULL;
    if (!strcmp(level, "v3") || (!*level && v3)) return v3 ? &rg_arrays_v3 : NULL;
#elif defined(RG_HAS_neon)
    if (!*level || !strcmp(level, "neon")) return &rg_arrays_neon;
#endif
    return !*level || !strcmp(level, "base") ? &rg_arrays_base : NULL;
}

const RgArrays *rg_arrays = &rg_arrays_base;

const RgArrays *rg_use_arrays(const char *level) {
    const RgArrays *found = table_for(level);
    if (found) rg_arrays = found;
    return found;
}

#define ARITY(NAME, MASK, SHORT) [RG_OP_##NAME] = (MASK & 4) ? 3 : (MASK & 2) ? 2 : 1,
static const uint8_t arity[RG_OP_COUNT] = {RG_FORWARD_MAPS(ARITY)};

#define READS(NAME, NUMBER, MASK, SHORT) [RG_OP_##NAME][NUMBER] = MASK,
const uint8_t rg_partial_reads[RG_OP_COUNT][3] = {RG_PARTIAL_MAPS(READS)};

/* ---- walking several arrays at once -------------------------------------------------------------- */

enum { MOST = RG_BACK + 1 }; /* operands of a partial, and where it goes */

/* Axes in order, each with the strides of all operands; those of length 1 are left out. */
typedef struct {
    int ndim, count;
    Count shape[RG_AXES], strides[RG_AXES][MOST];
    int same[RG_AXES]; /* a mark: only axes with equal marks may become one */
} Walk;

static void add_axis(Walk *walk, Count length, const Count *strides, int mark) {
    if (length == 1) return;
    int last = walk->ndim - 1;
    int joins = last >= 0 && walk->same[last] == mark;
    for (int i = 0; joins && i < walk->count; i++)
        joins = walk->strides[last][i] == strides[i] * length;
    if (!joins) walk->ndim = ++last + 1;
    walk->shape[last] = joins ? walk->shape[last] * length : length;
    walk->same[last] = mark;
    memcpy(walk->strides[last], strides, (size_t)walk->count * sizeof(Count));
}

/* Where the operands stand in turn of all axes but the last. */
typedef struct {
    Count at[RG_AXES];
    Count offset[MOST];
} Turn;

/* One turn on; 0 when all are done. */
static int next_turn(const Walk *walk, Turn *turn) {
    for (int axis = walk->ndim - 2; axis >= 0; axis--) {
        const Count *strides = walk->strides[axis];
        if (++turn->at[axis] < walk->shape[axis]) {
            for (int i = 0; i < walk->count; i++) turn->offset[i] += strides[i];
            return 1;
        }
        for (int i = 0; i < walk->count; i++)
            turn->offset[i] -= strides[i] * (walk->shape[axis] - 1);
        turn->at[axis] = 0;
    }
    return 0;
}

static int is_empty(int ndim, const Count *shape) {
    for (int axis = 0; axis < ndim; axis++)
        if (shape[axis] == 0) return 1;
    return 0;
}

/* The part of an operand that a strip reads: in place, or in `room` where its numbers lie apart. */
static const double *strip_of(const double *at, Count stride, Count n, double *room, Count *step) {
    *step = stride != 0;
    if (stride == 0 || stride == 1) return at;
    for (Count i = 0; i < n; i++) room[i] = at[i * stride];
    return room;
}

/* ---- forward ------------------------------------------------------------------------------------- */

/* Lines of n numbers each, laid side by side where they are not: of the last two axes. */
static void map_lines(RgForward kernel, int count, Count lines, Count n, double *out,
                      const double *const from[3], const Count *line, const Count *next) {
    double room[3][RG_TOGETHER + RG_BEHIND];
    Count some = RG_TOGETHER / n;
    for (Count first = 0; first < lines; first += some, out += some * n) {
        const double *at[3] = {NULL};
        Count step[3] = {0};
        if (some > lines - first) some = lines - first;
        for (int i = 0; i < count; i++) {
            at[i] = from[i] + first * line[i];
            step[i] = next[i];
            if (line[i] == n * next[i] && next[i] >= 0 && next[i] <= 1) continue;
            rg_arrays->lay(some, n, room[i], at[i], line[i], next[i]);
            at[i] = room[i];
            step[i] = 1;
        }
        kernel(some * n, out, at, step);
    }
}

void rg_map(int op, int ndim, const Count *shape, double *out, const RgView in[3]) {
    if (is_empty(ndim, shape)) return;
    int count = arity[op];
    Walk walk = {.count = count};
    for (int axis = 0; axis < ndim; axis++) {
        Count strides[MOST];
        for (int i = 0; i < count; i++) strides[i] = in[i].strides[axis];
        add_axis(&walk, shape[axis], strides, 0);
    }
    RgForward kernel = rg_arrays->forward[op];
    Turn turn = {0};
    Count n = walk.ndim ? walk.shape[walk.ndim - 1] : 1;
    const Count *inner = walk.ndim ? walk.strides[walk.ndim - 1] : (Count[MOST]){0};
    int apart = 0;
    for (int i = 0; i < count; i++) apart |= inner[i] != 0 && inner[i] != 1;
    Count lines = walk.ndim > 1 && n <= RG_SHORT ? walk.shape[walk.ndim - 2] : 1;
    if (lines > 1) walk.ndim--;
    do {
        const double *from[3] = {NULL};
        Count step[3] = {0};
        if (lines > 1) {
            for (int i = 0; i < count; i++) from[i] = in[i].at + turn.offset[i];
            map_lines(kernel, count, lines, n, out, from, walk.strides[walk.ndim - 1], inner);
        } else if (!apart) {
            for (int i = 0; i < count; i++) {
                from[i] = in[i].at + turn.offset[i];
                step[i] = inner[i];
            }
            kernel(n, out, from, step);
        } else {
            double room[3][STRIP];
            for (Count first = 0; first < n; first += STRIP) {
                Count some = n - first < STRIP ? n - first : STRIP;
                for (int i = 0; i < count; i++)
                    from[i] = strip_of(in[i].at + turn.offset[i] + first * inner[i], inner[i], some,
                                       room[i], &step[i]);
                kernel(some, out + first, from, step);
            }
        }
        out += lines * n;
    } while (next_turn(&walk, &turn));
}

/* Rows of one array into another; a block of columns at a time where rows lie apart, so that what a
 * cache line holds is used while it is there. */
static void pack_rows(Count rows, Count n, double *out, const double *from, Count row, Count step) {
    enum { BLOCK = 16 };
    if (step == 1) {
        for (Count i = 0; i < rows; i++)
            memcpy(out + i * n, from + i * row, (size_t)n * sizeof(double));
        return;
    }
    for (Count first = 0; first < n; first += BLOCK) {
        Count end = n - first < BLOCK ? n : first + BLOCK;
        for (Count i = 0; i < rows; i++)
            for (Count j = first; j < end; j++) out[i * n + j] = from[i * row + j * step];
    }
}

void rg_pack(int ndim, const Count *shape, double *out, RgView in) {
    if (is_empty(ndim, shape)) return;
    Walk walk = {.count = 1};
    for (int axis = 0; axis < ndim; axis++) add_axis(&walk, shape[axis], &in.strides[axis], 0);
    Count n = walk.ndim ? walk.shape[walk.ndim - 1] : 1;
    Count step = walk.ndim ? walk.strides[walk.ndim - 1][0] : 1;
    Count rows = 1, row = 0;
    if (walk.ndim > 1) { /* the last two axes together */
        rows = walk.shape[walk.ndim - 2];
        row = walk.strides[walk.ndim - 2][0];
        walk.ndim--;
    }
    Turn turn = {0};
    do {
        pack_rows(rows, n, out, in.at + turn.offset[0], row, step);
        out += rows * n;
    } while (next_turn(&walk, &turn));
}

/* ---- backward ------------------------------------------------------------------------------------ */

typedef struct {
    RgPartial kernel;
    RgHow how;
    const double *in[RG_BACK];
    const Count *inner; /* strides of the last axis, the target's behind them */
    int reads;
} Back;

static void strip_back(const Back *back, Count n, double *out, const Count *offset, Count first) {
    double room[RG_BACK][STRIP];
    const double *from[RG_BACK];
    Count step[RG_BACK] = {0};
    for (int i = 0; i < RG_BACK; i++)
        from[i] = back->reads >> i & 1 ? strip_of(back->in[i] + offset[i] + first * back->inner[i],
                                                  back->inner[i], n, room[i], &step[i])
                                       : NULL;
    back->kernel(n, out, from, step, back->how);
}

/* Along an axis that is kept. */
static void row_back(const Back *back, Count n, double *out, const Count *offset) {
    Count stride = back->inner[RG_BACK];
    int together = stride == 1;
    for (int i = 0; i < RG_BACK; i++)
        if (back->reads >> i & 1) together &= back->inner[i] == 0 || back->inner[i] == 1;
    if (together) {
        const double *from[RG_BACK];
        for (int i = 0; i < RG_BACK; i++)
            from[i] = back->reads >> i & 1 ? back->in[i] + offset[i] : NULL;
        back->kernel(n, out, from, back->inner, back->how);
        return;
    }
    for (Count first = 0; first < n; first += STRIP) {
        Count some = n - first < STRIP ? n - first : STRIP;
        double made[STRIP], *to = stride == 1 ? out + first : made;
        if (to == made && back->how == RG_ADD)
            for (Count i = 0; i < some; i++) made[i] = out[(first + i) * stride];
        strip_back(back, some, to, offset, first);
        if (to == made)
            for (Count i = 0; i < some; i++) out[(first + i) * stride] = made[i];
    }
}

/* Along an axis that is summed over: in the order of `sum`. */
static double total_back(const Back *back, Count n, const Count *offset) {
    double total = 0.0;
    for (Count chain = 0; chain < n; chain += RG_CHAIN) {
        double made[RG_CHAIN];
        Count end = n - chain < RG_CHAIN ? n : chain + RG_CHAIN;
        for (Count first = chain; first < end; first += STRIP)
            strip_back(back, end - first < STRIP ? end - first : STRIP, made + first - chain,
                       offset, first);
        double part = rg_arrays->products->sum(end - chain, made, 1);
        total = chain ? total + part : part;
    }
    return total;
}

/* Marks of the axes: those that are summed over, and those that are kept, side by side. */
static void axes_of(Walk *walk, int ndim, const Count *shape, RgTarget out, const RgView *in,
                    int reads) {
    walk->count = MOST;
    for (int axis = 0; axis < ndim; axis++) {
        Count strides[MOST] = {0};
        for (int i = 0; i < RG_BACK; i++)
            if (reads >> i & 1) strides[i] = in[i].strides[axis];
        strides[RG_BACK] = out.strides[axis];
        add_axis(walk, shape[axis], strides, out.strides[axis] == 0);
    }
}

static int summed_axes(const Walk *walk) {
    int count = 0;
    for (int axis = 0; axis < walk->ndim; axis++) count += walk->same[axis];
    return count;
}

/* How many axes there would be if all operands went on evenly: by the shape alone. */
static int fewest_axes(int ndim, const Count *shape, RgTarget out) {
    int count = 0, last = -1;
    for (int axis = 0; axis < ndim; axis++) {
        if (shape[axis] == 1) continue;
        int mark = out.strides[axis] == 0;
        count += mark != last;
        last = mark;
    }
    return count;
}

/* All places of the target, from nothing or from zeros. */
static void each_back(Back *back, const Walk *walk, double *out) {
    Turn turn = {0};
    int last = walk->ndim - 1;
    Count n = walk->ndim ? walk->shape[last] : 1;
    Count none[MOST] = {0, 0, 0, 0, 0, 1};
    back->inner = walk->ndim ? walk->strides[last] : none;
    int summed = walk->ndim && walk->same[last], often = summed_axes(walk) > summed;
    if (summed) back->how = RG_REPLACE; /* of the strips whose sum is added */
    do {
        double *to = out + turn.offset[RG_BACK];
        if (!summed)
            row_back(back, n, to, turn.offset);
        else
            *to = often ? *to + total_back(back, n, turn.offset) : total_back(back, n, turn.offset);
    } while (next_turn(walk, &turn));
}

static Count size_of(int ndim, const Count *shape) {
    Count size = 1;
    for (int axis = 0; axis < ndim; axis++) size *= shape[axis];
    return size;
}

/* The target as it is kept: its places, in order and without gaps. */
static Count kept_strides(int ndim, const Count *shape, RgTarget out, Count *strides) {
    Count size = 1;
    for (int axis = ndim - 1; axis >= 0; axis--) {
        int kept = out.strides[axis] != 0;
        strides[axis] = kept ? size : 0;
        if (kept) size *= shape[axis];
    }
    return size;
}

static void add_places(int ndim, const Count *shape, RgTarget out, const double *from,
                       const Count *strides, RgHow how) {
    Walk walk = {.count = 2};
    for (int axis = 0; axis < ndim; axis++)
        if (strides[axis] != 0)
            add_axis(&walk, shape[axis], (Count[2]){strides[axis], out.strides[axis]}, 0);
    Turn turn = {0};
    Count n = walk.ndim ? walk.shape[walk.ndim - 1] : 1;
    Count inner = walk.ndim ? walk.strides[walk.ndim - 1][1] : 1;
    Count own = walk.ndim ? walk.strides[walk.ndim - 1][0] : 1;
    do {
        double *to = out.at + turn.offset[1];
        const double *made = from + turn.offset[0];
        for (Count i = 0; i < n; i++)
            to[i * inner] = how == RG_ADD ? to[i * inner] + made[i * own] : made[i * own];
    } while (next_turn(&walk, &turn));
}

int rg_map_back(int op, int which, int ndim, const Count *shape, RgTarget out,
                const RgView in[RG_BACK], RgHow how) {
    int reads = rg_partial_reads[op][which] | 1 << RG_UPSTREAM_AT;
    Count strides[RG_AXES];
    Count places = kept_strides(ndim, shape, out, strides);
    if (places == 0) return 0;
    int empty = is_empty(ndim, shape);
    Walk walk = {0};
    axes_of(&walk, ndim, shape, out, in, reads);
    Back back = {rg_arrays->partial[op][which], how, {NULL}, NULL, reads};
    for (int i = 0; i < RG_BACK; i++) back.in[i] = reads >> i & 1 ? in[i].at : NULL;
    if (!empty && !summed_axes(&walk)) {
        each_back(&back, &walk, out.at);
        return 0;
    }
    /* Sums: the target is made without gaps and from zeros, then brought to its place. */
    Count size = size_of(ndim, shape);
    int even = empty || walk.ndim == fewest_axes(ndim, shape, out);
    double few[8], *made = few, *copies = NULL;
    if (places > 8) made = malloc((size_t)places * sizeof(double));
    if (!even) copies = malloc((size_t)size * RG_BACK * sizeof(double));
    int failed = made == NULL || (!even && copies == NULL) ? RG_NO_MEMORY : 0;
    if (!failed) {
        RgTarget target = {made, strides};
        RgView packed[RG_BACK];
        Count plain[RG_AXES];
        if (!even) {
            Count step = 1;
            for (int axis = ndim - 1; axis >= 0; axis--) {
                plain[axis] = step;
                step *= shape[axis];
            }
        }
        for (int i = 0; i < RG_BACK; i++) {
            packed[i] = in[i];
            if (even || !(reads >> i & 1)) continue;
            rg_pack(ndim, shape, copies + i * size, in[i]);
            packed[i] = (RgView){copies + i * size, plain};
            back.in[i] = packed[i].at;
        }
        walk = (Walk){0};
        axes_of(&walk, ndim, shape, target, packed, reads);
        memset(made, 0, (size_t)places * sizeof(double));
        back.how = RG_ADD;
        if (!empty) each_back(&back, &walk, made);
        add_places(ndim, shape, out, made, strides, how);
    }
    if (made != few) free(made);
    free(copies);
    return failed;
}

/* ---- sums ---------------------------------------------------------------------------------------- */

int rg_total(int ndim, const Count *shape, RgView x, double *out) {
    *out = 0.0;
    if (is_empty(ndim, shape)) return 0;
    Walk walk = {.count = 1};
    for (int axis = 0; axis < ndim; axis++) add_axis(&walk, shape[axis], &x.strides[axis], 0);
    if (walk.ndim <= 1) {
        Count n = walk.ndim ? walk.shape[0] : 1;
        *out = rg_arrays->products->sum(n, x.at, walk.ndim ? walk.strides[0][0] : 1);
        return 0;
    }
    Count size = size_of(ndim, shape);
    double *copy = malloc((size_t)size * sizeof(double));
    if (copy == NULL) return RG_NO_MEMORY;
    rg_pack(ndim, shape, copy, x);
    *out = rg_arrays->products->sum(size, copy, 1);
    free(copy);
    return 0;
}
