"""Traces: the recorded paths through a function, and the tree that leads a row to its own.

A trace has a path: the outcomes of its guards, in order. Given the same outcomes so far, a function
asks the same question next, so paths form a tree. It is kept as routes: a route follows one trace
from where it left another, checks its guards, and knows for each guard the route of those who go
the other way. A row that fails guard g of a route has answered everything before g as that trace
did, so nothing is checked twice.
"""

from __future__ import annotations

import gc
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from .._shared.sites import Site
from ..value import Value, core
from .checker import check_rolled
from .checkpoints import checkpointed
from .derived import REDUCED, STORED, Mode, derived
from .long_layout import laid_out_long
from .looped_layout import laid_out_looped
from .loops import Item, Loop, Rolled, expand, full_size, static_size
from .machines import Target
from .passes import choices_as_takes, improved
from .plan_checker import check_plan, is_asked
from .program import CAPTURED, CHOICE, Program
from .replay import Ready
from .staged import prepared
from .stretching import Transform, stretched

if TYPE_CHECKING:
    from .rewriting import Fork

LEAST_TRACES = 500
"""Traces that are kept whatever their length."""
MOST_INSTRUCTIONS = 2_000_000
"""Instructions past which no more traces are kept, beyond the least."""

LONG_PROGRAM = 100_000
"""Instructions from which on, written out, loops are not written out for transforms and layout."""
KEPT_WRITTEN = 100_000
"""Instructions up to which a program is kept with its loops written out."""

_WHAT = {STORED: "store", REDUCED: "reduce"}


@contextmanager
def collector_paused() -> Iterator[None]:
    """Programs are many small tuples and no cycles: the cycle collector would walk them in vain."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@dataclass(eq=False)
class Trace:
    """One recorded path through the function: its program, with loops, and what was made of it.

    ``outputs`` is the outline of what it returns, ``numbers`` says which of the function's captured
    leaves its own are. ``rows`` counts the rows it has served, ``wasted`` those it was run on in
    vain; ``path`` is the outcomes of its guards.
    """

    rolled: Rolled
    captured: list[Value]
    outputs: Any
    numbers: list[int] = field(default_factory=list)
    rows: int = 0
    kept: bool = False
    wasted: int = 0
    plans: dict[Any, Ready] = field(default_factory=dict)
    patterns: dict[Any, Any] = field(default_factory=dict)
    path: bytes = b""
    asked: list[Any] = field(default_factory=list)
    """By guard: who asked; see ``Decisions``."""
    target: Target | None = None
    """What its plans are handed to, to be run faster."""
    checkpoint: bool = False
    """Whether long loops are computed again, so that less of them is kept."""
    _written: Program | None = None

    def __post_init__(self) -> None:
        self.path = bytes([guard.outcome for guard in self.rolled.frame.guards])

    @property
    def program(self) -> Program:
        """The program with its loops written out; it is kept only where it is short."""
        if self._written is not None:
            return self._written
        program = expand(self.rolled)
        if len(program.instructions) <= KEPT_WRITTEN:
            self._written = program
        return program

    @property
    def with_takes(self) -> Program:
        """The same, choices told as takes."""
        return choices_as_takes(self.program)

    @property
    def has_choices(self) -> bool:
        """Whether rows take different sides in it."""
        return _chooses(self.rolled.items)

    def site(self, guard: int) -> Site | None:
        """The line of a guard."""
        frame = self.rolled.frame
        return frame.site(frame.guards[guard].site)

    def ready(self, mode: Mode, what: str, arguments: int) -> Ready:
        """The plan of a mode; ``what`` is a letter an output: stored or reduced."""
        key = (mode, what)
        known = self.plans.get(key)
        if known is None:
            with collector_paused():
                known = self.plans[key] = self._ready(mode, what, arguments)
            if self.target is not None:
                self.target.made(known)
        return known

    def _ready(self, mode: Mode, what: str, arguments: int) -> Ready:
        def transform(program: Program, wrt: Sequence[int]) -> Program:
            asked = mode if len(wrt) == len(wanted) else self._narrowed(mode, wrt)
            return improved(derived(program, self.numbers, asked))

        wanted = self._wanted(mode)
        long = self._stretched(self.rolled, wanted, transform)
        outputs = long.frame.outputs if long else None
        if long is not None and outputs is not None:
            return ready_of_long(long, _asked(what, outputs), arguments, self.checkpoint)
        program = transform(self.program, wanted)
        return prepared(program, _asked(what, program.outputs), arguments)

    def _wanted(self, mode: Mode) -> Sequence[int]:
        """The ids of the inputs that a mode asks for."""
        if mode.kind != "backward":
            return mode.wrt
        inputs = self.rolled.frame.inputs.items()
        ids = dict(zip(self.numbers, [i for i, given in inputs if given.kind == CAPTURED]))
        return [ids[number] for number in mode.wrt if number in ids]

    def _narrowed(self, mode: Mode, wrt: Sequence[int]) -> Mode:
        """The same mode for fewer inputs."""
        if mode.kind != "backward":
            return replace(mode, wrt=tuple(wrt))
        inputs = self.rolled.frame.inputs.items()
        ids = [i for i, given in inputs if given.kind == CAPTURED]
        numbers = dict(zip(ids, self.numbers))
        return replace(mode, wrt=tuple([numbers[i] for i in wrt]))

    def _stretched(self, rolled: Rolled, wrt: Sequence[int], transform: Transform) -> Rolled | None:
        """What a transform makes of a long program; None where it has to be written out."""
        is_short = full_size(rolled.items) < LONG_PROGRAM and not self.checkpoint
        if rolled.frame.functions or is_short:
            return None
        return stretched(rolled, wrt, transform)

    def has_router(self, start: int) -> bool:
        """Whether there is a plan that only checks the guards from ``start`` on."""
        return ("router", start) in self.plans

    def router(self, start: int, arguments: int) -> Ready:
        """The plan that only checks the guards from ``start`` on."""
        key = ("router", start)
        if key not in self.plans:
            with collector_paused():
                self.plans[key] = self._router(start, arguments)
            if self.target is not None:
                self.target.made(self.plans[key])
        return self.plans[key]

    def _router(self, start: int, arguments: int) -> Ready:
        frame = self.rolled.frame
        frame = frame.replaced(outputs=[], guards=frame.guards[start:])
        rolled = Rolled(frame, self.rolled.items, self.rolled.tables)
        long = self._stretched(rolled, (), lambda program, _: improved(program))
        if long is not None:
            return ready_of_long(long, [], arguments)
        return prepared(improved(expand(rolled)), [], arguments)


def _chooses(items: Sequence[Item]) -> bool:
    return any([_chooses(i.body) if isinstance(i, Loop) else i.op == CHOICE for i in items])


def _asked(what: str, outputs: Sequence[int]) -> list[tuple[str, int]]:
    return [(_WHAT[w], i) for w, i in zip(what, outputs)]


def ready_of_long(
    rolled: Rolled, outputs: list[tuple[str, int]], arguments: int, checkpoint: bool = False
) -> Ready:
    """A program with long loops, laid out."""
    cut = checkpointed(rolled) if checkpoint else rolled
    plan = None
    if cut is not rolled:
        check_rolled(cut, "checkpoints")
        whats = [what for what, _ in outputs]
        plan = laid_out_looped(cut, list(zip(whats, cut.frame.outputs)))
    if plan is None:
        cut = rolled
        plan = laid_out_looped(rolled, outputs) or laid_out_long(rolled, outputs)
    if is_asked():
        check_plan(replace(plan, outputs=outputs), expand(rolled))
    ready = Ready.of(cut.frame, plan, arguments)
    ready.loops = cut
    return ready


@dataclass(eq=False)
class Route:
    """A trace followed from guard ``start``; ``others`` are the routes that leave it, by guard."""

    trace: Trace
    start: int
    others: dict[int, Route] = field(default_factory=dict)


def shared_length(one: bytes, other: bytes) -> int:
    """How many outcomes two paths begin with in common."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def routes(traces: Sequence[Trace]) -> Route:
    """The tree of all traces.

    At a guard the route goes on with the side that has more traces, so that a row changes its
    route at most log2(traces) times: a loop is followed to its longest run, and shorter runs leave.
    """
    by_path = sorted(((trace.path, trace) for trace in traces), key=lambda item: item[0])
    paths, ordered = [path for path, _ in by_path], [trace for _, trace in by_path]
    top: list[Route] = []
    pending: list[tuple[int, int, int, Route | None, int]] = [(0, len(paths), 0, None, 0)]
    while pending:
        low, high, start, above, at = pending.pop()
        leaving: list[tuple[int, int, int]] = []
        while high - low > 1:
            split = shared_length(paths[low], paths[high - 1])
            middle = bisect_left(paths, paths[low][:split] + b"\x01", low, high)
            assert low < middle < high, "a path that another one goes on from"
            if middle - low > high - middle:
                leaving.append((middle, high, split))
                high = middle
            else:
                leaving.append((low, middle, split))
                low = middle
        route = Route(ordered[low], start)
        if above is None:
            top.append(route)
        else:
            above.others[at] = route
        pending += [(first, last, split + 1, route, split) for first, last, split in leaving]
    return top[0]


@dataclass(frozen=True)
class Taking:
    """Some captured leaves that take gradients, and the mode of a backward pass to them."""

    flags: bytes
    leaves: list[Value]
    hooked: list[int]
    mode: Mode

    @classmethod
    def of(cls, captured: list[Value], flags: bytes, seeds: int) -> Taking:
        """``flags`` says which of the captured ones: 0, 1, or 2 with hooks."""
        numbers = tuple(number for number, takes in enumerate(flags) if takes)
        leaves = [captured[number] for number in numbers]
        hooked = [place for place, number in enumerate(numbers) if flags[number] == 2]
        return cls(flags, leaves, hooked, Mode("backward", numbers, seeds))


class Family:
    """All traces of a function for one kind of arguments, and what it captured.

    ``names`` is what all of them read by name, one snapshot for them all; ``assigned`` are the keys
    of places among them that the function may assign to; for ``former`` see ``settling.py``.
    ``forks`` are the branches that are choices in all of them; None: none may become one.
    ``brought``: it began in another process, where files may have other names.
    """

    def __init__(
        self, budget: int | None = None, forks: frozenset[Fork] | None = frozenset()
    ) -> None:
        self.forks = forks
        self.brought = self.far = False
        self.target: Target | None = None
        self.checkpoint = False
        self.proved = 0
        self.names = core.Names()
        self.assigned: set[Any] = set()
        self.former: Family | None = None
        self.budget = budget
        self.traces: list[Trace] = []
        self.captured: list[Value] = []
        self.root: Route | None = None
        self._taking: dict[int, Taking] = {}
        self.splits: Counter[Site | None] = Counter()
        self._by_path: dict[bytes, Trace] = {}
        self._numbers: dict[int, int] = {}
        self._instructions = 0

    def taking(self, seeds: int) -> Taking:
        """The captured leaves that take gradients now, and the mode that asks for them."""
        flags = core.taking(self.captured)
        known = self._taking.get(seeds)
        if known is None or known.flags != flags:
            known = self._taking[seeds] = Taking.of(self.captured, flags, seeds)
        return known

    def adopt(self, trace: Trace) -> Trace:
        """Give the trace's captured leaves their numbers, and it the target of all."""
        trace.target = self.target
        trace.checkpoint = self.checkpoint
        if self.target is not None:
            for ready in trace.plans.values():
                self.target.made(ready)
        for leaf in trace.captured:
            number = self._numbers.setdefault(id(leaf), len(self.captured))
            if number == len(self.captured):
                self.captured.append(leaf)
            trace.numbers.append(number)
        return trace

    def trace_of(self, path: bytes) -> Trace | None:
        """The trace with this path, where it is kept."""
        return self._by_path.get(path)

    @property
    def has_room(self) -> bool:
        """Whether another trace is kept."""
        if self.budget is not None:
            return len(self.traces) < self.budget
        return len(self.traces) < LEAST_TRACES or self._instructions < MOST_INSTRUCTIONS

    def keep(self, trace: Trace) -> Trace:
        """Keep a trace, or find the one that another thread recorded for the same path.

        The routes are the caller's affair until :meth:`settle`.
        """
        known = self._by_path.setdefault(trace.path, trace)
        if known is trace:
            trace.kept = True
            self.traces.append(trace)
            self._instructions += static_size(trace.rolled.items)
        return known

    def settle(self) -> None:
        """Lay the routes anew over the traces there are."""
        self.root = routes(self.traces)

    def exchange(self, fresh: Sequence[Trace], used: set[int]) -> None:
        """Put fresh traces in the place of kept ones that are not among those ``used``."""
        idle = [trace for trace in self.traces if id(trace) not in used]
        new = [trace for trace in fresh if trace.path not in self._by_path]
        for old, _ in zip(idle, new):
            old.kept = False
            del self._by_path[old.path]
        self.traces = [trace for trace in self.traces if trace.kept]
        self._instructions = sum(static_size(trace.rolled.items) for trace in self.traces)
        for trace in new[: len(idle)]:
            self.keep(trace)
        self.settle()

    @property
    def main(self) -> Trace:
        """The trace that has served most rows."""
        return max(self.traces, key=lambda trace: trace.rows)

    def route_after(self, path: bytes) -> tuple[Route, int | None]:
        """The route of rows whose first outcomes are ``path``.

        Where nobody went that way, the route they leave and the guard they leave it at.
        """
        route = self.root
        assert route is not None
        while True:
            shared = shared_length(path, route.trace.path)
            if shared == len(path):
                return route, None
            if shared not in route.others:
                return route, shared
            route = route.others[shared]


def outline(nest: Any) -> Any:
    """A nest without its items."""
    return replace(nest, items=[None] * len(nest.items))
