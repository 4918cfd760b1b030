"""Operators of tensors: arithmetic number by number, ``@``, comparisons; and what they refuse."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NoReturn

from .._shared.numerics import np
from .._shared.operands import COMPARISONS, is_real_scalar
from ..errors import FitError, GraphExitError, OperandError, TensorError
from ..tensor import Tensor, in_graph, number_of
from ..value import belongs_to_caller, core
from .conditions import conditions, is_hidden
from .doing import do


def _operator(name: str) -> Callable[[Any, Any], Any]:
    def apply(self: Any, other: Any) -> Any:
        return do(name, self, other) if _computes(other) else NotImplemented

    return apply


def _reflected(name: str) -> Callable[[Any, Any], Any]:
    def apply(self: Any, other: Any) -> Any:
        return do(name, other, self) if _computes(other) else NotImplemented

    return apply


def _computes(other: Any) -> bool:
    """Whether we answer: classes that know tensors and are none of ours answer for themselves."""
    ours = in_graph(other) or isinstance(other, np.ndarray)
    return ours or not hasattr(other, "__array_ufunc__") or is_real_scalar(other)


def operated(name: str, left: Any, right: Any) -> Any:
    """What an operator of the native core leaves to us: operands out of the ordinary."""
    other = right if isinstance(left, Tensor) else left
    if not _computes(other):
        return NotImplemented
    return matmul(left, right) if name == "matmul" else do(name, left, right)


def _unary(name: str) -> Callable[[Any], Any]:
    return lambda self: do(name, self)


def _comparison(symbol: int) -> Callable[[Any, Any], Any]:
    compare = COMPARISONS[symbol]

    def apply(self: Any, other: Any) -> Any:
        return compared(compare, self, other)

    return apply


def compared(compare: Callable[..., Any], left: Any, right: Any) -> Any:
    """A comparison by numbers: an array of bools; while recording conditions."""
    if core.in_recording() and (is_hidden(left) or is_hidden(right)):
        return conditions(compare, left, right)
    try:
        return compare(np.asarray(number_of(left)), number_of(right))
    except ValueError as error:
        raise FitError.of(f"{compare.__name__}: {error}", [left, right]) from None


def power(base: Any, exponent: Any) -> Any:
    """``**``: a constant exponent chooses the row, as for values."""
    if in_graph(exponent) or not is_real_scalar(exponent):
        return do("pow", base, exponent)
    whole = float(exponent)
    if whole == -1.0:
        return do("reciprocal", base)
    if abs(whole) not in (2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0):
        return do("pow", base, whole)
    if whole < 0.0:  # first: the slope of the power's reciprocal would be far smaller than either
        base = do("reciprocal", base)
    if abs(whole) == 2.0:
        return do("square", base)
    result = base
    for bit in bin(abs(int(whole)))[3:]:
        result = do("mul", result, result)
        if bit == "1":
            result = do("mul", result, base)
    return result


def matmul(left: Any, right: Any) -> Any:
    """``left @ right`` by NumPy's rules."""
    for side in (left, right):
        if is_real_scalar(side) or (in_graph(side) and side.ndim == 0):
            raise OperandError.matmul()
    return do("matmul", left, right)


def _refusal(what: str, cure: str) -> Callable[..., NoReturn]:
    def refuse(self: Any, *operands: object) -> NoReturn:
        raise GraphExitError.of(what, cure)

    return refuse


def _conversion(what: str) -> Callable[[Any], NoReturn]:
    def refuse(self: Any) -> NoReturn:
        raise TensorError.conversion(what, self.shape)

    return refuse


class Operators:
    """Put on the class of tensors; never instantiated."""

    __add__, __radd__ = _operator("add"), _reflected("add")
    __sub__, __rsub__ = _operator("sub"), _reflected("sub")
    __mul__, __rmul__ = _operator("mul"), _reflected("mul")
    __truediv__, __rtruediv__ = _operator("div"), _reflected("div")
    __rpow__ = _reflected("pow")
    __neg__, __abs__ = _unary("neg"), _unary("abs")
    __lt__, __le__, __gt__, __ge__ = map(_comparison, (0, 1, 4, 5))
    __eq__, __ne__ = map(_comparison, (2, 3))
    __hash__ = object.__hash__

    def __pos__(self: Any) -> Any:
        return self

    def __pow__(self: Any, exponent: Any, modulus: None = None) -> Any:
        if modulus is not None:
            raise TypeError("pow() of tensors takes no modulus")
        return power(self, exponent)

    def __matmul__(self: Any, other: Any) -> Any:
        return matmul(self, other)

    def __rmatmul__(self: Any, other: Any) -> Any:
        return matmul(other, self)

    def __bool__(self: Any) -> bool:
        if self.size != 1:
            raise TensorError.truth(self.shape)
        if core.in_recording() and is_hidden(self):
            return bool(self.reshape(()) != 0.0)
        return bool(self.data.item() != 0.0)

    __float__, __int__, __complex__ = map(_conversion, ("float(t)", "int(t)", "complex(t)"))
    __index__ = _conversion("a tensor as a whole number")
    __round__ = _refusal("round(t)", "Write rg.round(t), or t.data.round() for the numbers.")
    __floordiv__ = __rfloordiv__ = _refusal(
        "//", "Write rg.floor(a / b), whose gradient is zero, or compute with .data."
    )
    __mod__ = __rmod__ = _refusal("%", "Write rg.remainder(a, b), or compute with .data.")
    __divmod__ = __rdivmod__ = _refusal(
        "divmod", "Write rg.floor(a / b) and rg.remainder(a, b), or compute with .data."
    )


belongs_to_caller(sys.modules[__name__], Operators)
belongs_to_caller(*(f for f in vars(Operators).values() if callable(f) and hasattr(f, "__code__")))
