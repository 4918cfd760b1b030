"""Nests: things inside lists, tuples, dicts, dataclasses and arrays, taken apart and put together;
the one place that knows what a nest is.

``flatten`` gives the leaves of a nest in order and its structure; ``structure.unflatten`` puts such
a nest together around other leaves, ``structure.places`` says where each leaf stands, as one would
write it: ``x[2]["w"][0]``. ``take_apart`` is the same for nests of numbers and values alone.
``leaves`` and ``entries`` are for those who only look. Nothing here is recursive: depth is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date, time, timedelta
from enum import Enum
from functools import cached_property
from typing import Any

from .._shared.numerics import np
from .._shared.operands import is_real_scalar
from ..errors import ArgumentError, ShapeError
from ..tensor import Tensor
from ..value import Value
from .sequences import ComputingSequence, sequence

DEEPEST = 2_000
"""So many levels a nest may have; a list that holds itself has more."""

Arrays = Callable[[list[Any], tuple[int, ...]], Any]
"""How an array of a shape is made of its items."""

Key = Any
Path = tuple[Key, ...]
"""The keys and indices that lead to a leaf; an array has one for each of its axes."""


Fixed = tuple[tuple[str, type, Any], ...]
"""Fields of a dataclass that are no numbers: what is recorded is for these alone. With their types:
a choice may equal a text."""

_NO_NUMBERS = (str, bytes, type(None), Enum, date, time, timedelta)


# ---- what a nest is ----------------------------------------------------------------------------


@dataclass(slots=True)
class Branch:
    """A container of a nest without its parts: how many, their keys, and how it is made again."""

    count: int

    def paths(self) -> Iterable[Path]:
        """What each part adds to the path."""
        return ((index,) for index in range(self.count))

    def places(self) -> Iterable[str]:
        """The same as one would write it."""
        return (f"[{index}]" for index in range(self.count))

    def labels(self) -> Iterable[Path]:
        """As paths, with the fields of a named tuple by their names."""
        return self.paths()

    def remade(self, parts: list[Any], arrays: Arrays) -> Any:
        """The container around other parts."""
        raise NotImplementedError


@dataclass(slots=True)
class ListBranch(Branch):
    """A list or a tuple, of the caller's own class."""

    make: type

    def labels(self) -> Iterable[Path]:
        """Indices, or the fields of a named tuple."""
        return ((key,) for key in getattr(self.make, "_fields", range(self.count)))

    def remade(self, parts: list[Any], arrays: Arrays) -> Any:
        """A list or tuple of the same class."""
        return remade(self.make, parts)


@dataclass(slots=True)
class DictBranch(Branch):
    """A dict; its keys in order."""

    keys: tuple[Key, ...]

    def paths(self) -> Iterable[Path]:
        """One key a part."""
        return ((key,) for key in self.keys)

    def places(self) -> Iterable[str]:
        """Keys that are text in quotes."""
        return (bracketed("", key) for key in self.keys)

    def remade(self, parts: list[Any], arrays: Arrays) -> Any:
        """A plain dict."""
        return dict(zip(self.keys, parts))


@dataclass(slots=True)
class FieldsBranch(Branch):
    """A dataclass: the fields that it is made from, in order, and those that are no numbers."""

    make: type
    keys: tuple[str, ...]
    fixed: Fixed = ()

    def paths(self) -> Iterable[Path]:
        """One name a field."""
        return ((key,) for key in self.keys)

    def places(self) -> Iterable[str]:
        """As attributes are written."""
        return (f".{key}" for key in self.keys)

    def remade(self, parts: list[Any], arrays: Arrays) -> Any:
        """One of the same class; as an argument it is made the way its owner makes it, so that
        what it works out of its fields is part of what is differentiated."""
        if arrays is sequence:
            return made_of(self.make, self.keys, parts, self.fixed)
        return with_fields(self.make, self.keys, parts, self.fixed)


@dataclass(slots=True)
class ArrayBranch(Branch):
    """An array or a sequence that computes: an index for each axis."""

    shape: tuple[int, ...]
    computing: bool

    def paths(self) -> Iterable[Path]:
        """One index an axis."""
        return np.ndindex(self.shape) if self.count else ()  # it spells out every axis

    def places(self) -> Iterable[str]:
        """The indices of all axes together, as arrays have them."""
        return (f"[{', '.join(map(str, index))}]" for index in self.paths())

    def remade(self, parts: list[Any], arrays: Arrays) -> Any:
        """As told; a sequence that computes comes back as one where it still holds values."""
        made = arrays(parts, self.shape)
        return ComputingSequence(made) if self.computing and _holds_values(made) else made


Opened = tuple[Branch, list[Any]]
"""A container taken apart by one level: what it is, and its parts."""


def opened(thing: Any) -> Opened | None:
    """A list, tuple, dict or array taken apart by one level; None for anything else, a leaf."""
    if isinstance(thing, dict):
        return DictBranch(len(thing), tuple(thing)), list(thing.values())
    if isinstance(thing, (list, tuple)):
        return ListBranch(len(thing), type(thing)), list(thing)
    if isinstance(thing, ComputingSequence) or (
        isinstance(thing, np.ndarray) and thing.dtype.kind in "biufO"
    ):
        computing = isinstance(thing, ComputingSequence)
        branch = ArrayBranch(int(thing.size), thing.shape, computing)
        return branch, [thing[index] for index in branch.paths()]
    names = field_names(thing)
    if names is not None:
        parts = [getattr(thing, name) for name in names]
        return FieldsBranch(len(names), type(thing), names, fixed_fields(thing)), parts
    return None


def field_names(thing: Any) -> tuple[str, ...] | None:
    """The fields with numbers that a dataclass is made from; None where a thing is no such
    object."""
    known = getattr(type(thing), "__dataclass_fields__", None)
    if known is None or isinstance(thing, type):
        return None
    made_from = [each.name for each in fields(thing) if each.init]
    return tuple(name for name in made_from if not _is_fixed(getattr(thing, name)))


def fixed_fields(thing: Any) -> Fixed:
    """The other fields that a dataclass is made from: a text, None, a date, a choice."""
    made_from = [(each.name, getattr(thing, each.name)) for each in fields(thing) if each.init]
    return tuple((name, type(part), part) for name, part in made_from if _is_fixed(part))


def _is_fixed(part: Any) -> bool:
    """Whether what a field holds can never be a number."""
    if type(part) in (tuple, frozenset):
        return len(part) > 0 and all(map(_is_fixed, part))
    return isinstance(part, _NO_NUMBERS) and not is_real_scalar(part)


def with_fields(make: type, names: Sequence[str], parts: Iterable[Any], fixed: Fixed = ()) -> Any:
    """An object of a dataclass around results or gradients: nothing checks them, as its
    ``__post_init__`` would, and the fields that it would compute are None."""
    made: Any = object.__new__(make)
    for name, part in (*zip(names, parts), *((name, part) for name, _, part in fixed)):
        object.__setattr__(made, name, part)
    for each in fields(make):
        if not each.init:
            object.__setattr__(made, each.name, None)
    return made


def remade(make: type, parts: Sequence[Any]) -> Any:
    """A list or tuple of a class; a named tuple takes its items one by one."""
    if make is list or make is tuple:
        return make(parts)
    made = make(*parts) if hasattr(make, "_fields") else make(parts)
    if len(made) != len(parts) or any(one is not other for one, other in zip(made, parts)):
        raise ArgumentError.constructor(make)
    return made


def made_of(make: type, names: Sequence[str], parts: Sequence[Any], fixed: Fixed = ()) -> Any:
    """An object of a dataclass, made by its constructor, which has to keep what it is given."""
    try:
        made = make(**dict(zip(names, parts)), **{name: part for name, _, part in fixed})
        kept = all(getattr(made, name) is part for name, part in zip(names, parts))
    except (TypeError, AttributeError):  # it takes other arguments than its fields
        kept = False
    if not kept:
        raise ArgumentError.constructor(make)
    return made


def _holds_values(made: Any) -> bool:
    return (
        isinstance(made, np.ndarray)
        and made.dtype == object
        and any(isinstance(item, Value) for item in made.flat)
    )


def as_array(items: list[Any], shape: tuple[int, ...]) -> Any:
    """Items as an array: of floats where all are numbers, else of objects."""
    if all(isinstance(item, float) for item in items):
        return np.array(items, dtype=np.float64).reshape(shape)
    if items and any(isinstance(item, Tensor) for item in items):
        return _stacked(items, shape)
    if items and all(isinstance(item, (np.ndarray, ComputingSequence)) for item in items):
        if len({item.shape for item in items}) == 1:
            return np.stack(items).reshape(shape + items[0].shape)
    array = np.empty(len(items), dtype=object)
    for index, item in enumerate(items):
        array[index] = item
    return array.reshape(shape)


def _stacked(items: list[Any], shape: tuple[int, ...]) -> Any:
    """Tensors, and arrays among them, as one tensor."""
    from .._tensors.doing import do

    return do("reshape", do.stacked(items), shape=shape + tuple(items[0].shape))


# ---- taken apart, and put together -------------------------------------------------------------


@dataclass(frozen=True)
class Structure:
    """A nest without its leaves, in post order: None for a leaf, a branch after its parts."""

    order: tuple[Branch | None, ...]

    @property
    def fixed(self) -> list[Fixed]:
        """The fields of its dataclasses that are no numbers."""
        return [branch.fixed for branch in self.order if isinstance(branch, FieldsBranch)]

    def unflatten(self, leaves: Iterable[Any], arrays: Arrays = as_array) -> Any:
        """A nest of this structure around other leaves; of an iterator no more than it needs."""
        source = iter(leaves)
        made: list[Any] = []
        for branch in self.order:
            if branch is None:
                made.append(next(source))
                continue
            first = len(made) - branch.count
            parts = made[first:]
            del made[first:]
            made.append(branch.remade(parts, arrays))
        (whole,) = made
        return whole

    def places(self, name: str) -> list[str]:
        """Where each leaf stands, as one would write it: ``x[2]["w"][0]``."""
        return self._from_above(name, lambda branch: branch.places())

    def paths(self) -> list[Path]:
        """The keys and indices that lead to each leaf."""
        return self._from_above((), lambda branch: branch.paths())

    def labels(self) -> list[Path]:
        """The same, with the fields of named tuples by their names."""
        return self._from_above((), lambda branch: branch.labels())

    def _from_above(self, root: Any, inside: Callable[[Branch], Iterable[Any]]) -> list[Any]:
        """What the way to each leaf adds up to: backwards, a branch comes before its parts."""
        found: list[Any] = []
        pending = [root]
        for branch in reversed(self.order):
            way = pending.pop()
            if branch is None:
                found.append(way)
            else:
                pending.extend([way + part for part in inside(branch)])
        found.reverse()
        return found


def flatten(nest: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], Structure]:
    """The leaves of a nest in order, and its structure; ``is_leaf`` keeps containers whole.

    >>> leaves, structure = flatten({"w": [1.0, 2.0], "b": 3.0})
    >>> leaves, structure.places("p")
    ([1.0, 2.0, 3.0], ['p["w"][0]', 'p["w"][1]', 'p["b"]'])
    >>> structure.unflatten([10.0, 20.0, 30.0])
    {'w': [10.0, 20.0], 'b': 30.0}
    """
    found: list[Any] = []
    order: list[Branch | None] = []
    levels: list[tuple[Branch | None, Iterator[Any]]] = [(None, iter((nest,)))]
    while levels:
        branch, remaining = levels[-1]
        for part in remaining:
            if not isinstance(part, (Value, float)) and (is_leaf is None or not is_leaf(part)):
                inner = opened(part)
                if inner is not None:
                    levels.append((inner[0], iter(inner[1])))
                    _check_depth(len(levels))
                    break
            found.append(part)
            order.append(None)
        else:
            levels.pop()
            if branch is not None:
                order.append(branch)
    return found, Structure(tuple(order))


def mapped(
    function: Callable[[Any], Any], nest: Any, is_leaf: Callable[[Any], bool] | None = None
) -> Any:
    """A nest of the same structure with what a function makes of each leaf.

    >>> mapped(lambda x: 2.0 * x, (1.0, [2.0]))
    (2.0, [4.0])
    """
    found, structure = flatten(nest, is_leaf)
    return structure.unflatten([function(leaf) for leaf in found])


def is_array(thing: Any) -> bool:
    """Whether a thing is an array of NumPy's: for those who keep arrays whole."""
    return isinstance(thing, np.ndarray)


def _check_depth(depth: int) -> None:
    if depth > DEEPEST:
        raise ShapeError.deep(DEEPEST)


# ---- nests of numbers and values ---------------------------------------------------------------


@dataclass(frozen=True)
class Nest:
    """A nest of numbers and values taken apart: its items in order, its structure, its name.

    A place is text for people; a path is the keys and indices that lead there.
    """

    items: list[Any]
    structure: Structure
    name: str

    @cached_property
    def places(self) -> list[str]:
        """Where each item stands."""
        return self.structure.places(self.name)

    @cached_property
    def paths(self) -> list[Path]:
        """The keys and indices that lead to each item."""
        return self.structure.paths()

    def filled(self, items: Iterable[Any], arrays: Arrays = as_array) -> Any:
        """A nest of the same shape around other items; of an iterator no more than it needs."""
        return self.structure.unflatten(items, arrays)

    def argument(self, items: Iterable[Any]) -> Any:
        """The same as a function is given it: arrays are sequences that compute."""
        return self.structure.unflatten(items, sequence)


_ONE = Structure((None,))


def is_numeric(thing: Any) -> bool:
    """Whether a thing is an array of real numbers with axes."""
    return isinstance(thing, np.ndarray) and thing.ndim > 0 and thing.dtype.kind in "biuf"


def take_apart(
    nest: Any,
    name: str,
    refusal: Callable[[str, object], Exception] = ArgumentError.item,
    *,
    whole: bool = False,
) -> Nest:
    """The items of a nest; anything in it that is neither number nor value is refused by place.

    With ``whole`` tensors, and arrays of numbers, are items as they are.
    """
    if isinstance(nest, (Value, float)):
        return Nest([nest], _ONE, name)

    def is_item(part: Any) -> bool:
        return is_real_scalar(part) or (whole and is_numeric(part))

    items, structure = flatten(nest, is_item)
    for index, item in enumerate(items):
        if whole and isinstance(item, Tensor):
            continue
        if not isinstance(item, (Value, float)) and not is_item(item):
            raise refusal(structure.places(name)[index], item)
    return Nest(items, structure, name)


# ---- looking only ------------------------------------------------------------------------------


def entries(thing: Any) -> Sequence[tuple[Key, Any]] | None:
    """The keys and parts of what holds others: mappings, lists, tuples, and arrays of objects, the
    latter one axis after the other; None for anything else."""
    if isinstance(thing, Mapping):
        return list(thing.items())
    if hasattr(type(thing), "__dataclass_fields__"):
        return None  # whoever wants keys takes attributes by their names
    held = parts(thing)
    return None if held is None else list(enumerate(held))


def parts(thing: Any) -> Sequence[Any] | None:
    """The parts alone."""
    if isinstance(thing, (list, tuple)):
        return thing
    if isinstance(thing, (np.ndarray, ComputingSequence)):
        if isinstance(thing, np.ndarray) and thing.dtype != object:
            return None
        whole = thing.tolist()
        return whole if isinstance(whole, list) else [whole]
    if isinstance(thing, (dict, Mapping)):  # of the two, only the latter is slow to ask
        return list(thing.values())
    if hasattr(type(thing), "__dataclass_fields__"):
        return [getattr(thing, name) for name in field_names(thing) or ()]
    return None


def leaves(nest: Any, inside: Callable[[Any], Sequence[Any] | None] = parts) -> list[Any]:
    """Every leaf of a nest in order, of whatever kind; ``inside`` says what holds others."""
    found: list[Any] = []
    levels = [iter((nest,))]
    while levels:
        for part in levels[-1]:
            if not isinstance(part, Value):
                held = inside(part)
                if held is not None:
                    levels.append(iter(held))
                    _check_depth(len(levels))
                    break
            found.append(part)
        else:
            levels.pop()
    return found


def bracketed(place: str, key: Key) -> str:
    """A place inside another, as one would write it: ``p["w"]``, ``p[0]``."""
    return f'{place}["{key}"]' if isinstance(key, str) else f"{place}[{key!r}]"


def dotted(place: str, key: Key) -> str:
    """The same as a name: ``p.w``, ``p[0]``; at the top the key itself."""
    if not isinstance(key, str):
        return f"{place}[{key!r}]"
    return f"{place}.{key}" if place else key
