/* Parts of vectors: the first few lanes of one, where an array ends. The other lanes are zeros, or those
 * of `others`. */
#ifndef RG_PARTS_H
#define RG_PARTS_H

#include <stddef.h>

#include "simd.h"

typedef ptrdiff_t Count;

enum { LANES = RG_LANES };

#if RG_LANES == 8
typedef __mmask8 Part;
SIMD Part part_of(Count n) { return (Part)((1u << n) - 1); }
SIMD vd load_part(const double *p, Part part) { return _mm512_maskz_loadu_pd(part, p); }
SIMD vd load_part_of(vd others, const double *p, Part part) {
    return _mm512_mask_loadu_pd(others, part, p);
}
SIMD void store_part(double *p, Part part, vd x) { _mm512_mask_storeu_pd(p, part, x); }
#elif RG_LANES == 4
typedef struct {
    __m256i mask;
    int count;
} Part;
static const int64_t ones_then_zeros[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
SIMD Part part_of(Count n) {
    return (Part){_mm256_loadu_si256((const __m256i *)(ones_then_zeros + 4 - n)), (int)n};
}
SIMD vd load_part(const double *p, Part part) { return _mm256_maskload_pd(p, part.mask); }
SIMD vd load_part_of(vd others, const double *p, Part part) {
    return _mm256_blendv_pd(others, load_part(p, part), _mm256_castsi256_pd(part.mask));
}
/* Stores under a mask are slow on many processors. */
SIMD void store_part(double *p, Part part, vd x) {
    __m128d low = _mm256_castpd256_pd128(x);
    if (part.count >= 4) {
        v_store(p, x);
    } else if (part.count >= 2) {
        _mm_storeu_pd(p, low);
        if (part.count == 3) _mm_store_sd(p + 2, _mm256_extractf128_pd(x, 1));
    } else if (part.count) {
        _mm_store_sd(p, low);
    }
}
#elif RG_LANES == 2
typedef int Part;
SIMD Part part_of(Count n) { return (int)n; }
SIMD vd load_part(const double *p, Part part) {
    vd zeros = v_set(0.0);
    return part == 2 ? v_load(p) : part ? vld1q_lane_f64(p, zeros, 0) : zeros;
}
SIMD vd load_part_of(vd others, const double *p, Part part) {
    return part == 2 ? v_load(p) : part ? vld1q_lane_f64(p, others, 0) : others;
}
SIMD void store_part(double *p, Part part, vd x) {
    if (part == 2)
        v_store(p, x);
    else if (part)
        vst1q_lane_f64(p, x, 0);
}
#else
typedef int Part;
SIMD Part part_of(Count n) { return (int)n; }
SIMD vd load_part(const double *p, Part part) { return part ? *p : 0.0; }
SIMD vd load_part_of(vd others, const double *p, Part part) { return part ? *p : others; }
SIMD void store_part(double *p, Part part, vd x) {
    if (part) *p = x;
}
#endif

#endif
