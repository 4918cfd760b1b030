"""Nodes of the array law in plain Python: a tensor's node, and what a node of a row was made by.

The walker is that of ``reference.py``: a tensor's node is a node whose numbers are an array, and
``Applied`` is what it asks for contributions. A row whose result has no axes makes a value, with
the same ``Applied``. Everything is computed by NumPy through ``Bound``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from weakref import ref

from .._shared import hooks
from .._shared.bound import Bound
from .._shared.numerics import np
from .._shared.views import by_any_bits
from ..errors import AnomalyError, NotDifferentiable, StaleGraph
from ..ops.arrays.places import At
from .public import Value
from .recording import Recordings, here, inherit
from .reference import Cuts, Node, modes


class TensorNode(Node):
    """The node of a tensor: an array that nobody changes, and how it was made.

    Its gradient is None until something has arrived; an interior one is kept on request.
    """

    __slots__ = ("__weakref__", "_handle", "_retains", "_shape", "_version")

    _handle: ref[Any] | None
    _retains: bool
    _shape: tuple[int, ...]  # its numbers may be gone
    _version: int  # how often the numbers of a leaf were changed

    def _nothing(self) -> Any:
        return None

    def _plus(self, total: Any, more: Any) -> Any:
        """The total is this pass's own array, so more is added in place."""
        if isinstance(more, Place):
            total = np.zeros(self._shape) if total is None else total
            total[more.at] += more.amount
            return total
        if total is None:
            return more.array if isinstance(more, Handed) else np.array(more, dtype=float)
        total += more.array if isinstance(more, Handed) else more
        return total

    def _is_finite(self, total: Any) -> bool:
        return total is None or bool(np.isfinite(total).all())

    def _after_hooks(self, total: Any) -> Any:
        if total is None:
            total = np.zeros(self._shape)
        return np.array(hooks.run_on_array(self._shown(), total))

    def _settled(self, old: Any, new: Any) -> Any:
        if self._op_name == "leaf":
            return old if new is None else read_only(new if old is None else old + new)
        return read_only(new) if self._retains and new is not None else None

    def _shown(self) -> Any:
        from .tensor import handle

        return handle(self)


def tensor_node(op: str, data: Any, inputs: tuple[Any, ...] = (), takes: bool = True) -> TensorNode:
    """A fresh node; ``data`` is an array that is its own from now on."""
    node = object.__new__(TensorNode)
    node._become(op, read_only(data), inputs, (), takes)
    node._handle, node._retains, node._version = None, False, 0
    node._shape = data.shape
    return node


def read_only(array: Any) -> Any:
    """An array that cannot be written to through this object."""
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


def constant(data: Any) -> Node:
    """An operand that is a number or an array: shown among the inputs, no part of the graph."""
    if isinstance(data, float):
        value = object.__new__(Value)
        value._become("leaf", data, requires_grad=False, number=True)
        return value
    node = tensor_node("leaf", data, (), False)
    node._number = True
    return node


class Place:
    """A contribution to one place of a tensor: adding it takes no more time than its size."""

    __slots__ = ("amount", "at")

    def __init__(self, at: tuple[int, ...], amount: Any) -> None:
        self.at, self.amount = at, amount


class Handed:
    """A total that nobody needs any more, handed on as it is."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array


class Applied:
    """What made a node: a bound row, its whole numbers, and the arrays that backward reads.

    ``versions`` are those of the operands when the row was carried out, and ``numbers`` what values
    among them held: a graph that was changed since is stale.
    """

    __slots__ = ("arrays", "bound", "numbers", "takers", "versions", "wholes")

    def __init__(
        self, bound: Bound, inputs: Sequence[Node], arrays: Mapping[str, Any], wholes: Any
    ) -> None:
        self.bound, self.wholes = bound, wholes
        self.takers = [number for number, v in enumerate(inputs) if v._requires_grad]
        try:
            saved = set(bound.saves([bound.operands[number] for number in self.takers]))
        except ValueError:  # the law states no slope; backward says so
            saved = set()
        self.arrays = {name: arrays[name] for name in bound.operands if name in saved}
        self.versions = [v._version if isinstance(v, TensorNode) else 0 for v in inputs]
        self.numbers = [None if isinstance(v, TensorNode) else v._data for v in inputs]

    def check(self, node: Node) -> None:
        """Raise where backward would read numbers that were changed, or no slope is stated."""
        for name, v, version in zip(self.bound.operands, node._inputs, self.versions):
            if name in self.arrays and isinstance(v, TensorNode) and v._version != version:
                raise StaleGraph.input(node._shown(), v._shown())
            if v._requires_grad:
                try:
                    self.bound.adjoint(name)
                except ValueError:
                    raise NotDifferentiable.of(node._shown()) from None

    def changed(self, node: Node) -> Node | None:
        """The input whose numbers were changed since; None where all is as it was."""
        for v, version, number in zip(node._inputs, self.versions, self.numbers):
            if isinstance(v, TensorNode):
                if v._version != version:
                    return v
            elif v._data != number and (v._data == v._data or number == number):
                return v  # type: ignore[no-any-return]
        return None

    def contributions(self, node: Node, upstream: Any) -> Iterator[tuple[Node, Any]]:
        """What a node hands to each input that took gradients when it was made; nothing where
        nothing arrived."""
        if upstream is None:
            return
        if not modes.anomaly and self.one_place(node):
            yield from self._at_one_place(node, upstream)
            return
        names = [self.bound.operands[number] for number in self.takers]
        known = {**self.arrays, **self.wholes}
        amounts = self.bound.contributions(names, np.asarray(upstream), known, node._data)
        for number, amount in zip(self.takers, amounts):
            if amount is not None:
                yield node._inputs[number], amount

    def one_place(self, node: Node) -> bool:
        """Whether the row reads or replaces one place of its first axes: x[i], and x[i] = v.

        A loop ``x[i + 1] = f(x[i])`` takes these a hundred thousand times, each in no time."""
        if self.bound.name == "put_at":
            return isinstance(node, TensorNode) and not node._hooks and not node._retains
        at = self.bound.arguments.get("key", ()) if self.bound.name == "index" else ()
        return bool(at) and all(isinstance(entry, At) and entry[1] == () for entry in at)

    def _at_one_place(self, node: Node, upstream: Any) -> Iterator[tuple[Node, Any]]:
        at = tuple(int(self.wholes[f"n{axis + 1}"]) for axis in range(len(self.wholes)))
        if self.bound.name == "index":
            yield node._inputs[0], Place(at, upstream)
            return
        for number in reversed(self.takers):  # what was written first: then its place is cleared
            if number == 1:
                amount = np.array(upstream[at])
                shape = self.bound.shapes[1]
                if amount.shape != shape:
                    (amount,) = self.bound.contributions(("y",), upstream, self.wholes, node._data)
                yield node._inputs[1], amount
            else:
                if not upstream.flags.writeable:
                    upstream = np.array(upstream)
                upstream[at] = 0.0
                yield node._inputs[0], Handed(upstream)

    def added(
        self, node: Node, v: Node, before: Any, amount: Any, roots: Sequence[Node] = ()
    ) -> Any:
        """A total after a contribution; under anomaly() the birth of a NaN in it raises."""
        watched = modes.anomaly and v._is_finite(before)
        held = before if before is None or not watched else np.array(before)
        total = v._plus(before, amount if isinstance(v, TensorNode) else float(amount))
        if watched and not v._is_finite(total):
            index = next(n for n, each in enumerate(node._inputs) if each is v)
            shown = [root._shown() for root in roots]
            raise AnomalyError.backward_array(node._shown(), index, held, amount, shown)
        return total


def array(bound: Bound, operands: tuple[Any, ...], wholes: dict[str, Any], /) -> Node:
    """One node of a bound row on nodes, numbers and arrays."""
    if modes.any_bits:
        bound = by_any_bits(bound)
    inputs = tuple([v if isinstance(v, Node) else constant(v) for v in operands])
    arrays = {name: np.asarray(v._data) for name, v in zip(bound.operands, inputs)}
    result, found = bound.run({**arrays, **wholes})
    takes = True in [v._requires_grad for v in inputs]
    node = _made(bound, result, inputs, takes)
    node._array = Applied(bound, inputs, arrays, found)
    if modes.anomaly:
        watch(node)
    if here.depth:
        node._requires_grad = takes and not modes.no_grad
        here.arrays = True
        inherit(node)
    elif modes.no_grad or not takes:
        if Cuts.watcher is not None and takes:
            Cuts.watcher(node._shown())
        node._inputs, node._array, node._op_name, node._requires_grad = (), None, "leaf", False
    return node


def _made(bound: Bound, result: Any, inputs: tuple[Any, ...], takes: bool) -> Node:
    if bound.shape != ():
        return tensor_node(bound.name, result, inputs, takes)
    value = object.__new__(Value)
    value._become(bound.name, float(result), inputs, (), takes)
    if Recordings.now:
        value._traced = any(v._traced for v in inputs)
    return value


def array_node(bound: Bound, data: Any, inputs: tuple[Any, ...], wholes: dict[str, Any], /) -> Node:
    """A node of a bound row from its parts."""
    nodes = tuple([v if isinstance(v, Node) else constant(v) for v in inputs])
    node = _made(bound, np.asarray(data), nodes, any(v._requires_grad for v in nodes))
    arrays = {name: np.asarray(v._data) for name, v in zip(bound.operands, nodes)}
    node._array = Applied(bound, nodes, arrays, wholes)
    return node


def watch(node: Node) -> None:
    """Raise at a birth: at any NaN, and at an infinity where no operand had one."""
    data = np.asarray(node._data)
    if np.isfinite(data).all():
        return
    infinite = node._op_name != "leaf" and any(np.isinf(v._data).any() for v in node._inputs)
    if np.isnan(data).any() or not infinite:
        raise AnomalyError.forward_array(node._shown())
