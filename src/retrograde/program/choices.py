"""The branches of one compiled function that are choices, and recordings with them.

A branch becomes a choice when rows part at it. It stays one unless there is doubt: something in a
side that not every row may do, a number that a trace would compute otherwise, a trace that gives
other bits. Then it is a guard again, and rows that part have traces of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import copysign
from types import CodeType, FrameType
from typing import Any

from .._shared.placeholders import tell_of_text
from ..passes import values
from ..value import Value, core_name
from .branches import asks_for_kinds
from .conditions import Decisions
from .doubts import DoubtError
from .entered import Entered, is_user_file
from .program import CHOICE, CONSTANT, Program
from .rewriting import Fork, rewritten
from .sides import Stage, stages
from .tags import Tag

COMPARING = frozenset(("less", "less_equal", "equal"))
PLAIN = COMPARING | frozenset(("add", "sub", "mul", "neg", "abs", "stop"))
"""What Python computes with numbers as the executor does."""


class Choices:
    """Which branches of a function are choices by now, and which may not be."""

    def __init__(self, asked: bool) -> None:
        able = core_name != "reference"  # which keeps to traces: it is simple
        self.allowed, self.might_be = able and asked, able and not asked
        self.on: frozenset[Fork] = frozenset()
        self.off: set[Fork] = set()
        self.why = ""  # the last doubt

    def wanted(self, asked: Any) -> Fork | None:
        """The branch that rows part at, if it may still become a choice."""
        if not self.allowed:
            return None
        fork = asked if isinstance(asked, Fork) else None
        if fork is None and asked is not None:
            code, offset = asked
            found = rewritten(code, Tag) if is_user_file(code.co_filename) else None
            fork = found.fork_at(offset) if found is not None else None
        if fork is None or fork.root in self.off or fork.root in self.on:
            return None
        return fork.root

    def turn_on(self, fork: Fork) -> None:
        """Make a choice of a branch."""
        self.on = self.on | {fork}

    def turn_off(self, forks: set[Fork] | frozenset[Fork]) -> None:
        """Leave branches to traces from now on."""
        self.off |= forks
        self.on = self.on - self.off

    def stop(self) -> None:
        """Leave all branches to traces: the function may not be recorded once more."""
        self.allowed = False
        self.turn_off(self.on)


class Overseer:
    """Looks at what is entered while a function is recorded with choices."""

    def __init__(self, entered: Entered | None, stage: Stage) -> None:
        self.entered, self.stage = entered, stage

    def __call__(self, frame: FrameType) -> bool:
        """A function was entered; whether to be told the next time it is."""
        code: CodeType = frame.f_code
        if not is_user_file(code.co_filename):
            return False
        if asks_for_kinds(code):
            self.stage.doubted |= self.stage.forks
            self.stage.why = f"{code.co_name} asks what kind of thing a value is"
        if code not in self.stage.codes:
            raise self.stage.forbid(f"it enters {code.co_name}")
        if self.entered is not None:
            self.entered(frame)
        return True

    def _release(self) -> None:
        if self.entered is not None:
            self.entered._release()


@contextmanager
def on_stage(stage: Stage, decisions: Decisions) -> Iterator[None]:
    """Record with choices in this thread."""
    before, stages.now = stages.now, stage
    stage.decisions = decisions
    decisions.refuse = lambda: _refuse_in_a_side(stage)
    decisions.reveal = lambda: _refuse_to_tell(stage)
    tell_of_text(decisions.reveal)
    try:
        yield
    finally:
        stages.now = before
        tell_of_text(None)


def _refuse_in_a_side(stage: Stage) -> None:
    if stage.open:
        raise stage.refuse("it decides what is done")


def _refuse_to_tell(stage: Stage) -> None:
    """What a choice of two numbers is must not be seen: in a trace it is a plain number."""
    raise stage.forbid("it looks a value up, or makes text of it")


def recorded(stage: Stage, function: Callable[[], Any]) -> Any:
    """What a recording with choices gives, unless there is a doubt about them."""
    try:
        found = function()
    except Exception as error:
        doubted = stage.doubted or stage.innermost()
        raise DoubtedError(doubted, stage.why or str(error), stage.is_stopped) from error
    if stage.doubted or stage.entries:
        raise DoubtedError(stage.doubted or set(stage.forks), stage.why, stage.is_stopped)
    return found


class DoubtedError(DoubtError):
    """Branches that were choices in a recording and may not be; ``is_all``: no branch may be."""

    def __init__(self, forks: set[Fork], why: str, is_all: bool = False) -> None:
        super().__init__(why)
        self.forks, self.is_all = forks, is_all


def computes_alike(program: Program, whole: bool) -> bool:
    """Whether Python would compute with the plain numbers among the sides as the program does.

    Where a side is a plain number its trace computes with Python's: the same for sums, products and
    comparisons, another for functions. ``whole`` says whether some may be whole numbers, which have
    no negative zero; what comes of comparing numbers is one.
    """
    plain = {i for i, g in program.inputs.items() if g.kind == CONSTANT and i not in program.made}
    counts = {i for i in plain if copysign(1.0, program.inputs[i].number) == 1.0}
    maybe: set[int] = set()
    told: set[int] = set()
    for op, results, args, _, _ in program.instructions:
        if op == CHOICE:
            if any([side in plain or side in maybe for side in args[1:]]):
                maybe.update(results)
            if not told.isdisjoint(args[1:]):
                told.update(results)
            if counts.issuperset(args[1:]):
                counts.update(results)
            continue
        if maybe.isdisjoint(args):
            continue
        if op == "pow":
            return False
        if any([arg not in maybe and arg not in plain for arg in args]):
            continue  # a value in every trace
        if op not in PLAIN or (whole and op in ("mul", "neg")):
            return False
        if op in COMPARING:
            told.update(results)
        elif not told.isdisjoint(args):
            if op == "neg" or (op == "mul" and not counts.issuperset(args)):
                return False  # 0 * -1 is no negative zero
            told.update(results)
        if op in COMPARING or (op in ("mul", "add", "abs", "stop") and counts.issuperset(args)):
            counts.update(results)
        maybe.update(results)
    return True


_RAISING = frozenset(("div", "reciprocal", "pow", "square"))
"""What Python may raise an exception for where numbers are given, which a function may catch."""


def raises_alike(made: Sequence[Value], stage: Stage, since: int) -> bool:
    """Whether Python would raise nothing for the plain numbers among the sides.

    What came of it may have been dropped, so this is asked of everything that was made.
    """
    graph = values.read(made, since)
    assert graph.values is not None
    choices, unlike = set(map(id, stage.nodes)), set(map(id, stage.unlike))
    maybe: set[int] = set()
    starts, inputs, ops = graph.starts.tolist(), graph.inputs.tolist(), graph.ops
    for place, value in enumerate(graph.values):
        given = inputs[starts[place] : starts[place + 1]]
        if id(value) in choices:
            if any([side < 0 or side in maybe for side in given[1:]]):
                maybe.add(place)
        elif not maybe.isdisjoint(given) and all([i < 0 or i in maybe for i in given]):
            if ops[place] in _RAISING:
                return False
            maybe.add(place)
        if place in maybe and id(value) in unlike:
            return False
    return True
