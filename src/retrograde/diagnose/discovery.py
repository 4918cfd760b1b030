"""The parameters of a program that names none: found among its variables when it runs backward.

A variable counts where its leaves are reached by the pass or held by an optimizer, or where it is
an object with ``parameters()``. Where nothing is found, the leaves of the pass itself are taken.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Set
from types import FrameType, FunctionType, ModuleType
from typing import Any

from .._values.nests import dotted, entries
from ..optim.optimizer import Optimizer
from ..tensor import Tensor
from ..value import Value, core
from .parameters import Found, Parameters, parameters_from, parameters_of

_PACKAGE = __name__.partition(".")[0]
LOOP_NAMES = frozenset(("p", "param", "parameter", "leaf", "value"))
"""What a parameter is called in a loop over all of them."""
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


def discovered(
    roots: tuple[Value, ...], names: Mapping[str, Any], known: Set[int] = frozenset()
) -> Parameters:
    """The parameters a pass from these roots is about, but for those whose ids are known."""
    leaves = [leaf for leaf in core.leaves_under(roots) if id(leaf) not in known]
    wanted = {id(leaf) for leaf in leaves}
    for thing in names.values():
        if isinstance(thing, Optimizer):
            wanted |= {id(value) for value in thing.parameters()}
    found: list[Found] = []
    taken: set[int] = set(known)
    items = _items(names)
    for name, thing in sorted(names.items(), key=lambda item: _rank(item[0], item[1], items)):
        nest = leaves_of_variable(name, thing)
        inside = {id(each.value) for each in nest}
        if not inside - taken or (inside.isdisjoint(wanted) and not _is_module(thing)):
            continue
        found += [each for each in nest if id(each.value) not in taken]
        taken |= inside
    return parameters_from(found) if found else parameters_of(leaves)


def _is_module(thing: Any) -> bool:
    return callable(getattr(thing, "parameters", None)) and not isinstance(thing, type)


def _is_object(thing: Any) -> bool:
    """Whether it is an object of a class of the program's own, whose attributes may be parts."""
    module = type(thing).__module__.partition(".")[0]
    foreign = (_PACKAGE, "numpy", "torch", *sys.stdlib_module_names)
    own = module == "__main__" or module not in foreign
    kinds = (ModuleType, type, FunctionType)
    return own and hasattr(thing, "__dict__") and not isinstance(thing, kinds)


def _items(names: Mapping[str, Any]) -> set[int]:
    """The ids of what stands in lists: a loop has left a name for one of them."""
    lists = [thing for thing in names.values() if isinstance(thing, (list, tuple))]
    return {id(item) for thing in lists for item in thing}


def _rank(name: str, thing: Any, items: Set[int]) -> int:
    """Things whose parts have names come first; last are optimizers, and what a loop over the
    parameters has left behind: theirs have other names."""
    if isinstance(thing, Optimizer) or name in LOOP_NAMES:
        return 4
    if id(thing) in items and _is_object(thing) and not _is_module(thing):
        return 4
    if _is_module(thing):
        return 0
    if isinstance(thing, Mapping) or _is_object(thing):
        return 1
    return 2 if isinstance(thing, (Value, Tensor)) else 3


def leaves_of_variable(name: str, thing: Any) -> list[Found]:
    """The leaves in a variable that take gradients, each once, named."""
    if isinstance(thing, (ModuleType, type)):
        return []
    leaves: dict[int, Found] = {}
    try:
        if _is_module(thing):
            nest = parameters_of({name: thing})
            pairs: Iterator[tuple[str, Any]] = iter(zip(nest.names, nest.values))
        else:
            pairs = _leaves(name, thing)
        for path, value in pairs:
            leaves.setdefault(id(value), Found(name, value.label or path, value))
            if len(leaves) > MOST_LEAVES:
                break
    except Exception:
        return []  # a parameters() of something else
    return list(leaves.values())


def _leaves(path: str, thing: Any) -> Iterator[tuple[str, Any]]:
    pending = [(path, thing)]
    entered: dict[int, Any] = {}  # kept alive, so that no id comes twice
    while pending:
        where, part = pending.pop()
        if isinstance(part, (Value, Tensor)):
            if part.op == "leaf" and part.requires_grad:
                yield where, part
            continue
        if id(part) in entered:
            continue
        entered[id(part)] = part
        held = entries(part)
        if held is not None:
            pending.extend((dotted(where, key), inner) for key, inner in reversed(held))
        elif _is_module(part) and where != path:
            nest = parameters_of({where: part})
            yield from zip(nest.names, nest.values)
        elif _is_object(part):
            inside = vars(part).items()
            pending.extend((f"{where}.{name}", inner) for name, inner in reversed(inside))
