/* What the library of one program exports: native/replay.h has the same. */
typedef struct {
    uint64_t version;
    size_t given, uniforms, room, scratch;
    void (*once)(const double *given, double *u);
    int (*rows)(const double *u, void *scratch, double *room, size_t first, size_t last,
                const int64_t *index, const rg_column *in, const rg_column *out, double *sums,
                int32_t *failed);
} rg_compiled;
