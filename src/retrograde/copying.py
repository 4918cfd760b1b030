"""Copying and pickling graphs of any depth, without recursion.

A pickle holds the leaves under a value as objects of their own, so that their identity is kept
within one pickle, and the rest of the graph as flat arrays. Data, gradients, labels and
requires_grad are kept; hooks and the places where values were made are not.
"""

from __future__ import annotations

import sys
from array import array
from typing import Any

from .errors import CopyError
from .value import Value, belongs_to_caller, core


def _is_custom(op: int) -> bool:
    return op >= len(core.OP_NAMES)


def _attributes(value: Value) -> dict[str, Any] | None:
    """What a subclass keeps in its instances."""
    return getattr(value, "__dict__", None) or None


def _blank(
    kind: type[Value], data: float, grad: float, label: str | None, requires_grad: bool
) -> Value:
    """A leaf with everything it had."""
    value = kind.__new__(kind)
    value.data, value.grad, value.label = data, grad, label
    value.requires_grad = requires_grad
    return value


def _leaf_parts(value: Value) -> tuple[type[Value], float, float, str | None, bool]:
    return type(value), value.data, value.grad, value.label, value.requires_grad


def _remade(
    value: Value, what: str, op: int, inputs: tuple[Value | None, ...], numbers: tuple[float, ...]
) -> Value:
    """An inner node like ``value`` on other inputs."""
    if not _is_custom(op):
        copy: Value = core.node(op, value.data, inputs, numbers)
    elif value._rule is not None and value._rule.has_vjp:
        copy = value._rule.node_with_vjp(value.data, inputs)
    elif not numbers or not value.partials:
        raise CopyError.closure(value, what)
    else:
        copy = Value(value.data, inputs, numbers, _op=value._rule or value.op)  # type: ignore[arg-type]
    copy.grad, copy.label = value.grad, value.label
    return copy


def shallow_copy(value: Value) -> Value:
    """A new value with the same inputs."""
    if value.op == "leaf":
        copy = _blank(*_leaf_parts(value))
        if attributes := _attributes(value):
            copy.__dict__.update(attributes)
        return copy
    op, inputs, numbers = core.parts(value)
    return _remade(value, "copy", op, inputs, numbers)


def deep_copy(root: Value, memo: dict[int, Any]) -> Value:
    """A copy of everything under a value; what is shared stays shared, also across one deepcopy."""
    from copy import deepcopy

    for value in core.order((root,)):
        if id(value) in memo:
            continue
        if value.op == "leaf":
            copy = _blank(*_leaf_parts(value))
            memo[id(value)] = copy
            if attributes := _attributes(value):
                copy.__dict__.update(deepcopy(attributes, memo))
            continue
        op, inputs, numbers = core.parts(value)
        copied = tuple(None if v is None else memo[id(v)] for v in inputs)
        memo[id(value)] = _remade(value, "deepcopy", op, copied, numbers)
    return memo[id(root)]  # type: ignore[no-any-return]


def reduced(root: Value) -> tuple[Any, ...]:
    """How pickle takes a value apart."""
    if root.op == "leaf":
        return _blank, _leaf_parts(root), _attributes(root)
    leaves: list[Value] = []
    index: dict[int, int] = {}
    inner: list[Value] = []
    for value in core.order((root,)):
        where = leaves if value.op == "leaf" else inner
        index[id(value)] = len(leaves) if value.op == "leaf" else -1 - len(inner)
        where.append(value)
    ops, widths, inputs = array("H"), array("Q"), array("q")
    data, grads, numbers = array("d"), array("d"), array("d")
    labels: dict[int, str] = {}
    rules: dict[int, Any] = {}
    number_operand = len(leaves)
    for position, value in enumerate(inner):
        op, parts, partials = core.parts(value)
        if _is_custom(op):
            has_vjp = value._rule is not None and value._rule.has_vjp
            if not has_vjp and not value.partials:
                raise CopyError.closure(value, "pickle")
            rules[position] = value._rule or value.op
            partials = partials if not has_vjp else (0.0,) * len(parts)
        ops.append(min(op, len(core.OP_NAMES)))
        widths.append(len(parts))
        inputs.extend(number_operand if v is None else index[id(v)] for v in parts)
        numbers.extend(partials)
        data.append(value.data)
        grads.append(value.grad)
        if value.label is not None:
            labels[position] = value.label
    arrays = tuple(a.tobytes() for a in (ops, widths, inputs, data, grads, numbers))
    return _graph, (leaves, core.OP_NAMES, arrays, labels, rules)


def _graph(
    leaves: list[Value],
    names: tuple[str, ...],
    arrays: tuple[bytes, ...],
    labels: dict[int, str],
    rules: dict[int, Any],
) -> Value:
    """Put a pickled graph together again; the last value made is the root."""
    ops, widths, inputs = array("H"), array("Q"), array("q")
    data, grads, numbers = array("d"), array("d"), array("d")
    for column, content in zip((ops, widths, inputs, data, grads, numbers), arrays):
        column.frombytes(content)
    here = {name: position for position, name in enumerate(core.OP_NAMES)}
    translated = [here[name] for name in names]
    made: list[Value] = []
    start = 0
    depth = core.swap_no_grad(0)
    try:
        for position, (op, width) in enumerate(zip(ops, widths)):
            parts = tuple(
                made[-1 - i] if i < 0 else leaves[i] if i < len(leaves) else None
                for i in inputs[start : start + width]
            )
            partials = tuple(numbers[start : start + width])
            start += width
            rule = rules.get(position)
            if rule is None:
                value = core.node(translated[op], data[position], parts, partials)
            elif getattr(rule, "has_vjp", False):
                value = rule.node_with_vjp(data[position], parts)
            else:
                value = Value(data[position], parts, partials, _op=rule)  # type: ignore[arg-type]
            value.grad, value.label = grads[position], labels.get(position)
            made.append(value)
    finally:
        core.swap_no_grad(depth)
    return made[-1]


belongs_to_caller(sys.modules[__name__])
