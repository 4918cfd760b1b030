"""Units of a layer that compute the same and are taught the same: they stay the same.

Weights that all start as one number are suspected. They are cleared by the first pass after which
the rows of their gradient differ, one row a unit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from .._shared.sites import Site
from .graph import Reading
from .summaries import settled

MATRIX = frozenset(("mm", "bmm", "mv", "dot"))
"""Ops that take a weight as it is: its units are columns. A linear layer turns it first."""


class Alike:
    """The parameters that are suspected, by number, with the line that uses them."""

    def __init__(self) -> None:
        self._known: set[int] = set()
        self.suspects: dict[int, Site | None] = {}

    def look(
        self, reading: Reading, numbers: Mapping[int, int], tensors: Sequence[torch.Tensor]
    ) -> None:
        """After a pass that is examined: new suspects, and those that are cleared."""
        for index, number in numbers.items():
            t, seen = tensors[number], settled(reading.values[index])
            if number not in self._known:
                self._known.add(number)
                constant = seen is not None and seen.low == seen.high and not seen.odd
                if constant and t.dim() > 1 and t.layout is torch.strided:
                    self.suspects[number] = None
            if number in self.suspects:
                owner = _user(reading, index)
                columns = owner >= 0 and reading.ops[owner] in MATRIX
                if _same(t, columns) and t.grad is not None and _same(t.grad, columns, True):
                    self.suspects[number] = reading.sites[owner] if owner >= 0 else None
                else:
                    del self.suspects[number]


def _user(reading: Reading, index: int) -> int:
    """The first node that uses a leaf; -1 for none."""
    for owner in range(len(reading.live)):
        if index in reading.inputs[reading.starts[owner] : reading.starts[owner + 1]]:
            return owner
    return -1


def _same(t: torch.Tensor, columns: bool, moving: bool = False) -> bool:
    """Whether the rows of a tensor, or its columns, are alike; and not zero, of a gradient."""
    t = t.detach()
    t = t.transpose(-1, 0) if columns else t
    if t.layout is not torch.strided or t.shape[0] < 2 or (moving and not t.any()):
        return False
    return torch.allclose(t[1:], t[:1].expand_as(t[1:]), rtol=1e-4, atol=0.0)
