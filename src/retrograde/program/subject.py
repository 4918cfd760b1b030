"""The function that is compiled, called on values in place of numbers: one recording of it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, NamedTuple

from .._values.modes import unwatched
from .._values.nests import Nest, leaves, take_apart
from ..errors import FunctionResultError
from ..value import Value, core
from .choices import DoubtedError, Overseer, computes_alike, on_stage, raises_alike
from .conditions import Decisions
from .doubts import DoubtError
from .entered import Entered, watching
from .misfits import retold
from .program import Input
from .record import record
from .rows import Argument, Bound
from .sides import Stage
from .traces import Trace, collector_paused, outline


class Subject(NamedTuple):
    """A function, what it is called in messages, and what it takes."""

    function: Callable[..., Any]
    name: str
    signature: inspect.Signature

    def recorded(
        self,
        bound: Bound,
        shapes: list[Argument],
        numbers: Sequence[float],
        decisions: Decisions,
        stage: Stage | None,
        entered: Entered | None,
    ) -> Trace:
        """The trace of some numbers; with a ``stage``, branches are choices in it."""
        since = core.begin_epoch()
        arguments = _arguments(bound, numbers)
        call = self.signature.bind_partial()

        def fill() -> None:
            """Make the arguments, inside the recording: dataclasses compute as they are made."""
            source = iter([value for value, _ in arguments])
            call.arguments.update({shape.name: shape.build(source) for shape in shapes})

        outputs: list[Nest] = []
        flatten = partial(self._flattened, outputs)
        chosen: list[Value] = []
        tests: list[Value] = []

        def called() -> Any:
            try:
                result = self._called(call, fill, decisions, stage, entered)
            except (TypeError, ValueError) as error:
                clearer = retold(error, self.name, shapes)
                if clearer is None:
                    raise
                raise clearer from error
            if stage is not None:
                chosen.extend(stage.nodes)
                tests.extend(stage.tests)
            return result

        def look(made: list[Value]) -> None:
            if stage is None or not (stage.numbers or stage.unlike):
                return
            if not raises_alike(made, stage, since):
                stage.doubted |= stage.numbers or stage.forks
                raise DoubtError("it does with a plain number of a side what only a value can")

        depth = core.swap_no_grad(0)  # a later call may want gradients
        try:
            with collector_paused(), unwatched():
                program, captured = record(
                    called, arguments, flatten, since, decisions, chosen, tests, look
                )
        finally:
            core.swap_no_grad(depth)
        trace = Trace(program, captured, outputs[0], asked=decisions.asked)
        if stage is not None and stage.nodes:
            _check_choices(trace, stage, since)
        return trace

    def _called(
        self,
        call: inspect.BoundArguments,
        fill: Callable[[], None],
        decisions: Decisions,
        stage: Stage | None,
        entered: Entered | None,
    ) -> Any:
        """The function's result."""
        if stage is None:
            with watching(entered) if entered else nullcontext():
                fill()
                return self.function(*call.args, **call.kwargs)
        with watching(Overseer(entered, stage)), on_stage(stage, decisions):
            fill()
            return stage.called(self.function)(*call.args, **call.kwargs)

    def _flattened(self, outputs: list[Nest], result: Any, decided: bool) -> list[Any]:
        """The items of the result, and into ``outputs`` the nest they come in."""
        if result is None or not (decided or _holds_values(result)):
            raise FunctionResultError.of(self.name, result)
        found = take_apart(result, "the result", self._refusal)
        outputs.append(outline(found))  # nothing keeps the graph
        return found.items

    def _refusal(self, place: str, part: object) -> Exception:
        return FunctionResultError.of(f"{self.name}, {place}", part)


def _arguments(bound: Bound, numbers: Sequence[float]) -> list[tuple[Value, Input]]:
    """Fresh values of some numbers, each with the input that it becomes."""
    arguments = []
    for number, kind, name, place in zip(numbers, bound.kinds, bound.names, bound.places):
        value = core.argument(number)
        value.label = name
        arguments.append((value, Input(kind, name, 0.0, *place)))
    return arguments


def _check_choices(trace: Trace, stage: Stage, since: int) -> None:
    """Doubt choices that a trace would compute otherwise."""
    if core.begin_epoch() != since + 1:
        raise DoubtError("it differentiates inside")
    if not computes_alike(trace.program, stage.whole):
        raise DoubtedError(stage.numbers, "it computes with a plain number of a side")


def _holds_values(nest: Any) -> bool:
    return any(isinstance(leaf, Value) for leaf in leaves(nest))
