"""Exceptions of sequences that compute, and of NumPy's functions given values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .wording import RetrogradeError, kind_of

if TYPE_CHECKING:
    from typing_extensions import Self

AS_ARRAY = "np.array(q) is an array of its values, with all that NumPy does"


class SequenceError(RetrogradeError, TypeError):
    """A sequence that computes was used as something else."""

    @classmethod
    def assignment(cls) -> Self:
        return cls(
            "q[i] = ... : a sequence that computes does not change. Write q = np.array(q) before "
            "it, an array of its values that may be changed, or build a list and make it an array "
            "in the end."
        )

    @classmethod
    def truth(cls, shape: tuple[int, ...]) -> Self:
        return cls(
            f"the truth of a sequence of shape {shape}: each of its items has its own. Write "
            "all(q > 0) or any(q > 0) to decide by all of them, rg.where(q > 0, a, b) to choose "
            "item by item, rg.maximum(q, w) for max(q, w), or len(q) to ask whether there are any."
        )

    @classmethod
    def index(cls, got: object) -> Self:
        return cls(
            f"q[{type(got).__name__}]: an index of a sequence is a whole number, a slice or a "
            "mask. For an index that is a value, or differs from row to row, write rg.take(q, i)."
        )

    @classmethod
    def attribute(cls, name: str) -> str:
        """The text of an AttributeError."""
        if hasattr(list, name):
            return (
                f"a sequence that computes has no '{name}', which is a list's: write list(q), "
                "or loop over it."
            )
        return f"a sequence that computes has no '{name}'; {AS_ARRAY}."

    @classmethod
    def operand(cls, op: str, got: object) -> Self:
        return cls(
            f"{op}: cannot compute with a sequence and {kind_of(got)}; use values, numbers, "
            "or as many of them in a list or an array."
        )

    @classmethod
    def axes(cls, what: str, shape: tuple[int, ...]) -> Self:
        return cls(f"{what}: a sequence of shape {shape} has more than two axes; {AS_ARRAY}.")


class NumpyError(RetrogradeError, TypeError):
    """A NumPy function that values and sequences cannot follow."""

    @classmethod
    def ufunc(cls, name: str, cure: str) -> Self:
        cure = cure or "Write it with rg functions; np.NAME works where there is an rg.NAME."
        return cls(f"np.{name} of values would lose the gradient: it has no rule here. {cure}")

    @classmethod
    def out(cls, name: str) -> Self:
        return cls(
            f"np.{name}(..., out=...) of values: they are never written in place. Write "
            f"a = np.{name}(...), and a = a + v for a += v."
        )

    @classmethod
    def option(cls, name: str, option: str) -> Self:
        cure = "Choose with rg.where(condition, a, b)." if option == "where" else "Leave it out."
        return cls(f"np.{name}(..., {option}=...) of values is not known here. {cure}")

    @classmethod
    def method(cls, name: str, method: str) -> Self:
        cure = "Write rg.sum(values)." if (name, method) == ("add", "reduce") else ""
        cure = cure or "Write a loop, or use rg.sum, rg.dot and q.max()."
        return cls(f"np.{name}.{method} of values is not known here. {cure}")

    @classmethod
    def function(cls, name: str) -> Self:
        return cls(
            f"np.{name} of a sequence that computes is not known here. Write it with rg functions; "
            f"{AS_ARRAY} of arrays of objects."
        )
