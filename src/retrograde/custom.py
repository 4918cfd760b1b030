"""Custom ops: a function on numbers with its own backward rule.

The rule is given in one of three ways:

- the function returns ``(value, partials)`` as numbers;
- the function returns the value, and ``@op.partials`` gives the local derivatives;
- the function returns the value, and ``@op.vjp`` gives the contributions for an upstream gradient.

A rule of the last two kinds that is written with ops (``rg.exp``, ``*``, …) works on values as well
as on numbers, so the op can be differentiated again. A rule that names a parameter ``z`` after the
inputs is given the op's result there. The function itself must give the same again for the same
inputs: higher derivatives call it once more, to see whether data was changed in between.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any

from .errors import CustomOpError, GraphExitError, NotTwiceDifferentiable, OperandError
from .errors.wording import kind_of
from .operands import is_real_scalar
from .sites import calling_instruction, site_of
from .value import Value, belongs_to_caller, core

Rule = Callable[..., Any]


class CustomOp:
    """A custom op: call it on values and numbers. Made by :func:`custom_op`."""

    retrograde_rule = True
    name: str
    __qualname__: str

    def __init__(self, function: Rule) -> None:
        if not callable(function):
            raise CustomOpError.of(
                "?", f"custom_op takes a function, got {kind_of(function)}", None
            )
        update_wrapper(self, function)
        self.name = getattr(function, "__name__", "custom")
        self._function = function
        self._partials: Rule | None = None
        self._vjp: Rule | None = None
        self._place_of_z: float | None = None  # among the rule's parameters, if it has one

    def __repr__(self) -> str:
        return f"<custom op {self.name}>"

    def __reduce__(self) -> str:
        return self.__qualname__  # pickled by name, like a function

    def partials(self, rule: Rule) -> Rule:
        """Decorator: ``rule(*inputs)`` returns one local derivative an input."""
        self._take_rule(rule)
        self._partials = rule
        return rule

    def vjp(self, rule: Rule) -> Rule:
        """Decorator: ``rule(upstream, *inputs)`` returns one contribution an input."""
        self._take_rule(rule)
        self._vjp = rule
        return rule

    def _take_rule(self, rule: Rule) -> None:
        if not callable(rule):
            raise CustomOpError.of(self.name, f"a rule is a function, got {kind_of(rule)}", None)
        if self._partials or self._vjp:
            raise CustomOpError.of(self.name, "it has a rule already; give partials or a vjp", None)
        parameters = inspect.signature(rule).parameters
        by_position = [n for n, p in parameters.items() if p.kind <= p.POSITIONAL_OR_KEYWORD]
        if "z" in parameters:
            self._place_of_z = by_position.index("z") if "z" in by_position else math.inf

    def _ask(self, rule: Rule, operands: Sequence[Any], result: Any) -> Any:
        """Call a rule, with the op's result where it names a parameter ``z`` beyond the inputs."""
        if self._place_of_z is not None and self._place_of_z >= len(operands):
            return rule(*operands, z=result)
        return rule(*operands)

    @property
    def has_vjp(self) -> bool:
        """Whether its rule gives contributions rather than partials."""
        return self._vjp is not None

    def __call__(self, *operands: Any) -> Any:
        """The op on values and numbers: a value, or a float where all are numbers."""
        for operand in operands:
            if not isinstance(operand, Value) and not is_real_scalar(operand):
                raise OperandError.of(self.name, operand)
        numbers = [core.peek(v) if isinstance(v, Value) else float(v) for v in operands]
        outcome = self._function(*numbers)
        partials: Any = ()
        if self._partials is None and self._vjp is None:
            if not isinstance(outcome, tuple) or len(outcome) != 2:
                raise self._wrong(
                    f"its function returned {kind_of(outcome)}; return (value, partials), or give "
                    f"the rule with @{self.name}.partials or @{self.name}.vjp"
                )
            outcome, partials = outcome
        if isinstance(outcome, Value) or not is_real_scalar(outcome):
            raise self._wrong(
                f"its function returned {kind_of(outcome)} for the value, not a number"
            )
        value = float(outcome)
        if not any(isinstance(operand, Value) for operand in operands):
            return value
        inputs = tuple(
            v if isinstance(v, Value) else Value(n, requires_grad=False)
            for v, n in zip(operands, numbers)
        )
        if self._vjp is not None:
            return self.node_with_vjp(value, inputs)
        if self._partials is not None:
            partials = self._ask(self._partials, numbers, value)
        return Value(value, inputs, self._checked(partials, len(inputs), "partials"), _op=self)

    def node_with_vjp(
        self,
        data: float,
        inputs: tuple[Value, ...],
        numbers: Sequence[float] | None = None,
    ) -> Value:
        """A value whose backward asks the vjp, on the numbers its inputs have or had."""
        if numbers is None:
            numbers = [core.peek(v) for v in inputs]
        out = Value(data, inputs, _op=self)
        if out.op != "leaf":
            out._backward = _Contributions(self, out, data, inputs, numbers)
        return out

    def contributions(self, out: Value, data: float, numbers: Sequence[float]) -> list[Any]:
        """The contributions as numbers, for the gradient that has arrived."""
        assert self._vjp is not None
        given = self._ask(self._vjp, [out.grad, *numbers], data)
        return self._checked(given, len(numbers), "contributions", out)

    def recompute(self, node: Value) -> float | None:
        """What the function makes of the inputs now; None where there is no rule to use it with."""
        if self._partials is None and self._vjp is None:
            return None
        return float(self._function(*[core.peek(v) for v in node.inputs]))

    def partials_on_values(
        self, node: Value, operands: Sequence[Any], wanted: Sequence[int]
    ) -> list[Any]:
        """The partials in terms of ops, for derivatives of derivatives."""
        given = self._on_values(self._partials, node, operands)
        return [given[index] for index in wanted]

    def vjp_on_values(self, node: Value, operands: Sequence[Any], upstream: Any) -> list[Any]:
        """The contributions in terms of ops, for derivatives of derivatives."""
        return self._on_values(self._vjp, node, [upstream, *operands])

    def _on_values(self, rule: Rule | None, node: Value, operands: Sequence[Any]) -> list[Any]:
        if rule is None:
            raise NotTwiceDifferentiable.of(node)
        try:
            given = self._ask(rule, operands, node)
        except GraphExitError as error:
            raise NotTwiceDifferentiable.of(node) from error
        return self._checked(given, len(node.inputs), "derivatives", node, values=True)

    def _checked(
        self, given: Any, count: int, what: str, node: Value | None = None, values: bool = False
    ) -> list[Any]:
        """A rule's answer as a list of ``count`` numbers, or of values where asked for."""
        if isinstance(given, Value) or is_real_scalar(given):
            given = (given,)
        if not isinstance(given, (tuple, list)) or len(given) != count:
            raise self._wrong(f"its rule returned {kind_of(given)} for {count} {what}", node)
        checked: list[Any] = []
        for item in given:
            if isinstance(item, Value) and values:
                checked.append(item)
            elif not isinstance(item, Value) and is_real_scalar(item):
                checked.append(float(item))
            else:
                raise self._wrong(
                    f"its rule returned {kind_of(item)} among the {what}, not a number", node
                )
        return checked

    def _wrong(self, problem: str, node: Value | None = None) -> CustomOpError:
        """The error, at the line that used the op."""
        where = site_of(calling_instruction()) if node is None else node.site
        return CustomOpError.of(self.name, problem, where)


class _Contributions:
    """The ``_backward`` of a node whose op has a vjp: it keeps the numbers of the forward pass."""

    __slots__ = ("data", "inputs", "numbers", "op", "out")

    def __init__(
        self,
        op: CustomOp,
        out: Value,
        data: float,
        inputs: tuple[Value, ...],
        numbers: Sequence[float],
    ) -> None:
        self.op, self.out, self.data, self.inputs, self.numbers = op, out, data, inputs, numbers

    def __call__(self) -> None:
        given = self.op.contributions(self.out, self.data, self.numbers)
        for v, contribution in zip(self.inputs, given):
            v.grad += contribution


def custom_op(function: Rule) -> CustomOp:
    """Make a function on numbers an op with its own backward rule.

    >>> import math
    >>> import retrograde as rg
    >>> @rg.custom_op
    ... def softclip(x):
    ...     return math.tanh(x)
    >>> @softclip.partials
    ... def _(x, z):
    ...     return 1 - z * z  # in terms of ops: can be differentiated again
    >>> x = rg.Value(0.5)
    >>> y = softclip(x)
    >>> y.backward(); round(x.grad, 6)
    0.786448
    >>> round(rg.grad(rg.grad(softclip))(0.5), 6)
    -0.726862

    The numeric form returns value and partials together:

    >>> @rg.custom_op
    ... def cube(x):
    ...     return x**3, (3 * x**2,)
    >>> rg.grad(cube)(2.0)
    12.0
    """
    return CustomOp(function)


belongs_to_caller(CustomOp)
