/* The limit for `black_scholes` on a GPU: the price of a call and its five sensitivities, adjoint by
 * hand, a thread a row; columns one after another. */
__global__ void k(const double *x, double *g, long N) {
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i >= N) return;
    double S = x[i], K = x[N + i], r = x[2 * N + i], s = x[3 * N + i], t = x[4 * N + i];
    double q = sqrt(t), dev = s * q, d1 = (log(S / K) + (r + 0.5 * s * s) * t) / dev, d2 = d1 - dev,
           n1 = normcdf(d1), n2 = normcdf(d2), df = exp(-r * t);
    double ph = 0.3989422804014327 * exp(-0.5 * d1 * d1), owed = K * df * n2, v = S * ph;
    g[i] = S * n1 - owed;
    g[N + i] = n1;
    g[2 * N + i] = -df * n2;
    g[3 * N + i] = t * owed;
    g[4 * N + i] = v * q;
    g[5 * N + i] = 0.5 * v * s / q + r * owed;
}

/* How long a launch takes in milliseconds: the least of some. Everything is on the device. */
extern "C" float limit(const double *x, double *g, long N, int times) {
    cudaEvent_t a, b;
    cudaEventCreate(&a);
    cudaEventCreate(&b);
    float best = 1e9;
    for (int r = 0; r < times; r++) {
        cudaEventRecord(a);
        k<<<(N + 127) / 128, 128>>>(x, g, N);
        cudaEventRecord(b);
        cudaEventSynchronize(b);
        float ms;
        cudaEventElapsedTime(&ms, a, b);
        if (ms < best) best = ms;
    }
    return cudaGetLastError() == cudaSuccess ? best : -1.0f;
}
