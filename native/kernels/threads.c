/* Matrix products in threads. Each takes rows of the result, or columns: a number has the same bits
 * whoever makes it, as long as no part is a single row of a product that has several. */
#include "arrays.h"

typedef ptrdiff_t Count;

enum { MOST_THREADS = 16, GRAIN = 64 };
#define WORTH ((double)(1 << 21)) /* multiplications that a thread is worth */

static int most_threads = 1; /* Python says how many when it has loaded the module */

int rg_use_threads(int most) {
    int before = most_threads;
    most_threads = most < 1 ? 1 : most > MOST_THREADS ? MOST_THREADS : most;
    return before;
}

static int threads_for(Count m, Count n, Count k) {
    double work = (double)m * (double)n * (double)k;
    if (work < 2 * WORTH) return 1;
    double wanted = work / WORTH;
    return wanted < most_threads ? (int)wanted : most_threads;
}

typedef struct {
    Count m, n, k;
    RgMatrix a, b;
    double *c;
    Count stride;
    RgHow how;
    int failed;
} Part;

static void run_part(void *of) {
    Part *part = of;
    part->failed = rg_arrays->products->product(part->m, part->n, part->k, part->a, part->b,
                                                part->c, part->stride, part->how);
}

int rg_product(Count m, Count n, Count k, RgMatrix a, RgMatrix b, double *c, Count stride,
               RgHow how) {
    int threads = threads_for(m, n, k);
    Count length = m >= n ? m : n;
    Count each = (length / GRAIN + threads - 1) / threads * GRAIN;
    if (threads == 1 || each == 0 || each >= length)
        return rg_arrays->products->product(m, n, k, a, b, c, stride, how);
    Part parts[MOST_THREADS + 1];
    int count = 0;
    for (Count first = 0; first < length; count++) {
        Count some = length - first < each + GRAIN ? length - first : each;
        parts[count] = (Part){m, n, k, a, b, c, stride, how, 0};
        Part *part = &parts[count];
        if (m >= n) {
            part->m = some;
            part->a.at += first * a.row;
            part->c += first * stride;
        } else {
            part->n = some;
            part->b.at += first * b.column;
            part->c += first;
        }
        first += some;
    }
    RgThread started[MOST_THREADS + 1];
    int running[MOST_THREADS + 1];
    for (int i = 1; i < count; i++)
        running[i] = rg_thread_begin(&started[i], run_part, &parts[i]) == 0;
    run_part(&parts[0]);
    int failed = parts[0].failed;
    for (int i = 1; i < count; i++) {
        if (running[i])
            rg_thread_wait(started[i]);
        else
            run_part(&parts[i]);
        failed |= parts[i].failed;
    }
    return failed ? RG_NO_MEMORY : 0;
}

int rg_products(Count batch, Count m, Count n, Count k, RgMatrix a, Count a_step, RgMatrix b,
                Count b_step, double *c, Count stride, Count c_step, RgHow how) {
    if (threads_for(m, n, k) == 1)
        return rg_arrays->products->several(batch, m, n, k, a, a_step, b, b_step, c, stride, c_step,
                                            how)
                   ? RG_NO_MEMORY
                   : 0;
    for (Count i = 0; i < batch; i++, a.at += a_step, b.at += b_step, c += c_step) {
        int failed = rg_product(m, n, k, a, b, c, stride, how);
        if (failed) return failed;
    }
    return 0;
}
