"""What happens to the parameters between passes: who moves them, how far, along which gradient.

Movements are seen by comparing the numbers before a pass with those after the pass before, so any
loop is understood, whoever wrote it; optimizers of ``rg.optim`` also say when they step. Kept are
sums and spells, one entry a parameter or a group.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._shared.sites import Site
from ..value import Value, core
from .spells import Spells
from .thresholds import Thresholds

ALONG = 0.1
"""The least cosine between an update and the gradient, or against it, for the update to follow."""
CLOSELY, MANY = 0.9, 8
"""A step that follows the gradient this closely, in so many numbers, is no overshooting."""
EFFECT = 1e-3
"""Gradient × weight over the loss: from here on a gradient is one that could be learned from."""


@dataclass(frozen=True)
class Step:
    """One step in sums over groups: squares of the update, the gradient and the weights of what
    moved, and the update times the gradient."""

    updates: Any
    gradients: Any
    weights: Any
    products: Any

    @property
    def ratio(self) -> float:
        """Update over weight, of everything that moved; NaN where the weights are 0."""
        with np.errstate(all="ignore"):
            return float(np.sqrt(self.updates.sum()) / np.sqrt(self.weights.sum()))

    @property
    def effect(self) -> float:
        """Gradient × weight, of everything that moved."""
        with np.errstate(all="ignore"):
            return float(np.sqrt(self.gradients.sum()) * np.sqrt(self.weights.sum()))

    @property
    def cosine(self) -> float:
        """Between the update and the gradient; NaN where either is 0."""
        with np.errstate(all="ignore"):
            lengths = np.sqrt(self.updates.sum()) * np.sqrt(self.gradients.sum())
            return float(self.products.sum() / lengths)


@dataclass
class Overshoot:
    """Long steps down the gradient that the loss has not recovered from."""

    began: int = 0
    loss: float = float("nan")
    steps: int = 0
    ratio: float = 0.0
    group: int = 0


class Motion:
    """The steps seen so far, summed up."""

    def __init__(
        self, values: Sequence[Value], group_of: Any, groups: int, thresholds: Thresholds
    ) -> None:
        count, patience = len(values), thresholds.patience
        self.values = list(values)
        self._group_of, self._groups, self._limits = group_of, groups, thresholds
        self.steps = self.repeated = 0  # steps, and those that moved again what had moved before
        self.intervals = 0
        self.updated = np.zeros(count, dtype=bool)
        self.stale = np.zeros(count, dtype=np.int64)
        self.stale_steps = Spells(1, patience)
        self.stale_site: Site | None = None
        self.ascent = Spells(groups, patience)
        self.closely = Spells(1)
        self.hasty, self.idle = Spells(1, patience), Spells(1, patience)
        self.ratio = float("nan")
        self.hastiest = 0
        self.overshoot = Overshoot()
        self.held = np.zeros(count, dtype=bool)
        self.optimizer = ""
        self.optimizer_steps = self.astray = 0
        self.wiped = Spells(1, patience)
        self.wiped_site: Site | None = None
        self.loss_at = {"ascent": float("nan"), "hasty": float("nan")}
        self._losses: deque[float] = deque(maxlen=3)
        self._used = np.zeros(count, dtype=bool)
        self._mixed = np.zeros(count, dtype=bool)
        self._waiting = np.zeros(count, dtype=bool)
        self._unreached = np.zeros(count, dtype=bool)
        self._stepped_at = np.zeros(count, dtype=np.int64)
        self._after: tuple[Any, Any] | None = None

    def now(self) -> tuple[Any, Any]:
        """The parameters and their gradients as they are."""
        data, grads = np.empty(len(self.values)), np.empty(len(self.values))
        core.read_data(self.values, data)
        core.read_grad(self.values, grads)
        return data, grads

    @property
    def loss(self) -> float:
        """The mean loss of the latest passes."""
        return sum(self._losses) / len(self._losses) if self._losses else float("nan")

    @property
    def after(self) -> tuple[Any, Any] | None:
        """Parameters and gradients after the last pass, or when last looked at."""
        return self._after

    # ---- between passes ----------------------------------------------------------------------

    def settle(self, number: int) -> None:
        """See what has happened since pass ``number``, the last one."""
        if self._after is not None:
            self._settle(number, *self.now())

    def adopt(self, values: Sequence[Value], anew: Any, number: int) -> None:
        """Other values stand for the parameters, those at ``anew`` since pass ``number``; their
        gradients were 0 when they were made."""
        self.values = list(values)
        assert self._after is not None
        grads = self._after[1].copy()
        grads[anew] = 0.0
        self._settle(number, self.now()[0], grads)

    def _settle(self, number: int, data: Any, grads: Any) -> None:
        assert self._after is not None
        before, gradient = self._after
        moved = (data != before) & ~(np.isnan(data) & np.isnan(before))
        if moved.any():
            self._step(number, moved, data, before, gradient)
        reset = grads == 0.0
        self._used &= ~reset
        self._mixed &= ~reset
        self._after = data, grads

    def _step(self, number: int, moved: Any, data: Any, before: Any, gradient: Any) -> None:
        self.steps += 1
        stale = moved & self._mixed
        if (moved & self.updated).any():
            self.repeated += 1
            self.stale_steps.update(number, np.array([stale.any()]))
        self.stale += stale
        self.updated |= moved
        self._used |= moved & (gradient != 0.0)
        with np.errstate(all="ignore"):
            update = np.where(moved, data - before, 0.0)
            gradient, weight = np.where(moved, gradient, 0.0), np.where(moved, before, 0.0)
            step = Step(*(self._by_group(x) for x in (
                update * update, gradient * gradient, weight * weight, update * gradient,
            )))  # fmt: skip
            self._judge_direction(number, step, int(moved.sum()))
            self._judge_length(number, step)

    def _by_group(self, numbers: Any) -> Any:
        return np.bincount(self._group_of, weights=numbers, minlength=self._groups)

    def _judge_direction(self, number: int, step: Step, size: int) -> None:
        lengths = np.sqrt(step.updates) * np.sqrt(step.gradients)
        counts = np.isfinite(lengths) & (lengths > 0.0)
        uphill = step.products > ALONG * lengths
        opening = not self.ascent.began.any()
        self.ascent.update(number, uphill & counts, counts)
        if opening and self.ascent.began.any():
            self.loss_at["ascent"] = self.loss
        if size >= MANY and np.isfinite(step.cosine):
            self.closely.update(number, np.array([step.cosine > CLOSELY]))

    def _judge_length(self, number: int, step: Step) -> None:
        ratio, effect, loss = step.ratio, step.effect, abs(self.loss)
        if not np.isfinite(ratio):
            return
        self.ratio = ratio
        opening = self.hasty.began[0] == 0
        self.hasty.update(number, np.array([ratio > self._limits.hasty]))
        hastiest = int(np.argmax(step.updates / np.maximum(step.weights, 1e-300)))
        if opening and self.hasty.began[0]:
            self.loss_at["hasty"] = self.loss
            self.hastiest = hastiest
        if ratio > self._limits.hasty and step.cosine < -ALONG:  # and nobody set the weights
            if not self.overshoot.steps or self.loss < self.overshoot.loss:
                self.overshoot = Overshoot(number, self.loss, group=hastiest)
            self.overshoot.steps += 1
            self.overshoot.ratio = max(self.overshoot.ratio, ratio)
        learnable = effect >= EFFECT * loss
        self.idle.update(number, np.array([ratio < self._limits.idle and learnable]))

    # ---- passes ------------------------------------------------------------------------------

    def passed(self, gradients: Any, reached: Any, loss: float, site: Site | None) -> None:
        """After a pass: its own gradients, and which parameters it reached."""
        self.intervals += 1
        self._losses.append(loss)
        arrived = gradients != 0.0
        mixed = self._used & arrived
        if mixed.any():
            self.stale_site = site
        self._mixed |= mixed
        self._waiting |= arrived
        self._unreached &= ~reached
        self._after = self.now()

    # ---- optimizers --------------------------------------------------------------------------

    def holding(self, name: str, mine: Any) -> None:
        """An optimizer steps: which parameters it holds, by number."""
        self.optimizer, self.optimizer_steps = name, self.optimizer_steps + 1
        self.held[mine] = True

    def stepping(
        self, mine: Any, strangers: bool, number: int, site: Site | None, clock: int
    ) -> None:
        """Before an optimizer steps on gradients that are there; ``strangers`` are values that it
        holds and whose place others have taken, ``clock`` counts the passes over any model."""
        passed = len(mine) > 0 and clock > int(self._stepped_at[mine].max())
        if strangers or (passed and self._unreached[mine].all()):
            self.astray += 1
        waiting = mine[self._waiting[mine]]
        if len(waiting):
            grads = self.now()[1]
            wiped = not (grads[waiting] != 0.0).any()
            self.wiped.update(number, np.array([wiped]))
            self.wiped_site = site if wiped else self.wiped_site
        self._waiting[mine] = False
        self._unreached[mine] = True
        self._stepped_at[mine] = clock
