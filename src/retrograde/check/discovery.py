"""The parameters of a program that names none: found among its variables when it runs backward.

A variable counts where its leaves are reached by the pass, or where it is an object with
``parameters()``. Where nothing is found, the leaves of the pass itself are taken.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from types import FrameType, ModuleType
from typing import Any

import numpy as np

from ..value import Value, core
from .groups import Parameters, parameters_of

_PACKAGE = __name__.partition(".")[0]
MOST_LEAVES = 1_000_000
"""How many leaves are looked at in one variable."""


def variables_now() -> dict[str, Any]:
    """The names of the running program: its globals, then the locals of its functions."""
    frames: list[FrameType] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] != _PACKAGE:
            frames.append(frame)
        elif frames:
            break  # below is whoever runs the program
        frame = frame.f_back
    names: dict[str, Any] = {}
    for each in reversed(frames):
        for scope in (each.f_globals, each.f_locals):
            for name, thing in scope.items():
                if not name.startswith("__"):
                    names.setdefault(name, thing)
    return names


def discovered(roots: tuple[Value, ...], names: Mapping[str, Any]) -> Parameters:
    """The parameters a pass from these roots is about."""
    leaves = core.leaves_under(roots)
    reached = {id(leaf) for leaf in leaves}
    found: dict[str, Any] = {}
    taken: set[int] = set()
    for name, thing in sorted(names.items(), key=lambda item: _rank(item[1])):
        nest = _nest(name, thing)
        if nest is None:
            continue
        inside = {id(value) for value in nest.values}
        if not inside - taken or (inside.isdisjoint(reached) and not _is_module(thing)):
            continue
        taken |= inside
        for path, value in zip(nest.names, nest.values):
            found.setdefault(path, value)
    return parameters_of(found if found else leaves)


def _is_module(thing: Any) -> bool:
    return callable(getattr(thing, "parameters", None)) and not isinstance(thing, type)


def _rank(thing: Any) -> int:
    """Things whose parts have names come first."""
    if _is_module(thing):
        return 0
    if isinstance(thing, Mapping):
        return 1
    return 2 if isinstance(thing, Value) else 3


def _nest(name: str, thing: Any) -> Parameters | None:
    """A variable as named parameters; None where it holds no leaf that takes gradients."""
    if isinstance(thing, (ModuleType, type)):
        return None
    leaves: dict[str, Value] = {}
    try:
        if _is_module(thing):
            nest = parameters_of({name: thing})
            pairs: Iterator[tuple[str, Value]] = iter(zip(nest.names, nest.values))
        else:
            pairs = _leaves(name, thing)
        for path, value in pairs:
            leaves.setdefault(value.label or path, value)
            if len(leaves) > MOST_LEAVES:
                break
    except Exception:
        return None  # a parameters() of something else
    return parameters_of(leaves) if leaves else None


def _leaves(path: str, thing: Any) -> Iterator[tuple[str, Value]]:
    pending = [(path, thing)]
    while pending:
        where, part = pending.pop()
        if isinstance(part, Value):
            if part.op == "leaf" and part.requires_grad:
                yield where, part
        elif isinstance(part, Mapping):
            pending.extend(
                (f"{where}.{k}" if isinstance(k, str) else f"{where}[{k!r}]", v)
                for k, v in reversed(list(part.items()))
            )
        elif isinstance(part, (list, tuple)):
            pending.extend((f"{where}[{i}]", v) for i, v in reversed(list(enumerate(part))))
        elif isinstance(part, np.ndarray) and part.dtype == object:
            pending.append((where, part.tolist()))
        elif _is_module(part) and where != path:
            nest = parameters_of({where: part})
            yield from zip(nest.names, nest.values)
