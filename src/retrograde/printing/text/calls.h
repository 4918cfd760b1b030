/* Calls: every row to the trace that fits it, chunk by chunk. */

enum { RG_NO_MEMORY = -2 };

/* A route follows one program; rows that fail one of its guards turn to another route. */
typedef struct {
    int guard, route;
} rg_turning;

typedef struct {
    int program, first, last; /* its turnings */
} rg_route;

typedef struct {
    const rg_program *const *programs;
    const int *const *givens; /* what each is given: an argument, or -1 - n for parameter n */
    const int *given_counts;
    const int *const *sites; /* by guard: which text says where it is */
    const rg_route *routes;
    const rg_turning *turnings;
    int program_count, route_count, columns, outputs, most_given;
} rg_function;

typedef struct {
    double **u, *given, *room, *sums, *kept;
    vd *scratch;
    rg_column *in, *out;
    int32_t *failed, *route;
    int64_t *index;
} rg_work;

static void rg_release(rg_work *w, int programs) {
    for (int p = 0; w->u && p < programs; p++) free(w->u[p]);
    free(w->u), free(w->given), free(w->room), free(w->sums), free(w->kept), free(w->scratch);
    free(w->in), free(w->out), free(w->failed), free(w->route), free(w->index);
}

static int rg_reserve(rg_work *w, const rg_function *f, int sums) {
    size_t vectors = 1, room = 1, n = (size_t)f->program_count;
    w->u = calloc(n, sizeof(double *));
    for (int p = 0; w->u && p < f->program_count; p++) {
        const rg_program *each = f->programs[p];
        if (each->vectors > vectors) vectors = each->vectors;
        if (rg_room(each) > room) room = rg_room(each);
        w->u[p] = malloc(each->uniforms * sizeof(double));
        if (!w->u[p]) return -1;
    }
    w->given = malloc(((size_t)f->most_given + 1) * sizeof(double));
    w->room = malloc(room * sizeof(double));
    w->sums = malloc(((size_t)sums * 8 + 1) * sizeof(double));
    w->kept = malloc(((f->route_count > 1 ? (size_t)sums * RG_CHUNK : 0) + 1) * sizeof(double));
    w->scratch = aligned_alloc(64, (vectors * sizeof(vd) + 63) / 64 * 64);
    w->in = malloc(((size_t)f->columns + 1) * sizeof(rg_column));
    w->out = malloc(((size_t)f->outputs + 1) * sizeof(rg_column));
    w->failed = malloc(RG_CHUNK * sizeof(int32_t));
    w->route = malloc(RG_CHUNK * sizeof(int32_t));
    w->index = malloc(RG_CHUNK * sizeof(int64_t));
    return w->u && w->given && w->room && w->sums && w->kept && w->scratch && w->in && w->out &&
                   w->failed && w->route && w->index
               ? 0
               : -1;
}

/* The status of a row that fails a guard where no other route turns off. */
static int32_t rg_status(const rg_function *f, const rg_route *route, int guard) {
    return 1 + f->sites[route->program][guard];
}

/* Rows of a chunk along a route: they are done, or turn to a route further on. */
static void rg_follow(const rg_function *f, rg_work *w, int number, size_t rows, const int *sum,
                      int32_t *status) {
    const rg_route *route = &f->routes[number];
    const rg_program *p = f->programs[route->program];
    size_t mine = 0;
    for (size_t i = 0; i < rows; i++)
        if (w->route[i] == number) w->index[mine++] = (int64_t)i;
    if (!mine) return;
    const int64_t *index = mine == rows ? NULL : w->index;
    rg_rows(p, w->u[route->program], w->scratch, w->room, 0, mine, index, w->in, w->out, sum,
            w->sums, w->failed);
    for (size_t i = 0; i < mine; i++) {
        size_t row = (size_t)w->index[i];
        int guard = w->failed[i];
        w->route[row] = -1;
        status[row] = guard == -2 ? -1 : 0;
        if (guard < 0) continue;
        status[row] = rg_status(f, route, guard);
        for (int t = route->first; t < route->last; t++)
            if (f->turnings[t].guard == guard)
                w->route[row] = f->turnings[t].route, status[row] = 0;
    }
}

/* All rows of a call. `sum` has the number of the sum that an output is added to, or -1 where it is
 * stored. How many rows have no trace that fits them: their status says why and their results are
 * NaN, and so are all sums then. -1: out of memory. */
static int64_t rg_call(const rg_function *f, size_t rows, const double *arguments,
                       const double *parameters, const rg_column *in, const rg_column *out,
                       const int *sum, int sum_count, double *totals, int32_t *status) {
    rg_work w = {0};
    int64_t lost = 0;
    if (rg_reserve(&w, f, sum_count) < 0) {
        rg_release(&w, f->program_count);
        return -1;
    }
    for (int p = 0; p < f->program_count; p++) {
        for (int i = 0; i < f->given_counts[p]; i++) {
            int from = f->givens[p][i];
            w.given[i] = from < 0 ? parameters[-1 - from] : arguments[from];
        }
        f->programs[p]->once(w.given, w.u[p]);
    }
    for (int s = 0; s < sum_count; s++) totals[s] = 0.0;
    for (size_t first = 0; first < rows; first += RG_CHUNK) {
        size_t count = rows - first < RG_CHUNK ? rows - first : RG_CHUNK;
        int32_t found[RG_CHUNK];
        for (int c = 0; c < f->columns; c++)
            w.in[c] =
                (rg_column){in[c].base ? (char *)rg_at(in[c], NULL, first) : NULL, in[c].stride};
        int several = f->route_count > 1 && sum_count;
        for (int i = 0, s = 0, k = 0; i < f->outputs; i++) {
            int added = sum && sum[i] >= 0;
            if (added && several)
                w.out[k++] = (rg_column){(char *)(w.kept + sum[i] * RG_CHUNK), sizeof(double)};
            if (!added) {
                w.out[k++] = (rg_column){(char *)rg_at(out[s], NULL, first), out[s].stride};
                s++;
            }
        }
        for (size_t i = 0; i < count; i++) w.route[i] = 0;
        for (int s = 0; s < sum_count * 8; s++) w.sums[s] = 0.0;
        for (int r = 0; r < f->route_count; r++)
            rg_follow(f, &w, r, count, several ? NULL : sum, found);
        for (int s = 0; s < sum_count; s++) {
            if (several) rg_add_rows(w.sums + s * 8, w.kept + s * RG_CHUNK, 0, count);
            totals[s] += rg_added(w.sums + s * 8);
        }
        for (size_t i = 0; i < count; i++) {
            if (status) status[first + i] = found[i];
            if (!found[i]) continue;
            lost++;
            for (int c = 0, k = 0; c < f->outputs; c++) {
                if (sum && sum[c] >= 0) continue;
                double nan = RG_NAN;
                memcpy((char *)rg_at(out[k], NULL, first + i), &nan, sizeof nan);
                k++;
            }
        }
    }
    for (int s = 0; s < sum_count && lost; s++) totals[s] = RG_NAN;
    rg_release(&w, f->program_count);
    return lost;
}
