"""Births over rows of a compiled function on tensors.

All rows run once. Those with a result or a gradient that is not finite are computed again on
tensors, one by one, where the first number that is not finite is told with its line; rows with the
same place are one group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._shared.birth import BACKWARD, FORWARD, Birth
from .._shared.numerics import np
from ..value import Value
from .births import births_under
from .compiled_births import RowBirths, RowGroup

MOST_PLACED = 512
"""Sick rows that are computed on tensors; further ones are counted only."""


def births_of_tensors(rows: int, sick: Any, roots_of: Callable[[int], Sequence[Any]]) -> RowBirths:
    """The births of sick rows, by the place where they fell ill; ``roots_of`` computes the results
    of one row on tensors."""
    places: dict[tuple[str, str, Any], tuple[Birth, list[int]]] = {}
    placed = 0
    ill = []
    for row in sick[:MOST_PLACED].tolist():
        phase, birth = _first(roots_of(row))
        placed += 1
        if birth is None:  # what was summed over rows is sick, and this one is not
            continue
        ill.append(row)
        key = (phase, "" if phase == BACKWARD else birth.op, birth.site or birth.label)
        places.setdefault(key, (birth, []))[1].append(row)
    groups: dict[str, list[RowGroup]] = {FORWARD: [], BACKWARD: []}
    for (phase, _, _), (birth, members) in places.items():
        groups[phase].append(RowGroup(phase, birth, np.array(members)))
    for found in groups.values():
        found.sort(key=lambda group: (-group.count, int(group.rows[0])))
    rest = sick[MOST_PLACED:]
    all_ill = np.concatenate([np.array(ill, dtype=np.int64), rest])
    forward, backward = (tuple(found) for found in groups.values())
    return RowBirths(rows, forward, backward, all_ill, len(rest))


def _first(results: Sequence[Any]) -> tuple[str, Birth | None]:
    """The first birth under some results: of the way forward if there is one."""
    roots = tuple(it if isinstance(it, Value) else it.sum() for it in results)
    found = births_under(roots, (1.0,) * len(roots))
    if found.forward:
        return FORWARD, found.forward[0]
    return BACKWARD, found.backward[0] if found.backward else None
