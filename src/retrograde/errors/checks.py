"""Exceptions of gradcheck, compare and the doctor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .wording import RetrogradeError, describe, kind_of, with_place

if TYPE_CHECKING:
    from typing import TypeAlias

    from typing_extensions import Self

    Value: TypeAlias = Any  # of either core


class DoctorError(RetrogradeError, ValueError):
    """The doctor, births or memory were asked for something that cannot be examined."""

    @classmethod
    def threshold(cls, name: str, got: object) -> Self:
        return cls(f"doctor: {name} is a threshold, a number of at least 0, got {kind_of(got)}.")

    @classmethod
    def unknown(cls, name: str, known: list[str]) -> Self:
        return cls(f"doctor: there is no threshold '{name}'; there are {', '.join(known)}.")

    @classmethod
    def empty(cls, what: str) -> Self:
        return cls(
            f"{what}: no parameters were given. Pass a list, a dict, or a module: something with "
            "parameters()."
        )

    @classmethod
    def unwatched(cls) -> Self:
        return cls(
            "doctor.watch: no backward pass was seen. Call loss.backward() inside the block; what "
            "rg.grad and compiled functions compute is not watched."
        )


class CheckError(RetrogradeError, ValueError):
    """Something that cannot be checked: no function, no point, or no single number to check."""

    @classmethod
    def not_callable(cls, caller: str, got: object) -> Self:
        return cls(f"{caller} takes a function of values and a point, got {kind_of(got)} first.")

    @classmethod
    def item(cls, caller: str, where: str, got: object) -> Self:
        return cls(
            f"{caller}: {where} is {kind_of(got)}; a point is a number, or a list, dict or array "
            "of numbers. Fix other arguments first, as in lambda x: f(x, other)."
        )

    @classmethod
    def whole(cls, caller: str, where: str, number: int, error: TypeError) -> Self:
        return cls(
            f"{caller}: the function raised TypeError: {error}. Every number of the point becomes "
            f"a value, {where} = {number} too. If it counts or is an index, fix it first, as in "
            f"lambda x: f(x, {number})."
        )

    @classmethod
    def arguments(cls, caller: str, function: Any, required: int, point: object) -> Self:
        name = getattr(function, "__name__", "the function")
        return cls(
            f"{caller}: {name} needs {required} arguments, the point {kind_of(point)} is one. "
            "Give them as a tuple, as in (1.0, 2.0)."
        )

    @classmethod
    def too_many(cls, caller: str, function: Any, most: int, given: int) -> Self:
        name = getattr(function, "__name__", "the function")
        takes = "no argument" if most == 0 else f"{most} argument" + "s" * (most > 1)
        point = f"a tuple of {given}, one for each argument" if given > 1 else "one argument"
        cure = f"Write a function of {given}"
        if most == 0:
            cure += ", or give the values that it closes over"
        elif most == 1:
            cure += ", or give one list, as in [1.0, 2.0]"
        return cls(f"{caller}: {name} takes {takes}, but the point is {point}. {cure}.")

    @classmethod
    def interior(cls, caller: str, value: Value) -> Self:
        return cls(
            with_place(
                f"{caller}: {describe(value)} was computed, so it cannot be moved by itself. "
                "Give the leaves it was computed from.",
                value,
            )
        )

    @classmethod
    def nothing(cls, caller: str) -> Self:
        return cls(f"{caller}: the point holds no number; give at least one, as in 1.0 or [1.0].")

    @classmethod
    def several(cls, caller: str, got: object) -> Self:
        return cls(
            f"{caller}: the function returned {kind_of(got)}; a gradient belongs to one number. "
            "Check one output at a time, as in lambda x: f(x)[0]."
        )

    @classmethod
    def not_finite(cls, caller: str, name: str, value: float) -> Self:
        return cls(
            f"{caller}: {name} is {value} at this point, so there is no gradient to check. "
            "Choose a point inside the domain; rg.anomaly() says where it is born."
        )

    @classmethod
    def against(cls, caller: str, got: object, known: list[str]) -> Self:
        return cls(f"{caller}: against={got!r} is unknown; write one of {', '.join(known)}.")

    @classmethod
    def untranslatable(cls, value: Value, engine: str) -> Self:
        return cls(
            with_place(
                f"compare: '{value.op}' has its own rule and no counterpart in {engine}. Compare "
                "against='finite-differences', or write its function with operators alone, so "
                f"that it also runs on {engine}'s numbers.",
                value,
            )
        )

    @classmethod
    def of_tensors(cls, caller: str, against: str) -> Self:
        return cls(
            f"{caller}: against={against!r} does not take tensors; use 'torch', 'jax' or "
            "'finite-differences'."
        )

    @classmethod
    def too_many_rows(cls, caller: str, most: int) -> Self:
        return cls(f"{caller}: a compiled function over more than {most} rows; give fewer.")


class GradcheckError(RetrogradeError, AssertionError):
    """A gradient is wrong: the worst entry, where it is made, and what is likely the matter.

    ``report`` holds everything that was found.
    """

    report: Any = None

    @classmethod
    def of(cls, text: str, report: object) -> Self:
        error = cls(text)
        error.report = report
        return error
