"""What the doctor asks of a pass over arrays: depths, a profile, reasons for zeros, units.

The same questions as ``passes/survey.py`` puts to a graph of numbers, answered from summaries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from .._shared.numerics import np
from ..passes.arrays import Gate
from ..passes.flat import Pass
from ..passes.survey import BY_FACTOR, BY_FLAT, BY_GATE, BY_SATURATION, BY_UNDERFLOW
from .births import Births
from .history import Rows, Seen
from .zeros import CANCELLED, DEAD_GATE, FLAT, SATURATED_GATE, UNDERFLOW, ZERO_FACTOR, Zero

PASSING = frozenset(("copy", "copy-flip", "flip", "leaf", "choose", "flat"))
"""Kinds that count as no depth."""
LEVELS = 256
MOSTLY = 0.95
"""A unit that saturates in this part of its rows counts as one that does in all of them."""
_STOPS = {
    "gate": (BY_GATE, DEAD_GATE, "is off throughout"),
    "window": (BY_GATE, DEAD_GATE, "is shut throughout"),
    "choose": (BY_GATE, DEAD_GATE, "never takes that operand"),
    "flat": (BY_FLAT, FLAT, "has slope 0 everywhere"),
    "saturate": (BY_SATURATION, SATURATED_GATE, "is so far out that its slope rounds to 0"),
    "soft-gate": (BY_SATURATION, SATURATED_GATE, "is so far out that its slope rounds to 0"),
}
FADED = 1e-30
"""A gradient whose upstream is shorter than this has become 0 by underflow."""


def seen_of(
    graph: Pass,
    roots: Sequence[int],
    numbers: Mapping[int, int],
    count: int,
    loss: float,
    births: Callable[[], Births],
    scale: float = 1.0,
) -> Seen:
    """What is seen of a pass: ``numbers`` has the number of the parameter at a place of the pass,
    ``scale`` is what the loss was multiplied by before backward."""
    arrays = graph.arrays
    assert arrays is not None
    gradients, reached = np.zeros(count), np.zeros(count, dtype=bool)
    depths = np.full(count, -1, dtype=np.int32)
    near = _depths(graph, roots)
    zeros = []
    for index, number in numbers.items():
        reached[number] = True
        depths[number] = max(int(depths[number]), near[index])
        grad = arrays.grads[index]
        if grad is None:
            continue
        size = float("nan") if grad.odd else grad.norm / scale
        gradients[number] = np.hypot(gradients[number], size)
        if grad.is_zero and grad.count:
            zero, reason, uses = _why_zero(graph, index, numbers)
            zeros.append((number, reason, uses, partial(_as_it_is, zero)))
    return Seen(
        gradients=gradients,
        reached=reached,
        depths=depths,
        loss=loss,
        nodes=len(graph),
        edges=int((graph.inputs >= 0).sum()),
        levels=_levels(graph, near),
        births=births,
        units=[rows for gate in arrays.gates for rows in _rows(gate, numbers)],
        zeros=zeros,
        odd_data=sum(bool(each and each.nans) for each in arrays.values),
        odd_gradients=sum(bool(each and each.odd) for each in arrays.grads),
        growth=max(_growth(graph, near, int(depths.max(initial=0))), _swell(graph, near)),
    )


def _as_it_is(zero: Zero) -> Zero:
    return zero


def _depths(graph: Pass, roots: Sequence[int]) -> list[int]:
    """How many ops that scale lie between a value and the roots, by the shortest way: a recurrence
    is as near as its last step, a residual as its shortcut."""
    assert graph.arrays is not None
    far = 1 << 30
    depths = [far] * len(graph)
    for root in roots:
        depths[root] = 0
    starts, inputs, kinds = graph.starts.tolist(), graph.inputs.tolist(), graph.arrays.kinds
    for index in range(len(graph) - 1, -1, -1):
        below = depths[index] + (kinds[index] not in PASSING)
        for target in inputs[starts[index] : starts[index + 1]]:
            if target >= 0 and below < depths[target]:
                depths[target] = below
    return [-1 if depth >= far else depth for depth in depths]


def _levels(graph: Pass, depths: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Gradient × value along depth, which no rescaling of either changes; sums and counts."""
    assert graph.arrays is not None
    arrays = graph.arrays
    deepest = min(max(depths, default=0), LEVELS - 1)
    sums, counts = np.zeros(deepest + 1), np.zeros(deepest + 1, np.int64)
    for kind, depth, value, grad in zip(arrays.kinds, depths, arrays.values, arrays.grads):
        if value is None or grad is None or kind in PASSING or not 0 <= depth <= deepest:
            continue
        sums[depth] += value.norm * grad.norm
        counts[depth] += 1
    return sums, counts


def _growth(graph: Pass, depths: Sequence[int], deepest: int) -> float:
    """How many times gradients grow on the way down to the deepest parameter."""
    assert graph.arrays is not None
    levels: dict[int, list[float]] = {}
    for kind, depth, grad in zip(graph.arrays.kinds, depths, graph.arrays.grads):
        if grad is not None and kind not in PASSING and 0 < depth <= deepest and grad.norm > 0.0:
            levels.setdefault(depth, []).append(grad.rms)
    means = [sum(found) / len(found) for _, found in sorted(levels.items())]
    return max(means) / means[0] if len(means) > 1 else 1.0


def _swell(graph: Pass, depths: Sequence[int]) -> float:
    """How many times gradients grow on the way down where values grow as much on the way up: the
    lesser of both. What scales the loss, from its rows on, is left out."""
    arrays = graph.arrays
    assert arrays is not None
    levels: dict[int, tuple[list[float], list[float]]] = {}
    for kind, depth, value, grad in zip(arrays.kinds, depths, arrays.values, arrays.grads):
        if kind in PASSING or depth <= 0 or value is None or grad is None or value.count < 2:
            continue
        values, grads = levels.setdefault(depth, ([], []))
        values.append(value.rms)
        grads.append(grad.rms)
    means = [tuple(sum(part) / len(part) for part in levels[depth]) for depth in sorted(levels)][1:]
    if len(means) < 3 or not means[0][1]:
        return 1.0
    deep, steep = max(means, key=lambda mean: mean[1])
    return min(steep / means[0][1], means[0][0] / deep) if deep else 1.0


def _rows(gate: Gate, numbers: Mapping[int, int]) -> list[Rows]:
    number = numbers.get(gate.owner, -1)
    if number < 0:
        return []
    enough = int(MOSTLY * gate.rows) if gate.saturates else gate.rows
    shut = np.where(gate.shut >= enough, gate.rows, gate.shut)
    line = gate.site.line if gate.site is not None else 0
    unit = (line, len(shut))
    return [Rows(number, gate.op, gate.saturates, gate.site, gate.rows, shut, unit=unit)]


def _why_zero(graph: Pass, index: int, numbers: Mapping[int, int]) -> tuple[Zero, int, int]:
    """Up from a leaf whose gradient is zero to where it became zero: where what arrives from above
    is not, and what is handed on is."""
    arrays = graph.arrays
    assert arrays is not None
    pending, seen = [index], {index}
    while pending:
        target = pending.pop(0)
        for edge in graph.uses.get(target, ()):
            source = int(graph.owners[edge])
            above = arrays.grads[source]
            if above is None:
                continue
            if above.is_zero:
                if source not in seen:
                    seen.add(source)
                    pending.append(source)
                continue
            rows = max(1, above.count)
            return *_stopped(graph, source, edge, numbers), rows
    return Zero(CANCELLED, "contributions arrive, and add up to exactly zero"), 0, 1


def _stopped(graph: Pass, index: int, edge: int, numbers: Mapping[int, int]) -> tuple[Zero, int]:
    arrays = graph.arrays
    assert arrays is not None
    op, site = arrays.calls[index] or graph.name(index), graph.site(index)
    name = f"the {op}" + (f" on line {site.line}" if site else "")
    above = arrays.grads[index]
    if above is not None and above.norm < FADED:
        return Zero(UNDERFLOW, "it is smaller than the smallest number"), BY_UNDERFLOW
    stop = _STOPS.get(arrays.kinds[index])
    if stop is not None:
        reason, kind, words = stop
        return Zero(kind, f"{name} {words}", op, site, source=site), reason
    for other in range(int(graph.starts[index]), int(graph.starts[index + 1])):
        target = int(graph.inputs[other])
        multiplies = target >= 0 and other != edge and other not in arrays.added
        factor = _below_views(graph, target) if multiplies else -1
        value = arrays.values[factor] if factor >= 0 else None
        if value is not None and value.is_zero:
            number = numbers.get(factor, -1)
            what = f"'{arrays.parameters[factor]}' = 0" if factor in arrays.parameters else "0"
            source = None if number >= 0 else graph.site(factor)
            words = f"{name} multiplies by {what}"
            return Zero(ZERO_FACTOR, words, op, site, number, source=source), BY_FACTOR
    return Zero(ZERO_FACTOR, f"{name} multiplies by exact zeros", op, site), BY_FACTOR


def _below_views(graph: Pass, index: int) -> int:
    """What a value is a copy of, as far down as copies lead."""
    assert graph.arrays is not None
    while graph.arrays.kinds[index] == "copy" and graph.widths[index] == 1:
        below = int(graph.inputs[graph.starts[index]])
        if below < 0:
            return index
        index = below
    return index
