/* Whole numbers that rows find by looking: where the largest stands, the order of numbers.
 *
 * NaN counts as the largest, as the smallest, and stands last in order; equals keep their order. */
#include <stdlib.h>
#include <string.h>

#include "arrays.h"

typedef ptrdiff_t Count;

/* Whether x comes before the best so far. */
static inline int wins(int by, double x, double best) {
    if (x != x) return best == best;
    return by == RG_ARGMAX ? x > best : x < best;
}

enum { WIDTH = 64, LONG = 4 * WIDTH };

/* A long line: first the best number, then where it stands. */
static int64_t best_of_long(int by, Count n, const double *x) {
    RgForward better = rg_arrays->forward[by == RG_ARGMAX ? RG_OP_maximum : RG_OP_minimum];
    double best[WIDTH];
    memcpy(best, x, sizeof best);
    for (Count i = WIDTH; i < n; i += WIDTH)
        better(n - i < WIDTH ? n - i : WIDTH, best, (const double *const[3]){best, x + i, NULL},
               (const Count[3]){1, 1, 0});
    for (Count i = 1; i < WIDTH; i++)
        if (wins(by, best[i], best[0])) best[0] = best[i];
    int64_t place = 0;
    if (best[0] != best[0])
        while (x[place] == x[place]) place++;
    else
        while (x[place] != best[0]) place++;
    return place;
}

/* One line of numbers that stand side by side. */
static int64_t best_of(int by, Count n, const double *x) {
    if (n >= LONG) return best_of_long(by, n, x);
    int64_t place = 0;
    double best = x[0];
    for (Count i = 1; i < n; i++)
        if (wins(by, x[i], best)) {
            best = x[i];
            place = i;
        }
    return place;
}

/* Among zeros, which have signs, and NaN it is the first that counts. */
void rg_largest(Count lines, Count n, const double *x, double *to) {
    rg_arrays->products->extremes(0, lines, n, x, to, 1);
    for (Count i = 0; i < lines; i++, x += n)
        if (to[i] == 0.0 || to[i] != to[i]) to[i] = x[best_of(RG_ARGMAX, n, x)];
}

/* Several lines at once, whose numbers lie `inner` apart. */
static void best_of_lines(int by, Count n, Count inner, const double *x, int64_t *out) {
    memset(out, 0, (size_t)inner * sizeof(int64_t));
    for (Count i = 1; i < n; i++)
        for (Count j = 0; j < inner; j++)
            if (wins(by, x[i * inner + j], x[out[j] * inner + j])) out[j] = i;
}

/* ---- sorting ------------------------------------------------------------------------------------ */

typedef struct {
    uint64_t key; /* in the order of the numbers */
    int64_t place;
} Item;

static uint64_t key_of(double x) {
    uint64_t bits;
    x += 0.0; /* zeros are equal */
    if (x != x) return UINT64_MAX;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

enum { RUN = 16 };

static void insert_sorted(Item *items, Count n) {
    for (Count i = 1; i < n; i++) {
        Item it = items[i];
        Count j = i;
        for (; j > 0 && items[j - 1].key > it.key; j--) items[j] = items[j - 1];
        items[j] = it;
    }
}

static void merge(const Item *left, Count n, const Item *right, Count m, Item *to) {
    const Item *left_end = left + n, *right_end = right + m;
    while (left < left_end && right < right_end)
        *to++ = right->key < left->key ? *right++ : *left++;
    memcpy(to, left, (size_t)(left_end - left) * sizeof(Item));
    memcpy(to + (left_end - left), right, (size_t)(right_end - right) * sizeof(Item));
}

/* Sorted runs, then merges from one half of the room into the other; the half that has them. */
static Item *sorted(Item *items, Item *other, Count n) {
    for (Count i = 0; i < n; i += RUN) insert_sorted(items + i, n - i < RUN ? n - i : RUN);
    for (Count width = RUN; width < n; width *= 2) {
        for (Count i = 0; i < n; i += 2 * width) {
            Count left = n - i < width ? n - i : width;
            Count right = n - i - left < width ? n - i - left : width;
            merge(items + i, left, items + i + left, right, other + i);
        }
        Item *done = other;
        other = items;
        items = done;
    }
    return items;
}

int rg_choose(int by, Count outer, Count n, Count inner, const double *x, int64_t *out) {
    if (by != RG_ARGSORT) {
        for (Count i = 0; i < outer; i++) {
            if (inner == 1)
                out[i] = best_of(by, n, x + i * n);
            else
                best_of_lines(by, n, inner, x + i * n * inner, out + i * inner);
        }
        return 0;
    }
    if (outer == 0 || n == 0 || inner == 0) return 0;
    Item *room = malloc((size_t)n * 2 * sizeof(Item));
    if (room == NULL) return RG_NO_MEMORY;
    for (Count i = 0; i < outer; i++)
        for (Count j = 0; j < inner; j++) {
            Count first = i * n * inner + j;
            for (Count k = 0; k < n; k++) room[k] = (Item){key_of(x[first + k * inner]), k};
            const Item *done = sorted(room, room + n, n);
            for (Count k = 0; k < n; k++) out[first + k * inner] = done[k].place;
        }
    free(room);
    return 0;
}
