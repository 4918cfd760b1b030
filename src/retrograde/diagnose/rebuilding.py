"""Parameters that a program makes anew: the values that take the place of those watched.

``w = Value(w.data - lr * w.grad)`` is a fair way to write a step, but what was watched is no longer
what is trained. Which new leaf stands for which parameter is read off the graph: the loss is the
same, so its leaves come in the same order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._shared.numerics import np
from ..value import Value

EXPLAINED = 0.5
"""The least cosine between the change and the descent for the change to be a step."""


class Rebuilding:
    """The order of the leaves in the first pass, and how often others stood in their places."""

    def __init__(self) -> None:
        self._order: list[int] | None = None
        self.stepped = 0
        """Passes in which new values were the old ones, one step of descent later."""
        self.replaced = 0
        """Passes in which new values had nothing to do with the old ones."""
        self.began = 0

    @property
    def is_first(self) -> bool:
        """Whether no pass has been seen."""
        return self._order is None

    def learn(self, leaves: Sequence[Value], place: Mapping[int, int]) -> None:
        """Take the order of the leaves of a pass."""
        self._order = [place.get(id(leaf), -1) for leaf in leaves]

    def successors(
        self, leaves: Sequence[Value], lost: Any, place: Mapping[int, int]
    ) -> dict[int, Value]:
        """The values that stand where the lost parameters stood; nothing where it is not plain."""
        if self._order is None or len(leaves) != len(self._order):
            return {}
        found = {
            number: leaf
            for number, leaf in zip(self._order, leaves)
            if number >= 0 and lost[number] and id(leaf) not in place
        }
        return found if len(found) == int(lost.sum()) else {}

    def is_step(self, found: Mapping[int, Value], data: Any, grads: Any) -> bool:
        """Whether the new values are the old ones, one step of descent later."""
        numbers = np.fromiter(found, dtype=np.intp)
        change = np.array([found[n].data for n in numbers.tolist()]) - data[numbers]
        descent = -grads[numbers]
        with np.errstate(all="ignore"):
            lengths = np.sqrt(change @ change) * np.sqrt(descent @ descent)
            return bool(change @ descent > EXPLAINED * lengths)

    def note(self, number: int, step: bool) -> None:
        """Pass ``number`` had new values."""
        self.began = self.began or number
        self.stepped += step
        self.replaced += not step
