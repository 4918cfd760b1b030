"""Anyone's engine behind one face: where its numbers and gradients are, how backward is called.

The class is looked for in a namespace; closures or local gradients, a method or a function
``backward``, ``grad`` or ``gradient``: the adapter finds out by making a value and looking at it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
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
REFLECTED: Final = {
    "add": "__radd__", "sub": "__rsub__", "mul": "__rmul__", "div": "__rtruediv__",
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
        """Whether the engine has an operation of its own: not one of math, nor of float.

        >>> class Value:
        ...     def __init__(self, data): self.data, self.grad = data, 0
        ...     def __mul__(self, other): ...
        ...     def backward(self): ...
        >>> from math import exp
        >>> it = Adapter({"Value": Value, "exp": exp})
        >>> it.has("mul"), it.has("add"), it.has("exp")
        (True, False, False)
        """
        if op in OPERATORS:
            return self._own(OPERATORS[op]) is not None
        return callable(self._own(op)) or self._is_function(op)

    def _own(self, name: str) -> Any:
        """What the class calls so; what it only inherits from a builtin class is not its own."""
        for kind in self.kind.__mro__:
            if name in vars(kind):
                return None if kind.__module__ == "builtins" else vars(kind)[name]
        return None

    def _is_function(self, name: str) -> bool:
        return hasattr(self._namespace.get(name), "__code__")

    def functions(self) -> dict[str, Callable[[Any], Any]]:
        """Functions such as exp, whether the engine has them as methods or in its file."""
        return {name: self._function(name) for name in FUNCTIONS if self.has(name)}

    def _function(self, name: str) -> Callable[[Any], Any]:
        if callable(self._own(name)):
            return lambda value: getattr(value, name)()
        found: Callable[[Any], Any] = self._namespace[name]
        return found

    def lines(self, file: str) -> dict[str, int]:
        """Where in a file each operation begins, and backward."""
        found: dict[str, Any] = {op: self._own(name) for op, name in OPERATORS.items()}
        found |= {f"reflected {op}": self._own(name) for op, name in REFLECTED.items()}
        for name in FUNCTIONS:
            found[name] = self._own(name) or self._namespace.get(name)
        for name in reversed(BACKWARD_NAMES):
            found["backward"] = (
                self._own(name) or self._namespace.get(name) or found.get("backward")
            )
        codes = {name: getattr(it, "__code__", None) for name, it in found.items()}
        return {
            name: code.co_firstlineno
            for name, code in codes.items()
            if code is not None and code.co_filename == file
        }

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


def number_hashes(kind: type[Any]) -> None:
    """Hash values by the order in which they are first hashed, where they hash by address.

    A set of values is then gone through in the same order on every run: an engine that is wrong
    in a way that depends on it is always wrong in the same way.
    """
    numbers: dict[int, int] = {}
    if getattr(kind, "__hash__", None) == object.__hash__:
        with suppress(TypeError, AttributeError):  # a class that lets nothing be set
            setattr(kind, "__hash__", lambda self: numbers.setdefault(id(self), len(numbers)))  # noqa: B010


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
    code = getattr(function, "__code__", None)
    return code.co_argcount - len(function.__defaults__ or ()) if code else 1
