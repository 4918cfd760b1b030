"""Summaries of tensors on a GPU without waiting: a small kernel a tensor writes one row of a board,
and the board is read once, when the pass is over. The kernel is compiled by NVRTC at run time.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ..passes.summary import Summary
from ._private import find

SOURCE = r"""
typedef unsigned long long u64;
__device__ __forceinline__ unsigned ordered(float x) {
    unsigned b = __float_as_uint(x);
    return b & 0x80000000u ? ~b : b | 0x80000000u;
}
__device__ __forceinline__ float number_at(const void *p, long long i, int kind) {
    if (kind == 0) return ((const float *)p)[i];
    unsigned short h = ((const unsigned short *)p)[i];
    if (kind == 1) return __uint_as_float((unsigned)h << 16);
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h));
    return x;
}
extern "C" __global__ void summarise(const void *data, long long n, int kind, u64 *row) {
    double sum = 0, squares = 0;
    float part = 0, square = 0;
    unsigned zeros = 0, nans = 0, infs = 0, low = 0xffffffffu, high = 0;
    u64 first = 0;
    long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        float x = number_at(data, i, kind);
        bool nan = x != x, inf = fabsf(x) == __int_as_float(0x7f800000);
        float y = nan || inf ? 0.0f : x;
        part += y, zeros += x == 0.0f, nans += nan, infs += inf;
        if (fabsf(y) > 1e16f || (y != 0.0f && fabsf(y) < 1e-16f)) squares += (double)y * y;
        else square += y * y;
        if (nan || inf) { u64 place = ~0ull - (u64)i; first = place > first ? place : first; }
        if (!nan) { unsigned o = ordered(x); low = o < low ? o : low; high = o > high ? o : high; }
    }
    sum = part, squares += square;
    for (int k = 16; k; k >>= 1) {
        sum += __shfl_down_sync(~0u, sum, k), squares += __shfl_down_sync(~0u, squares, k);
        zeros += __shfl_down_sync(~0u, zeros, k), nans += __shfl_down_sync(~0u, nans, k);
        infs += __shfl_down_sync(~0u, infs, k);
        unsigned a = __shfl_down_sync(~0u, low, k), b = __shfl_down_sync(~0u, high, k);
        low = a < low ? a : low, high = b > high ? b : high;
        u64 f = __shfl_down_sync(~0u, first, k);
        first = f > first ? f : first;
    }
    if ((threadIdx.x & 31) == 0) {
        atomicAdd((double *)row, sum), atomicAdd((double *)row + 1, squares);
        if (zeros) atomicAdd(row + 2, (u64)zeros);
        if (nans) atomicAdd(row + 3, (u64)nans);
        if (infs) atomicAdd(row + 4, (u64)infs);
        atomicMax(row + 5, (u64)(0xffffffffu - low)), atomicMax(row + 6, (u64)high);
        if (first) atomicMax(row + 7, first);
    }
}
"""
ROWS = 16384
"""The most tensors of one pass."""

_KINDS = {torch.float32: 0, torch.bfloat16: 1, torch.float16: 2}


class _Board:
    """The rows on one device."""

    def __init__(self, device: torch.device) -> None:
        self.kernel = find("compile_kernel")(SOURCE, "summarise")
        self._launch = find("gpu_library")().cuLaunchKernel
        self._stream = find("raw_stream")
        self.rows = torch.zeros(ROWS, 8, dtype=torch.int64, device=device)
        self._base, self._device = self.rows.data_ptr(), device.index or 0
        self._arguments = (
            ctypes.c_void_p(), ctypes.c_longlong(), ctypes.c_int(), ctypes.c_void_p(),
        )  # fmt: skip
        places = [ctypes.addressof(argument) for argument in self._arguments]
        self._pointers = (ctypes.c_void_p * 4)(*places)
        self.used = 0
        self._columns: list[list[Any]] = []

    def put(self, t: torch.Tensor, kind: int) -> int:
        row, count = self.used, t.numel()
        self.used += 1
        data, n, which, where = self._arguments
        data.value, n.value, which.value = t.data_ptr(), count, kind
        where.value = self._base + 64 * row
        blocks = min(264, (count + 2047) // 2048)
        stream = ctypes.c_void_p(self._stream(self._device))
        self._launch(self.kernel.func, blocks, 1, 1, 256, 1, 1, 0, stream, self._pointers, None)
        return row

    def read(self) -> None:
        """Wait for the rows, and make numbers of them."""
        rows = self.rows[: self.used].cpu().numpy()
        sums = rows[:, :2].copy().view(np.float64)
        ordered = np.stack([0xFFFFFFFF - rows[:, 5], rows[:, 6]]).astype(np.uint32)
        high = np.uint32(0x80000000)
        ends = np.where(ordered & high, ordered ^ high, ~ordered).view(np.float32)
        first = np.where(rows[:, 7] == 0, -1, ~rows[:, 7])
        with np.errstate(invalid="ignore"):
            norms = np.sqrt(sums[:, 1])
        columns = (sums[:, 0], norms, *ends, rows[:, 2], rows[:, 3], rows[:, 4], first)
        self._columns = [column.tolist() for column in columns]

    def summary(self, row: int, count: int) -> Summary:
        """What a row says, after :meth:`read`."""
        total, norm, low, high, zeros, nans, infs, first = [c[row] for c in self._columns]
        finite = count - nans - infs
        mean = total / finite if finite else 0.0
        return Summary(count, norm, mean, low, high, zeros, nans, infs, first)


@dataclass
class Pending:
    """A summary that is on its way: its row on a board. Until then nothing in it is odd."""

    board: Any
    row: int
    count: int
    odd = 0

    def settled(self) -> Summary:
        """The summary, after :func:`read`."""
        found: Summary = self.board.summary(self.row, self.count)
        return found


_boards: dict[torch.device, _Board] = {}


def put(t: torch.Tensor) -> Pending | None:
    """Start the summary of a tensor on a GPU; None for a kind of number the kernel cannot read."""
    kind = _KINDS.get(t.dtype)
    if kind is None or t.layout is not torch.strided:
        return None
    found = _boards.get(t.device)
    if found is None:
        found = _boards[t.device] = _Board(t.device)
    if found.used >= ROWS:
        return None
    if not t.is_contiguous():
        t = t.contiguous()
    return Pending(found, found.put(t, kind), t.numel())


def read() -> None:
    """Wait once, for everything; pending summaries can then be settled."""
    for board in _boards.values():
        board.read()


def clear() -> None:
    """A new pass: all rows are free again."""
    for board in _boards.values():
        if board.used:
            board.rows[: board.used].zero_()
        board.used = 0
