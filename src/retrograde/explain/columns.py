"""A pass as a story tells it: its columns as lists with a name for every value, and its backward
pass step by step. Whoever read the pass, it is told alike.
"""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from .._shared.numerics import np
from .._shared.sites import Span
from ..ops.sentences import shown
from ..passes.backward import Backward
from ..passes.flat import NUMBER, Pass
from .entries import Place
from .names import Variables, given_names, is_own
from .spelling import symbol_of


@dataclass
class ArrayColumns:
    """What is known of values that are arrays, one entry each: shapes, what values and gradients
    are like, the module they were made in, the kind of their rule; ``pictures`` are small samples
    of a value and its gradient, for heat maps."""

    shapes: list[str]
    values: list[str]
    grads: list[str]
    groups: list[str]
    kinds: list[str]
    pictures: dict[int, tuple[Any, Any]] = field(default_factory=dict)


@dataclass
class Columns:
    """The story's values, one entry each. A custom op has the op "custom" and its own name as
    symbol; a number operand is a value of its own, with the op "number"."""

    ops: list[str] = field(default_factory=list)
    symbols: list[str] = field(default_factory=list)
    labels: list[str | None] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    named: list[bool] = field(default_factory=list)
    data: list[float] = field(default_factory=list)
    inputs: list[tuple[int, ...]] = field(default_factory=list)
    partials: list[tuple[float, ...]] = field(default_factory=list)
    requires_grad: list[bool] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    sites: list[Place] = field(default_factory=list)
    arrays: ArrayColumns | None = None


@dataclass
class Pulled:
    """The backward pass step by step: ``order`` has the value of each step, ``starts`` where its
    contributions begin; by contribution, to which value, at which position among the operands, how
    much, and the gradient before and after. ``grads`` is by value."""

    order: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=lambda: [0])
    to: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    amounts: list[float] = field(default_factory=list)
    befores: list[float] = field(default_factory=list)
    afters: list[float] = field(default_factory=list)
    grads: list[float] = field(default_factory=list)


def columns_of(graph: Pass, pulled: Backward) -> Columns:
    """The columns of a pass in which numbers are values."""
    symbols = {op: symbol_of(op) for op in set(graph.ops)}
    labels: list[str | None] = [None] * len(graph)
    for index, label in graph.labels.items():
        labels[index] = label
    columns = Columns(
        ops=graph.ops,
        symbols=[graph.own.get(i, symbols[op]) for i, op in enumerate(graph.ops)],
        labels=labels,
        data=graph.data.tolist(),
        inputs=graph.by_value(graph.inputs),
        partials=graph.by_value(graph.numbers),
        requires_grad=graph.takes.tolist(),
        places=graph.places.tolist() if graph.sites is not None else [-1] * len(graph),
        sites=_sites(graph),
    )
    for index in np.flatnonzero(graph.ruled).tolist():
        columns.partials[index] = _slopes(graph, pulled, index)
    wanted = _wanted(graph, columns)
    fixed = (graph.codes == NUMBER).tolist()
    columns.names = given_names(wanted, fixed, labels)
    columns.named = [bool(name) and is_own(name or "") for name in wanted]
    return columns


def _sites(graph: Pass) -> list[Place]:
    places = []
    for site in graph.sites or ():
        assert site is not None
        text = linecache.getline(site.file, site.line).strip()
        places.append(Place(site.file, site.line, site.function, text or None))
    return places


def _wanted(graph: Pass, columns: Columns) -> list[str | None]:
    """What each value would be called: its label, or the variable it was assigned to."""
    variables, spans = Variables(), graph.spans
    known: dict[tuple[int, str], str | None] = {}
    wanted: list[str | None] = []
    rows = zip(columns.ops, columns.labels, columns.places, columns.data)
    for op, label, place, number in rows:
        if op == "number":
            wanted.append(shown(number))
        elif label or place < 0 or spans is None:
            wanted.append(label or None)
        else:
            key = (place, op)
            if key not in known:
                known[key] = variables.of(columns.sites[place].file, spans[place], op)
            wanted.append(known[key])
    if spans is not None:
        _name_results(columns, spans, variables, wanted)
    return wanted


def _name_results(
    columns: Columns,
    spans: Sequence[Span | None],
    variables: Variables,
    wanted: list[str | None],
) -> None:
    """Name what calls give that make several values: ``loss`` in ``loss = sum(...)``.

    The values made by one run of a call hang together; where only one of them is not used by
    another, that is the result.
    """
    calls = [
        variables.of_call(site.file, span) if span is not None else None
        for site, span in zip(columns.sites, spans)
    ]
    whole: dict[int, int] = {}  # by value made in such a call: one value of its run
    ends: dict[int, list[int]] = {}  # by run: what no other value of it uses
    for node, place in enumerate(columns.places):
        if place < 0 or calls[place] is None or not columns.inputs[node]:
            continue
        met = sorted(
            {_leader(whole, it) for it in columns.inputs[node] if columns.places[it] == place
             and it in whole}
        )  # fmt: skip
        whole[node] = met[0] if met else node
        kept = [node]
        for run in met:
            whole[run] = whole[node] if run != met[0] else run
            kept += [it for it in ends.pop(run) if it not in columns.inputs[node]]
        ends[_leader(whole, node)] = kept
    for left in ends.values():
        if len(left) == 1 and wanted[left[0]] is None:
            wanted[left[0]] = calls[columns.places[left[0]]]


def _leader(whole: dict[int, int], node: int) -> int:
    while whole[node] != node:
        whole[node] = whole[whole[node]]
        node = whole[node]
    return node


def _slopes(graph: Pass, pulled: Backward, index: int) -> tuple[float, ...]:
    """The partials of a value whose rule is a Python function: what it hands on, per upstream."""
    upstream = float(pulled.gradients[index])
    if upstream != 0.0 and isfinite(upstream):
        start, end = int(graph.starts[index]), int(graph.starts[index + 1])
        return tuple([amount / upstream for amount in pulled.amounts[start:end].tolist()])
    assert graph.rule is not None
    return tuple([amount or 0.0 for amount in graph.rule(graph, index, 1.0)])


def steps_of(graph: Pass, pulled: Backward) -> Pulled:
    """A backward pass step by step: only what takes gradients hands on and receives."""
    takes, owners = graph.takes, graph.owners
    steps = np.flatnonzero(takes & (graph.widths > 0))[::-1]
    edges = np.flatnonzero(takes[graph.inputs] & takes[owners] & ~_repeats(graph))
    edges = edges[np.argsort(-owners[edges], kind="stable")]
    counts = np.bincount(owners[edges], minlength=len(graph))[steps]
    amounts, befores = pulled.amounts[edges], pulled.befores[edges]
    grads = np.where(takes, pulled.gradients, 0.0)
    grads[-1:] = pulled.gradients[-1:]
    with np.errstate(all="ignore"):
        afters = befores + amounts
    return Pulled(
        order=steps.tolist(),
        starts=[0, *np.cumsum(counts).tolist()],
        to=graph.inputs[edges].tolist(),
        positions=(edges - graph.starts[owners[edges]]).tolist(),
        amounts=amounts.tolist(),
        befores=befores.tolist(),
        afters=afters.tolist(),
        grads=grads.tolist(),
    )


def _repeats(graph: Pass) -> np.ndarray:
    """By edge: whether a rule has handed that input everything at an earlier place."""
    found = np.zeros(len(graph.inputs), np.bool_)
    for index in np.flatnonzero(graph.ruled).tolist():
        start, end = int(graph.starts[index]), int(graph.starts[index + 1])
        seen: set[int] = set()
        for edge, operand in enumerate(graph.inputs[start:end].tolist(), start):
            found[edge] = operand in seen
            seen.add(operand)
    return found
