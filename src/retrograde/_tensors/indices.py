"""Whole numbers that a recording does not know: those a compiled function is given, and those it
finds by looking at tensors.

While a function is recorded they have a shape and pick places of tensors, and an argument has
slices and items. Their numbers stay hidden, since every call has others. What a row is given in
their place is an array that remembers where it is from (``source_of``).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from threading import local
from typing import Any, NoReturn

from .._shared.bound import Bound
from .._shared.numerics import np
from ..errors import RecordingError
from ..value import belongs_to_caller


@dataclass(frozen=True)
class Found:
    """Where whole numbers are from that a node finds by looking at its operand; ``reach`` is the
    length of the axis they are places of."""

    node: Any
    name: str
    reach: int


class _Sources(local):
    """By the identity of an array in use: where its numbers are from, and the array."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[int | Found, Any, Any]] = {}


_sources = _Sources()


def source_of(array: Any) -> tuple[int | Found, Any] | None:
    """The argument, or the node, and the flat places that whole numbers were taken from."""
    found = _sources.known.get(id(array))
    return None if found is None else found[:2]


def forget_sources() -> None:
    """Let go of all arrays: a recording is over."""
    _sources.known.clear()


def follow(given: dict[str, Any], counted: dict[str, Any]) -> dict[str, Any]:
    """Whole numbers counted from the front are from where they were before."""
    for name, array in given.items():
        found = _sources.known.get(id(array))
        if found is not None and counted[name] is not array:
            _sources.known[id(counted[name])] = (*found[:2], counted[name])
    return counted


def found_by(node: Any, row: Bound, wholes: dict[str, Any]) -> None:
    """While recording, whole numbers that a node finds are other ones in every call."""
    for name in row.found:
        array = wholes[name]
        at = np.arange(array.size).reshape(array.shape)
        _sources.known[id(array)] = (Found(node, name, row.reach(name)), at, array)


def is_tracked(wholes: dict[str, Any]) -> bool:
    """Whether some of these are other ones in every call."""
    return any(id(array) in _sources.known for array in wholes.values())


def refuse(wholes: dict[str, Any], what: str) -> None:
    """Raise where something has to know the numbers themselves."""
    if is_tracked(wholes):
        raise RecordingError.indices(what)


def _refusal(what: str) -> Any:
    def refused(self: Any, *operands: object, **named: object) -> NoReturn:
        raise self.refusal(what)

    return refused


class Indices:
    """An argument of whole numbers while a function is recorded."""

    __slots__ = ("_at", "_numbers", "_source")
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    refusal = staticmethod(RecordingError.indices)

    def __init__(self, source: int | Found, numbers: Any, at: Any = None) -> None:
        self._source, self._numbers = source, np.asarray(numbers, dtype=np.intp)
        self._at = np.arange(self._numbers.size).reshape(self._numbers.shape) if at is None else at

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths along its axes."""
        return tuple(self._at.shape)

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return int(self._at.ndim)

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return int(self._at.size)

    @property
    def dtype(self) -> Any:
        """The type of its numbers."""
        return self._numbers.dtype

    @property
    def T(self) -> Indices:  # noqa: N802  as NumPy has it
        """Its axes the other way round."""
        return self._part(self._numbers.T, self._at.T)

    def __len__(self) -> int:
        return len(self._at)

    def __iter__(self) -> Iterator[Indices]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, key: Any) -> Indices:
        return self._part(self._numbers[key], np.asarray(self._at[key]))

    def _part(self, numbers: Any, at: Any) -> Indices:
        return type(self)(self._source, numbers, at)

    def reshape(self, *shape: Any) -> Indices:
        """The same numbers along other axes."""
        at = self._at.reshape(*shape)
        return self._part(self._numbers.reshape(at.shape), at)

    def ravel(self) -> Indices:
        """All numbers along one axis."""
        return self.reshape(-1)

    flatten = ravel

    def tracked(self) -> Any:
        """An array of the numbers that remembers where it is from."""
        array = np.array(self._numbers, dtype=np.intp)
        _sources.known[id(array)] = (self._source, self._at, array)
        return array

    __array__, __int__, __index__ = map(_refusal, ("np.asarray(n)", "int(n)", "a whole number"))
    __float__, __bool__ = map(_refusal, ("float(n)", "the truth of n"))
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refusal("arithmetic")
    __mod__ = __floordiv__ = __truediv__ = __neg__ = __pow__ = _refusal("arithmetic")
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refusal("a comparison")
    tolist, item, sum, max, min, astype = map(
        _refusal, ("n.tolist()", "n.item()", "n.sum()", "n.max()", "n.min()", "n.astype()")
    )

    def __repr__(self) -> str:
        return f"{type(self).__name__}(shape={self.shape})"


class Places(Indices):
    """What ``argmax``, ``argmin`` and ``argsort`` find while a function is recorded: it is taken as
    a whole."""

    __slots__ = ()

    refusal = staticmethod(RecordingError.places)

    def _part(self, numbers: Any, at: Any) -> Indices:
        if at.size != self._at.size or (at.ravel() != self._at.ravel()).any():
            raise RecordingError.places("a part")
        return super()._part(numbers, at)


belongs_to_caller(sys.modules[__name__])
belongs_to_caller(Indices)
belongs_to_caller(Places)
