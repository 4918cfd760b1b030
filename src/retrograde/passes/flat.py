"""A pass as data: a graph as flat columns, one entry a value or an edge, inputs before uses.

Readers fill it; whoever judges, tells or draws a graph reads it. A column that a reader cannot fill
is absent, which is None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from types import CodeType
from typing import TYPE_CHECKING, Any, TypeAlias

from .._shared.numerics import np
from .._shared.sites import Site, Span
from ..value import core
from .arrays import Arrays

if TYPE_CHECKING:
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.int64]"
Flags: TypeAlias = "NDArray[np.bool_]"

NAMES: tuple[str, ...] = (*core.OP_NAMES, "custom", "number")
"""The ops by their codes: those of the engine, then what has a rule of its own, and a number."""

CODES = {name: code for code, name in enumerate(NAMES)}
LEAF, CUSTOM, NUMBER = CODES["leaf"], CODES["custom"], CODES["number"]

NUMBER_OPERAND = -1
"""Among the inputs: an operand that was a number, and no value."""

Rule = Callable[["Pass", int, float], "Sequence[float | None]"]
"""(pass, value, upstream) -> what a value's own rule contributes to each input, or None."""


@dataclass(frozen=True, eq=False)
class Pass:
    """A graph as columns.

    By value: ``codes`` (of :data:`NAMES`), ``data``, ``takes`` (whether it takes gradients),
    ``places`` (where it was made, an index of ``instructions``, ``sites`` and ``spans``, or -1),
    ``ruled`` (whether
    its contributions come from ``rule``). The inputs of value ``i`` are the edges ``starts[i]`` to
    ``starts[i + 1]``. By edge: ``inputs``, the value or :data:`NUMBER_OPERAND`, and ``numbers``,
    the partial, or the number where the operand was one.

    ``labels`` and ``own`` (the names of custom ops) are by value, for those that have one.
    Absent where a reader has none: ``values``, the objects themselves; ``grads``, what they held as
    gradients; ``hooked``, whether they have hooks; ``instructions``, ``sites`` and ``spans``;
    ``arrays``, where values are arrays: then ``data`` are their norms, and ``numbers`` how much
    longer or shorter a gradient gets along an edge.
    """

    codes: NDArray[np.uint8]
    data: Floats
    takes: Flags
    starts: Integers
    inputs: Integers
    numbers: Floats
    places: NDArray[np.int32]
    labels: Mapping[int, str]
    own: Mapping[int, str]
    ruled: Flags
    rule: Rule | None = None
    values: Sequence[Any] | None = None
    grads: Floats | None = None
    hooked: Flags | None = None
    instructions: Sequence[tuple[CodeType, int]] | None = None
    sites: Sequence[Site | None] | None = None
    spans: Sequence[Span | None] | None = None
    arrays: Arrays | None = None

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def ops(self) -> list[str]:
        """The op of each value by name."""
        return [NAMES[code] for code in self.codes.tolist()]

    def name(self, index: int) -> str:
        """The op of one value, a custom one by its own name."""
        return self.own.get(index) or NAMES[int(self.codes[index])]

    def site(self, index: int) -> Site | None:
        """Where one value was made, if that is known."""
        place = int(self.places[index])
        return self.sites[place] if place >= 0 and self.sites is not None else None

    @cached_property
    def uses(self) -> dict[int, list[int]]:
        """By value: the edges that lead to it."""
        found: dict[int, list[int]] = {}
        for edge, target in enumerate(self.inputs.tolist()):
            if target >= 0:
                found.setdefault(target, []).append(edge)
        return found

    @cached_property
    def widths(self) -> Integers:
        """How many operands each value has."""
        return np.diff(self.starts)

    @cached_property
    def owners(self) -> Integers:
        """By edge: the value whose operand it is."""
        return np.repeat(np.arange(len(self)), self.widths)

    @cached_property
    def operands(self) -> Floats:
        """By edge: the number of the operand."""
        data = np.append(self.data, 0.0)  # the last is for number operands
        return np.where(self.inputs < 0, self.numbers, data[self.inputs])

    def by_value(self, edges: Any) -> list[tuple[Any, ...]]:
        """A column of edges as one tuple a value."""
        flat, starts = edges.tolist(), self.starts.tolist()
        return [tuple(flat[start:end]) for start, end in pairwise(starts)]

    @cached_property
    def place_of(self) -> dict[int, int]:
        """Where an object stands, by its id; only where ``values`` is there."""
        assert self.values is not None
        return {id(value): index for index, value in enumerate(self.values)}

    def of(self, values: Sequence[Any]) -> list[int]:
        """Where values stand; -1 for one that is no part of the pass."""
        return [self.place_of.get(id(value), -1) for value in values]
