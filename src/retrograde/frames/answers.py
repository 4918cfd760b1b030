"""Results in the kind that the arguments came in.

Of a table: a table with the columns ``value``, ``d_S``, ``d_sigma``. Of single columns: what
arrays would give, with a column in the place of each array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._values.nests import flatten, is_array, mapped
from ..errors import FrameError
from .columns import Column
from .tables import Table

if TYPE_CHECKING:
    from ..program.rows import Argument

VALUE = "value"


class Answers:
    """How results are handed back.

    ``named`` is an argument whose rows have names, and these; None where none has.
    """

    named: tuple[str, Any] | None = None

    def value(self, result: Any) -> Any:
        """The value, in the nest that the function returned."""
        raise NotImplementedError

    def gradients(self, names: Sequence[str], found: Any, bare: bool, stem: str = "d_") -> Any:
        """Gradients by the names of arguments; ``bare`` is one that was asked for alone."""
        raise NotImplementedError

    def pair(self, value: Any, chosen: Sequence[Argument], found: Any, bare: bool) -> Any:
        """The value and its gradients by some arguments."""
        raise NotImplementedError

    def several(self, names: Sequence[str], found: Any, outputs: Any, bare: bool) -> Any:
        """The gradients of every output, in the outputs' nest."""
        raise NotImplementedError

    def second(self, chosen: Sequence[Argument], found: Any, bare: bool) -> Any:
        """Second derivatives by some arguments."""
        raise NotImplementedError


class TableAnswers(Answers):
    """Results of a table."""

    def __init__(self, table: Table, named: tuple[str, Any] | None) -> None:
        self._table, self.named = table, named

    def value(self, result: Any) -> Any:
        """One column, or a table where the function returned several numbers."""
        if isinstance(result, np.ndarray) and (result.ndim == 1 or not self._table.flat):
            return self._table.column(VALUE, result)
        return self._made(_outputs(result))

    def gradients(self, names: Sequence[str], found: Any, bare: bool, stem: str = "d_") -> Any:
        """A table of gradients; one alone is a column."""
        if bare and isinstance(found, np.ndarray) and (found.ndim == 1 or not self._table.flat):
            return self._table.column(stem + names[0], found)
        return self._made(_by_names(names, found, bare, stem))

    def pair(self, value: Any, chosen: Sequence[Argument], found: Any, bare: bool) -> Any:
        """One table; where the value was reduced, the pair of it and the gradients."""
        if not isinstance(value, np.ndarray):
            return value, _reduced(chosen, found, bare, self._shown)
        names = [argument.name for argument in chosen]
        return self._made([(VALUE, value), *_by_names(names, found, bare, "d_")])

    def several(self, names: Sequence[str], found: Any, outputs: Any, bare: bool) -> Any:
        """One table: ``d_S`` of one output, ``price_d_S`` where there are several."""
        labels = [label for label, _ in _outputs(outputs.filled(outputs.items, _listed))]
        columns: list[tuple[str, Any]] = []
        for label, part in zip(labels, found):
            stem = "d_" if len(labels) == 1 else f"{label}_d_"
            columns += _by_names(names, part, bare, stem)
        return self._made(columns)

    def second(self, chosen: Sequence[Argument], found: Any, bare: bool) -> Any:
        """One table: ``d2_S_sigma`` is by S, then by sigma; ``d2_Z_0_b`` by the first of Z."""
        from ..program.results import by_numbers

        names = [argument.name for argument in chosen]
        if bare:
            return self._made(_by_names(names, found, True, f"d2_{names[0]}_"))
        columns: list[tuple[str, Any]] = []
        for argument, nest in zip(chosen, found):
            for label, part in by_numbers(argument.name, argument.shape, nest):
                columns += _by_names(names, part, False, f"d2_{label}_")
        return self._made(columns)

    def _shown(self, label: str, part: Any) -> Any:
        if part.ndim > 1 and self._table.flat:
            return self._made([(label, part)])
        return self._table.column(label, part)

    def _made(self, columns: Sequence[tuple[str, Any]]) -> Any:
        if self._table.flat:
            columns = [one for label, array in columns for one in _split(label, array)]
        made: dict[str, Any] = {}
        for label, array in columns:
            if label in made:
                raise FrameError.same_label(label)
            made[label] = array
        return self._table.table(made)


class ColumnAnswers(Answers):
    """Results of single columns: the nests that arrays would give, with columns in them."""

    def __init__(self, column: Column, rows: int, named: tuple[str, Any] | None) -> None:
        self._column, self._rows, self.named = column, rows, named

    def value(self, result: Any) -> Any:
        """A column, or a nest of them."""
        return self._nested(VALUE, result)

    def gradients(self, names: Sequence[str], found: Any, bare: bool, stem: str = "d_") -> Any:
        """One column for each argument."""
        if bare:
            return self._nested(stem + names[0], found)
        return tuple(self._nested(stem + name, part) for name, part in zip(names, found))

    def pair(self, value: Any, chosen: Sequence[Argument], found: Any, bare: bool) -> Any:
        """A pair of both."""
        if not isinstance(value, np.ndarray):
            return value, _reduced(chosen, found, bare, self._column.like)
        names = [argument.name for argument in chosen]
        return self._nested(VALUE, value), self.gradients(names, found, bare)

    def several(self, names: Sequence[str], found: Any, outputs: Any, bare: bool) -> Any:
        """Columns in the outputs' nest."""
        return outputs.filled([self.gradients(names, part, bare) for part in found], _listed)

    def second(self, chosen: Sequence[Argument], found: Any, bare: bool) -> Any:
        """Columns in the nest of second derivatives."""
        return self.gradients([argument.name for argument in chosen], found, bare, "d2_")

    def _nested(self, name: str, nest: Any) -> Any:
        def shown(part: Any) -> Any:
            if isinstance(part, np.ndarray) and part.ndim and len(part) == self._rows:
                return self._column.like(name, part)
            return part

        return mapped(shown, nest, is_array)


def _reduced(
    chosen: Sequence[Argument], found: Any, bare: bool, like: Callable[[str, Any], Any]
) -> Any:
    """Reduced gradients: those by arguments with rows as columns, the others as they are."""
    from ..program.results import over_rows

    shown = [
        over_rows(argument.shape, nest, partial(like, f"d_{argument.name}"))
        for argument, nest in zip(chosen, (found,) if bare else found)
    ]
    return shown[0] if bare else tuple(shown)


def _listed(items: list[Any], shape: tuple[int, ...]) -> list[Any]:
    """An array of results as a list of its items."""
    return items


def _outputs(result: Any) -> list[tuple[str, Any]]:
    return list(_labelled(result, VALUE, top=True))


def _by_names(names: Sequence[str], found: Any, bare: bool, stem: str) -> list[tuple[str, Any]]:
    parts = (found,) if bare else found
    return [one for name, part in zip(names, parts) for one in _labelled(part, stem + name)]


def _labelled(nest: Any, label: str, top: bool = False) -> Iterator[tuple[str, Any]]:
    """The leaves of a nest with names for columns: keys and indices behind the label; at the top of
    what a function returned, the keys of a dict and the names of fields are names by themselves."""
    found, structure = flatten(nest, is_array)
    for path, leaf in zip(structure.labels(), found):
        plain = top and path and (isinstance(nest, dict) or isinstance(path[0], str))
        yield "_".join(map(str, path if plain else (label, *path))), leaf


def _split(label: str, array: Any) -> Iterator[tuple[str, Any]]:
    """An array with several numbers a row as columns of one."""
    if array.ndim == 1:
        yield label, array
        return
    for place in np.ndindex(array.shape[1:]):
        column = (slice(None), *place)
        yield "_".join([label, *map(str, place)]), array[column]
