"""Compiled methods: decorated in a class, one compiled function for each object.

What was recorded for an object is kept in the object, so it goes with it; copies and pickles of the
object leave it behind.
"""

from __future__ import annotations

import inspect
from types import MethodType
from typing import Any

from ..errors import CompileError


def is_method(function: Any, signature: inspect.Signature) -> bool:
    """Whether a function was defined in the body of a class and takes ``self``."""
    place = getattr(function, "__qualname__", "").rpartition(".")[0]
    in_class = bool(place) and not place.endswith("<locals>")
    return in_class and next(iter(signature.parameters), None) == "self"


class _Kept:
    """What was compiled for one object; a copy of the object begins without."""

    __slots__ = ("compiled", "owner")

    def __init__(self) -> None:
        self.compiled: Any = None
        self.owner: Any = None

    def __reduce__(self) -> Any:
        return _Kept, ()

    def __copy__(self) -> _Kept:
        return _Kept()

    def __deepcopy__(self, memo: dict[int, Any]) -> _Kept:
        return _Kept()


class PerObject:
    """What can stand in a class as a method."""

    _method: bool
    _name: str
    _function: Any

    def __set_name__(self, owner: type, name: str) -> None:
        """A function written in this class takes the object first, whatever it calls it."""
        place, _, own = getattr(self._function, "__qualname__", "").rpartition(".")
        written_here = place == owner.__qualname__ and own != "<lambda>"
        if written_here and not isinstance(self._function, staticmethod):
            self._method = True

    def _made_for(self, function: Any) -> Any:
        """The same around another function."""
        raise NotImplementedError

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if isinstance(instance, type):  # as classmethod does, up to Python 3.12
            raise CompileError.class_method(self._name)
        if instance is None or not self._method:
            return self
        attributes = getattr(instance, "__dict__", None)
        if attributes is None:
            raise CompileError.slots(self._name, type(instance).__name__)
        key = f"_compiled_{self._name}"
        kept = attributes.get(key)
        # two classes may have a method of this name, one calling the other by super()
        if type(kept) is not _Kept or kept.owner is not self or not _is_of(kept, instance):
            kept = _Kept()
            kept.owner = self
            kept.compiled = self._made_for(MethodType(self._function, instance))
            attributes[key] = kept
        return kept.compiled


def _is_of(kept: _Kept, instance: Any) -> bool:
    return kept.compiled._function.__self__ is instance
