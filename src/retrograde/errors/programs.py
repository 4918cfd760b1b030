"""Exceptions of compiled functions: recording, calling, replaying."""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING, Any

from .wording import RetrogradeError, kind_of, named, with_place

if TYPE_CHECKING:
    from typing import TypeAlias

    from typing_extensions import Self

    Value: TypeAlias = Any  # of either engine


class ProgramError(RetrogradeError, RuntimeError):
    """A program is not well formed: a fault of the package, or of whoever built it by hand."""

    @classmethod
    def of(cls, after: str, why: str) -> Self:
        return cls(f"the program is not well formed after {after}: {why}.")


class RecordingError(RetrogradeError, RuntimeError):
    """While recording: something that may change from row to row would be baked in."""

    @classmethod
    def _here(cls, message: str, value: Value) -> Self:
        from ..sites import calling_instruction, site_of

        where = site_of(calling_instruction())
        text = linecache.getline(where.file, where.line).strip() if where else ""
        return cls(
            message + (f"\n  at {where}" if where else "") + (f"\n      {text}" if text else "")
        )

    @classmethod
    def data(cls, value: Value) -> Self:
        return cls._here(
            f".data of {named(value)} was read while recording: the number of one row would be "
            "baked in for all. Compute with the value itself; compare it directly (if x > 0), and "
            "use rg functions in place of math.",
            value,
        )

    @classmethod
    def captured_data(cls, value: Value) -> Self:
        return cls._here(
            f".data of {named(value)} was read while recording: the function captures it, and a "
            "replay reads its number afresh, but this one would be baked in. Compute with the "
            "value itself, or with detach() of it where no gradient is wanted.",
            value,
        )

    @classmethod
    def assignment(cls, value: Value) -> Self:
        return cls._here(
            f".data of {named(value)} was assigned while recording: a replay would not repeat it. "
            "Compute a new value instead.",
            value,
        )

    @classmethod
    def backward(cls, value: Value) -> Self:
        return cls._here(
            f"backward() of {named(value)} was called while recording: its gradients would be "
            "those of one row. Use rg.grad inside, or value_and_grad of the compiled function.",
            value,
        )

    @classmethod
    def custom(cls, value: Value) -> Self:
        return cls(
            with_place(
                f"'{value.op}' has its rule in Python or as numbers only, so it cannot be "
                "replayed. Write it with rg functions, or compute it outside and pass the result "
                "in.",
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
        from ..sites import source_line

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


class RowsError(RetrogradeError, ValueError):
    """Arguments of a compiled function whose rows do not fit."""

    @classmethod
    def mismatch(cls, first: str, rows: int, second: str, others: int) -> Self:
        return cls(
            f"{first} has {rows} rows but {second} has {others}: row counts must agree, nothing is "
            "stretched. Use rg.uniform(array) for an array that is the same for all rows."
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
    def not_callable(cls, got: object) -> Self:
        return cls(f"compile takes a function, got {kind_of(got)}.")

    @classmethod
    def not_recorded(cls, function: str, given: str, known: list[str]) -> Self:
        listed = "".join(f"\n  {one}" for one in known[:8]) + ("\n  …" if len(known) > 8 else "")
        return cls(
            f"{function} was not recorded for such arguments, and a loaded function cannot record. "
            f"Given:\n  {given}\nrecorded:{listed}\n  cure: call the compiled function on such "
            "arguments before saving it."
        )

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
            f"numbers. Pass its columns, as {name}[:, 0], for one number a row.{place}"
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
            f"{function} takes self: a method is compiled once it is bound to its object. Write "
            f"self.{function} = rg.compile(self.{function}) in __init__, or "
            f"rg.compile(model.{function})."
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
