"""What a row of the array law is: stated, composed of others, or known by an equation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from ..index import Shape, Statement
from .binding import Template, bind, normal_axes

T = TypeVar("T")


@dataclass(frozen=True)
class Example:
    """Shapes and arguments on which a row is shown and tried."""

    shapes: Mapping[str, Shape]
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """A row that is stated in index notation.

    ``bound`` gives its statement on shapes; ``template`` is the statement without them, where it is
    one and the same for all. Without ``operands`` it takes any number of them: x1, x2, …
    """

    name: str
    bound: Callable[..., Statement]
    example: Example
    operands: tuple[str, ...] = ("x",)
    wholes: tuple[str, ...] = ()
    template: Statement | None = None
    why: str = ""

    def state(self, shapes: Mapping[str, Shape], **arguments: Any) -> Statement:
        """The row on arrays of these shapes.

        >>> from ..array import ARRAYS
        >>> from .notation import text
        >>> print(text(ARRAYS["sum"].state({"x": (2, 3)}, axis=0, keepdims=True)))
        z[0, i] += x[k, i]
        """
        try:
            return self.bound(shapes, **arguments)
        except (ValueError, IndexError) as error:
            raise type(error)(f"{self.name}: {error}") from None

    def shown(self) -> Statement:
        """The row as a page shows it: its template, or its statement on the example."""
        return self.template or self.state(self.example.shapes, **self.example.arguments)

    def names(self, count: int) -> tuple[str, ...]:
        """What its operands are called."""
        return self.operands or tuple(f"x{number + 1}" for number in range(count))


class Do(Protocol[T]):
    """Whoever carries out a composition: a tape, an oracle, a printer."""

    def __call__(self, name: str, *operands: T | float, **arguments: Any) -> T:
        """One row on operands and numbers."""

    def shape(self, operand: T) -> Shape:
        """The shape of an operand."""

    def fill(self, shape: Shape, number: float) -> T:
        """An array of one number, which takes no gradient."""

    def stop(self, operand: T) -> T:
        """The same numbers, through which no gradient passes."""


@dataclass(frozen=True)
class Composed:
    """A row that is made of others, and differentiated through them."""

    name: str
    make: Callable[..., Any]
    example: Example
    why: str
    operands: tuple[str, ...] = ("x",)
    wholes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Implicit:
    """A result known by the equation it solves: ``equation`` is 0 at the right ``z``.

    With ``u`` from ``undo``, the solution of ``(d equation/dz)ᵀ u = z'``, an operand receives
    ``-uᵀ d equation/d operand``. ``undo(do, upstream, result, operands)`` is made of rows.
    """

    name: str
    equation: Template
    undo: Callable[..., Any]
    example: Example
    operands: tuple[str, ...]
    why: str
    wholes: tuple[str, ...] = ()

    def state(self, shapes: Mapping[str, Shape]) -> Statement:
        """Its equation on arrays of these shapes, the result among them as ``s``."""
        try:
            return bind(self.equation, shapes)
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from None


AnyRow = Row | Composed | Implicit


def at_last(template: Template, *given: str) -> Callable[..., Statement]:
    """A row about the last axes; ``given`` are the names of its whole-number arguments."""

    def bound(shapes: Mapping[str, Shape], **numbers: int) -> Statement:
        if unknown := set(numbers) - set(given):
            raise ValueError(f"no argument {', '.join(sorted(unknown))}")
        return bind(template, shapes, None, False, numbers)

    return bound


def along(template: Template) -> Callable[..., Statement]:
    """A row about one axis, the last unless told."""

    def bound(shapes: Mapping[str, Shape], axis: int = -1) -> Statement:
        rank = len(shapes["x"])
        (one,) = normal_axes(axis, rank)
        return bind(template, shapes, [one - rank])

    return bound


def reducing(template: Template) -> Callable[..., Statement]:
    """A row that leaves out axes: all of them unless told, kept with length 1 where asked."""

    def bound(
        shapes: Mapping[str, Shape],
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
    ) -> Statement:
        rank = len(shapes["x"])
        axes = [one - rank for one in normal_axes(axis, rank)]
        return bind(template, shapes, axes, keepdims)

    return bound
