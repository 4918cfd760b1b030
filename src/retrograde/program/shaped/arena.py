"""Memory of a plan: one arena, in which every root has its place for as long as it is read."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence

from .fusing import Group
from .steps import Map

LINE = 8
"""Numbers of a cache line, on which every root begins."""


def inner_roots(groups: Sequence[Group], kept: set[int]) -> set[int]:
    """What maps make and nobody reads outside of their group: it needs no memory."""
    made = {
        step.result: place
        for place, group in enumerate(groups)
        for step in group.steps
        if isinstance(step, Map) and group.box is not None
    }
    outside = set(kept)
    for place, group in enumerate(groups):
        for step in group.steps:
            outside.update(root for root in step.reads if made.get(root, place) != place)
    return set(made) - outside


def placed(
    groups: Sequence[Group], sizes: Mapping[int, int], outside: set[int]
) -> tuple[dict[int, int], int]:
    """Where each root lies, in numbers, and how many there are in all.

    ``outside`` are roots that have other memory, or none. A place is given again once its root is
    read for the last time.
    """
    last: dict[int, int] = {}
    for number, group in enumerate(groups):
        for step in group.steps:
            last[step.result] = max(last.get(step.result, -1), number)
            for root in step.reads:
                last[root] = number
    ends: dict[int, list[int]] = {}
    for root, number in last.items():
        ends.setdefault(number, []).append(root)
    places: dict[int, int] = {}
    free: list[tuple[int, int]] = []  # by size
    rooms: dict[int, int] = {}
    top = 0
    for number, group in enumerate(groups):
        for step in group.steps:
            root = step.result
            if root in outside or root in places or root < 0:
                continue
            size = -(-max(1, sizes[root]) // LINE) * LINE
            fit = bisect_left(free, (size, -1))
            if fit < len(free) and free[fit][0] <= 2 * size:
                rooms[root], places[root] = free.pop(fit)
            else:
                rooms[root], places[root] = size, top
                top += size
        for root in ends.get(number, ()):
            if root in places:
                insort(free, (rooms[root], places[root]))
    return places, top
