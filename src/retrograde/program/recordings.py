"""What was recorded of a function: families of traces by the shapes of its arguments.

Rows that part at a branch lead to another trace, or to recordings anew in which the branch is a
choice. Where there is doubt about choices they are left to traces, and what was recorded without
them is used again.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from threading import RLock
from typing import Any

from .._values.modes import ArraysRecorded
from ..errors import FunctionResultError, RecordingError, RecordingWarning, TraceBudgetWarning
from .callsites import CallSites
from .choices import Choices, DoubtedError, recorded
from .conditions import Decisions
from .doubts import DoubtError
from .entered import Entered
from .machines import Target
from .misfits import name_row
from .proving import OPERATIONS, agrees
from .rewriting import Fork
from .routing import Recorder
from .rows import Argument, Bound
from .settling import ReboundError, RejoinError, add_settled, next_family
from .shapes import Shape, fixed_in, plain
from .sides import Stage
from .subject import Subject
from .traces import Family, Trace

MANY_TRACES = 32
"""Traces that part at one line, from which on it is named."""


class Recordings:
    """The families of one function.

    ``by_shape`` are in use. ``_by_traces`` are those without choices, kept aside while branches of
    the function are choices: diagnoses ask for them, and so does a doubt. ``brought`` are those of
    another process that nobody has asked for yet.
    """

    def __init__(
        self,
        subject: Subject,
        budget: int | None,
        choices: bool,
        sites: CallSites,
        target: Target | None = None,
        checkpoint: bool = False,
    ) -> None:
        self.target, self.checkpoint = target, checkpoint
        self.by_shape: dict[Any, Family] = {}
        self.choices = Choices(choices)
        self.lock = RLock()
        self._subject, self._budget, self._sites = subject, budget, sites
        self._by_traces: dict[Any, Family] = {}
        self.brought: dict[Any, Family] = {}
        self._warned = False

    def forget(self) -> None:
        """Record anew from now on."""
        with self.lock:
            self.by_shape, self._by_traces, self.brought = {}, {}, {}
            self._sites.forget()

    def bring(self, families: Iterable[tuple[Any, Family]]) -> None:
        """Use what was recorded of the same function in another process, and go on from there."""
        for key, family in families:
            family.budget, family.brought = self._budget, True
            self._set(family)
            for trace in family.traces:
                trace.target, trace.checkpoint = self.target, self.checkpoint
            self.brought[key] = family

    def _set(self, family: Family) -> None:
        """What all traces of a family are made for."""
        family.target, family.checkpoint = self.target, self.checkpoint

    @property
    def can_be_stored(self) -> bool:
        """Whether a file can hold what was recorded: no argument has fields that are no numbers."""
        with self.lock:
            return not any(True for key in self.by_shape for _, it in key for _ in fixed_in(it))

    @property
    def travels(self) -> bool:
        """Whether what was recorded means the same in another process, and is found there again:
        no setting was read that does not go along, and arguments are of Python's own classes."""
        with self.lock:
            return all(
                not family.far and all(shape == plain(shape) for _, shape in key)
                for key, family in self.by_shape.items()
            )

    def kinds(self) -> list[tuple[list[tuple[str, Shape]], Family, Family | None]]:
        """What is recorded and still holds: arguments, traces, and those without choices."""
        with self.lock:
            return [
                (list(key), family, self._by_traces.get(key) if self.choices.on else family)
                for key, family in self.by_shape.items()
                if family.names.unchanged()
            ]

    def family(self, bound: Bound, shapes: list[Argument], traced: bool) -> Family:
        """The traces for some arguments, at least one; ``traced``: where no branch is a choice."""
        key = tuple((shape.name, shape.shape) for shape in shapes)
        with self.lock:
            known = self._by_traces if traced and self.choices.on else self.by_shape
            former = known.get(key)
            if former is None and self.brought and known is self.by_shape:
                former = self.brought.pop(tuple(plain(shape) for _, shape in key), None)
                if former is not None:
                    known[key] = former
            if former is not None and former.names.unchanged():
                return former
            self._sites.drop(former)
            forks = None if known is self._by_traces else self.choices.on
            family = next_family(former, self._budget, forks)
            self._set(family)
            with self._doubting(), self._on_row(bound, 0):
                numbers = bound.numbers_of(0) if bound.on_device and bound.rows else bound.numbers
                record = partial(self.record, bound, shapes, numbers, b"", forks)
                trace = add_settled(self._subject.name, record, family)
                self._prove(trace, family, bound, shapes)
            family.keep(family.adopt(trace))
            family.settle()
            if bound.rows != 0:  # without rows the branches were decided by made-up numbers
                known[key] = family
            return family

    def recorder(self, family: Family, bound: Bound, shapes: list[Argument]) -> Recorder:
        """How another trace of a family is recorded, of a row that left one at a guard."""
        name = self._subject.name

        def another(row: int, path: bytes, left: Trace) -> Trace:
            numbers = bound.numbers_of(row) if bound.rows is not None else bound.numbers
            with self.lock, self._doubting(), self._on_row(bound, row):
                guard = len(path) - 1
                record = partial(self.record, bound, shapes, numbers, path, family.forks)
                trace = add_settled(name, record, family)
                if trace.path[: guard + 1] != path or not (
                    family.brought or trace.site(guard) == left.site(guard)
                ):
                    raise RecordingError.unsteady(name, left.site(guard))
                if trace.outputs.paths != left.outputs.paths:
                    raise FunctionResultError.branches(
                        name, left.outputs.places, trace.outputs.places
                    )
                fixed = trace.outputs.structure.fixed
                if fixed != left.outputs.structure.fixed:
                    raise FunctionResultError.fixed(name, left.outputs.structure.fixed, fixed)
                self._rejoin(family, left, guard, trace)
                self._prove(trace, family, bound, shapes)
                self._warn(family, left, guard)
                return family.adopt(trace)

        return another

    def record(
        self,
        bound: Bound,
        shapes: list[Argument],
        numbers: Sequence[float],
        path: bytes,
        forks: frozenset[Fork] | None = frozenset(),
        entered: Entered | None = None,
    ) -> Trace:
        """The trace of some numbers; ``forks`` are choices in it."""
        decisions = Decisions(path, self.choices.allowed)
        trace = partial(self._subject.recorded, bound, shapes, numbers, decisions)
        if not forks:
            return trace(None, entered)
        stage = Stage(forks, self.choices.off)
        found: Trace = recorded(stage, lambda: trace(stage, entered))
        return found

    # ---- choices -----------------------------------------------------------------------------

    def leave(self, doubt: DoubtError) -> bool:
        """Leave to traces what there is doubt about; False: nothing would be different."""
        with self.lock:
            if not self.choices.on:
                return False
            self.choices.why = str(doubt)
            forks = doubt.forks - self.choices.off if isinstance(doubt, DoubtedError) else None
            if isinstance(doubt, DoubtedError) and doubt.is_all:
                self.choices.stop()
            else:
                self.choices.turn_off(forks or self.choices.on)
            self._sort()
            return True

    def _rejoin(self, family: Family, left: Trace, guard: int, trace: Trace) -> None:
        """Rows part at a guard: begin again with a choice there, where it can be one."""
        if family.forks is None or guard >= len(left.asked):
            return
        fork = self.choices.wanted(left.asked[guard])
        if fork is None:
            return
        if family.has_room:  # should it come to traces after all, these are what there is
            family.keep(family.adopt(trace))
            family.settle()
        self.choices.turn_on(fork)
        self._sort()
        raise RejoinError

    def _sort(self) -> None:
        """Families in which other branches were choices are let go. Those of traces alone are kept
        aside: the function is not recorded again for what they have."""
        for key, family in list(self.by_shape.items()):
            if family.forks != self.choices.on:
                self._sites.drop(family)
                del self.by_shape[key]
                if not family.forks:
                    family.forks = None
                    self._by_traces[key] = family
        if not self.choices.on:
            for key, family in self._by_traces.items():
                family.forks = frozenset()
                self.by_shape[key] = family
            self._by_traces = {}

    @contextmanager
    def _doubting(self) -> Iterator[None]:
        """Begin again without choices that there is doubt about."""
        try:
            yield
        except DoubtError as doubt:
            if not self.leave(doubt):
                raise
            raise RejoinError from doubt

    def _prove(self, trace: Trace, family: Family, bound: Bound, shapes: list[Argument]) -> None:
        """Compare a trace with choices with the traces of some rows, bit for bit."""
        if not family.forks:
            return

        def traced(numbers: Sequence[float]) -> Trace:
            return self.record(bound, shapes, numbers, b"")

        operations = agrees(trace, traced, bound, OPERATIONS - family.proved)
        family.proved += operations or 0
        if operations is None:
            sites = [f"{fork.code.co_filename}:{fork.line}" for fork in family.forks]
            message = RecordingWarning.choices(self._subject.name, sites)
            warnings.warn(RecordingWarning(message), stacklevel=_caller_level())
            raise DoubtedError(set(family.forks), "its traces have other bits")

    # ---- what is said ------------------------------------------------------------------------

    @contextmanager
    def _on_row(self, bound: Bound, row: int) -> Iterator[None]:
        """What the function raises says on which row it did."""
        try:
            yield
        except (DoubtError, RejoinError, ReboundError, ArraysRecorded):
            raise
        except Exception as error:
            if bound.rows:
                name_row(error, self._subject.name, row)
            raise

    def _warn(self, family: Family, left: Trace, guard: int) -> None:
        """Once: the line that splits the rows into many traces, or into more than are kept."""
        if self._warned:
            return
        name, site = self._subject.name, left.site(guard)
        if family.splits[site] + 1 == MANY_TRACES:
            choices = self.choices
            message = RecordingWarning.traces(
                name, MANY_TRACES, site, choices.might_be, choices.why
            )
            warnings.warn(RecordingWarning(message), stacklevel=_caller_level())
        if not family.has_room:
            self._warned = True
            family.splits[site] += 1
            site, _ = family.splits.most_common(1)[0]
            message = TraceBudgetWarning.text(name, len(family.traces), site)
            warnings.warn(TraceBudgetWarning(message), stacklevel=_caller_level())


def _caller_level() -> int:
    """How many frames up the first one is that is not ours."""
    level, frame = 2, sys._getframe(2)
    package = __name__.rpartition(".")[0].rpartition(".")[0]
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(package):
        frame = frame.f_back
        level += 1
    return level
