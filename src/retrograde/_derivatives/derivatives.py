"""Derivatives as functions: gradients, grad, value_and_grad, vjp, jvp, jacobian, hessian, hvp.

None of them reads or writes any ``.grad``, and they compose to any order. A transform calls the
function on fresh values and then pulls gradients back through what the function made, and nothing
else: nodes of an earlier epoch are left alone, so a transform inside another does not walk the
outer one's graph.

Where the result depends only on the fresh values it is pulled back as numbers by the engine.
Where it depends on values from outside (parameters, an outer transform's arguments) the partials
of each node are evaluated again *on values*, from the law, and the result is a value that can be
differentiated further. Memory: the graph of the function, 80 bytes an operation, while it runs; a
pull-back in values adds about three nodes an operation and some 200 bytes a node of bookkeeping.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, wraps
from math import isnan
from threading import local
from typing import Any, Literal

import numpy as np

from .._shared.operands import is_real_scalar
from .._values import elementwise
from .._values.functions import dot, sum
from .._values.nests import Nest, mapped, take_apart
from .._values.reaching import Reached, is_chosen, pushed, takes_gradient_through
from .._values.sequences import ComputingSequence
from ..errors import (
    ArgumentError,
    FunctionResultError,
    NotAValueError,
    NotDifferentiable,
    NotTwiceDifferentiable,
    NumberError,
    StaleGraph,
    UnusedInputError,
)
from ..errors.wording import kind_of
from ..ops import OPS, STRUCTURAL
from ..ops.emit.python import compile_partials
from ..value import Value, core

Wrt = Any  # an int, a str, or a tuple of those
Unused = Literal["zero", "raise"]
Number = Any  # a float, or a value where it depends on values from outside


# ---- pulling gradients back, and pushing tangents forward --------------------------------------


@cache
def _partials_on_values(name: str) -> tuple[Callable[..., Any] | None, ...]:
    functions = {op: getattr(elementwise, op) for op in OPS}
    return compile_partials(OPS[name], functions)


def _check_fresh(node: Value) -> None:
    """Raise where a node's data is no longer what its op makes of its inputs."""
    if core.in_recording():
        return  # a recording cannot be stale: nothing may be assigned while it lasts
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
    node: Value, inputs: Sequence[Value], wanted: Sequence[int], upstream: Number
) -> list[Number]:
    """What a node hands to the inputs wanted, as values."""
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


def _total(contributions: list[Number]) -> Number:
    if len(contributions) == 1:
        return contributions[0]
    return sum(contributions)


def _distinct(items: Iterable[Number | None], taken: set[int]) -> list[Number | None]:
    """Results as objects of their own. The partial of ``x * y`` is ``y`` itself: an optimizer that
    steps ``x`` and then ``y`` must not find the gradient of ``y`` changed with ``x``."""
    results = []
    for item in items:
        if isinstance(item, Value):
            item = item * 1.0 if id(item) in taken else item
            taken.add(id(item))
        results.append(item)
    return results


def _dependents(nodes: Iterable[Value], inputs: Sequence[Value]) -> dict[int, list[int]]:
    """Which nodes depend on the inputs, and through which of their own inputs."""
    depends: dict[int, list[int]] = {id(value): [] for value in inputs}
    recording = core.in_recording()
    for node in nodes:
        through = [index for index, v in enumerate(node.inputs) if id(v) in depends]
        open_to = takes_gradient_through(node) if recording else None
        if open_to is not None:
            through = [index for index in through if index in open_to]
        if through:
            depends[id(node)] = through
    return depends


def _pull_values(
    roots: Sequence[Value], seeds: Sequence[Number], inputs: Sequence[Value], since: int
) -> list[Number | None]:
    """Gradients as values: backward once more, in ops instead of numbers."""
    nodes = core.order_since(tuple(roots), since)
    depends = _dependents(nodes, inputs)
    arrived: dict[int, list[Number]] = {}
    taken = {id(seed) for seed in seeds}
    recording, reached = core.in_recording(), Reached()
    for root, seed in zip(roots, seeds):
        arrived.setdefault(id(root), []).append(seed)
        reached.note(root, None)
    for node in reversed(nodes):
        through = depends.get(id(node))
        if not through or id(node) not in arrived:
            continue
        _check_fresh(node)
        upstream = _total(arrived[id(node)])
        arrived[id(node)] = [upstream]
        node_inputs = node.inputs
        taken.update(id(v) for v in (node, *node_inputs) if v.requires_grad)
        if recording and is_chosen(node):
            given = reached.chosen(node, node_inputs, through, upstream)
        else:
            given = _contributions(node, node_inputs, through, upstream)
            given = reached.handed_on(node, node_inputs, through, given) if recording else given
        for index, contribution in zip(through, given):
            arrived.setdefault(id(node_inputs[index]), []).append(contribution)
    found = (_total(arrived[id(v)]) if id(v) in arrived else None for v in inputs)
    return _distinct(found, taken)


def _pull(
    roots: Sequence[Value], seeds: Sequence[Number], inputs: Sequence[Value], since: int
) -> list[Number | None]:
    """Gradients as numbers where nothing from outside is involved, else as values."""
    if not any(isinstance(seed, Value) for seed in seeds):
        numbers = core.gradients(tuple(roots), tuple(seeds), tuple(inputs), since)
        if numbers is not None:
            if any(number is not None and isnan(number) for number in numbers):
                _refuse_absent(roots, inputs, since)
            return list(numbers)
    return _pull_values(roots, seeds, inputs, since)


def _refuse_absent(roots: Sequence[Value], inputs: Sequence[Value], since: int) -> None:
    """Raise where a NaN among gradients stands for a partial that the law does not state."""
    nodes = core.order_since(tuple(roots), since)
    depends = _dependents(nodes, inputs)
    for node in nodes:
        if _lacks(node, depends.get(id(node), ())):
            raise NotDifferentiable.of(node)


def _lacks(node: Value, through: Sequence[int]) -> bool:
    row = OPS.get(node.op) if node._rule is None else None
    return row is not None and any(row.inputs[index] in row.absent for index in through)


def _push(
    roots: Sequence[Value], inputs: Sequence[Value], tangents: Sequence[Number], since: int
) -> list[Number]:
    """Tangents of the roots: the chain rule in the forward direction.

    In numbers where nothing from outside is involved, else in values.
    """
    in_numbers = not any(isinstance(t, Value) for t in tangents) and core.is_closed(
        tuple(roots), tuple(inputs), since
    )
    nodes = core.order_since(tuple(roots), since)
    depends = _dependents(nodes, inputs)
    moving: dict[int, Number] = {id(v): t for v, t in zip(inputs, tangents)}
    for node in nodes:
        through = depends.get(id(node))
        if not through:
            continue
        node_inputs = node.inputs
        if core.in_recording() and is_chosen(node):
            moving[id(node)] = pushed(node_inputs, moving)
            continue
        if in_numbers and node.partials:
            if _lacks(node, through):
                raise NotDifferentiable.of(node)
            numbers = node.partials
            partials: list[Any] = [numbers[index] for index in through]
        else:
            _check_fresh(node)
            partials = _contributions(node, node_inputs, through, 1.0)
        moving[id(node)] = _total(
            [p * moving[id(node_inputs[index])] for index, p in zip(through, partials)]
        )
    return [moving.get(id(root), 0.0) for root in roots]


# ---- calling a function on fresh values --------------------------------------------------------


@contextmanager
def _recording() -> Iterator[None]:
    """A transform records what its function does also inside no_grad()."""
    depth = core.swap_no_grad(0)
    try:
        yield
    finally:
        core.swap_no_grad(depth)


def _fresh(item: Any, place: str) -> Value:
    """A new value for an argument; connected to it where that takes gradients itself, and while
    recording, where its number is another one at the next run."""
    if isinstance(item, Value) and (item.requires_grad or core.in_recording()):
        value = item * 1.0
    else:
        value = Value(item.data if isinstance(item, Value) else item)
    value.label = place
    return value


class _Here(local):
    """How many transforms this thread has begun."""

    begun = 0


_here = _Here()


@dataclass
class _Call:
    """A function called on fresh values, ready to be pulled back through."""

    name: str
    result: Any
    nests: list[Nest]
    bare: bool
    inputs: list[Value]
    since: int
    nested: bool  # whether the function used a transform itself: a number may be its derivative

    def scalar(self) -> Value:
        """The one value that was returned. A derivative that turned out constant is a number."""
        if self.nested and is_real_scalar(self.result):
            self.result = Value(self.result, requires_grad=False)
        if not isinstance(self.result, Value):
            raise FunctionResultError.of(self.name, self.result)
        return self.result

    def shaped(self, items: Sequence[Any]) -> Any:
        """Items in the shape of the differentiated arguments."""
        source = iter(items)
        shaped = [nest.filled(source) for nest in self.nests]
        return shaped[0] if self.bare else tuple(shaped)

    def settled(self, gradients: list[Number | None], unused: Unused) -> list[Number]:
        """Zeros where an input was not reached, or the exception that names them."""
        places = [place for nest in self.nests for place in nest.places]
        missing = [place for place, g in zip(places, gradients) if g is None]
        if missing and unused == "raise":
            raise UnusedInputError.of(missing)
        return [0.0 if g is None else g for g in gradients]

    def released(self, items: Sequence[Number]) -> list[Number]:
        """Results on their way out: numbers, but for those that depend on values from outside.

        From here on the fresh values are constants, so that an outer transform does not take them
        for values from outside in turn.
        """
        if core.in_recording():
            return list(items)
        for v in self.inputs:
            if v.op == "leaf":
                v.requires_grad = False
        values = tuple(item for item in items if isinstance(item, Value))
        if core.is_closed(values, tuple(self.inputs), self.since):
            outside: set[int] = set()
        else:
            outside = self._outside(values)
        return [
            item if id(item) in outside else item.data if isinstance(item, Value) else float(item)
            for item in items
        ]

    def _outside(self, roots: tuple[Value, ...]) -> set[int]:
        """The ids of what depends on values that take gradients and are not this call's own."""
        nodes = core.order_since(roots, self.since)
        own = {id(node) for node in nodes} | {id(v) for v in self.inputs if v.op == "leaf"}
        outside: set[int] = set()
        for value in roots:
            if id(value) not in own and value.requires_grad:
                outside.add(id(value))
        for node in nodes:
            if any(id(v) in outside or (v.requires_grad and id(v) not in own) for v in node.inputs):
                outside.add(id(node))
        return outside

    def release_nest(self, nest: Any) -> Any:
        """Extra outputs on their way out: values inside become numbers where they can."""

        def released(part: Any) -> Any:
            if isinstance(part, ComputingSequence):
                return mapped(released, np.asarray(part))
            return self.released([part])[0] if isinstance(part, Value) else part

        return mapped(released, nest, _left_whole)


def _left_whole(part: Any) -> bool:
    """What is not looked into among extra outputs: numbers, and lists of a class of its own."""
    if isinstance(part, np.ndarray):
        return bool(part.dtype != object)
    if isinstance(part, (list, tuple)) and type(part) not in (list, tuple):
        return not hasattr(part, "_fields")
    return isinstance(part, ComputingSequence)


def _names_by_position(function: Callable[..., Any]) -> list[str]:
    """The names of the parameters that stand at a position of their own."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    own_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in parameters if p.kind in own_place]


def _selected(
    function: Callable[..., Any], name: str, args: list[Any], kwargs: dict[str, Any], wrt: Wrt
) -> list[int | str]:
    """Where each argument to differentiate stands in this call: a position or a keyword."""
    found: list[int | str] = []
    for wanted in wrt if isinstance(wrt, tuple) else (wrt,):
        where: int | str | None = None
        if isinstance(wanted, str) and wanted in kwargs:
            where = wanted
        elif isinstance(wanted, str):
            names = _names_by_position(function)
            if wanted in names and names.index(wanted) < len(args):
                where = names.index(wanted)
        elif isinstance(wanted, int) and -len(args) <= wanted < len(args):
            where = wanted % len(args)
        if where is None:
            given = [f"arg[{index}]" for index in range(len(args))] + list(kwargs)
            raise ArgumentError.missing(name, wanted, given)
        if where in found:
            raise ArgumentError(f"{name}: wrt={wrt!r} names an argument twice; name each once.")
        found.append(where)
    return found


def _called(
    function: Callable[..., Any], name: str, args: Sequence[Any], kwargs: dict[str, Any], wrt: Wrt
) -> _Call:
    """Call a function with fresh values in the place of the arguments to differentiate."""
    arguments: list[Any] = list(args)
    named = dict(kwargs)
    selected = _selected(function, name, arguments, named, wrt)
    nests = []
    for where in selected:
        if isinstance(where, int):
            nests.append(take_apart(arguments[where], f"arg[{where}]"))
        else:
            nests.append(take_apart(named[where], where))
    since = core.begin_epoch()
    inputs: list[Value] = []
    for where, nest in zip(selected, nests):
        fresh = [_fresh(item, place) for item, place in zip(nest.items, nest.places)]
        inputs.extend(fresh)
        if isinstance(where, int):
            arguments[where] = nest.argument(fresh)
        else:
            named[where] = nest.argument(fresh)
    _here.begun = begun = _here.begun + 1
    result = function(*arguments, **named)
    nested = _here.begun > begun
    return _Call(name, result, nests, not isinstance(wrt, tuple), inputs, since, nested)


def _split_aux(call: _Call, has_aux: bool) -> Any:
    """Set the extra outputs apart from the value."""
    if not has_aux:
        return None
    if not isinstance(call.result, tuple) or len(call.result) != 2:
        raise FunctionResultError.aux(call.name, call.result)
    call.result, aux = call.result
    return aux


def _outputs(call: _Call) -> Nest:
    """The result of a function that may return several values, taken apart."""

    def refusal(place: str, part: object) -> Exception:
        if part is call.result:
            return FunctionResultError.of(call.name, part)
        return FunctionResultError(
            f"{call.name}: {place} is {kind_of(part)}; return values and numbers, or lists, "
            "tuples, dicts and arrays of them."
        )

    return take_apart(call.result, "the result", refusal)


def _checked_unused(unused: Unused) -> None:
    if unused not in ("zero", "raise"):
        raise ArgumentError(f"unused={unused!r} is unknown: write 'zero' or 'raise'.")


# ---- the transforms ----------------------------------------------------------------------------


def gradients(root: Value, inputs: Any, seed: Any = 1.0, *, unused: Unused = "zero") -> Any:
    """The gradients of ``root`` with respect to a nest of values, as values: differentiable again.

    The inputs may be leaves or interior values. No ``.grad`` is read or written.

    >>> import retrograde as rg
    >>> x = rg.Value(3.0)
    >>> g = rg.gradients(x**3, x)
    >>> g.data, rg.gradients(g, x).data
    (27.0, 18.0)
    """
    if not isinstance(root, Value):
        raise NotAValueError.of("gradients", root)
    if not isinstance(seed, Value):
        if not is_real_scalar(seed):
            raise NumberError.of("the seed", seed)
        seed = float(seed)
    _checked_unused(unused)
    nest = take_apart(inputs, "inputs")
    for place, item in zip(nest.places, nest.items):
        if not isinstance(item, Value):
            raise ArgumentError.structure("gradients", place, "a value", item)
    with _recording():
        found = _pull_values((root,), (seed,), nest.items, 0)
    call = _Call("gradients", root, [nest], True, nest.items, 0, False)
    settled = call.settled(found, unused)
    return nest.filled(
        [g if isinstance(g, Value) else Value(g, requires_grad=False) for g in settled]
    )


def value_and_grad(
    function: Callable[..., Any], wrt: Wrt = 0, *, has_aux: bool = False, unused: Unused = "zero"
) -> Callable[..., Any]:
    """A function that returns the value and the gradient with respect to ``wrt``.

    ``wrt`` is a position, a name, or a tuple of those (then the gradients are a tuple). With
    ``has_aux`` the function returns ``(value, extra)`` and the result is
    ``((value, extra), gradient)``. ``unused="raise"`` refuses arguments without influence.

    >>> import retrograde as rg
    >>> rg.value_and_grad(lambda x, y: x * y)(3.0, 4.0)
    (12.0, 4.0)
    >>> rg.value_and_grad(lambda x, y: x * y, wrt=("x", "y"))(3.0, 4.0)
    (12.0, (4.0, 3.0))
    """
    _checked_unused(unused)

    @wraps(function)
    def transformed(*args: Any, **kwargs: Any) -> Any:
        with _recording():
            call = _called(function, "grad", args, kwargs, wrt)
            aux = _split_aux(call, has_aux)
            root = call.scalar()
            found = call.settled(_pull((root,), (1.0,), call.inputs, call.since), unused)
            value, *found = call.released([root, *found])
            gradient = call.shaped(found)
            return ((value, call.release_nest(aux)) if has_aux else value), gradient

    return transformed


def grad(
    function: Callable[..., Any], wrt: Wrt = 0, *, has_aux: bool = False, unused: Unused = "zero"
) -> Callable[..., Any]:
    """A function that returns the gradient with respect to ``wrt``, in the shape of the argument.

    With ``has_aux`` it returns ``(gradient, extra)``. See :func:`value_and_grad`.

    >>> import retrograde as rg
    >>> rg.grad(lambda x: x**3)(2.0)
    12.0
    >>> rg.grad(rg.grad(lambda x: x**3))(2.0)
    12.0
    >>> rg.grad(lambda p: p["a"] * p["b"])({"a": 2.0, "b": 5.0})
    {'a': 5.0, 'b': 2.0}
    """
    both = value_and_grad(function, wrt, has_aux=has_aux, unused=unused)

    @wraps(function)
    def transformed(*args: Any, **kwargs: Any) -> Any:
        value, gradient = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return transformed


def vjp(function: Callable[..., Any], *args: Any) -> tuple[Any, Callable[[Any], Any]]:
    """The value at ``args``, and a function that pulls a seed of the value's shape back to them.

    >>> import retrograde as rg
    >>> value, pull = rg.vjp(lambda v: [v[0] * v[1], v[0] + v[1]], [2.0, 3.0])
    >>> value, pull([1.0, 10.0])
    ([6.0, 5.0], [13.0, 12.0])
    """
    with _recording():
        wrt = 0 if len(args) == 1 else tuple(range(len(args)))
        call = _called(function, "vjp", args, {}, wrt)
        outputs = _outputs(call)
        value = outputs.filled(call.released(outputs.items))

    def pull(seed: Any) -> Any:
        seeds = _matching(seed, outputs, "the seed")
        with _recording():
            pairs = [(o, s) for o, s in zip(outputs.items, seeds) if isinstance(o, Value)]
            roots, used = [o for o, _ in pairs], [s for _, s in pairs]
            found = call.settled(_pull(roots, used, call.inputs, call.since), "zero")
            return call.shaped(call.released(found))

    return value, pull


def jvp(function: Callable[..., Any], args: Any, tangents: Any) -> tuple[Any, Any]:
    """The value at ``args`` and its derivative in the direction of ``tangents``: (value, tangent).

    ``args`` and ``tangents`` are sequences of as many items as the function takes arguments.

    >>> import retrograde as rg
    >>> rg.jvp(lambda x, y: x * y, (3.0, 4.0), (1.0, 0.0))
    (12.0, 4.0)
    """
    for what, sequence in (("args", args), ("tangents", tangents)):
        if not isinstance(sequence, Iterable):
            raise ArgumentError.structure("jvp", what, "a tuple, one item an argument", sequence)
    arguments, given = tuple(args), tuple(tangents)
    if len(given) != len(arguments):
        raise ArgumentError.structure("jvp", "tangents", f"{len(arguments)} items", tangents)
    with _recording():
        call = _called(function, "jvp", arguments, {}, tuple(range(len(arguments))))
        outputs = _outputs(call)
        directions = [
            item
            for tangent, nest in zip(given, call.nests)
            for item in _matching(tangent, nest, "a tangent")
        ]
        roots = [item for item in outputs.items if isinstance(item, Value)]
        moved = iter(_push(roots, call.inputs, directions, call.since))
        tangent_items = [next(moved) if isinstance(o, Value) else 0.0 for o in outputs.items]
        released = call.released([*outputs.items, *tangent_items])
        half = len(outputs.items)
        return outputs.filled(released[:half]), outputs.filled(released[half:])


def _matching(nest: Any, like: Nest, what: str) -> list[Any]:
    """The items of a nest that must have the shape of another, found by their places in it."""

    def refusal(place: str, part: object) -> Exception:
        return ArgumentError(f"{place} is {kind_of(part)}, not a number or a value.")

    parts = take_apart(nest, what, refusal)
    if len(parts.items) != len(like.items):
        raise ArgumentError.structure(what, "its top", f"{len(like.items)} numbers", nest)
    given = dict(zip(parts.paths, parts.items))
    for path, place in zip(like.paths, like.places):
        if path not in given:
            raise ArgumentError.structure(what, f"the place of {place}", "a number", nest)
    items = [given[path] for path in like.paths]
    return [item if isinstance(item, Value) else float(item) for item in items]


def _rows(call: _Call, outputs: Sequence[Any], unused: Unused) -> list[list[Number]]:
    """One row of gradients an output; numbers among the outputs have rows of zeros."""
    rows = []
    for output in outputs:
        found: list[Number | None] = [0.0] * len(call.inputs)
        if isinstance(output, Value):
            found = _pull((output,), (1.0,), call.inputs, call.since)
        rows.append(call.settled(found, unused))
    released = iter(call.released([item for row in rows for item in row]))
    return [[next(released) for _ in row] for row in rows]


def jacobian(
    function: Callable[..., Any], wrt: Wrt = 0, *, unused: Unused = "zero"
) -> Callable[..., Any]:
    """A function that returns all derivatives of all outputs: the outputs' nest, with the gradient
    of each in its place. Arrays in and out give one array.

    >>> import retrograde as rg
    >>> rg.jacobian(lambda v: [v[0] * v[1], v[0] + v[1]])([2.0, 3.0])
    [[3.0, 2.0], [1.0, 1.0]]
    """
    _checked_unused(unused)

    @wraps(function)
    def transformed(*args: Any, **kwargs: Any) -> Any:
        with _recording():
            call = _called(function, "jacobian", args, kwargs, wrt)
            outputs = _outputs(call)
            rows = _rows(call, outputs.items, unused)
            return outputs.filled([call.shaped(row) for row in rows])

    return transformed


def hessian(function: Callable[..., Any], wrt: Wrt = 0) -> Callable[..., Any]:
    """A function that returns all second derivatives: the argument's nest, with the gradient of
    each first derivative in its place.

    >>> import retrograde as rg
    >>> rg.hessian(lambda v: v[0]**2 * v[1])([3.0, 2.0])
    [[4.0, 6.0], [6.0, 0.0]]
    """

    @wraps(function)
    def transformed(*args: Any, **kwargs: Any) -> Any:
        with _recording():
            call = _called(function, "hessian", args, kwargs, wrt)
            first = _pull_values((call.scalar(),), (1.0,), call.inputs, call.since)
            rows = _rows(call, call.settled(first, "zero"), "zero")
            return call.shaped([call.shaped(row) for row in rows])

    return transformed


def hvp(function: Callable[..., Any], point: Any, vector: Any) -> Any:
    """The Hessian of ``function`` at ``point`` times ``vector``, without forming the Hessian.

    >>> import retrograde as rg
    >>> rg.hvp(lambda v: v[0]**2 * v[1], [3.0, 2.0], [1.0, 0.0])
    [4.0, 6.0]
    """
    with _recording():
        call = _called(function, "hvp", (point,), {}, 0)
        first = _pull_values((call.scalar(),), (1.0,), call.inputs, call.since)
        directions = _matching(vector, call.nests[0], "the vector")
        slope = dot(call.settled(first, "zero"), directions)
        found: list[Number | None] = [0.0] * len(call.inputs)
        if isinstance(slope, Value):
            found = _pull((slope,), (1.0,), call.inputs, call.since)
        return call.shaped(call.released(call.settled(found, "zero")))
