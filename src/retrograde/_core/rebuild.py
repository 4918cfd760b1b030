"""Nodes taken apart and put together in pure Python: what ``native/rebuild.c`` does."""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType

from ..ops import OPS, STRUCTURAL
from ..ops.structural import EAGER
from .public import Value
from .reference import constant

OP_NAMES = (*OPS, "leaf", *EAGER)
_RECORDED = ("stop", *(name for name, row in STRUCTURAL.items() if row.recorded))
_INDEX = {name: index for index, name in enumerate((*OP_NAMES, *_RECORDED))}


def parts(value: Value, /) -> tuple[int, tuple[Value | None, ...], tuple[float, ...]]:
    """A value's op, inputs and numbers: None and the number itself for a number operand."""
    if value._custom is not None:
        return len(OP_NAMES), value._inputs, value._partials or ()
    pairs = list(zip(value._inputs, value._partials or ()))
    inputs = tuple(None if v._number else v for v, _ in pairs)
    return (
        _INDEX[value._op_name], inputs, tuple(v._data if v._number else p for v, p in pairs),
    )  # fmt: skip


def node(
    op: int, data: float, inputs: tuple[Value | None, ...], numbers: tuple[float, ...], /
) -> Value:
    """A value from its parts."""
    nodes = tuple(constant(Value, n) if v is None else v for v, n in zip(inputs, numbers))
    now = _partials_now(OP_NAMES[op], data, [v._data for v in nodes])
    partials = tuple(p if v is None else n for v, n, p in zip(inputs, numbers, now))
    value = Value.__new__(Value)
    value._become(OP_NAMES[op], data, nodes, partials, any(v._requires_grad for v in nodes))
    return value


def _partials_now(op: str, data: float, numbers: list[float]) -> Sequence[float]:
    """The partials of a row at its operands: those of number operands are not kept."""
    if op in STRUCTURAL:
        return STRUCTURAL[op].slopes(numbers)
    return OPS[op].evaluate_partials(*numbers, data)


def peek(value: Value, /) -> float:
    """The number of a value."""
    return value._data  # type: ignore[no-any-return]


def recompute(value: Value, /) -> float | None:
    """What a value's op makes of its inputs now; None for leaves and customs."""
    if value._custom is not None or value._array is not None:
        return None
    numbers = [v._data for v in value._inputs]
    if value._op_name in OPS:
        return OPS[value._op_name].evaluate(*numbers)
    if value._op_name in STRUCTURAL:
        return float(STRUCTURAL[value._op_name].evaluate(numbers))
    return None


def recorded_op(value: Value, /) -> str:
    """What only recordings make, stop or take; else nothing: a custom op may have any name."""
    return value._op_name if value._custom is None and value._op_name in _RECORDED else ""


def instruction_of(value: Value, /) -> tuple[CodeType, int] | None:
    """The code and offset that made a value."""
    return value._made_at
