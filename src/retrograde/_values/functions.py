"""Functions of many values: sum, dot, and what is composed of them.

``sum`` and ``dot`` are one node however long. All take any iterable of values and numbers; given
numbers alone they return numbers.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Union

from .._shared.operands import is_array, is_real_scalar
from ..errors import NumberError, ShapeError
from ..value import Value, belongs_to_caller, core
from . import elementwise
from .lists import each, largest

Operand = Union[Value, float]  # noqa: UP007  evaluated at run time

if TYPE_CHECKING:
    from .._native import dot as dot
    from .._native import sum as sum
else:
    sum, dot = core.sum, core.dot


def _no_axes(function: str, axis: Any, keepdims: bool = False) -> None:
    if axis is not None or keepdims:
        raise ShapeError.axis(function)


def _some(function: str, terms: Iterable[Operand]) -> list[Operand]:
    terms = list(terms)
    if not terms:
        raise ShapeError.empty(function)
    for index, term in enumerate(terms):
        if not isinstance(term, Value) and not is_real_scalar(term):
            raise NumberError.at(function, index, term)
    return terms


def _shift(function: str, terms: list[Operand]) -> Any:
    """The largest of the numbers, to be taken off; infinities shift by nothing."""
    if not terms:
        raise ShapeError.empty(function)
    return _largest_recorded(terms) if core.in_recording() else largest(terms, function)


def _largest_recorded(terms: list[Operand]) -> Any:
    """The same as part of a recorded program, without gradient."""
    most: Any = terms[0]
    for term in terms[1:]:
        most = elementwise.maximum(most, term)
    finite = elementwise.less(elementwise.abs(most), float("inf"))
    shift = elementwise.where(finite, most, 0.0)
    return shift.detach() if isinstance(shift, Value) else shift


def mean(terms: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The arithmetic mean; of a tensor also along axes.

    >>> import retrograde as rg
    >>> rg.mean([1.0, 2.0, 6.0])
    3.0
    """
    if isinstance(terms, core.Tensor):
        return terms.mean(axis, keepdims)
    _no_axes("mean", axis, keepdims)
    terms = _some("mean", terms)
    return sum(terms) / len(terms)


def norm(terms: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The Euclidean length, ``sqrt(dot(x, x))``. Its slope at the zero vector is not finite.

    Of a tensor also along axes; it is scaled against overflow, and its slope at zeros is 0.

    >>> import retrograde as rg
    >>> rg.norm([3.0, 4.0])
    5.0
    """
    if isinstance(terms, core.Tensor):
        return terms.norm(axis, keepdims)
    _no_axes("norm", axis, keepdims)
    terms = list(terms)
    return elementwise.sqrt(dot(terms, terms))


def logsumexp(terms: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """``log(sum(exp(x)))`` without overflow; of a tensor also along axes.

    >>> import retrograde as rg
    >>> rg.logsumexp([1000.0, 1000.0])
    1000.6931471805599
    """
    if isinstance(terms, core.Tensor):
        return terms.logsumexp(axis, keepdims)
    _no_axes("logsumexp", axis, keepdims)
    terms = list(terms)
    shift = _shift("logsumexp", terms)
    return elementwise.log(sum(each("exp", each("sub", terms, shift)))) + shift


def softmax(terms: Any, axis: Any = None) -> Any:
    """Positive shares that add up to one, ``exp(x) / sum(exp(x))``, without overflow.

    A list of them; of an array an array, of a sequence that computes another. Of a tensor they add
    up to one along an axis, the last unless told.

    >>> import retrograde as rg
    >>> rg.softmax([0.0, 0.0])
    [0.5, 0.5]
    """
    if isinstance(terms, core.Tensor):
        return terms.softmax(-1 if axis is None else axis)
    _no_axes("softmax", axis)
    given, terms = terms, list(terms)
    shift = _shift("softmax", terms)
    powers = each("exp", each("sub", terms, shift))
    shares = each("div", powers, sum(powers))
    if not is_array(given):
        return shares
    from .sequences import like  # which is made of these functions

    return like(given, shares)


belongs_to_caller(sys.modules[__name__])
