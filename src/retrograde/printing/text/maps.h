/* Maps of programs with shapes: the rows of one box over numbers that lie side by side.
 *
 * A tile is RG_ACROSS numbers of everything that a box reads and writes. What is left behind whole
 * tiles is done together with numbers before it, which are made once more. */
typedef ptrdiff_t rg_count;
typedef void (*rg_tiles)(rg_count n, double *const *at, const rg_count *step);

/* What the library of one plan exports: native/kernels/shaped.h has the same. */
typedef int (*rg_map_rows)(rg_count n, double *const *at, const rg_count *step);
typedef struct {
    uint64_t version, count;
    const rg_map_rows *rows;
} rg_maps;

enum { RG_ACROSS = RG_VECTORS * RG_LANES, RG_MOST = 36 };

/* Of an operand that may be one number for all: where it is read, and what moves it. */
#define FOLLOW(K)                                                                                  \
    const double *x##K = at[K];                                                                    \
    double all##K[RG_ACROSS];                                                                      \
    if (!step[K]) {                                                                                \
        for (int j = 0; j < RG_ACROSS; j++) all##K[j] = *x##K;                                     \
        x##K = all##K;                                                                             \
    }                                                                                              \
    rg_count move##K = -step[K];
#define READ(K, j) v_load(x##K + (i & move##K) + j * RG_LANES)
#define WRITE(K, j, x) v_store(at[K] + i + j * RG_LANES, x)

/* Whether there were numbers enough for a tile; the tiles of `total` arrays are gone through then. */
static int rg_map(rg_tiles tiles, int total, rg_count n, double *const *at, const rg_count *step) {
    if (n < RG_ACROSS) return 0;
    rg_count rest = n % RG_ACROSS;
    tiles(n - rest, at, step);
    if (rest) {
        double *moved[RG_MOST];
        for (int k = 0; k < total; k++) moved[k] = at[k] + (n - RG_ACROSS) * step[k];
        tiles(RG_ACROSS, moved, step);
    }
    return 1;
}
