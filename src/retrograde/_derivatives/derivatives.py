"""Derivatives as functions: gradients, grad, value_and_grad, vjp, jvp, jacobian, hessian, hvp.

None of them reads or writes any ``.grad``, and they compose to any order. A transform calls the
function on fresh values, and on tensors in the place of arrays (``calling.py``), and then pulls
gradients back through what the function made (``pulling.py``), and nothing else: nodes of an
earlier epoch are left alone, so a transform inside another does not walk the outer one's graph.

Memory: the graph of the function, 80 bytes an operation, while it runs; a pull-back in values adds
about three nodes an operation and some 200 bytes a node of bookkeeping.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

from .._shared.arrays import floats
from .._shared.numerics import np
from .._shared.operands import is_real_scalar
from .._tensors.doing import do
from .._values.functions import dot
from .._values.functions import sum as sum_
from .._values.nests import Nest, take_apart
from ..errors import ArgumentError, NotAValueError, NumberError, TensorError
from ..errors.wording import kind_of
from ..tensor import Tensor, in_graph
from ..value import Value
from .arrays import zeros
from .calling import (
    Call,
    Unused,
    Wrt,
    called,
    checked_unused,
    keeping_history,
    outputs_of,
    split_aux,
)
from .pulling import Number, pull_back, pull_values, push_forward


def gradients(root: Value, inputs: Any, seed: Any = 1.0, *, unused: Unused = "zero") -> Any:
    """The gradients of ``root`` with respect to a nest of values, as values: differentiable again.

    The inputs may be leaves or interior values. No ``.grad`` is read or written.

    >>> import retrograde as rg
    >>> x = rg.Value(3.0)
    >>> g = rg.gradients(x**3, x)
    >>> g.data, rg.gradients(g, x).data
    (27.0, 18.0)
    """
    if not in_graph(root):
        raise NotAValueError.of("gradients", root)
    seed = _seed_of(root, seed)
    checked_unused(unused)
    nest = take_apart(inputs, "inputs", whole=True)
    for place, item in zip(nest.places, nest.items):
        if not in_graph(item):
            raise ArgumentError.structure("gradients", place, "a value", item)
    with keeping_history():
        found = pull_values((root,), (seed,), nest.items, 0)
    call = Call("gradients", root, [nest], True, nest.items, 0, False)
    settled = call.settled(found, unused)
    return nest.filled([g if in_graph(g) else _leaf(g) for g in settled])


def _seed_of(root: Any, seed: Any) -> Any:
    """A seed of the root's shape: a number or a value, an array or a tensor."""
    if in_graph(seed) and seed.shape == root.shape:
        return seed
    if not root.ndim:
        if not is_real_scalar(seed):
            raise NumberError.of("the seed", seed)
        return float(seed)
    if is_real_scalar(seed) and (root.size == 1 or seed != 1.0):
        return np.full(root.shape, float(seed))
    if is_real_scalar(seed):
        raise TensorError.seed(root)
    if in_graph(seed):
        raise TensorError.shape("the seed", root.shape, seed.shape)
    given = floats(seed, "the seed")
    if given.shape != root.shape:
        raise TensorError.shape("the seed", root.shape, given.shape)
    return given


def _leaf(number: Any) -> Any:
    """A number or an array as a leaf that takes no gradient."""
    make = Tensor if np.ndim(number) else Value
    return make(number, requires_grad=False)


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
    checked_unused(unused)

    @wraps(function)
    def transformed(*args: Any, **kwargs: Any) -> Any:
        with keeping_history():
            call = called(function, "grad", args, kwargs, wrt)
            aux = split_aux(call, has_aux)
            root = call.scalar()
            found = call.settled(pull_back((root,), (1.0,), call.inputs, call.since), unused)
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
    with keeping_history():
        wrt = 0 if len(args) == 1 else tuple(range(len(args)))
        call = called(function, "vjp", args, {}, wrt)
        outputs = outputs_of(call)
        value = outputs.filled(call.released(outputs.items))

    def pull(seed: Any) -> Any:
        seeds = _matching(seed, outputs, "the seed")
        with keeping_history():
            pairs = [(o, s) for o, s in zip(outputs.items, seeds) if in_graph(o)]
            roots, used = [o for o, _ in pairs], [s for _, s in pairs]
            with call.reopened():
                found = call.settled(pull_back(roots, used, call.inputs, call.since), "zero")
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
    with keeping_history():
        call = called(function, "jvp", arguments, {}, tuple(range(len(arguments))))
        outputs = outputs_of(call)
        directions = [
            item
            for tangent, nest in zip(given, call.nests)
            for item in _matching(tangent, nest, "a tangent")
        ]
        roots = [item for item in outputs.items if in_graph(item)]
        moved = iter(push_forward(roots, call.inputs, directions, call.since))
        tangent_items = [next(moved) if in_graph(o) else _no_tangent(o) for o in outputs.items]
        released = call.released([*outputs.items, *tangent_items])
        half = len(outputs.items)
        return outputs.filled(released[:half]), outputs.filled(released[half:])


def _no_tangent(number: Any) -> Any:
    return np.zeros(np.shape(number)) if np.ndim(number) else 0.0


def _matching(nest: Any, like: Nest, what: str) -> list[Any]:
    """The items of a nest that must have the shape of another, found by their places in it."""

    def refusal(place: str, part: object) -> Exception:
        return ArgumentError(f"{place} is {kind_of(part)}, not a number or a value.")

    if any(np.ndim(item) if not in_graph(item) else item.ndim for item in like.items):
        return _matching_arrays(nest, like, what)
    parts = take_apart(nest, what, refusal)
    if len(parts.items) != len(like.items):
        raise ArgumentError.structure(what, "its top", f"{len(like.items)} numbers", nest)
    given = dict(zip(parts.paths, parts.items))
    for path, place in zip(like.paths, like.places):
        if path not in given:
            raise ArgumentError.structure(what, f"the place of {place}", "a number", nest)
    items = [given[path] for path in like.paths]
    return [item if isinstance(item, Value) else float(item) for item in items]


def _matching_arrays(nest: Any, like: Nest, what: str) -> list[Any]:
    """The same where some items are arrays: each is found by its path."""
    found = []
    for path, place, item in zip(like.paths, like.places, like.items):
        part = nest
        try:
            for step in path:
                part = part[step]
        except (KeyError, IndexError, TypeError):
            raise ArgumentError.structure(what, f"the place of {place}", "a part", nest) from None
        shape = item.shape if in_graph(item) else np.shape(item)
        given = part if in_graph(part) else floats(part, f"{what} at {place}")
        if given.shape != shape:
            raise ArgumentError.structure(
                what, f"the place of {place}", f"an array of shape {shape}", part
            )
        found.append(given if given.ndim or in_graph(given) else float(given))
    return found


def _rows(call: Call, outputs: Sequence[Any], unused: Unused) -> list[list[Number]]:
    """One row of gradients an output; numbers among the outputs have rows of zeros."""
    rows = []
    for output in outputs:
        if isinstance(output, Tensor) or np.ndim(output):
            rows.append(_rows_of_tensor(call, output, unused))
            continue
        found: list[Number | None] = [zeros(v) for v in call.inputs]
        if isinstance(output, Value):
            found = pull_back((output,), (1.0,), call.inputs, call.since)
        rows.append(call.settled(found, unused))
    released = iter(call.released([item for row in rows for item in row]))
    return [[next(released) for _ in row] for row in rows]


def _rows_of_tensor(call: Call, output: Any, unused: Unused) -> list[Number]:
    """The derivatives of every number of a tensor: for each input, its axes behind the output's."""
    shape = np.shape(output) if isinstance(output, np.ndarray) else output.shape
    if not isinstance(output, Tensor) or 0 in shape:
        return [np.zeros((*shape, *v.shape)) for v in call.inputs]
    each = []
    for index in np.ndindex(shape):
        seed = np.zeros(shape)
        seed[index] = 1.0
        each.append(call.settled(pull_back((output,), (seed,), call.inputs, call.since), unused))
    return [_together(list(column), shape, v) for column, v in zip(zip(*each), call.inputs)]


def _together(parts: list[Number], shape: tuple[int, ...], like: Any) -> Number:
    if any(map(in_graph, parts)):
        return do("reshape", do.stacked(parts), shape=(*shape, *like.shape))
    return np.array(parts, dtype=float).reshape(*shape, *like.shape)


def jacobian(
    function: Callable[..., Any], wrt: Wrt = 0, *, unused: Unused = "zero"
) -> Callable[..., Any]:
    """A function that returns all derivatives of all outputs: the outputs' nest, with the gradient
    of each in its place. Arrays in and out give one array.

    >>> import retrograde as rg
    >>> rg.jacobian(lambda v: [v[0] * v[1], v[0] + v[1]])([2.0, 3.0])
    [[3.0, 2.0], [1.0, 1.0]]
    """
    checked_unused(unused)

    @wraps(function)
    def transformed(*args: Any, **kwargs: Any) -> Any:
        with keeping_history():
            call = called(function, "jacobian", args, kwargs, wrt)
            outputs = outputs_of(call)
            rows = _rows(call, outputs.items, unused)
            return outputs.filled([call.shaped(row) for row in rows])

    return transformed


def hessian(function: Callable[..., Any], wrt: Wrt = 0) -> Callable[..., Any]:
    """A function that returns all second derivatives: the argument's nest, with the gradient of
    each first derivative in its place; an array has one block of them with each other part.

    >>> import retrograde as rg
    >>> rg.hessian(lambda v: v[0]**2 * v[1])([3.0, 2.0])
    [[4.0, 6.0], [6.0, 0.0]]
    """

    @wraps(function)
    def transformed(*args: Any, **kwargs: Any) -> Any:
        with keeping_history():
            call = called(function, "hessian", args, kwargs, wrt)
            first = pull_values((call.scalar(),), (1.0,), call.inputs, call.since)
            rows = _rows(call, call.settled(first, "zero"), "zero")
            return call.shaped([call.shaped(row) for row in rows])

    return transformed


def hvp(function: Callable[..., Any], point: Any, vector: Any) -> Any:
    """The Hessian of ``function`` at ``point`` times ``vector``, without forming the Hessian.

    >>> import retrograde as rg
    >>> rg.hvp(lambda v: v[0]**2 * v[1], [3.0, 2.0], [1.0, 0.0])
    [4.0, 6.0]
    """
    with keeping_history():
        call = called(function, "hvp", (point,), {}, 0)
        first = pull_values((call.scalar(),), (1.0,), call.inputs, call.since)
        directions = _matching(vector, call.nests[0], "the vector")
        slope = _slope(call.settled(first, "zero"), directions)
        found: list[Number | None] = [zeros(v) for v in call.inputs]
        if isinstance(slope, Value):
            found = pull_back((slope,), (1.0,), call.inputs, call.since)
        return call.shaped(call.released(call.settled(found, "zero")))


def _slope(gradients: Sequence[Any], directions: Sequence[Any]) -> Any:
    """The slope in a direction: the sum of the products of all numbers."""
    if not any(getattr(g, "ndim", 0) for g in gradients):
        return dot(gradients, directions)
    return sum_(
        [
            do("sum", do("mul", g, d)) if getattr(g, "ndim", 0) else g * d
            for g, d in zip(gradients, directions)
        ]
    )
