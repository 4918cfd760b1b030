"""The speed and size that the engine promises, as a list that a run is held against.

A goal compares the median; the best case of the same run stands beside it, because on a busy
machine the two tell apart a slow engine from a slow moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from measure import Spread, Timing
from results import Results, Weight

ENGINE = "retrograde"
PURE_PYTHON = "microgpt"
LIMIT = "floats"
LONG_CHAIN = 10**7


@dataclass(frozen=True, slots=True)
class Goal:
    """A promise, what was measured, and whether it is kept (None: not measured)."""

    title: str
    at_least: bool
    bound: float
    unit: str
    measured: float | None = None
    best: float | None = None

    @property
    def met(self) -> bool | None:
        if self.measured is None:
            return None
        return self.measured >= self.bound if self.at_least else self.measured <= self.bound

    @property
    def verdict(self) -> str:
        return {True: "met", False: "missed", None: "not measured"}[self.met]


def goals(results: Results) -> list[Goal]:
    """Every goal, held against what this run measured."""
    mlp = _by_engine(results.mlp)
    weighted_sum = _by_engine(results.weighted_sum)
    dot = _by_engine(results.dot)
    chain = {timing.operations: timing for timing in results.chain if timing.engine == ENGINE}
    weight = next((weight for weight in results.memory if weight.engine == ENGINE), None)
    longest, shorter = chain.get(LONG_CHAIN), chain.get(LONG_CHAIN // 10)
    ours = mlp.get(ENGINE)
    return [
        _at_most(
            "mlp, forward: times plain floats", 2, "x", _ratio(ours, mlp.get(LIMIT), _forward)
        ),
        _at_most(
            "weighted sum, forward: times plain floats",
            2,
            "x",
            _ratio(weighted_sum.get(ENGINE), weighted_sum.get(LIMIT), _forward),
        ),
        _at_most("mlp, backward: a node", 10, "ns", ours.backward if ours else None),
        _faster("mlp, whole pass: faster than pure Python", 25, mlp.get(PURE_PYTHON), ours),
        _faster("mlp, whole pass: faster than xad", 10, mlp.get("xad"), ours),
        _faster("mlp, whole pass: faster than torch scalars", 100, mlp.get("torch"), ours),
        _faster(
            "mlp through dot, whole pass: faster than pure Python",
            100,
            dot.get(PURE_PYTHON),
            dot.get(ENGINE),
        ),
        _at_most("chain of 10^7: a node", 200, "ns", longest.whole if longest else None),
        _at_most(
            "chain: a node at 10^7 over one at 10^6", 1.3, "x", _ratio(longest, shorter, _whole)
        ),
        _weighed("a node of one input", 80, "bytes", weight, lambda it: it.one_input_bytes),
        _weighed("a node of two inputs", 80, "bytes", weight, lambda it: it.two_input_bytes),
        _weighed("runs of the cycle collector", 0, "", weight, lambda it: it.collections),
    ]


def _by_engine(timings: Iterable[Timing]) -> dict[str, Timing]:
    return {timing.engine: timing for timing in timings}


def _forward(timing: Timing) -> Spread:
    return timing.forward


def _whole(timing: Timing) -> Spread:
    return timing.whole


def _ratio(
    above: Timing | None, below: Timing | None, part: Callable[[Timing], Spread]
) -> Spread | None:
    """One part of a pass over the same part of another: medians over medians, best over best."""
    if above is None or below is None:
        return None
    a, b = part(above), part(below)
    return Spread(a.median / b.median, a.minimum / b.minimum)


def _at_most(title: str, bound: float, unit: str, spread: Spread | None) -> Goal:
    if spread is None:
        return Goal(title, False, bound, unit)
    return Goal(title, False, bound, unit, spread.median, spread.minimum)


def _faster(title: str, bound: float, peer: Timing | None, ours: Timing | None) -> Goal:
    spread = _ratio(peer, ours, _whole)
    if spread is None:
        return Goal(title, True, bound, "x")
    return Goal(title, True, bound, "x", spread.median, spread.minimum)


def _weighed(
    title: str, bound: float, unit: str, weight: Weight | None, part: Callable[[Weight], float]
) -> Goal:
    return Goal(title, False, bound, unit, None if weight is None else part(weight))
