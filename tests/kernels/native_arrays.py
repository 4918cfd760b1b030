"""The native kernels in the place of NumPy: an evaluator of statements for tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from retrograde.ops.arrays.plans import Plan, plan
from retrograde.ops.index import Chosen, Statement

native = pytest.importorskip("retrograde._native", reason="these are the native core's kernels")

LEVELS = ("base", "v3", "v4", "neon")
OPS_BY_NAME = {name: at for at, name in enumerate(native.OP_NAMES)}
BY = {"argmax": 0, "argmin": 1, "argsort": 2}


def levels() -> list[str]:
    """The SIMD levels of this processor."""
    found = []
    for level in LEVELS:
        try:
            native.use_kernels(level)
            found.append(level)
        except ValueError:
            pass
    native.use_kernels("")
    return found


def run_plan(made: Plan, arrays: Mapping[str, Any], onto: Any = None) -> Any:
    """What a plan makes, or adds to an array."""
    ready = native.array_plan(made.words, made.numbers)
    out = np.full(made.shape, np.nan) if onto is None else onto.copy()
    given = tuple(np.ascontiguousarray(arrays[name], dtype=float) for name in made.arrays)
    wholes = tuple(np.ascontiguousarray(arrays[name], dtype=np.int64) for name in made.wholes)
    native.array_run(ready, out, given, wholes, onto is not None)
    return out


class Native:
    """Carries statements out by plans; remembers the bits at every level."""

    def __init__(self, at: tuple[str, ...] = ("",)) -> None:
        self.at = at

    def run(self, statement: Statement, arrays: Mapping[str, Any]) -> Any:
        """What a statement makes of arrays: the same bits at every level."""
        names = (*statement.reads, *statement.wholes)
        made = plan(statement, {name: np.shape(arrays[name]) for name in names})
        results = []
        for level in self.at:
            native.use_kernels(level)
            results.append(run_plan(made, arrays))
        native.use_kernels("")
        for other in results[1:]:
            assert results[0].tobytes() == other.tobytes(), "the levels differ in bits"
        return results[0]

    def choose(self, chosen: Chosen, array: Any) -> tuple[Any, ...]:
        """The places a row finds by looking."""
        over = tuple(array.shape[axis] for axis in chosen.axes)
        first = array.ndim - len(over)
        if chosen.by == "argsort":
            (axis,) = chosen.axes
            shape = array.shape
            flat = np.ascontiguousarray(array).reshape(
                int(np.prod(shape[:axis])), shape[axis], int(np.prod(shape[axis + 1 :]))
            )
            out = np.empty(flat.shape, np.int64)
            native.array_choose(BY["argsort"], flat, out)
            return (out.reshape(shape),)
        if 0 in over:
            raise ValueError(f"{chosen.by} of no numbers: nothing to choose from")
        moved = np.moveaxis(array, chosen.axes, range(first, array.ndim))
        free = moved.shape[:first]
        flat = np.ascontiguousarray(moved).reshape(int(np.prod(free)), int(np.prod(over)), 1)
        found = np.empty(flat.shape[:1], np.int64)
        native.array_choose(BY[chosen.by], flat, found)
        places = np.unravel_index(found.reshape(free), over) if over else ()
        return tuple(map(np.asarray, places))
