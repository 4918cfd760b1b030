"""The story of a pass over arrays: the same columns, with norms where numbers stand.

A value's ``data`` is its norm, a partial is how much longer or shorter a gradient gets along an
edge. What else is known of an array stands in ``columns.arrays``.
"""

from __future__ import annotations

import linecache

from ..ops import WORDS
from ..passes.arrays import Arrays
from ..passes.flat import Pass
from ..passes.summary import Summary, shape_text
from ..value import core
from .array_names import names_of
from .array_words import Known, rule_of
from .columns import ArrayColumns, Columns, Pulled
from .entries import Place
from .story import Story, Unfolding

RULES = {
    "weigh": "multiplies matrices: each factor receives the upstream gradient times the other one, "
    "transposed",
    "share": "normalises: what all numbers of a row have in common is taken out of the gradient",
    "custom": "applies its own rule",
}
"""What is said of arrays in other words than of numbers."""


def told_arrays(graph: Pass, note: str | None = None, unfolding: Unfolding | None = None) -> Story:
    """The story of a pass over arrays, from its last value; ``unfolding`` takes single numbers of
    gradients apart."""
    arrays = graph.arrays
    assert arrays is not None
    columns = _columns(graph, arrays)
    pulled = _pulled(graph, arrays)
    rules = _rules(graph, columns, arrays)
    forward = [_made(columns, arrays, index) for index in range(len(graph))]
    backward = [_handed_on(graph, columns, arrays, index, rules[index]) for index in pulled.order]
    seed = arrays.grads[-1]
    return Story(
        columns,
        pulled,
        seed.norm if seed is not None else 1.0,
        note,
        words=(forward, backward),
        values=graph.values or (),
        unfolding=unfolding,
    )


def _columns(graph: Pass, arrays: Arrays) -> Columns:
    names = names_of(graph)
    leaves = [graph.name(index) == "leaf" for index in range(len(graph))]
    labels = [
        arrays.parameters.get(i) or (f"{arrays.groups[i]}.{names[i]}" if arrays.groups[i] else None)
        for i in range(len(graph))
    ]
    partials = graph.by_value(graph.numbers)
    inputs = graph.by_value(graph.inputs)
    kept = [[k for k, target in enumerate(row) if target >= 0] for row in inputs]
    return Columns(
        ops=["leaf" if leaf else "custom" for leaf in leaves],
        symbols=["leaf" if leaf else graph.name(i) for i, leaf in enumerate(leaves)],
        labels=labels,
        names=names,
        named=[i in arrays.parameters for i in range(len(graph))],
        data=[_size(each) for each in arrays.values],
        inputs=[tuple(row[k] for k in which) for row, which in zip(inputs, kept)],
        partials=[tuple(row[k] for k in which) for row, which in zip(partials, kept)],
        requires_grad=graph.takes.tolist(),
        places=graph.places.tolist(),
        sites=_sites(graph),
        arrays=ArrayColumns(
            [shape_text(shape) for shape in arrays.shapes],
            [str(each) if each is not None else "" for each in arrays.values],
            [str(each) if each is not None else "" for each in arrays.grads],
            list(arrays.groups),
            [arrays.kinds[i] for i in range(len(graph))],
            {i: pair for i, pair in arrays.pictures.items() if pair != (None, None)},
        ),
    )


def _size(seen: Summary | None) -> float:
    if seen is None:
        return float("nan")
    return seen.low if seen.count == 1 else seen.norm


def _sites(graph: Pass) -> list[Place]:
    found = []
    for site in graph.sites or ():
        assert site is not None
        text = linecache.getline(site.file, site.line).strip()
        found.append(Place(site.file, site.line, site.function, text or None))
    return found


def _pulled(graph: Pass, arrays: Arrays) -> Pulled:
    pulled = Pulled(grads=[each.norm if each is not None else 0.0 for each in arrays.grads])
    held = [0.0] * len(graph)
    left = [len(graph.uses.get(index, ())) for index in range(len(graph))]
    for index in arrays.order:
        start, end = int(graph.starts[index]), int(graph.starts[index + 1])
        if start == end:
            continue
        pulled.order.append(index)
        position = 0
        for edge in range(start, end):
            target = int(graph.inputs[edge])
            if target < 0:
                continue
            seen = arrays.amount(edge, target)
            left[target] -= 1
            if seen is not None:
                whole = pulled.grads[target] if not left[target] else 0.0
                after = whole or max(held[target], seen.norm)
                pulled.to.append(target)
                pulled.positions.append(position)
                pulled.amounts.append(seen.norm)
                pulled.befores.append(held[target])
                pulled.afters.append(after)
                held[target] = after
            position += 1
        pulled.starts.append(len(pulled.to))
    return pulled


def _made(columns: Columns, arrays: Arrays, index: int) -> str:
    shape = shape_text(arrays.shapes[index])
    seen = arrays.values[index]
    about = f": {seen}" if seen is not None else ""
    if columns.ops[index] == "leaf":
        return f"{columns.names[index]} {shape}{about}"
    given = ", ".join(columns.names[i] for i in columns.inputs[index])
    return f"{columns.symbols[index]}({given}) → {shape}{about}"


def _rules(graph: Pass, columns: Columns, arrays: Arrays) -> list[str]:
    """How each value hands on: by the law where it made the value, else by the kind of rule."""
    values = graph.values or ()
    names = {core.key(value): name for value, name in zip(values, columns.names)}
    found: list[str] = []
    known: Known = {}
    for index, (kind, symbol) in enumerate(zip(arrays.kinds, columns.symbols)):
        stated = rule_of(values[index], names, known) if values else None
        rule = RULES.get(kind) or WORDS.get(kind, RULES["custom"])
        found.append(stated or f"{symbol} {rule}")
    return found


def _handed_on(graph: Pass, columns: Columns, arrays: Arrays, index: int, rule: str) -> str:
    above, said = arrays.grads[index], rule
    parts = []
    for edge in range(int(graph.starts[index]), int(graph.starts[index + 1])):
        target = int(graph.inputs[edge])
        seen = arrays.amount(edge, target) if target >= 0 else None
        if seen is not None:
            times = f" (×{seen.norm / above.norm:.3g})" if above is not None and above.norm else ""
            parts.append(f"{columns.names[target]} receives norm {seen.norm:.3g}{times}")
    if above is not None:
        said += f"; of an upstream norm of {above.norm:.3g} " + ", ".join(parts)
    return said
