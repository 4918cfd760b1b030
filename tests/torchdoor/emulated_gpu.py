"""A GPU that is emulated: the kernel's own text compiled as C, its tensors in the CPU's memory.

Blocks run one after the other with one thread each, and copies wait as they do on a device.
"""

from __future__ import annotations

import ctypes

import torch

from retrograde.torch import board
from retrograde.torch.kernel import SOURCE

from ..printing.support import build

BEFORE = """
#define RG_EMULATED
#include <math.h>
#define DEVICE static inline
#define KERNEL void
#define SHARED static
#define GRID
#define WARP 1
#define __syncthreads()
typedef struct { unsigned x, y, z, w; } uint4;
static struct { unsigned x, y; } blockIdx, gridDim;
static struct { unsigned x; } threadIdx, blockDim = {1};
static inline float half_number(unsigned short h) {
    int sign = h >> 15, exponent = h >> 10 & 31, rest = h & 1023;
    float x = exponent == 31 ? (rest ? NAN : INFINITY)
              : exponent     ? ldexpf((float)(1024 + rest), exponent - 25)
                             : ldexpf((float)rest, -24);
    return sign ? -x : x;
}
static inline void add_number(double *to, double x) { *to += x; }
static inline void add_count(unsigned long long *to, unsigned long long n) { *to += n; }
static inline void raise_to(unsigned long long *to, unsigned long long n) { if (n > *to) *to = n; }
static inline double number_below(double x, int k) { (void)k; return x; }
static inline unsigned long long count_below(unsigned long long n, int k) { (void)k; return n; }
"""
AFTER = """
void launch(const struct Tasks *tasks, unsigned across, unsigned down) {
    gridDim.x = across, gridDim.y = down;
    for (blockIdx.y = 0; blockIdx.y < down; blockIdx.y++)
        for (blockIdx.x = 0; blockIdx.x < across; blockIdx.x++) look_at(*tasks);
}
"""


def compiled(folder):
    """The kernel as a library."""
    flags = ("-O1", "-Wno-unused-function", "-ffp-contract=off")
    return build(BEFORE + SOURCE + AFTER, folder, flags=flags)


class EmulatedGpu(board.Gpu):
    """What a board asks of a device, with everything counted."""

    def __init__(self, library):
        self._library = library
        self.launches = self.tasks = self.waits = 0
        self.most_blocks = 8

    def launch(self, tasks, across, down):
        self.launches, self.tasks = self.launches + 1, self.tasks + down
        self._library.launch(tasks, ctypes.c_uint(across), ctypes.c_uint(down))

    def fetch(self, tensors):
        self.waits += 1
        return super().fetch(tensors)


def on_emulated_gpu(monkeypatch, library):
    """From now on every tensor is far away; the device is given back."""
    gpu, here = EmulatedGpu(library), torch.device("cpu")
    monkeypatch.setattr(board, "far", lambda t: t.layout is torch.strided and t.numel() > 0)
    monkeypatch.setattr(board, "_boards", {here: board.Board(gpu, here)})
    return gpu
