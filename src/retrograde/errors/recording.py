"""Exceptions and warnings of recording: what a replay would not repeat, what grows."""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING, Any

from .wording import RetrogradeError, named, with_place

if TYPE_CHECKING:
    from typing import TypeAlias

    from typing_extensions import Self

    Value: TypeAlias = Any  # of either core


def _listed(places: list[str]) -> str:
    """A few names of a function."""
    named_places = [place for place in places if place]
    return ", ".join(named_places[:4]) + (", …" if len(named_places) > 4 else "") or "something"


class RecordingError(RetrogradeError, RuntimeError):
    """While recording: something that may change from row to row would be baked in."""

    @classmethod
    def _here(cls, message: str) -> Self:
        from .._shared.sites import calling_instruction, site_of

        where = site_of(calling_instruction())
        text = linecache.getline(where.file, where.line).strip() if where else ""
        return cls(
            message + (f"\n  at {where}" if where else "") + (f"\n      {text}" if text else "")
        )

    @staticmethod
    def on_row(function: str, row: int, site: str) -> str:
        return f"{function} raised this on row {row}" + (f", at {site}" if site else "")

    @classmethod
    def data(cls, value: Value) -> Self:
        return cls._here(
            f".data of {named(value)} was read while recording: the number of one row would be "
            "baked in for all. Compute with the value itself; compare it directly (if x > 0), and "
            "use rg functions in place of math.",
        )

    @classmethod
    def captured_data(cls, value: Value) -> Self:
        return cls._here(
            f".data of {named(value)} was read while recording: the function captures it, and a "
            "replay reads its number afresh, but this one would be baked in. Compute with the "
            "value itself, or with detach() of it where no gradient is wanted.",
        )

    @classmethod
    def grad(cls, value: Value) -> Self:
        return cls._here(
            f".grad of {named(value)} was read while recording: this number would be baked in, and "
            "a replay would not read it again. Use rg.grad or rg.gradients inside, or pass the "
            "number in as an argument.",
        )

    @classmethod
    def grad_assignment(cls, value: Value) -> Self:
        return cls._here(
            f".grad of {named(value)} was changed while recording: a replay would not repeat it. "
            "Do that outside the compiled function.",
        )

    @classmethod
    def partials(cls, value: Value) -> Self:
        return cls._here(
            f"the partials of {named(value)} were read while recording: the numbers of one row "
            "would be baked in for all. Use rg.gradients(y, [x]), whose results are values.",
        )

    @classmethod
    def text(cls, text: str, what: str) -> Self:
        return cls._here(
            f"the text {text} was {what}: while recording it stands for another number in every "
            "row. Compare the value itself (if x > 0), and compute with it.",
        )

    @classmethod
    def thread(cls, value: Value) -> Self:
        return cls._here(
            f"{named(value)} was compared in another thread than the one that records it: the "
            "answer of one row would decide for all. Compare it in the function's own thread.",
        )

    @classmethod
    def explained(cls, what: str, value: Value) -> Self:
        return cls._here(
            f"{what} of {named(value)} was asked for while recording: its numbers would be those "
            "of one row. Ask outside, or ask the compiled function: its story() and births() take "
            "the arguments of a call.",
        )

    @classmethod
    def replayed(cls, function: str) -> Self:
        return cls._here(
            f"{function} was replayed inside another recording: its results would be baked in as "
            "plain numbers. Call the function itself on values, differentiate it with rg.grad, or "
            "compute the numbers outside and pass them in.",
        )

    @classmethod
    def assignment(cls, value: Value) -> Self:
        return cls._here(
            f".data of {named(value)} was assigned while recording: a replay would not repeat it. "
            "Compute a new value instead.",
        )

    @classmethod
    def backward(cls, value: Value) -> Self:
        return cls._here(
            f"backward() of {named(value)} was called while recording: its gradients would be "
            "those of one row. Use rg.grad inside, or value_and_grad of the compiled function.",
        )

    @classmethod
    def tensor(cls, what: str) -> Self:
        cures = {
            "t[i] = v of a tensor from outside": "Write t = t.put(i, v), which makes another one.",
            "assign": "Assign outside of the compiled function.",
            "an optimizer": "Step outside of the compiled function.",
            "backward": "Use value_and_grad or backward of the compiled function.",
        }
        asked = what if "tensor" in what else f"{what} of a tensor"
        return cls._here(
            f"{asked} was asked for while recording: a replay would not repeat it. "
            f"{cures.get(what, 'Do it outside of the compiled function.')}",
        )

    @classmethod
    def tensor_data(cls, tensor: Any) -> Self:
        return cls._here(
            f"The numbers of {named(tensor)} were asked for while recording: they would be those "
            "of one call, in every call. Compute with the tensor itself; where numbers decide, "
            "write rg.where(t > 0, a, b), and return what you want to look at.",
        )

    @classmethod
    def indices(cls, what: str) -> Self:
        return cls._here(
            f"{what} of an argument of whole numbers was asked for while recording: its numbers "
            "are other ones in every call. Slice it and pick places of tensors with it, "
            "table[n]; compute everything else outside and pass it in.",
        )

    @classmethod
    def places(cls, what: str) -> Self:
        return cls._here(
            f"{what} of what argmax, argmin or argsort found was asked for while recording: its "
            "numbers are other ones in every call. Take places of tensors with all of it, "
            "t[order] or np.take_along_axis(t, order, axis), and slice what comes out; where "
            "numbers decide, write rg.where(t > 0, a, b).",
        )

    @classmethod
    def beyond(cls, op: str, reach: int, length: int) -> Self:
        return cls._here(
            f"{op}: places found along an axis of length {reach} pick from an axis of length "
            f"{length}, where some call could find one that is not there. Pick from an axis that "
            "is as long.",
        )

    @classmethod
    def mask(cls, what: str) -> Self:
        return cls._here(
            f"{what} of a comparison of tensors was asked for while recording: which numbers it "
            "holds for differs from call to call. Write rg.where(t > 0, a, b), or "
            "if (t > 0).all().",
        )

    @classmethod
    def captured_tensor_data(cls, tensor: Any) -> Self:
        return cls._here(
            f"The numbers of {named(tensor)}, which comes from outside, were asked for while "
            "recording: later calls would not see them change. Compute with the tensor itself, or "
            "read its data outside of the function.",
        )

    @classmethod
    def custom(cls, value: Value) -> Self:
        return cls(with_place(cls._custom(value.op), value))

    @classmethod
    def _custom(cls, name: str, why: str = "") -> str:
        return (
            f"'{name}' has its rule in Python or as numbers only, so it cannot be replayed"
            f"{why}. Write it with rg functions: @rg.custom_op with a function and partials or a "
            "vjp in terms of ops. Or use NumPy on arrays of rows, @rg.custom_op(vectorized=True); "
            "or compute it outside and pass the result in."
        )

    @classmethod
    def custom_op(cls, name: str, why: str) -> Self:
        return cls._here(cls._custom(name, f": its function {why}"))

    @classmethod
    def rule(cls, value: Value, error: Exception) -> Self:
        why = str(error).splitlines()[0].rstrip(".")
        return cls(with_place(cls._custom(value.op, f": its rule fails on values: {why}"), value))

    @classmethod
    def rule_decides(cls, value: Value) -> Self:
        return cls(
            with_place(
                f"the rule of '{value.op}' decides by a number (if, while, max): while recording "
                "it is written down once for all rows. Use rg.where, rg.maximum or rg.clip in it.",
                value,
            )
        )

    @classmethod
    def rule_captures(cls, value: Value, captured: Value) -> Self:
        return cls(
            with_place(
                f"the rule of '{value.op}' uses {named(captured)}, a leaf from outside. Make it an "
                "input of the op.",
                value,
            )
        )

    @classmethod
    def leaked_argument(cls, value: Value) -> Self:
        return cls(
            f"the function uses {named(value)}, an argument of another recording that was kept: "
            "its number belongs to one row of that call. Pass it in as an argument."
        )

    @classmethod
    def unsteady(cls, function: str, site: Any) -> Self:
        return cls(
            f"{function} decided otherwise when it was run again for another row, though every "
            "answer so far was the same: it depends on something besides its arguments (random "
            "numbers, the clock, state that it changes). Pass that in as an argument."
            + (f"\n  at {site}" if site else "")
        )

    @classmethod
    def endless(cls, made: str, site: Any) -> Self:
        return cls(
            f"a recording stopped after {made}{_at(site)}. A while loop whose "
            "condition stays as it is does not end, and what is recorded is kept in memory until "
            "it does. Give the loop an end that it reaches, or write it with a fixed number of "
            "rounds (rg.scan) and rg.where."
        )

    @classmethod
    def changing(cls, function: str, places: list[str]) -> Self:
        return cls(
            f"{function} changes {_listed(places)}, which it reads, and comes out otherwise each "
            "time it is recorded: a replay would not repeat the change. Pass it in as an argument, "
            "and return what it becomes."
        )

    @classmethod
    def restless(cls, function: str, places: list[str]) -> Self:
        return cls(
            f"{_listed(places)} was rebound each time that {function} was recorded for another "
            "row: some rows would be computed with the old and some with the new. Rebind it "
            "between calls, or pass it in as an argument."
        )

    @classmethod
    def captured_interior(cls, value: Value) -> Self:
        return cls(
            with_place(
                f"the function uses {named(value)}, which was computed outside: a replay cannot "
                "compute it again. Pass it in as an argument, or detach() it outside.",
                value,
            )
        )


class TraceBudgetWarning(UserWarning):
    """A compiled function takes more ways through its branches than it keeps traces."""

    @staticmethod
    def text(function: str, traces: int, site: Any) -> str:
        text = linecache.getline(site.file, site.line).strip() if site else ""
        return (
            f"{function} takes more ways through its branches than the {traces} traces it keeps: "
            "results are right, but the others are recorded again at every call. Most rows part "
            f"at {site}" + (f": {text}" if text else "") + ". Use rg.where, rg.maximum or rg.clip "
            "there, or raise trace_budget."
        )


class RecordingWarning(UserWarning):
    """A recording that grows, or that multiplies, while there is still time to do something."""

    @staticmethod
    def long(operations: int, most: int, decisions: int, site: Any) -> str:
        return (
            f"this recording has made {operations:,} operations{_at(site)}. A loop is recorded "
            "round by round; one that does not end stops with an error at "
            f"{most:,}, or after {decisions:,} decisions of if and while. If the length of the "
            "loop depends on the values, use rg.where and a fixed number of rounds (rg.scan), or "
            "call the function on shorter pieces."
        )

    @staticmethod
    def traces(function: str, count: int, site: Any, offer: bool = False, doubt: str = "") -> str:
        choices = (
            " Or compile without choices=False: branches whose sides only compute values are then "
            "recorded together."
        )
        return (
            f"{function} has recorded {count} traces that part{_at(site)}: every way through its "
            "branches is recorded once, and one line in a loop makes many. Results are right, but "
            "each recording takes as long as the first call. Use rg.where, rg.maximum or rg.clip "
            "there, and rg.scan with a fixed number of rounds in place of a while loop."
            + choices * offer
            + (f" A branch could not be recorded with both sides: {doubt}." if doubt else "")
        )

    @staticmethod
    def choices(function: str, sites: list[str]) -> str:
        return (
            f"{function}: the branch at {', '.join(sites)} was recorded as a choice, and a row's "
            "own trace gave other bits. Results are those of the traces; each way through the "
            "branch is recorded by itself from now on. Please report this."
        )

    @staticmethod
    def shapes(function: str, count: int) -> str:
        return (
            f"{function} was recorded for arguments of {count} different shapes: each is recorded "
            "once, which takes as long as many calls. Results are right. Pad arguments to a few "
            "shapes, or call the function without rg.compile."
        )


def _at(site: Any) -> str:
    """Where, with the line itself."""
    if site is None:
        return ""
    text = linecache.getline(site.file, site.line).strip()
    return f" at {site}" + (f": {text}" if text else "")
