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
from ..value import core
from .doubts import DoubtError
from .entered import Entered
from .loops import Item, Loop, Rolled
from .traces import Family, Trace

if TYPE_CHECKING:
    from .rewriting import Fork

RECORDINGS = 3
"""How often a function is recorded until it leaves what it reads alone."""
ATTEMPTS = 5
"""How often a call is begun until nothing that it reads is rebound on the way."""


class RejoinError(Exception):
    """Other branches are to be choices than those a call began with: it is begun again."""


class LazyArguments(Exception):  # noqa: N818  it is no error: the call goes another way
    """Arguments of a call are Dask's: it becomes a graph."""


P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class ReboundError(Exception):
    """What a function reads was rebound during a call: its traces would mix old and new."""

    def __init__(self, function: str, places: list[str]) -> None:
        super().__init__(function, places)
        self.function, self.places = function, places


def whole(call: Callable[P, R]) -> Callable[P, R]:
    """A call that is begun again where something it reads is rebound on the way, or where other
    branches are to be choices; where its arguments are Dask's it becomes a graph."""

    @wraps(call)
    def begun(*args: P.args, **kwargs: P.kwargs) -> R:
        attempts = 1
        while True:
            try:
                return call(*args, **kwargs)
            except LazyArguments:
                break
            except RejoinError:
                continue  # there are as many of these as there are branches, at most twice
            except DoubtError as doubt:  # of a gradient that was not asked for before
                caller: Any = args[0]
                if not caller._leave(doubt):
                    raise
            except ReboundError as last:
                attempts += 1
                if attempts > ATTEMPTS:
                    raise RecordingError.restless(last.function, last.places) from None
        from ..streams.lazy import lazily

        return lazily(args[0], call.__name__, args[1:], kwargs)  # type: ignore[no-any-return]

    return begun


def add_settled(function: str, record: Callable[[Entered], Trace], family: Family) -> Trace:
    """Another trace of a family, of the snapshot of names that all of its traces have."""
    _check(function, family)
    trace, entered = settled(function, record, _alike)
    names, former = entered.names, family.former
    if former is not None and _alike(former.trace_of(trace.path), trace):
        ineffective = core.Names()  # what was rebound, and the same came of it
        ineffective.absorb(former.names, former.names.changed())
        names.drop(ineffective)
    if names.differing(family.names):
        raise ReboundError(function, list(names.differing(family.names).values()))
    names.prune()
    family.names.absorb(names)
    family.assigned |= entered.assigned & names.keys()
    family.far = family.far or entered.far
    _check(function, family)
    return trace


def _check(function: str, family: Family) -> None:
    if not family.names.unchanged():
        raise ReboundError(function, list(family.names.changed().values()))


def next_family(
    former: Family | None, budget: int | None, forks: frozenset[Fork] | None = frozenset()
) -> Family:
    """The family that takes the place of one whose names were rebound.

    It remembers that one where all that was rebound is what the function assigns itself: if the
    same comes of it again, that was only kept there on the way.
    """
    family = Family(budget, forks)
    if former is None or former.forks != forks:
        return family
    if former.names.changed().keys() <= former.assigned:
        former.former = None
        family.former = former
    return family


def settled(
    function: str, record: Callable[[Entered], T], alike: Callable[[T, T], bool]
) -> tuple[T, Entered]:
    """A recording in which the function left alone what it read, but for what has no effect."""
    entered = Entered()
    trace = record(entered)
    unsettled = entered.names.changed()
    for _ in range(RECORDINGS - 1):
        if not unsettled:
            break
        before, entered = entered, Entered()
        again = record(entered)
        unsettled = {**entered.names.differing(before.names), **entered.names.changed()}
        if not entered.names.changed():  # it was made the first time
            unsettled = {}
        elif alike(trace, again):
            ineffective = core.Names()
            ineffective.absorb(entered.names, unsettled)
            entered.names.drop(ineffective)
            unsettled = {}
        trace = again
    if unsettled:
        raise RecordingError.changing(function, sorted(set(unsettled.values())))
    return trace, entered


def _alike(one: Trace | None, other: Trace) -> bool:
    """Whether two recordings came to the same program, of the same leaves."""
    return (
        one is not None
        and len(one.captured) == len(other.captured)
        and all(a is b for a, b in zip(one.captured, other.captured))
        and one.outputs.paths == other.outputs.paths
        and _plainly(one.rolled) == _plainly(other.rolled)
    )


def _plainly(rolled: Rolled) -> Any:
    """A program as data that compares: numbers by their bits, without places in the source."""
    frame = rolled.frame
    return (
        [(i, given.kind, pack("d", given.number)) for i, given in frame.inputs.items()],
        [_without_site(item) for item in rolled.items],
        [(condition, outcome) for condition, outcome, _ in frame.guards],
        frame.outputs,
        rolled.tables.tobytes(),
    )


def _without_site(item: Item) -> Any:
    if isinstance(item, Loop):
        trips, body, period, strides = item
        return trips, [_without_site(part) for part in body], period, strides
    op, results, args, _, more = item
    return op, results, args, more
