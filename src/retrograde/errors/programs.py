"""Exceptions of compiled functions: recording, calling, replaying."""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING, Any

from .wording import RetrogradeError, kind_of, named, with_place

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from typing_extensions import Self

    Value: TypeAlias = Any  # of either core


def _listed(places: list[str]) -> str:
    """A few names of a function."""
    named_places = [place for place in places if place]
    return ", ".join(named_places[:4]) + (", …" if len(named_places) > 4 else "") or "something"


class ProgramError(RetrogradeError, RuntimeError):
    """A program is not well formed: a fault of the package, or of whoever built it by hand."""

    @classmethod
    def of(cls, after: str, why: str) -> Self:
        return cls(f"the program is not well formed after {after}: {why}.")

    @classmethod
    def plan(cls, why: str) -> Self:
        return cls(f"the plan does not compute its program: {why}.")


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


class TakeError(RetrogradeError, IndexError):
    """An index given to take is not a whole number inside the list."""

    @classmethod
    def of(cls, index: float, count: int) -> Self:
        return cls(
            f"take: index {index!r} in a list of {count}; it must be a whole number from 0 to "
            f"{count - 1}."
        )

    @classmethod
    def rows(cls) -> Self:
        return cls(
            "take: at least one row has an index that is not a whole number inside the list; "
            "check the column of indices before the call."
        )


class GuardError(RetrogradeError, RuntimeError):
    """Some rows of a loaded function take a branch that none of its traces recorded.

    ``rows`` are their numbers, ``site`` the line where the first of them leaves.
    """

    rows: Any
    site: Any

    @classmethod
    def of(cls, rows: Any, total: int, site: Any, outcome: bool) -> Self:
        from .._shared.sites import source_line

        listed = ", ".join(str(int(row)) for row in rows[:8]) + (", …" if len(rows) > 8 else "")
        text = source_line(site) if site else ""
        error = cls(
            f"{len(rows)} of {total} rows take a branch that no trace here has recorded, rows "
            f"{listed}: the first of them leaves where the condition was "
            f"{'true' if outcome else 'false'}."
            + (f"\n  at {site}" if site else "")
            + (f"\n      {text}" if text else "")
            + "\n  cure: a loaded function replays what was recorded and cannot record. Call the "
            "compiled function on such rows before saving it, or leave them out."
        )
        error.rows, error.site = rows, site
        return error

    @classmethod
    def on_tensors(cls, function: str, site: Any, outcome: bool) -> Self:
        """A call of a loaded function on tensors went where no recording did."""
        from .._shared.sites import source_line

        text = source_line(site) if site else ""
        error = cls(
            f"{function}: a branch is taken that no trace here has recorded: the condition was "
            f"{'true' if outcome else 'false'}."
            + (f"\n  at {site}" if site else "")
            + (f"\n      {text}" if text else "")
            + "\n  cure: a loaded function replays what was recorded and cannot record. Call the "
            "compiled function on such arguments before saving it."
        )
        error.rows, error.site = None, site
        return error


class RowsError(RetrogradeError, ValueError):
    """Arguments of a compiled function whose rows do not fit."""

    @classmethod
    def mismatch(cls, first: str, rows: int, second: str, others: int) -> Self:
        return cls(
            f"{first} has {rows} rows but {second} has {others}: row counts must agree, nothing is "
            "stretched. Use rg.uniform(array) for an array that is the same for all rows."
        )

    @classmethod
    def ragged(cls, array: object) -> Self:
        return cls(
            f"rg.rows({type(array).__name__}): its rows have different lengths. Pad them to one "
            "length, or call the function once for each length."
        )

    @classmethod
    def no_axis(cls, number: object) -> Self:
        return cls(f"rg.rows({number}): a number has no rows. Leave rg.rows out.")

    @classmethod
    def undecided(cls, function: str, place: str, shape: tuple[int, ...]) -> Self:
        return cls(
            f"{function} has rows, and {place} is an array of shape {shape}, of which nothing says "
            f"whether its first axis is rows. Write rg.rows({place}) if it is, rg.uniform({place}) "
            "if it is the same for all rows."
        )

    @classmethod
    def no_mean(cls, function: str, name: str) -> Self:
        return cls(
            f"{function}: {name} has no rows, and the mean of nothing is no number. Leave the call "
            "out where there are no rows, or use reduce='sum', which is 0."
        )

    @classmethod
    def kind(cls, name: str, got: object) -> Self:
        cure = ":"
        if isinstance(got, (str, bytes)):
            cure = ". If it is a flag, close over it, or compile one function for each kind;"
        elif getattr(getattr(got, "dtype", None), "kind", "") in ("U", "S", "O"):
            array = "array" if name == "uniform" else name
            cure = f". If it holds numbers, pass {array}.astype(float);"
        return cls(
            f"{name} is {kind_of(got)}{cure} arguments of a compiled function are numbers, float "
            "arrays of one or two axes, and lists, tuples and dicts of those."
        )

    @classmethod
    def axes(cls, name: str, axes: int) -> Self:
        return cls(
            f"{name} has {axes} axes: axis 0 is rows, and at most one more holds a sequence of "
            "numbers for each row. Pass several arrays, or a list of them."
        )

    @classmethod
    def elsewhere(cls, name: str, got: object) -> Self:
        return cls(
            f"{name} is {kind_of(got)} on a GPU, and the function runs on the CPU. Compile it with "
            "backend='cuda', or pass the array's copy on the host."
        )

    @classmethod
    def on_device(cls, function: str, what: str) -> Self:
        return cls(
            f"{function}: {what} is computed on the CPU, and the rows lie on a GPU. Pass NumPy "
            "arrays (cupy.asnumpy(x), x.cpu().numpy())."
        )

    @classmethod
    def two_places(cls, one: str, other: str, is_device: bool = True) -> Self:
        here, there = ("a GPU", "the host") if is_device else ("the host", "a GPU")
        return cls(
            f"{one} lies on {here}, and {other} on {there}. All rows of a call lie in one place: "
            "copy one of them, with cupy.asarray(x) or cupy.asnumpy(x)."
        )

    @classmethod
    def out(cls, place: str, problem: str) -> Self:
        return cls(f"{place}: {problem}. Results are written there; None stands for a new array.")


class CompileError(RetrogradeError, TypeError):
    """A function cannot be compiled, or a compiled one is called wrongly."""

    @classmethod
    def reserved(cls, function: str, name: str) -> Self:
        return cls(
            f"{function} has a parameter named '{name}', which the methods of compiled functions "
            "use themselves. Rename it."
        )

    @classmethod
    def variadic(cls, function: str, name: str) -> Self:
        return cls(
            f"{function} takes *{name}: a compiled function has named parameters. Pass a list "
            "instead."
        )

    @classmethod
    def budget(cls, got: object) -> Self:
        return cls(f"trace_budget is how many traces are kept, at least 1; got {got!r}.")

    @classmethod
    def threads(cls, function: str, threads: object) -> Self:
        return cls.call(function, f"threads={threads!r} is no whole number; None is all cores")

    @classmethod
    def indices(cls, function: str, place: str, got: str) -> Self:
        return cls(
            f"{function}: {place} is annotated as a NumPy array, so it is whole numbers that pick "
            f"places, but it holds {got}. Annotate it as rg.Tensor to compute with it."
        )

    @classmethod
    def memory(cls, wanted: int, limit: int) -> Self:
        """A program on tensors would take more memory than it may."""
        return cls(
            f"This call would take {wanted:,} bytes, and {limit:,} are the most that a program on "
            "tensors takes: three quarters of the machine's memory. It is not made. Pass "
            "smaller arrays; where the first axis is rows, say so by rg.rows(array), and blocks of "
            "them run one after the other."
        )

    @classmethod
    def of_tensors(cls, function: str, what: str, cure: str) -> Self:
        return cls(f"{what} of {function}, a function on tensors, is not there yet. {cure}")

    @classmethod
    def not_callable(cls, got: object) -> Self:
        return cls(f"compile takes a function, got {kind_of(got)}.")

    @classmethod
    def number(cls, function: str, said: str, names: list[str], rows: bool, place: str) -> Self:
        """A function went through an argument of which each row is one number."""
        listed, first = ", ".join(names), names[0]
        fact = f"{listed} " + ("is one number" if len(names) == 1 else "are one number each")
        cure = f"Pass a list of numbers as {first}"
        if rows:
            fact = f"each row of {listed} is one number, as of every array with one axis"
            cure = f"For one sequence pass {first}[None, :], or a list"
        return cls(f"{function}: {said}: {fact}. {cure}.{place}")

    @classmethod
    def sequence(cls, function: str, said: str, name: str, width: int, place: str) -> Self:
        """A function took an argument of which each row is a sequence for one number."""
        return cls(
            f"{function}: {said}\n  {name} has 2 axes, so each row of it is a sequence of {width} "
            f"numbers. Pass its columns, as {name}[:, 0], for one number per row.{place}"
        )

    @classmethod
    def listed(cls, function: str, said: str, name: str, place: str) -> Self:
        """A function computed with an argument that was given as a list."""
        return cls(
            f"{function}: {said}: {name} was given as a list, and lists stay lists. Pass "
            f"rg.uniform({name}) for a sequence that computes element by element.{place}"
        )

    @classmethod
    def method(cls, function: str) -> Self:
        return cls(
            f"{function} is a method: it is compiled for the object that it is called on. Write "
            f"model.{function}(…), not the class's {function}(model, …)."
        )

    @classmethod
    def class_method(cls, function: str) -> Self:
        return cls(
            f"{function} is a class method, and a compiled method belongs to an object. Leave it "
            f"plain in its class, and compile it where it is called: rg.compile(Model.{function})."
        )

    @classmethod
    def slots(cls, function: str, kind: str) -> Self:
        return cls(
            f"{function} is a compiled method, and what is recorded for an object is kept in it: "
            f"{kind} has __slots__ and no room. Add '__dict__' to them, or write "
            f"rg.compile(model.{function}) where the object is made."
        )

    @classmethod
    def static_name(cls, function: str, name: object, names: list[str]) -> Self:
        return cls(
            f"static names {name!r}, but the parameters of {function} are {', '.join(names)}."
        )

    @classmethod
    def statics(cls, function: str, static: Sequence[str], given: Sequence[str]) -> Self:
        return cls(
            f"variant takes the static parameters of {function} by name, {', '.join(static)}; got "
            f"{', '.join(given) or 'none'}."
        )

    @classmethod
    def unhashable(cls, function: str, name: str, got: object) -> Self:
        return cls(
            f"{function}: the static argument {name} is {kind_of(got)}, which has no hash, so it "
            "cannot be told from others. Pass a tuple, a string, a number or a frozen dataclass."
        )

    @classmethod
    def story(cls, op: str) -> Self:
        return cls(
            f"the story of a row tells partials, but '{op}' has a vjp. Call the function on values "
            "and tell the story of its result: rg.story(f(rg.Value(...)))."
        )

    @classmethod
    def whole(cls, name: str, site: Any) -> Self:
        from .._shared.sites import source_line

        text = source_line(site) if site else ""
        return cls(
            f"{name} is an array of integers and is used as a number, so it has a gradient, but an "
            f"integer is differentiated only on request. Pass {name}.astype(float), or name the "
            "arguments to differentiate, as in wrt='x' or wrt=('x', 'y'). (An index of rg.take "
            "has the gradient 0.)"
            + (f"\n  at {site}" if site else "")
            + (f"\n      {text}" if text else "")
        )

    @classmethod
    def call(cls, function: str, problem: str) -> Self:
        return cls(f"{function}: {problem}.")


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


class NotRecordedError(CompileError):
    """A function that cannot record is called with arguments that it was not recorded for."""

    @classmethod
    def of(cls, function: str, given: str, known: list[str]) -> Self:
        listed = "".join(f"\n  {one}" for one in known[:8]) + ("\n  …" if len(known) > 8 else "")
        return cls(
            f"{function} was not recorded for such arguments, and a loaded function cannot record. "
            f"Given:\n  {given}\nrecorded:{listed}\n  cure: call the compiled function on such "
            "arguments before saving it."
        )
