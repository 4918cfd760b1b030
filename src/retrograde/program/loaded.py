"""``rg.load``: a function from a program file. It replays what was recorded and cannot record."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from functools import wraps
from types import MappingProxyType
from typing import Any

import numpy as np

from .._shared.operands import is_real_scalar
from .._values.nests import take_apart
from ..errors import ArgumentError, CompileError, NotRecordedError, NumberError
from ..value import Value
from .calling import Replayable
from .callsites import CallSites
from .files import packed, read, unpacked, write
from .rows import RESERVED, Argument, Bound
from .shaped.calls import key_of
from .shaped.loaded import StoredCalls, set_parameters
from .shaped.text import families_text
from .shaped.writer import StoredTensors
from .shapes import Shape, in_words, plain
from .traces import Family
from .writer import Stored


class Loaded(Replayable):
    """A function loaded from a file: call it on numbers and arrays. Made by :func:`load`."""

    def __init__(self, stored: Stored) -> None:
        self._contents = stored
        self._name = self.__name__ = self.__qualname__ = stored.name
        self._signature = self.__signature__ = stored.signature
        self._by_shape = dict(stored.families)
        self._sites = CallSites()

    @property
    def parameters(self) -> Mapping[str, Value]:
        """The leaves that the function had captured, by name, with the data they were saved with.

        They are leaves like any: ``backward`` adds into their ``.grad``, and their ``.data``, which
        may be set, is read at each call.
        """
        return MappingProxyType(self._contents.parameters)

    def set_parameters(self, numbers: Mapping[str, Any]) -> None:
        """Set some parameters: all of those given, or none where one of them does not fit.

        A nest of numbers sets the parameters named after its places: ``{"w": [1.0, 2.0]}`` those
        that are called ``w[0]`` and ``w[1]``, and there must be no more of them.

        >>> import os, tempfile
        >>> import retrograde as rg
        >>> w = [rg.Value(1.0), rg.Value(2.0)]
        >>> line = rg.compile(lambda x: w[0] * x + w[1])
        >>> line(3.0)
        5.0
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     line.save(os.path.join(folder, "line.rgp"))
        ...     loaded = rg.load(os.path.join(folder, "line.rgp"))
        >>> list(loaded.parameters)
        ['w[0]', 'w[1]']
        >>> loaded.set_parameters({"w": [10.0, 20.0]})
        >>> loaded(3.0)
        50.0
        """
        found: dict[str, float] = {}
        for name, nest in numbers.items():
            found.update(self._fitting(name, nest))
        for name, number in found.items():
            self._contents.parameters[name].data = number

    def _fitting(self, name: str, nest: Any) -> dict[str, float]:
        """The parameters that one entry is for."""
        known = self._contents.parameters
        if name in known and is_real_scalar(nest):
            return {name: float(nest)}
        wanted = [other for other in known if other == name or other.startswith(f"{name}[")]
        if not wanted:
            raise CompileError.call(self._name, f"there is no parameter {name!r}: {_list(known)}")
        if isinstance(nest, np.ndarray):
            nest = nest.tolist()
        try:
            given = take_apart(nest, str(name))
        except ArgumentError:
            raise NumberError.of(f"{self._name}: the parameter {name!r}", nest) from None
        if sorted(given.places) != sorted(wanted):
            raise CompileError.call(
                self._name,
                f"{name!r} was given as {_list(given.places)}, but the parameters are "
                f"{_list(wanted)}",
            )
        return {
            place: float(item.data if isinstance(item, Value) else item)
            for place, item in zip(given.places, given.items)
        }

    def __reduce__(self) -> Any:
        return _unpickled, (packed(self._contents),)

    def __repr__(self) -> str:
        parameters = len(self._contents.parameters)
        return (
            f"<loaded {self._name}{self._signature}: {len(self.traces)} trace(s), "
            f"{parameters} parameter(s)>"
        )

    # ---- replaying -------------------------------------------------------------------------------

    def _stored_function(self) -> Stored:
        return self._contents

    def _families(self) -> Sequence[Family]:
        return list(self._by_shape.values())

    def _kinds(self) -> list[tuple[list[tuple[str, Shape]], Family, Family | None]]:
        names = list(self._signature.parameters)
        return [(list(zip(names, key)), each, each) for key, each in self._by_shape.items()]

    def _family(self, bound: Bound, shapes: list[Argument], traced: bool = False) -> Family:
        key = tuple(plain(shape.shape) for shape in shapes)
        family = self._by_shape.get(key)
        if family is None:
            names = list(self._signature.parameters)
            known = [_call(names, shape) for shape in self._by_shape]
            raise NotRecordedError.of(self._name, _call(names, key), known)
        return family

    def _record(
        self, bound: Bound, shapes: list[Argument], numbers: Sequence[float], path: bytes
    ) -> None:
        return None

    def _recorder(self, family: Family, bound: Bound, shapes: list[Argument]) -> None:
        return None


class LoadedTensors(Loaded):
    """A function on tensors loaded from a file; made by :func:`load`."""

    _on_tensors = True

    def __init__(self, stored: StoredTensors) -> None:
        self._on_file = stored
        super().__init__(Stored(stored.name, stored.signature, stored.parameters, []))
        self._tensors = StoredCalls(stored)

    @property
    def _whole(self) -> Collection[str]:
        return self._on_file.wanted

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The tensors and values that the function had captured, by name."""
        return MappingProxyType(self._on_file.parameters)

    def set_parameters(self, numbers: Mapping[str, Any]) -> None:
        """Set some parameters, each by an array of its shape: all that are given, or none."""
        set_parameters(self._name, self.parameters, numbers)

    def __call__(
        self, /, *args: Any, threads: int | None = None, out: Any = None, **kwargs: Any
    ) -> Any:
        """The function's value."""
        key = None
        if not kwargs and threads is None and out is None:
            found = self._tensors.again("value", args)
            if found is not None:
                return found
            key = key_of("value", args)
        return self._tensors.value(self._given(args, kwargs), threads=threads, out=out, key=key)

    def _given(self, args: Any, kwargs: Any) -> dict[str, Any]:
        try:
            return self._signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise CompileError.call(self._name, str(error)) from None

    def explain(self) -> str:
        """The instructions with their shapes, and the steps of each plan."""
        return families_text(self._name, self._tensors.families.values())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a program file again, with its parameters as they are now."""
        write(path, packed(self._on_file))

    def __reduce__(self) -> Any:
        return _unpickled, (packed(self._on_file),)

    def __repr__(self) -> str:
        return (
            f"<loaded {self._name}{self._signature}: on tensors, "
            f"{len(self._tensors.families)} kind(s) of arguments, "
            f"{len(self.parameters)} parameter(s)>"
        )


def _on_tensors(name: str) -> Any:
    """A method of loaded functions, asked of one on tensors."""
    method = getattr(Loaded, name)

    @wraps(method)
    def asked(self: LoadedTensors, /, *args: Any, **given: Any) -> Any:
        own = (*RESERVED, "row") if name == "story" else RESERVED
        settings = {key: it for key, it in given.items() if key in own}
        named = {key: it for key, it in given.items() if key not in own}
        return getattr(self._tensors, name)(self._given(args, named), **settings)

    return asked


for _name in ("value_and_grad", "grad", "backward", "jacobian", "hessian", "hvp", "story",
              "births"):  # fmt: skip
    setattr(LoadedTensors, _name, _on_tensors(_name))


def _loaded(stored: Stored | StoredTensors) -> Loaded:
    return LoadedTensors(stored) if isinstance(stored, StoredTensors) else Loaded(stored)


def _unpickled(data: bytes) -> Loaded:
    return _loaded(unpacked(data, "a pickled function"))


def _call(names: Sequence[str], key: Sequence[Any]) -> str:
    """The shapes of a call in words."""
    return ", ".join(f"{name}: {in_words(shape)}" for name, shape in zip(names, key)) or "nothing"


def _list(names: Any) -> str:
    """A few names."""
    names = list(names)
    return ", ".join(names[:8]) + (f", … {len(names)} in all" if len(names) > 8 else "") or "none"


def load(path: str | os.PathLike[str]) -> Loaded:
    """The function in a program file, as ``save`` wrote it.

    It replays the traces it was saved with, with gradients. It cannot record: rows that fit none
    of its traces raise ``GuardError``. Loading executes nothing, and a file that was cut off or
    altered is refused with ``ProgramFileError``.

    >>> import os, tempfile
    >>> import numpy as np
    >>> import retrograde as rg
    >>> @rg.compile
    ... def payoff(S, strike):
    ...     return S - strike if S > strike else 0.0
    >>> payoff(np.array([90.0, 110.0]), 100.0)
    array([ 0., 10.])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     payoff.save(os.path.join(folder, "payoff.rgp"))
    ...     loaded = rg.load(os.path.join(folder, "payoff.rgp"))
    >>> loaded.value_and_grad(np.array([95.0, 105.0]), 100.0, wrt="S")
    (array([0., 5.]), array([0., 1.]))
    """
    return _loaded(read(path))
