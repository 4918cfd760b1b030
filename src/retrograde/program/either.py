"""Calls that may be of numbers or of tensors: telling which, and methods that are asked of both."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from .._values.modes import ArraysRecorded
from .._values.nests import flatten, is_array, leaves
from ..errors import RowsError, TensorError
from ..tensor import in_graph
from .calling import Replayable
from .rows import RESERVED, PerRow
from .shaped.arguments import WHOLE_AXES
from .shaped.calls import key_of

if TYPE_CHECKING:
    from .compiled import Compiled

_QUICK = frozenset(("value_and_grad", "backward"))
"""What is answered at once where it was asked before."""


def holds_nodes(nest: Any) -> bool:
    """Whether there is a value or a tensor of a graph in a nest."""
    return any(in_graph(leaf) for leaf in leaves(nest))


def has_tensors(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether an array has so many axes that it is a tensor; settings are no arguments."""
    for part in args:
        if _is_or_holds_tensor(part):
            return True
    return any(key not in RESERVED and _is_or_holds_tensor(it) for key, it in kwargs.items())


def _is_or_holds_tensor(part: Any) -> bool:
    if isinstance(part, PerRow):
        part = part.array
    if is_array(part):
        return bool(part.ndim >= WHOLE_AXES)
    if not isinstance(part, (list, tuple, dict)):
        return False
    found = flatten(part, lambda it: is_array(it) or isinstance(it, PerRow))[0]
    return any(_is_or_holds_tensor(it) for it in found if is_array(it) or isinstance(it, PerRow))


def also_on_tensors(name: str) -> Any:
    """A method of compiled functions that is also asked of functions on tensors."""
    method = getattr(Replayable, name)
    is_quick = name in _QUICK
    plainly = (name, None)

    @wraps(method)
    def asked(self: Compiled, /, *args: Any, **given: Any) -> Any:
        if is_quick and not given and self._on_tensors:  # the shortest way there is
            found = self._tensors.again(plainly, args)
            if found is not None:
                return found
        on_tensors = self._on_tensors or self._picks(args, given)
        kept: dict[str, Any] = {}
        if on_tensors and is_quick and given.keys() <= {"wrt"}:
            wrt = given.get("wrt")
            if wrt is None or isinstance(wrt, (str, tuple)):
                found = self._tensors.again((name, wrt), args) if given else None
                if found is not None:
                    return found
                kept["key"] = key_of((name, wrt), args)
        if not on_tensors:
            try:
                return method(self, *args, **given)
            except ArraysRecorded:
                self._on_tensors = True
            except TensorError:
                on_tensors = True  # a sequence has met a tensor: it becomes one
            except RowsError:
                if not has_tensors(args, given):
                    raise
        own = (*RESERVED, "row") if name == "story" else RESERVED
        settings = {key: it for key, it in given.items() if key in own}
        named = {key: it for key, it in given.items() if key not in own}
        result = getattr(self._tensors, name)(self._named(args, named), **settings, **kept)
        self._on_tensors = self._on_tensors or on_tensors
        return result

    return asked
