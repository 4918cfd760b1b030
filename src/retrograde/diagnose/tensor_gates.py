"""The units of activations of tensors: in how many rows each is shut, by the slope of its op."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from .._shared.numerics import np
from ..passes.arrays import Gate
from ..passes.flat import CODES, Pass
from ..passes.handing import handed
from ..value import core
from .thresholds import Thresholds, limits_of

SHUTTING = {"gate": False, "window": False, "saturate": True, "soft-gate": True}
"""The kinds of op that a unit can be, and whether they saturate rather than die."""
CARRIES = frozenset(("copy", "weigh", "swap", "custom", "flip"))
MOST_SEARCHED = 64


def gates_of(graph: Pass, thresholds: Thresholds) -> list[Gate]:
    """Every activation of a pass; those on one line over one layer are one, as in a recurrence."""
    arrays, values = graph.arrays, graph.values
    assert arrays is not None
    assert values is not None
    limits = np.frombuffer(limits_of(thresholds))
    found: dict[Any, Gate] = {}
    for index, kind in enumerate(arrays.kinds):
        shape = arrays.shapes[index]
        if kind not in SHUTTING or len(shape) < 2 or not prod(shape):
            continue
        row = core.array_row(values[index])
        if row is None or row[0].scalar is None:
            continue
        slope = np.abs(handed(values[index], np.ones(shape))[0])
        limit = limits[CODES[row[0].scalar]]
        owner, axis = _owner(graph, index, shape)
        over = tuple(d for d in range(len(shape)) if d != axis)
        shut = (slope <= limit).sum(axis=over)
        site = graph.site(index)
        key = (site, graph.name(index), owner, len(shut))
        rows = prod(shape) // shape[axis]
        if key in found:
            found[key].rows += rows
            found[key].shut = found[key].shut + shut
        else:
            found[key] = Gate(index, graph.name(index), site, SHUTTING[kind], rows, shut, owner)
    return list(found.values())


def _owner(graph: Pass, index: int, shape: Sequence[int]) -> tuple[int, int]:
    """The parameter whose outputs the units are, and their axis: the nearest below by sums and
    products. The outputs of a convolution are its channels, along axis 1."""
    arrays = graph.arrays
    assert arrays is not None
    pending, seen, convolved = [index], {index}, False
    while pending and len(seen) < MOST_SEARCHED:
        at = pending.pop(0)
        for target in graph.inputs[graph.starts[at] : graph.starts[at + 1]].tolist():
            if target < 0 or target in seen:
                continue
            seen.add(target)
            if arrays.kinds[target] == "leaf":
                its = arrays.shapes[target]
                axis = 1 if convolved and len(shape) > 2 else len(shape) - 1
                if target in arrays.parameters and its and shape[axis] in (its[0], its[-1]):
                    return target, axis
            elif arrays.kinds[target] in CARRIES:
                convolved = convolved or graph.name(target).startswith("conv")
                pending.append(target)
    return -1, 1 if convolved and len(shape) > 2 else len(shape) - 1
