"""``rg.anomaly()`` around compiled calls: the first row that makes a NaN or an infinity.

What stops is what stops eagerly: a NaN, an infinity of which no operand was infinite, a gradient
that is not finite on its way. Rows are looked at in batches, with every number of the recorded
program stored; the first of them is then computed on values, to say why.
"""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .._shared.birth import BACKWARD, FORWARD, GIVEN, MADE, Birth
from .._shared.numerics import np
from ..errors import AnomalyError
from ..program.derived import VALUE
from ..value import Value
from .births import births_under
from .row_numbers import handed_on, numbers, op_of, primal, row_inputs, whole

if TYPE_CHECKING:
    from ..program.caller import Caller
    from ..program.program import Instruction, Program
    from ..program.rows import Argument, Bound
    from ..program.traces import Family, Trace


def check_rows(
    function: Caller,
    family: Family,
    bound: Bound,
    shapes: list[Argument],
    wrt: Sequence[int] | None,
    threads: int | None,
    seeds: Sequence[tuple[int, int]] = (),
) -> None:
    """Raise at the first row that is not finite on its way; ``wrt`` is None for the value alone."""
    router = function._router(family, bound, shapes, lambda: VALUE, threads, seeds)
    found: list[tuple[int, Birth]] = []
    for trace, members in router.sorted_rows():
        watched = _Watched(trace, wrt, len(seeds))
        program, wanted = watched.program, watched.wanted
        for some, stored in numbers(
            program, wanted, trace, router.call, members, router.call.threads
        ):
            first = watched.first(stored)
            if first is not None:
                found.append((int(some[first[0]]), first[1]))
                break
    if found:
        row, birth = min(found, key=lambda item: item[0])
        raise AnomalyError.in_row(
            _described(function, bound, shapes, row, birth), None if bound.rows is None else row
        )


class _Watched:
    """The program of a trace, and its places in the order in which they are looked at."""

    def __init__(self, trace: Trace, wrt: Sequence[int] | None, seeds: int) -> None:
        self.program: Program = primal(trace)
        own = len(self.program.instructions)
        sums: dict[int, str] = {}
        if wrt is not None:
            self.program, sums = whole(trace, wrt, seeds)
        self.made = self.program.instructions[:own]
        self.handed = handed_on(self.program, own, sums)
        used = {arg for each in self.made for arg in each.args} | set(self.program.outputs)
        self.given = [i for i in row_inputs(self.program) if i in used]
        read = {i for each in self.made for i in (*each.args, *each.results)}
        self.wanted = sorted(read | set(self.given) | {i for i, _ in self.handed})

    def first(self, stored: Any) -> tuple[int, Birth] | None:
        """The first column with a birth, and the birth."""
        at = {index: place for place, index in enumerate(self.wanted)}
        nan, infinite = np.isnan(stored), np.isinf(stored)
        best: tuple[int, Birth] | None = None

        def look(born: Any, describe: Any) -> None:
            nonlocal best
            until = len(born) if best is None else best[0]
            if born[:until].any():
                column = int(np.argmax(born))
                best = column, describe(column)

        for index in self.given:
            name = self.program.inputs[index].name
            look(nan[at[index]], lambda c, name=name, index=index: Birth(
                FORWARD, GIVEN, "leaf", name, float(stored[at[index], c])
            ))  # fmt: skip
        for each in self.made:
            result = at[each.results[0]]
            operands = [at[arg] for arg in each.args]
            born = nan[result] | (infinite[result] & ~infinite[operands].any(axis=0))
            look(born, lambda c, each=each, r=result: self._birth(FORWARD, each, stored[r, c]))
        for index, each in self.handed:
            odd = nan[at[index]] | infinite[at[index]]
            look(odd, lambda c, each=each, i=index: self._birth(BACKWARD, each, stored[at[i], c]))
        return best

    def _birth(self, phase: str, each: Instruction, result: float) -> Birth:
        site = self.program.site(each.site)
        source = linecache.getline(site.file, site.line).strip() if site else ""
        return Birth(
            phase, MADE, op_of(self.program, each), None, float(result), site=site, source=source
        )


def _described(
    function: Caller, bound: Bound, shapes: list[Argument], row: int, plain: Birth
) -> Birth:
    """What the function on values says of the row; the plain account where it cannot."""
    compute = getattr(function, "_function", None)
    if compute is None or plain.cause == GIVEN:
        return plain
    given = bound.numbers if bound.rows is None else bound.numbers_of(row)
    try:
        source = iter([Value(x, label=name) for name, x in zip(bound.names, given)])
        call = function._signature.bind_partial()
        call.arguments.update({shape.name: shape.build(source) for shape in shapes})
        root = compute(*call.args, **call.kwargs)
        found = births_under((root,), (1.0,))
    except AnomalyError as error:
        return error.birth if error.phase == plain.phase else plain
    except Exception:  # it refuses values, or returns several
        return plain
    described = found.forward if plain.phase == FORWARD else found.backward
    same = [each for each in described if (each.site, each.op) == (plain.site, plain.op)]
    return replace(same[0], count=1) if same else plain
