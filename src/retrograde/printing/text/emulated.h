/* Kernels as a library for the CPU: what a driver does, one thread after another in blocks of two. */
void *rg_symbol(int which) { return which ? (void *)rg_uniforms : (void *)rg_places; }

void rg_launch_once(const double *given, double *u) { rg_program_once(given, u); }

void rg_launch_rows(int64_t rows, int64_t first, const int64_t *index, double *tape, int64_t apart,
                    int32_t *failed, int32_t *left) {
    blockDim.x = 2;
    for (int64_t row = 0; row < rows; row++) {
        blockIdx.x = row / 2, threadIdx.x = row % 2;
        rg_program_rows(rows, first, index, tape, apart, failed, left);
    }
}
