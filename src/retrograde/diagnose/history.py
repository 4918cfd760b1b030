"""What the doctor remembers of the passes it has seen: sums and spells, never a graph.

Its size depends on the parameters alone, not on how many passes there were. A single examination
is what was seen of one pass. Readers of passes fill a :class:`Seen`; nothing here knows of engines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from .._shared.numerics import np
from .motion import Motion
from .overwriting import Rules
from .rebuilding import Rebuilding
from .severed import Cuts
from .spells import Spells
from .thresholds import Thresholds
from .units import Layer, Unit
from .zeros import CANCELLED, DETACHED, FROZEN, UNREACHABLE, Zero

if TYPE_CHECKING:
    from .._shared.sites import Site
    from .births import Births
    from .parameters import Parameters
    from .report import Verdict

MOST_HISTORY = 256
"""How many passes the history shows: past it, every other one is left out."""

RECENT = 4
"""Gradients are averaged over the latest passes: so many, and up to twice that."""


@dataclass(frozen=True)
class Moment:
    """One pass in the history."""

    number: int
    loss: float
    gradient_norm: float


@dataclass(frozen=True)
class Past:
    """A silence that has ended: its passes, and the reason there was."""

    began: int
    ended: int
    zero: Zero


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


class Rows(NamedTuple):
    """What was seen of one unit in one pass: the parameter it belongs to, its op and line, its
    rows and in how many it was shut; ``mark`` tells whether another unit did the same work, and
    ``unit`` the units of one parameter apart. Where ``shut`` is an array it is a whole layer."""

    number: int
    op: str
    saturates: bool
    made: Any
    rows: int
    shut: Any
    mark: Any = None
    unit: Any = 0


@dataclass(frozen=True)
class Seen:
    """What was seen of one pass. By parameter: ``gradients`` (the number, or the norm of many),
    ``reached``, ``depths``. ``zeros`` are (parameter, reasons, how many uses, why), ``levels`` the
    profile as sums and counts, ``step`` depths a level, ``growth`` how many times gradients alone
    grow along it where the profile is of something else, ``births`` finds where NaN comes from."""

    gradients: Any
    reached: Any
    depths: Any
    loss: float
    nodes: int
    edges: int
    levels: tuple[Any, Any]
    births: Callable[[], Births]
    step: int = 1
    units: Sequence[Rows] = ()
    zeros: Sequence[tuple[int, int, int, Callable[[], Zero]]] = ()
    closures: list[Any] = field(default_factory=list)
    odd_data: int = 0
    odd_gradients: int = 0
    growth: float = 0.0


class History:
    """The passes seen so far, summed up."""

    clipping = "rg.optim.clip_grad_norm(parameters, 1.0)"
    """How gradients are clipped, in the words of the engine."""
    by_hand = "p.data -= lr * p.grad"
    """How a parameter is stepped without an optimizer."""

    def __init__(self, parameters: Parameters, thresholds: Thresholds, motion: Motion) -> None:
        count, patience = len(parameters), thresholds.patience
        self.parameters, self.thresholds, self.motion = parameters, thresholds, motion
        self.passes = 0
        self.nodes = self.edges = 0
        self.loss = 0.0
        self._squares = [np.zeros(count), np.zeros(count)]  # of these passes, and those before
        self._largest = [np.zeros(count), np.zeros(count)]
        self._averaged = [0, 0]
        self.largest = np.zeros(count)
        self.reached = np.zeros(count, dtype=bool)
        self.depths = np.full(count, -1, dtype=np.int32)
        self.component = np.arange(count)
        """Parameters that a pass reached together have the same number: one model."""
        self.silent = Spells(count)
        self.missing = np.zeros(count, dtype=bool)
        """Whether the last pass over its model did not reach a parameter."""
        self.past: dict[int, Past] = {}
        self.zeros: dict[int, tuple[int, Zero]] = {}
        self.zero_uses = np.zeros(count, dtype=np.int64)
        self.units: dict[int, list[Unit]] = {}
        """The units that belong to a parameter."""
        self._unit_at: dict[Any, Unit] = {}
        self._layers: dict[int, dict[Any, Layer]] = {}
        self.twins = Spells(count)
        self.cuts = Cuts(count)
        self.noise: Any = None
        self.births: Births | None = None
        self.birth_pass = 0
        self.not_finite = Spells(1, patience)
        self.zero_loss = Spells(1)
        self.growing = Spells(1)
        self.nodes_at_first = 0
        self._growth = 0
        self.profile = Profile((), (), 1)
        self.vanishing, self.exploding = Spells(1, patience), Spells(1, patience)
        self.steep = Spells(1, patience)
        self.fall = self.rise = 1.0  # the worst of the present spell
        self.rules = Rules()
        self.moments: list[Moment] = []
        self._stride = 1
        self.rebuilding = Rebuilding()
        self.findings: list[Verdict] = []
        """What was found beside passes, and is said as it is."""

    @property
    def squares(self) -> Any:
        """The mean square of each gradient over the latest passes."""
        with np.errstate(over="ignore", invalid="ignore"):
            return (self._squares[0] + self._squares[1]) / max(sum(self._averaged), 1)

    def sizes(self) -> Any:
        """The size of each gradient over the latest passes; the largest where squares underflow or
        overflow."""
        with np.errstate(invalid="ignore"):
            sizes = np.sqrt(self.squares)
            usual = (sizes > 0.0) & np.isfinite(sizes)
            return np.where(usual, sizes, np.maximum(*self._largest))

    # ---- one pass ----------------------------------------------------------------------------

    def take(self, seen: Seen) -> None:
        """Take in one pass."""
        gradients, reached = seen.gradients, seen.reached
        self.passes += 1
        self._take_growth(seen.nodes)
        self.nodes, self.edges, self.loss = seen.nodes, seen.edges, seen.loss
        self.depths = np.maximum(self.depths, seen.depths)
        self.glance(gradients, reached)
        self._take_units(seen.units)
        self._take_zeros(seen.zeros)
        self._take_profile(seen)
        self._take_births(seen)
        self.rules.look(seen.closures, self.passes)
        self.zero_loss.update(self.passes, np.array([self.loss == 0.0]))

    def glance(self, gradients: Any, reached: Any, many: int = 1) -> None:
        """What can be said of a pass, or of many alike, by gradients alone."""
        sizes = np.abs(gradients)
        if self._averaged[0] == RECENT:
            self._squares = [np.zeros_like(sizes), self._squares[0]]
            self._largest = [np.zeros_like(sizes), self._largest[0]]
            self._averaged = [0, RECENT]
        self._averaged[0] += 1
        with np.errstate(over="ignore", invalid="ignore"):
            self._squares[0] += gradients * gradients
            np.maximum(self._largest[0], sizes, out=self._largest[0])
            np.maximum(self.largest, sizes, out=self.largest)  # NaN stays
        self._take_silence(gradients, reached, self._counts(reached), many)
        self._remember(float(sizes.max(initial=0.0)), sizes)

    def _counts(self, reached: Any) -> Any:
        """For which parameters a pass says something: those of its model, and those that no pass
        has reached yet. A pass over another model is none of theirs."""
        mine = self.component[reached]
        if not len(mine):
            self.reached |= reached
            return ~self.reached
        first = mine.min()
        if first != mine.max():
            self.component[np.isin(self.component, mine)] = first
        self.reached |= reached
        return (self.component == first) | ~self.reached

    def _take_growth(self, nodes: int) -> None:
        """Whether the graph is larger than that of the pass before by as much as that one was."""
        growth, self._growth = self._growth, nodes - self.nodes
        self.growing.update(self.passes, np.array([0 < growth == self._growth and self.passes > 2]))
        if self.growing.began[0] == self.passes:
            self.nodes_at_first = self.nodes - growth

    def _take_silence(self, gradients: Any, reached: Any, counts: Any, many: int) -> None:
        silent = gradients == 0.0
        before = self.silent.longest.copy()
        ending = self.silent.update(self.passes, silent, counts, many)
        lasting = ending & (self.silent.longest > before)
        lasting &= self.silent.longest >= self.thresholds.patience
        for number in np.flatnonzero(lasting).tolist():
            began, ended = self.silent.past_began[number], self.silent.past_ended[number]
            self.past[number] = Past(int(began), int(ended), self.why(number, int(began)))
        self.missing = np.where(counts, ~reached, self.missing)
        self.zero_uses[~silent] = 0

    def _take_zeros(self, zeros: Sequence[tuple[int, int, int, Callable[[], Zero]]]) -> None:
        for number, reasons, uses, why in zeros:
            self.zero_uses[number] += uses
            known = self.zeros.get(number)
            if known is None or known[0] != reasons:
                self.zeros[number] = (reasons, why())

    def _take_units(self, units: Sequence[Rows]) -> None:
        alike: dict[Any, list[int]] = {}
        seen = np.zeros(len(self.parameters), dtype=bool)
        same = np.zeros(len(self.parameters), dtype=bool)
        for rows in units:
            number = rows.number
            if isinstance(rows.shut, np.ndarray):
                layers = self._layers.setdefault(number, {})
                if rows.unit not in layers:
                    made = Layer(rows.op, rows.saturates, rows.made, len(rows.shut))
                    layers[rows.unit] = made
                layers[rows.unit].add(self.passes, rows.rows, rows.shut)
                seen[number] = True
                continue
            unit = self._unit_at.get((number, rows.unit))
            if unit is None:
                unit = self._unit_at[number, rows.unit] = Unit(rows.op, rows.saturates, rows.made)
                self.units.setdefault(number, []).append(unit)
            unit.add(self.passes, rows.rows, rows.shut)
            seen[number] = True
            if rows.mark is not None:
                alike.setdefault((unit.op, rows.rows, rows.mark), []).append(number)
        for numbers in alike.values():
            same[numbers] = len(numbers) > 1
        self.twins.update(self.passes, same, seen)

    def units_of(self, numbers: Any) -> list[Unit]:
        """The units that belong to some parameters."""
        found: list[Unit] = []
        for number in numbers.tolist():
            found += self.units.get(number, ())
            for layer in self._layers.get(number, {}).values():
                found += layer
        return found

    def _take_profile(self, seen: Seen) -> None:
        sums, counts = seen.levels
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.where(counts > 0, sums / np.maximum(counts, 1), 0.0)
        self.profile = Profile(tuple(means.tolist()), tuple(counts.tolist()), seen.step)
        fall, rise = self.profile.fall_and_rise(int(self.depths.max(initial=0)))
        limits, rise = self.thresholds, max(rise, seen.growth)
        finite = np.array([not seen.odd_gradients])  # of other passes no profile is to be had
        self.vanishing.update(self.passes, np.array([fall < limits.vanishing]), finite)
        self.exploding.update(self.passes, np.array([rise > limits.exploding]), finite)
        self.fall = min(self.fall, fall) if self.vanishing.began[0] else 1.0
        self.rise = max(self.rise, rise) if self.exploding.began[0] else 1.0
        self.steep.update(self.passes, np.array([self.steepness() > limits.steep]), finite)

    def steepness(self) -> float:
        """The largest gradient × weight of a group over the loss, as it is now."""
        parameters = self.parameters
        weights = self.weights()
        with np.errstate(all="ignore"):
            squares = [
                np.bincount(parameters.group_of, x, len(parameters.group_names))
                for x in (self.squares, weights * weights)
            ]
            products = np.sqrt(squares[0]) * np.sqrt(squares[1])
        finite = products[np.isfinite(products)]
        return float(finite.max(initial=0.0)) / self.scale

    @property
    def scale(self) -> float:
        """What gradient × weight is measured by: the loss, or 1 where that is more."""
        return max(abs(self.loss), 1.0) if isfinite(self.loss) else 1.0

    def _take_births(self, seen: Seen) -> None:
        """The births of a pass: the first there are, and those that a sick spell begins with."""
        sick = bool(seen.odd_gradients) or not isfinite(self.loss)
        self.not_finite.update(self.passes, np.array([sick]))
        begins = self.not_finite.began[0] == self.passes
        if begins or (seen.odd_data and self.births is None):
            self.births, self.birth_pass = seen.births(), self.passes

    def _remember(self, largest: float, sizes: Any) -> None:
        """A history of bounded length."""
        if (self.passes - 1) % self._stride:
            return
        norm = scaled_norm(sizes, largest)
        self.moments.append(Moment(self.passes, self.loss, norm))
        if len(self.moments) > MOST_HISTORY:
            self.moments = self.moments[::2]
            self._stride *= 2

    # ---- what is silent now, and why ---------------------------------------------------------

    def quiet(self) -> Any:
        """Which parameters get no gradient now: from the beginning, or for longer than usual."""
        beyond = np.where(self.missing & self.cuts.cut_since(self.silent.began), 1, 2)
        return self.silent.present(self.thresholds.patience, beyond)

    def why(self, number: int, began: int = 0) -> Zero:
        """Why a parameter's gradient is zero, now or in the silence that began with a pass."""
        if not self.parameters.values[number].requires_grad:
            return Zero(FROZEN)
        if self.missing[number] or not self.reached[number]:
            line = self.cuts.of(number, began or int(self.silent.began[number]))
            if line is None:
                return Zero(UNREACHABLE)
            return Zero(DETACHED, line.how, "", line.site)
        known = self.zeros.get(number)
        return known[1] if known else Zero(CANCELLED)

    def missed(self, number: int, began: int) -> None:
        """A parameter became known late: no pass has reached it since one."""
        self.silent.held_since(number, began, self.passes)
        self.missing[number] = True

    @property
    def spoiled(self) -> bool:
        """Whether parameters are known not to be finite, whatever the latest passes were."""
        return False

    @property
    def carrier(self) -> Site | None:
        """The line that takes what an earlier pass has made into this one, where it is known."""
        return None

    def trained(self) -> Any:
        """Which parameters something is meant to move: those held by optimizers that step."""
        return self.motion.held & bool(self.motion.optimizer_steps)

    # ---- over time ---------------------------------------------------------------------------

    def begin(self) -> None:
        """Before a pass: what has happened since the last."""
        self.motion.settle(self.passes)

    def weights(self) -> Any:
        """The sizes of the parameters now."""
        raise NotImplementedError

    def close(self) -> None:
        """After the last pass: what has happened since."""
        self.motion.settle(self.passes)
        self.motion.finish()


def scaled_norm(sizes: Any, largest: float | None = None) -> float:
    """The Euclidean norm without overflow or underflow."""
    largest = float(sizes.max(initial=0.0)) if largest is None else largest
    if largest == 0.0 or not isfinite(largest):
        return largest
    return largest * float(np.sqrt(np.sum((sizes / largest) ** 2)))
