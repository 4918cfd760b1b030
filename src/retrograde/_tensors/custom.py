"""Custom ops on tensors: the function called on arrays, its rule asked for arrays.

``Ruled`` stands in the place of a bound row of the law: a node keeps it, runs it, and asks it for
contributions. Partials of an op on arrays are those of each number, so they are multiplied with the
upstream and added up where an operand was spread; a vjp gives contributions as they are.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from .._shared.arrays import floats
from .._shared.bound import Bound
from .._shared.numerics import np
from ..errors import NotTwiceDifferentiable
from ..errors.wording import kind_of
from ..ops.index import Shape
from ..tensor import in_graph, number_of
from ..value import belongs_to_caller, core
from .doing import do, operand


class Ruled(Bound):
    """A custom op on arrays of some shapes, for one node."""

    __slots__ = ("_made", "op")

    def __init__(self, op: Any, shapes: Sequence[Shape], result: Any) -> None:
        self.op, self._made = op, result
        self.name, self.implicit, self.scalar = op.name, None, None
        self.plan = False  # no core has kernels for it
        self.operands = tuple(f"x{number + 1}" for number in range(len(shapes)))
        self.shapes, self.shape = tuple(shapes), result.shape
        self.wholes, self.arguments, self._picks = (), {}, ()
        self.statement = None  # type: ignore[assignment]  # it has none: rules are Python's

    chosen = ()

    def __reduce__(self) -> Any:
        return _again, (self.op, self.shapes, self._made)

    def saves(self, takers: Sequence[str]) -> tuple[str, ...]:
        """A rule may read everything."""
        return (*self.operands, "z")

    def adjoint(self, operand: str) -> Any:
        """There is no statement; ``contributions`` and ``rule_on_tensors`` ask the rule."""
        return None

    def run(self, arrays: Any) -> tuple[Any, dict[str, Any]]:
        """What the function gave."""
        return self._made, {}

    def contributions(
        self, takers: Sequence[str], upstream: Any, arrays: Any, result: Any
    ) -> list[Any]:
        """The rule on arrays."""
        given = [arrays[name] for name in self.operands]
        with np.errstate(all="ignore"):
            found = self.op.array_rule(given, np.asarray(upstream), np.asarray(result))
        amounts = dict(zip(self.operands, found))
        wanted = []
        for name in takers:
            shape = self.shapes[self.operands.index(name)]
            wanted.append(_gathered(self.op, np.array(amounts[name], dtype=float), shape))
        return wanted

    def rule_on_tensors(
        self, node: Any, operands: Sequence[Any], wanted: Sequence[int], upstream: Any
    ) -> list[Any]:
        """The rule in terms of ops, for derivatives of derivatives."""
        found = self.op.rule_on_tensors(node, operands, upstream)
        return [_gathered(self.op, found[index], self.shapes[index]) for index in wanted]


def _again(op: Any, shapes: Sequence[Shape], result: Any) -> Ruled:
    return Ruled(op, shapes, result)


def _gathered(op: Any, amount: Any, shape: Shape) -> Any:
    """A contribution in its operand's shape: added up where the operand was spread."""
    have = np.shape(amount) if not in_graph(amount) else amount.shape
    if have == shape:
        return amount
    extra = len(have) - len(shape)
    if extra < 0 or any(n not in (1, m) for n, m in zip(shape, have[extra:])):
        raise op._wrong(f"its rule returned shape {have} for an operand of shape {shape}")
    axes = [*range(extra), *(extra + n for n, length in enumerate(shape) if length == 1)]
    plain = amount if in_graph(amount) else np.asarray(amount)
    return do("reshape", do("sum", plain, axis=tuple(axes)), shape=shape)


def applied(op: Any, operands: Sequence[Any]) -> Any:
    """A custom op where an operand is a tensor or an array: one node."""
    given = [operand(it, op.name) for it in operands]
    arrays = [np.asarray(number_of(it)) for it in given]
    try:
        with np.errstate(all="ignore"):
            outcome = op._function(*arrays)
    except TypeError as error:
        raise op._wrong(
            f"its function does not work on arrays: {error}. Write it with NumPy or rg functions "
            "in place of math's"
        ) from error
    value = op._pair(outcome)[0] if op.has_no_rule else outcome
    if in_graph(value):
        raise op._wrong(f"its function returned {kind_of(value)} for the value, not an array")
    result = np.array(floats(value, f"custom op '{op.name}': the value"))
    if not any(map(in_graph, given)):
        return result if result.ndim else float(result)
    return core.array(Ruled(op, [it.shape for it in arrays], result), tuple(given), {})


def array_rule(op: Any, arrays: Sequence[Any], upstream: Any, result: Any) -> list[Any]:
    """What a rule gives on arrays: contributions, one an input."""
    if op.has_no_rule:
        partials = op._pair(op._function(*arrays))[1]
    elif op.has_vjp:
        return _listed(op, op._ask(op._vjp, [upstream, *arrays], result), len(arrays))
    else:
        partials = op._ask(op._partials, arrays, result)
    return [np.asarray(p) * upstream for p in _listed(op, partials, len(arrays))]


def rule_on_tensors(op: Any, node: Any, operands: Sequence[Any], upstream: Any) -> list[Any]:
    """The same in terms of ops."""
    if op.has_no_rule:
        raise NotTwiceDifferentiable.of(node)
    try:
        if op.has_vjp:
            return _listed(op, op._ask(op._vjp, [upstream, *operands], node), len(operands))
        partials = _listed(op, op._ask(op._partials, operands, node), len(operands))
    except TypeError as error:
        raise NotTwiceDifferentiable.of(node) from error
    return [do("mul", partial, upstream) for partial in partials]


def _listed(op: Any, given: Any, count: int) -> list[Any]:
    listed = list(given) if isinstance(given, (tuple, list)) else [given]
    if len(listed) != count:
        raise op._wrong(f"its rule returned {len(listed)} arrays for {count} inputs")
    return listed


belongs_to_caller(sys.modules[__name__])
