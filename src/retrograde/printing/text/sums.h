/* Sums over rows: lane l of eight adds up rows l, l + 8, … of a chunk of 1,024, a thread a lane; the
 * eight are added in a fixed tree, a thread a chunk and a column. */
RG_KERNEL rg_lanes(int64_t rows, const double *from, int64_t apart, int64_t columns,
                   double *lanes) {
    int64_t at = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    int64_t column = at / 8 % columns, chunk = at / 8 / columns;
    if (chunk * 1024 >= rows) return;
    int64_t last = chunk * 1024 + 1024 < rows ? chunk * 1024 + 1024 : rows;
    double sum = 0.0;
    for (int64_t row = chunk * 1024 + at % 8; row < last; row += 8)
        sum += from[column * apart + row];
    lanes[at] = sum;
}

RG_KERNEL rg_trees(int64_t count, const double *lanes, double *sums) {
    int64_t at = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (at >= count) return;
    const double *s = lanes + 8 * at;
    sums[at] = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}
