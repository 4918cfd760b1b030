"""Anyone's engine behind one face: where its numbers and gradients are, how backward is called.

The class is looked for in a namespace; closures or local gradients, a method or a function
``backward``, ``grad`` or ``gradient``: the adapter finds out by making a value and looking at it.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

DATA_NAMES: Final = ("data", "value", "val", "v", "x", "number", "item")
GRADIENT_NAMES: Final = ("grad", "gradient", "g", "adjoint", "derivative", "dv", "d")
BACKWARD_NAMES: Final = (
    "backward",
    "backprop",
    "backpropagate",
    "propagate",
    "back",
    "run_backward",
)
CLASS_NAMES: Final = ("Value", "Scalar", "Node", "Variable", "Var", "Tensor", "Number")
FUNCTIONS: Final = ("exp", "log", "tanh", "relu", "sigmoid", "sin", "cos", "sqrt")
OPERATORS: Final = {
    "add": "__add__", "sub": "__sub__", "mul": "__mul__", "div": "__truediv__",
    "pow": "__pow__", "neg": "__neg__",
}  # fmt: skip
PROBED: Final = 2.75
"""The number a first value is made of; its attribute is where data lives."""


class NoEngineError(Exception):
    """Nothing in the namespace can be used as a class of values; the text says why."""


class Adapter:
    """An engine: make a leaf, read data and gradient, set it, run backward."""

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._namespace = namespace
        self.kind = _class_in(namespace)
        try:
            made = self.kind(PROBED)
        except Exception as error:
            raise NoEngineError(
                f"{self.kind.__name__}({PROBED}) raised {type(error).__name__}: {error}"
            ) from None
        self.data_name = _attribute(made, DATA_NAMES, lambda it: it == PROBED)
        self.gradient_name = _attribute(made, GRADIENT_NAMES, lambda it: it is None or it == 0)
        if self.data_name is None:
            raise NoEngineError(f"{self.kind.__name__}({PROBED}) keeps {PROBED} in no attribute")
        if self.gradient_name is None:
            raise NoEngineError(
                f"{self.kind.__name__} has no attribute for a gradient that begins at 0"
            )
        self._backward = self._found_backward()

    def _found_backward(self) -> Callable[[Any], Any]:
        for name in BACKWARD_NAMES:
            method = getattr(self.kind, name, None)
            if callable(method):
                self.backward_name = f"value.{name}()"
                seeded = _required(method) > 1
                return lambda root: getattr(root, name)(*((1.0,) if seeded else ()))
        for name in BACKWARD_NAMES:
            function = self._namespace.get(name)
            if callable(function):
                self.backward_name = f"{name}(value)"
                seeded = _required(function) > 1
                return lambda root: function(root, *((1.0,) if seeded else ()))
        raise NoEngineError(
            f"{self.kind.__name__} has no method backward(), "
            "and the file has no function backward(root)"
        )

    def leaf(self, number: float) -> Any:
        """A value made of a number."""
        return self.kind(number)

    def data(self, value: Any) -> float:
        """The number of a value."""
        return _number(getattr(value, str(self.data_name)))

    def gradient(self, value: Any) -> float:
        """The gradient of a value; None counts as 0."""
        found = getattr(value, str(self.gradient_name))
        return 0.0 if found is None else _number(found)

    def prime(self, values: Sequence[Any], gradient: float) -> None:
        """Set the gradients of these values."""
        for value in values:
            setattr(value, str(self.gradient_name), gradient)

    def backward(self, root: Any) -> None:
        """Run backward from a value."""
        self._backward(root)

    def has(self, op: str) -> bool:
        """Whether the engine has an operation.

        >>> from .faults import engine
        >>> it = Adapter({"Value": engine()})
        >>> it.has("mul"), it.has("relu"), it.has("sin")
        (True, True, False)
        """
        if op in OPERATORS:
            return hasattr(self.kind, OPERATORS[op])
        return callable(getattr(self.kind, op, None)) or callable(self._namespace.get(op))

    def functions(self) -> dict[str, Callable[[Any], Any]]:
        """Functions such as exp, whether the engine has them as methods or in its file."""
        return {name: self._function(name) for name in FUNCTIONS if self.has(name)}

    def _function(self, name: str) -> Callable[[Any], Any]:
        if callable(getattr(self.kind, name, None)):
            return lambda value: getattr(value, name)()
        found: Callable[[Any], Any] = self._namespace[name]
        return found

    def describe(self) -> dict[str, str]:
        """What was found, in words."""
        return {
            "class": self.kind.__name__,
            "data": str(self.data_name),
            "gradient": str(self.gradient_name),
            "backward": self.backward_name,
        }


def _number(thing: Any) -> float:
    if type(thing).__module__ == "numpy" and getattr(thing, "size", 1) == 1:
        return float(thing.reshape(()))
    return float(thing)


def _class_in(namespace: Mapping[str, Any]) -> type[Any]:
    for name in CLASS_NAMES:
        if isinstance(namespace.get(name), type):
            found: type[Any] = namespace[name]
            return found
    here = namespace.get("__name__")
    classes = [
        it
        for it in namespace.values()
        if isinstance(it, type) and it.__module__ == here and hasattr(it, "__add__")
    ]
    if classes:
        return classes[0]
    raise NoEngineError("the file has no class Value (nor another class with __add__)")


def _attribute(made: Any, names: Sequence[str], fits: Callable[[Any], bool]) -> str | None:
    own: list[str] = [*getattr(made, "__dict__", {}), *getattr(type(made), "__slots__", ())]
    for name in (*names, *own):
        try:
            found = getattr(made, name)
            if not callable(found) and not isinstance(found, (str, tuple, set, list)):
                if fits(found):
                    return name
        except Exception:  # a property of the learner's may raise anything
            continue
    return None


def _required(function: Any) -> int:
    """How many arguments a function must be given."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    return sum(it.default is it.empty and it.kind in (0, 1) for it in parameters)


def agree(one: float, other: float) -> bool:
    """Whether two answers are the same but for rounding.

    >>> agree(0.1 + 0.2, 0.3), agree(1.0, 1.001), agree(float("nan"), float("nan"))
    (True, False, True)
    """
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return math.isclose(one, other, rel_tol=1e-7, abs_tol=1e-9)
