"""Custom ops in programs: functions with a rule of their own, in ops or over arrays of rows.

An op whose function is written with ops is recorded as those, and an instruction ``custom NAME``
stands for its result: the same number, but with the op's own rule for the gradient. An op over
arrays is an instruction ``call NAME``, which runs Python. A rule that works on values is recorded
once as a template and put in by the adjoint, so it can be differentiated again; a rule over arrays
is one more call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import RecordingError
from ..value import core
from .program import CONSTANT, ROW, Input, Program

if TYPE_CHECKING:
    from .._values.custom import CustomOp
    from .._values.recorded_ops import RecordedOp
    from ..value import Value

Rows = Callable[[list[Any]], list[Any]]
"""Arrays of rows, one an operand, to arrays of rows, one a result."""


@dataclass(frozen=True, eq=False)
class Function:
    """What an instruction stands for that is named in a program's ``functions``.

    ``rows`` computes it; without, the first operand is its value. ``template`` is its rule in ops:
    inputs in the order upstream (of a vjp), the op's inputs, its result; one output an input.
    Without, the rule is over arrays. A rule itself has none.
    """

    name: str
    op: CustomOp
    operands: int
    results: int = 1
    rows: Rows | None = None
    template: Program | None = None
    is_rule: bool = False

    @property
    def inputs(self) -> int:
        """How many inputs the custom op has."""
        return self.operands if self.rows is not None else self.operands - 1

    def at(self, operands: Sequence[float]) -> float:
        """Its number for the operands of one row."""
        if self.rows is None:
            return operands[0]
        return float(self.rows([np.array([number]) for number in operands])[0][0])

    def rule_over_rows(self) -> Function:
        """The rule as one more call: upstream (of a vjp), the inputs, the result."""
        count = self.inputs
        operands = count + 1 + self.op.has_vjp
        name = f"{self.op.name}.{'vjp' if self.op.has_vjp else 'partials'}"
        return Function(
            name,
            self.op,
            operands,
            count,
            lambda given: self.op.rule_rows(given, count),
            None,
            True,
        )


def key_of(functions: dict[str, Function], function: Function) -> str:
    """The name of the function's instructions; it is added where it is new."""
    wanted = f"{'custom' if function.rows is None else 'call'} {function.name}"
    key, number = wanted, 2
    while key in functions:
        known = functions[key]
        if (known.op, known.name, known.operands) == (
            function.op,
            function.name,
            function.operands,
        ):
            return key
        key, number = f"{wanted}#{number}", number + 1
    functions[key] = function
    return key


def function_of(rule: RecordedOp, value: Value, numbers: list[float], record: Any) -> Function:
    """What a custom op's value is in a program. ``record`` records a rule on fresh arguments."""
    op = rule.op
    count = len(numbers)
    if rule.part is not None:
        part = rule.part
        return Function(
            f"{op.name}.rule[{part}]", op, count,
            rows=lambda given: [op.rule_rows(given, count - 1 - op.has_vjp)[part]], is_rule=True,
        )  # fmt: skip
    template = None if op.has_no_rule else _template(op, value, numbers[rule.skip :], record)
    if template is None and not op.vectorized:
        raise RecordingError.custom(value)
    rows: Rows | None = None
    if op.vectorized:
        rows = lambda given: [op.value_rows(given)]  # noqa: E731
    return Function(op.name, op, count, 1, rows, template)


def _template(op: CustomOp, value: Value, numbers: list[float], record: Any) -> Program | None:
    """The rule in ops, recorded on fresh arguments; None where it is over arrays."""
    names = ["upstream"] * op.has_vjp + [f"input {i}" for i in range(len(numbers))] + ["z"]
    given = [1.0] * op.has_vjp + [*numbers, core.peek(value)]
    arguments = [(core.argument(x), Input(ROW, name)) for x, name in zip(given, names)]
    values = [argument for argument, _ in arguments]
    try:
        program, captured = record(
            lambda: op.rule_on_values(values[:-1], values[-1], len(numbers)), arguments
        )
    except Exception as error:
        if op.vectorized:
            return None  # it is over arrays
        raise RecordingError.rule(value, error) from error
    if program.guards:
        if op.vectorized:
            return None
        raise RecordingError.rule_decides(value)
    if captured:
        raise RecordingError.rule_captures(value, captured[0])
    return program  # type: ignore[no-any-return]


def inlined(
    template: Program,
    given: list[int],
    constant: Callable[[float], int],
    emit: Callable[[str, int, tuple[int, ...], tuple[Any, ...]], tuple[int, ...]],
    functions: dict[str, Function],
) -> list[int]:
    """A template's instructions on other ids: the ids of its outputs."""
    ids: dict[int, int] = {}
    source = iter(given)
    for index, thing in template.inputs.items():
        ids[index] = constant(thing.number) if thing.kind == CONSTANT else next(source)
    names = {key: key_of(functions, function) for key, function in template.functions.items()}
    for op, results, args, _, parameters in template.instructions:
        made = emit(names.get(op, op), len(results), tuple(ids[arg] for arg in args), parameters)
        ids.update(zip(results, made))
    return [ids[output] for output in template.outputs]
