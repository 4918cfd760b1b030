"""Exceptions of compiled functions: compiling, calling, replaying."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .wording import RetrogradeError, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self


class ProgramError(RetrogradeError, RuntimeError):
    """A program is not well formed: a fault of the package, or of whoever built it by hand."""

    @classmethod
    def of(cls, after: str, why: str) -> Self:
        return cls(f"the program is not well formed after {after}: {why}.")

    @classmethod
    def plan(cls, why: str) -> Self:
        return cls(f"the plan does not compute its program: {why}.")


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
