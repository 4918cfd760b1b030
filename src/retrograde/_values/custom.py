"""Custom ops: a function on numbers with its own backward rule.

The rule is given in one of three ways:

- the function returns ``(value, partials)`` as numbers;
- the function returns the value, and ``@op.partials`` gives the local derivatives;
- the function returns the value, and ``@op.vjp`` gives the contributions for an upstream gradient.

A rule of the last two kinds that is written with ops (``rg.exp``, ``*``, …) works on values as well
as on numbers, so the op can be differentiated again. A rule that names a parameter ``z`` after the
inputs is given the op's result there. The function itself must give the same again for the same
inputs: higher derivatives call it once more, to see whether data was changed in between.

In a compiled function an op is recorded as the ops its function is written with, and keeps its own
rule. ``vectorized=True`` says that function and rule take arrays of rows instead: they are called
as they are, once a block of rows.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any, overload

from .._shared.numerics import np
from .._shared.operands import is_real_scalar
from .._shared.sites import calling_instruction, site_of
from ..errors import (
    CustomDomainError,
    CustomOpError,
    GraphExitError,
    NotTwiceDifferentiable,
    OperandError,
    RecordingError,
)
from ..errors.wording import kind_of
from ..tensor import Tensor
from ..value import Value, belongs_to_caller, core
from .recorded_ops import RecordedOp

Rule = Callable[..., Any]


class CustomOp:
    """A custom op: call it on values and numbers. Made by :func:`custom_op`."""

    retrograde_rule = True
    name: str
    __qualname__: str

    def __init__(self, function: Rule, vectorized: bool = False) -> None:
        if not callable(function):
            raise CustomOpError.of(
                "?", f"custom_op takes a function, got {kind_of(function)}", None
            )
        update_wrapper(self, function)
        self.name = getattr(function, "__name__", "custom")
        self._function = function
        self.vectorized = vectorized
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

    @property
    def has_no_rule(self) -> bool:
        """Whether its function returns the partials beside the value."""
        return self._partials is None and self._vjp is None

    def __call__(self, *operands: Any) -> Any:
        """The op on values and numbers: a value, or a float where all are numbers.

        Where an operand is a tensor the function is called on arrays.
        """
        if any(isinstance(operand, Tensor) for operand in operands):
            from .._tensors.custom import applied

            return applied(self, operands)
        for operand in operands:
            if not isinstance(operand, Value) and not is_real_scalar(operand):
                raise OperandError.of(self.name, operand)
        numbers = [core.peek(v) if isinstance(v, Value) else float(v) for v in operands]
        if core.in_recording() and any(isinstance(operand, Value) for operand in operands):
            return self._recorded(operands, numbers)
        outcome = self.evaluate(*numbers)
        partials: Any = ()
        if self.has_no_rule:
            outcome, partials = self._pair(outcome)
        if isinstance(outcome, complex):
            shown = ", ".join(f"{x:g}" for x in numbers)
            raise self._wrong(
                f"its function returned a complex number at ({shown}), outside its domain; return "
                "math.nan there, or raise a ValueError that says what it takes",
                kind=CustomDomainError,
            )
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
            partials = self._on_numbers(self._partials, numbers, value)
        return Value(value, inputs, self._checked(partials, len(inputs), "partials"), _op=self)

    def array_rule(self, arrays: Sequence[Any], upstream: Any, result: Any) -> list[Any]:
        """Its rule on arrays: contributions, one an input."""
        from .._tensors.custom import array_rule

        return array_rule(self, arrays, upstream, result)

    def rule_on_tensors(self, node: Any, operands: Sequence[Any], upstream: Any) -> list[Any]:
        """The same in terms of ops, for derivatives of derivatives."""
        from .._tensors.custom import rule_on_tensors

        return rule_on_tensors(self, node, operands, upstream)

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
        given = self._on_numbers(self._vjp, [out.grad, *numbers], data)
        return self._checked(given, len(numbers), "contributions", out)

    def recompute(self, node: Value) -> float | None:
        """What the function makes of the inputs now; None where there is no rule to use it with."""
        if self.has_no_rule:
            return None
        return float(self.evaluate(*[core.peek(v) for v in node.inputs]))

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
        except (GraphExitError, TypeError) as error:
            if not isinstance(error, GraphExitError) and not self.vectorized:
                raise
            raise NotTwiceDifferentiable.of(node) from error
        return self._checked(given, len(node.inputs), "derivatives", node, values=True)

    # ---- on numbers, and on rows of them ---------------------------------------------------------

    def _on_numbers(self, rule: Rule, numbers: Sequence[float], result: float | None = None) -> Any:
        """The function or a rule on numbers; one over arrays gets arrays of one row."""
        if not self.vectorized:
            return rule(*numbers) if result is None else self._ask(rule, numbers, result)
        rows = [np.array([number]) for number in numbers]
        with np.errstate(all="ignore"):  # arithmetic is IEEE 754's, as everywhere
            given = rule(*rows) if result is None else self._ask(rule, rows, np.array([result]))
        if result is not None:
            count = len(rows) - (rule is self._vjp)
            return [float(each[0]) for each in self._rows(given, count, 1, "derivatives")]
        if not self.has_no_rule:
            return float(self._rows(given, 1, 1, "the value")[0][0])
        value, partials = self._pair(given)
        partials = self._rows(partials, len(rows), 1, "partials")
        return float(self._rows(value, 1, 1, "the value")[0][0]), [float(p[0]) for p in partials]

    def evaluate(self, *numbers: float) -> Any:
        """What its function returns for numbers."""
        return self._on_numbers(self._function, numbers)

    def value_rows(self, given: Sequence[Any]) -> Any:
        """The op on arrays of rows, one an input."""
        with np.errstate(all="ignore"):
            outcome = self._function(*given)
        value = self._pair(outcome)[0] if self.has_no_rule else outcome
        return self._rows(value, 1, len(given[0]), "the value")[0]

    def rule_rows(self, given: Sequence[Any], count: int) -> list[Any]:
        """Its rule on arrays of rows: upstream (of a vjp), the inputs, the result."""
        with np.errstate(all="ignore"):
            if self.has_no_rule:
                found = self._pair(self._function(*given[:-1]))[1]
            else:
                found = self._ask(self._vjp or self._partials, given[:-1], given[-1])  # type: ignore[arg-type]
        return self._rows(found, count, len(given[0]), "derivatives")

    def _pair(self, outcome: Any) -> Any:
        if not isinstance(outcome, tuple) or len(outcome) != 2:
            raise self._wrong(
                f"its function returned {kind_of(outcome)}; return (value, partials), or give "
                f"the rule with @{self.name}.partials or @{self.name}.vjp"
            )
        return outcome

    def _rows(self, given: Any, count: int, rows: int, what: str) -> list[Any]:
        """What a function over arrays returned, as ``count`` arrays of ``rows`` numbers."""
        if not isinstance(given, (tuple, list)):
            given = (given,)
        if len(given) != count:
            raise self._wrong(f"it returned {len(given)} arrays for {count} {what}")
        found = []
        for each in given:
            array = np.asarray(each)
            if array.dtype.kind not in "biuf" or array.shape not in ((), (rows,)):
                raise self._wrong(
                    f"it returned an array of shape {array.shape} and type {array.dtype} among "
                    f"{what}, for {rows} rows; return float arrays of shape ({rows},)"
                )
            found.append(np.broadcast_to(array.astype(np.float64), (rows,)))
        return found

    # ---- in a recording --------------------------------------------------------------------------

    def _recorded(self, operands: Sequence[Any], numbers: Sequence[float]) -> Value:
        """The op as part of a recorded program: the ops of its function, or a call over rows."""
        inputs = tuple(
            v if isinstance(v, Value) else Value(n, requires_grad=False)
            for v, n in zip(operands, numbers)
        )
        if self.vectorized:
            data, skip = float(self.value_rows([np.array([n]) for n in numbers])[0]), 0
        else:
            made = self._in_ops(inputs)
            data, skip, inputs = core.peek(made), 1, (made, *inputs)
        node = Value(data, inputs, (0.0,) * len(inputs), _op=RecordedOp(self, skip))
        return node.detach() if core.in_no_grad() else node

    def _in_ops(self, inputs: tuple[Value, ...]) -> Value:
        """What the function makes of values; its own slopes are not used."""
        if self.has_no_rule:
            raise RecordingError.custom_op(
                self.name, "returns numbers, value and partials together"
            )
        try:
            made = self._function(*[v.detach() for v in inputs])
        except (GraphExitError, TypeError) as error:
            why = str(error).splitlines()[0].rstrip(".")
            raise RecordingError.custom_op(self.name, f"does not work on values: {why}") from error
        if not isinstance(made, Value) and not is_real_scalar(made):
            raise self._wrong(f"its function returned {kind_of(made)} for the value, not a number")
        return made if isinstance(made, Value) else Value(float(made), requires_grad=False)

    def partials_at(self, numbers: Sequence[float], result: float) -> list[float]:
        """Its partials at some numbers; those of a vjp are its contributions for the upstream 1."""
        if self.has_no_rule:
            given = self.evaluate(*numbers)[1]
        elif self._vjp is not None:
            given = self._on_numbers(self._vjp, [1.0, *numbers], result)
        else:
            assert self._partials is not None
            given = self._on_numbers(self._partials, numbers, result)
        return self._checked(given, len(numbers), "partials")

    def rule_on_values(self, operands: Sequence[Any], result: Any, count: int) -> list[Any]:
        """Its rule in terms of ops, on the arguments of a recording."""
        rule = self._vjp or self._partials
        assert rule is not None
        return self._checked(self._ask(rule, operands, result), count, "derivatives", values=True)

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

    def _wrong(
        self, problem: str, node: Value | None = None, kind: type[CustomOpError] = CustomOpError
    ) -> CustomOpError:
        """The error, at the line that used the op."""
        where = site_of(calling_instruction()) if node is None else node.site
        return kind.of(self.name, problem, where)


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


@overload
def custom_op(function: Rule, *, vectorized: bool = False) -> CustomOp: ...


@overload
def custom_op(*, vectorized: bool = False) -> Callable[[Rule], CustomOp]: ...


def custom_op(function: Any = ..., *, vectorized: bool = False) -> Any:
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

    Compiled functions record an op as the ops its function and rule are written with. With
    ``vectorized=True`` function and rule take arrays of rows, so that NumPy and SciPy can be used.
    A compiled function calls them once a block of rows. That takes the GIL, such a function cannot
    be saved, and its bits may depend on the block:

    >>> import numpy as np
    >>> @rg.custom_op(vectorized=True)
    ... def interpolated(x):
    ...     return np.interp(x, [0.0, 1.0, 2.0], [0.0, 1.0, 4.0])
    >>> @interpolated.vjp
    ... def _(upstream, x):
    ...     return upstream * np.where(x < 1.0, 1.0, 3.0)
    >>> rg.value_and_grad(lambda x: interpolated(x) * x)(1.5)
    (3.75, 7.0)
    """
    if function is ...:
        return lambda given: CustomOp(given, vectorized)
    return CustomOp(function, vectorized)


belongs_to_caller(CustomOp)
