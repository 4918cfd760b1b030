"""Copying and pickling graphs of any depth, without recursion.

A pickle holds the leaves under a value as objects of their own, so that their identity is kept
within one pickle, and the rest of the graph as flat arrays. Data, gradients, labels and
requires_grad are kept; hooks and the places where values were made are not.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .._shared.numerics import np
from ..errors import CopyError
from ..passes.flat import CUSTOM, LEAF
from ..passes.values import read
from ..value import Value, belongs_to_caller, core


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


@contextmanager
def _remaking() -> Iterator[list[Value]]:
    """A copy is no new computation: it keeps its history inside no_grad() and on frozen leaves.

    Yields a list for leaves that are frozen again when the copy is done.
    """
    thawed: list[Value] = []
    depth = core.swap_no_grad(0)
    try:
        yield thawed
    finally:
        core.swap_no_grad(depth)
        for leaf in thawed:
            leaf.requires_grad = False


def _thaw(leaf: Value, thawed: list[Value]) -> None:
    if not leaf.requires_grad:
        leaf.requires_grad = True
        thawed.append(leaf)


def _custom(
    kind: type[Value],
    rule: Any,
    data: float,
    inputs: tuple[Value, ...],
    numbers: tuple[float, ...],
) -> Value:
    """A custom op's node, or a one-off, which may be of a subclass."""
    if getattr(rule, "has_vjp", False):
        return rule.node_with_vjp(data, inputs, numbers)  # type: ignore[no-any-return]
    value = kind.__new__(kind)
    name = {} if rule is None else {"_op": rule}
    Value.__init__(value, data, inputs, numbers, **name)
    return value


def _custom_parts(value: Value, what: str) -> tuple[type[Value], Any, tuple[float, ...]]:
    """What :func:`_custom` needs; closures over other values cannot be taken along."""
    if value._rule is not None and value._rule.has_vjp:
        return Value, value._rule, tuple(value._backward.numbers)  # type: ignore[attr-defined]
    if not value.partials:
        raise CopyError.closure(value, what)
    return type(value), value._rule or value._op or None, value.partials


def _remade(
    value: Value, what: str, op: int, parts: tuple[Any, ...], numbers: tuple[float, ...]
) -> Value:
    """An inner node like ``value``, made from ``parts``; None stands for a number operand."""
    if op >= CUSTOM:
        kind, rule, numbers = _custom_parts(value, what)
        copy = _custom(kind, rule, value.data, parts, numbers)
    else:
        copy = core.node(op, value.data, parts, numbers)
    copy.grad, copy.label = value.grad, value.label
    return copy


def shallow_copy(value: Value) -> Value:
    """A new value with the same inputs."""
    if value.op == "leaf":
        copy = _blank(*_leaf_parts(value))
    elif core.array_row(value) is not None:
        from .._tensors import copying

        copy = copying.shallow_copy(value)
    else:
        with _remaking():
            copy = _remade(value, "copy", *core.parts(value))
    if attributes := _attributes(value):
        copy.__dict__.update(attributes)
    return copy


def deep_copy(root: Value, memo: dict[int, Any]) -> Value:
    """A copy of everything under a value; what is shared stays shared, also across one deepcopy."""
    from copy import deepcopy

    from .._tensors import copying as of_tensors

    if of_tensors.holds_tensors(root):
        return of_tensors.deep_copy(root, memo)  # type: ignore[no-any-return]
    graph = read((root,))
    assert graph.values is not None
    columns = (graph.codes.tolist(), *map(graph.by_value, (graph.inputs, graph.numbers)))
    copies: list[Value] = []
    with _remaking() as thawed:
        for value, op, inputs, numbers in zip(graph.values, *columns):
            if id(value) not in memo:
                if op == LEAF:
                    memo[id(value)] = _blank(*_leaf_parts(value))
                else:
                    parts = tuple([None if i < 0 else copies[i] for i in inputs])
                    memo[id(value)] = _remade(value, "deepcopy", op, parts, numbers)
                if attributes := _attributes(value):
                    memo[id(value)].__dict__.update(deepcopy(attributes, memo))
            copies.append(memo[id(value)])
            if op == LEAF:
                _thaw(copies[-1], thawed)
    return copies[-1]


def reduced(root: Value) -> tuple[Any, ...]:
    """How pickle takes a value apart."""
    if root.op == "leaf":
        return _blank, _leaf_parts(root), _attributes(root)
    root.data  # noqa: B018  a recording refuses it
    from .._tensors import copying as of_tensors

    if of_tensors.holds_tensors(root):
        return of_tensors.reduced(root)
    graph = read((root,))
    assert graph.values is not None
    assert graph.grads is not None
    is_leaf = graph.codes == LEAF
    inner = np.flatnonzero(~is_leaf)
    leaves = [value for value, leaf in zip(graph.values, is_leaf.tolist()) if leaf]
    position = np.where(is_leaf, np.cumsum(is_leaf) - 1, -np.cumsum(~is_leaf))
    inputs = np.where(graph.inputs < 0, len(leaves), position[graph.inputs])
    numbers = graph.numbers.copy()
    customs: dict[int, tuple[type[Value], Any, dict[str, Any] | None]] = {}
    for index in graph.own:
        value = graph.values[index]
        kind, rule, partials = _custom_parts(value, "pickle")
        numbers[graph.starts[index] : graph.starts[index + 1]] = partials
        customs[-1 - int(position[index])] = kind, rule, _attributes(value)
    labels = {
        -1 - int(position[index]): label
        for index, label in graph.labels.items()
        if not is_leaf[index]
    }
    columns = (
        graph.codes[inner].astype(np.uint16), graph.widths[inner].astype(np.uint64), inputs,
        graph.data[inner], graph.grads[inner], numbers,
    )  # fmt: skip
    arrays = tuple(column.tobytes() for column in columns)
    return _graph, (leaves, core.OP_NAMES, arrays, labels, customs)


def _graph(
    leaves: list[Value],
    names: tuple[str, ...],
    arrays: tuple[bytes, ...],
    labels: dict[int, str],
    customs: dict[int, tuple[type[Value], Any, dict[str, Any] | None]],
) -> Value:
    """Put a pickled graph together again; the last value made is the root."""
    ops, widths, inputs = array("H"), array("Q"), array("q")
    data, grads, numbers = array("d"), array("d"), array("d")
    columns: tuple[array[Any], ...] = (ops, widths, inputs, data, grads, numbers)
    for column, content in zip(columns, arrays):
        column.frombytes(content)
    here = {name: position for position, name in enumerate(core.OP_NAMES)}
    translated = [here[name] for name in names]
    made: list[Value] = []
    start = 0
    with _remaking() as thawed:
        for leaf in leaves:
            _thaw(leaf, thawed)
        for position, (op, width) in enumerate(zip(ops, widths)):
            parts: tuple[Any, ...] = tuple(
                made[-1 - i] if i < 0 else leaves[i] if i < len(leaves) else None
                for i in inputs[start : start + width]
            )
            partials = tuple(numbers[start : start + width])
            start += width
            if position in customs:
                kind, rule, attributes = customs[position]
                value = _custom(kind, rule, data[position], parts, partials)
                if attributes:
                    value.__dict__.update(attributes)
            else:
                value = core.node(translated[op], data[position], parts, partials)
            value.grad, value.label = grads[position], labels.get(position)
            made.append(value)
    return made[-1]


belongs_to_caller(sys.modules[__name__])
