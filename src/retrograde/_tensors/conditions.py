"""Comparisons of tensors while a function is recorded: arrays of conditions.

A condition is a number, 1 or 0, of the recorded program. ``rg.where`` and ``& | ^ ~`` take them as
data; ``all()`` and ``any()`` make one condition of them, whose truth (``if``, ``while``) is a
guard.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

from .._shared.numerics import np
from ..errors import RecordingError, TensorError
from ..tensor import in_graph
from ..value import belongs_to_caller, core
from .doing import do


def is_hidden(thing: Any) -> bool:
    """Whether a recording hides the numbers of a thing."""
    return isinstance(thing, Conditions) or (in_graph(thing) and bool(core.hides(thing)))


@contextmanager
def _flat() -> Any:
    """No gradient passes: the steps of conditions are levels."""
    core.enter_no_grad()
    try:
        yield
    finally:
        core.leave_no_grad()


def _not(x: Any) -> Any:
    return do("sub", 1.0, x)


_ROWS: dict[Callable[..., Any], Callable[[Any, Any], Any]] = {
    operator.lt: lambda x, y: do("less", x, y),
    operator.le: lambda x, y: do("less_equal", x, y),
    operator.eq: lambda x, y: do("equal", x, y),
    operator.ne: lambda x, y: _not(do("equal", x, y)),
    operator.gt: lambda x, y: do("less", y, x),
    operator.ge: lambda x, y: do("less_equal", y, x),
}


def conditions(compare: Callable[..., Any], left: Any, right: Any) -> Any:
    """``left compare right``, number by number."""
    with _flat():
        return Conditions(_ROWS[compare](_number(left), _number(right)))


def _number(other: Any) -> Any:
    return other.tensor if isinstance(other, Conditions) else getattr(other, "value", other)


class Conditions:
    """The outcomes of a comparison of tensors while recording."""

    __slots__ = ("tensor",)
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    @property
    def recorded_value(self) -> Any:
        """The conditions as numbers of the program: how ``rg.where`` takes them."""
        return self.tensor

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths along the axes."""
        return tuple(self.tensor.shape)

    @property
    def ndim(self) -> int:
        """How many axes there are."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many conditions there are."""
        return int(self.tensor.size)

    def all(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Whether all hold."""
        return self._along("min", axis, keepdims)

    def any(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Whether one holds."""
        return self._along("max", axis, keepdims)

    def _along(self, row: str, axis: Any, keepdims: bool) -> Any:
        with _flat():
            found = do(row, self.tensor, axis=axis, keepdims=keepdims)
        return Conditions(found) if found.shape else found == 1.0

    def sum(self, axis: Any = None, keepdims: bool = False) -> Any:
        """How many hold."""
        with _flat():
            return do("sum", self.tensor, axis=axis, keepdims=keepdims)

    def mean(self, axis: Any = None, keepdims: bool = False) -> Any:
        """How many of them hold, as a share."""
        with _flat():
            return do("mean", self.tensor, axis=axis, keepdims=keepdims)

    def astype(self, kind: Any) -> Any:
        """As numbers, 1 and 0; other types have none."""
        if kind not in (float, "float", "float64", "f8"):
            raise RecordingError.mask(f"astype({kind!r})")
        return self.tensor

    def reshape(self, *shape: Any) -> Any:
        """The same along other axes."""
        return Conditions(self.tensor.reshape(*shape))

    def __getitem__(self, key: Any) -> Any:
        found = self.tensor[key]
        return Conditions(found) if found.shape else found == 1.0

    def __len__(self) -> int:
        return len(self.tensor)

    def __bool__(self) -> bool:
        if self.size != 1:
            raise TensorError.truth(self.shape)
        return bool(self.all())

    def __and__(self, other: Any) -> Any:
        with _flat():
            return Conditions(do("mul", self.tensor, _number(other)))

    def __or__(self, other: Any) -> Any:
        with _flat():
            return Conditions(do("maximum", self.tensor, _number(other)))

    def __xor__(self, other: Any) -> Any:
        with _flat():
            return Conditions(_not(do("equal", self.tensor, _number(other))))

    def __invert__(self) -> Any:
        with _flat():
            return Conditions(_not(self.tensor))

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    # In arithmetic they are 1 and 0, as bools are.

    def __add__(self, other: Any) -> Any:
        return self.tensor + _number(other)

    def __sub__(self, other: Any) -> Any:
        return self.tensor - _number(other)

    def __rsub__(self, other: Any) -> Any:
        return _number(other) - self.tensor

    def __mul__(self, other: Any) -> Any:
        return self.tensor * _number(other)

    def __truediv__(self, other: Any) -> Any:
        return self.tensor / _number(other)

    def __matmul__(self, other: Any) -> Any:
        return self.tensor @ _number(other)

    def __rmatmul__(self, other: Any) -> Any:
        return _number(other) @ self.tensor

    __radd__, __rmul__ = __add__, __mul__

    def __eq__(self, other: Any) -> Any:
        return conditions(operator.eq, self, other)

    def __ne__(self, other: Any) -> Any:
        return conditions(operator.ne, self, other)

    def __array__(self, *given: Any, **named: Any) -> Any:
        raise RecordingError.mask("np.asarray(mask)")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from .protocols import array_function

        if function in (np.all, np.any, np.sum, np.mean) and args[0] is self:
            return getattr(self, function.__name__)(*args[1:], **kwargs)
        return array_function(function, args, kwargs)

    def __repr__(self) -> str:
        return f"Conditions(shape={self.shape})"


belongs_to_caller(sys.modules[__name__], *_ROWS.values())
belongs_to_caller(Conditions)
