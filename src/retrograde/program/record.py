"""Recording: a function called once on fresh values becomes a program.

The values remember how they were made, so the program is read off the graph under the results and
the guards. Nothing is baked in: a number that would leave the graph raises while recording, and
what the graph cannot replay is refused here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import pack
from typing import Any

from ..errors import RecordingError
from ..sites import Site, site_of
from ..value import Value, core
from .check import check
from .conditions import recorders
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
        self._pending: list[Instruction] = []
        for value, given in arguments:
            self.ids[id(value)] = self._add_input(given)

    def _add_input(self, given: Input) -> int:
        self.program.inputs.append(given)
        return len(self.program.inputs) - 1

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
        if core.made_since(value, self.since):
            return self.constant(core.peek(value))
        self.captured.append(value)
        return self._add_input(Input(CAPTURED, value.label or f"captured {len(self.captured)}"))

    def id_of(self, value: Value) -> int:
        """The id of an input, met before or not."""
        known = self.ids.get(id(value))
        if known is None:
            known = self.ids[id(value)] = self._leaf(value)
        return known

    def site(self, value: Value) -> int:
        where = core.instruction_of(value)
        if where is None:
            return -1
        key = (id(where[0]), where[1])
        if key not in self._sites:
            self._sites[key] = len(self.program.sites)
            site = site_of(where)
            self.program.sites.append(site if site is not None else Site("?", 0, "?"))
        return self._sites[key]

    def read(self, roots: Sequence[Value]) -> list[tuple[str, Value, list[int]]]:
        """Every node made by the function as (op, value, operand ids), operands as placeholders."""
        nodes = core.order_since(tuple(roots), self.since)
        arguments = dict(self.ids)
        steps = []
        for value in nodes:
            if id(value) in arguments:
                continue
            op, inputs, numbers = core.parts(value)
            name = _NAMES[op] if op < len(_NAMES) else value.op
            if name not in ("stop", "take") and op >= len(_NAMES):
                raise RecordingError.custom(value)
            steps.append((name, value, inputs, numbers))
        return steps  # type: ignore[return-value]


def record(
    function: Callable[[], Any],
    arguments: Sequence[tuple[Value, Input]],
    flatten: Callable[[Any], list[Any]],
    since: int,
) -> tuple[Program, list[Value], Any]:
    """Run ``function`` and read its program: (program, captured leaves, the nest it returned)."""
    recorders.guards.append([])
    core.enter_recording()
    try:
        result = function()
    finally:
        core.leave_recording()
        decided = recorders.guards.pop()
    outputs = flatten(result)
    roots = [output for output in outputs if isinstance(output, Value)]
    reader = _Reader(arguments, since)
    steps: list[Any] = reader.read([*roots, *(value for value, _ in decided)])
    made = {id(value) for _, value, _, _ in steps}
    for name, _, inputs, numbers in steps:  # inputs first: they have the first ids
        for value, number in zip(inputs, numbers):
            if value is None:
                reader.constant(number)
            elif id(value) not in made:
                reader.id_of(value)
    for output in outputs:
        if not isinstance(output, Value):
            reader.constant(float(output))
        elif id(output) not in made:
            reader.id_of(output)
    for value, _ in decided:
        if id(value) not in made:
            reader.id_of(value)
    program = reader.program
    program.count = len(program.inputs)
    for name, value, inputs, numbers in steps:
        args = tuple(
            reader.constant(number) if operand is None else reader.ids[id(operand)]
            for operand, number in zip(inputs, numbers)
        )
        reader.ids[id(value)] = program.count
        program.instructions.append(Instruction(name, (program.count,), args, reader.site(value)))
        program.count += 1
    program.outputs = [
        reader.ids[id(o)] if isinstance(o, Value) else reader.constant(float(o)) for o in outputs
    ]
    program.guards = [
        Guard(reader.ids[id(value)], outcome, reader.site(value)) for value, outcome in decided
    ]
    return check(program, "recording"), reader.captured, result
