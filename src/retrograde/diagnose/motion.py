"""What happens to the parameters between passes: who moves them, how far, along which gradient.

Movements are seen by comparing the parameters before a pass with those after the pass before, so
any loop is understood, whoever wrote it; optimizers also say when they step. Kept are sums and
spells, one entry a parameter or a group. How parameters are compared is the engine's: see
``value_motion.py``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .._shared.numerics import np
from .._shared.sites import Site
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

    @cached_property
    def _sums(self) -> Any:
        """Of everything that moved: updates, gradients, weights, products."""
        with np.errstate(all="ignore"):
            parts = (self.updates, self.gradients, self.weights, self.products)
            return np.stack(parts).sum(axis=1)

    @cached_property
    def ratio(self) -> float:
        """Update over weight, of everything that moved; NaN where the weights are 0."""
        updates, _, weights, _ = self._sums
        with np.errstate(all="ignore"):
            return float(np.sqrt(updates) / np.sqrt(weights))

    @cached_property
    def effect(self) -> float:
        """Gradient × weight, of everything that moved."""
        _, gradients, weights, _ = self._sums
        with np.errstate(all="ignore"):
            return float(np.sqrt(gradients) * np.sqrt(weights))

    @cached_property
    def cosine(self) -> float:
        """Between the update and the gradient; NaN where either is 0."""
        updates, gradients, _, products = self._sums
        with np.errstate(all="ignore"):
            return float(products / (np.sqrt(updates) * np.sqrt(gradients)))


@dataclass(frozen=True)
class Change:
    """What has happened since the last pass. By parameter: whether it ``moved``, whether its
    gradient was there to move it (``pulled``), whether that was ``reset`` since. ``step`` has the
    sums of what moved, in ``size`` numbers; None where they were not measured."""

    moved: Any
    pulled: Any
    reset: Any
    step: Step | None = None
    size: int = 0


@dataclass
class Overshoot:
    """Long steps down the gradient that the loss has not recovered from."""

    began: int = 0
    loss: float = float("nan")
    steps: int = 0
    ratio: float = 0.0
    group: int = 0


class Motion(ABC):
    """The steps seen so far, summed up, for ``count`` parameters in ``groups`` groups."""

    def __init__(self, count: int, group_of: Any, groups: int, thresholds: Thresholds) -> None:
        patience = thresholds.patience
        self._group_of, self._groups, self._limits = group_of, groups, thresholds
        self.steps = self.repeated = 0  # steps, and those that moved again what had moved before
        self.intervals = 0
        self.measuring = True
        """Whether the length of the next step is to be measured, where that costs something."""
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

    # ---- what the engine knows ---------------------------------------------------------------

    @abstractmethod
    def change(self) -> Change | None:
        """What has happened since parameters were last kept, which they are anew; None before."""

    @abstractmethod
    def keep(self) -> None:
        """Remember the parameters and their gradients as they are after a pass."""

    @abstractmethod
    def have_gradients(self, mine: Any) -> bool:
        """Whether any of these parameters has a gradient now that is not 0."""

    @property
    def loss(self) -> float:
        """The mean loss of the latest passes."""
        return sum(self._losses) / len(self._losses) if self._losses else float("nan")

    def inherit(self, other: Motion) -> None:
        """Take over what is known of the parameters that come first here too."""
        for name in "updated stale held _used _mixed _waiting _unreached _stepped_at".split():
            theirs = getattr(other, name)
            getattr(self, name)[: len(theirs)] = theirs
        self.ascent.inherit(other.ascent)
        for name in (
            "steps repeated intervals stale_steps stale_site closely hasty idle ratio hastiest"
            " overshoot optimizer optimizer_steps astray wiped wiped_site loss_at _losses"
        ).split():
            setattr(self, name, getattr(other, name))

    # ---- between passes ----------------------------------------------------------------------

    def settle(self, number: int) -> None:
        """See what has happened since pass ``number``, the last one; where that is not known at
        once, :meth:`finish` takes it in."""
        change = self.change()
        if change is not None:
            self.take(number, change)

    def finish(self) -> None:  # noqa: B027  most engines know everything at once
        """Take in what was seen by :meth:`settle` and is known only now."""

    def take(self, number: int, change: Change, many: int = 1) -> None:
        """What has happened since pass ``number``, and as often again between alike passes."""
        if change.moved.any():
            self._step(number + many - 1, change, many)
        self._used &= ~change.reset
        self._mixed &= ~change.reset

    def _step(self, number: int, change: Change, many: int = 1) -> None:
        self.steps += many
        moved = change.moved
        stale = moved & self._mixed
        if (moved & self.updated).any():
            self.repeated += many
            self.stale_steps.update(number, np.array([stale.any()]), many=many)
        self.stale += many * stale
        self.updated |= moved
        self._used |= moved & change.pulled
        if change.step is not None:
            with np.errstate(all="ignore"):
                self._judge_direction(number, change.step, change.size)
                self._judge_length(number, change.step)

    def by_group(self, numbers: Any) -> Any:
        """Sums over groups."""
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
        learnable = effect > 0.0 and effect >= EFFECT * loss
        self.idle.update(number, np.array([ratio < self._limits.idle and learnable]))

    # ---- passes ------------------------------------------------------------------------------

    def passed(
        self, gradients: Any, reached: Any, losses: Sequence[float], site: Site | None,
        keep: bool = True,
    ) -> None:  # fmt: skip
        """After one pass, or several alike: its own gradients, and which parameters it reached.
        Of passes that are told late, whoever tells of them keeps what there was."""
        self.intervals += len(losses)
        self._losses.extend(losses)
        arrived = gradients != 0.0
        mixed = self._used & arrived
        if mixed.any():
            self.stale_site = site
        self._mixed |= mixed
        self._waiting |= arrived
        self._unreached &= ~reached
        if keep:
            self.keep()

    # ---- optimizers --------------------------------------------------------------------------

    def holding(self, name: str, mine: Any) -> None:
        """An optimizer steps: which parameters it holds, by number."""
        self.optimizer, self.optimizer_steps = name, self.optimizer_steps + 1
        self.held[mine] = True

    def stepping(
        self, mine: Any, strangers: bool, number: int, site: Site | None, clock: int,
        wiped: bool | None = None,
    ) -> None:  # fmt: skip
        """Before an optimizer steps on gradients that are there; ``strangers`` are values that it
        holds and whose place others have taken, ``clock`` counts the passes over any model.
        ``wiped`` is given where it is known whether gradients had been reset."""
        passed = len(mine) > 0 and clock > int(self._stepped_at[mine].max())
        if strangers or (passed and self._unreached[mine].all()):
            self.astray += 1
        waiting = mine[self._waiting[mine]]
        if len(waiting):
            wiped = not self.have_gradients(waiting) if wiped is None else wiped
            self.wiped.update(number, np.array([wiped]))
            self.wiped_site = site if wiped else self.wiped_site
        self._waiting[mine] = False
        self._unreached[mine] = True
        self._stepped_at[mine] = clock
