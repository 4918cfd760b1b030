"""Passes that nobody looks at closely: what is noted of them costs microseconds, and what it means
is worked out later, for many alike passes at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
import torch

from .._shared.sites import Site
from ..diagnose.array_history import ArrayHistory
from ..diagnose.motion import Change
from .board import Norms
from .motion import Live, TensorMotion
from .norms import norms_of
from .patients import Patients

MOST, MOST_ON_GPU = 64, 16
"""How many passes wait at most; a GPU is asked for a loss no sooner."""

Mark = tuple[int, int] | None
"""A gradient as it stands: which tensor, and how often it was written to."""

Lives = tuple[list[int], Live] | None
"""Gradients that were written to, by number, and which of them are not zero; None for no such."""

Begun = tuple[list[tuple[int, float]], list[Mark], Lives]
"""Parameters and gradients before a pass."""


def mark(t: torch.Tensor) -> Mark:
    """The gradient of a tensor as it stands."""
    grad = t.grad
    return None if grad is None else (id(grad), grad._version)


@dataclass
class Glance:
    """One pass: versions of the parameters, gradients before and after, norms, the loss."""

    versions: list[tuple[int, float]]
    before: list[Mark]
    live: Lives
    after: list[Mark]
    norms: Any
    loss: Any
    scale: float
    site: Site | None
    steps: tuple[int, ...] = ()


class Glances:
    """The passes that wait, of some patients."""

    def __init__(self, patients: Patients) -> None:
        self._patients = patients
        self.waiting: list[Glance] = []

    def begin(self) -> Begun:
        """Before a pass: versions, gradients, and which were not reset to zero in place."""
        tensors, motion = self._patients.tensors, self._patients.motion
        if not self.waiting and self._patients.history is not None:
            self._patients.history.begin()
        before = [mark(t) for t in tensors]
        live: Lives = None
        if self.waiting and any(each is not None for each in before):
            written = {
                number: t.grad
                for number, (t, was) in enumerate(zip(tensors, self.waiting[-1].after))
                if t.grad is not None and was != before[number]
            }
            live = list(written), Live(list(written.values()))
        return motion.versions() if motion is not None else [], before, live

    def add(self, began: Begun, loss: Any, scale: float, site: Site | None) -> None:
        """After a pass."""
        tensors = self._patients.tensors
        after = [mark(t) for t in tensors]
        grads = [t.grad for t in tensors if t.grad is not None]
        norms = norms_of(grads) if grads else None
        versions, before, live = began
        self.waiting.append(Glance(versions, before, live, after, norms, loss, scale, site))

    @property
    def full(self) -> bool:
        """Whether as many wait as may."""
        on_gpu = bool(self.waiting) and isinstance(self.waiting[-1].loss, torch.Tensor)
        return len(self.waiting) >= (MOST_ON_GPU if on_gpu else MOST)

    def stepped(self, optimizer: int) -> None:
        """An optimizer stepped after the last pass."""
        if self.waiting:
            last = self.waiting[-1]
            last.steps = (*last.steps, optimizer)

    def norms(self) -> dict[str, float]:
        """The norms of the last pass, by name."""
        last = self.waiting[-1]
        numbers = iter(last.norms.tolist() if last.norms is not None else ())
        found = {}
        for name, after, before in zip(self._patients.names, last.after, last.before):
            number = next(numbers) / last.scale if after is not None else 0.0
            if after is not None and after != before:
                found[name] = number
        return found

    def flush(self) -> None:
        """Work out what the waiting passes mean."""
        waiting, self.waiting = self.waiting, []
        history, motion = self._patients.history, self._patients.motion
        if motion is not None:
            motion.finish()
        if history is None or motion is None or not waiting:
            return
        _read(waiting)
        group: list[Glance] = []
        known: Any = None
        previous: Glance | None = None
        for each in waiting:
            meaning = _Meaning(each, previous, history, motion)
            previous = each
            if known is not None and meaning.key() == known.key():
                group.append(each)
                known = meaning
                continue
            if known is not None:
                known.tell(history, group, self._patients)
            known, group = meaning, [each]
        known.tell(history, group, self._patients)
        motion.keep_as(waiting[-1].versions, waiting[-1].after)


class _Meaning:
    """What one pass means: who has moved and was reset since the one before, who was reached."""

    def __init__(
        self, this: Glance, before: Glance | None, history: ArrayHistory, motion: TensorMotion
    ) -> None:
        count = len(history.parameters)
        self.change: Change | None = None
        if before is not None and len(before.versions) == len(this.versions):
            moved = motion.differ(before.versions, this.versions)
            lives = [True] * len(this.before)
            if this.live is not None:
                for number, live in zip(this.live[0], this.live[1].flags().tolist()):
                    lives[number] = live
            reset = [
                now is None or then is None or now[0] != then[0] or not live
                for now, then, live in zip(this.before, before.after, lives)
            ]
            pulled = [mark is not None for mark in before.after]
            self.change = Change(_flags(moved, count), _flags(pulled, count), _flags(reset, count))
        reached = [a is not None and a != b for a, b in zip(this.after, this.before)]
        self.reached = _flags(reached, count)
        self.gradients = np.zeros(count)
        numbers = this.norms.tolist() if this.norms is not None else []
        having = [n for n, mark in enumerate(this.after) if mark is not None]
        self.gradients[having] = np.array(numbers) / this.scale
        self.gradients[~self.reached] = 0.0
        self.loss = this.loss
        self.scaled = this.scale != 1.0
        if self.scaled and isfinite(self.loss):  # the scaler skips this step
            self.gradients = np.where(np.isfinite(self.gradients), self.gradients, 0.0)
        self.steps, self.site = this.steps, this.site

    def key(self) -> Any:
        change = self.change
        parts = () if change is None else (change.moved.tobytes(), change.reset.tobytes())
        zero = (self.gradients == 0.0).tobytes()
        finite = isfinite(self.loss) and bool(np.isfinite(self.gradients).all())
        return parts, self.reached.tobytes(), zero, finite, self.steps

    def tell(self, history: ArrayHistory, group: Sequence[Glance], patients: Patients) -> None:
        """What the passes of a group mean. The first one is told alone: what it leaves behind, as
        gradients that nobody has reset, is there for all others."""
        for part in (group[:1], group[1:]):
            if part:
                self._tell(history, part, patients)

    def _tell(self, history: ArrayHistory, group: Sequence[Glance], patients: Patients) -> None:
        motion, many = history.motion, len(group)
        if self.change is not None:
            motion.take(history.passes, self.change, many)
        losses = [each.loss for each in group]
        history.pass_by(self.gradients, self.reached, losses, self.site, keep=False)
        for optimizer in self.steps:
            patients.step_again(optimizer, many)


def _flags(found: list[bool], count: int) -> Any:
    flags = np.zeros(count, dtype=bool)
    flags[: len(found)] = found
    return flags


def _read(waiting: Sequence[Glance]) -> None:
    """Losses and norms that are still on a device, with one wait for all of them."""
    late = [each for each in waiting if torch.is_tensor(each.loss)]
    for each in waiting:
        if isinstance(each.norms, Norms):
            each.norms.send()
    if late:
        losses = torch.stack([each.loss.double() for each in late]).tolist()
        for each, loss in zip(late, losses):
            each.loss = loss / each.scale
