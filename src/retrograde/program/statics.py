"""``rg.compile(static=…)``: one compiled function for each value of the static parameters."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum
from functools import update_wrapper
from numbers import Number
from threading import Lock
from types import FunctionType
from typing import Any

from ..errors import CompileError
from .compiled import Compiled
from .fixing import Fixed
from .objects import PerObject, is_method
from .traces import Trace
from .travelling import found_by_name, found_elsewhere, from_source, in_source, source_of

MOST_VARIANTS = 128
"""So many are kept; the one used longest ago makes room."""


class Specialized(PerObject):
    """A compiled function with static parameters. Made by :func:`compile`."""

    def __init__(
        self,
        function: Callable[..., Any],
        static: Sequence[str],
        trace_budget: int | None,
        choices: bool,
        backend: str | None = None,
        checkpoint: bool = False,
    ) -> None:
        if not callable(function):
            raise CompileError.not_callable(function)
        self._function, self.static = function, tuple(static)
        self._settings = trace_budget, choices, backend, checkpoint
        self._name = getattr(function, "__name__", "the function")
        self._signature = inspect.signature(function)
        self._method = is_method(function, self._signature)
        for name in self.static:
            if name not in self._signature.parameters:
                names = list(self._signature.parameters)
                raise CompileError.static_name(self._name, name, names)
        self._variants: dict[Any, Compiled] = {}
        self._lock = Lock()
        update_wrapper(self, function)

    def variant(self, **statics: Any) -> Compiled:
        """The compiled function for some values of the static parameters, without them.

        >>> import retrograde as rg
        >>> @rg.compile(static=("n",))
        ... def power(x, n):
        ...     return x if n == 1 else x * power(x, n - 1)
        >>> cube = power.variant(n=3)
        >>> cube(2.0), cube.grad(2.0)
        (8.0, 12.0)
        """
        if set(statics) != set(self.static):
            raise CompileError.statics(self._name, self.static, list(statics))
        try:
            key = tuple(_key(statics[name]) for name in self.static)
            hash(key)
        except TypeError:
            name = next(name for name in self.static if not _is_hashable(statics[name]))
            raise CompileError.unhashable(self._name, name, statics[name]) from None
        with self._lock:
            found = self._variants.pop(key, None)
            if found is None:
                fixed = Fixed(self._function, self._signature, statics, {})
                found = Compiled(fixed, *self._settings)
                while len(self._variants) >= MOST_VARIANTS:
                    del self._variants[next(iter(self._variants))]
            self._variants[key] = found
            return found

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """The function's value; see :meth:`Compiled.__call__`."""
        chosen, args, kwargs = self._chosen(args, kwargs)
        return chosen(*args, **kwargs)

    def _chosen(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Compiled, tuple[Any, ...], dict[str, Any]]:
        """The variant that is asked, and what else it was given."""
        statics, rest, others = {}, [], dict(kwargs)
        for name, given in zip(self._signature.parameters, args):
            if name in self.static:
                statics[name] = given
            else:
                rest.append(given)
        rest += args[len(self._signature.parameters) :]
        for name in self.static:
            if name in others:
                if name in statics:
                    raise CompileError.call(self._name, f"multiple values for argument '{name}'")
                statics[name] = others.pop(name)
            elif name not in statics:
                default = self._signature.parameters[name].default
                if default is inspect.Parameter.empty:
                    raise CompileError.call(self._name, f"missing a required argument: '{name}'")
                statics[name] = default
        return self.variant(**statics), tuple(rest), others

    def map_batches(
        self,
        source: Any,
        out: str | os.PathLike[str],
        /,
        *,
        arguments: Mapping[str, Any] | None = None,
        **asked: Any,
    ) -> int:
        """Write the values and gradients of all rows of some files to a file; see
        :meth:`Compiled.map_batches`. The static parameters are among the ``arguments``."""
        chosen, others = self.chosen(arguments or {})
        return chosen.map_batches(source, out, arguments=others, **asked)

    def chosen(self, arguments: Mapping[str, Any]) -> tuple[Compiled, dict[str, Any]]:
        """The variant for what some arguments say of the static parameters, and the others."""
        variant, _, others = self._chosen((), dict(arguments))
        return variant, others

    def _made_for(self, function: Any) -> Specialized:
        return Specialized(function, self.static, *self._settings)

    @property
    def traces(self) -> tuple[Trace, ...]:
        """The recorded paths of all variants."""
        return tuple(trace for each in list(self._variants.values()) for trace in each.traces)

    def explain(self) -> str:
        """The plans of all variants, each under the values it is for."""
        parts = []
        for variant in list(self._variants.values()):
            fixed: Any = variant._function
            said = ", ".join(f"{name}={value!r}" for name, value in fixed.fixed.items())
            parts.append(f"{self._name} with {said}\n{variant.explain()}")
        return "\n\n".join(parts)

    def refresh(self) -> None:
        """Forget what was recorded: the next call records anew."""
        with self._lock:
            self._variants.clear()

    def __reduce__(self) -> Any:
        again = Specialized, (self._function, self.static, *self._settings)
        if in_source():
            return again
        if found_elsewhere(self._function):
            decorated = isinstance(self._function, FunctionType) and found_by_name(self._function)
            return self._function.__qualname__ if decorated is self else again
        source = source_of(again)
        return again if source is None else (from_source, (source,))

    def __repr__(self) -> str:
        static = ", ".join(self.static)
        return (
            f"<compiled {self._name}{self._signature}: static {static}, "
            f"{len(self._variants)} variant(s)>"
        )


def _key(value: Any) -> Any:
    """What tells values apart: 1, 1.0 and True are equal, and so are 0.0 and -0.0, but a function
    may do something else with each."""
    if isinstance(value, float):
        return type(value), value.hex()
    if isinstance(value, (complex, Decimal)):
        return type(value), repr(value)
    if isinstance(value, (tuple, frozenset)):
        parts = map(_key, value)
        return type(value), tuple(parts) if isinstance(value, tuple) else frozenset(parts)
    if is_dataclass(value) and not isinstance(value, type):
        hash(value)
        return type(value), tuple(_key(getattr(value, each.name)) for each in fields(value))
    hash(value)
    if type(value).__module__ == "builtins" or isinstance(value, (Enum, Number)):
        return type(value), value
    return type(value), id(value)  # equal objects may hold different things; the variant keeps it


def _is_hashable(thing: Any) -> bool:
    try:
        hash(thing)
    except TypeError:
        return False
    return True


def _asked_of_variant(name: str) -> Any:
    method = getattr(Compiled, name)

    def asked(self: Specialized, /, *args: Any, **given: Any) -> Any:
        chosen, args, given = self._chosen(args, given)
        return getattr(chosen, name)(*args, **given)

    asked.__name__, asked.__doc__ = name, method.__doc__
    return asked


for _name in ("value_and_grad", "grad", "backward", "jacobian", "hessian", "hvp", "story",
              "births"):  # fmt: skip
    setattr(Specialized, _name, _asked_of_variant(_name))
