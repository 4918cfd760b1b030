"""Programs written for another engine, in pure Python: what ``native/guests.c`` does for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .public import Value

if TYPE_CHECKING:
    from .._shared.cores import Number


def construct(
    data: Number,
    children: Iterable[Value] | None = (),
    local_grads: Iterable[Number] | str | None = (),
    **more: Any,
) -> Value:
    """Value(...), whoever answers that."""
    value = Value.__new__(Value)
    _init(value, data, children, local_grads, **more)
    return value


_init = Value.__init__


def set_constructor(constructor: Callable[..., Value] | None, /) -> None:
    """Who answers Value(...): only the native core is called without ``__init__``."""


_PARTS = frozenset(
    "data grad label requires_grad inputs _prev _children partials _backward _local_grads".split()
)


def _get_any(self: Value, name: str) -> Any:
    try:
        own = object.__getattribute__(self, "_own")
    except AttributeError:  # a node in the making
        own = None
    return own[name] if own and name in own else object.__getattribute__(self, name)


def _set_any(self: Value, name: str, thing: Any) -> None:
    try:
        object.__setattr__(self, name, thing)
    except AttributeError:
        if name in _PARTS:
            raise
        self._own = {**(self._own or {}), name: thing}


def _delete_any(self: Value, name: str) -> None:
    own = self._own or {}
    if name in own:
        self._own = {key: thing for key, thing in own.items() if key != name}
    else:
        object.__delattr__(self, name)


def lend_attributes(wanted: bool, /) -> None:
    """Whether values take attributes of any name."""
    for name, method in (
        ("__getattribute__", _get_any), ("__setattr__", _set_any), ("__delattr__", _delete_any),
    ):  # fmt: skip
        if wanted:
            setattr(Value, name, method)
        elif name in vars(Value):
            delattr(Value, name)


def own_attributes(value: Value, /) -> dict[str, Any]:
    """A copy of the attributes put on a value."""
    return dict(value._own or ())
