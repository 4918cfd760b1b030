"""What a function on tensors answers where its arguments have rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from ...errors import CompileError, RowsError
from .arguments import NUMBER, TENSOR, Taken, plain_of
from .row_calls import Another, Part, RowCall
from .runs import ARGUMENT, CAPTURED, Run
from .traces import Family, Trace

T = TypeVar("T")

Leave = Callable[[Family, Trace, Run, Callable[[Any], Any]], None]
"""Leaves a site for calls like this one: its run, and how what that gives is handed out."""


class Rebound(Exception):  # noqa: N818  no error: the call begins again
    """Something that the function reads was rebound while rows were led."""


class RowAnswers:
    """Answers over rows; ``family`` finds the recordings of a call, ``another`` makes one more, and
    ``again`` begins a call anew where a name was rebound."""

    def __init__(
        self,
        name: str,
        family: Callable[[Taken], Family],
        another: Another,
        again: Callable[[Callable[[], Any]], Any],
    ) -> None:
        self.name, self._family, self._another, self._again = name, family, another, again

    def _led(self, call: RowCall, then: Callable[[Family, list[Part]], T]) -> T:
        def once() -> T:
            family = self._family(call.taken)
            parts = call.led(family, self._another)
            found = then(family, parts)
            for part in parts:
                part.trace.calls += 1
            return found

        return self._again(once)  # type: ignore[no-any-return]

    def parts(self, taken: Taken) -> tuple[Family, list[Part]]:
        """The traces of all rows."""
        return self._led(RowCall(taken), lambda family, parts: (family, parts))

    def value(self, taken: Taken, threads: int | None, leave: Leave) -> Any:
        """The results, in their nest, each with rows in front."""
        call = RowCall(taken, threads)

        def then(family: Family, parts: list[Part]) -> Any:
            into: list[Any] = []
            for part in parts:
                call.gather(part, lambda runs, count: runs.values(count), into)
            first = family.traces[0]
            if call.is_one_run(parts):
                run = call.runs(first).values(call.rows)
                leave(family, first, run, first.outputs.filled)
            return first.outputs.filled(into or _nothing(first, first.program.outputs))

        return self._led(call, then)

    def value_and_grad(
        self,
        taken: Taken,
        chosen: Sequence[int],
        bare: bool,
        reduce: str | None,
        weights: Any,
        threads: int | None,
        check: Callable[[Trace], None],
        leave: Leave,
    ) -> tuple[Any, Any]:
        """The value of every row and its gradients; with ``reduce`` those of all rows together."""
        more = self._weights(taken, weights)
        self._check_mean(taken, reduce)
        numbers = [
            number for argument in chosen
            for number in taken.leaves_of(argument)
            if taken.kinds[number] in (TENSOR, NUMBER)
        ]  # fmt: skip
        stored = [reduce is None, *(reduce is None or taken.varies[it] for it in numbers)]
        call = RowCall(taken, threads, more)
        outline = replace(taken, leaves=[None] * len(taken.leaves))  # it outlives the call

        def finish(found: Any) -> tuple[Any, Any]:
            return plain_of(found[0]), outline.nested(chosen, bare, numbers, found[1:])

        def then(family: Family, parts: list[Part]) -> Any:
            into: list[Any] = []
            for part in parts:
                check(part.trace)
                call.gather(
                    part,
                    lambda runs, count: runs.gradients(
                        count, ARGUMENT, numbers, reduced=bool(reduce), weighted=bool(more)
                    ),
                    into,
                    stored,
                )
            if reduce is None and not more and call.is_one_run(parts):
                run = call.runs(parts[0].trace).gradients(
                    call.rows, ARGUMENT, numbers, reduced=False, weighted=False
                )
                leave(family, parts[0].trace, run, finish)
            if not taken.rows:
                into = [np.zeros(0)] + [_empty(taken, number) for number in numbers]
                for place, keep in enumerate(stored):
                    if not keep:
                        into[place] = np.zeros(into[place].shape[1:])
            return into

        found = self._led(call, then)
        if reduce == "mean":
            found = [it / taken.rows for it in found]
        return finish(found)

    def backward(
        self, taken: Taken, reduce: str, weights: Any, threads: int | None,
        check: Callable[[Trace], None], taking: Callable[[Trace], Sequence[int]],
    ) -> tuple[float, list[tuple[Any, Any]]]:  # fmt: skip
        """The value over all rows, and the gradient of every captured leaf that takes one."""
        more = self._weights(taken, weights)
        self._check_mean(taken, reduce)
        call = RowCall(taken, threads, more)

        def then(family: Family, parts: list[Part]) -> Any:
            value = 0.0
            totals: dict[int, tuple[Any, Any]] = {}
            for part in parts:
                trace = part.trace
                check(trace)
                numbers = list(taking(trace))
                into: list[Any] = []
                call.gather(
                    part,
                    lambda runs, count, numbers=numbers: runs.gradients(  # type: ignore[misc]
                        count, CAPTURED, numbers, reduced=True, weighted=bool(more)
                    ),
                    into,
                    [False] * (1 + len(numbers)),
                )
                leaves = [trace.captured[number] for number in numbers]
                into = into or [0.0, *(np.zeros(leaf.shape) for leaf in leaves)]
                value += float(into[0])
                for leaf, total in zip(leaves, into[1:]):
                    _, before = totals.get(id(leaf), (leaf, 0.0))
                    totals[id(leaf)] = leaf, before + total
            return value, list(totals.values())

        value, found = self._led(call, then)
        over = taken.rows if reduce == "mean" else 1
        return value / over, [(leaf, total / over) for leaf, total in found]

    def hvp(
        self, taken: Taken, chosen: Sequence[int], bare: bool, vector: Any, threads: int | None,
        check: Callable[[Trace], None],
    ) -> Any:  # fmt: skip
        """The Hessian of every row times a vector, in the nest of the gradients."""
        numbers = [number for argument in chosen for number in taken.leaves_of(argument)]
        more = [
            it if taken.varies[number] else np.broadcast_to(it, (taken.rows or 0, *np.shape(it)))
            for number, it in zip(numbers, taken.along(self.name, chosen, bare, vector))
        ]
        found = self.products(taken, numbers, more, threads, check)
        return taken.nested(chosen, bare, numbers, found)

    def products(
        self, taken: Taken, numbers: Sequence[int], more: Sequence[Any], threads: int | None,
        check: Callable[[Trace], None],
    ) -> list[Any]:  # fmt: skip
        """The Hessian of every row times a vector: arrays with an entry a row."""
        call = RowCall(taken, threads, [np.ascontiguousarray(it) for it in more])

        def then(family: Family, parts: list[Part]) -> Any:
            into: list[Any] = []
            for part in parts:
                check(part.trace)
                call.gather(part, lambda runs, count: runs.products(count, numbers), into)
            return into[1:] if taken.rows else [_empty(taken, number) for number in numbers]

        return self._led(call, then)

    # ---- nests and checks ----------------------------------------------------------------------

    def _weights(self, taken: Taken, weights: Any) -> list[Any]:
        if weights is None:
            return []
        column = np.atleast_1d(np.asarray(weights))
        if column.dtype.kind not in "biuf":
            raise CompileError.call(self.name, f"weights are {column.dtype}, not numbers")
        if column.shape != (taken.rows,):
            raise CompileError.call(
                self.name, f"weights has shape {column.shape}, but there are {taken.rows} rows"
            )
        return [np.ascontiguousarray(column, dtype=np.float64)]

    def _check_mean(self, taken: Taken, reduce: str | None) -> None:
        if reduce == "mean" and not taken.rows:
            place = next(it for it, varies in zip(taken.places(), taken.varies) if varies)
            raise RowsError.no_mean(self.name, place)


def _nothing(trace: Trace, ids: Sequence[int]) -> list[Any]:
    """Results of no rows."""
    return [np.zeros((0, *trace.program.shapes[number])) for number in ids]


def _empty(taken: Taken, number: int) -> Any:
    """The gradient of a leaf where there are no rows."""
    leaf = taken.leaves[number]
    return np.zeros((0, *np.shape(leaf)[taken.varies[number] :]))
