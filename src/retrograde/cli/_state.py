"""A mark of what a program holds, to see whether trying its class changed it: counters, registries,
tapes. Containers, the script's own objects and its classes are entered; each is marked by what it
holds now.
"""

from __future__ import annotations

from collections import deque
from types import FunctionType, ModuleType
from typing import Any

_MOST = 3000
_MOST_ITEMS = 100
_CONTAINERS = (list, dict, set, deque, tuple)


def state_of(names: dict[str, Any], theirs: type) -> object:
    """The mark: it is equal before and after as long as nothing was changed."""
    home = names.get("__name__")
    marks: list[Any] = []
    seen: set[int] = set()
    waiting: deque[Any] = deque([names, dict(vars(theirs))])
    while waiting and len(seen) < _MOST:
        thing = waiting.popleft()
        held = list(thing.values()) if isinstance(thing, dict) else list(thing)
        some = held if len(held) <= _MOST_ITEMS else [*held[:50], *held[-50:]]
        marks.append((len(held), *map(_mark, some)))
        for part in some:
            below = _inside(part, home, theirs)
            if below is not None and id(part) not in seen:
                seen.add(id(part))
                waiting.append(below)
    return marks


def _mark(thing: Any) -> Any:
    plain = isinstance(thing, (int, float, str, bytes, type(None)))
    return thing if plain and thing == thing else id(thing)


def _inside(thing: Any, home: Any, theirs: type) -> Any:
    """What a thing holds, where a program may keep count in it."""
    if isinstance(thing, _CONTAINERS):
        return thing
    if isinstance(thing, (theirs, ModuleType, FunctionType)):
        return None
    if isinstance(thing, type):
        return dict(vars(thing)) if thing.__module__ == home and thing is not theirs else None
    if type(thing).__module__ == home and hasattr(thing, "__dict__"):
        return dict(vars(thing))
    return None
