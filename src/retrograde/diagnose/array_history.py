"""The history of parameters that are arrays, one entry an array: examined passes and glances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from .._shared.numerics import np
from .._shared.sites import Site
from .history import History, Seen
from .motion import Motion
from .parameters import Parameters
from .thresholds import Thresholds
from .zeros import DETACHED, UNREACHABLE, UNTRAINED, Zero


@dataclass
class Losses:
    """The loss over time: where it began, its least, and how it is now."""

    first: float = float("nan")
    least: float = float("inf")
    last: float = float("nan")
    grown: int = 0
    """In how many passes of the present spell it was far above where it began."""
    began: int = 0

    def take(self, number: int, loss: float, growth: float) -> None:
        """The loss of one pass."""
        if not isfinite(loss):
            return
        if not isfinite(self.first):
            self.first = loss
        self.least, self.last = min(self.least, loss), loss
        if abs(loss) > growth * max(abs(self.first), 1e-3):
            self.began = self.began or number
            self.grown += 1
        else:
            self.began = self.grown = 0


@dataclass
class Stranger:
    """Arrays an optimizer holds and no model has: how many, and the shape of the first."""

    optimizer: str
    count: int
    shape: tuple[int, ...]
    site: Site | None = None


@dataclass
class Severed:
    """A parameter that stands in several places, one of which does not reach the loss."""

    names: tuple[str, ...]
    how: str
    site: Site | None
    number: int
    began: int


@dataclass
class Beside:
    """What was found beside passes."""

    strangers: list[Stranger] = field(default_factory=list)
    severed: dict[Any, Severed] = field(default_factory=dict)
    losses: Losses = field(default_factory=Losses)
    alike: dict[int, Site | None] = field(default_factory=dict)
    """Parameters whose units are all the same, and the line that uses them."""
    spoiled: bool = False
    """Whether parameters are not finite now."""


_WHOLE = tuple(
    """
    passes nodes edges loss past zeros units _unit_at _layers births birth_pass not_finite zero_loss
    growing nodes_at_first _growth profile vanishing exploding steep fall rise moments _stride
    findings beside examined _looked _rate carried
    """.split()
)
"""What does not depend on how many parameters there are."""


class ArrayHistory(History):
    """The passes over arrays seen so far."""

    def __init__(self, parameters: Parameters, thresholds: Thresholds, motion: Motion) -> None:
        super().__init__(parameters, thresholds, motion)
        self.beside = Beside()
        self.examined = 0
        self.carried: tuple[bool, Site | None] = False, None
        """Whether the pass that is being taken uses nodes of the one before, and where."""
        self._looked, self._rate = 0, 0.0
        self._weights = np.zeros(len(parameters))

    def inherit(self, other: ArrayHistory) -> None:
        """Take over what is known of the parameters that come first here too, when there are
        more of them than there were."""
        old = len(other.parameters)
        other.motion.finish()
        for name in ("largest", "reached", "depths", "missing", "zero_uses", "_weights"):
            getattr(self, name)[:old] = getattr(other, name)
        self.component[:old] = other.component
        for mine, theirs in ((self._squares, other._squares), (self._largest, other._largest)):
            for k in range(2):
                mine[k][:old] = theirs[k]
        self._averaged = other._averaged
        self.silent.inherit(other.silent)
        self.cuts.inherit(other.cuts)
        self.motion.inherit(other.motion)
        for name in _WHOLE:
            setattr(self, name, getattr(other, name))

    def weights(self) -> Any:
        """The norms of the parameters when they were last looked at."""
        return self._weights

    def weigh(self, norms: Any) -> None:
        """The norms of the parameters, as they are now."""
        self._weights = np.where(np.isnan(norms), self._weights, norms)

    def why(self, number: int, began: int = 0) -> Zero:
        """Why a gradient is zero. What optimizers pass over and no loss ever reached, as a target
        network or a teacher, is not meant to learn."""
        zero, held = super().why(number, began), self.motion.held
        aside = zero.kind in (DETACHED, UNREACHABLE) and not self.reached[number]
        return Zero(UNTRAINED) if aside and held.any() and not held[number] else zero

    @property
    def spoiled(self) -> bool:
        """Whether parameters are not finite, or most passes were not: a program that goes on to
        another model has not healed the first."""
        lasted = int(self.not_finite.past_ended[0]) - int(self.not_finite.past_began[0]) + 1
        since = self.passes - int(self.not_finite.past_ended[0])
        return self.beside.spoiled or since < lasted

    @property
    def carrier(self) -> Site | None:
        """The line that takes what an earlier pass has made into this one, where it is known."""
        return self.carried[1]

    def trained(self) -> Any:
        """Those that optimizers hold; without any, those that the loop moves step after step."""
        motion = self.motion
        by_hand = not motion.optimizer_steps and motion.repeated >= self.thresholds.patience
        return motion.updated if by_hand else super().trained()

    def examine(self, seen: Seen, site: Site | None) -> None:
        """A pass of which everything was seen."""
        self.motion.finish()
        self.examined += 1
        self.take(seen)
        self.beside.losses.take(self.passes, seen.loss, self.thresholds.blown)
        self.motion.passed(seen.gradients, seen.reached, (seen.loss,), site)

    def _take_growth(self, nodes: int) -> None:
        """Whether the graph has grown as fast, pass by pass, as before the last pass that was
        examined, while it carries history over."""
        gap, before = self.passes - self._looked, self._rate
        self._looked, self._rate = self.passes, (nodes - self.nodes) / gap
        grows = 0 < before == self._rate and self.passes > 2 and self.carried[0]
        fresh = self.growing.began[0] == 0
        self.growing.update(self.passes, np.array([grows]), many=gap)
        if grows and fresh:
            self.growing.began[0] = self.passes - gap + 1
            self.nodes_at_first = self.nodes - round(before * (self.passes - gap - 1))

    def pass_by(
        self, gradients: Any, reached: Any, losses: Sequence[float], site: Site | None,
        keep: bool = True,
    ) -> None:  # fmt: skip
        """A pass, or several alike, of which only losses and norms of gradients were seen; for
        ``keep`` see :meth:`Motion.passed`."""
        many, self.loss = len(losses), losses[-1]
        for number, loss in enumerate(losses, start=self.passes + 1):
            self.beside.losses.take(number, loss, self.thresholds.blown)
            self.zero_loss.update(number, np.array([loss == 0.0]))
        self.passes += many
        self.glance(gradients, reached, many)
        odd = not isfinite(self.loss) or not np.isfinite(gradients).all()
        self.not_finite.update(self.passes, np.array([odd]), many=many)
        self.motion.passed(gradients, reached, losses, site, keep)
