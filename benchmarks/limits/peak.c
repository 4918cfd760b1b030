/* The limit of everything that multiplies and adds: so many fma and nothing else.
 *
 * As many chains as keep the processor busy, each in a register.
 */
#include "vector.h"

enum { CHAINS = 24 };

/* At least `count` multiply-adds; what comes back keeps the compiler from leaving them out. */
double limit_peak(size_t count) {
    vec sum[CHAINS];
    for (int i = 0; i < CHAINS; i++) sum[i] = splat((double)i);
    const vec x = splat(0.5), y = splat(1.0);
    for (size_t done = 0; done < count; done += CHAINS * LANES) {
#pragma GCC unroll 24
        for (int i = 0; i < CHAINS; i++) sum[i] = fma_(sum[i], x, y);
    }
    double all[CHAINS * LANES], total = 0.0;
    for (int i = 0; i < CHAINS; i++) store(all + i * LANES, sum[i]);
    for (int i = 0; i < CHAINS * LANES; i++) total += all[i];
    return total;
}
