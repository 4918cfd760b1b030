/* What a reader wants to know of an array of numbers that lies in memory, in one pass over it: the
 * arrays of another engine are read by their address, so nothing is linked against it.
 *
 * Sums run in interleaved lanes of the array's own precision, block by block into doubles; where
 * squares leave that range, the array is read once more in doubles. */
#include <math.h>
#include <string.h>

#include "retrograde.h"

enum { LANES = 8, BLOCK = 2048 };
enum { FLOAT32, BFLOAT16, FLOAT16, FLOAT64, KINDS };

static const double SMALL = 1e-30;

typedef struct {
    double sum, squares, low, high;
    int64_t zeros, nans, infs;
} Summary;

static inline float from_bfloat16(uint16_t half) {
    uint32_t bits = (uint32_t)half << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline float from_float16(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31, rest = half & 1023;
    float x;
    if (exponent == 0) {
        x = ldexpf((float)rest, -24);
        return sign ? -x : x;
    }
    uint32_t bits = sign | (exponent == 31 ? 0x7f800000u : (exponent + 112) << 23) | rest << 13;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline double number_at(const void *data, int kind, int64_t i) {
    if (kind == FLOAT32) return ((const float *)data)[i];
    if (kind == BFLOAT16) return from_bfloat16(((const uint16_t *)data)[i]);
    if (kind == FLOAT16) return from_float16(((const uint16_t *)data)[i]);
    return ((const double *)data)[i];
}

static inline void add_double(Summary *found, double x) {
    int finite = isfinite(x);
    found->nans += x != x, found->infs += !finite && x == x, found->zeros += x == 0.0;
    found->low = x < found->low ? x : found->low;
    found->high = x > found->high ? x : found->high;
    if (finite) found->sum += x, found->squares += x * x;
}

/* In doubles, one number after the other. */
static Summary in_doubles(const void *data, int kind, int64_t count) {
    Summary found = {.low = INFINITY, .high = -INFINITY};
    for (int64_t i = 0; i < count; i++) add_double(&found, number_at(data, kind, i));
    return found;
}

/* Eight lanes by the compiler's own vectors; a comparison gives -1 or 0 in each. */
typedef float Floats __attribute__((vector_size(4 * LANES)));
typedef int32_t Integers __attribute__((vector_size(4 * LANES)));
typedef uint16_t Halves __attribute__((vector_size(2 * LANES)));

typedef struct {
    Floats sum, squares, low, high;
    Integers zeros, odds, nans;
} Lanes;

static RG_ALWAYS_INLINE Floats choose(Integers which, Floats x, Floats y) {
    return (Floats)((which & (Integers)x) | (~which & (Integers)y));
}

static RG_ALWAYS_INLINE void add(Lanes *lanes, Floats x) {
    const Integers infinite = {0x7f800000, 0x7f800000, 0x7f800000, 0x7f800000,
                               0x7f800000, 0x7f800000, 0x7f800000, 0x7f800000};
    Integers odd = ((Integers)x & infinite) == infinite;
    Floats y = (Floats)(~odd & (Integers)x);
    lanes->sum += y;
    lanes->squares += y * y;
    lanes->low = choose(x < lanes->low, x, lanes->low);
    lanes->high = choose(x > lanes->high, x, lanes->high);
    lanes->zeros -= x == (Floats){0};
    lanes->odds -= odd;
    lanes->nans -= x != x;
}

static RG_ALWAYS_INLINE void pour(Lanes *lanes, Summary *into) {
    for (int k = 0; k < LANES; k++) {
        into->sum += lanes->sum[k], into->squares += lanes->squares[k];
        into->low = lanes->low[k] < into->low ? lanes->low[k] : into->low;
        into->high = lanes->high[k] > into->high ? lanes->high[k] : into->high;
        into->zeros += lanes->zeros[k], into->nans += lanes->nans[k];
        into->infs += lanes->odds[k] - lanes->nans[k];
    }
}

static RG_ALWAYS_INLINE Floats load_float32(const void *data, int64_t i) {
    Floats x;
    memcpy(&x, (const float *)data + i, sizeof x);
    return x;
}

static RG_ALWAYS_INLINE Floats load_bfloat16(const void *data, int64_t i) {
    Halves halves;
    memcpy(&halves, (const uint16_t *)data + i, sizeof halves);
    return (Floats)(__builtin_convertvector(halves, Integers) << 16);
}

#define IN_LANES(NAME, LOAD, KIND)                                                                 \
    static RG_ALWAYS_INLINE Summary NAME(const void *data, int64_t count) {                        \
        Summary found = {.low = INFINITY, .high = -INFINITY};                                      \
        int64_t whole = count - count % LANES;                                                     \
        for (int64_t begin = 0; begin < whole; begin += BLOCK) {                                   \
            Lanes one = {.low = (Floats){0} + INFINITY, .high = (Floats){0} - INFINITY},           \
                  two = one;                                                                       \
            int64_t end = begin + BLOCK < whole ? begin + BLOCK : whole, i = begin;                \
            for (; i + 2 * LANES <= end; i += 2 * LANES) {                                         \
                add(&one, LOAD(data, i));                                                          \
                add(&two, LOAD(data, i + LANES));                                                  \
            }                                                                                      \
            if (i < end) add(&one, LOAD(data, i));                                                 \
            pour(&one, &found);                                                                    \
            pour(&two, &found);                                                                    \
        }                                                                                          \
        for (int64_t i = whole; i < count; i++) add_double(&found, number_at(data, KIND, i));      \
        return found;                                                                              \
    }

IN_LANES(lanes_of_float32, load_float32, FLOAT32)
IN_LANES(lanes_of_bfloat16, load_bfloat16, BFLOAT16)

static Summary base_float32(const void *data, int64_t n) { return lanes_of_float32(data, n); }
static Summary base_bfloat16(const void *data, int64_t n) { return lanes_of_bfloat16(data, n); }

#if defined(__x86_64__)
__attribute__((target("avx2"))) static Summary wide_float32(const void *data, int64_t n) {
    return lanes_of_float32(data, n);
}
__attribute__((target("avx2"))) static Summary wide_bfloat16(const void *data, int64_t n) {
    return lanes_of_bfloat16(data, n);
}
static int is_wide(void) { return rg_x86_level() >= 3; }
#else
#define wide_float32 base_float32
#define wide_bfloat16 base_bfloat16
static int is_wide(void) { return 0; }
#endif

/* Whether squares of such numbers have kept within float32. */
static int is_safe(const Summary *found, int64_t count) {
    if (!isfinite(found->squares) || !isfinite(found->sum)) return 0;
    return found->squares >= SMALL || found->zeros + found->nans + found->infs == count;
}

static Summary summarise(const void *data, int kind, int64_t count) {
    int wide = is_wide();
    Summary found;
    if (kind == FLOAT32)
        found = wide ? wide_float32(data, count) : base_float32(data, count);
    else if (kind == BFLOAT16)
        found = wide ? wide_bfloat16(data, count) : base_bfloat16(data, count);
    else
        return in_doubles(data, kind, count);
    return is_safe(&found, count) ? found : in_doubles(data, kind, count);
}

static int64_t first_odd(const void *data, int kind, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(number_at(data, kind, i))) return i;
    return -1;
}

/* summarise(address, kind, count) -> (sum, squares, low, high, zeros, nans, infs, first odd). */
PyObject *rg_summarise(PyObject *Py_UNUSED(module), PyObject *args) {
    unsigned long long address;
    long long count;
    int kind;
    if (!PyArg_ParseTuple(args, "KiL:summarise", &address, &kind, &count)) return NULL;
    if (kind < 0 || kind >= KINDS || count < 0 || (count && !address)) {
        PyErr_SetString(PyExc_ValueError, "summarise takes an address, a kind of number, a count");
        return NULL;
    }
    const void *data = (const void *)(uintptr_t)address;
    Summary found;
    int64_t odd = -1;
    Py_BEGIN_ALLOW_THREADS found = summarise(data, kind, count);
    if (found.nans + found.infs) odd = first_odd(data, kind, count);
    Py_END_ALLOW_THREADS return Py_BuildValue(
        "(ddddLLLL)", found.sum, found.squares, found.low, found.high, (long long)found.zeros,
        (long long)found.nans, (long long)found.infs, (long long)odd);
}
