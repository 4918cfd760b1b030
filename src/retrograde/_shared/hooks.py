"""Hooks: functions that see, and may replace, the total gradient a pass brings to a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import HookError
from .operands import is_real_scalar

if TYPE_CHECKING:
    from ..value import Value

Hook = Callable[[float], "float | None"]


class HookHandle:
    """What ``register_hook`` returns: ``remove()`` takes the hook away again.

    Also a context manager that removes it on leaving. The value does not know its handles, so
    neither keeps the other alive longer than it should.
    """

    __slots__ = ("_key", "_value")

    def __init__(self, value: Value, key: object) -> None:
        self._value: Value | None = value
        self._key = key

    def remove(self) -> None:
        """Take the hook away; a second call does nothing."""
        value, self._value = self._value, None
        if value is not None:
            kept = [pair for pair in value._hooks or () if pair[0] is not self._key]
            value._hooks = kept or None

    def __enter__(self) -> HookHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def register(value: Value, hook: Hook) -> HookHandle:
    """Let ``hook`` see every pass's total at ``value``, after the hooks already there."""
    if not callable(hook):
        raise HookError.not_callable(hook)
    key = object()
    value._hooks = [*(value._hooks or ()), (key, hook)]
    return HookHandle(value, key)


def run_on_array(tensor: Any, total: Any) -> Any:
    """The same for a tensor: hooks see an array they cannot write to, and may return another."""
    import numpy as np

    total = np.asarray(total).view()
    total.flags.writeable = False
    for _, hook in tensor._hooks or ():
        replacement = hook(total)
        if replacement is None:
            continue
        try:
            given = np.array(replacement, dtype=float)
        except (TypeError, ValueError):
            raise HookError.shape(tensor, replacement) from None
        if given.shape != tensor.shape:
            raise HookError.shape(tensor, given)
        given.flags.writeable = False
        total = given
    return total


def run(value: Any, total: float) -> float:
    """The total after every hook has seen it, in the order they were registered."""
    for _, hook in value._hooks or ():
        replacement = hook(total)
        if replacement is None:
            continue
        if not is_real_scalar(replacement):
            raise HookError.returned(value, replacement)
        total = float(replacement)
    return total
