"""Recordings of a function on tensors: one family for arguments alike, one trace a path in it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from ..._shared.placeholders import forget
from ..._tensors.indices import forget_sources
from ..._values.modes import unwatched
from ..._values.nests import Nest, take_apart
from ...errors import FunctionResultError, RecordingError
from ...tensor import in_graph
from ...value import core
from ..conditions import Decisions, recorders
from ..entered import Entered, watching
from .arguments import NUMBER, TENSOR, Taken
from .program import Guard, Program
from .reading import Reader

RECORDINGS = 3
"""How often a function is recorded until it leaves what it reads alone."""


@dataclass(eq=False)
class Trace:
    """One recorded path: its program, the leaves it captured, and the outline of its results."""

    program: Program
    captured: list[Any]
    outputs: Nest
    arguments: int
    runs: dict[Any, Any] = field(default_factory=dict)
    calls: int = 0

    @property
    def path(self) -> bytes:
        """The outcomes of its guards."""
        return bytes(guard.outcome for guard in self.program.guards)


@dataclass(eq=False)
class Family:
    """The traces for arguments of some shapes, all of one snapshot of names."""

    traces: list[Trace] = field(default_factory=list)
    names: Any = None

    def fitting(self, path: bytes) -> Trace | None:
        """A trace that goes this way, if there is one."""
        for trace in reversed(self.traces):
            if trace.path[: len(path)] == path:
                return trace
        return None


def recorded(
    name: str, call: Callable[[dict[str, Any]], Any], taken: Taken, path: bytes
) -> tuple[Trace, Any]:
    """A trace, with what the names that the function reads mean: it left them alone."""
    for _ in range(RECORDINGS):
        entered = Entered()
        trace = _record(name, call, taken, path, entered)
        if entered.names.unchanged():
            entered.names.prune()
            return trace, entered.names
    raise RecordingError.changing(name, sorted(set(entered.names.changed().values())))


def _record(
    name: str,
    call: Callable[[dict[str, Any]], Any],
    taken: Taken,
    path: bytes,
    entered: Entered | None,
) -> Trace:
    def refusal(place: str, part: object) -> Exception:
        return FunctionResultError.of(f"{name}, {place}", part)

    since = core.begin_epoch()
    decisions = Decisions(path)
    depth = core.swap_no_grad(0)  # a later call may want gradients
    recorders.decisions.append(decisions)
    core.enter_recording()
    try:
        with unwatched():
            given, leaves = taken.recorded()
            reader = Reader(since)
            for number, (kind, leaf, place) in enumerate(zip(taken.kinds, leaves, taken.places())):
                if kind in (TENSOR, NUMBER):
                    leaf.label = place
                    reader.argument(leaf, place, number)
            with watching(entered) if entered else nullcontext():
                result = call(given)
            if result is None or not (decisions.taken or _holds_nodes(result)):
                raise FunctionResultError.of(name, result)
            outputs = take_apart(result, "the result", refusal, whole=True)
            conditions = [value for value, _ in decisions.taken]
            ids = reader.read([*conditions, *outputs.items])
            guards = [
                Guard(number, outcome, value.site)
                for number, (value, outcome) in zip(ids, decisions.taken)
            ]
            program = reader.finish(ids[len(guards) :], guards)
    finally:
        core.leave_recording()
        recorders.decisions.pop()
        core.swap_no_grad(depth)
        forget()
        forget_sources()
    outline = Nest([None] * len(program.outputs), outputs.structure, outputs.name)
    return Trace(program, reader.captured, outline, len(leaves))


def _holds_nodes(result: Any) -> bool:
    if in_graph(result):
        return True
    return any(in_graph(item) for item in take_apart(result, "", whole=True).items)
