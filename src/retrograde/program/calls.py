"""What may be called, gone through and changed in a side of a branch that not every row takes.

Only what computes: the law, arithmetic of Python, and functions of the user's that pass the same
test. A list that grows, a line that is printed, a random number that is drawn make a doubt.
"""

from __future__ import annotations

import builtins
from types import BuiltinFunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from .._values import elementwise, functions, sequences
from .._values.scanning import scan
from ..ops import OPS
from ..value import Value, core
from .conditions import Condition

if TYPE_CHECKING:
    from .sides import Stage

_PURE = frozenset(
    getattr(builtins, name)
    for name in (
        "abs min max len float int bool round pow divmod range tuple list sum zip enumerate "
        "reversed all any sorted".split()
    )
)
_GOES_THROUGH = frozenset((tuple, list, sum, zip, enumerate, reversed, all, any, sorted, min, max))
_READS: dict[Any, frozenset[str]] = {dict: frozenset(("get", "items", "keys", "values"))}

_VIEWS = tuple(map(type, ({}.items(), {}.keys(), {}.values())))
_REPEATABLE = (list, tuple, range, dict, str, np.ndarray, sequences.ComputingSequence, *_VIEWS)
_IMMUTABLE = (Value, Condition, int, float, bool, str, tuple, type(None), complex)


def _law() -> frozenset[Any]:
    found = [getattr(elementwise, name) for name in OPS]
    found += [functions.mean, functions.norm, functions.logsumexp, functions.softmax]
    found += [core.sum, core.dot]
    return frozenset(found)


LAW = _law()


def is_repeatable(thing: Any) -> bool:
    """Whether a thing is the same however often it is gone through or read."""
    return type(thing) in _REPEATABLE


def is_immutable(thing: Any) -> bool:
    """Whether ``+=`` gives a new thing."""
    return isinstance(thing, (*_IMMUTABLE, sequences.ComputingSequence))


def checked(function: Any, stage: Stage) -> Any:
    """A function that may be called in a side; else a doubt."""
    found = computing(function, stage)
    if found is None:
        name = getattr(function, "__name__", "") or type(function).__name__
        raise stage.refuse(f"it calls {name}")
    return found


def computing(function: Any, stage: Stage) -> Any:
    """What is called in the place of a function that only computes; None where it may do more."""
    if function is scan:
        return _scanning(stage)
    try:
        if function in LAW or function in _PURE:
            return _going_through(function, stage) if function in _GOES_THROUGH else function
    except TypeError:
        pass
    if isinstance(function, np.ufunc):
        return function
    if isinstance(function, BuiltinFunctionType):
        owner = function.__self__
        if isinstance(owner, ModuleType) and owner.__name__ == "math":
            return function
        if isinstance(owner, Value) and (function.__name__ in OPS or function.__name__ == "detach"):
            return function
        if function.__name__ in _READS.get(type(owner), ()):
            return function
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", "")
    if type(owner) is sequences.ComputingSequence and name in ("sum", "mean", "dot"):
        return function
    if isinstance(owner, Value) and (name in OPS or name == "detach"):
        return function
    return None


def _scanning(stage: Stage) -> Any:
    """``rg.scan``, whose body is a function of the user's like any other."""

    def call(body: Any, carry: Any, xs: Any) -> Any:
        _check_lasts(xs, stage)
        if stage.open and not is_repeatable(xs):
            raise stage.refuse("it scans something that may change")
        found = scan(stage.called(body), carry, xs)
        stage.made[id(found[1])] = found[1]
        return found

    return call


def _check_lasts(thing: Any, stage: Stage) -> None:
    if hasattr(thing, "__next__") and id(thing) not in stage.fresh:
        raise stage.forbid("it goes through something that can be gone through once")


def _going_through(function: Any, stage: Stage) -> Any:
    def call(*given: Any, **settings: Any) -> Any:
        for each in given:
            _check_lasts(each, stage)
        found = function(*given, **settings)
        if type(found) is list:
            stage.made[id(found)] = found
        elif hasattr(found, "__next__"):
            stage.fresh[id(found)] = found
        return found

    return call
