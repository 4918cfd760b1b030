"""The reader for graphs with tensors: the graph under roots, and the pass over it on arrays.

The backward pass is walked beside the graph, node by node with the engine's own kernels and in its
order, so every gradient has its bits and no ``.grad`` changes. An array is let go as soon as it was
summarised and handed on.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .._shared.bound import Bound
from .._shared.numerics import np
from ..ops import OPS, STRUCTURAL
from ..ops.arrays.kinds import kind_of_statement
from ..tensor import Tensor
from ..value import Value, core
from .arrays import Arrays, share
from .flat import LEAF, Pass
from .handing import computed, handed
from .pictures import picture
from .summary import Summary
from .values import read, sizes_of
from .written import Placed, Rest, added, handed_past, written_over


@dataclass
class Walk:
    """A backward pass on arrays, step by step. ``upstream`` of the node whose turn it is, and what
    it hands on: (edge, input, amount). The upstream of a ``passing`` one, a tensor that was written
    over, is changed in the next step: to keep it is to copy it."""

    node: int
    upstream: Any
    handed: list[tuple[int, int, Any]] = field(default_factory=list)
    passing: bool = False

    @property
    def kept(self) -> Any:
        """The upstream, to be kept."""
        return np.array(self.upstream) if self.passing else self.upstream


def holds_tensors(roots: Sequence[Any]) -> bool:
    """Whether a tensor is somewhere under the roots."""
    return any(isinstance(node, Tensor) for node in core.order(tuple(roots)))


def walked(graph: Pass, seeds: Mapping[int, Any], stops: Container[int] = ()) -> Iterator[Walk]:
    """The backward pass over a pass, in the engine's order; leaves have a turn too. What stands at
    one of the ``stops`` hands nothing on. Into tensors that were written over amounts may be those
    of ``written.py``."""
    assert graph.values is not None
    totals, gone = dict(seeds), written_over(graph)
    for index in range(len(graph) - 1, -1, -1):
        upstream = totals.pop(index, None)
        if upstream is None:
            continue
        turn = Walk(index, upstream, passing=index in gone)
        start = int(graph.starts[index])
        inner = graph.widths[index] and index not in stops
        edges = range(start, start + int(graph.widths[index])) if inner else range(0)
        past = bool(gone) and any(int(graph.inputs[edge]) in gone for edge in edges)
        given = _given(graph, index, upstream, past) if inner else []
        for edge, amount in zip(edges, given):
            target = int(graph.inputs[edge])
            if amount is not None and target >= 0:
                turn.handed.append((edge, target, amount))
        yield turn
        for _, target, amount in turn.handed:
            if target in gone:
                shape = graph.values[target].shape
                totals[target] = added(totals.get(target), amount, shape, turn.passing)
                continue
            with np.errstate(all="ignore"):
                totals[target] = amount if target not in totals else totals[target] + amount


def _given(graph: Pass, index: int, upstream: Any, past: bool) -> list[Any]:
    assert graph.values is not None
    if past:
        return handed_past(graph.values[index], upstream)
    return handed(graph.values[index], upstream, operands_of(graph, index))


def operands_of(graph: Pass, index: int) -> list[Any] | None:
    """The numbers of a value's operands, where the pass keeps them."""
    numbers = None if graph.arrays is None else graph.arrays.numbers
    if numbers is None:
        return None
    assert graph.values is not None
    edges = graph.inputs[graph.starts[index] : graph.starts[index + 1]].tolist()
    inputs = graph.values[index].inputs
    return [v.data if place < 0 else numbers[place] for place, v in zip(edges, inputs)]


def leaf_numbers(roots: Sequence[Any]) -> dict[int, Any]:
    """The numbers of all leaves under some roots, by ``core.key``: what a pass can be told from
    after an optimizer has changed them. Nothing is copied until that happens."""
    leaves = core.leaves_under(tuple(roots))
    return {core.key(leaf): leaf.data for leaf in leaves if not core.is_written_over(leaf)}


def _again(graph: Pass, leaves: Mapping[int, Any]) -> list[Any]:
    """The numbers of every value, computed from those of the leaves; None of what was written over.
    What was made of that holds the numbers it had."""
    assert graph.values is not None
    found: list[Any] = []
    gone = written_over(graph)
    for index, value in enumerate(graph.values):
        if index in gone:
            found.append(None)
            continue
        edges = graph.inputs[graph.starts[index] : graph.starts[index + 1]].tolist()
        if core.array_row(value) is None or not gone.isdisjoint(edges):
            found.append(leaves.get(core.key(value), value.data))
            continue
        inputs = zip(edges, value.inputs)
        operands = [v.data if place < 0 else found[place] for place, v in inputs]
        found.append(computed(value, [_constant(each) for each in operands]).data)
    return found


def _constant(numbers: Any) -> Any:
    kind = Tensor if np.ndim(numbers) else Value
    return kind(numbers, requires_grad=False)


def read_arrays(
    roots: Sequence[Any],
    seeds: Sequence[Any],
    *,
    leaves: Mapping[int, Any] | None = None,
    pictures: bool = False,
) -> Pass:
    """Everything under the roots with summaries of values, gradients and contributions.

    ``leaves`` are what :func:`leaf_numbers` gave at the time of the pass, where the leaves may
    have been changed since.

    >>> import retrograde as rg
    >>> w = rg.Tensor([3.0, 4.0], label="w")
    >>> graph = read_arrays([(w * w).sum()], [1.0])
    >>> print(graph.arrays.grads[0], graph.arrays.parameters)
    norm 10, mean 7, 6 … 8 {0: 'w'}
    """
    graph = read(roots, sites=True)
    assert graph.values is not None
    numbers = None if leaves is None else _again(graph, leaves)
    gone = written_over(graph)
    if numbers is None:
        data = [None if place in gone else v.data for place, v in enumerate(graph.values)]
    else:
        data = list(numbers)
    found = Arrays(
        shapes=[_shape(v) for v in graph.values],
        dtypes=["float64"] * len(graph),
        kinds=[kind_of(v) for v in graph.values],
        values=[None if each is None else summary_of(each) for each in data],
        grads=[None] * len(graph),
        amounts={},
        groups=[""] * len(graph),
        calls=[""] * len(graph),
        saved=np.array(sizes_of(graph), np.int64),
        parameters={
            index: label for index, label in graph.labels.items() if graph.codes[index] == LEAF
        },
        numbers=numbers,
    )
    drawn = (
        {i: (picture(each), None) for i, each in enumerate(data) if each is not None}
        if pictures
        else {}
    )  # fmt: skip
    found.pictures = drawn
    del data
    graph = replace(graph, arrays=found, data=np.array([_size(s) for s in found.values]))
    _pull(graph, found, started(graph, roots, seeds), drawn)
    return graph


def started(graph: Pass, roots: Sequence[Any], seeds: Sequence[Any]) -> dict[int, Any]:
    """Seeds by place; those of one root that stands there twice are added."""
    found: dict[int, Any] = {}
    for place, seed in zip(places_of(graph, roots), seeds):
        found[place] = seed if place not in found else found[place] + seed
    return found


def places_of(graph: Pass, nodes: Sequence[Any]) -> list[int]:
    """Where nodes stand in a pass; -1 for one that is no part of it. A tensor has many handles."""
    assert graph.values is not None
    places = {core.key(value): index for index, value in enumerate(graph.values)}
    return [places.get(core.key(node), -1) for node in nodes]


def _pull(
    graph: Pass, found: Arrays, seeds: dict[int, Any], drawn: dict[int, tuple[Any, Any]]
) -> None:
    uses, gone = {target: len(edges) for target, edges in graph.uses.items()}, written_over(graph)
    waiting: dict[int, list[tuple[int, Any]]] = {}
    for turn in walked(graph, seeds):
        index = turn.node
        if not turn.passing:
            found.grads[index] = summary_of(turn.upstream)
        if index in drawn:
            drawn[index] = (drawn[index][0], picture(turn.upstream))
        if graph.widths[index]:
            found.order.append(index)
        for edge, amount in waiting.pop(index, ()):
            found.shares[edge] = share(np.asarray(amount), np.asarray(turn.upstream))
        for edge, target, amount in turn.handed:
            if isinstance(amount, Placed):
                found.amounts[edge] = summary_of(amount.amount)
            elif uses[target] > 1 and not isinstance(amount, Rest) and target not in gone:
                found.amounts[edge] = summary_of(amount)
                waiting.setdefault(target, []).append((edge, amount))


def kind_of(node: Any) -> str:
    """How the rule of a node behaves, in the words of ``ops/words.py``; "weigh" for products."""
    row = core.array_row(node)
    if row is not None:
        return _kind_of_row(row[0])
    if node.op == "leaf":
        return "leaf"
    if node.op in OPS:
        return OPS[node.op].kind
    return STRUCTURAL[node.op].kind if node.op in STRUCTURAL else "custom"


def _kind_of_row(bound: Bound) -> str:
    if bound.scalar is not None:
        return OPS[bound.scalar].kind
    if bound.statement is None or bound.implicit is not None:
        return "custom"
    return kind_of_statement(bound.statement)


def summary_of(numbers: Any) -> Summary:
    """The summary of a number or an array."""
    array = np.asarray(numbers)
    return Summary.of(array) if array.ndim else Summary.number(float(array))


def _shape(node: Any) -> tuple[int, ...]:
    return node.shape if isinstance(node, Tensor) else ()


def _size(seen: Summary | None) -> float:
    if seen is None:
        return float("nan")
    return seen.low if seen.count == 1 else seen.norm
