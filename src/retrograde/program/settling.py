"""One snapshot a call: recordings that agree on what the names of a function mean.

A function may change what it reads. Where it does so once, as when it makes something the first
time, it is recorded again. Where it does so each time, as a counter does, that is let go if the
program comes out the same, and refused if it does not: a replay would not repeat the change.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from struct import pack
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ..errors import RecordingError
from .entered import Entered
from .program import Program
from .traces import Family, Trace

if TYPE_CHECKING:
    from .._native import Names

RECORDINGS = 3
"""How often a function is recorded until it leaves what it reads alone."""
ATTEMPTS = 5
"""How often a call is begun until nothing that it reads is rebound on the way."""

P = ParamSpec("P")
R = TypeVar("R")


class Rebound(Exception):
    """What a function reads was rebound during a call: its traces would mix old and new."""

    def __init__(self, function: str, places: list[str]) -> None:
        super().__init__(function, places)
        self.function, self.places = function, places


def whole(call: Callable[P, R]) -> Callable[P, R]:
    """A call that is begun again where something it reads is rebound on the way."""

    @wraps(call)
    def begun(*args: P.args, **kwargs: P.kwargs) -> R:
        for _ in range(ATTEMPTS - 1):
            try:
                return call(*args, **kwargs)
            except Rebound:
                continue
        try:
            return call(*args, **kwargs)
        except Rebound as last:
            raise RecordingError.restless(last.function, last.places) from None

    return begun


def add_settled(
    function: str, record: Callable[[Entered], Trace], family: Family, former: Family | None = None
) -> Trace:
    """Another trace of a family, of the snapshot of names that all of its traces have.

    ``former`` is the family that this one takes the place of, since names were rebound.
    """
    _check(function, family)
    trace, entered = _settled(function, record, family.own_names)
    names = entered.names
    if former is not None:
        _learn(former, trace, family)
        names.drop(family.own_names)
    family.names.drop(family.own_names)
    if names.differing(family.names):
        raise Rebound(function, list(names.differing(family.names).values()))
    names.prune()
    family.names.absorb(names)
    family.assigned |= entered.assigned & names.keys()
    _check(function, family)
    return trace


def _check(function: str, family: Family) -> None:
    if not family.names.unchanged():
        raise Rebound(function, list(family.names.changed().values()))


def _settled(
    function: str, record: Callable[[Entered], Trace], own: Names
) -> tuple[Trace, Entered]:
    """A recording in which the function left alone what it read.

    ``own`` are the places that it is known to change without effect; more are added.
    """
    entered = Entered()
    trace = record(entered)
    entered.names.drop(own)
    unsettled = entered.names.changed()
    for _ in range(RECORDINGS - 1):
        if not unsettled:
            break
        before, entered = entered, Entered()
        again = record(entered)
        entered.names.drop(own)
        unsettled = {**entered.names.differing(before.names), **entered.names.changed()}
        if unsettled and _same(trace, again):
            own.absorb(entered.names, unsettled)
            entered.names.drop(own)
            unsettled = {}
        trace = again
    if unsettled:
        raise RecordingError.changing(function, sorted(set(unsettled.values())))
    return trace, entered


def _learn(former: Family, trace: Trace, family: Family) -> None:
    """Where what was rebound is what the function itself assigns, and nothing came of it."""
    changed = former.names.changed()
    alike = former.trace_of(trace.path)
    if changed.keys() <= former.assigned and alike is not None and _same(alike, trace):
        family.own_names.absorb(former.names, changed)


def _same(one: Trace, other: Trace) -> bool:
    """Whether two recordings came to the same program, of the same leaves."""
    return (
        len(one.captured) == len(other.captured)
        and all(a is b for a, b in zip(one.captured, other.captured))
        and one.outputs.paths == other.outputs.paths
        and _plainly(one.program) == _plainly(other.program)
    )


def _plainly(program: Program) -> Any:
    """A program as data that compares: numbers by their bits, without places in the source."""
    return (
        [(i, given.kind, pack("d", given.number)) for i, given in program.inputs.items()],
        [(op, results, args) for op, results, args, _ in program.instructions],
        [(condition, outcome) for condition, outcome, _ in program.guards],
        program.outputs,
    )
