"""How parameters have moved between passes: by version counters, and by samples where the length
and direction of a step are to be measured. Nothing is copied but the samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from ..diagnose.motion import Change, Motion, Step
from ..diagnose.thresholds import Thresholds

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
        self._samples: list[tuple[Any, Any]] | None = None
        self._pulled = np.zeros(len(tensors), dtype=bool)
        self._probes: dict[int, tuple[int, float]] = {}

    def passed(self, gradients: Any, reached: Any, losses: Any, site: Any) -> None:
        """After a pass."""
        self._pulled = gradients != 0.0
        super().passed(gradients, reached, losses, site)

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
        if self.measuring:
            data = samples_of(self.tensors)
            self._samples = list(zip(data, samples_of([t.grad for t in self.tensors])))

    def _probe(self, t: torch.Tensor) -> float:
        """A number that changes with the tensor: updates through .data move no version."""
        if not t.is_cpu or not t.numel():
            return float(t._version)
        return float(samples_of([t])[0].sum())

    def have_gradients(self, mine: Any) -> bool:
        """Whether any of these has a gradient now that is not 0."""
        grads = [self.tensors[n].grad for n in mine.tolist()]
        return any(grad is not None and is_live(grad) for grad in grads)

    def change(self) -> Change | None:
        """What has happened since the last pass."""
        kept, samples = self._kept, self._samples
        if kept is None:
            return None
        moved = np.zeros(len(self.tensors), dtype=bool)
        reset = np.zeros(len(self.tensors), dtype=bool)
        versions = self.versions()
        moved[: len(kept)] = self.differ([(v, probe) for v, _, probe in kept], versions)
        for number, (t, (_, mark, _)) in enumerate(zip(self.tensors, kept)):
            grad = t.grad
            if grad is None or mark is None or mark[0] != id(grad):
                reset[number] = True
            elif mark[1] != grad._version:  # clipped, or set to zero
                reset[number] = not is_live(grad)
        self.keep_as(versions, [_mark(t.grad) for t in self.tensors])
        step = self._step_of(samples, moved) if samples is not None and moved.any() else None
        size = sum(len(s) for (s, _), m in zip(samples or (), moved) if m)
        return Change(moved, self._pulled.copy(), reset, step, size)

    def _step_of(self, samples: list[tuple[Any, Any]], moved: Any) -> Step:
        sums = np.zeros((4, len(self.tensors)))
        now = samples_of(self.tensors)
        for number, (t, (before, grad)) in enumerate(zip(self.tensors, samples)):
            if not moved[number] or not len(before):
                continue
            with np.errstate(all="ignore"):
                update = now[number] - before
                gradient = grad if len(grad) == len(before) else np.zeros_like(before)
                scale = t.numel() / len(before)
                parts = (update * update, gradient**2, before * before, update * gradient)
                sums[:, number] = [scale * float(part.sum()) for part in parts]
        return Step(*(self.by_group(each) for each in sums))


def _mark(grad: torch.Tensor | None) -> tuple[int, int] | None:
    return None if grad is None else (id(grad), grad._version)


def is_live(grad: torch.Tensor) -> bool:
    """Whether a gradient has a number that is not zero."""
    if grad.is_sparse:
        grad = grad.coalesce().values()
    return bool(grad.detach().any())


def samples_of(tensors: Sequence[torch.Tensor | None]) -> list[Any]:
    """Numbers of each tensor, evenly spread; a device is asked once for all of them."""
    parts = [_spread(t) for t in tensors]
    devices = {part.device for part in parts if part is not None}
    if len(devices) != 1 or next(iter(devices)).type == "cpu":
        return [
            _NONE if part is None else part.to(torch.float64, copy=True).cpu().numpy()
            for part in parts
        ]
    kept = [part for part in parts if part is not None]
    whole = torch.cat(kept).double().cpu().numpy()
    found, start = [], 0
    for part in parts:
        count = 0 if part is None else len(part)
        found.append(whole[start : start + count])
        start += count
    return found


_NONE = np.zeros(0)


def _spread(t: torch.Tensor | None) -> torch.Tensor | None:
    if t is None or t.is_sparse or t.is_complex() or not t.numel() or t.device.type == "meta":
        return None
    flat = t.detach().reshape(-1)
    return flat[:: max(1, flat.numel() // SAMPLE)][:SAMPLE]
