"""Births over rows: which rows of a compiled function made a NaN or an infinity, and where.

All rows run once, in batches. Those with a result or a gradient that is not finite run again with
every number of the program stored, so that the first one that is not finite can be read off; rows
with the same place are one group. One row of each group is computed on values, to say why.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..birth import BACKWARD, FORWARD, GIVEN, MADE, Birth, spelled
from ..program.adjoint import adjoint, with_constant
from ..program.derived import VALUE, Mode
from ..program.passes import remove_stops
from ..program.plan import laid_out
from ..program.program import CAPTURED, Program
from ..program.replay import Part, Ready, default_threads, run
from ..program.results import Store
from ..sequences import ComputingSequence
from ..value import Value
from .births import births_under
from .births_text import row_lines

if TYPE_CHECKING:
    from ..program.calling import Replayable
    from ..program.traces import Trace

BATCH_BYTES = 64 * 1024 * 1024
"""Results held at once."""
MOST_ROWS = 65_536
MOST_GROUPS = 64
"""Places told apart; rows of further ones are counted only."""


@dataclass(frozen=True)
class RowGroup:
    """Rows whose first number that is not finite was made in one place.

    ``rows`` are their numbers, ``birth`` describes the first of them.
    """

    phase: str
    birth: Birth
    rows: Any

    @property
    def count(self) -> int:
        """How many rows."""
        return len(self.rows)


@dataclass(frozen=True)
class RowBirths:
    """Which of the rows of a call are not finite, and where that began, phase by phase."""

    rows: int
    forward: tuple[RowGroup, ...]
    backward: tuple[RowGroup, ...]
    sick: Any
    unplaced: int = 0

    def __bool__(self) -> bool:
        return bool(len(self.sick))

    def as_dict(self) -> dict[str, Any]:
        """The births as plain data, ready for JSON."""

        def plain(groups: tuple[RowGroup, ...]) -> list[Any]:
            return [{"rows": g.rows.tolist(), "birth": g.birth.as_dict()} for g in groups]

        shown = {
            "rows": self.rows,
            "sick": self.sick.tolist(),
            "forward": plain(self.forward),
            "backward": plain(self.backward),
            "unplaced": self.unplaced,
        }
        return spelled(shown)  # type: ignore[no-any-return]

    def __str__(self) -> str:
        return "\n".join(row_lines(self))


def births_of_rows(
    function: Replayable, args: tuple[Any, ...], kwargs: dict[str, Any], threads: int | None
) -> RowBirths:
    """The births over the rows of one call; see :meth:`Compiled.births`."""
    bound, _ = function._bind(args, kwargs)
    rows = 1 if bound.rows is None else bound.rows
    found = _Found(function, args, kwargs, threads, bound.rows is not None)
    step = found.batch_rows()
    for first in range(0, rows, step):
        found.look(np.arange(first, min(first + step, rows)))
    return found.births(rows)


class _Found:
    """Sick rows by the place where they fell ill."""

    def __init__(
        self,
        function: Replayable,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        threads: int | None,
        many: bool,
    ) -> None:
        self.function, self.args, self.kwargs, self.many = function, args, kwargs, many
        self.threads = threads
        self.sick: list[Any] = []
        self.places: dict[tuple[str, str, Any], list[Any]] = {}
        self.details: dict[tuple[str, str, Any], Birth] = {}
        self.unplaced = 0

    def _call(self, rows: Any) -> tuple[Any, Any]:
        """The arguments of some rows."""
        if not self.many:
            return self.args, self.kwargs
        return _taken(self.args, rows), _taken(self.kwargs, rows)

    def batch_rows(self) -> int:
        bound, shapes = self.function._bind(self.args, self.kwargs)
        family = self.function._family(bound, shapes)
        width = len(bound.kinds) * len(family.traces[0].outputs.items) + len(family.captured) + 1
        return int(min(max(BATCH_BYTES // (8 * width), 64), MOST_ROWS))

    def look(self, rows: Any) -> None:
        """Find the sick among some rows, and where they fell ill."""
        sick = rows[self._is_sick(*self._call(rows))]
        if not len(sick):
            return
        self.sick.append(sick)
        args, kwargs = self._call(sick)
        bound, shapes = self.function._bind(args, kwargs)
        family = self.function._family(bound, shapes)
        router = self.function._router(family, bound, shapes, lambda: VALUE, self.threads)
        for trace, members in router.sorted_rows():
            self._place(trace, sick, members, router.call, shapes)

    def _is_sick(self, args: Any, kwargs: Any) -> Any:
        """By row: whether a result or a gradient is not finite."""
        bound, shapes = self.function._bind(args, kwargs)
        family = self.function._family(bound, shapes)
        outputs = len(family.traces[0].outputs.items)
        wrt = _wrt(shapes)
        taking = tuple(i for i, leaf in enumerate(family.captured) if leaf.requires_grad)
        modes = [(VALUE, outputs)]
        if wrt:
            modes.append((Mode("jacobian", wrt), outputs * len(wrt)))
        if taking and outputs == 1:
            modes.append((Mode("backward", taking), 1 + len(taking)))
        finite = True
        for mode, count in modes:
            store = Store(bound)
            store.fresh(count)
            self.function._stored(family, bound, shapes, mode, store, self.threads)
            for column in store.items():
                finite = finite & np.isfinite(np.atleast_1d(column))
        return ~np.asarray(finite)

    def _place(self, trace: Trace, sick: Any, members: Any, call: Any, shapes: Any) -> None:
        program = remove_stops(_whole(trace, _wrt(shapes)))
        own = len(trace.program.instructions)
        ids = [result for each in program.instructions for result in each.results]
        inputs = [i for i, given in program.inputs.items() if given.kind == "row"]
        plan = laid_out(program, [("store", i) for i in (*inputs, *ids)])
        ready = Ready.of(program, plan, call.arguments)
        step = max(BATCH_BYTES // (8 * (len(ids) + len(inputs) + 1)), 16)
        for first in range(0, len(members), step):
            some = members[first : first + step]
            stored = np.empty((len(inputs) + len(ids), len(some)))
            self._run(ready, trace, call, some, stored)
            self._read(program, trace, own, inputs, stored, sick[some])

    def _run(self, ready: Ready, trace: Trace, call: Any, some: Any, stored: Any) -> None:
        # outputs are addressed by the row's own number: so the columns are gathered first
        columns = []
        held = []
        for address, stride in call.inputs.tolist():
            if address == 0:
                columns.append((0, 0))
                continue
            column = _column(address, stride, call.rows)[some]
            held.append(column)
            columns.append((column.__array_interface__["data"][0], 8))
        part = Part.of(ready, len(some), call.numbers, trace.captured)
        start, width = stored.__array_interface__["data"][0], stored.strides[0]
        places = [(start + k * width, 8) for k in range(len(stored))]
        run(
            [part],
            np.array(columns, dtype=np.int64).reshape(-1, 2),
            np.array(places, dtype=np.int64).reshape(-1, 2),
            default_threads() if self.threads is None else max(int(self.threads), 1),
        )

    def _read(
        self, program: Program, trace: Trace, own: int, inputs: list[int], stored: Any, rows: Any
    ) -> None:
        """Group rows by the first number that is not finite, forward and backward."""
        odd = ~np.isfinite(stored)
        given, numbers = np.isnan(stored[: len(inputs)]), odd[len(inputs) :]
        makers = [k for k, each in enumerate(program.instructions) for _ in each.results]
        stops = sum(each.op == "stop" for each in trace.program.instructions)
        primal = sum(k < own - stops for k in makers)
        well = ~given.any(axis=0)
        finite = well.copy()
        for output in program.outputs[: len(trace.outputs.items)]:
            place = _place_of(output, inputs, program)
            if place is not None:
                finite &= ~odd[place]
        for index, some in _firsts(given, ~well):
            name = program.inputs[inputs[index]].name
            self._note(FORWARD, GIVEN, "leaf", name, rows[some], stored[index, some[0]], None)
        phases = (
            (FORWARD, 0, _firsts(numbers[:primal], well)),
            (BACKWARD, primal, _firsts(numbers[primal:], finite)),
        )
        for phase, offset, found in phases:
            for index, some in found:
                each = program.instructions[makers[offset + index]]
                site = program.site(each.site)
                result = stored[len(inputs) + offset + index, some[0]]
                self._note(phase, MADE, each.op, site, rows[some], result, site)

    def _note(
        self, phase: str, cause: str, op: str, place: Any, rows: Any, result: float, site: Any
    ) -> None:
        key = (phase, op if phase == FORWARD else "", place)
        if key in self.places:
            self.places[key].append(rows)
        elif len(self.places) >= MOST_GROUPS:
            self.unplaced += len(rows)
        else:
            self.places[key] = [rows]
            label = place if cause == GIVEN else None
            source = linecache.getline(site.file, site.line).strip() if site else ""
            plain = Birth(phase, cause, op, label, float(result), site=site, source=source)
            self.details[key] = self._described(plain, int(rows[0]))

    def _described(self, plain: Birth, row: int) -> Birth:
        """What the function on values says of one row; the plain account where it cannot."""
        compute = getattr(self.function, "_function", None)
        if compute is None or plain.cause == GIVEN:
            return plain
        try:
            roots = _on_values(self.function, compute, *self._call(np.array([row])))
            found = births_under(roots, (1.0,) * len(roots))
        except Exception:  # it refuses values, or has gone another way
            return plain
        for each in found.forward if plain.phase == FORWARD else found.backward:
            if each.site == plain.site:
                return replace(each, count=1)
        return plain

    def births(self, rows: int) -> RowBirths:
        groups: dict[str, list[RowGroup]] = {FORWARD: [], BACKWARD: []}
        for key, members in self.places.items():
            numbers = np.sort(np.concatenate(members))
            groups[key[0]].append(RowGroup(key[0], self.details[key], numbers))
        for each in groups.values():
            each.sort(key=lambda group: (-group.count, int(group.rows[0])))
        sick = np.concatenate(self.sick) if self.sick else np.zeros(0, dtype=np.int64)
        return RowBirths(rows, tuple(groups[FORWARD]), tuple(groups[BACKWARD]), sick, self.unplaced)


def _firsts(odd: Any, among: Any) -> Iterator[tuple[int, Any]]:
    """Columns by the first row of ``odd`` that holds, for those ``among`` which any does."""
    columns: Any = np.flatnonzero(among & odd.any(axis=0)) if len(odd) else ()
    if not len(columns):
        return
    first = np.argmax(odd[:, columns], axis=0)
    for index in np.unique(first).tolist():
        yield index, columns[first == index]


def _wrt(shapes: Any) -> tuple[int, ...]:
    return tuple(i for s in shapes if s.differentiable for i in range(s.first, s.first + s.count))


def _whole(trace: Trace, wrt: tuple[int, ...]) -> Program:
    """The recorded program and the gradients of all its outputs, as recorded: no pass is run."""
    program, one = with_constant(trace.program.replaced(guards=[]), 1.0)
    captured = [i for i, given in program.inputs.items() if given.kind == CAPTURED]
    taking = [i for i, leaf in zip(captured, trace.captured) if leaf.requires_grad]
    return adjoint(program, [*wrt, *taking], [(output, one) for output in program.outputs])


def _place_of(output: int, inputs: list[int], program: Program) -> int | None:
    """Where an output is among what was stored; None where it is the same for all rows."""
    if output in inputs:
        return inputs.index(output)
    ids = [result for each in program.instructions for result in each.results]
    return len(inputs) + ids.index(output) if output in ids else None


def _column(address: int, stride: int, rows: int) -> Any:
    """A column of a call as an array, without copying."""
    if stride < 0:
        start, first = address + stride * (rows - 1), rows - 1
    else:
        start, first = address, 0
    holder = {
        "data": (start, True), "shape": (rows,), "strides": (abs(stride),), "typestr": "<f8",
        "version": 3,
    }  # fmt: skip
    array = np.asarray(type("Column", (), {"__array_interface__": holder})())
    return array[::-1] if first else array


def _taken(nest: Any, rows: Any) -> Any:
    """A nest of arguments with some of the rows of its arrays."""
    if isinstance(nest, np.ndarray) and nest.ndim > 0:
        return nest[rows]
    if isinstance(nest, dict):
        return {key: _taken(part, rows) for key, part in nest.items()}
    if isinstance(nest, (list, tuple)):
        parts = [_taken(part, rows) for part in nest]
        return type(nest)(*parts) if hasattr(nest, "_fields") else type(nest)(parts)
    return nest


def _on_values(function: Any, compute: Any, args: Any, kwargs: Any) -> tuple[Value, ...]:
    """The results of the function itself on the values of one row."""
    bound, shapes = function._bind(args, kwargs)
    numbers = bound.numbers if bound.rows is None else bound.numbers_of(0)
    values = [Value(x, label=name) for name, x in zip(bound.names, numbers)]
    source = iter(values)
    call = function._signature.bind_partial()
    call.arguments.update({shape.name: shape.build(source) for shape in shapes})
    return tuple(_values(compute(*call.args, **call.kwargs)))


def _values(nest: Any) -> Iterator[Value]:
    if isinstance(nest, Value):
        yield nest
    elif isinstance(nest, dict):
        for part in nest.values():
            yield from _values(part)
    elif isinstance(nest, (list, tuple, np.ndarray, ComputingSequence)):
        for part in nest:
            yield from _values(part)
