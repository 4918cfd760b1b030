"""Copying and pickling tensors, and graphs in which they stand, without recursion.

A pickle holds the leaves under a thing as objects of their own, so that their identity is kept
within one pickle, and the rest of the graph as a flat list of nodes. Data, gradients, labels and
requires_grad are kept; hooks and sites are not. Numbers that t[i] = v has written over are gone in
the copy too.
"""

from __future__ import annotations

import sys
from typing import Any

from .._shared.numerics import np
from .._values import copying as of_values
from ..errors import AliasError
from ..tensor import Tensor
from ..value import Value, belongs_to_caller, core

VALUE, CUSTOM, ARRAY = "value", "custom", "array"

Record = tuple[Any, ...]
"""A node: its kind, what it was made by, its numbers, the places of its inputs, label, gradient."""


def holds_tensors(root: Any) -> bool:
    """Whether a tensor is somewhere under a value."""
    return any(isinstance(node, Tensor) for node in core.order((root,)))


def shallow_copy(thing: Any) -> Any:
    """A new value or tensor with the same inputs."""
    if thing.op == "leaf":
        return _leaf(*_leaf_parts(thing))
    with of_values._remaking():
        return _remade(_record(thing, "copy"), list(_inputs(thing)))


def deep_copy(root: Any, memo: dict[Any, Any]) -> Any:
    """A copy of everything under a thing; what is shared stays shared, also across one deepcopy."""
    copies: dict[int, Any] = {}
    with of_values._remaking() as thawed:
        for node in core.order((root,)):
            key = core.key(node)
            name = ("retrograde", key) if isinstance(node, Tensor) else id(node)
            if name not in memo:
                if node.op == "leaf":
                    memo[name] = _leaf(*_leaf_parts(node))
                else:
                    inputs = [
                        copies[core.key(v)] if core.key(v) in copies
                        else v.data if _is_node(v) else v
                        for v in _inputs(node)
                    ]  # fmt: skip
                    memo[name] = _remade(_record(node, "deepcopy"), inputs)
            copies[key] = memo[name]
            if node.op == "leaf":
                of_values._thaw(memo[name], thawed)
    return copies[core.key(root)]


def reduced(root: Any) -> tuple[Any, ...]:
    """How pickle takes a tensor apart, or a value with tensors under it."""
    if root.op == "leaf":
        return _leaf, _leaf_parts(root)
    leaves: list[Any] = []
    records: list[tuple[Record, list[Any]]] = []
    place: dict[int, int] = {}
    for node in core.order((root,)):
        if node.op == "leaf":
            place[core.key(node)] = len(leaves)
            leaves.append(node)
        else:
            inputs = [
                ("at", place[core.key(v)]) if _is_node(v) and core.key(v) in place
                else ("number", v.data if _is_node(v) else v)
                for v in _inputs(node)
            ]  # fmt: skip
            place[core.key(node)] = -1 - len(records)
            records.append((_record(node, "pickle"), inputs))
    return _graph, (leaves, records)


def _graph(leaves: list[Any], records: list[tuple[Record, list[Any]]]) -> Any:
    """Put a pickled graph together again; the last node made is the root."""
    made: list[Any] = []
    with of_values._remaking() as thawed:
        for leaf in leaves:
            of_values._thaw(leaf, thawed)
        for record, inputs in records:
            parts = [
                given if kind == "number" else leaves[given] if given >= 0 else made[-1 - given]
                for kind, given in inputs
            ]
            made.append(_remade(record, parts))
    return made[-1]


def _is_node(thing: Any) -> bool:
    return isinstance(thing, (Value, Tensor))


def _inputs(node: Any) -> Any:
    """The inputs of a node; None where a value's operand was a number."""
    if core.array_row(node) is not None or node._rule is not None:
        return node.inputs
    return core.parts(node)[1]


def _leaf_parts(thing: Any) -> tuple[Any, ...]:
    if isinstance(thing, Tensor):
        data = _numbers(thing)
        return type(thing), data, np.array(thing.grad), thing.label, thing.requires_grad
    return of_values._leaf_parts(thing)


def _leaf(kind: Any, data: Any, grad: Any, label: str | None, requires_grad: bool) -> Any:
    if not issubclass(kind, Tensor):
        return of_values._blank(kind, data, grad, label, requires_grad)
    numbers = np.zeros(grad.shape) if data is None else data
    tensor = kind(numbers, label=label, requires_grad=requires_grad)
    if grad.any():
        tensor.grad = grad
    if data is None:
        core.mark_written_over(tensor)
    return tensor


def _numbers(node: Any) -> Any:
    """The numbers of a node; None where a write has taken them over, or what they come from."""
    if core.is_written_over(node):
        return None
    try:
        return np.array(node.data)
    except AliasError:
        return None


def _record(node: Any, what: str) -> Record:
    row = core.array_row(node)
    if row is not None:
        bound, wholes = row
        grad = node.grad if isinstance(node, Value) else None
        return ARRAY, bound, _numbers(node), wholes, node.label, grad
    if node._rule is not None or core.recompute(node) is None:
        return CUSTOM, of_values._custom_parts(node, what), node.data, (), node.label, node.grad
    op, _, numbers = core.parts(node)
    return VALUE, core.OP_NAMES[op], node.data, numbers, node.label, node.grad


def _remade(record: Record, inputs: list[Any]) -> Any:
    kind, made_by, data, more, label, grad = record
    if kind == ARRAY:
        numbers = np.zeros(made_by.shape) if data is None else data
        node = core.array_node(made_by, numbers, tuple(inputs), more)
        if data is None:
            core.mark_written_over(node)
    elif kind == CUSTOM:
        node = of_values._custom(made_by[0], made_by[1], data, tuple(inputs), made_by[2])
    else:
        node = core.node(core.OP_NAMES.index(made_by), data, tuple(inputs), more)
    node.label = label
    if grad is not None:
        node.grad = grad
    return node


class Copying:
    """Put on the class of tensors; never instantiated."""

    def __copy__(self: Any) -> Any:
        return shallow_copy(self)

    def __deepcopy__(self: Any, memo: dict[Any, Any]) -> Any:
        return deep_copy(self, memo)

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        return reduced(self)

    def __reduce__(self: Any) -> Any:
        return reduced(self)


belongs_to_caller(sys.modules[__name__], Copying)
