"""A tiny engine with faults that can be switched on: what a misconception does to numbers.

``engine("overwrites")`` is a class of values that is right but for that one fault;
``engine()`` is right. A learner's answers are compared with those of each of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, ClassVar, Final

BINARY: Final = ("add", "sub", "mul", "div")
UNARY: Final = ("neg", "pow", "exp", "log", "tanh", "relu")
FAULTS: Final = (
    "overwrites", "overwrites:first", "overwrites:second",
    *(f"overwrites:{op}" for op in (*BINARY, *UNARY)),
    *(f"overwrites:{op}-{place}" for op in BINARY for place in ("first", "second")),
    "one-path", "set-of-inputs", *(f"one-input:{op}" for op in BINARY),
    "visits-too-early", "visits-too-early:recursion", "visits-too-early:breadth",
    "one-step", "order-not-reversed", "no-seed", "nothing-arrives", "own-gradient",
    "forgot-upstream", "adds-upstream",
    "interior-leak", "clears-leaves", "recursion-limit",
    "halves", "not-swapped", "mul-like-add", "add-like-mul", "second-sign", "sign:neg",
    "from-input", "from-input:exp", "from-input:tanh", "from-input:sigmoid", "square-forgotten",
    "value-not-slope", "power-rule-on-exp", "power-not-lowered", "power-factor-lost",
    "inverse-lost", "from-result",
    "denominator-sign", "denominator-square", "denominator-like-numerator",
    "gate-always-open", "gate-on-upstream", "gate-inverted", "edge",
    "reflected-swapped", "reflected-swapped:sub", "reflected-swapped:div",
    "missing-reflected", "numbers-not-wrapped",
)  # fmt: skip
"""Faults of the engine. After a colon stands which form of the misconception it is."""

STYLES: Final = (
    (), ("sub-by-neg", "div-by-pow"), ("sub-by-neg", "neg-by-mul", "div-by-pow"),
)  # fmt: skip
"""Ways to write an engine that are all right: operations of their own, or made of others.

A fault of one operation shows in all that are made of it.
"""

CONFUSABLE: Final = {"order-not-reversed": "one-step", "own-gradient": "nothing-arrives"}
"""Faults whose answers may be those of another that says less: then the lesser is named."""

LONGEST_RECURSION: Final = 20_000
"""Steps after which recursion without an order is given up: it takes exponentially many."""


def misconception_of(fault: str) -> str:
    """The name of the misconception a fault is a form of.

    >>> misconception_of("visits-too-early:breadth")
    'visits-too-early'
    """
    return fault.partition(":")[0]


@cache
def engine(*faults: str) -> type[FaultyValue]:
    """The engine with these faults, and written in the style that is named beside them.

    >>> a = engine("overwrites")(3.0)
    >>> (a + a).backward(); a.grad
    1.0
    """
    unknown = set(faults) - set(FAULTS) - set(STYLES[-1])
    if unknown:
        raise KeyError(f"there is no fault {unknown}")
    return type("Value", (FaultyValue,), {"faults": frozenset(faults)})


class FaultyValue:
    """A value with its inputs and partials; every operation asks which faults are on."""

    faults: ClassVar[frozenset[str]] = frozenset()

    def __init__(
        self,
        data: float,
        inputs: tuple[FaultyValue, ...] = (),
        partials: tuple[float, ...] = (),
        op: str = "",
    ) -> None:
        self.data = float(data)
        self.grad = 0.0
        self._inputs = inputs
        self._partials = partials
        self._op = op

    def _made(self, data: float, *pairs: tuple[FaultyValue, float], op: str = "") -> FaultyValue:
        if f"one-input:{op}" in self.faults:
            pairs = (pairs[0], (pairs[1][0], 0.0))
        if "set-of-inputs" in self.faults:
            pairs = tuple({id(value): (value, partial) for value, partial in pairs}.values())
        inputs = tuple(value for value, _ in pairs)
        return type(self)(data, inputs, tuple(partial for _, partial in pairs), op)

    def _value(self, other: Any) -> FaultyValue:
        if isinstance(other, FaultyValue):
            return other
        if "numbers-not-wrapped" in self.faults:
            raise AttributeError(f"'{type(other).__name__}' object has no attribute 'data'")
        return type(self)(other)

    def _reflected(self) -> None:
        if "missing-reflected" in self.faults:
            raise TypeError("unsupported operand type(s)")

    # ---- operations ----

    def __add__(self, other: Any) -> FaultyValue:
        right = self._value(other)
        first = second = 0.5 if "halves" in self.faults else 1.0
        if "add-like-mul" in self.faults:
            first, second = right.data, self.data
        return self._made(self.data + right.data, (self, first), (right, second), op="add")

    def __radd__(self, other: Any) -> FaultyValue:
        self._reflected()
        return self.__add__(other)

    def __sub__(self, other: Any) -> FaultyValue:
        right = self._value(other)
        if "sub-by-neg" in self.faults:
            return self + -right
        second = 1.0 if "second-sign" in self.faults else -1.0
        return self._made(self.data - right.data, (self, 1.0), (right, second), op="sub")

    def __rsub__(self, other: Any) -> FaultyValue:
        self._reflected()
        wrong = self.faults & {"reflected-swapped", "reflected-swapped:sub"}
        return self - other if wrong else self._value(other) - self

    def __mul__(self, other: Any) -> FaultyValue:
        right = self._value(other)
        first, second = right.data, self.data
        if "not-swapped" in self.faults:
            first, second = second, first
        elif "mul-like-add" in self.faults:
            first = second = 1.0
        return self._made(self.data * right.data, (self, first), (right, second), op="mul")

    def __rmul__(self, other: Any) -> FaultyValue:
        self._reflected()
        return self.__mul__(other)

    def __truediv__(self, other: Any) -> FaultyValue:
        right = self._value(other)
        if "div-by-pow" in self.faults:
            return self * right**-1
        x, y = self.data, right.data
        second = -x / (y * y)
        if "denominator-sign" in self.faults:
            second = -second
        elif "denominator-square" in self.faults:
            second = -x / y
        elif "denominator-like-numerator" in self.faults:
            second = 1.0 / x
        return self._made(x / y, (self, 1.0 / y), (right, second), op="div")

    def __rtruediv__(self, other: Any) -> FaultyValue:
        self._reflected()
        wrong = self.faults & {"reflected-swapped", "reflected-swapped:div"}
        return self / other if wrong else self._value(other) / self

    def __neg__(self) -> FaultyValue:
        if "neg-by-mul" in self.faults:
            return self * -1
        return self._made(-self.data, (self, 1.0 if "sign:neg" in self.faults else -1.0), op="neg")

    def __pow__(self, power: float) -> FaultyValue:
        slope = power * self.data ** (power - 1)
        if "power-not-lowered" in self.faults:
            slope = power * self.data**power
        elif "power-factor-lost" in self.faults:
            slope = self.data ** (power - 1)
        return self._made(self.data**power, (self, slope), op="pow")

    def _function(self, name: str, result: float, slope: float) -> FaultyValue:
        if "value-not-slope" in self.faults and name in ("log", "tanh", "relu"):
            slope = result
        return self._made(result, (self, slope), op=name)

    def exp(self) -> FaultyValue:
        """The exponential."""
        result = math.exp(self.data)
        slope = result
        if self.faults & {"from-input", "from-input:exp"}:
            slope = self.data
        elif "power-rule-on-exp" in self.faults:
            slope = self.data * math.exp(self.data - 1)
        return self._function("exp", result, slope)

    def log(self) -> FaultyValue:
        """The natural logarithm."""
        result = math.log(self.data)
        slope = 1.0 / self.data
        if "inverse-lost" in self.faults:
            slope = self.data
        elif "from-result" in self.faults:
            slope = 1.0 / result if result else math.inf
        return self._function("log", result, slope)

    def tanh(self) -> FaultyValue:
        """The hyperbolic tangent."""
        result = math.tanh(self.data)
        seen = self.data if self.faults & {"from-input", "from-input:tanh"} else result
        slope = 1.0 - (seen if "square-forgotten" in self.faults else seen * seen)
        return self._function("tanh", result, slope)

    def sigmoid(self) -> FaultyValue:
        """The logistic function."""
        result = 1.0 / (1.0 + math.exp(-self.data))
        seen = self.data if self.faults & {"from-input", "from-input:sigmoid"} else result
        return self._function("sigmoid", result, seen * (1.0 - seen))

    def sin(self) -> FaultyValue:
        """The sine."""
        return self._function("sin", math.sin(self.data), math.cos(self.data))

    def cos(self) -> FaultyValue:
        """The cosine."""
        return self._function("cos", math.cos(self.data), -math.sin(self.data))

    def sqrt(self) -> FaultyValue:
        """The square root."""
        result = math.sqrt(self.data)
        return self._function("sqrt", result, 0.5 / result)

    def relu(self) -> FaultyValue:
        """The input where it is positive, else 0."""
        opened = self.data >= 0 if "edge" in self.faults else self.data > 0
        if "gate-inverted" in self.faults:
            opened = not opened
        slope = 1.0 if opened or "gate-always-open" in self.faults else 0.0
        return self._function("relu", max(0.0, self.data), slope)

    # ---- backward ----

    def backward(self) -> None:
        """Walk the graph and leave gradients, as far as the faults allow."""
        order = inputs_first(self)
        if "recursion-limit" in self.faults and len(order) > 900:
            raise RecursionError("maximum recursion depth exceeded")
        for node in order:
            interior = bool(node._inputs)
            if (interior and "interior-leak" not in self.faults) or "clears-leaves" in self.faults:
                node.grad = 0.0
        if "no-seed" not in self.faults:
            self.grad = 1.0 if self._inputs else self.grad + 1.0
        received: set[int] = set()
        for node in self._walk(order):
            for place, (value, partial) in enumerate(zip(node._inputs, node._partials)):
                side = ("first", "second")[place]
                kinds = {"overwrites", f"overwrites:{node._op}", f"overwrites:{side}",
                         f"overwrites:{node._op}-{side}"}  # fmt: skip
                amount = self._contribution(node, value, partial)
                value._receive(amount, bool(self.faults & kinds), received)

    def _contribution(self, node: FaultyValue, into: FaultyValue, partial: float) -> float:
        if "forgot-upstream" in self.faults:
            return partial
        if "adds-upstream" in self.faults:
            return partial + node.grad
        if "own-gradient" in self.faults:
            return partial * into.grad
        if "gate-on-upstream" in self.faults and node._op == "relu":
            return max(0.0, node.grad)
        return partial * node.grad

    def _receive(self, amount: float, overwrites: bool, received: set[int]) -> None:
        if "one-path" in self.faults and id(self) in received:
            return
        received.add(id(self))
        self.grad = amount if overwrites else self.grad + amount

    def _walk(self, order: list[FaultyValue]) -> Iterable[FaultyValue]:
        for fault, walk in _WALKS.items():
            if fault in self.faults:
                return walk(self, order)
        return order[::-1]


def inputs_first(root: FaultyValue) -> list[FaultyValue]:
    """Everything under a root, each value after its inputs."""
    order: list[FaultyValue] = []
    seen = {id(root)}
    stack = [(root, iter(root._inputs))]
    while stack:
        node, rest = stack[-1]
        for value in rest:
            if id(value) not in seen:
                seen.add(id(value))
                stack.append((value, iter(value._inputs)))
                break
        else:
            stack.pop()
            order.append(node)
    return order


def _depth_first(root: FaultyValue, order: list[FaultyValue]) -> Iterator[FaultyValue]:
    """On first sight, deep before wide."""
    seen: set[int] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            stack.extend(reversed(node._inputs))


def _breadth_first(root: FaultyValue, order: list[FaultyValue]) -> Iterator[FaultyValue]:
    """On first sight, level by level."""
    seen, level = {id(root)}, [root]
    for node in level:
        yield node
        for value in node._inputs:
            if id(value) not in seen:
                seen.add(id(value))
                level.append(value)


def _recursive(root: FaultyValue, order: list[FaultyValue]) -> Iterator[FaultyValue]:
    """Each contribution followed down at once, with all the gradient that is there by then."""
    stack = [(root, iter(range(len(root._inputs))))]
    for _ in range(LONGEST_RECURSION):
        node, rest = stack[-1]
        place = next(rest, None)
        if place is not None:
            yield _one_input(node, place)
            into = node._inputs[place]
            stack.append((into, iter(range(len(into._inputs)))))
        elif len(stack) > 1:
            stack.pop()
        else:
            return


def _one_input(node: FaultyValue, place: int) -> FaultyValue:
    """A stand-in for a node that has only one of its inputs."""
    single = type(node)(node.data, (node._inputs[place],), (node._partials[place],), node._op)
    single.grad = node.grad
    return single


_WALKS: Final[dict[str, Callable[[FaultyValue, list[FaultyValue]], Iterable[FaultyValue]]]] = {
    "visits-too-early": _depth_first,
    "visits-too-early:recursion": _recursive,
    "visits-too-early:breadth": _breadth_first,
    "order-not-reversed": lambda root, order: order,
    "one-step": lambda root, order: [root],
    "nothing-arrives": lambda root, order: [],
}
