"""What is checked: a function and a point, as places, numbers, and ways to evaluate them.

Three kinds, told apart by :func:`subject_of`: a function of its arguments, a loss over leaves that
it closes over (``parameters``), and a compiled function. Nothing here judges, and whatever is
touched for a while (``data`` of parameters, any ``grad``) is put back.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from math import fsum, nan
from typing import Any

import numpy as np

from .._derivatives.calling import here, keeping_history
from .._shared.operands import is_real_scalar
from .._values.nests import Nest, flatten, is_array, mapped, take_apart
from .._values.sequences import ComputingSequence, sequence
from ..errors import CheckError, FunctionResultError
from ..program.compiled import Compiled
from ..program.rows import Uniform, uniform
from ..tensor import Tensor, in_graph
from ..value import Value, core
from .held import Held, held_by, numbers_in, of_values_alone, places_in, set_data

MOST_ROWS = 256
"""A compiled function over more rows than this is checked without a graph of all of them."""

Graph = tuple[Value, list[Any]]


class Subject:
    """A function at a point. ``caller`` is the name that messages begin with."""

    def __init__(
        self, caller: str, function: Callable[..., Any], places: list[str], numbers: list[float]
    ) -> None:
        self.caller, self.function = caller, function
        self.name = getattr(function, "__name__", type(function).__name__)
        self.places, self.numbers = places, numbers
        self.evaluations = 0

    def value(self, numbers: Sequence[float]) -> float:
        """The function's number; NaN where it cannot be computed."""
        self.evaluations += 1
        try:
            return self._value(numbers)
        except (ArithmeticError, ValueError):
            if list(numbers) == self.numbers:
                raise
            return nan

    def moved(self, moves: Sequence[float], by: float) -> float:
        """The function along a direction."""
        return self.value([x + by * move for x, move in zip(self.numbers, moves)])

    def moved_one(self, index: int, number: float) -> float:
        """The function with one number replaced."""
        numbers = list(self.numbers)
        numbers[index] = number
        return self.value(numbers)

    def _value(self, numbers: Sequence[float]) -> float:
        raise NotImplementedError

    def gradient(self, numbers: Sequence[float]) -> list[float]:
        """The gradient as retrograde gives it."""
        raise NotImplementedError

    def graph(self, numbers: Sequence[float]) -> Graph | None:
        """The graph: its root, and a leaf a number; None where there is too much of it."""
        raise NotImplementedError

    def mixed(self, numbers: Sequence[float]) -> Graph | None:
        """The graph, tensors or not: its root, and the leaf or the place in one of each number."""
        return None

    def _checked(self, result: Any, begun: int) -> Value:
        """The one value a function returned."""
        if is_real_scalar(result) and not isinstance(result, Value) and here.begun > begun:
            return Value(result, requires_grad=False)  # a derivative that turned out constant
        if isinstance(result, Value):
            return result
        if isinstance(result, (list, tuple, dict, np.ndarray, ComputingSequence, Tensor)):
            raise CheckError.several(self.caller, result)
        raise FunctionResultError.of(self.caller, result)


class Arguments(Subject):
    """A function of arguments: numbers and nests of them."""

    def __init__(self, caller: str, function: Callable[..., Any], nests: list[Nest]) -> None:
        places = [place for nest in nests for place in nest.places]
        items = [item for nest in nests for item in nest.items]
        numbers = [item.data if isinstance(item, Value) else float(item) for item in items]
        super().__init__(caller, function, places, numbers)
        self._nests = nests
        whole = [(place, item) for place, item in zip(places, items) if isinstance(item, int)]
        self._whole = whole[0] if whole else None

    def _called(self, numbers: Sequence[float]) -> Graph:
        leaves: list[Any] = [Value(x, label=place) for x, place in zip(numbers, self.places)]
        source = iter(leaves)
        tensors = Held(leaves)
        arguments = [nest.filled(source, tensors.tensor) for nest in self._nests]
        with keeping_history():
            begun = here.begun
            try:
                result = self.function(*arguments)
            except TypeError as error:
                if self._whole is not None:
                    raise CheckError.whole(self.caller, *self._whole, error) from error
                raise
            return self._checked(result, begun), tensors.numbers

    def _value(self, numbers: Sequence[float]) -> float:
        return self._called(numbers)[0].data

    def gradient(self, numbers: Sequence[float]) -> list[float]:
        """What ``backward()`` brings to each argument."""
        return pulled_back(*self._called(numbers))

    def graph(self, numbers: Sequence[float]) -> Graph | None:
        """The function's graph on fresh leaves."""
        return of_values_alone(*self._called(numbers))

    def mixed(self, numbers: Sequence[float]) -> Graph | None:
        """The function's graph on fresh leaves, some of them tensors."""
        return self._called(numbers)


class Parameters(Subject):
    """A function without arguments over leaves that it closes over; their data is moved."""

    def __init__(self, caller: str, function: Callable[..., Any], leaves: list[Any]) -> None:
        names = [leaf.label or f"parameters[{i}]" for i, leaf in enumerate(leaves)]
        places = [place for leaf, name in zip(leaves, names) for place in places_in(leaf, name)]
        self._leaves = [number for leaf in leaves for number in numbers_in(leaf)]
        super().__init__(caller, function, places, [leaf.data for leaf in self._leaves])

    def _with(self, numbers: Sequence[float], action: Callable[[], Any]) -> Any:
        if list(numbers) == self.numbers:
            return action()
        try:
            set_data(self._leaves, numbers)
            return action()
        finally:
            set_data(self._leaves, self.numbers)

    def _root(self) -> Value:
        with keeping_history():
            begun = here.begun
            return self._checked(self.function(), begun)

    def _value(self, numbers: Sequence[float]) -> float:
        return float(self._with(numbers, self._number))

    def _number(self) -> float:
        if isinstance(self.function, Compiled):
            return _total(self.caller, self.function())
        return self._root().data

    def gradient(self, numbers: Sequence[float]) -> list[float]:
        """What ``backward()`` brings to each parameter."""
        if isinstance(self.function, Compiled):
            return list(self._with(numbers, self._compiled_gradient))
        return list(self._with(numbers, lambda: pulled_back(self._root(), self._leaves)))

    def _compiled_gradient(self) -> list[float]:
        assert isinstance(self.function, Compiled)
        kept = [leaf.grad for leaf in self._leaves]
        try:
            for leaf in self._leaves:
                leaf.grad = 0.0
            self.function.backward()
            return [leaf.grad for leaf in self._leaves]
        finally:
            for leaf, grad in zip(self._leaves, kept):
                leaf.grad = grad

    def graph(self, numbers: Sequence[float]) -> Graph | None:
        """The loss as it is computed over the parameters themselves."""
        function = self.function
        if isinstance(function, Compiled):
            function = function._function
        with keeping_history():
            begun = here.begun
            root = self._with(numbers, lambda: self._checked(function(), begun))
        return of_values_alone(root, self._leaves)

    def mixed(self, numbers: Sequence[float]) -> Graph | None:
        """The loss over the parameters, some of them in tensors."""
        if isinstance(self.function, Compiled):
            return None
        return self._with(numbers, self._root), self._leaves


class Replayed(Subject):
    """A compiled function; over rows it is the sum of their results that is checked."""

    def __init__(self, caller: str, function: Compiled, arguments: Sequence[Any]) -> None:
        self._fixed = [isinstance(a, np.ndarray) and a.dtype.kind in "biu" for a in arguments]
        self._given = list(arguments)
        names = list(function._signature.parameters)
        self._nests = [
            take_apart(
                arg.array if isinstance(arg, Uniform) else arg,
                name,
                partial(CheckError.item, caller),
            )
            for arg, name, fixed in zip(arguments, names, self._fixed)
            if not fixed
        ]
        places = [place for nest in self._nests for place in nest.places]
        items = [item for nest in self._nests for item in nest.items]
        numbers = [item.data if isinstance(item, Value) else float(item) for item in items]
        super().__init__(caller, function, places, numbers)

    def _arguments(self, items: Sequence[Any]) -> list[Any]:
        source, nests = iter(items), iter(self._nests)
        built = []
        for given, fixed in zip(self._given, self._fixed):
            if fixed:
                built.append(given)
                continue
            nest = next(nests).filled(source)
            built.append(uniform(nest) if isinstance(given, Uniform) else nest)
        return built

    def _value(self, numbers: Sequence[float]) -> float:
        return _total(self.caller, self.function(*self._arguments([float(x) for x in numbers])))

    def gradient(self, numbers: Sequence[float]) -> list[float]:
        """What the compiled function's own ``value_and_grad`` gives."""
        assert isinstance(self.function, Compiled)
        arguments = self._arguments([float(x) for x in numbers])
        rows = _rows(self._given)
        names = list(self.function._signature.parameters)
        wrt = tuple(name for name, fixed in zip(names, self._fixed) if not fixed)
        how = None if rows is None else "sum"
        _, gradients = self.function.value_and_grad(*arguments, wrt=wrt, reduce=how)
        return [float(x) for x in take_apart(gradients, "gradients").items]

    def graph(self, numbers: Sequence[float]) -> Graph | None:
        """The function underneath, called eagerly, row after row."""
        rows = _rows(self._given)
        if rows is not None and not 0 < rows <= MOST_ROWS:
            return None
        assert isinstance(self.function, Compiled)
        leaves = [Value(x, label=place) for x, place in zip(numbers, self.places)]
        source, nests = iter(leaves), iter(self._nests)
        built = [
            given if fixed else next(nests).filled(source)
            for given, fixed in zip(self._given, self._fixed)
        ]
        shared = [isinstance(given, Uniform) for given in self._given]
        with keeping_history():
            begun = here.begun
            results = [
                self._checked(
                    self.function._function(
                        *[_row(arg, None if same else row) for arg, same in zip(built, shared)]
                    ),
                    begun,
                )
                for row in range(1 if rows is None else rows)
            ]
            return results[0] if len(results) == 1 else core.sum(results), leaves


def _rows(arguments: Sequence[Any]) -> int | None:
    """How many rows the arguments have; None where all of them are uniform."""
    found, _ = flatten(list(arguments), is_array)
    return next((len(part) for part in found if is_array(part) and part.ndim > 0), None)


def _row(nest: Any, row: int | None) -> Any:
    """One row of an argument, as a compiled function sees it; None: the same for all rows."""

    def seen(part: Any) -> Any:
        if not is_array(part):
            return part
        item = part if row is None or part.ndim == 0 else part[row]
        return sequence(item.reshape(-1).tolist(), item.shape) if is_array(item) else item

    return mapped(seen, nest, is_array)


def _total(caller: str, result: Any) -> float:
    if isinstance(result, np.ndarray) and result.ndim == 1:
        return fsum(result) if np.isfinite(result).all() else float(result.sum())
    if is_real_scalar(result):
        return float(result)
    raise CheckError.several(caller, result)


def pulled_back(root: Value, leaves: Sequence[Any]) -> list[float]:
    """What ``root.backward()`` brings to the leaves; every gradient is put back afterwards."""
    if not root.requires_grad:
        return [0.0] * len(leaves)
    nodes = [v for v in core.order((root,)) if isinstance(v, Value) or v.op == "leaf"]
    reached = {core.key(node) for node in nodes}
    kept = [node.grad for node in nodes]
    try:
        for node in nodes:
            if node.op == "leaf":
                node.grad = 0.0 if isinstance(node, Value) else None
        root.backward()
        return [leaf.grad if core.key(held_by(leaf)) in reached else 0.0 for leaf in leaves]
    finally:
        for node, grad in zip(nodes, kept):
            node.grad = grad


def _opened(part: Any) -> Any:
    """A tensor among arguments as an array: fresh ones are made of it."""
    return np.array(part.data) if isinstance(part, Tensor) else part


def _required(function: Callable[..., Any]) -> int | None:
    """How many arguments a function insists on; None where its signature cannot be read."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    free = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return len([p for p in parameters if p.default is p.empty and p.kind not in free])


def _most(function: Callable[..., Any]) -> int | None:
    """How many arguments a function can take in a row; None where that is open or not known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters):
        return None
    return len([p for p in parameters if p.kind <= inspect.Parameter.POSITIONAL_OR_KEYWORD])


def _names(function: Callable[..., Any], count: int) -> list[str]:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names = [p.name for p in parameters if p.kind <= inspect.Parameter.POSITIONAL_OR_KEYWORD]
    return [names[i] if i < len(names) else f"arg[{i}]" for i in range(count)]


def subject_of(caller: str, function: Callable[..., Any], point: Any) -> Subject:
    """A function and a point, made ready.

    A tuple holds the arguments one by one, anything else is the only argument. Leaves given to a
    function that needs no argument are the parameters it closes over.
    """
    if not callable(function):
        raise CheckError.not_callable(caller, function)
    if callable(getattr(point, "parameters", None)):
        point = list(point.parameters())
    arguments = point if type(point) is tuple else (point,)
    refusal = partial(CheckError.item, caller)
    required = _required(function)
    if required == 0 and arguments:
        items = take_apart(point, "parameters", refusal, whole=True).items
        if items and all(in_graph(item) for item in items):
            leaves = list({core.key(leaf): leaf for leaf in items}.values())
            for leaf in leaves:
                if leaf.op != "leaf":
                    raise CheckError.interior(caller, leaf)
            return Parameters(caller, function, leaves)
    if required is not None and required > len(arguments):
        raise CheckError.arguments(caller, function, required, point)
    most = _most(function)
    if most is not None and len(arguments) > most:
        raise CheckError.too_many(caller, function, most, len(arguments))
    if isinstance(function, Compiled):
        subject: Subject = Replayed(caller, function, arguments)
    else:
        names = _names(function, len(arguments))
        plain = [mapped(_opened, arg, is_real_scalar) for arg in arguments]
        nests = [take_apart(arg, name, refusal) for arg, name in zip(plain, names)]
        subject = Arguments(caller, function, nests)
    if not subject.numbers:
        raise CheckError.nothing(caller)
    return subject
