"""A stand-in for NumPy where it is not installed: columns of numbers, in plain Python.

Just what values, their backward pass, their stories and the doctor's names ask for, spelled as
NumPy spells it. Every other name can be looked at and compared with, and raises when it is used.
"""

# ruff: noqa: N801  these are NumPy's names
from __future__ import annotations

import operator
from array import array as _array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from math import isfinite as _isfinite
from typing import Any

from ..errors import MissingPackageError


class generic:
    """What NumPy's numbers derive from: here nothing does."""


class number(generic): ...


class integer(number): ...


class floating(number): ...


class _Kind(type):
    """A kind of number: called, it gives Python's own."""

    make: Callable[[Any], Any]
    code: str

    def __call__(cls, item: Any = 0) -> Any:
        return cls.make(item)

    @property
    def kind(cls) -> str:
        """Asked for of arrays that come from outside."""
        raise _missing("arrays")


def _kind(make: Callable[[Any], Any], code: str, base: type = generic) -> Any:
    return _Kind(make.__name__, (base,), {"make": staticmethod(make), "code": code})


def _missing(what: str) -> MissingPackageError:
    return MissingPackageError.of("numpy", f"retrograde with arrays or compiled functions ({what})")


bool_ = _kind(bool, "B")
uint8, int32 = _kind(int, "B", integer), _kind(int, "i", integer)
int64 = intp = _kind(int, "q", integer)
float64 = _kind(float, "d", floating)
pi, inf, nan = 3.141592653589793, float("inf"), float("nan")


class ndarray:
    """A column of numbers of one kind."""

    ndim = 1

    def __init__(self, items: Iterable[Any], dtype: Any = None) -> None:
        self.items = list(items)
        self.dtype = dtype or _kind_of(self.items)

    def tolist(self) -> list[Any]:
        return list(self.items)

    def tobytes(self) -> bytes:
        return _array(self.dtype.code, self.items).tobytes()

    def copy(self) -> ndarray:
        return ndarray(self.items, self.dtype)

    def astype(self, dtype: Any) -> ndarray:
        return ndarray(map(_made(dtype), self.items), dtype)

    def any(self) -> bool:
        return any(self.items)

    def all(self) -> bool:
        return all(self.items)

    @property
    def size(self) -> int:
        return len(self.items)

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.items),)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return ndarray(self.items[at], self.dtype)
        if isinstance(at, (ndarray, list)):
            return ndarray([self.items[i] for i in _places(at)], self.dtype)
        return self.items[at]

    def __setitem__(self, at: Any, given: Any) -> None:
        if isinstance(at, slice):
            self.items[at] = list(given)
        elif isinstance(at, (ndarray, list)):
            places = _places(at)
            each = given if isinstance(given, (ndarray, list)) else [given] * len(places)
            for place, item in zip(places, each):
                self.items[place] = item
        else:
            self.items[at] = given

    def __neg__(self) -> ndarray:
        return ndarray([-item for item in self.items])

    def __invert__(self) -> ndarray:
        return ndarray([not item for item in self.items])

    def __repr__(self) -> str:
        return f"array({self.items})"


def _places(at: Any) -> list[int]:
    items = at.tolist() if isinstance(at, ndarray) else at
    if items and isinstance(items[0], bool):
        return [index for index, chosen in enumerate(items) if chosen]
    found: list[int] = items
    return found


def _kind_of(items: Sequence[Any]) -> Any:
    first = items[0] if items else 0.0
    return bool_ if isinstance(first, bool) else int64 if isinstance(first, int) else float64


def _made(dtype: Any) -> Callable[[Any], Any]:
    make: Callable[[Any], Any] = getattr(dtype, "make", dtype)
    return make


def _each(act: Callable[..., Any]) -> Callable[..., Any]:
    """An operator of numbers, entry by entry."""

    def entries(self: ndarray, other: Any) -> ndarray:
        others = other if isinstance(other, (ndarray, list)) else [other] * len(self)
        return ndarray([act(one, two) for one, two in zip(self.items, others, strict=True)])

    return entries


_COMPARE = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
for _act in (operator.add, operator.sub, operator.mul, *_COMPARE, operator.and_, operator.or_):
    _name = _act.__name__.rstrip("_")
    setattr(ndarray, f"__{_name}__", _each(_act))
    setattr(ndarray, f"__r{_name}__", _each(lambda one, two, act=_act: act(two, one)))
ndarray.__hash__ = object.__hash__  # type: ignore[method-assign]


# ---- functions ----------------------------------------------------------------------------------


def array(items: Iterable[Any], dtype: Any = None) -> ndarray:
    return ndarray(items if dtype is None else map(_made(dtype), items), dtype)


def asarray(items: Any, dtype: Any = None) -> Any:
    if isinstance(items, (int, float)):
        raise _missing("an array of one number")
    return items if isinstance(items, ndarray) else array(items, dtype)


def ndim(thing: Any) -> int:
    return len(getattr(thing, "shape", ()))


def ndindex(shape: Sequence[int]) -> Iterator[tuple[int, ...]]:
    return product(*map(range, shape))


def frombuffer(data: bytes, dtype: Any = float64) -> ndarray:
    return ndarray(_array(dtype.code, data), dtype)


def zeros(count: int, dtype: Any = float64) -> ndarray:
    return full(count, 0, dtype)


def ones(count: int, dtype: Any = float64) -> ndarray:
    return full(count, 1, dtype)


def full(count: int, fill: Any, dtype: Any = float64) -> ndarray:
    if not isinstance(count, int):
        raise _missing(f"of shape {count}")
    return ndarray([_made(dtype)(fill)] * count, dtype)


def arange(*bounds: int) -> ndarray:
    return ndarray(range(*bounds), int64)


def append(column: Any, items: Any) -> ndarray:
    extra = items if isinstance(items, (ndarray, list, tuple)) else [items]
    return ndarray([*column, *extra], getattr(column, "dtype", None))


def concatenate(columns: Iterable[Any]) -> ndarray:
    return ndarray([item for column in columns for item in column])


def diff(column: ndarray) -> ndarray:
    return ndarray([after - before for before, after in zip(column.items, column.items[1:])], int64)


def cumsum(column: Any) -> ndarray:
    total, found = 0, []
    for item in column:
        total += item
        found.append(total)
    return ndarray(found, int64 if not found else None)


def repeat(column: Any, counts: Any) -> ndarray:
    return ndarray([item for item, count in zip(column, counts) for _ in range(count)], int64)


def bincount(column: Any, minlength: int = 0) -> ndarray:
    found = [0] * max(minlength, max(column, default=-1) + 1)
    for item in column:
        found[item] += 1
    return ndarray(found, int64)


def flatnonzero(column: Any) -> ndarray:
    return ndarray([index for index, item in enumerate(column) if item], int64)


def unique(column: Any) -> ndarray:
    return ndarray(sorted(set(column)), getattr(column, "dtype", None))


def argsort(column: Any, kind: str = "stable") -> ndarray:
    return ndarray(sorted(range(len(column)), key=column.__getitem__), int64)


def minimum(column: ndarray, most: Any) -> ndarray:
    return ndarray([min(item, most) for item in column], column.dtype)


def isfinite(column: Any) -> Any:
    return (
        ndarray(map(_isfinite, column), bool_) if isinstance(column, ndarray) else _isfinite(column)
    )


def where(condition: Any, one: Any, other: Any) -> ndarray:
    count = len(condition)
    ones_, others = (
        each if isinstance(each, (ndarray, list)) else [each] * count for each in (one, other)
    )
    return ndarray([a if chosen else b for chosen, a, b in zip(condition, ones_, others)])


@contextmanager
def errstate(**what: str) -> Iterator[None]:
    """Plain Python's floats warn of nothing."""
    yield


# ---- everything else ----------------------------------------------------------------------------


class _Absent(type):
    """A name of NumPy's that is not here: nothing is one, and using it says what to do."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _absent(f"{cls.__name__}.{name}")

    def __call__(cls, *given: Any, **options: Any) -> Any:
        raise _missing(f"numpy.{cls.__name__}")


def _absent(name: str) -> Any:
    return _Absent(name, (), {})


linalg = _absent("linalg")
linalg.LinAlgError = type("LinAlgError", (ValueError,), {})


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _absent(name)
