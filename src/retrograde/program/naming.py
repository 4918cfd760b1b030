"""Names for captured leaves: their labels, else the way a function's own names lead to them."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from .._values.nests import bracketed, entries
from ..tensor import in_graph

_PACKAGE = __name__.partition(".")[0]

MOST_VISITED = 100_000
"""Things looked at in search of leaves."""


@lru_cache(maxsize=256)
def _global_names(code: CodeType) -> tuple[str, ...]:
    """The names in a piece of code, and in those within it, that may be of globals."""
    names: set[str] = set()
    pending: list[CodeType] = [code]
    while pending:
        current = pending.pop()
        names.update(current.co_names)
        pending.extend(part for part in current.co_consts if isinstance(part, CodeType))
    return tuple(sorted(names))


def free_names(function: Callable[..., Any]) -> list[tuple[str, Any]]:
    """What the function's free names mean now: the globals it names, then closure cells."""
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None)
    if code is None:
        return []
    scope = function.__globals__
    found = [(name, scope.get(name)) for name in _global_names(code)]
    for name, cell in zip(code.co_freevars, function.__closure__ or ()):
        try:
            found.append((name, cell.cell_contents))
        except ValueError:
            found.append((name, None))
    return found


def _parts(place: str, thing: Any) -> Iterator[tuple[str, Any]]:
    """What a thing holds, each with how one would write it."""
    held = entries(thing)
    if held is not None:
        yield from ((bracketed(place, key), part) for key, part in held)
    elif isinstance(thing, MethodType):
        yield place, thing.__self__
    elif isinstance(thing, FunctionType) or hasattr(thing, "__wrapped__"):
        if (getattr(thing, "__module__", None) or "").partition(".")[0] != _PACKAGE:
            yield from free_names(thing)
    elif not isinstance(thing, (ModuleType, type, np.ndarray)):
        own = getattr(thing, "__dict__", None)
        for name, part in own.items() if isinstance(own, dict) else ():
            yield f"{place}.{name}", part


def places_of(leaves: Sequence[Any], function: Callable[..., Any]) -> dict[int, str]:
    """How the function may come to each leaf, by the leaf's ``id``; the shortest way first."""
    wanted = {id(leaf) for leaf in leaves}
    found: dict[int, str] = {}
    pending = deque(free_names(function))
    if not inspect.isfunction(function):
        pending.append(("self", function))
    seen: dict[int, Any] = {}  # kept alive, so that no id comes twice
    while pending and len(found) < len(wanted) and len(seen) < MOST_VISITED:
        place, thing = pending.popleft()
        if id(thing) in seen:
            continue
        seen[id(thing)] = thing
        if in_graph(thing):
            if id(thing) in wanted:
                found[id(thing)] = place
            continue
        for more in _parts(place, thing):
            if len(pending) > MOST_VISITED:
                break
            pending.append(more)
    return found


def named(leaves: Sequence[Any], function: Callable[..., Any]) -> dict[str, Any]:
    """The leaves by name, in their order; no two have the same."""
    places = places_of([leaf for leaf in leaves if not leaf.label], function)
    found: dict[str, Any] = {}
    taken: dict[str, int] = {}
    for number, leaf in enumerate(leaves, 1):
        wanted = leaf.label or places.get(id(leaf)) or f"captured {number}"
        name = wanted
        while name in found:
            taken[wanted] = taken.get(wanted, 1) + 1
            name = f"{wanted}_{taken[wanted]}"
        found[name] = leaf
    return found
