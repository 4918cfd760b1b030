/* Matrices turned: columns that lie apart become rows that lie together, a square of vectors at a
 * time. Numbers are only moved. */
#ifndef RG_TURNS_H
#define RG_TURNS_H

#include "parts.h"

/* to[p, q] = from[q, p] for p and q below LANES; rows of `to` are `wide` apart, those of `from`
 * `column`. */
#if RG_LANES == 8
SIMD void turn_square(const double *from, Count column, double *to, Count wide) {
    vd pair[8];
    for (int i = 0; i < 8; i += 2) {
        vd x = v_load(from + i * column), y = v_load(from + (i + 1) * column);
        pair[i] = _mm512_unpacklo_pd(x, y);
        pair[i + 1] = _mm512_unpackhi_pd(x, y);
    }
    for (int h = 0; h < 2; h++) {
        vd even = _mm512_shuffle_f64x2(pair[h], pair[2 + h], 0x88),
           odd = _mm512_shuffle_f64x2(pair[h], pair[2 + h], 0xdd);
        vd even_too = _mm512_shuffle_f64x2(pair[4 + h], pair[6 + h], 0x88),
           odd_too = _mm512_shuffle_f64x2(pair[4 + h], pair[6 + h], 0xdd);
        v_store(to + h * wide, _mm512_shuffle_f64x2(even, even_too, 0x88));
        v_store(to + (4 + h) * wide, _mm512_shuffle_f64x2(even, even_too, 0xdd));
        v_store(to + (2 + h) * wide, _mm512_shuffle_f64x2(odd, odd_too, 0x88));
        v_store(to + (6 + h) * wide, _mm512_shuffle_f64x2(odd, odd_too, 0xdd));
    }
}
#elif RG_LANES == 4
SIMD void turn_square(const double *from, Count column, double *to, Count wide) {
    vd x = v_load(from), y = v_load(from + column), z = v_load(from + 2 * column),
       w = v_load(from + 3 * column);
    vd low = _mm256_unpacklo_pd(x, y), high = _mm256_unpackhi_pd(x, y),
       low_too = _mm256_unpacklo_pd(z, w), high_too = _mm256_unpackhi_pd(z, w);
    v_store(to, _mm256_permute2f128_pd(low, low_too, 0x20));
    v_store(to + wide, _mm256_permute2f128_pd(high, high_too, 0x20));
    v_store(to + 2 * wide, _mm256_permute2f128_pd(low, low_too, 0x31));
    v_store(to + 3 * wide, _mm256_permute2f128_pd(high, high_too, 0x31));
}
#elif RG_LANES == 2
SIMD void turn_square(const double *from, Count column, double *to, Count wide) {
    vd x = v_load(from), y = v_load(from + column);
    v_store(to, vzip1q_f64(x, y));
    v_store(to + wide, vzip2q_f64(x, y));
}
#else
SIMD void turn_square(const double *from, Count column, double *to, Count wide) {
    (void)column, (void)wide;
    *to = *from;
}
#endif

/* to[p, q] = from[p * row + q * column] for p below k, q below `width`, and zeros up to `wide`. */
static inline void turn(Count k, Count width, Count wide, const double *from, Count row,
                        Count column, double *to) {
    Count q = 0;
    for (; row == 1 && q + LANES <= width; q += LANES) {
        const double *f = from + q * column;
        Count p = 0;
        for (; p + LANES <= k; p += LANES) turn_square(f + p, column, to + p * wide + q, wide);
        for (; p < k; p++)
            for (int i = 0; i < LANES; i++) to[p * wide + q + i] = f[p + i * column];
    }
    for (; q + 4 <= width; q += 4) { /* down four columns at once: each is read in its own order */
        const double *f = from + q * column;
        double *t = to + q;
        for (Count p = 0; p < k; p++, f += row, t += wide) {
            t[0] = f[0];
            t[1] = f[column];
            t[2] = f[2 * column];
            t[3] = f[3 * column];
        }
    }
    for (; q < wide; q++)
        for (Count p = 0; p < k; p++)
            to[p * wide + q] = q < width ? from[p * row + q * column] : 0.0;
}

#endif
