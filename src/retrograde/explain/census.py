"""Where the values of a story were made: how many on each line of the source."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from .entries import Place
from .story import Story


@dataclass(frozen=True)
class LineCount:
    """One line of the source: how many values it made, and by which ops, most frequent first."""

    place: Place
    values: int
    ops: tuple[tuple[str, int], ...]


def values_by_line(story: Story) -> list[LineCount]:
    """The lines that made values, those that made most first."""
    columns = story.columns
    found: dict[tuple[str, int], tuple[Place, Counter[str]]] = {}
    for op, index in zip(columns.ops, columns.places):
        if index >= 0:
            place = columns.sites[index]
            key = (place.file, place.line)
            if key not in found:
                found[key] = place, Counter()
            found[key][1][op] += 1
    counts = [
        LineCount(place, sum(ops.values()), tuple(ops.most_common()))
        for place, ops in found.values()
    ]
    return sorted(counts, key=lambda line: -line.values)
