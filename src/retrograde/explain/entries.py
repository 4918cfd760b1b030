"""The entries of a story: what one value, one step, one contribution is. Plain and frozen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, overload

T = TypeVar("T")


@dataclass(frozen=True)
class Place:
    """Where a value was made; ``text`` is the line itself, where it can be read."""

    file: str
    line: int
    function: str
    text: str | None = None


@dataclass(frozen=True)
class Node:
    """One value of the story. ``id`` is its position; inputs stand before their uses.

    ``op`` is a row of the law, "leaf", "number", "sum", "dot" or "custom"; ``symbol`` is how it is
    written; ``grad`` is the gradient this pass brings.
    """

    id: int
    op: str
    symbol: str
    label: str | None
    name: str
    expression: str
    data: float
    grad: float
    inputs: tuple[int, ...]
    partials: tuple[float, ...]
    requires_grad: bool
    site: Place | None


@dataclass(frozen=True)
class ForwardStep:
    """One value computed, or a leaf given."""

    node: int
    words: str


@dataclass(frozen=True)
class Contribution:
    """One ``+=`` into one input's gradient: ``amount`` is partial × upstream."""

    to: int
    position: int
    partial: float
    amount: float
    before: float
    after: float


@dataclass(frozen=True)
class BackwardStep:
    """One value handing its complete gradient on to its inputs."""

    node: int
    upstream: float
    words: str
    contributions: tuple[Contribution, ...]


class Steps(Sequence[T], Generic[T]):
    """A sequence whose items are made when asked for."""

    def __init__(self, count: int, make: Callable[[int], T]) -> None:
        self._count, self._make = count, make

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> list[T]: ...
    def __getitem__(self, place: int | slice) -> T | list[T]:
        if isinstance(place, slice):
            return [self._make(index) for index in range(*place.indices(self._count))]
        if not -self._count <= place < self._count:
            raise IndexError(f"step {place} of {self._count}")
        return self._make(place % self._count)

    def __iter__(self) -> Iterator[T]:
        return map(self._make, range(self._count))

    def __repr__(self) -> str:
        return f"<{self._count} steps>"
