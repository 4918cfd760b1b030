"""Rubrics: which capabilities of an engine count in a grade, and how much each is worth."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from typing import Final

from ..errors import LearnError

Rubric = dict[str, float]
"""Weights by the names of capabilities."""

LONGEST: Final = 20_000
_ENTRY: Final = re.compile(r"^([a-z][a-z ]*?)\s*(?:[:=]\s*(\S+))?$")


def rubric_from(text: str, names: Collection[str]) -> Rubric:
    """A rubric as text: ``add=2, mul, second backward=0.5``, on one line or a line each.

    What it names counts, also where a class lacks it; what it leaves out does not. A weight is 1
    unless it is given.

    >>> rubric_from("add = 2, mul  # the rest another day", {"add", "mul", "relu"})
    {'add': 2.0, 'mul': 1.0}
    """
    found: Rubric = {}
    for line in text[:LONGEST].splitlines():
        for entry in filter(None, map(str.strip, line.partition("#")[0].split(","))):
            parts = _ENTRY.match(entry)
            if parts is None:
                raise LearnError.rubric(f"'{entry}' is no NAME or NAME=WEIGHT")
            name, weight = parts[1], _weight(entry, parts[2] or "1")
            if name not in names:
                raise LearnError.no_capability(name, [*names])
            if name in found:
                raise LearnError.rubric(f"'{name}' is in it twice")
            found[name] = weight
    if not any(found.values()):
        raise LearnError.rubric("it gives no points at all")
    return found


def _weight(entry: str, text: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not 0 <= weight < math.inf:
        raise LearnError.rubric(f"the weight in '{entry}' is no number from 0 up")
    return weight
