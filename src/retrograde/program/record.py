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
from ..passes import values
from ..passes.flat import LEAF, Pass
from ..value import Value, core
from .checker import check
from .conditions import Decisions, recorders
from .customs import function_of, key_of
from .program import CAPTURED, CONSTANT, Guard, Input, Instruction, Program


class _Reader:
    """Turns a graph into instructions."""

    def __init__(self, graph: Pass, arguments: Sequence[tuple[Value, Input]], since: int) -> None:
        assert graph.values is not None
        self.program = Program()
        self.captured: list[Value] = []
        self.graph, self.values, self.since = graph, graph.values, since
        self.ids = [-1] * len(graph)  # by place in the graph
        self._constants: dict[bytes, int] = {}
        self._places: list[int] = graph.places.tolist()
        self._sites: dict[int, int] = {}
        self._customs: dict[tuple[int, int, int | None], str] = {}
        for (_, given), place in zip(arguments, graph.of([value for value, _ in arguments])):
            index = self._add_input(given)
            if place >= 0:
                self.ids[place] = index

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

    def _leaf(self, place: int) -> int:
        """A value that no instruction here makes: a captured leaf, or a constant made inside."""
        value = self.values[place]
        if self.graph.codes[place] != LEAF:
            raise RecordingError.captured_interior(value)
        origin = core.leaf_origin(value, self.since)
        if origin == "argument":
            raise RecordingError.leaked_argument(value)
        if origin == "constant":
            index = self._add_input(Input(CONSTANT, "", float(self.graph.data[place])))
            self.program.made[index] = bool(self.graph.takes[place]), self.site(place)
            self.label(index, place)
            return index
        self.captured.append(value)
        name = self.graph.labels.get(place) or f"captured {len(self.captured)}"
        return self._add_input(Input(CAPTURED, name))

    def id_of(self, place: int) -> int:
        """The id of a value of the graph, met before or not."""
        if self.ids[place] < 0:
            self.ids[place] = self._leaf(place)
        return self.ids[place]

    def label(self, index: int, place: int) -> None:
        """Remember what a number is called."""
        label = self.graph.labels.get(place)
        if label:
            self.program.labels[index] = label

    def site(self, place: int) -> int:
        """Where a value was made, among the program's sites."""
        made = self._places[place]
        if made < 0:
            return -1
        if made not in self._sites:
            assert self.graph.instructions is not None
            where = self.graph.instructions[made]
            self._sites[made] = len(self.program.sites)
            site = site_of(where)
            self.program.sites.append(site if site is not None else Site("?", 0, "?"))
            self.program.spans.append(span_of(where))
        return self._sites[made]

    def read(self) -> None:
        """An instruction for every value that the function made, in order."""
        graph, program, ids, constant = self.graph, self.program, self.ids, self.constant
        labels = graph.labels
        names = self._names()
        edges = zip(graph.by_value(graph.inputs), graph.by_value(graph.numbers))
        for place, (inputs, numbers) in enumerate(edges):
            name = names[place]
            if name is None:
                continue
            args = tuple(
                [
                    constant(number) if i < 0 else ids[i] if ids[i] >= 0 else self.id_of(i)
                    for i, number in zip(inputs, numbers)
                ]
            )
            name = name or self.custom(place, inputs)
            result = ids[place] = program.count
            program.count += 1
            program.instructions.append(Instruction(name, (result,), args, self.site(place)))
            if place in labels:
                self.label(result, place)

    def _names(self) -> list[str | None]:
        """The op of each instruction: "" for a custom op, None for what comes from outside."""
        graph = self.graph
        names: list[str | None] = [
            op if width else None for op, width in zip(graph.ops, graph.widths.tolist())
        ]
        for place in graph.own:
            if names[place] is not None:
                value = self.values[place]
                names[place] = core.recorded_op(value)
                if not names[place] and not isinstance(value._rule, RecordedOp):
                    raise RecordingError.custom(value)
        return names

    def custom(self, place: int, inputs: Sequence[int]) -> str:
        """The name of the instruction that a custom op's value is."""
        value = self.values[place]
        rule = value._rule
        assert isinstance(rule, RecordedOp)
        numbers = self.graph.data[list(inputs)].tolist()
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
    core.enter_recording()
    made: list[Value] = []
    try:
        result = function()
    finally:
        made = core.leave_recording()
        recorders.decisions.pop()
        forget()
    decided = decisions.taken
    outputs = flatten(result, bool(decided))
    roots = [output for output in outputs if isinstance(output, Value)]
    conditions = [value for value, _ in decided]
    graph = values.read([*conditions, *roots], since, log=made)
    reader = _Reader(graph, arguments, since)
    reader.read()
    program = reader.program
    found = iter(graph.of(roots))
    program.outputs = [
        reader.id_of(next(found)) if isinstance(o, Value) else reader.constant(float(o))
        for o in outputs
    ]
    program.guards = [
        Guard(reader.id_of(place), outcome, reader.site(place))
        for place, (_, outcome) in zip(graph.of(conditions), decided)
    ]
    return check(program, "recording"), reader.captured
