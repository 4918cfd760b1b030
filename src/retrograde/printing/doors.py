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

from ..errors import CompileError
from ..program.rows import is_elsewhere, uniform

if TYPE_CHECKING:
    from ..program.calling import Replayable


def flattened(nest: Any) -> Iterator[Any]:
    """The leaves of lists, tuples and dicts, in their order."""
    if isinstance(nest, dict):
        nest = list(nest.values())
    if isinstance(nest, (list, tuple)):
        for part in nest:
            yield from flattened(part)
    else:
        yield nest


def rebuilt(nest: Any, leaves: Iterator[Any]) -> Any:
    """The same nest around other leaves."""
    if isinstance(nest, dict):
        return {key: rebuilt(part, leaves) for key, part in nest.items()}
    if isinstance(nest, tuple) and hasattr(nest, "_fields"):
        return type(nest)(*[rebuilt(part, leaves) for part in nest])
    if isinstance(nest, (list, tuple)):
        return type(nest)([rebuilt(part, leaves) for part in nest])
    return next(leaves)


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

    def rows(self, named: dict[str, Any]) -> int | None:
        """How many rows the arguments have; None where they are numbers."""
        for name, nest in named.items():
            for leaf in flattened(nest) if name not in self.uniform else ():
                if np.ndim(leaf):
                    return int(np.shape(leaf)[0])
        return None

    def value(self, named: dict[str, Any], arrays: Sequence[Any]) -> Any:
        """The value, as an array over the rows or as a number."""
        value = self.function(**self.arguments(named, arrays))
        if isinstance(value, (list, tuple, dict)):
            raise CompileError.call(
                self.function._name, "it has several results; a front door takes one"
            )
        return value if is_elsewhere(value) else np.asarray(value)

    def gradients(self, named: dict[str, Any], arrays: Sequence[Any], upstream: Any) -> list[Any]:
        """The gradients of every leaf, with what arrives at each row's value as its seed."""
        arguments = self.arguments(named, arrays)
        weights = upstream if is_elsewhere(upstream) else np.asarray(upstream)
        _, slopes = self.function.value_and_grad(
            **arguments, wrt=tuple(named), weights=weights, reduce="sum"
        )
        found = flattened(list(slopes))
        return [leaf if is_elsewhere(leaf) else np.asarray(leaf) for leaf in found]

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
