"""Recording: a function called once on fresh values becomes a program.

The values remember how they were made, so the program is read off the graph under the results and
the guards. Nothing is baked in: a number that would leave the graph raises while recording, and
what the graph cannot replay is refused here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import pack
from typing import Any

from .._shared.placeholders import forget
from .._shared.sites import Site, site_of, span_of
from .._values.recorded_ops import RecordedOp
from ..errors import RecordingError
from ..value import Value, core, native_core
from .checker import check
from .conditions import Decisions, recorders
from .customs import function_of, key_of
from .program import CAPTURED, CONSTANT, Guard, Input, Instruction, Program

_NAMES = core.OP_NAMES


class _Reader:
    """Turns a graph into instructions."""

    def __init__(self, arguments: Sequence[tuple[Value, Input]], since: int) -> None:
        self.program = Program()
        self.captured: list[Value] = []
        self.since = since
        self.ids: dict[int, int] = {}
        self._constants: dict[bytes, int] = {}
        self._sites: dict[Any, int] = {}
        self._customs: dict[tuple[int, int, int | None], str] = {}
        for value, given in arguments:
            self.ids[id(value)] = self._add_input(given)

    def _add_input(self, given: Input) -> int:
        index = self.program.count
        self.program.inputs[index] = given
        self.program.count += 1
        return index

    def constant(self, number: float) -> int:
        """The id of a constant; equal bits share one."""
        bits = pack("d", number)
        if bits not in self._constants:
            self._constants[bits] = self._add_input(Input(CONSTANT, "", number))
        return self._constants[bits]

    def _leaf(self, value: Value) -> int:
        """A value that no instruction here makes: a captured leaf, or a constant made inside."""
        if value.op != "leaf":
            raise RecordingError.captured_interior(value)
        origin = native_core.leaf_origin(value, self.since)
        if origin == "argument":
            raise RecordingError.leaked_argument(value)
        if origin == "constant":
            index = self._add_input(Input(CONSTANT, "", core.peek(value)))
            self.program.made[index] = value.requires_grad, self.site(value)
            self.label(index, value)
            return index
        self.captured.append(value)
        return self._add_input(Input(CAPTURED, value.label or f"captured {len(self.captured)}"))

    def id_of(self, value: Value) -> int:
        """The id of an input, met before or not."""
        known = self.ids.get(id(value))
        if known is None:
            known = self.ids[id(value)] = self._leaf(value)
        return known

    def label(self, index: int, value: Value) -> None:
        """Remember what a number is called."""
        if value.label:
            self.program.labels[index] = value.label

    def site(self, value: Value) -> int:
        where = core.instruction_of(value)
        if where is None:
            return -1
        key = (id(where[0]), where[1])
        if key not in self._sites:
            self._sites[key] = len(self.program.sites)
            site = site_of(where)
            self.program.sites.append(site if site is not None else Site("?", 0, "?"))
            self.program.spans.append(span_of(where))
        return self._sites[key]

    def read(self, roots: Sequence[Value]) -> list[tuple[str, Value, Any, Any]]:
        """Every node made by the function: its op, itself, its inputs and their numbers."""
        steps = []
        for value in core.order_since(tuple(roots), self.since):
            op, inputs, numbers = core.parts(value)
            name = _NAMES[op] if op < len(_NAMES) else core.recorded_op(value)
            if not name and not isinstance(value._rule, RecordedOp):
                raise RecordingError.custom(value)
            steps.append((name, value, inputs, numbers))
        return steps

    def custom(self, value: Value, inputs: Sequence[Value]) -> str:
        """The name of the instruction that a custom op's value is."""
        rule = value._rule
        assert isinstance(rule, RecordedOp)
        numbers = [core.peek(v) for v in inputs]
        known = (id(rule.op), len(numbers), rule.part)
        if known not in self._customs:
            function = function_of(rule, value, numbers, self._rule)
            self._customs[known] = key_of(self.program.functions, function)
        return self._customs[known]

    def _rule(
        self, rule: Callable[[], Any], arguments: Sequence[tuple[Value, Input]]
    ) -> tuple[Program, list[Value]]:
        """The program of a rule: its derivatives, one an output."""
        return record(rule, arguments, lambda derivatives, _: list(derivatives), self.since)


def record(
    function: Callable[[], Any],
    arguments: Sequence[tuple[Value, Input]],
    flatten: Callable[[Any, bool], list[Any]],
    since: int,
    path: bytes = b"",
) -> tuple[Program, list[Value]]:
    """Run ``function`` and read its program, with the leaves it captured.

    ``flatten`` takes the result and whether anything was decided on the way. The first decisions
    are forced to the outcomes of ``path``.
    """
    decisions = Decisions(path)
    recorders.decisions.append(decisions)
    native_core.enter_recording()
    try:
        result = function()
    finally:
        native_core.leave_recording()
        recorders.decisions.pop()
        forget()
    decided = decisions.taken
    outputs = flatten(result, bool(decided))
    roots = [output for output in outputs if isinstance(output, Value)]
    reader = _Reader(arguments, since)
    # conditions first: a row that leaves at a guard is known before anything else is done for it
    steps = reader.read([*(value for value, _ in decided), *roots])
    program, ids, constant = reader.program, reader.ids, reader.constant
    for name, value, inputs, numbers in steps:
        args = tuple(
            [
                constant(number) if v is None else ids[id(v)] if id(v) in ids else reader.id_of(v)
                for v, number in zip(inputs, numbers)
            ]
        )
        name = name or reader.custom(value, inputs)
        result = ids[id(value)] = program.count
        program.count += 1
        program.instructions.append(Instruction(name, (result,), args, reader.site(value)))
        reader.label(result, value)
    program.outputs = [
        reader.id_of(o) if isinstance(o, Value) else constant(float(o)) for o in outputs
    ]
    program.guards = [
        Guard(reader.id_of(value), outcome, reader.site(value)) for value, outcome in decided
    ]
    return check(program, "recording"), reader.captured
