"""Exceptions of derivatives as functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .wording import RetrogradeError, describe, kind_of, with_place

if TYPE_CHECKING:
    from typing import TypeAlias

    from typing_extensions import Self

    from .._shared.sites import Site

    Value: TypeAlias = Any  # of either core


class NotDifferentiable(RetrogradeError, RuntimeError):
    """A gradient was asked for through an op whose slope the law does not state."""

    @classmethod
    def of(cls, value: Value) -> Self:
        return cls(with_place(f"{describe(value)}: {_NO_SLOPE.format(value.op)}", value))

    @classmethod
    def recorded(cls, op: str, name: str, site: Site | None) -> Self:
        """The same in a compiled function, where there are no values."""
        text = f"{op} stands between the result and its {name}: {_NO_SLOPE.format(op)}"
        return cls(f"{text}\n  {site}" if site else text)


_NO_SLOPE = (
    "the slope of {0} is not known here, so no gradient passes through it. Detach its input "
    "(x.detach()), or give {0} a rule of your own with @rg.custom_op."
)


class NotTwiceDifferentiable(RetrogradeError, RuntimeError):
    """A derivative of a derivative was asked for through a node that has only numbers."""

    @classmethod
    def door(cls, name: str, library: str) -> Self:
        return cls(
            f"{name}, as a function of {library}, is differentiable once, and its gradient is "
            "differentiated again here. Take second derivatives with fn.hvp or fn.hessian of the "
            "compiled function."
        )

    @classmethod
    def of(cls, value: Value) -> Self:
        return cls(
            with_place(
                f"{describe(value)} has its partials as numbers only, so derivatives through it "
                "cannot be differentiated again. Give its rule in terms of ops: "
                "@rg.custom_op with partials or a vjp written with rg functions.",
                value,
            )
        )

    @classmethod
    def rule(cls, name: str, site: Any) -> Self:
        return cls(
            f"the rule of '{name}' is over arrays of rows, so derivatives through it cannot be "
            "differentiated again. Give it in terms of ops: with rg functions in place of NumPy's."
            + (f"\n  at {site}" if site else "")
        )


class StaleGraph(RetrogradeError, RuntimeError):
    """Data was changed after the forward pass, so the history of values no longer holds."""

    @classmethod
    def of(cls, value: Value, now: float) -> Self:
        return cls(
            with_place(
                f"{describe(value)} was computed, but its inputs were changed since: {value.op} of "
                f"them is now {now!r}. Run the forward pass again before taking derivatives.",
                value,
            )
        )

    @classmethod
    def input(cls, value: Value, changed: Value) -> Self:
        return cls(
            with_place(
                f"{describe(value)} was computed from {describe(changed)}, whose data was changed "
                "since. Run the forward pass again before taking derivatives.",
                value,
            )
        )


class FunctionResultError(RetrogradeError, TypeError):
    """A function to be differentiated returned something that has no gradient."""

    @classmethod
    def scan(cls, body: str, number: int, got: object) -> Self:
        return cls(
            f"scan: {body} returned {kind_of(got)} in round {number}. It returns two things: what "
            "it carries on to the next round, and what is listed (None where there is nothing)."
        )

    @classmethod
    def of(cls, function: str, got: object) -> Self:
        cure = "Return one value."
        if got is None:
            cure = "Did it forget its return?"
        elif hasattr(got, "requires_grad"):
            cure = "A gradient is of one number: return its sum(), or use jacobian or vjp."
        elif isinstance(got, (list, tuple, dict)) or getattr(got, "ndim", 0) > 0:
            cure = "For several outputs use jacobian or vjp; for extra outputs has_aux=True."
            if getattr(getattr(got, "dtype", None), "kind", "O") != "O":
                cure = "Its numbers have left the graph (.data, float()); compute with ops instead."
        elif isinstance(got, (int, float)) or hasattr(got, "dtype"):
            cure = (
                "A plain number has left the graph (.data, float()); compute with ops instead, or "
                "for a constant that is meant return Value(number, requires_grad=False)."
            )
        return cls(f"{function}: the function returned {kind_of(got)}, not a value. {cure}")

    @classmethod
    def several(cls, function: str, places: list[str]) -> Self:
        listed = ", ".join(places[:4]) + (", …" if len(places) > 4 else "")
        return cls(
            f"{function} returns {len(places)} numbers ({listed}), and a gradient is of one. For "
            "several outputs use jacobian, or return their sum."
        )

    @classmethod
    def array(cls, function: str, shape: tuple[int, ...]) -> Self:
        return cls(
            f"{function} returns an array of shape {shape}, and a gradient is of one number. "
            "Return its sum()."
        )

    @classmethod
    def branches(cls, function: str, places: list[str], others: list[str]) -> Self:
        return cls(
            f"{function} returns {', '.join(places)} on one branch and {', '.join(others)} on "
            "another: every branch must return numbers in the same nest."
        )

    @classmethod
    def fixed(
        cls,
        function: str,
        one: Sequence[Sequence[tuple[str, type, object]]],
        other: Sequence[Sequence[tuple[str, type, object]]],
    ) -> Self:
        pairs = [pair for here, there in zip(one, other) for pair in zip(here, there)]
        name, first, second = next(
            ((a[0], a[2], b[2]) for a, b in pairs if a != b), ("a field", "numbers", "none")
        )
        return cls(
            f"{function} returns a dataclass with {name}={first!r} on one branch and {second!r} on "
            "another, and over rows there is one for all of them. Return a number that says which."
        )

    @classmethod
    def shapes(cls, function: str, one: Sequence[object], other: Sequence[object]) -> Self:
        return cls(
            f"{function} returns arrays of shapes {', '.join(map(str, one))} on one branch and "
            f"{', '.join(map(str, other))} on another: over rows every branch must return the same "
            "shapes."
        )

    @classmethod
    def aux(cls, function: str, got: object) -> Self:
        return cls(
            f"{function}: with has_aux=True the function returns (value, extra), got "
            f"{kind_of(got)}."
        )


class ArgumentError(RetrogradeError, TypeError):
    """An argument to be differentiated is missing, unknown, or holds no numbers."""

    @classmethod
    def item(cls, where: str, got: object) -> Self:
        return cls(
            f"{where} is {kind_of(got)}; arguments to differentiate are numbers, values, or lists, "
            "tuples, dicts and float arrays of them. Choose others with wrt=."
        )

    @classmethod
    def constructor(cls, made: type) -> Self:
        return cls(
            f"{made.__name__} is made with other contents than it is given, so it cannot be made "
            "again around values: its constructor would work on them twice. Let the constructor "
            "keep its fields as they are and compute in methods, or pass the numbers themselves."
        )

    @classmethod
    def missing(cls, function: str, wanted: object, given: list[str]) -> Self:
        return cls(
            f"{function}: wrt={wanted!r} names no argument of this call; given: "
            f"{', '.join(given) or 'none'}."
        )

    @classmethod
    def structure(cls, what: str, where: str, expected: object, got: object) -> Self:
        return cls(f"{what} at {where}: expected {expected}, got {kind_of(got)}.")


class UnusedInputError(RetrogradeError, ValueError):
    """With unused="raise": the result does not depend on an input."""

    @classmethod
    def of(cls, where: list[str]) -> Self:
        return cls(
            f"the result does not depend on {', '.join(where)}: the gradient there is zero. "
            "It was detached, overwritten, or never used; pass unused='zero' if that is meant."
        )
