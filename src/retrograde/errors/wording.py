"""How exceptions name things: kinds, values, places; and the base of them all."""

from __future__ import annotations

import linecache
import sys
from reprlib import Repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import TypeAlias

    Value: TypeAlias = Any  # of either core


# A nest may hold the same list many times over: its whole text could be without end.
_GLIMPSES = Repr()
_GLIMPSES.maxlevel = 3
_GLIMPSES.maxstring = _GLIMPSES.maxother = _GLIMPSES.maxlong = 100


def closest(name: str, names: list[str]) -> str:
    """The name that was probably meant, as a question; '' where none is close."""
    from difflib import get_close_matches

    close = get_close_matches(name, names, n=1)
    return f"did you mean '{close[0]}'?" if close else ""


def kind_of(thing: object) -> str:
    """A type with a glimpse of the thing: ``str ('abc')``."""
    try:
        glimpse = _GLIMPSES.repr(thing)
    except Exception:
        glimpse = "no repr"
    if len(glimpse) > 40:
        glimpse = glimpse[:37] + "..."
    if thing is None:
        return "None"
    former = ", of an earlier import of the package: make it anew" if _is_former(thing) else ""
    return f"{type(thing).__name__} ({glimpse}){former}"


def _is_former(thing: object) -> bool:
    """Whether its class is one of ours from before the package was imported again."""
    kind = type(thing)
    home = sys.modules.get(kind.__module__)
    ours = kind.__module__.partition(".")[0] == __name__.partition(".")[0]
    return ours and home is not None and getattr(home, kind.__name__, kind) is not kind


def describe(value: Value) -> str:
    """A value in words: its label or op, its number, and where it was made."""
    name = f"'{value.label}'" if value.label else f"the result of {value.op}"
    if not value.label and value.op == "leaf":
        name = "a leaf" if value.requires_grad else "the number"
    if shape := getattr(value, "shape", ()):
        return f"{name.replace('the number', 'an array')} of shape {shape}"
    return f"{name} = {shown(value)}"


def shown(value: Value) -> str:
    """The number of a value; while recording it may not be read."""
    from .recording import RecordingError

    try:
        return repr(value.data)
    except RecordingError:
        return "a number of the row recorded"


def place(value: Value) -> str:
    """Where a value was made, with the line itself when it can be read: '' when unknown."""
    site = value.site
    if site is None:
        return ""
    text = linecache.getline(site.file, site.line).strip()
    return f"  at {site}" + (f"\n      {text}" if text else "")


def with_place(message: str, value: Value) -> str:
    """A message, and below it where a value was made."""
    where = place(value)
    return f"{message}\n{where}" if where else message


def named(value: Value) -> str:
    """A value in words without its number, which may not be read while recording."""
    return f"'{value.label}'" if value.label else f"a result of {value.op}"


class RetrogradeError(Exception):
    """The base of every exception this package raises on purpose."""

    def __init_subclass__(cls) -> None:
        if cls.__module__.startswith(f"{__package__}."):
            cls.__module__ = __package__  # where users find it
