"""The steps of a plan: what the executor carries out, over buffers (*roots*) and strides.

A map is one row of the scalar law over a box; maps of one box become one step (``fusing.py``). A
view is no step: it is an operand with other strides.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ...ops.arrays.flat import strides

if TYPE_CHECKING:
    from ..._shared.bound import Bound
    from ...ops.arrays.plans import Plan

Shape = tuple[int, ...]

SUM, LARGEST, SMALLEST = range(3)
"""What a reduction makes of the numbers that meet."""


class Operand(NamedTuple):
    """Numbers of a root along the axes of a box: where they begin, and a step an axis."""

    root: int
    offset: int
    steps: Shape


class Layout(NamedTuple):
    """Where the numbers of an id lie."""

    root: int
    offset: int
    shape: Shape
    steps: Shape

    @property
    def in_order(self) -> bool:
        """Whether they lie in the order of C and without gaps."""
        wanted = strides(self.shape)
        return all(n == 1 or a == b for n, a, b in zip(self.shape, self.steps, wanted))

    def squeezed(self) -> Operand:
        """Along the axes that are longer than 1."""
        return Operand(
            self.root,
            self.offset,
            tuple(step for n, step in zip(self.shape, self.steps) if n != 1),
        )


def whole(root: int, shape: Shape) -> Layout:
    """A root of its own, in order."""
    return Layout(root, 0, shape, strides(shape))


def squeezed(shape: Shape) -> Shape:
    """A shape without axes of length 1: the box of a map."""
    return tuple(n for n in shape if n != 1)


@dataclass
class Map:
    """``result = op(args)`` over a box, in order."""

    op: int
    result: int
    args: tuple[Operand, ...]
    box: Shape

    @property
    def reads(self) -> Iterable[int]:
        """The roots it reads."""
        return (it.root for it in self.args)


@dataclass
class Reduce:
    """What an operand comes to over the axes of a box along which ``out`` has no step."""

    kind: int
    result: int
    arg: Operand
    out: Shape
    box: Shape

    @property
    def reads(self) -> Iterable[int]:
        """The roots it reads."""
        return (self.arg.root,)


@dataclass
class Pack:
    """The numbers of an operand in order."""

    result: int
    arg: Operand
    box: Shape

    @property
    def reads(self) -> Iterable[int]:
        """The roots it reads."""
        return (self.arg.root,)


@dataclass
class Matrix:
    """A root walked as a matrix, and its steps along the loops around."""

    root: int
    offset: int
    row: int
    column: int
    turns: Shape


@dataclass
class Product:
    """``c = a @ b`` in every turn of the loops; it ``adds`` to what is there."""

    result: int
    sizes: tuple[int, int, int]
    a: Matrix
    b: Matrix
    c: Matrix
    loops: Shape
    adds: bool = False

    @property
    def reads(self) -> Iterable[int]:
        """The roots it reads."""
        found = [self.a.root, self.b.root]
        return [*found, self.c.root] if self.adds else found


@dataclass
class Planned:
    """Any statement, by a plan of the array law, on operands in order."""

    result: int
    name: str
    plan: Plan
    args: tuple[tuple[int, int], ...]
    wholes: tuple[int, ...]

    @property
    def reads(self) -> Iterable[int]:
        """The roots it reads."""
        return (root for root, _ in self.args)


@dataclass
class Choose:
    """Whole numbers found by looking along the middle axis of an operand in order."""

    result: int  # none of its own: a whole of the table
    by: int
    sizes: tuple[int, int, int]
    arg: tuple[int, int]
    whole: int

    @property
    def reads(self) -> Iterable[int]:
        """The roots it reads."""
        return (self.arg[0],)


@dataclass
class Move:
    """Numbers moved, one side at places that whole numbers name: ``scale`` times the number, which
    is below ``limit``, beyond where the loops stand. They are read there, or, where it ``adds``,
    added up there, in zeros."""

    result: int
    loops: Shape
    to: Operand
    arg: Operand
    whole: int
    turns: Shape
    scale: int
    limit: int
    adds: bool

    @property
    def reads(self) -> Iterable[int]:
        """The roots it reads."""
        return (self.arg.root,)


@dataclass
class Called:
    """A row by NumPy, on operands in order: ``wholes`` are what it reads, then what it finds."""

    result: int
    row: Bound
    args: tuple[tuple[int, int], ...]
    wholes: tuple[tuple[str, int], ...]

    @property
    def reads(self) -> Iterable[int]:
        """The roots it reads."""
        return (root for root, _ in self.args)


Step = Any
"""One of the above."""


@dataclass(frozen=True)
class Body:
    """The rows of a box, each an operation, the register that it fills and three that it reads.

    Registers are the ``operands``, the first ``reads`` of which are read and the others written,
    then rooms. Those in ``alike`` are one number wherever the box stands; those in ``kept`` are
    filled by rows and read later.
    """

    operands: int
    reads: int
    alike: frozenset[int]
    kept: frozenset[int]
    rows: tuple[tuple[int, ...], ...]
