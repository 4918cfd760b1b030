/* Rows, columns and the steps that are no kernels, for one thread. */
#define RG_NONE 0x1p40
#define RG_BAD -1.0

typedef struct {
    char *base;
    int64_t stride;
} rg_column;

typedef struct {
    const char *base;
    int64_t down, across;
} rg_array;

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

#define X(c, j) (*(const double *)(in[c].base + row * in[c].stride))
#define XS(a, i, j)                                                                                \
    (*(const double *)(arrays[a].base + row * arrays[a].down + (i) * arrays[a].across))
#define M(f, i, j) m##f[i]
#define PUT(n, value, j) *(double *)(out[n].base + row * out[n].stride) = (value)
#define GUARD(n, holds, value, j) failed##j = rg_guard(failed##j, n, holds, value)
#define GUARD_BY(cell, value, j)                                                                   \
    if (cell) GUARD((cell) < 0 ? -1 - (cell) : (cell) - 1, (cell) > 0, value, j)
#define TAKE(e, count, index, j) e[rg_place(count, index, &failed##j)]
#define TAKE_ONCE(e, count, index, j) RG_U[e[rg_place(count, index, &failed##j)]]
#define U(i) RG_U[i]

/* Lane l of eight adds up rows l, l + 8, … of a chunk of 1,024; the eight are added in a fixed tree.
 * A thread a chunk and a column. */
RG_KERNEL rg_sums(int64_t rows, const double *from, int64_t apart, int columns, double *sums) {
    int64_t at = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    int64_t chunk = at / columns, column = at % columns;
    if (chunk * 1024 >= rows) return;
    double lanes[8] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    int64_t last = chunk * 1024 + 1024 < rows ? chunk * 1024 + 1024 : rows;
    for (int64_t row = chunk * 1024; row < last; row++)
        lanes[row % 8] += from[column * apart + row];
    sums[at] = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
               ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}
