"""``c_source``: which functions a file has, for what a compiled function has recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import CompileError, PrintingError
from ..program.derived import STORED, VALUE, Mode
from ..program.shapes import Shape, in_words, numbers_in
from ..program.traces import Family
from ..value import Value
from .cfile import CFile, c_file
from .entries import Entry, Result
from .functions import Function
from .names import function_name
from .parameters import Parameter, parameters_of

VECTORS = 1
"""Vectors that one tile of rows has."""


@dataclass(frozen=True)
class Recorded:
    """What was recorded of a function for one kind of arguments.

    ``second`` are its traces for second derivatives, None where they are not recorded.
    """

    name: str
    arguments: list[tuple[str, Shape]]
    family: Family
    second: Family | None
    labels: dict[int, str]
    """What captured leaves are called, by identity."""

    @property
    def call(self) -> str:
        """Its call in words."""
        parts = ", ".join(f"{name}: {in_words(shape)}" for name, shape in self.arguments)
        return f"{self.name}({parts})"


def chosen(recorded: Sequence[Recorded], name: str) -> Recorded:
    """The only kind of arguments that there is."""
    if not recorded:
        raise PrintingError.not_recorded(name)
    if len(recorded) > 1:
        raise PrintingError.several(name, [each.call for each in recorded])
    return recorded[0]


def c_source_of(recorded: Recorded, wrt: str | Sequence[str] | None, hessian: bool) -> CFile:
    """The file of a function: its value, gradients and their sums, and Hessian products."""
    return _Source(recorded, function_name(recorded.name), wrt, hessian).file()


class _Source:
    def __init__(
        self, recorded: Recorded, name: str, wrt: str | Sequence[str] | None, hessian: bool
    ) -> None:
        self.recorded, self.name, self.hessian = recorded, name, hessian
        self.parameters = parameters_of(recorded.arguments, name)
        self.all = [each for mine in self.parameters.values() for each in mine]
        self.numbers = sum(numbers_in(shape) for _, shape in recorded.arguments)
        self.outputs = len(recorded.family.traces[0].outputs.items)
        self.names = self._names(wrt)
        self.wrt = [each for argument in self.names for each in self.parameters[argument]]
        self.ids = tuple(i for each in self.wrt for i in range(each.first, each.first + each.count))

    def _names(self, wrt: str | Sequence[str] | None) -> list[str]:
        """The arguments to differentiate."""
        known = list(self.parameters)
        if wrt is None:
            return known if self.outputs == 1 else []
        names = [wrt] if isinstance(wrt, str) else list(wrt)
        for each in names:
            if each not in self.parameters:
                raise CompileError.call(
                    self.recorded.name, f"wrt names '{each}'; its arguments are {', '.join(known)}"
                )
        if names and self.outputs != 1:
            raise CompileError.call(
                self.recorded.name, "it has several results, so it has no gradient: give wrt=()"
            )
        return names

    def _function(self, mode: Mode, count: int, tail: str, family: Family) -> Function:
        name = f"{self.name}_{tail}"
        title = self.recorded.name
        return Function(family, mode, STORED * count, self.numbers, name, VECTORS, title)

    def file(self) -> CFile:
        family, entries = self.recorded.family, []
        value = self._function(VALUE, self.outputs, "v", family)
        one = ["value"] if self.outputs == 1 else [f"value_{i}" for i in range(self.outputs)]
        values = [Result(each, 1) for each in one]
        title = f"The value of {self.name}"
        entries.append(Entry(self.name, f"{title}.", value, self.all, values))
        entries.append(
            Entry(f"{self.name}_sum", f"{title}, added up.", value, self.all, values, summed=True)
        )
        if self.ids:
            entries += self._gradients(family)
        if self.ids and self.hessian:
            entries.append(self._product())
        title = f"{self.recorded.call}, with gradients by {', '.join(self.names) or 'nothing'}."
        return c_file(self.name, title, entries, self.numbers, self._captured(), VECTORS)

    def _gradients(self, family: Family) -> list[Entry]:
        mode = Mode("gradient", self.ids)
        function = self._function(mode, 1 + len(self.ids), "g", family)
        results = [Result("value", 1), *self._slopes()]
        words = f"The value of {self.name} and its gradients"
        name = f"{self.name}_gradient"
        return [
            Entry(name, f"{words}, row by row.", function, self.all, results),
            Entry(
                f"{name}_sum",
                f"{words}: added up, but for those of rows.",
                function,
                self.all,
                results,
                summed=True,
            ),
        ]

    def _slopes(self) -> list[Result]:
        return [Result(f"d_{each.name}", each.count, each.rows) for each in self.wrt]

    def _product(self) -> Entry:
        family = self.recorded.second
        if family is None:
            raise PrintingError.not_recorded(self.recorded.name)
        mode = Mode("hvp", self.ids, len(self.ids))
        function = self._function(mode, len(self.ids), "h", family)
        seeds = [Parameter(f"v_{each.name}", 0, each.count, True, False) for each in self.wrt]
        words = f"The Hessian of {self.name} times the vector v, row by row."
        return Entry(f"{self.name}_hvp", words, function, self.all, self._slopes(), seeds)

    def _captured(self) -> dict[str, Value]:
        """Captured leaves by their names."""
        found: dict[str, Value] = {}
        families = [self.recorded.family, self.recorded.second]
        leaves = {id(leaf): leaf for each in families if each for leaf in each.captured}
        for number, leaf in enumerate(leaves.values()):
            name = self.recorded.labels.get(id(leaf), f"captured {number}")
            found[name if name not in found else f"{name} ({number})"] = leaf
        return found
