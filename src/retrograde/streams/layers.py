"""Layers of Dask's graphs in which a task belongs to each chunk.

Dask joins neighbouring layers of this kind, its own and those of others, into one task a chunk
while nothing else asks for what lies between them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

_AXES = "rabcdefghijklmnopq"
"""A letter for each axis; chunks are cut along the first one alone."""


@dataclass(frozen=True)
class Chunks:
    """The chunks of a layer: its name, and how many axes their keys have."""

    name: str
    ndim: int
    count: int

    def key(self, number: int) -> tuple[Any, ...]:
        """The key of one of them."""
        return (self.name, number, *[0] * (self.ndim - 1))

    @property
    def keys(self) -> list[tuple[Any, ...]]:
        """The keys of all of them."""
        return [self.key(number) for number in range(self.count)]

    @property
    def blocks(self) -> tuple[int, ...]:
        """How many there are along each axis."""
        return (self.count, *[1] * (self.ndim - 1))


def each_chunk(
    out: Chunks, function: Callable[..., Any], inputs: Sequence[Chunks], numbers: Sequence[Any] = ()
) -> Any:
    """A layer that calls a function on the chunks of others, and on something for each of them."""
    if any(given.ndim > out.ndim for given in inputs):  # these Dask can join later alone
        return {
            out.key(number): (function, *numbers[number : number + 1],
                              *[given.key(number) for given in inputs])
            for number in range(out.count)
        }  # fmt: skip
    from dask.blockwise import BlockwiseDepDict, blockwise

    pairs: list[Any] = []
    if len(numbers):
        pairs += [BlockwiseDepDict({(place,): it for place, it in enumerate(numbers)}), _AXES[0]]
    for given in inputs:
        pairs += [given.name, _AXES[: given.ndim]]
    widest = max([1, *[given.ndim for given in inputs]])
    return blockwise(
        function,
        out.name,
        _AXES[: out.ndim],
        *pairs,
        numblocks={given.name: given.blocks for given in inputs},
        new_axes=dict.fromkeys(_AXES[widest : out.ndim], 1),
    )
