"""A survey of a pass for the doctor: what ``native/survey.c`` does for its core, on any pass.

One backward pass on numbers kept aside, and on the way: which parameters are reached and how deep
they lie, which units are shut, how gradients change along depth, and why a gradient is zero.
Every ``.grad`` is as it was afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from struct import pack, unpack
from typing import TYPE_CHECKING, Any

from ..errors import NotAValueError
from ..value import Value, core_name, native_core
from .backward import pull, seeds_at
from .flat import Pass
from .values import read

if TYPE_CHECKING:
    from .._shared.cores import Survey

FACTOR, GATE, SATURATE, SOFT, CHOOSE, FLAT, KINDS, CARRIES, COUNTS = 0, 1, 2, 3, 4, 5, 7, 8, 16
"""What an op is to the doctor: a kind, and whether it carries ownership and counts as depth."""

BY_GATE, BY_FLAT, BY_SATURATION, BY_FACTOR, BY_UNDERFLOW, ALIVE = 1, 2, 4, 8, 16, 32
"""Why a gradient is zero."""

MOST_CLOSURES = 4096
NEARBY = 256
"""How many values are looked at for the parameter of a unit."""
FADES = 0.875
"""Rows weigh differently in a unit's adjoint, so that they do not cancel."""
LEVELS = 256
"""The most levels a profile has."""

_REASONS = {
    GATE: BY_GATE, CHOOSE: BY_GATE, FLAT: BY_FLAT, SATURATE: BY_SATURATION, SOFT: BY_SATURATION,
    FACTOR: BY_FACTOR,
}  # fmt: skip


def survey(
    roots: Sequence[Value],
    seeds: Sequence[float],
    parameters: Sequence[Value],
    kinds: bytes,
    limits: bytes,
    /,
) -> Survey:
    """What the doctor asks of a graph, in one pass; lists of numbers come as packed bytes.

    ``gradients``, ``reached`` and ``depths`` have an entry a parameter. ``units`` are (parameter,
    rows, how many were shut, the first of them, and one number each for their data and their
    adjoints in all rows), ``zeros`` (parameter, reasons, how many uses, the
    shut gate, the product with a zero, the slope of 0), ``closures`` the nodes whose rule is a
    callable. ``level`` and ``level_nodes`` are sums and counts by depth, ``step`` depths a level.
    """
    if core_name == "native":
        return native_core.survey(tuple(roots), tuple(seeds), tuple(parameters), kinds, limits)
    for index, parameter in enumerate(parameters):
        if not isinstance(parameter, Value):
            raise NotAValueError.at("doctor: parameters", index, parameter)
    graph = read(roots)
    started = seeds_at(graph.of(roots), seeds)
    return survey_of(graph, started, graph.of(parameters), kinds, limits)


def survey_of(
    graph: Pass, seeds: dict[int, float], parameters: Sequence[int], kinds: bytes, limits: bytes
) -> Survey:
    """The survey of a pass: seeds by value, and where the parameters stand, -1 for nowhere."""
    return _Survey(graph, seeds, parameters, kinds, unpack("256d", limits)).run()


class _Survey:
    def __init__(
        self,
        graph: Pass,
        seeds: dict[int, float],
        parameters: Sequence[int],
        kinds: bytes,
        limits: Sequence[float],
    ) -> None:
        assert graph.values is not None
        self.values: Sequence[Any] = graph.values
        self.parameters = parameters
        codes = graph.codes.tolist()
        self.kinds: list[int] = [kinds[code] for code in codes]
        self.limits = [limits[code] for code in codes]
        self.data: list[float] = graph.data.tolist()
        self.ruled = graph.ruled.tolist()
        edges = zip(graph.by_value(graph.inputs), graph.by_value(graph.numbers))
        self.inputs: list[list[tuple[int, float]]] = [
            [(j, p) for j, p in zip(*edge) if j >= 0] for edge in edges
        ]
        self.adjoints: list[float] = pull(graph, seeds).gradients.tolist()
        self.depths = [0] * len(graph)

    def run(self) -> Survey:
        units = self._units()
        edges = self._measure_depths()
        places = self.parameters
        gradients = [self.adjoints[i] if i >= 0 else 0.0 for i in places]
        zero = [k for k, i in enumerate(places) if i >= 0 and gradients[k] == 0.0]
        level, counts, step = self._profile()
        return {
            "gradients": pack(f"{len(places)}d", *gradients),
            "reached": bytes(i >= 0 for i in places),
            "depths": pack(f"{len(places)}i", *[self.depths[i] if i >= 0 else -1 for i in places]),
            "units": units,
            "closures": [v for v, own in zip(self.values, self.ruled) if own][:MOST_CLOSURES],
            "zeros": self._zeros(zero, places) if zero else [],
            "level": pack(f"{len(level)}d", *level),
            "level_nodes": pack(f"{len(counts)}q", *counts),
            "step": step,
            "nodes": len(self.values),
            "edges": edges,
            "odd_data": sum(not isfinite(data) for data in self.data),
            "odd_adjoints": sum(not isfinite(adjoint) for adjoint in self.adjoints),
        }

    def _units(self) -> list[tuple[int, int, int, Any, float, float]]:
        """Who owns what, and which units are shut."""
        mine = {place: k for k, place in reversed(list(enumerate(self.parameters)))}
        number = [mine.get(i, -1) for i in range(len(self.values))]
        found: dict[int, list[Any]] = {}
        rows: list[tuple[int, int]] = []
        for i, value in enumerate(self.values):
            if not self._is_unit(i, self.kinds[i] & KINDS) or not self.inputs[i]:
                continue
            first, partial = self.inputs[i][0]
            who = self._owner(first, number)
            if who >= 0:
                unit = found.setdefault(who, [0, 0, value, 0.0, 0.0])
                rows.append((i, who))
                unit[3] += self.data[i]
                unit[0] += 1
                unit[1] += abs(partial) <= self.limits[i]
        for i, who in reversed(rows):
            found[who][4] = FADES * found[who][4] + self.adjoints[i]
        return [(k, *unit) for k, unit in sorted(found.items())]

    def _owner(self, below: int, number: list[int]) -> int:
        """The parameter nearest below by sums and products, level by level; -1 for none nearby."""
        if number[below] >= 0:
            return number[below]
        level = [below] if self.kinds[below] & CARRIES else []
        seen = len(level)
        while level:
            inputs = [j for i in level for j, _ in self.inputs[i]]
            mine = [number[j] for j in inputs if number[j] >= 0]
            if mine:
                return min(mine)
            level = [j for j in inputs if self.kinds[j] & CARRIES]
            seen += len(level)
            if seen > NEARBY:
                return -1
        return -1

    def _is_unit(self, i: int, kind: int) -> bool:
        return kind in (GATE, SATURATE, SOFT) or (kind == CHOOSE and len(self.inputs[i]) == 1)

    def _measure_depths(self) -> int:
        edges = 0
        for i in range(len(self.values) - 1, -1, -1):
            depth = self.depths[i] + bool(self.kinds[i] & COUNTS)
            for j, _ in self.inputs[i]:
                self.depths[j] = max(self.depths[j], depth)
                edges += 1
        return edges

    def _profile(self) -> tuple[list[float], list[int], int]:
        counting = [i for i, kind in enumerate(self.kinds) if kind & COUNTS]
        deepest = max((self.depths[i] + 1 for i in counting), default=0)
        shift = 0
        while max(deepest - 1, 0) >> shift >= LEVELS:
            shift += 1
        size = (max(deepest - 1, 0) >> shift) + 1
        level, counts = [0.0] * size, [0] * size
        for i in reversed(counting):
            level[self.depths[i] >> shift] += abs(self.adjoints[i])
            counts[self.depths[i] >> shift] += 1
        return level, counts, 1 << shift

    def _zeros(self, zero: list[int], places: Sequence[int]) -> list[tuple[Any, ...]]:
        reasons, uses = [0] * len(self.values), [0] * len(self.values)
        blamed: list[list[int]] = [[-1, -1, -1] for _ in self.values]
        for i in range(len(self.values) - 1, -1, -1):
            upstream = self.adjoints[i]
            for j, partial in self.inputs[i]:
                if self.adjoints[j] != 0.0:
                    continue
                uses[j] += 1
                if upstream == 0.0:
                    reasons[j] |= reasons[i]
                    for which in range(3):
                        if blamed[j][which] < 0:
                            blamed[j][which] = blamed[i][which]
                elif partial == 0.0:
                    reason = _REASONS[self.kinds[i] & KINDS]
                    reasons[j] |= reason
                    which = 0 if reason == BY_GATE else 1 if reason == BY_FACTOR else 2
                    if blamed[j][which] < 0:
                        blamed[j][which] = i
                else:
                    reasons[j] |= BY_UNDERFLOW if partial * upstream == 0.0 else ALIVE

        def node(i: int) -> Any:
            return self.values[i] if i >= 0 else None

        return [
            (k, reasons[places[k]], uses[places[k]], *map(node, blamed[places[k]])) for k in zero
        ]
