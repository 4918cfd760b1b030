"""Recording: a function called once on fresh values becomes a program.

The values remember how they were made, so the program is read off the graph under the results and
the guards. Nothing is baked in: a number that would leave the graph raises while recording, and
what the graph cannot replay is refused here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._shared.placeholders import forget
from .._shared.sites import Site, Span, calling_instruction, site_of, span_of
from .._values.modes import ArraysRecorded
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
from .program import CAPTURED, CHOICE, CONSTANT, Guard, Input, Program
from .rolling import INPUTS, Flat, Roller, rolled

if TYPE_CHECKING:
    from numpy.typing import NDArray


MANY_OPERATIONS = 1_000_000
"""From here on a recording says where it is."""
MOST_OPERATIONS = 1 << 25
"""What a recording may make: a loop without end stops there, before memory does."""


MOST_DECISIONS = 1 << 21
"""How often a recording may decide: a ``while`` without end stops there, in seconds."""


def _tell(operations: int) -> int:
    """A recording has made so many operations. When to look again."""
    site = site_of(calling_instruction(2))
    if operations >= MOST_OPERATIONS:
        raise RecordingError.endless(f"{operations:,} operations", site)
    decided = len(recorders.decisions[-1].taken) if recorders.decisions else 0
    if decided >= MOST_DECISIONS:
        raise RecordingError.endless(f"{decided:,} decisions", site)
    if operations < 2 * MANY_OPERATIONS:
        message = RecordingWarning.long(operations, MOST_OPERATIONS, MOST_DECISIONS, site)
        warnings.warn(RecordingWarning(message), stacklevel=2)
    return min(operations + MANY_OPERATIONS, MOST_OPERATIONS)


core.tell_of(MANY_OPERATIONS, _tell)


class _Reader:
    """Turns a graph into a program: flat arrays first, so that what repeats is found in them."""

    def __init__(
        self,
        graph: Pass,
        arguments: Sequence[tuple[Value, Input]],
        since: int,
        chosen: Sequence[Value] = (),
    ) -> None:
        assert graph.values is not None
        self.program = Program()
        self.captured: list[Value] = []
        self.graph, self.since = graph, since
        self.values: Sequence[Value] = graph.values
        self.made = np.diff(graph.starts) > 0
        self.addresses = np.cumsum(self.made, dtype=np.int64)
        self.addresses -= 1
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
        self.names, self.codes = self._names()
        if chosen:
            self._name_choices({id(value) for value in chosen})

    def _name_choices(self, chosen: set[int]) -> None:
        """Recorded as ``where``, and more than that: the side not chosen is not there."""
        places = [place for place, value in enumerate(self.values) if id(value) in chosen]
        self.codes[places] = len(self.names)
        self.names.append(CHOICE)

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

    def capture(self, tests: Sequence[Value]) -> None:
        """Capture the leaves under some conditions that nothing was computed with."""
        graph = values.read(tests, self.since)
        assert graph.values is not None
        for place in np.flatnonzero((np.diff(graph.starts) == 0) & (graph.codes == LEAF)).tolist():
            value = graph.values[place]
            if id(value) in self._leaves or core.leaf_origin(value, self.since) != "captured":
                continue
            self._leaves[id(value)] = -1
            self.captured.append(value)
            name = graph.labels.get(place) or f"captured {len(self.captured)}"
            self._add_input(Input(CAPTURED, name))

    def places_of(self, values: Sequence[Value]) -> list[int]:
        """Where some values stand in the graph."""
        wanted = set(map(id, values))
        places = {i: place for place, i in enumerate(map(id, self.values)) if i in wanted}
        return [places[id(value)] for value in values]

    def let_go(self) -> None:
        """The nodes are not needed any more: what is left is numbers."""
        self.values, self._leaves = (), {}
        self.graph = replace(self.graph, values=None, grads=None, hooked=None)

    def address_of(self, place: int) -> int:
        """The number of what stands at a place of the graph, or of the input that it is."""
        return int(self.addresses[place])

    def _sites(self) -> NDArray[np.int32]:
        """By place in the graph: where an op made it, among the program's sites."""
        assert self.graph.instructions is not None
        places = self.graph.places
        first = np.full(len(self.graph.instructions) + 1, len(places))
        numbers = np.full(len(first), -1, np.int32)
        made = np.flatnonzero(self.made)[::-1]
        first[places[made]] = made  # of several the earliest stays
        for instruction in np.argsort(first, kind="stable").tolist():
            if first[instruction] < len(places) and instruction < len(first) - 1:
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

    def read(self) -> Flat:
        """All that the function made, in order. The graph is let go: it is longer than this."""
        graph, made = self.graph, self.made
        self.labels = {
            self.address_of(place): label for place, label in graph.labels.items() if made[place]
        }
        del self.graph, self.made
        operands = self.addresses[graph.inputs]
        numbers = np.flatnonzero(graph.inputs < 0)
        if len(numbers):
            operands[numbers] = self.numbers.addresses(graph.numbers[numbers])
        starts = np.append(graph.starts[:-1][made], graph.starts[-1])
        del graph, numbers
        codes, sites = self.codes[made], self.sites[made]
        del self.codes, self.sites
        return Flat(codes, sites, np.ones(len(codes), np.int32), starts, operands)

    def _names(self) -> tuple[list[str], NDArray[np.int32]]:
        """The names of ops, and by value which of them made it."""
        graph, names = self.graph, list(NAMES)
        codes = graph.codes.astype(np.int32)
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
        for address, label in self.labels.items():
            program.labels[numbered.id_of(address)] = label
        return numbered


def record(
    function: Callable[[], Any],
    arguments: Sequence[tuple[Value, Input]],
    flatten: Callable[[Any, bool], list[Any]],
    since: int,
    decisions: Decisions | None = None,
    chosen: Sequence[Value] = (),
    tests: Sequence[Value] = (),
    look: Callable[[list[Value]], None] | None = None,
) -> tuple[Rolled, list[Value]]:
    """Run ``function`` and read its program, with the leaves it captured.

    ``flatten`` takes the result and whether anything was decided on the way; ``decisions`` may be
    forced. ``chosen`` is where the function leaves the values that are choices, ``tests`` what they
    go by: leaves under those are captured whether anything comes of them or not, as under a guard.
    ``look`` is shown all that was made, whether anything comes of it or not.
    """
    decisions = Decisions() if decisions is None else decisions
    recorders.decisions.append(decisions)
    core.enter_recording()
    log: list[Value] = []
    try:
        result = function()
    finally:
        log = core.leave_recording()
        recorders.decisions.pop()
        forget()
    if core.recorded_arrays():
        raise ArraysRecorded
    if look is not None:
        look(log)
    decided = decisions.taken
    outputs = flatten(result, bool(decided))
    conditions = [value for value, _ in decided]
    roots = [*conditions, *[output for output in outputs if isinstance(output, Value)]]
    graph = values.read(roots, since, log=log)
    log = []
    reader = _Reader(graph, arguments, since, chosen)
    if tests:
        reader.capture(tests)
    places = reader.places_of(roots)
    guards = [
        (reader.address_of(place), outcome, reader.site(int(graph.places[place])))
        for place, (_, outcome) in zip(places, decided)
    ]
    found = iter(places[len(guards) :])
    asked = [
        (reader.address_of(next(found)), 0.0) if isinstance(o, Value) else (-1, float(o))
        for o in outputs
    ]
    reader.let_go()
    del result, decisions, decided, outputs, conditions, roots, graph, places
    return _finished(reader, asked, guards), reader.captured


def _finished(
    reader: _Reader, asked: list[tuple[int, float]], guards: list[tuple[int, bool, int]]
) -> Rolled:
    """The program of a graph that is let go; results are asked by address, or are numbers."""
    flat = reader.read()
    addresses = [
        address if address >= 0 else reader.numbers.address(number) for address, number in asked
    ]
    del reader.addresses
    roller = rolled(flat)
    numbered = reader.finish(roller, addresses)
    program, id_of = reader.program, numbered.id_of
    program.outputs = [id_of(address) for address in addresses]
    program.guards = [Guard(id_of(address), outcome, site) for address, outcome, site in guards]
    made = Rolled(program, numbered.items(roller, reader.names), numbered.tables)
    return check_rolled(made, "recording")
