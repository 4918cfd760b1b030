"""What the names of a recorded function mean, in plain Python: ``native/names.c`` for this core.

A place is an attribute of an object, an item of a container, or a closure cell. Looking there again
runs no code of anybody: where an attribute is not plain (a property, ``__getattr__``), it is the
descriptor that is compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from struct import pack
from types import CellType, MemberDescriptorType, WrapperDescriptorType
from typing import Any

from .._shared.references import references
from .reference import Node

ATTRIBUTE, ITEM, CELL = 0, 1, 2
_NOTHING = object()
Key = tuple[int, int, Any]


def _in_type(kind: type, name: str) -> Any:
    """What a class and its bases have under a name, without asking anybody's metaclass."""
    for base in type.__getattribute__(kind, "__mro__"):
        found = type.__getattribute__(base, "__dict__").get(name, _NOTHING)
        if found is not _NOTHING:
            return found
    return _NOTHING


def _has(thing: Any, method: str) -> bool:
    return _in_type(type(thing), method) is not _NOTHING


def _in_instance(thing: Any, name: str) -> Any:
    try:
        held = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return _NOTHING
    return dict.get(held, name, _NOTHING) if isinstance(held, dict) else _NOTHING


Look = tuple[Any, bool]
"""What stands at a place, and whether it can be gone on from; None in place of both: no place."""


def _at_attribute(thing: Any, name: str) -> Look | None:
    kind = type(thing)
    described = _in_type(kind, name)
    is_data = _has(described, "__set__") or _has(described, "__delete__")
    if issubclass(kind, type):  # not isinstance: that may ask the thing itself
        if is_data:
            return None
        found = _in_type(thing, name)
    elif type(_in_type(kind, "__getattribute__")) is not WrapperDescriptorType:
        return None  # somebody's own code
    elif is_data and type(described) is MemberDescriptorType:  # of __slots__
        try:
            return described.__get__(thing, kind), True
        except AttributeError:
            return _NOTHING, False
    elif is_data:
        return described, False
    else:
        found = _in_instance(thing, name)
        if found is not _NOTHING:
            return found, True
        found = described
    return found, found is not _NOTHING and not _has(found, "__get__")


_BY_INDEX = (_in_type(list, "__getitem__"), _in_type(tuple, "__getitem__"))


def _at_item(thing: Any, key: Any) -> Look | None:
    item = _in_type(type(thing), "__getitem__")
    found = _NOTHING
    if item is _in_type(dict, "__getitem__"):
        with suppress(TypeError):  # a key that does not compare is not there
            found = dict.get(thing, key, _NOTHING)
    elif isinstance(key, int) and item in _BY_INDEX:
        with suppress(IndexError):
            found = item(thing, key)
    elif type(thing).__module__ == "numpy" and type(thing).__name__ == "ndarray":
        try:
            found = thing[key]
        except Exception:
            return None
        if not isinstance(found, float):
            return None
    else:
        return None
    return found, found is not _NOTHING


def _look(kind: int, container: Any, key: Any) -> Look | None:
    if kind == ITEM:
        return _at_item(container, key)
    if kind == ATTRIBUTE:
        return _at_attribute(container, key) if type(key) is str else None
    if type(container) is not CellType:
        return None
    try:
        return container.cell_contents, True
    except ValueError:
        return _NOTHING, False


def _is_same(one: Any, other: Any) -> bool:
    """The same object; or numbers and texts that are the same, which are made anew each time."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if issubclass(type(one), float) and type(one).__dictoffset__ == 0:
        return pack("d", one) == pack("d", other)
    return type(one) in (int, str) and bool(one == other)


@dataclass
class _Place:
    container: Any
    key: Any
    expected: Any
    name: str
    kind: int

    def key_of(self) -> Key:
        return id(self.container), self.kind, self.key

    def is_as_expected(self) -> bool:
        now = _look(self.kind, self.container, self.key)
        return now is not None and _is_same(now[0], self.expected)


def _is_held_by(place: _Place, count: int) -> bool:
    """Whether nobody but so many places refers to a container. Where the interpreter does not
    count references, somebody may."""
    found = references(place, "container")
    return found is not None and found <= count


class Names:
    """The places that were read, and what stood there."""

    def __init__(self) -> None:
        self._places: dict[Key, _Place] = {}

    def read(self, kind: int, container: Any, key: Any, name: str) -> Any:
        """What stands at a place, remembered as it was first; None where one cannot go on from
        it. Items of tuples cannot change."""
        now = _look(kind, container, key)
        if now is None:
            return None
        found, follow = now
        if kind == ATTRIBUTE and not issubclass(type(container), type) and found is not _NOTHING:
            if found is _in_type(type(container), key):  # the object may be gone tomorrow
                self.read(ATTRIBUTE, type(container), key, name)
        if not (kind == ITEM and issubclass(type(container), tuple)):
            place = _Place(container, key, found, name, kind)
            self._places.setdefault(place.key_of(), place)
        return found if follow else None

    def unchanged(self) -> bool:
        """Whether every place holds what it did."""
        return all([place.is_as_expected() for place in list(self._places.values())])

    def changed(self) -> dict[Key, str]:
        """The places that hold something else now, by key, with their names."""
        return {
            key: place.name
            for key, place in list(self._places.items())
            if not place.is_as_expected()
        }

    def differing(self, other: Names) -> dict[Key, str]:
        """The places where two lists found different things."""
        both = self._places.keys() & other._places.keys()
        return {
            key: place.name
            for key, place in self._places.items()
            if key in both and not _is_same(place.expected, other._places[key].expected)
        }

    def drop(self, other: Names) -> int:
        """Forget the places of another list; returns how many those were."""
        gone = [key for key in self._places if key in other._places]
        for key in gone:
            del self._places[key]
        return len(gone)

    def prune(self) -> None:
        """Forget the places in what nobody else refers to: it cannot change any more. What holds
        a value of the recording itself was put there by it."""
        while self._drop_temporary():  # what was in a thing that is forgotten may be next
            pass

    def _drop_temporary(self) -> int:
        ours = Counter(id(place.container) for place in self._places.values())
        ours.update(id(place.expected) for place in self._places.values())
        gone = [
            key
            for key, place in self._places.items()
            if (issubclass(type(place.expected), Node) and place.expected._traced)
            or _is_held_by(place, ours[id(place.container)])
        ]
        for key in gone:
            del self._places[key]
        return len(gone)

    def absorb(self, other: Names, keys: Iterable[Key] | None = None) -> None:
        """Take over the places of another list that are not here yet, or those of the keys."""
        for key, place in other._places.items():
            if keys is None or key in keys:
                self._places.setdefault(key, place)

    def keys(self) -> set[Key]:
        """The keys of all places."""
        return set(self._places)

    def __len__(self) -> int:
        return len(self._places)
