"""Recordings of a function on tensors: one family for arguments alike, one trace a path in it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._shared.placeholders import forget
from ..._tensors.indices import forget_sources
from ..._values.modes import on_tensors, unwatched
from ..._values.nests import Nest, take_apart
from ...errors import FunctionResultError
from ...tensor import in_graph
from ...value import core
from ..conditions import Decisions, recorders
from ..entered import Entered, watching
from ..settling import settled
from ..traces import collector_paused
from .arguments import NUMBER, TENSOR, Taken
from .program import Guard, Program
from .reading import Reader

if TYPE_CHECKING:
    from ..machines import Target


@dataclass(eq=False)
class Trace:
    """One recorded path: its program, the leaves it captured, and the outline of its results.

    ``block`` is how many of its rows run at once, 0 until somebody asks; ``target`` what its plans
    are handed to.
    """

    program: Program
    captured: list[Any]
    outputs: Nest
    arguments: int
    runs: dict[Any, Any] = field(default_factory=dict)
    row_runs: dict[Any, Any] = field(default_factory=dict)
    calls: int = 0
    block: int = 0
    target: Target | None = None

    @property
    def path(self) -> bytes:
        """The outcomes of its guards."""
        return bytes(guard.outcome for guard in self.program.guards)


@dataclass(eq=False)
class Family:
    """The traces for arguments of some shapes, all of one snapshot of names.

    ``arguments`` are like those of the first call, without its numbers.
    """

    traces: list[Trace] = field(default_factory=list)
    names: Any = None
    arguments: Taken | None = None

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

    def record(entered: Entered) -> Trace:
        return _record(name, call, taken, path, entered)

    trace, entered = settled(name, record, _alike)
    entered.names.prune()
    return trace, entered.names


def _alike(one: Trace, other: Trace) -> bool:
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
        [
            (i, it.kind, it.number, None if it.data is None else np.asarray(it.data).tobytes())
            for i, it in program.inputs.items()
        ],
        program.shapes,
        [whole.key() for whole in program.wholes],
        [(it.row, it.result, it.operands, it.wholes, it.takes) for it in program.instructions],
        program.outputs,
        [(guard.value, guard.outcome) for guard in program.guards],
    )


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
        with collector_paused(), unwatched(), on_tensors():
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
