"""Functions of many values: sum, dot, and what is composed of them.

``sum`` and ``dot`` are one node however long. All take any iterable of values and numbers; given
numbers alone they return numbers.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Union

from . import elementwise
from .errors import NumberError, ShapeError
from .operands import is_real_scalar
from .value import Value, belongs_to_caller, core

Operand = Union[Value, float]  # noqa: UP007  evaluated at run time

if TYPE_CHECKING:
    from ._native import dot as dot
    from ._native import sum as sum
else:
    sum, dot = core.sum, core.dot


def _some(function: str, terms: Iterable[Operand]) -> list[Operand]:
    terms = list(terms)
    if not terms:
        raise ShapeError.empty(function)
    for index, term in enumerate(terms):
        if not isinstance(term, Value) and not is_real_scalar(term):
            raise NumberError.at(function, index, term)
    return terms


def _largest(terms: list[Operand]) -> Any:
    """The largest of the numbers, for shifting; NaN and infinities shift by nothing."""
    if core.in_recording():
        return _largest_recorded(terms)
    largest = max(term.data if isinstance(term, Value) else float(term) for term in terms)
    return largest if abs(largest) < float("inf") else 0.0


def _largest_recorded(terms: list[Operand]) -> Any:
    """The same as part of a recorded program, without gradient."""
    largest: Any = terms[0]
    for term in terms[1:]:
        largest = elementwise.maximum(largest, term)
    finite = elementwise.less(elementwise.abs(largest), float("inf"))
    shift = elementwise.where(finite, largest, 0.0)
    return shift.detach() if isinstance(shift, Value) else shift


def mean(terms: Iterable[Operand]) -> Any:
    """The arithmetic mean.

    >>> import retrograde as rg
    >>> rg.mean([1.0, 2.0, 6.0])
    3.0
    """
    terms = _some("mean", terms)
    return sum(terms) / len(terms)


def norm(terms: Iterable[Operand]) -> Any:
    """The Euclidean length, ``sqrt(dot(x, x))``. Its slope at the zero vector is not finite.

    >>> import retrograde as rg
    >>> rg.norm([3.0, 4.0])
    5.0
    """
    terms = list(terms)
    return elementwise.sqrt(dot(terms, terms))


def logsumexp(terms: Iterable[Operand]) -> Any:
    """``log(sum(exp(x)))`` without overflow.

    >>> import retrograde as rg
    >>> rg.logsumexp([1000.0, 1000.0])
    1000.6931471805599
    """
    terms = _some("logsumexp", terms)
    shift = _largest(terms)
    return elementwise.log(sum([elementwise.exp(term - shift) for term in terms])) + shift


def softmax(terms: Iterable[Operand]) -> list[Any]:
    """Positive shares that add up to one, ``exp(x) / sum(exp(x))``, without overflow.

    >>> import retrograde as rg
    >>> rg.softmax([0.0, 0.0])
    [0.5, 0.5]
    """
    terms = _some("softmax", terms)
    shift = _largest(terms)
    powers = [elementwise.exp(term - shift) for term in terms]
    total = sum(powers)
    return [elementwise.div(power, total) for power in powers]


belongs_to_caller(sys.modules[__name__])
