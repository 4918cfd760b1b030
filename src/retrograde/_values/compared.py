"""Comparisons that a program makes while it is watched: which values, how, and what came out.

Inside ``comparing()`` the comparisons of ``Value`` and its truth are reported to a log; outside
they are the core's own again and cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from types import CodeType
from typing import Any, NamedTuple

from .._shared.operands import is_real_scalar
from .._shared.sites import calling_instruction
from ..value import Value

SYMBOLS = {
    "__lt__": "<",
    "__le__": "<=",
    "__eq__": "==",
    "__ne__": "!=",
    "__gt__": ">",
    "__ge__": ">=",
}


class Comparison(NamedTuple):
    """``left symbol right`` came out as ``outcome``, at an instruction of the program."""

    left: Value
    symbol: str
    right: Any
    outcome: bool
    made_at: tuple[CodeType, int] | None


Log = list[Comparison]
MOST = 200_000
"""Comparisons that are kept; of a program that makes more, none is known to be all."""

_lock = Lock()
_logs: list[Log] = []
_own: dict[str, Any] = {}


@contextmanager
def comparing() -> Iterator[Log]:
    """Log every comparison of values, and every truth of one, of any thread.

    >>> import retrograde as rg
    >>> x = rg.Value(3.0)
    >>> with comparing() as log:
    ...     bigger = x * 2 > 5
    >>> [(each.left.data, each.symbol, each.right, each.outcome) for each in log]
    [(6.0, '>', 5, True)]
    """
    log: Log = []
    with _lock:
        if not _logs:
            _wrap()
        _logs.append(log)
    try:
        yield log
    finally:
        with _lock:
            _logs[:] = [other for other in _logs if other is not log]
            if not _logs:
                _unwrap()


def _wrap() -> None:
    for name, symbol in SYMBOLS.items():
        _own[name] = getattr(Value, name)
        setattr(Value, name, _reporting(_own[name], symbol))
    truth = _own["__bool__"] = Value.__bool__

    def told(self: Value) -> bool:
        outcome = truth(self)
        _report(self, "!=", 0.0, outcome)
        return outcome

    Value.__bool__ = told  # type: ignore[method-assign]


def _unwrap() -> None:
    for name, method in _own.items():
        setattr(Value, name, method)
    _own.clear()


def _reporting(method: Callable[[Any, Any], Any], symbol: str) -> Callable[[Any, Any], Any]:
    def compare(self: Value, other: Any) -> Any:
        outcome = method(self, other)
        if isinstance(outcome, bool) and (isinstance(other, Value) or is_real_scalar(other)):
            _report(self, symbol, other, outcome)
        return outcome

    return compare


def _report(left: Value, symbol: str, right: Any, outcome: bool) -> None:
    found = Comparison(left, symbol, right, outcome, calling_instruction())
    for log in _logs:
        if len(log) <= MOST:
            log.append(found)
