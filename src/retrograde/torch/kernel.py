"""The kernel that looks at tensors on a GPU, as text: up to :data:`MANY` of them a launch.

Of each it makes a summary, copies a small sample, or counts the rows in which units are shut. It is
compiled by NVRTC at run time; the tests compile the same text as C, with ``RG_EMULATED`` and a
prelude that stands for the device.
"""

from __future__ import annotations

import struct
from typing import Final

MANY: Final = 16
"""The most tasks of one launch."""

THREADS: Final = 256
"""How many threads a block has."""

TASK: Final = struct.Struct("4Q3q8i")
"""One task: data, row, picture, counts; count, columns, inner; kind, op, units, down, across, row
step, column step, and nothing. An address that is 0 is not asked for."""

OPS: Final = {
    "relu": 1, "threshold": 1, "tanh": 2, "sigmoid": 3, "gelu": 4, "silu": 5, "softplus": 6,
    "elu": 7, "hardtanh": 8,
}  # fmt: skip
"""By op: how its units are told to be shut."""

SOURCE: Final = r"""
typedef unsigned long long u64;
typedef long long i64;
struct Task {
    const void *data;
    u64 *row;
    double *picture;
    u64 *counts;
    i64 count, columns, inner;
    int kind, op, units, down, across, row_step, column_step, unused;
};
struct Tasks { struct Task each[16]; };
struct Found {
    double sum, squares, low, high;
    u64 zeros, nans, infs, first;
};
union Bits { double number; u64 bits; };
union Short { float number; unsigned bits; };

#ifndef RG_EMULATED
#define DEVICE static __device__ __forceinline__
#define KERNEL extern "C" __global__ void __launch_bounds__(256)
#define SHARED __shared__
#define GRID __grid_constant__
#define WARP 32
DEVICE float half_number(unsigned short h) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h));
    return x;
}
DEVICE void add_number(double *to, double x) { atomicAdd(to, x); }
DEVICE void add_count(u64 *to, u64 n) { atomicAdd(to, n); }
DEVICE void raise_to(u64 *to, u64 n) { atomicMax(to, n); }
DEVICE double number_below(double x, int k) { return __shfl_down_sync(~0u, x, k); }
DEVICE u64 count_below(u64 n, int k) { return __shfl_down_sync(~0u, n, k); }
#endif

DEVICE float bfloat_number(unsigned h) {
    union Short x;
    x.bits = h << 16;
    return x.number;
}
DEVICE double number_at(const void *data, i64 i, int kind) {
    if (kind == 0) return ((const float *)data)[i];
    if (kind == 3) return ((const double *)data)[i];
    unsigned short h = ((const unsigned short *)data)[i];
    return kind == 1 ? bfloat_number(h) : half_number(h);
}
/* Numbers in an order that holds for their bits. */
DEVICE u64 ordered(double x) {
    union Bits b;
    b.number = x;
    return b.bits >> 63 ? ~b.bits : b.bits | 1ull << 63;
}
DEVICE void join(struct Found *f, const struct Found *other) {
    f->sum += other->sum, f->squares += other->squares;
    f->low = fmin(f->low, other->low), f->high = fmax(f->high, other->high);
    f->zeros += other->zeros, f->nans += other->nans, f->infs += other->infs;
    f->first = other->first > f->first ? other->first : f->first;
}
DEVICE void take_one(struct Found *f, double x, i64 at) {
    int nan = x != x, inf = fabs(x) > 1.7976931348623157e308;
    f->zeros += x == 0.0, f->nans += nan, f->infs += inf;
    if (nan || inf) {
        u64 place = ~0ull - (u64)at;
        f->first = place > f->first ? place : f->first;
    } else {
        f->sum += x, f->squares += x * x;
    }
    f->low = fmin(f->low, x), f->high = fmax(f->high, x);
}
/* Eight at a time, added up as they are; where that is not exact enough, one by one. */
DEVICE void take_eight(struct Found *f, const float *x, i64 at) {
    float sum = 0, squares = 0, low = x[0], high = x[0];
    unsigned zeros = 0;
    for (int k = 0; k < 8; k++) {
        sum += x[k], squares += x[k] * x[k], zeros += x[k] == 0.0f;
        low = fminf(low, x[k]), high = fmaxf(high, x[k]);
    }
    if (squares >= 1e-30f && squares <= 1e30f) {
        f->sum += sum, f->squares += squares, f->zeros += zeros;
        f->low = fmin(f->low, (double)low), f->high = fmax(f->high, (double)high);
    } else if (zeros == 8) {
        f->zeros += 8, f->low = fmin(f->low, 0.0), f->high = fmax(f->high, 0.0);
    } else {
        for (int k = 0; k < 8; k++) take_one(f, x[k], at + k);
    }
}
DEVICE void load_eight(float *x, const void *data, i64 at, int kind) {
    if (kind == 0) {
        const uint4 *from = (const uint4 *)((const float *)data + at);
        uint4 a = from[0], b = from[1];
        unsigned bits[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
        for (int k = 0; k < 8; k++) {
            union Short s;
            s.bits = bits[k];
            x[k] = s.number;
        }
        return;
    }
    uint4 a = *(const uint4 *)((const unsigned short *)data + at);
    unsigned bits[4] = {a.x, a.y, a.z, a.w};
    for (int k = 0; k < 8; k++) {
        unsigned h = bits[k / 2] >> (k % 2 ? 16 : 0) & 0xffffu;
        x[k] = kind == 1 ? bfloat_number(h) : half_number((unsigned short)h);
    }
}
DEVICE void look_through(struct Found *f, const struct Task *t, i64 me, i64 all) {
    if (t->kind == 3) {
        for (i64 i = me; i < t->count; i += all) take_one(f, ((const double *)t->data)[i], i);
        return;
    }
    i64 size = t->kind == 0 ? 4 : 2, head = (i64)(-(u64)t->data & 15) / size;
    if (head > t->count) head = t->count;
    i64 eights = (t->count - head) / 8, tail = head + 8 * eights;
    float x[8], y[8];
    for (i64 i = me; i < eights; i += 2 * all) {
        int both = i + all < eights;
        load_eight(x, t->data, head + 8 * i, t->kind);
        if (both) load_eight(y, t->data, head + 8 * (i + all), t->kind);
        take_eight(f, x, head + 8 * i);
        if (both) take_eight(f, y, head + 8 * (i + all));
    }
    for (i64 i = me; i < head; i += all) take_one(f, number_at(t->data, i, t->kind), i);
    for (i64 i = tail + me; i < t->count; i += all)
        take_one(f, number_at(t->data, i, t->kind), i);
}
DEVICE void write_row(u64 *row, const struct Found *f) {
    add_number((double *)row, f->sum), add_number((double *)row + 1, f->squares);
    if (f->zeros) add_count(row + 2, f->zeros);
    if (f->nans) add_count(row + 3, f->nans);
    if (f->infs) add_count(row + 4, f->infs);
    if (f->low <= f->high) {
        raise_to(row + 5, ~ordered(f->low));
        raise_to(row + 6, ordered(f->high));
    }
    if (f->first) raise_to(row + 7, f->first);
}
/* A warp's findings go to its first thread, those of a block to thread 0, one row for all. */
DEVICE void summarise(const struct Task *t, i64 me, i64 all) {
    union Bits infinity;
    infinity.bits = 0x7ffull << 52;
    struct Found f = {0, 0, infinity.number, -infinity.number, 0, 0, 0, 0};
    look_through(&f, t, me, all);
    for (int k = WARP / 2; k; k >>= 1) {
        struct Found other = {
            number_below(f.sum, k), number_below(f.squares, k), number_below(f.low, k),
            number_below(f.high, k), count_below(f.zeros, k), count_below(f.nans, k),
            count_below(f.infs, k), count_below(f.first, k)};
        join(&f, &other);
    }
    SHARED struct Found warps[8];
    int warp = threadIdx.x / WARP, many = (blockDim.x + WARP - 1) / WARP;
    if (threadIdx.x % WARP == 0) warps[warp] = f;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < many; k++) join(&f, &warps[k]);
        write_row(t->row, &f);
    }
}
DEVICE void draw(const struct Task *t, i64 me, i64 all) {
    for (i64 k = me; k < (i64)t->down * t->across; k += all) {
        i64 at = k / t->across * t->row_step * t->columns + k % t->across * t->column_step;
        t->picture[k] = number_at(t->data, at, t->kind);
    }
}
DEVICE float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
DEVICE int is_shut(double number, int op) {
    const float part = 1e-3f;
    float x = (float)number, s;
    switch (op) {
    case 1: return number <= 0.0;
    case 2: return 1.0f - x * x <= part;
    case 3: return x * (1.0f - x) <= 0.25f * part;
    case 4:
        return fabsf(0.5f * (1.0f + erff(x * 0.70710678f))
                     + x * expf(-0.5f * x * x) * 0.39894228f) <= part;
    case 5: s = sigmoid(x); return fabsf(s * (1.0f + x * (1.0f - s))) <= part;
    case 6: return sigmoid(x) <= part;
    case 7: return (x > 0.0f ? 1.0f : expf(x)) <= part;
    default: return fabs(number) >= 1.0;
    }
}
/* In how many rows each unit is shut. Where units lie side by side, a thread has one of them, in
 * some rows; else a block has one, and its numbers lie side by side. */
DEVICE void count_shut(const struct Task *t) {
    unsigned units = t->units, inner = t->inner, rows = t->count / units;
    unsigned mine = threadIdx.x, size = blockDim.x;
    if (inner == 1) {
        unsigned me = blockIdx.x * size + mine, all = gridDim.x * size;
        unsigned lanes = all / units > 0 ? all / units : 1;
        if (me >= lanes * units && units <= all) return;
        for (unsigned unit = units <= all ? me % units : me; unit < units; unit += all) {
            u64 shut = 0;
            for (unsigned row = units <= all ? me / units : 0; row < rows; row += lanes)
                shut += is_shut(number_at(t->data, (i64)row * units + unit, t->kind), t->op);
            if (shut) add_count(t->counts + unit, shut);
            if (units <= all) return;
        }
        return;
    }
    unsigned lanes = gridDim.x / units > 0 ? gridDim.x / units : 1;
    for (unsigned at = blockIdx.x; at < lanes * units; at += gridDim.x) {
        unsigned unit = at % units;
        u64 shut = 0;
        for (unsigned k = at / units * size + mine; k < rows; k += lanes * size) {
            i64 place = ((i64)(k / inner) * units + unit) * inner + k % inner;
            shut += is_shut(number_at(t->data, place, t->kind), t->op);
        }
        for (int k = WARP / 2; k; k >>= 1) shut += count_below(shut, k);
        if (mine % WARP == 0 && shut) add_count(t->counts + unit, shut);
    }
}
KERNEL look_at(const GRID struct Tasks tasks) {
    const struct Task *t = &tasks.each[blockIdx.y];
    i64 me = (i64)blockIdx.x * blockDim.x + threadIdx.x, all = (i64)gridDim.x * blockDim.x;
    if (t->picture) draw(t, me, all);
    if (t->counts) count_shut(t);
    i64 before = (i64)blockIdx.x * blockDim.x * (t->kind == 3 ? 1 : 8); /* of other blocks */
    if (t->row && before < t->count) summarise(t, me, all);
}
"""
