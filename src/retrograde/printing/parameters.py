"""The face of a printed function in C: its parameters, one an argument, and their names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..program.shapes import Entries, Items, Number, Row, Rows, Shape, numbers_in
from .names import free_name


@dataclass(frozen=True)
class Parameter:
    """A parameter in C: numbers ``first`` to ``first + count`` of the arguments.

    ``rows``: it has ``count`` numbers a row; else they are the same for all rows. ``bare``: it is
    one number and comes as such.
    """

    name: str
    first: int
    count: int
    rows: bool
    bare: bool

    @property
    def declared(self) -> str:
        """As it stands among the parameters."""
        return f"double {self.name}" if self.bare else f"const double *{self.name}"

    @property
    def shape(self) -> str:
        """What it points to, in words."""
        if self.rows:
            return "[rows]" if self.count == 1 else f"[rows][{self.count}]"
        return "" if self.bare else f"[{self.count}]"


def _has_rows(shape: Shape) -> bool:
    match shape:
        case Row() | Rows():
            return True
        case Items(_, parts) | Entries(_, parts):
            return any(map(_has_rows, parts))
    return False


def _walk(name: str, shape: Shape, first: int) -> Iterator[tuple[str, int, int, bool, bool]]:
    match shape:
        case Number():
            yield name, first, 1, False, True
        case Row():
            yield name, first, 1, True, False
        case Rows(width):
            yield name, first, width, True, False
        case Items(_, parts) if _has_rows(shape):
            for place, part in enumerate(parts):
                yield from _walk(f"{name}_{place}", part, first)
                first += numbers_in(part)
        case Entries(keys, parts):
            for key, part in zip(keys, parts):
                yield from _walk(f"{name}_{key}", part, first)
                first += numbers_in(part)
        case _:
            yield name, first, numbers_in(shape), False, False


def _others(name: str) -> list[str]:
    """Parameters that are named after one: its gradient, and what a Hessian is multiplied by."""
    return [f"d_{name}", f"v_{name}"]


def parameters_of(
    arguments: Sequence[tuple[str, Shape]], function: str = ""
) -> dict[str, list[Parameter]]:
    """The parameters of each argument: one, or one an entry of a dict and of a list with rows. None
    has the name of the ``function``, which calls itself."""
    taken = {function}
    found: dict[str, list[Parameter]] = {}
    at = 0
    for argument, shape in arguments:
        mine = found.setdefault(argument, [])
        begins, at = at, at + numbers_in(shape)
        for name, first, count, rows, bare in _walk(argument, shape, begins):
            plain = free_name(name, taken, _others)
            if count:
                mine.append(Parameter(plain, first, count, rows, bare))
    return found
