/* For orientation: the same two programs in plain C, left to the compiler to vectorise.
 *
 * Compiled with -ffast-math, so that the compiler may call the vector functions of the C library
 * (within 4 ulps). The derivatives are by hand here too.
 */
#include <math.h>
#include <stddef.h>

enum { LANES = 32, MOST_STEPS = 1024 };

#define HALF_ROOT 0.70710678118654752440
#define ONE_OVER_SQRT_2PI 0.39894228040143267794

static void black_scholes(size_t rows, const double *restrict s, const double *restrict k,
                          const double *restrict r, const double *restrict sigma,
                          const double *restrict t, double *restrict value, double *restrict to_s,
                          double *restrict to_k, double *restrict to_r, double *restrict to_sigma,
                          double *restrict to_t) {
#pragma GCC ivdep
    for (size_t i = 0; i < rows; i++) {
        double root_t = sqrt(t[i]), deviation = sigma[i] * root_t;
        double d1 = (log(s[i] / k[i]) + r[i] * t[i]) / deviation + 0.5 * deviation;
        double n1 = 0.5 * erfc(-d1 * HALF_ROOT), n2 = 0.5 * erfc((deviation - d1) * HALF_ROOT);
        double strike = exp(-r[i] * t[i]) * n2, owed = k[i] * strike;
        double to_deviation = s[i] * exp(-0.5 * d1 * d1) * ONE_OVER_SQRT_2PI;
        value[i] = s[i] * n1 - owed;
        to_s[i] = n1;
        to_k[i] = -strike;
        to_r[i] = owed * t[i];
        to_sigma[i] = to_deviation * root_t;
        to_t[i] = 0.5 * to_deviation * sigma[i] / root_t + r[i] * owed;
    }
}

/* in: S, K, r, sigma, T; out: the value and its derivatives to these. */
void plain_black_scholes(size_t rows, const double *const in[5], double *const out[6]) {
    black_scholes(rows, in[0], in[1], in[2], in[3], in[4], out[0], out[1], out[2], out[3], out[4],
                  out[5]);
}

/* normals: one path after another; uniform: S0, K, r, sigma, T; at most MOST_STEPS steps, and a
 * whole number of times LANES paths. */
void plain_asian(size_t paths, size_t steps, const double *normals, const double uniform[5],
                 double *const out[6]) {
    static _Thread_local double price[MOST_STEPS + 1][LANES], factor[MOST_STEPS][LANES];
    const double spot = uniform[0], strike = uniform[1], r = uniform[2], sigma = uniform[3];
    const double t = uniform[4], n = (double)steps, dt = t / n, root_dt = sqrt(dt);
    const double drift = (r - 0.5 * sigma * sigma) * dt, volatility = sigma * root_dt;
    const double discount = exp(-r * t);
    for (size_t path = 0; path + LANES <= paths; path += LANES) {
        const double *z = normals + path * steps;
        double sum[LANES] = {0}, seed[LANES], to_price[LANES] = {0};
        double to_drift[LANES] = {0}, to_volatility[LANES] = {0};
        for (int i = 0; i < LANES; i++) price[0][i] = spot;
        for (size_t j = 0; j < steps; j++)
            for (int i = 0; i < LANES; i++) {
                factor[j][i] = exp(drift + volatility * z[i * steps + j]);
                price[j + 1][i] = price[j][i] * factor[j][i];
                sum[i] += price[j + 1][i];
            }
        for (int i = 0; i < LANES; i++) seed[i] = sum[i] / n >= strike ? discount / n : 0.0;
        for (size_t j = steps; j-- > 0;)
            for (int i = 0; i < LANES; i++) {
                to_price[i] += seed[i];
                double to_exponent = to_price[i] * price[j + 1][i];
                to_drift[i] += to_exponent;
                to_volatility[i] += to_exponent * z[i * steps + j];
                to_price[i] *= factor[j][i];
            }
        for (int i = 0; i < LANES; i++) {
            double value = seed[i] * (sum[i] - n * strike);
            out[0][path + i] = value;
            out[1][path + i] = to_price[i];
            out[2][path + i] = -seed[i] * n;
            out[3][path + i] = to_drift[i] * dt - t * value;
            out[4][path + i] = to_volatility[i] * root_dt - to_drift[i] * sigma * dt;
            out[5][path + i] =
                to_drift[i] * drift / t + to_volatility[i] * volatility / (2.0 * t) - r * value;
        }
    }
}
