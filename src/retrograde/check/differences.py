"""Slopes by differences: central and one-sided, extrapolated, with an error that can be believed.

A line is a function of one number, sampled at steps 4ᵏ on both sides of 0. Three neighbouring steps
make a *window*: Richardson's extrapolation of their quotients, and how far it still moved. The
derivative is a limit, so windows are read from the finest step upwards; a coarser window counts
only as long as it agrees with the finer ones within their errors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import copysign, fabs, frexp, inf, isfinite, nan, sqrt, ulp

import numpy as np

from .tolerances import EPSILON, SAFETY, TOLERANCE

SMOOTH, KINK, JUMP, STEEP, EDGE, LOST = "smooth", "kink", "jump", "steep", "edge", "lost"

_START = -4  # the quick look's finest step, as a power of 4 of the scale
_PROBE = 7  # and how many powers of 4 below it a second look is taken
_POINTS = 48  # through which a polynomial is laid where noise rules
_REACH = 40  # the finest step at 0, where the number itself sets no limit


@dataclass(frozen=True)
class Slope:
    """A slope and its estimated error. ``left`` and ``right`` are None unless they were needed.

    ``kind``: smooth; a kink (finite slopes that differ); a jump; steep (an infinite slope); the
    edge of the domain, where one side alone has values; lost, where no step gives a slope.
    """

    kind: str
    value: float
    error: float
    step: float
    left: float | None = None
    right: float | None = None
    growing: bool = False  # at an edge: slower than any root, but without end, as a logarithm

    @property
    def between(self) -> tuple[float, float]:
        """The smallest and the largest of the one-sided slopes."""
        sides = [side for side in (self.left, self.right) if side is not None]
        return (min(sides), max(sides)) if sides else (self.value, self.value)


@dataclass(frozen=True)
class _Window:
    value: float
    error: float
    step: float


class Line:
    """A function along one direction: ``evaluate(t)`` for moves t, at powers of 4."""

    def __init__(
        self,
        evaluate: Callable[[float], float],
        noise: float,
        finest: int,
        coarsest: int,
        start: int,
    ) -> None:
        self._evaluate = evaluate
        self._known: dict[float, float] = {}
        self.here = self._at(0.0)
        self.noise = max(noise, 2.0 * EPSILON * fabs(self.here))
        self.finest, self.coarsest, self.start = finest, coarsest, start

    def _at(self, move: float) -> float:
        if move not in self._known:
            self._known[move] = self._evaluate(move)
        return self._known[move]

    def _quotient(self, power: int, side: str) -> float:
        """The difference quotient at a step: central, or on one side."""
        step = 4.0**power
        if side == "central":
            ahead, behind, width = self._at(step), self._at(-step), 2.0 * step
        elif side == "right":
            ahead, behind, width = self._at(step), self.here, step
        else:
            ahead, behind, width = self.here, self._at(-step), step
        difference = ahead - behind
        return difference / width if isfinite(difference) else nan

    def _window(self, power: int, side: str, noise: float) -> _Window | None:
        """Three steps, extrapolated: the error of a central quotient goes with step², step⁴, …,
        that of a one-sided one with step, step², …"""
        if power + 2 > self.coarsest:
            return None
        fine, middle, coarse = (self._quotient(power + i, side) for i in range(3))
        first, second = (15.0, 255.0) if side == "central" else (3.0, 15.0)
        better = fine + (fine - middle) / first
        before = middle + (middle - coarse) / first
        best = better + (better - before) / second
        if not isfinite(best):
            return None
        step = 4.0**power
        size = max(fabs(self._at(step)), fabs(self._at(-step)), fabs(self.here))
        size = size if isfinite(size) else fabs(self.here)
        blur = max(noise, EPSILON * size) / step * (1.2 if side == "central" else 2.8)
        moved = fabs(best - better) + fabs(better - before) / 16.0
        return _Window(best, moved + blur + 4.0 * EPSILON * fabs(best), step)

    def _powers(self) -> range:
        return range(self.finest, self.coarsest + 1)

    def _chain(self, side: str, noise: float) -> _Window | None:
        """The best window that agrees with every finer one."""
        best: _Window | None = None
        for power in self._powers():
            window = self._window(power, side, noise)
            if window is None:
                continue
            if best is None:
                best = window
                continue
            if fabs(window.value - best.value) > SAFETY / 2.0 * (window.error + best.error):
                break
            if window.error < best.error:
                best = window
        return best

    def seen_noise(self) -> float:
        """How far the function scatters, as far as its values show it."""
        return max(self._scatter(), self._stair())

    def _scatter(self) -> float:
        """Noise at the finest steps moves differences by as much at every step; a smooth function
        by 64 times as much from each step to the next, and where that begins it is not noise."""
        quotients = [(p, self._quotient(p, "central")) for p in self._powers()]
        quotients = [(p, q) for p, q in quotients if isfinite(q)][:9]
        moved = [
            fabs(fine - coarse) * 4.0**power / 1.2
            for (power, fine), (_, coarse) in pairwise(quotients)
        ]
        if max(moved[:3], default=0.0) <= self.noise:
            return 0.0  # steady where it is finest: what comes later is structure
        found = 0.0
        for now, later, last in zip(moved, moved[1:], moved[2:]):
            if now > 0.0 and 24.0 < later / now < 160.0 and 24.0 < last / later < 160.0:
                break
            found = max(found, now)
        return found

    def _stair(self) -> float:
        """Half the height of a stair: a function that stands still on both sides at fine steps
        and then moves on both at once is rounded, inside, to steps of that (small) height."""
        for power in self._powers():
            near = [fabs(self._at(side * 4.0**power) - self.here) for side in (1.0, -1.0)]
            if max(near) > 0.0:
                further = 4.0 ** min(power + 1, self.coarsest)
                both = all(self._at(side * further) != self.here for side in (1.0, -1.0))
                if not both or power <= self.finest + 1:
                    return 0.0
                height = min(height for height in near if height > 0.0)
                return height / 2.0 if height < 1e-4 * self._range() else 0.0
        return 0.0

    def _range(self) -> float:
        """The size of the function and of its moves, at the coarsest step that has values."""
        for power in reversed(self._powers()):
            sides = [fabs(self._at(side * 4.0**power) - self.here) for side in (1.0, -1.0)]
            if isfinite(sum(sides)):
                return fabs(self.here) + max(sides)
        return fabs(self.here)

    def _fitted(self, worth: float) -> _Window | None:
        """A polynomial through many points: where noise rules, averaging takes it away."""
        from numpy.polynomial import chebyshev

        best: _Window | None = None
        for power in range(self.coarsest, self.coarsest - 3, -1):
            step = 4.0**power
            moves = np.cos(np.pi * (np.arange(_POINTS) + 0.5) / _POINTS)
            values = np.array([self._at(float(step * move)) for move in moves])
            if not np.isfinite(values).all():
                continue
            slopes = []
            for degree in (5, 7):
                fit = chebyshev.chebfit(moves, values, degree)
                slopes.append(float(chebyshev.chebval(0.0, chebyshev.chebder(fit))) / step)
            scatter = float(np.abs(values - chebyshev.chebval(moves, fit)).mean())
            error = fabs(slopes[0] - slopes[1]) + 4.0 * scatter / step / sqrt(_POINTS)
            if error < worth:
                best, worth = _Window(slopes[0], error, step), error
        return best

    def _diverges(self, side: str) -> tuple[float, bool] | None:
        """An infinite slope on a side, and whether the function jumps there."""
        seen: list[float] = []
        for power in self._powers():
            quotient = self._quotient(power, side)
            if not isfinite(quotient):
                seen.clear()
            elif fabs(quotient) * 4.0**power > SAFETY * self.noise:
                seen.append(quotient)
            if len(seen) == 5:
                break
        if len(seen) < 5 or any(fine * coarse <= 0.0 for fine, coarse in pairwise(seen)):
            return None
        ratios = [fine / coarse for fine, coarse in pairwise(seen)]
        if min(ratios) < 1.1 or max(ratios) > 1.25 * min(ratios):
            return None
        return copysign(inf, seen[0]), min(ratios) > 3.5

    def _decays(self, side: str) -> bool:
        """Whether the quotients of a side go to 0 as a power of the step, however slowly."""
        seen = [self._quotient(power, side) for power in self._powers()]
        seen = [quotient for quotient in seen if isfinite(quotient)][:8]
        if len(seen) < 6 or any(fine * coarse <= 0.0 for fine, coarse in pairwise(seen)):
            return False
        ratios = [fine / coarse for fine, coarse in pairwise(seen)]
        return max(ratios) < 0.999 and max(ratios) < 1.0001 * min(ratios)

    def _grows(self, side: str) -> bool:
        """Whether the quotients of a side grow by as much at every finer step that shows them."""
        seen = [(self._quotient(power, side), 4.0**power) for power in self._powers()]
        sizes = [fabs(q) for q, step in seen if fabs(q) * step > SAFETY * self.noise][:8]
        gains = [fine - coarse for fine, coarse in pairwise(sizes)]
        return len(gains) > 4 and min(gains) > 0.0 and max(gains) < 1.5 * min(gains)

    def quick(self) -> Slope | None:
        """A slope from four steps where the function is plainly smooth; else None."""
        power = min(max(self.start, self.finest), self.coarsest - 2)
        probe = max(power - _PROBE, self.finest)
        window = self._window(power, "central", self.noise)
        if window is None or probe > power - 3:
            return None
        step, size = 4.0**probe, fabs(window.value)
        blur = SAFETY * self.noise / step
        close = self._quotient(probe, "central")
        bend = fabs(self._quotient(probe, "right") - self._quotient(probe, "left"))
        wide = fabs(self._quotient(power, "right") - self._quotient(power, "left"))
        decisive = SAFETY * window.error <= TOLERANCE * size and blur <= 1e-2 * size
        steady = fabs(close - window.value) <= 1.2 * blur + SAFETY * window.error + 1e-7 * size
        if not decisive or not steady or bend > 4.0 * blur + 0.01 * wide + 1e-7 * size:
            return None
        return Slope(SMOOTH, window.value, window.error, window.step)

    def slope(self) -> Slope:
        """The slope, from every step there is."""
        steep = {side: self._diverges(side) for side in ("left", "right")}
        noise = max(self.noise, self.seen_noise())
        # beside a jump or a steep side the scatter of central quotients is not noise
        one_sided = self.noise if any(steep.values()) else noise
        sides: dict[str, _Window | None] = {}
        for side in ("left", "right"):
            sides[side] = self._chain(side, one_sided) if steep[side] is None else None
            if sides[side] is not None and self._decays(side):
                sides[side] = _Window(0.0, 0.0, 4.0**self.finest)
        central = self._chain("central", noise) if not any(steep.values()) else None
        values: dict[str, float | None] = {}
        for side, window in sides.items():
            diverging = steep[side]
            values[side] = diverging[0] if diverging else window.value if window else None
        left, right = values["left"], values["right"]
        if any(steep.values()):
            jumps = any(found is not None and found[1] for found in steep.values())
            if not jumps and (left is None or right is None):
                infinite = right if left is None else left
                return Slope(EDGE, infinite or 0.0, 0.0, 0.0, left, right)
            return Slope(JUMP if jumps else STEEP, nan, 0.0, 0.0, left, right)
        one_sided_windows = [window for window in sides.values() if window is not None]
        if central is None:
            if not one_sided_windows:
                return Slope(LOST, nan, inf, 0.0)
            window = one_sided_windows[0]
            side = "right" if left is None else "left"
            grows = self._grows(side)
            return Slope(EDGE, window.value, window.error, window.step, left, right, grows)
        if len(one_sided_windows) == 2 and _apart(*one_sided_windows):
            return Slope(KINK, central.value, central.error, central.step, left, right)
        if noise > self.noise and SAFETY * central.error > TOLERANCE * fabs(central.value):
            central = self._fitted(central.error) or central
        return Slope(SMOOTH, central.value, central.error, central.step)


def _apart(left: _Window, right: _Window) -> bool:
    size = max(fabs(left.value), fabs(right.value))
    gap = fabs(left.value - right.value)
    return gap > SAFETY * (left.error + right.error) + TOLERANCE * size


def _power_of_4(size: float) -> int:
    """The largest k with 4ᵏ ≤ size."""
    return (frexp(size)[1] - 1) // 2


def along_number(evaluate: Callable[[float], float], at: float, noise: float) -> Line:
    """The line through one number; ``evaluate`` takes the number itself.

    >>> found = along_number(lambda x: x * x, 3.0, 0.0).slope()
    >>> found.kind, found.value
    ('smooth', 6.0)
    >>> found = along_number(abs, 0.0, 0.0).slope()
    >>> found.kind, found.left, found.right
    ('kink', -1.0, 1.0)
    """
    scale = fabs(at)
    coarsest = max(_power_of_4(max(scale, 1.0)) - 1, -1)
    if scale == 0.0:
        finest, start = -_REACH, _START
    else:
        finest = max(_power_of_4(ulp(scale)) + 1, -500)
        start = _power_of_4(scale) + _START
    return Line(lambda move: evaluate(at + move), noise, finest, coarsest, start)


def along_direction(evaluate: Callable[[float], float], noise: float) -> Line:
    """The line along a direction that is of the size of the point it starts from."""
    return Line(evaluate, noise, -24, -1, _START)


def scales_of(numbers: Sequence[float]) -> list[float]:
    """A power of 2 near each number, so that moves along it are exact; 1 for zeros."""
    return [2.0 ** (frexp(fabs(x))[1] - 1) if x != 0.0 and isfinite(x) else 1.0 for x in numbers]
