"""What the values of a pass over arrays are called: parameters by their names, others by label,
by the variable they were assigned to, or by their op and a number.
"""

from __future__ import annotations

from collections import Counter

from ..passes.flat import Pass
from .names import Variables


def names_of(graph: Pass) -> list[str]:
    """A name for every value, no two alike; a root without a name is the loss.

    >>> import retrograde as rg
    >>> from ..passes.values import read
    >>> w = rg.Tensor([1.0, 2.0], label="w")
    >>> names_of(read(((w * w).sum(),), sites=True))
    ['w', 'mul.1', 'loss']
    """
    arrays, variables = graph.arrays, Variables()
    parameters = {} if arrays is None else arrays.parameters
    calls = None if arrays is None else arrays.calls
    count: Counter[str] = Counter()
    taken: set[str] = set()
    names = []
    for index in range(len(graph)):
        name = parameters.get(index) or graph.labels.get(index)
        name = name or _variable(graph, index, variables)
        if not name and index == len(graph) - 1:
            name = "loss"
        if not name:
            base = calls[index] if calls and calls[index] else graph.name(index)
            base = "input" if base == "leaf" else base
            count[base] += 1
            name = f"{base}.{count[base]}"
        elif name in taken:
            count[name] += 1
            name = f"{name}#{count[name] + 1}"
        taken.add(name)
        names.append(name)
    return names


def _variable(graph: Pass, index: int, variables: Variables) -> str | None:
    """The variable a value was assigned to, where its reader kept spans."""
    place, site = int(graph.places[index]), graph.site(index)
    if site is None or graph.spans is None:
        return None
    return variables.of(site.file, graph.spans[place], graph.name(index))
