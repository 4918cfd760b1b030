/* The kernels of sums for the CPU: one thread after another. */
void rg_launch_sums(int64_t rows, const double *from, int64_t apart, int64_t columns,
                    double *lanes, double *sums) {
    int64_t count = (rows + 1023) / 1024 * columns;
    blockDim.x = 1, threadIdx.x = 0;
    for (blockIdx.x = 0; blockIdx.x < 8 * count; blockIdx.x++)
        rg_lanes(rows, from, apart, columns, lanes);
    for (blockIdx.x = 0; blockIdx.x < count; blockIdx.x++) rg_trees(count, lanes, sums);
}
