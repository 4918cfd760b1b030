"""What the front doors of other libraries share: a compiled function on nests of their arrays.

A door takes arguments apart into leaves, has the compiled function called on NumPy arrays, and
hands on values and gradients leaf by leaf. Arrays are rows, as in a call, unless their argument is
named as the same for all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._values.nests import flatten, is_array
from ..errors import CompileError, RowsError
from ..program.rows import is_elsewhere, uniform

if TYPE_CHECKING:
    from ..program.calling import Replayable


def flattened(nest: Any) -> list[Any]:
    """The leaves of a nest in their order, arrays whole."""
    return flatten(nest, is_array)[0]


def rebuilt(nest: Any, leaves: Iterator[Any]) -> Any:
    """The same nest around other leaves."""
    return flatten(nest, is_array)[1].unflatten(leaves)


@dataclass(frozen=True)
class Door:
    """A compiled function, and the arguments that are the same for all rows."""

    function: Replayable
    uniform: frozenset[str]

    @classmethod
    def of(cls, function: Replayable, named: Sequence[str]) -> Door:
        """A door, its names checked."""
        names = list(function._signature.parameters)
        for name in named:
            if name not in names:
                raise CompileError.call(
                    function._name, f"uniform names '{name}'; its arguments are {', '.join(names)}"
                )
        return cls(function, frozenset(named))

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Arguments by name, in their order."""
        try:
            found = self.function._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise CompileError.call(self.function._name, str(error)) from None
        return found.arguments

    def arguments(self, named: dict[str, Any], arrays: Sequence[Any]) -> dict[str, Any]:
        """The arguments of a call: the same nests around NumPy's arrays."""
        leaves = iter(arrays)
        given: dict[str, Any] = {}
        for name, nest in named.items():
            wrap: Callable[[Any], Any] = _uniform if name in self.uniform else lambda leaf: leaf
            mine = [wrap(leaf) if np.ndim(leaf) else leaf for leaf in _some(nest, leaves)]
            given[name] = rebuilt(nest, iter(mine))
        return given

    def rows(self, named: dict[str, Any], leaves: Sequence[Any]) -> int | None:
        """How many rows the arguments have; None where they are numbers, or tensors."""
        given, first = iter(leaves), None
        for name, nest in named.items():
            for leaf in _some(nest, given):
                if not np.ndim(leaf) or name in self.uniform or name in self.function._whole:
                    continue
                rows = int(np.shape(leaf)[0])
                if first is not None and rows != first[1] and not self.function._on_tensors:
                    raise RowsError.mismatch(*first, name, rows)
                first = first or (name, rows)
        return None if first is None else first[1]

    def value(self, named: dict[str, Any], arrays: Sequence[Any]) -> Any:
        """The value, as an array over the rows or as a number."""
        value = self.function(**self.arguments(named, arrays))
        has_rows = self.rows(named, arrays) is not None
        if isinstance(value, (list, tuple, dict)) or np.ndim(value) > has_rows:
            raise CompileError.call(
                self.function._name, "it has several results; a front door takes one"
            )
        return value if is_elsewhere(value) else np.asarray(value)

    def gradients(
        self,
        named: dict[str, Any],
        arrays: Sequence[Any],
        upstream: Any,
        needed: Sequence[bool],
        apart: bool = False,
    ) -> list[Any]:
        """The gradients of the leaves that are ``needed``, with what arrives at each row's value as
        its seed: added up for what is the same for all rows, or ``apart``, row by row."""
        flags = iter(needed)
        asked = {name: [next(flags) for _ in flattened(nest)] for name, nest in named.items()}
        wrt = tuple(name for name, mine in asked.items() if any(mine))
        found = iter(flattened(list(self._slopes(named, arrays, upstream, wrt, apart))))
        leaves = [next(found) if name in wrt else None for name in asked for _ in asked[name]]
        return [leaf if leaf is None or is_elsewhere(leaf) else np.asarray(leaf) for leaf in leaves]

    def _slopes(
        self,
        named: dict[str, Any],
        arrays: Sequence[Any],
        upstream: Any,
        wrt: tuple[str, ...],
        apart: bool,
    ) -> Any:
        """The gradients by some arguments, in their nests."""
        arguments, call = self.arguments(named, arrays), self.function.value_and_grad
        weights = upstream if is_elsewhere(upstream) else np.asarray(upstream)
        if self.function._on_tensors and not np.ndim(weights):  # without rows they have no weights
            _, slopes = call(**arguments, wrt=wrt)
            return [np.asarray(leaf) * weights for leaf in flattened(list(slopes))]
        return call(**arguments, wrt=wrt, weights=weights, reduce=None if apart else "sum")[1]

    def takes_rows(self, ranks: Sequence[int]) -> bool:
        """Whether leaves of so many axes are numbers, so that a batch of them is a call over rows;
        where they are not, its parts are called one after another."""
        return not (any(ranks) or self.uniform or self.function._on_tensors)

    @property
    def on_device(self) -> bool:
        """Whether the function takes rows that lie on a device."""
        return self.function._new_bound().devices is not None


def _uniform(array: Any) -> Any:
    """An array that is the same for all rows; its numbers are needed on the host."""
    return uniform(array.cpu().numpy() if is_elsewhere(array) else array)


def _some(nest: Any, leaves: Iterator[Any]) -> list[Any]:
    """As many leaves as a nest has."""
    return [next(leaves) for _ in flattened(nest)]
