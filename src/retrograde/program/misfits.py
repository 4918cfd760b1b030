"""Mistakes of a function under recording that come from what its arguments are.

Python and NumPy do not know the arguments: "not iterable" says nothing of an array with one axis.
Here such an error is told again, with the argument, the line and what to pass instead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .._shared.sites import site_of_error, source_line
from ..errors import (
    CompileError,
    GraphExitError,
    NumpyError,
    OperandError,
    RecordingError,
    SequenceError,
)
from .rows import Argument
from .shapes import Items, Number, Row, Rows

_USED_AS_LIST = re.compile(
    r"'(retrograde\.)?Value' object is not (iterable|subscriptable)"
    r"|object of type '(retrograde\.)?Value' has no len\(\)"
)
_LIST_COMPUTED = re.compile(
    r"\w+: cannot compute with list\b"
    r"|unsupported operand type.*'list'.*"
    r"|bad operand type for .*'list'"
    r"|'..?' not supported between instances of .*'list'.*"
    r"|can't multiply sequence by non-int.*"
    r"|can only concatenate list.*"
)


def retold(
    error: TypeError | ValueError, function: str, arguments: Sequence[Argument]
) -> TypeError | None:
    """The error in the words of the arguments; None where they have nothing to do with it."""
    site = site_of_error(error)
    if isinstance(error.__cause__, GraphExitError):  # NumPy's own words hide it
        error = error.__cause__
    said = str(error)
    line = source_line(site) if site else ""
    place = (f"\n  at {site}" if site else "") + (f"\n      {line}" if line else "")
    if type(error) in (TypeError, OperandError) and (used := _USED_AS_LIST.search(said)):
        for kind in (Row, Number):
            names = [each.name for each in arguments if isinstance(each.shape, kind)]
            if names:
                meant = [name for name in names if _names(line, name)]
                return CompileError.number(function, used[0], meant or names, kind is Row, place)
    if type(error) in (TypeError, OperandError) and (computed := _LIST_COMPUTED.match(said)):
        lists = [
            each.name
            for each in arguments
            if isinstance(each.shape, Items) and each.shape.make is list
        ]
        meant = [name for name in lists if _names(line, name)]
        if meant:
            return CompileError.listed(function, computed[0], meant[0], place)
    if type(error) is SequenceError and said.startswith("the truth of"):
        for each in arguments:
            if isinstance(each.shape, Rows) and _names(line, each.name):
                return CompileError.sequence(function, said, each.name, each.shape.width, place)
    if isinstance(error, TypeError) and type(error) in (GraphExitError, NumpyError, SequenceError):
        return type(error)(f"{said}{place}")
    return None


def name_row(error: Exception, function: str, row: int) -> None:
    """Note on an error of a function under recording: on which row, and at which line."""
    site = site_of_error(error)
    told = RecordingError.on_row(function, row, str(site or ""))
    notes: list[str] = vars(error).setdefault("__notes__", [])  # Python 3.10 does not print them
    if told not in notes:
        notes.append(told)


def _names(line: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", line) is not None
