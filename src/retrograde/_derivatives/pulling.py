"""Gradients pulled back through what a function made, and tangents pushed forward through it.

Where the result depends only on the fresh values it is pulled back as numbers by the core. Where it
depends on values from outside (parameters, an outer transform's arguments) the partials of each
node are evaluated again *on values*, from the law, and the result is a value that can be
differentiated further. Nodes of an earlier epoch than the transform's are left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from math import isnan
from typing import Any

from .._tensors.indices import found_by
from .._values import elementwise
from .._values.functions import sum
from .._values.modes import recording_tensors
from .._values.reaching import Reached, is_chosen, pushed, takes_gradient_through
from ..errors import NotDifferentiable, NotTwiceDifferentiable, StaleGraph
from ..ops import OPS, STRUCTURAL
from ..ops.emit.python import compile_partials
from ..tensor import in_graph
from ..value import Value, core
from . import arrays

Number = Any  # a float or an array, or a node where it depends on values from outside

key, array_row = core.key, core.array_row


@cache
def _partials_on_values(name: str) -> tuple[Callable[..., Any] | None, ...]:
    functions = {op: getattr(elementwise, op) for op in OPS}
    return compile_partials(OPS[name], functions)


def _row_of(node: Value) -> Any:
    """The row of a node on arrays and its whole numbers. While recording those that it finds are
    told from fixed ones."""
    row = array_row(node)
    if row is not None and row[0].statement is not None and recording_tensors():
        found_by(node, *row)
    return row


def _check_fresh(node: Value) -> None:
    """Raise where a node's data is no longer what its op makes of its inputs."""
    if core.in_recording():
        return  # a recording cannot be stale: nothing may be assigned while it lasts
    if array_row(node) is not None:
        changed = core.stale_input(node)
        if changed is not None:
            raise StaleGraph.input(node, changed)
        return
    now = core.recompute(node) if node._rule is None else node._rule.recompute(node)
    if now is not None and now != node.data and not (isnan(now) and isnan(node.data)):
        raise StaleGraph.of(node, now)


def _partials(node: Value, inputs: Sequence[Value], wanted: Sequence[int]) -> list[Any]:
    """The partials of a node as values, for the inputs wanted."""
    operands = _operands(inputs)
    if node._rule is not None:
        return node._rule.partials_on_values(node, operands, wanted)
    if core.recompute(node) is None:  # first: a one-off may be named like an op of ours
        raise NotTwiceDifferentiable.of(node)
    if node.op in STRUCTURAL:
        slopes = STRUCTURAL[node.op].slopes(operands)
        return [slopes[index] for index in wanted]
    found = []
    for rule in map(_partials_on_values(node.op).__getitem__, wanted):
        if rule is None:
            raise NotDifferentiable.of(node)
        found.append(rule(*operands, node))
    return found


def _operands(inputs: Sequence[Value]) -> list[Any]:
    """Inputs as the law's partials take them; while recording numbers stay in the graph."""
    recording = core.in_recording()
    return [v if recording or v.requires_grad else v.data for v in inputs]


def _contributions(
    node: Value,
    inputs: Sequence[Value],
    wanted: Sequence[int],
    upstream: Number,
    owned: bool = False,
) -> list[Number]:
    """What a node hands to the inputs wanted, as values."""
    row = _row_of(node)
    if row is not None:
        return arrays.contributions(node, row, inputs, wanted, upstream, owned)
    if node._rule is not None and node._rule.has_vjp:
        operands = _operands(inputs)
        given = node._rule.vjp_on_values(node, operands, upstream)
        return [given[index] for index in wanted]
    return [_times(partial, upstream) for partial in _partials(node, inputs, wanted)]


def _times(partial: Number, upstream: Number) -> Number:
    """partial × upstream, without a node for the 1 of an addition or a fresh seed."""
    if isinstance(partial, float) and partial == 1.0:
        return upstream
    if isinstance(upstream, float) and upstream == 1.0:
        return partial
    return partial * upstream


def _total(contributions: list[Number], like: Any = None, owned: bool = False) -> Number:
    if getattr(like, "ndim", 0):
        return arrays.total(contributions, like, owned)
    if len(contributions) == 1:
        return contributions[0]
    return sum(contributions)


def _distinct(items: Iterable[Number | None], taken: set[int]) -> list[Number | None]:
    """Results as objects of their own. The partial of ``x * y`` is ``y`` itself: an optimizer that
    steps ``x`` and then ``y`` must not find the gradient of ``y`` changed with ``x``."""
    results = []
    for item in items:
        if item is not None and in_graph(item):
            item = item * 1.0 if key(item) in taken else item
            taken.add(key(item))
        results.append(item)
    return results


def _dependents(nodes: Iterable[Value], inputs: Sequence[Any]) -> dict[int, list[int]]:
    """Which nodes depend on the inputs, and through which of their own inputs."""
    depends: dict[int, list[int]] = {key(value): [] for value in inputs}
    recording = core.in_recording()
    for node in nodes:
        through = [index for index, v in enumerate(node.inputs) if key(v) in depends]
        open_to = takes_gradient_through(node) if recording else None
        if open_to is not None:
            through = [index for index in through if index in open_to]
        if through:
            depends[key(node)] = through
    return depends


def pull_values(
    roots: Sequence[Any], seeds: Sequence[Number], inputs: Sequence[Any], since: int
) -> list[Number | None]:
    """Gradients as values: backward once more, in ops instead of numbers."""
    nodes = core.order_since(tuple(roots), since)
    depends = _dependents(nodes, inputs)
    arrived: dict[int, list[Number]] = {}
    taken = {key(seed) for seed in seeds}
    given_away = {key(v) for v in (*roots, *inputs)}  # somebody else holds what arrives there
    recording, reached = core.in_recording(), Reached()
    for root, seed in zip(roots, seeds):
        arrived.setdefault(key(root), []).append(seed)
        reached.note(root, None)
    for node in reversed(nodes):
        through = depends.get(key(node))
        if not through or key(node) not in arrived:
            continue
        _check_fresh(node)
        owned = key(node) not in given_away
        upstream = _total(arrived[key(node)], node, owned)
        arrived[key(node)] = [upstream]
        node_inputs = node.inputs
        taken.update(key(v) for v in (node, *node_inputs) if v.requires_grad)
        if recording and is_chosen(node):
            given = reached.chosen(node, node_inputs, through, upstream)
        else:
            given = _contributions(node, node_inputs, through, upstream, owned)
            given = reached.handed_on(node, node_inputs, through, given) if recording else given
        for index, contribution in zip(through, given):
            if contribution is not None:
                arrived.setdefault(key(node_inputs[index]), []).append(contribution)
    found = (_total(arrived[key(v)], v) if key(v) in arrived else None for v in inputs)
    return _distinct(found, taken)


def pull_back(
    roots: Sequence[Any], seeds: Sequence[Number], inputs: Sequence[Any], since: int
) -> list[Number | None]:
    """Gradients as numbers where nothing from outside is involved, else as values."""
    if not any(in_graph(seed) for seed in seeds):
        numbers = core.gradients(tuple(roots), tuple(seeds), tuple(inputs), since)
        if numbers is not None:
            if any(isinstance(number, float) and isnan(number) for number in numbers):
                _refuse_absent(roots, inputs, since)
            return list(numbers)
    return pull_values(roots, seeds, inputs, since)


def _refuse_absent(roots: Sequence[Value], inputs: Sequence[Any], since: int) -> None:
    """Raise where a NaN among gradients stands for a partial that the law does not state."""
    nodes = core.order_since(tuple(roots), since)
    depends = _dependents(nodes, inputs)
    for node in nodes:
        if _lacks(node, depends.get(key(node), ())):
            raise NotDifferentiable.of(node)


def _lacks(node: Value, through: Sequence[int]) -> bool:
    if array_row(node) is not None:
        return False  # the core has looked already
    row = OPS.get(node.op) if node._rule is None else None
    return row is not None and any(row.inputs[index] in row.absent for index in through)


def push_forward(
    roots: Sequence[Any], inputs: Sequence[Any], tangents: Sequence[Number], since: int
) -> list[Number]:
    """Tangents of the roots: the chain rule in the forward direction.

    In numbers where nothing from outside is involved, else in values.
    """
    in_numbers = not any(in_graph(t) for t in tangents) and core.is_closed(
        tuple(roots), tuple(inputs), since
    )
    nodes = core.order_since(tuple(roots), since)
    depends = _dependents(nodes, inputs)
    moving: dict[int, Number] = {key(v): t for v, t in zip(inputs, tangents)}
    for node in nodes:
        through = depends.get(key(node))
        if not through:
            continue
        node_inputs = node.inputs
        if core.in_recording() and is_chosen(node):
            moving[key(node)] = pushed(node_inputs, moving)
            continue
        row = _row_of(node)
        if row is not None:
            _check_fresh(node)
            given = [arrays.numbers_of(v) for v in node_inputs] if in_numbers else node_inputs
            moves = [moving[key(node_inputs[index])] for index in through]
            moving[key(node)] = arrays.tangent(node, row, given, through, moves, _pulled)
            continue
        if in_numbers and node.partials:
            if _lacks(node, through):
                raise NotDifferentiable.of(node)
            numbers = node.partials
            partials: list[Any] = [numbers[index] for index in through]
        else:
            _check_fresh(node)
            partials = _contributions(node, node_inputs, through, 1.0)
        moving[key(node)] = _total(
            [p * moving[key(node_inputs[index])] for index, p in zip(through, partials)]
        )
    return [moving.get(key(root), arrays.zeros(root)) for root in roots]


def _pulled(root: Any, seed: Number, value: Any) -> Number:
    """One gradient, for tangents that need one."""
    return pull_values((root,), (seed,), (value,), 0)[0]
