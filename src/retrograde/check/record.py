"""What the doctor remembers of the passes it has seen: sums, never a graph.

Its size depends on the parameters alone, not on how many passes there were. A single examination
is a record of one pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from ..sites import Site, site_of
from ..surveying import SATURATE, SOFT
from ..value import Value, core
from .absolute import absolute_adjoints
from .births import Births, births_under
from .groups import Parameters
from .rules import Overwrite, overwriting
from .thresholds import KINDS, Thresholds, limits_of
from .zeros import Zero, zero_of

MOST_HISTORY = 256
"""How many passes the history shows: past it, every other one is left out."""

NOISE = 1e-12
"""A gradient at most this part of its absolute adjoint is rounding."""

_BOUNDED = frozenset(
    name for code, name in enumerate(core.OP_NAMES) if KINDS[code] & 7 in (SATURATE, SOFT)
)


@dataclass(frozen=True)
class Cut:
    """Where the history of a value was cut, and how."""

    how: str
    site: Site | None


@dataclass(frozen=True)
class Moment:
    """One pass in the history."""

    number: int
    loss: float
    gradient_norm: float


@dataclass(frozen=True)
class Profile:
    """Mean gradients by depth in one pass, ``step`` depths a level."""

    means: tuple[float, ...]
    counts: tuple[int, ...]
    step: int

    def fall_and_rise(self, deepest: int) -> tuple[float, float]:
        """How far gradients fall, and rise, from the loss to a depth, as two ratios."""
        last = min(deepest // self.step, len(self.means) - 1)
        usual = sorted(self.counts[: last + 1])[(last + 1) // 2] if last >= 0 else 0
        # the root has its seed, and what leads from there to the rows scales the loss
        first = 1
        while usual > 2 and first < last and self.counts[first] <= 2:
            first += 1
        means = [m for m in self.means[first : last + 1] if m > 0.0 and isfinite(m)]
        if len(means) < 2:
            return 1.0, 1.0
        return means[-1] / max(means), max(means) / means[0]


@dataclass
class Unit:
    """Rows seen at one unit, and in how many it was shut; its op and line."""

    rows: int
    shut: int
    op: str
    saturates: bool
    made: Any = None

    @property
    def site(self) -> Site | None:
        """Where it is, worked out when asked for."""
        return site_of(self.made)


class Record:
    """The passes seen so far, summed up."""

    def __init__(self, parameters: Parameters, thresholds: Thresholds) -> None:
        count = len(parameters)
        self.parameters, self.thresholds = parameters, thresholds
        self._limits = limits_of(thresholds)
        self._values = list(parameters.values)
        self.passes = 0
        self.nodes = self.edges = 0
        self.loss = 0.0
        self.squares = np.zeros(count)
        self.largest = np.zeros(count)
        self.reached = np.zeros(count, dtype=bool)
        self.depths = np.full(count, -1, dtype=np.int32)
        self.latest = np.zeros(count)
        self.zeros: dict[int, tuple[int, Zero]] = {}
        self.zero_uses = np.zeros(count, dtype=np.int64)
        self.units: dict[int, Unit] = {}
        self.cuts: dict[int, Cut] = {}
        self.noise: Any = None
        self.births: Births | None = None
        self.birth_pass = 0
        self.profile = Profile((), (), 1)
        self.falls: list[float] = [1.0, 0]  # the worst, and how many passes were past the threshold
        self.rises: list[float] = [1.0, 0]
        self.overwrites: list[Overwrite] = []
        self.history: list[Moment] = []
        self._stride = 1
        # over time
        self.stale = np.zeros(count, dtype=np.int64)
        self.stale_passes = self.steps = 0
        self.stale_site: Site | None = None
        self.updated = np.zeros(count, dtype=bool)
        self._before: Any = None
        self._after: tuple[Any, Any] | None = None

    # ---- one pass ----------------------------------------------------------------------------

    def observe(self, roots: tuple[Value, ...], seeds: tuple[float, ...]) -> Any:
        """Examine one pass; returns which parameters it reached."""
        seen = core.survey(roots, seeds, self.parameters.values, KINDS, self._limits)
        gradients = np.frombuffer(seen["gradients"])
        reached = np.frombuffer(seen["reached"], dtype=bool)
        self.passes += 1
        self.nodes, self.edges = seen["nodes"], seen["edges"]
        self.loss = sum(root.data for root in roots)
        sizes = np.abs(gradients)
        with np.errstate(over="ignore", invalid="ignore"):
            self.squares += gradients * gradients
            np.maximum(self.largest, sizes, out=self.largest)  # NaN stays
        self.reached |= reached
        self.depths = np.maximum(self.depths, np.frombuffer(seen["depths"], dtype=np.int32))
        self.latest = gradients
        self._take_units(seen["units"])
        for number, reasons, uses, *blamed in seen["zeros"]:
            self.zero_uses[number] += uses
            known = self.zeros.get(number)
            if known is None or known[0] != reasons:
                parameter = self.parameters.values[number]
                zero = zero_of(parameter, reasons, self.parameters.place, *blamed)
                self.zeros[number] = (reasons, zero)
        self._take_profile(seen)
        if (seen["odd_data"] or seen["odd_adjoints"]) and not self.births:
            self.births, self.birth_pass = births_under(roots, seeds), self.passes
        if seen["closures"] and self.passes == 1:
            self.overwrites = overwriting(seen["closures"])
        self._look_for_noise(roots, sizes)
        self._remember(float(sizes.max(initial=0.0)), sizes)
        return reached

    def _take_units(self, units: list[tuple[int, int, int, Value]]) -> None:
        instruction_of = core.instruction_of
        for number, rows, shut, first in units:
            unit = self.units.get(number)
            if unit is None:
                op = first.op
                self.units[number] = Unit(rows, shut, op, op in _BOUNDED, instruction_of(first))
            else:
                unit.rows += rows
                unit.shut += shut

    def _take_profile(self, seen: dict[str, Any]) -> None:
        counts = np.frombuffer(seen["level_nodes"], dtype=np.int64)
        sums = np.frombuffer(seen["level"])
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.where(counts > 0, sums / np.maximum(counts, 1), 0.0)
        self.profile = Profile(tuple(means.tolist()), tuple(counts.tolist()), seen["step"])
        deepest = int(self.depths.max(initial=0))
        fall, rise = self.profile.fall_and_rise(deepest)
        self.falls = [min(self.falls[0], fall), self.falls[1] + (fall < self.thresholds.vanishing)]
        self.rises = [max(self.rises[0], rise), self.rises[1] + (rise > self.thresholds.exploding)]

    def _look_for_noise(self, roots: tuple[Value, ...], sizes: Any) -> None:
        """Once, where gradients are faint: which of them are what cancellation has left."""
        faint = (sizes > 0.0) & (sizes < self.thresholds.faint * sizes.max(initial=0.0))
        if self.noise is None and faint.any():
            scale = absolute_adjoints(roots, self.parameters.values, self.nodes)
            self.noise = faint & (sizes <= NOISE * scale)

    def _remember(self, largest: float, sizes: Any) -> None:
        """A history of bounded length."""
        if (self.passes - 1) % self._stride:
            return
        norm = scaled_norm(sizes, largest)
        self.history.append(Moment(self.passes, self.loss, norm))
        if len(self.history) > MOST_HISTORY:
            self.history = self.history[::2]
            self._stride *= 2

    # ---- over time ---------------------------------------------------------------------------

    def begin(self) -> None:
        """Before a pass: what the parameters and their gradients are now."""
        self._before = self._now()

    def _now(self) -> tuple[Any, Any]:
        count = len(self._values)
        data, grads = np.empty(count), np.empty(count)
        core.read_data(self._values, data)
        core.read_grad(self._values, grads)
        return data, grads

    def weights(self) -> Any:
        """The sizes of the parameters now."""
        return np.abs(self._now()[0])

    def end(self, roots: tuple[Value, ...], seeds: tuple[float, ...], site: Site | None) -> None:
        """After a pass: examine it, and see what happened between it and the one before."""
        reached = self.observe(roots, seeds)
        if self._before is not None and self._after is not None:
            data, grads = self._before
            moved = data != self._after[0]
            self.updated |= moved
            if moved.any():
                self.steps += 1
                stale = reached & moved & (grads != 0.0) & (grads == self._after[1])
                if stale.any():
                    self.stale += stale
                    self.stale_passes += 1
                    self.stale_site = site
        self._before = None
        self._after = self._now()

    def close(self) -> None:
        """After the last pass: what was updated since."""
        if self._after is not None:
            self.updated |= self._now()[0] != self._after[0]

    def cut(self, value: Value, how: str, site: Site | None) -> None:
        """A value is about to lose its history: which parameters lie under it."""
        if len(self.cuts) == len(self._values):
            return
        seen = core.survey((value,), (0.0,), self.parameters.values, KINDS, self._limits)
        for number in np.flatnonzero(np.frombuffer(seen["reached"], dtype=bool)).tolist():
            self.note_cut(number, how, site)

    def note_cut(self, number: int, how: str, site: Site | None) -> None:
        """A parameter lies under a value that lost its history; the first line is remembered."""
        self.cuts.setdefault(number, Cut(how, site))


def scaled_norm(sizes: Any, largest: float | None = None) -> float:
    """The Euclidean norm without overflow or underflow."""
    largest = float(sizes.max(initial=0.0)) if largest is None else largest
    if largest == 0.0 or not isfinite(largest):
        return largest
    return largest * float(np.sqrt(np.sum((sizes / largest) ** 2)))
