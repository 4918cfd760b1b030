"""A function called on fresh values, for a transform: its arguments are taken apart, its result is
checked, and what comes out of it released.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import local
from typing import Any, Literal

from .._shared.numerics import np
from .._shared.operands import is_real_scalar
from .._values.modes import arrays_are_whole, needs_tensors
from .._values.nests import Nest, is_numeric, mapped, take_apart
from .._values.sequences import ComputingSequence
from ..errors import AliasError, ArgumentError, FunctionResultError, UnusedInputError
from ..errors.wording import kind_of
from ..tensor import Tensor, in_graph, number_of
from ..value import Value, core
from .arrays import zeros
from .pulling import Number, key

Wrt = Any  # an int, a str, or a tuple of those
Unused = Literal["zero", "raise"]


@contextmanager
def keeping_history() -> Iterator[None]:
    """A transform keeps the history of what its function does also inside no_grad()."""
    depth = core.swap_no_grad(0)
    try:
        yield
    finally:
        core.swap_no_grad(depth)


def _fresh(item: Any, place: str) -> Any:
    """A new value or tensor for an argument; connected to it where that takes gradients itself, and
    while recording, where its number is another one at the next run."""
    if in_graph(item) and (item.requires_grad or core.in_recording()):
        value = item * 1.0
    elif isinstance(item, Tensor) or is_numeric(item):
        value = Tensor(number_of(item))
    else:
        value = Value(item.data if isinstance(item, Value) else item)
    value.label = place
    return value


def _refusal(place: str, item: object) -> Exception:
    if isinstance(item, Tensor):
        needs_tensors()
    return ArgumentError.item(place, item)


class Here(local):
    """How many transforms this thread has begun."""

    begun = 0


here = Here()


@dataclass
class Call:
    """A function called on fresh values, ready to be pulled back through."""

    name: str
    result: Any
    nests: list[Nest]
    bare: bool
    inputs: list[Any]  # fresh values and tensors
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
        return [zeros(v) if g is None else g for v, g in zip(self.inputs, gradients)]

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
        values = tuple(item for item in items if in_graph(item))
        if core.is_closed(values, tuple(self.inputs), self.since):
            outside: set[int] = set()
        else:
            outside = self._outside(values)
        return [
            item if in_graph(item) and key(item) in outside else _plain(number_of(item))
            for item in items
        ]

    @contextmanager
    def reopened(self) -> Iterator[None]:
        """Inside, the fresh tensors take gradients again: a pull after the results went out."""
        closed = [v for v in self.inputs if isinstance(v, Tensor) and not v.requires_grad]
        for v in closed:
            v.requires_grad = True
        try:
            yield
        finally:
            for v in closed:
                v.requires_grad = False

    def _outside(self, roots: tuple[Value, ...]) -> set[int]:
        """The ids of what depends on values that take gradients and are not this call's own."""
        nodes = core.order_since(roots, self.since)
        own = {key(node) for node in nodes} | {key(v) for v in self.inputs if v.op == "leaf"}
        outside: set[int] = set()
        for value in roots:
            if key(value) not in own and value.requires_grad:
                outside.add(key(value))
        for node in nodes:
            inputs = [(key(v), v.requires_grad) for v in node.inputs]
            if any(one in outside or (takes and one not in own) for one, takes in inputs):
                outside.add(key(node))
        return outside

    def release_nest(self, nest: Any) -> Any:
        """Extra outputs on their way out: values inside become numbers where they can."""

        def released(part: Any) -> Any:
            if isinstance(part, ComputingSequence):
                return mapped(released, np.asarray(part))
            return self.released([part])[0] if in_graph(part) else part

        return mapped(released, nest, _left_whole)


def _plain(number: Any) -> Any:
    """A number as a float, an array as one of its own."""
    return np.array(number) if np.ndim(number) else float(number)


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


def called(
    function: Callable[..., Any], name: str, args: Sequence[Any], kwargs: dict[str, Any], wrt: Wrt
) -> Call:
    """Call a function with fresh values in the place of the arguments to differentiate."""
    arguments: list[Any] = list(args)
    named = dict(kwargs)
    selected = _selected(function, name, arguments, named, wrt)
    nests = []
    whole = arrays_are_whole()
    for where in selected:
        if isinstance(where, int):
            nests.append(take_apart(arguments[where], f"arg[{where}]", _refusal, whole=whole))
        else:
            nests.append(take_apart(named[where], where, _refusal, whole=whole))
    since = core.begin_epoch()
    inputs: list[Any] = []
    for where, nest in zip(selected, nests):
        fresh = [_fresh(item, place) for item, place in zip(nest.items, nest.places)]
        inputs.extend(fresh)
        if isinstance(where, int):
            arguments[where] = nest.argument(fresh)
        else:
            named[where] = nest.argument(fresh)
    here.begun = begun = here.begun + 1
    before = [key(v) for v in inputs]
    result = function(*arguments, **named)
    for v, was in zip(inputs, before):
        if key(v) != was:
            raise AliasError.argument(name, v)
    nested = here.begun > begun
    return Call(name, result, nests, not isinstance(wrt, tuple), inputs, since, nested)


def split_aux(call: Call, has_aux: bool) -> Any:
    """Set the extra outputs apart from the value."""
    if not has_aux:
        return None
    if not isinstance(call.result, tuple) or len(call.result) != 2:
        raise FunctionResultError.aux(call.name, call.result)
    call.result, aux = call.result
    return aux


def outputs_of(call: Call) -> Nest:
    """The result of a function that may return several values, taken apart."""

    def refusal(place: str, part: object) -> Exception:
        if part is call.result:
            return FunctionResultError.of(call.name, part)
        return FunctionResultError(
            f"{call.name}: {place} is {kind_of(part)}; return values and numbers, or lists, "
            "tuples, dicts and arrays of them."
        )

    return take_apart(call.result, "the result", refusal, whole=arrays_are_whole())


def checked_unused(unused: Unused) -> None:
    if unused not in ("zero", "raise"):
        raise ArgumentError(f"unused={unused!r} is unknown: write 'zero' or 'raise'.")
