"""What a pass uses of the graph of the pass before: history that is carried over, and where."""

from __future__ import annotations

from .._shared.sites import Site
from ._private import number_of
from .graph import Reading
from .kinds import LEAF


def carried_into(reading: Reading, earlier: int) -> tuple[bool, Site | None]:
    """Whether nodes of a pass are made from some that an earlier one has been through, which had
    numbers up to ``earlier``; and the line of the first that is."""
    inner = [op != LEAF for op in reading.ops]
    old = [own and number_of(node) < earlier for own, node in zip(inner, reading.live)]
    if not any(old):
        return False, None
    for index, own in enumerate(inner):
        if own and not old[index]:
            below = reading.inputs[reading.starts[index] : reading.starts[index + 1]]
            if any(target >= 0 and old[target] for target in below):
                return True, reading.sites[index]
    return False, None
