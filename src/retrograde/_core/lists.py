"""Many values at once in pure Python: what ``native/lists.c`` and ``native/wide.c`` do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .._shared.numerics import np
from .._shared.operands import is_real_scalar, of_tensors
from ..errors import NumberError, ShapeError, TakeError
from ..ops import Structural
from ..ops.structural import DOT, SUM, TAKE
from .arrays import tensor_node
from .public import FUNCTIONS, Value, number
from .reference import constant, made
from .tensor import Tensor

if TYPE_CHECKING:
    pass


def _terms(function: str, terms: Iterable[Any]) -> tuple[tuple[Value, ...], list[float], bool]:
    """Items as nodes and as numbers, and whether any of them is a value."""
    items = tuple(terms)
    for index, item in enumerate(items):
        if not isinstance(item, Value) and not is_real_scalar(item):
            raise NumberError.at(function, index, item)
    numbers = [v._data if isinstance(v, Value) else number(v, function) for v in items]
    nodes = tuple(v if isinstance(v, Value) else constant(Value, n) for v, n in zip(items, numbers))
    return nodes, numbers, any(isinstance(item, Value) for item in items)


def sum(terms: Iterable[Any], /) -> Any:
    """The sum of values or numbers as one node, in index order."""
    if isinstance(terms, Tensor):
        return of_tensors(SUM.name, (terms,))
    nodes, numbers, any_value = _terms(SUM.name, terms)
    return _structural(SUM, nodes, numbers) if any_value else SUM.evaluate(numbers)


def dot(left: Iterable[Any], right: Iterable[Any], /) -> Any:
    """The sum of products as one node, in index order."""
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        return of_tensors(DOT.name, (left, right))
    left_nodes, lefts, left_values = _terms(DOT.name, left)
    right_nodes, rights, right_values = _terms(DOT.name, right)
    if len(lefts) != len(rights):
        raise ShapeError.dot(len(lefts), len(rights))
    if not (left_values or right_values):
        return DOT.evaluate(lefts + rights)
    return _structural(DOT, left_nodes + right_nodes, lefts + rights)


def _structural(row: Structural, nodes: tuple[Value, ...], numbers: list[float]) -> Value:
    """A structural row as one node."""
    partials = tuple(row.slopes(numbers))
    return made(Value, row.name, row.evaluate(numbers), nodes, partials)


def each(op: str, /, *operands: Any) -> list[Any]:
    """A row of the law on every item of lists; a value or number serves for all."""
    counts = [len(operand) for operand in operands if isinstance(operand, (list, tuple))]
    if not counts:
        raise TypeError("each takes at least one list")
    for count in counts[1:]:
        if count != counts[0]:
            raise ShapeError.lists(op, counts[0], count)
    lists = [
        operand if isinstance(operand, (list, tuple)) else [operand] * counts[0]
        for operand in operands
    ]
    return [FUNCTIONS[op](*items) for items in zip(*lists)]


def largest(terms: Iterable[Any], function: str, /) -> float:
    """The largest number of a list, or 0 where that is not finite; NaN is passed over."""
    most = float("-inf")
    for term in _terms(function, terms)[1]:
        most = term if term > most else most
    return most if abs(most) < float("inf") else 0.0


def linear(rows: Iterable[Any], xs: Iterable[Any], biases: Iterable[Any] | None, /) -> list[Any]:
    """The dot of every row with a list, on top of its bias: one node a row."""
    rows, xs = tuple(rows), tuple(xs)
    heads: Sequence[Any] = [()] * len(rows) if biases is None else [(bias,) for bias in biases]
    if len(heads) != len(rows):
        raise ShapeError.biases(len(rows), len(heads))
    _terms("linear", xs)
    results = []
    for at, (head, row) in enumerate(zip(heads, rows)):
        width = len(row) if isinstance(row, (list, tuple)) else -1
        if width != len(xs):
            raise ShapeError.linear(at, width, len(xs))
        if head and not isinstance(head[0], Value) and not is_real_scalar(head[0]):
            raise NumberError.at("linear, the biases", at, head[0])
        _terms("linear", row)
        results.append(dot((*head, *row), (*(1.0 for _ in head), *xs)))
    return results


def argument(given: Any, /) -> Any:
    """A fresh argument of a function being recorded: a value, or the tensor of an array."""
    if isinstance(given, np.ndarray) and given.ndim:
        node = tensor_node("leaf", np.array(given, dtype=float))
        node._traced = True
        return node._shown()
    value = Value.__new__(Value)
    value._become("leaf", number(given, "an argument"))
    value._traced = True
    return value


def take(values: list[Any], index: Value, /) -> Value:
    """One of a list of values and numbers, chosen by a value, while recording."""
    wanted, count = index._data, len(values)
    if not 0.0 <= wanted < count or wanted != int(wanted):
        raise TakeError.of(wanted, count)
    nodes, numbers, _ = _terms(TAKE.name, values)
    return _structural(TAKE, (*nodes, index), [*numbers, wanted])
