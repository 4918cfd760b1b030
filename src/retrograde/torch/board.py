"""What is read of tensors on a GPU without waiting: summaries as rows of a board, small samples and
counts of units beside them. A few tensors share a launch; all of it is fetched at once, with one
wait, when the pass is over.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from ..errors import TorchFeatureError
from ..passes.summary import KINDS, Summary
from ._private import find
from .kernel import MANY, OPS, SOURCE, TASK, THREADS

ROWS = 16384
"""The most tensors of one pass."""
PAGE = 1 << 16
"""How many numbers of samples are fetched as one."""
COUNTED = 1 << 31
"""Tensors of so many numbers or more are counted by PyTorch."""
Units = tuple[torch.Tensor, int, str, int, int]
"""A tensor, its kind, the op, its units, and how many numbers of a unit lie side by side."""
_NOTHING = torch.zeros(0)
_PACK, _SIZE = TASK.pack_into, TASK.size
_KINDS = {getattr(torch, name): number for name, number in KINDS.items()}


def far(t: torch.Tensor) -> bool:
    """Whether a tensor is better looked at where it lies, and heard of later."""
    return t.is_cuda and t.numel() > 0


_ADDRESS, _COUNT = ctypes.c_void_p, ctypes.c_uint
_LAUNCH = ctypes.PYFUNCTYPE(  # short, so that other threads need not be let in
    ctypes.c_int, _ADDRESS, *[_COUNT] * 7, _ADDRESS, _ADDRESS, _ADDRESS
)


class Gpu:
    """What a board asks of a device."""

    def __init__(self, device: torch.device) -> None:
        self._kernel = find("compile_kernel")(SOURCE, "look_at").func
        plain = ctypes.cast(find("gpu_library")().cuLaunchKernel, _ADDRESS).value
        assert plain is not None
        self._launch = _LAUNCH(plain)
        self._stream, self._device = find("raw_stream"), device.index or 0
        processors = torch.cuda.get_device_properties(device).multi_processor_count
        self.most_blocks = 4 * processors
        self._pointers: Any = None

    def launch(self, tasks: Any, across: int, down: int) -> None:
        """Start the kernel on some tasks, always the same ones' place."""
        if self._pointers is None:
            self._pointers = (ctypes.c_void_p * 1)(ctypes.addressof(tasks))
        stream = self._stream(self._device)
        failed = self._launch(
            self._kernel, across, down, 1, THREADS, 1, 1, 0, stream, self._pointers, None
        )
        if failed:
            raise TorchFeatureError.launch(failed, torch.__version__)

    def fetch(self, tensors: Sequence[torch.Tensor]) -> Any:
        """The numbers of some tensors of eight bytes a number, as integers, one after the other:
        the device is waited for once."""
        flat = [t.reshape(-1).view(torch.int64) for t in tensors]
        return torch.cat(flat).cpu().numpy()


class Board:
    """The rows, samples and counts of one device."""

    def __init__(self, gpu: Gpu, device: torch.device) -> None:
        self._gpu, self._device = gpu, device
        self._rows = torch.zeros(ROWS, 8, dtype=torch.int64, device=device)
        self._base, self.used = self._rows.data_ptr(), 0
        self._tasks = ctypes.create_string_buffer(MANY * _SIZE)
        self._held: list[torch.Tensor] = []
        self._most = 0
        self._pages: list[torch.Tensor] = []
        self._page, self._left = 0, 0
        self._sent: list[Sent] = []
        self._columns: list[list[Any]] = []
        self._drawn: list[Any] = []
        self._news = False  # whether there is more than has been read

    # ---- tasks --------------------------------------------------------------------------------

    def _add(self, t: torch.Tensor, count: int, *fields: int) -> None:
        """Another task of the next launch; the tensor is held until then."""
        _PACK(self._tasks, _SIZE * len(self._held), t.data_ptr(), *fields, 0)
        self._held.append(t)
        self._most = max(self._most, count)
        if len(self._held) == MANY:
            self.go()

    def go(self) -> None:
        """Launch what has been asked for since the last launch."""
        if self._held:
            across = min(self._gpu.most_blocks, -(-self._most // (8 * THREADS)))
            self._gpu.launch(self._tasks, across, len(self._held))
            self._held.clear()
            self._most = 0

    def put(self, t: torch.Tensor, kind: int) -> Pending:
        """A summary of numbers that lie side by side."""
        row, count, held = self.used, t.numel(), self._held
        self.used, self._news = row + 1, True
        _PACK(
            self._tasks, _SIZE * len(held), t.data_ptr(), self._base + 64 * row, 0, 0,
            count, 0, 1, kind, 0, 1, 0, 0, 0, 0, 0,
        )  # fmt: skip
        held.append(t)
        if count > self._most:
            self._most = count
        if len(held) == MANY:
            self.go()
        return Pending(self, row, count)

    def draw(self, t: torch.Tensor, kind: int, grid: tuple[int, int, int, int, int]) -> Drawn:
        """A sample: (columns, down, across, row step, column step) of numbers in their order."""
        _, down, across, _, _ = grid
        count, self._news = down * across, True
        if count > self._left:
            page = torch.empty(max(PAGE, count), dtype=torch.float64, device=self._device)
            self._pages.append(page)
            self._page, self._left = page.data_ptr(), len(page)
        drawn = Drawn(self, len(self._pages) - 1, len(self._pages[-1]) - self._left, down, across)
        self._draw(t, kind, self._page, grid)
        self._page, self._left = self._page + 8 * count, self._left - count
        return drawn

    def _draw(self, t: torch.Tensor, kind: int, where: int, grid: tuple[int, ...]) -> None:
        columns, down, across, row_step, column_step = grid
        self._add(
            t, down * across, 0, where, 0, t.numel(), columns, 1, kind, 0, 1,
            down, across, row_step, column_step,
        )  # fmt: skip

    def norms(self, parts: Sequence[tuple[torch.Tensor, int]]) -> Norms:
        """The norms of tensors that lie side by side, given with their kinds."""
        rows = torch.zeros(len(parts), 8, dtype=torch.int64, device=self._device)
        where = rows.data_ptr()
        for t, kind in parts:
            count = t.numel()
            self._add(t, count, where, 0, 0, count, 0, 1, kind, 0, 1, 0, 0, 0, 0)
            where += 64
        self.go()
        return Norms(self, rows)

    def samples(self, parts: Sequence[tuple[torch.Tensor, int, int, int]]) -> Sent:
        """Of each tensor, given with its kind, every so many-th number, so many of them."""
        whole = torch.empty(
            sum(count for _, _, _, count in parts), dtype=torch.float64, device=self._device
        )
        where = whole.data_ptr()
        for t, kind, step, count in parts:
            self._draw(t, kind, where, (0, 1, count, 0, step))
            where += 8 * count
        return self.send(whole)

    def count_shut(self, gates: Sequence[Units]) -> Sent:
        """In how many rows each unit is shut, of one tensor after the other."""
        size = sum(units for *_, units, _ in gates)
        whole = torch.zeros(size, dtype=torch.int64, device=self._device)
        where = whole.data_ptr()
        for t, kind, op, units, inner in gates:
            count = t.numel()
            self._add(t, count, 0, 0, where, count, 0, inner, kind, OPS[op], units, 0, 0, 0, 0)
            where += 8 * units
        return self.send(whole)

    # ---- what is sent -------------------------------------------------------------------------

    def send(self, t: torch.Tensor) -> Sent:
        """The numbers of a tensor of eight bytes a number, which stays as it is until they are
        fetched: with all others, when somebody needs one of them."""
        self.go()
        self._sent.append(Sent(self, t))
        return self._sent[-1]

    def fetch(self) -> None:
        """Everything that was sent arrives."""
        sent, self._sent = self._sent, []
        whole, begin = self._gpu.fetch([each.there for each in sent]), 0
        for each in sent:
            end = begin + each.there.numel()
            each.arrive(whole[begin:end])
            begin = end

    def read(self) -> None:
        """Wait for everything, once, and make numbers of the rows."""
        if not self._news:
            return
        self._news = False
        left = [0] * (len(self._pages) - 1) + [self._left]
        pages = [self.send(page[: len(page) - rest]) for page, rest in zip(self._pages, left)]
        if self.used:
            self._columns = _columns_of(self.send(self._rows[: self.used]).numbers())
        self._drawn = [page.numbers() for page in pages]

    def summary(self, row: int, count: int) -> Summary:
        """What a row says, after :meth:`read`."""
        total, norm, low, high, zeros, nans, infs, first = [c[row] for c in self._columns]
        finite = count - nans - infs
        mean = total / finite if finite else 0.0
        return Summary(count, norm, mean, low, high, zeros, nans, infs, first)

    def drawn(self, page: int, begin: int, count: int) -> Any:
        """The numbers of a sample, after :meth:`read`."""
        return self._drawn[page][begin : begin + count]

    def clear(self) -> None:
        """A new pass: all rows are free again."""
        self.go()
        if self.used:
            self._rows[: self.used].zero_()
        self.used = self._page = self._left = 0
        self._news = False
        self._pages.clear()
        self._columns, self._drawn = [], []


def _columns_of(rows: Any) -> list[list[Any]]:
    sums = rows[:, :2].copy().view(np.float64)
    bits = np.stack([~rows[:, 5], rows[:, 6]]).view(np.uint64)
    high = np.uint64(1 << 63)
    ends = np.where(bits & high, bits ^ high, ~bits).view(np.float64)
    low, top = np.where(rows[:, 5] == 0, np.inf, ends[0]), np.where(bits[1] == 0, -np.inf, ends[1])
    first = np.where(rows[:, 7] == 0, -1, ~rows[:, 7])
    with np.errstate(invalid="ignore"):
        norms = np.sqrt(sums[:, 1])
    columns = (sums[:, 0], norms, low, top, rows[:, 2], rows[:, 3], rows[:, 4], first)
    return [column.tolist() for column in columns]


class Sent:
    """Numbers on their way from a device."""

    __slots__ = ("_board", "_numbers", "there")

    def __init__(self, board: Board, there: torch.Tensor) -> None:
        self._board, self.there = board, there
        self._numbers: Any = None

    def arrive(self, numbers: Any) -> None:
        """The numbers are here, as integers of the same bits."""
        real = np.float64 if self.there.is_floating_point() else np.int64
        self._numbers = numbers.view(real).reshape(tuple(self.there.shape))
        self.there = _NOTHING

    def numbers(self) -> Any:
        """The numbers, waited for where they are not here yet."""
        if self._numbers is None:
            self._board.fetch()
        return self._numbers


class Norms:
    """Norms on a device until somebody reads them."""

    __slots__ = ("_board", "_rows", "_sent")

    def __init__(self, board: Board, rows: torch.Tensor) -> None:
        self._board, self._rows = board, rows
        self._sent: Sent | None = None

    def send(self) -> None:
        """They will be read, with others."""
        self._sent = self._sent or self._board.send(self._rows)

    def tolist(self) -> list[float]:
        """The norms; of what is not finite, NaN or infinity."""
        self.send()
        assert self._sent is not None
        rows = self._sent.numbers()
        norms = np.sqrt(rows[:, 1].copy().view(np.float64))
        norms = np.where(rows[:, 4] > 0, np.inf, norms)
        found: list[float] = np.where(rows[:, 3] > 0, np.nan, norms).tolist()
        return found


class Drawn:
    """A sample on its way."""

    __slots__ = ("_begin", "_board", "_page", "shape")

    def __init__(self, board: Board, page: int, begin: int, down: int, across: int) -> None:
        self._board, self._page, self._begin = board, page, begin
        self.shape = down, across

    def numbers(self) -> Any:
        """The numbers, one row after the other, after :func:`read`."""
        down, across = self.shape
        return self._board.drawn(self._page, self._begin, down * across)


class Pending:
    """A summary that is on its way: its row on a board. Until then nothing in it is odd."""

    __slots__ = ("_board", "_count", "_found", "_row")
    odd = 0

    def __init__(self, board: Board, row: int, count: int) -> None:
        self._board, self._row, self._count = board, row, count
        self._found: Summary | None = None

    def settled(self) -> Summary:
        """The summary, after :func:`read`."""
        if self._found is None:
            self._found = self._board.summary(self._row, self._count)
        return self._found


_boards: dict[torch.device, Board] = {}


def board_of(t: torch.Tensor) -> Board:
    """The board of the device that a tensor lies on."""
    found = _boards.get(t.device)
    if found is None:
        found = _boards[t.device] = Board(Gpu(t.device), t.device)
    return found


def kind_of(t: torch.Tensor) -> int | None:
    """The number of a tensor's kind; None for one that the kernel cannot read."""
    usual = t.layout is torch.strided and not t.is_neg()
    return _KINDS.get(t.dtype) if usual else None


def go() -> None:
    """Launch what has been asked for, before the program goes on."""
    for board in _boards.values():
        board.go()


def read() -> None:
    """Wait once, for everything; what was on its way can then be settled."""
    for board in _boards.values():
        board.read()


def clear() -> None:
    """A new pass: all rows are free again."""
    for board in _boards.values():
        board.clear()
