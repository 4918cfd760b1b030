"""The steps of a composition, from shapes alone: which rows it carries out, on what.

Printers and planners read them; nothing is computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..index import Shape, Statement
from .places import At
from .row import AnyRow, Composed, Implicit

NUMBER = "number"
STOP = "stop"


@dataclass(frozen=True)
class Step:
    """One step: the row, what it reads by the names the row uses, and its statement.

    A leaf is an operand of the composition (its name is the row's), a number, or a stop.
    """

    row: str
    shape: Shape
    inputs: Mapping[str, Step] = field(default_factory=dict)
    statement: Statement | None = None
    number: float = 0.0


class Recorder:
    """Carries out a composition on steps."""

    def __init__(self, rows: Mapping[str, AnyRow]) -> None:
        self.rows = rows
        self.steps: list[Step] = []

    def __call__(self, name: str, *operands: Step | float, **arguments: Any) -> Any:
        """One row on steps and numbers."""
        row = self.rows[name]
        given = [it if isinstance(it, Step) else self.fill((), it) for it in operands]
        if isinstance(row, Composed):
            return row.make(self, *given, **arguments)
        if isinstance(row, Implicit):
            inputs = dict(zip(row.operands, given))
            shapes = {key: it.shape for key, it in inputs.items()}
            result = given[-1].shape
            order = dict.fromkeys(row.wholes, result[:-1])
            statement = row.state({**shapes, "s": result, **order})
            return self._step(Step(name, result, inputs, statement))
        inputs = dict(zip(row.names(len(given)), given))
        wholes = {key: arguments.pop(key) for key in row.wholes if key in arguments}
        shapes = {key: it.shape for key, it in inputs.items()}
        statement = row.state({**shapes, **{k: it[1] for k, it in wholes.items()}}, **arguments)
        return self._step(Step(name, statement.shape, inputs, statement))

    def shape(self, operand: Step) -> Shape:
        """The shape of what a step makes."""
        return operand.shape

    def fill(self, shape: Shape, number: float) -> Step:
        """An array of one number."""
        return Step(NUMBER, shape, number=number)

    def stop(self, operand: Step) -> Step:
        """The same numbers, through which no gradient passes."""
        return self._step(Step(STOP, operand.shape, {"x": operand}))

    def _step(self, step: Step) -> Step:
        self.steps.append(step)
        return step


def steps(row: Composed, rows: Mapping[str, AnyRow]) -> list[Step]:
    """The steps of a composition on its example.

    >>> from ..array import ARRAYS
    >>> [step.row for step in steps(ARRAYS["log_softmax"], ARRAYS)]
    ['max', 'abs', 'equal', 'where', 'stop', 'sub', 'exp', 'sum', 'log', 'add', 'sub']
    """
    recorder = Recorder(rows)
    shapes, arguments = row.example.shapes, row.example.arguments
    operands = [Step(name, shapes[name]) for name in row.operands]
    wholes = {name: At(name, shapes[name]) for name in row.wholes}
    row.make(recorder, *operands, **wholes, **arguments)
    return recorder.steps
