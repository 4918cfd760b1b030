"""What a function may do that is recorded once more: only what comes to the same again.

With choices a function is recorded more often than traces would ask for. So whatever might come
out otherwise the second time, or leave something behind, is refused before it is done: drawing from
an iterator or at random, printing, changing what was there before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from functools import partial
from types import BuiltinFunctionType, MethodWrapperType
from typing import TYPE_CHECKING, Any

import numpy as np

from .._values import functions, sequences
from .calls import computing, is_repeatable

if TYPE_CHECKING:
    from .sides import Stage

_ALSO = frozenset((str, repr, format, hash, ord, chr, complex, slice, super, min, max))
_CONTAINERS = frozenset((set, dict, frozenset))
_READING = frozenset(
    "get items keys values copy index count union intersection difference issubset issuperset "
    "isdisjoint".split()
)
_CHANGING = frozenset(
    "append extend insert pop remove clear reverse sort add discard update setdefault popitem "
    "appendleft popleft".split()
)
_HELD = (list, dict, set, frozenset, deque)
_UNCHANGING = (str, bytes, int, float, complex, tuple, range, slice)
_OF_ARRAYS = frozenset(
    "sum mean prod min max dot copy reshape ravel flatten item tolist astype transpose cumsum "
    "argmin argmax any all round clip repeat take".split()
)
_OF_NUMPY = frozenset(
    "array asarray zeros ones full empty arange linspace eye diag outer dot vdot inner matmul sum "
    "mean prod cumsum diff where clip concatenate stack vstack hstack flip sort argsort argmin "
    "argmax min max any all searchsorted interp zeros_like ones_like round isclose allclose "
    "float64 atleast_1d atleast_2d tile repeat meshgrid polyval trapezoid".split()
)
_OURS = frozenset(
    found
    for name, found in vars(functions).items()
    if not name.startswith("_") and getattr(found, "__module__", "") == functions.__name__
)
_LASTING = (*_HELD, Mapping, tuple, range, str, np.ndarray, sequences.ComputingSequence)


def repeated(function: Any, stage: Stage) -> Any:
    """What is called in the place of a function outside all sides."""
    found = computing(function, stage)
    if found is None:
        found = _harmless(function, stage)
    if found is None:
        name = getattr(function, "__name__", "") or type(function).__name__
        raise stage.stop(f"it calls {name}")
    return found


def _harmless(function: Any, stage: Stage) -> Any:
    kind = type(function)
    if kind is partial:
        return partial(stage.called(function.func), *function.args, **function.keywords)
    if isinstance(function, type):
        if function in _CONTAINERS:
            return _making(function, stage)
        is_named = issubclass(function, tuple) and hasattr(function, "_fields")
        is_error = issubclass(function, Exception) and function.__module__ == "builtins"
        return function if is_named or is_error or function in _ALSO else None
    name = getattr(function, "__name__", "")
    if isinstance(function, (BuiltinFunctionType, MethodWrapperType)):
        owner = function.__self__
        if type(owner) in _UNCHANGING:
            return function
        if type(owner) in _HELD:
            mine = id(owner) in stage.made
            return function if name in _READING or (mine and name in _CHANGING) else None
        if type(owner) is np.ndarray:
            return function if name in _OF_ARRAYS else None
    if name in _OF_NUMPY and getattr(np, name, None) is function:
        return function
    try:
        return function if function in _ALSO or function in _OURS else None
    except TypeError:
        return None


def _making(kind: Any, stage: Stage) -> Any:
    def make(*given: Any, **named: Any) -> Any:
        for each in given:
            if not lasts(each, stage):
                raise stage.stop("it goes through something that can be gone through once")
        made = kind(*given, **named)
        stage.made[id(made)] = made
        return made

    return make


def lasts(thing: Any, stage: Stage) -> bool:
    """Whether a thing can be gone through any number of times, or is made for this once."""
    if is_repeatable(thing) or isinstance(thing, _LASTING):
        return True
    return not hasattr(thing, "__next__") or id(thing) in stage.fresh
