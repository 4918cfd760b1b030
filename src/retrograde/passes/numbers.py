"""Number operands as values of their own, and the partials that an engine keeps none of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .._shared.numerics import np
from ..ops import OPS, STRUCTURAL
from .flat import NUMBER, Floats, Integers, Pass


def partials_of(op: str, operands: Sequence[float], result: float) -> Sequence[float]:
    """All partials of an op at its operands: an engine keeps none for numbers."""
    if op in STRUCTURAL:
        return STRUCTURAL[op].slopes(operands)
    return OPS[op].evaluate_partials(*operands, result)


def whole_partials(graph: Pass) -> Floats:
    """By edge: the partial, those of number operands by the law."""
    at = np.flatnonzero(graph.inputs < 0)
    partials: Floats = graph.numbers.copy()
    operands, data = graph.operands, graph.data
    for index in np.unique(graph.owners[at]).tolist():
        start, end = int(graph.starts[index]), int(graph.starts[index + 1])
        whole = partials_of(graph.ops[index], operands[start:end].tolist(), float(data[index]))
        for edge, slope in zip(range(start, end), whole):
            if graph.inputs[edge] < 0:
                partials[edge] = slope
    return partials


def with_numbers(graph: Pass) -> Pass:
    """The same pass with every number operand as a value, just before the value that uses it.

    ``numbers`` are then partials throughout.
    """
    at = np.flatnonzero(graph.inputs < 0)
    if not len(at):
        return graph
    owners = graph.owners[at]
    where = np.arange(len(graph)) + np.cumsum(np.bincount(owners, minlength=len(graph)))
    added = owners + np.arange(len(at))
    count = len(graph) + len(at)
    inputs = where[graph.inputs]
    inputs[at] = added
    data, codes = _spread(graph.data, where, count), np.full(count, NUMBER, np.uint8)
    data[added] = graph.numbers[at]
    codes[where] = graph.codes
    moved = where.tolist()
    values: list[Any] | None = None
    if graph.values is not None:
        values = [None] * count
        for index, value in zip(moved, graph.values):
            values[index] = value
    return replace(
        graph,
        codes=codes,
        data=data,
        takes=_spread(graph.takes, where, count),
        starts=np.concatenate(([0], np.cumsum(_spread(graph.widths, where, count)))),
        inputs=inputs,
        numbers=whole_partials(graph),
        places=_spread(graph.places, where, count, -1),
        labels={moved[index]: label for index, label in graph.labels.items()},
        own={moved[index]: name for index, name in graph.own.items()},
        ruled=_spread(graph.ruled, where, count),
        values=values,
        grads=None if graph.grads is None else _spread(graph.grads, where, count),
        hooked=None if graph.hooked is None else _spread(graph.hooked, where, count),
    )


def _spread(column: Any, where: Integers, count: int, fill: int = 0) -> Any:
    """A column of values with room for others between them."""
    spread = np.full(count, fill, column.dtype)
    spread[where] = column
    return spread
