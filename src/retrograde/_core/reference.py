"""The core in plain Python: nodes, ordering, backward. The oracle, and the fallback.

Read it top to bottom; it does what the native core does, bit for bit where IEEE arithmetic
decides. The whole idea:

- A value is a number that remembers its ``inputs`` and, for each, a ``partial``: how fast the
  result changes when that input does.
- ``order`` lists a graph so that every value stands after its inputs.
- ``backward`` walks that list from the end. When it reaches a value, the value's gradient is
  complete, so it hands each input its contribution: ``input.grad += partial * upstream``.

There is no calculus in backward. The calculus is in the law (``ops/scalar.py``), which each
operation asks for its value and its partials. The operators, and the checks on what a user
assigns, are in ``public.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import isfinite
from threading import local
from typing import Any, TypeVar

from .._shared import hooks
from .._shared.lending import Loan, refuse_lent, settle
from .._shared.sites import calling_instruction
from ..errors import (
    AnomalyError,
    CycleError,
    MissingBackwardError,
    NoGradientError,
    NotDifferentiable,
)
from ..ops import OPS
from .recording import Recordings, here, inherit, log, refuse, stopped


class Modes(local):
    """How deep this thread is inside ``no_grad()``, ``anomaly()`` and ``any_bits()``."""

    no_grad = 0
    anomaly = 0
    any_bits = 0


modes = Modes()


class Cuts:
    """Who is told of a value before ``no_grad()`` takes its history: see :mod:`.watch`."""

    watcher: Callable[[Any], object] | None = None


class Epoch:
    """How many functional transforms have begun: a node of an earlier epoch than a transform's
    cannot depend on what that transform made."""

    now = 0


class Node:
    """A number, how it was made, and the gradient that backward brings to it.

    The public ``Value`` shows these without the underscores, with checks on what is assigned.
    """

    __slots__ = (
        "_array", "_closure", "_custom", "_data", "_epoch", "_grad", "_hooks", "_inputs", "_inside",
        "_label", "_made_at", "_number", "_op_name", "_own", "_partials", "_requires_grad",
        "_traced",
    )  # fmt: skip

    _data: Any  # a float, or the array of a tensor
    _grad: Any
    _op_name: str  # "leaf" for a value made from nothing
    _array: Any  # of a row of the array law: what it was made by, see arrays.py
    _inputs: tuple[Any, ...]
    _partials: tuple[float, ...] | None  # None: a Python closure adds the contributions
    _closure: Callable[[], object] | None
    _custom: Any  # of a custom op: its name, or its CustomOp; None for a row of the law
    _label: str
    _hooks: list[tuple[object, hooks.Hook]] | None
    _inside: bool  # made while its thread recorded a function
    _traced: bool  # made in a recording, and a replay may find another number in it
    _own: dict[str, Any] | None  # attributes that a program written for another engine has put here

    def _become(
        self,
        op: str,
        data: float,
        inputs: tuple[Any, ...] = (),
        partials: tuple[float, ...] | None = (),
        requires_grad: bool = True,
        number: bool = False,
    ) -> None:
        """Be a fresh node: whatever this was before is forgotten."""
        self._op_name, self._data, self._inputs, self._partials = op, data, inputs, partials
        self._grad, self._requires_grad = self._nothing(), requires_grad
        self._label, self._own = "", None
        self._hooks = self._closure = self._custom = self._array = None
        self._epoch, self._number = Epoch.now, number
        self._inside, self._traced = Recordings.now > 0 and here.depth > 0, False
        self._made_at = None if number else calling_instruction(skip=3)
        if self._inside and inputs and not number:
            log(self)

    def _nothing(self) -> Any:
        """The gradient before anything has arrived."""
        return 0.0

    def _plus(self, total: float, more: float) -> float:
        """A total with more added to it."""
        return total + more

    def _is_finite(self, total: Any) -> bool:
        """Whether a gradient of this node is finite."""
        return isfinite(total)

    def _after_hooks(self, total: Any) -> Any:
        """The total after every hook has seen it."""
        return hooks.run(self, total)

    def _shown(self) -> Any:
        """The node as a user sees it."""
        return self

    def _settled(self, old: Any, new: Any) -> Any:
        """The gradient after a whole pass: a leaf adds its total to what it had."""
        return (old if self._op_name == "leaf" else 0.0) + new

    def _contribute(self, roots: Sequence[Node] = ()) -> None:
        """Hand each input its contribution: the whole of backward, for one node.

        The roots are there to say how a birth is connected to them."""
        refuse((self,), "backward")
        if self._array is not None:
            for value, amount in self._array.contributions(self, self._grad):
                value._grad = self._array.added(self, value, value._grad, amount, roots)
            return
        if self._partials is None:
            if self._closure is None:
                raise MissingBackwardError.of(self)
            self._closure()
            for index, value in enumerate(self._inputs):
                if modes.anomaly and value._requires_grad and not isfinite(value._grad):
                    raise AnomalyError.closure(self, index, value._grad, roots)
            return
        for index, (value, partial) in enumerate(zip(self._inputs, self._partials)):
            if value._number:
                continue
            before = value._grad
            value._grad += partial * self._grad
            if modes.anomaly and isfinite(before) and not isfinite(value._grad):
                if value._requires_grad:
                    raise AnomalyError.backward(self, index, partial, self._grad, before, roots)


N = TypeVar("N", bound=Node)


def made(
    make: type[N], op: str, data: float, inputs: tuple[N, ...], partials: tuple[float, ...]
) -> N:
    """A new node; without its history where nothing under it takes gradients."""
    value = object.__new__(make)
    value._become(op, data, inputs, partials, True in [v._requires_grad for v in inputs])
    if modes.anomaly and is_birth(value):
        raise AnomalyError.forward(value)
    if Recordings.now:
        inherit(value)
        if here.depth:
            return stopped(make, value) if modes.no_grad else value
    if modes.no_grad or not value._requires_grad:
        if Cuts.watcher is not None and value._requires_grad:
            Cuts.watcher(value)
        value._become("leaf", data, requires_grad=False)
    return value


def apply_row(make: type[N], name: str, operands: Sequence[N | float]) -> N | float:
    """One row of the law on values and numbers; on numbers alone it gives a float.

    A number operand becomes a leaf that takes no gradient.
    """
    row = OPS[name]
    numbers = [v._data if isinstance(v, Node) else v for v in operands]
    data = row.evaluate(*numbers)
    if True not in [isinstance(v, Node) for v in operands]:
        return data
    inputs = tuple([v if isinstance(v, Node) else constant(make, v) for v in operands])
    return made(make, name, data, inputs, row.evaluate_partials(*numbers, data))


def constant(make: type[N], data: float) -> N:
    """A number operand as a node: shown among the inputs, but no part of the graph."""
    value = object.__new__(make)
    value._become("leaf", data, requires_grad=False, number=True)
    return value


def is_birth(value: Node) -> bool:
    """Whether anomaly mode stops here: at any NaN, and at an infinity no operand had already."""
    if isfinite(value._data):
        return False
    infinite = (float("inf"), float("-inf"))
    return value._data not in infinite or (
        value._op_name != "leaf" and not any(v._data in infinite for v in value._inputs)
    )


def order(roots: Sequence[N], since: int = 0) -> list[N]:
    """Everything under the roots, each value after its inputs: a left-to-right postorder.

    An explicit stack takes the place of recursion, so depth does not matter. Nodes made before
    the epoch ``since`` count as leaves.
    """
    done: list[N] = []
    seen: set[int] = set()

    def inputs(value: N) -> Iterator[N]:
        return iter(value._inputs if value._epoch >= since else ())

    for root in roots:
        if id(root) in seen:
            continue
        seen.add(id(root))
        open_now = {id(root)}
        stack = [(root, inputs(root))]
        while stack:
            value, remaining = stack[-1]
            for child in remaining:
                if id(child) in open_now:
                    raise CycleError.of(value)
                if id(child) not in seen and not child._number:
                    seen.add(id(child))
                    open_now.add(id(child))
                    stack.append((child, inputs(child)))
                    break
            else:
                stack.pop()
                open_now.discard(id(value))
                done.append(value)
    return done


_OPEN = frozenset(name for name, row in OPS.items() if row.absent)


def _lacks_partial(value: Node) -> bool:
    """Whether an input takes gradients along which the law states no partial."""
    row = OPS[value._op_name]
    return (
        value._partials is not None
        and len(value._partials) == row.arity
        and any(
            operand._requires_grad and name in row.absent and partial != partial
            for name, operand, partial in zip(row.inputs, value._inputs, value._partials)
        )
    )


def run_backward(roots: Sequence[Node], seeds: Sequence[Any]) -> None:
    """Run the backward pass: leaves accumulate, interior gradients are this pass's alone.

    Until it is whole the pass keeps its totals aside: a failure has nothing to undo, and a hook may
    run another pass over the same values. Closures work on ``.grad`` itself, which is lent to them.
    """
    refuse(roots, "backward")
    values = order(roots)
    refuse_lent(values)
    if roots and not any(v._op_name == "leaf" and v._requires_grad for v in values):
        raise NoGradientError.of(roots[0]._shown())
    for value in values:
        if value._array is not None:
            value._array.check(value)
        elif value._op_name in _OPEN and _lacks_partial(value):
            raise NotDifferentiable.of(value)
    if any(value._partials is None for value in values):
        with Loan(values) as loan:
            _walk_in_place(values, roots, seeds)
            loan.keep()
        return
    totals = _walk_aside(values, roots, seeds)
    settle(values, [totals[id(value)] for value in values])


def _walk_aside(
    values: Sequence[Node], roots: Sequence[Node], seeds: Sequence[Any]
) -> dict[int, Any]:
    """What the pass brings to each value, by its identity."""
    totals = {id(value): value._nothing() for value in values}
    for root, seed in zip(roots, seeds):
        totals[id(root)] = root._plus(totals[id(root)], seed)
        _check_seed(root, seed)
    for value in reversed(values):
        total = totals[id(value)] = _hooked(value, totals[id(value)])
        if value._array is not None:
            for v, amount in value._array.contributions(value, total):
                totals[id(v)] = value._array.added(value, v, totals[id(v)], amount, roots)
            continue
        for index, (v, partial) in enumerate(zip(value._inputs, value._partials or ())):
            if v._number:
                continue
            before = totals[id(v)]
            after = totals[id(v)] = before + partial * total
            if modes.anomaly and v._requires_grad and isfinite(before) and not isfinite(after):
                raise AnomalyError.backward(value, index, partial, total, before, roots)
    return totals


def _walk_in_place(values: Sequence[Node], roots: Sequence[Node], seeds: Sequence[Any]) -> None:
    """The pass on ``.grad`` itself, for graphs with closures."""
    for root, seed in zip(roots, seeds):
        root._grad = root._plus(root._grad, seed)
        _check_seed(root, seed)
    for value in reversed(values):
        value._grad = _hooked(value, value._grad)
        value._contribute(roots)


def _check_seed(root: Node, seed: Any) -> None:
    if modes.anomaly and not root._is_finite(seed):
        raise AnomalyError.seed(root._shown(), seed)


def _hooked(value: Node, total: Any) -> Any:
    """The total after the value's hooks have seen it."""
    if value._hooks:
        total = value._after_hooks(total)
        if modes.anomaly and not value._is_finite(total):
            raise AnomalyError.hook(value._shown(), total)
    return total
