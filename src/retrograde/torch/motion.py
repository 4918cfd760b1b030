"""How parameters have moved between passes: by version counters, and by samples where the length
and direction of a step are to be measured. Nothing is copied but the samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ..diagnose.motion import Change, Motion, Step
from ..diagnose.thresholds import Thresholds
from . import board
from .norms import stacked

SAMPLE = 256
"""How many numbers of a parameter stand for all of them."""


class TensorMotion(Motion):
    """The steps of parameters that are tensors; of those that are not measured it is only seen
    who moved."""

    def __init__(
        self, tensors: list[torch.Tensor], group_of: Any, groups: int, thresholds: Thresholds
    ) -> None:
        super().__init__(len(tensors), group_of, groups, thresholds)
        self.tensors = tensors
        self._kept: list[tuple[int, Any, float]] | None = None
        self._samples: tuple[Samples, Samples] | None = None
        self._now: tuple[list[int], Samples] | None = None
        self._open: Opened | None = None
        self._pulled = np.zeros(len(tensors), dtype=bool)
        self._probes: dict[int, tuple[int, float]] = {}

    def passed(
        self, gradients: Any, reached: Any, losses: Any, site: Any, keep: bool = True
    ) -> None:
        """After a pass."""
        self._pulled = gradients != 0.0
        super().passed(gradients, reached, losses, site, keep)

    def versions(self) -> list[tuple[int, float]]:
        """What changes whenever a parameter is moved, of each."""
        if self.optimizer_steps:
            held = self.held.tolist()
            return [
                (t._version, 0.0) if mine else (t._version, self._seen(number, t))
                for number, (t, mine) in enumerate(zip(self.tensors, held))
            ]
        return [(t._version, self._probe(t)) for t in self.tensors]

    def _seen(self, number: int, t: torch.Tensor) -> float:
        """A number that changes with what no optimizer holds: a write, such as a clamp, need not
        change it. It is read anew only where something was written."""
        version, probe = self._probes.get(number, (-1, 0.0))
        if version != t._version:
            probe = self._probe(t)
            self._probes[number] = (t._version, probe)
        return probe

    def differ(
        self, then: Sequence[tuple[int, float]], now: Sequence[tuple[int, float]]
    ) -> list[bool]:
        """Which parameters have moved between two looks at :meth:`versions`."""
        if not self.optimizer_steps:
            return [a != b for a, b in zip(then, now)]
        return [
            a[0] != b[0] if held else a[1] != b[1]
            for a, b, held in zip(then, now, self.held.tolist())
        ]

    def keep_as(self, versions: list[tuple[int, float]], marks: list[Any]) -> None:
        """Remember parameters and gradients as they were after a pass that is told late."""
        self._kept = [(v, mark, probe) for (v, probe), mark in zip(versions, marks)]
        self._samples = None

    def keep(self) -> None:
        """Remember versions, and samples where the step is to be measured."""
        self.keep_as(self.versions(), [_mark(t.grad) for t in self.tensors])
        now, self._now = self._now, None
        if self.measuring:
            same = now is not None and now[0] == [t._version for t in self.tensors]
            weights = now[1] if now is not None and same else Samples(self.tensors)
            self._samples = weights, Samples([t.grad for t in self.tensors])

    def _probe(self, t: torch.Tensor) -> float:
        """A number that changes with the tensor: updates through .data move no version."""
        if not t.is_cpu or board.far(t) or not t.numel():
            return float(t._version)
        return float(Samples([t]).numbers().sum())

    def have_gradients(self, mine: Any) -> bool:
        """Whether any of these has a gradient now that is not 0; where the last pass left it so,
        nothing has to be read."""
        kept, grads = self._kept or [], [self.tensors[n].grad for n in mine.tolist()]
        for number, grad in zip(mine.tolist(), grads):
            left = number < len(kept) and kept[number][1] == _mark(grad)
            if grad is not None and left and self._pulled[number]:
                return True
        return any(grad is not None and is_live(grad) for grad in grads)

    # ---- since the last pass ------------------------------------------------------------------

    def settle(self, number: int) -> None:
        """See what has happened since pass ``number``; on a GPU it is understood when it has been
        waited for."""
        self.finish()
        self._open = self._opened(number)
        if self._open is not None and not self._open.far:
            self.finish()

    def finish(self) -> None:
        """Understand what was seen, waiting for numbers that are on their way."""
        opened, self._open = self._open, None
        if opened is not None:
            self.take(opened.number, self._change(opened))

    def change(self) -> Change | None:
        """What has happened since the last pass."""
        opened = self._opened(0)
        return None if opened is None else self._change(opened)

    def _opened(self, number: int) -> Opened | None:
        kept, samples = self._kept, self._samples
        if kept is None:
            return None
        moved = np.zeros(len(self.tensors), dtype=bool)
        reset = np.zeros(len(self.tensors), dtype=bool)
        versions = self.versions()
        moved[: len(kept)] = self.differ([(v, probe) for v, _, probe in kept], versions)
        written = []  # clipped, or set to zero
        for place, (t, (_, mark, _)) in enumerate(zip(self.tensors, kept)):
            grad = t.grad
            if grad is None or mark is None or mark[0] != id(grad):
                reset[place] = True
            elif mark[1] != grad._version:
                written.append((place, grad))
        self.keep_as(versions, [_mark(t.grad) for t in self.tensors])
        live = Live([grad for _, grad in written])
        now = None
        if samples is not None and moved.any():
            now = Samples(self.tensors)
            self._now = [t._version for t in self.tensors], now
        return Opened(
            number, moved, self._pulled.copy(), reset, [n for n, _ in written], live, samples, now
        )

    def _change(self, opened: Opened) -> Change:
        moved, reset = opened.moved, opened.reset
        if opened.written:
            reset[opened.written] = ~opened.live.flags()
        samples, now = opened.samples, opened.now
        if samples is None or now is None:
            return Change(moved, opened.pulled, reset)
        size = int(samples[0].lengths[moved[: len(samples[0].lengths)]].sum())
        return Change(moved, opened.pulled, reset, self._step_of(samples, now, moved), size)

    def _step_of(self, samples: tuple[Samples, Samples], now: Samples, moved: Any) -> Step:
        before, grads = samples
        sums = np.zeros((4, len(self.tensors)))
        lengths = before.lengths
        with np.errstate(all="ignore"):
            weights, update = before.numbers(), now.numbers() - before.numbers()
            gradient = grads.numbers_like(before)
            parts = np.stack([update * update, gradient**2, weights * weights, update * gradient])
            starts = np.cumsum(lengths) - lengths
            having = np.flatnonzero(lengths)
            if len(having):
                scale = before.counts[having] / lengths[having]
                sums[:, having] = np.add.reduceat(parts, starts[having], axis=1) * scale
        sums[:, ~moved] = 0.0
        return Step(*(self.by_group(each) for each in sums))


@dataclass
class Opened:
    """What was seen between two passes, of which some numbers may be on their way: as in
    :class:`Change`, with the gradients that were written to, and samples then and now."""

    number: int
    moved: Any
    pulled: Any
    reset: Any
    written: list[int]
    live: Live
    samples: tuple[Samples, Samples] | None
    now: Samples | None

    @property
    def far(self) -> bool:
        """Whether there is anything to wait for."""
        return self.live.far or (self.now is not None and self.now.far)


def _mark(grad: torch.Tensor | None) -> tuple[int, int] | None:
    return None if grad is None else (id(grad), grad._version)


def is_live(grad: torch.Tensor) -> bool:
    """Whether a gradient has a number that is not zero."""
    if grad.is_sparse:
        grad = grad.coalesce().values()
    return bool(grad.detach().any())


class Live:
    """Which gradients have a number that is not zero; of those on a GPU it may be on its way."""

    def __init__(self, grads: Sequence[torch.Tensor]) -> None:
        self.far = bool(grads) and all(map(board.far, grads))
        self._numbers: Any = [] if self.far else [is_live(grad) for grad in grads]
        if self.far:
            self._numbers = board.board_of(grads[0]).send(stacked(grads, float("inf")).double())

    def flags(self) -> Any:
        """One each."""
        return self._numbers.numbers() != 0.0 if self.far else np.array(self._numbers, dtype=bool)


class Samples:
    """Numbers of each of some tensors, evenly spread, one after the other; of those on a GPU they
    are on their way. ``lengths`` has how many there are of each, ``counts`` of how many."""

    def __init__(self, tensors: Sequence[torch.Tensor | None]) -> None:
        parts = [_spread(t) for t in tensors]
        self.lengths = np.array([0 if part is None else part[2] for part in parts], np.int64)
        self.counts = np.array([0 if t is None else t.numel() for t in tensors], np.int64)
        there = [part for part in parts if part is not None]
        kinds = [board.kind_of(t) if board.far(t) else None for t, _, _ in there]
        self.far = bool(there) and None not in kinds and len({t.device for t, _, _ in there}) == 1
        self._numbers: Any
        if self.far:
            tasks = [(t.contiguous(), k, s, n) for (t, s, n), k in zip(there, kinds)]
            self._numbers = board.board_of(there[0][0]).samples(tasks)  # type: ignore[arg-type]
        else:
            found = [_read(*part) for part in there]
            self._numbers = np.concatenate(found) if found else np.zeros(0)

    def numbers(self) -> Any:
        """All of them, one tensor after the other."""
        return self._numbers.numbers() if self.far else self._numbers

    def numbers_like(self, others: Samples) -> Any:
        """The same, laid out as others are; zeros where a tensor has none, or other ones."""
        if np.array_equal(self.lengths, others.lengths):
            return self.numbers()
        found, mine = np.zeros(int(others.lengths.sum())), self.numbers()
        begin, at = 0, 0
        for length, wanted in zip(self.lengths.tolist(), others.lengths.tolist()):
            if length == wanted:
                found[at : at + wanted] = mine[begin : begin + length]
            begin, at = begin + length, at + wanted
        return found


def _spread(t: torch.Tensor | None) -> tuple[torch.Tensor, int, int] | None:
    """A tensor that numbers are taken from: every so many-th, and so many."""
    if t is None or t.is_sparse or t.is_complex() or t.is_meta:
        return None
    count = t.numel()
    if count <= SAMPLE:
        return (t.detach(), 1, count) if count else None
    step = count // SAMPLE
    return t.detach(), step, min(SAMPLE, -(-count // step))


def _read(t: torch.Tensor, step: int, many: int) -> Any:
    if t.is_cpu and t.dtype in _BY_NUMPY:
        return t.numpy().reshape(-1)[::step][:many].astype(np.float64)
    return t.reshape(-1)[::step][:many].to(torch.float64, copy=True).cpu().numpy()


_BY_NUMPY = (torch.float32, torch.float64)
