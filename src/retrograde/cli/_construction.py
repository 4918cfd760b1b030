"""The constructor of another engine's class in front of ours: its arguments, by what they are for.

Each parameter is tried: where its argument turns up on the object says whether it is the data, the
inputs, the name of the op, the partials, the label, or an attribute of the script's own.
"""

from __future__ import annotations

import dis
import inspect
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ..value import Value, belongs_to_caller, core

_PACKAGE = __name__.partition(".")[0]
_NATIVE = ("data", "children", "op")
_KEYWORDS = {
    "data": ("data",), "children": ("children", "_children"), "op": ("_op",),
    "local_grads": ("local_grads", "_local_grads"), "label": ("label",),
    "requires_grad": ("requires_grad",),
}  # fmt: skip
UNUSED = "nothing"
_TEXT, _FLOAT = "a text to be found again", 1234.5

_construct = core.construct

Role = tuple[str, str, Any]
"""A parameter, what it is for (or ``.name`` of an attribute), and its default."""


def roles_of(theirs: Any, inputs: str, partials: str, op: str) -> list[Role] | None:
    """What each parameter of the constructor is for; None where that cannot be told.

    ``inputs``, ``partials`` and ``op`` are what theirs calls them, or empty.
    """
    try:
        parameters = list(inspect.signature(theirs).parameters.values())
    except (TypeError, ValueError):
        return None
    if not parameters or any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        return None
    roles: list[Role] = [(parameters[0].name, "data", parameters[0].default)]
    for parameter in parameters[1:]:
        if parameter.default is parameter.empty or not _is_plain(parameter.default):
            return None
        role = _role(theirs, parameter.name, inputs, partials, op)
        if role is None and not _uses(theirs, parameter.name):
            role = UNUSED
        if role is None:
            return None
        roles.append((parameter.name, role, parameter.default))
    if roles[0][2] is inspect.Parameter.empty:
        roles[0] = (roles[0][0], "data", None)
    return roles


def _uses(theirs: Any, name: str) -> bool:
    """Whether the constructor does anything with a parameter."""
    code = getattr(theirs.__init__, "__code__", None)
    if code is None or name in code.co_cellvars:
        return True
    return any(step.argval == name for step in dis.get_instructions(code))


def _is_plain(thing: Any) -> bool:
    return thing is None or isinstance(thing, (bool, int, float, str, tuple, list, set, frozenset))


def _role(theirs: Any, name: str, inputs: str, partials: str, op: str) -> str | None:
    leaf = theirs(2.0)
    for probe in ((leaf,), [leaf], {leaf}):
        where = _found(theirs, name, probe, lambda held: _holds(held, leaf))
        if where and inputs in where:
            return "children"
    for probe in ((_FLOAT,), [_FLOAT]):
        if partials and partials in _found(theirs, name, probe, lambda held: _holds(held, _FLOAT)):
            return "local_grads"
    for text in (_TEXT, _FLOAT, True, False):
        where = _found(theirs, name, text, partial(_equals, text))
        fresh = [attribute for attribute in where if getattr(leaf, attribute, None) != text]
        if len(fresh) == 1:
            if op and fresh[0] == op:
                return "op"
            return fresh[0] if fresh[0] in ("label", "requires_grad") else f".{fresh[0]}"
    return None


def _equals(thing: Any, held: Any) -> bool:
    return type(held) is type(thing) and bool(held == thing)


def _holds(held: Any, thing: Any) -> bool:
    return isinstance(held, (tuple, list, set, frozenset)) and any(each is thing or (
        isinstance(thing, float) and each == thing) for each in held)  # fmt: skip


def _found(theirs: Any, name: str, probe: Any, is_it: Callable[[Any], bool]) -> list[str]:
    """The attributes of an object that hold what was given for a parameter."""
    try:
        made = theirs(2.0, **{name: probe})
    except Exception:
        return []
    names = {*getattr(made, "__dict__", ())}
    for kind in type(made).__mro__:
        slots = vars(kind).get("__slots__", ())
        names |= {slots} if isinstance(slots, str) else set(slots)
    return [each for each in sorted(names) if is_it(getattr(made, each, None))]


def is_native(roles: list[Role], positions: int) -> bool:
    """Whether our own constructor takes such arguments the same way."""
    for place, (name, role, _) in enumerate(roles):
        if name not in _KEYWORDS.get(role, ()):
            if place >= len(_NATIVE) or role not in _KEYWORDS:
                return False
        if place < positions and place >= len(_NATIVE):
            return False
        if place < len(_NATIVE) and role != _NATIVE[place]:
            if not (place == 2 and role == "local_grads") and place < max(positions, 1):
                return False
            if name not in _KEYWORDS.get(role, ()):
                return False
    return True


def constructor_of(roles: list[Role]) -> tuple[Callable[..., Value], Callable[..., None]]:
    """The constructor that takes such arguments: as a function, and as an ``__init__``."""
    signature = inspect.Signature([
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default)
        for name, _, default in roles
    ])  # fmt: skip
    by_name = {name: role for name, role, _ in roles}
    init = Value.__init__

    def sorted_out(args: Any, kwargs: Any) -> tuple[dict[str, Any], Mapping[str, Any]]:
        given: dict[str, Any] = {"data": roles[0][2]}
        own: dict[str, Any] = {}
        for name, thing in signature.bind(*args, **kwargs).arguments.items():
            role = by_name[name]
            if role.startswith("."):
                own[role[1:]] = thing
            elif role != UNUSED:
                given["_op" if role == "op" else role] = thing
        if not isinstance(given.get("_op", ""), str):
            given.pop("_op")
        return given, own

    def is_ours() -> bool:
        return str(sys._getframe(2).f_globals.get("__name__", "")).startswith(f"{_PACKAGE}.")

    def construct(*args: Any, **kwargs: Any) -> Value:
        if is_ours():
            return _construct(*args, **kwargs)
        given, own = sorted_out(args, kwargs)
        value = _construct(**given)
        for name, thing in own.items():
            setattr(value, name, thing)
        return value

    def initialise(self: Value, *args: Any, **kwargs: Any) -> None:
        if is_ours():
            init(self, *args, **kwargs)
            return
        given, own = sorted_out(args, kwargs)
        init(self, **given)
        for name, thing in own.items():
            setattr(self, name, thing)

    belongs_to_caller(construct, initialise)
    return construct, initialise
