"""Births over rows: which rows of a compiled function made a NaN or an infinity, and where.

All rows run once, in batches. Those with a result or a gradient that is not finite run again with
every number of the program stored, so that the first one that is not finite can be read off; rows
with the same place are one group. One row of each group is computed on values, to say why.

Rows whose results are finite may have lost a NaN on the way: in a comparison, which is false then,
or in the arm of a ``where`` that was not chosen. These are found by the numbers of such places.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .._shared.birth import BACKWARD, DROPPED, FORWARD, GIVEN, MADE, Birth, spelled
from .._shared.numerics import np
from .._shared.threads import threads_for
from .._values.nests import is_array, leaves, mapped
from ..program.derived import VALUE, Mode
from ..program.program import CONSTANT, Program
from ..program.results import Store
from ..value import Value
from .births import births_under
from .births_text import row_lines
from .row_numbers import (
    BATCH_BYTES,
    droppers,
    handed_on,
    numbers,
    op_of,
    primal,
    reached,
    row_inputs,
    whole,
)

if TYPE_CHECKING:
    from ..program.calling import Replayable
    from ..program.traces import Trace

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
    """Which of the rows of a call are not finite, and where that began, phase by phase.

    ``dropped`` are rows whose results are no NaN although one was made or given on the way, and the
    places where it was lost.
    """

    rows: int
    forward: tuple[RowGroup, ...]
    backward: tuple[RowGroup, ...]
    sick: Any
    unplaced: int = 0
    dropped: tuple[RowGroup, ...] = ()

    def __bool__(self) -> bool:
        return bool(len(self.sick)) or bool(self.dropped)

    def as_dict(self) -> dict[str, Any]:
        """The births as plain data, ready for JSON."""

        def plain(groups: tuple[RowGroup, ...]) -> list[Any]:
            return [{"rows": g.rows.tolist(), "birth": g.birth.as_dict()} for g in groups]

        shown = {
            "rows": self.rows,
            "sick": self.sick.tolist(),
            "forward": plain(self.forward),
            "backward": plain(self.backward),
            "dropped": plain(self.dropped),
            "unplaced": self.unplaced,
        }
        return spelled(shown)  # type: ignore[no-any-return]

    def __str__(self) -> str:
        return "\n".join(row_lines(self))


def births_of_rows(
    function: Replayable, args: tuple[Any, ...], kwargs: dict[str, Any], threads: int | None
) -> RowBirths:
    """The births over the rows of one call; see :meth:`Compiled.births`."""
    given, kwargs = function._unframed(args, kwargs)
    bound, _ = function._bind(given, kwargs)
    bound.on_host(function._name, "births")
    rows = 1 if bound.rows is None else bound.rows
    found = _Found(function, tuple(given), kwargs, threads, bound.rows is not None)
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
        family = self.function._family(bound, shapes, traced=True)
        width = len(bound.kinds) * len(family.traces[0].outputs.items) + len(family.captured) + 1
        return int(min(max(BATCH_BYTES // (8 * width), 64), MOST_ROWS))

    def look(self, rows: Any) -> None:
        """Find the sick among some rows, where they fell ill, and where the others lost a NaN."""
        is_sick = self._is_sick(*self._call(rows))
        sick = rows[is_sick]
        if len(sick):
            self.sick.append(sick)
            self._by_trace(sick, self._place)
        if len(sick) < len(rows):
            self._by_trace(rows[~is_sick], self._place_drops)

    def _by_trace(self, rows: Any, place: Callable[..., None]) -> None:
        """Have rows looked at, those of each trace together."""
        args, kwargs = self._call(rows)
        bound, shapes = self.function._bind(args, kwargs)
        family = self.function._family(bound, shapes, traced=True)
        router = self.function._router(family, bound, shapes, lambda: VALUE, self.threads)
        for trace, members in router.sorted_rows():
            place(trace, rows, members, router.call, shapes)

    def _is_sick(self, args: Any, kwargs: Any) -> Any:
        """By row: whether a result or a gradient is not finite."""
        bound, shapes = self.function._bind(args, kwargs)
        family = self.function._family(bound, shapes, traced=True)
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
        program, sums = whole(trace, _wrt(shapes))
        wanted = list(range(program.count))
        known = set(program.inputs).union(*[each.results for each in program.instructions])
        wanted = [i for i in wanted if i in known]
        for some, stored in numbers(program, wanted, trace, call, members, self._threads):
            self._read(program, sums, trace, wanted, stored, sick[some])

    @property
    def _threads(self) -> int:
        return threads_for(self.threads)

    def _read(
        self,
        program: Program,
        sums: dict[int, str],
        trace: Trace,
        wanted: list[int],
        stored: Any,
        rows: Any,
    ) -> None:
        """Group rows by the first number that is not finite, forward and backward."""
        place = {index: at for at, index in enumerate(wanted)}
        own = len(primal(trace).instructions)
        outputs = program.outputs[: len(trace.outputs.items)]
        depends = reached(program, own, outputs, stored, place)
        odd = ~np.isfinite(stored)
        inputs = row_inputs(program)
        given = np.isnan(stored[[place[i] for i in inputs]]) & depends[inputs]
        made = [
            (each.results[0], each._replace(op=op_of(program, each)))
            for each in program.instructions[:own]
        ]
        handed = handed_on(program, own, sums)
        well = ~given.any(axis=0)
        finite = well & ~odd[[place[output] for output in outputs]].any(axis=0)
        for index, some in _firsts(given, ~well):
            name = program.inputs[inputs[index]].name
            result = stored[place[inputs[index]], some[0]]
            self._note(FORWARD, GIVEN, "leaf", name, rows[some], result, None)
        forward = np.array([odd[place[i]] & depends[i] for i, _ in made]).reshape(-1, len(rows))
        backward = np.array([odd[place[i]] for i, _ in handed]).reshape(-1, len(rows))
        for phase, those, found in (
            (FORWARD, made, _firsts(forward, well)),
            (BACKWARD, handed, _firsts(backward, finite)),
        ):
            for index, some in found:
                number, each = those[index]
                site = program.site(each.site)
                result = stored[place[number], some[0]]
                self._note(phase, MADE, each.op, site, rows[some], result, site)

    def _place_drops(self, trace: Trace, well: Any, members: Any, call: Any, shapes: Any) -> None:
        """Where rows that are finite lost a NaN."""
        program = primal(trace)
        places = droppers(program)
        if not places:
            return
        makers = {each.results[0]: each for each in program.instructions}
        constant = {i: g.number for i, g in program.inputs.items() if g.kind == CONSTANT}
        wanted = sorted({i for each in places for i in (*each.args, *each.results)})
        at = {index: place for place, index in enumerate(wanted)}
        for some, stored in numbers(program, wanted, trace, call, members, self._threads):
            lost = np.isnan(stored)
            found = [
                lost[[at[arg] for arg in each.args]].any(axis=0) & ~lost[at[each.results[0]]]
                for each in places
            ]
            for index, columns in _firsts(np.array(found), np.ones(len(some), dtype=bool)):
                each, first = places[index], columns[0]
                nan = next(arg for arg in each.args if lost[at[arg], first])
                site = program.site(each.site)
                result = stored[at[each.results[0]], first]
                target = self._named(program, makers, constant, nan)
                rows = well[some[columns]]
                self._note(DROPPED, DROPPED, each.op, site, rows, result, site, target)

    def _named(self, program: Program, makers: Any, constant: Any, index: int) -> str:
        """A number in words."""
        if index in constant:
            return "a constant"
        if index in program.inputs:
            return f"'{program.inputs[index].name}'"
        site = program.site(makers[index].site)
        return f"the result of {makers[index].op}" + (f" (line {site.line})" if site else "")

    def _note(
        self,
        phase: str,
        cause: str,
        op: str,
        place: Any,
        rows: Any,
        result: float,
        site: Any,
        target: str = "",
    ) -> None:
        key = (phase, "" if phase == BACKWARD else op, place)
        if key in self.places:
            self.places[key].append(rows)
        elif len(self.places) >= MOST_GROUPS:
            self.unplaced += len(rows)
        else:
            self.places[key] = [rows]
            label = place if cause == GIVEN else None
            source = linecache.getline(site.file, site.line).strip() if site else ""
            plain = Birth(
                FORWARD if phase == DROPPED else phase, cause, op, label, float(result),
                target=target, site=site, source=source,
            )  # fmt: skip
            self.details[key] = self._described(plain, int(rows[0]))

    def _described(self, plain: Birth, row: int) -> Birth:
        """What the function on values says of one row; the plain account where it cannot."""
        compute = getattr(self.function, "_function", None)
        if compute is None or plain.cause in (GIVEN, DROPPED):
            return plain
        try:
            roots = _on_values(self.function, compute, *self._call(np.array([row])))
            found = births_under(roots, (1.0,) * len(roots))
        except Exception:  # it refuses values, or has gone another way
            return plain
        for each in found.forward if plain.phase == FORWARD else found.backward:
            if (each.site, each.op) == (plain.site, plain.op):
                return replace(each, count=1)
        return plain

    def births(self, rows: int) -> RowBirths:
        groups: dict[str, list[RowGroup]] = {FORWARD: [], BACKWARD: [], DROPPED: []}
        for key, members in self.places.items():
            numbers = np.sort(np.concatenate(members))
            groups[key[0]].append(RowGroup(key[0], self.details[key], numbers))
        for each in groups.values():
            each.sort(key=lambda group: (-group.count, int(group.rows[0])))
        sick = np.concatenate(self.sick) if self.sick else np.zeros(0, dtype=np.int64)
        forward, backward, dropped = (tuple(found) for found in groups.values())
        return RowBirths(rows, forward, backward, sick, self.unplaced, dropped)


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


def _taken(nest: Any, rows: Any) -> Any:
    """A nest of arguments with some of the rows of its arrays."""
    return mapped(
        lambda part: part[rows] if is_array(part) and part.ndim > 0 else part, nest, is_array
    )


def _on_values(function: Any, compute: Any, args: Any, kwargs: Any) -> tuple[Value, ...]:
    """The results of the function itself on the values of one row."""
    bound, shapes = function._bind(args, kwargs)
    numbers = bound.numbers if bound.rows is None else bound.numbers_of(0)
    values = [Value(x, label=name) for name, x in zip(bound.names, numbers)]
    source = iter(values)
    call = function._signature.bind_partial()
    call.arguments.update({shape.name: shape.build(source) for shape in shapes})
    found = leaves(compute(*call.args, **call.kwargs))
    return tuple(part for part in found if isinstance(part, Value))
