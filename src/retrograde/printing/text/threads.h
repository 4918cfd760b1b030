/* Rows, columns and the steps that are no kernels, for one thread. */
#define RG_NONE 0x1p40
#define RG_BAD -1.0

RG_DEVICE double v_first(vd x) { return x; }

RG_DEVICE vd rg_guard(vd failed, double number, int holds, vd x) {
    return (x != 0.0) != (holds != 0) && number < failed ? number : failed;
}

/* Which of some elements a row asks for; where there is none such it has gone wrong, unless it has
 * failed a guard before. */
RG_DEVICE int rg_place(int count, vd index, vd *failed) {
    int place = index >= 0.0 && index < count ? (int)index : -1;
    if (place >= 0 && (double)place == index) return place;
    if (*failed >= RG_NONE) *failed = RG_BAD;
    return 0;
}

RG_DEVICE void rg_clear(vd *sums, int count) {
    for (int i = 0; i < count; i++) sums[i] = 0.0;
}

RG_DEVICE void rg_scatter(vd *sums, int count, vd index, vd upstream) {
    if (index >= 0.0 && index < count) sums[(int)index] += upstream;
}

/* What becomes of a row: the first guard that it failed, -1 for none, -2 where an index was out of
 * range; `left` gets whether any row did either. */
RG_DEVICE void rg_done(vd failed, int64_t at, int32_t *numbers, int32_t *left) {
    if (!numbers) return;
    numbers[at] = failed >= RG_NONE ? -1 : failed < 0.0 ? -2 : (int32_t)failed;
    if (failed < RG_NONE) left[failed < 0.0] = 1;
}

/* `places` has an address and a stride in bytes for each column that is read and each output, and
 * for each array an address, how far apart rows are, and columns. RG_PACKED: all strides are 8. */
#if RG_PACKED
#define RG_AT(type, n) ((type)rg_places[2 * (n)] + row)
#else
#define RG_AT(type, n) ((type)(rg_places[2 * (n)] + row * rg_places[2 * (n) + 1]))
#endif
#define RG_ARRAY(a, part) rg_places[2 * (RG_IN + RG_OUT) + 3 * (a) + (part)]
#define X(c, j) RG_READ(RG_AT(const double *, c))
#define XS(a, i, j)                                                                                \
    RG_READ((const double *)(RG_ARRAY(a, 0) + row * RG_ARRAY(a, 1) + (i) * RG_ARRAY(a, 2)))
#define PUT(n, value, j) *RG_AT(double *, RG_IN + (n)) = (value)
#define M(f, i, j) L(m##f, i)
#define R(f, i) window[f][(i) & (RG_WINDOW - 1)][threadIdx.x]
#define GUARD(n, holds, value, j) failed##j = rg_guard(failed##j, n, holds, value)
#define GUARD_BY(cell, value, j)                                                                   \
    if (cell) GUARD((cell) < 0 ? -1 - (cell) : (cell) - 1, (cell) > 0, value, j)
#define TAKE(e, count, index, j) e[rg_place(count, index, &failed##j)]
#define TAKE_ONCE(e, count, index, j) RG_U[e[rg_place(count, index, &failed##j)]]
#define U(i) RG_U[i]
