"""Exceptions of Dask's arrays and frames as arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .wording import RetrogradeError

if TYPE_CHECKING:
    from typing_extensions import Self


class LazyError(RetrogradeError, ValueError):
    """A call with Dask's collections that cannot become a graph."""

    @classmethod
    def method(cls, function: str, method: str) -> Self:
        cure = {
            "backward": "Ask for gradients instead: value_and_grad(…, reduce='sum').",
        }.get(method, "Compute the rows that are meant first: argument.compute().")
        return cls(f"{function}.{method} does not take Dask's collections: it acts at once. {cure}")

    @classmethod
    def tensors(cls, function: str) -> Self:
        return cls(
            f"{function} is a function on tensors, and Dask's chunks are rows. Compute the "
            "arguments first: argument.compute()."
        )

    @classmethod
    def option(cls, function: str, option: str) -> Self:
        return cls(f"{function}: {option} does not go with Dask's collections, which stay lazy.")

    @classmethod
    def number(cls, function: str) -> Self:
        return cls(
            f"{function} was given an array of Dask's without rows. Compute it first: "
            "float(argument)."
        )

    @classmethod
    def rows(cls, function: str, rows: int, others: int) -> Self:
        return cls(f"{function} was given {rows:,} rows in one argument and {others:,} in another.")

    @classmethod
    def chunks(cls, function: str, one: int, other: int) -> Self:
        return cls(
            f"{function} was given collections of {one:,} and of {other:,} partitions. Put the "
            "columns into one frame, or repartition them alike."
        )

    @classmethod
    def local(cls, function: str) -> Self:
        return cls(
            f"{function} was given an array in memory beside a collection whose chunks have "
            "unknown sizes. Make it a column of the frame, or compute the sizes first: "
            "array.compute_chunk_sizes()."
        )

    @classmethod
    def absent(cls, function: str, module: str, problem: str) -> Self:
        return cls(
            f"A worker has no module {module!r}, in which {function} is: {problem}. Put it where "
            "workers find it, as by client.upload_file('…/model.py'), or compile the function in "
            "your script, from where it travels by itself."
        )

    @classmethod
    def no_mean(cls, function: str) -> Self:
        return cls(f"{function}: there are no rows, and so there is no mean.")

    @classmethod
    def chunk(cls, number: int) -> str:
        return f"in chunk {number}, whose rows are counted from its own first one"
