"""Exceptions of frames: columns that are missing, null or no numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .wording import RetrogradeError, closest

if TYPE_CHECKING:
    from typing_extensions import Self

_MOST = 8


def _listed(names: Sequence[Any]) -> str:
    """A few names as one would type them."""
    shown = ", ".join(repr(name) for name in names[:_MOST])
    return shown + (f", … {len(names)} in all" if len(names) > _MOST else "") or "none"


def _meant(name: str, others: list[str]) -> str:
    """The column that was probably meant: the same but for case and spaces, or a close one."""
    alike = [other for other in others if other.strip().lower() == name.lower()]
    return f"did you mean {alike[0]!r}?" if alike else closest(name, others)


class FrameError(RetrogradeError, ValueError):
    """A frame or a column that a compiled function cannot take as it is."""

    @classmethod
    def missing(cls, function: str, missing: Sequence[str], extra: Sequence[Any]) -> Self:
        """Parameters that no column and no argument is for."""
        meant = [_meant(name, [str(other) for other in extra]) for name in missing]
        hints = [f"{name}: {hint}" for name, hint in zip(missing, meant) if hint]
        others = f" Columns that nothing takes: {_listed(extra)}." if extra else ""
        return cls(
            f"{function} takes columns by the names of its parameters, and the frame has no column "
            f"{_listed(missing)}.{others}{' ' if hints else ''}{'; '.join(hints)}"
            f" Rename columns, or pass what is no column by name: {function}(frame, "
            f"{missing[0]}=…)."
        )

    @classmethod
    def extra(cls, function: str, defaults: Sequence[str], extra: Sequence[Any]) -> Self:
        """Columns that nothing takes, while a parameter was left to its default."""
        given = ", ".join(f"{name}=…" for name in defaults)
        return cls(
            f"{function}: the frame has columns that nothing takes ({_listed(extra)}) while "
            f"{_listed(defaults)} would be left to the default. Name the column after the "
            f"parameter, select the columns that are meant, or pass {given}."
        )

    @classmethod
    def twice(cls, function: str, names: Sequence[str]) -> Self:
        return cls(
            f"{function} was given {_listed(names)} both by name and as a column of the frame. "
            "Leave one of them out."
        )

    @classmethod
    def fixed(cls, function: str, names: Sequence[str]) -> Self:
        return cls(
            f"{function}: the frame has columns with the names of parameters that are static, or "
            f"were given to functools.partial ({_listed(names)}), and these are the same for all "
            f"rows. Drop the columns, and pass a static parameter by name: {function}(frame, "
            f"{names[0]}=…)."
        )

    @classmethod
    def repeated(cls, function: str, name: str) -> Self:
        return cls(f"{function}: the frame has several columns {name!r}. Rename all but one.")

    @classmethod
    def same_label(cls, label: str) -> Self:
        return cls(
            f"Two results would be columns of the name {label!r}. Rename a parameter or a key of "
            "what the function returns, or pass the columns as arrays: results are nests then."
        )

    @classmethod
    def alone(cls, function: str, kind: str) -> Self:
        return cls(
            f"{function} was given a {kind} among other arguments. A frame stands alone and its "
            f"columns are the arguments of their names: {function}(frame, other=…), or pass single "
            "columns."
        )

    @classmethod
    def tensors(cls, function: str) -> Self:
        return cls(
            f"{function} is a function on tensors, and a frame is rows of numbers. Pass its "
            f"columns: {function}(frame['x'].to_numpy(), …), inside rg.rows(…) where each row is a "
            "call of its own."
        )

    @classmethod
    def values(cls, function: str) -> Self:
        return cls(
            f"{function} was given a frame beside a Value, or while another function is recorded. "
            "The function itself runs then, and knows no columns. Pass the Value's number (.data), "
            f"or columns by themselves: {function}(frame['x'].to_numpy(), …)."
        )

    @classmethod
    def nothing(cls, function: str) -> Self:
        return cls(
            f"{function}: none of the frame's columns is an argument, since all were given by "
            "name. Leave out the frame, or those that are columns."
        )

    @classmethod
    def null(cls, place: str, row: int, label: str, count: int, fill: str) -> Self:
        where = f"row {row}{label}"
        more = f" ({count:,} nulls in all)" if count > 1 else ""
        return cls(
            f"{place} is null in {where}{more}. {fill}, or write rg.columns(…, nulls='nan') to "
            "compute with NaN there."
        )

    @classmethod
    def kind(cls, place: str, kind: str, cure: str) -> Self:
        return cls(f"{place} holds {kind}, not numbers. {cure}")

    @classmethod
    def index(cls, first: str, second: str) -> Self:
        return cls(
            f"{first} and {second} have different indexes, and rows are taken by their order. Put "
            "them into one frame (pandas aligns them there), or pass .to_numpy() if the order is "
            "what you mean."
        )

    @classmethod
    def lazy(cls, kind: str) -> Self:
        return cls(f"A {kind} has no rows yet. Pass frame.collect().")

    @classmethod
    def elsewhere(cls, place: str, device: str) -> Self:
        return cls(
            f"{place} is on {device}, and compiled functions run on the CPU. Copy it there first: "
            "tensor.cpu(), or jax.device_get(array)."
        )

    @classmethod
    def lent(cls, place: str, problem: str) -> Self:
        return cls(
            f"{place} cannot be read through DLPack: {problem}. Pass tensor.detach(), since the "
            "gradients of a compiled function are its own, or convert it to float64."
        )

    @classmethod
    def protocol(cls, function: str, problem: str) -> Self:
        said = problem.partition("\n")[0].rstrip(".")
        return cls(
            f"{function}: the frame cannot be read through the dataframe protocol: {said}. Convert "
            "it to pandas, polars or Arrow, or pass its columns as arrays."
        )

    @classmethod
    def no_table(cls, got: str) -> Self:
        return cls(
            f"rg.columns takes a frame (pandas, polars, Arrow), a dict of arrays or a structured "
            f"array, got {got}."
        )

    @classmethod
    def nulls(cls, got: object) -> Self:
        return cls(f"nulls={got!r} is neither 'error' nor 'nan'.")
