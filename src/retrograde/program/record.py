"""Recording: a function called once on fresh values becomes a program.

The values remember how they were made, so the program is read off the graph under the results and
the guards. Nothing is baked in: a number that would leave the graph raises while recording, and
what the graph cannot replay is refused here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._shared.placeholders import forget
from .._shared.sites import Site, Span, calling_instruction, site_of, span_of
from .._values.recorded_ops import RecordedOp
from ..errors import RecordingError, RecordingWarning
from ..passes import values
from ..passes.flat import LEAF, NAMES, Pass
from ..value import Value, core
from .checker import check_rolled
from .conditions import Decisions, recorders
from .customs import function_of, key_of
from .loops import Rolled, expand
from .numbering import Numbered, Numbers
from .program import CAPTURED, CONSTANT, Guard, Input, Program
from .rolling import INPUTS, Flat, Roller, rolled

if TYPE_CHECKING:
    from numpy.typing import NDArray


MANY_OPERATIONS = 1_000_000
"""From here on a recording says where it is."""
MOST_OPERATIONS = 1 << 25
"""What a recording may make: a loop without end stops there, before memory does."""


def _tell(operations: int) -> int:
    """A recording has made so many operations. When to say so again."""
    site = site_of(calling_instruction(2))
    if operations >= MOST_OPERATIONS:
        raise RecordingError.endless(operations, site)
    message = RecordingWarning.long(operations, MOST_OPERATIONS, site)
    warnings.warn(RecordingWarning(message), stacklevel=2)
    return MOST_OPERATIONS


core.tell_of(MANY_OPERATIONS, _tell)


class _Reader:
    """Turns a graph into a program: flat arrays first, so that what repeats is found in them."""

    def __init__(self, graph: Pass, arguments: Sequence[tuple[Value, Input]], since: int) -> None:
        assert graph.values is not None
        self.program = Program()
        self.captured: list[Value] = []
        self.graph, self.values, self.since = graph, graph.values, since
        self.made = graph.widths > 0
        self.addresses = np.cumsum(self.made) - 1
        """By place in the graph: the number of a result, or an input from ``INPUTS`` on."""
        self.addresses[~self.made] = -1
        self.numbers = Numbers()
        self._known_sites: dict[tuple[Site, Span | None], int] = {}
        self._customs: dict[tuple[int, int, int | None], str] = {}
        leaves = np.flatnonzero(~self.made).tolist()
        self._leaves = {id(self.values[place]): place for place in leaves}
        for value, given in arguments:
            place = self._leaves.get(id(value))
            index = self._add_input(given)
            if place is not None:
                self.addresses[place] = INPUTS + index
        self.sites = self._sites()
        for place in leaves:
            if self.addresses[place] < 0:
                self.addresses[place] = INPUTS + self._leaf(place)

    def _add_input(self, given: Input) -> int:
        index = len(self.program.inputs)
        self.program.inputs[index] = given
        return index

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
            self.program.made[index] = (
                bool(self.graph.takes[place]),
                self.site(int(self.graph.places[place])),
            )
            if label := self.graph.labels.get(place):
                self.program.labels[index] = label
            return index
        self.captured.append(value)
        name = self.graph.labels.get(place) or f"captured {len(self.captured)}"
        return self._add_input(Input(CAPTURED, name))

    def places_of(self, values: Sequence[Value]) -> list[int]:
        """Where some values stand in the graph."""
        ids = np.fromiter(map(id, self.values), np.int64, len(self.values))
        order = np.argsort(ids)
        wanted = np.fromiter(map(id, values), np.int64, len(values))
        found: list[int] = order[np.searchsorted(ids[order], wanted)].tolist()
        return found

    def _sites(self) -> NDArray[np.int64]:
        """By place in the graph: where an op made it, among the program's sites."""
        assert self.graph.instructions is not None
        where, first = np.unique(self.graph.places[self.made], return_index=True)
        numbers = np.full(len(self.graph.instructions) + 1, -1, np.int64)
        for instruction in where[np.argsort(first)].tolist():
            numbers[instruction] = self.site(instruction)
        return numbers[self.graph.places]

    def site(self, instruction: int) -> int:
        """The number of a site. They go by line and span: the interpreter has several
        instructions for one of them."""
        if instruction < 0:
            return -1
        program = self.program
        assert self.graph.instructions is not None
        where = self.graph.instructions[instruction]
        site, span = site_of(where) or Site("?", 0, "?"), span_of(where)
        number = self._known_sites.setdefault((site, span), len(program.sites))
        if number == len(program.sites):
            program.sites.append(site)
            program.spans.append(span)
        return number

    def read(self) -> Roller:
        """All that the function made, in order, what repeats as loops."""
        graph = self.graph
        names, codes = self._names()
        operands = np.append(self.addresses, -1)[graph.inputs]
        numbers = np.flatnonzero(graph.inputs < 0)
        if len(numbers):
            operands[numbers] = self.numbers.addresses(graph.numbers[numbers])
        self.names = names
        count = int(self.made.sum())
        starts = np.append(graph.starts[:-1][self.made], graph.starts[-1])
        flat = Flat(
            codes[self.made], self.sites[self.made], np.ones(count, np.int64), starts, operands
        )
        return rolled(flat)

    def _names(self) -> tuple[list[str], NDArray[np.int64]]:
        """The names of ops, and by value which of them made it."""
        graph, names = self.graph, list(NAMES)
        codes = graph.codes.astype(np.int64)
        customs: dict[str, int] = {}
        for place in graph.own:
            if not self.made[place]:
                continue
            value = self.values[place]
            name = core.recorded_op(value)
            if not name:
                if not isinstance(value._rule, RecordedOp):
                    raise RecordingError.custom(value)
                name = self.custom(place)
            codes[place] = customs.setdefault(name, len(names))
            if codes[place] == len(names):
                names.append(name)
        return names, codes

    def custom(self, place: int) -> str:
        """The name of the instruction that a custom op's value is."""
        value = self.values[place]
        rule = value._rule
        assert isinstance(rule, RecordedOp)
        edges = slice(*self.graph.starts[place : place + 2])
        numbers = self.graph.data[self.graph.inputs[edges]].tolist()
        known = (id(rule.op), len(numbers), rule.part)
        if known not in self._customs:
            function = function_of(rule, value, numbers, self._rule)
            self._customs[known] = key_of(self.program.functions, function)
        return self._customs[known]

    def _rule(
        self, rule: Callable[[], Any], arguments: Sequence[tuple[Value, Input]]
    ) -> tuple[Program, list[Value]]:
        """The program of a rule: its derivatives, one an output."""
        found, captured = record(
            rule, arguments, lambda derivatives, _: list(derivatives), self.since
        )
        return expand(found), captured

    def finish(self, roller: Roller, outputs: list[int]) -> Numbered:
        """Number everything: inputs first, then the instructions."""
        program = self.program
        numbered = Numbered(list(program.inputs.values()), self.numbers, roller, outputs)
        program.inputs = numbered.inputs
        program.count = numbered.first + len(roller.flat)
        for place, label in self.graph.labels.items():
            if self.made[place]:
                program.labels[numbered.id_of(int(self.addresses[place]))] = label
        return numbered


def record(
    function: Callable[[], Any],
    arguments: Sequence[tuple[Value, Input]],
    flatten: Callable[[Any, bool], list[Any]],
    since: int,
    path: bytes = b"",
) -> tuple[Rolled, list[Value]]:
    """Run ``function`` and read its program, with the leaves it captured.

    ``flatten`` takes the result and whether anything was decided on the way. The first decisions
    are forced to the outcomes of ``path``.
    """
    decisions = Decisions(path)
    recorders.decisions.append(decisions)
    core.enter_recording()
    log: list[Value] = []
    try:
        result = function()
    finally:
        log = core.leave_recording()
        recorders.decisions.pop()
        forget()
    decided = decisions.taken
    outputs = flatten(result, bool(decided))
    roots = [output for output in outputs if isinstance(output, Value)]
    conditions = [value for value, _ in decided]
    graph = values.read([*conditions, *roots], since, log=log)
    del log
    reader = _Reader(graph, arguments, since)
    roller = reader.read()
    found = iter(reader.places_of([*conditions, *roots]))
    places = [next(found) for _ in conditions]
    addresses = [
        int(reader.addresses[next(found)])
        if isinstance(o, Value)
        else reader.numbers.address(float(o))
        for o in outputs
    ]
    numbered = reader.finish(roller, addresses)
    program, id_of = reader.program, numbered.id_of
    program.outputs = [id_of(address) for address in addresses]
    program.guards = [
        Guard(id_of(int(reader.addresses[place])), outcome, reader.site(int(graph.places[place])))
        for place, (_, outcome) in zip(places, decided)
    ]
    made = Rolled(program, numbered.items(roller, reader.names), numbered.tables)
    return check_rolled(made, "recording"), reader.captured
