/* Matrices turned: columns that lie apart become rows that lie together, a square of vectors at a
 * time. Numbers are only moved. */
#ifndef RG_TURNS_H
#define RG_TURNS_H

#include "parts.h"

/* A square of vectors, turned where it stands. */
#if RG_LANES == 8
SIMD void turn_vectors(vd v[8]) {
    vd pair[8];
    for (int i = 0; i < 8; i += 2) {
        pair[i] = _mm512_unpacklo_pd(v[i], v[i + 1]);
        pair[i + 1] = _mm512_unpackhi_pd(v[i], v[i + 1]);
    }
    for (int h = 0; h < 2; h++) {
        vd even = _mm512_shuffle_f64x2(pair[h], pair[2 + h], 0x88),
           odd = _mm512_shuffle_f64x2(pair[h], pair[2 + h], 0xdd);
        vd even_too = _mm512_shuffle_f64x2(pair[4 + h], pair[6 + h], 0x88),
           odd_too = _mm512_shuffle_f64x2(pair[4 + h], pair[6 + h], 0xdd);
        v[h] = _mm512_shuffle_f64x2(even, even_too, 0x88);
        v[4 + h] = _mm512_shuffle_f64x2(even, even_too, 0xdd);
        v[2 + h] = _mm512_shuffle_f64x2(odd, odd_too, 0x88);
        v[6 + h] = _mm512_shuffle_f64x2(odd, odd_too, 0xdd);
    }
}
#elif RG_LANES == 4
SIMD void turn_vectors(vd v[4]) {
    vd low = _mm256_unpacklo_pd(v[0], v[1]), high = _mm256_unpackhi_pd(v[0], v[1]),
       low_too = _mm256_unpacklo_pd(v[2], v[3]), high_too = _mm256_unpackhi_pd(v[2], v[3]);
    v[0] = _mm256_permute2f128_pd(low, low_too, 0x20);
    v[1] = _mm256_permute2f128_pd(high, high_too, 0x20);
    v[2] = _mm256_permute2f128_pd(low, low_too, 0x31);
    v[3] = _mm256_permute2f128_pd(high, high_too, 0x31);
}
#elif RG_LANES == 2
SIMD void turn_vectors(vd v[2]) {
    vd first = vzip1q_f64(v[0], v[1]);
    v[1] = vzip2q_f64(v[0], v[1]);
    v[0] = first;
}
#else
SIMD void turn_vectors(vd v[1]) { (void)v; }
#endif

/* to[p, q] = from[q, p] for p and q below LANES; rows of `to` are `wide` apart, those of `from`
 * `column`. */
SIMD void turn_square(const double *from, Count column, double *to, Count wide) {
    vd v[LANES];
    for (int i = 0; i < LANES; i++) v[i] = v_load(from + i * column);
    turn_vectors(v);
    for (int i = 0; i < LANES; i++) v_store(to + i * wide, v[i]);
}

/* The same for p below `deep` and q below `across`, and zeros from there to LANES. */
SIMD void turn_corner(Count deep, Count across, const double *from, Count column, double *to,
                      Count wide) {
    vd v[LANES];
    Part part = part_of(deep);
    for (int i = 0; i < LANES; i++)
        v[i] = i < across ? load_part(from + i * column, part) : v_set(0.0);
    turn_vectors(v);
    for (int i = 0; i < LANES; i++)
        if (i < deep) v_store(to + i * wide, v[i]);
}

/* to[p, q] = from[p * row + q * column] for p below k, q below `width`, and zeros up to `wide`, a whole
 * number of vectors. */
static inline void turn(Count k, Count width, Count wide, const double *from, Count row,
                        Count column, double *to) {
    if (row == 1) {
        for (Count q = 0; q < wide; q += LANES) {
            const double *f = from + q * column;
            Count across = width - q < LANES ? width - q : LANES, p = 0;
            for (; across == LANES && p + LANES <= k; p += LANES)
                turn_square(f + p, column, to + p * wide + q, wide);
            for (; p < k; p += LANES)
                turn_corner(k - p < LANES ? k - p : LANES, across, f + p, column, to + p * wide + q,
                            wide);
        }
        return;
    }
    Count q = 0;
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
